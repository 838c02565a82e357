//! `torus2qos`: levels of pairs and lanes that change on the way, judged by the certificate and by the naive judge.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::oracle::judge;
use super::{fabric, is_long, route, route_as, same_on_two_threads};
use crate::routing::certificate::{Dice, certificate};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::plans::proposal_plan::{make_plan, plan_text};
use fabdeck::operations::preview::whatif::{ProposalOptions, propose};
use fabdeck_change::Plan;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, LinkId, NodeId, PathLanes, Routes, Sl2Vl, Tables};
use fabdeck_files::{psl, qos_policy};
use fabdeck_routing::{EngineRefusal, NoProgress, Problem, Request, find_engine};

const ID: &str = "torus2qos";

/// The coordinates in the name of a generated switch: `sw_1_0_2`.
fn place(fabric: &Fabric, node: NodeId) -> Vec<u32> {
    let name = fabric.node(node).facts.description.trim();
    name.split('_').skip(1).map(|number| number.parse().unwrap()).collect()
}

/// A ring: its dimension, and the other coordinates.
type Ring = (usize, Vec<u32>);

/// The ring of a link.
fn ring(fabric: &Fabric, link: LinkId) -> Ring {
    let [a, b] = fabric.ends(link).map(|(node, _)| place(fabric, node));
    let dimension = (0..a.len()).find(|at| a[*at] != b[*at]).unwrap();
    let mut rest = a;
    rest.remove(dimension);
    (dimension, rest)
}

/// Seeds of failed links of 1 to 5 %: `torus2qos` refuses exactly where a ring has two breaks, names it, and is clean
/// elsewhere. `naive`: of this many seeds the naive judge judges one.
fn fails_at_random(name: &str, seeds: u64, naive: u64) {
    let fabric = fabric(name);
    let links: Vec<LinkId> =
        fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
    let served = (0..seeds).into_par_iter().map(|seed| {
        let dice = &mut Dice(seed ^ 0x7035);
        let count = (links.len() * (1 + seed as usize % 5)).div_ceil(100);
        let mut breaks: BTreeMap<Ring, usize> = BTreeMap::new();
        let mut faults = Faults::new();
        let mut left = links.clone();
        for _ in 0..count {
            let link = left.swap_remove(dice.below(left.len()));
            faults.mark(ElementId::Link(link));
            *breaks.entry(ring(&fabric, link)).or_default() += 1;
        }
        let problem = Problem::new(&fabric, &faults);
        let broken = breaks.values().any(|count| *count > 1);
        match route(ID, &problem) {
            Err(EngineRefusal::Unfit { why, .. }) => {
                assert!(broken && why.contains("the ring in "), "{name} seed {seed}: {why}");
                0
            }
            Err(other) => panic!("{name} seed {seed}: {other}"),
            Ok(answer) => {
                let judged = certificate(&problem, &answer.routes, true);
                let clean = judged.is_clean() && judged.deadlock_free == Some(true);
                assert!(clean && !broken, "{name} seed {seed}: {:?} {:?}", judged.cycles, judged.lost);
                if seed % naive == 0 {
                    let naive = judge(&problem, &answer.routes);
                    assert!(!naive.cycle_switches && naive.lost_switches.is_empty(), "{name} seed {seed}");
                    assert_eq!(naive.busiest, judged.edge_forwarding_index.max, "{name} seed {seed}");
                }
                1
            }
        }
    });
    let served: usize = served.sum();
    assert!(served > 0 && served < seeds as usize, "{served} of {seeds} served");
}

#[test]
fn two_breaks_in_a_ring_are_refused_and_everything_else_is_clean() {
    let more = if is_long() { 10 } else { 1 };
    fails_at_random("torus,dims=5x6,terminals=1", 60 * more, 6 * more);
    fails_at_random("torus,dims=4x4x4,terminals=1", 40 * more, 20 * more);
}

/// The kit's tori with failed links: two ends of each.
type FailedLinks = &'static [([u32; 3], [u32; 3])];
const T4F1: FailedLinks = &[([0, 2, 2], [0, 2, 3]), ([2, 1, 1], [3, 1, 1])];
const T6F1: FailedLinks = &[
    ([1, 0, 4], [1, 1, 4]),
    ([2, 0, 3], [2, 1, 3]),
    ([2, 5, 5], [3, 5, 5]),
    ([3, 0, 1], [4, 0, 1]),
    ([3, 2, 3], [3, 3, 3]),
    ([3, 3, 4], [3, 4, 4]),
];
/// Of t7f1 and t10f1 the two links of one ring.
const T7F1: FailedLinks = &[([6, 6, 2], [6, 6, 3]), ([6, 6, 3], [6, 6, 4])];
const T10F1: FailedLinks = &[([0, 4, 0], [1, 4, 0]), ([1, 4, 0], [2, 4, 0])];

/// The largest edge forwarding index on a torus of the kit, or the refusal.
fn busiest(side: u32, failed: FailedLinks) -> Result<u64, String> {
    let fabric = fabric(&format!("torus,dims={side}x{side}x{side},terminals=4"));
    let mut faults = Faults::new();
    for (a, b) in failed {
        let joins = |id: &LinkId| {
            let ends = fabric.ends(*id).map(|(node, _)| node);
            ends.iter().all(|node| fabric.node(*node).is_switch()) && {
                let [from, to] = ends.map(|node| place(&fabric, node));
                (from == a && to == b) || (from == b && to == a)
            }
        };
        let link = fabric.links().map(|(id, _)| id).find(joins);
        faults.mark(ElementId::Link(link.unwrap()));
    }
    let problem = Problem::new(&fabric, &faults);
    let answer = route(ID, &problem).map_err(|refused| refused.to_string())?;
    let judged = certificate(&problem, &answer.routes, false);
    assert!(judged.is_clean() && judged.deadlock_free == Some(true), "{side} {failed:?}");
    Ok(judged.edge_forwarding_index.max)
}

#[test]
fn the_busiest_channel_of_tori_carries_what_opensm_puts_there() {
    assert_eq!(busiest(4, &[]), Ok(768));
    assert_eq!(busiest(4, T4F1), Ok(1_024));
    let refused = busiest(7, T7F1).unwrap_err();
    assert!(refused.contains("the ring in z through sw_6_6_0") && refused.contains("2 breaks"), "{refused}");
    if is_long() {
        assert_eq!(busiest(6, &[]), Ok(3_456));
        assert_eq!(busiest(6, T6F1), Ok(5_184));
        assert_eq!(busiest(7, &[]), Ok(4_704));
        assert_eq!(busiest(10, &[]), Ok(24_000));
        let refused = busiest(10, T10F1).unwrap_err();
        assert!(refused.contains("the ring in x through sw_0_4_0"), "{refused}");
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    for name in ["torus,dims=5x4,redundancy=2", "mesh,dims=3x3x2"] {
        same_on_two_threads(ID, name);
    }
}

#[test]
fn the_naive_judge_agrees_on_detours_round_a_failed_switch() {
    let fabric = fabric("torus,dims=4x5,terminals=1");
    let mut faults = Faults::new();
    faults.mark(ElementId::Node(NodeId(7)));
    let problem = Problem::new(&fabric, &faults);
    let mut routes = route(ID, &problem).unwrap().routes;
    let (judged, naive) = (certificate(&problem, &routes, true), judge(&problem, &routes));
    assert!(!naive.cycle_switches && judged.deadlock_free == Some(true));
    assert!(naive.lanes.contains(&2), "an illegal turn: {:?}", naive.lanes);
    // On two lanes illegal turns share a lane with the others, which both judges see.
    let whole = Problem::new(&fabric, &faults);
    let two = route_as(ID, &whole, &Request { lanes: 2, ..Request::default() });
    assert!(matches!(two, Err(EngineRefusal::Lanes { needed: 4, .. })));
    let none = Faults::new();
    let narrow = route_as(ID, &Problem::new(&fabric, &none), &Request { lanes: 2, ..Request::default() });
    routes.lanes = narrow.unwrap().routes.lanes;
    let (judged, naive) = (certificate(&problem, &routes, true), judge(&problem, &routes));
    assert_eq!(judged.deadlock_free, Some(!naive.cycle_switches));
}

fn looked(name: &str) -> Snapshot {
    Snapshot::new(name, Observation { fabric: fabric(name), ..Observation::default() }, &Default::default())
}

/// A snapshot whose tables and lanes in force are those of an engine.
fn in_force(name: &str, engine: &str) -> Snapshot {
    let mut look = looked(name);
    let faults = Faults::new();
    let request = Request { lanes: 4, ..Request::default() };
    let routes = route_as(engine, &Problem::new(look.fabric(), &faults), &request).unwrap().routes;
    let mut tables = Tables::default();
    if let PathLanes::ByHop { tables: lanes, .. } = &routes.lanes {
        tables = Tables::clone(lanes);
    }
    for (id, _) in look.fabric().switches() {
        tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    look.observation.tables = tables;
    look.routes = Some(routes);
    look
}

/// A plan after a failed link changes forwarding tables alone, is safe while traffic flows, and reads back with the same
/// lanes.
#[test]
fn a_plan_after_a_failed_link_writes_no_lane_table_and_reads_back() {
    let look = in_force("torus,dims=4x5,terminals=2", ID);
    let mut faults = Faults::new();
    let between = |id: &LinkId| look.fabric().is_between_switches(*id);
    faults.mark(ElementId::Link(look.fabric().links().map(|(id, _)| id).find(between).unwrap()));
    let request = Request { lanes: 4, ..Request::default() };
    let asked = ProposalOptions::for_terminals(&request);
    let tables = &look.observation.tables;
    let proposal = propose(&look, tables, &faults, find_engine(ID).unwrap(), asked, &NoProgress).unwrap();
    assert_eq!((proposal.report.deadlock_free, proposal.report.unreachable), (Some(true), 0));
    assert_eq!(proposal.changed_lanes, Some(0), "the level of no path changes");
    let plan =
        make_plan(&look, &faults, ID, &proposal, LevelsInForce::Unsaid, PlanOrigin::default()).unwrap();
    assert!(
        plan.writes.iter().all(|write| matches!(write.part, fabdeck_mad::access::AttributePart::Block(_)))
    );
    assert_ne!(plan.transition.paths_are_safe(), Some(false), "{:?}", plan.transition);
    let again = Plan::read(&plan_text(&plan).unwrap()).unwrap();
    let after = again.tables_after(look.fabric(), tables);
    let routes = again.routes(look.fabric(), &after);
    assert_eq!(again.lanes.by, "hop");
    assert!(routes.lanes == proposal.routes.lanes, "lanes read back");
}

/// From tables of another engine: the SL2VL tables come first, and the tables after the plan carry the certificate.
#[test]
fn a_plan_from_another_engine_writes_the_lane_tables_before_the_routes() {
    let mut look = in_force("torus,dims=4x5,terminals=2", "minhop");
    let asked_without = || {
        let tables = &look.observation.tables;
        let (faults, request) = (Faults::new(), Request::default());
        let asked = ProposalOptions::for_terminals(&request);
        let proposal = propose(&look, tables, &faults, find_engine(ID).unwrap(), asked, &NoProgress).unwrap();
        make_plan(&look, &faults, ID, &proposal, LevelsInForce::Unsaid, PlanOrigin::default())
    };
    let missing = asked_without().unwrap_err().to_string();
    assert!(missing.contains("FD-5503") && missing.contains("of sw_0_0"), "{missing}");
    let lanes = in_force("torus,dims=4x5,terminals=2", ID).observation.tables.lane_tables();
    for (id, held) in &lanes.nodes {
        let rows = held.sl2vl.keys().map(|ports| (*ports, Sl2Vl::default()));
        look.observation.tables.node_mut(*id).sl2vl = rows.collect();
    }
    let (faults, request) = (Faults::new(), Request { lanes: 4, ..Request::default() });
    let asked = ProposalOptions::for_terminals(&request);
    let tables = &look.observation.tables;
    let proposal = propose(&look, tables, &faults, find_engine(ID).unwrap(), asked, &NoProgress).unwrap();
    let plan =
        make_plan(&look, &faults, ID, &proposal, LevelsInForce::Unsaid, PlanOrigin::default()).unwrap();
    let lanes = |write: &fabdeck_change::PlanWrite| {
        matches!(write.part, fabdeck_mad::access::AttributePart::Lanes(_))
    };
    let count = plan.writes.iter().filter(|write| lanes(write)).count();
    assert!(count > 0 && plan.writes[..count].iter().all(lanes), "{count} of {}", plan.writes.len());
    let adapters = plan.count_targets().1;
    assert_eq!(adapters, look.fabric().host_count(), "adapters map levels too");
    let after = plan.tables_after(look.fabric(), tables);
    let routes: Routes = plan.routes(look.fabric(), &after);
    let problem = Problem::new(look.fabric(), &faults);
    let judged = certificate(&problem, &routes, true);
    assert!(judged.is_clean() && judged.deadlock_free == Some(true));
    let naive = judge(&problem, &routes);
    assert!(!naive.cycle_switches && naive.lanes.len() == 2, "{:?}", naive.lanes);
}

#[test]
fn levels_of_paths_are_exported_and_a_policy_is_refused_with_the_reason() {
    let fabric = fabric("torus,dims=5x4,terminals=1");
    let faults = Faults::new();
    let problem = Problem::new(&fabric, &faults);
    let routes = route(ID, &problem).unwrap().routes;
    let mut text = Vec::new();
    assert!(psl::write(&fabric, &routes, &mut text).unwrap().is_empty());
    let text = String::from_utf8(text).unwrap();
    let crosses = |size: i32, from: i32, to: i32| u32::from(2 * (from - to).abs() > size);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let guid = u64::from_str_radix(words[0].trim_start_matches("0x"), 16).unwrap();
        let at = |node: NodeId| match fabric.node(node).is_switch() {
            true => place(&fabric, node),
            false => {
                let peer = fabric.ports_of(node).find_map(|(port, _)| fabric.peer(port)).unwrap();
                place(&fabric, fabric.port(peer).node)
            }
        };
        let from = at(fabric.node_by_guid(fabdeck_fabric::Guid(guid)).unwrap());
        let lid = fabdeck_fabric::Lid::new(words[1].parse().unwrap()).unwrap();
        let to = at(fabric.port(fabric.port_by_lid(lid).unwrap()).node);
        let wanted = crosses(5, from[0] as i32, to[0] as i32) | crosses(4, from[1] as i32, to[1] as i32) << 1;
        assert_eq!(words[2].parse(), Ok(wanted), "{line}: {from:?} to {to:?}");
    }
    let refused = qos_policy::write(&fabric, &routes).unwrap_err().to_string();
    assert!(refused.contains("FD-2601") && refused.contains("depends on its source too"), "{refused}");
}
