//! Bit error rates as devices state them: a coefficient and a power of ten.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Magnitudes from here on stand for "no error was seen": devices state 15E-255 or 1.5E-254 then.
const NONE_SEEN_FROM: u8 = 254;

/// A bit error rate since the counters of a port were cleared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BitErrorRate {
    /// The device has seen no error. It is below every number, and no number itself.
    NoneSeen,
    /// An error rate.
    Rate(RateNumber),
}

/// `coefficient` x 10^-`magnitude`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RateNumber {
    /// 1 to 15.
    pub coefficient: u8,
    /// The power of ten, without its sign.
    pub magnitude: u8,
}

impl RateNumber {
    /// The number.
    pub fn value(self) -> f64 {
        f64::from(self.coefficient) * 10f64.powi(-i32::from(self.magnitude))
    }
}

impl PartialOrd for RateNumber {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RateNumber {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value().total_cmp(&other.value())
    }
}

impl BitErrorRate {
    /// The rate in a word of a device: magnitude in bits 15 to 8, coefficient in bits 3 to 0. `None` for a coefficient
    /// of 0: a device that does not measure, which is not the same as no error.
    pub fn from_word(word: u32) -> Option<Self> {
        let (magnitude, coefficient) = ((word >> 8) as u8, (word & 0xF) as u8);
        match (magnitude, coefficient) {
            (NONE_SEEN_FROM.., _) => Some(Self::NoneSeen),
            (_, 0) => None,
            (magnitude, coefficient) => Some(Self::Rate(RateNumber { coefficient, magnitude })),
        }
    }

    /// The word of a device.
    pub fn to_word(self) -> u32 {
        match self {
            Self::NoneSeen => 0xFF0F,
            Self::Rate(RateNumber { coefficient, magnitude }) => {
                u32::from(magnitude) << 8 | u32::from(coefficient & 0xF)
            }
        }
    }

    /// The number; `None` where no error was seen.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::NoneSeen => None,
            Self::Rate(number) => Some(number.value()),
        }
    }
}

impl fmt::Display for BitErrorRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoneSeen => f.pad("none seen"),
            Self::Rate(number) => f.pad(&format!("{}e-{}", number.coefficient, number.magnitude)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_is_no_number_and_a_missing_rate_is_not_zero() {
        let rate = |word: [u8; 4]| BitErrorRate::from_word(u32::from_be_bytes(word));
        let raw = rate([0, 0, 9, 3]).unwrap();
        assert_eq!((raw.to_string(), raw.to_word()), ("3e-9".to_owned(), 0x0903));
        assert!((raw.value().unwrap() / 3e-9 - 1.0).abs() < 1e-9);
        for none in [[0, 0, 0xFF, 0x0F], [0, 0, 0xFE, 0x0F], [0, 0, 0xFE, 0x01]] {
            assert_eq!(rate(none), Some(BitErrorRate::NoneSeen));
            assert_eq!(rate(none).and_then(BitErrorRate::value), None);
        }
        assert_eq!(BitErrorRate::NoneSeen.to_word(), 0x0000_FF0F);
        assert_eq!(rate([0, 0, 9, 0]), None);
        assert_eq!(rate([0, 0, 0, 0]), None);
        let at = |coefficient, magnitude| BitErrorRate::Rate(RateNumber { coefficient, magnitude });
        assert!(BitErrorRate::NoneSeen < at(1, 200) && at(9, 10) < at(1, 9) && at(1, 9) < at(15, 9));
    }
}
