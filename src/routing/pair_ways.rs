//! One way for each ordered pair of switches, the same for all that is behind them (`lash`): a breadth-first tree from each
//! switch, neighbours in the order of ports. An entry of a switch for a destination is that of the first tree in which the
//! destination hangs below the switch. A part of a shortest path is a shortest path, so entries of different trees fit
//! together.

use rayon::prelude::*;

use crate::descent::Neighbours;
use crate::engine::{EngineRefusal, RouteProgress};

/// Not reached, or no way.
pub(crate) const NO_WAY: u8 = u8::MAX;

/// Trees that are grown at a time.
const BLOCK_TREES: usize = 64;

/// For each destination switch a column with a byte for each switch: the channel taken, by its place among those that
/// leave; [`NO_WAY`] at the destination itself, and where no cables lead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PairWays {
    switches: usize,
    place: Vec<u8>,
}

/// The way into a switch of a tree: its parent, and the place of the channel among those that leave the parent.
#[derive(Clone, Copy, Debug)]
struct TreeHop {
    parent: u32,
    place: u8,
}

impl PairWays {
    /// Roots of trees are all switches, in this order.
    pub(crate) fn find(
        net: &Neighbours,
        roots: &[u32],
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let switches = net.switch_count();
        let mut place = vec![NO_WAY; switches * switches];
        for (done, block) in roots.chunks(BLOCK_TREES).enumerate() {
            pulse.check_cancelled()?;
            pulse.report(done * BLOCK_TREES, switches);
            let trees: Vec<Vec<Option<TreeHop>>> =
                block.par_iter().map(|root| grow_tree(net, *root)).collect();
            place.par_chunks_exact_mut(switches).enumerate().for_each(|(to, column)| {
                for tree in &trees {
                    let mut at = to;
                    while let Some(hop) = tree[at] {
                        at = hop.parent as usize;
                        if column[at] == NO_WAY {
                            column[at] = hop.place;
                        }
                    }
                }
            });
        }
        Ok(Self { switches, place })
    }

    pub(crate) fn switch_count(&self) -> usize {
        self.switches
    }

    /// The place of the channel that leads from a switch towards another, among those that leave it.
    pub(crate) fn place(&self, from: u32, to: u32) -> u8 {
        self.place[to as usize * self.switches + from as usize]
    }
}

/// The hop into each switch of the tree from a root; a failed switch has no channels and reaches nothing.
fn grow_tree(net: &Neighbours, root: u32) -> Vec<Option<TreeHop>> {
    let mut hops = vec![None; net.switch_count()];
    let mut queue = vec![root];
    let mut next = 0;
    while let Some(parent) = queue.get(next).copied() {
        next += 1;
        for (place, to) in net.neighbours(parent).iter().enumerate() {
            if *to != root && hops[*to as usize].is_none() {
                hops[*to as usize] = Some(TreeHop { parent, place: place as u8 });
                queue.push(*to);
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    #[test]
    fn the_first_tree_with_the_destination_below_decides() {
        // A square: 0-1, 0-2, 1-3, 2-3. Opposite corners have two ways.
        let fabric = generate(&"torus,dims=4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let net = Neighbours::new(&graph);
        let ways = PairWays::find(&net, &[0, 1, 2, 3], &NoProgress).unwrap();
        let next = |from: u32, to: u32| net.target(net.first(from) + u32::from(ways.place(from, to)));
        // From each root the neighbour behind the lower port comes first, and the far corner hangs below it.
        for from in 0..4 {
            let far = (from + 2) % 4;
            assert_eq!(next(from, far), net.neighbours(from)[0], "from {from}");
            assert_eq!(ways.place(from, from), NO_WAY);
        }
    }
}
