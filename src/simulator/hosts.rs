//! Hosts beyond their ports: flows that clients can list and move, and optional agents inside the simulator that
//! follow notices of dFtree.

use std::time::Duration;

use fabdeck_fabric::{Lid, NodeId, NodeKind, PortNum};
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{
    FlowLevel, FollowQuery, FollowStatus, HostFlows, Mad, Method, NoticeAction, NoticeFilter, PathNotice,
    attribute, trap,
};

use super::device::PortRef;
use super::event_loop::{ClientId, Simulator, SimulatorEvent};
use super::simulated_fabric::SimulatedFabric;

/// Delay after which an agent has done what a notice asks.
const AGENT_DELAY: Duration = Duration::from_millis(1);

impl SimulatedFabric {
    /// Adds an agent to a host; false if no host has that name.
    pub fn add_agent(&mut self, text: &str) -> bool {
        let host = self.find_port(text).filter(|(node, _)| !self.device(*node).is_switch());
        host.inspect(|host| drop(self.agents.notice_filters.insert(*host, NoticeFilter::default()))).is_some()
    }

    /// Makes the agent of a host answer "followed" and move nothing; false if the host has no agent.
    pub fn corrupt_agent(&mut self, text: &str) -> bool {
        let host = self.find_port(text).filter(|host| self.agents.notice_filters.contains_key(host));
        host.inspect(|host| _ = self.agents.corrupt.insert(*host)).is_some()
    }

    /// Adds an agent to all hosts, at each cabled port.
    pub fn add_agents(&mut self) {
        let adapters = self.snapshot.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
        let ports = adapters.flat_map(|(id, _)| self.snapshot.ports_of(id));
        let cabled = ports.filter(|(_, port)| port.peer.is_some());
        let plugs: Vec<PortRef> = cabled.map(|(_, port)| (port.node.0, port.number.value())).collect();
        self.agents.notice_filters.extend(plugs.into_iter().map(|plug| (plug, NoticeFilter::default())));
    }

    /// Whether a port has an agent that answers.
    fn has_agent(&self, at: PortRef) -> bool {
        self.agents.notice_filters.contains_key(&at) && !self.device(at.0).silent
    }

    /// Whether an agent at a port subscribes to a trap.
    pub(super) fn is_agent_subscribed(&self, plug: PortRef, number: u16) -> bool {
        self.agents.notice_filters.contains_key(&plug) && matches!(number, trap::REPATH | trap::UNPATH)
    }

    /// The LIDs that a port sends to, each with its service level.
    pub fn flows_at(&self, node: NodeId, port: PortNum) -> Vec<(u16, u8)> {
        let run = self.background_traffic.as_ref().map(|underway| &underway.run);
        let flows = run.zip(self.snapshot.port_of(node, port)).map(|(run, port)| run.flows_of(port));
        flows.unwrap_or_default()
    }

    /// Moves the flows of a port to a LID to a service level; returns how many were on another one.
    pub(super) fn move_flows(&mut self, (node, port): PortRef, lid: u16, level: u8) -> usize {
        let port = self.snapshot.port_of(NodeId(node), PortNum(port));
        let run = self.background_traffic.as_mut().map(|underway| &mut underway.run);
        run.zip(port).map_or(0, |(run, port)| run.set_flow_level(port, lid, level))
    }

    /// Directs the flows of a port to high LIDs on this level, or back to base LIDs. Returns whether all packets are
    /// there already.
    pub(super) fn readdress_flows(&mut self, (node, port): PortRef, high: Option<u8>) -> bool {
        let port = self.snapshot.port_of(NodeId(node), PortNum(port));
        let run = self.background_traffic.as_mut().map(|underway| &mut underway.run);
        run.zip(port).is_none_or(|(run, port)| run.select_half(port, high))
    }

    /// Whether all packets of a port go to the LIDs that it was directed to.
    fn has_readdressed(&self, (node, port): PortRef) -> bool {
        let run = self.background_traffic.as_ref().map(|underway| &underway.run);
        run.zip(self.snapshot.port_of(NodeId(node), PortNum(port)))
            .is_none_or(|(run, port)| run.has_switched_half(port))
    }

    /// Lets an agent inside the simulator follow a notice.
    fn follow_notice(&mut self, at: PortRef, told: &PathNotice, now: Duration) {
        let own = Lid::new(self.lid_of(at).into());
        let silent = self.device(at.0).silent;
        let heard = self.agents.notice_filters.get_mut(&at).filter(|_| !silent);
        if heard.is_none_or(|heard| heard.check(told, own, now) != NoticeAction::New) {
            return;
        }
        let lies = self.agents.corrupt.contains(&at);
        let flows = self.flows_at(NodeId(at.0), PortNum(at.1));
        let has = told.hot_spot.is_none_or(|to| flows.iter().any(|(lid, _)| *lid == to.value()));
        let done = match (own.is_some_and(|own| told.is_addressed(own, Some(has))), told.hot_spot) {
            (true, _) if lies => (FollowStatus::Followed, 0),
            (true, Some(to)) => (FollowStatus::Followed, self.move_flows(at, to.value(), told.level.value())),
            (true, None) => {
                self.readdress_flows(at, (!told.back).then_some(told.level.value()));
                // A later request finds out whether the flows have moved.
                (FollowStatus::UnderWay, flows.len())
            }
            (false, _) => (FollowStatus::Nothing, 0),
        };
        let (standing, moved) = (done.0, u16::try_from(done.1).unwrap_or(u16::MAX));
        if let Some(heard) = self.agents.notice_filters.get_mut(&at) {
            heard.record(told, standing, moved, now);
        }
    }

    /// The answer of an agent inside the simulator; `None` if the port has none.
    fn answer_follow_query(&self, at: PortRef, asked: &FollowQuery, now: Duration) -> Option<FollowQuery> {
        let heard = self.agents.notice_filters.get(&at).filter(|_| !self.device(at.0).silent)?;
        let (standing, moved) = heard.follow_status(asked.key(), now);
        let turned = standing == FollowStatus::UnderWay && self.has_readdressed(at);
        let standing = if turned { FollowStatus::Followed } else { standing };
        Some(asked.with_answer(standing, moved.into()))
    }
}

impl Simulator {
    /// Sends a notice to the agents inside the simulator that the manager reaches.
    pub(super) fn notify_agents(&mut self, told: &PathNotice) {
        let agents: Vec<PortRef> = self.fabric.agents.notice_filters.keys().copied().collect();
        self.fabric.fill_tables();
        for at in agents {
            let lid = self.fabric.lid_of(at);
            let reached = self.fabric.follow_lid(self.fabric.manager, lid).is_some_and(|end| end.at == at);
            if reached {
                self.schedule(
                    self.now + AGENT_DELAY,
                    SimulatorEvent::Notice { at, told: Box::new(told.clone()) },
                );
            }
        }
    }

    pub(super) fn deliver_notice(&mut self, at: PortRef, told: &PathNotice) {
        self.fabric.move_packets(self.now);
        self.fabric.follow_notice(at, told, self.now);
    }

    /// Answers a datagram of the class for hosts: the simulator's own agent does, or else it goes to the clients at
    /// that port.
    pub(super) fn answer_host(&mut self, seat: ClientId, request: &AddressedMad, at: PortRef) -> Option<Mad> {
        let own = self.clients.get(&seat) == Some(&at);
        let mut answer = request.mad.clone();
        let header = request.mad.header();
        match (request.mad.method(), header.attribute.get()) {
            (Method::GET, attribute::HOST_FLOWS) if own || self.fabric.has_agent(at) => {
                self.fabric.move_packets(self.now);
                let flows = self.fabric.flows_at(NodeId(at.0), PortNum(at.1));
                *answer.host_flows_mut() = HostFlows::page(&flows, header.modifier.get() as usize);
            }
            (Method::SET, attribute::HOST_FLOWS) if own => {
                self.fabric.move_packets(self.now);
                let asked = *request.mad.flow_level();
                let moved = match asked.half {
                    FlowLevel::HIGH => usize::from(!self.fabric.readdress_flows(at, Some(asked.level))),
                    FlowLevel::BASE => usize::from(!self.fabric.readdress_flows(at, None)),
                    _ => self.fabric.move_flows(at, asked.lid.get(), asked.level),
                };
                answer.flow_level_mut().moved = u16::try_from(moved).unwrap_or(u16::MAX).into();
            }
            (Method::SET, attribute::HOST_FLOWS) => return None,
            (Method::GET, attribute::FOLLOW) if self.fabric.agents.notice_filters.contains_key(&at) => {
                // Packets may have arrived since the last request.
                self.fabric.move_packets(self.now);
                *answer.follow_data_mut() =
                    self.fabric.answer_follow_query(at, request.mad.follow_data(), self.now)?;
            }
            _ => {
                self.forward_to_clients(seat, request, at);
                return None;
            }
        }
        answer.header_mut().method = Method::GET_RESPONSE.0;
        Some(answer)
    }

    /// Delivers a datagram for a host to all other clients at its port, with the LID of the sender.
    pub(super) fn forward_to_clients(&mut self, from: ClientId, request: &AddressedMad, at: PortRef) {
        let Some(home) = self.clients.get(&from).copied().filter(|_| !self.fabric.device(at.0).silent) else {
            return;
        };
        let address = MadAddress { lid: self.fabric.lid_of(home), ..request.address };
        let there = self.clients.iter().filter(|(seat, plug)| **plug == at && **seat != from);
        let seats: Vec<ClientId> = there.map(|(seat, _)| *seat).collect();
        for seat in seats {
            self.send_answer(seat, AddressedMad { mad: request.mad.clone(), address }, 0);
        }
    }
}
