//! An order of all switches in which each but the first of its part has a neighbour before it.
//!
//! Paths go towards the front first, then away from it. So from everywhere there is a path to everywhere over the first
//! switch, and what is forbidden are turns at a switch that stands behind both neighbours. Turns are weighed by what they
//! carry where every path is shortest and shares of it go by all ways alike. The switch comes next that forbids
//! least of them at switches that come later; of equals the one that most goes through. On a whole tree that is the
//! subtree of the sFtree paper: what stands above the root first, then all the rest from the top down, and nothing is
//! forbidden that goes up and down.

use rayon::prelude::*;

use super::flat_graph::{FlatGraph, NONE};

/// Weight of one path, high enough that shares of it differ.
const PATH_UNIT: u64 = 1 << 12;

/// Destinations that are sampled for the load of turns.
const SAMPLE: usize = 256;

/// Threads that share the work; with more turns than `MANY_TURNS` there is one, because each needs memory for all turns.
const WORK_SHARES: usize = 4;
const MANY_TURNS: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct SwitchOrder {
    /// The place of each switch in the order; `NONE` in a part without a root.
    pub place: Vec<u32>,
    /// Part by part.
    pub switches: Vec<u32>,
    /// What is carried by turns that the order forbids.
    pub forbidden: u64,
}

/// What turns carry, by switch and pair of neighbours.
#[derive(Debug)]
pub(crate) struct TurnLoads {
    /// Of each switch those that cables lead to, each once.
    beside: Vec<Vec<u32>>,
    /// Of each switch a square over these.
    carried: Vec<Vec<u64>>,
    through: Vec<u64>,
}

impl TurnLoads {
    pub fn new(net: &FlatGraph) -> Self {
        let switches = 0..net.switch_count() as u32;
        let beside = |switch| {
            let mut beside: Vec<u32> = net.leaving(switch).map(|channel| net.to[channel as usize]).collect();
            beside.sort_unstable();
            beside.dedup();
            beside
        };
        let beside: Vec<Vec<u32>> = switches.map(beside).collect();
        let place =
            |switch: u32, other: u32| beside[switch as usize].binary_search(&other).unwrap_or(0) as u32;
        let places: Vec<u32> =
            (0..net.channel_count()).map(|channel| place(net.from[channel], net.to[channel])).collect();
        let sample = sample_ends(&net.senders);
        let empty = || -> Vec<Vec<u64>> {
            beside.iter().map(|beside| vec![0; beside.len() * beside.len()]).collect()
        };
        let squares: usize = beside.iter().map(|beside| beside.len() * beside.len()).sum();
        let shares = if squares > MANY_TURNS { 1 } else { WORK_SHARES };
        let shares = sample.par_chunks(sample.len().div_ceil(shares).max(1)).map(|sample| {
            let mut carried = empty();
            sample.iter().for_each(|to| add_turn_loads(net, &places, &beside, *to, &mut carried));
            carried
        });
        let carried = shares.reduce(empty, |mut one, other| {
            for (one, other) in one.iter_mut().flatten().zip(other.into_iter().flatten()) {
                *one += other;
            }
            one
        });
        let through = carried.iter().map(|square| square.iter().sum()).collect();
        Self { beside, carried, through }
    }

    /// Both ways between two neighbours of a switch, by their places beside it.
    fn turn_load(&self, at: u32, a: usize, b: usize) -> u64 {
        let (square, count) = (&self.carried[at as usize], self.beside[at as usize].len());
        square[a * count + b] + square[b * count + a]
    }
}

/// Switches with terminals, `SAMPLE` at most, spread over all of them.
fn sample_ends(senders: &[u32]) -> Vec<u32> {
    let ends: Vec<u32> =
        (0u32..).zip(senders).filter(|(_, sent)| **sent > 0).map(|(switch, _)| switch).collect();
    let sampled = ends.len().min(SAMPLE);
    (0..sampled).map(|at| ends[at * ends.len() / sampled]).collect()
}

/// What all switches send to one, shared out over the shortest paths.
fn add_turn_loads(net: &FlatGraph, places: &[u32], beside: &[Vec<u32>], to: u32, carried: &mut [Vec<u64>]) {
    let (mut hops, mut queue) = (Vec::new(), Vec::new());
    net.hops(&[to], &mut hops, &mut queue);
    // Of each switch what came from each neighbour.
    let mut came: Vec<Vec<u64>> = beside.iter().map(|beside| vec![0; beside.len()]).collect();
    for switch in queue.iter().skip(1).rev().copied() {
        let at = switch as usize;
        let own = u64::from(net.senders[at]) * u64::from(net.senders[to as usize]) * PATH_UNIT;
        let nearer = |channel: &u32| hops[net.to[*channel as usize] as usize] + 1 == hops[at];
        let ways = (net.leaving(switch).filter(nearer).count() as u64).max(1);
        let came_here = std::mem::take(&mut came[at]);
        let share = (came_here.iter().sum::<u64>() + own) / ways;
        let count = beside[at].len();
        for channel in net.leaving(switch).filter(nearer) {
            let way = places[channel as usize] as usize;
            for (from, paths) in came_here.iter().enumerate().filter(|(_, paths)| **paths > 0) {
                carried[at][from * count + way] += paths / ways;
            }
            if let Some(back) = places.get(net.reverse[channel as usize] as usize) {
                came[net.to[channel as usize] as usize][*back as usize] += share;
            }
        }
    }
}

impl SwitchOrder {
    /// Orders all switches, one connected part of the fabric after another, each from its root. The next one is always the
    /// neighbour of those already placed that forbids least traffic; then what the others would forbid is updated.
    pub fn new(turns: &TurnLoads, roots: &[u32]) -> Self {
        let count = turns.beside.len();
        let order = Self { place: vec![NONE; count], switches: Vec::with_capacity(count), forbidden: 0 };
        let mut builder = OrderBuilder { turns, order, damage: vec![0; count], front: Vec::new() };
        for root in roots {
            builder.front.push(*root);
            while let Some(next) = builder.next_switch() {
                builder.append(next);
            }
        }
        builder.order
    }
}

/// An order in the making.
struct OrderBuilder<'t> {
    turns: &'t TurnLoads,
    order: SwitchOrder,
    /// What each switch forbids at others, when it comes next.
    damage: Vec<u64>,
    /// Switches beside those that are in the order.
    front: Vec<u32>,
}

impl OrderBuilder<'_> {
    fn is_placed(&self, switch: u32) -> bool {
        self.order.place[switch as usize] != NONE
    }

    fn next_switch(&mut self) -> Option<u32> {
        let key = |switch: &u32| {
            let at = *switch as usize;
            (self.damage[at], std::cmp::Reverse(self.turns.through[at]), *switch)
        };
        let (at, _) = self.front.iter().enumerate().min_by_key(|(_, switch)| key(switch))?;
        Some(self.front.swap_remove(at))
    }

    fn append(&mut self, switch: u32) {
        let turns = self.turns;
        self.order.forbidden += self.damage[switch as usize];
        self.order.place[switch as usize] = self.order.switches.len() as u32;
        self.order.switches.push(switch);
        // What it would have forbidden had it come later it does not any more.
        let own = &turns.beside[switch as usize];
        for (a, before) in
            own.iter().enumerate().filter(|(_, before)| self.order.place[**before as usize] != NONE)
        {
            for (b, later) in
                own.iter().enumerate().filter(|(_, later)| self.order.place[**later as usize] == NONE)
            {
                if before != later {
                    self.damage[*later as usize] -= turns.turn_load(switch, a, b);
                }
            }
        }
        for next in own.iter().copied() {
            if self.is_placed(next) {
                continue;
            }
            let around = &turns.beside[next as usize];
            let here = around.binary_search(&switch).unwrap_or(0);
            let mut is_new = true;
            for (place, other) in around.iter().enumerate() {
                if self.order.place[*other as usize] == NONE {
                    self.damage[*other as usize] += turns.turn_load(next, here, place);
                } else {
                    is_new &= *other == switch;
                }
            }
            if is_new {
                self.front.push(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_with_terminals_are_sampled_evenly() {
        let every_third: Vec<u32> = (0..2304).map(|switch| u32::from(switch % 3 == 1)).collect();
        let sample = sample_ends(&every_third);
        assert_eq!((sample.len(), sample[0], sample[255]), (256, 1, 2296));
        assert!(sample.windows(2).all(|two| two[1] - two[0] == 9));
        assert_eq!(sample_ends(&[0, 4, 0, 1]), [1, 3]);
        assert_eq!(sample_ends(&[0, 0]), []);
    }
}
