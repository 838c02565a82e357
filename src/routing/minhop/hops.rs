//! The hops between every two switches, from nothing or out of those of another graph over the same switches.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::trees::{Distances, batches_of};
use fabdeck_fabric::SwitchGraph;

/// Hops between two switches: fewer than there are LIDs for switches, however long a line they stand in.
pub(in super::super) type HopCount = u16;

/// How far two switches are apart when there is no way.
pub(in super::super) const UNREACHABLE: HopCount = HopCount::MAX;

/// Row `to`, column `from`; a cable works in both directions, so it is the same the other way round.
pub(in super::super) fn hop_matrix(graph: &SwitchGraph) -> Vec<Vec<HopCount>> {
    let batches = batches_of(graph.switch_count()).into_par_iter();
    let rows = batches.flat_map_iter(|targets| {
        let near = Distances::measure(graph, targets.clone());
        let count = |hops: &u32| HopCount::try_from(*hops).unwrap_or(UNREACHABLE);
        targets.map(move |to| near.row(to).iter().map(count).collect())
    });
    rows.collect()
}

pub(in super::super) fn hops_to(graph: &SwitchGraph, to: u32) -> Vec<HopCount> {
    let mut hops = vec![UNREACHABLE; graph.switch_count()];
    if !graph.is_alive(to) {
        return hops;
    }
    hops[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(switch) = queue.pop_front() {
        let next = hops[switch as usize].saturating_add(1);
        // A cable works in both directions, so the channels that leave lead to those from where one comes.
        for channel in &graph.channels()[graph.outgoing(switch)] {
            let at = channel.to as usize;
            if hops[at] == UNREACHABLE && next < UNREACHABLE {
                hops[at] = next;
                queue.push_back(channel.to);
            }
        }
    }
    hops
}

/// Switches that have other channels in one graph than in the other, or failed in one only.
pub(super) fn changed_switches(before: &SwitchGraph, graph: &SwitchGraph) -> Vec<u32> {
    let channels = |graph: &SwitchGraph, switch: u32| {
        let leaving = graph.channels()[graph.outgoing(switch)].iter();
        leaving.map(|channel| (channel.from_port, channel.to)).collect::<Vec<_>>()
    };
    let other = |switch: &u32| {
        before.is_alive(*switch) != graph.is_alive(*switch)
            || before.outgoing(*switch).len() != graph.outgoing(*switch).len()
            || channels(before, *switch) != channels(graph, *switch)
    };
    (0..graph.switch_count() as u32).filter(other).collect()
}

/// The matrix of a graph out of that of the one before. Only rows that what was touched can change are searched anew.
pub(super) fn update_matrix(
    before: &SwitchGraph,
    hops: &[Vec<HopCount>],
    graph: &SwitchGraph,
    touched: &[u32],
) -> Vec<Vec<HopCount>> {
    let rows = (0..graph.switch_count() as u32).into_par_iter();
    rows.map(|to| {
        let mended = match before.is_alive(to) == graph.is_alive(to) {
            true => update_row(&hops[to as usize], (before, graph), touched, to),
            false => None,
        };
        mended.unwrap_or_else(|| hops_to(graph, to))
    })
    .collect()
}

/// The row of a destination with failed switches taken out and others put in, if that is all that changes in it.
///
/// Hops are right when every switch but the destination is one farther than the nearest of its neighbours: that has
/// one solution. Where it held before, it has to be looked at again only for switches whose neighbours are others now.
fn update_row(
    old: &[HopCount],
    (before, graph): (&SwitchGraph, &SwitchGraph),
    touched: &[u32],
    to: u32,
) -> Option<Vec<HopCount>> {
    let mut row = old.to_vec();
    if !graph.is_alive(to) {
        return Some(row);
    }
    let beyond = |row: &[HopCount], at: u32| {
        let near = graph.channels()[graph.outgoing(at)].iter().map(|channel| row[channel.to as usize]).min();
        near.unwrap_or(UNREACHABLE).saturating_add(1)
    };
    for at in touched.iter().copied().filter(|at| before.is_alive(*at) != graph.is_alive(*at)) {
        row[at as usize] = if graph.is_alive(at) { beyond(&row, at) } else { UNREACHABLE };
    }
    let right = |at: &u32| *at == to || !graph.is_alive(*at) || row[*at as usize] == beyond(&row, *at);
    touched.iter().all(right).then_some(row)
}
