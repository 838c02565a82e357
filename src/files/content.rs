//! What a file can hold, whatever its format.

use std::collections::BTreeMap;

use crate::fabric::{Fabric, Guid, Lid, Lmc, NameMap, NodeKind, NodeTables};
use crate::observe::{
    Adaptive, CounterGrowth, CounterSample, Notes, Observation, Place, PolicyLevels, SubnetManager,
};

/// A file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A whole look.
    Observation(Box<Observation>),
    Topology(Box<TopologyFile>),
    Tables(TableFile),
    Counters(CounterFile),
    Names(NameFile),
    Guids(GuidFile),
    Lids(LidFile),
    Partitions(PartitionFile),
    Policy(PolicyFile),
}

impl Content {
    pub fn notes(&self) -> &Notes {
        match self {
            Self::Observation(seen) => &seen.notes,
            Self::Topology(file) => &file.notes,
            Self::Tables(file) => &file.notes,
            Self::Counters(file) => &file.notes,
            Self::Names(file) => &file.notes,
            Self::Guids(file) => &file.notes,
            Self::Lids(file) => &file.notes,
            Self::Partitions(file) => &file.notes,
            Self::Policy(file) => &file.notes,
        }
    }

    pub fn add_notes(&mut self, notes: Notes) {
        let own = match self {
            Self::Observation(seen) => &mut seen.notes,
            Self::Topology(file) => &mut file.notes,
            Self::Tables(file) => &mut file.notes,
            Self::Counters(file) => &mut file.notes,
            Self::Names(file) => &mut file.notes,
            Self::Guids(file) => &mut file.notes,
            Self::Lids(file) => &mut file.notes,
            Self::Partitions(file) => &mut file.notes,
            Self::Policy(file) => &mut file.notes,
        };
        own.extend(notes);
    }
}

/// Nodes and cables, and whatever else the format says of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopologyFile {
    pub fabric: Fabric,
    /// The time of the dump in the file's own words.
    pub time: Option<String>,
    pub subnet_manager: Option<SubnetManager>,
    pub counters: Vec<CounterSample>,
    pub growth: Option<CounterGrowth>,
    /// Whether switches choose among ports by themselves.
    pub adaptive: Option<Adaptive>,
    /// Nodes that stand for two, in the order of the file.
    pub merged: Vec<Merged>,
    pub notes: Notes,
}

/// A QoS policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    pub levels: PolicyLevels,
    pub notes: Notes,
}

/// Two nodes of one GUID, which became one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    pub guid: Guid,
    /// Their descriptions, in the order of the file.
    pub names: [String; 2],
}

/// Tables of nodes named by GUID; they mean something only together with a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableFile {
    pub sections: Vec<TableSection>,
    /// Which port the file says owns a LID (the first statement counts).
    pub owners: BTreeMap<Lid, Guid>,
    pub notes: Notes,
}

/// The tables that a file gives for one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSection {
    pub node: Guid,
    pub tables: NodeTables,
    /// Where the section begins.
    pub place: Place,
}

/// Counters of ports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CounterFile {
    pub samples: Vec<CounterSample>,
    pub notes: Notes,
}

/// Names by GUID.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameFile {
    pub names: NameMap,
    pub notes: Notes,
}

/// A list of GUIDs in the file's order (roots, compute nodes, I/O nodes, a routing order).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuidFile {
    pub guids: Vec<Guid>,
    /// The line of each.
    pub lines: Vec<u64>,
    /// The last line, where the file ends within it.
    pub cut: Option<u64>,
    pub notes: Notes,
}

/// LIDs by port GUID, as OpenSM remembers them (guid2lid).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LidFile {
    pub lids: BTreeMap<Guid, (Lid, Lmc)>,
    pub notes: Notes,
}

/// Who belongs to which partition, as OpenSM's partitions.conf says it: the later statement counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionFile {
    pub statements: Vec<PartitionStatement>,
    pub notes: Notes,
}

/// The members of one definition; several may speak of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionStatement {
    pub name: String,
    /// Without the bit of membership; given by OpenSM's rule where the file has none.
    pub key: u16,
    pub members: Vec<PartitionMember>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionMember {
    pub who: PartitionPorts,
    /// Full, or full and limited at once.
    pub full: bool,
    pub line: u64,
}

/// What a word of a list of members stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionPorts {
    All,
    Of(NodeKind),
    /// The subnet manager's port.
    Manager,
    Port(Guid),
}
