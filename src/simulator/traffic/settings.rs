//! What the hardware of the simulated traffic is like.

use std::time::Duration;

use super::error::TrafficError;

/// What a packet has besides its payload: local and base transport header, both checksums.
pub(super) const OVERHEAD: u32 = 8 + 12 + 4 + 2;
/// The last checksum is not counted as data (IBA 16.1.3.5).
pub(super) const UNCOUNTED: u32 = 2;

/// Speeds that nobody stated are those of links; times are those of the multiple LID paper (5.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Bytes of payload of each packet.
    pub payload: u32,
    /// Bytes that the input buffer of each lane holds.
    pub buffer: u32,
    /// From the end of a cable to the other.
    pub flight: Duration,
    /// Through a switch, from the first byte in to the first byte out.
    pub forwarding: Duration,
    /// Payload in Mb/s that a host can send at the most, and as much take in; its link says otherwise.
    pub host_limit_mbps: Option<u32>,
    /// The same for switches that send and take in. The default is a 1x SDR link (switch-to-switch fat-tree paper, 7.2).
    pub switch_limit_mbps: u32,
    /// What a listed flow of some rate could not send for so long is never made; without one it is made later.
    pub backlog: Option<Duration>,
    /// What hosts offer, as a share of what they can send: for patterns that are drawn.
    pub load: f64,
    /// Of ports with several LIDs the lower half alone is sent to, until an end is told otherwise; else all of them.
    pub base_lids: bool,
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            payload: 2048,
            buffer: 16 * 1024,
            flight: Duration::from_nanos(20),
            forwarding: Duration::from_nanos(100),
            host_limit_mbps: None,
            switch_limit_mbps: 2000,
            backlog: None,
            load: 1.0,
            base_lids: false,
            seed: 1,
        }
    }
}

impl Settings {
    /// What no hardware is like.
    pub(super) fn check(&self) -> Result<(), TrafficError> {
        let wrong = |what, value: String, hint| Err(TrafficError::Setting { what, value, hint });
        if !(1..=4096).contains(&self.payload) {
            return wrong("the payload of a packet", self.payload.to_string(), "give 1 to 4096 bytes");
        }
        if !(self.load > 0.0 && self.load <= 1.0) {
            return wrong("the load", self.load.to_string(), "give a share above 0, up to 1");
        }
        if self.host_limit_mbps == Some(0) || self.switch_limit_mbps == 0 {
            return wrong("what an end can send", "0".to_owned(), "give some Mb/s");
        }
        Ok(())
    }

    /// Bytes of a packet on the wire.
    pub(super) fn bytes(&self) -> u32 {
        self.payload + OVERHEAD
    }

    /// What a packet adds to counters of data, in words of four bytes.
    pub(super) fn words(&self) -> u64 {
        u64::from((self.bytes() - UNCOUNTED) / 4)
    }

    /// Packets that an input buffer holds: one at least, or nothing would ever move.
    pub(super) fn credits(&self) -> u32 {
        (self.buffer / self.bytes()).max(1)
    }

    /// How long so many bytes take, in picoseconds.
    pub(super) fn time(bytes: u32, mbps: u32) -> u32 {
        let picos = u64::from(bytes) * 8_000_000 / u64::from(mbps.max(1));
        u32::try_from(picos).unwrap_or(u32::MAX)
    }
}
