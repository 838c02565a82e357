//! The paths that hosts pick, where ports have several LIDs: one LID of a destination for each sender.

use std::collections::BTreeMap;

use super::lost_pairs::{ClassSenders, PairEnds};
use crate::problem::{Destination, Problem};
use crate::trees::RouteTree;
use fabdeck_fabric::{PathBits, PortId, Routes, Terminal};

/// Who picks which LID.
#[derive(Debug)]
pub(super) struct PickedPaths<'a> {
    problem: &'a Problem<'a>,
    ends: &'a PairEnds<'a>,
    path_bits: PathBits,
    /// By LID: its offset from the base LID of its port, and how many LIDs the port has.
    offsets: Vec<(u8, u16)>,
    /// For each number of LIDs and each offset how many terminals of each switch pick it.
    pickers: BTreeMap<u16, Vec<Vec<u32>>>,
}

impl<'a> PickedPaths<'a> {
    /// `None` where no terminal has several LIDs: then every sender takes every path.
    pub(super) fn new(problem: &'a Problem<'a>, routes: &Routes, ends: &'a PairEnds<'a>) -> Option<Self> {
        let addressed = || problem.graph.terminals().iter().filter(|end| end.lid.is_some());
        if addressed().all(|end| end.lmc.value() == 0) {
            return None;
        }
        let mut offsets = vec![(0, 1); routes.stride()];
        let mut pickers = BTreeMap::new();
        for end in addressed() {
            let (base, lids) = (end.lid.map_or(0, |lid| lid.index()), end.lmc.lid_count());
            for offset in 0..lids {
                if let Some(held) = offsets.get_mut(base + usize::from(offset)) {
                    *held = (offset as u8, lids);
                }
            }
            pickers.entry(lids).or_insert_with(Vec::new);
        }
        let path_bits = routes.path_bits(problem.fabric).into_owned();
        for (lids, by_offset) in &mut pickers {
            by_offset.resize(usize::from(*lids), vec![0; problem.graph.switch_count()]);
            for end in addressed() {
                let offset = u16::from(path_bits.get(end.port)) & (lids - 1);
                by_offset[usize::from(offset)][end.switch as usize] += 1;
            }
        }
        Some(Self { problem, ends, path_bits, offsets, pickers })
    }

    /// Counts the paths of those that pick the LID of a terminal, over each channel of its tree.
    pub(super) fn count(
        &self,
        end: &Destination,
        tree: &RouteTree<'_>,
        senders: &ClassSenders,
        (through, load): (&mut [u32], &mut [u64]),
    ) {
        if end.is_switch() || tree.order.is_empty() {
            return;
        }
        let graph = &self.problem.graph;
        let (offset, lids) = self.offsets.get(end.lid.index()).copied().unwrap_or((0, 1));
        match self.pickers.get(&lids).and_then(|by_offset| by_offset.get(usize::from(offset))) {
            Some(counts) if self.ends.is_unpartitioned() => through.copy_from_slice(counts),
            _ => {
                let picks = |port: PortId| u16::from(self.path_bits.get(port)) & (lids - 1) == offset.into();
                let sends = |from: &&Terminal| {
                    from.lid.is_some() && picks(from.port) && self.ends.is_sender(senders, from.port)
                };
                for switch in tree.order {
                    through[*switch as usize] =
                        graph.terminals_of(*switch).iter().filter(sends).count() as u32;
                }
            }
        }
        for switch in tree.order.iter().rev().filter(|switch| **switch != tree.root) {
            let paths = through[*switch as usize];
            if paths > 0 {
                through[tree.ways[*switch as usize].switch() as usize] += paths;
                load[tree.channel(graph, *switch)] += u64::from(paths);
            }
        }
    }
}
