//! Routing engines for InfiniBand fabrics, and a certificate that judges routes from any source.
//!
//! | to | use |
//! |---|---|
//! | compute routes | [`ENGINES`], [`find_engine`], [`run_engine`] |
//! | prove that routes reach everything without credit loops, and see their balance | [`certificate`] |
//! | see what a change of routes means, and whether it is safe under traffic | [`difference`], [`mixture`] |
//! | route the paths in force around some links, and leave all others as they are | [`route_around`] |
//! | find the paths that failures take, and the load of jobs and traffic patterns | [`analysis`] |
//! | move flows of a hot-spot to a slow lane (dFtree) | [`lanes`] |
//!
//! The engines are `minhop`, `updn`, `ftree`, `sftree`, `sssp`, `dfsssp`, `sar`, `nue`, `dmodk`, `mlid`, `opt`,
//! `torus2qos`, `dor` and `lash`; `dnup` and `file` are found by name alone. An engine is a pure function from a
//! [`Problem`] and a [`Request`] to [`Routes`](fabdeck_fabric::Routes), or an [`EngineRefusal`] with its
//! reason. The crate does no I/O. The same input gives the same routes, whatever the number of threads.
//!
//! # Routes of a fabric by name
//!
//! ```
//! use fabdeck_fabric::Faults;
//! use fabdeck_fabric::generate::{FabricSpec, generate};
//! use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
//! use fabdeck_routing::{NoProgress, Problem, Request, find_engine, run_engine};
//!
//! let spec: FabricSpec = "torus,dims=4x4".parse()?;
//! let (fabric, faults) = (generate(&spec)?.fabric, Faults::new());
//! let problem = Problem::new(&fabric, &faults);
//! let nue = find_engine("nue").expect("the registry has nue");
//! let request = Request { lanes: 2, ..Request::default() };
//! let answer = run_engine(nue, &problem, &request, None, &NoProgress)?;
//!
//! let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
//! let certificate = certify(&problem, &answer.routes, &scope, &NoProgress)?;
//! assert_eq!(certificate.deadlock_free, Some(true));
//! assert_eq!(certificate.lost.total(), 0);
//! println!("busiest channel: {} paths", certificate.edge_forwarding_index.max);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Routes of a fabric built node by node
//!
//! Shortest paths around a ring of five switches close a credit loop. Nue avoids it on one lane.
//!
//! ```
//! use fabdeck_fabric::{FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum};
//! use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
//! use fabdeck_routing::{NoProgress, Problem, Request, find_engine, run_engine};
//!
//! let mut builder = FabricBuilder::new();
//! let mut ring = Vec::new();
//! for number in 0..5 {
//!     let facts = NodeFacts::new(NodeKind::Switch, Guid(0x100 + number), 8, format!("switch-{number}"));
//!     let switch = builder.add_node(facts).expect("each GUID once");
//!     let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(0x200 + number), 1, format!("node-{number}"));
//!     let host = builder.add_node(facts).expect("each GUID once");
//!     builder.connect((switch, PortNum(1)), (host, PortNum(1)))?;
//!     ring.push(switch);
//! }
//! for number in 0..5 {
//!     builder.connect((ring[number], PortNum(2)), (ring[(number + 1) % 5], PortNum(3)))?;
//! }
//! let (fabric, faults) = (builder.finish().with_fresh_lids(None), Faults::new());
//!
//! let problem = Problem::new(&fabric, &faults);
//! let request = Request { lanes: 1, ..Request::default() };
//! let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
//! let deadlock_free = |name: &str| {
//!     let answer = run_engine(find_engine(name).expect("a known engine"), &problem, &request, None, &NoProgress)?;
//!     Ok::<_, fabdeck_routing::EngineRefusal>(certify(&problem, &answer.routes, &scope, &NoProgress)?.deadlock_free)
//! };
//! assert_eq!(deadlock_free("minhop")?, Some(false));
//! assert_eq!(deadlock_free("nue")?, Some(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` has programs of a page each.

#![warn(missing_docs)]

pub mod analysis;
pub mod lanes;

pub mod certificate;
pub mod difference;
pub mod mixture;

mod acyclic;
mod balance;
mod column_bytes;
mod column_writer;
mod descent;
mod detour;
mod dfsssp;
mod dor;
mod engine;
mod forwarding_index;
mod ftree;
mod heights;
mod hop_mixture;
mod host_places;
mod incremental;
mod lane_layers;
mod lash;
mod line_trees;
mod minhop;
mod mlid;
mod nue;
mod opt;
mod ordered_entries;
mod pair_ways;
mod problem;
mod ranks;
mod registry;
mod sar;
mod sftree;
mod sssp;
mod stored_tables;
mod terminal_pairs;
mod torus2qos;
pub mod trees;
mod up_digits;
mod updn;
mod updown;

pub use detour::{Detour, route_around};
pub use dfsssp::DEGRADED_REMARK;
pub use dor::DimensionPorts;
pub use engine::{
    Engine, EngineAnswer, EngineRefusal, FabricNeeds, LaneDependence, NoProgress, Request, RequestUse,
    RouteGuarantees, RouteProgress,
};
pub use heights::heights;
pub use incremental::{EngineRun, IncrementalAnswer, IncrementalFn, PreviousRun, RunExtent, run_engine};
pub use nue::{FigureValue, UPDOWN_REMARK, figure_values};
pub use problem::{Destination, Problem};
pub use registry::{ENGINE_REVISION, ENGINES, NAMED_ENGINES, find_engine, suitable_engines};
pub use stored_tables::StoredTables;
pub use torus2qos::TorusCoordinates;
pub use trees::Cause;
