//! Consistency check of a run: walks through the whole state, so that no packet appears or vanishes.

use super::channel_graph::ChannelTarget;
use super::network::TrafficRun;
use super::packets::NONE;
use super::queue::{Queue, QueueStage};

impl TrafficRun {
    /// Returns what is inconsistent in the state of a run; the time grows with the fabric.
    pub fn audit(&self) -> Result<(), String> {
        let mut held = 0;
        let mut asking = vec![0u32; self.queues.len()];
        for queue in self.queues.iter().filter(|queue| queue.stage == QueueStage::Requesting) {
            asking[queue.wants as usize] += 1;
        }
        for (number, queue) in (0u32..).zip(&self.queues) {
            held += self.audit_queue(number, queue).map_err(|what| format!("queue {number}: {what}"))?;
        }
        for (number, channel) in (0u32..).zip(&self.graph.channels) {
            if channel.packet != NONE {
                // The queue behind a channel holds a packet whose tail is still on the wire; a sink holds nothing.
                held += u32::from(matches!(channel.far, ChannelTarget::Sink(_)));
                if self.queues[channel.from as usize].stage != QueueStage::Leaving {
                    return Err(format!("channel {number} sends what does not leave"));
                }
                if !self.wheel.is_scheduled(number) {
                    return Err(format!("channel {number} sends and never ends"));
                }
            }
            self.audit_requests(number, channel.asked, &asking)
                .map_err(|what| format!("channel {number}: {what}"))?;
        }
        if held != self.packets.in_flight() {
            return Err(format!("{held} packets lie in queues, {} are held", self.packets.in_flight()));
        }
        let [made, arrived, lost] = self.packet_totals();
        match made == arrived + lost + u64::from(held) {
            true => Ok(()),
            false => Err(format!("{made} made, {arrived} arrived, {lost} lost, {held} under way")),
        }
    }

    /// Number of packets in a queue. Checks that used and free room add up to the credits.
    fn audit_queue(&self, number: u32, queue: &Queue) -> Result<u32, String> {
        let (mut at, mut last, mut held) = (queue.first, NONE, 0);
        while at != NONE {
            (last, at, held) = (at, self.packets.get(at).behind, held + 1);
        }
        if last != queue.last {
            return Err("its last is not its last".to_owned());
        }
        let leaving = u32::from(queue.stage == QueueStage::Leaving);
        let sends = matches!(
            self.graph.channels[(number >> self.lane_bits) as usize].far,
            ChannelTarget::SendQueues(_)
        );
        let capacity = self.graph.capacity(number >> self.lane_bits, &self.settings);
        if !sends && held + leaving + queue.room != capacity {
            return Err(format!("{held} held, {leaving} leaving, {} free, not {capacity}", queue.room));
        }
        let comes = self.wheel.is_scheduled(self.actor_of_queue(number));
        let fits = match queue.stage {
            QueueStage::Idle => held == 0 && !comes,
            QueueStage::HeaderPending => held > 0 && comes,
            QueueStage::Requesting => held > 0 && !comes,
            QueueStage::Leaving => !comes,
        };
        if fits { Ok(held) } else { Err(format!("{:?} with {held}", queue.stage)) }
    }

    /// Checks that each queue that asks for a lane is in that lane's list once, and that the bits of lanes match the
    /// lists.
    fn audit_requests(&self, number: u32, asked: u16, asking: &[u32]) -> Result<(), String> {
        for lane in 0..1u8 << self.lane_bits {
            let wanted = self.queue(number, lane);
            let (mut at, mut last, mut count) = (self.queues[wanted as usize].first_asking, NONE, 0);
            while at != NONE {
                let one = &self.queues[at as usize];
                if one.stage != QueueStage::Requesting || one.wants != wanted {
                    return Err(format!("queue {at} does not ask for lane {lane}"));
                }
                (last, at, count) = (at, one.next_asking, count + 1);
            }
            if last != self.queues[wanted as usize].last_asking || asking[wanted as usize] != count {
                return Err(format!("the list of lane {lane} has {count}"));
            }
            if (asked >> lane & 1 == 1) != (count > 0) {
                return Err(format!("lane {lane} is asked for by {count}"));
            }
        }
        Ok(())
    }
}
