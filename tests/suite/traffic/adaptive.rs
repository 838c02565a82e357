//! Packets prove the certificate over sets: where it says free no run stands still, and where it names a credit loop a run
//! made for that loop does.

use std::collections::BTreeSet;
use std::sync::Arc;

use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveLft, AdaptiveSettings, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState,
    AdaptiveTables, EntryState, Faults, Lid, NodeId, PortNum, PortSet, Routes, ServiceLevel, ServiceLevels,
    Tables,
};
use fabdeck_routing::certificate::{ChoiceCertificate, certify_choices};
use fabdeck_routing::{NoProgress, Problem};
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};
use rayon::prelude::*;

use crate::routing::adaptive_fabrics::AdaptiveFabric;

/// Bytes of a buffer for one packet.
const ONE_PACKET: u32 = 2100;

fn level_of(seed: u64) -> ServiceLevel {
    ServiceLevel::new((seed % 3) as u32).unwrap()
}

fn judge(case: &AdaptiveFabric, level: ServiceLevel) -> ChoiceCertificate {
    let faults = Faults::default();
    let problem = Problem::new(&case.fabric, &faults);
    let levels = ServiceLevels::One(level);
    certify_choices(&problem, &case.tables, false, Some(&levels), &NoProgress).unwrap()
}

fn start(
    case: &AdaptiveFabric,
    level: ServiceLevel,
    pattern: TrafficPattern,
    settings: TrafficSettings,
) -> TrafficRun {
    let switches = case.fabric.switches();
    let routes = Arc::new(Routes::from_tables(switches.map(|(node, _)| case.tables.lft(node))));
    let given = NetworkSetup {
        fabric: &case.fabric,
        faults: &Faults::new(),
        routes: &routes,
        service: &LevelSelection::Levels(ServiceLevels::One(level)),
        tables: &case.tables,
    };
    TrafficRun::new(given, &TrafficLoad { pattern, settings }).unwrap()
}

/// Whether a run stands still within a time.
fn stands_still(run: &mut TrafficRun, micros: u64) -> bool {
    let found = (1..=micros / 5).any(|step| {
        run.advance(step * 5_000);
        run.find_deadlock().is_some()
    });
    run.audit().unwrap();
    found
}

/// A run whose flows take the paths of a credit loop, one for each of its dependencies. Hosts receive slowly, so that
/// buffers fill.
fn run_of_loop(
    case: &AdaptiveFabric,
    found: &ChoiceCertificate,
    level: ServiceLevel,
    settings: TrafficSettings,
) -> TrafficRun {
    let to = |lid: Lid| case.fabric.port_by_lid(lid).unwrap();
    let flows: Vec<Flow> = found
        .loop_paths
        .iter()
        .map(|path| Flow { level: Some(level), ..Flow::new(path.from, to(path.to)) })
        .collect();
    let mut run = start(case, level, TrafficPattern::Flows(flows), settings);
    let faults = Faults::default();
    let problem = Problem::new(&case.fabric, &faults);
    for (number, path) in found.loop_paths.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let mut ingress = case.fabric.port(case.fabric.peer(path.from).unwrap()).number;
        for channel in &path.channels {
            let held = problem.graph.channel(*channel);
            // A path may come back to a channel of the loop. Its packets then go around.
            if seen.insert((held.from, ingress)) {
                run.steer_flow(number, (held.from, ingress), held.from_port);
            }
            ingress = held.to_port;
        }
    }
    run
}

/// Whether some run made for a credit loop stands still.
fn loop_stands_still(case: &AdaptiveFabric, found: &ChoiceCertificate, level: ServiceLevel) -> bool {
    let limits = [Some(2_000), Some(500), None, Some(20_000), Some(90_000)];
    let buffers = [ONE_PACKET, 2 * ONE_PACKET, 3 * ONE_PACKET];
    let tries = buffers.iter().flat_map(|buffer| limits.iter().map(move |limit| (*buffer, *limit)));
    tries.into_iter().any(|(buffer, host_limit_mbps)| {
        let settings = TrafficSettings { buffer, host_limit_mbps, ..TrafficSettings::default() };
        stands_still(&mut run_of_loop(case, found, level, settings), 600)
    })
}

/// What packets say of the certificate of a seed's fabric: whether it names a loop, and what is wrong.
fn check(seed: u64) -> (bool, Option<String>) {
    let (case, level) = (AdaptiveFabric::random(seed), level_of(seed));
    let found = judge(&case, level);
    if found.credit_loop.is_some() {
        let wrong = !loop_stands_still(&case, &found, level);
        return (true, wrong.then(|| format!("{}: no run of the loop stands still", case.name)));
    }
    let wrong = (1..=3).find(|run_seed| {
        let settings = TrafficSettings {
            buffer: *run_seed as u32 * ONE_PACKET,
            seed: seed * 16 + run_seed,
            host_limit_mbps: (run_seed % 2 == 0).then_some(20_000),
            ..TrafficSettings::default()
        };
        stands_still(&mut start(&case, level, TrafficPattern::Uniform, settings), 100)
    });
    (false, wrong.map(|_| format!("{}: stands still, and the certificate says free", case.name)))
}

/// 300 fabrics; 3,000 with `FABDECK_LONG=1`.
#[test]
fn packets_stand_still_only_where_the_certificate_over_sets_names_a_credit_loop() {
    let count = if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 3_000 } else { 300 };
    let all: Vec<(bool, Option<String>)> = (0..count).into_par_iter().map(check).collect();
    let loops = all.iter().filter(|(has_loop, _)| *has_loop).count();
    let wrong: Vec<&String> = all.iter().filter_map(|(_, wrong)| wrong.as_ref()).collect();
    println!("{count} fabrics, {loops} with a credit loop; wrong: {wrong:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(loops * 4 > count as usize && loops * 4 < 3 * count as usize, "{loops} of {count}");
}

/// Tables whose leaves have entries of a state, with a group of all ports to spines, or linear ones.
fn spread_tables(problem: &Problem<'_>, routes: &Routes, state: Option<EntryState>) -> Tables {
    let mut tables = Tables::default();
    let stride = problem.fabric.top_lid().unwrap().index() + 1;
    for node in problem.switches() {
        let lft = routes.lft(node);
        let leaving = &problem.graph.channels()[problem.graph.outgoing(node)];
        let ups: PortSet = leaving.iter().map(|channel| channel.from_port).collect();
        let is_leaf = !problem.graph.terminals_of(node).is_empty();
        let entry = |at: usize| {
            let port = Lid::new(at as u32).and_then(|lid| lft.get(lid));
            let up = port.is_some_and(|port| ups.has(port)) && is_leaf;
            AdaptiveEntry { port, state: state.filter(|_| up).unwrap_or_default(), group: 0 }
        };
        let entries: Vec<AdaptiveEntry> = (0..stride).map(entry).collect();
        let adaptive = AdaptiveTables {
            groups: vec![ups],
            tables: vec![AdaptiveLft::from_entries(&entries, Some(&lft))],
            ..AdaptiveTables::default()
        };
        let settings = AdaptiveSettings {
            adaptive: true,
            levels: 0xFFFF,
            private_tables: Some(0),
            lane_input: Some(0),
            ..AdaptiveSettings::default()
        };
        let held = tables.node_mut(NodeId(node));
        held.lft = Some(lft);
        held.adaptive = state.map(|_| AdaptiveSwitch {
            statement: AdaptiveStatement::Stated(settings),
            tables: AdaptiveTableState::Read(Arc::new(adaptive)),
        });
    }
    tables
}

/// By how many ports a leaf sends the packets of one flow to another leaf.
fn ports_used(state: Option<EntryState>) -> usize {
    let fabric = crate::routing::fabric("kary,k=2,n=2");
    let faults = Faults::new();
    let problem = Problem::new(&fabric, &faults);
    let routes = crate::routing::route("updn", &problem).unwrap().routes;
    let tables = spread_tables(&problem, &routes, state);
    let leaf = problem.switches().find(|at| !problem.graph.terminals_of(*at).is_empty()).unwrap();
    let from = problem.graph.terminals_of(leaf)[0].port;
    let other = problem.graph.terminals().iter().find(|end| end.switch != leaf).unwrap().port;
    let given = NetworkSetup {
        fabric: &fabric,
        faults: &faults,
        routes: &Arc::new(routes.clone()),
        service: &LevelSelection::Routes,
        tables: &tables,
    };
    let pattern = TrafficPattern::Flows(vec![Flow::new(from, other)]);
    let load = TrafficLoad { pattern, settings: TrafficSettings::default() };
    let mut run = TrafficRun::new(given, &load).unwrap();
    run.advance(100_000);
    let counts = run.port_counts(&fabric);
    let leaving = &problem.graph.channels()[problem.graph.outgoing(leaf)];
    let sent = |port: PortNum| {
        let port = fabric.port_of(NodeId(leaf), port).unwrap();
        counts[port.index()].xmit_packets
    };
    leaving.iter().filter(|channel| sent(channel.from_port) > 10).count()
}

/// A leaf of a tree that sends up by two ports uses both, a linear one only the port of its table.
#[test]
fn free_entries_spread_packets_and_static_ones_do_not() {
    assert_eq!(ports_used(None), 1);
    assert_eq!(ports_used(Some(EntryState::Static)), 1);
    assert_eq!(ports_used(Some(EntryState::Hash)), 1, "one flow has one hash");
    assert_eq!(ports_used(Some(EntryState::Free)), 2);
    assert_eq!(ports_used(Some(EntryState::Bounded)), 2);
}
