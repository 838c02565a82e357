//! Makes the packets of an end: the first of a lane's send queue when the one before has left.

use std::collections::BTreeMap;

use super::arbiter::bits_of;
use super::channel_graph::{NEVER, TrafficEnd};
use super::lanes::NO_LANE;
use super::lid_selection::LidSelection;
use super::network::TrafficRun;
use super::packets::{NONE, Packet, PacketOrigin};
use super::pattern::{sampled_step, shift_distance, shift_steps};
use super::queue::QueueStage;
use super::traffic_senders::{SendScript, TrafficSenders};

/// Most packets that wait in a send queue; packets drawn beyond are dropped.
const MAX_BACKLOG: usize = 64;

impl TrafficRun {
    /// Starts the idle lanes of an end: all at first, later those of changed lanes.
    pub(crate) fn begin_sending(&mut self, end: u32) {
        match &self.senders.scripts[end as usize] {
            SendScript::Silent => {}
            SendScript::Turns(turns) => {
                let lanes: Vec<u8> = turns.iter().map(|turns| turns.lane).collect();
                let idle = lanes.into_iter().filter(|lane| self.is_idle(end, *lane)).collect::<Vec<_>>();
                idle.into_iter().for_each(|lane| self.queue_next_packet(end, lane));
            }
            SendScript::Drawn(drawn) => {
                let (due, actor) = (drawn.due, self.actor_of_end(end));
                if !self.wheel.is_scheduled(actor) {
                    self.wheel.schedule(due, actor);
                }
            }
            SendScript::Shift { .. } => {
                if (0..self.lanes).all(|lane| self.is_idle(end, lane)) {
                    self.send_shift_packet(end);
                }
            }
        }
    }

    /// Continues after the first packet of a send queue has left.
    pub(crate) fn finish_send(&mut self, end: u32, lane: u8) {
        let queue = self.send_queue(end, lane);
        self.queues[queue as usize].stage = QueueStage::Idle;
        match &mut self.senders.scripts[end as usize] {
            SendScript::Silent => {}
            SendScript::Turns(_) => self.queue_next_packet(end, lane),
            SendScript::Drawn(drawn) => {
                drawn.sending &= !(1 << lane);
                self.fill_queues(end);
            }
            SendScript::Shift { .. } => self.send_shift_packet(end),
        }
    }

    fn queue_packet(&mut self, end: u32, lane: u8, (packet, flow): (Packet, u32)) {
        let queue = self.send_queue(end, lane);
        let packet = self.packets.allocate(packet, PacketOrigin { left: 0, source: end, flow });
        self.tally.made += 1;
        self.senders.selections[end as usize].in_flight += 1;
        self.push(queue, packet);
        self.request_exit(queue);
    }

    /// Queues the next packet of a lane: of the first flow in turn that is due. If none is due, of the one that is due next.
    pub(crate) fn queue_next_packet(&mut self, end: u32, lane: u8) {
        let now = self.wheel.now();
        if self.senders.selections[end as usize].is_draining() {
            return;
        }
        // The simulator counts in picoseconds.
        let backlog = self.settings.backlog.map(|time| time.as_nanos() as u64 * 1000);
        let TrafficSenders { scripts, flows, .. } = &mut self.senders;
        let SendScript::Turns(all) = &mut scripts[end as usize] else { return };
        let Some(turns) = all.iter_mut().find(|turns| turns.lane == lane) else { return };
        let count = turns.flows.len();
        let at = |more: usize| (turns.next + more) % count;
        let due = |place: &usize| flows[turns.flows[*place] as usize].due.max(now);
        // Of several flows due at the same time, the first in turn.
        let Some(place) = (0..count).map(at).min_by_key(due) else { return };
        if due(&place) == NEVER {
            return;
        }
        turns.next = (place + 1) % count;
        let number = turns.flows[place];
        let flow = &mut flows[number as usize];
        let ready = flow.due.max(now);
        if flow.interval > 0 {
            let oldest = backlog.map_or(0, |time| now.saturating_sub(time));
            flow.due = flow.due.max(oldest) + flow.interval;
        }
        flow.count_made();
        let (lid, level) = (flow.lid, flow.level);
        self.queue_packet(end, lane, (Packet { ready, behind: NONE, lid, level }, number));
    }

    /// Draws the packets that are due, and fills empty send queues.
    pub(crate) fn fill_queues(&mut self, end: u32) {
        let SendScript::Drawn(_) = &self.senders.scripts[end as usize] else { return };
        self.draw_due_packets(end);
        let SendScript::Drawn(drawn) = &self.senders.scripts[end as usize] else { return };
        let due = drawn.due;
        let mut idle = false;
        for lane in bits_of(drawn.lanes & !drawn.sending) {
            match self.take_waiting(end, lane as u8) {
                Some(packet) => self.queue_packet(end, lane as u8, (packet, NONE)),
                None => idle = true,
            }
        }
        let actor = self.actor_of_end(end);
        if idle && !self.wheel.is_scheduled(actor) {
            self.wheel.schedule(due, actor);
        }
    }

    fn take_waiting(&mut self, end: u32, lane: u8) -> Option<Packet> {
        if self.senders.selections[end as usize].is_draining() {
            return None;
        }
        let SendScript::Drawn(drawn) = &mut self.senders.scripts[end as usize] else { return None };
        let (to, level) = drawn.waiting[usize::from(lane)].pop_front()?;
        drawn.sending |= 1 << lane;
        let lid = self.senders.lid(end, &self.graph.ends[to as usize]);
        let ready = self.wheel.now();
        Some(Packet { ready, behind: NONE, lid, level })
    }

    fn draw_due_packets(&mut self, end: u32) {
        let (ends, row) = (&self.graph.ends, &self.adapters[end as usize]);
        let TrafficSenders {
            scripts,
            hosts,
            switches,
            switch_level,
            place,
            rng: dice,
            share,
            spot_level,
            kept,
            selections: seats,
            ..
        } = &mut self.senders;
        let SendScript::Drawn(drawn) = &mut scripts[end as usize] else { return };
        let from = ends[end as usize].switch;
        let is_switch = ends[end as usize].is_switch;
        let others: &[u32] = if is_switch { switches } else { hosts };
        let own_level = switch_level.filter(|_| is_switch);
        while self.wheel.is_due(drawn.due) {
            let only = (drawn.lanes.count_ones() == 1).then(|| drawn.lanes.trailing_zeros() as usize);
            if only.is_some_and(|lane| drawn.waiting[lane].len() >= MAX_BACKLOG) {
                // There is no room for these packets, so they are not drawn.
                let missed = (self.wheel.now() - drawn.due.min(self.wheel.now())) / drawn.interval;
                drawn.due += (missed + 1) * drawn.interval;
                continue;
            }
            drawn.due += drawn.interval;
            let hot = drawn.spot != NONE && drawn.spot != end && dice.draw_share(*share);
            let to = match hot {
                true => drawn.spot,
                false => {
                    let other = dice.draw_below(others.len() as u64 - 1) as u32;
                    others[(other + u32::from(other >= place[end as usize])) as usize]
                }
            };
            let level = match (hot, *spot_level, own_level) {
                (true, Some(level), _) | (_, _, Some(level)) => level,
                _ => self.service.path_level(&self.routes, (from, ends[to as usize].lid), drawn.drawn),
            };
            drawn.drawn = drawn.drawn.wrapping_add(1);
            let seat = &seats[end as usize];
            let level = random_level(kept, seat, end, &ends[to as usize], level);
            let lane = row[usize::from(level & 0xF)];
            if lane != NO_LANE && drawn.waiting[usize::from(lane)].len() < MAX_BACKLOG {
                drawn.waiting[usize::from(lane)].push_back((to, level));
            }
        }
    }

    /// Makes the next packet of a shift exchange. A message starts when the one before has left.
    fn send_shift_packet(&mut self, end: u32) {
        if self.senders.selections[end as usize].is_draining() {
            return;
        }
        let TrafficSenders { scripts, hosts, place, message, sample, .. } = &mut self.senders;
        let count = hosts.len() as u32;
        let SendScript::Shift { step, left } = &mut scripts[end as usize] else { return };
        if *step >= shift_steps(count, *sample) {
            return;
        }
        let distance = shift_distance(sampled_step(*step, count, *sample), count);
        let to = hosts[((place[end as usize] + distance) % count) as usize];
        let turn = step.wrapping_mul(*message).wrapping_add(*message - *left);
        *left -= 1;
        if *left == 0 {
            (*step, *left) = (*step + 1, *message);
        }
        let target = self.graph.ends[to as usize];
        let path = (self.graph.ends[end as usize].switch, target.lid);
        let level = self.service.path_level(&self.routes, path, turn);
        let seat = &self.senders.selections[end as usize];
        let level = random_level(&self.senders.kept, seat, end, &target, level);
        let lane = self.adapters[end as usize][usize::from(level & 0xF)];
        if lane == NO_LANE {
            return;
        }
        let (lid, ready) = (self.senders.lid(end, &target), self.wheel.now());
        self.queue_packet(end, lane, (Packet { ready, behind: NONE, lid, level }, NONE));
    }
}

/// The level of packets from an end to another: the level that was set for them, otherwise the given one.
fn random_level(
    kept: &BTreeMap<(u32, u16), u8>,
    seat: &LidSelection,
    end: u32,
    to: &TrafficEnd,
    usual: u8,
) -> u8 {
    match (seat.level, kept.is_empty()) {
        (Some(level), _) => level,
        (None, true) => usual,
        (None, false) => kept.get(&(end, seat.select_lid(to))).copied().unwrap_or(usual),
    }
}
