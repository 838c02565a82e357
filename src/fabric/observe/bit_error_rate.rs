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

    /// The rate of this number of errors in this number of bits, rounded to one digit; `None` without bits.
    pub fn of_counts(errors: u64, bits: u64) -> Option<Self> {
        match (errors, bits) {
            (_, 0) => None,
            (0, _) => Some(Self::NoneSeen),
            (errors, bits) => {
                let rate = errors as f64 / bits as f64;
                let magnitude = (-rate.log10()).ceil().clamp(0.0, f64::from(NONE_SEEN_FROM - 1));
                let coefficient = (rate * 10f64.powf(magnitude)).round().clamp(1.0, 10.0);
                // 9.96e-9 is 1e-8.
                let carried = coefficient > 9.0 && magnitude > 0.0;
                let (coefficient, magnitude) =
                    if carried { (1.0, magnitude - 1.0) } else { (coefficient, magnitude) };
                Some(Self::Rate(RateNumber { coefficient: coefficient as u8, magnitude: magnitude as u8 }))
            }
        }
    }

    /// The rate that a text states as a number, as close as a coefficient of 1 to 15 comes to it. `None` for a number
    /// that is no rate: tools print such where a device measures nothing.
    pub fn from_number(number: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&number) {
            return None;
        }
        let power = number.log10().floor();
        if number == 0.0 || -power >= f64::from(NONE_SEEN_FROM) {
            return Some(Self::NoneSeen);
        }
        let mantissa = number / 10f64.powf(power);
        let is_whole = |value: f64| (value - value.round()).abs() < 1e-6 * value;
        let fine = !is_whole(mantissa) && is_whole(mantissa * 10.0) && mantissa < 1.55;
        let (coefficient, power) = match (fine, mantissa.round()) {
            (true, _) => ((mantissa * 10.0).round(), power - 1.0),
            (false, 10.0) => (1.0, power + 1.0),
            (false, whole) => (whole, power),
        };
        Some(Self::Rate(RateNumber { coefficient: coefficient as u8, magnitude: -power.min(0.0) as u8 }))
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
        for (errors, bits, text) in [
            (3, 1_000_000_000, Some("3e-9")),
            (0, 5, Some("none seen")),
            (0, 0, None),
            (996, 1000, Some("1e-0")),
            (1, 400_000_000_000_000, Some("3e-15")),
        ] {
            assert_eq!(BitErrorRate::of_counts(errors, bits).map(|rate| rate.to_string()).as_deref(), text);
        }
        for (number, text) in [
            (0.0, Some("none seen")),
            (1.5e-254, Some("none seen")),
            (15e-255, Some("none seen")),
            (3e-9, Some("3e-9")),
            (1.2e-8, Some("12e-9")),
            (1.5e-12, Some("15e-13")),
            (2.34e-7, Some("2e-7")),
            (9.96e-9, Some("1e-8")),
            (1e-5, Some("1e-5")),
            (1.0, Some("1e-0")),
            (1e9, None),
            (-1.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(BitErrorRate::from_number(number).map(|rate| rate.to_string()).as_deref(), text);
        }
        let at = |coefficient, magnitude| BitErrorRate::Rate(RateNumber { coefficient, magnitude });
        assert!(BitErrorRate::NoneSeen < at(1, 200) && at(9, 10) < at(1, 9) && at(1, 9) < at(15, 9));
    }
}
