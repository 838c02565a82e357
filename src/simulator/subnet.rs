//! The subnet management agent: what a device answers to Get, does on Set, and how it checks the M_Key.

use zerocopy::{FromZeros, IntoBytes};

use fabdeck_fabric::{Lid, PhysicalState, PortState};
use fabdeck_mad::{
    ExtendedPortInfo, GeneralInfo, HierarchyInfo, LftBlock, Method, MftBlock, NodeDescription, NodeInfo,
    PortInfo, PortInfoExtended, SMP_DATA, SlToVl, SmInfo, Smp, SwitchInfo, attribute,
};

use super::attribute_refusal::AttributeRefusal;
use super::device::{AdaptiveProfile, FIRST_GROUP, KeyGuard, PortModel, PortRef, SimulatedDevice};
use super::hierarchy::hierarchy_info;
use super::label_profile::LabelProfile;
use super::linear_table::BLOCK_ENTRIES;
use super::manager_stand_in;
use super::partition_profile::PartitionProfile;
use super::port_speeds::{PortStatesForm, extended_port_info, has_fdr10, port_states, speed_capabilities};
use super::simulated_fabric::SimulatedFabric;

/// Capacity of a linear forwarding table, in entries.
const LINEAR_TABLE_ENTRIES: u16 = 0xC000;
/// Capacity of a multicast forwarding table, in groups.
const MULTICAST_GROUPS: u16 = 1024;

type AttributeResult = Result<(), AttributeRefusal>;

impl SimulatedFabric {
    /// The answer of a device to a packet that came in at a port. `None`: the device stays silent.
    pub(super) fn answer_subnet(&mut self, at: PortRef, request: &Smp) -> Option<Smp> {
        let method = request.0.method();
        if self.device(at.0).silent || method.is_response() || self.is_ignored(at, request) {
            return None;
        }
        let trusted = self.check_key(at, request)?;
        let mut answer = request.clone();
        let done = match method {
            Method::GET => self.read_attribute(at, &mut answer, trusted),
            Method::SET => {
                self.write_attribute(at, request).and_then(|()| self.read_attribute(at, &mut answer, true))
            }
            _ => Err(AttributeRefusal::UnsupportedMethod),
        };
        let direction = if request.is_directed() { 0x8000 } else { 0 };
        let header = answer.0.header_mut();
        header.method = Method::GET_RESPONSE.0;
        header.status = (direction | done.err().map_or(0, AttributeRefusal::status)).into();
        Some(answer)
    }

    /// Whether the firmware drops requests for some attributes instead of answering "unsupported".
    fn is_ignored(&self, at: PortRef, request: &Smp) -> bool {
        let asked = request.0.header().attribute.get();
        if asked == attribute::SWITCH_PORT_STATES {
            return self.device(at.0).port_states == PortStatesForm::Silent;
        }
        // A port whose manager has ended is one where no program takes the request.
        if asked == attribute::SM_INFO && self.is_manager_port(at) && !self.is_manager_answering() {
            return true;
        }
        // Attributes from here on are those of vendors (IBA 14.2.5).
        let device = self.device(at.0);
        asked >= 0xFF00 && device.adaptive == AdaptiveProfile::Silent
            || asked == attribute::P_KEY_TABLE && device.partitions == PartitionProfile::Silent
            || asked == HierarchyInfo::ATTRIBUTE && device.labels == LabelProfile::Silent
    }

    /// IBA 14.2.4: whether the packet has the right key, or the port none. `None`: the key is wrong; the port counts
    /// that and does not answer.
    fn check_key(&mut self, (node, ingress): PortRef, request: &Smp) -> Option<bool> {
        let device = &mut self.devices[node as usize];
        let managed = device.managed_port(ingress);
        let guard: &mut KeyGuard = &mut device.port_mut(managed)?.key;
        if guard.key == 0 || guard.key == request.m_key() {
            return Some(true);
        }
        if request.0.method() == Method::GET && guard.protect < 2 {
            return Some(false);
        }
        guard.violations = guard.violations.saturating_add(1);
        None
    }

    fn read_attribute(&mut self, at: PortRef, answer: &mut Smp, trusted: bool) -> AttributeResult {
        let header = answer.0.header();
        let (what, modifier) = (header.attribute.get(), header.modifier.get());
        if matches!(what, attribute::LINEAR_FORWARDING | attribute::MULTICAST_FORWARDING) {
            self.fill_tables();
        }
        if matches!(
            what,
            attribute::ADAPTIVE_ROUTING_INFO | attribute::ADAPTIVE_GROUPS | attribute::ADAPTIVE_FORWARDING
        ) {
            self.fill_groups();
        }
        let device = self.device(at.0);
        let data = answer.data_mut::<[u8; SMP_DATA]>();
        data.fill(0);
        match what {
            attribute::NODE_DESCRIPTION => data.copy_from_slice(&device.description.text),
            attribute::NODE_INFO => copy_to_data(data, &node_info(device, at.1)),
            attribute::SWITCH_INFO if device.is_switch() => {
                copy_to_data(data, &switch_info(device, self.routed))
            }
            attribute::SWITCH_PORT_STATES if device.is_switch() => {
                copy_to_data(data, &port_states(device, modifier)?)
            }
            attribute::PORT_INFO => copy_to_data(data, &self.port_info(at, modifier, trusted)?),
            attribute::LINEAR_FORWARDING if device.is_switch() => {
                copy_to_data(data, &linear_block(device, modifier)?)
            }
            attribute::MULTICAST_FORWARDING if device.is_switch() => {
                copy_to_data(data, &multicast_block(device, modifier)?)
            }
            attribute::P_KEY_TABLE => copy_to_data(data, &self.read_key_block(at, modifier)?),
            attribute::SL_TO_VL => copy_to_data(data, &read_sl2vl(device, at.1, modifier)?),
            attribute::VL_ARBITRATION => {
                copy_to_data(data, &super::arbitration::read_block(device, at.1, modifier)?)
            }
            PortInfoExtended::ATTRIBUTE if device.wire.has_details() => {
                copy_to_data(data, &super::wire_values::port_info_extended(device, at.1, modifier)?);
            }
            HierarchyInfo::ATTRIBUTE => copy_to_data(data, &hierarchy_info(device, modifier)?),
            ExtendedPortInfo::ATTRIBUTE if has_fdr10(device) => {
                copy_to_data(data, &extended_port_info(device, modifier)?);
            }
            asked if asked >= 0xFF00 && device.adaptive != AdaptiveProfile::Plain => {
                read_vendor(device, asked, modifier, data)?;
            }
            attribute::SM_INFO if self.is_manager_port(at) => copy_to_data(data, &self.manager_info()),
            _ => return Err(AttributeRefusal::UnsupportedAttribute),
        }
        Ok(())
    }

    fn is_manager_port(&self, (node, ingress): PortRef) -> bool {
        let device = self.device(node);
        node == self.manager.0 && device.managed_port(ingress) == device.managed_port(self.manager.1)
    }

    fn manager_info(&self) -> SmInfo {
        let socket = self.device(self.manager.0).port(self.manager.1);
        let guid = socket.map_or(0, |socket| socket.guid.0);
        let mut info = SmInfo::new_zeroed();
        info.guid = guid.into();
        info.priority_state = manager_stand_in::MANAGER_PRIORITY << 4 | manager_stand_in::MASTER_STATE;
        info
    }

    fn port_info(
        &self,
        (node, ingress): PortRef,
        modifier: u32,
        trusted: bool,
    ) -> Result<PortInfo, AttributeRefusal> {
        let device = self.device(node);
        let asked = (modifier & 0xFF) as u8;
        // 0 means the port where the packet came in, except on a switch.
        let number = if asked == 0 { device.managed_port(ingress) } else { asked };
        let socket = device.port(number).ok_or(AttributeRefusal::InvalidField)?;
        let managed = device.port(device.managed_port(number)).ok_or(AttributeRefusal::InvalidField)?;
        let mut info = PortInfo::new_zeroed();
        info.local_port = if device.is_switch() && ingress == 0 { 0 } else { ingress };
        if number == device.managed_port(number) {
            self.fill_managed(
                &mut info,
                managed,
                trusted,
                self.is_manager_answering() && self.is_manager_port((node, number)),
            );
            let known = speed_capabilities(device);
            info.capability_mask = (info.capability_mask.get() | known.mask).into();
            info.capability_mask2 = known.mask2.into();
        }
        info.set_states(socket.state, socket.physical);
        info.set_width(socket.width, socket.width_best);
        info.set_speed(socket.speed, socket.speed_best);
        device.port_info_form.apply(modifier, &mut info)?;
        info.set_lanes(socket.lanes, socket.operational_lanes);
        self.fill_enforcement((node, number), &mut info);
        (info.arbitration_high_cap, info.arbitration_low_cap) = super::arbitration::TABLE_CAPACITY;
        info.lanes_high_limit = socket.arbitration.as_ref().map_or(0, |tables| tables.high_limit);
        // 4096 bytes, and the service level of the manager in the lower half.
        (info.mtu_sm_sl, info.mtu_cap) = (5 << 4, 5);
        Ok(info)
    }

    /// Fills fields that only the managed port has.
    fn fill_managed(&self, info: &mut PortInfo, socket: &PortModel, trusted: bool, manages: bool) {
        const HAS_SM: u32 = 1 << 1;
        const HAS_TRAPS: u32 = 1 << 3;
        const HAS_SL_MAP: u32 = 1 << 6;
        let shown = trusted || socket.key.protect == 0;
        info.m_key = if shown { socket.key.key } else { 0 }.into();
        info.subnet_prefix = fabdeck_mad::access::DEFAULT_PREFIX.into();
        info.base_lid = socket.lid.map_or(0, Lid::value).into();
        info.master_sm_lid = self.manager_lid().into();
        let manager = if manages { HAS_SM } else { 0 };
        info.capability_mask = (HAS_TRAPS | HAS_SL_MAP | manager).into();
        info.set_lmc(socket.lmc);
        info.set_protect(socket.key.protect);
        info.m_key_violations = socket.key.violations.into();
        info.guid_cap = 1;
    }

    fn write_attribute(&mut self, at: PortRef, request: &Smp) -> AttributeResult {
        let header = request.0.header();
        let (what, modifier) = (header.attribute.get(), header.modifier.get());
        if matches!(
            what,
            attribute::LINEAR_FORWARDING | attribute::MULTICAST_FORWARDING | attribute::SWITCH_INFO
        ) {
            // Computes tables first, so that entries that are not overwritten keep their computed values.
            self.fill_tables();
            self.rewritten |= what == attribute::LINEAR_FORWARDING;
            self.grouped &= what != attribute::LINEAR_FORWARDING;
        }
        self.relaned |= matches!(what, attribute::SL_TO_VL | attribute::VL_ARBITRATION);
        if what == attribute::PORT_INFO {
            let done = self.set_port(at, modifier, request.data());
            let asked = (modifier & 0xFF) as u8;
            let number = if asked == 0 { self.device(at.0).managed_port(at.1) } else { asked };
            self.update_traffic_link((at.0, number));
            return done;
        }
        let device = &mut self.devices[at.0 as usize];
        match what {
            attribute::LINEAR_FORWARDING if device.is_switch() => {
                set_linear(device, modifier, request.data::<LftBlock>())
            }
            attribute::MULTICAST_FORWARDING if device.is_switch() => {
                set_multicast(device, modifier, request.data::<MftBlock>())
            }
            attribute::SWITCH_INFO if device.is_switch() => {
                let wanted = request.data::<SwitchInfo>();
                device.tables.linear_top = wanted.linear_top.get();
                // Writing a one to PortStateChange clears it.
                device.tables.state_change &= !wanted.has_port_state_change();
                Ok(())
            }
            attribute::SL_TO_VL => write_sl2vl(device, at.1, modifier, request.data::<SlToVl>()),
            attribute::VL_ARBITRATION => {
                super::arbitration::write_block(device, at.1, modifier, request.data())
            }
            attribute::NODE_INFO | attribute::NODE_DESCRIPTION => Err(AttributeRefusal::UnsupportedMethod),
            _ => Err(AttributeRefusal::UnsupportedAttribute),
        }
    }

    /// IBA 14.2.5.6: zero in a state changes nothing; the physical state of a port decides about its link.
    fn set_port(&mut self, (node, ingress): PortRef, modifier: u32, wanted: &PortInfo) -> AttributeResult {
        let device = &mut self.devices[node as usize];
        let asked = (modifier & 0xFF) as u8;
        let number = if asked == 0 { device.managed_port(ingress) } else { asked };
        let managed = device.managed_port(number);
        let socket = device.port_mut(number).ok_or(AttributeRefusal::InvalidField)?;
        let peer = socket.peer;
        if number == managed {
            socket.lid = wanted.lid();
            socket.lmc = wanted.lmc();
            (socket.key.key, socket.key.protect) = (wanted.m_key.get(), wanted.protect_lmc >> 6);
        }
        if let Some(lanes) = wanted.operational_lanes() {
            socket.operational_lanes = lanes.min(socket.lanes);
        }
        if socket.arbitration.is_some() || wanted.lanes_high_limit != 0 {
            let held = super::arbitration::tables_mut(socket);
            self.relaned |= held.high_limit != wanted.lanes_high_limit;
            held.high_limit = wanted.lanes_high_limit;
        }
        match wanted.physical_state() {
            Some(PhysicalState::Disabled) => {
                (socket.state, socket.physical) = (PortState::Down, PhysicalState::Disabled);
                self.set_port_changed([Some((node, number)), peer]);
                let far = peer.and_then(|far| self.devices[far.0 as usize].port_mut(far.1));
                if let Some(far) = far.filter(|far| far.physical == PhysicalState::LinkUp) {
                    (far.state, far.physical) = (PortState::Down, PhysicalState::Polling);
                }
            }
            Some(PhysicalState::Polling | PhysicalState::Training) => self.train_link((node, number)),
            _ => {}
        }
        Ok(())
    }

    fn set_port_changed(&mut self, ends: [Option<PortRef>; 2]) {
        for (node, _) in ends.into_iter().flatten() {
            self.devices[node as usize].tables.state_change = true;
        }
    }

    /// Lets a port poll for its peer. If both poll, the link trains, and the manager brings it up.
    fn train_link(&mut self, end: PortRef) {
        let Some(socket) = self.devices[end.0 as usize].port_mut(end.1) else { return };
        (socket.state, socket.physical) = (PortState::Down, PhysicalState::Polling);
        let Some(far) = socket.peer else { return };
        // A peer whose link was up loses it by this, and polls as well.
        let looking = |plug: PortRef, world: &SimulatedFabric| {
            world.device(plug.0).port(plug.1).is_some_and(|socket| {
                matches!(socket.physical, PhysicalState::Polling | PhysicalState::LinkUp)
            })
        };
        if looking(far, self) {
            self.set_port_changed([Some(end), Some(far)]);
            for (node, port) in [end, far] {
                if let Some(socket) = self.devices[node as usize].port_mut(port) {
                    (socket.state, socket.physical) = (PortState::Active, PhysicalState::LinkUp);
                }
            }
        }
    }
}

fn copy_to_data<T: IntoBytes + zerocopy::Immutable>(data: &mut [u8; SMP_DATA], from: &T) {
    let bytes = from.as_bytes();
    data[..bytes.len()].copy_from_slice(bytes);
}

pub(super) fn node_info(device: &SimulatedDevice, ingress: u8) -> NodeInfo {
    let mut info = NodeInfo::new_zeroed();
    (info.base_version, info.class_version) = (1, 1);
    info.node_type = NodeInfo::type_of(device.kind);
    info.port_count = device.port_count();
    info.system_image_guid = device.system_image_guid.0.into();
    info.node_guid = device.guid.0.into();
    info.port_guid =
        device.port(device.managed_port(ingress)).map_or(device.guid.0, |socket| socket.guid.0).into();
    info.partition_capacity = device.partition_capacity().into();
    info.device_id = device.device_id.into();
    info.revision = device.revision.into();
    info.local_port = ingress;
    let [_, a, b, c] = device.vendor_id.to_be_bytes();
    info.vendor_id = [a, b, c];
    info
}

pub(super) fn node_description(device: &SimulatedDevice) -> NodeDescription {
    device.description
}

fn switch_info(device: &SimulatedDevice, routed: bool) -> SwitchInfo {
    let mut info = SwitchInfo::new_zeroed();
    info.linear_capacity = LINEAR_TABLE_ENTRIES.into();
    info.multicast_capacity = MULTICAST_GROUPS.into();
    info.linear_top = device.tables.linear_top.into();
    // A life time of 18, PortStateChange, and whether one SL2VL table can be read for all in-ports.
    info.life_state = 18 << 3 | u8::from(device.tables.state_change) << 2 | u8::from(device.optimized_lanes);
    info.partition_enforcement_capacity = device.partitions.enforcement_capacity().into();
    info.flags = if device.enhanced_port0 { 0x08 } else { 0 };
    let blocks = device.tables.multicast.keys().next_back().map(|(block, _)| *block);
    // Tables that are not computed yet will hold one group.
    let last = if routed { blocks } else { Some(0) };
    info.multicast_top = last.map_or(0, |block| FIRST_GROUP + block * 32 + 31).into();
    info
}

/// Attributes of the vendor, of a switch with adaptive routing.
fn read_vendor(
    device: &SimulatedDevice,
    asked: u16,
    modifier: u32,
    data: &mut [u8; SMP_DATA],
) -> AttributeResult {
    match asked {
        attribute::GENERAL_INFO if modifier == GeneralInfo::CAPABILITIES => {
            copy_to_data(data, &device.adaptive.capabilities());
        }
        attribute::GENERAL_INFO => return Err(AttributeRefusal::InvalidField),
        attribute::ADAPTIVE_ROUTING_INFO if device.adaptive == AdaptiveProfile::TablesOnly => {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        attribute::ADAPTIVE_ROUTING_INFO => copy_to_data(data, &device.adaptive_info()),
        attribute::PRIVATE_TABLE_INFO => copy_to_data(data, &device.adaptive.private_table_info()),
        attribute::EXTENDED_NODE_INFO => copy_to_data(data, &device.adaptive.extended_node_info()),
        attribute::PORT_LEVEL_TABLES => copy_to_data(data, &device.port_level_tables(modifier)?),
        attribute::ADAPTIVE_GROUPS => copy_to_data(data, &device.group_block(modifier)?),
        attribute::ADAPTIVE_FORWARDING => copy_to_data(data, &device.adaptive_block(modifier)?),
        _ => return Err(AttributeRefusal::UnsupportedAttribute),
    }
    Ok(())
}

fn linear_block(device: &SimulatedDevice, modifier: u32) -> Result<LftBlock, AttributeRefusal> {
    Ok(LftBlock { ports: device.tables.linear.block(linear_block_number(modifier)?) })
}

fn set_linear(device: &mut SimulatedDevice, modifier: u32, block: &LftBlock) -> AttributeResult {
    device.tables.linear.set_block(linear_block_number(modifier)?, &block.ports);
    Ok(())
}

fn linear_block_number(modifier: u32) -> Result<usize, AttributeRefusal> {
    let number = modifier as usize;
    let held = number < usize::from(LINEAR_TABLE_ENTRIES) / BLOCK_ENTRIES;
    held.then_some(number).ok_or(AttributeRefusal::InvalidField)
}

fn multicast_block(device: &SimulatedDevice, modifier: u32) -> Result<MftBlock, AttributeRefusal> {
    let key = multicast_key(device, modifier)?;
    let masks = device.tables.multicast.get(&key).copied().unwrap_or([0; 32]);
    Ok(MftBlock { masks: masks.map(Into::into) })
}

fn set_multicast(device: &mut SimulatedDevice, modifier: u32, block: &MftBlock) -> AttributeResult {
    let key = multicast_key(device, modifier)?;
    device.tables.multicast.insert(key, block.masks.map(|mask| mask.get()));
    Ok(())
}

fn multicast_key(device: &SimulatedDevice, modifier: u32) -> Result<(u16, u8), AttributeRefusal> {
    let (block, position) = ((modifier & 0x1FF) as u16, (modifier >> 28) as u8);
    let fits = block < MULTICAST_GROUPS / 32 && position <= device.port_count() / 16;
    fits.then_some((block, position)).ok_or(AttributeRefusal::InvalidField)
}

/// Bits of the modifier that address all in-ports and all out-ports.
const ALL_IN: u32 = 0x2_0000;
const ALL_OUT: u32 = 0x1_0000;

fn read_sl2vl(device: &SimulatedDevice, ingress: u8, modifier: u32) -> Result<SlToVl, AttributeRefusal> {
    let (from, to) = sl2vl_ports(device, ingress, modifier);
    if modifier & (ALL_IN | ALL_OUT) != 0 {
        if !device.optimized_lanes || modifier & ALL_OUT != 0 {
            return Err(AttributeRefusal::InvalidField);
        }
        let mut rows = (0..=device.port_count()).map(|from| sl2vl_between(device, from, to));
        let first = rows.next().unwrap_or_default();
        // In-ports with different tables have no common answer.
        return rows
            .all(|row| row == first)
            .then(|| SlToVl::from_table(first))
            .ok_or(AttributeRefusal::InvalidField);
    }
    device.port(to).ok_or(AttributeRefusal::InvalidField)?;
    Ok(SlToVl::from_table(sl2vl_between(device, from, to)))
}

/// The in-port and out-port of a modifier; an adapter has one table for each port, that of the port asked.
fn sl2vl_ports(device: &SimulatedDevice, ingress: u8, modifier: u32) -> (u8, u8) {
    match device.is_switch() {
        true => ((modifier >> 8 & 0xFF) as u8, (modifier & 0xFF) as u8),
        false => (0, ingress),
    }
}

/// The SL2VL table between two ports. By default a service level maps to the lane of its number, modulo the
/// operational lanes.
fn sl2vl_between(device: &SimulatedDevice, from: u8, to: u8) -> fabdeck_fabric::Sl2Vl {
    use fabdeck_fabric::{Lane, ServiceLevel, Sl2Vl};
    if let Some(set) = device.tables.lanes.get(&(from, to)) {
        return *set;
    }
    let lanes = u32::from(device.port(to).map_or(1, |socket| socket.operational_lanes).max(1));
    let mut row = Sl2Vl::default();
    for level in 0..=u32::from(ServiceLevel::MAX) {
        let (Some(level), Some(lane)) = (ServiceLevel::new(level), Lane::new(level % lanes)) else {
            continue;
        };
        row.set(level, lane);
    }
    row
}

fn write_sl2vl(device: &mut SimulatedDevice, ingress: u8, modifier: u32, wanted: &SlToVl) -> AttributeResult {
    let (from, to) = sl2vl_ports(device, ingress, modifier);
    let table = wanted.table();
    if !device.is_switch() {
        device.tables.lanes.insert((0, ingress), table);
        return Ok(());
    }
    if modifier & (ALL_IN | ALL_OUT) != 0 && !device.optimized_lanes {
        return Err(AttributeRefusal::InvalidField);
    }
    let count = device.port_count();
    let all = |wildcard: u32, one: u8| if modifier & wildcard != 0 { 0..=count } else { one..=one };
    let pairs: Vec<(u8, u8)> =
        all(ALL_IN, from).flat_map(|from| all(ALL_OUT, to).map(move |to| (from, to))).collect();
    if pairs.iter().any(|(from, to)| device.port(*from).is_none() || device.port(*to).is_none()) {
        return Err(AttributeRefusal::InvalidField);
    }
    device.tables.lanes.extend(pairs.into_iter().map(|pair| (pair, table)));
    Ok(())
}
