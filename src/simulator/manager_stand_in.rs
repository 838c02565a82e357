//! Stand-in for a subnet manager: assigns LIDs and fills forwarding tables.

use std::collections::BTreeSet;

use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Lid, NodeKind, PortId, PortNum, SwitchGraph};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

use super::device::{FIRST_GROUP, PortRef, SimulatedDevice};
use super::device_builder;
use super::linear_table::TableMaker;

/// The manager's priority and state in SMInfo.
pub const MANAGER_PRIORITY: u8 = 8;
pub const MASTER_STATE: u8 = 3;

/// The fabric with a LID for each port that needs one. Existing LIDs stay; the others get the lowest free ones in the
/// order of port GUIDs, as OpenSM does.
pub fn with_lids(fabric: &Fabric) -> Fabric {
    let mut without: Vec<PortId> =
        end_ports(fabric).filter(|id| fabric.port(*id).facts.lid.is_none()).collect();
    if without.is_empty() {
        return fabric.clone();
    }
    let guid = |id: &PortId| {
        let port = fabric.port(*id);
        let node = fabric.node(port.node).guid();
        (port.facts.guid.unwrap_or(node), node, port.number)
    };
    without.sort_by_key(guid);
    let taken: BTreeSet<u16> = fabric
        .ports()
        .filter_map(|(_, port)| Some((port.facts.lid?, port.facts.lmc)))
        .flat_map(|(lid, lmc)| lid.value()..lid.value().saturating_add(lmc.lid_count()))
        .collect();
    let mut free = (1..=Lid::MAX).filter(|lid| !taken.contains(lid));
    let given = without.into_iter().filter_map(|id| Some((id, Lid::new(free.next()?.into())?)));
    rebuild_with_lids(fabric, &given.collect::<Vec<_>>())
}

/// The ports that need LIDs: port 0 of switches (which a dump may leave out), and the cabled ports of other nodes.
fn end_ports(fabric: &Fabric) -> impl Iterator<Item = PortId> {
    let wanted = |id: &PortId| {
        let port = fabric.port(*id);
        match fabric.node(port.node).facts.kind {
            NodeKind::Switch => port.number == PortNum::MANAGEMENT,
            _ => port.peer.is_some(),
        }
    };
    fabric.ports().map(|(id, _)| id).filter(wanted).collect::<Vec<_>>().into_iter()
}

fn rebuild_with_lids(fabric: &Fabric, given: &[(PortId, Lid)]) -> Fabric {
    let mut builder = FabricBuilder::from_fabric(fabric);
    for (id, lid) in given {
        let port = fabric.port(*id);
        builder.port(port.node.into(), port.number).lid = Some(*lid);
    }
    builder.finish()
}

/// The port of the manager: the first cabled port of a host that answers, otherwise the first switch.
pub fn manager_port(fabric: &Fabric) -> Option<PortRef> {
    let host = fabric.ports().find(|(_, port)| {
        let node = &fabric.node(port.node).facts;
        node.kind != NodeKind::Switch && node.answered && port.peer.is_some()
    });
    let plug = |port: &fabdeck_fabric::Port| (port.node.0, port.number.value());
    host.map(|(_, port)| plug(port)).or_else(|| fabric.switches().next().map(|(id, _)| (id.0, 0)))
}

/// Fills tables with shortest paths to all LIDs, and with the multicast group of IP over InfiniBand for all hosts.
pub fn fill_tables(fabric: &Fabric, devices: &mut [SimulatedDevice]) {
    let faults = Faults::default();
    fill_linear_tables(fabric, &faults, "minhop", devices);
    build_group_tree(&Problem::new(fabric, &faults).graph, devices);
}

/// Fills forwarding tables with an engine on one lane. If the engine refuses, the tables stay; MinHop never refuses.
pub fn fill_linear_tables(fabric: &Fabric, faults: &Faults, id: &str, devices: &mut [SimulatedDevice]) {
    let problem = Problem::new(fabric, faults);
    let request = Request { lanes: 1, ..Request::default() };
    // This progress callback never cancels.
    let answer = find_engine(id).and_then(|engine| (engine.route)(&problem, &request, &NoProgress).ok());
    let routes =
        answer.map(|answer| answer.routes).filter(|routes| routes.lane_count() <= 1).unwrap_or_default();
    let mut maker = TableMaker::default();
    for (at, device) in devices.iter_mut().enumerate().take(routes.switch_count()) {
        device.tables.linear = maker.make_table(routes.row(at as u32));
    }
}

/// Builds one multicast tree over each connected component, from its first switch, so that all members reach each
/// other.
fn build_group_tree(graph: &SwitchGraph, devices: &mut [SimulatedDevice]) {
    let mut reached = vec![false; graph.switch_count()];
    for root in 0..graph.switch_count() as u32 {
        if std::mem::replace(&mut reached[root as usize], true) {
            continue;
        }
        let mut queue = std::collections::VecDeque::from([root]);
        while let Some(switch) = queue.pop_front() {
            let hosts: Vec<PortNum> =
                graph.terminals_of(switch).iter().map(|host| host.switch_port).collect();
            device_builder::add_group_ports(&mut devices[switch as usize].tables, FIRST_GROUP, &hosts);
            for channel in &graph.channels()[graph.outgoing(switch)] {
                if std::mem::replace(&mut reached[channel.to as usize], true) {
                    continue;
                }
                device_builder::add_group_ports(
                    &mut devices[switch as usize].tables,
                    FIRST_GROUP,
                    &[channel.from_port],
                );
                device_builder::add_group_ports(
                    &mut devices[channel.to as usize].tables,
                    FIRST_GROUP,
                    &[channel.to_port],
                );
                queue.push_back(channel.to);
            }
        }
    }
}
