//! Takes paths off the busiest channels.
//!
//! As long as some channel carries more than `goal`, a switch whose paths to a destination cross it takes another hop
//! to there, if the dependencies that come of it close no cycle, and if no channel on the new way comes to carry more than
//! `goal`. The goal falls step by step; a step that fails is halved. Whatever is moved, the busiest channel carries less
//! than before. Ways that are no longer come first, then those with a detour.

use super::forest::{Forest, View};
use super::order::Dependencies;
use crate::engine::{Pulse, Refusal};
use crate::spread::net::NONE;

/// Switches and hops that may be looked at: for each entry of the tables, but so many in any case.
const LOOKS_BY_ENTRY: usize = 8;
const LEAST_LOOKS: usize = 1 << 21;

/// Hops that a way may be longer than the one in its place, round by round.
const DETOURS: [u32; 2] = [0, 2];

/// Another hop for the paths of a switch to a destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    /// Hops more than before, none where there are fewer.
    detour: u32,
    /// Paths on the busiest channel of the new way.
    most: u64,
    channel: u32,
}

impl Forest<'_> {
    /// As long as some channel carries more than `bound`, which no routes stay below.
    pub fn relieve(&mut self, bound: u64, pulse: &dyn Pulse) -> Result<(), Refusal> {
        let looks = LEAST_LOOKS.max(self.table.len() * LOOKS_BY_ENTRY);
        let switches = self.net.switches();
        let view = View::new(self.net);
        let mut relief = Relief {
            looks,
            most: vec![0; switches],
            over: vec![false; switches],
            moves: Vec::new(),
            detour: 0,
            view,
            forest: self,
        };
        for detour in DETOURS {
            relief.detour = detour;
            relief.run(bound, pulse)?;
        }
        Ok(())
    }
}

struct Relief<'a, 'n> {
    forest: &'a mut Forest<'n>,
    view: View<'n>,
    /// What the busiest channel between a switch and the destination carries.
    most: Vec<u64>,
    /// Whether a switch sends over the channel that is relieved: known of all that stand before it in the tree's order.
    over: Vec<bool>,
    moves: Vec<Move>,
    detour: u32,
    looks: usize,
}

impl Relief<'_, '_> {
    fn run(&mut self, bound: u64, pulse: &dyn Pulse) -> Result<(), Refusal> {
        let mut most = self.forest.busiest();
        let mut step = most.saturating_sub(bound).div_ceil(4);
        while step > 0 && most > bound && self.looks > 0 {
            if pulse.cancelled() {
                return Err(Refusal::Cancelled);
            }
            self.forest.used.iter_mut().for_each(Dependencies::forgive);
            let goal = most - step.min(most - bound);
            let load = &self.forest.load;
            let mut over: Vec<u32> = (0..load.len() as u32).collect();
            over.retain(|channel| load[*channel as usize] > goal);
            over.sort_unstable_by_key(|channel| (std::cmp::Reverse(load[*channel as usize]), *channel));
            let done = over.iter().all(|channel| self.relieve(*channel, goal));
            most = self.forest.busiest();
            if !done {
                step /= 2;
            }
        }
        Ok(())
    }

    /// Moves paths off a channel until it carries no more than `goal`; whether that was possible.
    fn relieve(&mut self, channel: u32, goal: u64) -> bool {
        let from = self.forest.net.from[channel as usize];
        let place = self.forest.net.place(channel);
        for tree in 0..self.forest.roots.len() {
            if self.forest.row(tree)[from as usize] != place || !self.forest.is_loaded(tree) {
                continue;
            }
            while self.forest.load[channel as usize] > goal && self.looks > 0 {
                if !self.move_one(tree, channel, goal) {
                    break;
                }
            }
            if self.forest.load[channel as usize] <= goal {
                return true;
            }
        }
        false
    }

    /// Lays out a tree, and finds who in it sends over a channel.
    fn look_at(&mut self, tree: usize, channel: u32) {
        let net = self.forest.net;
        self.looks = self.looks.saturating_sub(net.switches());
        self.view.read(self.forest, tree, &net.senders);
        self.over.fill(false);
        self.most[self.view.root as usize] = 0;
        for at in 1..self.view.order.len() {
            let switch = self.view.order[at] as usize;
            let taken = self.view.next[switch];
            let behind = net.to[taken as usize] as usize;
            self.most[switch] = self.most[behind].max(self.forest.load[taken as usize]);
            self.over[switch] = taken == channel || self.over[behind];
        }
    }

    /// Of the switches that send over a channel, seen from the destination, the first one that may takes the hop whose
    /// way stays the least busy: nearest to the destination most paths move at once.
    fn move_one(&mut self, tree: usize, channel: u32, goal: u64) -> bool {
        self.look_at(tree, channel);
        for at in 1..self.view.order.len() {
            let switch = self.view.order[at];
            if self.over[switch as usize] && self.view.flow(switch) > 0 {
                self.find_moves(switch, goal);
                while let Some(found) = self.moves.pop() {
                    if self.take(tree, switch, found.channel) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The best last.
    fn find_moves(&mut self, switch: u32, goal: u64) {
        let (net, paths) = (self.forest.net, self.view.flow(switch));
        let hops = self.view.hops[switch as usize];
        self.moves.clear();
        self.looks = self.looks.saturating_sub(net.leaving(switch).len());
        for channel in net.leaving(switch) {
            let to = net.to[channel as usize] as usize;
            let room = self.forest.load[channel as usize] + paths <= goal;
            if !room
                || self.over[to]
                || !self.view.arrives(to as u32)
                || net.reverse[channel as usize] == NONE
            {
                continue;
            }
            let detour = (self.view.hops[to] + 1).saturating_sub(hops);
            if detour > self.detour {
                continue;
            }
            let most = self.most_along(switch, channel, paths, goal);
            if most <= goal {
                self.moves.push(Move { detour, most, channel });
            }
        }
        self.moves.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Paths on the busiest channel of another way of a switch, once its paths go there.
    fn most_along(&mut self, switch: u32, first: u32, paths: u64, goal: u64) -> u64 {
        let (net, load) = (self.forest.net, &self.forest.load);
        let behind = self.most[net.to[first as usize] as usize].max(load[first as usize]) + paths;
        if behind <= goal {
            return behind;
        }
        self.looks = self.looks.saturating_sub(4);
        let (mut most, mut channel) = (0, first);
        // What both ways share is as busy as it was.
        while channel != NONE && most <= goal && !self.is_on_way(switch, channel) {
            most = most.max(load[channel as usize] + paths);
            channel = self.view.next[net.to[channel as usize] as usize];
        }
        most
    }

    /// Whether a switch takes a channel now, itself or behind.
    fn is_on_way(&self, switch: u32, wanted: u32) -> bool {
        let mut channel = self.view.next[switch as usize];
        while channel != NONE && channel != wanted {
            channel = self.view.next[self.forest.net.to[channel as usize] as usize];
        }
        channel == wanted
    }

    /// Lets a switch take another channel, if the dependencies that come of it may be used.
    fn take(&mut self, tree: usize, switch: u32, channel: u32) -> bool {
        let net = self.forest.net;
        let used = &mut self.forest.used[usize::from(self.forest.roots[tree].lane)];
        let before = self.view.next[switch as usize];
        let new = self.view.around(switch, channel);
        self.looks = self.looks.saturating_sub(new.len() * 4);
        let mark = used.mark();
        if !new.iter().all(|(held, wanted)| used.try_use(net, *held, *wanted)) {
            used.take_back(net, mark);
            return false;
        }
        used.settle(net, new.into_iter());
        used.release(net, self.view.around(switch, before).into_iter());
        let paths = self.view.flow(switch);
        let load = &mut self.forest.load;
        self.view.along(before, |channel| load[channel as usize] -= paths);
        self.view.along(channel, |channel| load[channel as usize] += paths);
        self.forest.set(tree, switch, channel);
        true
    }
}
