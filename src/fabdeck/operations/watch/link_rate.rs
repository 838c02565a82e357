//! What a link carries: the rate after encoding, which every screen shows and loads are shares of.

use fabdeck_fabric::{LinkSpeed, LinkWidth};

/// The rate of a link in Gb/s, without coding and error correction: 200 for 4x HDR.
pub fn data_gbps(width: LinkWidth, speed: LinkSpeed) -> f64 {
    f64::from(speed.data_mbps() * width.lanes()) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_its_rate_after_encoding() {
        assert_eq!(data_gbps(LinkWidth::X4, LinkSpeed::Hdr), 200.0);
        assert_eq!(data_gbps(LinkWidth::X1, LinkSpeed::Hdr), 50.0);
        assert_eq!(data_gbps(LinkWidth::X4, LinkSpeed::Qdr), 32.0);
    }
}
