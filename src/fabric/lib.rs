//! InfiniBand fabrics as values: nodes, ports, links and LIDs in an immutable snapshot, and what belongs to it.
//!
//! | to | use |
//! |---|---|
//! | look at a topology | [`Fabric`], [`SwitchGraph`] |
//! | build one from a dump or by hand | [`FabricBuilder`] |
//! | generate one by name, with faults | [`generate`] |
//! | mark nodes, ports and links as failed, without a change of the fabric | [`Faults`] |
//! | hold forwarding tables, SL2VL, VL arbitration | [`Routes`], [`Tables`] |
//! | hold what adaptive routing may do with a packet | [`AdaptiveSwitch`], [`OutputSet`] |
//! | compare two snapshots | [`FabricDifference`] |
//! | hold everything that a source stated | [`observe`] |
//! | compute rates, hot-spots and bad links from two readings of counters | [`counters`] |
//!
//! The crate does no I/O and asks no clock. What a source did not state is `None`. A fabric lies in canonical order, so
//! equal fabrics are equal values. Routes are computed and judged by the crate `fabdeck-routing`.
//!
//! # A fabric by name
//!
//! [`generate::catalogue`] lists the names and their keys.
//!
//! ```
//! use fabdeck_fabric::NodeKind;
//! use fabdeck_fabric::generate::{GenerateError, FabricSpec, generate};
//!
//! let spec: FabricSpec = "kary,k=4,n=2".parse()?;
//! let fabric = generate(&spec)?.fabric;
//! assert_eq!(fabric.switch_count(), 8);
//! assert_eq!(fabric.count(NodeKind::ChannelAdapter), 16);
//! # Ok::<(), GenerateError>(())
//! ```
//!
//! # A fabric node by node, and a failure
//!
//! ```
//! use fabdeck_fabric::{Element, FabricBuilder, Faults, Guid, NameMap, Names};
//! use fabdeck_fabric::{NodeFacts, NodeKind, PortNum, SwitchGraph};
//!
//! let mut builder = FabricBuilder::new();
//! let mut switches = Vec::new();
//! for number in 0..3 {
//!     let facts = NodeFacts::new(NodeKind::Switch, Guid(0x100 + number), 36, format!("leaf-{number}"));
//!     let switch = builder.add_node(facts).expect("each GUID once");
//!     let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(0x200 + number), 1, format!("node-{number}"));
//!     let host = builder.add_node(facts).expect("each GUID once");
//!     builder.connect((switch, PortNum(1)), (host, PortNum(1)))?;
//!     switches.push(switch);
//! }
//! // A line: leaf-0, leaf-1, leaf-2.
//! for pair in switches.windows(2) {
//!     builder.connect((pair[0], PortNum(36)), (pair[1], PortNum(35)))?;
//! }
//! let fabric = builder.finish().with_fresh_lids(None);
//! assert_eq!(fabric.links().len(), 5);
//!
//! let names = Names::new(&fabric, &NameMap::default());
//! let mut faults = Faults::new();
//! faults.mark(Element::find(&fabric, &names, "switch:leaf-1")?);
//! let (_, components) = SwitchGraph::new(&fabric, &faults).components();
//! assert_eq!(components, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` has programs of a page each.

#![warn(missing_docs)]

pub mod counters;
pub mod generate;
pub mod observe;

mod adaptive;
mod adaptive_tables;
mod builder;
mod device_index;
mod diff;
mod element;
mod faults;
mod graph;
mod host_rules;
mod ids;
mod job_map;
mod label_index;
mod lid_assignment;
mod link;
mod names;
mod node;
mod output_set;
mod partition_key;
mod partitions;
mod path_bits;
mod path_level_table;
mod port_labels;
mod port_set;
mod route_rows;
mod routes;
mod serde_impls;
mod service_levels;
mod snapshot;
mod suggestions;
mod tables;
mod torus_description;

pub use adaptive::{
    AdaptiveDoubt, AdaptiveMismatch, AdaptiveSettings, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState,
};
pub use adaptive_tables::{AdaptiveEntry, AdaptiveLft, AdaptiveTables, EntryState};
pub use builder::{ConnectError, FabricBuilder, NodeKey};
pub use device_index::DeviceIndex;
pub use diff::{FabricDiff, FabricDifference};
pub use element::{Element, ElementError, ElementId, FoundElement, LIST_COMMANDS_HINT};
pub use faults::Faults;
pub use graph::{Channel, ChannelId, SwitchGraph, Terminal};
pub use host_rules::{HostRule, HostRules, NamedHost};
pub use ids::{Guid, IdError, Lane, Lid, Lmc, PortNum, ServiceLevel};
pub use job_map::JobMap;
pub use label_index::SheetProblem;
pub use link::{LinkSpeed, LinkWidth, PhysicalState, PortState};
pub use names::{NameMap, Names};
pub use node::{NodeFacts, NodeKind, PortFacts};
pub use output_set::OutputSet;
pub use partition_key::PartitionKey;
pub use partitions::Partitions;
pub use path_bits::{PathBits, pick_lid};
pub use path_level_table::{ListedLevels, PathLevelTable};
pub use port_labels::{GUESS_SIGN, LabelOrigin, NodePlace, PortLabel, PortLabels, SheetRow, guess_label};
pub use port_set::PortSet;
pub use routes::{PathLanes, Routes, UnreadEntries};
pub use service_levels::{ServiceLevels, levels_in};
pub use snapshot::{Fabric, Link, LinkId, Node, NodeId, Port, PortId};
pub(crate) use suggestions::shorten;
pub use suggestions::{similar_words, suggest};
pub use tables::{Arbitration, BLOCK_LIDS, Lft, Mft, NO_PATH, NodeTables, Sl2Vl, Tables, VlWeight, block_of};
pub use torus_description::{SeedLink, TORUS_DIMENSIONS, TorusDescription, TorusSeed};
