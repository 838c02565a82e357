//! Routes for other marks over the same fabric, out of what an engine computed before: the same bytes as from nothing,
//! or a full run where the engine balances over the whole fabric and a mark moves everything.

use std::any::Any;
use std::sync::Arc;

use super::engine::{Answer, Engine, Pulse, Refusal, Request};
use super::problem::Problem;
use fabdeck_fabric::Routes;

/// What an engine gives that can begin from an earlier run.
#[derive(Debug)]
pub struct Again {
    pub answer: Answer,
    pub kept: Kept,
    /// Rows that were taken over; `None` without an earlier run that fits.
    pub reused: Option<usize>,
}

/// What an engine keeps of a run; only it knows what that is.
pub type Kept = Arc<dyn Any + Send + Sync>;

/// Routes out of an earlier run of the same engine.
pub type AgainFn = fn(&Problem<'_>, &Request, Option<&Past>, &dyn Pulse) -> Result<Again, Refusal>;

/// A run that the next one of the same engine may begin from.
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

/// How much of an answer was computed for the marks it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ran {
    /// All of it.
    #[default]
    Full,
    /// Rows that the marks do not touch were taken over; it is what a full run gives.
    Reused { rows: usize, of: usize },
    /// Nothing: the same marks were asked for before.
    Kept,
}

impl Ran {
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reused { .. } => "reused",
            Self::Kept => "kept",
        }
    }

    /// Rows that were taken over.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Reused { rows, .. } => Some(rows),
            Self::Full | Self::Kept => None,
        }
    }

    /// A sentence, without a full stop.
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

/// Routes with what is worth keeping of them.
#[derive(Debug)]
pub struct Run {
    pub routes: Arc<Routes>,
    pub remarks: Vec<String>,
    /// As of an `Answer`.
    pub degraded: bool,
    pub ran: Ran,
    /// `None` of an engine that always runs in full.
    pub past: Option<Past>,
}

/// Runs an engine, from an earlier run of it where that helps.
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
