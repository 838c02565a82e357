//! The certificate among partitions against a walk over every pair, and OpenSM's file put to a fabric.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, Faults, Guid, Lid, NodeId, NodeKind, Partitions, PortId, PortNum, Routes};
use fabdeck_files::partitions;
use fabdeck_files::text::Input;
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify, certify_partitioned};
use fabdeck_routing::difference::RouteDifference;
use fabdeck_routing::{NoProgress, Problem};
use proptest::prelude::*;

use super::certificate::{Dice, any_fabric, damage, path};
use super::{fabric, route};

pub(crate) type Members = BTreeMap<u16, BTreeMap<PortId, bool>>;

pub(crate) fn drawn(fabric: &Fabric, dice: &mut Dice) -> Members {
    let keys = 1 + dice.below(4) as u16;
    let mut members = Members::new();
    for key in 0..keys {
        let of = members.entry(key).or_default();
        for (port, _) in fabric.ports() {
            if dice.below(3) > 0 {
                of.insert(port, dice.below(4) == 0);
            }
        }
    }
    members
}

pub(crate) fn talk(members: &Members, a: PortId, b: PortId) -> bool {
    members.values().any(|held| matches!((held.get(&a), held.get(&b)), (Some(x), Some(y)) if *x || *y))
}

/// Ports in scope, each with its switch and LID.
fn ends(problem: &Problem<'_>, switches: bool) -> Vec<(PortId, u32, Lid)> {
    let terminals = problem.graph.terminals().iter();
    let mut ends: Vec<_> = terminals.map(|end| (end.port, end.switch, end.lid.unwrap())).collect();
    for switch in problem.switches().filter(|_| switches) {
        let port = problem.fabric.port_of(NodeId(switch), PortNum::MANAGEMENT).unwrap();
        ends.extend(problem.fabric.port(port).facts.lid.map(|lid| (port, switch, lid)));
    }
    ends
}

fn agrees(seed: u64, problem: &Problem<'_>, routes: &Routes, members: &Members, switches: bool) {
    let partitions = Partitions::new(problem.fabric.ports().len(), members);
    let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
    let seen = certify_partitioned(problem, routes, &scope, Some(&partitions), &NoProgress).unwrap();
    let all = certify(problem, routes, &scope, &NoProgress).unwrap();
    let own: BTreeSet<PortId> = problem.graph.terminals().iter().map(|end| end.port).collect();
    let (mut pairs, mut lost, mut listed) = (0, 0, BTreeSet::new());
    let mut load = vec![0u64; problem.graph.channels().len()];
    let mut lengths = BTreeMap::<usize, u64>::new();
    for (to, _, lid) in ends(problem, switches) {
        for (from, switch, _) in ends(problem, switches) {
            if from == to || !talk(members, from, to) {
                continue;
            }
            pairs += 1;
            match path(problem, routes, switch, lid) {
                None => {
                    lost += 1;
                    listed.insert((lid, switch, from));
                }
                Some(path) if own.contains(&from) && own.contains(&to) => {
                    *lengths.entry(path.len()).or_default() += 1;
                    path.iter().for_each(|id| load[*id as usize] += 1);
                }
                Some(_) => {}
            }
        }
    }
    assert_eq!((seen.pairs, seen.lost.total()), (pairs, lost), "{seed} {switches}");
    let first: Vec<_> = seen.lost.first.iter().map(|pair| (pair.to, pair.from_switch, pair.from)).collect();
    assert_eq!(first, listed.into_iter().take(20).collect::<Vec<_>>(), "{seed} {switches}");
    assert_eq!(seen.edge_forwarding_index.max, load.iter().copied().max().unwrap_or(0), "{seed}");
    assert_eq!(seen.edge_forwarding_index.unused, load.iter().filter(|paths| **paths == 0).count() as u64);
    let histogram = seen.lengths.histogram.iter().enumerate().filter(|(_, paths)| **paths > 0);
    let histogram: BTreeMap<usize, u64> = histogram.map(|(hops, paths)| (hops, *paths)).collect();
    assert_eq!(histogram, lengths, "{seed}");
    // Loops and dependencies are those of all pairs.
    assert_eq!((&seen.cycles, &seen.loops, &seen.lanes), (&all.cycles, &all.loops, &all.lanes), "{seed}");
}

#[test]
fn a_comparison_counts_the_moved_pairs_that_share_a_partition() {
    let mut found = 0;
    for seed in 0..60 {
        let fabric = any_fabric(seed);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let old = route("minhop", &problem).unwrap().routes;
        let mut new = old.clone();
        let mut dice = Dice(seed + 3);
        damage(&problem, &mut new, &mut dice);
        let members = drawn(&fabric, &mut dice);
        let partitions = Partitions::new(fabric.ports().len(), &members);
        let of = |partitions| RouteDifference::partitioned(&problem, &old, &new, partitions);
        let ends = ends(&problem, false);
        let mut moved = [0, 0];
        for (to, _, lid) in &ends {
            for (from, switch, _) in ends.iter().filter(|(from, ..)| from != to) {
                let differ = path(&problem, &old, *switch, *lid) != path(&problem, &new, *switch, *lid);
                moved[0] += u64::from(differ);
                moved[1] += u64::from(differ && talk(&members, *from, *to));
            }
        }
        assert_eq!([of(None), of(Some(&partitions))].map(|all| all.moved_pairs), moved, "{seed}");
        assert_eq!(of(None), RouteDifference::between(&problem, &old, &new), "{seed}");
        found += moved[1];
    }
    assert!(found > 100, "{found}");
}

#[test]
fn the_certificate_counts_the_pairs_that_share_a_partition() {
    for seed in 0..150 {
        let fabric = any_fabric(seed);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let mut dice = Dice(seed + 77);
        let mut routes = route("minhop", &problem).unwrap().routes;
        if seed % 2 == 1 {
            damage(&problem, &mut routes, &mut dice);
        }
        let members = drawn(&fabric, &mut dice);
        agrees(seed, &problem, &routes, &members, false);
        agrees(seed, &problem, &routes, &members, true);
    }
}

#[test]
fn one_partition_of_full_members_changes_nothing() {
    let fabric = fabric("kary,k=3,n=2,faults=3,disconnect=yes");
    let none = Faults::default();
    let problem = Problem::new(&fabric, &none);
    let routes = route("minhop", &problem).unwrap().routes;
    let all = BTreeMap::from([(1, fabric.ports().map(|(port, _)| (port, true)).collect())]);
    let partitions = Partitions::new(fabric.ports().len(), &all);
    for switches in [false, true] {
        let scope = RouteScope { switches, lanes: LaneKnowledge::Unknown };
        let seen = certify_partitioned(&problem, &routes, &scope, Some(&partitions), &NoProgress).unwrap();
        assert_eq!(seen, certify(&problem, &routes, &scope, &NoProgress).unwrap());
    }
}

/// Adapters' ports of a fabric with their GUIDs.
fn adapters(fabric: &Fabric) -> Vec<(PortId, Guid)> {
    let ports = fabric.ports().filter(|(_, port)| fabric.node(port.node).facts.kind != NodeKind::Switch);
    ports.map(|(id, port)| (id, port.facts.guid.unwrap_or(fabric.node(port.node).guid()))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is written as a file comes back as the same memberships, the later word counting.
    #[test]
    fn a_file_says_what_was_meant(words in prop::collection::vec((1u16..5, 0usize..9, any::<bool>(), any::<bool>()), 1..30)) {
        let fabric = fabric("kary,k=3,n=2");
        let ports = adapters(&fabric);
        let (mut text, mut meant) = (String::new(), Members::new());
        for (key, at, full, default) in words {
            let (port, guid) = ports[at % ports.len()];
            let (default, word) = match (default, full) {
                (true, true) => (",defmember=full", ""),
                (true, false) => ("", ""),
                (false, true) => ("", "=full"),
                (false, false) => (",defmember=full", "=limited"),
            };
            text += &format!("p{key}={key:#x}{default} : {guid}{word} ;\n");
            meant.entry(key).or_default().insert(port, full);
        }
        prop_assert!(partitions::looks_like(&text));
        let file = partitions::read(Input::new("p", text.as_bytes())).unwrap();
        let mut notes = Notes::new();
        let held = file.bind_to("p", &fabric, None, &mut notes);
        for (a, _) in &ports {
            for (b, _) in &ports {
                prop_assert_eq!(held.can_share(*a, *b), talk(&meant, *a, *b));
            }
        }
    }
}

#[test]
fn a_member_of_another_fabric_is_noted() {
    let fabric = fabric("kary,k=2,n=2");
    let text = "Default=0x7fff: ALL, ALL_SWITCHES=full;\nfew=1: 0x99=full, SELF;\n";
    let file = partitions::read(Input::new("p", text.as_bytes())).unwrap();
    let mut notes = Notes::new();
    let held = file.bind_to("p", &fabric, None, &mut notes);
    assert_eq!(notes.iter().map(|note| note.code).collect::<Vec<_>>(), ["FN-374", "FN-375"]);
    assert_eq!((held.partition_count(), held.class_count()), (1, 3));
}
