//! ExtPortInfo (0xff90), a port attribute of NVIDIA's devices: FDR10, which PortInfo cannot express, and the reason
//! for which a port was taken out of service.

use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct ExtendedPortInfo {
    pub state_change: u8,
    pub reserved: [u8; 3],
    pub bandwidth: U16,
    pub unhealthy_reason: u8,
    pub speed_supported: u8,
    pub reserved_enabled: [u8; 3],
    pub speed_enabled: u8,
    pub reserved_active: [u8; 3],
    pub speed_active: u8,
    pub reserved_mask: U16,
    pub capability_mask: U16,
}

impl ExtendedPortInfo {
    pub const ATTRIBUTE: u16 = 0xFF90;
    /// The bit of GeneralInfo for this attribute.
    pub const GENERAL_INFO_BIT: usize = 9;
    const FDR10: u8 = 1;

    /// An answer with FDR10 as the speed in use, or with no speed of this attribute in use.
    pub fn new(supported: bool, active: bool) -> Self {
        let bit = |set: bool| if set { Self::FDR10 } else { 0 };
        Self {
            speed_supported: bit(supported),
            speed_enabled: bit(supported),
            speed_active: bit(active),
            ..Self::default()
        }
    }

    pub fn is_fdr10(&self) -> bool {
        self.speed_active & Self::FDR10 != 0
    }

    pub fn supports_fdr10(&self) -> bool {
        self.speed_supported & Self::FDR10 != 0
    }
}
