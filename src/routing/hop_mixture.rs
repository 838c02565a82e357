//! Dependencies of packets that meet old and new entries on one path, where switches map a service level to different
//! lanes on the way. A switch may have its old SL2VL table or its new one, whatever its forwarding entry.

use rayon::prelude::*;

use super::certificate::hop_lanes::{dependency_cycle, lane_tables_of, levels_of};
use super::certificate::lane_dependencies::LaneDependencies;
use super::certificate::service::{lane_count, sources};
use super::certificate::{CreditLoop, DependencyCycle, LaneMapping};
use super::problem::{Destination, Problem};
use super::trees::{NextHop, PortMap};
use fabdeck_fabric::{ChannelId, Lane, Lid, PortNum, Routes, ServiceLevels, Tables};

/// The step at which a switch gets its new entry for a LID; `None` when the entry does not change.
pub type UpdateRank<'r> = dyn Fn(u32, Lid) -> Option<u32> + Sync + 'r;

/// Service levels that there are.
const LEVELS: usize = 16;

/// A credit loop of packets on any mixture of old and new entries, tables and levels. The rank is that of
/// [`find_mixture_cycles`](super::mixture::find_mixture_cycles).
pub(super) fn find_hop_cycle(
    problem: &Problem<'_>,
    routes: [&Routes; 2],
    switches: bool,
    rank: Option<&UpdateRank<'_>>,
) -> Option<DependencyCycle> {
    let none = Tables::default();
    let mappings = routes.map(|routes| LaneMapping::new(problem, lane_tables_of(routes).unwrap_or(&none)));
    let levels = routes.map(levels_of);
    let used = levels.iter().fold(0, |bits, levels| bits | levels.all_bits());
    let used: Vec<u8> = (0..LEVELS as u8).filter(|level| used >> level & 1 == 1).collect();
    let lanes = mappings.iter().map(|mapping| lane_count(problem, mapping, &used)).max().unwrap_or(1);
    let search = HopSearch {
        problem,
        table: PortMap::new(&problem.graph),
        routes,
        mappings: &mappings,
        levels: &levels,
        switches,
        dependencies: LaneDependencies::new(&problem.graph, lanes),
        rank,
    };
    let ends: Vec<(u32, Destination)> = problem
        .switches()
        .flat_map(|root| problem.destinations_behind(root).iter().map(move |end| (root, *end)))
        .filter(|(_, end)| switches || !end.is_switch())
        .collect();
    let buffer = || vec![[0u16; LEVELS]; problem.graph.channels().len()];
    ends.into_par_iter().for_each_init(buffer, |lanes, (root, end)| search.follow(root, &end, lanes));
    let found = search.dependencies.find_loop(&problem.graph)?;
    let lane = |lane: u8| Lane::new(lane.into()).unwrap_or_default();
    let hops = found.into_iter().map(|(channel, on)| (ChannelId(channel as u32), lane(on))).collect();
    Some(dependency_cycle(&CreditLoop { hops, paths: Vec::new() }))
}

struct HopSearch<'a> {
    problem: &'a Problem<'a>,
    table: PortMap,
    routes: [&'a Routes; 2],
    mappings: &'a [LaneMapping<'a>; 2],
    levels: &'a [ServiceLevels; 2],
    switches: bool,
    dependencies: LaneDependencies,
    rank: Option<&'a UpdateRank<'a>>,
}

/// A channel with a level on it.
type Arrival = (usize, u8);

impl HopSearch<'_> {
    /// Follows all packets to a LID by any mixture of entries. `lanes`: by channel and level the lanes in use, as bits.
    fn follow(&self, root: u32, end: &Destination, lanes: &mut [[u16; LEVELS]]) {
        lanes.fill([0; LEVELS]);
        let mut front: Vec<Arrival> = Vec::new();
        for switch in self.problem.switches().filter(|switch| *switch != root) {
            self.add_sources(switch, end, lanes, &mut front);
        }
        let channels = self.problem.graph.channels();
        while let Some((channel, level)) = front.pop() {
            let (here, on) = (&channels[channel], lanes[channel][usize::from(level)]);
            if here.to == root {
                continue;
            }
            for next in self.next_hops(channel, end).into_iter().flatten() {
                let first = self.problem.graph.outgoing(here.to).start;
                let beyond = first + next.place() as usize;
                let out = channels[beyond].from_port;
                let mut there = self.lanes_at(here.to, here.to_port, out, level);
                self.enter((beyond, level), there, lanes, &mut front);
                while there != 0 {
                    self.dependencies.add((channel, on), next.place(), there.trailing_zeros() as u8);
                    there &= there - 1;
                }
            }
        }
    }

    fn add_sources(
        &self,
        switch: u32,
        end: &Destination,
        lanes: &mut [[u16; LEVELS]],
        front: &mut Vec<Arrival>,
    ) {
        let bits = self.levels.iter().fold(0, |bits, levels| bits | levels.level_bits(switch, end.lid));
        let first = self.problem.graph.outgoing(switch).start;
        let starts = sources(self.problem, &self.mappings[1], switch, self.switches);
        for way in self.ways(switch, end).into_iter().flatten() {
            let channel = first + way.place() as usize;
            let out = self.problem.graph.channels()[channel].from_port;
            for level in (0..LEVELS as u8).filter(|level| bits >> level & 1 == 1) {
                let on =
                    starts.iter().fold(0, |bits, (from, ..)| bits | self.lanes_at(switch, *from, out, level));
                self.enter((channel, level), on, lanes, front);
            }
        }
    }

    fn enter(&self, at: Arrival, on: u16, lanes: &mut [[u16; LEVELS]], front: &mut Vec<Arrival>) {
        let held = &mut lanes[at.0][usize::from(at.1)];
        if *held | on != *held {
            *held |= on;
            front.push(at);
        }
    }

    /// The lanes of a level between two ports by the old table and by the new one.
    fn lanes_at(&self, switch: u32, from: PortNum, to: PortNum, level: u8) -> u16 {
        let hops = self.mappings.iter().map(|mapping| mapping.hop(switch, from, to, level));
        hops.filter(|hop| hop.has_lane).fold(0, |bits, hop| bits | 1 << hop.lane)
    }

    /// Where the old and the new entry of a switch lead.
    fn ways(&self, switch: u32, end: &Destination) -> [Option<NextHop>; 2] {
        self.routes.map(|routes| {
            let port = routes.row(switch).get(end.lid.index()).copied()?;
            self.table.hop(switch, port)
        })
    }

    /// Where a packet that came by a channel may leave. After a new entry it does not meet the old entry of a switch that
    /// was written before.
    fn next_hops(&self, channel: usize, end: &Destination) -> [Option<NextHop>; 2] {
        let graph = &self.problem.graph;
        let here = &graph.channels()[channel];
        let place = (channel - graph.outgoing(here.from).start) as u32;
        let by = |way: Option<NextHop>| way.is_some_and(|way| way.place() == place);
        let [old, new] = self.ways(here.from, end);
        let [before, after] = self.ways(here.to, end);
        let is_new = by(new) && !by(old);
        let is_before = |rank: &UpdateRank<'_>| rank(here.from, end.lid) > rank(here.to, end.lid);
        let past = is_new && before != after && self.rank.is_some_and(is_before);
        [before.filter(|_| !past), after.filter(|_| after != before || past)]
    }
}
