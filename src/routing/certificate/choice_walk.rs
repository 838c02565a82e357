//! All ways of packets to one destination: which channels they come to, on which lanes, and whether each choice
//! arrives.

use super::choice_sets::{ChoiceColumn, ChoiceExits, ChoiceSets};
use super::choice_sources::ChoiceSource;
use super::lane_mapping::LaneMapping;
use crate::problem::Destination;
use crate::trees::Cause;
use fabdeck_fabric::{Channel, PortNum, PortSet, ServiceLevel};

/// The destination of a walk, and the level of its packets.
#[derive(Clone, Copy, Debug)]
pub struct WalkTarget<'a> {
    pub root: u32,
    pub end: &'a Destination,
    pub level: ServiceLevel,
}

/// What becomes of packets that came to a channel, over all choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceFate {
    Unvisited,
    OnPath,
    /// Every choice arrives, after at most this many more channels.
    Arrives(u32),
    /// Some choice is lost at a switch.
    Lost(Cause, u32),
}

/// What a hop between two ports makes of the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneStep {
    pub lane: u8,
    pub from_table: bool,
    pub has_lane: bool,
}

/// The lanes of hops.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceLanes<'a> {
    pub mapping: &'a LaneMapping<'a>,
    /// Whether all packets share lane 0, whatever the tables map.
    pub one_lane: bool,
}

impl ChoiceLanes<'_> {
    pub fn step(&self, switch: u32, from: PortNum, to: PortNum, level: ServiceLevel) -> LaneStep {
        if self.one_lane {
            return LaneStep { lane: 0, from_table: true, has_lane: true };
        }
        let hop = self.mapping.hop(switch, from, to, level.value());
        LaneStep { lane: hop.lane, from_table: hop.from_table, has_lane: hop.has_lane }
    }
}

/// A place where a packet decides: behind a channel, or at the port of a source.
#[derive(Clone, Copy, Debug)]
struct ChoicePlace {
    switch: u32,
    ingress: PortNum,
    excludes: bool,
}

/// A step of a search: the channel, its outputs that are not yet searched, the longest way so far, and its failure.
#[derive(Debug)]
struct SearchFrame {
    channel: u32,
    left: PortSet,
    longest: u32,
    lost: Option<(Cause, u32)>,
}

/// A port that lacks the lane of a packet.
pub type LackingPort = (u32, PortNum, u8);

/// The buffers of a walk, and what the last one found.
#[derive(Debug)]
pub struct ChoiceWalk<'a> {
    pub sets: &'a ChoiceSets<'a>,
    pub lanes: ChoiceLanes<'a>,
    pub column: ChoiceColumn,
    /// By channel: the lanes of packets on it, as bits.
    pub on: Vec<u16>,
    /// The channels that packets come to.
    pub reached: Vec<u32>,
    pub fate: Vec<ChoiceFate>,
    /// By channel: whether some choice arrives from there. Only for channels that lose packets by another choice.
    can_arrive: Vec<bool>,
    /// The channels with a fate. Packets do not come to all of them: a port may lack their lane.
    searched: Vec<u32>,
    /// The channels of `reached` that lead to the switch of the destination.
    last: Vec<u32>,
    /// The forwarding loops, each from its lowest switch on.
    pub loops: Vec<Vec<u32>>,
    pub lacking: Vec<LackingPort>,
    /// Switches whose lanes no table states.
    pub without_tables: Vec<u32>,
    /// Switches where packets come in by a port of their set.
    pub sensitive: Vec<u32>,
    pub turns: u64,
    /// The most ports that a packet can choose among.
    pub widest: u32,
    stack: Vec<SearchFrame>,
}

impl<'a> ChoiceWalk<'a> {
    pub fn new(sets: &'a ChoiceSets<'a>, lanes: ChoiceLanes<'a>) -> Self {
        let channels = sets.problem().graph.channels().len();
        Self {
            sets,
            lanes,
            column: ChoiceColumn::default(),
            on: vec![0; channels],
            reached: Vec::new(),
            fate: vec![ChoiceFate::Unvisited; channels],
            can_arrive: vec![false; channels],
            searched: Vec::new(),
            last: Vec::new(),
            loops: Vec::new(),
            lacking: Vec::new(),
            without_tables: Vec::new(),
            sensitive: Vec::new(),
            turns: 0,
            widest: 0,
            stack: Vec::new(),
        }
    }

    fn channel(&self, channel: u32) -> &'a Channel {
        &self.sets.problem().graph.channels()[channel as usize]
    }

    fn place_behind(&self, channel: u32) -> ChoicePlace {
        let channel = self.channel(channel);
        ChoicePlace { switch: channel.to, ingress: channel.to_port, excludes: true }
    }

    fn exits(&self, at: ChoicePlace, target: WalkTarget<'_>) -> ChoiceExits {
        let place = (at.switch, at.ingress, at.excludes);
        self.sets.exits(&self.column, place, target.level, (target.root, target.end))
    }

    /// Follows the packets of sources over all their choices.
    pub fn walk(&mut self, sources: &[ChoiceSource], target: WalkTarget<'_>) {
        for channel in self.reached.drain(..) {
            self.on[channel as usize] = 0;
        }
        for channel in self.searched.drain(..) {
            self.fate[channel as usize] = ChoiceFate::Unvisited;
            self.can_arrive[channel as usize] = false;
        }
        self.last.clear();
        self.loops.clear();
        self.sensitive.clear();
        for source in sources {
            self.leave(place_of_source(source), target);
        }
        let mut next = 0;
        while let Some(channel) = self.reached.get(next).copied() {
            self.leave(self.place_behind(channel), target);
            if self.channel(channel).to == target.root {
                self.last.push(channel);
            }
            next += 1;
        }
        for at in 0..self.reached.len() {
            self.search(self.reached[at], target);
        }
        // The port of a source's switch may lack the lane. What lies behind it is judged all the same.
        for source in sources {
            let exits = self.exits(place_of_source(source), target);
            for port in exits.channels.iter() {
                self.search(self.sets.channel(source.switch, port), target);
            }
        }
        self.find_arriving(target);
        self.loops.sort_unstable();
        self.loops.dedup();
        self.sensitive.sort_unstable();
        self.sensitive.dedup();
    }

    /// Puts packets on all channels by which they may leave a place.
    fn leave(&mut self, at: ChoicePlace, target: WalkTarget<'_>) {
        let exits = self.exits(at, target);
        self.turns += u64::from(exits.turns_back);
        self.widest = self.widest.max(exits.channels.count());
        if exits.has_ingress {
            self.sensitive.push(at.switch);
        }
        for port in exits.channels.iter() {
            let Some(lane) = self.lane(at, port, target.level) else { continue };
            let channel = self.sets.channel(at.switch, port);
            if self.on[channel as usize] == 0 {
                self.reached.push(channel);
            }
            self.on[channel as usize] |= 1 << lane;
        }
        self.deliver(at, exits, target);
    }

    /// Looks whether the port of the destination has the lane of packets that arrive.
    fn deliver(&mut self, at: ChoicePlace, exits: ChoiceExits, target: WalkTarget<'_>) {
        if exits.arrives && target.end.port != PortNum::MANAGEMENT {
            self.lane(at, target.end.port, target.level);
        }
    }

    /// Looks at the port of a destination whose packets take the channels of the last walk: ports of one switch can
    /// have different lanes.
    pub fn check_delivery(&mut self, sources: &[ChoiceSource], target: WalkTarget<'_>) {
        let near = sources.iter().filter(|source| source.switch == target.root).map(place_of_source);
        let behind = self.last.iter().map(|channel| self.place_behind(*channel));
        let places: Vec<ChoicePlace> = near.chain(behind).collect();
        for at in places {
            self.deliver(at, self.exits(at, target), target);
        }
    }

    /// The lane of packets that leave by a port; `None` where the port does not have it, and drops them.
    fn lane(&mut self, at: ChoicePlace, port: PortNum, level: ServiceLevel) -> Option<u8> {
        let step = self.lanes.step(at.switch, at.ingress, port, level);
        if !step.from_table && self.without_tables.last() != Some(&at.switch) {
            self.without_tables.push(at.switch);
        }
        if !step.has_lane {
            let lacking = (at.switch, port, step.lane);
            if self.lacking.last() != Some(&lacking) {
                self.lacking.push(lacking);
            }
            return None;
        }
        Some(step.lane)
    }

    /// Calls `see` with each dependency: a channel with its lanes, and a channel with the lane on which packets leave.
    pub fn each_dependency(&self, target: WalkTarget<'_>, see: &mut dyn FnMut((u32, u16), (u32, u8))) {
        for channel in &self.reached {
            let at = self.place_behind(*channel);
            for port in self.exits(at, target).channels.iter() {
                let step = self.lanes.step(at.switch, at.ingress, port, target.level);
                if step.has_lane {
                    see(
                        (*channel, self.on[*channel as usize]),
                        (self.sets.channel(at.switch, port), step.lane),
                    );
                }
            }
        }
    }

    /// The channels that packets may take after a place, each with its lane.
    pub fn next_channels(
        &self,
        after: Result<u32, &ChoiceSource>,
        target: WalkTarget<'_>,
    ) -> (Vec<(u32, u8)>, bool) {
        let at = after.map_or_else(place_of_source, |channel| self.place_behind(channel));
        let exits = self.exits(at, target);
        let lane = |port| (port, self.lanes.step(at.switch, at.ingress, port, target.level));
        let open = exits.channels.iter().map(lane).filter(|(_, step)| step.has_lane);
        (open.map(|(port, step)| (self.sets.channel(at.switch, port), step.lane)).collect(), exits.arrives)
    }

    /// What becomes of the packets of a source, over all choices.
    pub fn fate_of_source(&self, source: &ChoiceSource, target: WalkTarget<'_>) -> ChoiceFate {
        let at = place_of_source(source);
        let exits = self.exits(at, target);
        let mut lost = exits.failure.map(|cause| (cause, at.switch));
        let mut longest = 0;
        for port in exits.channels.iter() {
            match self.fate[self.sets.channel(at.switch, port) as usize] {
                ChoiceFate::Arrives(hops) => longest = longest.max(hops + 1),
                ChoiceFate::Lost(cause, at) => lost = Some(worse(lost, (cause, at))),
                ChoiceFate::Unvisited | ChoiceFate::OnPath => {}
            }
        }
        lost.map_or(ChoiceFate::Arrives(longest), |(cause, at)| ChoiceFate::Lost(cause, at))
    }

    /// Whether some choice brings the packets of a source to the destination.
    pub fn can_arrive(&self, source: &ChoiceSource, target: WalkTarget<'_>) -> bool {
        self.leads_on(self.exits(place_of_source(source), target), source.switch)
    }

    /// Whether a packet arrives by some of its ways out of a switch.
    fn leads_on(&self, exits: ChoiceExits, switch: u32) -> bool {
        let leads_on = |port: PortNum| {
            let channel = self.sets.channel(switch, port) as usize;
            self.can_arrive[channel] || matches!(self.fate[channel], ChoiceFate::Arrives(_))
        };
        exits.arrives || exits.channels.iter().any(leads_on)
    }

    /// Finds the channels from which some choice arrives, among those where another one is lost.
    fn find_arriving(&mut self, target: WalkTarget<'_>) {
        let is_lost = |channel: &u32| matches!(self.fate[*channel as usize], ChoiceFate::Lost(..));
        let mut open: Vec<u32> = self.searched.iter().copied().filter(is_lost).collect();
        // The search put a channel before those behind it, so one turn in reverse settles nearly all.
        open.reverse();
        loop {
            let before = open.len();
            open.retain(|channel| {
                let at = self.place_behind(*channel);
                let arrives = self.leads_on(self.exits(at, target), at.switch);
                self.can_arrive[*channel as usize] = arrives;
                !arrives
            });
            if open.len() == before {
                return;
            }
        }
    }

    fn frame(&self, channel: u32, target: WalkTarget<'_>) -> SearchFrame {
        let at = self.place_behind(channel);
        let exits = self.exits(at, target);
        let lost = exits.failure.map(|cause| (cause, at.switch));
        SearchFrame { channel, left: exits.channels, longest: 0, lost }
    }

    /// Depth-first search: a channel that leads back to one on the path is a loop.
    fn search(&mut self, start: u32, target: WalkTarget<'_>) {
        if self.fate[start as usize] != ChoiceFate::Unvisited {
            return;
        }
        self.stack.clear();
        self.put_on_path(start);
        self.stack.push(self.frame(start, target));
        while let Some(frame) = self.stack.last_mut() {
            let at = self.sets.problem().graph.channels()[frame.channel as usize].to;
            let Some(port) = frame.left.iter().next() else {
                let (channel, fate) = (frame.channel, fate_of_frame(frame));
                self.fate[channel as usize] = fate;
                self.stack.pop();
                continue;
            };
            let next = self.sets.channel(at, port);
            match self.fate[next as usize] {
                ChoiceFate::Unvisited => {
                    // Not removed yet: the search comes back to read its fate.
                    self.put_on_path(next);
                    let fresh = self.frame(next, target);
                    self.stack.push(fresh);
                    continue;
                }
                ChoiceFate::OnPath => {
                    frame.lost = Some(worse(frame.lost, (Cause::Loop, at)));
                    self.add_loop(next);
                }
                ChoiceFate::Arrives(hops) => frame.longest = frame.longest.max(hops + 1),
                ChoiceFate::Lost(cause, at) => frame.lost = Some(worse(frame.lost, (cause, at))),
            }
            if let Some(frame) = self.stack.last_mut() {
                frame.left.remove(port);
            }
        }
    }

    fn put_on_path(&mut self, channel: u32) {
        self.fate[channel as usize] = ChoiceFate::OnPath;
        self.searched.push(channel);
    }

    fn add_loop(&mut self, first: u32) {
        let from = self.stack.iter().position(|frame| frame.channel == first).unwrap_or(0);
        let mut switches: Vec<u32> =
            self.stack[from..].iter().map(|frame| self.channel(frame.channel).to).collect();
        let lowest = (0..switches.len()).min_by_key(|at| switches[*at]).unwrap_or(0);
        switches.rotate_left(lowest);
        if self.loops.len() < super::report::MAX_LISTED {
            self.loops.push(switches);
        }
    }
}

fn place_of_source(source: &ChoiceSource) -> ChoicePlace {
    ChoicePlace { switch: source.switch, ingress: source.ingress, excludes: source.count == 1 }
}

fn fate_of_frame(frame: &SearchFrame) -> ChoiceFate {
    frame.lost.map_or(ChoiceFate::Arrives(frame.longest), |(cause, at)| ChoiceFate::Lost(cause, at))
}

/// A loop comes before a dead end, and a dead end before an absent entry; the lowest switch of several.
fn worse(a: Option<(Cause, u32)>, b: (Cause, u32)) -> (Cause, u32) {
    let rank = |(cause, at): (Cause, u32)| (std::cmp::Reverse(cause), at);
    match a {
        Some(a) if rank(a) <= rank(b) => a,
        _ => b,
    }
}
