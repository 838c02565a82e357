//! Routes for other marks over the same fabric, out of what an engine computed before: the same bytes as from nothing,
//! or a full run where the engine balances over the whole fabric and a mark moves everything.

use std::any::Any;
use std::sync::Arc;

use super::engine::{Engine, EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::Problem;
use fabdeck_fabric::Routes;

/// The answer of an engine that can begin from an earlier run.
#[derive(Debug)]
pub struct IncrementalAnswer {
    /// The routes.
    pub answer: EngineAnswer,
    /// What the engine keeps for the next run.
    pub state: EngineState,
    /// The number of rows taken over from the earlier run; `None` without an earlier run that fits.
    pub reused: Option<usize>,
}

/// What an engine keeps of a run; only it knows what that is.
pub type EngineState = Arc<dyn Any + Send + Sync>;

/// A function that computes routes from an earlier run of the same engine.
pub type IncrementalFn = fn(
    &Problem<'_>,
    &Request,
    Option<&PreviousRun>,
    &dyn RouteProgress,
) -> Result<IncrementalAnswer, EngineRefusal>;

/// A run from which the next run of the same engine can begin.
#[derive(Clone, Debug)]
pub struct PreviousRun {
    request: Request,
    routes: Arc<Routes>,
    state: EngineState,
}

impl PreviousRun {
    /// What an engine kept, with the routes that came of it.
    pub(super) fn state<K: Any>(&self, request: &Request) -> Option<(&K, &Routes)> {
        Some((self.state.downcast_ref()?, &*self.routes)).filter(|_| self.request == *request)
    }
}

/// How much of a run was computed anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RunExtent {
    /// All of it.
    #[default]
    Full,
    /// Rows that the marks do not touch were taken over. The routes equal those of a full run.
    Reused {
        /// The number of rows taken over.
        rows: usize,
        /// The number of all rows.
        of: usize,
    },
    /// Nothing: the answer for the same marks was cached.
    Kept,
}

impl RunExtent {
    /// The word for it in JSON: `full`, `reused`, `kept`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reused { .. } => "reused",
            Self::Kept => "kept",
        }
    }

    /// The number of rows taken over.
    pub fn reused_rows(self) -> Option<usize> {
        match self {
            Self::Reused { rows, .. } => Some(rows),
            Self::Full | Self::Kept => None,
        }
    }

    /// A sentence about the run, without a full stop.
    pub fn sentence(self, engine: &Engine) -> String {
        match self {
            Self::Full if engine.incremental.is_some() => "in full".to_owned(),
            Self::Full => {
                "in full: this engine balances over the whole fabric, so a mark may move every path"
                    .to_owned()
            }
            Self::Reused { rows, of } => {
                format!("exact, as a full run: {rows} of {of} tables unchanged, the others computed anew")
            }
            Self::Kept => "exact: computed before for the same marks".to_owned(),
        }
    }
}

/// The routes of a run and what the next one can reuse.
#[derive(Debug)]
pub struct EngineRun {
    /// The routes.
    pub routes: Arc<Routes>,
    /// The engine's remarks, as in [`EngineAnswer::remarks`].
    pub remarks: Vec<String>,
    /// Whether the routes are degraded, as in [`EngineAnswer::degraded`].
    pub degraded: bool,
    /// How much was computed anew.
    pub extent: RunExtent,
    /// The run, for the next call of [`run_engine`]; `None` for an engine that always runs in full.
    pub past: Option<PreviousRun>,
}

/// Runs an engine, beginning from an earlier run of it where the engine can.
pub fn run_engine(
    engine: &Engine,
    problem: &Problem<'_>,
    request: &Request,
    past: Option<&PreviousRun>,
    pulse: &dyn RouteProgress,
) -> Result<EngineRun, EngineRefusal> {
    let Some(again) = engine.incremental else {
        let EngineAnswer { routes, remarks, degraded, .. } = (engine.route)(problem, request, pulse)?;
        return Ok(EngineRun {
            routes: routes.into(),
            remarks,
            degraded,
            extent: RunExtent::Full,
            past: None,
        });
    };
    let IncrementalAnswer { answer, state: kept, reused } = again(problem, request, past, pulse)?;
    let routes = Arc::new(answer.routes);
    let of = problem.graph.switch_count();
    let past = PreviousRun { request: request.clone(), routes: routes.clone(), state: kept };
    let ran = reused.map_or(RunExtent::Full, |rows| RunExtent::Reused { rows, of });
    Ok(EngineRun {
        routes,
        remarks: answer.remarks,
        degraded: answer.degraded,
        extent: ran,
        past: Some(past),
    })
}
