//! Up*/Down*: every channel has a direction, and paths go up first, down after. One lane.
//!
//! - Roots are those that were given, or the centre of the fabric: the switches nearest to nine in ten of the switches
//!   with hosts, if everything below them forms a tree, otherwise the one of them with the least sum of distances.
//! - Where the fabric is a tree all the same (racks joined in pairs, hosts above the bottom), its tops are the roots, and
//!   paths may take one channel across, between going up and going down.
//! - Otherwise switches are in a total order, by distance from the roots and then by GUID, so no two channels are alike.
//! - Where a way down exists a path goes down: a destination's tables never lead up behind a step down.
//! - Several roots do not reach each other by going up and down. They meet below, as in `sftree`; switches that even
//!   that does not serve hang on one cable each, set aside for their own traffic.

use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::Problem;
use super::ranks;
use super::sftree::subtree_roots;
use super::updown::{TieBreak, TieBreaks, UpDownOrder, fill_tables};

pub const ID: &str = "updn";

/// The name of `updn` with ranks above the switches with hosts (Down*/Up*, dissertation 3.3.4).
pub const BOTTOM_UP_ID: &str = "dnup";

pub(super) const TIE_BREAKS: TieBreaks = TieBreaks { adapters: TieBreak::Last, switches: TieBreak::First };

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    route_with(problem, TIE_BREAKS, request, pulse)
}

/// `dnup`: a path leads away from the switches with hosts first, and towards them after. Where these ranks show no tree,
/// switches of one rank are in order too, so that every switch reaches every other one.
pub fn route_bottom_up(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    // The ranks decide the tops, so roots that were given are not used.
    let request = Request { roots: Vec::new(), ..request.clone() };
    let (found, is_tree) = ranks::ranks_above_hosts(problem, &request);
    let heights = RootedHeights { height: found.height, total: !is_tree };
    route_by_heights(problem, TIE_BREAKS, &request, heights, vec![found.remark], pulse)
}

pub(super) fn route_with(
    problem: &Problem<'_>,
    ties: TieBreaks,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let mut remarks = Vec::new();
    let heights = heights(problem, request, &mut remarks)?;
    route_by_heights(problem, ties, request, heights, remarks, pulse)
}

fn route_by_heights(
    problem: &Problem<'_>,
    ties: TieBreaks,
    request: &Request,
    RootedHeights { height, total }: RootedHeights,
    mut remarks: Vec<String>,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    pulse.check_cancelled()?;
    let mut order = UpDownOrder::new(&problem.graph, &height, total);
    let subtrees = subtree_roots(problem, request, &order);
    let roots = order.tops().into_iter().zip(subtrees).map(|(tops, subtree)| match tops[..] {
        [root] => root,
        _ => subtree,
    });
    order.connect_all(&problem.graph, &roots.collect::<Vec<u32>>());
    let grafted = order.grafted_switches().count();
    if grafted > 0 {
        remarks.push(format!(
            "switches that are reached by one cable each, because no root above them reaches all others: {grafted}"
        ));
    }
    let routes = fill_tables(problem, &order, ties, request, pulse)?;
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

struct RootedHeights {
    height: Vec<u32>,
    /// Equals are ordered too.
    total: bool,
}

fn heights(
    problem: &Problem<'_>,
    request: &Request,
    remarks: &mut Vec<String>,
) -> Result<RootedHeights, EngineRefusal> {
    let ordered = |height| RootedHeights { height, total: true };
    let graph = &problem.graph;
    let hosts = ranks::hosts(problem, request);
    let centres = ranks::centres(problem, &hosts);
    let name = |root: &u32| problem.fabric.node(fabdeck_fabric::NodeId(*root)).guid().to_string();
    if !request.roots.is_empty() {
        let given = ranks::named_switches(ID, problem, &request.roots)?;
        remarks.extend(ranks::failed_roots(problem, request));
        let (part, _) = graph.components();
        let elsewhere = |number: usize| !given.iter().any(|root| part[*root as usize] as usize == number);
        let more =
            centres.iter().enumerate().filter(|(number, _)| elsewhere(*number)).map(|(_, (_, root))| *root);
        let roots: Vec<u32> = given.iter().copied().chain(more).collect();
        return Ok(ordered(ranks::heights_below(graph, &roots)));
    }
    let all: Vec<u32> = centres.iter().flat_map(|(centre, _)| centre.iter().copied()).collect();
    let height = ranks::heights_below(graph, &all);
    let flaws = ranks::rank_flaws(problem, &hosts, &height);
    if (flaws.missed, flaws.across) == (0, 0) {
        remarks.push(format!("{} roots at the centre of the fabric", all.len()));
        return Ok(ordered(height));
    }
    if let Ok(found) = ranks::find_ranks(ID, problem, request) {
        remarks.push(found.remark);
        return Ok(RootedHeights { height: found.height, total: false });
    }
    let roots: Vec<u32> = centres.iter().map(|(_, root)| *root).collect();
    let named: Vec<String> = roots.iter().take(4).map(name).collect();
    remarks.push(format!("root {}", named.join(", ")));
    Ok(ordered(ranks::heights_below(graph, &roots)))
}
