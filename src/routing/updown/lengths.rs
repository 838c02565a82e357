//! How long the paths of an order are between every two switches, in blocks of destinations.

use rayon::prelude::*;

use super::order::{Hop, Order};
use crate::routing::engine::{Pulse, Refusal};

/// No path.
pub(super) const FAR: u16 = u16::MAX;

/// Destinations of a block. Rows of a block are short enough that all its switches stay near the processor.
const WIDTH: usize = 64;

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
                    let leads_down = place >= rising && !(clean && inner(hop.to));
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
                row = either(&row, &within);
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
