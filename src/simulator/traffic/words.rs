//! Patterns by their words.

use super::pattern::Pattern;
use crate::Share;
use fabdeck_fabric::ServiceLevel;

/// What the words are, for whoever wrote another.
pub const PATTERNS: &str = "uniform, shift, hotspot, centric, permutation, ring, or flows=FILE";

/// What some patterns want to know besides their name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Details {
    pub spots: u32,
    /// The share of its packets that each host sends to a hot-spot.
    pub share: Share,
    pub level: Option<ServiceLevel>,
    /// Packets of each message of a shift exchange.
    pub message: u32,
}

impl Default for Details {
    fn default() -> Self {
        Self { spots: 1, share: Share::percent(5), level: None, message: 4 }
    }
}

/// A pattern, or where its flows are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    Pattern(Pattern),
    Flows(String),
}

impl Word {
    /// `None` for a word that is no pattern.
    pub fn read(word: &str, details: Details) -> Option<Self> {
        Some(Self::Pattern(match word {
            "uniform" => Pattern::Uniform,
            "shift" => Pattern::Shift { packets: details.message },
            "centric" => Pattern::centric(),
            "permutation" => Pattern::Permutation,
            "ring" => Pattern::Ring,
            "hotspot" => {
                Pattern::HotSpots { spots: details.spots, share: details.share, level: details.level }
            }
            other => return other.strip_prefix("flows=").map(|file| Self::Flows(file.to_owned())),
        }))
    }
}
