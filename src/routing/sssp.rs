//! `sssp`: shortest paths in hops, balanced over the whole fabric (dissertation 3.3.2, algorithm 3.1). Destinations go
//! one after the other, those behind a switch together, by LID there; each takes the tree that is lightest by the paths
//! of all before it. Paths that end at a switch follow the weights and add none, as what adapters send is what is
//! balanced. No promise about deadlocks. The order of the switches is ours (see `spread`), the paper leaves it open.

use super::balance::{ChannelBalance, PathChoice};
use super::column_writer::{ColumnWriter, GrowthPass, PathSenders, PlacedDestination, placed_destinations};
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::Problem;
use fabdeck_fabric::Routes;

pub fn route(
    problem: &Problem<'_>,
    _: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    route_balanced(problem, PathChoice::All, pulse).map(EngineAnswer::from)
}

/// Every switch sends as many paths to the LID of an adapter as it has adapters itself.
#[derive(Debug)]
pub(super) struct AdapterSenders(Vec<u32>);

impl AdapterSenders {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        Self(problem.switches().map(|switch| problem.graph.terminals_of(switch).len() as u32).collect())
    }
}

impl PathSenders for AdapterSenders {
    fn senders_to(&mut self, end: PlacedDestination) -> Option<&[u32]> {
        (!end.to.is_switch()).then_some(&self.0)
    }
}

pub(super) fn route_balanced(
    problem: &Problem<'_>,
    among: PathChoice,
    pulse: &dyn RouteProgress,
) -> Result<Routes, EngineRefusal> {
    let mut columns = ColumnWriter::new(problem, pulse);
    let mut balance = ChannelBalance::new(columns.neighbours(), among);
    let all: Vec<PlacedDestination> =
        placed_destinations(problem, spread_order(problem.graph.switch_count() as u32)).collect();
    columns.grow_trees(&all, GrowthPass::First, &mut balance, &mut AdapterSenders::new(problem))?;
    Ok(columns.into_routes())
}

/// Every switch once, in steps of the golden ratio: neighbours in the order of GUIDs are mostly neighbours in the fabric,
/// and destinations side by side would fill the channels of their corner while weights elsewhere say nothing yet.
pub(super) fn spread_order(switches: u32) -> impl Iterator<Item = u32> {
    let common = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (f64::from(switches) * 0.618) as u32;
    let step = (golden.max(1)..=switches).find(|step| common(*step, switches) == 1).unwrap_or(1);
    (0..u64::from(switches)).map(move |at| (at * u64::from(step) % u64::from(switches)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_has_every_switch_once() {
        for count in [0, 1, 2, 3, 5, 8, 54, 125, 1000] {
            let mut all: Vec<u32> = spread_order(count).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(spread_order(8).take(4).collect::<Vec<_>>(), [0, 5, 2, 7]);
    }
}
