//! Fills the tables, a switch at a time: of the hops that begin a shortest path of the order, the one that leads to the
//! destination's main path, else the one that this switch has used least.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::lengths::{BLOCK_WIDTH, LengthTable, NO_LENGTH};
use super::main_paths::{DestinationGroup, MainPaths};
use super::tie_break::{TieBreak, TieBreaks};
use super::updown_order::UpDownOrder;
use super::upward_reach::UpwardReach;
use crate::engine::{EngineRefusal, Request, RouteProgress};
use crate::problem::Problem;
use fabdeck_fabric::Routes;

pub(in super::super) fn fill_tables(
    problem: &Problem<'_>,
    order: &UpDownOrder,
    ties: TieBreaks,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<Routes, EngineRefusal> {
    let lengths = LengthTable::new(order, pulse)?;
    let ladders = MainPaths::new(problem, order, ties, request);
    let mut routes = problem.empty_routes();
    let (stride, switches) = (routes.stride().max(1), problem.graph.switch_count());
    let done = AtomicUsize::new(0);
    let rows = routes.entries_mut().par_chunks_exact_mut(stride).enumerate();
    rows.for_each_init(
        || UpwardReach::new(switches),
        |reach, (switch, row)| {
            if !problem.graph.is_alive(switch as u32) || pulse.is_cancelled() {
                return;
            }
            let seen = if order.graded { Some(reach) } else { None };
            UpDownWriter::new(problem, order, &lengths, &ladders, switch as u32, seen).write(row);
            pulse.report(done.fetch_add(1, Ordering::Relaxed) + 1, switches);
        },
    );
    pulse.check_cancelled().map(|()| routes)
}

/// One row in the making.
struct UpDownWriter<'a> {
    problem: &'a Problem<'a>,
    order: &'a UpDownOrder,
    lengths: &'a LengthTable,
    ladders: &'a MainPaths,
    reach: Option<&'a UpwardReach>,
    switch: u32,
    /// Destinations by hop, in the order of its hops.
    used: Vec<u32>,
    /// All of them.
    taken: usize,
    bottom: bool,
    /// Hops up.
    ups: usize,
    /// Of each hop its port, and whether it leads to an inner switch.
    ports: Vec<u8>,
    inward: Vec<bool>,
    /// Some hop up does.
    rises_inward: bool,
    ways: Vec<u8>,
    /// Which of the ways has its turn.
    turn: usize,
    /// The ways to a block of destinations, a word of bits or more for each, and the block.
    masks: Vec<u64>,
    columns: Vec<u64>,
    block: usize,
}

impl<'a> UpDownWriter<'a> {
    fn new(
        problem: &'a Problem<'a>,
        order: &'a UpDownOrder,
        lengths: &'a LengthTable,
        ladders: &'a MainPaths,
        switch: u32,
        reach: Option<&'a mut UpwardReach>,
    ) -> Self {
        let reach = reach.map(|reach| {
            reach.compute(order, switch);
            &*reach
        });
        let used = vec![0; order.hops(switch).len()];
        Self {
            problem,
            order,
            lengths,
            ladders,
            reach,
            switch,
            used,
            taken: 0,
            bottom: order.down_hops(switch).is_empty(),
            ups: order.up_hops(switch).len(),
            ports: order.hops(switch).iter().map(|hop| hop.port).collect(),
            rises_inward: order.up_hops(switch).iter().any(|hop| order.inner[hop.to as usize]),
            inward: order.hops(switch).iter().map(|hop| order.inner[hop.to as usize]).collect(),
            ways: Vec::new(),
            turn: 0,
            masks: Vec::new(),
            columns: Vec::new(),
            block: usize::MAX,
        }
    }

    fn write(&mut self, row: &mut [u8]) {
        let (order, graph) = (self.order, &self.problem.graph);
        let here = self.switch as usize;
        for group in &self.ladders.groups {
            if group.switch == self.switch {
                for end in &self.ladders.sequence[group.first as usize..group.end as usize] {
                    row[end.lid.index()] = end.port.value();
                }
                continue;
            }
            if order.part[group.switch as usize] != order.part[here] {
                continue;
            }
            let graft = order.graft_port(graph, self.switch, group.switch);
            let target = order.attach[group.switch as usize];
            if let Some(port) = graft {
                self.fill_group(row, group, port);
            } else if self.lengths.down_length(self.switch, target) != NO_LENGTH {
                self.route_down(row, group, target);
            } else if self.lengths.any_length(self.switch, target) != NO_LENGTH {
                self.route_up(row, group, target);
            } else if let Some(channel) = order.graft_channel(self.switch) {
                self.fill_group(row, group, graph.channel(channel).from_port.value());
            }
        }
    }

    fn fill_group(&self, row: &mut [u8], group: &DestinationGroup, port: u8) {
        for end in &self.ladders.sequence[group.first as usize..group.end as usize] {
            row[end.lid.index()] = port;
        }
    }

    fn route_down(&mut self, row: &mut [u8], group: &DestinationGroup, target: u32) {
        let steps = self.lengths.down_length(self.switch, target);
        let plain = !self.order.inner[self.switch as usize];
        let mut searched = false;
        for turn in group.first as usize..group.end as usize {
            let main = self.ladders.port_down(turn, self.switch, steps);
            if let Some(port) = main.filter(|_| plain) {
                row[self.ladders.sequence[turn].lid.index()] = port;
                continue;
            }
            if !std::mem::replace(&mut searched, true) {
                self.find_hops(target, group.tie_break);
            }
            let ports = &self.ports;
            let main = main.and_then(|port| self.ways.iter().find(|way| ports[usize::from(**way)] == port));
            let way = main.copied().or_else(|| self.next_hop());
            self.assign_hop(row, turn, way);
        }
    }

    fn route_up(&mut self, row: &mut [u8], group: &DestinationGroup, target: u32) {
        let length = self.lengths.any_length(self.switch, target);
        let mut searched = false;
        for turn in group.first as usize..group.end as usize {
            let mut way = self.hop_to_main_path(turn, target, length).filter(|way| !self.is_overused(*way));
            if way.is_none() {
                if !std::mem::replace(&mut searched, true) {
                    self.find_hops(target, group.tie_break);
                }
                way = if self.bottom { self.least_used_hop() } else { self.next_hop() };
            }
            self.assign_hop(row, turn, way);
        }
    }

    /// A bottom switch with fewer cables to one core than to others (JuRoPA's racks have one or two to each director)
    /// leaves the main path once its hop there carries nearly half more than its hops do on average. On a full tree,
    /// where they differ by one at the most, that never happens.
    fn is_overused(&self, way: u8) -> bool {
        const SLACK: usize = 8;
        let used = self.used[usize::from(way)] as usize;
        self.bottom && used.saturating_sub(SLACK) * 20 * self.ups > 29 * self.taken
    }

    /// A hop up towards the lowest switch of the main path that a shortest path can turn at.
    fn hop_to_main_path(&self, turn: usize, target: u32, length: u16) -> Option<u8> {
        let reach = self.reach?;
        for (rung, switch) in self.ladders.path_switches(turn).iter().enumerate() {
            if *switch == super::updown_order::NONE {
                break;
            }
            let slot = reach.slot(*switch);
            if slot.steps == NO_LENGTH || slot.steps + rung as u16 + 1 != length {
                continue;
            }
            return match slot.single_hop() {
                Some(way) => self.is_as_short(way, target, length).then_some(way),
                None if self.rises_inward => {
                    let stand = reach.hops(slot).iter().filter(|way| self.is_as_short(**way, target, length));
                    least_used(&self.used, stand)
                }
                None => match slot.hop_range() {
                    Some(row) => least_in_row(&self.used, row, self.switch as usize),
                    None => least_used(&self.used, reach.hops(slot).iter()),
                },
            };
        }
        None
    }

    /// Reversed turns can make a way that looks as short longer than it looks.
    #[inline]
    fn is_as_short(&self, way: u8, target: u32, length: u16) -> bool {
        let leads_up = |hop| self.lengths.is_shortest_up(self.order, self.switch, hop, target, length);
        !self.inward[usize::from(way)] || leads_up(&self.order.hops(self.switch)[usize::from(way)])
    }

    fn find_hops(&mut self, target: u32, tie_break: TieBreak) {
        if self.order.inner[self.switch as usize] {
            self.lengths.shortest_hops(self.order, self.switch, target, &mut self.ways);
        } else {
            let (block, column) = (target as usize / BLOCK_WIDTH, target as usize % BLOCK_WIDTH);
            let words = self.ports.len().div_ceil(64).max(1);
            if std::mem::replace(&mut self.block, block) != block {
                self.lengths.hop_masks(self.order, self.switch, block, &mut self.masks);
                transpose_masks(&self.masks, words, &mut self.columns);
            }
            self.ways.clear();
            for (word, bits) in self.columns[column * words..(column + 1) * words].iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    self.ways.push((word * 64) as u8 + bits.trailing_zeros() as u8);
                    bits &= bits - 1;
                }
            }
        }
        if tie_break == TieBreak::Last {
            self.ways.reverse();
        }
        // Off the main paths few packets come by; there the ways just take turns.
        self.turn = (self.switch as usize + self.taken).checked_rem(self.ways.len()).unwrap_or(0);
    }

    fn next_hop(&self) -> Option<u8> {
        self.ways.get(self.turn).copied()
    }

    /// The way used least; among equals switches begin at different ones, lest all choose alike.
    fn least_used_hop(&self) -> Option<u8> {
        let start = (self.switch as usize).checked_rem(self.ways.len())?;
        least_used(&self.used, self.ways[start..].iter().chain(&self.ways[..start]))
    }

    #[inline]
    fn assign_hop(&mut self, row: &mut [u8], turn: usize, way: Option<u8>) {
        let Some(way) = way.map(usize::from) else { return };
        self.used[way] += 1;
        self.taken += 1;
        self.turn += 1;
        if self.turn >= self.ways.len() {
            self.turn = 0;
        }
        row[self.ladders.sequence[turn].lid.index()] = self.ports[way];
    }
}

/// The first of the ways that are used least.
#[inline]
fn least_used<'w>(used: &[u32], ways: impl Iterator<Item = &'w u8>) -> Option<u8> {
    let mut best = None;
    let mut fewest = u32::MAX;
    for way in ways {
        let used = used[usize::from(*way)];
        if used < fewest {
            (fewest, best) = (used, Some(*way));
        }
    }
    best
}

/// The same of all ways in a row, of which the first one tried is chosen by a turn.
#[inline]
fn least_in_row(used: &[u32], row: Range<usize>, turn: usize) -> Option<u8> {
    let (ways, begin) = (&used[row.clone()], turn.checked_rem(row.len())?);
    let fewest = ways.iter().copied().fold(u32::MAX, u32::min);
    let (before, after) = ways.split_at(begin);
    let is_least = |used: &u32| *used == fewest;
    let later = || before.iter().position(is_least);
    let place = after.iter().position(is_least).map(|place| begin + place).or_else(later)?;
    Some((row.start + place) as u8)
}

/// Transposes bits: from one word of destinations for each way to `words` words of ways for each destination.
fn transpose_masks(masks: &[u64], words: usize, columns: &mut Vec<u64>) {
    columns.clear();
    columns.resize(BLOCK_WIDTH * words, 0);
    for (place, mask) in masks.iter().enumerate() {
        let (word, bit, mut mask) = (place / 64, 1 << (place % 64), *mask);
        while mask != 0 {
            columns[mask.trailing_zeros() as usize * words + word] |= bit;
            mask &= mask - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::updown::TieBreak;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Fabric, Faults};

    const TIES: TieBreaks = TieBreaks { adapters: TieBreak::Last, switches: TieBreak::Last };

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    /// Is cancelled once a row was reported.
    #[derive(Default)]
    struct CancelledAfterOne(AtomicUsize);

    impl RouteProgress for CancelledAfterOne {
        fn report(&self, _: usize, _: usize) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 0
        }
    }

    #[test]
    fn no_row_is_written_once_it_is_cancelled() {
        let (fabric, faults, request) = (fabric("torus,dims=4x4"), Faults::default(), Request::default());
        let problem = Problem::new(&fabric, &faults);
        let order = UpDownOrder::new(&problem.graph, &[0; 16], true);
        let pulse = CancelledAfterOne::default();
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let ended = one_thread.install(|| fill_tables(&problem, &order, TIES, &request, &pulse));
        assert!(matches!(ended, Err(EngineRefusal::Cancelled)));
        assert_eq!(pulse.0.into_inner(), 1);
    }

    #[test]
    fn a_hop_of_a_bottom_switch_is_overused_nearly_half_above_the_mean() {
        let (fabric, faults, request) = (fabric("kary,k=2,n=2"), Faults::default(), Request::default());
        let problem = Problem::new(&fabric, &faults);
        let hosts = crate::ranks::hosts(&problem, &request);
        let height: Vec<u32> = hosts.iter().map(|hosts| u32::from(*hosts == 0)).collect();
        let order = UpDownOrder::new(&problem.graph, &height, false);
        let lengths = LengthTable::new(&order, &crate::NoProgress).unwrap();
        let ladders = MainPaths::new(&problem, &order, TIES, &request);
        let is_overused = |switch: usize, used: u32, taken: usize| {
            let mut row = UpDownWriter::new(&problem, &order, &lengths, &ladders, switch as u32, None);
            (row.used[0], row.taken) = (used, taken);
            row.is_overused(0)
        };
        let leaf = hosts.iter().position(|hosts| *hosts > 0).unwrap();
        // With 40 destinations over two hops up the mean is 20, and 29 are half as many more, nearly; 8 are for free.
        assert!(!is_overused(leaf, 37, 40) && is_overused(leaf, 38, 40));
        assert!(!is_overused(leaf, 8, 8) && !is_overused(leaf, 0, 0));
        let root = hosts.iter().position(|hosts| *hosts == 0).unwrap();
        assert!(!is_overused(root, 100, 100));
    }
}
