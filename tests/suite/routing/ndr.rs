//! Fabrics as they are sold today: 64-port switches with an aggregation node each, parallel cables, and cables that
//! join switches of one rank in pairs.

use std::fmt::Write as _;

use super::certificate::certificate;
use super::{fabric, route};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::check::judgement::{CertificateReport, certificate_report};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Faults, Guid, NameMap};
use fabdeck_files::ibsim;
use fabdeck_files::text::Input;
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::{Certificate, PairKind};

/// 24 hosts, 8 parents over 4 cables each and the aggregation node take 57 ports.
const TWO_LEVELS: &str = "gft2,n=24,m=8,r=8,redundancy=4,aggregation=yes";
const THREE_LEVELS: &str = "xgft,m=24x8x4,w=1x8x2,redundancy=4,aggregation=yes";
/// So four are left for the neighbour in the rack, and three for nothing.
const ACROSS: std::ops::RangeInclusive<u8> = 58..=61;

/// A fabric with its leaves joined in pairs.
fn joined(name: &str) -> Fabric {
    let text = ibsim::write(&fabric(name)).unwrap().text;
    let leaf = |line: &str| line.starts_with("Switch\t57") && line.contains("# \"leaf");
    let guid = |line: &str| line.split('"').nth(1).unwrap().to_owned();
    let leaves: Vec<String> = text.lines().filter(|line| leaf(line)).map(guid).collect();
    assert!(leaves.len() >= 8, "{name}: {leaves:?}");
    let (mut joined, mut at) = (String::new(), 0);
    for line in text.lines() {
        let of_leaf = leaf(line);
        let line = if of_leaf { line.replacen("57", "64", 1) } else { line.to_owned() };
        writeln!(joined, "{line}").unwrap();
        if of_leaf {
            for port in ACROSS {
                writeln!(joined, "[{port}]\t\"{}\"[{port}]\t\t# 4xNDR", leaves[at ^ 1]).unwrap();
            }
            at += 1;
        }
    }
    let read = ibsim::read(Input::new("joined", joined.as_bytes())).unwrap();
    let cables = leaves.len() / 2 * ACROSS.count();
    assert_eq!(read.fabric.links().count(), fabric(name).links().count() + cables, "{name}");
    read.fabric
}

fn judged(engine: &str, fabric: &Fabric) -> Certificate {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    certificate(&problem, &route(engine, &problem).unwrap().routes, true)
}

/// A certificate in an operator's words.
fn report_for_operators(fabric: &Fabric, certificate: &Certificate) -> CertificateReport {
    let observation = Observation { fabric: fabric.clone(), ..Observation::default() };
    let (look, faults) = (Snapshot::new("test", observation, &NameMap::default()), Faults::default());
    certificate_report(&look, &Problem::new(look.fabric(), &faults), certificate)
}

fn shapes() -> [(&'static str, Fabric); 4] {
    [
        ("2 levels", fabric(TWO_LEVELS)),
        ("2 levels, joined", joined(TWO_LEVELS)),
        ("3 levels", fabric(THREE_LEVELS)),
        ("3 levels, joined", joined(THREE_LEVELS)),
    ]
}

#[test]
fn ftree_counts_what_it_leaves_out_and_the_others_leave_nothing_out() {
    for (name, fabric) in shapes() {
        let ftree = judged("ftree", &fabric);
        let of_kind = |kind| ftree.lost.by_kind(kind);
        assert_eq!(of_kind(PairKind::Hosts), 0, "{name}");
        assert!(
            of_kind(PairKind::Aggregation) > 0 && of_kind(PairKind::Switches) > 0,
            "{name}: {:?}",
            ftree.lost.counts
        );
        assert_eq!((ftree.deadlock_free, ftree.loops.count), (Some(true), 0), "{name}");
        for engine in ["sftree", "nue"] {
            let seen = judged(engine, &fabric);
            assert_eq!(seen.lost.total(), 0, "{engine}, {name}");
            assert_eq!((seen.deadlock_free, seen.loops.count), (Some(true), 0), "{engine}, {name}");
            assert!(engine != "sftree" || seen.lanes.len() == 1, "{name}: {:?}", seen.lanes);
        }
    }
}

/// Two tops have nothing above them, so that the way from one's aggregation node to the other's turns below. How many
/// pairs that leaves out without any such turn is known: each top serves those of its own reach only.
#[test]
fn what_ftree_leaves_out_are_the_pairs_of_tops() {
    let seen = judged("ftree", &fabric(TWO_LEVELS));
    let (tops, ends) = (8, 2);
    // Of every top its aggregation node and itself, to those of the others.
    assert_eq!(seen.lost.total(), tops * (tops - 1) * ends * ends);
    assert_eq!(seen.lost.by_kind(PairKind::Aggregation), tops * (tops - 1));
}

#[test]
fn the_credit_loop_of_minhop_is_shown_by_name() {
    for (name, fabric) in shapes() {
        let seen = judged("minhop", &fabric);
        assert_eq!((seen.deadlock_free, seen.lost.total()), (Some(false), 0), "{name}");
        let report = report_for_operators(&fabric, &seen);
        let (cycle, paths) = (report.cycle.unwrap(), report.cycle_paths.unwrap());
        println!("{name}: {}", cycle.join(", "));
        assert!(cycle.len() > 2 && cycle.len() == paths.len(), "{name}: {cycle:?}");
        let named = |line: &String| line.contains("leaf") || line.contains("spine") || line.contains("mid");
        assert!(cycle.iter().chain(&paths).all(named), "{name}: {cycle:?} {paths:?}");
        // Each channel ends where the next one begins.
        let ends = |channel: &String| {
            let switch = |end: &str| end.split('[').next().unwrap().to_owned();
            channel.split_once(" -> ").map(|(from, to)| (switch(from), switch(to))).unwrap()
        };
        for (channel, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            assert_eq!(ends(channel).1, ends(next).0, "{name}: {cycle:?}");
        }
    }
}

/// A spine without a cable to some leaf is no leaf of a lower rank: its aggregation node stays out of what ftree
/// serves, as that of any spine, and the hosts keep their balance.
#[test]
fn a_spine_that_misses_a_leaf_is_a_spine() {
    let (fabric, mut faults) = (fabric(TWO_LEVELS), Faults::default());
    let between = |a: &str, b: &str| {
        let named = |port| fabric.node(fabric.port(port).node).facts.description.trim().to_owned();
        let joins = move |link: &fabdeck_fabric::Link| {
            [named(link.a), named(link.b)].iter().all(|name| name == a || name == b)
        };
        fabric.links().filter(|(_, link)| joins(link)).map(|(id, _)| id).collect::<Vec<_>>()
    };
    let missing = [between("leaf0", "spine0"), between("leaf3", "spine2")].concat();
    assert_eq!(missing.len(), 8);
    for link in missing {
        faults.mark(fabdeck_fabric::ElementId::Link(link));
    }
    let problem = Problem::new(&fabric, &faults);
    let answer = route("ftree", &problem).unwrap();
    let seen = certificate(&problem, &answer.routes, false);
    // Tops among each other, and the hosts and the node of the leaf that each of two spines misses, both ways.
    assert_eq!(seen.lost.total(), 8 * 7 + 2 * 2 * 25, "{:?}", answer.remarks);
    assert_eq!(seen.lost.by_kind(PairKind::Hosts), 0);
    assert_eq!((seen.deadlock_free, seen.lengths.longest), (Some(true), 2), "{:?}", answer.remarks);
    let sftree = route("sftree", &problem).unwrap().routes;
    assert_eq!(certificate(&problem, &sftree, true).lost.total(), 0);
}

/// GUIDs are what the pairs are joined by; both readers see the same switches.
#[test]
fn joining_leaves_keeps_the_switches() {
    let guids = |fabric: &Fabric| fabric.switches().map(|(_, node)| node.guid()).collect::<Vec<Guid>>();
    assert_eq!(guids(&joined(TWO_LEVELS)), guids(&fabric(TWO_LEVELS)));
}
