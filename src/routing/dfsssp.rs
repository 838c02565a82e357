//! `dfsssp`: the routes of `sssp` on lanes, so that the dependencies of no lane have a cycle (dissertation 3.3.8), those
//! of paths from and to switches included. Between adapters every path is shortest, and that of `sssp`. Paths to a switch that fit
//! on no lane that adapters need follow a tree on lane 0; they may be longer than the shortest.
//!
//! Where balanced routes need more lanes than there are, shortest paths that share more of what they depend on are tried:
//! those that go up and down the tree where they can, and trees that are alike. What puts more on its busiest channel than
//! `updn` does is refused.

use std::sync::Arc;

use super::balance::{ChannelDirection, PathChoice, channel_directions};
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::forwarding_index::max_forwarding_index;
use super::lane_layers::{LaneAssignment, assign_lanes, spread_lanes};
use super::problem::Problem;
use super::{ranks, sssp, updn};
use fabdeck_fabric::Routes;

/// The first word of the remark that the lanes are too few.
pub const DEGRADED_REMARK: &str = "degraded";

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    route_on_lanes("dfsssp", problem, request, pulse, |among| sssp::route_balanced(problem, among, pulse))
}

/// Puts routes of shortest paths on lanes: those among all ways, or else those that need fewer lanes.
pub(super) fn route_on_lanes(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
    routes: impl Fn(PathChoice) -> Result<Routes, EngineRefusal>,
) -> Result<EngineAnswer, EngineRefusal> {
    let given = problem.usable_lanes(request.lanes);
    let mut balanced = routes(PathChoice::All)?;
    let layered = assign_lanes(problem, &mut balanced, pulse)?;
    if layered.needed <= u32::from(given) {
        let spread = request.spread_lanes.then(|| spread_lanes(problem, &mut balanced, given)).flatten();
        return Ok(answer(balanced, &layered, spread.into_iter().collect()));
    }
    // Lists of hosts and roots are not this engine's: the bound is that of the fabric as it is.
    let bound = max_forwarding_index(problem, &updn::route(problem, &Request::default(), pulse)?.routes);
    let mut needed = layered.needed;
    let mut best: Option<(u64, Routes, LaneAssignment, &str)> = None;
    for (among, how) in lane_saving_choices(problem) {
        let mut sparing = routes(among)?;
        let layered = assign_lanes(problem, &mut sparing, pulse)?;
        let most = max_forwarding_index(problem, &sparing);
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
        return Err(EngineRefusal::Lanes { engine, needed, given });
    };
    let why = format!(
        "{DEGRADED_REMARK}: balanced routes need {} lanes and may use {given}; {how}, at most {most} paths on a channel instead of \
         {} (updn: {bound})",
        layered.needed,
        max_forwarding_index(problem, &balanced)
    );
    let answer = answer(chosen, &on_fewer, vec![why]);
    Ok(EngineAnswer { degraded: true, ..answer })
}

/// Ways of routing that need fewer lanes, and what they are called.
fn lane_saving_choices(problem: &Problem<'_>) -> Vec<(PathChoice, &'static str)> {
    let lowest = (PathChoice::Lowest, "all trees are the same instead, balanced over parallel links only");
    let up_down =
        |leads| (PathChoice::UpDown(leads), "paths go up and then down instead, where a shortest one does");
    tree_directions(problem).map(up_down).into_iter().chain([lowest]).collect()
}

/// Where channels lead, of a fabric that is a tree.
fn tree_directions(problem: &Problem<'_>) -> Option<Arc<[ChannelDirection]>> {
    let ranks = ranks::find_ranks("dfsssp", problem, &Request::default()).ok()?;
    Some(channel_directions(&problem.graph, &ranks.height))
}

fn answer(routes: Routes, layered: &LaneAssignment, mut remarks: Vec<String>) -> EngineAnswer {
    if layered.between_adapters < layered.needed {
        remarks.push(format!(
            "paths between adapters use {} of the {} lanes, the others are for paths from switches",
            layered.between_adapters, layered.needed
        ));
    }
    if layered.escaped > 0 {
        remarks.push(format!(
            "paths to {} LIDs of switches follow a tree, because their shortest paths fit on no lane of the adapters",
            layered.escaped
        ));
    }
    EngineAnswer { routes, remarks, degraded: false, fell_back: None }
}
