//! Takes paths off the busiest channels.
//!
//! As long as some channel carries more than `goal`, a switch whose paths to a destination cross it takes another hop
//! to there, if the dependencies that come of it close no cycle, and if no channel on the new way comes to carry more than
//! `goal`. The goal falls step by step; a step that fails is halved. Whatever is moved, the busiest channel carries less
//! than before. Ways that are no longer come first, then those with a detour.

use super::dependency_order::AcyclicDependencies;
use super::forest::{ABSENT, DestinationForest, NOWHERE};
use crate::engine::{EngineRefusal, RouteProgress};
use crate::line_trees::flat_graph::NONE;

/// Limit of visited switches and hops: for each table entry, but never below `MIN_VISITS`.
const VISITS_PER_ENTRY: usize = 8;
const MIN_VISITS: usize = 1 << 21;

/// Hops that a way may be longer than the one in its place, round by round.
const DETOURS: [u32; 2] = [0, 2];

/// Visited switches and hops, for a table with this number of entries.
fn visit_limit(entries: usize) -> usize {
    MIN_VISITS.max(entries * VISITS_PER_ENTRY)
}

/// Another hop for the paths of a switch to a destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HopMove {
    /// Hops more than before, none where there are fewer.
    detour: u32,
    /// Paths on the busiest channel of the new way.
    most: u64,
    channel: u32,
}

/// What is known of a switch in the tree at hand, as of a round.
#[derive(Clone, Copy, Default)]
struct SwitchView {
    round: u32,
    hops: u32,
    /// What the busiest channel between the switch and the destination carries.
    most: u64,
    /// Whether it sends over the channel that is relieved.
    over: bool,
}

impl DestinationForest<'_> {
    /// As long as some channel carries more than `bound`, which no routes stay below.
    pub fn relieve(&mut self, bound: u64, pulse: &dyn RouteProgress) -> Result<(), EngineRefusal> {
        if self.max_load() <= bound {
            return Ok(());
        }
        let looks = visit_limit(self.table.len());
        let switches = self.net.switch_count();
        let mut relief = LoadRelief {
            looks,
            taken: self.channel_places(),
            spots: vec![SwitchView::default(); switches],
            round: 0,
            sends: vec![0; switches],
            over: Vec::new(),
            moves: Vec::new(),
            free: Vec::new(),
            way: Vec::new(),
            detour: 0,
            forest: self,
        };
        for detour in DETOURS {
            relief.detour = detour;
            relief.run(bound, pulse)?;
        }
        Ok(())
    }

    /// The places of the table, for each switch and tree; those of trees without load are left out.
    fn channel_places(&self) -> Vec<u8> {
        let trees = self.roots.len();
        let mut columns = vec![NOWHERE; self.table.len()];
        for tree in (0..trees).filter(|tree| self.is_loaded(*tree)) {
            for (switch, place) in self.row(tree).iter().enumerate() {
                columns[switch * trees + tree] = *place;
            }
        }
        columns
    }
}

struct LoadRelief<'a, 'n> {
    forest: &'a mut DestinationForest<'n>,
    /// For each switch and tree the place of the channel that it takes.
    taken: Vec<u8>,
    spots: Vec<SwitchView>,
    round: u32,
    sends: Vec<u32>,
    /// Switches that send over the channel that is relieved, in the order in which they are tried.
    over: Vec<u32>,
    moves: Vec<HopMove>,
    /// Channels with room, and those on the way of the switch at hand, once that was asked for.
    free: Vec<u32>,
    way: Vec<u32>,
    detour: u32,
    looks: usize,
}

impl LoadRelief<'_, '_> {
    fn run(&mut self, bound: u64, pulse: &dyn RouteProgress) -> Result<(), EngineRefusal> {
        let mut most = self.forest.max_load();
        let mut step = most.saturating_sub(bound).div_ceil(4);
        while step > 0 && most > bound && self.looks > 0 {
            pulse.check_cancelled()?;
            self.forest.used.iter_mut().for_each(AcyclicDependencies::clear_refusals);
            let goal = most - step.min(most - bound);
            let load = &self.forest.load;
            let mut over: Vec<u32> = (0..load.len() as u32).collect();
            over.retain(|channel| load[*channel as usize] > goal);
            over.sort_unstable_by_key(|channel| (std::cmp::Reverse(load[*channel as usize]), *channel));
            let done = over.iter().all(|channel| self.relieve_channel(*channel, goal));
            most = self.forest.max_load();
            if !done {
                step /= 2;
            }
        }
        Ok(())
    }

    /// Moves paths off a channel until it carries no more than `goal`; whether that was possible.
    fn relieve_channel(&mut self, channel: u32, goal: u64) -> bool {
        let from = self.forest.net.from[channel as usize] as usize;
        let place = self.forest.net.place(channel);
        let trees = self.forest.roots.len();
        let mut tree = 0;
        let next = |taken: &[u8], tree: usize| {
            find_byte(&taken[from * trees + tree..(from + 1) * trees], place).map(|more| tree + more)
        };
        while let Some(found) = next(&self.taken, tree) {
            while self.forest.load[channel as usize] > goal && self.looks > 0 {
                if !self.move_in_tree(found, channel, goal) {
                    break;
                }
            }
            if self.forest.load[channel as usize] <= goal {
                return true;
            }
            tree = found + 1;
        }
        false
    }

    /// Of the switches that send over a channel, seen from the destination, the first one that may takes the hop whose
    /// way stays the least busy: nearest to the destination most paths move at once.
    fn move_in_tree(&mut self, tree: usize, channel: u32, goal: u64) -> bool {
        let net = self.forest.net;
        self.looks = self.looks.saturating_sub(net.switch_count());
        let from = net.from[channel as usize];
        let paths = self.forest.flows(tree)[from as usize];
        if self.next_channel(tree, from) != channel || paths == ABSENT || paths == 0 {
            return false;
        }
        self.round += 1;
        if self.move_switch(tree, from, channel, goal) {
            return true;
        }
        // All others that send over the channel come by this one.
        if paths == net.senders[from as usize] {
            return false;
        }
        self.find_senders_over(tree, channel);
        for at in 1..self.over.len() {
            let switch = self.over[at];
            if self.forest.flows(tree)[switch as usize] > 0 && self.move_switch(tree, switch, channel, goal) {
                return true;
            }
        }
        false
    }

    fn move_switch(&mut self, tree: usize, switch: u32, relieved: u32, goal: u64) -> bool {
        self.find_moves(tree, switch, relieved, goal);
        while let Some(found) = self.moves.pop() {
            if self.take_channel(tree, switch, found.channel) {
                return true;
            }
        }
        false
    }

    /// The channel that a switch takes in a tree in which it arrives; `NONE` at the root.
    fn next_channel(&self, tree: usize, switch: u32) -> u32 {
        self.forest.channel(tree, switch)
    }

    /// Finds who in a tree sends over a channel: from the destination outwards, and by number.
    fn find_senders_over(&mut self, tree: usize, channel: u32) {
        let (forest, over) = (&*self.forest, &mut self.over);
        let (net, row, flows) = (forest.net, forest.row(tree), forest.flows(tree));
        // Of each switch that was come by, whether it does.
        let (apart, behind) = (2 * self.round, 2 * self.round + 1);
        let sends = &mut self.sends[..row.len()];
        over.clear();
        sends[forest.roots[tree].switch as usize] = apart;
        let from = net.from[channel as usize] as usize;
        sends[from] = behind;
        over.push(from as u32);
        for (start, flow) in flows.iter().enumerate() {
            if *flow == ABSENT || sends[start] >= apart {
                continue;
            }
            let next = |at: usize| net.to[net.channel_at(at as u32, row[at]) as usize] as usize;
            let mut end = start;
            while sends[end] < apart {
                end = next(end);
            }
            let (found, first) = (sends[end], over.len());
            let mut at = start;
            while at != end {
                sends[at] = found;
                if found == behind {
                    over.push(at as u32);
                }
                at = next(at);
            }
            over[first..].reverse();
        }
    }

    /// Looks at the way of a switch that arrives.
    #[inline]
    fn inspect_switch(&mut self, tree: usize, switch: u32, relieved: u32) -> SwitchView {
        let (forest, round) = (&*self.forest, self.round);
        let known = self.spots[switch as usize];
        if known.round == round {
            return known;
        }
        let (net, row, root) = (forest.net, forest.row(tree), forest.roots[tree].switch);
        let mut spot = SwitchView { round, ..SwitchView::default() };
        let mut at = switch;
        while at != root {
            let taken = net.channel_at(at, row[at as usize]);
            spot.hops += 1;
            spot.most = spot.most.max(forest.load[taken as usize]);
            spot.over |= taken == relieved;
            at = net.to[taken as usize];
        }
        self.spots[switch as usize] = spot;
        spot
    }

    /// The best last.
    fn find_moves(&mut self, tree: usize, switch: u32, relieved: u32, goal: u64) {
        let net = self.forest.net;
        let paths = u64::from(self.forest.flows(tree)[switch as usize]);
        self.moves.clear();
        self.looks = self.looks.saturating_sub(net.leaving(switch).len());
        let leaving = net.leaving(switch);
        let (first, own) = (leaving.start, leaving.start as usize..leaving.end as usize);
        // A load says more than the way behind it: most channels have no room.
        let load = &self.forest.load[own.clone()];
        self.free.clear();
        for (channel, load) in (first..).zip(load) {
            if *load + paths <= goal {
                self.free.push(channel);
            }
        }
        self.way.clear();
        let mut hops = NONE;
        for at in 0..self.free.len() {
            let channel = self.free[at];
            let to = net.to[channel as usize];
            let mut there = self.spots[to as usize];
            if there.round != self.round {
                if self.forest.flows(tree)[to as usize] == ABSENT {
                    continue;
                }
                there = self.inspect_switch(tree, to, relieved);
            }
            if there.over || net.reverse[channel as usize] == NONE {
                continue;
            }
            if hops == NONE {
                hops = self.inspect_switch(tree, switch, relieved).hops;
            }
            let detour = (there.hops + 1).saturating_sub(hops);
            if detour > self.detour {
                continue;
            }
            let most = self.max_load_along(tree, switch, channel, (paths, there.most), goal);
            if most <= goal {
                self.moves.push(HopMove { detour, most, channel });
            }
        }
        self.moves.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Paths on the busiest channel of another way of a switch, once its paths go there; `beyond` is what the busiest behind
    /// the first channel carries now.
    fn max_load_along(
        &mut self,
        tree: usize,
        switch: u32,
        first: u32,
        (paths, beyond): (u64, u64),
        goal: u64,
    ) -> u64 {
        let net = self.forest.net;
        let behind = beyond.max(self.forest.load[first as usize]) + paths;
        if behind <= goal {
            return behind;
        }
        self.looks = self.looks.saturating_sub(4);
        let (mut most, mut channel) = (0, first);
        if self.way.is_empty() {
            let mut own = self.next_channel(tree, switch);
            while own != NONE {
                self.way.push(own);
                own = self.next_channel(tree, net.to[own as usize]);
            }
        }
        // What both ways share is as busy as it was.
        while channel != NONE && most <= goal && !self.way.contains(&channel) {
            most = most.max(self.forest.load[channel as usize] + paths);
            channel = self.next_channel(tree, net.to[channel as usize]);
        }
        most
    }

    /// The dependencies of a switch that takes a channel: of those that send over it on the channel, and of the channel on the
    /// next one.
    fn dependencies_around(&self, tree: usize, switch: u32, channel: u32) -> Vec<(u32, u32)> {
        let (net, row) = (self.forest.net, self.forest.row(tree));
        let onward = self.next_channel(tree, net.to[channel as usize]);
        let arriving = net.incoming(switch).iter();
        let before = arriving.filter(|(child, from)| row[*from as usize] == net.place(*child));
        let ahead = (onward != NONE).then_some((channel, onward));
        before.map(|(child, _)| (*child, channel)).chain(ahead).collect()
    }

    /// Lets a switch take another channel, if the dependencies that come of it may be used.
    fn take_channel(&mut self, tree: usize, switch: u32, channel: u32) -> bool {
        let net = self.forest.net;
        let before = self.next_channel(tree, switch);
        let new = self.dependencies_around(tree, switch, channel);
        let old = self.dependencies_around(tree, switch, before);
        let used = &mut self.forest.used[usize::from(self.forest.roots[tree].lane)];
        self.looks = self.looks.saturating_sub(new.len() * 4);
        let mark = used.checkpoint();
        if !new.iter().all(|(held, wanted)| used.try_use(net, *held, *wanted)) {
            used.roll_back(net, mark);
            return false;
        }
        used.commit_tree(net, new.into_iter());
        used.release_tree(net, old.into_iter());
        self.shift_load(tree, switch, before, false);
        self.shift_load(tree, switch, channel, true);
        self.forest.set(tree, switch, channel);
        self.taken[switch as usize * self.forest.roots.len() + tree] = net.place(channel);
        true
    }

    /// Puts the paths of a switch on the way that begins with a channel, or takes them off.
    fn shift_load(&mut self, tree: usize, switch: u32, mut channel: u32, add: bool) {
        let net = self.forest.net;
        let row = tree * net.switch_count();
        let paths = self.forest.flow[row + switch as usize];
        while channel != NONE {
            let to = net.to[channel as usize];
            let (load, flow) =
                (&mut self.forest.load[channel as usize], &mut self.forest.flow[row + to as usize]);
            if add {
                (*load, *flow) = (*load + u64::from(paths), *flow + paths);
            } else {
                (*load, *flow) = (*load - u64::from(paths), *flow - paths);
            }
            channel = self.next_channel(tree, to);
        }
    }
}

/// Where a byte is; pieces that do not have it are passed over as a whole.
fn find_byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    const CHUNK: usize = 32;
    let has = |piece: &[u8]| piece.iter().fold(false, |has, byte| has | (*byte == wanted));
    let piece = bytes.chunks(CHUNK).position(has)?;
    let within = bytes[piece * CHUNK..].iter().position(|byte| *byte == wanted)?;
    Some(piece * CHUNK + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_limited_by_the_table_and_small_tables_have_enough() {
        assert_eq!([0, 1 << 18, 1 << 20].map(visit_limit), [1 << 21, 1 << 21, 1 << 23]);
    }
}
