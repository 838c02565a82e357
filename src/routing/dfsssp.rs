//! `dfsssp`: the routes of `sssp` on lanes, so that the dependencies of no lane have a cycle (dissertation 3.3.8), those
//! of paths from and to switches included. Between adapters every path is shortest, and that of `sssp`. Paths to a switch that fit
//! on no lane that adapters need follow a tree on lane 0; they may be longer than the shortest. Where balanced routes
//! need more lanes than there are, routes with trees alike are tried before it is refused.

use super::balance::Among;
use super::engine::{Answer, Pulse, Refusal, Request};
use super::lanes::layer;
use super::problem::Problem;
use super::sssp;
use crate::fabric::Routes;

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    on_lanes("dfsssp", problem, request.lanes, pulse, |among| sssp::balanced(problem, among, pulse))
}

/// Puts routes of shortest paths on lanes, those among all ways or else those whose trees are alike.
pub(super) fn on_lanes(
    engine: &'static str,
    problem: &Problem<'_>,
    lanes: u8,
    pulse: &dyn Pulse,
    routes: impl Fn(Among) -> Result<Routes, Refusal>,
) -> Result<Answer, Refusal> {
    let given = problem.usable_lanes(lanes);
    let most = u32::from(given);
    let mut chosen = routes(Among::All)?;
    let mut layered = layer(problem, &mut chosen, pulse)?;
    let balanced = layered.needed <= most;
    if !balanced {
        let mut alike = routes(Among::Lowest)?;
        let fewer = layer(problem, &mut alike, pulse)?;
        if fewer.needed > most {
            let needed = layered.needed.min(fewer.needed);
            return Err(Refusal::Lanes { engine, needed, given });
        }
        (chosen, layered) = (alike, fewer);
    }
    let mut remarks = Vec::new();
    if !balanced {
        remarks.push(
            "balanced routes need more lanes: trees are alike instead, balanced over parallel links only"
                .into(),
        );
    }
    if layered.between_adapters < layered.needed {
        remarks.push(format!(
            "paths between adapters take {} of the {} lanes, the others are for what switches send them",
            layered.between_adapters, layered.needed
        ));
    }
    if layered.escaped > 0 {
        remarks.push(format!(
            "paths to {} LIDs of switches follow a tree, as their shortest paths fit on no lane of the adapters",
            layered.escaped
        ));
    }
    Ok(Answer { routes: chosen, remarks })
}
