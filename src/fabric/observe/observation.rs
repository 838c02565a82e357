//! One complete reading of a fabric.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Fabric, Guid, NameMap, PathLevelTable, ServiceLevels, Tables};

use super::counters::CounterSample;
use super::file_tables::FileTable;
use super::job_snapshot::JobSnapshot;
use super::multicast_groups::MulticastGroups;
use super::notes::Notes;
use super::partition_tables::PartitionTables;
use super::planes::Planes;
use super::port_hierarchy::PortHierarchies;
use super::reading::ReadingReport;
use super::ticks::Ticks;
use super::wire_health::WireHealth;

/// The master subnet manager, as far as the source states it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubnetManager {
    /// The GUID of its port.
    pub guid: Guid,
    /// `MASTER`, `STANDBY`, `DISCOVERING` or `NOTACTIVE`, where known.
    pub state: Option<String>,
    /// The priority, 0 to 15; the highest becomes master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

/// The service levels that path records state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathLevels {
    /// The levels.
    pub levels: ServiceLevels,
    /// Whether every source was asked, and not only some of each switch.
    pub every: bool,
    /// The number of path records asked for.
    pub asked: u64,
    /// Requests whose answer has no path.
    pub without_path: u64,
    /// Pairs (source switch, LID) for which the sources of the switch have different levels.
    pub differing: u64,
}

/// The service levels that a file sets: a QoS policy of OpenSM, or a list of paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyLevels {
    /// By the GUID of the destination's port; paths to other ports have level 0.
    ByDestination(BTreeMap<Guid, u8>),
    /// Path by path. The level of a path that is not listed is unknown.
    ByPath(PathLevelTable),
    /// By rules that use more than the destination: the level of a path is unknown.
    Undecided,
}

/// Switches with adaptive routing, whose forwarding tables do not determine the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdaptiveRouting {
    /// The source has its tables, and does not state where it is on.
    Seen,
    /// The number of switches on which it is on.
    On(u64),
    /// It is not known to be on anywhere; this number of switches did not answer.
    Unknown(u64),
}

impl AdaptiveRouting {
    /// The number of switches on which it is known to be on.
    pub fn switch_count(self) -> u64 {
        match self {
            Self::Seen | Self::Unknown(_) => 0,
            Self::On(switches) => switches,
        }
    }

    /// The number of switches that did not answer whether it is on.
    pub fn unknown_count(self) -> u64 {
        match self {
            Self::Seen | Self::On(_) => 0,
            Self::Unknown(switches) => switches,
        }
    }
}

/// The growth of counters over a time, where the source states the growth itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterGrowth {
    /// Samples whose values are the growth.
    pub samples: Vec<CounterSample>,
    /// The time.
    pub over: Duration,
    /// Whether the source states the time, and not only the growth.
    pub stated: bool,
}

/// Everything that a source stated at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observation {
    /// The time that the source states, in its own words where a file has it as text only.
    pub time: Option<String>,
    /// The topology.
    pub fabric: Fabric,
    /// The tables of the nodes.
    pub tables: Tables,
    /// The counters.
    pub counters: Vec<CounterSample>,
    /// The growth of counters, where the source states it.
    pub growth: Option<CounterGrowth>,
    /// The length of a tick of waiting, by kind of device.
    pub ticks: Ticks,
    /// What devices state about links, modules and sensors.
    pub wire: WireHealth,
    /// What ports state about their places on devices.
    pub hierarchies: PortHierarchies,
    /// The planes of a fabric with XDR; empty where it has one.
    pub planes: Planes,
    /// The P_Key tables of ports.
    pub partitions: PartitionTables,
    /// Multicast groups, as the subnet manager states them.
    pub groups: MulticastGroups,
    /// Tables of a file that nothing else here has, by the names of their columns.
    pub file_tables: Arc<Vec<FileTable>>,
    /// The names that the operator gives, with labels of ports and places of nodes.
    pub names: NameMap,
    /// The master subnet manager.
    pub subnet_manager: Option<SubnetManager>,
    /// The notes of the reading.
    pub notes: Notes,
    /// Adaptive routing, where the source mentions it.
    pub adaptive: Option<AdaptiveRouting>,
    /// The service levels that a file sets: the QoS policy of the subnet manager, or a list of paths.
    pub policy: Option<PolicyLevels>,
    /// Whether the topology ends early: what lies beyond the known cables was not read.
    pub cut: bool,
    /// How a live fabric was read; `None` for a file.
    pub reading: Option<ReadingReport>,
    /// The running jobs, where a batch system was asked.
    pub jobs: Option<Arc<JobSnapshot>>,
}

impl Observation {
    /// Whether something is missing that should be there.
    pub fn is_partial(&self) -> bool {
        self.notes.is_partial() || !self.fabric.has_answered()
    }
}
