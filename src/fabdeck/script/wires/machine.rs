//! The operating system and adapters of this machine, for one process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{adapters, common_keys, files, generated, guards, simulated, sources};
use crate::script::{
    Adapter, CatalogueEntry, CatalogueKey, Failure, Found, GuardOf, Outside, Reach, Served, Stop, Writer,
    found,
};
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, Guid, NameMap, Partitions, Tables};
use fabdeck_files::content::GuidFile;
use fabdeck_files::flows::FlowLine;
use fabdeck_files::job_lists::JobList;
use fabdeck_live::{OwnSimulators, Right};
use fabdeck_mad::access::{Actuator, ReadPort, Source, SourceError, Surveyor};

/// Access to files, folders, users and adapters of this machine.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    stop: Stop,
    own: Option<OwnSimulators>,
    guard: Option<PathBuf>,
    state: Option<PathBuf>,
}

impl Machine {
    /// Creates an instance with the stop flag of commands that run until they are asked to end.
    pub fn new(stop: Stop) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Keeps the simulators of this process: a simulator that is opened again is in the state in which it was left.
    pub fn with_simulators_kept(self) -> Self {
        Self { own: Some(OwnSimulators::default()), ..self }
    }

    /// Starts guards with this program instead of the running one.
    pub fn with_guard(self, program: impl Into<PathBuf>) -> Self {
        Self { guard: Some(program.into()), ..self }
    }

    /// Uses this folder for the state of the user's sessions.
    pub fn with_state(self, folder: impl Into<PathBuf>) -> Self {
        Self { state: Some(folder.into()), ..self }
    }
}

impl Outside for Machine {
    fn open(&self, source: &str, reach: &Reach) -> Result<Box<dyn Source>, SourceError> {
        sources::open(source, reach, self.own.clone())
    }

    fn port(&self, source: &str, reach: &Reach) -> Result<(ReadPort, u64), SourceError> {
        sources::port(source, reach)
    }

    fn surveyor(&self, source: &str, reach: &Reach) -> Result<Box<dyn Surveyor>, SourceError> {
        sources::surveyor(source, reach, self.own.clone())
    }

    fn actuator(&self, source: &str, reach: &Reach, right: &Right) -> Result<Box<dyn Actuator>, Failure> {
        guards::actuator(source, reach, right, self.own.clone())
    }

    fn is_own_simulator(&self, source: &str) -> bool {
        source.strip_prefix("sim:").is_some_and(|words| matches!(fabdeck_live::socket_of(words), Ok(None)))
    }

    fn start_guard(&self, args: &[OsString], of: GuardOf<'_>) -> std::io::Result<Option<String>> {
        guards::start(self.guard.as_deref(), args, of)
    }

    fn guard_may_end_with(&self) -> Option<String> {
        guards::may_end_with()
    }

    fn user_state(&self) -> Option<PathBuf> {
        if let Some(folder) = &self.state {
            return Some(folder.clone());
        }
        let folders = directories::ProjectDirs::from("", "", "fabdeck")?;
        Some(folders.state_dir()?.to_owned())
    }

    fn open_files(&self, files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError> {
        sources::open_files(files)
    }

    fn tables(&self, file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError> {
        sources::tables(file, fabric)
    }

    fn guids(&self, file: &Path) -> Result<GuidFile, SourceError> {
        sources::guids(file)
    }

    fn jobs(&self, file: &Path) -> Result<JobList, SourceError> {
        sources::jobs(file)
    }

    fn flows(&self, file: &Path) -> Result<Vec<FlowLine>, SourceError> {
        sources::flows(file)
    }

    fn partitions(
        &self,
        file: &Path,
        fabric: &Fabric,
        manager: Option<Guid>,
    ) -> Result<(Partitions, Notes), SourceError> {
        sources::partitions(file, fabric, manager)
    }

    fn names(&self, file: &Path) -> Result<(NameMap, Notes), SourceError> {
        sources::names(file)
    }

    fn generate(&self, name: &str) -> Result<Observation, SourceError> {
        generated::generate(name)
    }

    fn serve(
        &self,
        source: &str,
        reach: &Reach,
        socket: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<Served, SourceError> {
        simulated::serve(source, reach, socket, &self.stop, say)
    }

    fn catalogue(&self) -> Vec<CatalogueEntry> {
        generated::catalogue()
    }

    fn common_keys(&self) -> Vec<CatalogueKey> {
        common_keys::common_keys()
    }

    fn simulator_keys(&self) -> Vec<CatalogueKey> {
        common_keys::simulator_keys()
    }

    fn writers(&self) -> &[Writer] {
        files::WRITERS
    }

    fn captures(&self) -> Vec<Found> {
        found::list(Path::new("."))
    }

    fn adapters(&self) -> Result<Vec<Adapter>, SourceError> {
        adapters::adapters()
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn config_file(&self) -> Option<PathBuf> {
        let folders = directories::ProjectDirs::from("", "", "fabdeck")?;
        Some(folders.config_dir().join("config.toml"))
    }
}
