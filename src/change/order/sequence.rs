//! Puts the blocks in order, and finds the worst state of all.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::block_order::{BlockOrder, BlockOrderer, BlockTask, Loss, OrderCriterion};
use super::order_context::OrderContext;
use super::transient_loss::{TransientLoss, UnfailedLoss};
use crate::writes::PlanWrite;
use fabdeck_fabric::{BLOCK_LIDS, Routes};
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::Problem;

/// The writes in their order.
#[derive(Clone, PartialEq, Debug)]
pub struct OrderedWrites {
    pub writes: Vec<PlanWrite>,
    pub way: TransientLoss,
    /// For each block by its number, the rank of each switch's write; a block without writes has no row.
    ranks: Vec<Vec<u32>>,
}

/// The rank of a switch that is not written.
const NOT_WRITTEN: u32 = u32::MAX;

impl OrderedWrites {
    /// The index of the write of a block to a switch, in the order of all writes.
    pub fn rank(&self, block: u16, switch: u32) -> Option<u32> {
        let ranks = self.ranks.get(usize::from(block))?;
        ranks.get(switch as usize).copied().filter(|rank| *rank != NOT_WRITTEN)
    }
}

/// The worst state of a sequence of writes.
#[derive(Clone, Copy, Debug, Default)]
struct WorstState {
    state: Loss,
    looping: i64,
    interrupted: i64,
    after: usize,
    lasting: usize,
    /// Whether the worst state lasts until the last state seen.
    open: bool,
}

impl WorstState {
    fn from_initial(before: Loss) -> Self {
        Self { state: before, looping: before.looping, open: true, ..Self::default() }
    }

    /// Takes the loss after a number of writes.
    fn observe(&mut self, after: usize, state: Loss) {
        self.looping = self.looping.max(state.looping);
        self.interrupted = self.interrupted.max(state.interrupted);
        if state.broken > self.state.broken {
            *self = Self { state, after, open: true, lasting: 0, ..*self };
        } else if self.open && state.broken < self.state.broken {
            self.lasting = after - self.after;
            self.open = false;
        }
    }

    fn finish(mut self, writes: usize) -> Self {
        if self.open {
            self.lasting = (writes + 1).saturating_sub(self.after);
        }
        self
    }
}

/// Orders the writes that lead from old routes to new ones. Writes other than LFT blocks stay before the rest.
/// `switches`: whether the paths of switches count too. `name`: the name of a switch.
pub fn order_writes(
    problem: &Problem<'_>,
    (old, new): (&Routes, &Routes),
    switches: bool,
    writes: Vec<PlanWrite>,
    name: &dyn Fn(u32) -> String,
) -> OrderedWrites {
    let ground = OrderContext::new(problem, switches);
    let (wanted, places) = block_tasks(problem, &writes);
    let mut turns: Vec<BlockOrder> = wanted
        .par_iter()
        .map_init(BlockOrderer::default, |desk, one| desk.order_block(&ground, [old, new], one))
        .collect();
    let before = turns.iter().fold(Loss::default(), |all, turn| all.plus(turn.before));
    let count = writes.len();
    let plain = worst_by_switch(&wanted, &places, &turns, before, count);
    turns.sort_by_cached_key(sort_key);
    let first = count - places.values().map(Vec::len).sum::<usize>();
    let blocks = worst_by_block(&turns, before, first, count);
    let key = |worst: &WorstState| (worst.state.broken, worst.interrupted);
    let switch_by_switch = key(&plain) < key(&blocks);
    let (order, worst) = match switch_by_switch {
        true => ((0..count).collect(), plain),
        false => (write_order(&turns, &places, count), blocks),
    };
    let by = match turns.iter().map(|turn| turn.by).max() {
        _ if switch_by_switch => "switches",
        None | Some(OrderCriterion::Any) => "any",
        Some(OrderCriterion::Distance) => "distance",
        Some(OrderCriterion::Fewest) => "fewest",
    };
    let after = turns.iter().fold(Loss::default(), |all, turn| all.plus(turn.after()));
    let at = worst.after.checked_sub(1).and_then(|last| writes.get(order[last]));
    let fabric = problem.fabric;
    let called =
        |write: &PlanWrite| write.node(fabric).map_or_else(|| write.at.guid().to_owned(), |id| name(id.0));
    let way = TransientLoss {
        pairs: ground.pair_count(),
        writes: count as u64,
        before: before.broken as u64,
        after: after.broken as u64,
        worst_broken: worst.state.broken as u64,
        worst_looping: worst.looping as u64,
        worst_interrupted: worst.interrupted as u64,
        worst_after: worst.after as u64,
        worst_at: at.map(|write| match write.part {
            AttributePart::Block(block) => format!("block {block} of {}", called(write)),
            part => format!("{part} of {}", called(write)),
        }),
        lasting: worst.lasting as u64,
        ordered: by.to_owned(),
        unfailed: None,
    };
    let ranks = write_ranks(&wanted, &places, &order, ground.switch_count());
    let mut writes: Vec<Option<PlanWrite>> = writes.into_iter().map(Some).collect();
    let writes = order.iter().filter_map(|at| writes[*at].take()).collect();
    OrderedWrites { writes, way, ranks }
}

/// Counts the pairs without a path before, during and after writes in the order in which they are given.
pub fn measure_writes(
    problem: &Problem<'_>,
    (old, new): (&Routes, &Routes),
    switches: bool,
    writes: &[PlanWrite],
) -> UnfailedLoss {
    let ground = OrderContext::new(problem, switches);
    let (wanted, places) = block_tasks(problem, writes);
    let turns: Vec<BlockOrder> = wanted
        .par_iter()
        .map_init(BlockOrderer::default, |desk, one| desk.order_block(&ground, [old, new], one))
        .collect();
    let before = turns.iter().fold(Loss::default(), |all, turn| all.plus(turn.before));
    let after = turns.iter().fold(Loss::default(), |all, turn| all.plus(turn.after()));
    let worst = worst_by_switch(&wanted, &places, &turns, before, writes.len());
    UnfailedLoss {
        pairs: ground.pair_count(),
        before: before.broken as u64,
        after: after.broken as u64,
        worst_broken: worst.state.broken as u64,
    }
}

/// The blocks that are written or have destinations, and the indices of each block's writes.
fn block_tasks(problem: &Problem<'_>, writes: &[PlanWrite]) -> (Vec<BlockTask>, BTreeMap<u16, Vec<usize>>) {
    let mut blocks: BTreeMap<u16, BlockTask> = BTreeMap::new();
    let mut places: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    let empty = |number| BlockTask { number, switches: Vec::new(), given: Vec::new(), ends: Vec::new() };
    let mut written: BTreeMap<u16, Vec<(u32, usize)>> = BTreeMap::new();
    for (at, write) in writes.iter().enumerate() {
        let (AttributePart::Block(number), Some(id)) = (write.part, write.switch(problem.fabric)) else {
            continue;
        };
        written.entry(number).or_default().push((id.0, at));
    }
    for (number, mut written) in written {
        written.sort_unstable();
        let block = blocks.entry(number).or_insert_with(|| empty(number));
        block.switches.extend(written.iter().map(|(switch, _)| *switch));
        block.given = (0..written.len()).collect();
        block.given.sort_unstable_by_key(|place| written[*place].1);
        places.insert(number, written.into_iter().map(|(_, at)| at).collect());
    }
    for root in problem.switches() {
        for end in problem.destinations_behind(root) {
            let number = end.lid.value() / BLOCK_LIDS;
            blocks.entry(number).or_insert_with(|| empty(number)).ends.push((root, *end));
        }
    }
    blocks.values_mut().for_each(|block| block.ends.sort_by_key(|(_, end)| end.lid));
    (blocks.into_values().collect(), places)
}

/// The sort key of blocks. First those that gain paths, the smallest temporary loss first; then neutral ones; last
/// those that lose paths, the largest temporary loss first.
fn sort_key(turn: &BlockOrder) -> (u8, i64, i64, u16) {
    let (before, after, peak) = (turn.before.broken, turn.after().broken, turn.peak());
    match after - before {
        brings if brings < 0 => (0, peak - before, brings, turn.number),
        0 => (1, 0, 0, turn.number),
        _ => (2, after - peak, 0, turn.number),
    }
}

/// The worst state in the order block by block.
fn worst_by_block(turns: &[BlockOrder], before: Loss, first: usize, count: usize) -> WorstState {
    let (mut worst, mut now, mut done) = (WorstState::from_initial(before), before, first);
    for turn in turns {
        for (at, loss) in &turn.states {
            worst.observe(done + at, now.minus(turn.before).plus(*loss));
        }
        now = now.minus(turn.before).plus(turn.after());
        done += turn.order.len();
    }
    worst.finish(count)
}

/// The worst state in the original order: every block of a switch, switch after switch.
fn worst_by_switch(
    wanted: &[BlockTask],
    places: &BTreeMap<u16, Vec<usize>>,
    turns: &[BlockOrder],
    before: Loss,
    count: usize,
) -> WorstState {
    let mut changes = Vec::new();
    for (block, turn) in wanted.iter().zip(turns) {
        let Some(places) = places.get(&block.number) else { continue };
        let mut last = turn.before;
        for (at, loss) in &turn.plain {
            changes.push((places[block.given[at - 1]], loss.minus(last)));
            last = *loss;
        }
    }
    changes.sort_unstable_by_key(|(at, _)| *at);
    let (mut worst, mut now) = (WorstState::from_initial(before), before);
    for (at, change) in changes {
        now = now.plus(change);
        worst.observe(at + 1, now);
    }
    worst.finish(count)
}

/// The order block by block, with writes other than blocks first.
fn write_order(turns: &[BlockOrder], places: &BTreeMap<u16, Vec<usize>>, count: usize) -> Vec<usize> {
    let mut blocks = vec![false; count];
    places.values().flatten().for_each(|at| blocks[*at] = true);
    let mut order: Vec<usize> = (0..count).filter(|at| !blocks[*at]).collect();
    for turn in turns {
        let Some(places) = places.get(&turn.number) else { continue };
        order.extend(turn.order.iter().map(|place| places[*place]));
    }
    order
}

fn write_ranks(
    wanted: &[BlockTask],
    places: &BTreeMap<u16, Vec<usize>>,
    order: &[usize],
    switches: usize,
) -> Vec<Vec<u32>> {
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, write)| rank[*write] = at as u32);
    let last = wanted.last().map_or(0, |block| usize::from(block.number) + 1);
    let mut ranks = vec![Vec::new(); last];
    for block in wanted {
        let Some(places) = places.get(&block.number) else { continue };
        let mut of = vec![NOT_WRITTEN; switches];
        let both = block.switches.iter().zip(places);
        both.for_each(|(switch, at)| of[*switch as usize] = rank[*at]);
        ranks[usize::from(block.number)] = of;
    }
    ranks
}
