//! Tables rewritten under traffic: forwarding, SL2VL and arbitration.
//!
//! A packet has the lane of the port that it left by. A packet that asks for its exit keeps what it asked for. All
//! others follow the new tables, and adapters map their unsent packets to lanes again.

use std::sync::Arc;

use super::lanes::{LaneMap, adapter_row};
use super::network::TrafficRun;
use super::output_choice::OutputChoices;
use super::packets::NONE;
use super::queue::{EMPTY, Queue, QueueStage};
use fabdeck_fabric::{Fabric, Faults, Routes, Tables};
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::LaneMapping;

impl TrafficRun {
    /// Replaces the forwarding tables.
    pub fn set_routes(&mut self, routes: Arc<Routes>) {
        self.routes = routes;
    }

    /// Replaces the adaptive, SL2VL and arbitration tables; the fabric must be the one that the run was built from.
    pub fn set_tables(&mut self, fabric: &Fabric, faults: &Faults, tables: &Tables) {
        let problem = Problem::new(fabric, faults);
        let mapping = LaneMapping::new(&problem, tables);
        self.choices = OutputChoices::new(fabric, tables, self.settings.seed);
        self.lane_map = LaneMap::new(&problem, &mapping, self.choices.is_adaptive());
        for (row, end) in self.adapters.iter_mut().zip(&self.graph.ends) {
            *row = if end.is_switch { *row } else { adapter_row(fabric, &mapping, end.port) };
        }
        let levels = self.service.all_levels(&self.routes) | self.senders.levels();
        // Lanes that hold packets stay.
        self.lanes = self.lanes.max(self.lane_map.lane_count(levels, &self.adapters));
        self.add_lanes(u32::from(self.lanes).next_power_of_two().trailing_zeros());
        self.graph.set_arbitration(fabric, tables);
        self.senders.remap_lanes(&self.adapters, levels);
        (0..self.graph.ends.len() as u32).for_each(|end| self.begin_sending(end));
        // A lane that was in no arbitration table may be in one now.
        (0..self.graph.channels.len() as u32).for_each(|channel| self.try_send(channel));
    }

    /// Makes room for 2^bits lanes. Queues get other indexes, and every reference to them is updated.
    pub(crate) fn add_lanes(&mut self, bits: u32) {
        let before = self.lane_bits;
        if bits <= before {
            return;
        }
        let number = |queue: u32| match queue {
            NONE => NONE,
            queue => queue >> before << bits | (queue & ((1 << before) - 1)),
        };
        let mut queues = vec![EMPTY; self.graph.channels.len() << bits];
        for (queue, at) in queues.iter_mut().zip(0u32..) {
            queue.room = self.graph.capacity(at >> bits, &self.settings);
        }
        for (held, at) in self.queues.iter().zip(0u32..) {
            queues[number(at) as usize] = Queue {
                wants: number(held.wants),
                next_asking: number(held.next_asking),
                first_asking: number(held.first_asking),
                last_asking: number(held.last_asking),
                ..*held
            };
        }
        let (channels, old, new) =
            (self.graph.channels.len() as u32, self.queues.len() as u32, queues.len() as u32);
        self.wheel.renumber((channels + new) as usize + self.graph.ends.len(), |actor| match actor {
            channel if channel < channels => channel,
            queue if queue < channels + old => channels + number(queue - channels),
            end => end - old + new,
        });
        self.graph.channels.iter_mut().for_each(|channel| channel.from = number(channel.from));
        (self.queues, self.lane_bits) = (queues, bits);
    }

    /// Whether the send queue of a lane is empty and no packet is leaving it.
    pub(crate) fn is_idle(&self, end: u32, lane: u8) -> bool {
        self.queues[self.send_queue(end, lane) as usize].stage == QueueStage::Idle
    }
}
