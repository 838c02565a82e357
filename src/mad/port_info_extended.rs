//! PortInfoExtended (0x33) of subnet management: the forward error correction of a port.

use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::observe::FecMode;

#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PortInfoExtended {
    pub capability_mask: U32,
    pub fec_active: U16,
    /// Supported and enabled modes by speed.
    pub fdr: [U16; 2],
    pub edr: [U16; 2],
    pub hdr: [U16; 2],
    pub ndr: [U16; 2],
}

impl PortInfoExtended {
    pub const ATTRIBUTE: u16 = 0x33;
    /// The active FEC mode holds a value.
    const FEC_VALID: u32 = 1;

    pub fn new(mode: FecMode) -> Self {
        Self { capability_mask: Self::FEC_VALID.into(), fec_active: mode.code().into(), ..Self::default() }
    }

    /// The mode in use; `None` where the device does not say it, or says one that is not known.
    pub fn fec_mode(&self) -> Option<FecMode> {
        let valid = self.capability_mask.get() & Self::FEC_VALID != 0;
        FecMode::from_code(self.fec_active.get()).filter(|_| valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn modes_have_the_codes_of_this_attribute() {
        assert_eq!((size_of::<PortInfoExtended>(), offset_of!(PortInfoExtended, fec_active)), (22, 4));
        let at = [
            offset_of!(PortInfoExtended, fdr),
            offset_of!(PortInfoExtended, edr),
            offset_of!(PortInfoExtended, hdr),
            offset_of!(PortInfoExtended, ndr),
        ];
        assert_eq!(at, [6, 10, 14, 18]);
        for (code, mode) in [
            (0, Some(FecMode::Off)),
            (1, Some(FecMode::Firecode)),
            (2, Some(FecMode::Rs)),
            (3, Some(FecMode::LowLatencyRs)),
            (4, Some(FecMode::Rs544)),
            (5, None),
            (13, Some(FecMode::Rs544Plr)),
            (14, Some(FecMode::LowLatency271Plr)),
        ] {
            let info = PortInfoExtended {
                capability_mask: 1.into(),
                fec_active: U16::from(code),
                ..PortInfoExtended::default()
            };
            assert_eq!(info.fec_mode(), mode, "{code}");
            let silent = PortInfoExtended { capability_mask: 0.into(), ..info };
            assert_eq!(silent.fec_mode(), None, "a mode without its capability bit says nothing");
            assert_eq!(mode.map(PortInfoExtended::new), mode.map(|_| info));
        }
    }
}
