//! What an engine is: a pure function from a problem and a request to routes, or a refusal with its reason.

use std::fmt;
use std::sync::Arc;

use super::dor::DimensionPorts;
use super::incremental::IncrementalFn;
use super::problem::Problem;
use super::stored_tables::StoredTables;
use fabdeck_fabric::{Guid, JobMap, Routes, TorusDescription};

/// The data lanes of almost all adapters.
const DEFAULT_LANES: u8 = 4;

/// The options of an engine. An engine ignores the ones that it does not use; [`Engine::unused_options`] lists them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The largest number of virtual lanes to use.
    pub lanes: u8,
    /// The assumed number of data lanes of adapters whose ports do not state it; `None` where the operator set the
    /// number of lanes. Engines ignore it: the caller limits `lanes` to it.
    pub supposed_lanes: Option<u8>,
    /// The switches to use as roots; empty for those that the engine finds.
    pub roots: Vec<Guid>,
    /// The nodes that compute; empty for all adapters.
    pub compute_nodes: Vec<Guid>,
    /// The nodes that serve compute nodes.
    pub io_nodes: Vec<Guid>,
    /// The running jobs; empty when they are unknown.
    pub jobs: Arc<JobMap>,
    /// What the lane of a path may depend on.
    pub lanes_by: LaneDependence,
    /// The torus or mesh that the fabric is, where the operator describes it.
    pub torus: Option<Arc<TorusDescription>>,
    /// The node of the subnet manager.
    pub manager: Option<Guid>,
    /// The ports of switches in the order of dimensions; empty for the order of their numbers.
    pub dimension_ports: Arc<DimensionPorts>,
    /// The forwarding tables that an engine takes over.
    pub tables: Option<Arc<StoredTables>>,
    /// Whether `nue` makes its layers by search alone, on trees too.
    pub plain_search: bool,
    /// Whether paths are spread over lanes that are left empty.
    pub spread_lanes: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            lanes: 8,
            supposed_lanes: Some(DEFAULT_LANES),
            roots: Vec::new(),
            compute_nodes: Vec::new(),
            io_nodes: Vec::new(),
            jobs: Arc::default(),
            lanes_by: LaneDependence::default(),
            torus: None,
            manager: None,
            dimension_ports: Arc::default(),
            tables: None,
            plain_search: false,
            spread_lanes: false,
        }
    }
}

impl Request {
    /// Sets the number of lanes where the operator states it (`said`), and else the assumed number of data lanes
    /// (`supposed`).
    pub fn with_lanes(self, said: Option<u8>, supposed: Option<u8>) -> Self {
        match said {
            Some(lanes) => Self { lanes, supposed_lanes: None, ..self },
            None => Self { supposed_lanes: supposed.or(self.supposed_lanes), ..self },
        }
    }
}

/// What the lane of a path may depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneDependence {
    /// Source and destination.
    #[default]
    Pair,
    /// The destination alone, which unmodified OpenSM can tell adapters.
    Destination,
}

/// Why an engine returns no routes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineRefusal {
    /// The engine does not support the topology.
    #[error("FD-8001: {engine} cannot route this fabric: {why}")]
    Unfit {
        /// The engine.
        engine: &'static str,
        /// The reason.
        why: String,
    },
    /// The engine needs more lanes than it may use.
    #[error("FD-8002: {engine} needs {needed} lanes here and may use {given}")]
    Lanes {
        /// The engine.
        engine: &'static str,
        /// The number of lanes that it needs.
        needed: u32,
        /// The number of lanes that it may use.
        given: u8,
    },
    /// An option makes no sense on this fabric.
    #[error("FD-8003: {engine}: {what}")]
    Request {
        /// The engine.
        engine: &'static str,
        /// What is wrong with the option.
        what: String,
    },
    /// The caller cancelled the run.
    #[error("FD-8004: cancelled")]
    Cancelled,
}

/// Receives the progress of a long computation and can cancel it. Called from any thread.
pub trait RouteProgress: Sync {
    /// Reports that `done` of `of` parts are done.
    fn report(&self, done: usize, of: usize);

    /// Whether to stop early.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// The refusal of a cancelled run, for engines to return.
    fn check_cancelled(&self) -> Result<(), EngineRefusal> {
        if self.is_cancelled() { Err(EngineRefusal::Cancelled) } else { Ok(()) }
    }
}

/// A [`RouteProgress`] that ignores progress and never cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl RouteProgress for NoProgress {
    fn report(&self, _: usize, _: usize) {}
}

/// What the routes of an engine guarantee on every fabric that the engine does not refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RouteGuarantees {
    /// Whether every adapter reaches every adapter that cables connect it with.
    pub terminals: bool,
    /// Whether every switch reaches everything that cables connect it with, and is reached by it.
    pub switches: bool,
    /// Whether the paths between adapters have no credit loop.
    pub deadlock_free: bool,
    /// Whether the paths from and to switches have no credit loop either.
    pub deadlock_free_switches: bool,
    /// Whether all paths between adapters are shortest.
    pub shortest: bool,
}

/// The options of a [`Request`] that an engine uses. All engines keep the limit of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestUse {
    /// Whether it uses `roots`.
    pub roots: bool,
    /// Whether it uses `compute_nodes`.
    pub compute_nodes: bool,
    /// Whether it uses `io_nodes`.
    pub io_nodes: bool,
    /// Whether it uses `jobs`.
    pub jobs: bool,
    /// Whether it uses `lanes_by`.
    pub lanes_by: bool,
    /// Whether it uses `torus`.
    pub torus: bool,
    /// Whether it uses more than one lane, where there are more.
    pub lanes: bool,
    /// Whether it uses `dimension_ports`.
    pub dimension_ports: bool,
    /// Whether it uses `tables`.
    pub tables: bool,
    /// Whether it uses `plain_search`.
    pub plain_search: bool,
    /// Whether it uses `spread_lanes`.
    pub spread_lanes: bool,
}

/// What a fabric must have for an engine to do what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FabricNeeds {
    /// Levels, from hosts at the bottom to the top.
    pub tree: bool,
    /// Two levels and no more, with as many LIDs a port as its paths take.
    pub two_levels: bool,
    /// Several LIDs a port: its routes are made for hosts that pick among them by path bits.
    pub several_lids: bool,
    /// The cabling of a torus or mesh.
    pub dimensions: bool,
}

impl FabricNeeds {
    /// Whether a fabric has all of them.
    pub fn are_met_by(self, has: Self) -> bool {
        let pairs = [
            (self.tree, has.tree),
            (self.two_levels, has.two_levels),
            (self.several_lids, has.several_lids),
            (self.dimensions, has.dimensions),
        ];
        pairs.into_iter().all(|(needed, there)| there || !needed)
    }
}

/// A routing engine of the registry.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The name of the engine, as in `--engine`.
    pub id: &'static str,
    /// One line about the engine, without a full stop.
    pub title: &'static str,
    /// What its routes guarantee.
    pub guarantees: RouteGuarantees,
    /// The options that it uses.
    pub uses: RequestUse,
    /// The fabrics that it is for.
    pub needs: FabricNeeds,
    /// Whether lanes change on the way, so that a plan for its routes writes SL2VL tables.
    pub writes_lane_tables: bool,
    /// Computes the routes.
    pub route: fn(&Problem<'_>, &Request, &dyn RouteProgress) -> Result<EngineAnswer, EngineRefusal>,
    /// Computes the same routes from those for other marks, for an engine whose tables do not all depend on one
    /// another.
    pub incremental: Option<IncrementalFn>,
}

impl Engine {
    /// The command-line options in a request that the engine ignores.
    pub fn unused_options(&self, request: &Request) -> Vec<&'static str> {
        let RequestUse {
            roots,
            compute_nodes,
            io_nodes,
            jobs,
            lanes_by,
            torus,
            lanes: _,
            dimension_ports,
            tables,
            plain_search,
            spread_lanes,
        } = self.uses;
        let given = [
            ("--roots", !request.roots.is_empty(), roots),
            ("--compute-nodes", !request.compute_nodes.is_empty(), compute_nodes),
            ("--io-nodes", !request.io_nodes.is_empty(), io_nodes),
            ("--jobs", !request.jobs.is_empty(), jobs),
            ("--lanes-by", request.lanes_by != LaneDependence::default(), lanes_by),
            ("--torus", request.torus.is_some(), torus),
            ("--dimension-ports", !request.dimension_ports.is_empty(), dimension_ports),
            ("--tables", request.tables.is_some(), tables),
            ("--plain-search", request.plain_search, plain_search),
            ("--spread-lanes", request.spread_lanes, spread_lanes),
        ];
        let unused = given.into_iter().filter(|(_, given, used)| *given && !used);
        unused.map(|(option, ..)| option).collect()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The routes of an engine with its remarks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EngineAnswer {
    /// The routes.
    pub routes: Routes,
    /// Sentences about destinations on escape paths, chosen roots or ranks.
    pub remarks: Vec<String>,
    /// Whether there were too few lanes for the engine's own routes. The routes keep the engine's promise and load
    /// their busiest channel more.
    pub degraded: bool,
    /// The number of destinations whose paths are escape paths, from an engine that has such.
    pub fell_back: Option<usize>,
}

impl From<Routes> for EngineAnswer {
    fn from(routes: Routes) -> Self {
        Self { routes, ..Self::default() }
    }
}
