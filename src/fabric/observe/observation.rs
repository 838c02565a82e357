//! One look at a fabric.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Fabric, Guid, Levels, NameMap, PathLevelTable, Tables};

use super::{CounterSample, JobsHeard, Notes, Reading, Ticks};

/// The subnet manager in charge, as far as the source tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubnetManager {
    pub guid: Guid,
    /// `MASTER`, `STANDBY`, `DISCOVERING`, `NOTACTIVE`, where known.
    pub state: Option<String>,
    /// 0 to 15: the highest is in charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

/// Service levels as path records give them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathLevels {
    pub levels: Levels,
    /// Every source was asked, and not only some of each switch.
    pub every: bool,
    pub asked: u64,
    /// Questions that told no path.
    pub unsaid: u64,
    /// (Source switch, LID) on which sources of the switch differ.
    pub differing: u64,
}

/// The service levels of paths as a file sets them: a QoS policy of OpenSM, or a list of paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyLevels {
    /// By the GUID of the destination's port; paths to other ports have level 0.
    ByDestination(BTreeMap<Guid, u8>),
    /// Path by path. Those that are not listed are not known.
    ByPath(PathLevelTable),
    /// Several levels, by rules that do not follow the destination alone: which path has which is not known.
    Undecided,
}

/// Switches that choose among ports by themselves, or may, so that forwarding tables do not tell the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adaptive {
    /// The source has tables of it, and does not say where it is on.
    Seen,
    /// On so many switches.
    On(u64),
    /// So many switches did not answer whether it is on, and of no other is it known to be.
    Unknown(u64),
}

impl Adaptive {
    /// On how many switches it is known to be on.
    pub fn switches(self) -> u64 {
        match self {
            Self::Seen | Self::Unknown(_) => 0,
            Self::On(switches) => switches,
        }
    }

    /// How many switches left open whether it is on.
    pub fn unknown(self) -> u64 {
        match self {
            Self::Seen | Self::On(_) => 0,
            Self::Unknown(switches) => switches,
        }
    }
}

/// By how much counters grew over a time, where the source states the growth itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterGrowth {
    /// The growth in place of the values.
    pub samples: Vec<CounterSample>,
    pub over: Duration,
    /// Whether the source states the time, and not only the growth.
    pub stated: bool,
}

/// What a source said at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observation {
    /// The time the source gives, in its own words where a file has it only as text.
    pub time: Option<String>,
    pub fabric: Fabric,
    pub tables: Tables,
    pub counters: Vec<CounterSample>,
    pub growth: Option<CounterGrowth>,
    /// How long a tick of waiting is, as far as anybody was asked.
    pub ticks: Ticks,
    pub names: NameMap,
    pub subnet_manager: Option<SubnetManager>,
    pub notes: Notes,
    /// Adaptive routing, where the source tells of it.
    pub adaptive: Option<Adaptive>,
    /// The service levels that a file sets: the QoS policy of the subnet manager, or a list of paths.
    pub policy: Option<PolicyLevels>,
    /// The topology ends early: what lies beyond the cables that are known was not read.
    pub cut: bool,
    /// How it was read, where it was read from a live fabric.
    pub reading: Option<Reading>,
    /// Which jobs ran, where somebody was heard who knows it.
    pub jobs: Option<Arc<JobsHeard>>,
}

impl Observation {
    /// Something that should be here is not.
    pub fn partial(&self) -> bool {
        self.notes.partial() || self.fabric.nodes().any(|(_, node)| !node.facts.answered)
    }
}
