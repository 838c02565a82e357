//! The fabric as engines use it: switches, the directed channels between them, and terminals by their switch. A path to
//! a terminal is a path to its switch plus one port.

use std::ops::Range;

use super::{Fabric, Faults, Lid, LinkId, Lmc, NodeId, NodeKind, PortId, PortNum, PortState};

/// The index of a channel in its [`SwitchGraph`]. Channels are in the order of (switch, port).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u32);

impl ChannelId {
    /// The index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a cable between two different switches. Parallel cables are separate channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    /// The switch that sends.
    pub from: u32,
    /// The port that sends.
    pub from_port: PortNum,
    /// The switch that receives.
    pub to: u32,
    /// The port that receives.
    pub to_port: PortNum,
    /// The cable.
    pub link: LinkId,
    /// The other direction of the cable.
    pub reverse: ChannelId,
}

/// A port of an adapter or router that is cabled to a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminal {
    /// The port.
    pub port: PortId,
    /// The switch at the other end of its cable.
    pub switch: u32,
    /// The port of that switch.
    pub switch_port: PortNum,
    /// The first LID of the terminal.
    pub lid: Option<Lid>,
    /// The LMC of the terminal.
    pub lmc: Lmc,
}

/// The switches of a fabric and the channels between them. Switch `i` is node `i` of the fabric. A failed switch
/// keeps its index and has neither channels nor terminals.
#[derive(Clone, Debug, Default)]
pub struct SwitchGraph {
    channels: Vec<Channel>,
    first_channel: Vec<u32>,
    terminals: Vec<Terminal>,
    first_terminal: Vec<u32>,
    alive: Vec<bool>,
}

impl SwitchGraph {
    /// Makes the graph of a fabric without its failed parts.
    pub fn new(fabric: &Fabric, faults: &Faults) -> Self {
        let mut graph = Self::default();
        let mut channel_at = vec![u32::MAX; fabric.ports().len()];
        for (id, _) in fabric.switches() {
            graph.first_channel.push(graph.channels.len() as u32);
            graph.first_terminal.push(graph.terminals.len() as u32);
            graph.alive.push(!faults.is_node_failed(id));
            for (here, port) in fabric.ports_of(id) {
                let (Some(link), Some(peer)) = (port.link, port.peer) else { continue };
                if !is_usable(fabric, here) || !is_usable(fabric, peer) || faults.is_link_failed(fabric, link)
                {
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

    /// The number of switches, failed ones included.
    pub fn switch_count(&self) -> usize {
        self.alive.len()
    }

    /// Whether a switch is not marked as failed.
    pub fn is_alive(&self, switch: u32) -> bool {
        self.alive[switch as usize]
    }

    /// All channels in the order of (switch, port).
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// A channel by its id.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// The indices of the channels that leave a switch.
    pub fn outgoing(&self, switch: u32) -> Range<usize> {
        let at = switch as usize;
        self.first_channel[at] as usize..self.first_channel[at + 1] as usize
    }

    /// All terminals, those of one switch together.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The terminals at a switch.
    pub fn terminals_of(&self, switch: u32) -> &[Terminal] {
        let at = switch as usize;
        &self.terminals[self.first_terminal[at] as usize..self.first_terminal[at + 1] as usize]
    }

    /// The number of terminals with a LID at each switch. Terminals without a LID neither send nor receive.
    pub fn senders(&self) -> Vec<u32> {
        let mut senders = vec![0; self.switch_count()];
        for terminal in self.terminals.iter().filter(|terminal| terminal.lid.is_some()) {
            senders[terminal.switch as usize] += 1;
        }
        senders
    }

    /// The number of the connected component of every switch (`u32::MAX` for a failed switch), and the number of
    /// components.
    pub fn components(&self) -> (Vec<u32>, u32) {
        let mut part = vec![u32::MAX; self.switch_count()];
        let mut count = 0;
        let mut queue = Vec::new();
        for start in 0..self.switch_count() as u32 {
            if part[start as usize] != u32::MAX || !self.is_alive(start) {
                continue;
            }
            part[start as usize] = count;
            queue.push(start);
            while let Some(switch) = queue.pop() {
                for channel in &self.channels[self.outgoing(switch)] {
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

/// Whether a port carries traffic: always, unless the source states that it is down. Most dumps do not state it.
fn is_usable(fabric: &Fabric, id: PortId) -> bool {
    fabric.port(id).facts.state != Some(PortState::Down)
}

fn terminal(fabric: &Fabric, switch: NodeId, switch_port: PortNum, port: PortId) -> Terminal {
    let facts = &fabric.port(port).facts;
    Terminal { port, switch: switch.0, switch_port, lid: facts.lid, lmc: facts.lmc }
}
