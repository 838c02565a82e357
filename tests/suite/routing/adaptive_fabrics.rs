//! Random small fabrics with random groups: what the certificate over sets is tried on.

use std::sync::Arc;

use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveLft, AdaptiveSettings, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState,
    AdaptiveTables, EntryState, Fabric, FabricBuilder, Faults, Lane, NodeId, PortNum, PortSet, ServiceLevel,
    Sl2Vl, Tables,
};
use fabdeck_routing::Problem;

use super::certificate::Dice;
use super::common::fabric;

/// How groups are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKind {
    /// Ports of paths that go up and then down, by the distance to a root: no choices close a credit loop.
    UpDown,
    /// Ports of shortest paths.
    Shortest,
    /// Ports to switches that a drawn order has nearer to the destination: every choice arrives.
    Descending,
    /// Any ports.
    Any,
}

/// A fabric with tables.
#[derive(Debug)]
pub struct AdaptiveFabric {
    pub name: String,
    pub kind: GroupKind,
    pub fabric: Fabric,
    pub tables: Tables,
}

impl AdaptiveFabric {
    /// The fabric of a seed.
    pub fn random(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let kind = match dice.below(8) {
            0..3 => GroupKind::UpDown,
            3..6 => GroupKind::Shortest,
            6 => GroupKind::Descending,
            _ => GroupKind::Any,
        };
        let name = match dice.below(6) {
            0 => format!("torus,dims={},terminals=2", 3 + dice.below(5)),
            1 => format!("torus,dims={}x{}", 2 + dice.below(3), 3 + dice.below(2)),
            2 => format!("kary,k={},n=2", 2 + dice.below(2)),
            3 => "kary,k=2,n=3".to_owned(),
            _ => {
                let switches = 3 + dice.below(7);
                format!("random,switches={switches},links={},seed={seed}", switches + dice.below(8))
            }
        };
        let fabric = fabric(&name);
        let tables = draw_tables(&fabric, kind, &mut dice);
        Self { name: format!("{name}, {kind:?}, seed {seed}"), kind, fabric, tables }
    }

    /// The fabric of a seed, in which some cables have one lane only.
    pub fn with_narrow_cables(seed: u64) -> Self {
        let mut dice = Dice(!seed);
        let case = Self::random(seed);
        let mut builder = FabricBuilder::from_fabric(&case.fabric);
        for (_, port) in case.fabric.ports().filter(|(_, port)| port.peer.is_some()) {
            if dice.below(12) == 0 {
                builder.port(port.node.into(), port.number).operational_lanes = Some(1);
            }
        }
        Self { fabric: builder.finish(), ..case }
    }
}

fn settings(dice: &mut Dice) -> AdaptiveSettings {
    AdaptiveSettings {
        adaptive: dice.below(8) > 0,
        levels: if dice.below(4) == 0 { dice.below(4) as u16 } else { 0xFFFF },
        fast_recovery: dice.below(3) == 0,
        hash_forwarding: dice.below(4) == 0,
        hash_levels: dice.below(4) as u16,
        sub_groups: 1,
        private_tables: Some(0),
        lane_input: Some(0),
        ..AdaptiveSettings::default()
    }
}

fn draw_tables(fabric: &Fabric, kind: GroupKind, dice: &mut Dice) -> Tables {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let mut tables = Tables::default();
    let ranks = hops_to(&problem, dice.below(problem.graph.switch_count()) as u32);
    let spread = [1, 2, 4][dice.below(3)];
    let stride = fabric.top_lid().map_or(0, |lid| lid.index() + 1);
    let mut held: Vec<(Vec<AdaptiveEntry>, Vec<PortSet>)> =
        problem.switches().map(|_| (vec![AdaptiveEntry::default(); stride], vec![PortSet::EMPTY])).collect();
    for root in problem.switches() {
        let orders = potential(&problem, root, dice);
        for end in problem.destinations_behind(root) {
            for switch in problem.switches() {
                let (entries, groups) = &mut held[switch as usize];
                entries[end.lid.index()] = match switch == root {
                    true => AdaptiveEntry { port: Some(end.port), ..AdaptiveEntry::default() },
                    false => {
                        let all = candidates(&problem, kind, (switch, root), (&ranks, &orders), dice);
                        draw_entry(&all, (groups, spread), kind, dice)
                    }
                };
            }
        }
    }
    let levels = dice.below(3) == 0;
    for (switch, (entries, groups)) in (0u32..).zip(held) {
        let ports = AdaptiveLft::from_entries(&entries, None);
        let node = tables.node_mut(NodeId(switch));
        node.lft = Some(ports.static_ports().clone());
        let in_force = AdaptiveTables { groups, tables: vec![ports], ..AdaptiveTables::default() };
        if dice.below(6) > 0 {
            node.adaptive = Some(AdaptiveSwitch {
                statement: AdaptiveStatement::Stated(settings(dice)),
                tables: AdaptiveTableState::Read(Arc::new(in_force)),
            });
        }
        if levels {
            add_lanes(fabric, switch, &mut tables, dice);
        }
    }
    tables
}

/// SL2VL tables with lanes by the pair of ports.
fn add_lanes(fabric: &Fabric, switch: u32, tables: &mut Tables, dice: &mut Dice) {
    let ports: Vec<PortNum> = fabric.ports_of(NodeId(switch)).map(|(_, port)| port.number).collect();
    for (from, to) in ports.iter().flat_map(|from| ports.iter().map(move |to| (*from, *to))) {
        let mut row = Sl2Vl::default();
        for level in (0..16).filter_map(ServiceLevel::new) {
            row.set(level, Lane::new(dice.below(2) as u32).unwrap());
        }
        tables.node_mut(NodeId(switch)).sl2vl.insert((from, to), row);
    }
}

fn hops_to(problem: &Problem<'_>, root: u32) -> Vec<usize> {
    let mut hops = vec![usize::MAX; problem.graph.switch_count()];
    let mut queue = std::collections::VecDeque::from([root]);
    hops[root as usize] = 0;
    while let Some(at) = queue.pop_front() {
        for channel in &problem.graph.channels()[problem.graph.outgoing(at)] {
            if hops[channel.to as usize] == usize::MAX {
                hops[channel.to as usize] = hops[at as usize] + 1;
                queue.push_back(channel.to);
            }
        }
    }
    hops
}

/// An order in which every switch but the root has a neighbour before it.
fn potential(problem: &Problem<'_>, root: u32, dice: &mut Dice) -> Vec<usize> {
    let mut order = vec![usize::MAX; problem.graph.switch_count()];
    let mut open = vec![root];
    let mut next = 0;
    while !open.is_empty() {
        let at = open.swap_remove(dice.below(open.len()));
        if order[at as usize] != usize::MAX {
            continue;
        }
        order[at as usize] = next;
        next += 1;
        open.extend(problem.graph.channels()[problem.graph.outgoing(at)].iter().map(|channel| channel.to));
    }
    order
}

/// The switches from which only steps down lead to the root.
fn below(problem: &Problem<'_>, root: u32, ranks: &[usize]) -> Vec<bool> {
    let rank = |switch: u32| (ranks[switch as usize], switch);
    let mut reach = vec![false; ranks.len()];
    reach[root as usize] = true;
    let mut order: Vec<u32> = problem.switches().collect();
    order.sort_by_key(|switch| std::cmp::Reverse(rank(*switch)));
    for switch in order {
        let leaving = &problem.graph.channels()[problem.graph.outgoing(switch)];
        reach[switch as usize] |=
            leaving.iter().any(|channel| rank(channel.to) > rank(switch) && reach[channel.to as usize]);
    }
    reach
}

/// The ports of a switch that a kind of group may have.
fn candidates(
    problem: &Problem<'_>,
    kind: GroupKind,
    (switch, root): (u32, u32),
    (ranks, orders): (&[usize], &[usize]),
    dice: &mut Dice,
) -> Vec<PortNum> {
    let leaving = &problem.graph.channels()[problem.graph.outgoing(switch)];
    let rank = |switch: u32| (ranks[switch as usize], switch);
    let fits: Box<dyn Fn(u32) -> bool> = match kind {
        GroupKind::UpDown => {
            let reach = below(problem, root, ranks);
            let down = reach[switch as usize];
            Box::new(move |to| match down {
                true => rank(to) > rank(switch) && reach[to as usize],
                false => rank(to) < rank(switch),
            })
        }
        GroupKind::Shortest => {
            let hops = hops_to(problem, root);
            Box::new(move |to| hops[to as usize] < hops[switch as usize])
        }
        GroupKind::Descending => Box::new(|to| orders[to as usize] < orders[switch as usize]),
        GroupKind::Any => Box::new(|_| true),
    };
    let mut ports: Vec<PortNum> =
        leaving.iter().filter(|channel| fits(channel.to)).map(|channel| channel.from_port).collect();
    if kind == GroupKind::Any && dice.below(30) == 0 {
        ports.push(PortNum(
            problem.graph.terminals_of(switch).first().map_or(9, |end| end.switch_port.value()),
        ));
    }
    ports
}

fn draw_entry(
    all: &[PortNum],
    (groups, spread): (&mut Vec<PortSet>, usize),
    kind: GroupKind,
    dice: &mut Dice,
) -> AdaptiveEntry {
    if all.is_empty() || (kind == GroupKind::Any && dice.below(40) == 0) {
        return AdaptiveEntry::default();
    }
    let port = Some(all[dice.below(all.len())]);
    let group: PortSet = (0..spread).map(|_| all[dice.below(all.len())]).collect();
    let known = groups.iter().position(|known| *known == group);
    let number = known.unwrap_or(groups.len());
    if known.is_none() {
        groups.push(group);
    }
    let state = EntryState::ALL[[1, 1, 1, 1, 0, 2, 3][dice.below(7)]];
    AdaptiveEntry { port, state, group: number as u16 }
}
