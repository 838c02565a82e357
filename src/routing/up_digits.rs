//! Routes on trees by digits of a number (MLID paper, 4.3; destination-mod-k): each height of the tree reads one digit,
//! which selects the way up. `mlid` takes the offset of a LID as the number, `dmodk` the number of the destination.

use rayon::prelude::*;

use super::engine::{EngineRefusal, Request, RouteProgress};
use super::host_places::HostPlaces;
use super::problem::Problem;
use super::ranks;
use super::sftree::subtree_roots;
use super::updown::{LengthTable, UpDownOrder};
use fabdeck_fabric::{Faults, Lid, NodeId, PortNum, Routes, SwitchGraph};

/// The LMC of a port with a LID for each of some paths.
pub(super) fn lmc_for(paths: u64) -> u32 {
    paths.max(1).next_power_of_two().trailing_zeros()
}

/// How hosts get more LIDs.
pub(super) fn lmc_advice(lmc: impl std::fmt::Display) -> String {
    format!("give hosts 2^{lmc} LIDs (OpenSM: lmc {lmc}; sim: ,lmc={lmc})")
}

/// What is known before any table is written.
pub(super) struct DigitTree<'p> {
    problem: &'p Problem<'p>,
    /// Of the fabric without its faults, as the weights are: so a failure moves the paths that it cuts, and no other.
    pub intact_height: Vec<u32>,
    order: UpDownOrder,
    lengths: LengthTable,
    pub places: HostPlaces,
    /// By height: the product of the most ways up of the switches below. The last one counts all paths up.
    weights: Vec<u64>,
    /// How the heights were found.
    pub remark: String,
}

/// By which levels paths go up and down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TreeLevels {
    /// Those of what is left, which serve it best.
    Left,
    /// Those of the fabric without its faults, for routes that have other paths by these levels: two ideas of up and down
    /// could close a credit loop.
    Whole,
}

/// A LID with the number whose digits select its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NumberedLid {
    pub lid: Lid,
    /// Of its switch.
    pub port: PortNum,
    pub number: u64,
}

/// What the number of a LID is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PathNumber {
    /// The offset of the LID. With fewer LIDs than paths up destinations share what sources cannot.
    Offset,
    /// The number of the destination.
    Destination,
}

impl PathNumber {
    /// The number of a LID with an offset among the `lids` of a port, of `paths` ways up.
    fn number(self, offset: u64, lids: u64, destination: u64, paths: u64) -> u64 {
        match self {
            Self::Destination => destination % paths,
            Self::Offset if lids < paths => offset + lids * (destination % paths.div_ceil(lids)),
            Self::Offset => offset % paths,
        }
    }
}

impl<'p> DigitTree<'p> {
    /// Finds heights and ways up; refuses what is no tree.
    pub fn new(
        engine: &'static str,
        problem: &'p Problem<'p>,
        request: &Request,
        levels: TreeLevels,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let found = ranks::find_ranks(engine, problem, request)?;
        pulse.check_cancelled()?;
        // Digits are those of the fabric without its faults, so that a mark moves as few paths as can be.
        let none = Faults::new();
        let intact = Problem::new(problem.fabric, &none);
        let intact_height = match ranks::find_ranks(engine, &intact, request) {
            Ok(ranks) if !problem.faults.is_empty() => ranks.height,
            _ => found.height.clone(),
        };
        let weights = up_weights(&intact.graph, &intact_height);
        let levels = if levels == TreeLevels::Whole { &intact_height } else { &found.height };
        let mut order = UpDownOrder::new(&problem.graph, levels, false);
        // What has no way up and down goes by the subtrees of `sftree`.
        let roots = subtree_roots(problem, request, &order);
        order.connect_all(&problem.graph, &roots);
        let lengths = LengthTable::new(&order, pulse)?;
        let places = HostPlaces::new(problem);
        let remark = found.remark;
        Ok(Self { problem, intact_height, order, lengths, places, weights, remark })
    }

    /// The number of paths up from the bottom to the top.
    pub fn paths_up(&self) -> u64 {
        self.weights.last().copied().unwrap_or(1)
    }

    /// The LIDs of all hosts and switches with their numbers, switch by switch.
    pub fn numbered_lids(&self, by: PathNumber) -> Vec<Vec<NumberedLid>> {
        let (fabric, graph) = (self.problem.fabric, &self.problem.graph);
        let paths = self.paths_up();
        self.problem
            .switches()
            .map(|switch| {
                let mut lids = Vec::new();
                if !graph.is_alive(switch) {
                    return lids;
                }
                let mut add = |base: Option<Lid>, count: u16, port: PortNum, place: u32| {
                    let Some(base) = base else { return };
                    lids.extend((0..count).filter_map(|offset| {
                        let lid = Lid::new(u32::from(base.value()) + u32::from(offset))?;
                        let number = by.number(offset.into(), count.into(), place.into(), paths);
                        Some(NumberedLid { lid, port, number })
                    }));
                };
                if let Some(own) = fabric.port_of(NodeId(switch), PortNum::MANAGEMENT) {
                    let facts = &fabric.port(own).facts;
                    add(facts.lid, facts.lmc.lid_count(), PortNum::MANAGEMENT, switch);
                }
                for end in graph.terminals_of(switch) {
                    let place = self.places.number(switch, end.port).unwrap_or(switch);
                    add(end.lid, end.lmc.lid_count(), end.switch_port, place);
                }
                lids
            })
            .collect()
    }

    /// Fills all tables.
    pub fn route(&self, by: PathNumber, pulse: &dyn RouteProgress) -> Result<Routes, EngineRefusal> {
        let lids = self.numbered_lids(by);
        let mut routes = self.problem.empty_routes();
        let stride = routes.stride().max(1);
        routes.entries_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
            if self.problem.graph.is_alive(switch as u32) && !pulse.is_cancelled() {
                self.write_row(switch as u32, &lids, row);
            }
        });
        pulse.check_cancelled().map(|()| routes)
    }

    fn write_row(&self, switch: u32, lids: &[Vec<NumberedLid>], row: &mut [u8]) {
        let order = &self.order;
        let mut hops = Vec::new();
        for (to, ends) in (0u32..).zip(lids) {
            if to == switch {
                ends.iter().for_each(|end| row[end.lid.index()] = end.port.value());
                continue;
            }
            if ends.is_empty() || order.part[to as usize] != order.part[switch as usize] {
                continue;
            }
            let graft = order.graft_port(&self.problem.graph, switch, to).or_else(|| {
                let target = order.attach[to as usize];
                self.lengths.shortest_hops(order, switch, target, &mut hops);
                let channel = order.graft_channel(switch).filter(|_| hops.is_empty())?;
                Some(self.problem.graph.channel(channel).from_port.value())
            });
            for end in ends {
                let port = graft.or_else(|| self.select_hop(switch, &hops, end.number));
                if let Some(port) = port {
                    row[end.lid.index()] = port;
                }
            }
        }
    }

    /// Which of the hops that begin a shortest path a number takes: the digit of this height on the way up. Among
    /// parallel cables down, the cable that the same number takes up.
    fn select_hop(&self, switch: u32, hops: &[u8], number: u64) -> Option<u8> {
        let all = self.order.hops(switch);
        let hop = |place: &u8| all.get(usize::from(*place));
        let [first, ..] = hops else { return None };
        if hops.len() == 1 {
            return hop(first).map(|hop| hop.port);
        }
        let rises = |place: &u8| hop(place).is_some_and(|hop| self.is_up(switch, hop.to));
        let below = hop(first)?.to;
        let lower = if hops.iter().any(rises) { switch } else { below };
        let digit = (number / self.weight(self.intact_height[lower as usize])) as usize;
        if !rises(first) && hops.iter().all(|place| hop(place).is_some_and(|hop| hop.to == below)) {
            let ups = self.order.up_hops(below);
            let graph = &self.problem.graph;
            let reverse = ups.get(digit % ups.len().max(1)).and_then(|up| {
                let channel = &graph.channels()[up.channel as usize];
                (channel.to == switch).then_some(channel.to_port.value())
            });
            if let Some(port) =
                reverse.filter(|port| hops.iter().filter_map(hop).any(|hop| hop.port == *port))
            {
                return Some(port);
            }
        }
        hops.get(digit % hops.len()).and_then(hop).map(|hop| hop.port)
    }

    fn is_up(&self, from: u32, to: u32) -> bool {
        self.intact_height[to as usize] > self.intact_height[from as usize]
    }

    fn weight(&self, height: u32) -> u64 {
        self.weights.get(height as usize).copied().unwrap_or_else(|| self.paths_up()).max(1)
    }
}

/// By height the product of the most ways up of the switches below.
fn up_weights(graph: &SwitchGraph, height: &[u32]) -> Vec<u64> {
    let mut ways = vec![0u64; graph.switch_count()];
    let mut most: Vec<u64> = Vec::new();
    for channel in graph.channels() {
        let (from, to) = (height[channel.from as usize] as usize, height[channel.to as usize] as usize);
        if to > from {
            let ways = &mut ways[channel.from as usize];
            *ways += 1;
            most.resize(most.len().max(from + 1), 1);
            most[from] = most[from].max(*ways);
        }
    }
    let mut weights = vec![1u64];
    for ways in most {
        let last = weights.last().copied().unwrap_or(1);
        weights.push(last.saturating_mul(ways));
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric};

    /// The ports by which shortest paths to another switch begin.
    fn ways(tree: &DigitTree<'_>, from: u32, to: u32) -> Vec<u8> {
        let mut hops = Vec::new();
        tree.lengths.shortest_hops(&tree.order, from, tree.order.attach[to as usize], &mut hops);
        hops.iter()
            .filter_map(|place| tree.order.hops(from).get(usize::from(*place)))
            .map(|hop| hop.port)
            .collect()
    }

    /// Marks some switches and links between switches.
    fn marked(fabric: &Fabric, seed: usize) -> Faults {
        let mut faults = Faults::new();
        let links: Vec<_> =
            fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
        for at in 0..seed % 7 {
            faults.mark(ElementId::Link(links[(seed * 131 + at * 977) % links.len()]));
        }
        let switches: Vec<NodeId> = fabric.switches().map(|(id, _)| id).collect();
        for at in 0..1 + seed % 5 {
            faults.mark(ElementId::Node(switches[(seed * 7 + at * 29) % switches.len()]));
        }
        faults
    }

    /// Failures can change the heights that are found. Where the ways of a switch are as before, so are its entries.
    #[test]
    fn entries_stay_where_failures_change_heights_but_not_the_ways() {
        let (request, mut lower, mut compared) = (Request::default(), 0, 0);
        for (name, seed) in ["kary,k=2,n=4", "xgft,m=4x3x2,w=1x2x3", "kary,k=3,n=3", "kary,k=2,n=3"]
            .into_iter()
            .flat_map(|name| (0..60).map(move |seed| (name, seed)))
        {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let (none, faults) = (Faults::new(), marked(&fabric, seed));
            let (intact, broken) = (Problem::new(&fabric, &none), Problem::new(&fabric, &faults));
            let Ok(found) = ranks::find_ranks("dmodk", &broken, &request) else { continue };
            let [whole, rest] = [&intact, &broken].map(|problem| {
                DigitTree::new("dmodk", problem, &request, TreeLevels::Left, &NoProgress).unwrap()
            });
            let alive: Vec<u32> = broken.switches().filter(|at| broken.graph.is_alive(*at)).collect();
            if alive.iter().all(|at| found.height[*at as usize] == whole.intact_height[*at as usize]) {
                continue;
            }
            lower += 1;
            let [before, after] =
                [&whole, &rest].map(|tree| tree.route(PathNumber::Destination, &NoProgress).unwrap());
            for (from, to) in alive.iter().flat_map(|from| alive.iter().map(move |to| (*from, *to))) {
                let same = ways(&whole, from, to);
                if from == to || same.is_empty() || same != ways(&rest, from, to) {
                    continue;
                }
                for end in broken.destinations_behind(to) {
                    let ports = [&before, &after].map(|routes| routes.get(from, end.lid));
                    assert_eq!(ports[0], ports[1], "{name} {seed}: {from} to LID {}", end.lid);
                    compared += 1;
                }
            }
        }
        assert!(lower > 5 && compared > 1_000, "{lower} with other heights, {compared} entries");
    }
}
