//! Builds devices from a fabric value. What the fabric leaves open gets the defaults of new hardware.

use fabdeck_fabric::{
    Fabric, Guid, LinkSpeed, LinkWidth, NodeId, NodeKind, PhysicalState, Port, PortNum, PortState, Tables,
};
use fabdeck_mad::NodeDescription;

use super::device::{
    AdaptiveProfile, ArbitrationTables, DeviceTables, FIRST_GROUP, KeyGuard, PortModel, SimulatedDevice,
};
use super::label_profile::LabelProfile;
use super::linear_table::TableMaker;
use super::partition_profile::PartitionProfile;
use super::port_speeds::{PortInfoForm, PortStatesForm};
use super::wire_profile::WireProfile;

const DEFAULT_LANES: u8 = 8;

/// One device for each node, in the order of the nodes.
pub fn build_devices(fabric: &Fabric) -> Vec<SimulatedDevice> {
    fabric.nodes().map(|(id, _)| build_device(fabric, id)).collect()
}

fn build_device(fabric: &Fabric, id: NodeId) -> SimulatedDevice {
    let facts = &fabric.node(id).facts;
    let known = fabric.ports_of(id).map(|(_, port)| port.number.value()).max().unwrap_or(0);
    let count = facts.port_count.max(known);
    let speeds = fabric.ports_of(id).filter_map(|(_, port)| port.facts.speed_supported.max(port.facts.speed));
    let best = speeds.max().unwrap_or(LinkSpeed::Edr);
    SimulatedDevice {
        kind: facts.kind,
        guid: facts.guid,
        system_image_guid: facts.system_image_guid.unwrap_or(facts.guid),
        description: NodeDescription::new(&facts.description),
        vendor_id: facts.vendor_id.unwrap_or(0),
        device_id: facts.device_id.unwrap_or(0) as u16,
        revision: facts.revision.unwrap_or(0),
        enhanced_port0: facts.enhanced_port0.unwrap_or(false),
        ports: (0..=count).map(|number| build_port(fabric, id, number, best)).collect(),
        tables: DeviceTables::default(),
        silent: !facts.answered,
        optimized_lanes: false,
        adaptive: AdaptiveProfile::default(),
        port_info_form: PortInfoForm::default(),
        port_states: PortStatesForm::default(),
        wire: WireProfile::default(),
        partitions: PartitionProfile::default(),
        labels: LabelProfile::default(),
        groups: Default::default(),
    }
}

fn build_port(fabric: &Fabric, id: NodeId, number: u8, best: LinkSpeed) -> PortModel {
    let node = &fabric.node(id).facts;
    let port = fabric.port_of(id, PortNum(number)).map(|port| fabric.port(port));
    let facts = port.map(|port| port.facts.clone()).unwrap_or_default();
    let peer = port.and_then(|port| port.peer).map(|peer| fabric.port(peer));
    let (state, physical) = port_states(port, node.kind == NodeKind::Switch && number == 0);
    let own_guid = match node.kind {
        NodeKind::Switch => node.guid,
        _ => Guid(node.guid.0.wrapping_add(number.into())),
    };
    let width = facts.width.unwrap_or(LinkWidth::X4);
    let four = LinkWidth::X4;
    let width_best = facts.width_supported.unwrap_or(if width.lanes() > four.lanes() { width } else { four });
    let speed = facts.speed.unwrap_or(best);
    let lanes = facts.lanes_supported.unwrap_or(DEFAULT_LANES);
    PortModel {
        guid: facts.guid.unwrap_or(own_guid),
        lid: facts.lid,
        lmc: facts.lmc,
        state,
        physical,
        width,
        width_best,
        speed,
        speed_best: facts.speed_supported.unwrap_or(best),
        lanes,
        operational_lanes: facts.operational_lanes.unwrap_or(lanes),
        peer: peer.map(|peer| (peer.node.0, peer.number.value())),
        key: KeyGuard::default(),
        arbitration: None,
        keys: None,
    }
}

/// The states that the fabric states; by default a cabled port is active, and one without a cable polls.
fn port_states(port: Option<&Port>, management: bool) -> (PortState, PhysicalState) {
    let facts = port.map(|port| (port.facts.state, port.facts.physical_state)).unwrap_or_default();
    let cabled = management || port.is_some_and(|port| port.peer.is_some());
    let (state, physical) = match cabled {
        true => (PortState::Active, PhysicalState::LinkUp),
        false => (PortState::Down, PhysicalState::Polling),
    };
    let said = facts.0.unwrap_or(state);
    let down = said == PortState::Down;
    let follows = if down && physical == PhysicalState::LinkUp { PhysicalState::Polling } else { physical };
    (said, facts.1.unwrap_or(follows))
}

/// Copies the tables of a source into the devices.
pub fn load_tables(devices: &mut [SimulatedDevice], tables: &Tables) {
    let mut maker = TableMaker::default();
    for (id, held) in &tables.nodes {
        let Some(device) = devices.get_mut(id.index()) else { continue };
        if let Some(lft) = &held.lft {
            let top = lft.routed_lids().last().map_or(0, |(lid, _)| lid.value());
            device.tables.linear_top = top;
            device.tables.linear = maker.make_table(lft.bytes());
        }
        for (group, ports) in held.mft.iter().flat_map(|mft| &mft.groups) {
            add_group_ports(&mut device.tables, *group, ports);
        }
        for ((from, to), lanes) in &held.sl2vl {
            device.tables.lanes.insert((from.value(), to.value()), *lanes);
        }
        for (port, arbitration) in &held.arbitration {
            // Tables of an adapter are stored under port 0, whichever of its ports they are for.
            let number = if device.is_switch() { port.value() } else { port.value().max(1) };
            if let Some(socket) = device.port_mut(number) {
                socket.arbitration = Some(Box::new(ArbitrationTables {
                    high_limit: arbitration.high_limit,
                    high: arbitration.high.clone(),
                    low: arbitration.low.clone(),
                }));
            }
        }
    }
}

/// Adds ports to a multicast group.
pub fn add_group_ports(tables: &mut DeviceTables, group: u16, ports: &[PortNum]) {
    let Some(entry) = group.checked_sub(FIRST_GROUP) else { return };
    for port in ports {
        let position = port.value() / 16;
        let block = tables.multicast.entry((entry / 32, position)).or_insert([0; 32]);
        block[usize::from(entry % 32)] |= 1 << (port.value() % 16);
    }
}
