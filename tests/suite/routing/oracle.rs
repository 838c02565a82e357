//! A naive judge of routes, for small fabrics: walks every path on its own and searches the dependencies for a cycle.
//! It shares nothing with the certificate but the values it is given.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::{Lid, NodeId, PathLanes, PortNum, Routes, ServiceLevel};
use fabdeck_routing::Problem;

/// A channel on a lane.
type UsedChannel = (u32, u8);

/// What is true of routes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OracleVerdict {
    /// (Source switch, LID) of adapters without a path, between parts that are connected.
    pub lost: Vec<(u32, Lid)>,
    /// The same with a switch at one end or both.
    pub lost_switches: Vec<(u32, Lid)>,
    /// A path that comes back to where it was.
    pub loops: bool,
    /// Dependencies of paths between adapters have a cycle, on some lane.
    pub cycle: bool,
    /// Those of all paths have.
    pub cycle_switches: bool,
    /// Paths over the busiest channel, terminal to terminal.
    pub busiest: u64,
    /// Switch-to-switch hops of the longest path between adapters.
    pub longest: usize,
    /// Some path between adapters is longer than it need be.
    pub detour: bool,
    pub lanes: BTreeSet<u8>,
}

pub fn judge(problem: &Problem<'_>, routes: &Routes) -> OracleVerdict {
    let mut verdict = OracleVerdict::default();
    let (parts, _) = problem.graph.components();
    let (mut terminal, mut all) = (BTreeSet::new(), BTreeSet::new());
    let mut load = BTreeMap::<u32, u64>::new();
    for from in problem.switches().filter(|switch| problem.graph.is_alive(*switch)) {
        // Adapters send from every LID's port; those of one switch take one path.
        let senders = problem.graph.terminals_of(from).len() as u64;
        for to in problem.switches().filter(|to| parts[*to as usize] == parts[from as usize]) {
            let shortest = hops(problem, from, to);
            for end in problem.destinations_behind(to) {
                if from == to && end.is_switch() {
                    continue;
                }
                let Some(path) = walk(problem, routes, from, end.lid, &mut verdict.loops) else {
                    if senders > 0 && !end.is_switch() {
                        verdict.lost.push((from, end.lid));
                    }
                    if end.is_switch() || senders == 0 {
                        verdict.lost_switches.push((from, end.lid));
                    }
                    continue;
                };
                let senders_at = problem.graph.terminals_of(from).iter().map(|end| end.switch_port);
                let mut pairs = BTreeSet::new();
                for start in senders_at.chain([PortNum::MANAGEMENT]) {
                    let used = on_lanes(problem, routes, &path, (start, end.lid));
                    pairs.extend(used.windows(2).map(|two| (two[0], two[1])));
                    if routes.lanes.is_by_hop() && start != PortNum::MANAGEMENT && !end.is_switch() {
                        verdict.lanes.extend(used.iter().map(|(_, lane)| *lane));
                    }
                }
                all.extend(pairs.iter().copied());
                if senders > 0 && !end.is_switch() {
                    terminal.extend(pairs);
                    if !routes.lanes.is_by_hop() {
                        verdict.lanes.insert(routes.lane(from, end.lid).value());
                    }
                    verdict.longest = verdict.longest.max(path.len());
                    verdict.detour |= path.len() > shortest;
                    for channel in &path {
                        *load.entry(*channel).or_default() += senders;
                    }
                }
            }
        }
    }
    verdict.busiest = load.values().copied().max().unwrap_or(0);
    (verdict.cycle, verdict.cycle_switches) = (cyclic(&terminal), cyclic(&all));
    verdict
}

/// Whether dependencies of the paths of all these routes together have a cycle, on some lane.
pub fn cyclic_together(problem: &Problem<'_>, all: &[&Routes], switches: bool) -> bool {
    let mut waits = BTreeSet::new();
    for (routes, from) in all.iter().flat_map(|routes| problem.switches().map(move |from| (routes, from))) {
        if !switches && problem.graph.terminals_of(from).is_empty() {
            continue;
        }
        for end in problem.destinations().iter().filter(|end| switches || !end.is_switch()) {
            let lane = routes.lane(from, end.lid).value();
            let path = walk(problem, routes, from, end.lid, &mut false).unwrap_or_default();
            waits.extend(path.windows(2).map(|two| ((two[0], lane), (two[1], lane))));
        }
    }
    cyclic(&waits)
}

/// The channels of a path with the lane on each, for packets that come to its first switch by a port.
fn on_lanes(
    problem: &Problem<'_>,
    routes: &Routes,
    path: &[u32],
    (mut from, to): (PortNum, Lid),
) -> Vec<UsedChannel> {
    let Some(first) = path.first() else { return Vec::new() };
    let level = routes.lane(problem.graph.channels()[*first as usize].from, to);
    let mut used = Vec::new();
    for id in path {
        let channel = &problem.graph.channels()[*id as usize];
        let lane = match &routes.lanes {
            PathLanes::ByHop { tables, .. } => {
                let row = tables.nodes[&NodeId(channel.from)].sl2vl[&(from, channel.from_port)];
                row.lane(ServiceLevel::new(level.value().into()).unwrap()).value()
            }
            _ => level.value(),
        };
        used.push((*id, lane));
        from = channel.to_port;
    }
    used
}

/// The channels of a path; `None` where it ends anywhere but at the destination.
fn walk(problem: &Problem<'_>, routes: &Routes, from: u32, to: Lid, loops: &mut bool) -> Option<Vec<u32>> {
    let mut path = Vec::new();
    let mut at = from;
    for _ in 0..=problem.graph.switch_count() {
        let egress = routes.get(at, to)?;
        if let Some(end) = problem.destinations_behind(at).iter().find(|end| end.lid == to) {
            return (egress == end.port).then_some(path);
        }
        let leaving = problem.graph.outgoing(at);
        let channel = leaving.into_iter().find(|id| problem.graph.channels()[*id].from_port == egress)?;
        path.push(channel as u32);
        at = problem.graph.channels()[channel].to;
    }
    *loops = true;
    None
}

fn hops(problem: &Problem<'_>, from: u32, to: u32) -> usize {
    let mut seen = BTreeSet::from([from]);
    let mut front = vec![from];
    for steps in 0.. {
        if front.contains(&to) {
            return steps;
        }
        let next = front.iter().flat_map(|at| problem.graph.outgoing(*at));
        let next: Vec<u32> = next.map(|id| problem.graph.channels()[id].to).collect();
        front = next.into_iter().filter(|at| seen.insert(*at)).collect();
        if front.is_empty() {
            break;
        }
    }
    usize::MAX
}

fn cyclic(dependencies: &BTreeSet<(UsedChannel, UsedChannel)>) -> bool {
    let mut after = BTreeMap::<UsedChannel, Vec<UsedChannel>>::new();
    let mut waits = BTreeMap::<UsedChannel, usize>::new();
    for (a, b) in dependencies {
        after.entry(*a).or_default().push(*b);
        waits.entry(*a).or_default();
        *waits.entry(*b).or_default() += 1;
    }
    let mut free: Vec<UsedChannel> =
        waits.iter().filter(|(_, count)| **count == 0).map(|(used, _)| *used).collect();
    let mut sorted = 0;
    while let Some(used) = free.pop() {
        sorted += 1;
        for next in after.get(&used).into_iter().flatten() {
            if let Some(count) = waits.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(*next);
                }
            }
        }
    }
    sorted < waits.len()
}

#[test]
fn a_ring_of_shortest_paths_has_a_cycle_and_a_broken_row_loses_paths() {
    let fabric = super::fabric("torus,dims=5");
    let faults = fabdeck_fabric::Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let mut routes = super::route("minhop", &problem).unwrap().routes;
    let good = judge(&problem, &routes);
    assert!(
        good.cycle && good.cycle_switches && good.lost.is_empty() && !good.detour && !good.loops,
        "{good:?}"
    );
    let lid = problem.destinations_behind(3)[1].lid;
    routes.set(0, lid, None);
    assert!(judge(&problem, &routes).lost.contains(&(0, lid)));
    routes.set(0, lid, routes.get(0, problem.destinations_behind(1)[0].lid));
    routes.set(1, lid, routes.get(1, problem.destinations_behind(0)[0].lid));
    assert!(judge(&problem, &routes).loops);
    assert_eq!(routes.get(3, lid), Some(PortNum(problem.destinations_behind(3)[1].port.value())));
}
