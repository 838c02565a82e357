//! Traps that the stand-in for the subnet manager forwards to subscribers: switches whose links changed, ports that
//! came or went. Without subscribers nothing is recorded.

use std::collections::{BTreeSet, VecDeque};

use super::device::PortRef;
use super::notice_state::Subscribers;
use super::simulated_fabric::SimulatedFabric;
use fabdeck_mad::{InformInfo, Notice, trap};

/// The most subscribers: each receives all traps, so more are refused.
const MAX_SUBSCRIBERS: usize = 256;

impl SimulatedFabric {
    /// Adds or ends a subscription to traps; false if that is not possible.
    pub(super) fn subscribe(&mut self, lid: u16, asked: InformInfo) -> bool {
        let who = (lid, asked.queue_pair().max(1), asked.trap_number.get());
        let known = self.notice_state.subscribers.contains_key(&who);
        match (asked.subscribe, asked.is_generic) {
            (1, 1) if known || self.notice_state.subscribers.len() < MAX_SUBSCRIBERS => {
                if self.notice_state.subscribers.is_empty() {
                    self.notice_state.in_service = self.ports_in_service();
                    self.notice_state.moved = false;
                }
                self.notice_state.subscribers.insert(who, asked);
                true
            }
            (0, _) => self.notice_state.subscribers.remove(&who).is_some(),
            _ => false,
        }
    }

    /// Whether there are both changes to report and subscribers.
    pub(super) fn has_notices(&self) -> bool {
        self.notice_state.moved && !self.notice_state.subscribers.is_empty()
    }

    pub(super) fn subscribers(&self) -> &Subscribers {
        &self.notice_state.subscribers
    }

    /// The traps that switches send at once, and those of the manager's check: ports that left service, ports that
    /// entered it.
    pub(super) fn take_notices(&mut self) -> (Vec<Notice>, Vec<Notice>) {
        let changed = std::mem::take(&mut self.notice_state.changed);
        self.notice_state.moved = false;
        if !self.is_manager_answering() {
            return (Vec::new(), Vec::new());
        }
        self.fill_tables();
        let manager = self.manager_lid();
        let heard = |node: &u32| {
            let device = self.device(*node);
            device.is_switch() && !device.silent && self.follow_lid((*node, 0), manager).is_some()
        };
        let said = changed.into_iter().filter(heard).map(|node| {
            let lid = self.lid_of((node, 0));
            let mut notice = Notice::generic(Notice::URGENT, Notice::SWITCH, trap::LINK_STATE_CHANGE, lid);
            notice.set_subject_lid(lid);
            notice
        });
        let said: Vec<Notice> = said.collect();
        let now = self.ports_in_service();
        let before = std::mem::replace(&mut self.notice_state.in_service, now);
        let now = &self.notice_state.in_service;
        let gone = before.difference(now).map(|plug| (trap::GID_OUT_OF_SERVICE, *plug));
        let new = now.difference(&before).map(|plug| (trap::GID_IN_SERVICE, *plug));
        let found = gone.chain(new).map(|(number, plug)| {
            let mut notice = Notice::generic(Notice::INFORMATIONAL, Notice::MANAGER, number, manager);
            notice.set_subject_gid(&self.gid_of(plug));
            notice
        });
        let found = found.collect();
        (said, found)
    }

    /// The ports that the manager reaches and that answer: port 0 of a switch, and of an adapter the ports that are
    /// reached.
    fn ports_in_service(&self) -> BTreeSet<PortRef> {
        let managed = |(node, port): PortRef| (node, self.device(node).managed_port(port));
        let (mut seen, mut queue) = (BTreeSet::from([managed(self.manager)]), VecDeque::new());
        queue.push_back(self.manager);
        while let Some((node, ingress)) = queue.pop_front() {
            let device = self.device(node);
            let ports = match device.is_switch() {
                true => 1..=device.port_count(),
                false if (node, ingress) == self.manager => ingress..=ingress,
                false => continue,
            };
            let passing =
                ports.filter_map(|port| device.port(port)).filter(|socket| socket.is_passing_mads());
            for peer in passing.filter_map(|socket| socket.peer) {
                let far = self.device(peer.0);
                let up = !far.silent && far.port(peer.1).is_some_and(|socket| socket.is_passing_mads());
                if up && seen.insert(managed(peer)) {
                    queue.push_back(peer);
                }
            }
        }
        seen
    }
}
