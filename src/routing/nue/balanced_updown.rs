//! Balanced Up*/Down* routes, which need no search: on trees nothing is better, and with one lane nothing that the search
//! finds may be worse.

use rayon::prelude::*;

use crate::acyclic::tree_search::TreeSearch;
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::line_trees::TreeTask;
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use crate::problem::Problem;
use crate::updn;
use crate::updown::{TieBreak, TieBreaks};
use fabdeck_fabric::Routes;

pub const TIE_BREAKS: TieBreaks = TieBreaks { adapters: TieBreak::Last, switches: TieBreak::Last };

/// Routes by the order of `updn`, and what they put on channels.
#[derive(Debug)]
pub struct BalancedUpDown {
    pub answer: EngineAnswer,
    pub busiest: u64,
    pub total: u64,
}

impl BalancedUpDown {
    pub fn new(
        problem: &Problem<'_>,
        net: &FlatGraph,
        plan: &[Vec<TreeTask>],
        request: &Request,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let answer = updn::route_with(problem, TIE_BREAKS, request, pulse)?;
        let own = Self::count(answer, problem, net, plan);
        // Never busier than `updn`.
        let other = Self::count(updn::route(problem, request, pulse)?, problem, net, plan);
        Ok(if other.busiest < own.busiest { other } else { own })
    }

    fn count(answer: EngineAnswer, problem: &Problem<'_>, net: &FlatGraph, plan: &[Vec<TreeTask>]) -> Self {
        let load = channel_loads(problem, net, plan, &answer.routes);
        let busiest = load.iter().copied().max().unwrap_or(0);
        Self { answer, busiest, total: load.iter().sum() }
    }

    /// Whether a search is not worth its time: the paths are shortest and no channel carries a quarter more than some
    /// channel must; on a fabric so large that the time counts for more than the balance, twice as much will do.
    pub fn is_sufficient(&self, need: &LoadBounds, large: bool) -> bool {
        let close = self.total == need.total && self.busiest * 4 <= need.busiest * 5;
        self.busiest > 0 && (close || (large && self.busiest <= need.busiest * 2))
    }
}

/// What no routes stay below.
#[derive(Clone, Copy, Debug)]
pub struct LoadBounds {
    /// Of all channels together.
    pub total: u64,
    /// Of the busiest channel.
    pub busiest: u64,
    /// On a channel, when all are alike.
    pub mean: u64,
}

impl LoadBounds {
    pub fn new(net: &FlatGraph, plan: &[Vec<TreeTask>]) -> Self {
        let mut loaded = vec![0u64; net.switch_count()];
        let mut sent: Vec<Vec<(&[u32], u64)>> = vec![Vec::new(); net.switch_count()];
        for tree in plan.iter().flatten() {
            let (to, paths) = (tree.switch as usize, u64::from(tree.loaded));
            loaded[to] += paths;
            match sent[to].iter_mut().find(|(senders, _)| std::ptr::eq(*senders, &*tree.senders)) {
                Some((_, all)) => *all += paths,
                None => sent[to].push((&tree.senders, paths)),
            }
        }
        let to = (0..net.switch_count() as u32).into_par_iter().filter(|to| loaded[*to as usize] > 0);
        let total: u64 = to
            .map_init(Default::default, |(hops, queue): &mut (Vec<u32>, Vec<u32>), to| {
                net.hops(&[to], hops, queue);
                let far = |senders: &[u32]| -> u64 {
                    let paths = hops.iter().zip(senders).filter(|(hops, _)| **hops != NONE);
                    paths.map(|(hops, sent)| u64::from(*hops) * u64::from(*sent)).sum()
                };
                sent[to as usize].iter().map(|(senders, loaded)| loaded * far(senders)).sum::<u64>()
            })
            .sum();
        let mean = (total / (net.channel_count() as u64).max(1)).max(1);
        // What begins at a switch shares the channels that leave it.
        let mut of_part = vec![0u64; net.part_size.len()];
        for (loaded, part) in loaded.iter().zip(&net.part).filter(|(_, part)| **part != NONE) {
            of_part[*part as usize] += loaded;
        }
        let leaves = |switch: u32| {
            let at = switch as usize;
            let channels = net.leaving(switch).len() as u64;
            let beyond = of_part.get(net.part[at] as usize).map_or(0, |all| all - loaded[at]);
            (u64::from(net.senders[at]) * beyond).checked_div(channels).unwrap_or(0)
        };
        // Of what weighs by its job it is not asked what must leave a switch.
        let alike = sent.iter().flatten().all(|(senders, _)| std::ptr::eq(*senders, &*net.senders));
        let busiest =
            (0..net.switch_count() as u32).filter(|_| alike).map(leaves).max().unwrap_or(0).max(mean);
        Self { total, busiest, mean }
    }
}

/// Paths over each channel.
fn channel_loads(
    problem: &Problem<'_>,
    net: &FlatGraph,
    plan: &[Vec<TreeTask>],
    routes: &Routes,
) -> Vec<u64> {
    let mut channel = vec![[NONE; 256]; net.switch_count()];
    for (id, at) in problem.graph.channels().iter().enumerate() {
        channel[at.from as usize][usize::from(at.from_port.value())] = id as u32;
    }
    let trees: Vec<&TreeTask> = plan.iter().flatten().filter(|tree| tree.loaded > 0).collect();
    let share = trees.len().div_ceil(rayon::current_num_threads() * 4).max(1);
    let of_share = |trees: &[&TreeTask]| {
        let (mut search, mut load) = (TreeSearch::new(net), vec![0u64; net.channel_count()]);
        for tree in trees {
            // A tree of the search may serve several LIDs; these routes lead each of them its own way.
            for lid in tree.lids.iter().rev().take(tree.loaded as usize) {
                search.begin(tree.switch);
                for switch in (0..net.switch_count() as u32).filter(|switch| *switch != tree.switch) {
                    let port = routes.row(switch).get(*lid as usize).copied().unwrap_or(u8::MAX);
                    match channel[switch as usize][usize::from(port)] {
                        NONE => {}
                        taken => search.attach(net, switch, taken, 0),
                    }
                }
                search.for_each_flow(net, &tree.senders, |channel, paths| {
                    load[channel as usize] += u64::from(paths)
                });
            }
        }
        load
    };
    let add = |mut one: Vec<u64>, other: Vec<u64>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    trees.par_chunks(share).map(of_share).reduce(|| vec![0; net.channel_count()], add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::certificate::{LaneKnowledge, RouteScope, certify};
    use crate::nue::nue_routes::plan_layers;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    /// A tree of the search may serve several LIDs, and these routes have a way of its own for each of them.
    #[test]
    fn loads_are_those_that_the_certificate_counts_however_lids_share_trees() {
        for name in ["kary,k=4,n=2", "mport,m=4,n=2", "torus,dims=4x3,terminals=5", "gft2,n=3,m=4,r=6"] {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let faults = Faults::default();
            let problem = Problem::new(&fabric, &faults);
            let (net, request) = (FlatGraph::new(&problem.graph), Request::default());
            let mut shared = 0;
            for together in [1, 2, 3, 64] {
                let plan = plan_layers(&problem, &net, 1, together, None);
                shared += plan.iter().flatten().filter(|tree| tree.loaded > 1).count();
                let plain = BalancedUpDown::new(&problem, &net, &plan, &request, &NoProgress).unwrap();
                let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
                let seen = certify(&problem, &plain.answer.routes, &scope, &NoProgress).unwrap();
                assert_eq!(plain.busiest, seen.edge_forwarding_index.max, "{name}, {together} to a tree");
            }
            assert!(shared > 0, "{name}: no LIDs share a tree");
        }
    }
}
