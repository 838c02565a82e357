//! The ports by which packets may leave each switch, prepared for the walk to one destination after the other.

use crate::problem::{Destination, Problem};
use crate::trees::Cause;
use fabdeck_fabric::{EntryState, NodeId, NodeTables, OutputSet, PortNum, PortSet, ServiceLevel, Tables};

/// No channel.
pub const NO_CHANNEL: u32 = u32::MAX;

/// The ports of a switch by what is at their other end.
#[derive(Debug)]
struct SwitchPorts {
    /// Ports to other switches.
    channels: PortSet,
    /// Ports to terminals, and the management port.
    ends: PortSet,
    /// The channel of each port.
    channel_of: Vec<u32>,
    /// The forwarding tables in use: one for a linear switch, otherwise its PLFTs.
    tables: Vec<u8>,
    /// The first column of the switch.
    first: usize,
}

/// Where a packet may go at one switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChoiceExits {
    /// Ports to other switches.
    pub channels: PortSet,
    /// Whether the packet may arrive at its destination.
    pub arrives: bool,
    /// Why some choice loses the packet.
    pub failure: Option<Cause>,
    /// Whether the ingress port matters: some port of the set leads back.
    pub has_ingress: bool,
    /// Whether the packet may go back by the static port.
    pub turns_back: bool,
}

/// The outputs of all switches for one destination and level: a column for each switch and forwarding table in use.
#[derive(Clone, Debug, Default)]
pub struct ChoiceColumn {
    sets: Vec<OutputSet>,
}

/// The switches of a fabric with their tables.
#[derive(Debug)]
pub struct ChoiceSets<'p> {
    problem: &'p Problem<'p>,
    switches: Vec<SwitchPorts>,
    tables: Vec<Option<&'p NodeTables>>,
    columns: usize,
}

impl<'p> ChoiceSets<'p> {
    pub fn new(problem: &'p Problem<'p>, tables: &'p Tables) -> Self {
        let mut sets = Self { problem, switches: Vec::new(), tables: Vec::new(), columns: 0 };
        for switch in problem.switches() {
            let graph = &problem.graph;
            let outgoing = graph.outgoing(switch);
            let leaving = outgoing.clone().map(|at| (at, graph.channels()[at].from_port));
            let top = leaving.clone().map(|(_, port)| port.index() + 1).max().unwrap_or(0);
            let mut channel_of = vec![NO_CHANNEL; top];
            leaving.for_each(|(at, port)| channel_of[port.index()] = at as u32);
            let terminals = graph.terminals_of(switch).iter().map(|terminal| terminal.switch_port);
            let held = tables.nodes.get(&NodeId(switch));
            let in_force = held.and_then(|held| held.adaptive.as_ref()?.tables_in_force());
            let used = in_force.map_or_else(|| vec![0], |(_, tables)| tables.tables_in_use());
            let first = sets.columns;
            sets.columns += used.len();
            sets.tables.push(held);
            sets.switches.push(SwitchPorts {
                channels: graph.channels()[outgoing].iter().map(|channel| channel.from_port).collect(),
                ends: terminals.chain([PortNum::MANAGEMENT]).collect(),
                channel_of,
                tables: used,
                first,
            });
        }
        sets
    }

    /// The channel of a port, [`NO_CHANNEL`] without.
    pub fn channel(&self, switch: u32, port: PortNum) -> u32 {
        self.switches[switch as usize].channel_of.get(port.index()).copied().unwrap_or(NO_CHANNEL)
    }

    /// Fills a column with the outputs for a destination and level.
    pub fn fill_column(&self, end: &Destination, level: ServiceLevel, column: &mut ChoiceColumn) {
        column.sets.clear();
        for (ports, held) in self.switches.iter().zip(&self.tables) {
            let sets = ports.tables.iter().map(|table| {
                held.and_then(|held| held.table_outputs(*table, level, end.lid)).unwrap_or_default()
            });
            column.sets.extend(sets);
        }
    }

    /// Whether the outputs of two columns are equal for packets to destinations at one switch. `sensitive` are the
    /// switches where the static port matters, because packets come in by a port of the set.
    pub fn is_like(
        &self,
        (a, to_a): (&ChoiceColumn, &Destination),
        (b, to_b): (&ChoiceColumn, &Destination),
        root: u32,
        sensitive: &[u32],
    ) -> bool {
        let own = self.columns_of(root);
        let arrives = |column: &ChoiceColumn, end: &Destination| {
            column.sets[own.clone()].iter().all(|set| *set == OutputSet::new(Some(end.port), PortSet::EMPTY))
        };
        if a.sets.len() != b.sets.len() || !arrives(a, to_a) || !arrives(b, to_b) {
            return false;
        }
        let same = |at: usize| own.contains(&at) || a.sets[at].ports == b.sets[at].ports;
        let mut fixed = sensitive.iter().filter(|switch| **switch != root).flat_map(|s| self.columns_of(*s));
        fixed.all(|at| a.sets[at].fixed == b.sets[at].fixed) && (0..a.sets.len()).all(same)
    }

    fn columns_of(&self, switch: u32) -> std::ops::Range<usize> {
        let ports = &self.switches[switch as usize];
        ports.first..ports.first + ports.tables.len()
    }

    /// The outputs of a switch in a column for packets that come in by a port.
    fn set(&self, column: &ChoiceColumn, switch: u32, ingress: PortNum, level: ServiceLevel) -> OutputSet {
        let ports = &self.switches[switch as usize];
        let mut at = ports.first;
        if ports.tables.len() > 1
            && let Some((_, tables)) =
                self.tables[switch as usize].and_then(|held| held.adaptive.as_ref()?.tables_in_force())
        {
            let table = tables.table_number(ingress, level);
            at += ports.tables.binary_search(&table).unwrap_or(0);
        }
        column.sets.get(at).copied().unwrap_or_default()
    }

    /// Where packets to a destination at `root` may go from a switch. Several sources that come in by different ports
    /// have no ingress port in common.
    pub fn exits(
        &self,
        column: &ChoiceColumn,
        (switch, ingress, excludes): (u32, PortNum, bool),
        level: ServiceLevel,
        (root, end): (u32, &Destination),
    ) -> ChoiceExits {
        let ports = &self.switches[switch as usize];
        let all = self.set(column, switch, ingress, level);
        let has_ingress = all.ports.has(ingress);
        let set = if excludes { all.without_ingress(ingress) } else { all };
        let channels = set.ports.intersection(&ports.channels);
        let mut wrong = set.ports.intersection(&ports.ends);
        let arrives = switch == root && wrong.has(end.port);
        if arrives {
            wrong.remove(end.port);
        }
        let failure = if set.ports.is_empty() {
            Some(Cause::NoRoute)
        } else if !wrong.is_empty() || (channels.is_empty() && !arrives) {
            // Ports that are down are no choice now, unless all are.
            Some(Cause::DeadEnd)
        } else {
            None
        };
        ChoiceExits {
            channels,
            arrives,
            failure,
            has_ingress,
            turns_back: excludes && set.turns_back(ingress),
        }
    }

    /// Levels of which each is forwarded differently at some switch.
    pub fn distinct_levels(&self) -> Vec<ServiceLevel> {
        let mut known: Vec<Vec<([bool; 4], Vec<u8>)>> = Vec::new();
        let all = (0..16).filter_map(ServiceLevel::new);
        all.filter(|level| {
            let of = |held: &Option<&NodeTables>| {
                let (settings, tables) = held.and_then(|held| held.adaptive.as_ref()?.tables_in_force())?;
                let of_port = tables.table_of.iter().skip(usize::from(level.value())).step_by(16).copied();
                Some((EntryState::ALL.map(|state| settings.uses_group(state, *level)), of_port.collect()))
            };
            let signature: Vec<_> = self.tables.iter().filter_map(of).collect();
            let fresh = !known.contains(&signature);
            if fresh {
                known.push(signature);
            }
            fresh
        })
        .collect()
    }

    pub fn problem(&self) -> &'p Problem<'p> {
        self.problem
    }
}
