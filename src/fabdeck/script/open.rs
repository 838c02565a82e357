//! What the command line gets from outside: fabrics, files and what this machine has. Tests bring an outside of
//! their own; the real one is `Machine`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Adapter, Failure, Found, Stop};
use crate::session::Look;
use fabdeck_change::Owner;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, Guid, NameMap, Partitions, Tables};
use fabdeck_files::content::GuidFile;
use fabdeck_files::flows::FlowLine;
use fabdeck_files::job_lists::JobList;
use fabdeck_live::Right;
use fabdeck_mad::access::{Actuator, ReadPort, Source, SourceError, Surveyor, Traffic};

/// Whose change a guard keeps.
#[derive(Clone, Copy, Debug)]
pub enum GuardOf<'a> {
    /// This user's: what it says goes to a file.
    Own(&'a Path),
    /// Another user's, as whom it runs; only root can start one. What it says is lost, and what it does stands in the trail.
    Other(Owner),
}

/// The world behind the command line.
pub trait Outside {
    /// What `--source` names.
    fn open(&self, source: &str, reach: &Reach) -> Result<Box<dyn Source>, SourceError>;

    /// The port behind what `--source` names, and the M_Key of its own. Nothing but Gets goes out of it.
    fn port(&self, source: &str, reach: &Reach) -> Result<(ReadPort, u64), SourceError>;

    /// Reads the live fabric that `--source` names part by part. Nothing but Gets goes out of it.
    fn surveyor(&self, source: &str, reach: &Reach) -> Result<Box<dyn Surveyor>, SourceError>;

    /// Who writes to what `--source` names, for whoever may.
    fn actuator(&self, source: &str, reach: &Reach, right: &Right) -> Result<Box<dyn Actuator>, Failure>;

    /// Whether what `--source` names lives in this process alone, and ends with it.
    fn is_own_simulator(&self, source: &str) -> bool;

    /// Starts this program once more, apart from this session. Gives what should be known of how it is kept apart.
    fn start_guard(&self, args: &[OsString], of: GuardOf<'_>) -> std::io::Result<Option<String>>;

    /// What may end such a process beside its change, in words for whoever relies on it.
    fn guard_may_end_with(&self) -> Option<String>;

    /// Where this user's state lies.
    fn user_state(&self) -> Option<PathBuf>;

    /// Files that are one fabric together; `-` is stdin.
    fn open_files(&self, files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError>;

    /// Forwarding tables from a file of their own, for a fabric that is known.
    fn tables(&self, file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError>;

    /// A list of GUIDs.
    fn guids(&self, file: &Path) -> Result<GuidFile, SourceError>;

    /// Which hosts run which job.
    fn jobs(&self, file: &Path) -> Result<JobList, SourceError>;

    /// Who sends to whom.
    fn flows(&self, file: &Path) -> Result<Vec<FlowLine>, SourceError>;

    /// Who may talk to whom on this fabric; `manager` is the subnet manager's port, where it is known.
    fn partitions(
        &self,
        file: &Path,
        fabric: &Fabric,
        manager: Option<Guid>,
    ) -> Result<(Partitions, Notes), SourceError>;

    /// A node-name-map.
    fn names(&self, file: &Path) -> Result<(NameMap, Notes), SourceError>;

    /// A fabric by name, as `sim:NAME` without the `sim:`.
    fn generate(&self, name: &str) -> Result<Observation, SourceError>;

    /// Runs the simulator that a source names behind a socket, until the process is asked to end.
    fn serve(
        &self,
        source: &str,
        reach: &Reach,
        socket: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<Served, SourceError>;

    /// The names that `generate` knows.
    fn catalogue(&self) -> Vec<CatalogueEntry>;

    /// The keys that all these names understand.
    fn common_keys(&self) -> Vec<CatalogueKey>;

    /// The keys of the simulator, for these names as sources.
    fn simulator_keys(&self) -> Vec<CatalogueKey>;

    /// The formats that can be written.
    fn writers(&self) -> &[Writer];

    /// The files of known formats in the current folder.
    fn captures(&self) -> Vec<Found>;

    /// The adapters of this machine; an error where nobody can be asked for them.
    fn adapters(&self) -> Result<Vec<Adapter>, SourceError>;

    /// The wish to end, for what runs until then.
    fn stop(&self) -> Stop;

    /// Where the configuration would lie.
    fn config_file(&self) -> Option<PathBuf>;
}

/// What came through a socket.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Served {
    /// Clients that had a place in the fabric.
    pub clients: u64,
    /// Datagrams to clients that did not read them.
    pub dropped: u64,
    /// What clients sent.
    pub traffic: Traffic,
    /// The ratio of packets' time that was asked for and the one that was held, where they could not follow.
    pub behind: Option<[u64; 2]>,
    /// What is particular about the fabric.
    pub notes: Notes,
}

/// How a live fabric is reached: the flags that stand for every source, as far as they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    pub timeout: Option<Duration>,
    pub retries: Option<u32>,
    /// Where the M_Keys are; never the keys themselves.
    pub mkey_file: Option<PathBuf>,
    /// Within which sweeps read everything again.
    pub drift_period: Option<Duration>,
    /// Whether sweeps subscribe to traps.
    pub traps: bool,
    /// When: for captures alone.
    pub at: Option<String>,
}

/// A kind of fabric that can be made by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatalogueEntry {
    pub name: String,
    /// Its keys as they are typed (`k=10,n=3`); empty where it has none of its own.
    pub keys: String,
    pub about: String,
}

/// A key that every name understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct CatalogueKey {
    pub name: &'static str,
    /// What stands when it is left out.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The word in `convert --to`.
    pub id: &'static str,
    pub title: &'static str,
    /// Whether nodes and cables can be read back from it, so that `generate` may write it.
    pub topology: bool,
    pub write: fn(&Look, &WriteOptions) -> Result<Written, WriteError>,
}

/// What an operator may choose of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// The adapter of each host, from 1 on, whose leaf counts.
    pub rail: Option<u8>,
    /// Cells of tables as they are, those too that a spreadsheet would take for formulas.
    pub raw_cells: bool,
}

/// A file's bytes, and what the format could not hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    pub bytes: Vec<u8>,
    pub notes: Notes,
}

/// A fabric that a format cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}; {hint}")]
pub struct WriteError {
    pub code: &'static str,
    pub what: String,
    pub hint: String,
}
