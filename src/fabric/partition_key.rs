//! A P_Key: the number of a partition, and whether its holder is a full member of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An entry of a P_Key table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartitionKey(u16);

impl PartitionKey {
    const FULL: u16 = 0x8000;
    /// The number of the default partition, which carries the traffic of subnet administration.
    pub const DEFAULT_NUMBER: u16 = 0x7FFF;

    /// Full membership in the default partition.
    pub const DEFAULT_FULL: Self = Self(0xFFFF);

    /// The P_Key of a partition for a full or a limited member.
    pub fn from_parts(number: u16, full: bool) -> Self {
        Self(number & !Self::FULL | if full { Self::FULL } else { 0 })
    }

    /// The P_Key with these 16 bits.
    pub fn new(bits: u16) -> Self {
        Self(bits)
    }

    /// All 16 bits.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The number of the partition, without the bit of membership.
    pub fn number(self) -> u16 {
        self.0 & !Self::FULL
    }

    /// Whether its holder is a full member. Two limited members do not exchange packets.
    pub fn is_full(self) -> bool {
        self.0 & Self::FULL != 0
    }

    /// Whether it stands for no partition. An entry of a table may have the bit of membership alone.
    pub fn is_empty(self) -> bool {
        self.number() == 0
    }
}

/// The number of the partition: `0x7fff`.
impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.number())
    }
}
