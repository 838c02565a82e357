//! The fabric as engines see it: switches, the directed channels between them, and terminals grouped under their
//! switch. A path to a terminal is a path to its switch plus one port.

use std::ops::Range;

use super::{Fabric, Faults, Lid, LinkId, Lmc, NodeId, NodeKind, PortId, PortNum, PortState};

/// A directed channel's index, in the order of (switch, port).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u32);

impl ChannelId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a cable between two different switches. Parallel cables stay distinct channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    pub from: u32,
    pub from_port: PortNum,
    pub to: u32,
    pub to_port: PortNum,
    pub link: LinkId,
    pub reverse: ChannelId,
}

/// A port that is a destination: of an adapter or a router, cabled to a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminal {
    pub port: PortId,
    pub switch: u32,
    pub switch_port: PortNum,
    pub lid: Option<Lid>,
    pub lmc: Lmc,
}

/// Switch `i` is node `i` of the fabric. A failed switch keeps its index and has neither channels nor terminals.
#[derive(Clone, Debug, Default)]
pub struct SwitchGraph {
    channels: Vec<Channel>,
    first_channel: Vec<u32>,
    terminals: Vec<Terminal>,
    first_terminal: Vec<u32>,
    alive: Vec<bool>,
}

impl SwitchGraph {
    pub fn new(fabric: &Fabric, faults: &Faults) -> Self {
        let mut graph = Self::default();
        let mut channel_at = vec![u32::MAX; fabric.ports().len()];
        for (id, _) in fabric.switches() {
            graph.first_channel.push(graph.channels.len() as u32);
            graph.first_terminal.push(graph.terminals.len() as u32);
            graph.alive.push(!faults.node_failed(id));
            for (here, port) in fabric.ports_of(id) {
                let (Some(link), Some(peer)) = (port.link, port.peer) else { continue };
                if !usable(fabric, here) || !usable(fabric, peer) || faults.link_failed(fabric, link) {
                    continue;
                }
                let far = fabric.port(peer);
                if fabric.node(far.node).facts.kind != NodeKind::Switch {
                    graph.terminals.push(terminal(fabric, id, port.number, peer));
                } else if far.node != id {
                    channel_at[here.index()] = graph.channels.len() as u32;
                    graph.channels.push(Channel {
                        from: id.0,
                        from_port: port.number,
                        to: far.node.0,
                        to_port: far.number,
                        link,
                        reverse: ChannelId(u32::MAX),
                    });
                }
            }
        }
        graph.first_channel.push(graph.channels.len() as u32);
        graph.first_terminal.push(graph.terminals.len() as u32);
        graph.pair_channels(fabric, &channel_at);
        graph
    }

    fn pair_channels(&mut self, fabric: &Fabric, channel_at: &[u32]) {
        for channel in &mut self.channels {
            let far = fabric.port_of(NodeId(channel.to), channel.to_port);
            if let Some(far) = far {
                channel.reverse = ChannelId(channel_at[far.index()]);
            }
        }
    }

    pub fn switch_count(&self) -> usize {
        self.alive.len()
    }

    /// False for a switch that is marked failed.
    pub fn alive(&self, switch: u32) -> bool {
        self.alive[switch as usize]
    }

    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// The channels that leave a switch, as a range of channel indices.
    pub fn leaving(&self, switch: u32) -> Range<usize> {
        let at = switch as usize;
        self.first_channel[at] as usize..self.first_channel[at + 1] as usize
    }

    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    pub fn terminals_of(&self, switch: u32) -> &[Terminal] {
        let at = switch as usize;
        &self.terminals[self.first_terminal[at] as usize..self.first_terminal[at + 1] as usize]
    }

    /// Terminals with a LID of each switch: those that send and are sent to.
    pub fn senders(&self) -> Vec<u32> {
        let mut senders = vec![0; self.switch_count()];
        for terminal in self.terminals.iter().filter(|terminal| terminal.lid.is_some()) {
            senders[terminal.switch as usize] += 1;
        }
        senders
    }

    /// For every switch the number of its connected part (u32::MAX for a failed one), and how many parts there are.
    pub fn parts(&self) -> (Vec<u32>, u32) {
        let mut part = vec![u32::MAX; self.switch_count()];
        let mut count = 0;
        let mut queue = Vec::new();
        for start in 0..self.switch_count() as u32 {
            if part[start as usize] != u32::MAX || !self.alive(start) {
                continue;
            }
            part[start as usize] = count;
            queue.push(start);
            while let Some(switch) = queue.pop() {
                for channel in &self.channels[self.leaving(switch)] {
                    if part[channel.to as usize] == u32::MAX {
                        part[channel.to as usize] = count;
                        queue.push(channel.to);
                    }
                }
            }
            count += 1;
        }
        (part, count)
    }
}

/// A port carries traffic unless somebody said that it is down; most dumps say nothing of the state.
fn usable(fabric: &Fabric, id: PortId) -> bool {
    fabric.port(id).facts.state != Some(PortState::Down)
}

fn terminal(fabric: &Fabric, switch: NodeId, switch_port: PortNum, port: PortId) -> Terminal {
    let facts = &fabric.port(port).facts;
    Terminal { port, switch: switch.0, switch_port, lid: facts.lid, lmc: facts.lmc }
}
