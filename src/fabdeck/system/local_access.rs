//! The operating system and adapters of this machine, for one process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::access::{
    CatalogueEntry, CatalogueKey, FormatWriter, GuardOwner, ServeReport, SourceOptions, SystemAccess,
};
use super::adapter_row::AdapterRow;
use super::kept_refusals::KeptRefusals;
use super::source_files::SourceFile;
use super::stop_flag::StopFlag;
use super::{
    cabling_plans, common_keys, format_writers, guard_process, local_adapters, named_fabrics, open_sources,
    simulator_server, source_files,
};
use crate::catalogue::failure::Failure;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, Guid, NameMap, Partitions, PortLabels, Tables, TorusDescription};
use fabdeck_files::cabling::CablingPlan;
use fabdeck_files::content::GuidFile;
use fabdeck_files::flows::FlowLine;
use fabdeck_files::job_lists::JobList;
use fabdeck_live::{HardwareReading, MadLibrary, RefusalStore, SimulatorPool, WriteRight};
use fabdeck_mad::access::{Actuator, ReadObserver, ReadPort, Source, SourceError, Surveyor};
use fabdeck_routing::{DimensionPorts, StoredTables};

/// Access to files, folders, users and adapters of this machine.
#[derive(Debug, Clone, Default)]
pub struct LocalSystemAccess {
    stop: StopFlag,
    own: Option<SimulatorPool>,
    guard: Option<PathBuf>,
    state: Option<PathBuf>,
    keeps_refusals: bool,
}

impl LocalSystemAccess {
    /// Creates an instance with the stop flag of commands that run until a signal ends them.
    pub fn new(stop: StopFlag) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Keeps the simulators of this process, so that a simulator that is opened again has its last state.
    pub fn with_persistent_simulators(self) -> Self {
        Self { own: Some(SimulatorPool::default()), ..self }
    }

    /// Starts guards with this program instead of the running one.
    pub fn with_guard(self, program: impl Into<PathBuf>) -> Self {
        Self { guard: Some(program.into()), ..self }
    }

    /// Keeps what kinds of devices refuse in the state folder, so that later sessions do not ask it again.
    pub fn with_kept_refusals(self) -> Self {
        Self { keeps_refusals: true, ..self }
    }

    /// Uses this folder for the state of the user's sessions.
    pub fn with_state(self, folder: impl Into<PathBuf>) -> Self {
        Self { state: Some(folder.into()), ..self }
    }
}

impl SystemAccess for LocalSystemAccess {
    fn open(&self, source: &str, reach: &SourceOptions) -> Result<Box<dyn Source>, SourceError> {
        let folder = self.user_state().filter(|_| self.keeps_refusals);
        let refusals = folder.map(|folder| KeptRefusals::in_folder(folder, source));
        let refusals = refusals.map(|store| Arc::new(store) as Arc<dyn RefusalStore>);
        open_sources::open(source, reach, (self.own.clone(), refusals))
    }

    fn port(&self, source: &str, reach: &SourceOptions) -> Result<(ReadPort, u64), SourceError> {
        open_sources::port(source, reach)
    }

    fn surveyor(&self, source: &str, reach: &SourceOptions) -> Result<Box<dyn Surveyor>, SourceError> {
        open_sources::surveyor(source, reach, self.own.clone())
    }

    fn read_hardware(
        &self,
        source: &str,
        reach: &SourceOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<HardwareReading, SourceError> {
        open_sources::read_hardware(source, reach, self.own.clone(), watch)
    }

    fn actuator(
        &self,
        source: &str,
        reach: &SourceOptions,
        right: &WriteRight,
    ) -> Result<Box<dyn Actuator>, Failure> {
        guard_process::connect_actuator(source, reach, right, self.own.clone())
    }

    fn is_own_simulator(&self, source: &str) -> bool {
        source.strip_prefix("sim:").is_some_and(|words| matches!(fabdeck_live::socket_of(words), Ok(None)))
    }

    fn start_guard(&self, args: &[OsString], of: GuardOwner<'_>) -> std::io::Result<Option<String>> {
        guard_process::start_guard(self.guard.as_deref(), args, of)
    }

    fn guard_lifetime_warning(&self) -> Option<String> {
        guard_process::lifetime_warning()
    }

    fn user_state(&self) -> Option<PathBuf> {
        if let Some(folder) = &self.state {
            return Some(folder.clone());
        }
        let folders = directories::ProjectDirs::from("", "", "fabdeck")?;
        Some(folders.state_dir()?.to_owned())
    }

    fn open_files(&self, files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError> {
        open_sources::open_files(files)
    }

    fn tables(&self, file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError> {
        open_sources::tables(file, fabric)
    }

    fn stored_tables(
        &self,
        file: &Path,
        levels: Option<&Path>,
    ) -> Result<(StoredTables, Notes), SourceError> {
        open_sources::stored_tables(file, levels)
    }

    fn dimension_ports(&self, file: &Path) -> Result<DimensionPorts, SourceError> {
        open_sources::dimension_ports(file)
    }

    fn guids(&self, file: &Path) -> Result<GuidFile, SourceError> {
        open_sources::guids(file)
    }

    fn jobs(&self, file: &Path) -> Result<JobList, SourceError> {
        open_sources::jobs(file)
    }

    fn torus(&self, file: &Path) -> Result<TorusDescription, SourceError> {
        open_sources::torus(file)
    }

    fn flows(&self, file: &Path) -> Result<Vec<FlowLine>, SourceError> {
        open_sources::flows(file)
    }

    fn partitions(
        &self,
        file: &Path,
        fabric: &Fabric,
        manager: Option<Guid>,
    ) -> Result<(Partitions, Notes), SourceError> {
        open_sources::partitions(file, fabric, manager)
    }

    fn names(&self, file: &Path) -> Result<(NameMap, Notes), SourceError> {
        open_sources::names(file)
    }

    fn labels(&self, file: &Path) -> Result<(PortLabels, Notes), SourceError> {
        open_sources::labels(file)
    }

    fn cabling_plan(&self, file: &Path) -> Result<CablingPlan, SourceError> {
        cabling_plans::read_plan(file)
    }

    fn generate(&self, name: &str) -> Result<Observation, SourceError> {
        named_fabrics::generate(name)
    }

    fn serve(
        &self,
        source: &str,
        reach: &SourceOptions,
        socket: &Path,
        report: &mut dyn FnMut(String),
    ) -> Result<ServeReport, SourceError> {
        simulator_server::serve(source, reach, socket, &self.stop, report)
    }

    fn catalogue(&self) -> Vec<CatalogueEntry> {
        named_fabrics::catalogue()
    }

    fn common_keys(&self) -> Vec<CatalogueKey> {
        common_keys::common_keys()
    }

    fn simulator_keys(&self) -> Vec<CatalogueKey> {
        common_keys::simulator_keys()
    }

    fn writers(&self) -> &[FormatWriter] {
        format_writers::WRITERS
    }

    fn captures(&self) -> Vec<SourceFile> {
        source_files::list(Path::new("."))
    }

    fn adapters(&self, library: MadLibrary) -> Result<Vec<AdapterRow>, SourceError> {
        local_adapters::list_adapters(library)
    }

    fn stop(&self) -> StopFlag {
        self.stop.clone()
    }

    fn config_file(&self) -> Option<PathBuf> {
        let folders = directories::ProjectDirs::from("", "", "fabdeck")?;
        Some(folders.config_dir().join("config.toml"))
    }
}
