//! Service levels through tables of lanes, against a naive judge that walks every path by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::certificate::{Dice, any_fabric};
use super::{fabric, route};
use fabdeck::catalogue::field::Listing;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::catalogue::value::Value;
use fabdeck::operations::check::certificate_text::report_lines;
use fabdeck::operations::check::judgement::CertificateReport;
use fabdeck::operations::lanes::levels::{LevelsInForce, cap_request, check_in_force};
use fabdeck::operations::preview::engine_table::{ENGINE_TABLE, EngineStates};
use fabdeck::operations::preview::whatif::{EngineRow, ProposalOptions, propose, supposed_words};
use fabdeck_fabric::observe::{AdaptiveRouting, Observation};
use fabdeck_fabric::{
    Fabric, Faults, Lane, NodeId, PortId, PortNum, Routes, ServiceLevel, ServiceLevels, Sl2Vl, Tables,
};
use fabdeck_routing::certificate::{LaneMapping, ServiceCertificate, certify_service};
use fabdeck_routing::{NoProgress, Problem, Request};

fn level(value: usize) -> ServiceLevel {
    ServiceLevel::new(value as u32).unwrap()
}

fn lane(value: usize) -> Lane {
    Lane::new(value as u32).unwrap()
}

/// A table that puts level `l` on `lanes[l]`, and every other level on lane 0.
fn row(lanes: &[usize]) -> Sl2Vl {
    let mut row = Sl2Vl::default();
    lanes.iter().enumerate().for_each(|(at, to)| row.set(level(at), lane(*to)));
    row
}

/// The tables in force of some routes, with lanes as `of` gives them for (switch, in port, out port).
fn tables(fabric: &Fabric, routes: &Routes, mut of: impl FnMut(u32, u8, u8) -> Option<Sl2Vl>) -> Tables {
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let held = tables.node_mut(id);
        held.lft = Some(routes.lft(id.0));
        let ports: Vec<PortNum> = fabric.ports_of(id).map(|(_, port)| port.number).collect();
        for (from, to) in ports.iter().flat_map(|from| ports.iter().map(move |to| (*from, *to))) {
            if from != to && to != PortNum::MANAGEMENT {
                of(id.0, from.value(), to.value()).map(|row| held.sl2vl.insert((from, to), row));
            }
        }
    }
    tables
}

type UsedChannel = (u32, PortNum, u8);

#[derive(Debug, Default, PartialEq, Eq)]
struct NaiveVerdict {
    cycle: bool,
    lanes: BTreeSet<u8>,
    limits: BTreeMap<(PortId, u8), u64>,
}

/// Walks the paths of every source by itself. A source whose levels differ counts with the lowest.
fn naive(
    problem: &Problem<'_>,
    routes: &Routes,
    tables: &Tables,
    levels: &ServiceLevels,
    switches: bool,
) -> NaiveVerdict {
    let (mut found, mut waits) = (NaiveVerdict::default(), BTreeSet::new());
    for from in problem.switches() {
        let ends = problem.graph.terminals_of(from).iter().map(|end| end.switch_port);
        let own = switches.then_some(PortNum::MANAGEMENT);
        for port in ends.chain(own) {
            for to in problem.switches() {
                for end in problem.destinations_behind(to).iter().filter(|end| switches || !end.is_switch()) {
                    if from == to && end.port == port {
                        continue;
                    }
                    let bits = levels.level_bits(from, end.lid);
                    for at in (0..16).filter(|at| bits >> at & 1 == 1) {
                        let paths = u64::from(bits.trailing_zeros() == at);
                        let whole = whole_path(problem, routes, from, to, end);
                        whole.into_iter().for_each(|hops| {
                            walk(
                                problem.fabric,
                                tables,
                                (port, at as usize, paths),
                                &hops,
                                &mut found,
                                &mut waits,
                            )
                        });
                    }
                }
            }
        }
    }
    found.cycle = cyclic(&waits);
    found
}

/// (Switch, out port, in port of the next) of a path that arrives.
fn whole_path(
    problem: &Problem<'_>,
    routes: &Routes,
    from: u32,
    to: u32,
    end: &fabdeck_routing::Destination,
) -> Option<Vec<(u32, PortNum, Option<PortNum>)>> {
    let (mut at, mut path) = (from, Vec::new());
    for _ in 0..=problem.graph.switch_count() {
        let out = routes.get(at, end.lid)?;
        if at == to {
            path.push((at, out, None));
            return (out == end.port).then_some(path);
        }
        let id = problem.graph.outgoing(at).find(|id| problem.graph.channels()[*id].from_port == out)?;
        let channel = problem.graph.channels()[id];
        path.push((at, out, Some(channel.to_port)));
        at = channel.to;
    }
    None
}

fn walk(
    fabric: &Fabric,
    tables: &Tables,
    (mut from, at, paths): (PortNum, usize, u64),
    hops: &[(u32, PortNum, Option<PortNum>)],
    found: &mut NaiveVerdict,
    waits: &mut BTreeSet<(UsedChannel, UsedChannel)>,
) {
    let mut last: Option<UsedChannel> = None;
    for (switch, out, next) in hops {
        if *out == PortNum::MANAGEMENT {
            return;
        }
        let table = tables.nodes[&NodeId(*switch)].sl2vl[&(from, *out)];
        let on = table.lane(level(at)).value();
        let port = fabric.port_of(NodeId(*switch), *out).unwrap();
        let told = |port| fabric.port(port).facts.operational_lanes.unwrap_or(15);
        if on >= told(port).min(told(fabric.peer(port).unwrap())).min(15) {
            *found.limits.entry((port, on)).or_default() += paths;
            return;
        }
        let Some(next) = next else { return };
        found.lanes.insert(on);
        let used = (*switch, *out, on);
        waits.extend(last.map(|last| (last, used)));
        (last, from) = (Some(used), *next);
    }
}

fn cyclic(waits: &BTreeSet<(UsedChannel, UsedChannel)>) -> bool {
    let mut left = waits.clone();
    loop {
        let waiting: BTreeSet<UsedChannel> = left.iter().map(|(_, used)| *used).collect();
        let before = left.len();
        left.retain(|(used, _)| waiting.contains(used));
        if left.len() == before {
            return before > 0;
        }
    }
}

fn naive_verdict_of_tables(served: &ServiceCertificate) -> NaiveVerdict {
    NaiveVerdict {
        cycle: served.credit_loop.is_some(),
        lanes: served.lanes.iter().copied().collect(),
        limits: served.limits.iter().map(|limit| ((limit.port, limit.lane), limit.paths)).collect(),
    }
}

/// The same fabric with other facts of its ports.
fn with_ports(fabric: &Fabric, mut set: impl FnMut(PortId, &mut fabdeck_fabric::PortFacts)) -> Fabric {
    let mut builder = fabdeck_fabric::FabricBuilder::new();
    let keys: Vec<_> =
        fabric.nodes().map(|(_, node)| builder.add_node(node.facts.clone()).unwrap()).collect();
    for (id, port) in fabric.ports() {
        let mut facts = port.facts.clone();
        set(id, &mut facts);
        *builder.port(keys[port.node.0 as usize], port.number) = facts;
    }
    for (_, link) in fabric.links() {
        let end = |port| (keys[fabric.port(port).node.0 as usize], fabric.port(port).number);
        builder.connect(end(link.a), end(link.b)).unwrap();
    }
    builder.finish()
}

fn served(
    problem: &Problem<'_>,
    routes: &Routes,
    tables: &Tables,
    levels: &ServiceLevels,
    switches: bool,
) -> ServiceCertificate {
    let mapping = LaneMapping::new(problem, tables);
    certify_service(problem, routes, switches, &mapping, levels, &NoProgress).unwrap()
}

#[test]
fn any_tables_of_lanes_are_judged_as_by_walking_every_path() {
    let (mut cycles, mut free, mut limited) = (0, 0, 0);
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let plain = any_fabric(seed);
        let narrow = dice.below(3);
        let fabric = with_ports(&plain, |_, facts| {
            facts.operational_lanes = (narrow == 0 && dice.below(4) == 0).then_some(2);
        });
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let engine = ["minhop", "updn"][dice.below(2)];
        let Ok(answer) = route(engine, &problem) else { continue };
        let few = 2 + dice.below(2);
        let kind = dice.below(4);
        let tables = tables(&fabric, &answer.routes, |switch, from, to| {
            let by = match kind {
                0 => dice.below(1 << 12),
                1 => switch as usize,
                2 => usize::from(from) * 7,
                _ => usize::from(to) + switch as usize,
            };
            let some: Vec<usize> = (0..3).map(|level| (by + level * (1 + by / 5)) % few).collect();
            let mut row = row(&some);
            if kind == 0 && dice.below(60) == 0 {
                row.set(level(1), lane(15));
            }
            Some(row)
        });
        let mut levels = ServiceLevels::unknown(problem.graph.switch_count(), fabric.top_lid());
        for switch in problem.switches() {
            for end in problem.destinations() {
                levels.add(switch, end.lid, level(dice.below(3)));
                if dice.below(9) == 0 {
                    levels.add(switch, end.lid, level(dice.below(3)));
                }
            }
        }
        for switches in [false, true] {
            let served = served(&problem, &answer.routes, &tables, &levels, switches);
            let naive = naive(&problem, &answer.routes, &tables, &levels, switches);
            assert_eq!(naive_verdict_of_tables(&served), naive, "{seed} {engine} {switches}");
            assert!(served.is_complete(), "{seed}: {served:?}");
            if let Some(cycle) = &served.credit_loop {
                assert_eq!(cycle.paths.len(), cycle.hops.len(), "{seed}: every wait has a path: {cycle:?}");
                cycles += 1;
            } else {
                free += 1;
            }
            limited += u32::from(!served.limits.is_empty());
        }
    }
    assert!(cycles > 12 && free > 12 && limited > 6, "{cycles} {free} {limited}");
}

fn looked(fabric: Fabric, adaptive: Option<AdaptiveRouting>) -> Snapshot {
    Snapshot::new("here", Observation { fabric, adaptive, ..Observation::default() }, &Default::default())
}

fn judged(look: &Snapshot, tables: &Tables, sent: LevelsInForce<'_>) -> CertificateReport {
    check_in_force(look, tables, &Faults::default(), false, sent, &NoProgress).unwrap()
}

/// A ring of 5: by shortest paths a cycle on one lane, and none with a second one from the first switch's cable on.
#[test]
fn a_ring_is_judged_by_the_lanes_of_its_levels() {
    let fabric = fabric("torus,dims=5");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let layered = route("dfsssp", &problem).unwrap().routes;
    let mut levels = ServiceLevels::unknown(5, fabric.top_lid());
    for (switch, end) in
        problem.switches().flat_map(|at| problem.destinations().iter().map(move |end| (at, end)))
    {
        levels.add(switch, end.lid, level(layered.lane(switch, end.lid).value().into()));
    }
    let records = LevelsInForce::Records { levels: &levels, every: false };
    let look = looked(fabric.clone(), None);
    let straight = |routes: &Routes| tables(&fabric, routes, |_, _, _| Some(row(&[0, 1, 2, 3])));
    let free = judged(&look, &straight(&layered), records);
    assert_eq!((free.deadlock_free, free.lanes, free.lanes_from), (Some(true), 2, "path records, sampled"));
    // The same levels, all put on lane 3: the levels are worth nothing.
    let flat = judged(&look, &tables(&fabric, &layered, |_, _, _| Some(row(&[3, 3]))), records);
    assert_eq!((flat.deadlock_free, flat.cycle_lane, flat.lanes), (Some(false), Some(3), 1));
    // One switch that swaps them closes a cycle over both lanes, or at least changes nothing for the better.
    let one = judged(&look, &straight(&routes), LevelsInForce::One);
    assert_eq!((one.deadlock_free, one.lanes_from, one.cycle_lane), (Some(false), "one", Some(0)));
    assert_eq!(judged(&look, &straight(&routes), LevelsInForce::Unknown).deadlock_free, None);
    // A lane more at the cable from switch 0 to its neighbour: a dateline.
    let dateline = tables(&fabric, &routes, |switch, from, to| {
        let ring = |port: u8| fabric.peer(fabric.port_of(NodeId(switch), PortNum(port)).unwrap());
        let between = |port: u8| {
            port > 0 && ring(port).is_some_and(|peer| fabric.node(fabric.port(peer).node).is_switch())
        };
        Some(row(&[usize::from(switch == 0 && between(from) && between(to))]))
    });
    let served = check_in_force(&look, &dateline, &faults, false, LevelsInForce::One, &NoProgress).unwrap();
    assert_eq!((served.deadlock_free, served.lanes), (Some(true), 2), "{served:?}");
    // With adaptive routing on, no verdict, whatever the tables say.
    let adaptive =
        judged(&looked(fabric.clone(), Some(AdaptiveRouting::On(2))), &straight(&layered), records);
    assert_eq!((adaptive.deadlock_free, adaptive.adaptive_routing), (None, Some(2)));
    // A switch that says nothing of its lanes leaves it open; so does a path without a record.
    let gap = |switch: u32, _: u8, _: u8| (switch != 3).then(|| row(&[0, 1]));
    let untold = judged(&look, &tables(&fabric, &layered, gap), records);
    assert_eq!((untold.deadlock_free, untold.untold_switches), (None, 1));
    let nothing = ServiceLevels::unknown(5, fabric.top_lid());
    let silent = judged(&look, &straight(&layered), LevelsInForce::Records { levels: &nothing, every: true });
    assert_eq!((silent.deadlock_free, silent.unsaid_paths > 0), (None, true));
}

/// A ring by shortest paths is free only because a switch drops what crosses it: this is not freedom on any
/// lanes, nor as every pair reached.
#[test]
fn what_is_dropped_is_no_promise_for_any_lanes() {
    let fabric = fabric("torus,dims=5");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let drops = |switch: u32, _: u8, _: u8| Some(row(&[if switch == 2 { 15 } else { 0 }]));
    let report = judged(&looked(fabric.clone(), None), &tables(&fabric, &routes, drops), LevelsInForce::One);
    assert_eq!((report.deadlock_free, report.unreachable), (Some(true), 0));
    let lines = report_lines(&report);
    let line =
        |label: &str| lines.iter().find(|(said, _)| *said == label).map(|(_, text)| text.as_str()).unwrap();
    let dropped = format!(
        "free: no cycle of dependencies on the lanes in force, with {} paths dropped",
        report.limited_paths
    );
    assert_eq!(line("deadlock"), dropped);
    assert_eq!(line("unreachable"), "none; paths that are dropped are not counted here");
}

/// Every command takes lanes for known by the same rule.
#[test]
fn lanes_are_known_to_a_check_as_to_a_proposal() {
    let fabric = fabric("torus,dims=5");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let layered = route("dfsssp", &problem).unwrap().routes;
    let look = looked(fabric.clone(), None);
    let mut assumed = looked(fabric.clone(), None);
    (assumed.assumed, assumed.routes) = (Some("dfsssp"), Some(layered.clone()));
    let none = tables(&fabric, &routes, |_, _, _| None);
    let flat = tables(&fabric, &routes, |_, _, _| Some(row(&[3; 16])));
    let laid = tables(&fabric, &layered, |_, _, _| None);
    let gap = tables(&fabric, &routes, |switch, _, _| (switch != 3).then(|| row(&[0])));
    let (on, free) = (Some(false), Some(true));
    for (look, tables, sent, from, verdict) in [
        (&look, &none, LevelsInForce::Unknown, "unknown", None),
        (&look, &none, LevelsInForce::Unsaid, "level 0 assumed", on),
        // Routes that take two lanes where nothing says so: level 0 is what is judged.
        (&look, &laid, LevelsInForce::Unsaid, "level 0 assumed", on),
        (&look, &none, LevelsInForce::One, "one", on),
        // Whatever the level, it comes to lane 3.
        (&look, &flat, LevelsInForce::Unsaid, "SL2VL tables", on),
        (&look, &flat, LevelsInForce::Unknown, "unknown", None),
        (&assumed, &laid, LevelsInForce::Unsaid, "assumed", free),
        (&assumed, &laid, LevelsInForce::One, "one", on),
        (&assumed, &laid, LevelsInForce::Unknown, "unknown", None),
        // One switch that says nothing is no better than all.
        (&look, &gap, LevelsInForce::One, "one", on),
    ] {
        let report = judged(look, tables, sent);
        assert_eq!((report.lanes_from, report.deadlock_free), (from, verdict), "{sent:?} {from}");
        if report.untold_switches > 0 {
            assert!(report_lines(&report).iter().any(|(_, text)| text.contains("lane 0 there")));
            continue;
        }
        let request = Request::default();
        let asked = ProposalOptions { sent, ..ProposalOptions::for_terminals(&request) };
        let engine = fabdeck_routing::find_engine("minhop").unwrap();
        let proposal = propose(look, tables, &faults, engine, asked, &NoProgress).unwrap();
        assert_eq!(proposal.transition.old_lanes, from, "{sent:?}");
    }
}

#[test]
fn a_port_without_the_lane_drops_paths_and_is_named() {
    let plain = fabric("torus,dims=5");
    let narrow = plain.port_of(NodeId(2), PortNum(1)).unwrap();
    let fabric =
        with_ports(&plain, |id, facts| facts.operational_lanes = Some(if id == narrow { 1 } else { 8 }));
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let tables = tables(&fabric, &routes, |_, _, _| Some(row(&[1])));
    let look = looked(fabric.clone(), None);
    let report = judged(&look, &tables, LevelsInForce::One);
    assert!(report.has_findings() && report.limited_paths > 0, "{report:?}");
    let name = look.port_name(narrow);
    let said =
        report.lane_limits.iter().find(|limit| limit.contains(&format!("port {name} has 1 lane and ")));
    assert!(said.is_some_and(|said| said.ends_with(" paths on lane 1 cross it")), "{:?}", report.lane_limits);
    // An adapter that does not send the level at all.
    let host = problem.graph.terminals()[0].port;
    let mut silent = tables.clone();
    let number = fabric.port(host).number;
    silent.node_mut(fabric.port(host).node).sl2vl.insert((PortNum(0), number), row(&[15]));
    let report = judged(&look, &silent, LevelsInForce::One);
    let named = format!("port {} drops", look.port_name(host));
    assert!(report.lane_limits.iter().any(|limit| limit.starts_with(&named)), "{:?}", report.lane_limits);
}

/// A ring of 5 on the lanes of dfsssp, to be routed so again: the old side counts on the lanes that it is known to be on.
#[test]
fn a_transition_goes_by_the_lanes_in_force() {
    let fabric = fabric("torus,dims=5");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let layered = route("dfsssp", &problem).unwrap().routes;
    let mut levels = ServiceLevels::unknown(5, fabric.top_lid());
    for (switch, end) in
        problem.switches().flat_map(|at| problem.destinations().iter().map(move |end| (at, end)))
    {
        levels.add(switch, end.lid, level(layered.lane(switch, end.lid).value().into()));
    }
    let records = LevelsInForce::Records { levels: &levels, every: true };
    let straight = tables(&fabric, &layered, |_, _, _| Some(row(&[0, 1, 2, 3])));
    let flat = tables(&fabric, &layered, |_, _, _| Some(row(&[3; 16])));
    let look = looked(fabric.clone(), None);
    let request = Request::default();
    let engine = fabdeck_routing::find_engine("dfsssp").unwrap();
    let change = |look: &Snapshot, tables: &Tables, sent: LevelsInForce<'_>| {
        let asked = ProposalOptions { sent, ..ProposalOptions::for_terminals(&request) };
        let proposal = propose(look, tables, &faults, engine, asked, &NoProgress).unwrap();
        (proposal.transition, proposal.changed_lanes)
    };
    let (same, changed) = change(&look, &straight, records);
    assert_eq!(
        (same.safe, same.old_lanes.as_str(), changed),
        (Some(true), "path records, every pair", Some(0))
    );
    let (unknown, changed) = change(&look, &straight, LevelsInForce::Unknown);
    assert_eq!((unknown.safe, unknown.old_lanes.as_str(), changed), (None, "unknown", None));
    assert!(unknown.reason.is_some() && unknown.cycle.is_some() && unknown.cycle_lane.is_none());
    // Every level on lane 3, so that it takes no record to know where the old paths are.
    let (all, changed) = change(&look, &flat, LevelsInForce::Unsaid);
    assert_eq!((all.safe, all.old_lanes.as_str(), all.cycle_lane), (Some(false), "SL2VL tables", Some(3)));
    assert!(changed.is_some_and(|changed| changed > 0));
    assert!(all.cycle_paths.unwrap().iter().all(|path| path.starts_with("old path from ")));
    let adaptive = change(&looked(fabric.clone(), Some(AdaptiveRouting::On(1))), &straight, records).0;
    assert_eq!((adaptive.safe, adaptive.reason.is_some()), (None, true));
}

/// Engines use no more lanes than every port on the way has, an adapter's too, and say which has fewest.
#[test]
fn engines_get_no_more_lanes_than_ports_have() {
    let plain = fabric("torus,dims=5");
    let none = Faults::default();
    let adapter = fabdeck_routing::Problem::new(&plain, &none).graph.terminals()[3].port;
    limited_by(plain.port_of(NodeId(1), PortNum(1)).unwrap());
    limited_by(adapter);
}

fn limited_by(narrow: fabdeck_fabric::PortId) {
    let plain = fabric("torus,dims=5");
    let fabric = with_ports(&plain, |id, facts| facts.operational_lanes = (id == narrow).then_some(1));
    let look = looked(fabric, None);
    let (faults, none) = (Faults::default(), Tables::default());
    let request = Request::default();
    let propose = |engine: &str| {
        propose(
            &look,
            &none,
            &faults,
            fabdeck_routing::find_engine(engine).unwrap(),
            ProposalOptions::for_terminals(&request),
            &NoProgress,
        )
    };
    assert!(propose("dfsssp").is_err());
    let nue = propose("nue").unwrap();
    assert_eq!(nue.report.lanes, 1);
    let named = format!("1 of 8 lanes: port {} has no more", look.port_name(narrow));
    assert!(nue.remarks.contains(&named), "{:?}", nue.remarks);
    // Routes that were made for more lanes are refused.
    let problem = fabdeck_routing::Problem::new(look.fabric(), &faults);
    let mut routes = (*nue.routes).clone();
    let lids = routes.stride();
    routes.lanes = fabdeck_fabric::PathLanes::ByDestination { lanes: 2, lane: vec![1; lids] };
    assert_eq!(problem.usable_lanes(8), 1);
    let scope = fabdeck_routing::certificate::RouteScope::default();
    let report = fabdeck::operations::preview::whatif::judge_routes(&look, &routes, &faults, &scope).unwrap();
    let named = format!("port {} has 1 lane and the routes use 2", look.port_name(narrow));
    assert_eq!((report.lane_limits.as_slice(), report.has_findings()), (&[named][..], true));
}

/// Adapters have four data lanes mostly. A dump of the topology alone has no lanes, so four are assumed.
#[test]
fn where_no_adapter_port_says_how_many_lanes_it_has_four_are_supposed() {
    let (plain, faults) = (fabric("torus,dims=5"), Faults::default());
    let told = with_ports(&plain, |_, facts| facts.operational_lanes = Some(8));
    let wanted = |fabric: &Fabric, request: &Request| {
        let look = looked(fabric.clone(), None);
        cap_request(&look, &Problem::new(look.fabric(), &faults), request)
    };
    let usual = Request::default();
    let said = Request::default().with_lanes(Some(6), Some(2));
    let configured = Request::default().with_lanes(None, Some(2));
    for (fabric, request, lanes, supposed) in [
        (&plain, &usual, 4, Some(4)),
        (&plain, &configured, 2, Some(2)),
        (&plain, &said, 6, None),
        (&told, &usual, 8, None),
        (&told, &configured, 8, None),
        (&told, &said, 6, None),
    ] {
        let capped = wanted(fabric, request);
        assert_eq!((capped.request.lanes, capped.supposed), (lanes, supposed));
    }
    // The row says it, of engines that use several lanes.
    let look = looked(plain, None);
    let row = |id: &'static str| {
        let engine = fabdeck_routing::find_engine(id).unwrap();
        let proposal = propose(
            &look,
            &Default::default(),
            &faults,
            engine,
            ProposalOptions::for_terminals(&usual),
            &NoProgress,
        );
        EngineRow::new(id, proposal.as_ref(), None)
    };
    let rows = vec![row("minhop"), row("dfsssp")];
    assert_eq!(rows.iter().map(|row| row.supposed_lanes).collect::<Vec<_>>(), [None, Some(4)]);
    assert!(supposed_words(&rows).unwrap().starts_with("assumed 4 data lanes"));
    let compared = ENGINE_TABLE.rows_in(EngineStates::new(), rows);
    let at = (0..compared.column_count()).find(|at| compared.column(*at).id == "lanes").unwrap();
    assert_eq!(compared.cell(1, at), Value::text("2 of 4?"));
}
