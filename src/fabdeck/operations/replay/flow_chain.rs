//! What the intervals before a moment of a recording say of flows. The chain of intervals begins at a place that follows
//! from the moment alone, so that a moment is judged the same from wherever it was reached.

use fabdeck_fabric::counters::FlowHistory;

/// A chain begins at a multiple of this number of intervals, and has as many and at most twice as many; at the beginning
/// of a recording all there are, like a watch.
const CHAIN: usize = 32;

/// The flows that are known before a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowChain {
    first: usize,
    next: usize,
    flows: FlowHistory,
}

impl FlowChain {
    /// The moments whose intervals come before that of `place`, in a series of comparable moments that begins at `start`.
    pub fn moments_before(start: usize, place: usize) -> std::ops::Range<usize> {
        let blocks = place.saturating_sub(start + 2) / CHAIN;
        let first = start + 1 + blocks.saturating_sub(1) * CHAIN;
        first..place.max(first)
    }

    /// The chain up to a moment: this one, where it is a part of it, or an empty one.
    pub fn resumed(self, moments: &std::ops::Range<usize>) -> Self {
        match self.first == moments.start && (moments.start..=moments.end).contains(&self.next) {
            true => self,
            false => Self { first: moments.start, next: moments.start, flows: FlowHistory::default() },
        }
    }

    /// The next moment whose interval is missing.
    pub fn next(&self) -> usize {
        self.next
    }

    pub fn extend(&mut self, after: impl FnOnce(&FlowHistory) -> FlowHistory) {
        self.flows = after(&self.flows);
        self.next += 1;
    }

    pub fn flows(&self) -> &FlowHistory {
        &self.flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_begins_where_the_moment_says() {
        for start in [0, 7] {
            assert!(FlowChain::moments_before(start, start).is_empty());
            assert!(FlowChain::moments_before(start, start + 1).is_empty());
            assert_eq!(FlowChain::moments_before(start, start + 2), start + 1..start + 2);
            let mut shortest = usize::MAX;
            for place in start + 1 + CHAIN..start + 1000 {
                let moments = FlowChain::moments_before(start, place);
                assert!((moments.start - start - 1).is_multiple_of(CHAIN) && moments.end == place);
                assert!(moments.len() <= 2 * CHAIN, "{place}: {moments:?}");
                shortest = shortest.min(moments.len());
            }
            assert!(shortest >= CHAIN, "{shortest}");
        }
    }

    #[test]
    fn a_chain_goes_on_only_where_it_is_a_part() {
        let mut chain = FlowChain::default().resumed(&(1..4));
        while chain.next() < 4 {
            chain.extend(FlowHistory::clone);
        }
        assert_eq!(chain.clone().resumed(&(1..9)).next(), 4);
        assert_eq!(chain.clone().resumed(&(1..3)).next(), 1, "it knows what came later");
        while chain.next() < 40 {
            chain.extend(FlowHistory::clone);
        }
        assert_eq!(chain.resumed(&(33..45)).next(), 33, "it began before");
    }
}
