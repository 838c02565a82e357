//! Completes and evens out the tables of an engine.

use super::complete::CompletionScope;
use super::forest::DestinationForest;
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::line_trees::flat_graph::FlatGraph;
use crate::problem::Problem;
use crate::ranks::{self, TreeRanks};
use fabdeck_fabric::Routes;

/// Tables with more entries are made in one way alone.
const LARGE_TABLE_ENTRIES: usize = 1 << 17;

/// What came of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TableBalance {
    /// Nothing was left out that was wanted.
    pub whole: bool,
    /// Nor was any other adapter, where that was tried.
    pub all_adapters: bool,
    /// Something was left out, and is not any more.
    pub added: bool,
    /// Paths over the busiest channel; nothing where they were not counted.
    pub busiest: Option<u64>,
}

/// Completes the trees that are wanted, and takes paths off the busiest channels. Tables without gaps in which no channel
/// carries more than some channel must stay as they are; so do those that are too large.
pub(crate) fn balance_tables(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
    wanted: CompletionScope,
    routes: &mut Routes,
) -> Result<TableBalance, EngineRefusal> {
    let net = FlatGraph::new(&problem.graph);
    let Some(mut forest) = DestinationForest::read(problem, request, &net, routes) else {
        return Ok(TableBalance::default());
    };
    let was_whole = forest.is_complete(wanted);
    // Who serves never moves the paths of those that compute.
    let moves = request.compute_nodes.is_empty() && request.io_nodes.is_empty();
    if was_whole && (!moves || is_even(problem, &forest)) {
        return Ok(TableBalance { whole: was_whole, ..TableBalance::default() });
    }
    // Pruning of unused dependencies is tried only if some pairs have no path.
    let given = (!was_whole).then(|| forest.clone());
    if !forest.adopt_dependencies() {
        return Ok(TableBalance { whole: was_whole, ..TableBalance::default() });
    }
    let task =
        BalanceTask { wanted, was_whole, bound: moves.then(|| lower_bound(problem, &net.senders)), pulse };
    let Some(given) = given else {
        let found = task.finish(&mut forest, true)?;
        forest.write_routes(problem, routes);
        return Ok(found);
    };
    // Unused dependencies may block the missing paths. Where they do, what is left without them is tried at once.
    let fits = forest.complete_trees_until_one_fails(wanted);
    let pruned = if fits && is_large(problem) { None } else { task.balance_pruned(&given)? };
    let best = match pruned {
        Some((found, pruned)) if found.whole && !fits => (found, pruned),
        pruned => {
            if !fits {
                forest = given;
                forest.adopt_dependencies();
            }
            let whole = fits || forest.complete_trees(wanted);
            let found = task.finish(&mut forest, whole)?;
            pruned.filter(|pruned| pruned.0.is_better(&found)).unwrap_or((found, forest))
        }
    };
    best.1.write_routes(problem, routes);
    Ok(best.0)
}

/// What is done with each of the forests that are tried.
struct BalanceTask<'a> {
    wanted: CompletionScope,
    was_whole: bool,
    /// Paths over the busiest channel that no routes stay below; nothing where paths must stay where they are.
    bound: Option<u64>,
    pulse: &'a dyn RouteProgress,
}

impl BalanceTask<'_> {
    /// Serves other adapters as well, as far as that fits, and takes paths off the busiest channels.
    fn finish(&self, forest: &mut DestinationForest<'_>, whole: bool) -> Result<TableBalance, EngineRefusal> {
        // What reduces data or serves too.
        let beside = self.wanted == CompletionScope::BetweenHosts && !self.was_whole;
        let all_adapters = !beside || forest.complete_trees(CompletionScope::BetweenAdapters);
        if let Some(bound) = self.bound {
            forest.relieve(bound, self.pulse)?;
        }
        let added = whole && !self.was_whole;
        Ok(TableBalance { whole, all_adapters, added, busiest: Some(forest.max_load()) })
    }

    /// The same for what adapters send each other alone, with the rest put back where it fits.
    fn balance_pruned<'n>(
        &self,
        given: &DestinationForest<'n>,
    ) -> Result<Option<(TableBalance, DestinationForest<'n>)>, EngineRefusal> {
        let mut pruned = given.clone();
        pruned.prune();
        if !pruned.adopt_dependencies() {
            return Ok(None);
        }
        pruned.reserve_escape();
        let whole = pruned.complete_trees(self.wanted);
        let found = self.finish(&mut pruned, whole)?;
        pruned.restore(given);
        Ok(Some((found, pruned)))
    }
}

/// Tables of which there is no time to make several and take the best.
pub(crate) fn is_large(problem: &Problem<'_>) -> bool {
    problem.destinations().len() * problem.graph.switch_count() > LARGE_TABLE_ENTRIES
}

/// The best that comes of the readings of a fabric; the first where it leaves nothing to gain.
pub(crate) fn choose_reading(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
    found: TreeRanks,
    make: impl Fn(&TreeRanks) -> Result<(TableBalance, EngineAnswer), EngineRefusal>,
) -> Result<EngineAnswer, EngineRefusal> {
    let mut best = make(&found)?;
    if is_large(problem) {
        return Ok(best.1);
    }
    if best.0.busiest.is_some() || !best.0.whole {
        for ranks in ranks::other_ranks(engine, problem, request, &found) {
            let other = make(&ranks)?;
            if other.0.is_better(&best.0) {
                best = other;
            }
        }
    }
    Ok(best.1)
}

impl TableBalance {
    /// Nothing is left out where the other leaves something out, or else the busiest channel carries less.
    pub fn is_better(&self, other: &Self) -> bool {
        let order = |evened: &Self| (!evened.whole, !evened.all_adapters, evened.busiest.unwrap_or(0));
        order(self) < order(other)
    }
}

/// Whether no channel carries more paths between adapters that compute than some channel must.
fn is_even(problem: &Problem<'_>, forest: &DestinationForest<'_>) -> bool {
    let bound = lower_bound(problem, &forest.hosts);
    forest.channel_loads(&forest.hosts, &|root| root.of_host).iter().all(|load| *load <= bound)
}

/// Lower bound of the load of the busiest channel: the paths that must leave a switch, divided by the number of its
/// channels.
fn lower_bound(problem: &Problem<'_>, senders: &[u32]) -> u64 {
    let graph = &problem.graph;
    let (part, parts) = graph.components();
    let mut in_part = vec![0u64; parts as usize];
    for switch in problem.switches().filter(|switch| graph.is_alive(*switch)) {
        in_part[part[switch as usize] as usize] += u64::from(senders[switch as usize]);
    }
    let leaving = |switch: u32| {
        let own = u64::from(senders[switch as usize]);
        let others = in_part[part[switch as usize] as usize] - own;
        (own * others).div_ceil(graph.outgoing(switch).len().max(1) as u64)
    };
    problem.switches().filter(|switch| graph.is_alive(*switch)).map(leaving).max().unwrap_or(0)
}
