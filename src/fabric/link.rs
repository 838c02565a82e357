//! What a link can be: states, widths and speeds, in the words of the tools.

use std::fmt;

/// One word list per enumeration: display, parsing and the MAD encoding read the same table.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $word:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The value in PortInfo (IBA 14.2.5.6).
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)+ }
            }

            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.code() == code)
            }

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
        Down = 1, "Down";
        Init = 2, "Init";
        Armed = 3, "Armed";
        Active = 4, "Active";
    }
}

words! {
    /// The physical state of a port.
    PhysicalState {
        Sleep = 1, "Sleep";
        Polling = 2, "Polling";
        Disabled = 3, "Disabled";
        Training = 4, "Training";
        LinkUp = 5, "LinkUp";
        ErrorRecovery = 6, "ErrorRecovery";
        PhyTest = 7, "PhyTest";
    }
}

words! {
    /// How many physical lanes of a link are in use.
    LinkWidth {
        X1 = 1, "1x";
        X2 = 16, "2x";
        X4 = 2, "4x";
        X8 = 4, "8x";
        X12 = 8, "12x";
    }
}

impl LinkWidth {
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

/// The signalling rate of one physical lane. Spread over three PortInfo fields (LinkSpeed, LinkSpeedExt, and the
/// vendor's FDR10), hence no single code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkSpeed {
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

impl LinkSpeed {
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

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.word().eq_ignore_ascii_case(word))
    }

    /// Whether the standard's PortInfo has a value for it: FDR10 is a vendor's, XDR came after.
    pub fn in_port_info(self) -> bool {
        !matches!(self, Self::Fdr10 | Self::Xdr)
    }

    /// Signalling rate of one lane in Mbit/s (IBA volume 2; a 4x EDR link carries 4 of these).
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

    /// What one lane carries of data in Mbit/s, once coding (8b/10b, 64b/66b) and error correction are taken off.
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
