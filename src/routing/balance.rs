//! Trees of shortest paths, globally balanced. A path has the fewest hops; of equals, the one whose channels carry the
//! fewest paths so far; then the one over the lower channel. Because hops come first, one pass over the switches in order
//! of distance is enough, without a heap (dissertation 3.3.2).
//!
//! Not in the paper: a channel weighs as the square of its paths. One channel that is twice as busy is worse than two that
//! are not, so the busiest one stays lower than with plain sums. For paths within a job class a channel also weighs
//! `OWN_CLASS_WEIGHT` times the square of the class's own paths. Without this a small job would not count beside large
//! ones, and its paths would share whatever channels these left.

use std::sync::Arc;

use super::descent::{Descent, DescentHop, Neighbours};
use fabdeck_fabric::SwitchGraph;

/// Weight of the square of a job class's load on a channel, beside that of all paths there. Jobs have more links and
/// lower indices of their own with it; with twice as much figure 5.2 has orders of hosts whose busiest channel stays high.
const OWN_CLASS_WEIGHT: u64 = 2;

/// The most loads that are kept by job class and channel. Above it all classes are balanced together only.
const MAX_CLASS_ENTRIES: usize = 1 << 26;

/// What trees have put on channels so far, and the tree that was grown last.
#[derive(Clone, Debug)]
pub(super) struct ChannelBalance {
    /// Paths over each channel. 2^16 senders and as many destinations fit.
    weight: Vec<u32>,
    /// The square of each weight, which is what a channel costs a path: read far more often than written.
    cost: Vec<u64>,
    /// Of each place of the last tree: the weight of its path, the channel it takes and the place behind, and how many
    /// senders pass.
    path: Vec<u64>,
    taken: Vec<ChosenChannel>,
    passing: Vec<u32>,
    turns: Vec<PathTurns>,
    among: PathChoice,
    /// Paths of each job class over each channel, one class after the other.
    own: Vec<u32>,
    /// Where the paths of the selected class begin in `own`.
    turn: Option<usize>,
}

/// The ways of which the lightest is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PathChoice {
    All,
    /// Those that go up first, across once at most, and down after, where a shortest way does: what goes so has no cycle,
    /// whatever goes beside it.
    UpDown(Arc<[ChannelDirection]>),
    /// Those to the switch behind the lowest channel: trees alike, as dimension order on a torus, that share what they
    /// depend on. Only parallel channels are balanced.
    Lowest,
}

/// Where a channel leads in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChannelDirection {
    Up,
    Across,
    Down,
}

/// The direction of each channel between switches of these heights.
pub(super) fn channel_directions(graph: &SwitchGraph, height: &[u32]) -> Arc<[ChannelDirection]> {
    let direction = |from: u32, to: u32| match height[to as usize].cmp(&height[from as usize]) {
        std::cmp::Ordering::Greater => ChannelDirection::Up,
        std::cmp::Ordering::Equal => ChannelDirection::Across,
        std::cmp::Ordering::Less => ChannelDirection::Down,
    };
    graph.channels().iter().map(|channel| direction(channel.from, channel.to)).collect()
}

/// The turns of a way, the best to go on with first: who goes down to it needs it to go down all the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum PathTurns {
    Down,
    /// Across or up first.
    Ordered,
    Unordered,
}

impl PathTurns {
    /// Of the way that begins with a channel and goes on like this.
    fn prepend(self, direction: ChannelDirection) -> Self {
        match (direction, self) {
            (_, Self::Unordered) => Self::Unordered,
            (ChannelDirection::Down, Self::Down) => Self::Down,
            (ChannelDirection::Across, Self::Down) | (ChannelDirection::Up, _) => Self::Ordered,
            _ => Self::Unordered,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChosenChannel {
    pub(super) channel: u32,
    pub(super) place: u32,
}

impl ChannelBalance {
    pub(super) fn new(net: &Neighbours, among: PathChoice) -> Self {
        let switches = net.switch_count();
        Self {
            weight: vec![0; net.channel_count()],
            cost: vec![0; net.channel_count()],
            path: vec![0; switches],
            taken: vec![ChosenChannel::default(); switches],
            passing: vec![0; switches],
            turns: vec![PathTurns::Down; switches],
            among,
            own: Vec::new(),
            turn: None,
        }
    }

    /// Counts the load of each job class on channels separately.
    pub(super) fn with_job_classes(mut self, classes: usize) -> Self {
        let kept = classes.saturating_mul(self.weight.len());
        self.own = vec![0; if kept <= MAX_CLASS_ENTRIES { kept } else { 0 }];
        self
    }

    /// Forgets the loads by job class: from now on all classes are balanced together only.
    pub(super) fn drop_job_classes(&mut self) {
        (self.own, self.turn) = (Vec::new(), None);
    }

    /// Selects the job class to which the next trees belong.
    pub(super) fn select_class(&mut self, class: Option<u32>) {
        let begins = class.map(|class| class as usize * self.weight.len());
        self.turn = begins.filter(|begins| begins + self.weight.len() <= self.own.len());
    }

    /// Grows a tree along the lightest ways.
    pub(super) fn grow_tree(&mut self, descent: &Descent) {
        match (&self.among, self.turn) {
            (PathChoice::All, None) => self.grow_among_all(descent),
            _ => self.grow_within_limits(descent),
        }
    }

    /// The tree that was grown last. Place 0 takes no channel.
    pub(super) fn tree(&self, descent: &Descent) -> &[ChosenChannel] {
        &self.taken[..descent.order().len()]
    }

    /// The common case of `grow`, without a test of kinds for each way.
    fn grow_among_all(&mut self, descent: &Descent) {
        let Self { cost, path, taken, .. } = self;
        for place in 1..descent.order().len() {
            let mut least = u64::MAX;
            let mut best = ChosenChannel::default();
            for way in descent.hops(place) {
                let weight = path[way.place as usize].saturating_add(cost[way.channel as usize]);
                if weight < least {
                    least = weight;
                    best = ChosenChannel { channel: way.channel, place: way.place };
                }
            }
            (path[place], taken[place]) = (least, best);
        }
    }

    fn grow_within_limits(&mut self, descent: &Descent) {
        let Self { weight, cost, path, own, among, turns, .. } = self;
        let square = |paths: &[u32], way: &DescentHop| u64::from(paths[way.channel as usize]).pow(2);
        let own = self.turn.map(|begins| &own[begins..begins + weight.len()]);
        for place in 1..descent.order().len() {
            let ways = descent.hops(place);
            let mut least = (PathTurns::Unordered, u64::MAX);
            let mut best = ChosenChannel::default();
            let lowest = ways.first().map_or(0, |way| way.place);
            for way in ways {
                let turned = match among {
                    PathChoice::Lowest if way.place != lowest => continue,
                    PathChoice::UpDown(leads) => {
                        turns[way.place as usize].prepend(leads[way.channel as usize])
                    }
                    PathChoice::All | PathChoice::Lowest => PathTurns::Down,
                };
                let carried =
                    cost[way.channel as usize] + own.map_or(0, |own| OWN_CLASS_WEIGHT * square(own, way));
                let weight = path[way.place as usize].saturating_add(carried);
                if (turned, weight) < least {
                    least = (turned, weight);
                    best = ChosenChannel { channel: way.channel, place: way.place };
                }
            }
            (turns[place], path[place]) = least;
            self.taken[place] = best;
        }
    }

    /// Puts the paths of the tree that was grown last on its channels: `senders` has how many each switch sends.
    pub(super) fn load_tree(&mut self, descent: &Descent, senders: &[u32]) {
        let order = descent.order();
        self.begin(order, senders);
        for place in (1..order.len()).rev() {
            let taken = self.taken[place];
            let passing = self.passing[place];
            self.add_load(taken.channel as usize, passing);
            if let Some(begins) = self.turn {
                self.own[begins + taken.channel as usize] += passing;
            }
            self.passing[taken.place as usize] += passing;
        }
    }

    /// Takes the paths of a tree that was loaded from its channels; each switch is asked for the one that it takes.
    pub(super) fn unload_tree(
        &mut self,
        net: &Neighbours,
        descent: &Descent,
        senders: &[u32],
        taken: impl Fn(u32) -> u32,
    ) {
        let order = descent.order();
        self.begin(order, senders);
        for (place, switch) in order.iter().enumerate().skip(1).rev() {
            let channel = taken(*switch);
            let passing = self.passing[place];
            let weight = &mut self.weight[channel as usize];
            *weight -= passing;
            self.cost[channel as usize] = u64::from(*weight).pow(2);
            if let Some(begins) = self.turn {
                self.own[begins + channel as usize] -= passing;
            }
            self.passing[descent.position(net.target(channel))] += passing;
        }
    }

    fn add_load(&mut self, channel: usize, paths: u32) {
        let weight = &mut self.weight[channel];
        *weight += paths;
        self.cost[channel] = u64::from(*weight).pow(2);
    }

    fn begin(&mut self, order: &[u32], senders: &[u32]) {
        for (passing, switch) in self.passing.iter_mut().zip(order) {
            *passing = senders[*switch as usize];
        }
    }

    /// The most paths over one channel, and of all channels the squares.
    pub(super) fn total_load(&self) -> (u32, u64) {
        let busiest = self.weight.iter().copied().max().unwrap_or(0);
        (busiest, self.cost.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_job_class_keeps_off_its_own_paths_where_all_together_are_even() {
        let fabric = generate(&"random,switches=2,links=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let net = Neighbours::new(&SwitchGraph::new(&fabric, &Faults::default()));
        let mut descent = Descent::default();
        descent.build(&net, 1);
        let channels = [net.first(0), net.first(0) + 1];
        let take = |balance: &mut ChannelBalance, class: Option<u32>| {
            balance.select_class(class);
            balance.grow_tree(&descent);
            let taken = balance.tree(&descent)[1].channel;
            balance.load_tree(&descent, &[1, 0]);
            taken
        };
        let mut balance = ChannelBalance::new(&net, PathChoice::All).with_job_classes(2);
        let taken = [Some(0), Some(1), Some(0), Some(1)].map(|class| take(&mut balance, class));
        assert_eq!(taken, [channels[0], channels[1], channels[1], channels[0]]);
        let mut balance = ChannelBalance::new(&net, PathChoice::All).with_job_classes(2);
        balance.drop_job_classes();
        let taken = [Some(0), Some(1), Some(0), Some(1)].map(|class| take(&mut balance, class));
        assert_eq!(taken, [channels[0], channels[1], channels[0], channels[1]]);
    }
}
