//! dFtree's lanes: who moves, what the ways there need, and what is refused; each on tables that are made here.

mod credit_loop;
mod effects;
mod migration;
mod planned_tables;
mod refusals;

use std::collections::BTreeSet;

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::lanes::migrations::{MigrationPlanError, migration_plan};
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck_change::Plan;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, Evidence, HotSpot, HotSpots,
};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{
    Arbitration, Fabric, FabricBuilder, Lane, Lid, NodeId, PortFacts, PortId, PortNum, Routes, ServiceLevel,
    ServiceLevels, Sl2Vl, Tables, VlWeight,
};
use fabdeck_routing::lanes::{FlowMoves, MovedFlows, propose_moves};

pub fn lid(lid: u32) -> Lid {
    Lid::new(lid).unwrap()
}

pub fn level(level: u32) -> ServiceLevel {
    ServiceLevel::new(level).unwrap()
}

pub fn lane(lane: u32) -> Lane {
    Lane::new(lane).unwrap()
}

/// The same with so many lanes at every cabled port.
pub fn with_lanes(fabric: &Fabric, lanes: u8) -> Fabric {
    let mut builder = FabricBuilder::new();
    let keys: Vec<_> =
        fabric.nodes().map(|(_, node)| builder.add_node(node.facts.clone()).unwrap()).collect();
    for (_, port) in fabric.ports() {
        let facts = PortFacts { operational_lanes: Some(lanes), ..port.facts.clone() };
        *builder.port(keys[port.node.index()], port.number) = facts;
    }
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, number)| (keys[node.index()], number));
        builder.connect(a, b).unwrap();
    }
    builder.finish()
}

/// Forwarding tables of routes, and tables of lanes in which each hop has a row and each cabled port its turns.
pub fn tables(
    fabric: &Fabric,
    routes: &Routes,
    row: &mut dyn FnMut() -> Sl2Vl,
    turns: &mut dyn FnMut() -> Arbitration,
) -> Tables {
    let mut tables = Tables::default();
    for (id, node) in fabric.nodes() {
        let cabled = fabric.ports_of(id).filter(|(_, port)| port.peer.is_some());
        let cabled: Vec<PortNum> = cabled.map(|(_, port)| port.number).collect();
        let held = tables.node_mut(id);
        held.lft = node.is_switch().then(|| routes.lft(id.0));
        for to in &cabled {
            let others = cabled.iter().filter(|from| *from != to && node.is_switch());
            for from in others.copied().chain([PortNum(0)]) {
                held.sl2vl.insert((from, *to), row());
            }
            held.arbitration.insert(*to, turns());
        }
    }
    tables
}

/// All levels on one lane.
pub fn flat() -> Sl2Vl {
    Sl2Vl::default()
}

/// Lane 0 alone has a turn, and there is room for others.
pub fn one_turn() -> Arbitration {
    let turn = |lane, weight| VlWeight { lane, weight };
    Arbitration {
        high_limit: 3,
        high: vec![turn(lane(0), 0); 8],
        low: [turn(lane(0), 64)].into_iter().chain(vec![turn(lane(0), 0); 7]).collect(),
    }
}

pub fn look(fabric: &Fabric, tables: &Tables) -> Snapshot {
    let observation =
        Observation { fabric: fabric.clone(), tables: tables.clone(), ..Observation::default() };
    Snapshot::new("made", observation, &Default::default())
}

pub fn waits(port: PortId) -> CongestedPort {
    CongestedPort { port, congestion: 500_000.0, at_least: false, time_waited: None, utilisation: Some(0.3) }
}

/// These adapters are hot, and these wait in these roles.
pub fn verdict(fabric: &Fabric, hot: &[PortId], held: &[(PortId, CongestionRole)]) -> HotSpots {
    let spot = |adapter: &PortId| HotSpot { at: waits(fabric.peer(*adapter).unwrap()), adapter: *adapter };
    let held = held.iter().map(|(port, role)| CongestedAdapter::new(waits(*port), *role));
    HotSpots {
        hot_spots: hot.iter().map(spot).collect(),
        congested_adapters: held.collect(),
        ..HotSpots::default()
    }
}

pub const SENDS: CongestionRole =
    CongestionRole::Contributor(Evidence::NowhereElse { elsewhere: 0.0, sent: 1.0 });

pub fn hosts(fabric: &Fabric) -> Vec<PortId> {
    let ports = fabric.ports().filter(|(_, port)| port.peer.is_some() && port.facts.lid.is_some());
    ports.filter(|(_, port)| !fabric.node(port.node).is_switch()).map(|(id, _)| id).collect()
}

pub fn lid_of(fabric: &Fabric, port: PortId) -> Lid {
    fabric.port(port).facts.lid.unwrap()
}

/// All of them send to one.
pub fn all_to(fabric: &Fabric, hot: PortId) -> FlowMoves {
    let held: Vec<_> =
        hosts(fabric).into_iter().filter(|port| *port != hot).map(|port| (port, SENDS)).collect();
    propose_moves(fabric, &verdict(fabric, &[hot], &held), &[], &[])
}

pub fn planned(
    look: &Snapshot,
    moves: &FlowMoves,
    sent: LevelsInForce<'_>,
) -> Result<Plan, MigrationPlanError> {
    let plan = migration_plan(look, moves, &[], sent, PlanOrigin::default())?;
    // What is written is read back.
    let text = plan.text().unwrap();
    let read = Plan::read(&text).unwrap();
    assert_eq!((&read.migrations, &read.writes), (&plan.migrations, &plan.writes));
    Ok(read)
}

pub fn moved(hot_spot: Lid, (fast, slow): (u32, u32), hosts: &[Lid]) -> MovedFlows {
    let hosts: BTreeSet<Lid> = hosts.iter().copied().collect();
    MovedFlows { hot_spot, fast: level(fast), slow: level(slow), hosts, gone: None }
}

/// The levels of routes, where the number of the lane is that of the level.
pub fn levels_of(fabric: &Fabric, routes: &Routes) -> ServiceLevels {
    let mut levels = ServiceLevels::unknown(fabric.switch_count(), fabric.top_lid());
    for (id, _) in fabric.switches() {
        for port in hosts(fabric) {
            let to = lid_of(fabric, port);
            levels.add(id.0, to, level(routes.lane(id.0, to).value().into()));
        }
    }
    levels
}

/// The hops from a host to a LID by the tables: node, in and out port; an adapter sends from its port 0.
pub fn hops(fabric: &Fabric, tables: &Tables, from: PortId, to: Lid) -> Vec<(NodeId, PortNum, PortNum)> {
    let own = fabric.port(from);
    let mut hops = vec![(own.node, PortNum(0), own.number)];
    let mut at = fabric.peer(from).unwrap();
    while fabric.node(fabric.port(at).node).is_switch() {
        let here = fabric.port(at);
        let out = tables.lft(here.node).unwrap().get(to).unwrap();
        hops.push((here.node, here.number, out));
        at = fabric.peer(fabric.port_of(here.node, out).unwrap()).unwrap();
        assert!(hops.len() < 100, "a loop");
    }
    assert_eq!(fabric.port(at).facts.lid, Some(to));
    hops
}
