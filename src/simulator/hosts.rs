//! Hosts beyond their ports: flows that clients can list and move, and optional agents inside the simulator that
//! follow notices of dFtree.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fabdeck_fabric::{Lid, NodeId, NodeKind, PortNum};
use fabdeck_mad::access::{Address, Parcel};
use fabdeck_mad::{
    Coming, FlowLevel, Follow, Heard, HostFlows, Mad, Method, Repath, Standing, attribute, trap,
};

use super::device::Plug;
use super::simulate::{Event, Seat, Simulator};
use super::world::World;

/// Delay after which an agent has done what a notice asks.
const ACTS: Duration = Duration::from_millis(1);

/// The agents inside the simulator, by their ports.
#[derive(Debug, Default)]
pub struct HostAgents {
    heard: BTreeMap<Plug, Heard>,
    /// Agents that answer "followed" and move nothing.
    lying: BTreeSet<Plug>,
}

impl World {
    /// Adds an agent to a host; false if no host has that name.
    pub fn add_agent(&mut self, text: &str) -> bool {
        let host = self.find(text).filter(|(node, _)| !self.device(*node).is_switch());
        host.inspect(|host| drop(self.agents.heard.insert(*host, Heard::default()))).is_some()
    }

    /// Makes the agent of a host answer "followed" and move nothing; false if the host has no agent.
    pub fn corrupt_agent(&mut self, text: &str) -> bool {
        let host = self.find(text).filter(|host| self.agents.heard.contains_key(host));
        host.inspect(|host| _ = self.agents.lying.insert(*host)).is_some()
    }

    /// Adds an agent to all hosts, at each cabled port.
    pub fn add_agents(&mut self) {
        let adapters = self.fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
        let ports = adapters.flat_map(|(id, _)| self.fabric.ports_of(id));
        let cabled = ports.filter(|(_, port)| port.peer.is_some());
        let plugs: Vec<Plug> = cabled.map(|(_, port)| (port.node.0, port.number.value())).collect();
        self.agents.heard.extend(plugs.into_iter().map(|plug| (plug, Heard::default())));
    }

    /// Whether an agent at a port subscribes to a trap.
    pub(super) fn agent_wants(&self, plug: Plug, number: u16) -> bool {
        self.agents.heard.contains_key(&plug) && matches!(number, trap::REPATH | trap::UNPATH)
    }

    /// The LIDs that a port sends to, each with its service level.
    pub fn flows_at(&self, node: NodeId, port: PortNum) -> Vec<(u16, u8)> {
        let run = self.underway.as_ref().map(|underway| &underway.run);
        let flows = run.zip(self.fabric.port_of(node, port)).map(|(run, port)| run.flows_of(port));
        flows.unwrap_or_default()
    }

    /// Moves the flows of a port to a LID to a service level; returns how many were on another one.
    pub(super) fn move_flows(&mut self, (node, port): Plug, lid: u16, level: u8) -> usize {
        let port = self.fabric.port_of(NodeId(node), PortNum(port));
        let run = self.underway.as_mut().map(|underway| &mut underway.run);
        run.zip(port).map_or(0, |(run, port)| run.set_level(port, lid, level))
    }

    /// Directs the flows of a port to high LIDs on this level, or back to base LIDs. Returns whether all packets are
    /// there already.
    pub(super) fn turn_flows(&mut self, (node, port): Plug, high: Option<u8>) -> bool {
        let port = self.fabric.port_of(NodeId(node), PortNum(port));
        let run = self.underway.as_mut().map(|underway| &mut underway.run);
        run.zip(port).is_none_or(|(run, port)| run.turn_to_half(port, high))
    }

    /// Whether all packets of a port go to the LIDs that it was directed to.
    fn has_turned(&self, (node, port): Plug) -> bool {
        let run = self.underway.as_ref().map(|underway| &underway.run);
        run.zip(self.fabric.port_of(NodeId(node), PortNum(port)))
            .is_none_or(|(run, port)| run.has_turned(port))
    }

    /// Lets an agent inside the simulator follow a notice.
    fn heed(&mut self, at: Plug, told: &Repath, now: Duration) {
        let own = Lid::new(self.lid_of(at).into());
        let silent = self.device(at.0).silent;
        let heard = self.agents.heard.get_mut(&at).filter(|_| !silent);
        if heard.is_none_or(|heard| heard.comes(told, own, now) != Coming::New) {
            return;
        }
        let lies = self.agents.lying.contains(&at);
        let flows = self.flows_at(NodeId(at.0), PortNum(at.1));
        let has = told.hot_spot.is_none_or(|to| flows.iter().any(|(lid, _)| *lid == to.value()));
        let done = match (own.is_some_and(|own| told.asks(own, Some(has))), told.hot_spot) {
            (true, _) if lies => (Standing::Followed, 0),
            (true, Some(to)) => (Standing::Followed, self.move_flows(at, to.value(), told.level.value())),
            (true, None) => {
                self.turn_flows(at, (!told.back).then_some(told.level.value()));
                // A later request finds out whether the flows have moved.
                (Standing::UnderWay, flows.len())
            }
            (false, _) => (Standing::Nothing, 0),
        };
        let (standing, moved) = (done.0, u16::try_from(done.1).unwrap_or(u16::MAX));
        if let Some(heard) = self.agents.heard.get_mut(&at) {
            heard.hear(told, standing, moved, now);
        }
    }

    /// The answer of an agent inside the simulator; `None` if the port has none.
    fn stands(&self, at: Plug, asked: &Follow, now: Duration) -> Option<Follow> {
        let heard = self.agents.heard.get(&at).filter(|_| !self.device(at.0).silent)?;
        let (standing, moved) = heard.standing(asked.key(), now);
        let turned = standing == Standing::UnderWay && self.has_turned(at);
        let standing = if turned { Standing::Followed } else { standing };
        Some(asked.answered(standing, moved.into()))
    }
}

impl Simulator {
    /// Sends a notice to the agents inside the simulator that the manager reaches.
    pub(super) fn tell_agents(&mut self, told: &Repath) {
        let agents: Vec<Plug> = self.world.agents.heard.keys().copied().collect();
        self.world.route();
        for at in agents {
            let lid = self.world.lid_of(at);
            let reached = self.world.follow_lid(self.world.manager, lid).is_some_and(|end| end.at == at);
            if reached {
                self.plan(self.now + ACTS, Event::Heed { at, told: Box::new(told.clone()) });
            }
        }
    }

    pub(super) fn heed(&mut self, at: Plug, told: &Repath) {
        self.world.move_packets(self.now);
        self.world.heed(at, told, self.now);
    }

    /// Answers a datagram of the class for hosts: the simulator's own agent does, or else it goes to the clients at
    /// that port.
    pub(super) fn answer_host(&mut self, seat: Seat, request: &Parcel, at: Plug) -> Option<Mad> {
        let own = self.seats.get(&seat) == Some(&at);
        let mut answer = request.mad.clone();
        let header = request.mad.header();
        match (request.mad.method(), header.attribute.get()) {
            (Method::GET, attribute::HOST_FLOWS) if own => {
                let flows = self.world.flows_at(NodeId(at.0), PortNum(at.1));
                *answer.host_flows_mut() = HostFlows::page(&flows, header.modifier.get() as usize);
            }
            (Method::SET, attribute::HOST_FLOWS) if own => {
                self.world.move_packets(self.now);
                let asked = *request.mad.flow_level();
                let moved = match asked.half {
                    FlowLevel::HIGH => usize::from(!self.world.turn_flows(at, Some(asked.level))),
                    FlowLevel::BASE => usize::from(!self.world.turn_flows(at, None)),
                    _ => self.world.move_flows(at, asked.lid.get(), asked.level),
                };
                answer.flow_level_mut().moved = u16::try_from(moved).unwrap_or(u16::MAX).into();
            }
            (_, attribute::HOST_FLOWS) => return None,
            (Method::GET, attribute::FOLLOW) if self.world.agents.heard.contains_key(&at) => {
                // Packets may have arrived since the last request.
                self.world.move_packets(self.now);
                *answer.follows_mut() = self.world.stands(at, request.mad.follows(), self.now)?;
            }
            _ => {
                self.hand_over(seat, request, at);
                return None;
            }
        }
        answer.header_mut().method = Method::GET_RESPONSE.0;
        Some(answer)
    }

    /// Delivers a datagram for a host to all other clients at its port, with the LID of the sender.
    pub(super) fn hand_over(&mut self, from: Seat, request: &Parcel, at: Plug) {
        let Some(home) = self.seats.get(&from).copied().filter(|_| !self.world.device(at.0).silent) else {
            return;
        };
        let address = Address { lid: self.world.lid_of(home), ..request.address };
        let there = self.seats.iter().filter(|(seat, plug)| **plug == at && **seat != from);
        let seats: Vec<Seat> = there.map(|(seat, _)| *seat).collect();
        for seat in seats {
            self.send_back(seat, Parcel { mad: request.mad.clone(), address }, 0);
        }
    }
}
