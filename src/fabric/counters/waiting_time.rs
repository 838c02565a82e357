//! From ticks of waiting to the part of the time that a port waited.

use crate::observe::Ticks;
use crate::{Fabric, LinkSpeed, PortId};

/// The length of a tick in seconds: one byte time of a lane for a Tick of 0, one more for each that it counts (IBA
/// 16.1.3.2). A lane of SDR carries a byte in 4 ns, so a Tick of 1 is 8 ns; a lane of HDR in 0.16 ns, so it is 0.32
/// ns.
pub(crate) fn tick_seconds(tick: u8, speed: LinkSpeed) -> f64 {
    (f64::from(tick) + 1.0) * 8.0 / (f64::from(speed.data_mbps()) * 1e6)
}

/// The length of a tick at a port in seconds, where its kind of device stated it.
pub fn port_tick_seconds(fabric: &Fabric, ticks: &Ticks, port: PortId) -> Option<f64> {
    ticks.of(fabric, port).map(|(tick, speed)| tick_seconds(tick, speed))
}

/// The fraction of the time that a port waited. A result clearly above 1 shows that the stated tick length is
/// wrong, so it is `None`; the clocks of two answers differ a little, so a little above 1 counts as 1.
pub(crate) fn wait_share(ticks_per_second: f64, tick_seconds: f64) -> Option<f64> {
    const TOLERANCE: f64 = 1.05;
    let part = ticks_per_second * tick_seconds;
    (0.0..=TOLERANCE).contains(&part).then(|| part.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_as_many_byte_times_of_a_lane_as_the_device_says() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
        for (tick, speed, seconds) in [
            (0, LinkSpeed::Sdr, 4e-9),
            (1, LinkSpeed::Ddr, 4e-9),
            (255, LinkSpeed::Sdr, 1024e-9),
            (1, LinkSpeed::Hdr, 0.32e-9),
        ] {
            assert!(near(tick_seconds(tick, speed), seconds), "{tick} {speed:?}");
        }
        assert_eq!(wait_share(125_000_000.0, 4e-9), Some(0.5));
        assert_eq!(wait_share(251_000_000.0, 4e-9), Some(1.0));
        assert_eq!(wait_share(300_000_000.0, 4e-9), None);
        assert_eq!(wait_share(f64::NAN, 4e-9), None);
    }
}
