//! States, widths and speeds of links, by the names that the tools print.

use std::fmt;

/// One table per enumeration for display, parsing and the MAD encoding.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $word:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name that the tools print.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The value in PortInfo (IBA 14.2.5.6).
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The value with a code of PortInfo.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.code() == code)
            }

            /// The value with a name, in any case.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.word().eq_ignore_ascii_case(word))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// The logical state of a port.
    PortState {
        /// No link.
        Down = 1, "Down";
        /// The link is up, and the subnet manager has not configured the port yet.
        Init = 2, "Init";
        /// The subnet manager has configured the port; data packets do not pass yet.
        Armed = 3, "Armed";
        /// Data packets pass.
        Active = 4, "Active";
    }
}

words! {
    /// The physical state of a port.
    PhysicalState {
        /// The port saves power and tries no link.
        Sleep = 1, "Sleep";
        /// The port looks for a peer.
        Polling = 2, "Polling";
        /// The port is switched off.
        Disabled = 3, "Disabled";
        /// The port and its peer agree on width and speed.
        Training = 4, "Training";
        /// The link is up.
        LinkUp = 5, "LinkUp";
        /// The link recovers from an error.
        ErrorRecovery = 6, "ErrorRecovery";
        /// The port runs a test of its transmitter.
        PhyTest = 7, "PhyTest";
    }
}

words! {
    /// The number of physical lanes of a link that are in use.
    LinkWidth {
        /// One lane.
        X1 = 1, "1x";
        /// Two lanes.
        X2 = 16, "2x";
        /// Four lanes.
        X4 = 2, "4x";
        /// Eight lanes.
        X8 = 4, "8x";
        /// Twelve lanes.
        X12 = 8, "12x";
    }
}

impl LinkWidth {
    /// The number of physical lanes.
    pub fn lanes(self) -> u32 {
        match self {
            Self::X1 => 1,
            Self::X2 => 2,
            Self::X4 => 4,
            Self::X8 => 8,
            Self::X12 => 12,
        }
    }
}

/// The signalling rate of one physical lane. Four fields hold it (LinkSpeed, LinkSpeedExt and LinkSpeedExt2 of
/// PortInfo, and FDR10 in a vendor's attribute), so it has no single code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkSpeed {
    /// 2.5 Gbit/s.
    Sdr,
    /// 5 Gbit/s.
    Ddr,
    /// 10 Gbit/s.
    Qdr,
    /// 10 Gbit/s with 64b/66b coding, of one vendor.
    Fdr10,
    /// 14 Gbit/s.
    Fdr,
    /// 25 Gbit/s.
    Edr,
    /// 50 Gbit/s.
    Hdr,
    /// 100 Gbit/s.
    Ndr,
    /// 200 Gbit/s.
    Xdr,
}

impl LinkSpeed {
    /// All speeds, ascending.
    pub const ALL: &'static [Self] = &[
        Self::Sdr,
        Self::Ddr,
        Self::Qdr,
        Self::Fdr10,
        Self::Fdr,
        Self::Edr,
        Self::Hdr,
        Self::Ndr,
        Self::Xdr,
    ];

    /// The name of the speed: `QDR`, `FDR10`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sdr => "SDR",
            Self::Ddr => "DDR",
            Self::Qdr => "QDR",
            Self::Fdr10 => "FDR10",
            Self::Fdr => "FDR",
            Self::Edr => "EDR",
            Self::Hdr => "HDR",
            Self::Ndr => "NDR",
            Self::Xdr => "XDR",
        }
    }

    /// The speed with a name, in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.word().eq_ignore_ascii_case(word))
    }

    /// The signalling rate of one lane in Mbit/s (IBA volume 2). A 4x EDR link carries four times as much.
    pub fn mbps(self) -> u32 {
        match self {
            Self::Sdr => 2_500,
            Self::Ddr => 5_000,
            Self::Qdr => 10_000,
            Self::Fdr10 => 10_312,
            Self::Fdr => 14_062,
            Self::Edr => 25_781,
            Self::Hdr => 53_125,
            Self::Ndr => 106_250,
            Self::Xdr => 212_500,
        }
    }

    /// The data rate of one lane in Mbit/s, without coding (8b/10b, 64b/66b) and error correction.
    pub fn data_mbps(self) -> u32 {
        match self {
            Self::Sdr => 2_000,
            Self::Ddr => 4_000,
            Self::Qdr => 8_000,
            Self::Fdr10 => 10_000,
            Self::Fdr => 13_636,
            Self::Edr => 25_000,
            Self::Hdr => 50_000,
            Self::Ndr => 100_000,
            Self::Xdr => 200_000,
        }
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_code_reads_back() {
        for state in PortState::ALL {
            assert_eq!(PortState::from_code(state.code()), Some(*state));
            assert_eq!(PortState::from_word(&state.word().to_lowercase()), Some(*state));
        }
        for width in LinkWidth::ALL {
            assert_eq!(LinkWidth::from_code(width.code()), Some(*width));
            assert_eq!(width.word(), format!("{}x", width.lanes()));
        }
        for speed in LinkSpeed::ALL {
            assert_eq!(LinkSpeed::from_word(speed.word()), Some(*speed));
        }
    }
}
