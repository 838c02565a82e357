//! The lane that a switch puts a packet on, and whether the port there has it: SL2VL tables and operational lanes.

use std::collections::HashMap;

use crate::problem::{DATA_LANES, Problem};
use fabdeck_fabric::{Fabric, NodeId, PortId, PortNum, ServiceLevel, Sl2Vl, Tables};

/// No table was read.
const NO_TABLE: u32 = u32::MAX;

/// The virtual lane of a packet at one hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneHop {
    /// The lane.
    pub lane: u8,
    /// Whether an SL2VL table states it. Without a table the lane is assumed to equal the level.
    pub from_table: bool,
    /// Whether the port has the lane; otherwise the port drops the packet.
    pub has_lane: bool,
}

/// The SL2VL tables of all switches; equal tables are stored once.
#[derive(Debug)]
pub struct LaneMapping<'p> {
    fabric: &'p Fabric,
    tables: &'p Tables,
    /// Where the ports of a switch begin, and how many it has, its own included.
    switches: Vec<(u32, u32)>,
    /// By switch, in port and out port: which of the distinct tables.
    table: Vec<u32>,
    distinct: Vec<Sl2Vl>,
    /// By switch and out port: how many lanes carry data, at both ends of the cable.
    room: Vec<u8>,
    room_of: Vec<u32>,
}

impl<'p> LaneMapping<'p> {
    /// Collects the tables of a problem's switches and adapters.
    pub fn new(problem: &Problem<'p>, tables: &'p Tables) -> Self {
        let fabric = problem.fabric;
        let mut mapping = Self {
            fabric,
            tables,
            switches: Vec::new(),
            table: Vec::new(),
            distinct: Vec::new(),
            room: Vec::new(),
            room_of: Vec::new(),
        };
        let mut known = HashMap::new();
        for (id, _) in fabric.switches() {
            let ports = fabric.ports_of(id).map(|(_, port)| u32::from(port.number.value()) + 1).max();
            mapping.add(id, ports.unwrap_or(1), &mut known);
        }
        mapping
    }

    fn add(&mut self, id: NodeId, ports: u32, known: &mut HashMap<Sl2Vl, u32>) {
        let first = self.table.len();
        self.switches.push((first as u32, ports));
        self.table.resize(first + (ports * ports) as usize, NO_TABLE);
        for ((from, to), row) in self.tables.nodes.get(&id).iter().flat_map(|held| &held.sl2vl) {
            let (from, to) = (u32::from(from.value()), u32::from(to.value()));
            if from < ports && to < ports {
                let at = *known.entry(*row).or_insert_with(|| {
                    self.distinct.push(*row);
                    self.distinct.len() as u32 - 1
                });
                self.table[first + (from * ports + to) as usize] = at;
            }
        }
        self.room_of.push(self.room.len() as u32);
        for port in 0..ports {
            let port = self.fabric.port_of(id, PortNum(port as u8));
            self.room.push(port.map_or(DATA_LANES, |port| data_lane_count(self.fabric, port)));
        }
    }

    /// Whether any switch has an SL2VL table.
    pub fn has_tables(&self) -> bool {
        !self.distinct.is_empty()
    }

    /// The number of the table between two ports; equal tables have equal numbers.
    pub(crate) fn table_number(&self, switch: u32, from: PortNum, to: PortNum) -> u32 {
        let Some((first, ports)) = self.switches.get(switch as usize) else { return NO_TABLE };
        let (from, to) = (u32::from(from.value()), u32::from(to.value()));
        if from >= *ports || to >= *ports {
            return NO_TABLE;
        }
        self.table.get((first + from * ports + to) as usize).copied().unwrap_or(NO_TABLE)
    }

    /// The number of data lanes of a port.
    pub(crate) fn lane_capacity(&self, switch: u32, port: PortNum) -> u8 {
        let Some((_, ports)) = self.switches.get(switch as usize) else { return DATA_LANES };
        let within = u32::from(port.value()) < *ports;
        let at = self.room_of.get(switch as usize).filter(|_| within);
        at.and_then(|at| self.room.get(*at as usize + port.index())).copied().unwrap_or(DATA_LANES)
    }

    /// The lane of a level at an egress port, by the number of a table.
    pub(crate) fn hop_by_table(&self, table: u32, room: u8, level: u8) -> LaneHop {
        let row = self.distinct.get(table as usize);
        let service = ServiceLevel::new(level.into()).unwrap_or_default();
        match row {
            Some(row) => {
                let lane = row.lane(service).value();
                LaneHop { lane, from_table: true, has_lane: lane < room }
            }
            // A port with one lane needs no table.
            None if room == 1 => LaneHop { lane: 0, from_table: true, has_lane: true },
            None => LaneHop { lane: level, from_table: false, has_lane: level < room },
        }
    }

    /// The lane of a packet that crosses a switch.
    pub fn hop(&self, switch: u32, from: PortNum, to: PortNum, level: u8) -> LaneHop {
        self.hop_by_table(self.table_number(switch, from, to), self.lane_capacity(switch, to), level)
    }

    /// The lane of a level, where it is the same at every hop and every port has it.
    pub fn uniform_lane(&self, problem: &Problem<'_>, level: u8) -> Option<u8> {
        let mut lane = None;
        let mut same =
            |hop: LaneHop| hop.from_table && hop.has_lane && *lane.get_or_insert(hop.lane) == hop.lane;
        for switch in problem.switches() {
            let channels = problem.graph.channels()[problem.graph.outgoing(switch)].iter();
            let terminals = problem.graph.terminals_of(switch).iter();
            if terminals.clone().any(|end| self.withheld_levels(end.port) >> level & 1 == 1) {
                return None;
            }
            let ends = terminals.map(|end| end.switch_port);
            let ports: Vec<PortNum> = channels.map(|channel| channel.from_port).chain(ends).collect();
            let inward = std::iter::once(PortNum::MANAGEMENT).chain(ports.iter().copied());
            for from in inward {
                let mut outward = ports.iter().filter(|to| **to != from);
                if !outward.all(|to| same(self.hop(switch, from, *to, level))) {
                    return None;
                }
            }
        }
        lane
    }

    /// The levels that an adapter's port cannot send, as bits.
    pub fn withheld_levels(&self, port: PortId) -> u16 {
        let at = self.fabric.port(port);
        let held = self.tables.nodes.get(&at.node);
        let Some(row) = held.and_then(|held| held.sl2vl.get(&(PortNum::MANAGEMENT, at.number))) else {
            return 0;
        };
        let room = data_lane_count(self.fabric, port);
        let lane = |level: u8| row.lane(ServiceLevel::new(level.into()).unwrap_or_default()).value();
        (0..16).filter(|level| lane(*level) >= room).fold(0, |bits, level| bits | 1 << level)
    }

    /// The lane on which an adapter sends a level.
    pub fn adapter_lane(&self, port: PortId, level: u8) -> u8 {
        let at = self.fabric.port(port);
        let held = self.tables.nodes.get(&at.node);
        let row = held.and_then(|held| held.sl2vl.get(&(PortNum::MANAGEMENT, at.number)));
        let service = ServiceLevel::new(level.into()).unwrap_or_default();
        row.map_or(level, |row| row.lane(service).value())
    }
}

/// The number of data lanes on the cable of a port: the smaller number of its two ends. An end with an unknown
/// number does not limit it.
pub fn data_lane_count(fabric: &Fabric, port: PortId) -> u8 {
    let told = |port: PortId| fabric.port(port).facts.operational_lanes.filter(|lanes| *lanes > 0);
    let ends = [Some(port), fabric.peer(port)];
    ends.into_iter().flatten().filter_map(told).min().unwrap_or(DATA_LANES).min(DATA_LANES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_table_for_a_port_that_the_switch_does_not_have_is_left_out() {
        let fabric = generate(&"torus,dims=3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let (faults, mut tables) = (Faults::default(), Tables::default());
        let problem = Problem::new(&fabric, &faults);
        let (switch, _) = fabric.switches().next().unwrap();
        let top = fabric.ports_of(switch).map(|(_, port)| port.number.value()).max().unwrap();
        let (one, past) = (PortNum(1), PortNum(top + 1));
        for ports in [(one, past), (past, one)] {
            tables.node_mut(switch).sl2vl.insert(ports, Sl2Vl::default());
        }
        assert!(!LaneMapping::new(&problem, &tables).has_tables());
        tables.node_mut(switch).sl2vl.insert((one, PortNum(top)), Sl2Vl::default());
        let mapping = LaneMapping::new(&problem, &tables);
        let all = (0..=top).flat_map(|from| (0..=top).map(move |to| (PortNum(from), PortNum(to))));
        let known: Vec<_> =
            all.filter(|(from, to)| mapping.table_number(switch.0, *from, *to) != NO_TABLE).collect();
        assert_eq!(known, [(one, PortNum(top))]);
    }
}
