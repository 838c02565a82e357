//! The run: moves packets from queue to queue.
//!
//! - Behind each channel there is a first-in first-out queue for each lane: the input buffers of the port there. A
//!   packet leaves only if there is room for all of it beyond: credits. They return when its tail has left. The time
//!   of their return is counted into the outbound latency, because only the sum is visible.
//! - The first packet of a queue asks for its exit as soon as its header is there. It leaves while its tail still
//!   comes in: virtual cut-through. Packets behind it wait, whatever their exit is.
//! - Among queues that ask for the same lane the first to ask is served first. A queue asks for one packet at a time,
//!   so a queue that always has packets gets one turn a round, as with round robin.
//! - All packets have the same size, so room counts packets.
//! - With output buffers a packet leaves its input buffer once the output buffer of its lane has room, and asks for the
//!   cable from there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::arbiter::bits_of;
use super::channel_graph::{ChannelGraph, ChannelTarget, DRAIN, NEVER, OUT, SENDS, TrafficEnd};
use super::error::TrafficError;
use super::lanes::{LaneMap, LaneRow, LevelSelection, adapter_row};
use super::output_choice::{ChosenOutput, OutputChoices};
use super::packets::{NONE, Packets};
use super::queue::{EMPTY, Queue, QueueStage};
use super::settings::TrafficSettings;
use super::setup::{NetworkSetup, TrafficLoad};
use super::steady_state::SteadyState;
use super::timing_wheel::TimingWheel;
use super::traffic_senders::TrafficSenders;
use super::traffic_tally::TrafficTally;
use fabdeck_fabric::{NO_PATH, Routes};
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::LaneMapping;

/// A run of traffic.
#[derive(Debug)]
pub struct TrafficRun {
    pub(crate) graph: ChannelGraph,
    pub(crate) queues: Vec<Queue>,
    /// log2 of the queues of a channel, which lie together. A power of two, because every hop splits a queue's index.
    pub(crate) lane_bits: u32,
    pub(crate) lanes: u8,
    pub(crate) packets: Packets,
    pub(crate) wheel: TimingWheel,
    pub(crate) routes: Arc<Routes>,
    pub(crate) choices: OutputChoices,
    pub(crate) service: LevelSelection,
    pub(crate) lane_map: LaneMap,
    pub(crate) adapters: Vec<LaneRow>,
    pub(crate) settings: TrafficSettings,
    pub(crate) credits: u32,
    pub(crate) senders: TrafficSenders,
    pub(crate) tally: TrafficTally,
    pub(crate) steady: SteadyState,
    /// Packets without a path, by the switch and port where they came in; and packets for a port that is down, by that
    /// port.
    pub(crate) astray: BTreeMap<(u32, u8), u64>,
    pub(crate) discarded: BTreeMap<(u32, u8), u64>,
    /// Ends that wait to send to other LIDs and whose last packet has arrived.
    pub(crate) drained: Vec<u32>,
}

impl TrafficRun {
    pub fn new(given: NetworkSetup<'_>, load: &TrafficLoad) -> Result<Self, TrafficError> {
        let problem = Problem::new(given.fabric, given.faults);
        let settings = load.settings;
        settings.validate()?;
        let switches = TrafficSenders::switches_of(given.fabric, &load.pattern);
        let path_bits = given.routes.path_bits(given.fabric);
        let plant = ChannelGraph::new(&problem, (given.tables, &path_bits), &settings, &switches);
        let mapping = LaneMapping::new(&problem, given.tables);
        given.service.validate(given.fabric)?;
        let choices = OutputChoices::new(given.fabric, given.tables, settings.seed);
        let lane_map = LaneMap::new(&problem, &mapping, choices.is_adaptive());
        let identity: LaneRow = std::array::from_fn(|level| level as u8);
        let row = |end: &TrafficEnd| match end.is_switch {
            true => identity,
            false => adapter_row(given.fabric, &mapping, end.port),
        };
        let adapters: Vec<LaneRow> = plant.ends.iter().map(row).collect();
        let senders = TrafficSenders::new(given, load, &plant, &adapters)?;
        let levels = given.service.all_levels(given.routes) | senders.levels();
        let lanes = lane_map.lane_count(levels, &adapters);
        let lane_bits = u32::from(lanes).next_power_of_two().trailing_zeros();
        let mut queues = vec![EMPTY; plant.channels.len() << lane_bits];
        for (queue, at) in queues.iter_mut().zip(0u32..) {
            queue.room = plant.capacity(at >> lane_bits, &settings);
        }
        let actors = plant.channels.len() + queues.len() + plant.ends.len();
        let mut run = Self {
            tally: TrafficTally::new(plant.ends.len(), &settings),
            steady: SteadyState::new(plant.ends.len()),
            wheel: TimingWheel::new(actors),
            packets: Packets::new(settings.keeps_paths),
            routes: Arc::clone(given.routes),
            choices,
            service: given.service.clone(),
            credits: settings.buffer_packets(),
            astray: BTreeMap::new(),
            discarded: BTreeMap::new(),
            drained: Vec::new(),
            graph: plant,
            queues,
            lane_bits,
            lanes,
            lane_map,
            adapters,
            settings,
            senders,
        };
        for end in 0..run.graph.ends.len() as u32 {
            run.begin_sending(end);
        }
        Ok(run)
    }

    /// Simulated time since the beginning, in nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.wheel.now() / 1000
    }

    /// Advances time to a moment, in nanoseconds since the beginning.
    pub fn advance(&mut self, until_ns: u64) {
        let until = until_ns.saturating_mul(1000);
        while let Some(actor) = self.wheel.next_actor(until) {
            self.run_event(actor);
        }
        self.wheel.advance_to(until);
    }

    /// The same with at most this many events. If more are due, time stops at the last one.
    pub fn advance_within(&mut self, until_ns: u64, events: u64) {
        let until = until_ns.saturating_mul(1000);
        for _ in 0..events {
            let Some(actor) = self.wheel.next_actor(until) else { return self.wheel.advance_to(until) };
            self.run_event(actor);
        }
    }

    /// Upper bound of the events in this many nanoseconds: four for each packet that the fastest wire could carry, on
    /// all channels.
    pub fn max_events(&self, nanos: u64) -> u64 {
        let fastest = self.graph.channels.iter().map(|channel| channel.wire).filter(|wire| *wire > 0).min();
        let packets = nanos.saturating_mul(1000) / u64::from(fastest.unwrap_or(1)) + 2;
        packets.saturating_mul(4 * self.graph.channels.len() as u64)
    }

    /// Processes one event; false if none will ever come.
    pub fn run_next_event(&mut self) -> bool {
        let next = self.wheel.next_actor(u64::MAX);
        next.into_iter().for_each(|actor| self.run_event(actor));
        next.is_some()
    }

    /// Whether no event will ever come: all packets have arrived, or the rest is deadlocked.
    pub fn is_finished(&self) -> bool {
        self.wheel.next_time().is_none()
    }

    /// Processes the event of an actor. Actors are numbered: channels first, then queues, then ends.
    fn run_event(&mut self, actor: u32) {
        let (channels, queues) = (self.graph.channels.len() as u32, self.queues.len() as u32);
        if actor < channels {
            self.finish_transfer(actor);
        } else if actor < channels + queues {
            self.request_exit(actor - channels);
        } else {
            self.fill_queues(actor - channels - queues);
        }
        self.readdress_drained_ends();
    }

    pub(crate) fn actor_of_queue(&self, queue: u32) -> u32 {
        self.graph.channels.len() as u32 + queue
    }

    pub(crate) fn actor_of_end(&self, end: u32) -> u32 {
        (self.graph.channels.len() + self.queues.len()) as u32 + end
    }

    /// The queue of a lane behind a channel.
    pub(crate) fn queue(&self, channel: u32, lane: u8) -> u32 {
        channel << self.lane_bits | u32::from(lane)
    }

    /// The send queue of an end's lane.
    pub(crate) fn send_queue(&self, end: u32, lane: u8) -> u32 {
        self.queue(self.graph.end_channel(end, SENDS), lane)
    }

    /// Lets the first packet of a queue ask for its exit, or plans that for when its header is there.
    pub(crate) fn request_exit(&mut self, queue: u32) {
        loop {
            let first = self.queues[queue as usize].first;
            if first == NONE {
                self.queues[queue as usize].stage = QueueStage::Idle;
                return;
            }
            let ready = self.packets.get(first).ready;
            if !self.wheel.is_due(ready) {
                return self.schedule_queue(queue, ready);
            }
            let Some((channel, lane)) = self.find_exit(queue, first) else {
                self.discard_first(queue);
                continue;
            };
            let before = self.graph.channels[(queue >> self.lane_bits) as usize].wire;
            let onward = self.graph.channels[channel as usize].wire;
            // A faster link starts later, so that the tail arrives in time.
            let ready = ready + u64::from(before.saturating_sub(onward));
            if !self.wheel.is_due(ready) {
                return self.schedule_queue(queue, ready);
            }
            self.request_lane(queue, channel, lane);
            return self.try_send(channel);
        }
    }

    fn schedule_queue(&mut self, queue: u32, time: u64) {
        self.queues[queue as usize].stage = QueueStage::HeaderPending;
        let actor = self.actor_of_queue(queue);
        self.wheel.schedule(time, actor);
    }

    /// The channel and lane that a packet leaves a queue by; `None` if the packet is lost.
    fn find_exit(&mut self, queue: u32, packet: u32) -> Option<(u32, u8)> {
        let behind = &self.graph.channels[(queue >> self.lane_bits) as usize];
        let (far, entry) = (behind.far, behind.entry);
        let lane = (queue & ((1 << self.lane_bits) - 1)) as u8;
        match far {
            ChannelTarget::Switch(switch) => {
                let here = (switch, entry);
                let chosen = self.choose_output(here, packet);
                let packet = self.packets.get(packet);
                let port = match chosen {
                    ChosenOutput::Port(port) => port,
                    ChosenOutput::Absent => NO_PATH,
                    ChosenOutput::Linear => {
                        self.routes.row(switch).get(usize::from(packet.lid)).copied().unwrap_or(NO_PATH)
                    }
                };
                // The certificate over sets counts what goes back by a static port.
                let turns_back = port == entry && port != 0 && !self.choices.is_adaptive();
                if port == NO_PATH || turns_back {
                    *self.astray.entry(here).or_default() += 1;
                    return None;
                }
                let exit = self.graph.exit_channel(switch, port);
                if exit == NONE || self.graph.channels[exit as usize].down {
                    *self.discarded.entry((switch, port)).or_default() += 1;
                    return None;
                }
                let lane = self.lane_map.lane(switch, entry, port, packet.level);
                if lane >= self.lanes {
                    *self.astray.entry(here).or_default() += 1;
                    return None;
                }
                Some((self.graph.entrance(exit), lane))
            }
            ChannelTarget::OutputBuffers(cable) => {
                if self.graph.channels[cable as usize].down {
                    let exit = self.graph.egress_port(cable)?;
                    *self.discarded.entry(exit).or_default() += 1;
                    return None;
                }
                Some((cable, lane))
            }
            ChannelTarget::SendQueues(end) => Some((self.graph.end_channel(end, OUT), lane)),
            ChannelTarget::Adapter(end) => Some((self.graph.end_channel(end, DRAIN), lane)),
            ChannelTarget::Sink(_) => None,
        }
    }

    /// Removes the first packet of a queue as lost.
    pub(crate) fn discard_first(&mut self, queue: u32) {
        let packet = self.pop(queue);
        let origin = *self.packets.origin(packet);
        self.release_packet(packet);
        self.tally.lost += 1;
        if let Some(flow) = self.senders.flows.get_mut(origin.flow as usize) {
            flow.order.lost += 1;
        }
        self.finish_packet(origin.source);
        self.return_credit(queue);
    }

    fn return_credit(&mut self, queue: u32) {
        self.queues[queue as usize].room += 1;
        self.try_send(queue >> self.lane_bits);
    }

    fn pop(&mut self, queue: u32) -> u32 {
        let held = &mut self.queues[queue as usize];
        let packet = held.first;
        held.first = self.packets.get(packet).behind;
        if held.first == NONE {
            held.last = NONE;
        }
        packet
    }

    pub(crate) fn push(&mut self, queue: u32, packet: u32) {
        self.packets.get_mut(packet).behind = NONE;
        let held = &mut self.queues[queue as usize];
        if held.first == NONE {
            held.first = packet;
        } else {
            self.packets.get_mut(held.last).behind = packet;
        }
        held.last = packet;
    }

    fn request_lane(&mut self, queue: u32, channel: u32, lane: u8) {
        let wants = self.queue(channel, lane);
        let asking = &mut self.queues[queue as usize];
        (asking.stage, asking.wants, asking.next_asking) = (QueueStage::Requesting, wants, NONE);
        let last = self.queues[wants as usize].last_asking;
        if last == NONE {
            self.queues[wants as usize].first_asking = queue;
        } else {
            self.queues[last as usize].next_asking = queue;
        }
        self.queues[wants as usize].last_asking = queue;
        self.graph.channels[channel as usize].asked |= 1 << lane;
    }

    /// Sends a packet if the wire is free, a queue asks, and there is room beyond.
    pub(crate) fn try_send(&mut self, number: u32) {
        let channel = &mut self.graph.channels[number as usize];
        if channel.packet != NONE || channel.asked == 0 || channel.down {
            return;
        }
        let mut able = channel.asked;
        if !matches!(channel.far, ChannelTarget::Sink(_)) {
            for lane in bits_of(channel.asked) {
                if self.queues[(number << self.lane_bits | lane) as usize].room == 0 {
                    able &= !(1 << lane);
                }
            }
        }
        let lane = match able {
            0 => None,
            _ if self.lanes == 1 => Some(0),
            _ => {
                let side = &mut self.graph.sides[number as usize];
                self.graph.turns[side.turns as usize].next_lane(
                    &mut side.turn,
                    able,
                    self.settings.packet_bytes(),
                )
            }
        };
        match lane {
            Some(lane) => self.begin_transfer(number, lane),
            None if channel.waits_since == NEVER => channel.waits_since = self.wheel.now(),
            None => {}
        }
    }

    /// Starts sending the first packet that asked for a lane.
    fn begin_transfer(&mut self, number: u32, lane: u8) {
        let wanted = self.queue(number, lane);
        let from = self.queues[wanted as usize].first_asking;
        let next = self.queues[from as usize].next_asking;
        self.queues[wanted as usize].first_asking = next;
        if next == NONE {
            self.queues[wanted as usize].last_asking = NONE;
        }
        let packet = self.pop(from);
        self.queues[from as usize].stage = QueueStage::Leaving;
        let now = self.wheel.now();
        let channel = &mut self.graph.channels[number as usize];
        if next == NONE {
            channel.asked &= !(1 << lane);
        }
        let begins = channel.free_at.max(now);
        channel.free_at = begins + u64::from(channel.pace);
        (channel.packet, channel.from, channel.lane) = (packet, from, lane);
        if channel.waits_since != NEVER {
            self.graph.sides[number as usize].waited += now - channel.waits_since;
            channel.waits_since = NEVER;
        }
        let (ends, ready, far) = (channel.free_at, begins + u64::from(channel.latency), channel.far);
        if channel.is_hop {
            self.packets.add_to_path(packet, number);
        }
        self.wheel.schedule(ends, number);
        if self.is_send_queue(from) {
            let origin = self.packets.origin_mut(packet);
            origin.left = begins;
            self.tally.count_sent(origin.source);
        }
        if matches!(far, ChannelTarget::Sink(_)) {
            return;
        }
        self.packets.get_mut(packet).ready = ready;
        self.push(wanted, packet);
        self.queues[wanted as usize].room -= 1;
        if self.queues[wanted as usize].stage == QueueStage::Idle {
            self.schedule_queue(wanted, ready);
        }
    }

    fn is_send_queue(&self, queue: u32) -> bool {
        let channel = (queue >> self.lane_bits) as usize;
        matches!(self.graph.channels[channel].far, ChannelTarget::SendQueues(_))
    }

    /// Ends a transmission: the queue has room again, and the wire is free.
    fn finish_transfer(&mut self, number: u32) {
        let channel = &mut self.graph.channels[number as usize];
        let (packet, from) = (channel.packet, channel.from);
        channel.packet = NONE;
        channel.packets += 1;
        let (far, lane, arrives) = (channel.far, channel.lane, channel.free_at + u64::from(channel.latency));
        // A drain is no hop.
        self.tally.count_hop(lane, u64::from(channel.is_hop));
        if let ChannelTarget::Sink(end) = far {
            self.deliver(end, packet, arrives);
        }
        let behind = from >> self.lane_bits;
        if let ChannelTarget::SendQueues(end) = self.graph.channels[behind as usize].far {
            self.finish_send(end, (from & ((1 << self.lane_bits) - 1)) as u8);
        } else {
            self.queues[from as usize].room += 1;
            self.request_exit(from);
            self.try_send(behind);
        }
        self.try_send(number);
    }

    fn deliver(&mut self, end: u32, packet: u32, arrives: u64) {
        let origin = *self.packets.origin(packet);
        self.tally.count_received(end, arrives.saturating_sub(origin.left));
        let of_host = !self.graph.ends[origin.source as usize].is_switch;
        let answering = self.senders.record_arrival((origin.flow, of_host), (origin.left, arrives));
        self.finish_packet(origin.source);
        self.release_packet(packet);
        if let Some(end) = answering {
            self.begin_sending(end);
        }
    }

    /// Removes a packet from the network. The cables on its path count it as settled.
    fn release_packet(&mut self, packet: u32) {
        for channel in self.packets.path(packet) {
            self.graph.sides[*channel as usize].settled += 1;
        }
        self.packets.release(packet);
    }
}
