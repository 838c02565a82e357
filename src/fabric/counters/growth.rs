//! The growth of a counter between two readings. Counters of PerfMgt do not wrap: they stay at their maximum until a
//! program clears them. So a smaller value means that it was cleared, and one at the maximum that it missed events.

use crate::observe::{COUNT_LIMIT, Counter};

/// The growth of one counter between two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// The counter grew by this number.
    By(u64),
    /// The counter is at its maximum now: it grew by this number or more.
    AtLeast(u64),
    /// The counter was cleared between the readings, or the device restarted. It counted this number since then,
    /// and an unknown number before.
    Cleared(u64),
    /// The counter was at its maximum before and still is: its growth is unknown.
    Stuck,
    /// One of the readings is larger than any counter can become, so it is no count: a tool wrote a difference
    /// below zero, or a mark for a missing value.
    NoCount,
    /// One of the readings does not have the counter.
    Absent,
}

impl Growth {
    /// The known growth; the counter may have grown by more.
    pub fn lower_bound(self) -> Option<u64> {
        match self {
            Self::By(count) | Self::AtLeast(count) | Self::Cleared(count) => Some(count),
            Self::Stuck | Self::NoCount | Self::Absent => None,
        }
    }

    /// Whether the counter may have grown by more than the known growth.
    pub(crate) fn is_lower_bound(self) -> bool {
        matches!(self, Self::AtLeast(_) | Self::Cleared(_))
    }
}

/// The growth of one counter from one value to the next.
pub fn counter_growth(counter: &Counter, before: Option<u64>, after: Option<u64>) -> Growth {
    let (Some(before), Some(after)) = (before, after) else { return Growth::Absent };
    if before >= COUNT_LIMIT || after >= COUNT_LIMIT {
        return Growth::NoCount;
    }
    // A wide counter passes the maxima of narrow ones on its way: it is stuck there only if it stays.
    let narrow = counter.bits().is_some_and(|bits| bits < 64);
    let stuck = |value: u64| counter.is_saturated(value);
    match () {
        () if stuck(before) && before == after => Growth::Stuck,
        () if after < before => Growth::Cleared(after),
        () if narrow && stuck(after) => Growth::AtLeast(after - before),
        () => Growth::By(after - before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_readings_say() {
        use Counter::{
            PortXmitData, PortXmitDataExtended, PortXmitWait, PortXmitWaitExt, SymbolErrorCounter,
        };
        let wide = u64::from(u32::MAX);
        for (counter, before, after, expected) in [
            (PortXmitWait, Some(5), Some(12), Growth::By(7)),
            (PortXmitWait, Some(5), Some(5), Growth::By(0)),
            (PortXmitWait, Some(5), Some(wide), Growth::AtLeast(wide - 5)),
            (PortXmitWait, Some(wide), Some(wide), Growth::Stuck),
            (PortXmitWait, Some(wide), Some(9), Growth::Cleared(9)),
            (SymbolErrorCounter, Some(65_534), Some(65_535), Growth::AtLeast(1)),
            (PortXmitWait, Some(100), Some(30), Growth::Cleared(30)),
            // A wide one goes on past what a narrow one has for its maximum.
            (PortXmitDataExtended, Some(wide - 1), Some(wide), Growth::By(1)),
            (PortXmitDataExtended, Some(wide), Some(wide + 1), Growth::By(1)),
            // One that stays there is a narrow one behind a wide field.
            (PortXmitWaitExt, Some(wide), Some(wide), Growth::Stuck),
            (PortXmitData, None, Some(3), Growth::Absent),
            (PortXmitData, Some(3), None, Growth::Absent),
            // Seen in the field: a difference below zero, and a mark for no value.
            (PortXmitDataExtended, Some(1), Some(18_446_744_073_709_551_576), Growth::NoCount),
            (PortXmitDataExtended, Some(0xffff_ffff_ffff_fffe), Some(4), Growth::NoCount),
        ] {
            assert_eq!(counter_growth(&counter, before, after), expected, "{counter} {before:?} {after:?}");
        }
    }
}
