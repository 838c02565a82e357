//! Cycles in a graph of dependencies, whatever its rows stand for: channels of one lane, or channels with their lanes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Largest number of dependencies that the search for a shorter cycle than the first one visits.
const MAX_SEARCHED: usize = 20_000_000;

/// What waits for what.
pub(super) trait WaitGraph {
    fn row_count(&self) -> usize;
    /// The rows that a row waits for, ascending.
    fn successors(&self, row: usize) -> impl Iterator<Item = usize>;
    /// The rows that wait for a row.
    fn predecessors(&self, row: usize) -> impl Iterator<Item = usize>;
}

/// The places of the bits that are set, ascending.
pub(super) fn set_bits(words: &[AtomicU64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, word)| {
        let mut left = word.load(Ordering::Relaxed);
        std::iter::from_fn(move || {
            let place = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(at * 64 + place)
        })
    })
}

/// Sets a bit. Most have been set before, and to look costs less than to write.
pub(super) fn set_bit(word: &AtomicU64, place: usize) {
    let bit = 1 << (place % 64);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Whether there is no cycle.
pub(super) fn is_acyclic(graph: &impl WaitGraph) -> bool {
    unsorted_counts(graph).iter().all(|count| *count == 0)
}

/// A cycle, as short as a bounded search finds; from its lowest row on.
pub(super) fn find_cycle(graph: &impl WaitGraph) -> Option<Vec<usize>> {
    let waiting = unsorted_counts(graph);
    let first = waiting.iter().position(|count| *count > 0)?;
    let mut best = find_cycle_behind(graph, &waiting, first)?;
    let mut budget = MAX_SEARCHED;
    for start in best.clone() {
        if best.len() <= 2 || budget == 0 {
            break;
        }
        if let Some(shorter) = shortest_cycle_through(graph, start, best.len(), &mut budget) {
            best = shorter;
        }
    }
    let lowest = (0..best.len()).min_by_key(|at| best[*at]).unwrap_or(0);
    best.rotate_left(lowest);
    Some(best)
}

/// Sorts topologically; for each row how many it still waits behind: all 0 without a cycle.
fn unsorted_counts(graph: &impl WaitGraph) -> Vec<u32> {
    let rows = graph.row_count();
    let mut waiting = vec![0u32; rows];
    (0..rows).for_each(|row| graph.successors(row).for_each(|next| waiting[next] += 1));
    let mut free: Vec<usize> = (0..rows).filter(|row| waiting[*row] == 0).collect();
    while let Some(row) = free.pop() {
        for next in graph.successors(row) {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                free.push(next);
            }
        }
    }
    waiting
}

/// Whatever could not be sorted has another before it: going back ends in a cycle.
fn find_cycle_behind(graph: &impl WaitGraph, waiting: &[u32], start: usize) -> Option<Vec<usize>> {
    let mut seen_at = vec![usize::MAX; waiting.len()];
    let (mut path, mut at) = (Vec::new(), start);
    while seen_at[at] == usize::MAX {
        seen_at[at] = path.len();
        path.push(at);
        at = graph.predecessors(at).find(|other| waiting[*other] > 0)?;
    }
    let mut cycle = path.split_off(seen_at[at]);
    cycle.reverse();
    Some(cycle)
}

/// The shortest cycle through a row, if it is shorter than `below`.
fn shortest_cycle_through(
    graph: &impl WaitGraph,
    start: usize,
    below: usize,
    budget: &mut usize,
) -> Option<Vec<usize>> {
    let mut from = vec![usize::MAX; graph.row_count()];
    let mut front = vec![start];
    for _ in 1..below {
        let mut next_front = Vec::new();
        for row in front {
            for next in graph.successors(row) {
                *budget = budget.checked_sub(1)?;
                if next == start {
                    let mut cycle = vec![row];
                    while cycle.last().is_some_and(|last| *last != start) {
                        cycle.extend(cycle.last().map(|last| from[*last]));
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if from[next] == usize::MAX {
                    from[next] = row;
                    next_front.push(next);
                }
            }
        }
        front = next_front;
    }
    None
}
