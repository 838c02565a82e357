//! A tree over each connected part of the fabric, whose turns lane 0 takes before any path: in a tree there is no cycle,
//! so whatever paths come later, every switch still reaches every switch on it. The root has adapters where any switch
//! has: with a leaf for root a fat-tree's own paths, up and down, go with the tree, as in sFtree.

use super::blocks::DestinationBlock;
use super::channel_order::ChannelOrder;
use super::possible_dependencies::PossibleDependencies;
use crate::descent::Descent;
use crate::problem::Problem;

/// No channel.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct EscapeTree {
    /// Every switch that is alive, roots before what hangs on them.
    order: Vec<u32>,
    /// Of each switch, the channel to its parent and the one from it.
    up: Vec<u32>,
    down: Vec<u32>,
}

impl EscapeTree {
    pub(super) fn new(problem: &Problem<'_>, on: &PossibleDependencies, blocks: &[DestinationBlock]) -> Self {
        let switches = on.net.switch_count();
        let mut tree = Self { order: Vec::new(), up: vec![NONE; switches], down: vec![NONE; switches] };
        let mut descent = Descent::default();
        for root in roots(problem, blocks) {
            descent.build(&on.net, root);
            tree.order.extend_from_slice(descent.order());
            for (place, switch) in descent.order().iter().enumerate().skip(1) {
                if let Some(way) = descent.hops(place).first() {
                    tree.up[*switch as usize] = way.channel;
                    tree.down[*switch as usize] = problem.graph.channels()[way.channel as usize].reverse.0;
                }
            }
        }
        tree
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// All turns of the tree.
    pub(super) fn use_turns(&self, on: &PossibleDependencies, order: &mut ChannelOrder) {
        let mut children = vec![Vec::new(); self.up.len()];
        for switch in self.order.iter().filter(|switch| self.up[**switch as usize] != NONE) {
            children[on.net.target(self.up[*switch as usize]) as usize].push(*switch);
        }
        for (switch, children) in children.iter().enumerate() {
            for child in children {
                let (in_from, out_to) = (self.up[*child as usize], self.down[*child as usize]);
                if self.up[switch] != NONE {
                    order.try_use(on, in_from, self.up[switch]);
                    order.try_use(on, self.down[switch], out_to);
                }
                for other in children.iter().filter(|other| *other != child) {
                    order.try_use(on, in_from, self.down[*other as usize]);
                }
            }
        }
    }

    /// The channel that each switch takes to one on the tree; `None` where none leads there.
    pub(super) fn channels_towards(&self, on: &PossibleDependencies, to: u32) -> Vec<Option<u32>> {
        let taken = |channel: u32| (channel != NONE).then_some(channel);
        let mut next: Vec<Option<u32>> = self.up.iter().map(|up| taken(*up)).collect();
        next[to as usize] = None;
        let mut at = to;
        let mut root = to;
        while let Some(up) = taken(self.up[at as usize]) {
            let parent = on.net.target(up);
            next[parent as usize] = Some(self.down[at as usize]);
            at = parent;
            root = parent;
        }
        // Other parts have roots of their own.
        let mut part = vec![NONE; self.up.len()];
        for switch in &self.order {
            part[*switch as usize] =
                taken(self.up[*switch as usize]).map_or(*switch, |up| part[on.net.target(up) as usize]);
        }
        for (next, part) in next.iter_mut().zip(part) {
            *next = next.filter(|_| part == root);
        }
        next
    }
}

/// Of each connected part the switch from which the others are nearest, the first of equals, one with adapters if any
/// has.
fn roots(problem: &Problem<'_>, blocks: &[DestinationBlock]) -> Vec<u32> {
    let (parts, count) = problem.graph.components();
    let mut far = vec![u32::MAX; parts.len()];
    for block in blocks {
        far[block.switch as usize] = block.far;
    }
    let mut best = vec![(true, u32::MAX, u32::MAX); count as usize];
    for switch in problem.switches().filter(|switch| problem.graph.is_alive(*switch)) {
        let bare = problem.graph.terminals_of(switch).is_empty();
        let best = &mut best[parts[switch as usize] as usize];
        *best = (*best).min((bare, far[switch as usize], switch));
    }
    best.into_iter().map(|(_, _, switch)| switch).collect()
}
