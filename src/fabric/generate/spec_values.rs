//! The values of a specification as they were given, and the catalogue's defaults for those that were not.

use std::fmt;

use super::catalogue::FabricTemplate;
use super::error::GenerateError;
use crate::{Lid, shorten};

/// How many of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultAmount {
    Count(u32),
    /// Thousandths of a percent, whole numbers so that every platform rounds alike.
    Share(u32),
    /// The same, rounded down (dissertation 4.4.2: 1 % of 256 links are two).
    ShareDown(u32),
}

impl Default for FaultAmount {
    fn default() -> Self {
        Self::Count(0)
    }
}

impl FaultAmount {
    const WHOLE: u64 = 100_000;

    /// The number that is meant out of `total`. A share is rounded, and one above nothing means one at least; a share that
    /// is rounded down may mean none.
    pub fn resolve(self, total: usize) -> usize {
        match self {
            Self::Count(count) => count as usize,
            Self::Share(0) => 0,
            Self::ShareDown(share) => (total as u64 * u64::from(share) / Self::WHOLE) as usize,
            Self::Share(share) => {
                let rounded = (total as u64 * u64::from(share) + Self::WHOLE / 2) / Self::WHOLE;
                (rounded as usize).max(1).min(total)
            }
        }
    }

    fn read(text: &str) -> Option<Self> {
        if let Some(share) = text.strip_suffix("down") {
            return match Self::read(share)? {
                Self::Share(share) => Some(Self::ShareDown(share)),
                _ => None,
            };
        }
        let Some(percent) = text.strip_suffix('%') else { return text.parse().ok().map(Self::Count) };
        let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
        if part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let thousandths: u32 = format!("{part:0<3}").parse().ok()?;
        let share = whole.parse::<u32>().ok().filter(|w| *w <= 100)? * 1000 + thousandths;
        (u64::from(share) <= Self::WHOLE).then_some(Self::Share(share))
    }
}

impl fmt::Display for FaultAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::ShareDown(share) => write!(f, "{}down", Self::Share(*share)),
            Self::Share(share) if share % 1000 == 0 => write!(f, "{}%", share / 1000),
            Self::Share(share) => {
                let part = format!("{:03}", share % 1000);
                write!(f, "{}.{}%", share / 1000, part.trim_end_matches('0'))
            }
        }
    }
}

/// The values as they were given, each key at most once.
pub struct SpecValues {
    pub fabric: &'static str,
    given: Vec<(&'static str, String)>,
}

impl SpecValues {
    /// Reads `key=value` pairs of a family's own keys and the common ones.
    pub fn read<'t>(
        entry: &'static FabricTemplate,
        pairs: impl Iterator<Item = &'t str>,
    ) -> Result<Self, GenerateError> {
        let mut values = Self { fabric: entry.name, given: Vec::new() };
        for pair in pairs {
            let not_a_pair = || GenerateError::NotAPair { fabric: entry.name, text: shorten(pair) };
            let (key, value) = pair.split_once('=').ok_or_else(not_a_pair)?;
            let key = entry.find_key(key.trim())?.name;
            if values.text(key).is_some() {
                return Err(GenerateError::RepeatedKey { key });
            }
            values.given.push((key, value.trim().to_owned()));
        }
        Ok(values)
    }

    pub fn text(&self, key: &'static str) -> Option<&str> {
        self.given.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
    }

    pub fn bad_value(&self, key: &'static str, value: &str, allowed: impl Into<String>) -> GenerateError {
        GenerateError::BadValue { fabric: self.fabric, key, value: shorten(value), allowed: allowed.into() }
    }

    pub fn number(&self, key: &'static str, low: u32, high: u32) -> Result<Option<u32>, GenerateError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value
            .map(Some)
            .ok_or_else(|| self.bad_value(key, text, format!("a whole number from {low} to {high}")))
    }

    pub fn boolean(&self, key: &'static str) -> Result<Option<bool>, GenerateError> {
        match self.text(key) {
            None => Ok(None),
            Some("yes" | "true" | "1") => Ok(Some(true)),
            Some("no" | "false" | "0") => Ok(Some(false)),
            Some(text) => Err(self.bad_value(key, text, "yes or no")),
        }
    }

    pub fn amount(&self, key: &'static str) -> Result<FaultAmount, GenerateError> {
        let Some(text) = self.text(key) else { return Ok(FaultAmount::default()) };
        FaultAmount::read(text).ok_or_else(|| {
            self.bad_value(key, text, "a count as 5, or a share from 0% to 100% as 1%, or 1%down")
        })
    }
}

/// A value of the fabric's own, or what the catalogue says stands for it.
pub struct ValuesOrDefaults<'a> {
    pub values: &'a SpecValues,
    pub entry: &'static FabricTemplate,
}

impl ValuesOrDefaults<'_> {
    pub fn text(&self, key: &'static str) -> &str {
        let default =
            || self.entry.keys.iter().find(|known| known.name == key).map_or("", |known| known.default);
        self.values.text(key).unwrap_or_else(default)
    }

    pub fn number(&self, key: &'static str, low: u32, high: u32) -> Result<u32, GenerateError> {
        let text = self.text(key);
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value.ok_or_else(|| self.values.bad_value(key, text, format!("a whole number from {low} to {high}")))
    }

    /// Sizes joined by `x`.
    pub fn list(&self, key: &'static str, low: u32, most: usize) -> Result<Vec<u32>, GenerateError> {
        const HIGH: u32 = Lid::MAX as u32;
        let text = self.text(key);
        let item = |part: &str| part.parse().ok().filter(|value| (low..=HIGH).contains(value));
        let list: Option<Vec<u32>> = text.split('x').take(most + 1).map(item).collect();
        list.filter(|list| list.len() <= most).ok_or_else(|| {
            let allowed = format!("1 to {most} whole numbers from {low} to {HIGH} joined by x, as 4x4x3");
            self.values.bad_value(key, text, allowed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_and_never_nothing() {
        let of = |text, total| FaultAmount::read(text).unwrap().resolve(total);
        assert_eq!(of("1%", 87_808), 878);
        assert_eq!(of("1%", 20), 1);
        assert_eq!(of("0.25%", 1000), 3);
        assert_eq!(of("0%", 1000), 0);
        assert_eq!(of("100%", 7), 7);
        assert_eq!(of("3%", 0), 0);
        assert_eq!(of("5", 3), 5);
    }

    #[test]
    fn a_share_that_is_rounded_down_may_be_nothing() {
        let of = |text, total| FaultAmount::read(text).unwrap().resolve(total);
        assert_eq!((of("1%", 256), of("1%down", 256)), (3, 2));
        assert_eq!((of("1%down", 99), of("100%down", 7), of("0%down", 7)), (0, 7, 0));
        assert_eq!(FaultAmount::read("0.5%down").unwrap().to_string(), "0.5%down");
        for text in ["5down", "down", "1%downdown", "1%up"] {
            assert_eq!(FaultAmount::read(text), None, "{text}");
        }
    }
}
