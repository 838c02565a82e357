//! Link widths and speeds as numbers of PortInfo, in the encoding of the file.
//!
//! A speed column is a mask: the first byte holds LinkSpeed (SDR, DDR, QDR), the second LinkSpeedExt (FDR, EDR, HDR,
//! NDR), the third the vendor's (FDR10), the fourth LinkSpeedExt2 (XDR). Some versions give the bytes in columns of
//! their own.

use fabdeck_fabric::{LinkSpeed, LinkWidth};

/// Highest speed first: an active mask may name the legacy speed beside the extended one.
const SPEEDS: &[(u64, LinkSpeed)] = &[
    (1 << 24, LinkSpeed::Xdr),
    (8 << 8, LinkSpeed::Ndr),
    (4 << 8, LinkSpeed::Hdr),
    (2 << 8, LinkSpeed::Edr),
    (1 << 8, LinkSpeed::Fdr),
    (1 << 16, LinkSpeed::Fdr10),
    (4, LinkSpeed::Qdr),
    (2, LinkSpeed::Ddr),
    (1, LinkSpeed::Sdr),
];

/// The fastest speed of a mask.
pub(super) fn fastest(mask: u64) -> Option<LinkSpeed> {
    SPEEDS.iter().find(|(bit, _)| mask & bit != 0).map(|(_, speed)| *speed)
}

/// The widest width of a mask.
pub(super) fn widest(mask: u64) -> Option<LinkWidth> {
    let supported = LinkWidth::ALL.iter().copied().filter(|width| mask & u64::from(width.code()) != 0);
    supported.max_by_key(|width| width.lanes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for (mask, speed) in [
            (0, None),
            (1, Some(LinkSpeed::Sdr)),
            (7, Some(LinkSpeed::Qdr)),
            (0x1_0004, Some(LinkSpeed::Fdr10)),
            (0x104, Some(LinkSpeed::Fdr)),
            (2048, Some(LinkSpeed::Ndr)),
            (3841, Some(LinkSpeed::Ndr)),
            (1 << 24, Some(LinkSpeed::Xdr)),
            // The vendor's EDR20 is not a known speed.
            (2 << 16, None),
        ] {
            assert_eq!(fastest(mask), speed, "{mask:#x}");
        }
        assert_eq!(widest(19), Some(LinkWidth::X4));
        assert_eq!(widest(0b1111), Some(LinkWidth::X12));
        assert_eq!(widest(16), Some(LinkWidth::X2));
        assert_eq!(widest(0), None);
    }
}
