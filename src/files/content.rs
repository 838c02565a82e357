//! The content of a file, independent of its format.

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{
    AdaptiveRouting, CounterGrowth, CounterSample, DeviceSensors, FileTable, NotePlace, Notes, Observation,
    PartitionTables, PolicyLevels, PortWire, SubnetManager, Ticks, WireHealth,
};
use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveStatement, Fabric, Guid, Lid, Lmc, NameMap, NodeKind, NodeTables, PortLabels,
    PortNum, PortSet, SheetRow,
};

use super::label_binding::LabelStatement;

/// The content of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A whole snapshot.
    Observation(Box<Observation>),
    Topology(Box<TopologyFile>),
    Tables(TableFile),
    Counters(CounterFile),
    Adaptive(AdaptiveFile),
    Wire(WireFile),
    Names(NameFile),
    Labels(LabelFile),
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
            Self::Adaptive(file) => &file.notes,
            Self::Wire(file) => &file.notes,
            Self::Names(file) => &file.notes,
            Self::Labels(file) => &file.notes,
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
            Self::Adaptive(file) => &mut file.notes,
            Self::Wire(file) => &mut file.notes,
            Self::Names(file) => &mut file.notes,
            Self::Labels(file) => &mut file.notes,
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
    /// The ticks of waiting, by kind of device.
    pub ticks: Ticks,
    /// What devices state about links, modules and sensors.
    pub wire: WireHealth,
    /// The labels of ports and the places of nodes.
    pub labels: PortLabels,
    /// The P_Key tables of ports.
    pub partitions: PartitionTables,
    /// Whether switches route adaptively.
    pub adaptive: Option<AdaptiveRouting>,
    /// What switches state about adaptive routing.
    pub adaptive_switches: BTreeMap<Guid, AdaptiveStatement>,
    /// Tables that nothing else here has.
    pub file_tables: Vec<FileTable>,
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
    /// The number of its private forwarding tables; 0 where the file does not number its tables.
    pub private_tables: u8,
    /// Where the section begins.
    pub place: NotePlace,
}

/// The adaptive tables of switches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdaptiveFile {
    pub sections: Vec<AdaptiveSection>,
    pub notes: Notes,
}

/// The adaptive tables of one switch, as a file lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdaptiveSection {
    pub node: Guid,
    /// The ports of each group, of all its sub-groups.
    pub groups: BTreeMap<u16, PortSet>,
    /// The entries by the number of the private table.
    pub tables: BTreeMap<u8, BTreeMap<Lid, AdaptiveEntry>>,
    /// Whether the file numbers the private tables, and so states how many there are.
    pub numbered: bool,
    /// Whether every line of the switch was understood.
    pub whole: bool,
    /// Where the section begins.
    pub place: NotePlace,
}

impl AdaptiveSection {
    pub fn new(node: Guid, place: NotePlace) -> Self {
        Self { node, groups: BTreeMap::new(), tables: BTreeMap::new(), numbered: false, whole: true, place }
    }

    /// The number of private tables, where the file states it.
    pub fn table_count(&self) -> Option<u8> {
        let last = self.tables.keys().next_back().filter(|_| self.numbered)?;
        Some(last.saturating_add(1))
    }

    /// The number of groups and entries.
    pub fn entry_count(&self) -> usize {
        self.groups.len() + self.tables.values().map(BTreeMap::len).sum::<usize>()
    }

    /// The memory of the first table and the groups; `None` without a table.
    pub fn memory_bytes(&self) -> Option<usize> {
        let top = self.tables.get(&0)?.keys().next_back().map_or(0, |lid| lid.index() + 1);
        let groups = self.groups.keys().next_back().map_or(0, |group| usize::from(*group) + 1);
        Some(top * size_of::<AdaptiveEntry>() + groups * size_of::<PortSet>())
    }
}

/// What devices state about ports, modules and sensors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WireFile {
    pub ports: Vec<WirePort>,
    pub devices: Vec<WireDevice>,
    /// The labels of ports, where the file has them.
    pub labels: Vec<LabelStatement>,
    pub notes: Notes,
}

/// How a file names a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireOwner {
    /// The GUID of the node, or of its port.
    Guid(Guid),
    /// The name of the file: GUID, LID or name of the node, and the port.
    FileName,
}

/// What one port states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WirePort {
    pub owner: WireOwner,
    /// The port on its node; `None` where the name of the file has it.
    pub port: Option<PortNum>,
    pub wire: PortWire,
    pub place: NotePlace,
}

/// What one device states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireDevice {
    pub owner: WireOwner,
    pub sensors: DeviceSensors,
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

/// Labels of ports and places of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelFile {
    /// Labels by GUID, of a diagnostic tool.
    pub statements: Vec<LabelStatement>,
    /// The lines of a sheet of the operator.
    pub sheet: Vec<SheetRow>,
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

/// The ports of switches in the order of dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DimensionPortFile {
    pub switches: BTreeMap<Guid, Vec<PortNum>>,
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
