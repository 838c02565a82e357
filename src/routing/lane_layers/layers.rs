//! Which lane a path takes. Every path tries the lowest lane first and stays on the first one whose dependencies, its
//! own added, have no cycle. Paths go destination by destination, nearest switch first: the path of a switch is that of
//! the next one and one dependency more, so a tree is laid from its root outwards and whatever can stay stays. That is
//! the greedy of LASH on the paths of DFSSSP (dissertation 3.3.6, 3.3.8). It is ours: algorithm 3.6 puts all paths on
//! the first lane and takes whole dependencies out again, which needs a lane or two more and searches far more.
//!
//! A lane may be at a destination as soon as the one below has left it, so lanes work side by side, each a destination
//! behind the one below; what they do does not depend on how many do it at once.
//!
//! Paths between adapters go first, those from switches without adapters after them. Paths to switches fill up what is
//! there, as the order of a lane then is, and never open one.

use rayon::prelude::*;

use super::blocks::{DestinationBlock, NONE, destination_blocks, gather_lanes};
use super::channel_order::ChannelOrder;
use super::escape_tree::EscapeTree;
use super::possible_dependencies::PossibleDependencies;
use crate::engine::{EngineRefusal, RouteProgress};
use crate::problem::Problem;
use fabdeck_fabric::{PathLanes, Routes};

/// No fabric needs as many; beyond them it is only known that more are needed.
const MAX_LANES: usize = 64;

/// What became of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaneAssignment {
    /// How many lanes paths between adapters take, and how many all paths do.
    pub(crate) between_adapters: u32,
    pub(crate) needed: u32,
    /// LIDs of switches whose paths went over to the tree.
    pub(crate) escaped: usize,
}

/// Puts routes whose paths are all shortest in hops on lanes. However many are needed: who asked decides. Where the
/// lanes of adapters have no room for the paths to a switch, these go over to the tree of lane 0.
pub(crate) fn assign_lanes(
    problem: &Problem<'_>,
    routes: &mut Routes,
    pulse: &dyn RouteProgress,
) -> Result<LaneAssignment, EngineRefusal> {
    let on = PossibleDependencies::new(&problem.graph);
    let mut blocks = destination_blocks(problem, routes, &on);
    let tree = EscapeTree::new(problem, &on, &blocks);
    let rank = on.inwards_then_outwards(tree.order());
    if can_fit_on_one(problem, &on, &rank, &mut blocks, pulse)? {
        routes.lanes = PathLanes::One;
        return Ok(LaneAssignment { between_adapters: 1, needed: 1, escaped: 0 });
    }
    let mut layers = LaneLayers { on: &on, rank: &rank, lanes: Vec::new(), pulse, most: MAX_LANES };
    layers.open_lane();
    if let Some(first) = layers.lanes.first_mut() {
        tree.use_turns(&on, &mut first.order);
    }
    layers.place_wanted(problem, &mut blocks, |from, to| from && to)?;
    let between_adapters = layers.lanes.len() as u32;
    layers.place_wanted(problem, &mut blocks, |from, to| !from && to)?;
    let needed = layers.lanes.len();
    let unplaced = blocks.iter().any(|block| block.left > 0);
    layers.most = needed;
    layers.lanes.iter_mut().for_each(|lane| lane.order.freeze());
    layers.place_wanted(problem, &mut blocks, |_, to| !to)?;
    drop(layers);
    let escaped = move_to_tree(problem, routes, &on, &tree, &mut blocks);
    blocks.par_iter_mut().for_each(|block| block.via = Vec::new());
    routes.lanes = gather_lanes(problem, routes, &blocks, needed as u8);
    Ok(LaneAssignment { between_adapters, needed: needed as u32 + u32::from(unplaced), escaped })
}

/// Whether all paths go on one lane as they are, those of switches too: then the tree, whose turns come before any path,
/// would only be in their way. Ends at the first one that does not.
fn can_fit_on_one(
    problem: &Problem<'_>,
    on: &PossibleDependencies,
    rank: &[u32],
    blocks: &mut [DestinationBlock],
    pulse: &dyn RouteProgress,
) -> Result<bool, EngineRefusal> {
    let mut lane = LaneLayer::new(on, rank);
    mark_wanted(problem, blocks, |_, _| true);
    for at in 0..blocks.len() {
        pulse.check_cancelled()?;
        lane.place_block(on, 0, &mut blocks[at]);
        if blocks[at].left > 0 {
            blocks.par_iter_mut().for_each(DestinationBlock::clear_lanes);
            return Ok(false);
        }
    }
    Ok(true)
}

/// Paths to switches of which one found no lane go over to the tree, all that lead to the same LID. How many LIDs.
fn move_to_tree(
    problem: &Problem<'_>,
    routes: &mut Routes,
    on: &PossibleDependencies,
    tree: &EscapeTree,
    blocks: &mut [DestinationBlock],
) -> usize {
    let height = problem.graph.switch_count();
    let mut escaped = 0;
    for block in blocks.iter_mut().filter(|block| block.left > 0) {
        let towards = tree.channels_towards(on, block.switch);
        for (end, lanes) in
            problem.destinations_behind(block.switch).iter().zip(block.lane.chunks_exact_mut(height))
        {
            if !end.is_switch() || !lanes.contains(&WANTED) {
                continue;
            }
            escaped += 1;
            for ((from, taken), lane) in (0..).zip(&towards).zip(lanes) {
                if let Some(taken) = taken {
                    let port = problem.graph.channels()[*taken as usize].from_port;
                    routes.set(from, end.lid, Some(port));
                    *lane = 0;
                }
            }
        }
    }
    escaped
}

/// Marks the wanted paths: those that adapters send, or that go to adapters.
fn mark_wanted(
    problem: &Problem<'_>,
    blocks: &mut [DestinationBlock],
    wanted: impl Fn(bool, bool) -> bool + Sync,
) {
    let height = problem.graph.switch_count();
    let sends: Vec<bool> =
        problem.switches().map(|switch| !problem.graph.terminals_of(switch).is_empty()).collect();
    blocks.par_iter_mut().for_each(|block| {
        let columns = block.lane.chunks_exact_mut(height).zip(block.via.chunks_exact(height));
        for ((lane, via), end) in columns.zip(problem.destinations_behind(block.switch)) {
            for from in block.order.iter().skip(1).map(|from| *from as usize) {
                if wanted(sends[from], !end.is_switch()) && via[from] != NONE {
                    lane[from] = WANTED;
                    block.left += 1;
                }
            }
        }
    });
}

/// A path that looks for a lane.
const WANTED: u8 = NONE - 1;

struct LaneLayers<'a> {
    on: &'a PossibleDependencies,
    /// Where channels stand before a lane has any dependency.
    rank: &'a [u32],
    lanes: Vec<LaneLayer>,
    pulse: &'a dyn RouteProgress,
    /// No more than these may be opened.
    most: usize,
}

impl LaneLayers<'_> {
    /// Lays the paths that are wanted.
    fn place_wanted(
        &mut self,
        problem: &Problem<'_>,
        blocks: &mut [DestinationBlock],
        wanted: impl Fn(bool, bool) -> bool + Sync,
    ) -> Result<(), EngineRefusal> {
        mark_wanted(problem, blocks, wanted);
        self.place_all(blocks)
    }

    fn place_all(&mut self, blocks: &mut [DestinationBlock]) -> Result<(), EngineRefusal> {
        // In step t lane l is at block t - l.
        for step in 0.. {
            let behind = self.lanes.len() - 1;
            if step >= blocks.len() + behind {
                break;
            }
            self.pulse.check_cancelled()?;
            self.pulse.report(step.min(blocks.len()), blocks.len());
            self.run_step(blocks, step);
        }
        Ok(())
    }

    fn run_step(&mut self, blocks: &mut [DestinationBlock], step: usize) {
        let on = self.on;
        // Lanes that are past the last block have nothing to do, nor those that no block has come to.
        let done = (step + 1).saturating_sub(blocks.len());
        let busy = self.lanes.iter_mut().enumerate().skip(done).take((step + 1).saturating_sub(done));
        let top = step - done;
        let mut pairs: Vec<_> = busy.zip(blocks[..=top].iter_mut().rev()).collect();
        pairs.retain(|(_, block)| block.left > 0);
        if let [((lane, layer), block)] = &mut pairs[..] {
            layer.place_block(on, *lane as u8, block);
        } else {
            pairs.into_par_iter().for_each(|((lane, layer), block)| layer.place_block(on, lane as u8, block));
        }
        // What the last lane has left waits for one more, which comes to this block in the next step.
        let last = (step + 1).checked_sub(self.lanes.len());
        let left = last.and_then(|at| blocks.get(at)).is_some_and(|block| block.left > 0);
        if left && self.lanes.len() < self.most {
            self.open_lane();
        }
    }

    fn open_lane(&mut self) {
        self.lanes.push(LaneLayer::new(self.on, self.rank));
    }
}

/// One lane.
struct LaneLayer {
    order: ChannelOrder,
    /// Of each switch and the destination at hand: a path that looks for a lane passes; and all dependencies from here
    /// on are taken.
    needed: Vec<bool>,
    fits: Vec<bool>,
}

impl LaneLayer {
    fn new(on: &PossibleDependencies, rank: &[u32]) -> Self {
        let switches = on.net.switch_count();
        Self {
            order: ChannelOrder::new(on, rank),
            needed: vec![false; switches],
            fits: vec![false; switches],
        }
    }

    fn place_block(&mut self, on: &PossibleDependencies, lane: u8, block: &mut DestinationBlock) {
        let height = on.net.switch_count();
        let columns = block.lane.chunks_exact_mut(height).zip(block.via.chunks_exact(height));
        for (lanes, via) in columns {
            self.find_needed(on, &block.order, via, lanes);
            block.left -= self.place_column(on, lane, &block.order, via, lanes);
        }
    }

    fn find_needed(&mut self, on: &PossibleDependencies, order: &[u32], via: &[u8], lanes: &[u8]) {
        for from in order {
            self.needed[*from as usize] = lanes[*from as usize] == WANTED;
        }
        for from in order.iter().skip(1).rev().map(|from| *from as usize) {
            if self.needed[from] && via[from] != NONE {
                let taken = on.channel_leaving(from as u32, via[from].into());
                self.needed[on.net.target(taken) as usize] = true;
            }
        }
    }

    /// One destination; how many paths have found their lane.
    fn place_column(
        &mut self,
        on: &PossibleDependencies,
        lane: u8,
        order: &[u32],
        via: &[u8],
        lanes: &mut [u8],
    ) -> usize {
        let mut placed = 0;
        let Some((to, others)) = order.split_first() else { return placed };
        for from in others.iter().map(|from| *from as usize) {
            self.fits[from] = false;
            if !self.needed[from] || via[from] == NONE {
                continue;
            }
            let taken = on.channel_leaving(from as u32, via[from].into());
            let next = on.net.target(taken);
            let fits = next == *to
                || via[next as usize] != NONE
                    && self.fits[next as usize]
                    && self.order.try_use(on, taken, on.channel_leaving(next, via[next as usize].into()));
            self.fits[from] = fits;
            if fits && lanes[from] == WANTED {
                lanes[from] = lane;
                placed += 1;
            }
        }
        placed
    }
}
