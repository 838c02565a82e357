//! What an engine is: a pure function from a problem and a request to routes, or a refusal with its reason.

use std::fmt;
use std::sync::Arc;

use super::again::AgainFn;
use super::problem::Problem;
use fabdeck_fabric::{Guid, JobMap, Routes};

/// Nearly all adapters have four data lanes.
pub const SUPPOSED_LANES: u8 = 4;

/// What an operator may ask of an engine. What one has no use for it leaves alone, and `Engine::no_use_for` tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The most lanes that may be used.
    pub lanes: u8,
    /// Data lanes that adapters are supposed to have where none of their ports says how many; `None` where the operator
    /// said how many lanes to use. Engines do not look at it: whoever asks them lowers `lanes` by it.
    pub supposed_lanes: Option<u8>,
    /// Switches to take as roots; none: the engine finds them.
    pub roots: Vec<Guid>,
    /// Nodes that compute, and nodes that serve them; none: every adapter computes.
    pub compute_nodes: Vec<Guid>,
    pub io_nodes: Vec<Guid>,
    /// The jobs that run; none: nobody said.
    pub jobs: Arc<JobMap>,
    pub lanes_by: LanesBy,
    /// The node that the subnet manager sits on.
    pub manager: Option<Guid>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            lanes: 8,
            supposed_lanes: Some(SUPPOSED_LANES),
            roots: Vec::new(),
            compute_nodes: Vec::new(),
            io_nodes: Vec::new(),
            jobs: Arc::default(),
            lanes_by: LanesBy::default(),
            manager: None,
        }
    }
}

impl Request {
    /// So many lanes at the most where an operator says how many; else as many as are supposed.
    pub fn with_lanes(self, said: Option<u8>, supposed: Option<u8>) -> Self {
        match said {
            Some(lanes) => Self { lanes, supposed_lanes: None, ..self },
            None => Self { supposed_lanes: supposed.or(self.supposed_lanes), ..self },
        }
    }
}

/// What the lane of a path may depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LanesBy {
    /// Where it begins and ends.
    #[default]
    Pair,
    /// Where it ends: what OpenSM can give adapters without being changed.
    Destination,
}

/// Why an engine gives no routes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The fabric is not what the engine is for.
    #[error("FD-8001: {engine} is not for this fabric: {why}")]
    Unfit { engine: &'static str, why: String },
    /// It would need more lanes than it may use.
    #[error("FD-8002: {engine} needs {needed} lanes here and may use {given}")]
    Lanes { engine: &'static str, needed: u32, given: u8 },
    /// What was asked for makes no sense on this fabric.
    #[error("FD-8003: {engine}: {what}")]
    Request { engine: &'static str, what: String },
    #[error("FD-8004: cancelled")]
    Cancelled,
}

/// Somebody who waits for routes, from any thread.
pub trait Pulse: Sync {
    /// So much of the work is done.
    fn step(&self, done: usize, of: usize);

    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPulse;

impl Pulse for NoPulse {
    fn step(&self, _: usize, _: usize) {}
}

/// What routes of an engine hold, whatever the fabric, when it does not refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Promise {
    /// Every adapter reaches every adapter that it is connected to.
    pub terminals: bool,
    /// Every switch reaches everything that it is connected to, and is reached by it.
    pub switches: bool,
    /// No cycle of dependencies between the paths of adapters.
    pub deadlock_free: bool,
    /// No cycle between the paths of switches either.
    pub deadlock_free_switches: bool,
    pub shortest: bool,
}

/// What of a request an engine looks at; the number of lanes is a limit that all keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    pub roots: bool,
    pub compute_nodes: bool,
    pub io_nodes: bool,
    pub jobs: bool,
    pub lanes_by: bool,
    /// More than one lane, where there are more.
    pub lanes: bool,
}

/// An engine of the registry.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The word of `--engine`.
    pub id: &'static str,
    /// One line, without a full stop.
    pub title: &'static str,
    pub promise: Promise,
    pub uses: Uses,
    pub route: fn(&Problem<'_>, &Request, &dyn Pulse) -> Result<Answer, Refusal>,
    /// The same routes out of those for other marks, of an engine whose tables do not all depend on one another.
    pub again: Option<AgainFn>,
}

impl Engine {
    /// What of a request changes nothing here, by its options.
    pub fn no_use_for(&self, request: &Request) -> Vec<&'static str> {
        let Uses { roots, compute_nodes, io_nodes, jobs, lanes_by, lanes: _ } = self.uses;
        let given = [
            ("--roots", !request.roots.is_empty(), roots),
            ("--compute-nodes", !request.compute_nodes.is_empty(), compute_nodes),
            ("--io-nodes", !request.io_nodes.is_empty(), io_nodes),
            ("--jobs", !request.jobs.is_empty(), jobs),
            ("--lanes-by", request.lanes_by != LanesBy::default(), lanes_by),
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

/// Routes, and what the engine has to say about them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    pub routes: Routes,
    /// Destinations that fell back, roots that were chosen, ranks that were found: one sentence each.
    pub remarks: Vec<String>,
    /// There were too few lanes for the routes that the engine is for; these keep its promise and carry more on their
    /// busiest channel.
    pub degraded: bool,
}

impl From<Routes> for Answer {
    fn from(routes: Routes) -> Self {
        Self { routes, ..Self::default() }
    }
}
