//! Newtypes for every identifier of the trade.

use std::fmt;
use std::str::FromStr;

/// An identifier that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {expected}")]
pub struct IdError {
    pub text: String,
    pub expected: &'static str,
}

impl IdError {
    fn new(text: &str, expected: &'static str) -> Self {
        // Hostile input may be long; a message shows its beginning.
        let text = text.chars().take(80).collect();
        Self { text, expected }
    }
}

/// A 64-bit EUI-64 identifier of a node, a port or a system image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Guid(pub u64);

impl Guid {
    /// Hexadecimal with or without `0x`, as every tool of the trade prints it.
    pub fn from_hex(text: &str) -> Result<Self, IdError> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let wrong = || IdError::new(text, "a GUID (up to 16 hexadecimal digits)");
        if digits.is_empty() || digits.len() > 16 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u64::from_str_radix(digits, 16).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Guid {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::from_hex(text)
    }
}

/// A unicast local identifier. The unknown LID (0, or one outside the unicast range) is `Option::None`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lid(u16);

impl Lid {
    /// The last unicast LID; 0xC000 and above address multicast groups.
    pub const MAX: u16 = 0xBFFF;

    /// `None` for 0 and for everything above the unicast range.
    pub fn new(value: u32) -> Option<Self> {
        match u16::try_from(value) {
            Ok(lid @ 1..=Self::MAX) => Some(Self(lid)),
            _ => None,
        }
    }

    pub fn value(self) -> u16 {
        self.0
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Lid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Lid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lid({})", self.0)
    }
}

/// LID mask control: a port owns 2^LMC consecutive LIDs. At most 7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Lmc(u8);

impl Lmc {
    pub const MAX: u8 = 7;

    pub fn new(value: u32) -> Option<Self> {
        match u8::try_from(value) {
            Ok(lmc @ 0..=Self::MAX) => Some(Self(lmc)),
            _ => None,
        }
    }

    pub fn value(self) -> u8 {
        self.0
    }

    /// How many LIDs a port with this LMC owns.
    pub fn lids(self) -> u16 {
        1 << self.0
    }
}

impl fmt::Display for Lmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A port number on its node. 0 is a switch's own management port, 255 does not exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PortNum(pub u8);

impl PortNum {
    pub const MAX: u8 = 254;
    /// The management port of a switch.
    pub const MANAGEMENT: PortNum = PortNum(0);

    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    pub fn value(self) -> u8 {
        self.0
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for PortNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for PortNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PortNum({})", self.0)
    }
}

/// A virtual lane, 0 to 15 (15 is management).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Lane(u8);

impl Lane {
    pub const MAX: u8 = 15;

    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    pub fn value(self) -> u8 {
        self.0
    }
}

/// A service level, 0 to 15.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct ServiceLevel(u8);

impl ServiceLevel {
    pub const MAX: u8 = 15;

    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    pub fn value(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guid_reads_every_spelling_of_the_tools() {
        for text in ["0x0002c9020040f160", "2c9020040f160", "0X2C9020040F160"] {
            assert_eq!(Guid::from_hex(text).unwrap(), Guid(0x0002_c902_0040_f160), "{text}");
        }
        assert_eq!(Guid(0x2c9).to_string(), "0x00000000000002c9");
        for text in ["", "0x", "0x00000000000000001", "12g4", "+12", "-1"] {
            assert!(Guid::from_hex(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lids_outside_the_unicast_range_are_unknown() {
        for (value, known) in [(0, false), (1, true), (0xBFFF, true), (0xC000, false), (65535, false)] {
            assert_eq!(Lid::new(value).is_some(), known, "{value}");
        }
    }
}
