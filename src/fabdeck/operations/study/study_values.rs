//! Values of study files as they are written: amounts of failures, ranges of seeds, times, counts.

use std::fmt;
use std::time::Duration;

use crate::catalogue::simulated_time::read_nanoseconds;

/// How many elements fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureAmount {
    Count(u32),
    /// Thousandths of a percent. The number is rounded down, and one at least (dissertation 4.4.2: 1 % of 256 links are
    /// two).
    Share(u64),
}

impl FailureAmount {
    pub const NONE: Self = Self::Count(0);
    /// The thousandths of a percent in the whole.
    const WHOLE: u64 = 100_000;

    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "write a count as 5, or a share from 0% to 100% as 1% or 0.5%".to_owned();
        match text.strip_suffix('%') {
            None => text.parse().map(Self::Count).map_err(|_| wrong()),
            Some(percent) => {
                let share = thousandths(percent).filter(|share| *share <= Self::WHOLE);
                share.map(Self::Share).ok_or_else(wrong)
            }
        }
    }

    /// The number out of `total`.
    pub fn resolve(self, total: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            Self::Share(0) => 0,
            Self::Share(share) => ((u64::from(total) * share / Self::WHOLE) as u32).max(1).min(total),
        }
    }

    /// The share that fails in as many years at this rate a year.
    pub fn over_years(self, years: u32) -> Self {
        match self {
            Self::Count(count) => Self::Count(count.saturating_mul(years)),
            Self::Share(share) => Self::Share((share * u64::from(years)).min(Self::WHOLE)),
        }
    }
}

/// A decimal number with at most three decimals, in thousandths.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || part.len() > 3 || !digits(whole) || !digits(part) {
        return None;
    }
    format!("{whole}{part:0<3}").parse().ok()
}

/// Seeds from the first to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeedRange {
    pub first: u64,
    pub last: u64,
}

impl SeedRange {
    pub const ONE: Self = Self { first: 1, last: 1 };
    /// The most seeds of a range: a study of more is a typing error.
    const MOST: u64 = 100_000;

    /// Parses `1..10`, both ends included, or one seed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("write seeds as 1..10, the first and the last, at most {}", Self::MOST);
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        let fits = first <= last && last - first < Self::MOST;
        fits.then_some(Self { first, last }).ok_or_else(wrong)
    }

    pub fn contains(self, seed: u64) -> bool {
        (self.first..=self.last).contains(&seed)
    }

    pub fn seeds(self) -> impl Iterator<Item = u64> {
        self.first..=self.last
    }
}

/// A share of the load that hosts can send, in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadShare(pub u32);

impl LoadShare {
    pub const FULL: Self = Self(1000);

    pub fn parse(text: &str) -> Result<Self, String> {
        let share = thousandths(text).filter(|share| (1..=1000).contains(share));
        share.map(|share| Self(share as u32)).ok_or_else(|| "write a share from 0.001 to 1".to_owned())
    }

    pub fn share(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl fmt::Display for LoadShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.share())
    }
}

/// Parses a simulated time, in nanoseconds.
pub fn parse_nanos(text: &str) -> Result<u64, String> {
    let time = read_nanoseconds(text).filter(|time| (0.0..=1e10).contains(time));
    time.map(|time| time as u64)
        .ok_or_else(|| "write a number and ns, us, ms or s, as in 43ns; at most 10s".to_owned())
}

/// Parses a real time, in seconds, minutes or hours.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and s, m or h, as in 10m; at most 48h".to_owned();
    let at = text.find(|sign: char| sign.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let unit = match &text[at..] {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let seconds = text[..at].trim().parse::<f64>().map_or(f64::NAN, |number| number * unit);
    let fits = seconds > 0.0 && seconds <= 48.0 * 3600.0;
    fits.then(|| Duration::from_secs_f64(seconds)).ok_or_else(wrong)
}

/// Parses a large count, as `2e9` too.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1.0..=1e15).contains(number));
    number.map(|number| number as u64).ok_or_else(|| "write a count as 2e9, from 1 to 1e15".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_failures_is_rounded_down_and_one_at_least() {
        let resolved = |text, total| FailureAmount::parse(text).map(|amount| amount.resolve(total));
        for (text, total, count) in [
            ("1%", 256, 2),
            ("0.2%", 256, 1),
            ("0%", 256, 0),
            ("100%", 7, 7),
            ("40%", 256, 102),
            ("13", 5, 13),
        ] {
            assert_eq!(resolved(text, total), Ok(count), "{text}");
        }
        for wrong in ["", "%", "101%", "-1%", "1.2345%", "x", "1e2%", ".5%"] {
            assert!(FailureAmount::parse(wrong).is_err(), "{wrong}");
        }
        let years = FailureAmount::parse("0.9%").map(|rate| rate.over_years(8).resolve(3621));
        assert_eq!(years, Ok(260));
    }

    #[test]
    fn seeds_times_and_counts_are_read_with_their_limits() {
        assert_eq!(SeedRange::parse("1..10"), Ok(SeedRange { first: 1, last: 10 }));
        assert_eq!(SeedRange::parse("7"), Ok(SeedRange { first: 7, last: 7 }));
        assert!(["", "2..1", "1..", "1..200000", "a..b"].iter().all(|text| SeedRange::parse(text).is_err()));
        assert_eq!((parse_nanos("43ns"), parse_nanos("2s")), (Ok(43), Ok(2_000_000_000)));
        assert!(["1", "1m", "-1ns", "11s", "ns"].iter().all(|text| parse_nanos(text).is_err()));
        assert_eq!((parse_count("2e9"), parse_count("0").is_err()), (Ok(2_000_000_000), true));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(["0s", "1", "49h", "nans"].iter().all(|text| parse_duration(text).is_err()));
        assert_eq!(LoadShare::parse("0.05").map(|load| load.to_string()), Ok("0.05".to_owned()));
        assert!(["0", "1.1", "x"].iter().all(|text| LoadShare::parse(text).is_err()));
    }
}
