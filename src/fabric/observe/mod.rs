//! What a source stated, unprocessed: values, times, requests without an answer, and a note on every unusual reading.

mod bit_error_rate;
mod counters;
mod file_tables;
mod flow_lists;
mod job_snapshot;
mod join_samples;
mod link_pages;
mod multicast_groups;
mod node_statements;
mod notes;
mod observation;
mod partition_tables;
mod planes;
mod port_hierarchy;
mod printable;
mod reading;
mod sweep;
mod ticks;
mod wire_health;

pub use bit_error_rate::{BitErrorRate, RateNumber};
pub(crate) use counters::COUNT_LIMIT;
pub use counters::{Counter, CounterFigure, CounterKind, CounterLookup, CounterSample, CounterValues};
pub use file_tables::{FileTable, FileTableRow, FileValue};
pub use flow_lists::FlowLists;
pub use job_snapshot::{JobHosts, JobListState, JobSnapshot};
pub use join_samples::join_samples;
pub use link_pages::{
    CongestionMarks, LinkDownPage, PhysicalLayerCounts, RetransmissionCounts, TroubleshootingPage,
};
pub use multicast_groups::{JoinState, MulticastGroup, MulticastGroups, ports_in_tree};
pub use node_statements::{NodeStatements, statement_text};
pub use notes::{Note, NotePlace, Notes};
pub use observation::{AdaptiveRouting, CounterGrowth, Observation, PathLevels, PolicyLevels, SubnetManager};
pub use partition_tables::{PartitionEnforcement, PartitionTables, PortPartitions};
pub use planes::{
    AggregatedPorts, OtherPlaneLink, PlaneAnswer, PlaneNode, PlanePort, PlaneReading, Planes, PortPlanes,
};
pub use port_hierarchy::{HIERARCHY_WORDS, PortHierarchies, PortHierarchy, device_labels};
pub use printable::{digits_in_groups, escape_json, escape_unprintable, is_printable};
pub use reading::{MissingAnswer, ReadingPhase, ReadingReport, route_text};
pub use sweep::{
    ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, FabricEvent, KnownManager, LinkRate,
    PortIdentity, Sweep,
};
pub use ticks::{TickKind, Ticks};
pub use wire_health::{
    AlarmLimits, BitErrorCounts, BoardSensor, CableKind, DeviceAnswer, DeviceSensors, DiscardCauses,
    FecCounts, FecMode, FirmwareReading, KindOutcome, ModuleReading, PortWire, PowerSupplyReading,
    ReceiveErrorCauses, SystemReading, TemperatureReading, WireHealth,
};
