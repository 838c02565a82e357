//! A quick proof that entries make no credit loop, in whatever mixture packets meet them. Switches have an order, from
//! those with hosts to those farthest from hosts. A credit loop needs a packet that goes up after it went down, and
//! tables of trees have few such turns or none. Entries are read as they lie in memory, row by row.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::certificate::dependencies::DependencyGraph;
use super::problem::Problem;
use super::ranks::heights_above;
use super::trees::{NextHop, PortMap};
use fabdeck_fabric::{Lid, NO_PATH, Routes, SwitchGraph};

/// LIDs that are looked at together: what is kept of them for all switches fits near the processor.
const LIDS_AT_ONCE: usize = 512;

/// Whether no mixture of the entries of some routes can have a credit loop, even if all packets had one lane. `false` says
/// nothing.
pub(super) fn are_entries_free(problem: &Problem<'_>, routes: &[&Routes], switches: bool) -> bool {
    let search = UpwardSearch::new(problem, routes);
    let ends = problem.destinations().iter().filter(|end| switches || !end.is_switch());
    let mut lids: Vec<Lid> = ends.map(|end| end.lid).collect();
    lids.sort_unstable();
    // Where packets go up again at all, they mostly do so on the way to the first LIDs.
    let (first, others) = lids.split_at(lids.len().min(LIDS_AT_ONCE));
    if first.is_empty() {
        return true;
    }
    search.find_upward_turns(first, &mut TurnBuffer::default());
    if !search.is_acyclic() {
        return false;
    }
    let buffer = TurnBuffer::default;
    let blocks = others.par_chunks(LIDS_AT_ONCE);
    blocks.for_each_init(buffer, |buffer, lids| search.find_upward_turns(lids, buffer));
    search.is_acyclic()
}

/// Where a port leads in the order of the switches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PortWay {
    /// To no other switch.
    Elsewhere,
    Up,
    Down,
}

/// What is used over and over for some LIDs.
#[derive(Default)]
struct TurnBuffer {
    /// By switch and LID: whether an entry leads up.
    rises: Vec<bool>,
    ports: Vec<u8>,
}

struct UpwardSearch<'a> {
    graph: &'a SwitchGraph,
    routes: &'a [&'a Routes],
    table: PortMap,
    /// By switch and port number.
    ways: Vec<[PortWay; 256]>,
    /// Channels up behind channels down.
    turns: DependencyGraph,
    has_turns: AtomicBool,
}

/// The height of each switch above those with hosts, and its number: no two are equal.
fn switch_order(graph: &SwitchGraph) -> Vec<(u32, u32)> {
    let with_hosts = (0u32..).zip(graph.senders()).filter(|(_, senders)| *senders > 0);
    let bottom: Vec<u32> = with_hosts.map(|(switch, _)| switch).collect();
    heights_above(graph, &bottom).into_iter().zip(0..).collect()
}

impl<'a> UpwardSearch<'a> {
    fn new(problem: &'a Problem<'_>, routes: &'a [&'a Routes]) -> Self {
        let graph = &problem.graph;
        let order = switch_order(graph);
        let mut ways = vec![[PortWay::Elsewhere; 256]; graph.switch_count()];
        for channel in graph.channels() {
            let up = order[channel.to as usize] > order[channel.from as usize];
            let way = if up { PortWay::Up } else { PortWay::Down };
            ways[channel.from as usize][channel.from_port.index()] = way;
        }
        let (turns, has_turns) = (DependencyGraph::new(graph, 1), AtomicBool::new(false));
        Self { graph, routes, table: PortMap::new(graph), ways, turns, has_turns }
    }

    /// Notes where packets to some LIDs can go up after they went down.
    fn find_upward_turns(&self, lids: &[Lid], buffer: &mut TurnBuffer) {
        let TurnBuffer { rises, ports } = buffer;
        rises.clear();
        rises.resize(self.ways.len() * lids.len(), false);
        for (switch, rises) in rises.chunks_exact_mut(lids.len()).enumerate() {
            let ways = &self.ways[switch];
            let routes = self.routes.iter().filter(|_| ways.contains(&PortWay::Up));
            for row in routes.map(|routes| routes.row(switch as u32)) {
                let both = rises.iter_mut().zip(ports_to(row, lids, ports));
                both.for_each(|(rises, port)| *rises |= ways[usize::from(*port)] == PortWay::Up);
            }
        }
        for (switch, ways) in (0u32..).zip(&self.ways).filter(|(_, ways)| ways.contains(&PortWay::Down)) {
            for routes in self.routes {
                let ports = ports_to(routes.row(switch), lids, ports).iter().zip(lids).enumerate();
                let down = ports.filter(|(_, (port, _))| ways[usize::from(**port)] == PortWay::Down);
                for (at, (port, lid)) in down {
                    let Some(way) = self.table.hop(switch, *port) else { continue };
                    if rises[way.switch() as usize * lids.len() + at] {
                        self.add_turns(switch, way, *lid);
                    }
                }
            }
        }
    }

    /// Notes the turns behind a channel down.
    fn add_turns(&self, switch: u32, way: NextHop, lid: Lid) {
        let (channel, next) = (self.graph.outgoing(switch).start + way.place() as usize, way.switch());
        for routes in self.routes {
            let port = port_of(routes.row(next), lid);
            if self.ways[next as usize][usize::from(port)] == PortWay::Up
                && let Some(up) = self.table.hop(next, port)
            {
                self.turns.add(0, channel, up.place());
                self.has_turns.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Whether the turns close no cycle with all that packets may do that never go up again.
    fn is_acyclic(&self) -> bool {
        if !self.has_turns.load(Ordering::Relaxed) {
            return true;
        }
        let goes = |id: usize| {
            let channel = &self.graph.channels()[id];
            self.ways[channel.from as usize][channel.from_port.index()]
        };
        for (id, channel) in self.graph.channels().iter().enumerate() {
            for (place, next) in (0u32..).zip(self.graph.outgoing(channel.to)) {
                if goes(id) == PortWay::Up || goes(next) == PortWay::Down {
                    self.turns.add(0, id, place);
                }
            }
        }
        self.turns.is_acyclic(self.graph, 0)
    }
}

fn port_of(row: &[u8], lid: Lid) -> u8 {
    row.get(lid.index()).copied().unwrap_or(NO_PATH)
}

/// The entries of a row for some LIDs, ascending: where they lie if none is left out, else copied.
fn ports_to<'r>(row: &'r [u8], lids: &[Lid], ports: &'r mut Vec<u8>) -> &'r [u8] {
    let [Some(first), Some(last)] = [lids.first(), lids.last()] else { return &[] };
    match row.get(first.index()..=last.index()) {
        Some(own) if own.len() == lids.len() => own,
        _ => {
            ports.clear();
            ports.extend(lids.iter().map(|lid| port_of(row, *lid)));
            ports
        }
    }
}
