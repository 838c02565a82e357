//! The certificate against the naive judge, on good tables and on damaged ones.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::{ElementId, Fabric, Faults, Lid, NodeId, PathLanes, PortNum, Routes, UnreadEntries};
use fabdeck_routing::certificate::{
    Certificate, DependencyCycle, LaneKnowledge, LostPairs, PairKind, RouteScope, certify,
};
use fabdeck_routing::difference::{RouteDifference, check_transition};
use fabdeck_routing::mixture::find_mixture_cycles;
use fabdeck_routing::{Cause, EngineRefusal, NoProgress, Problem, RouteProgress};

use super::oracle::{OracleVerdict, cyclic_together, judge};
use super::{fabric, route};

/// Small numbers, the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: usize) -> usize {
        // SplitMix64: neighbouring seeds must not draw alike.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 16) as usize % limit.max(1)
    }
}

pub fn certificate(problem: &Problem<'_>, routes: &Routes, switches: bool) -> Certificate {
    certify(problem, routes, &RouteScope { switches, lanes: LaneKnowledge::Known }, &NoProgress).unwrap()
}

/// A fabric of some kind, of at most some forty switches.
pub fn any_fabric(seed: u64) -> Fabric {
    let mut dice = Dice(seed);
    let (a, b) = (2 + dice.below(4), 2 + dice.below(3));
    let name = match dice.below(9) {
        0 => format!("torus,dims={}", 3 + dice.below(6)),
        1 => format!("torus,dims={}x{}", 2 + a, 2 + b),
        2 => format!("kary,k={},n=2", 2 + dice.below(3)),
        3 => "kary,k=2,n=3".to_owned(),
        4 => format!("kary,k=3,n=2,faults={}%,seed={seed},disconnect=yes", 10 + dice.below(40)),
        5 => format!("kautz,d=2,k={}", 2 + dice.below(2)),
        6 => format!("random,switches={},links={},seed={seed}", 4 + a, 8 + a + b),
        7 => format!("random,switches={},links={},seed={seed},faults=40%,disconnect=yes", 8 + a, 14 + b),
        _ => format!("dragonfly,a={},h=1,g={}", 2 + dice.below(3), 3),
    };
    fabric(&name)
}

/// Entries taken out, turned to other ports, and rounds made.
pub fn damage(problem: &Problem<'_>, routes: &mut Routes, dice: &mut Dice) {
    let switches = problem.graph.switch_count();
    for _ in 0..1 + dice.below(12) {
        let switch = dice.below(switches) as u32;
        let end = problem.destinations()[dice.below(problem.destinations().len())];
        match dice.below(5) {
            0 => routes.set(switch, end.lid, None),
            1 => routes.set(switch, end.lid, Some(PortNum(dice.below(12) as u8))),
            2 => routes.set(switch, end.lid, Some(PortNum(200))),
            _ => {
                let leaving = problem.graph.outgoing(switch);
                if !leaving.is_empty() {
                    let id = leaving.start + dice.below(leaving.len());
                    let channel = problem.graph.channels()[id];
                    routes.set(switch, end.lid, Some(channel.from_port));
                    if dice.below(2) == 0 {
                        routes.set(channel.to, end.lid, Some(channel.to_port));
                    }
                }
            }
        }
    }
}

fn any_lanes(problem: &Problem<'_>, routes: &mut Routes, dice: &mut Dice) {
    let mut draw = |count: usize| (0..count).map(|_| dice.below(3) as u8).collect::<Vec<_>>();
    let (stride, switches) = (routes.stride(), problem.graph.switch_count());
    routes.lanes = match draw(1)[0] {
        0 => PathLanes::One,
        1 => PathLanes::ByDestination { lanes: 3, lane: draw(stride) },
        _ => PathLanes::ByPair { lanes: 3, lane: draw(stride * switches) },
    };
}

/// What the judge lists as (source switch, LID) counted in pairs of ends, where no host sends to itself.
fn pairs_of(problem: &Problem<'_>, lost: &[(u32, Lid)]) -> u64 {
    lost.iter()
        .map(|(from, lid)| {
            let own = problem.destinations_behind(*from).iter().any(|end| end.lid == *lid);
            problem.graph.terminals_of(*from).len() as u64 - u64::from(own)
        })
        .sum()
}

fn agrees(name: &str, problem: &Problem<'_>, routes: &Routes, seen: &Certificate, verdict: &OracleVerdict) {
    let connected = seen.lost.total() - seen.lost.by_cause(Cause::CutOff);
    assert_eq!(connected, pairs_of(problem, &verdict.lost), "{name}: {:?}", seen.lost);
    assert_eq!(seen.lost.lids, connected, "{name}");
    assert_eq!(seen.deadlock_free, Some(!verdict.cycle), "{name}: {:?}", seen.cycles);
    assert_eq!(seen.edge_forwarding_index.max, verdict.busiest, "{name}");
    assert_eq!(seen.lengths.longest as usize, verdict.longest, "{name}");
    assert_eq!(seen.lengths.mean_stretch > 1.0, verdict.detour, "{name}: {:?}", seen.lengths);
    assert!(seen.lanes.iter().all(|lane| verdict.lanes.contains(lane)), "{name}: {:?}", seen.lanes);
    assert_eq!(seen.lengths.paths() + seen.lost.total(), seen.pairs, "{name}");
    assert_eq!(seen.lost.first.len() as u64, seen.lost.total().min(20), "{name}");
    closes(name, problem, routes, &seen.cycles);
}

/// Every dependency of a cycle belongs to the path that is named for it.
pub fn closes(name: &str, problem: &Problem<'_>, routes: &Routes, cycles: &[DependencyCycle]) {
    for cycle in cycles {
        assert_eq!(cycle.channels.len(), cycle.paths.len(), "{name}: {cycle:?}");
        for (at, proof) in cycle.paths.iter().enumerate() {
            assert_eq!(routes.lane(proof.source, proof.destination), cycle.lane, "{name}");
            let path = path(problem, routes, proof.source, proof.destination).unwrap();
            let two = [cycle.channels[at].0, cycle.channels[(at + 1) % cycle.channels.len()].0];
            assert!(path.windows(2).any(|pair| pair == two), "{name}: {two:?} is not in {path:?}");
        }
    }
}

/// The channels of a path that arrives.
pub fn path(problem: &Problem<'_>, routes: &Routes, from: u32, to: Lid) -> Option<Vec<u32>> {
    let (mut at, mut path) = (from, Vec::new());
    while path.len() <= problem.graph.switch_count() {
        let egress = routes.get(at, to)?;
        if let Some(end) = problem.destinations_behind(at).iter().find(|end| end.lid == to) {
            return (end.port == egress).then_some(path);
        }
        let mut leaving = problem.graph.outgoing(at);
        let id = leaving.find(|id| problem.graph.channels()[*id].from_port == egress)?;
        path.push(id as u32);
        at = problem.graph.channels()[id].to;
    }
    None
}

/// Loops are counted by batches of switches and added up: each destination that two switches send to each other is one.
#[test]
fn loops_of_all_batches_are_counted() {
    let fabric = fabric("torus,dims=12x12");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    assert!(fabdeck_routing::trees::switch_batches(&problem).len() > 2);
    let mut routes = route("minhop", &problem).unwrap().routes;
    let channel = problem.graph.channels()[problem.graph.outgoing(0).start];
    let mut expected = 0;
    let is_behind = |switch: u32, lid| problem.destinations_behind(switch).iter().any(|end| end.lid == lid);
    for end in problem.destinations().iter().filter(|end| !end.is_switch()) {
        if is_behind(channel.from, end.lid) || is_behind(channel.to, end.lid) {
            continue;
        }
        routes.set(channel.from, end.lid, Some(channel.from_port));
        routes.set(channel.to, end.lid, Some(channel.to_port));
        expected += 1;
    }
    let seen = certificate(&problem, &routes, false);
    assert_eq!((seen.loops.count, expected), (expected, 7 * 142));
}

#[test]
fn it_says_what_the_naive_judge_says_of_good_and_damaged_tables() {
    let (mut loops, mut cycles, mut lost) = (0, 0, 0);
    for seed in 0..320 {
        let fabric = any_fabric(seed);
        let mut dice = Dice(seed + 1_000);
        let mut faults = Faults::default();
        if dice.below(3) == 0 {
            faults.mark(ElementId::Node(NodeId(dice.below(fabric.switch_count()) as u32)));
        }
        let problem = Problem::new(&fabric, &faults);
        let mut routes = route("minhop", &problem).unwrap().routes;
        for round in 0..3 {
            let name = format!("seed {seed}, round {round}");
            let seen = certificate(&problem, &routes, false);
            let verdict = judge(&problem, &routes);
            agrees(&name, &problem, &routes, &seen, &verdict);
            let all = certificate(&problem, &routes, true);
            assert_eq!(all.deadlock_free, Some(!verdict.cycle_switches), "{name}");
            closes(&name, &problem, &routes, &all.cycles);
            switches_agree(&name, (&problem, &routes), &all, &verdict);
            // What the judge walks: from every switch to every destination behind another and to hosts of its own.
            assert_eq!(all.loops.count > 0, verdict.loops, "{name}");
            loops += usize::from(verdict.loops);
            cycles += usize::from(verdict.cycle);
            lost += usize::from(!verdict.lost.is_empty());
            damage(&problem, &mut routes, &mut dice);
            any_lanes(&problem, &mut routes, &mut dice);
        }
    }
    assert!(loops > 50 && cycles > 100 && lost > 100, "{loops} {cycles} {lost}");
}

/// Pairs with a switch at an end, from what the judge lists; it leaves out a switch's own LID at that switch.
fn switches_agree(
    name: &str,
    (problem, routes): (&Problem<'_>, &Routes),
    all: &Certificate,
    verdict: &OracleVerdict,
) {
    let lost: BTreeSet<(u32, Lid)> = verdict.lost.iter().chain(&verdict.lost_switches).copied().collect();
    let mut expected = 0;
    for (from, lid) in lost {
        let own = problem.destinations_behind(from).iter().any(|end| end.lid == lid);
        expected += problem.graph.terminals_of(from).len() as u64 + 1 - u64::from(own);
    }
    let connected = all.lost.total() - all.lost.by_cause(Cause::CutOff);
    let broken = |switch: &u32| {
        let own = problem.destinations_behind(*switch).iter().find(|end| end.is_switch());
        own.is_some_and(|end| routes.get(*switch, end.lid) != Some(PortNum::MANAGEMENT))
    };
    let at_home = problem.switches().filter(broken);
    let at_home: u64 = at_home.map(|switch| problem.graph.terminals_of(switch).len() as u64).sum();
    assert_eq!(connected, expected + at_home, "{name}: {:?}", all.lost);
}

#[test]
fn a_ring_of_five_deadlocks_and_the_paths_close_the_cycle() {
    let fabric = fabric("torus,dims=5");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let seen = certificate(&problem, &routes, false);
    assert_eq!((seen.deadlock_free, seen.lost.total(), seen.lanes.as_slice()), (Some(false), 0, &[0][..]));
    assert_eq!(seen.cycles[0].channels.len(), 5);
    closes("ring", &problem, &routes, &seen.cycles);
    assert!(!seen.is_clean());
    let unknown = RouteScope { switches: false, lanes: LaneKnowledge::Unknown };
    let unknown = certify(&problem, &routes, &unknown, &NoProgress).unwrap();
    assert_eq!((unknown.deadlock_free, unknown.cycles.len()), (None, 1));
}

#[test]
fn three_stages_are_free_between_hosts_and_not_between_switches() {
    let fabric = fabric("kary,k=3,n=3");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    assert!(certificate(&problem, &routes, false).is_clean());
    let all = certificate(&problem, &routes, true);
    assert_eq!(all.deadlock_free, Some(false));
    closes("tree", &problem, &routes, &all.cycles);
}

#[test]
fn causes_and_kinds_are_distinguished() {
    let fabric = fabric("torus,dims=4");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let mut routes = route("minhop", &problem).unwrap().routes;
    let end = *problem.destinations_behind(2).iter().find(|end| !end.is_switch()).unwrap();
    let leaving = &problem.graph.channels()[problem.graph.outgoing(1)];
    let near = leaving.iter().find(|channel| channel.to != 2).unwrap();
    // From 1 back to where the entry leads to 1 again; elsewhere nothing.
    routes.set(near.from, end.lid, Some(near.from_port));
    routes.set(near.to, end.lid, Some(near.to_port));
    let seen = certificate(&problem, &routes, false);
    assert_eq!(seen.loops.count, 1);
    assert!(
        seen.loops.first[0].switches.len() == 2 && seen.loops.first[0].lid == end.lid,
        "{:?}",
        seen.loops
    );
    assert!(seen.lost.by_cause(Cause::Loop) >= 2 && seen.lost.by_kind(PairKind::Hosts) == seen.lost.total());
    routes.set(near.from, end.lid, None);
    let seen = certificate(&problem, &routes, true);
    let LostPairs { counts, .. } = seen.lost;
    assert!(counts[PairKind::Hosts as usize][Cause::NoRoute as usize] > 0, "{counts:?}");
    assert!(counts[PairKind::Hosts as usize][Cause::DeadEnd as usize] > 0, "{counts:?}");
    assert!(counts[PairKind::Switches as usize][Cause::NoRoute as usize] > 0, "{counts:?}");
}

#[test]
fn threads_do_not_show() {
    for name in ["random,switches=80,links=200,seed=4", "kary,k=4,n=3", "torus,dims=10x10"] {
        let fabric = fabric(name);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let mut routes = route("minhop", &problem).unwrap().routes;
        (0..30).for_each(|seed| damage(&problem, &mut routes, &mut Dice(seed)));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| certificate(&problem, &routes, true))
        };
        let (one, two) = (with(1), with(2));
        assert_eq!(one, two, "{name}");
        assert_eq!(format!("{one:?}"), format!("{two:?}"), "{name}");
    }
}

#[test]
fn a_cancelled_certificate_is_none() {
    struct CancelledPulse;
    impl RouteProgress for CancelledPulse {
        fn report(&self, _: usize, _: usize) {}
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let fabric = fabric("demo");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    assert_eq!(
        certify(&problem, &routes, &RouteScope::default(), &CancelledPulse),
        Err(EngineRefusal::Cancelled)
    );
}

#[test]
fn differences_are_those_of_every_path() {
    for seed in 0..120 {
        let fabric = any_fabric(seed);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let old = route("minhop", &problem).unwrap().routes;
        let mut new = old.clone();
        damage(&problem, &mut new, &mut Dice(seed));
        let mut expected = RouteDifference::default();
        for switch in problem.switches() {
            let changed: Vec<usize> =
                (0..old.stride()).filter(|lid| old.row(switch)[*lid] != new.row(switch)[*lid]).collect();
            expected.entries += changed.len() as u64;
            expected.blocks += changed.iter().map(|lid| lid / 64).collect::<BTreeSet<_>>().len() as u64;
            expected.switches += u64::from(!changed.is_empty());
        }
        for from in problem.graph.terminals() {
            for to in problem.graph.terminals().iter().filter(|to| to.port != from.port) {
                let lid = to.lid.unwrap();
                let moved = path(&problem, &old, from.switch, lid) != path(&problem, &new, from.switch, lid);
                expected.moved_pairs += u64::from(moved);
            }
        }
        assert_eq!(RouteDifference::between(&problem, &old, &new), expected, "seed {seed}");
        assert_eq!(RouteDifference::between(&problem, &old, &old), RouteDifference::default());
        let both = check_transition(&problem, &old, &new, &RouteScope::default());
        for cycle in &both.cycles {
            for (at, proof) in cycle.paths.iter().enumerate() {
                let routes = [&old, &new][proof.routes];
                let path = path(&problem, routes, proof.source, proof.destination).unwrap();
                let two = [cycle.channels[at].0, cycle.channels[(at + 1) % cycle.channels.len()].0];
                assert!(path.windows(2).any(|pair| pair == two), "seed {seed}: {two:?} is not in {path:?}");
            }
        }
    }
}

#[test]
fn a_transition_is_safe_where_all_paths_of_both_together_have_no_cycle() {
    let (mut safe, mut unsafe_alone, mut unsafe_together, mut free_in_any_order) = (0, 0, 0, 0);
    for seed in 0..240 {
        let fabric = any_fabric(seed);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let mut dice = Dice(seed + 9_000);
        let mut old = route(["minhop", "updn"][dice.below(2)], &problem).unwrap().routes;
        let mut new = route(["updn", "nue"][dice.below(2)], &problem).unwrap().routes;
        if dice.below(2) == 0 {
            damage(&problem, &mut new, &mut dice);
        }
        if dice.below(2) == 0 {
            any_lanes(&problem, &mut old, &mut dice);
            any_lanes(&problem, &mut new, &mut dice);
        }
        for switches in [false, true] {
            let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
            let together = cyclic_together(&problem, &[&old, &new], switches);
            let seen = check_transition(&problem, &old, &new, &scope).safe;
            assert_eq!(seen, Some(!together), "seed {seed}, switches {switches}");
            // Each path is a mixture too, so what no mixture closes needs no look at the paths.
            let mixed = find_mixture_cycles(&problem, [&old, &new], &scope, None);
            assert!(!mixed.is_empty() || !together, "seed {seed}, switches {switches}");
            free_in_any_order += u32::from(mixed.is_empty());
            let alone = [&old, &new].iter().any(|routes| cyclic_together(&problem, &[routes], switches));
            safe += u32::from(!together);
            unsafe_alone += u32::from(alone);
            unsafe_together += u32::from(together && !alone);
        }
    }
    assert!(
        safe > 40 && unsafe_alone > 40 && unsafe_together > 10 && free_in_any_order > 20,
        "{safe} {unsafe_alone} {unsafe_together} {free_in_any_order}"
    );
}

#[test]
fn two_sound_sets_of_routes_can_deadlock_on_the_way_from_one_to_the_other() {
    // A ring of three: one way round for some destinations, the other for the rest, never a cycle alone.
    let fabric = fabric("torus,dims=3");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let straight = route("minhop", &problem).unwrap().routes;
    assert!(certificate(&problem, &straight, false).is_clean());
    // The same towards all, but from one switch to one other by way of the third.
    let around = |switch: u32| {
        let mut routes = straight.clone();
        let to = (switch + 2) % 3;
        let leaving = problem.graph.outgoing(switch);
        let by =
            problem.graph.channels()[leaving].iter().find(|channel| channel.to == (switch + 1) % 3).unwrap();
        for end in problem.destinations_behind(to).iter().filter(|end| !end.is_switch()) {
            routes.set(switch, end.lid, Some(by.from_port));
        }
        routes
    };
    let mut old = around(0);
    for lid in problem.destinations_behind(0).iter().filter(|end| !end.is_switch()).map(|end| end.lid) {
        let from_one = around(1);
        old.set(1, lid, from_one.get(1, lid));
    }
    let new = around(2);
    let scope = RouteScope::default();
    assert!(certificate(&problem, &old, false).is_clean() && certificate(&problem, &new, false).is_clean());
    let both = check_transition(&problem, &old, &new, &scope);
    assert_eq!(both.safe, Some(false));
    assert!(both.cycles[0].paths.iter().any(|proof| proof.routes == 1), "{both:?}");
    assert_eq!(check_transition(&problem, &old, &old, &scope).safe, Some(true));
}

/// What was not read hides entries of its blocks alone, and one LID that is not known may serve a whole port.
#[test]
fn pairs_over_what_was_not_read_are_neither_lost_nor_served() {
    let (fabric, none) = (fabric("mport,m=4,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &none);
    let whole = route("minhop", &problem).unwrap().routes;
    let ports = problem.destinations_behind(1).iter().filter(|end| !end.is_switch()).collect::<Vec<_>>();
    let ends: Vec<_> = ports.iter().filter(|end| end.port == ports[0].port).collect();
    let from = problem.switches().find(|at| *at != 1 && problem.destinations_behind(*at).len() > 1).unwrap();
    let seen = |missing: [Option<PortNum>; 2], unread: Option<UnreadEntries>| {
        let mut routes = whole.clone();
        ends.iter().zip(missing).for_each(|(end, port)| routes.set(from, end.lid, port));
        let unread: BTreeMap<u32, UnreadEntries> = unread.into_iter().map(|unread| (from, unread)).collect();
        let lost = certificate(&problem, &routes.with_unread(unread), false).lost;
        (lost.total(), lost.unread(), lost.lids, lost.partial, lost.first.len())
    };
    let block = |number| Some(UnreadEntries::Blocks([number].into()));
    assert_eq!(ends.len(), 2);
    let (lost, ..) = seen([None, None], None);
    assert!(lost > 0);
    assert_eq!(seen([None, None], block(7)), seen([None, None], None));
    for unread in [block(0), Some(UnreadEntries::All)] {
        assert_eq!(seen([None, None], unread), (0, lost, 0, 0, 0));
    }
    // An entry that leads astray is known to; the other LID of the port may still be reached.
    let astray = Some(PortNum(200));
    for missing in [[astray, None], [None, astray]] {
        assert_eq!(seen(missing, None).0, lost);
        assert_eq!(seen(missing, block(0)), (0, lost, lost, 0, 0), "{missing:?}");
    }
}
