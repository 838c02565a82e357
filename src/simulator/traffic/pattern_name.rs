//! Names of traffic patterns.

use super::pattern::TrafficPattern;
use crate::Share;
use fabdeck_fabric::ServiceLevel;

/// The names, for the error message of an unknown one.
pub const PATTERN_NAMES: &str =
    "uniform, shift, hotspot, centric, permutation, ring, pingpong, or flows=FILE";

/// Parameters that some patterns need besides their name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatternOptions {
    pub spots: u32,
    /// The share of its packets that each host sends to a hot-spot.
    pub share: Share,
    pub level: Option<ServiceLevel>,
    /// Packets of each message of a shift exchange and of ping-pong.
    pub message: u32,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self { spots: 1, share: Share::percent(5), level: None, message: 4 }
    }
}

/// A pattern, or the file of its flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternName {
    Pattern(TrafficPattern),
    Flows(String),
}

impl PatternName {
    /// Reads a name; `None` if it is no pattern.
    pub fn parse(word: &str, details: PatternOptions) -> Option<Self> {
        Some(Self::Pattern(match word {
            "uniform" => TrafficPattern::Uniform,
            "shift" => TrafficPattern::Shift { packets: details.message, shifts: None },
            "centric" => TrafficPattern::centric(),
            "permutation" => TrafficPattern::Permutation,
            "ring" => TrafficPattern::Ring,
            "pingpong" => TrafficPattern::PingPong { packets: details.message },
            "hotspot" => {
                TrafficPattern::HotSpots { spots: details.spots, share: details.share, level: details.level }
            }
            other => return other.strip_prefix("flows=").map(|file| Self::Flows(file.to_owned())),
        }))
    }
}
