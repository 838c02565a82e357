//! Routes for other marks over the same fabric, out of what an engine computed before: the same bytes as from nothing,
//! or a full run where the engine balances over the whole fabric and a mark moves everything.

use std::any::Any;
use std::sync::Arc;

use super::engine::{Answer, Engine, Pulse, Refusal, Request};
use super::problem::Problem;
use fabdeck_fabric::Routes;

/// The answer of an engine that can begin from an earlier run.
#[derive(Debug)]
pub struct Again {
    /// The routes.
    pub answer: Answer,
    /// What the engine keeps for the next run.
    pub kept: Kept,
    /// The number of rows taken over from the earlier run; `None` without an earlier run that fits.
    pub reused: Option<usize>,
}

/// What an engine keeps of a run; only it knows what that is.
pub type Kept = Arc<dyn Any + Send + Sync>;

/// A function that computes routes from an earlier run of the same engine.
pub type AgainFn = fn(&Problem<'_>, &Request, Option<&Past>, &dyn Pulse) -> Result<Again, Refusal>;

/// A run from which the next run of the same engine can begin.
#[derive(Clone, Debug)]
pub struct Past {
    request: Request,
    routes: Arc<Routes>,
    kept: Kept,
}

impl Past {
    /// What an engine kept, with the routes that came of it.
    pub(super) fn of<K: Any>(&self, request: &Request) -> Option<(&K, &Routes)> {
        Some((self.kept.downcast_ref()?, &*self.routes)).filter(|_| self.request == *request)
    }
}

/// How much of a run was computed anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ran {
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

impl Ran {
    /// The word for it in JSON: `full`, `reused`, `kept`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reused { .. } => "reused",
            Self::Kept => "kept",
        }
    }

    /// The number of rows taken over.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Reused { rows, .. } => Some(rows),
            Self::Full | Self::Kept => None,
        }
    }

    /// A sentence about the run, without a full stop.
    pub fn sentence(self, engine: &Engine) -> String {
        match self {
            Self::Full if engine.again.is_some() => "in full".to_owned(),
            Self::Full => {
                "in full: it balances over the whole fabric, so that a mark may move everything".to_owned()
            }
            Self::Reused { rows, of } => {
                format!("exact, as a full run: {rows} of {of} tables taken over, the others computed anew")
            }
            Self::Kept => "exact: computed before for the same marks".to_owned(),
        }
    }
}

/// The routes of a run and what the next one can reuse.
#[derive(Debug)]
pub struct Run {
    /// The routes.
    pub routes: Arc<Routes>,
    /// The engine's remarks, as in [`Answer::remarks`].
    pub remarks: Vec<String>,
    /// Whether the routes are degraded, as in [`Answer::degraded`].
    pub degraded: bool,
    /// How much was computed anew.
    pub ran: Ran,
    /// The run, for the next call of [`run`]; `None` for an engine that always runs in full.
    pub past: Option<Past>,
}

/// Runs an engine, beginning from an earlier run of it where the engine can.
pub fn run(
    engine: &Engine,
    problem: &Problem<'_>,
    request: &Request,
    past: Option<&Past>,
    pulse: &dyn Pulse,
) -> Result<Run, Refusal> {
    let Some(again) = engine.again else {
        let Answer { routes, remarks, degraded } = (engine.route)(problem, request, pulse)?;
        return Ok(Run { routes: routes.into(), remarks, degraded, ran: Ran::Full, past: None });
    };
    let Again { answer, kept, reused } = again(problem, request, past, pulse)?;
    let routes = Arc::new(answer.routes);
    let of = problem.graph.switch_count();
    let past = Past { request: request.clone(), routes: routes.clone(), kept };
    let ran = reused.map_or(Ran::Full, |rows| Ran::Reused { rows, of });
    Ok(Run { routes, remarks: answer.remarks, degraded: answer.degraded, ran, past: Some(past) })
}
