//! What an adapter exchanges with this process: packets with their header, and the kernel's description of ports.

use fabdeck_mad::MAD_SIZE;

/// Room for the largest MAD that a kernel returns (of Omni-Path). A MAD that does not fit would never leave the
/// kernel's queue.
pub const MAX_DATA_BYTES: usize = 2048;
/// The limit of `poll` is far higher, but a simulated device overflows beyond half an hour.
const WAIT_MAX_MS: u128 = 60_000;

/// The header before a MAD on its way to the kernel and back. The numbers of the address are in network order.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Envelope {
    pub agent_id: u32,
    pub status: u32,
    pub timeout_ms: u32,
    pub retries: u32,
    pub length: u32,
    pub qpn: u32,
    pub qkey: u32,
    pub lid: u16,
    pub sl: u8,
    pub path_bits: u8,
    pub grh_present: u8,
    pub gid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub gid: [u8; 16],
    pub flow_label: u32,
    pub pkey_index: u16,
    pub reserved: [u8; 6],
}

/// A packet as the kernel writes and reads it.
#[repr(C)]
pub struct RawPacket {
    pub envelope: Envelope,
    pub data: [u8; MAX_DATA_BYTES],
}

impl RawPacket {
    pub fn empty() -> Box<Self> {
        Box::new(Self { envelope: Envelope::default(), data: [0; MAX_DATA_BYTES] })
    }

    /// Puts a MAD into the packet, for this destination.
    pub fn fill(&mut self, to: Endpoint, mad: &[u8; MAD_SIZE]) {
        self.envelope = Envelope {
            qpn: to.queue_pair.to_be(),
            qkey: to.queue_key.to_be(),
            lid: to.lid.to_be(),
            sl: to.service_level,
            ..Envelope::default()
        };
        let (data, _) = self.data.split_at_mut(MAD_SIZE);
        data.copy_from_slice(mad);
    }

    /// The packet that was read; `length`: bytes behind its header.
    pub fn received(&self, length: usize) -> ReceivedPacket<'_> {
        let envelope = &self.envelope;
        ReceivedPacket {
            status: envelope.status,
            from: Endpoint {
                lid: u16::from_be(envelope.lid),
                queue_pair: u32::from_be(envelope.qpn),
                queue_key: u32::from_be(envelope.qkey),
                service_level: envelope.sl,
            },
            data: self.data.get(..length).unwrap_or_default(),
        }
    }
}

/// The time for `poll`. It is rounded up, because a wait that ends too early would only begin again.
pub fn wait_ms(wait: std::time::Duration) -> i32 {
    wait.as_micros().div_ceil(1_000).min(WAIT_MAX_MS) as i32
}

/// The source or destination of a packet, in host byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoint {
    pub lid: u16,
    pub queue_pair: u32,
    pub queue_key: u32,
    pub service_level: u8,
}

/// A packet from the kernel.
#[derive(Clone, Copy)]
pub struct ReceivedPacket<'a> {
    /// 0, or an error number of the system; a request that timed out comes back with one.
    pub status: u32,
    pub from: Endpoint,
    pub data: &'a [u8],
}

/// The kernel's description of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UmadPortFacts {
    pub number: u32,
    pub guid: u64,
    pub lid: u32,
    pub manager_lid: u32,
    pub state: u32,
    pub physical_state: u32,
    pub rate_gbps: u32,
    /// The CapabilityMask of PortInfo.
    pub capabilities: u32,
    pub link_layer: String,
}

/// The kernel's description of an adapter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UmadAdapterFacts {
    pub node_guid: u64,
    pub ports: Vec<UmadPortFacts>,
}
