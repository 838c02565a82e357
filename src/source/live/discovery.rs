//! Breadth first over the cables, many questions at once, each node once: NodeInfo through every port with a link,
//! then NodeDescription, SwitchInfo and PortInfo of what was found.

use super::exchange::{Question, Reply};
use super::found::Found;
use super::reader::{Reader, Told};
use crate::access::{Address, Parcel, SourceError};
use crate::fabric::{Guid, NodeKind, PhysicalState, PortNum};
use crate::mad::{HOPS_MAX, Mad, Method, NodeDescription, NodeInfo, PortInfo, Smp, SwitchInfo, attribute};
use crate::observe::{Silence, route_text};

/// What a question of the topology was about.
#[derive(Clone, Debug)]
enum Asked {
    /// Who is at the end of a route; beyond which port of a known node.
    Who {
        route: Vec<u8>,
        beyond: Option<(usize, u8)>,
    },
    Description(usize),
    Switch(usize),
    Port(usize, u8),
}

/// Wrong M_Keys are tried no more often than this, whatever else is asked for.
const KEY_TRIES: u32 = 3;

/// The topology as far as it answers.
pub fn discover(reader: &mut Reader<'_>) -> Result<Found, SourceError> {
    let mut discovery = Discovery { found: Found::default(), questions: Vec::new() };
    discovery.questions.push(Asked::Who { route: Vec::new(), beyond: None });
    let mut phase = reader.phase::<Asked>("topology");
    let mut first = true;
    loop {
        for asked in std::mem::take(&mut discovery.questions) {
            let question = discovery.question(asked, phase.keys, phase.exchange.retries());
            phase.exchange.ask(question);
        }
        let Some((asked, reply)) = phase.next()? else { break };
        if std::mem::take(&mut first) && !matches!(reply, Reply::Answer(_)) {
            return Err(phase.local_port_silent());
        }
        discovery.take(asked, reply, phase.told);
    }
    phase.end();
    Ok(discovery.found)
}

#[derive(Debug)]
struct Discovery {
    found: Found,
    questions: Vec<Asked>,
}

impl Discovery {
    fn question(&self, asked: Asked, keys: &super::keys::Keys, retries: u32) -> Question<Asked> {
        let of = |node: usize| &self.found.nodes[node];
        // The question of who is there goes to nobody known; the limit per node does not hold for it.
        let (route, guid, target, attribute, modifier) = match &asked {
            Asked::Who { route, beyond } => {
                let target =
                    beyond.map_or(u32::MAX, |(node, port)| 1 << 31 | (node as u32) << 8 | u32::from(port));
                (route.as_slice(), None, target, attribute::NODE_INFO, 0)
            }
            Asked::Description(node) => (
                of(*node).route.as_slice(),
                Some(of(*node).guid),
                *node as u32,
                attribute::NODE_DESCRIPTION,
                0,
            ),
            Asked::Switch(node) => {
                (of(*node).route.as_slice(), Some(of(*node).guid), *node as u32, attribute::SWITCH_INFO, 0)
            }
            Asked::Port(node, port) => (
                of(*node).route.as_slice(),
                Some(of(*node).guid),
                *node as u32,
                attribute::PORT_INFO,
                u32::from(*port),
            ),
        };
        let parcel = directed(attribute, modifier, route, keys.of(guid));
        // Who guards its key with silence cannot be told from who is dead, so a key is not tried at it without end.
        let unknown = matches!(asked, Asked::Who { .. }) && keys.any();
        let retries = if unknown { retries.min(KEY_TRIES - 1) } else { retries };
        Question { parcel, target, retries, tag: asked }
    }

    fn take(&mut self, asked: Asked, reply: Reply, told: &mut Told) {
        let mad = match reply {
            Reply::Answer(mad) => Smp(mad),
            Reply::Refused(status) => return self.silent(&asked, Some(status.to_string()), told),
            Reply::Silence => return self.silent(&asked, None, told),
        };
        match asked {
            Asked::Who { route, beyond } => self.node(mad.data::<NodeInfo>(), route, beyond, told),
            Asked::Description(node) => self.found.describe(node, mad.data::<NodeDescription>().as_text()),
            Asked::Switch(node) => self.found.describe_switch(node, *mad.data::<SwitchInfo>()),
            Asked::Port(node, port) => self.port(node, port, mad.data::<PortInfo>()),
        }
    }

    fn node(&mut self, info: &NodeInfo, route: Vec<u8>, beyond: Option<(usize, u8)>, told: &mut Told) {
        let Some(kind) = info.kind() else {
            let asked = Asked::Who { route, beyond };
            let reason = format!("it calls itself a node of type {}", info.node_type);
            return self.silent(&asked, Some(reason), told);
        };
        let (node, new) = self.found.node(kind, info, &route);
        let ingress = info.local_port;
        if let Some(beyond) = beyond
            && self.found.connect(beyond, (node, ingress)).is_err()
        {
            told.changed(&route_text(&route), self.found.nodes[node].guid);
        }
        if kind != NodeKind::Switch {
            self.found.name_port(node, ingress, Guid(info.port_guid.get()));
            self.questions.push(Asked::Port(node, ingress));
        }
        if !new {
            return;
        }
        self.questions.push(Asked::Description(node));
        if kind == NodeKind::Switch {
            self.found.name_port(node, 0, Guid(info.port_guid.get()));
            self.questions.push(Asked::Switch(node));
            self.questions.extend((0..=info.port_count).map(|port| Asked::Port(node, port)));
        }
    }

    fn port(&mut self, node: usize, number: u8, info: &PortInfo) {
        self.found.describe_port(node, number, info);
        let found = &self.found.nodes[node];
        let first = found.route.is_empty();
        if first && number == if found.kind == NodeKind::Switch { 0 } else { found.ingress } {
            self.found.manager_lid = Some(info.master_sm_lid.get());
            self.found.subnet_prefix = Some(info.subnet_prefix.get());
        }
        let found = &self.found.nodes[node];
        // Adapters and routers pass nothing on; only the one that is looked from sends out of its own port.
        let leads_on =
            if found.kind == NodeKind::Switch { number > 0 } else { first && number == found.ingress };
        let linked = info.physical_state() == Some(PhysicalState::LinkUp);
        if !leads_on || !linked || self.found.has_peer(node, number) || found.route.len() >= HOPS_MAX {
            return;
        }
        let mut route = found.route.clone();
        route.push(number);
        self.questions.push(Asked::Who { route, beyond: Some((node, number)) });
    }

    fn silent(&mut self, asked: &Asked, refusal: Option<String>, told: &mut Told) {
        let of = |node: usize| &self.found.nodes[node];
        let at_node = |node: usize, asked: String| Silence {
            route: of(node).route.clone(),
            asked,
            node: Some(of(node).guid),
            peer: None,
            refusal: refusal.clone(),
        };
        let silence = match asked {
            Asked::Who { route, beyond } => Silence {
                route: route.clone(),
                asked: "NodeInfo".to_owned(),
                node: None,
                peer: beyond.map(|(node, port)| (of(node).guid, PortNum(port))),
                refusal: refusal.clone(),
            },
            Asked::Description(node) => at_node(*node, "NodeDescription".to_owned()),
            Asked::Switch(node) => at_node(*node, "SwitchInfo".to_owned()),
            Asked::Port(node, port) => at_node(*node, format!("PortInfo {port}")),
        };
        if let Asked::Port(node, port) = asked {
            self.found.mention_port(*node, *port);
        }
        told.silent.push(silence);
    }
}

/// A Get by directed route.
pub fn directed(attribute: u16, modifier: u32, route: &[u8], key: u64) -> Parcel {
    // Routes are never longer than what a packet holds: discovery stops there.
    let mut smp = Smp::directed(Method::GET, attribute, modifier, route).unwrap_or_default();
    smp.set_m_key(key);
    Parcel { mad: smp.0, address: Address::directed() }
}

/// A Get by LID to the agent for subnet packets.
pub fn by_lid(attribute: u16, modifier: u32, lid: crate::fabric::Lid, key: u64) -> Parcel {
    let mut smp = Smp::by_lid(Method::GET, attribute, modifier);
    smp.set_m_key(key);
    let mad: Mad = smp.0;
    let address = Address::of(lid, mad.class());
    Parcel { mad, address }
}
