//! Which LIDs of a destination port an end sends to: the lower half (base LIDs), the upper half (high LIDs), or all.

use super::channel_graph::TrafficEnd;
use fabdeck_fabric::pick_lid;

/// The LIDs of a port that an end sends to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LidRange {
    /// All LIDs, spread over the sources.
    All,
    Base,
    High,
}

/// The half of the LIDs that an end sends to next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextHalf {
    Base,
    /// High LIDs, on this level.
    High(u8),
}

/// How an end addresses its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LidSelection {
    pub half: LidRange,
    /// What the end adds to base LIDs.
    path_bits: u8,
    /// The level of all its packets while it sends to high LIDs.
    pub level: Option<u8>,
    /// The change to make when no packet is in flight.
    pub pending: Option<NextHalf>,
    /// Packets made that have neither arrived nor been lost.
    pub in_flight: u32,
}

impl LidSelection {
    pub fn new(base_lids: bool, path_bits: u8) -> Self {
        let half = if base_lids { LidRange::Base } else { LidRange::All };
        Self { half, path_bits, level: None, pending: None, in_flight: 0 }
    }

    pub fn is_draining(&self) -> bool {
        self.pending.is_some()
    }

    /// The LID of a port that the end sends to.
    pub fn select_lid(&self, to: &TrafficEnd) -> u16 {
        let lids = to.lmc.lid_count();
        let half = (lids / 2).max(1);
        // A port with one LID has no other half.
        let (base, of) = match self.half {
            LidRange::All => (0, lids),
            LidRange::Base => (0, half),
            LidRange::High => (lids - half, half),
        };
        pick_lid(self.path_bits, to.lid, of).value() + base
    }
}
