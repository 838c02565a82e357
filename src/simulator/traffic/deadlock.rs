//! Deadlock detection, which separates deadlock from congestion. A queue's first packet that asks for a lane without
//! room waits for the first packet of the queue beyond, and for nothing else. Only that packet's leaving makes room.
//! So each queue waits for at most one other. A walk along them ends at a queue that still moves, which is congestion,
//! or in a cycle, whose packets never move again.

use super::channel_graph::ChannelTarget;
use super::network::TrafficRun;
use super::packets::NONE;
use super::queue::QueueStage;
use fabdeck_fabric::{Lane, Lid, PortId};

/// A full buffer in a cycle, and the packet at its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockedBuffer {
    /// The cable in front of the buffer.
    pub from: PortId,
    pub to: PortId,
    pub lane: Lane,
    /// The source of the packet, and its destination.
    pub source: PortId,
    pub lid: Option<Lid>,
}

/// Buffers that wait for each other in a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// Each buffer waits for the next, the last for the first.
    pub blocked: Vec<BlockedBuffer>,
    /// Number of buffers that cannot move because of the cycle, its own included.
    pub stuck: u64,
}

impl TrafficRun {
    /// The first cycle that walks from the queues find, in the order of queues.
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        const NEW: u32 = NONE;
        const MOVES: u32 = NONE - 1;
        const STUCK: u32 = NONE - 2;
        let mut seen = vec![NEW; self.queues.len()];
        let mut cycle: Option<Vec<u32>> = None;
        let mut stuck = 0;
        let mut path = Vec::new();
        for start in 0..self.queues.len() as u32 {
            let mut at = start;
            while at != NONE && seen[at as usize] == NEW {
                seen[at as usize] = start;
                path.push(at);
                at = self.blocking_queue(at);
            }
            let known = if at == NONE { MOVES } else { seen[at as usize] };
            let verdict = if known == MOVES { MOVES } else { STUCK };
            if known == start && !path.is_empty() {
                let first = path.iter().position(|queue| *queue == at).unwrap_or(0);
                cycle.get_or_insert_with(|| path[first..].to_vec());
            }
            stuck += if verdict == STUCK { path.len() as u64 } else { 0 };
            path.drain(..).for_each(|queue| seen[queue as usize] = verdict);
        }
        let cycle = cycle?;
        // Output buffers are inside switches; the cables of the cycle name it.
        let inputs = cycle.into_iter().filter(|queue| !self.is_output_buffer(*queue));
        Some(Deadlock { blocked: inputs.map(|queue| self.blocked_buffer(queue)).collect(), stuck })
    }

    /// The queue whose first packet has to leave before the first of this one can; `NONE` if it can, or is leaving.
    fn blocking_queue(&self, queue: u32) -> u32 {
        let held = &self.queues[queue as usize];
        if held.stage != QueueStage::Requesting {
            return NONE;
        }
        let sinks = matches!(
            self.graph.channels[(held.wants >> self.lane_bits) as usize].far,
            ChannelTarget::Sink(_)
        );
        let full = !sinks && self.queues[held.wants as usize].room == 0;
        if full { held.wants } else { NONE }
    }

    fn is_output_buffer(&self, queue: u32) -> bool {
        let behind = &self.graph.channels[(queue >> self.lane_bits) as usize];
        matches!(behind.far, ChannelTarget::OutputBuffers(_))
    }

    fn blocked_buffer(&self, queue: u32) -> BlockedBuffer {
        let side = &self.graph.sides[(queue >> self.lane_bits) as usize];
        let first = self.queues[queue as usize].first;
        let (packet, source) = (self.packets.get(first), self.packets.origin(first).source);
        BlockedBuffer {
            from: side.port,
            to: side.peer,
            lane: Lane::new(queue & ((1 << self.lane_bits) - 1)).unwrap_or_default(),
            source: self.graph.ends[source as usize].port,
            lid: Lid::new(packet.lid.into()),
        }
    }
}
