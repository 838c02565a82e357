//! The sources of packets at each switch. Sources that every switch port treats alike are one.

use super::choice_sets::ChoiceSets;
use super::lane_mapping::LaneMapping;
use super::service::sources;
use crate::problem::{Destination, Problem};
use fabdeck_fabric::{NodeId, PortId, PortNum, ServiceLevel, Tables};

/// Sources of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChoiceSource {
    pub switch: u32,
    /// The port by which the packets of the first one come in.
    pub ingress: PortNum,
    /// The port of the first one.
    pub port: PortId,
    /// How many there are.
    pub count: u32,
    /// The levels that do not leave the adapter, as bits.
    pub held_back: u16,
}

/// The ports of a switch that send, by how its tables treat them.
#[derive(Debug)]
struct AlikePorts {
    signature: (Vec<u8>, Vec<u32>, u16),
    members: Vec<(PortNum, PortId)>,
}

/// The sources of a fabric.
#[derive(Debug)]
pub struct ChoiceSourceList {
    switches: Vec<Vec<AlikePorts>>,
}

impl ChoiceSourceList {
    pub fn new(
        problem: &Problem<'_>,
        tables: &Tables,
        mapping: &LaneMapping<'_>,
        (switches, one_lane): (bool, bool),
    ) -> Self {
        let of_switch = |switch: u32| {
            let mut groups: Vec<AlikePorts> = Vec::new();
            let outward: Vec<PortNum> =
                problem.fabric.ports_of(NodeId(switch)).map(|(_, port)| port.number).collect();
            let held = tables.nodes.get(&NodeId(switch)).and_then(|held| held.adaptive.as_ref());
            let in_force = held.and_then(|held| held.tables_in_force());
            for (ingress, held_back, port) in sources(problem, mapping, switch, switches) {
                let levels = (0..16).filter_map(ServiceLevel::new);
                let plft = |level| in_force.map_or(0, |(_, tables)| tables.table_number(ingress, level));
                let lanes = match one_lane {
                    true => Vec::new(),
                    false => outward.iter().map(|out| mapping.table_number(switch, ingress, *out)).collect(),
                };
                let held_back = if one_lane { 0 } else { held_back };
                let signature = (levels.map(plft).collect(), lanes, held_back);
                match groups.iter_mut().find(|group| group.signature == signature) {
                    Some(group) => group.members.push((ingress, port)),
                    None => groups.push(AlikePorts { signature, members: vec![(ingress, port)] }),
                }
            }
            groups
        };
        Self { switches: problem.switches().map(of_switch).collect() }
    }

    /// The sources at a switch that send to a destination at `root`. No port sends to itself.
    pub fn senders(
        &self,
        switch: u32,
        (root, end): (u32, &Destination),
    ) -> impl Iterator<Item = ChoiceSource> {
        self.switches[switch as usize].iter().filter_map(move |group| {
            let others = group.members.iter().filter(|(port, _)| switch != root || *port != end.port);
            let count = others.clone().count() as u32;
            let (ingress, port) = *others.clone().next()?;
            Some(ChoiceSource { switch, ingress, port, count, held_back: group.signature.2 })
        })
    }
}

/// The levels that a walk considers.
#[derive(Clone, Copy, Debug)]
pub enum ChoiceLevels<'a> {
    /// The levels of each source and destination.
    Stated(&'a fabdeck_fabric::ServiceLevels),
    /// Any level at any source, with all packets on one lane: what holds then holds for all levels and lanes.
    Every,
}

impl ChoiceLevels<'_> {
    /// The levels of packets to a destination from any switch, as bits; of the switch, where one is given.
    pub fn bits(&self, from: u32, end: &Destination) -> u16 {
        match self {
            Self::Stated(levels) => levels.level_bits(from, end.lid),
            Self::Every => u16::MAX,
        }
    }

    /// Whether the levels of two destinations are equal from every switch.
    pub fn is_like(&self, a: &Destination, b: &Destination) -> bool {
        match self {
            Self::Stated(levels @ fabdeck_fabric::ServiceLevels::ByLid(_)) => {
                levels.level_bits(0, a.lid) == levels.level_bits(0, b.lid)
            }
            Self::Stated(levels) => matches!(levels, fabdeck_fabric::ServiceLevels::One(_)),
            Self::Every => true,
        }
    }

    /// The levels in use, those that are forwarded alike once.
    pub fn in_use(&self, sets: &ChoiceSets<'_>) -> Vec<ServiceLevel> {
        match self {
            Self::Stated(levels) => fabdeck_fabric::levels_in(levels.all_bits()).collect(),
            Self::Every => sets.distinct_levels(),
        }
    }
}
