//! The adaptive tables of simulated switches, by their profiles: groups of the ports by which the next switch is as near
//! to the destination as by the port of the linear table.

use std::collections::BTreeMap;

use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveSettings, EntryState, Fabric, Faults, Lid, NO_PATH, PortNum, PortSet, SwitchGraph,
};
use fabdeck_mad::{
    AdaptiveGroupBlock, AdaptiveLftBlock, AdaptiveLftEntry, AdaptiveRoutingInfo, ExtendedNodeInfo,
    GeneralInfo, PortLevelTables, PrivateTableInfo,
};
use fabdeck_routing::Problem;

use super::attribute_refusal::AttributeRefusal;
use super::device::{AdaptiveProfile, SimulatedDevice};

/// The number of groups that a switch has room for.
const GROUP_CAPACITY: u16 = 2048;

/// The service levels from here on use the second private table of a switch that has one.
const SECOND_TABLE_LEVEL: usize = 8;

/// The groups of a switch.
#[derive(Clone, Debug, Default)]
pub struct DeviceGroups {
    groups: Vec<PortSet>,
    /// The group of each LID; none beyond the end.
    group_of: Vec<Option<u16>>,
}

impl DeviceGroups {
    pub(crate) fn set_ports(&mut self, group: usize, ports: PortSet) {
        self.groups.get_mut(group).into_iter().for_each(|held| *held = ports);
    }
}

impl AdaptiveProfile {
    /// What a switch answers to GeneralInfo.
    pub(crate) fn capabilities(self) -> GeneralInfo {
        let info = match self {
            Self::TablesOnly => GeneralInfo::default(),
            _ => GeneralInfo::default().with(GeneralInfo::ADAPTIVE_ROUTING),
        };
        let info = info.with(GeneralInfo::PRIVATE_TABLES).with(GeneralInfo::PORT_LEVEL_TABLES);
        info.with(GeneralInfo::EXTENDED_NODE_INFO)
    }

    fn private_tables(self) -> u8 {
        if matches!(self, Self::TwoTables | Self::TablesOnly) { 2 } else { 0 }
    }

    fn has_tables(self) -> bool {
        !matches!(self, Self::Plain | Self::Off | Self::Silent | Self::Withheld)
    }

    pub(crate) fn private_table_info(self) -> PrivateTableInfo {
        let tables = self.private_tables();
        PrivateTableInfo {
            tables: tables.max(1),
            modes_supported: 1,
            mode: u8::from(tables > 0),
            reserved: 0,
        }
    }

    pub(crate) fn extended_node_info(self) -> ExtendedNodeInfo {
        ExtendedNodeInfo {
            lane_input: u8::from(self == Self::ByLane),
            lane_inputs_supported: 1,
            ..Default::default()
        }
    }

    fn settings(self, groups: &DeviceGroups) -> AdaptiveSettings {
        AdaptiveSettings {
            adaptive: !matches!(self, Self::Off | Self::RecoveryOnly | Self::TablesOnly),
            levels: u16::MAX,
            fast_recovery: self == Self::RecoveryOnly,
            sub_groups: 1,
            group_top: (groups.groups.len().max(1) - 1) as u16,
            ..AdaptiveSettings::default()
        }
    }
}

impl SimulatedDevice {
    pub(crate) fn adaptive_info(&self) -> AdaptiveRoutingInfo {
        let settings = self.adaptive.settings(&self.groups);
        AdaptiveRoutingInfo::from_settings(&settings, GROUP_CAPACITY)
    }

    pub(crate) fn group_block(&self, modifier: u32) -> Result<AdaptiveGroupBlock, AttributeRefusal> {
        let first = (modifier & 0xFFF) as usize * AdaptiveGroupBlock::ENTRIES;
        if !self.adaptive.has_tables() {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        if first >= usize::from(GROUP_CAPACITY) || modifier >> 12 != 0 {
            return Err(AttributeRefusal::InvalidField);
        }
        let mut block = AdaptiveGroupBlock { masks: [[0; 32]; AdaptiveGroupBlock::ENTRIES] };
        for (at, group) in self.groups.groups.iter().skip(first).take(AdaptiveGroupBlock::ENTRIES).enumerate()
        {
            block.set_ports(at, *group);
        }
        Ok(block)
    }

    pub(crate) fn adaptive_block(&self, modifier: u32) -> Result<AdaptiveLftBlock, AttributeRefusal> {
        if !self.adaptive.has_tables() {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        let (table, block) = ((modifier >> 24) as u8, (modifier & 0x00FF_FFFF) as usize);
        let first = block * AdaptiveLftBlock::LIDS;
        if table >= self.adaptive.private_tables().max(1) || first > usize::from(Lid::MAX) {
            return Err(AttributeRefusal::InvalidField);
        }
        let entry = |at: usize| {
            let entry = self.adaptive_entry(table, first + at);
            let packed = AdaptiveLftEntry::encode(entry, 0);
            match self.adaptive {
                AdaptiveProfile::OddPacking => {
                    AdaptiveLftEntry { state: packed.port, port: packed.state, group: packed.group }
                }
                _ => packed,
            }
        };
        Ok(AdaptiveLftBlock { entries: std::array::from_fn(entry) })
    }

    fn adaptive_entry(&self, table: u8, lid: usize) -> AdaptiveEntry {
        let port = self.tables.linear.get(lid).filter(|port| *port != NO_PATH).map(PortNum);
        let grouped = table == 0 && self.adaptive != AdaptiveProfile::TablesOnly;
        let group = self.groups.group_of.get(lid).copied().flatten().filter(|_| grouped);
        let state = match (group, self.adaptive) {
            (None, _) | (_, AdaptiveProfile::RecoveryOnly) => EntryState::Static,
            _ => EntryState::Free,
        };
        AdaptiveEntry { port, state, group: group.unwrap_or(0) }
    }

    pub(crate) fn port_level_tables(&self, modifier: u32) -> Result<PortLevelTables, AttributeRefusal> {
        if self.adaptive.private_tables() == 0 {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        if modifier as usize * PortLevelTables::PORTS > self.ports.len() {
            return Err(AttributeRefusal::InvalidField);
        }
        let row: [u8; 16] = std::array::from_fn(|level| u8::from(level >= SECOND_TABLE_LEVEL));
        Ok(PortLevelTables { tables: [row; PortLevelTables::PORTS] })
    }
}

/// Fills the groups of the switches whose profile has any, by their linear tables.
pub fn fill_groups(fabric: &Fabric, devices: &mut [SimulatedDevice]) {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let adaptive: Vec<u32> =
        problem.switches().filter(|at| devices[*at as usize].adaptive.has_tables()).collect();
    let mut numbers: Vec<BTreeMap<PortSet, u16>> = vec![BTreeMap::new(); adaptive.len()];
    for switch in &adaptive {
        // Entries without a group have group 0, which has no ports.
        devices[*switch as usize].groups =
            DeviceGroups { groups: vec![PortSet::EMPTY], group_of: Vec::new() };
    }
    if adaptive.is_empty() {
        return;
    }
    for root in problem.switches() {
        let hops = hops_to(&problem.graph, root);
        for end in problem.destinations_behind(root) {
            for (switch, known) in adaptive.iter().zip(&mut numbers).filter(|(switch, _)| **switch != root) {
                let device = &mut devices[*switch as usize];
                let Some(group) = group_of(&problem.graph, *switch, &hops, device, end.lid) else { continue };
                let held = &mut device.groups;
                let number = *known.entry(group).or_insert_with(|| {
                    held.groups.push(group);
                    (held.groups.len() - 1) as u16
                });
                if held.group_of.len() <= end.lid.index() {
                    held.group_of.resize(end.lid.index() + 1, None);
                }
                held.group_of[end.lid.index()] = Some(number);
            }
        }
    }
}

/// The ports that lead as near to a destination as the port of the linear table, or all ports to switches.
fn group_of(
    graph: &SwitchGraph,
    switch: u32,
    hops: &[u32],
    device: &SimulatedDevice,
    lid: Lid,
) -> Option<PortSet> {
    let leaving = &graph.channels()[graph.outgoing(switch)];
    let port = device.tables.linear.get(lid.index())?;
    let fixed = leaving.iter().find(|channel| channel.from_port.value() == port)?;
    let all = device.adaptive == AdaptiveProfile::Loop;
    let near = leaving.iter().filter(|channel| all || hops[channel.to as usize] == hops[fixed.to as usize]);
    Some(near.map(|channel| channel.from_port).collect())
}

fn hops_to(graph: &SwitchGraph, root: u32) -> Vec<u32> {
    let mut hops = vec![u32::MAX; graph.switch_count()];
    let mut queue = std::collections::VecDeque::from([root]);
    hops[root as usize] = 0;
    while let Some(at) = queue.pop_front() {
        for channel in &graph.channels()[graph.outgoing(at)] {
            if hops[channel.to as usize] == u32::MAX {
                hops[channel.to as usize] = hops[at as usize] + 1;
                queue.push_back(channel.to);
            }
        }
    }
    hops
}
