//! The lanes that packets really take, hop by hop: a service level, and what each switch makes of it. Packets wait for
//! (channel, lane) pairs, and one whose lane a port on the way does not have is dropped there.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::lane_dependencies::LaneDependencies;
use super::lane_mapping::LaneMapping;
use super::report::DependencyProof;
use crate::engine::{EngineRefusal, RouteProgress};
use crate::problem::{Destination, Problem};
use crate::trees::{Distances, PortMap, RouteTree, TreeReader, switch_batches};
use fabdeck_fabric::{ChannelId, Fabric, Lane, Lid, NodeId, PortId, PortNum, Routes, ServiceLevels};

/// A port without the lane on which paths cross it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingLane {
    /// The port, which drops the packets.
    pub port: PortId,
    /// The lane.
    pub lane: u8,
    /// The number of data lanes of the port.
    pub room: u8,
    /// The number of (source port, LID) whose packets it drops.
    pub paths: u64,
}

/// A credit loop across lanes: (channel, lane) pairs of which each waits for the next, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CreditLoop {
    /// The channels with their lanes.
    pub hops: Vec<(ChannelId, Lane)>,
    /// For each of them a path that uses it and then the next one.
    pub paths: Vec<DependencyProof>,
}

/// The lanes that paths take by their service levels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServiceCertificate {
    /// The lanes in use between switches.
    pub lanes: Vec<u8>,
    /// Ports that drop packets, in the order of the ports.
    pub limits: Vec<MissingLane>,
    /// The number of (source switch, LID) whose level is unknown.
    pub unknown_levels: u64,
    /// Switches on the paths without SL2VL tables.
    pub without_tables: Vec<u32>,
    /// A credit loop, where there is one.
    pub credit_loop: Option<CreditLoop>,
}

impl ServiceCertificate {
    /// Whether the lane of every path is known at every hop.
    pub fn is_complete(&self) -> bool {
        self.unknown_levels == 0 && self.without_tables.is_empty()
    }
}

/// Follows the service levels of all paths through the SL2VL tables.
pub fn certify_service(
    problem: &Problem<'_>,
    routes: &Routes,
    switches: bool,
    mapping: &LaneMapping<'_>,
    levels: &ServiceLevels,
    pulse: &dyn RouteProgress,
) -> Result<ServiceCertificate, EngineRefusal> {
    let paths = ServedPaths { routes, mapping, levels };
    certify_service_together(problem, &[paths], switches, pulse)
}

/// Routes with the lanes that their packets take.
#[derive(Clone, Copy)]
pub(crate) struct ServedPaths<'a> {
    pub routes: &'a Routes,
    pub mapping: &'a LaneMapping<'a>,
    pub levels: &'a ServiceLevels,
}

/// Follows the paths of several sets of routes, whose packets may wait for each other.
pub(crate) fn certify_service_together(
    problem: &Problem<'_>,
    all: &[ServedPaths<'_>],
    switches: bool,
    pulse: &dyn RouteProgress,
) -> Result<ServiceCertificate, EngineRefusal> {
    let table = PortMap::new(&problem.graph);
    let used = |levels: &ServiceLevels| -> Vec<u8> {
        (0..16).filter(|level| levels.all_bits() >> level & 1 == 1).collect()
    };
    let lanes = all.iter().map(|paths| lane_count(problem, paths.mapping, &used(paths.levels)));
    let waits = LaneDependencies::new(&problem.graph, lanes.max().unwrap_or(1));
    let groups: Vec<SourceGroups> =
        all.iter().map(|paths| SourceGroups::new(problem, paths.mapping, switches)).collect();
    let passes: Vec<ServicePass<'_>> = all
        .iter()
        .zip(&groups)
        .map(|(ServedPaths { routes, mapping, levels }, groups)| ServicePass {
            problem,
            routes,
            switches,
            mapping,
            levels,
            table: &table,
            used: used(levels),
            waits: &waits,
            groups,
        })
        .collect();
    let found = passes.iter().map(|pass| {
        let found = switch_batches(problem).into_par_iter().map(|batch| pass.walk_batch(batch, pulse));
        found.reduce(PassResult::default, PassResult::join)
    });
    let found = found.fold(PassResult::default(), PassResult::join);
    pulse.check_cancelled()?;
    let credit_loop = waits.find_loop(&problem.graph).map(|hops| prove_loop(&passes, &hops));
    let limit = |((port, lane), paths): (&(PortId, u8), &u64)| {
        let room = super::lane_mapping::data_lane_count(problem.fabric, *port);
        MissingLane { port: *port, lane: *lane, room, paths: *paths }
    };
    Ok(ServiceCertificate {
        lanes: (0..16).filter(|lane| found.lanes >> lane & 1 == 1).collect(),
        limits: found.limits.iter().map(limit).collect(),
        unknown_levels: found.unsaid,
        without_tables: found.untold.keys().copied().collect(),
        credit_loop,
    })
}

fn prove_loop(passes: &[ServicePass<'_>], hops: &[(usize, u8)]) -> CreditLoop {
    let next = hops.iter().cycle().skip(1);
    let over = |a, b| {
        let mut found = passes.iter().enumerate();
        found.find_map(|(at, pass)| Some(DependencyProof { routes: at, ..pass.find_path_over(a, b)? }))
    };
    let paths = hops.iter().zip(next).filter_map(|(a, b)| over(*a, *b)).collect();
    let named = |(channel, lane): &(usize, u8)| {
        (ChannelId(*channel as u32), Lane::new((*lane).into()).unwrap_or_default())
    };
    CreditLoop { hops: hops.iter().map(named).collect(), paths }
}

/// One more than the highest lane that any of these levels may come to between switches.
pub(crate) fn lane_count(problem: &Problem<'_>, mapping: &LaneMapping<'_>, used: &[u8]) -> u8 {
    let mut top = 0;
    for switch in problem.switches() {
        for channel in &problem.graph.channels()[problem.graph.outgoing(switch)] {
            let others = problem.fabric.ports_of(NodeId(switch)).map(|(_, port)| port.number);
            for from in others {
                let hop = |level: &u8| mapping.hop(switch, from, channel.from_port, *level);
                top = used.iter().map(hop).filter(|hop| hop.has_lane).map(|hop| hop.lane).fold(top, u8::max);
            }
        }
    }
    top + 1
}

/// Sources of a switch that a port treats alike.
#[derive(Clone, Copy, Debug)]
struct SourceGroup {
    table: u32,
    /// The levels that do not leave the adapter.
    held_back: u16,
    /// How many, and the first.
    count: u32,
    port: PortId,
}

/// The groups by switch and out port.
#[derive(Debug)]
struct SourceGroups {
    first: Vec<u32>,
    groups: Vec<Vec<SourceGroup>>,
}

impl SourceGroups {
    fn new(problem: &Problem<'_>, mapping: &LaneMapping<'_>, switches: bool) -> Self {
        let (mut first, mut groups) = (Vec::new(), Vec::new());
        for switch in problem.switches() {
            first.push(groups.len() as u32);
            let sources = sources(problem, mapping, switch, switches);
            let ports =
                problem.fabric.ports_of(NodeId(switch)).map(|(_, port)| port.number.index() + 1).max();
            for out in 0..ports.unwrap_or(1) {
                groups.push(group_sources(mapping, switch, PortNum(out as u8), &sources));
            }
        }
        first.push(groups.len() as u32);
        Self { first, groups }
    }

    fn groups(&self, switch: u32, out: PortNum) -> &[SourceGroup] {
        let at = switch as usize;
        let (Some(first), Some(end)) = (self.first.get(at), self.first.get(at + 1)) else { return &[] };
        let all = self.groups.get(*first as usize..*end as usize).unwrap_or_default();
        all.get(out.index()).map_or(&[], Vec::as_slice)
    }
}

/// What sends from a switch: the port that it comes in by, the levels that it holds back, and its own port.
pub(crate) fn sources(
    problem: &Problem<'_>,
    mapping: &LaneMapping<'_>,
    switch: u32,
    switches: bool,
) -> Vec<(PortNum, u16, PortId)> {
    let terminals = problem.graph.terminals_of(switch).iter().filter(|terminal| terminal.lid.is_some());
    let mut all: Vec<_> = terminals
        .map(|terminal| (terminal.switch_port, mapping.withheld_levels(terminal.port), terminal.port))
        .collect();
    let own = problem.destinations_behind(switch).iter().any(Destination::is_switch);
    let port = problem.fabric.port_of(NodeId(switch), PortNum::MANAGEMENT);
    all.extend(port.filter(|_| switches && own).map(|port| (PortNum::MANAGEMENT, 0, port)));
    all
}

fn group_sources(
    mapping: &LaneMapping<'_>,
    switch: u32,
    out: PortNum,
    sources: &[(PortNum, u16, PortId)],
) -> Vec<SourceGroup> {
    let mut groups: Vec<SourceGroup> = Vec::new();
    // No host sends to itself.
    for (from, held_back, port) in sources.iter().filter(|(from, ..)| *from != out) {
        let table = mapping.table_number(switch, *from, out);
        let same = |group: &&mut SourceGroup| group.table == table && group.held_back == *held_back;
        match groups.iter_mut().find(same) {
            Some(group) => group.count += 1,
            None => groups.push(SourceGroup { table, held_back: *held_back, count: 1, port: *port }),
        }
    }
    groups
}

/// What one pass finds; sums and sets, so that the order of destinations does not show.
#[derive(Default)]
struct PassResult {
    limits: BTreeMap<(PortId, u8), u64>,
    unsaid: u64,
    untold: BTreeMap<u32, ()>,
    lanes: u16,
}

impl PassResult {
    fn join(mut self, other: Self) -> Self {
        for (limit, paths) in other.limits {
            *self.limits.entry(limit).or_default() += paths;
        }
        self.unsaid += other.unsaid;
        self.untold.extend(other.untold);
        self.lanes |= other.lanes;
        self
    }
}

/// What leaves a switch towards a destination on one level: how many paths, and on which lanes, as bits.
#[derive(Clone, Copy, Default)]
struct LevelFlow {
    paths: u64,
    lanes: u16,
}

struct ServicePass<'a> {
    problem: &'a Problem<'a>,
    routes: &'a Routes,
    switches: bool,
    mapping: &'a LaneMapping<'a>,
    levels: &'a ServiceLevels,
    table: &'a PortMap,
    used: Vec<u8>,
    waits: &'a LaneDependencies,
    groups: &'a SourceGroups,
}

impl ServicePass<'_> {
    fn fabric(&self) -> &Fabric {
        self.problem.fabric
    }

    fn walk_batch(&self, roots: std::ops::Range<u32>, pulse: &dyn RouteProgress) -> PassResult {
        let graph = &self.problem.graph;
        let mut found = PassResult::default();
        let near = Distances::measure(graph, roots.clone());
        let mut reader = TreeReader::new(self.problem, self.table, self.routes);
        let mut flows = vec![LevelFlow::default(); graph.switch_count() * self.used.len()];
        for root in roots {
            if pulse.is_cancelled() {
                break;
            }
            let mut wanted = self.problem.destinations_behind(root).to_vec();
            wanted.retain(|end| self.switches || !end.is_switch());
            let never = |_: &Destination, _: &Destination| false;
            reader.read((root, near.row(root)), &wanted, &never, &mut |run, tree| {
                run.iter().for_each(|end| self.walk_tree(end, tree, &mut flows, &mut found));
            });
        }
        found
    }

    /// All paths to one LID, the farthest switch first.
    fn walk_tree(
        &self,
        end: &Destination,
        tree: &RouteTree<'_>,
        flows: &mut [LevelFlow],
        found: &mut PassResult,
    ) {
        let graph = &self.problem.graph;
        flows.fill(LevelFlow::default());
        for switch in tree.order.iter().rev().copied() {
            let channel = (switch != tree.root).then(|| tree.channel(graph, switch));
            let out = channel.map_or(end.port, |channel| graph.channels()[channel].from_port);
            self.add_sources(switch, out, end, flows, found);
            let Some(channel) = channel else { continue };
            let hop = &graph.channels()[channel];
            let beyond = (hop.to != tree.root).then(|| tree.channel(graph, hop.to));
            let next = beyond.map_or(end.port, |channel| graph.channels()[channel].from_port);
            for at in 0..self.used.len() {
                let flow = flows[switch as usize * self.used.len() + at];
                if flow.lanes == 0 {
                    continue;
                }
                found.lanes |= flow.lanes;
                let table = self.mapping.table_number(hop.to, hop.to_port, next);
                let lane = self.enter_port((hop.to, next), table, (at, flow.paths), flows, found);
                if let Some((lane, _)) = lane.zip(beyond) {
                    self.waits.add((channel, flow.lanes), tree.ways[hop.to as usize].place(), lane);
                }
            }
        }
    }

    /// What the sources of a switch send.
    fn add_sources(
        &self,
        switch: u32,
        out: PortNum,
        end: &Destination,
        flows: &mut [LevelFlow],
        found: &mut PassResult,
    ) {
        let groups = self.groups.groups(switch, out);
        let levels = self.levels.level_bits(switch, end.lid);
        if levels == 0 && !groups.is_empty() {
            found.unsaid += 1;
        }
        for group in groups {
            // A path is counted once, whatever else sources of the switch send on.
            let mut paths = u64::from(group.count);
            for (at, level) in self.used.iter().enumerate().filter(|(_, level)| levels >> **level & 1 == 1) {
                if group.held_back >> level & 1 == 1 {
                    let lane = self.mapping.adapter_lane(group.port, *level);
                    *found.limits.entry((group.port, lane)).or_default() += paths;
                } else {
                    self.enter_port((switch, out), group.table, (at, paths), flows, found);
                }
                paths = 0;
            }
        }
    }

    /// Paths come to an out port: the lane that they leave on, or they end there.
    fn enter_port(
        &self,
        (switch, out): (u32, PortNum),
        table: u32,
        (at, paths): (usize, u64),
        flows: &mut [LevelFlow],
        found: &mut PassResult,
    ) -> Option<u8> {
        // What is for the switch itself has arrived.
        if out == PortNum::MANAGEMENT {
            return None;
        }
        let hop = self.mapping.hop_by_table(table, self.mapping.lane_capacity(switch, out), self.used[at]);
        if !hop.from_table {
            found.untold.insert(switch, ());
        }
        if !hop.has_lane {
            let port = self.fabric().port_of(NodeId(switch), out)?;
            *found.limits.entry((port, hop.lane)).or_default() += paths;
            return None;
        }
        let flow = &mut flows[switch as usize * self.used.len() + at];
        flow.paths += paths;
        flow.lanes |= 1 << hop.lane;
        Some(hop.lane)
    }

    /// The first path, by LID and source, that needs one after the other.
    fn find_path_over(&self, a: (usize, u8), b: (usize, u8)) -> Option<DependencyProof> {
        let channels = self.problem.graph.channels();
        let (here, there) = (channels.get(a.0)?, channels.get(b.0)?);
        let (row, next) = (self.routes.row(here.from), self.routes.row(there.from));
        let lids = (0u32..).zip(row.iter().zip(next));
        let fits = lids.filter(|(_, ports)| *ports == (&here.from_port.value(), &there.from_port.value()));
        fits.filter_map(|(lid, _)| Lid::new(lid)).find_map(|lid| {
            let end = self.find_end(lid)?;
            let uses = |source: &u32| {
                let starts = sources(self.problem, self.mapping, *source, self.switches);
                starts.iter().any(|start| self.is_crossed(*source, start, end, a, b))
            };
            let source = self.problem.switches().find(uses)?;
            Some(DependencyProof { source, destination: lid, routes: 0 })
        })
    }

    /// The switch of a LID in scope, and where it leaves it.
    fn find_end(&self, lid: Lid) -> Option<(u32, Destination)> {
        let port = self.fabric().port(self.fabric().port_by_lid(lid)?);
        let node = match self.fabric().node(port.node).is_switch() {
            true => port.node,
            false => self.fabric().port(port.peer?).node,
        };
        let switch = Some(node.0).filter(|_| self.fabric().node(node).is_switch())?;
        let end = self.problem.destinations_behind(switch).iter().find(|end| end.lid == lid)?;
        (self.switches || !end.is_switch()).then_some((switch, *end))
    }

    /// Whether packets of a source need `b` after `a`, on some level that it sends on.
    fn is_crossed(
        &self,
        source: u32,
        (from, held_back, _): &(PortNum, u16, PortId),
        (root, end): (u32, Destination),
        a: (usize, u8),
        b: (usize, u8),
    ) -> bool {
        let levels = self.levels.level_bits(source, end.lid) & !held_back;
        (0..16).filter(|level| levels >> level & 1 == 1).any(|level| {
            let graph = &self.problem.graph;
            let (mut at, mut from, mut last) = (source, *from, None);
            for _ in 0..=graph.switch_count() {
                let Some(out) = self.routes.get(at, end.lid).filter(|out| *out != from) else { return false };
                if at == root {
                    return false;
                }
                let leaving = &graph.channels()[graph.outgoing(at)];
                let Ok(place) = leaving.binary_search_by_key(&out, |channel| channel.from_port) else {
                    return false;
                };
                let hop = self.mapping.hop(at, from, out, level);
                if !hop.has_lane {
                    return false;
                }
                let now = (graph.outgoing(at).start + place, hop.lane);
                if last == Some(a) && now == b {
                    return self.is_arriving(now.0, (root, end));
                }
                last = Some(now);
                (at, from) = (leaving[place].to, leaving[place].to_port);
            }
            false
        })
    }

    /// Whether what is on a channel comes to a LID in the end.
    fn is_arriving(&self, channel: usize, (root, end): (u32, Destination)) -> bool {
        let graph = &self.problem.graph;
        let mut at = graph.channels()[channel].to;
        for _ in 0..=graph.switch_count() {
            let Some(out) = self.routes.get(at, end.lid) else { return false };
            if at == root {
                return out == end.port;
            }
            let leaving = &graph.channels()[graph.outgoing(at)];
            let Ok(place) = leaving.binary_search_by_key(&out, |channel| channel.from_port) else {
                return false;
            };
            at = leaving[place].to;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, ServiceLevel, Tables};

    #[test]
    fn every_path_of_a_credit_loop_takes_its_two_channels_one_after_the_other() {
        let fabric = generate(&"torus,dims=5".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let (faults, tables) = (Faults::default(), Tables::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        let mapping = LaneMapping::new(&problem, &tables);
        let levels = ServiceLevels::One(ServiceLevel::default());
        let found = certify_service(&problem, &routes, false, &mapping, &levels, &NoProgress).unwrap();
        let credit_loop = found.credit_loop.unwrap();
        assert_eq!((credit_loop.hops.len(), credit_loop.paths.len()), (5, 5));
        let (graph, ways) = (&problem.graph, PortMap::new(&problem.graph));
        let next = credit_loop.hops.iter().cycle().skip(1);
        for ((hop, next), path) in credit_loop.hops.iter().zip(next).zip(&credit_loop.paths) {
            let (mut at, mut taken) = (path.source, Vec::new());
            while let Some((channel, to)) = ways.next(graph, &routes, at, path.destination) {
                taken.push(ChannelId(channel as u32));
                at = to;
            }
            assert!(taken.windows(2).any(|pair| pair == [hop.0, next.0]), "{path:?} takes {taken:?}");
        }
    }
}
