//! The used dependencies of one layer, kept free of cycles by a topological order that is mended as they come
//! (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs"). The dissertation searches
//! depth first at every edge instead (section 6.2.6.1).

use super::net::Net;

const FREE: u32 = 0;
const USED: u32 = 1;

/// What is known of a dependency before anybody tries to use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Used,
    /// It would close a cycle.
    Blocked,
    Free,
}

#[derive(Debug)]
pub(super) struct Dependencies {
    /// Free, used, or the age at which it was found to close a cycle. It stays so for that age, whatever is taken
    /// away: asking again costs more than it gives.
    state: Vec<u32>,
    age: u32,
    /// Trees that use a dependency; escape paths count one for good.
    uses: Vec<u32>,
    place: Vec<u32>,
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    marked: Vec<bool>,
    later: Vec<u32>,
    earlier: Vec<u32>,
    places: Vec<u32>,
    /// What came in since the last settlement of accounts.
    fresh: Vec<(u32, u32)>,
    /// What was found to close a cycle since then.
    refused: Vec<u32>,
}

impl Dependencies {
    /// No dependency yet; the channels in an order to begin with.
    pub fn new(net: &Net, place: Vec<u32>) -> Self {
        Self {
            state: vec![FREE; net.dependencies()],
            age: USED + 1,
            uses: vec![0; net.dependencies()],
            place,
            after: vec![Vec::new(); net.channels()],
            before: vec![Vec::new(); net.channels()],
            marked: vec![false; net.channels()],
            later: Vec::new(),
            earlier: Vec::new(),
            places: Vec::new(),
            fresh: Vec::new(),
            refused: Vec::new(),
        }
    }

    pub fn known(&self, dependency: usize) -> Known {
        match self.state[dependency] {
            USED => Known::Used,
            age if age == self.age => Known::Blocked,
            _ => Known::Free,
        }
    }

    /// Uses a dependency unless that closes a cycle.
    pub fn try_use(&mut self, net: &Net, held: u32, wanted: u32) -> bool {
        let dependency = net.dependency(held, wanted);
        match self.known(dependency) {
            Known::Used => return true,
            Known::Blocked => return false,
            Known::Free => {}
        }
        if net.from[held as usize] == net.to[wanted as usize] || !self.make_room(held, wanted) {
            self.state[dependency] = self.age;
            self.refused.push(dependency as u32);
            return false;
        }
        self.state[dependency] = USED;
        self.after[held as usize].push(wanted);
        self.before[wanted as usize].push(held);
        self.fresh.push((held, wanted));
        true
    }

    /// An escape path's dependency, which the order allows already and nothing takes away.
    pub fn reserve(&mut self, net: &Net, held: u32, wanted: u32) {
        let dependency = net.dependency(held, wanted);
        self.state[dependency] = USED;
        self.uses[dependency] = 1;
        self.after[held as usize].push(wanted);
        self.before[wanted as usize].push(held);
    }

    /// How much has come in so far, to come back to.
    pub fn mark(&self) -> (usize, usize) {
        (self.fresh.len(), self.refused.len())
    }

    /// Takes back what came in after a mark, and what was refused because of it.
    pub fn take_back(&mut self, net: &Net, (fresh, refused): (usize, usize)) {
        if self.fresh.len() > fresh {
            self.refused.drain(refused..).for_each(|dependency| self.state[dependency as usize] = FREE);
        }
        while self.fresh.len() > fresh {
            let Some((held, wanted)) = self.fresh.pop() else { break };
            self.remove(net, held, wanted);
        }
    }

    /// A tree is done: counts its dependencies, and forgets what came in for it and is not among them.
    pub fn settle(&mut self, net: &Net, of_tree: impl Iterator<Item = (u32, u32)>) {
        of_tree.for_each(|(held, wanted)| self.uses[net.dependency(held, wanted)] += 1);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|(held, wanted)| self.uses[net.dependency(*held, *wanted)] == 0);
        fresh.iter().for_each(|(held, wanted)| self.remove(net, *held, *wanted));
        fresh.clear();
        self.fresh = fresh;
        self.refused.clear();
    }

    /// Forgets what was found to close a cycle: since then dependencies went away, so that it may fit now.
    pub fn forgive(&mut self) {
        self.age += 1;
    }

    /// A tree is taken out; what it alone used is free again.
    pub fn release(&mut self, net: &Net, of_tree: impl Iterator<Item = (u32, u32)>) {
        for (held, wanted) in of_tree {
            let dependency = net.dependency(held, wanted);
            self.uses[dependency] -= 1;
            if self.uses[dependency] == 0 {
                self.remove(net, held, wanted);
            }
        }
    }

    fn remove(&mut self, net: &Net, held: u32, wanted: u32) {
        self.state[net.dependency(held, wanted)] = FREE;
        forget(&mut self.after[held as usize], wanted);
        forget(&mut self.before[wanted as usize], held);
    }

    /// Puts `held` before `wanted` in the order; false if `wanted` leads to `held`.
    fn make_room(&mut self, held: u32, wanted: u32) -> bool {
        let (low, high) = (self.place[wanted as usize], self.place[held as usize]);
        if high < low {
            return true;
        }
        if held == wanted || !self.search_later(wanted, held, high) {
            return false;
        }
        self.search_earlier(held, low);
        let place = &self.place;
        self.earlier.sort_unstable_by_key(|channel| place[*channel as usize]);
        self.later.sort_unstable_by_key(|channel| place[*channel as usize]);
        self.places.clear();
        let moved = self.earlier.iter().chain(&self.later);
        self.places.extend(moved.clone().map(|channel| place[*channel as usize]));
        self.places.sort_unstable();
        for (channel, place) in moved.zip(&self.places) {
            self.place[*channel as usize] = *place;
            self.marked[*channel as usize] = false;
        }
        true
    }

    /// Collects what follows `start` up to a place; false when it comes to `held`.
    fn search_later(&mut self, start: u32, held: u32, high: u32) -> bool {
        self.later.clear();
        self.later.push(start);
        self.marked[start as usize] = true;
        let mut head = 0;
        while let Some(channel) = self.later.get(head).copied() {
            head += 1;
            for next in &self.after[channel as usize] {
                if *next == held {
                    self.later.iter().for_each(|channel| self.marked[*channel as usize] = false);
                    return false;
                }
                if self.place[*next as usize] < high && !self.marked[*next as usize] {
                    self.marked[*next as usize] = true;
                    self.later.push(*next);
                }
            }
        }
        true
    }

    fn search_earlier(&mut self, start: u32, low: u32) {
        self.earlier.clear();
        self.earlier.push(start);
        self.marked[start as usize] = true;
        let mut head = 0;
        while let Some(channel) = self.earlier.get(head).copied() {
            head += 1;
            for next in &self.before[channel as usize] {
                if self.place[*next as usize] > low && !self.marked[*next as usize] {
                    self.marked[*next as usize] = true;
                    self.earlier.push(*next);
                }
            }
        }
    }
}

fn forget(list: &mut Vec<u32>, what: u32) {
    if let Some(at) = list.iter().position(|item| *item == what) {
        list.swap_remove(at);
    }
}
