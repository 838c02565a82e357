//! The queue of one lane behind a channel.

use super::packets::NONE;

/// The stage of the first packet of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueueStage {
    /// The queue is empty.
    Idle,
    /// The header is not there yet.
    HeaderPending,
    /// The packet asks for its exit.
    Requesting,
    /// The packet before it is leaving.
    Leaving,
}

/// The packets of one lane behind a channel, and the list of queues that ask for that lane of the channel. Half a
/// cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct Queue {
    pub first: u32,
    pub last: u32,
    /// Number of packets that still fit.
    pub room: u32,
    pub stage: QueueStage,
    /// The queue beyond that the first packet asks for.
    pub wants: u32,
    pub next_asking: u32,
    pub first_asking: u32,
    pub last_asking: u32,
}

const _: () = assert!(size_of::<Queue>() == 32);

pub(crate) const EMPTY: Queue = Queue {
    first: NONE,
    last: NONE,
    room: 0,
    stage: QueueStage::Idle,
    wants: NONE,
    next_asking: NONE,
    first_asking: NONE,
    last_asking: NONE,
};
