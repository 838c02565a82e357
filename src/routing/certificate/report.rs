//! What a certificate says, as values.

use crate::trees::Cause;
use fabdeck_fabric::{ChannelId, Lane, Lid, LinkId, PortId};

/// How many lost pairs and loops are listed.
pub const MAX_LISTED: usize = 20;

/// How many of the busiest channels are listed.
pub const MAX_BUSIEST: usize = 10;

/// Whether the lanes of the routes are the lanes that packets take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneKnowledge {
    /// The lanes are known.
    #[default]
    Known,
    /// The tables come without lanes: the certificate shows dependencies as if all paths shared one lane and gives
    /// no verdict on deadlocks.
    Unknown,
}

/// The paths that a certificate judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RouteScope {
    /// Whether switches are sources and destinations beside the terminals.
    pub switches: bool,
    /// Whether the lanes of the routes are known.
    pub lanes: LaneKnowledge,
}

/// The ends of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PairKind {
    /// Both ends are hosts.
    Hosts,
    /// One end is an aggregation node, neither is a switch.
    Aggregation,
    /// One end is a switch.
    Switches,
}

impl PairKind {
    /// All kinds, in the order of [`LostPairs::counts`].
    pub const ALL: [Self; 3] = [Self::Hosts, Self::Aggregation, Self::Switches];
}

/// A pair without a path. The source is the port of a terminal or port 0 of a switch, the destination its first
/// LID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LostPair {
    /// The destination.
    pub to: Lid,
    /// The switch of the source.
    pub from_switch: u32,
    /// The source.
    pub from: PortId,
    /// The ends of the pair.
    pub kind: PairKind,
    /// Why there is no path.
    pub cause: Cause,
}

/// Ordered pairs without a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostPairs {
    /// The number of pairs: rows as in `Kind::ALL`, columns as in `Cause::ALL`.
    pub counts: [[u64; 5]; 3],
    /// The number of (source, LID) without a path between ends that cables connect. A pair with further LIDs need
    /// not be lost.
    pub lids: u64,
    /// The first lost pairs by destination LID, then by source.
    pub first: Vec<LostPair>,
    /// Pairs that reach the destination by some of its LIDs only. They are not lost.
    pub partial: u64,
    /// The first of these pairs, each with its first LID without a path.
    pub first_partial: Vec<LostPair>,
}

impl LostPairs {
    /// The number of pairs that are known to have no path.
    pub fn total(&self) -> u64 {
        PairKind::ALL.into_iter().map(|kind| self.by_kind(kind)).sum()
    }

    /// The number of lost pairs with these ends.
    pub fn by_kind(&self, kind: PairKind) -> u64 {
        let row = &self.counts[kind as usize];
        Cause::ALL.into_iter().filter(|cause| *cause != Cause::Unread).map(|cause| row[cause as usize]).sum()
    }

    /// Pairs whose path meets an entry that was not read. They are not counted as lost.
    pub fn unread(&self) -> u64 {
        self.by_cause(Cause::Unread)
    }

    /// The same pairs for a topology that was read in part: a cable that was not read may connect what the known
    /// cables do not.
    pub fn with_unknown_cables(&self) -> Self {
        let mut lost = self.clone();
        for row in &mut lost.counts {
            row[Cause::Unread as usize] += std::mem::take(&mut row[Cause::CutOff as usize]);
        }
        lost.first.retain(|pair| pair.cause != Cause::CutOff);
        lost
    }

    /// The number of lost pairs with this cause.
    pub fn by_cause(&self, cause: Cause) -> u64 {
        self.counts.iter().map(|row| row[cause as usize]).sum()
    }
}

/// A forwarding loop, in which packets to a LID circulate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ForwardingLoop {
    /// The destination.
    pub lid: Lid,
    /// The switches in the order of the loop, beginning with the lowest.
    pub switches: Vec<u32>,
}

/// The forwarding loops of destinations in scope.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ForwardingLoops {
    /// The number over all LIDs; the tree of one LID can have several.
    pub count: u64,
    /// The first loops by LID.
    pub first: Vec<ForwardingLoop>,
}

/// The lengths of the paths between terminals, in switch-to-switch hops. With LMC every LID of a port has a path.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PathLengths {
    /// The number of paths with 0, 1, 2, ... hops.
    pub histogram: Vec<u64>,
    /// The longest path; 0 without a path.
    pub longest: u32,
    /// Hops divided by the smallest possible number, mean over the paths between different switches; 1 without such
    /// a path.
    pub mean_stretch: f64,
    /// The largest such quotient of a path.
    pub worst_stretch: f64,
}

impl PathLengths {
    /// The number of paths.
    pub fn paths(&self) -> u64 {
        self.histogram.iter().sum()
    }
}

/// The edge forwarding index: paths between terminals over each working directed channel between switches
/// (dissertation, 3.1.3).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ForwardingIndex {
    /// The smallest number of paths of a channel.
    pub min: u64,
    /// The mean over all channels.
    pub mean: f64,
    /// The largest number of paths of a channel.
    pub max: u64,
    /// The standard deviation.
    pub stddev: f64,
    /// The busiest channels, most paths first.
    pub worst: Vec<(ChannelId, u64)>,
    /// The number of channels without a path.
    pub unused: u64,
    /// The number of channels.
    pub channels: u64,
    /// Links without a path in either direction.
    pub unused_links: Vec<LinkId>,
}

/// A path that uses one channel and then the next, which makes the first wait for the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DependencyProof {
    /// The switch of the source, or the source itself.
    pub source: u32,
    /// The destination.
    pub destination: Lid,
    /// The index of the routes, where several are judged together.
    pub routes: usize,
}

/// A credit loop: channels of which each waits for the next, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DependencyCycle {
    /// The virtual lane; where lanes change on the way, that of the first channel.
    pub lane: Lane,
    /// Where lanes change on the way, the lane of each channel; else empty.
    pub hop_lanes: Vec<Lane>,
    /// The channels.
    pub channels: Vec<ChannelId>,
    /// For each channel a path that uses it and then the next one.
    pub paths: Vec<DependencyProof>,
}

/// The properties of routes, for unicast by forwarding tables. A router counts as a terminal.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Certificate {
    /// The paths that were judged.
    pub scope: RouteScope,
    /// The number of ordered pairs in scope, over terminals with a LID whose link is up and working switches with a
    /// LID.
    pub pairs: u64,
    /// Terminals whose link is up and that have no LID. Their pairs are not counted.
    pub unaddressed: u64,
    /// The pairs without a path.
    pub lost: LostPairs,
    /// The forwarding loops.
    pub loops: ForwardingLoops,
    /// The lanes that paths in scope use.
    pub lanes: Vec<u8>,
    /// Whether no lane has a credit loop; `None` when the lanes are not known.
    pub deadlock_free: Option<bool>,
    /// One credit loop for each lane that has any.
    pub cycles: Vec<DependencyCycle>,
    /// The lengths of the paths.
    pub lengths: PathLengths,
    /// The balance of the paths over the channels.
    pub edge_forwarding_index: ForwardingIndex,
    /// The same over the paths that hosts pick: one LID a pair, by the path bits of the routes. `None` where every port
    /// has one LID.
    pub picked_forwarding_index: Option<ForwardingIndex>,
}

impl Certificate {
    /// Whether no pair is lost, no path loops and no credit loop exists.
    pub fn is_clean(&self) -> bool {
        self.lost.total() + self.lost.unread() == 0
            && self.lost.lids == 0
            && self.loops.count == 0
            && self.cycles.is_empty()
    }
}
