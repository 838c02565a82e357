//! Newtypes for the identifiers of InfiniBand.

use std::fmt;
use std::str::FromStr;

/// A text that is no identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {expected}")]
pub struct IdError {
    /// The text.
    pub text: String,
    /// What an identifier of this kind looks like.
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
    /// Reads a hexadecimal GUID with or without `0x`, as the tools of InfiniBand print it.
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

/// A unicast local identifier. An unknown LID (0, or one outside the unicast range) is `None` of `Option<Lid>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lid(u16);

impl Lid {
    /// The last unicast LID; 0xC000 and above address multicast groups.
    pub const MAX: u16 = 0xBFFF;

    /// Makes a LID; `None` for 0 and for values above the unicast range.
    pub fn new(value: u32) -> Option<Self> {
        match u16::try_from(value) {
            Ok(lid @ 1..=Self::MAX) => Some(Self(lid)),
            _ => None,
        }
    }

    /// The LID as a number.
    pub fn value(self) -> u16 {
        self.0
    }

    /// The LID as an index into a table that begins with LID 0.
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
    /// The largest LMC.
    pub const MAX: u8 = 7;

    /// Makes an LMC; `None` above 7.
    pub fn new(value: u32) -> Option<Self> {
        match u8::try_from(value) {
            Ok(lmc @ 0..=Self::MAX) => Some(Self(lmc)),
            _ => None,
        }
    }

    /// The LMC as a number.
    pub fn value(self) -> u8 {
        self.0
    }

    /// The number of LIDs of a port with this LMC.
    pub fn lid_count(self) -> u16 {
        1 << self.0
    }
}

impl fmt::Display for Lmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The number of a port on its node. Port 0 is the management port of a switch; 255 is not a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PortNum(pub u8);

impl PortNum {
    /// The largest port number.
    pub const MAX: u8 = 254;
    /// The management port of a switch.
    pub const MANAGEMENT: PortNum = PortNum(0);

    /// Makes a port number; `None` above 254.
    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    /// The port number as a number.
    pub fn value(self) -> u8 {
        self.0
    }

    /// The port number as an index.
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

/// A virtual lane, 0 to 15. Lane 15 carries management packets only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Lane(u8);

impl Lane {
    /// The largest lane, which carries management packets.
    pub const MAX: u8 = 15;

    /// Makes a lane; `None` above 15.
    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    /// The lane as a number.
    pub fn value(self) -> u8 {
        self.0
    }
}

/// A service level, 0 to 15.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct ServiceLevel(u8);

impl ServiceLevel {
    /// The largest service level.
    pub const MAX: u8 = 15;

    /// Makes a service level; `None` above 15.
    pub fn new(value: u32) -> Option<Self> {
        u8::try_from(value).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    /// The service level as a number.
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
