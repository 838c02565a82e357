//! The lane of a packet at each port: service levels mapped through compiled SL2VL tables.

use std::collections::HashMap;

use super::error::TrafficError;
use fabdeck_fabric::{Fabric, Lid, NodeId, PortId, PortNum, Routes, ServiceLevels};
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::{LaneMapping, data_lane_count, levels_of};

/// The level has no lane there: the packet is lost.
pub(crate) const NO_LANE: u8 = 0xFF;

/// No row: the lane has the number of the level.
const SAME_AS_LEVEL: u16 = u16::MAX;

/// The lane of each service level.
pub(crate) type LaneRow = [u8; 16];

/// Where the service level of a path comes from.
#[derive(Clone, Debug)]
pub enum LevelSelection {
    /// The lanes of the routes are the service levels; where lanes change on the way, the routes have the levels.
    Routes,
    /// From path records. If sources at a switch differ, the lowest level counts; level 0 without a record.
    Levels(ServiceLevels),
    /// Levels 0 to `count` - 1 in turns, whatever the path: each drawn packet of a source has the next level, and each
    /// flow of a list.
    InTurns { count: u8 },
}

impl LevelSelection {
    /// Refuses more levels in turns than the cables have lanes.
    pub(crate) fn validate(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let Self::InTurns { count } = self else { return Ok(()) };
        let cabled = fabric.ports().filter(|(port, _)| fabric.peer(*port).is_some());
        let least = cabled.map(|(port, _)| data_lane_count(fabric, port)).min();
        if *count == 0 || least.is_some_and(|least| *count > least) {
            return Err(TrafficError::Setting {
                what: "the lanes to spread over",
                value: count.to_string(),
                hint: "give 1 up to the data lanes of the port that has the fewest",
            });
        }
        Ok(())
    }

    /// The level of a path; `turn` counts the packets or the flows that share out levels in turns.
    pub(crate) fn path_level(&self, routes: &Routes, (from, to): (u32, Lid), turn: u32) -> u8 {
        match self {
            Self::InTurns { count } => (turn % u32::from((*count).max(1))) as u8,
            Self::Routes => routes.lane(from, to).value(),
            Self::Levels(levels) => match levels.level_bits(from, to) {
                0 => 0,
                bits => bits.trailing_zeros() as u8,
            },
        }
    }

    /// All levels in use, as bits.
    pub(crate) fn all_levels(&self, routes: &Routes) -> u16 {
        match self {
            Self::Routes if routes.lanes.is_by_hop() => levels_of(routes).all_bits() | 1,
            Self::Routes => ((1u32 << routes.lane_count().min(16)) - 1) as u16,
            Self::Levels(levels) => levels.all_bits() | 1,
            Self::InTurns { count } => ((1u32 << (*count).clamp(1, 16)) - 1) as u16,
        }
    }
}

/// The rows of all switches by in-port and out-port; equal rows are stored once.
#[derive(Debug)]
pub(crate) struct LaneMap {
    rows: Vec<LaneRow>,
    /// Offset of the ports of a switch, and their number.
    switches: Vec<(u32, u32)>,
    /// Row number by switch, in-port and out-port.
    table: Vec<u16>,
}

impl LaneMap {
    /// Compiles the tables. Without SL2VL tables and with equal lane counts one row serves all ports. `turns`: packets
    /// may leave through their in-port, as only static ports of adaptive switches let them.
    pub fn new(problem: &Problem<'_>, mapping: &LaneMapping<'_>, turns: bool) -> Self {
        let mut map = Self { rows: Vec::new(), switches: Vec::new(), table: Vec::new() };
        let mut known: HashMap<LaneRow, u16> = HashMap::new();
        for (id, _) in problem.fabric.switches() {
            let ports = problem.fabric.ports_of(id).map(|(_, port)| u32::from(port.number.value()) + 1).max();
            let ports = ports.unwrap_or(1);
            map.switches.push((map.table.len() as u32, ports));
            for (from, to) in (0..ports).flat_map(|from| (0..ports).map(move |to| (from, to))) {
                let (from, to) = (PortNum(from as u8), PortNum(to as u8));
                // A packet for the switch itself has arrived, on any lane.
                if to == PortNum::MANAGEMENT || (from == to && !turns) {
                    map.table.push(SAME_AS_LEVEL);
                    continue;
                }
                let row = switch_row(mapping, id, from, to);
                let number = *known.entry(row).or_insert_with(|| {
                    map.rows.push(row);
                    (map.rows.len() - 1) as u16
                });
                map.table.push(number);
            }
        }
        map
    }

    pub fn lane(&self, switch: u32, from: u8, to: u8, level: u8) -> u8 {
        if let [row] = self.rows.as_slice() {
            return row[usize::from(level & 0xF)];
        }
        let (first, ports) = self.switches[switch as usize];
        let at = first + u32::from(from) * ports + u32::from(to);
        match self.table[at as usize] {
            SAME_AS_LEVEL => level,
            number => self.rows[usize::from(number)][usize::from(level & 0xF)],
        }
    }

    /// One more than the highest lane that these levels map to, at switches and adapters.
    pub fn lane_count(&self, levels: u16, adapters: &[LaneRow]) -> u8 {
        let used = |row: &LaneRow| {
            let of = (0..16).filter(|level| levels >> level & 1 == 1).map(|level| row[level]);
            of.filter(|lane| *lane != NO_LANE).max()
        };
        self.rows.iter().chain(adapters).filter_map(used).max().map_or(1, |lane| lane + 1)
    }
}

fn switch_row(mapping: &LaneMapping<'_>, switch: NodeId, from: PortNum, to: PortNum) -> LaneRow {
    std::array::from_fn(|level| {
        let hop = mapping.hop(switch.0, from, to, level as u8);
        if hop.has_lane { hop.lane } else { NO_LANE }
    })
}

/// The lanes that an adapter maps its levels to.
pub(crate) fn adapter_row(fabric: &Fabric, mapping: &LaneMapping<'_>, port: PortId) -> LaneRow {
    let held_back = mapping.withheld_levels(port);
    let lanes = data_lane_count(fabric, port);
    std::array::from_fn(|level| {
        let lane = mapping.adapter_lane(port, level as u8);
        // With one lane all levels map to it.
        let lane = if lanes == 1 { 0 } else { lane };
        if held_back >> level & 1 == 1 || lane >= lanes { NO_LANE } else { lane }
    })
}

/// The lane that an adapter maps a level to.
pub(crate) fn lane_of(adapters: &[LaneRow], end: u32, level: u8) -> u8 {
    adapters[end as usize][usize::from(level & 0xF)]
}
