//! What a certificate says, as values.

use super::dependencies::Cycle;
use crate::trees::Cause;
use fabdeck_fabric::{ChannelId, Lid, LinkId, PortId};

/// How many lost pairs and loops are listed.
pub const LISTED: usize = 20;

/// How many of the busiest channels are listed.
pub const BUSIEST: usize = 10;

/// Whether the lanes of the routes are those that packets take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneKnowledge {
    #[default]
    Known,
    /// Tables without lanes: dependencies are shown as if all paths shared one lane, and no verdict follows.
    Unknown,
}

/// What a certificate is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// Switches count as sources and destinations beside the terminals.
    pub switches: bool,
    pub lanes: LaneKnowledge,
}

/// What the two ends of a pair are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Hosts,
    /// One end is an aggregation node, neither is a switch.
    Aggregation,
    /// One end is a switch.
    Switches,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Hosts, Self::Aggregation, Self::Switches];
}

/// A pair without a path. The source is a terminal's port or port 0 of a switch, the destination its first LID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LostPair {
    pub to: Lid,
    pub from_switch: u32,
    pub from: PortId,
    pub kind: Kind,
    pub cause: Cause,
}

/// Ordered pairs without a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostPairs {
    /// Rows as `Kind::ALL`, columns as `Cause::ALL`.
    pub counts: [[u64; 5]; 3],
    /// (Source, LID) without a path between ends that cables connect; a pair with other LIDs need not be lost.
    pub lids: u64,
    /// The first by destination LID, then by source.
    pub first: Vec<LostPair>,
    /// Pairs that reach the destination by some of its LIDs and not by others: no lost pairs.
    pub partial: u64,
    /// The first of them, each with its first LID that is not reached.
    pub first_partial: Vec<LostPair>,
}

impl LostPairs {
    /// Those that are known to have none.
    pub fn total(&self) -> u64 {
        Kind::ALL.into_iter().map(|kind| self.by_kind(kind)).sum()
    }

    pub fn by_kind(&self, kind: Kind) -> u64 {
        let row = &self.counts[kind as usize];
        Cause::ALL.into_iter().filter(|cause| *cause != Cause::Unread).map(|cause| row[cause as usize]).sum()
    }

    /// Pairs whose path comes to a table that was not read: no lost pairs, and none that is known to have a path.
    pub fn unread(&self) -> u64 {
        self.by_cause(Cause::Unread)
    }

    /// The same for a topology of which part was not read: cables may join there what no known cable joins.
    pub fn beyond_known_cables(&self) -> Self {
        let mut lost = self.clone();
        for row in &mut lost.counts {
            row[Cause::Unread as usize] += std::mem::take(&mut row[Cause::CutOff as usize]);
        }
        lost.first.retain(|pair| pair.cause != Cause::CutOff);
        lost
    }

    pub fn by_cause(&self, cause: Cause) -> u64 {
        self.counts.iter().map(|row| row[cause as usize]).sum()
    }
}

/// A round that packets to a LID take for ever.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loop {
    pub lid: Lid,
    /// Each switch sends to the next, the last to the first; from the lowest on.
    pub switches: Vec<u32>,
}

/// Rounds on the way to destinations in scope.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loops {
    /// Over all LIDs: a tree can have several.
    pub count: u64,
    /// The first by LID.
    pub first: Vec<Loop>,
}

/// Lengths of the paths between terminals, in switch-to-switch hops. With LMC every LID of a port has a path.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PathLengths {
    /// How many paths have 0, 1, 2, ... hops.
    pub histogram: Vec<u64>,
    /// The longest path; 0 when there is none.
    pub longest: u32,
    /// Hops over the fewest possible, mean over the paths between different switches; 1 without such a path.
    pub mean_stretch: f64,
    pub worst_stretch: f64,
}

impl PathLengths {
    pub fn paths(&self) -> u64 {
        self.histogram.iter().sum()
    }
}

/// Paths between terminals over each directed channel between switches that is up (dissertation, 3.1.3).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ForwardingIndex {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
    pub stddev: f64,
    /// The busiest, most paths first.
    pub worst: Vec<(ChannelId, u64)>,
    /// Channels that no path uses.
    pub unused: u64,
    /// All channels.
    pub channels: u64,
    /// Links that no path uses either way.
    pub unused_links: Vec<LinkId>,
}

/// What is true of routes. It holds for unicast by forwarding tables; a router counts as a terminal.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Certificate {
    pub scope: Scope,
    /// Ordered pairs in scope, over terminals with a LID whose link is up and switches that work and have a LID.
    pub pairs: u64,
    /// Terminals whose link is up and that have no LID; no pair of theirs is counted.
    pub unaddressed: u64,
    pub lost: LostPairs,
    pub loops: Loops,
    /// The lanes that paths in scope use.
    pub lanes: Vec<u8>,
    /// `None` when the lanes are not known.
    pub deadlock_free: Option<bool>,
    /// One for each lane that has any.
    pub cycles: Vec<Cycle>,
    pub lengths: PathLengths,
    pub edge_forwarding_index: ForwardingIndex,
}

impl Certificate {
    /// Whether there is anything to find fault with.
    pub fn clean(&self) -> bool {
        self.lost.total() + self.lost.unread() == 0
            && self.lost.lids == 0
            && self.loops.count == 0
            && self.cycles.is_empty()
    }
}
