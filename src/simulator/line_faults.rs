//! Faults of lines, drawn by seed, so that runs are repeatable.

use std::time::Duration;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A share in millionths. Whole numbers give the same draws on every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Share(u32);

impl Share {
    const MILLION: u32 = 1_000_000;

    pub fn percent(percent: u32) -> Self {
        Self((percent.min(100)) * (Self::MILLION / 100))
    }

    /// Reads `10%` or `0.5%`, with at most four decimal places.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_suffix('%')?;
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.len() > 4 || !part.bytes().all(|b| b.is_ascii_digit()) || whole.len() > 3 {
            return None;
        }
        let part: u32 = format!("{part:0<4}").parse().ok()?;
        let share = whole.parse::<u32>().ok()?.checked_mul(Self::MILLION / 100)?.checked_add(part)?;
        (share <= Self::MILLION).then_some(Self(share))
    }

    pub fn fraction(self) -> f64 {
        f64::from(self.0) / f64::from(Self::MILLION)
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Faults of the lines. The default has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineFaults {
    /// Share of packets lost, in each direction.
    pub loss: Share,
    /// Longest random delay beyond the time of the route.
    pub delay: Duration,
    /// Share of answers delivered twice.
    pub duplicate: Share,
    /// Share of answers held back long enough for others to overtake them.
    pub reorder: Share,
    /// Share of answers that come with an answer to a foreign transaction.
    pub foreign: Share,
}

impl LineFaults {
    /// Longer than any route takes, shorter than any timeout.
    const REORDER_DELAY: Duration = Duration::from_millis(2);
}

/// The random generator.
#[derive(Clone, Debug)]
pub struct SimulatorRng(Xoshiro256PlusPlus);

impl SimulatorRng {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn draw_share(&mut self, share: Share) -> bool {
        // A fault that is switched off draws nothing, so it changes no other draw.
        share.0 > 0 && self.draw_below(u64::from(Share::MILLION)) < u64::from(share.0)
    }

    pub fn draw_delay(&mut self, line: &LineFaults) -> Duration {
        let nanos = u64::try_from(line.delay.as_nanos()).unwrap_or(u64::MAX);
        let late = if nanos == 0 { 0 } else { self.draw_below(nanos) };
        let held = if self.draw_share(line.reorder) { LineFaults::REORDER_DELAY } else { Duration::ZERO };
        Duration::from_nanos(late) + held
    }

    /// A random number below `end`; the bias of the remainder is far below the resolution of a share.
    pub fn draw_below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_written() {
        assert_eq!(Share::parse("10%"), Some(Share::percent(10)));
        assert_eq!(Share::parse("0.5%"), Some(Share(5_000)));
        assert_eq!(Share::parse("100%"), Some(Share(Share::MILLION)));
        for wrong in ["", "%", "10", "101%", "-1%", "1.00001%", "x%", "100.1%"] {
            assert_eq!(Share::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_share_falls_as_often_as_it_says() {
        let mut dice = SimulatorRng::new(1);
        let fell = (0..100_000).filter(|_| dice.draw_share(Share::percent(10))).count();
        assert!((9_500..10_500).contains(&fell), "{fell}");
        let mut other = SimulatorRng::new(1);
        assert!((0..1000).all(|_| !other.draw_share(Share::default())));
        assert_eq!(SimulatorRng::new(1).draw_below(1 << 40), other.draw_below(1 << 40), "nothing was drawn");
    }
}
