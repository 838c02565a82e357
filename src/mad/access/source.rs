//! Where a fabric can be seen. Reading only: what writes is another trait, so writing to a capture cannot compile.

use std::sync::Arc;
use std::time::Duration;

use fabdeck_fabric::observe::{Observation, PathLevels, Place, Sweep};
use fabdeck_fabric::{Fabric, Lid};

use super::port::PortError;

/// Why a source could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source's own words are wrong (`sim:nothing`): usage.
    #[error("{code}: {what}; {hint}")]
    Name { code: &'static str, what: String, hint: String },
    /// A file is damaged or not of a known format.
    #[error("{place}: {code}: {what}; {hint}")]
    Input { code: &'static str, place: Place, what: String, hint: String },
    /// It cannot be reached (no such file, no permission, no answer).
    #[error("{code}: {what}; {hint}")]
    Unreachable { code: &'static str, what: String, hint: String },
    /// Whoever waited wanted it to end.
    #[error("FD-5010: the look was cancelled")]
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

/// What a look should bring besides nodes, ports, links and the subnet manager. A source that has it at hand anyway may
/// bring more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Forwarding tables, and whether switches choose ports by themselves.
    pub tables: bool,
    /// Whether switches choose ports by themselves, where the tables that are judged come from elsewhere.
    pub adaptive: bool,
    /// Multicast forwarding tables.
    pub multicast: bool,
    /// SL2VL and arbitration tables.
    pub lanes: bool,
    /// Counters of every cabled port.
    pub counters: bool,
}

/// What path records are wanted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LevelsWanted {
    /// Every source, instead of two of each switch.
    pub every: bool,
    /// Switches as sources and destinations too.
    pub switches: bool,
    /// Nothing is asked where it would take more questions.
    pub most: Option<u64>,
}

/// What became of asking for tables of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LanesRead {
    /// They are there, as far as anybody answered.
    Read,
    /// It would take so many questions.
    TooMany(u64),
}

/// What became of asking for path records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LevelsRead {
    /// Nobody can be asked: the source is not live.
    NotLive,
    NoManager,
    /// It would take so many questions.
    TooMany(u64),
    /// Not one answer told a path.
    Silent,
    Read(PathLevels),
}

/// How far a long look is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The phase as `Reading` names it.
    pub phase: &'static str,
    /// Questions that are settled.
    pub done: u64,
    /// Questions known so far, those settled included.
    pub known: u64,
}

/// Somebody who waits for a look.
pub trait Watch {
    /// Called often; it must be quick.
    fn progress(&mut self, progress: Progress);

    /// The fabric is known; what else was wanted is still to be read. Only of sources where that takes its time.
    fn sighted(&mut self, _fabric: &Fabric) {}

    /// Whether the look should end now.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Waits in silence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _: Progress) {}
}

/// A sweep that was recorded long before others.
#[derive(Clone, PartialEq, Debug)]
pub struct Past {
    /// When it began, by the clock of whoever recorded it.
    pub time: String,
    pub sweep: Arc<Sweep>,
}

/// Something that can be looked at: a live fabric, the simulator, a capture, files.
pub trait Source {
    /// How the source is called in headers and JSON, as the operator wrote it.
    fn describe(&self) -> &str;

    /// One look.
    fn observe(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError>;

    /// Adds what every switch does with these LIDs to the last look, where it came without tables. A source that
    /// brings its tables with every look has nothing to add.
    fn read_toward(
        &mut self,
        _look: &mut Observation,
        _lids: &[Lid],
        _watch: &mut dyn Watch,
    ) -> Result<(), SourceError> {
        Ok(())
    }

    /// Adds SL2VL and arbitration tables to the last look, where it came without; nothing is asked where it would take
    /// more questions than `most`. A source that brings them with every look has nothing to add.
    fn read_lanes(
        &mut self,
        _look: &mut Observation,
        _most: Option<u64>,
        _watch: &mut dyn Watch,
    ) -> Result<LanesRead, SourceError> {
        Ok(LanesRead::Read)
    }

    /// Asks the subnet manager for the service levels of paths in the last look.
    fn read_levels(
        &mut self,
        _look: &mut Observation,
        _wanted: LevelsWanted,
        _watch: &mut dyn Watch,
    ) -> Result<LevelsRead, SourceError> {
        Ok(LevelsRead::NotLive)
    }

    /// Of each LID, whether an agent there is subscribed to what dFtree tells hosts; `None` where nobody can say that.
    fn agents(&mut self, lids: &[Lid]) -> Result<Vec<Option<bool>>, SourceError> {
        Ok(vec![None; lids.len()])
    }

    /// Nobody sweeps any more: what only watching needs is given back. Whoever drops a source need not call it.
    fn end_watch(&mut self, _look: &mut Observation) {}

    /// Goes back in time, for so much to lie between the next sweep and the last look. A source that lives has no past,
    /// and its sweeps begin now.
    fn go_back(&mut self, _look: &mut Observation, _span: Duration) -> Result<(), SourceError> {
        Ok(())
    }

    /// What errors are told since at the last sweep, where more was recorded than whoever sweeps has seen.
    fn past(&mut self) -> Result<Option<Past>, SourceError> {
        Ok(None)
    }

    /// Reads the counters of all ports of the last look again, no sooner than this by the clock of the source, and what
    /// may have changed; the look has the fabric and the tables as they are afterwards. A file has one reading only.
    fn sweep(
        &mut self,
        _look: &mut Observation,
        _not_before: Duration,
        _watch: &mut dyn Watch,
    ) -> Result<Sweep, SourceError> {
        Err(SourceError::Name {
            code: "FD-5013",
            what: format!(
                "{}: its counters cannot be read a second time, for it is not live",
                self.describe()
            ),
            hint: "give two readings as files: --before FILE --after FILE --seconds N".into(),
        })
    }
}
