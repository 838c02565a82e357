//! How long the paths of an order are between every two switches, in blocks of destinations.

use rayon::prelude::*;

use super::updown_order::{OrderHop, UpDownOrder};
use crate::engine::{EngineRefusal, RouteProgress};

/// No path.
pub(super) const NO_LENGTH: u16 = u16::MAX;

/// Destinations of a block. Rows of a block are short enough that all its switches stay near the processor.
pub(super) const BLOCK_WIDTH: usize = 64;

type LengthRow = [u16; BLOCK_WIDTH];

/// Rows by switch, columns by destination.
#[derive(Debug)]
struct LengthBlock {
    /// Going down alone; an inner switch goes to the outside at once if it can.
    down: Vec<LengthRow>,
    any: Vec<LengthRow>,
    /// Of an inner switch: paths that do not begin with a step down to an inner one, which another may go up to take.
    clean: Vec<LengthRow>,
}

#[derive(Debug)]
pub(in super::super) struct LengthTable {
    blocks: Vec<LengthBlock>,
}

impl LengthTable {
    pub fn new(order: &UpDownOrder, pulse: &dyn RouteProgress) -> Result<Self, EngineRefusal> {
        let count = order.inner.len();
        let firsts = (0..count).into_par_iter().step_by(BLOCK_WIDTH);
        let blocks = firsts.map(|first| match pulse.is_cancelled() {
            true => Err(EngineRefusal::Cancelled),
            false => Ok(LengthBlock::new(order, first)),
        });
        Ok(Self { blocks: blocks.collect::<Result<_, _>>()? })
    }

    pub fn down_length(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / BLOCK_WIDTH].down[from as usize][to as usize % BLOCK_WIDTH]
    }

    pub fn any_length(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / BLOCK_WIDTH].any[from as usize][to as usize % BLOCK_WIDTH]
    }

    fn plain_length(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / BLOCK_WIDTH].clean[from as usize][to as usize % BLOCK_WIDTH]
    }

    /// Whether a hop up begins a shortest path.
    pub fn is_shortest_up(
        &self,
        order: &UpDownOrder,
        from: u32,
        hop: &OrderHop,
        to: u32,
        length: u16,
    ) -> bool {
        let rest = if order.inner[from as usize] {
            self.plain_length(hop.to, to)
        } else {
            self.any_length(hop.to, to)
        };
        rest.saturating_add(1) == length
    }

    /// For each hop of a switch outside, the destinations of a block that it begins a shortest path to, as bits.
    pub fn hop_masks(&self, order: &UpDownOrder, from: u32, block: usize, masks: &mut Vec<u64>) {
        let here = &self.blocks[block];
        let (down, any) = (&here.down[from as usize], &here.any[from as usize]);
        // Who can go down does, and no other hop will do.
        let (mut rising, mut falling) = ([NO_LENGTH; BLOCK_WIDTH], [NO_LENGTH; BLOCK_WIDTH]);
        for column in 0..BLOCK_WIDTH {
            let length = any[column].wrapping_sub(1);
            rising[column] =
                if down[column] == NO_LENGTH && any[column] != NO_LENGTH { length } else { NO_LENGTH };
            falling[column] = if down[column] == NO_LENGTH { NO_LENGTH } else { length };
        }
        let (ups, rises) =
            (order.up_hops(from).len(), order.up_hops(from).len() + order.across_hops(from).len());
        masks.clear();
        masks.extend(order.hops(from).iter().enumerate().map(|(place, hop)| {
            let to = hop.to as usize;
            match (place < ups, place < rises) {
                (true, _) => equal_columns(&here.any[to], &rising),
                (_, true) => equal_columns(&here.down[to], &rising),
                _ => equal_columns(&here.down[to], &falling),
            }
        }));
    }

    /// The hops that begin a shortest path, as places among the hops of the switch.
    pub fn shortest_hops(&self, order: &UpDownOrder, from: u32, to: u32, ways: &mut Vec<u8>) {
        ways.clear();
        let (down, length) = (self.down_length(from, to), self.any_length(from, to));
        if length == NO_LENGTH {
            return;
        }
        let inner = |switch: u32| order.inner[switch as usize];
        let here = inner(from);
        let clean = here && self.plain_length(from, to) != NO_LENGTH;
        let (ups, acrosses) = (order.up_hops(from).len(), order.across_hops(from).len());
        let rising = ups + acrosses;
        let places = match (down != NO_LENGTH, here) {
            (true, _) => rising..order.hops(from).len(),
            (false, false) => 0..rising,
            (false, true) => 0..order.hops(from).len(),
        };
        for (place, hop) in order.hops(from).iter().enumerate().take(places.end).skip(places.start) {
            let rest = match (place < ups, place < rising) {
                _ if down != NO_LENGTH => {
                    let leads_down =
                        place >= rising && !(clean && inner(hop.to) && !order.one_below[from as usize]);
                    if leads_down { self.down_length(hop.to, to) } else { NO_LENGTH }
                }
                (true, _) if here => self.plain_length(hop.to, to),
                (true, _) => self.any_length(hop.to, to),
                (_, true) if here && inner(hop.to) && self.plain_length(hop.to, to) == NO_LENGTH => NO_LENGTH,
                (_, true) => self.down_length(hop.to, to),
                _ if here && !clean && inner(hop.to) => self.any_length(hop.to, to),
                _ => NO_LENGTH,
            };
            if rest != NO_LENGTH && rest + 1 == length {
                ways.push(place as u8);
            }
        }
    }
}

/// The columns in which two rows have the same path length, as bits.
fn equal_columns(one: &LengthRow, other: &LengthRow) -> u64 {
    let mut same = [0u8; BLOCK_WIDTH];
    for (same, (one, other)) in same.iter_mut().zip(one.iter().zip(other)) {
        *same = u8::from(one == other && *one != NO_LENGTH);
    }
    let word = |eight: &[u8]| {
        // Eight bytes that are 0 or 1 become eight bits.
        let bytes = eight.try_into().map_or(0, u64::from_le_bytes);
        bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    same.chunks_exact(8).enumerate().fold(0, |mask, (at, eight)| mask | word(eight) << (at * 8))
}

fn relax_row(row: &mut LengthRow, from: &LengthRow) {
    for (here, there) in row.iter_mut().zip(from) {
        *here = (*here).min(there.saturating_add(1));
    }
}

impl LengthBlock {
    fn new(order: &UpDownOrder, first: usize) -> Self {
        let count = order.inner.len();
        let rows = || vec![[NO_LENGTH; BLOCK_WIDTH]; count];
        let clean = if order.has_inner { rows() } else { Vec::new() };
        let mut block = Self { down: rows(), any: rows(), clean };
        block.fill_down(order, first);
        if order.has_inner {
            block.fill_up_inner(order);
            block.fill_turns_inner(order);
        }
        for switch in order.bottom_up.iter().rev().filter(|switch| !order.inner[**switch as usize]) {
            let mut beyond = [NO_LENGTH; BLOCK_WIDTH];
            for hop in order.across_hops(*switch) {
                relax_row(&mut beyond, &block.down[hop.to as usize]);
            }
            for hop in order.up_hops(*switch) {
                relax_row(&mut beyond, &block.any[hop.to as usize]);
            }
            block.any[*switch as usize] = first_or_second(&block.down[*switch as usize], &beyond);
        }
        block
    }

    fn fill_down(&mut self, order: &UpDownOrder, first: usize) {
        for switch in &order.bottom_up {
            let at = *switch as usize;
            let mut row = [NO_LENGTH; BLOCK_WIDTH];
            if at >= first && at < first + BLOCK_WIDTH && order.graft_channel(*switch).is_none() {
                row[at - first] = 0;
            }
            let inner = order.inner[at];
            for hop in order.down_hops(*switch).iter().filter(|hop| !inner || !order.inner[hop.to as usize]) {
                relax_row(&mut row, &self.down[hop.to as usize]);
            }
            if inner {
                self.clean[at] = row;
                let mut within = [NO_LENGTH; BLOCK_WIDTH];
                for hop in order.down_hops(*switch).iter().filter(|hop| order.inner[hop.to as usize]) {
                    relax_row(&mut within, &self.down[hop.to as usize]);
                }
                if order.one_below[at] {
                    row.iter_mut().zip(within).for_each(|(row, within)| *row = (*row).min(within));
                } else {
                    row = first_or_second(&row, &within);
                }
            }
            self.down[at] = row;
        }
    }

    /// Inner switches, the highest first: paths as they are without U-turns.
    fn fill_up_inner(&mut self, order: &UpDownOrder) {
        for switch in order.bottom_up.iter().rev().filter(|switch| order.inner[**switch as usize]) {
            let at = *switch as usize;
            let mut beyond = [NO_LENGTH; BLOCK_WIDTH];
            for hop in order.across_hops(*switch) {
                let mut far = self.down[hop.to as usize];
                if order.inner[hop.to as usize] {
                    // Only ways to the outside: what goes up there is another class.
                    for (way, clean) in far.iter_mut().zip(&self.clean[hop.to as usize]) {
                        *way = if *way == NO_LENGTH { NO_LENGTH } else { *clean };
                    }
                }
                relax_row(&mut beyond, &far);
            }
            for hop in order.up_hops(*switch) {
                relax_row(&mut beyond, &self.clean[hop.to as usize]);
            }
            self.any[at] = first_or_second(&self.down[at], &beyond);
            for (column, beyond) in beyond.iter().enumerate() {
                if self.down[at][column] == NO_LENGTH {
                    self.clean[at][column] = *beyond;
                }
            }
        }
    }

    /// Inner switches, the lowest first: down to one that has a path (sFtree paper, algorithm 2).
    fn fill_turns_inner(&mut self, order: &UpDownOrder) {
        for switch in order.bottom_up.iter().filter(|switch| order.inner[**switch as usize]) {
            let mut turned = [NO_LENGTH; BLOCK_WIDTH];
            for hop in order.down_hops(*switch).iter().filter(|hop| order.inner[hop.to as usize]) {
                relax_row(&mut turned, &self.any[hop.to as usize]);
            }
            self.any[*switch as usize] = first_or_second(&self.any[*switch as usize], &turned);
        }
    }
}

/// The first where it has a path, else the second.
fn first_or_second(first: &LengthRow, second: &LengthRow) -> LengthRow {
    let mut row = *first;
    for (here, there) in row.iter_mut().zip(second) {
        *here = if *here == NO_LENGTH { *there } else { *here };
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    #[test]
    fn masks_say_what_ways_do() {
        for (name, heights) in
            [("demo", 3), ("torus,dims=9x9", 4), ("random,switches=70,links=150,seed=2", 5)]
        {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let graph = SwitchGraph::new(&fabric, &Faults::default());
            let height: Vec<u32> = (0..graph.switch_count() as u32).map(|at| at * 7 % heights).collect();
            let order = UpDownOrder::new(&graph, &height, false);
            let lengths = LengthTable::new(&order, &NoProgress).unwrap();
            let (mut masks, mut ways, mut all) = (Vec::new(), Vec::new(), 0);
            for from in 0..graph.switch_count() as u32 {
                for to in 0..graph.switch_count() as u32 {
                    lengths.hop_masks(&order, from, to as usize / BLOCK_WIDTH, &mut masks);
                    lengths.shortest_hops(&order, from, to, &mut ways);
                    let bits = masks
                        .iter()
                        .enumerate()
                        .filter(|(_, mask)| *mask >> (to as usize % BLOCK_WIDTH) & 1 == 1);
                    assert!(
                        bits.map(|(place, _)| place as u8).eq(ways.iter().copied()),
                        "{name}: {from} {to}"
                    );
                    all += ways.len();
                }
            }
            assert!(all > 0);
        }
    }
}
