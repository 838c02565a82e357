//! The used dependencies of one layer, kept free of cycles by a topological order that is mended as they come
//! (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs"). The dissertation searches
//! depth first at every edge instead (section 6.2.6.1).
//!
//! Once every switch has a tree the order stands: whatever follows it closes no cycle, so that the trees that come later
//! ask for two places and nothing else.

use crate::line_trees::flat_graph::FlatGraph;

const FREE: u32 = 0;
const USED: u32 = 1;

const UNSEEN: u8 = 0;
const LATER: u8 = 1;
const EARLIER: u8 = 2;

/// State of a dependency before its first use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DependencyState {
    Used,
    /// It would close a cycle.
    Blocked,
    Free,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct AcyclicDependencies {
    /// From now on what goes with the order may be used, and nothing else; nothing is counted any more.
    stands: bool,
    place: Vec<u32>,
    /// Free, used, or the age at which it was found to close a cycle. It stays so for that age, whatever is taken
    /// away: asking again costs more than it gives.
    state: Vec<u32>,
    age: u32,
    /// Trees that use a dependency; escape paths count one for good.
    uses: Vec<u32>,
    after: FixedLists,
    before: FixedLists,
    marked: Vec<u8>,
    later: Vec<u32>,
    earlier: Vec<u32>,
    /// `earlier` and `later` while `reorder` sorts them: the place in the high half, the channel in the low half.
    moved: [Vec<u64>; 2],
    /// What came in since the last settlement of accounts.
    fresh: Vec<(u32, u32)>,
    /// What was found to close a cycle since then.
    refused: Vec<u32>,
}

impl AcyclicDependencies {
    /// No dependency yet; the channels in an order to begin with.
    pub fn new(net: &FlatGraph, place: Vec<u32>) -> Self {
        Self {
            stands: false,
            place,
            state: vec![FREE; net.dependency_count()],
            age: USED + 1,
            uses: vec![0; net.dependency_count()],
            after: FixedLists::new((0..net.channel_count()).map(|held| net.leaving(net.to[held]).len())),
            before: FixedLists::new(net.incoming_counts()),
            marked: vec![UNSEEN; net.channel_count()],
            later: Vec::new(),
            earlier: Vec::new(),
            moved: [Vec::new(), Vec::new()],
            fresh: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The dependencies with the number of their uses, and the channels in topological order; `None` if they have a
    /// cycle.
    pub fn from_uses(net: &FlatGraph, uses: Vec<u32>) -> Option<Self> {
        let mut before = vec![0u32; net.channel_count()];
        let wanted_by = |held: u32| {
            let wanted = net.leaving(net.to[held as usize]).zip(&uses[net.dependencies_of(held)]);
            wanted.filter(|(_, uses)| **uses > 0).map(|(wanted, _)| wanted)
        };
        let channels = 0..net.channel_count() as u32;
        channels.clone().flat_map(wanted_by).for_each(|wanted| before[wanted as usize] += 1);
        let mut line: Vec<u32> = channels.clone().filter(|channel| before[*channel as usize] == 0).collect();
        let mut head = 0;
        while let Some(held) = line.get(head).copied() {
            head += 1;
            for wanted in wanted_by(held) {
                before[wanted as usize] -= 1;
                if before[wanted as usize] == 0 {
                    line.push(wanted);
                }
            }
        }
        if line.len() < net.channel_count() {
            return None;
        }
        let mut place = vec![0; line.len()];
        line.iter().zip(0..).for_each(|(channel, at)| place[*channel as usize] = at);
        let mut used = Self::new(net, place);
        used.state.iter_mut().zip(&uses).filter(|(_, uses)| **uses > 0).for_each(|(state, _)| *state = USED);
        for held in channels {
            for wanted in wanted_by(held) {
                used.after.push(held, wanted);
                used.before.push(wanted, held);
            }
        }
        Some(Self { uses, ..used })
    }

    /// The order as it is, to go by from now on.
    pub fn freeze(&mut self) {
        let place = std::mem::take(&mut self.place);
        *self = Self { stands: true, place, ..Self::default() };
    }

    #[inline]
    pub fn state(&self, net: &FlatGraph, held: u32, wanted: u32) -> DependencyState {
        if self.stands {
            let fits = self.place[held as usize] < self.place[wanted as usize];
            return if fits { DependencyState::Used } else { DependencyState::Blocked };
        }
        match self.state[net.dependency(held, wanted)] {
            USED => DependencyState::Used,
            age if age == self.age => DependencyState::Blocked,
            _ => DependencyState::Free,
        }
    }

    /// Uses a dependency unless that closes a cycle.
    pub fn try_use(&mut self, net: &FlatGraph, held: u32, wanted: u32) -> bool {
        match self.state(net, held, wanted) {
            DependencyState::Used => return true,
            DependencyState::Blocked => return false,
            DependencyState::Free => {}
        }
        let dependency = net.dependency(held, wanted);
        if net.from[held as usize] == net.to[wanted as usize] || !self.reorder(held, wanted) {
            self.state[dependency] = self.age;
            self.refused.push(dependency as u32);
            return false;
        }
        self.state[dependency] = USED;
        self.after.push(held, wanted);
        self.before.push(wanted, held);
        self.fresh.push((held, wanted));
        true
    }

    /// An escape path's dependency, which the order allows already and nothing takes away.
    pub fn reserve(&mut self, net: &FlatGraph, held: u32, wanted: u32) {
        let dependency = net.dependency(held, wanted);
        self.state[dependency] = USED;
        self.uses[dependency] = 1;
        self.after.push(held, wanted);
        self.before.push(wanted, held);
    }

    /// How much has come in so far, to come back to.
    pub fn checkpoint(&self) -> (usize, usize) {
        (self.fresh.len(), self.refused.len())
    }

    /// What has come in after a mark and was not there before.
    pub fn added_since(&self, (fresh, _): (usize, usize)) -> &[(u32, u32)] {
        &self.fresh[fresh..]
    }

    /// Takes back what came in after a mark, and what was refused because of it.
    pub fn roll_back(&mut self, net: &FlatGraph, (fresh, refused): (usize, usize)) {
        if self.fresh.len() > fresh {
            self.refused.drain(refused..).for_each(|dependency| self.state[dependency as usize] = FREE);
        }
        while self.fresh.len() > fresh {
            let Some((held, wanted)) = self.fresh.pop() else { break };
            self.remove(net, held, wanted);
        }
    }

    /// A tree is done: counts its dependencies, and forgets what came in for it and is not among them.
    pub fn commit_tree(&mut self, net: &FlatGraph, of_tree: impl Iterator<Item = (u32, u32)>) {
        if self.stands {
            return;
        }
        of_tree.for_each(|(held, wanted)| self.uses[net.dependency(held, wanted)] += 1);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|(held, wanted)| self.uses[net.dependency(*held, *wanted)] == 0);
        fresh.iter().for_each(|(held, wanted)| self.remove(net, *held, *wanted));
        fresh.clear();
        self.fresh = fresh;
        self.refused.clear();
    }

    /// Forgets what was found to close a cycle: since then dependencies went away, so that it may fit now.
    pub fn clear_refusals(&mut self) {
        self.age += 1;
    }

    /// A tree is taken out; what it alone used is free again.
    pub fn release_tree(&mut self, net: &FlatGraph, of_tree: impl Iterator<Item = (u32, u32)>) {
        if self.stands {
            return;
        }
        for (held, wanted) in of_tree {
            let dependency = net.dependency(held, wanted);
            self.uses[dependency] -= 1;
            if self.uses[dependency] == 0 {
                self.remove(net, held, wanted);
            }
        }
    }

    fn remove(&mut self, net: &FlatGraph, held: u32, wanted: u32) {
        self.state[net.dependency(held, wanted)] = FREE;
        self.after.remove(held, wanted);
        self.before.remove(wanted, held);
    }

    /// Puts `held` before `wanted` in the order; false if `wanted` leads to `held`.
    fn reorder(&mut self, held: u32, wanted: u32) -> bool {
        let (low, high) = (self.place[wanted as usize], self.place[held as usize]);
        if high < low {
            return true;
        }
        if held == wanted || !self.search(held, wanted, low, high) {
            return false;
        }
        let [earlier, later] = &mut self.moved;
        for (keys, channels) in [(&mut *earlier, &self.earlier), (&mut *later, &self.later)] {
            let key = |channel: &u32| u64::from(self.place[*channel as usize]) << 32 | u64::from(*channel);
            keys.clear();
            keys.extend(channels.iter().map(key));
            keys.sort_unstable();
        }
        // The places of both lists are given out again in rising order: first to the channels that lead to `held`, then
        // to those that follow `wanted`.
        let (mut a, mut b) = (earlier.iter().peekable(), later.iter().peekable());
        for moved in earlier.iter().chain(&*later) {
            let first = match (a.peek(), b.peek()) {
                (Some(left), Some(right)) if left < right => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            };
            let channel = *moved as u32 as usize;
            self.place[channel] = first.map_or(0, |key| (*key >> 32) as u32);
            self.marked[channel] = UNSEEN;
        }
        true
    }

    /// Collects what follows `wanted` and what leads to `held` between their places, in turns, so that a cycle shows
    /// where both meet; false then.
    fn search(&mut self, held: u32, wanted: u32, low: u32, high: u32) -> bool {
        self.later.clear();
        self.later.push(wanted);
        self.earlier.clear();
        self.earlier.push(held);
        self.marked[wanted as usize] = LATER;
        self.marked[held as usize] = EARLIER;
        let (mut forth, mut back) = (0, 0);
        while forth < self.later.len() || back < self.earlier.len() {
            let mut met = false;
            if let Some(channel) = self.later.get(forth) {
                forth += 1;
                for next in self.after.list(*channel) {
                    let at = *next as usize;
                    met |= self.marked[at] == EARLIER;
                    if self.marked[at] == UNSEEN && self.place[at] < high {
                        self.marked[at] = LATER;
                        self.later.push(*next);
                    }
                }
            }
            if let Some(channel) = self.earlier.get(back).filter(|_| !met) {
                back += 1;
                for next in self.before.list(*channel) {
                    let at = *next as usize;
                    met |= self.marked[at] == LATER;
                    if self.marked[at] == UNSEEN && self.place[at] > low {
                        self.marked[at] = EARLIER;
                        self.earlier.push(*next);
                    }
                }
            }
            if met {
                let seen = self.later.iter().chain(&self.earlier);
                seen.for_each(|channel| self.marked[*channel as usize] = UNSEEN);
                return false;
            }
        }
        true
    }
}

/// Short lists side by side, each with room for all that it may hold.
#[derive(Clone, Default, Debug)]
struct FixedLists {
    first: Vec<u32>,
    past: Vec<u32>,
    items: Vec<u32>,
}

impl FixedLists {
    fn new(rooms: impl Iterator<Item = usize>) -> Self {
        let mut all = 0;
        let first: Vec<u32> = rooms
            .map(|room| {
                all += room;
                (all - room) as u32
            })
            .collect();
        Self { past: first.clone(), first, items: vec![0; all] }
    }

    fn list(&self, list: u32) -> &[u32] {
        &self.items[self.first[list as usize] as usize..self.past[list as usize] as usize]
    }

    /// Nothing is in a list twice, so that there is room.
    fn push(&mut self, list: u32, item: u32) {
        let past = &mut self.past[list as usize];
        self.items[*past as usize] = item;
        *past += 1;
    }

    fn remove(&mut self, list: u32, item: u32) {
        let own = self.first[list as usize] as usize..self.past[list as usize] as usize;
        if let Some(at) = self.items[own.clone()].iter().position(|held| *held == item) {
            self.items.swap(own.start + at, own.end - 1);
            self.past[list as usize] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    fn net(name: &str) -> FlatGraph {
        let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        FlatGraph::new(&SwitchGraph::new(&fabric, &Faults::default()))
    }

    /// A way from one channel to another over what is used, by search without the order.
    fn leads(used: &AcyclicDependencies, from: u32, to: u32) -> bool {
        let mut seen = vec![false; used.place.len()];
        let mut open = vec![from];
        while let Some(channel) = open.pop() {
            if channel == to {
                return true;
            }
            if !std::mem::replace(&mut seen[channel as usize], true) {
                open.extend(used.after.list(channel));
            }
        }
        false
    }

    #[test]
    fn dependencies_of_trees_are_adopted_at_once_unless_they_have_a_cycle() {
        let net = net("torus,dims=4x3,redundancy=2");
        let mut grown = AcyclicDependencies::new(&net, (0..net.channel_count() as u32).rev().collect());
        let mut uses = vec![0; net.dependency_count()];
        let mut refused = None;
        for held in 0..net.channel_count() as u32 {
            for wanted in net.leaving(net.to[held as usize]) {
                match grown.try_use(&net, held, wanted) {
                    true => uses[net.dependency(held, wanted)] = 2,
                    false => refused = Some((held, wanted)),
                }
            }
        }
        let mut used = AcyclicDependencies::from_uses(&net, uses.clone()).unwrap();
        let lists = |of: &AcyclicDependencies| {
            let list =
                |channel| of.after.list(channel).iter().copied().collect::<std::collections::BTreeSet<u32>>();
            (0..net.channel_count() as u32).map(list).collect::<Vec<_>>()
        };
        assert_eq!(lists(&used), lists(&grown));
        let (held, wanted) = refused.unwrap();
        assert!(!used.try_use(&net, held, wanted));
        uses[net.dependency(held, wanted)] = 1;
        assert!(AcyclicDependencies::from_uses(&net, uses).is_none());
    }

    #[test]
    fn exactly_what_closes_a_cycle_is_refused() {
        let net = net("torus,dims=4x3,redundancy=2");
        let mut used = AcyclicDependencies::new(&net, (0..net.channel_count() as u32).collect());
        let pairs: Vec<(u32, u32)> = (0..net.channel_count() as u32)
            .flat_map(|held| net.leaving(net.to[held as usize]).map(move |wanted| (held, wanted)))
            .collect();
        // A stride that shares no factor with the count visits each dependency once, far from any order.
        for at in 0..pairs.len() {
            let (held, wanted) = pairs[at * 1009 % pairs.len()];
            let turns_back = net.from[held as usize] == net.to[wanted as usize];
            let fits = !turns_back && !leads(&used, wanted, held);
            assert_eq!(used.try_use(&net, held, wanted), fits, "{held} {wanted}");
            let ordered = |held: u32| {
                let place = |channel: u32| used.place[channel as usize];
                used.after.list(held).iter().all(|wanted| place(held) < place(*wanted))
            };
            assert!((0..net.channel_count() as u32).all(ordered));
        }
    }

    #[test]
    fn what_is_taken_back_leaves_nothing_behind() {
        let net = net("torus,dims=3");
        let mut used = AcyclicDependencies::new(&net, (0..net.channel_count() as u32).collect());
        // Around the ring: the last dependency closes the cycle.
        let next = |held: u32| {
            let ahead = |wanted: &u32| net.to[*wanted as usize] != net.from[held as usize];
            net.leaving(net.to[held as usize]).find(ahead).unwrap()
        };
        let (a, b, c) = (0, next(0), next(next(0)));
        assert_eq!(next(c), a);
        assert!(used.try_use(&net, a, b));
        let mark = used.checkpoint();
        assert!(used.try_use(&net, b, c) && !used.try_use(&net, c, a));
        assert_eq!(used.state(&net, c, a), DependencyState::Blocked);
        used.roll_back(&net, mark);
        assert!(used.try_use(&net, c, a) && !used.try_use(&net, b, c));
        // Of a tree that keeps one of the two the other is given back.
        used.commit_tree(&net, [(a, b)].into_iter());
        used.clear_refusals();
        assert!(used.try_use(&net, b, c) && !used.try_use(&net, c, a));
        used.release_tree(&net, [(a, b)].into_iter());
        used.clear_refusals();
        assert!(used.try_use(&net, c, a) && !used.try_use(&net, a, b));
    }

    #[test]
    fn an_order_that_stands_takes_what_goes_along_with_it() {
        let net = net("torus,dims=4x3");
        let mut used = AcyclicDependencies::new(&net, (0..net.channel_count() as u32).collect());
        let pairs: Vec<(u32, u32)> = (0..net.channel_count() as u32)
            .flat_map(|held| net.leaving(net.to[held as usize]).map(move |wanted| (held, wanted)))
            .collect();
        let taken: Vec<_> =
            pairs.iter().filter(|(held, wanted)| used.try_use(&net, *held, *wanted)).collect();
        used.freeze();
        assert!(taken.iter().all(|(held, wanted)| used.try_use(&net, *held, *wanted)));
        for (held, wanted) in &pairs {
            let along = used.place[*held as usize] < used.place[*wanted as usize];
            assert_eq!(used.state(&net, *held, *wanted) == DependencyState::Used, along, "{held} {wanted}");
            assert_eq!(used.try_use(&net, *held, *wanted), along, "{held} {wanted}");
        }
        // Nothing that comes later changes that.
        used.commit_tree(&net, pairs.iter().copied());
        used.release_tree(&net, pairs.iter().copied());
        used.clear_refusals();
        assert!(taken.iter().all(|(held, wanted)| used.try_use(&net, *held, *wanted)));
    }
}
