//! What the command line needs of the operating system: fabrics, files and adapters. Tests implement it themselves;
//! the program uses the implementation for this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::adapter_row::AdapterRow;
use super::source_files::SourceFile;
use super::stop_flag::StopFlag;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_change::Owner;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, Guid, NameMap, Partitions, PortLabels, Tables, TorusDescription};
use fabdeck_files::cabling::CablingPlan;
use fabdeck_files::content::GuidFile;
use fabdeck_files::flows::FlowLine;
use fabdeck_files::job_lists::JobList;
use fabdeck_live::{HardwareReading, MadLibrary, WriteRight};
use fabdeck_mad::access::{Actuator, MadTraffic, ReadObserver, ReadPort, Source, SourceError, Surveyor};
use fabdeck_routing::{DimensionPorts, StoredTables};

/// The owner of the change that a guard holds.
#[derive(Clone, Copy, Debug)]
pub enum GuardOwner<'a> {
    /// This user's change; the output of the guard goes to this file.
    Own(&'a Path),
    /// Another user's change. The guard runs as that user, so only root can start it. Its output is lost; the audit
    /// trail has its actions.
    Other(Owner),
}

/// Access of the command line to the operating system.
pub trait SystemAccess {
    /// Opens the source that `--source` names.
    fn open(&self, source: &str, reach: &SourceOptions) -> Result<Box<dyn Source>, SourceError>;

    /// Opens the port of a source, with its M_Key. The port sends only Get requests.
    fn port(&self, source: &str, reach: &SourceOptions) -> Result<(ReadPort, u64), SourceError>;

    /// Opens a live source that is read part by part, with Get requests only.
    fn surveyor(&self, source: &str, reach: &SourceOptions) -> Result<Box<dyn Surveyor>, SourceError>;

    /// Reads the raw answers of a live source, one of each kind of device, with Get requests only.
    fn read_hardware(
        &self,
        source: &str,
        reach: &SourceOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<HardwareReading, SourceError>;

    /// Opens a source for writing, if `right` permits it.
    fn actuator(
        &self,
        source: &str,
        reach: &SourceOptions,
        right: &WriteRight,
    ) -> Result<Box<dyn Actuator>, Failure>;

    /// Whether the source exists in this process alone and ends with it.
    fn is_own_simulator(&self, source: &str) -> bool;

    /// Starts this program as a guard, separate from this session. Returns a warning if the separation is incomplete.
    fn start_guard(&self, args: &[OsString], of: GuardOwner<'_>) -> std::io::Result<Option<String>>;

    /// Warning about what can end a guard process besides the end of its change.
    fn guard_lifetime_warning(&self) -> Option<String>;

    /// Folder of this user's state.
    fn user_state(&self) -> Option<PathBuf>;

    /// Opens files that are one fabric together; `-` is stdin.
    fn open_files(&self, files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError>;

    /// Reads forwarding tables from a file, for a known fabric.
    fn tables(&self, file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError>;

    /// Reads forwarding tables from a file, by the GUIDs that the file names; and the levels of paths from another.
    fn stored_tables(&self, file: &Path, levels: Option<&Path>)
    -> Result<(StoredTables, Notes), SourceError>;

    /// Reads the ports of switches in the order of dimensions.
    fn dimension_ports(&self, file: &Path) -> Result<DimensionPorts, SourceError>;

    /// Reads a list of GUIDs.
    fn guids(&self, file: &Path) -> Result<GuidFile, SourceError>;

    /// Reads a list of hosts and their jobs.
    fn jobs(&self, file: &Path) -> Result<JobList, SourceError>;

    /// Reads the description of a torus.
    fn torus(&self, file: &Path) -> Result<TorusDescription, SourceError>;

    /// Reads a list of flows.
    fn flows(&self, file: &Path) -> Result<Vec<FlowLine>, SourceError>;

    /// Reads partitions of this fabric; `manager` is the subnet manager's port, if it is known.
    fn partitions(
        &self,
        file: &Path,
        fabric: &Fabric,
        manager: Option<Guid>,
    ) -> Result<(Partitions, Notes), SourceError>;

    /// Reads a node-name-map.
    fn names(&self, file: &Path) -> Result<(NameMap, Notes), SourceError>;

    /// Reads a sheet of labels and places.
    fn labels(&self, file: &Path) -> Result<(PortLabels, Notes), SourceError>;

    /// Reads a plan of cabling: a file of one of its forms, or a dump or capture of a fabric.
    fn cabling_plan(&self, file: &Path) -> Result<CablingPlan, SourceError>;

    /// Generates a fabric by name, as in `sim:NAME` without the `sim:`.
    fn generate(&self, name: &str) -> Result<Observation, SourceError>;

    /// Serves the simulator of a source behind a socket, until the stop flag is set.
    fn serve(
        &self,
        source: &str,
        reach: &SourceOptions,
        socket: &Path,
        report: &mut dyn FnMut(String),
    ) -> Result<ServeReport, SourceError>;

    /// Names of generated fabrics.
    fn catalogue(&self) -> Vec<CatalogueEntry>;

    /// Keys of all generated fabrics.
    fn common_keys(&self) -> Vec<CatalogueKey>;

    /// Keys of the simulator, which these names accept as sources.
    fn simulator_keys(&self) -> Vec<CatalogueKey>;

    /// Formats that can be written.
    fn writers(&self) -> &[FormatWriter];

    /// Files of known formats in the current folder.
    fn captures(&self) -> Vec<SourceFile>;

    /// The adapters of this machine; an error if they cannot be listed.
    fn adapters(&self, library: MadLibrary) -> Result<Vec<AdapterRow>, SourceError>;

    /// The stop flag of commands that run until a signal ends them.
    fn stop(&self) -> StopFlag;

    /// Path of the default configuration file.
    fn config_file(&self) -> Option<PathBuf>;
}

/// Summary of a served simulator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServeReport {
    /// Number of clients that were attached to the fabric.
    pub clients: u64,
    /// Number of datagrams to clients that did not read them.
    pub dropped: u64,
    /// Traffic from clients.
    pub traffic: MadTraffic,
    /// Requested and achieved ratio of packet time to real time, if the simulator fell behind.
    pub behind: Option<[u64; 2]>,
    /// Notes about the fabric.
    pub notes: Notes,
}

/// Options for live sources, as far as flags give them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceOptions {
    /// Which library reads the adapters of this machine.
    pub library: MadLibrary,
    pub timeout: Option<Duration>,
    pub retries: Option<u32>,
    /// File of the M_Keys; never the keys themselves.
    pub mkey_file: Option<PathBuf>,
    /// Period within which sweeps read everything again.
    pub drift_period: Option<Duration>,
    /// Whether sweeps subscribe to traps.
    pub traps: bool,
    /// Moment of a capture.
    pub at: Option<String>,
}

/// A kind of generated fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatalogueEntry {
    pub name: String,
    /// Its keys as typed (`k=10,n=3`); empty if it has none of its own.
    pub keys: String,
    pub about: String,
}

json_type! {
    /// A key that every name accepts.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CatalogueKey {
        pub name: &'static str,
        /// The value without the key.
        pub default: &'static str,
        pub meaning: &'static str,
    }
}

/// A format that can be written.
#[derive(Clone, Copy, Debug)]
pub struct FormatWriter {
    /// Its id in `convert --to`.
    pub id: &'static str,
    pub title: &'static str,
    /// Whether it holds nodes and cables completely, so that `generate` may write it.
    pub topology: bool,
    pub write: fn(&Snapshot, &FormatOptions) -> Result<FormattedFile, FormatError>,
}

/// Options of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FormatOptions {
    /// Number of the adapter of each host whose leaf switch counts, from 1 on.
    pub rail: Option<u8>,
    /// Whether table cells stay unescaped, even those that a spreadsheet would evaluate.
    pub raw_cells: bool,
}

/// Content of a file, with notes about what the format cannot hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormattedFile {
    pub bytes: Vec<u8>,
    pub notes: Notes,
}

/// A fabric that a format cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}; {hint}")]
pub struct FormatError {
    pub code: &'static str,
    pub what: String,
    pub hint: String,
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}
