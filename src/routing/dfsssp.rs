//! `dfsssp`: the routes of `sssp` on lanes, so that the dependencies of no lane have a cycle (dissertation 3.3.8), those
//! of paths from and to switches included. Between adapters every path is shortest, and that of `sssp`. Paths to a switch that fit
//! on no lane that adapters need follow a tree on lane 0; they may be longer than the shortest.
//!
//! Where balanced routes need more lanes than there are, shortest paths that share more of what they depend on are tried:
//! those that go up and down the tree where they can, and trees that are alike. What puts more on its busiest channel than
//! `updn` does is refused.

use std::sync::Arc;

use super::balance::{Among, Direction, directions};
use super::engine::{Answer, Pulse, Refusal, Request};
use super::lane_layers::{Layered, layer};
use super::load::busiest;
use super::problem::Problem;
use super::{ranks, sssp, updn};
use fabdeck_fabric::Routes;

/// The first word of the remark that the lanes are too few.
pub const DEGRADED: &str = "degraded";

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    on_lanes("dfsssp", problem, request, pulse, |among| sssp::balanced(problem, among, pulse))
}

/// Puts routes of shortest paths on lanes: those among all ways, or else those that need fewer lanes.
pub(super) fn on_lanes(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn Pulse,
    routes: impl Fn(Among) -> Result<Routes, Refusal>,
) -> Result<Answer, Refusal> {
    let given = problem.usable_lanes(request.lanes);
    let mut balanced = routes(Among::All)?;
    let layered = layer(problem, &mut balanced, pulse)?;
    if layered.needed <= u32::from(given) {
        return Ok(answer(balanced, &layered, Vec::new()));
    }
    // Lists of hosts and roots are not this engine's: the bound is that of the fabric as it is.
    let bound = busiest(problem, &updn::route(problem, &Request::default(), pulse)?.routes);
    let mut needed = layered.needed;
    let mut best: Option<(u64, Routes, Layered, &str)> = None;
    for (among, how) in sparing(problem) {
        let mut sparing = routes(among)?;
        let layered = layer(problem, &mut sparing, pulse)?;
        let most = busiest(problem, &sparing);
        if most > bound {
            continue;
        }
        needed = needed.min(layered.needed);
        let fits = layered.needed <= u32::from(given);
        if fits && best.as_ref().is_none_or(|(least, ..)| most < *least) {
            best = Some((most, sparing, layered, how));
        }
    }
    let Some((most, chosen, on_fewer, how)) = best else {
        return Err(Refusal::Lanes { engine, needed, given });
    };
    let why = format!(
        "{DEGRADED}: balanced routes need {} lanes and may use {given}; {how}, at most {most} paths on a channel instead of \
         {} (updn: {bound})",
        layered.needed,
        busiest(problem, &balanced)
    );
    let answer = answer(chosen, &on_fewer, vec![why]);
    Ok(Answer { degraded: true, ..answer })
}

/// Ways of routing that need fewer lanes, and what they are called.
fn sparing(problem: &Problem<'_>) -> Vec<(Among, &'static str)> {
    let lowest = (Among::Lowest, "trees are alike instead, balanced over parallel links only");
    let up_down =
        |leads| (Among::UpDown(leads), "paths go up and then down instead, where a shortest one does");
    tree(problem).map(up_down).into_iter().chain([lowest]).collect()
}

/// Where channels lead, of a fabric that is a tree.
fn tree(problem: &Problem<'_>) -> Option<Arc<[Direction]>> {
    let ranks = ranks::find("dfsssp", problem, &Request::default()).ok()?;
    Some(directions(&problem.graph, &ranks.height))
}

fn answer(routes: Routes, layered: &Layered, mut remarks: Vec<String>) -> Answer {
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
    Answer { routes, remarks, degraded: false }
}
