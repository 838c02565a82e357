//! Sources of a fabric. They only read: writing is another trait, so code that writes to a capture does not compile.

use std::sync::Arc;
use std::time::Duration;

use fabdeck_fabric::observe::{NotePlace, Observation, PathLevels, Sweep};
use fabdeck_fabric::{Fabric, Lid, Partitions};

use super::port::PortError;

/// Code of a source's note about elements that failed before the reading and are not in the fabric.
pub const FAILED_BEFORE: &str = "FN-512";

/// Why a source could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The name of the source is wrong (`sim:nothing`): a usage error.
    #[error("{code}: {what}; {hint}")]
    Name { code: &'static str, what: String, hint: String },
    /// A file is damaged, or its format is not known.
    #[error("{place}: {code}: {what}; {hint}")]
    Input { code: &'static str, place: NotePlace, what: String, hint: String },
    /// The source cannot be reached (no such file, no permission, no answer).
    #[error("{code}: {what}; {hint}")]
    Unreachable { code: &'static str, what: String, hint: String },
    /// The caller cancelled the reading.
    #[error("FD-5010: the reading was cancelled")]
    Cancelled,
}

impl From<PortError> for SourceError {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Gone { code, what, hint } => Self::Unreachable { code, what, hint },
            refused @ PortError::ReadOnly { .. } => Self::Unreachable {
                code: "FD-5011",
                what: format!("a read tried to write ({refused})"),
                hint: "this is a bug, and nothing was written: please report it".into(),
            },
        }
    }
}

/// What to read besides nodes, ports, links and the subnet manager. A source that has more at hand may return more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Forwarding tables, and whether switches route adaptively.
    pub tables: bool,
    /// Whether switches route adaptively, where the tables to judge come from elsewhere.
    pub adaptive: bool,
    /// Multicast forwarding tables.
    pub multicast: bool,
    /// SL2VL and arbitration tables.
    pub lanes: bool,
    /// Counters of every cabled port.
    pub counters: bool,
    /// P_Key tables of ports.
    pub partitions: bool,
    /// Multicast groups and their members, from the subnet manager.
    pub groups: bool,
}

impl ReadOptions {
    /// All of it.
    pub const EVERYTHING: Self = Self {
        tables: true,
        adaptive: true,
        multicast: true,
        lanes: true,
        counters: true,
        partitions: true,
        groups: true,
    };
}

/// Which path records to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LevelReadOptions {
    /// From all sources, instead of two at each switch.
    pub every: bool,
    /// Switches as sources and destinations too.
    pub switches: bool,
    /// The most requests: a reading that needs more sends none.
    pub most: Option<u64>,
}

/// What to read about the health of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WireReadOptions {
    /// Sensors, fans and firmware of devices.
    pub devices: bool,
    /// Of switches alone the temperatures and fans.
    pub switch_sensors: bool,
    /// Bit errors, modules, FEC and causes of errors, of each cabled port.
    pub ports: bool,
    /// Congestion marks, FEC blocks, retransmission and link downs, of each cabled port.
    pub link_pages: bool,
}

/// The result of reading the tables of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneReadOutcome {
    /// The tables were read from all devices that answered.
    Read,
    /// The reading needs this many requests, more than allowed.
    TooMany(u64),
}

/// The result of reading path records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LevelReadOutcome {
    /// The source is not live, so there is no manager to ask.
    NotLive,
    NoManager,
    /// The reading needs this many requests, more than allowed.
    TooMany(u64),
    /// No answer held a path.
    Silent,
    Read(PathLevels),
}

/// The progress of a long reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadProgress {
    /// The name of the phase, as in the report of a reading.
    pub phase: &'static str,
    /// Number of requests that are settled.
    pub done: u64,
    /// Number of requests known so far, settled ones included.
    pub known: u64,
}

/// Observer of a reading, for the caller that waits for it.
pub trait ReadObserver {
    /// Called often; it must be quick.
    fn report_progress(&mut self, progress: ReadProgress);

    /// Reports the fabric as soon as it is known, before the rest is read. Only sources where the rest takes time call
    /// it.
    fn topology_read(&mut self, _fabric: &Fabric) {}

    /// Whether the reading should end now.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl ReadObserver for NoObserver {
    fn report_progress(&mut self, _: ReadProgress) {}
}

/// A sweep that was recorded long before others.
#[derive(Clone, PartialEq, Debug)]
pub struct PastSweep {
    /// Start of the sweep, by the clock of the recording machine.
    pub time: String,
    pub sweep: Arc<Sweep>,
}

/// A source of a fabric: a live fabric, the simulator, a capture, files.
pub trait Source {
    /// The name of the source in headers and JSON, as the operator wrote it.
    fn describe(&self) -> &str;

    /// Reads the fabric once.
    fn observe(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError>;

    /// Adds the entries of all switches for these LIDs to the last snapshot, if it came without tables. A source that
    /// returns its tables with each snapshot has nothing to add.
    fn read_routes_to(
        &mut self,
        _look: &mut Observation,
        _lids: &[Lid],
        _watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        Ok(())
    }

    /// Adds SL2VL and arbitration tables to the last snapshot, if it came without. A reading that needs more requests
    /// than allowed sends none. A source that returns them with each snapshot has nothing to add.
    fn read_lanes(
        &mut self,
        _look: &mut Observation,
        _most: Option<u64>,
        _watch: &mut dyn ReadObserver,
    ) -> Result<LaneReadOutcome, SourceError> {
        Ok(LaneReadOutcome::Read)
    }

    /// Adds the health of links to the last snapshot. A source that returns it with each snapshot has nothing to add.
    fn read_wire(
        &mut self,
        _look: &mut Observation,
        _wanted: WireReadOptions,
        _watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        Ok(())
    }

    /// Asks the subnet manager for the service levels of paths in the last snapshot, but not of pairs that partitions keep
    /// apart: these partitions, otherwise those of the P_Key tables of the snapshot.
    fn read_levels(
        &mut self,
        _look: &mut Observation,
        _partitions: Option<&Partitions>,
        _wanted: LevelReadOptions,
        _watch: &mut dyn ReadObserver,
    ) -> Result<LevelReadOutcome, SourceError> {
        Ok(LevelReadOutcome::NotLive)
    }

    /// Whether an agent at each LID subscribes to the notices of dFtree; `None` where the source cannot know.
    fn find_agents(&mut self, lids: &[Lid]) -> Result<Vec<Option<bool>>, SourceError> {
        Ok(vec![None; lids.len()])
    }

    /// Releases what only sweeps need, when the sweeps are over. Dropping the source does the same.
    fn end_watch(&mut self, _look: &mut Observation) {}

    /// Goes back in time, so that the next sweep and the last snapshot are this far apart. A live source has no past:
    /// its sweeps begin now.
    fn rewind(&mut self, _look: &mut Observation, _span: Duration) -> Result<(), SourceError> {
        Ok(())
    }

    /// The earlier sweep that errors are counted from, if more was recorded than the caller's sweeps.
    fn past_sweep(&mut self) -> Result<Option<PastSweep>, SourceError> {
        Ok(None)
    }

    /// Reads the counters of all ports of the last snapshot again, and the tables that may have changed. No reading
    /// starts before the given time of the source's clock. Updates the snapshot's fabric and tables. A file has one
    /// reading only.
    fn sweep(
        &mut self,
        _look: &mut Observation,
        _not_before: Duration,
        _watch: &mut dyn ReadObserver,
    ) -> Result<Sweep, SourceError> {
        Err(SourceError::Name {
            code: "FD-5013",
            what: format!(
                "{}: its counters cannot be read a second time, because it is not live",
                self.describe()
            ),
            hint: "give two readings as files: --before FILE --after FILE --seconds N".into(),
        })
    }
}
