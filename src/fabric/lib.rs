//! The model of an InfiniBand fabric: an immutable snapshot of nodes, ports, links and LIDs, the tables of its switches,
//! and failures that an operator marks over it. Beside it: raw observations, what counters tell between two readings,
//! and fabrics made by name. No I/O, no clock.

#![warn(missing_docs)]

pub mod counters;
pub mod generate;
pub mod observe;

mod addressed;
mod build;
mod diff;
mod element;
mod faults;
mod graph;
mod host_rules;
mod ids;
mod jobs;
mod levels;
mod link;
mod names;
mod nearest;
mod node;
mod partitions;
mod path_level_table;
mod pick;
mod routes;
mod serial;
mod snapshot;
mod tables;

pub use build::{ConnectError, FabricBuilder, NodeKey};
pub use diff::{Change, FabricDiff};
pub use element::{Element, ElementError, LISTED_BY, Resolved};
pub use faults::Faults;
pub use graph::{Channel, ChannelId, SwitchGraph, Terminal};
pub use host_rules::{HostRule, HostRules, NamedHost};
pub use ids::{Guid, IdError, Lane, Lid, Lmc, PortNum, ServiceLevel};
pub use jobs::JobMap;
pub use levels::{Levels, levels_in};
pub use link::{LinkSpeed, LinkWidth, PhysicalState, PortState};
pub use names::{NameMap, Names};
pub use nearest::{meant, resembling, shown};
pub use node::{NodeFacts, NodeKind, PortFacts};
pub use partitions::Partitions;
pub use path_level_table::{ListedLevels, PathLevelTable};
pub use pick::pick;
pub use routes::{Lanes, Routes, Unread};
pub use snapshot::{Fabric, Link, LinkId, Node, NodeId, Port, PortId};
pub use tables::{Arbitration, BLOCK_LIDS, Lft, Mft, NO_PATH, NodeTables, Sl2Vl, Tables, VlWeight, block_of};
