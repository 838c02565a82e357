//! Fat-tree routing in which every switch reaches everything, on one lane (sFtree paper).
//!
//! - Hosts are routed as `ftree` routes them.
//! - In each connected part one switch becomes the root of the subtree: the one from which most tops are reached by
//!   going up (algorithm 1 takes the first leaf that reaches all), with the fewest forks above it; never the switch of the
//!   subnet manager while another serves as well.
//! - A pair without a path up and down goes down the subtree and up again (algorithm 2). `updown/updown_order.rs` says which
//!   turns that takes, and what becomes of switches that the subtree does not serve.

use std::cmp::Reverse;

use super::acyclic::{CompletionScope, TableBalance, balance_tables, choose_reading, is_large};
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::forwarding_index::max_forwarding_index;
use super::problem::{Problem, switch_name};
use super::ranks::{self, TreeRanks};
use super::updown::{TieBreak, TieBreaks, UpDownOrder, fill_tables};
use fabdeck_fabric::NodeId;
use rustc_hash::FxHashMap;

pub const ID: &str = "sftree";

/// The first are those of `ftree` for hosts.
const TIE_BREAKS: [TieBreaks; 2] = [
    TieBreaks { adapters: TieBreak::First, switches: TieBreak::Last },
    TieBreaks { adapters: TieBreak::Last, switches: TieBreak::Last },
];

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let found = ranks::find_ranks(ID, problem, request)?;
    pulse.check_cancelled()?;
    choose_reading(ID, problem, request, found, |ranks| {
        let [first, second] = TIE_BREAKS;
        let found = route_by_reading(ranks, first, problem, request, pulse)?;
        // Where paths had to be moved, what they began from decides where the moves end.
        if found.0.busiest.is_none() || is_large(problem) {
            return Ok(found);
        }
        let other = route_by_reading(ranks, second, problem, request, pulse)?;
        Ok(if other.0.is_better(&found.0) { other } else { found })
    })
}

/// Routes by one reading of the fabric: those of the subtree, or those of hosts with the rest added where that loads the
/// busiest channel less.
fn route_by_reading(
    ranks: &TreeRanks,
    ties: TieBreaks,
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<(TableBalance, EngineAnswer), EngineRefusal> {
    let plain = UpDownOrder::new(&problem.graph, &ranks.height, false);
    let mut order = plain.clone();
    let roots = subtree_roots(problem, request, &order);
    order.connect_all(&problem.graph, &roots);
    let mut routes = fill_tables(problem, &order, ties, request, pulse)?;
    let evened = balance_tables(problem, request, pulse, CompletionScope::Everything, &mut routes)?;
    let answer = |routes, remarks: Vec<String>| {
        let remarks = [ranks.remark.clone()].into_iter().chain(remarks).collect();
        EngineAnswer { routes, remarks, degraded: false, fell_back: None }
    };
    if let Some(busiest) = evened.busiest {
        let between_hosts = fill_tables(problem, &plain, ties, request, pulse)?;
        let mut best = (evened, None);
        // On large trees only where hosts alone load the busiest channel less before anything is moved.
        let tried: &[bool] = match is_large(problem) {
            false => &[false, true],
            true if max_forwarding_index(problem, &between_hosts) < busiest => &[true],
            true => &[],
        };
        for hosts_first in tried.iter().copied() {
            let mut added = between_hosts.clone();
            if hosts_first {
                balance_tables(problem, request, pulse, CompletionScope::BetweenHosts, &mut added)?;
            }
            let found = balance_tables(problem, request, pulse, CompletionScope::Everything, &mut added)?;
            // What needs nothing added is what `ftree` gives.
            if found.is_better(&best.0) && found.added {
                best = (found, Some(added));
            }
        }
        if let (found, Some(added)) = best {
            return Ok((found, answer(added, vec![ADDED_TURNS_REMARK.to_owned()])));
        }
    }
    let mut remarks: Vec<String> = roots
        .iter()
        .map(|root| format!("root of the subtree: {}", switch_name(problem.fabric, *root)))
        .collect();
    let grafted: Vec<u32> = order.grafted_switches().collect();
    if let Some(first) = grafted.first() {
        let (first, count) = (switch_name(problem.fabric, *first), grafted.len());
        remarks.push(format!(
            "{count} switches are outside the subtree and are reached by one cable each, {first} the first"
        ));
    }
    Ok((evened, answer(routes, remarks)))
}

const ADDED_TURNS_REMARK: &str = "paths between upper switches are placed where they close no cycle with those of \
 hosts: a subtree would load its busiest channel more";

/// Tops above a switch, how few of the switches above stand over several others of them, whether it is at the bottom,
/// whether it is not the manager's, whether it has hosts.
type RootMerit = (usize, Reverse<usize>, bool, bool, bool);

/// For each part the switch with most tops above it, at the bottom if that serves as well; not the manager's, with
/// hosts, the lowest GUID among equals.
///
/// Where a switch above the root stands over two others there, paths that come up by one of them must not go down by the
/// other (`updown/updown_order.rs`). With the root higher up, on a line board of a director for one, there are fewer such
/// switches, or none.
pub(super) fn subtree_roots(problem: &Problem<'_>, request: &Request, order: &UpDownOrder) -> Vec<u32> {
    let (part, parts) = problem.graph.components();
    let hosts = ranks::hosts(problem, request);
    let fabric = problem.fabric;
    let managers = problem.graph.terminals().iter().filter(|terminal| {
        let node = fabric.node(fabric.port(terminal.port).node);
        request.manager == Some(node.guid())
    });
    let managers: Vec<u32> = managers.map(|terminal| terminal.switch).collect();
    let manages = |switch: u32| {
        managers.contains(&switch) || request.manager == Some(fabric.node(NodeId(switch)).guid())
    };
    let tops: Vec<usize> = order.tops().iter().map(Vec::len).collect();
    let mut best: Vec<Option<(RootMerit, u32)>> = vec![None; parts as usize];
    let mut forks = ForkCounter::new(problem.graph.switch_count());
    // Above switches that stand below the same ones there are the same ways.
    let mut seen: FxHashMap<Vec<u32>, (usize, usize)> = FxHashMap::default();
    let is_bottom = |at: &u32| order.down_hops(*at).is_empty();
    let (bottom, rest): (Vec<u32>, Vec<u32>) =
        problem.switches().filter(|at| problem.graph.is_alive(*at)).partition(is_bottom);
    for switch in bottom.into_iter().chain(rest) {
        let number = part[switch as usize] as usize;
        let fullest = (tops[number], Reverse(0), true, true, true);
        let least = best[number].map(|(rank, _)| rank);
        // None but a bottom switch beats one that misses nothing.
        let done = |rank: RootMerit| {
            rank == fullest || (!is_bottom(&switch) && (rank.0, rank.1) == (fullest.0, fullest.1))
        };
        if least.is_some_and(done) {
            continue;
        }
        let mut beside: Vec<u32> = order.up_hops(switch).iter().map(|hop| hop.to).collect();
        beside.sort_unstable();
        beside.dedup();
        let mut look = || {
            let above = order.switches_above(switch);
            (above.iter().filter(|at| order.up_hops(**at).is_empty()).count(), forks.count(order, &above))
        };
        let (reached, forks) = match beside.is_empty() {
            true => look(),
            false => *seen.entry(beside).or_insert_with(look),
        };
        if least.is_some_and(|least| reached < least.0) {
            continue;
        }
        let hosted = hosts[switch as usize] > 0;
        let rank = (reached, Reverse(forks), is_bottom(&switch), !manages(switch), hosted);
        if least.is_none_or(|least| rank > least) {
            best[number] = Some((rank, switch));
        }
    }
    best.into_iter().flatten().map(|(_, switch)| switch).collect()
}

/// Counts forks, with marks that serve again.
struct ForkCounter {
    mark: Vec<u32>,
    last: u32,
}

impl ForkCounter {
    fn new(switches: usize) -> Self {
        Self { mark: vec![0; switches], last: 0 }
    }

    /// How many ways down to other switches of a set its switches have beyond one each.
    fn count(&mut self, order: &UpDownOrder, set: &[u32]) -> usize {
        let inside = self.last + 1;
        self.last = inside;
        set.iter().for_each(|at| self.mark[*at as usize] = inside);
        let mut forks = 0;
        for switch in set {
            self.last += 1;
            let mut below = 0usize;
            for hop in order.down_hops(*switch) {
                let mark = &mut self.mark[hop.to as usize];
                if (inside..self.last).contains(mark) {
                    *mark = self.last;
                    below += 1;
                }
            }
            forks += below.saturating_sub(1);
        }
        forks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum};

    /// Leaves 0 and 1 below the top 4, 2 and 3 below the top 5, and a cable between 1 and 2: no leaf reaches both tops.
    /// These leaves have a host.
    fn two_trees(with_host: &[usize]) -> Fabric {
        let mut builder = FabricBuilder::new();
        let switches: Vec<_> = (0..6)
            .map(|at| builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1 + at), 4, "s")).unwrap())
            .collect();
        for (a, b) in
            [((0, 1), (4, 1)), ((1, 1), (4, 2)), ((2, 1), (5, 1)), ((3, 1), (5, 2)), ((1, 2), (2, 2))]
        {
            let [a, b] = [a, b].map(|(at, port)| (switches[at], PortNum(port)));
            builder.connect(a, b).unwrap();
        }
        for at in with_host {
            let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(100 + *at as u64), 1, "h");
            let host = builder.add_node(facts).unwrap();
            builder.connect((host, PortNum(1)), (switches[*at], PortNum(4))).unwrap();
        }
        builder.finish().with_fresh_lids(None)
    }

    #[test]
    fn of_equal_leaves_the_first_one_with_hosts_is_the_root() {
        for (with_host, root) in [(&[0, 1, 2, 3][..], 0), (&[1, 2, 3], 1), (&[2, 3], 2), (&[], 0)] {
            let (fabric, faults) = (two_trees(with_host), Faults::default());
            let problem = Problem::new(&fabric, &faults);
            let order = UpDownOrder::new(&problem.graph, &[0, 0, 0, 0, 1, 1], false);
            assert_eq!(subtree_roots(&problem, &Request::default(), &order), [root], "{with_host:?}");
        }
    }

    #[test]
    fn the_subtree_stays_where_added_paths_would_load_the_busiest_channel_as_much() {
        let spec: FabricSpec = "irregular,family=pods,seed=3".parse().unwrap();
        let (fabric, faults) = (generate(&spec).unwrap().fabric, Faults::default());
        let remarks =
            route(&Problem::new(&fabric, &faults), &Request::default(), &NoProgress).unwrap().remarks;
        assert!(remarks.iter().any(|remark| remark.starts_with("root of the subtree: ")), "{remarks:?}");
        assert!(!remarks.contains(&ADDED_TURNS_REMARK.to_owned()), "{remarks:?}");
    }
}
