//! What a device answers about the health of its links.

/// The answers of a device to class 0x0A, to the details of performance management and to PortInfoExtended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WireProfile {
    /// The device has none of it.
    #[default]
    Plain,
    /// The device answers everything, and all is well.
    Full,
    /// The same, but at its first cabled port the errors of one lane rise, and the module of the second is too hot.
    Optics,
    /// The same as `Full`, but the chip is above its own limit, and the second fan of a switch stands still.
    Hot,
    /// The details of performance management without class 0x0A.
    CountersOnly,
    /// Class 0x0A is guarded by a key: the device does not answer without it.
    Keyed,
    /// Class 0x0A without the register of modules.
    NoModules,
    /// The device answers with values that cannot be true.
    Nonsense,
}

impl WireProfile {
    /// All profiles but the plain one, with their names in the options of a simulator.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("wire", Self::Full),
        ("wire-optics", Self::Optics),
        ("wire-hot", Self::Hot),
        ("wire-counters", Self::CountersOnly),
        ("wire-keyed", Self::Keyed),
        ("wire-no-modules", Self::NoModules),
        ("wire-nonsense", Self::Nonsense),
    ];

    /// Whether the device has the details of performance management, and PortInfoExtended.
    pub fn has_details(self) -> bool {
        self != Self::Plain
    }

    /// Whether the device has class 0x0A, with a key or without.
    pub fn has_diagnostics(self) -> bool {
        !matches!(self, Self::Plain | Self::CountersOnly)
    }
}
