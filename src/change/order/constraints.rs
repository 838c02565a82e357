//! Finds which switch has to be written before which, so that no packet to a destination is caught between old and new
//! entries.
//!
//! Along the new entries a packet goes from switch to switch. Suppose each switch is written after the next switch on
//! this path whose entry changes. Then a new entry leads only to switches whose entries are final. A packet that is on
//! its new path never returns to an old one: there is no loop, and no switch without a path on the way.
//!
//! ```text
//! old: a -> b -> d    new: b -> a -> d    a first: a -> d, then b -> a
//! ```
//!
//! Only two kinds of switches need this. A mixture of old and new entries can lead the first kind into a loop. For the
//! second kind, the next changed switch has no path by its old entries. For all others, any order is safe.

use super::destination_tree::{DestinationTree, Fate};
use super::order_context::{AT_DESTINATION, NO_NEXT, OrderContext};
use fabdeck_routing::Destination;

/// No switch.
const NO_SWITCH: u32 = u32::MAX;

/// The weight of a pair in scope, compared to a pair out of scope.
const SCOPE_WEIGHT: u64 = 1024;

/// The switch that comes first, the switch that comes after it, and the weight of the constraint.
pub(super) type Constraint = (u32, u32, u64);

/// The old and the new paths to a destination, and the switches that lead to each switch by either.
#[derive(Debug, Default)]
pub(super) struct TreePair {
    pub(super) old: DestinationTree,
    pub(super) new: DestinationTree,
    first: Vec<u32>,
    before: Vec<u32>,
    tangled: Vec<bool>,
    left: Vec<u32>,
    front: Vec<u32>,
    ancestor: Vec<u32>,
    through: [Vec<u64>; 2],
}

impl TreePair {
    pub(super) fn read(
        &mut self,
        ground: &OrderContext<'_>,
        at: (u32, &Destination),
        entries: [impl Fn(usize) -> u8; 2],
    ) {
        let [old, new] = entries;
        self.old.read_entries(ground, at, old);
        self.new.read_entries(ground, at, new);
    }

    pub(super) fn is_changed(&self, switch: u32) -> bool {
        self.old.next[switch as usize] != self.new.next[switch as usize]
    }

    /// Whether all joined switches reach the destination by both, and no mixture of entries has a loop. If not, the two
    /// trees are linked afterwards.
    pub(super) fn is_order_free(&mut self, ground: &OrderContext<'_>, root: u32) -> bool {
        let joined = ground.joined_count(root);
        let whole = self.old.order.len() == joined && self.new.order.len() == joined;
        if whole && (self.old.is_nearing(&self.new) || self.new.is_nearing(&self.old)) {
            return true;
        }
        self.link_predecessors();
        self.mark_tangled();
        whole && !self.tangled.contains(&true)
    }

    /// The next switches of a switch, by the old and the new entry.
    fn next_hops(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let (old, new) = (self.old.next[at], self.new.next[at]);
        let both = [old, if new == old { NO_NEXT } else { new }];
        both.into_iter().filter(|next| *next < AT_DESTINATION).map(|next| next as usize)
    }

    /// The switches whose old or new entry leads to a switch.
    pub(super) fn predecessors(&self, switch: u32) -> &[u32] {
        let at = switch as usize;
        &self.before[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// Collects, for each switch, the switches that lead to it.
    pub(super) fn link_predecessors(&mut self) {
        let count = self.old.next.len();
        let mut first = std::mem::take(&mut self.first);
        first.clear();
        first.resize(count + 1, 0);
        (0..count).flat_map(|at| self.next_hops(at)).for_each(|next| first[next + 1] += 1);
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.resize(first[count] as usize, 0);
        let mut place = std::mem::take(&mut self.left);
        place.clone_from(&first);
        for at in 0..count {
            for next in self.next_hops(at) {
                before[place[next] as usize] = at as u32;
                place[next] += 1;
            }
        }
        (self.first, self.before, self.left) = (first, before, place);
    }

    /// Marks the switches that may be part of a loop: those that remain after peeling from both ends.
    fn mark_tangled(&mut self) {
        let count = self.old.next.len();
        self.tangled.clear();
        self.tangled.resize(count, true);
        let mut left: Vec<u32> = std::mem::take(&mut self.left);
        left.clear();
        left.extend((0..count).map(|at| self.next_hops(at).count() as u32));
        self.front.extend((0..count as u32).filter(|at| left[*at as usize] == 0));
        while let Some(switch) = self.front.pop() {
            self.tangled[switch as usize] = false;
            for at in self.first[switch as usize]..self.first[switch as usize + 1] {
                let behind = self.before[at as usize] as usize;
                left[behind] -= 1;
                if left[behind] == 0 {
                    self.front.push(behind as u32);
                }
            }
        }
        left.clear();
        left.resize(count, 0);
        for at in (0..count).filter(|at| self.tangled[*at]) {
            self.next_hops(at).for_each(|next| left[next] += 1);
        }
        self.front
            .extend((0..count as u32).filter(|at| self.tangled[*at as usize] && left[*at as usize] == 0));
        while let Some(switch) = self.front.pop() {
            self.tangled[switch as usize] = false;
            for next in self.next_hops(switch as usize).filter(|next| self.tangled[*next]) {
                left[next] -= 1;
                if left[next] == 0 {
                    self.front.push(next as u32);
                }
            }
        }
        self.left = left;
    }

    /// The constraints of a destination for which the order matters.
    pub(super) fn constraints(
        &mut self,
        ground: &OrderContext<'_>,
        (root, end): (u32, &Destination),
        told: &mut Vec<Constraint>,
    ) {
        let counts = ground.is_in_scope(end);
        let [mut there, mut back] = std::mem::take(&mut self.through);
        let own = |switch| if counts { ground.sender_count(switch, root) } else { 0 };
        self.old.sum_through(own, &mut there);
        self.new.sum_through(own, &mut back);
        let weight = |switch: u32| 1 + SCOPE_WEIGHT * (there[switch as usize] + back[switch as usize]);
        let mut ancestor = std::mem::take(&mut self.ancestor);
        ancestor.clear();
        ancestor.resize(self.old.next.len(), NO_SWITCH);
        let tangled = |switch: u32| self.tangled[switch as usize];
        for (switch, above) in self.changed_ancestors(&self.new, &mut ancestor) {
            let rounds = tangled(switch) && tangled(above);
            if rounds || self.old.fate[above as usize] != Fate::Arrives {
                told.push((above, switch, weight(switch)));
            }
        }
        ancestor.fill(NO_SWITCH);
        for (switch, above) in self.changed_ancestors(&self.old, &mut ancestor) {
            // A switch whose new entries lose the destination is written after the switches that lead to it and keep
            // theirs.
            let keeps = self.new.fate[switch as usize] == Fate::Arrives;
            if keeps && self.new.fate[above as usize] != Fate::Arrives {
                told.push((switch, above, weight(switch)));
            }
        }
        (self.ancestor, self.through) = (ancestor, [there, back]);
    }

    /// Each switch that changes, with the next switch on its path in a tree that changes too.
    fn changed_ancestors(&self, tree: &DestinationTree, ancestor: &mut [u32]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for switch in &tree.order {
            let next = tree.next[*switch as usize];
            if next == AT_DESTINATION {
                continue;
            }
            let above = if self.is_changed(next) { next } else { ancestor[next as usize] };
            ancestor[*switch as usize] = above;
            if above != NO_SWITCH && self.is_changed(*switch) {
                found.push((*switch, above));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum};
    use fabdeck_routing::Problem;

    /// Switches 0 to 2 in a triangle, the host behind 0; 3 and 4 apart from them, with entries that lead to each other.
    #[test]
    fn a_shorter_path_needs_no_order_whatever_switches_do_that_no_cable_joins() {
        let mut builder = FabricBuilder::new();
        let mut node = |kind, guid| builder.add_node(NodeFacts::new(kind, Guid(guid), 4, "n")).unwrap();
        let switches = [1, 2, 3, 4, 5].map(|guid| node(NodeKind::Switch, guid));
        let host = node(NodeKind::ChannelAdapter, 9);
        for ((a, a_port), (b, b_port)) in
            [((0, 1), (1, 1)), ((0, 2), (2, 1)), ((1, 2), (2, 2)), ((3, 1), (4, 1))]
        {
            builder.connect((switches[a], PortNum(a_port)), (switches[b], PortNum(b_port))).unwrap();
        }
        builder.connect((switches[0], PortNum(3)), (host, PortNum(1))).unwrap();
        let (fabric, faults) = (builder.finish().with_fresh_lids(None), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let ground = OrderContext::new(&problem, false);
        let end = problem.destinations_behind(0).iter().find(|end| !end.is_switch()).unwrap();
        let (around, straight) = ([3, 1, 2, 1, 1], [3, 1, 1, 1, 1]);
        for [old, new] in [[around, straight], [straight, around]] {
            let mut both = TreePair::default();
            both.read(
                &ground,
                (0, end),
                [&|at: usize| old[at], &|at: usize| new[at]] as [&dyn Fn(usize) -> u8; 2],
            );
            assert!(both.is_order_free(&ground, 0));
        }
    }
}
