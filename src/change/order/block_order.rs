//! Orders the writes to the switches of one block, and counts the pairs without a path after each write.

use std::collections::BTreeSet;

use super::constraints::{Constraint, TreePair};
use super::destination_tree::Fate;
use super::order_context::OrderContext;
use super::packet_fates::PacketFates;
use fabdeck_fabric::{BLOCK_LIDS, Routes, block_of};
use fabdeck_routing::Destination;

/// Numbers of pairs without a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Loss {
    pub(super) broken: i64,
    /// Pairs that have a path before the first write and after the last.
    pub(super) interrupted: i64,
    /// Pairs whose packets loop.
    pub(super) looping: i64,
}

impl Loss {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            broken: self.broken + other.broken,
            interrupted: self.interrupted + other.interrupted,
            looping: self.looping + other.looping,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self { broken: -other.broken, interrupted: -other.interrupted, looping: -other.looping })
    }

    fn of(fate: Fate, pairs: i64) -> Self {
        let broken = if fate == Fate::Arrives { 0 } else { pairs };
        Self { broken, interrupted: 0, looping: if fate == Fate::Loops { pairs } else { 0 } }
    }
}

/// A block that is written, or whose pairs are counted.
#[derive(Debug)]
pub(super) struct BlockTask {
    pub(super) number: u16,
    /// The switches that get the block, by GUID.
    pub(super) switches: Vec<u32>,
    /// Indices of these switches, in the sequence in which the writes are given.
    pub(super) given: Vec<usize>,
    /// The destinations whose LIDs lie in the block, each with its switch.
    pub(super) ends: Vec<(u32, Destination)>,
}

/// How the order was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum OrderCriterion {
    Any,
    Distance,
    Fewest,
}

/// The loss after each write that changes it: the number of writes, and the loss.
pub(super) type LossStates = Vec<(usize, Loss)>;

/// A block with the order of its writes.
#[derive(Debug)]
pub(super) struct BlockOrder {
    pub(super) number: u16,
    /// Indices of its switches.
    pub(super) order: Vec<usize>,
    pub(super) by: OrderCriterion,
    pub(super) before: Loss,
    pub(super) states: LossStates,
    /// The loss in the sequence in which the writes are given.
    pub(super) plain: LossStates,
}

impl BlockOrder {
    pub(super) fn after(&self) -> Loss {
        self.states.last().map_or(self.before, |(_, loss)| *loss)
    }

    /// The largest number of pairs without a path.
    pub(super) fn peak(&self) -> i64 {
        self.states.iter().map(|(_, loss)| loss.broken).fold(self.before.broken, i64::max)
    }
}

/// Buffers that are reused for each block.
#[derive(Debug, Default)]
pub(super) struct BlockOrderer {
    both: TreePair,
    passing: PacketFates,
    told: Vec<Constraint>,
    rows: [Vec<[u8; BLOCK_LIDS as usize]>; 2],
}

/// The result of examining the destinations of a block.
#[derive(Debug, Default)]
struct BlockSurvey {
    /// The destinations for which the order matters.
    restless: Vec<usize>,
    constraints: Vec<Constraint>,
    /// For each switch: the sum of the hops of its new paths, and their number.
    hops: Vec<(u64, u64)>,
    before: Loss,
}

/// The mean hops of some paths in thousandths; 0 without a path.
fn thousandths((hops, paths): (u64, u64)) -> u64 {
    (hops * 1000).checked_div(paths).unwrap_or(0)
}

impl BlockOrderer {
    pub(super) fn order_block(
        &mut self,
        ground: &OrderContext<'_>,
        routes: [&Routes; 2],
        wanted: &BlockTask,
    ) -> BlockOrder {
        self.lay_out_rows(ground, routes, wanted);
        let found = self.survey(ground, wanted);
        let plain = wanted.given.clone();
        let mut orders = Vec::new();
        if !found.constraints.is_empty() {
            let (first, kept) = sort_by_constraints(wanted, &found.constraints, TieBreak::Lightest);
            let by = if kept { OrderCriterion::Distance } else { OrderCriterion::Fewest };
            orders.push((by, first));
            if !kept {
                orders.push((
                    OrderCriterion::Fewest,
                    sort_by_constraints(wanted, &found.constraints, TieBreak::Steepest).0,
                ));
                let mut near = plain.clone();
                let mean = |place: &usize| thousandths(found.hops[wanted.switches[*place] as usize]);
                near.sort_by_key(mean);
                orders.push((OrderCriterion::Fewest, near));
            }
        }
        let by = if found.constraints.is_empty() { OrderCriterion::Any } else { OrderCriterion::Fewest };
        orders.push((by, plain));
        let mut all: Vec<LossStates> = self.simulate_orders(ground, wanted, &found, &orders);
        let best = (0..orders.len()).min_by_key(|at| cost(found.before, &all[*at], wanted.switches.len()));
        // There is always a last order.
        let best = best.unwrap_or(orders.len() - 1);
        let plain = all.last().cloned().unwrap_or_default();
        let (by, order) = orders.swap_remove(best);
        BlockOrder {
            number: wanted.number,
            order,
            by,
            before: found.before,
            states: all.swap_remove(best),
            plain,
        }
    }

    /// Copies the entries of the block, switch by switch. Switches without a write keep theirs.
    fn lay_out_rows(&mut self, ground: &OrderContext<'_>, [old, new]: [&Routes; 2], wanted: &BlockTask) {
        let rows = ground.problem.switches().map(|switch| block_of(old.row(switch), wanted.number));
        self.rows[0].clear();
        self.rows[0].extend(rows);
        let [before, after] = &mut self.rows;
        after.clone_from(before);
        for switch in &wanted.switches {
            after[*switch as usize] = block_of(new.row(*switch), wanted.number);
        }
    }

    fn read_trees(&mut self, ground: &OrderContext<'_>, (root, end): (u32, &Destination)) {
        let column = usize::from(end.lid.value() % BLOCK_LIDS);
        let [old, new] = &self.rows;
        self.both.read(
            ground,
            (root, end),
            [&|at: usize| old[at][column], &|at: usize| new[at][column]] as [&dyn Fn(usize) -> u8; 2],
        );
    }

    fn survey(&mut self, ground: &OrderContext<'_>, wanted: &BlockTask) -> BlockSurvey {
        let mut found = BlockSurvey { hops: vec![(0, 0); ground.switch_count()], ..BlockSurvey::default() };
        for (at, (root, end)) in wanted.ends.iter().enumerate() {
            self.read_trees(ground, (*root, end));
            if self.both.is_order_free(ground, *root) {
                continue;
            }
            found.restless.push(at);
            self.both.constraints(ground, (*root, end), &mut self.told);
            for switch in self.both.new.order.iter().filter(|switch| self.both.is_changed(**switch)) {
                let (hops, count) = &mut found.hops[*switch as usize];
                *hops += u64::from(self.both.new.hops[*switch as usize]);
                *count += 1;
            }
            if ground.is_in_scope(end) {
                for switch in ground.problem.switches() {
                    let fate = self.both.old.fate[switch as usize];
                    let lost = Loss::of(fate, ground.sender_count(switch, *root) as i64);
                    found.before = found.before.plus(lost);
                }
            }
        }
        found.constraints = merge_constraints(&mut self.told);
        found
    }

    /// The loss of each of some orders, after each write.
    fn simulate_orders(
        &mut self,
        ground: &OrderContext<'_>,
        wanted: &BlockTask,
        found: &BlockSurvey,
        orders: &[(OrderCriterion, Vec<usize>)],
    ) -> Vec<LossStates> {
        let mut changes = vec![vec![Loss::default(); wanted.switches.len()]; orders.len()];
        let by_order = |order: &[usize]| order.iter().map(|place| wanted.switches[*place]).collect();
        let switches: Vec<Vec<u32>> = orders.iter().map(|(_, order)| by_order(order)).collect();
        let counted = found.restless.iter().map(|at| &wanted.ends[*at]);
        for (root, end) in counted.filter(|(_, end)| ground.is_in_scope(end)) {
            self.read_trees(ground, (*root, end));
            self.both.link_predecessors();
            let both = &self.both;
            for (order, changes) in switches.iter().zip(&mut changes) {
                self.passing.apply_order(both, order, &mut |at, switch, was, is| {
                    let pairs = ground.sender_count(switch, *root) as i64;
                    let mut change = Loss::of(is, pairs).minus(Loss::of(was, pairs));
                    let place = switch as usize;
                    if [both.old.fate[place], both.new.fate[place]] == [Fate::Arrives; 2] {
                        change.interrupted = change.broken;
                    }
                    changes[at] = changes[at].plus(change);
                });
            }
        }
        changes.iter().map(|changes| to_states(found.before, changes)).collect()
    }
}

/// The loss after each write that changes it.
fn to_states(before: Loss, changes: &[Loss]) -> LossStates {
    let mut now = before;
    let changed = changes.iter().enumerate().filter(|(_, change)| **change != Loss::default());
    let states = changed.map(|(at, change)| {
        now = now.plus(*change);
        (at + 1, now)
    });
    states.collect()
}

/// The cost of an order: the loss in the worst state, the worst loss among pairs with a path before and after, and the
/// sum over all states.
fn cost(before: Loss, states: &LossStates, writes: usize) -> (i64, i64, i64) {
    let (mut broken, mut interrupted, mut all) = (before.broken, before.interrupted, 0);
    let ends = states.iter().skip(1).map(|(at, _)| *at).chain([writes]);
    for ((at, loss), end) in states.iter().zip(ends) {
        broken = broken.max(loss.broken);
        interrupted = interrupted.max(loss.interrupted);
        all += (loss.broken + loss.interrupted) * (end - at) as i64;
    }
    (broken, interrupted, all)
}

/// Merges equal constraints, and adds up their weights.
fn merge_constraints(told: &mut Vec<Constraint>) -> Vec<Constraint> {
    told.sort_unstable();
    let mut once: Vec<Constraint> = Vec::new();
    for (first, then, weight) in told.drain(..) {
        match once.last_mut() {
            Some(last) if (last.0, last.1) == (first, then) => last.2 += weight,
            _ => once.push((first, then, weight)),
        }
    }
    once
}

/// Which switch comes next if constraints contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TieBreak {
    /// The switch with the smallest weight of predecessors that are not written so far.
    Lightest,
    /// The switch with the smallest difference: weight of its unwritten predecessors minus its weight on others.
    Steepest,
}

impl TieBreak {
    fn key(self, (weight, gives): (u64, u64)) -> i64 {
        match self {
            _ if weight == 0 => i64::MIN,
            Self::Lightest => weight as i64,
            Self::Steepest => weight as i64 - gives as i64,
        }
    }
}

/// An order that keeps the constraints as far as possible, and whether it keeps all of them.
fn sort_by_constraints(wanted: &BlockTask, constraints: &[Constraint], rule: TieBreak) -> (Vec<usize>, bool) {
    let place_of = |switch: u32| wanted.switches.binary_search(&switch).ok();
    let mut weight = vec![(0u64, 0u64); wanted.switches.len()];
    let placed =
        constraints.iter().filter_map(|(a, b, weight)| Some((place_of(*a)?, place_of(*b)?, *weight)));
    let placed: Vec<(usize, usize, u64)> = placed.collect();
    for (first, then, more) in &placed {
        weight[*then].0 += more;
        weight[*first].1 += more;
    }
    let mut waiting: BTreeSet<(i64, usize)> =
        weight.iter().enumerate().map(|(at, weight)| (rule.key(*weight), at)).collect();
    let (mut order, mut kept) = (Vec::with_capacity(weight.len()), true);
    let mut written = vec![false; weight.len()];
    while let Some((_, at)) = waiting.pop_first() {
        kept &= weight[at].0 == 0;
        written[at] = true;
        order.push(at);
        let start = placed.partition_point(|(first, ..)| *first < at);
        for (_, then, less) in placed[start..].iter().take_while(|(first, ..)| *first == at) {
            if written[*then] {
                continue;
            }
            waiting.remove(&(rule.key(weight[*then]), *then));
            weight[*then].0 -= less;
            waiting.insert((rule.key(weight[*then]), *then));
        }
    }
    (order, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_differ_by_less_than_a_hop() {
        assert_eq!([(7, 2), (10, 3), (3, 1), (0, 0)].map(thousandths), [3500, 3333, 3000, 0]);
    }
}
