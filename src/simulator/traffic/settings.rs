//! Hardware parameters of the simulated traffic.

use std::time::Duration;

use super::error::TrafficError;

/// Bytes of a packet besides its payload: local and base transport header, both checksums.
pub(crate) const HEADER_BYTES: u32 = 8 + 12 + 4 + 2;
/// PortXmitData does not count the last checksum (IBA 16.1.3.5).
pub(crate) const UNCOUNTED_BYTES: u32 = 2;

/// Unknown speeds are those of the links; times are those of the multiple LID paper (5.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrafficSettings {
    /// Bytes of payload of each packet.
    pub payload: u32,
    /// Bytes that the input buffer of each lane holds.
    pub buffer: u32,
    /// Packets that the output buffer of each lane holds at the ports of switches: 0 or 1. With 0 a packet waits in its
    /// input buffer until the cable takes it.
    pub output_buffer: u8,
    /// Time from one end of a cable to the other.
    pub flight: Duration,
    /// Time through a switch, from the first byte in to the first byte out.
    pub forwarding: Duration,
    /// Most payload that a host sends, and most that it receives, in Mb/s; `None`: its link's rate.
    pub host_limit_mbps: Option<u32>,
    /// The same for switches that send and receive. The default is a 1x SDR link (switch-to-switch fat-tree paper,
    /// 7.2).
    pub switch_limit_mbps: u32,
    /// A listed flow with a rate drops packets delayed longer than this; `None`: it sends them later.
    pub backlog: Option<Duration>,
    /// The offered load of hosts, as a share of what they can send; for drawn patterns and listed flows without a
    /// rate.
    pub load: f64,
    /// Whether ends send only to the base LIDs of a port until they are directed to high LIDs; otherwise to all LIDs.
    pub base_lids: bool,
    /// Whether packets keep their paths, so that ports count those in buffers apart from those that have arrived.
    pub keeps_paths: bool,
    pub seed: u64,
}

impl Default for TrafficSettings {
    fn default() -> Self {
        Self {
            payload: 2048,
            buffer: 16 * 1024,
            output_buffer: 0,
            flight: Duration::from_nanos(20),
            forwarding: Duration::from_nanos(100),
            host_limit_mbps: None,
            switch_limit_mbps: 2000,
            backlog: None,
            load: 1.0,
            base_lids: false,
            keeps_paths: false,
            seed: 1,
        }
    }
}

impl TrafficSettings {
    /// Refuses impossible values.
    pub(crate) fn validate(&self) -> Result<(), TrafficError> {
        let wrong = |what, value: String, hint| Err(TrafficError::Setting { what, value, hint });
        if !(1..=4096).contains(&self.payload) {
            return wrong("the payload of a packet", self.payload.to_string(), "give 1 to 4096 bytes");
        }
        if !(self.load > 0.0 && self.load <= 1.0) {
            return wrong("the load", self.load.to_string(), "give a share above 0, up to 1");
        }
        if self.output_buffer > 1 {
            return wrong("an output buffer", self.output_buffer.to_string(), "give 0 or 1 packet");
        }
        if self.host_limit_mbps == Some(0) || self.switch_limit_mbps == 0 {
            return wrong("the sending rate of an end", "0".to_owned(), "give some Mb/s");
        }
        Ok(())
    }

    /// Bytes of a packet on the wire.
    pub(crate) fn packet_bytes(&self) -> u32 {
        self.payload + HEADER_BYTES
    }

    /// Number of four-byte words that a packet adds to counters of data.
    pub(crate) fn packet_words(&self) -> u64 {
        u64::from((self.packet_bytes() - UNCOUNTED_BYTES) / 4)
    }

    /// Packets that an input buffer holds: at least one, or no packet could move.
    pub(crate) fn buffer_packets(&self) -> u32 {
        (self.buffer / self.packet_bytes()).max(1)
    }

    /// Time of this many bytes at a rate, in picoseconds.
    pub(crate) fn wire_picoseconds(bytes: u32, mbps: u32) -> u32 {
        let picos = u64::from(bytes) * 8_000_000 / u64::from(mbps.max(1));
        u32::try_from(picos).unwrap_or(u32::MAX)
    }
}
