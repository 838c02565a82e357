//! The width and speed that a plan asks of a cable.

use fabdeck_fabric::{LinkSpeed, LinkWidth};

/// What a plan says of the rate of a cable. A sheet states the rate of all lanes together, a `.topo` width and speed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PlannedRate {
    pub width: Option<LinkWidth>,
    pub speed: Option<LinkSpeed>,
    /// Nominal rate of all lanes in Gbit/s.
    pub gigabits: Option<u32>,
}

/// The nominal rate of one lane in tenths of a Gbit/s, as plans and order sheets write it: 25 for SDR, 1,000 for NDR.
fn lane_tenths(speed: LinkSpeed) -> u32 {
    match speed {
        LinkSpeed::Sdr => 25,
        LinkSpeed::Ddr => 50,
        LinkSpeed::Qdr | LinkSpeed::Fdr10 => 100,
        LinkSpeed::Fdr => 140,
        LinkSpeed::Edr => 250,
        LinkSpeed::Hdr => 500,
        LinkSpeed::Ndr => 1000,
        LinkSpeed::Xdr => 2000,
    }
}

/// The nominal rate of one lane, as a `.topo` writes it: `2.5`, `25`.
pub fn lane_gigabits(speed: LinkSpeed) -> String {
    match lane_tenths(speed) {
        tenths if tenths.is_multiple_of(10) => (tenths / 10).to_string(),
        tenths => format!("{}.{}", tenths / 10, tenths % 10),
    }
}

/// The speed with this nominal rate of a lane in Gbit/s: `2.5`, `25G`.
pub(super) fn speed_of_lane(text: &str) -> Option<LinkSpeed> {
    let digits = text.trim().trim_end_matches(['G', 'g']);
    let known = LinkSpeed::ALL.iter().filter(|speed| **speed != LinkSpeed::Fdr10);
    known.copied().find(|speed| lane_gigabits(*speed) == digits)
}

impl PlannedRate {
    /// Reads the cell of a speed: `HDR`, `4x HDR`, `200000` (Mbit/s), `200`, `200G`, `200Gb/s`. `None` for a text without one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rate = Self::default();
        for word in text.split([' ', '-', '_']).filter(|word| !word.is_empty()) {
            if let Some(width) = LinkWidth::from_word(word) {
                rate.width = Some(width);
            } else if let Some(speed) = LinkSpeed::from_word(word) {
                rate.speed = Some(speed);
            } else if rate.gigabits.is_none() {
                rate.gigabits = total_gigabits(word);
            }
        }
        (rate != Self::default()).then_some(rate)
    }

    /// Adds what is not known yet.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            width: self.width.or(other.width),
            speed: self.speed.or(other.speed),
            gigabits: self.gigabits.or(other.gigabits),
        }
    }

    /// Whether the plan says nothing of the rate.
    pub fn is_unknown(self) -> bool {
        self == Self::default()
    }

    /// The rate in words: `4x HDR`, `200 Gb/s`.
    pub fn words(self) -> String {
        let parts = [
            self.width.map(|width| width.word().to_owned()),
            self.speed.map(|speed| speed.word().to_owned()),
            self.gigabits.map(|gigabits| format!("{gigabits} Gb/s")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Whether a link has fewer lanes than planned.
    pub fn is_narrower(self, width: Option<LinkWidth>, speed: Option<LinkSpeed>) -> bool {
        let Some(found) = width else { return false };
        match self.width {
            Some(planned) => found.lanes() < planned.lanes(),
            // A rate alone names no width; a full one has four lanes.
            None => found.lanes() < LinkWidth::X4.lanes() && self.is_below_total(width, speed),
        }
    }

    /// Whether a link has a lower speed of its lanes, or a lower rate, than planned.
    pub fn is_slower(self, width: Option<LinkWidth>, speed: Option<LinkSpeed>) -> bool {
        match (self.speed, speed) {
            (Some(planned), Some(found)) => found < planned,
            _ => !self.is_narrower(width, speed) && self.is_below_total(width, speed),
        }
    }

    fn is_below_total(self, width: Option<LinkWidth>, speed: Option<LinkSpeed>) -> bool {
        let found = width.zip(speed).map(|(width, speed)| width.lanes() * lane_tenths(speed));
        self.gigabits.zip(found).is_some_and(|(planned, found)| found < planned.saturating_mul(10))
    }
}

/// `200000` and `200` are Mbit/s and Gbit/s; `200G`, `200Gb/s` say so.
fn total_gigabits(word: &str) -> Option<u32> {
    const LEAST_MEGABITS: u32 = 2000;
    let lower = word.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    let unit = &lower[digits.len()..];
    let number: u32 = digits.parse().ok().filter(|number| (1..=10_000_000).contains(number))?;
    match unit {
        "" if number >= LEAST_MEGABITS => Some(number / 1000),
        "" | "g" | "gb" | "gbps" | "gb/s" | "gbit/s" | "gbit" => Some(number),
        "m" | "mb" | "mbps" | "mb/s" | "mbit/s" => Some(number / 1000).filter(|rate| *rate > 0),
        _ => None,
    }
}
