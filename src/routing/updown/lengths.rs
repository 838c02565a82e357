//! How long the paths of an order are between every two switches, in blocks of destinations.

use rayon::prelude::*;

use super::order::{Hop, Order};
use crate::engine::{Pulse, Refusal};

/// No path.
pub(super) const FAR: u16 = u16::MAX;

/// Destinations of a block. Rows of a block are short enough that all its switches stay near the processor.
pub(super) const WIDTH: usize = 64;

type Row = [u16; WIDTH];

/// Rows by switch, columns by destination.
#[derive(Debug)]
struct Block {
    /// Going down alone; an inner switch goes to the outside at once if it can.
    down: Vec<Row>,
    any: Vec<Row>,
    /// Of an inner switch: paths that do not begin with a step down to an inner one, which another may go up to take.
    clean: Vec<Row>,
}

#[derive(Debug)]
pub(super) struct Lengths {
    blocks: Vec<Block>,
}

impl Lengths {
    pub fn new(order: &Order, pulse: &dyn Pulse) -> Result<Self, Refusal> {
        let count = order.inner.len();
        let firsts = (0..count).into_par_iter().step_by(WIDTH);
        let blocks = firsts.map(|first| match pulse.cancelled() {
            true => Err(Refusal::Cancelled),
            false => Ok(Block::new(order, first)),
        });
        Ok(Self { blocks: blocks.collect::<Result<_, _>>()? })
    }

    pub fn down(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / WIDTH].down[from as usize][to as usize % WIDTH]
    }

    pub fn any(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / WIDTH].any[from as usize][to as usize % WIDTH]
    }

    fn clean(&self, from: u32, to: u32) -> u16 {
        self.blocks[to as usize / WIDTH].clean[from as usize][to as usize % WIDTH]
    }

    /// Whether a hop up begins a shortest path.
    pub fn leads_up(&self, order: &Order, from: u32, hop: &Hop, to: u32, length: u16) -> bool {
        let rest = if order.inner[from as usize] { self.clean(hop.to, to) } else { self.any(hop.to, to) };
        rest.saturating_add(1) == length
    }

    /// For each hop of a switch outside, the destinations of a block that it begins a shortest path to, as bits.
    pub fn masks(&self, order: &Order, from: u32, block: usize, masks: &mut Vec<u64>) {
        let here = &self.blocks[block];
        let (down, any) = (&here.down[from as usize], &here.any[from as usize]);
        // Who can go down does, and no other hop will do.
        let (mut rising, mut falling) = ([FAR; WIDTH], [FAR; WIDTH]);
        for column in 0..WIDTH {
            let length = any[column].wrapping_sub(1);
            rising[column] = if down[column] == FAR && any[column] != FAR { length } else { FAR };
            falling[column] = if down[column] == FAR { FAR } else { length };
        }
        let (ups, rises) = (order.up(from).len(), order.up(from).len() + order.across(from).len());
        masks.clear();
        masks.extend(order.hops(from).iter().enumerate().map(|(place, hop)| {
            let to = hop.to as usize;
            match (place < ups, place < rises) {
                (true, _) => equal(&here.any[to], &rising),
                (_, true) => equal(&here.down[to], &rising),
                _ => equal(&here.down[to], &falling),
            }
        }));
    }

    /// The hops that begin a shortest path, as places among the hops of the switch.
    pub fn ways(&self, order: &Order, from: u32, to: u32, ways: &mut Vec<u8>) {
        ways.clear();
        let (down, length) = (self.down(from, to), self.any(from, to));
        if length == FAR {
            return;
        }
        let inner = |switch: u32| order.inner[switch as usize];
        let here = inner(from);
        let clean = here && self.clean(from, to) != FAR;
        let (ups, acrosses) = (order.up(from).len(), order.across(from).len());
        let rising = ups + acrosses;
        let places = match (down != FAR, here) {
            (true, _) => rising..order.hops(from).len(),
            (false, false) => 0..rising,
            (false, true) => 0..order.hops(from).len(),
        };
        for (place, hop) in order.hops(from).iter().enumerate().take(places.end).skip(places.start) {
            let rest = match (place < ups, place < rising) {
                _ if down != FAR => {
                    let leads_down =
                        place >= rising && !(clean && inner(hop.to) && !order.one_below[from as usize]);
                    if leads_down { self.down(hop.to, to) } else { FAR }
                }
                (true, _) if here => self.clean(hop.to, to),
                (true, _) => self.any(hop.to, to),
                (_, true) if here && inner(hop.to) && self.clean(hop.to, to) == FAR => FAR,
                (_, true) => self.down(hop.to, to),
                _ if here && !clean && inner(hop.to) => self.any(hop.to, to),
                _ => FAR,
            };
            if rest != FAR && rest + 1 == length {
                ways.push(place as u8);
            }
        }
    }
}

/// The columns in which two rows have the same path length, as bits.
fn equal(one: &Row, other: &Row) -> u64 {
    let mut same = [0u8; WIDTH];
    for (same, (one, other)) in same.iter_mut().zip(one.iter().zip(other)) {
        *same = u8::from(one == other && *one != FAR);
    }
    let word = |eight: &[u8]| {
        // Eight bytes that are 0 or 1 become eight bits.
        let bytes = eight.try_into().map_or(0, u64::from_le_bytes);
        bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    same.chunks_exact(8).enumerate().fold(0, |mask, (at, eight)| mask | word(eight) << (at * 8))
}

fn nearer(row: &mut Row, from: &Row) {
    for (here, there) in row.iter_mut().zip(from) {
        *here = (*here).min(there.saturating_add(1));
    }
}

impl Block {
    fn new(order: &Order, first: usize) -> Self {
        let count = order.inner.len();
        let rows = || vec![[FAR; WIDTH]; count];
        let clean = if order.has_inner { rows() } else { Vec::new() };
        let mut block = Self { down: rows(), any: rows(), clean };
        block.go_down(order, first);
        if order.has_inner {
            block.go_up_within(order);
            block.turn_within(order);
        }
        for switch in order.bottom_up.iter().rev().filter(|switch| !order.inner[**switch as usize]) {
            let mut beyond = [FAR; WIDTH];
            for hop in order.across(*switch) {
                nearer(&mut beyond, &block.down[hop.to as usize]);
            }
            for hop in order.up(*switch) {
                nearer(&mut beyond, &block.any[hop.to as usize]);
            }
            block.any[*switch as usize] = either(&block.down[*switch as usize], &beyond);
        }
        block
    }

    fn go_down(&mut self, order: &Order, first: usize) {
        for switch in &order.bottom_up {
            let at = *switch as usize;
            let mut row = [FAR; WIDTH];
            if at >= first && at < first + WIDTH && order.graft(*switch).is_none() {
                row[at - first] = 0;
            }
            let inner = order.inner[at];
            for hop in order.down(*switch).iter().filter(|hop| !inner || !order.inner[hop.to as usize]) {
                nearer(&mut row, &self.down[hop.to as usize]);
            }
            if inner {
                self.clean[at] = row;
                let mut within = [FAR; WIDTH];
                for hop in order.down(*switch).iter().filter(|hop| order.inner[hop.to as usize]) {
                    nearer(&mut within, &self.down[hop.to as usize]);
                }
                if order.one_below[at] {
                    row.iter_mut().zip(within).for_each(|(row, within)| *row = (*row).min(within));
                } else {
                    row = either(&row, &within);
                }
            }
            self.down[at] = row;
        }
    }

    /// Inner switches, the highest first: paths as they are without U-turns.
    fn go_up_within(&mut self, order: &Order) {
        for switch in order.bottom_up.iter().rev().filter(|switch| order.inner[**switch as usize]) {
            let at = *switch as usize;
            let mut beyond = [FAR; WIDTH];
            for hop in order.across(*switch) {
                let mut far = self.down[hop.to as usize];
                if order.inner[hop.to as usize] {
                    // Only ways to the outside: what goes up there is another class.
                    for (way, clean) in far.iter_mut().zip(&self.clean[hop.to as usize]) {
                        *way = if *way == FAR { FAR } else { *clean };
                    }
                }
                nearer(&mut beyond, &far);
            }
            for hop in order.up(*switch) {
                nearer(&mut beyond, &self.clean[hop.to as usize]);
            }
            self.any[at] = either(&self.down[at], &beyond);
            for (column, beyond) in beyond.iter().enumerate() {
                if self.down[at][column] == FAR {
                    self.clean[at][column] = *beyond;
                }
            }
        }
    }

    /// Inner switches, the lowest first: down to one that has a path (sFtree paper, algorithm 2).
    fn turn_within(&mut self, order: &Order) {
        for switch in order.bottom_up.iter().filter(|switch| order.inner[**switch as usize]) {
            let mut turned = [FAR; WIDTH];
            for hop in order.down(*switch).iter().filter(|hop| order.inner[hop.to as usize]) {
                nearer(&mut turned, &self.any[hop.to as usize]);
            }
            self.any[*switch as usize] = either(&self.any[*switch as usize], &turned);
        }
    }
}

/// The first where it has a path, else the second.
fn either(first: &Row, second: &Row) -> Row {
    let mut row = *first;
    for (here, there) in row.iter_mut().zip(second) {
        *here = if *here == FAR { *there } else { *here };
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoPulse;
    use fabdeck_fabric::generate::{Spec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    #[test]
    fn masks_say_what_ways_do() {
        for (name, heights) in
            [("demo", 3), ("torus,dims=9x9", 4), ("random,switches=70,links=150,seed=2", 5)]
        {
            let fabric = generate(&name.parse::<Spec>().unwrap()).unwrap().fabric;
            let graph = SwitchGraph::new(&fabric, &Faults::default());
            let height: Vec<u32> = (0..graph.switch_count() as u32).map(|at| at * 7 % heights).collect();
            let order = Order::new(&graph, &height, false);
            let lengths = Lengths::new(&order, &NoPulse).unwrap();
            let (mut masks, mut ways, mut all) = (Vec::new(), Vec::new(), 0);
            for from in 0..graph.switch_count() as u32 {
                for to in 0..graph.switch_count() as u32 {
                    lengths.masks(&order, from, to as usize / WIDTH, &mut masks);
                    lengths.ways(&order, from, to, &mut ways);
                    let bits =
                        masks.iter().enumerate().filter(|(_, mask)| *mask >> (to as usize % WIDTH) & 1 == 1);
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
