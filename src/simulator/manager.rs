//! The stand-in for a subnet manager: it gives LIDs and fills forwarding tables.

use std::collections::BTreeSet;

use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Lid, Lmc, NodeKind, PortId, PortNum, SwitchGraph};
use fabdeck_routing::{NoPulse, Problem, Request, engine};

use super::build;
use super::device::{Device, Plug};
use super::world::FIRST_GROUP;

/// What it says of itself in SMInfo.
pub const PRIORITY: u8 = 8;
pub const MASTER: u8 = 3;

/// The fabric with a LID for every port that has one to have: those that are there stay, the others get the lowest
/// free ones in the order of port GUIDs, as OpenSM does.
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
        .flat_map(|(lid, lmc)| lid.value()..lid.value().saturating_add(lmc.lids()))
        .collect();
    let mut free = (1..=Lid::MAX).filter(|lid| !taken.contains(lid));
    let given = without.into_iter().filter_map(|id| Some((id, Lid::new(free.next()?.into())?)));
    rebuilt(fabric, &given.collect::<Vec<_>>())
}

/// The fabric with other LIDs: two to the power of this for each port of an adapter, one for each switch, in the order of port
/// GUIDs; the first of several is a multiple of their number.
pub fn with_lmc(fabric: &Fabric, lmc: Lmc) -> Fabric {
    let mut ports: Vec<PortId> = end_ports(fabric).collect();
    ports.sort_by_key(|id| {
        let port = fabric.port(*id);
        (port.facts.guid.unwrap_or(fabric.node(port.node).guid()), port.number)
    });
    let mut next = 1u32;
    let mut builder = FabricBuilder::again(fabric);
    for id in ports {
        let port = fabric.port(id);
        let one = fabric.node(port.node).is_switch();
        let own = if one { Lmc::default() } else { lmc };
        let lids = u32::from(own.lids());
        let lid = next.next_multiple_of(lids);
        next = lid + lids;
        let facts = builder.port(port.node.into(), port.number);
        // Beyond the last LID a port has none.
        let fits = lid + lids - 1 <= u32::from(Lid::MAX);
        (facts.lid, facts.lmc) = (Lid::new(lid).filter(|_| fits), own);
    }
    builder.finish()
}

/// Port 0 of switches (which a dump may leave out), and the cabled ports of everything else.
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

fn rebuilt(fabric: &Fabric, given: &[(PortId, Lid)]) -> Fabric {
    let mut builder = FabricBuilder::again(fabric);
    for (id, lid) in given {
        let port = fabric.port(*id);
        builder.port(port.node.into(), port.number).lid = Some(*lid);
    }
    builder.finish()
}

/// Where it sits: the first cabled port of a host that answers, else the first switch.
pub fn home(fabric: &Fabric) -> Option<Plug> {
    let host = fabric.ports().find(|(_, port)| {
        let node = &fabric.node(port.node).facts;
        node.kind != NodeKind::Switch && node.answered && port.peer.is_some()
    });
    let plug = |port: &fabdeck_fabric::Port| (port.node.0, port.number.value());
    host.map(|(_, port)| plug(port)).or_else(|| fabric.switches().next().map(|(id, _)| (id.0, 0)))
}

/// Shortest paths for every LID, and the group that IP runs on over every host.
pub fn fill_tables(fabric: &Fabric, devices: &mut [Device]) {
    let faults = Faults::default();
    fill_linear(fabric, &faults, "minhop", devices);
    spread_group(&Problem::new(fabric, &faults).graph, devices);
}

/// Forwarding tables of an engine on one lane; what it refuses leaves those that are there. Shortest paths are refused to
/// nobody.
pub fn fill_linear(fabric: &Fabric, faults: &Faults, id: &str, devices: &mut [Device]) {
    let problem = Problem::new(fabric, faults);
    let request = Request { lanes: 1, ..Request::default() };
    // Whoever cancels does not ask here.
    let answer = engine(id).and_then(|engine| (engine.route)(&problem, &request, &NoPulse).ok());
    let routes =
        answer.map(|answer| answer.routes).filter(|routes| routes.lane_count() <= 1).unwrap_or_default();
    for (at, device) in devices.iter_mut().enumerate().take(routes.switch_count()) {
        device.tables.linear = routes.row(at as u32).to_vec();
    }
}

/// One tree over each connected part, from its first switch: every member hears every other.
fn spread_group(graph: &SwitchGraph, devices: &mut [Device]) {
    let mut reached = vec![false; graph.switch_count()];
    for root in 0..graph.switch_count() as u32 {
        if std::mem::replace(&mut reached[root as usize], true) {
            continue;
        }
        let mut queue = std::collections::VecDeque::from([root]);
        while let Some(switch) = queue.pop_front() {
            let hosts: Vec<PortNum> =
                graph.terminals_of(switch).iter().map(|host| host.switch_port).collect();
            build::join(&mut devices[switch as usize].tables, FIRST_GROUP, &hosts);
            for channel in &graph.channels()[graph.leaving(switch)] {
                if std::mem::replace(&mut reached[channel.to as usize], true) {
                    continue;
                }
                build::join(&mut devices[switch as usize].tables, FIRST_GROUP, &[channel.from_port]);
                build::join(&mut devices[channel.to as usize].tables, FIRST_GROUP, &[channel.to_port]);
                queue.push_back(channel.to);
            }
        }
    }
}
