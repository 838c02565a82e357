//! What a device answers about partitions.

use fabdeck_mad::PKeyBlock;

/// What a device answers about partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PartitionProfile {
    /// The P_Keys of its ports. External ports of a switch have no table.
    #[default]
    Plain,
    /// A switch that drops packets at ports of hosts whose P_Key the host does not have.
    Enforcing,
    /// The same, with the P_Key of the default partition alone.
    Lacking,
    /// A switch that could drop packets, and drops none.
    EnforcementOff,
    /// The device does not answer.
    Silent,
    /// The device refuses the attribute.
    Absent,
    /// Its tables are empty.
    Empty,
}

impl PartitionProfile {
    /// All profiles but the plain one, with their names in the options of a simulator.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("pkeys-enforce", Self::Enforcing),
        ("pkeys-lack", Self::Lacking),
        ("pkeys-off", Self::EnforcementOff),
        ("pkeys-silent", Self::Silent),
        ("pkeys-absent", Self::Absent),
        ("pkeys-empty", Self::Empty),
    ];

    /// Whether external ports of a switch have tables.
    pub fn has_external_tables(self) -> bool {
        matches!(self, Self::Enforcing | Self::Lacking | Self::EnforcementOff)
    }

    /// The number of entries in the table of an external port.
    pub fn enforcement_capacity(self) -> u16 {
        if self.has_external_tables() { PKeyBlock::ENTRIES } else { 0 }
    }
}
