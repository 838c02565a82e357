//! The content of a file, independent of its format.

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{
    AdaptiveRouting, CounterGrowth, CounterSample, NotePlace, Notes, Observation, PolicyLevels, SubnetManager,
};
use fabdeck_fabric::{Fabric, Guid, Lid, Lmc, NameMap, NodeKind, NodeTables};

/// The content of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A whole snapshot.
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

/// Nodes and cables, and the other facts that the format has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopologyFile {
    pub fabric: Fabric,
    /// The time of the dump, as the file writes it.
    pub time: Option<String>,
    pub subnet_manager: Option<SubnetManager>,
    pub counters: Vec<CounterSample>,
    pub growth: Option<CounterGrowth>,
    /// Whether switches route adaptively.
    pub adaptive: Option<AdaptiveRouting>,
    /// Nodes that stand for two nodes with the same GUID, in the order of the file.
    pub merged: Vec<MergedNodes>,
    pub notes: Notes,
}

/// Notes of topologies that end early: within a line, a record or a table, or before the other end of a cable.
const TRUNCATION_CODES: [&str; 6] = ["FN-203", "FN-215", "FN-219", "FN-227", "FN-301", "FN-321"];
/// The note of nodes that only their peers name.
const UNRECORDED_NODE: &str = "FN-206";

/// Whether nodes or cables of a topology were not read, judged by its partial notes as (code, text). A dump lists all
/// switches, so one without a record was cut off; so were the adapters if none has a record. In ibdiagnet's file only
/// cuts in the topology's own tables count.
pub fn ends_early<'a>(fabric: &Fabric, mut notes: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    let of_cables = |text: &str| {
        text.split([' ', ';']).any(|word| matches!(word, "NODES" | "SWITCHES" | "PORTS" | "LINKS"))
    };
    let unanswered = |kind: NodeKind| {
        fabric.nodes().filter(move |(_, node)| node.facts.kind == kind).map(|(_, node)| !node.facts.answered)
    };
    notes.any(|(code, text)| match code {
        UNRECORDED_NODE => {
            let mut adapters = unanswered(NodeKind::ChannelAdapter).peekable();
            unanswered(NodeKind::Switch).any(|is_silent| is_silent)
                || adapters.peek().is_some() && adapters.all(|is_silent| is_silent)
        }
        "FN-421" | "FN-422" => of_cables(text),
        code => TRUNCATION_CODES.contains(&code),
    })
}

impl TopologyFile {
    /// Whether nodes or cables at the end of the file were not read.
    pub fn is_truncated(&self) -> bool {
        let partial = self.notes.iter().filter(|note| note.partial);
        ends_early(&self.fabric, partial.map(|note| (note.code, note.text.as_str())))
    }
}

/// The service levels of paths: a QoS policy, or a list of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    pub levels: PolicyLevels,
    pub notes: Notes,
}

/// Two nodes with the same GUID, merged into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedNodes {
    pub guid: Guid,
    /// Their descriptions, in the order of the file.
    pub names: [String; 2],
}

/// Tables of nodes named by GUID; they need a fabric to be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableFile {
    pub sections: Vec<TableSection>,
    /// The port that owns each LID by the file; the first statement counts.
    pub owners: BTreeMap<Lid, Guid>,
    /// The last LID of the file's only table, if the file does not show that the table is whole.
    pub open_end: Option<Lid>,
    pub notes: Notes,
}

/// The tables that a file gives for one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSection {
    pub node: Guid,
    pub tables: NodeTables,
    /// Where the section begins.
    pub place: NotePlace,
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

/// Members of partitions, from OpenSM's partitions.conf; of several statements about a port the last counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionFile {
    pub statements: Vec<PartitionStatement>,
    pub notes: Notes,
}

/// The members of one definition; several definitions may name the same partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionStatement {
    pub name: String,
    /// The P_Key without the membership bit; derived by OpenSM's rule where the file has none.
    pub key: u16,
    pub members: Vec<PartitionMember>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionMember {
    pub who: PartitionPorts,
    /// Full membership, or full and limited at once (`both`).
    pub full: bool,
    pub line: u64,
}

/// The ports that a word in a list of members stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionPorts {
    All,
    Of(NodeKind),
    /// The subnet manager's port.
    Manager,
    Port(Guid),
}
