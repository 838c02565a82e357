//! What a study measures in a cell.

use super::study_values::{LoadShare, SeedRange};
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::TrafficPattern;

/// A measure with its seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    pub kind: MeasureKind,
    /// The seeds of failures that it is taken with; `None`: all of the study.
    pub seeds: Option<SeedRange>,
    pub traffic_seeds: SeedRange,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasureKind {
    /// Figures of the certificate, without packets.
    Routes,
    /// Permutation loads.
    Loads,
    /// The pairs that lose their path until a reroute: the failures meet routes of the whole fabric.
    Lost,
    /// An exchange of varying shift distances (dissertation 4.3.3.2): all of them, or a sample of this number.
    Exchange { message: u32, shifts: Option<u32> },
    /// Packets to drawn destinations.
    Pattern { pattern: DrawnPattern, time_ns: u64, until_steady: bool, load: LoadShare, spread: Option<u8> },
}

/// A traffic pattern that does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawnPattern {
    Uniform,
    Centric,
    Permutation,
    Ring,
}

impl DrawnPattern {
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Uniform, Self::Centric, Self::Permutation, Self::Ring]
            .into_iter()
            .find(|each| each.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Centric => "centric",
            Self::Permutation => "permutation",
            Self::Ring => "ring",
        }
    }

    pub fn pattern(self) -> TrafficPattern {
        match self {
            Self::Uniform => TrafficPattern::Uniform,
            Self::Centric => TrafficPattern::HotSpots { spots: 1, share: Share::percent(10), level: None },
            Self::Permutation => TrafficPattern::Permutation,
            Self::Ring => TrafficPattern::Ring,
        }
    }
}

impl MeasureKind {
    pub const WORDS: &str = "routes, loads, lost, exchange, uniform, centric, permutation, ring";

    pub fn word(self) -> &'static str {
        match self {
            Self::Routes => "routes",
            Self::Loads => "loads",
            Self::Lost => "lost",
            Self::Exchange { .. } => "exchange",
            Self::Pattern { pattern, .. } => pattern.word(),
        }
    }

    /// Whether packets are simulated.
    pub fn is_simulated(self) -> bool {
        matches!(self, Self::Exchange { .. } | Self::Pattern { .. })
    }
}
