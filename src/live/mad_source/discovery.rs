//! Discovers a fabric breadth first over the cables, many queries at once, each node once. NodeInfo goes through every
//! port with a link; NodeDescription, SwitchInfo and PortInfo follow for each new node.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::discovery_state::DiscoveryState;
use super::fdr10::{KindsWithoutFdr10, read_fdr10};
use super::get_request::directed_get;
use super::keys::{Keys, ProvenKey};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PhaseLog, PortReader};
use fabdeck_fabric::observe::{MissingAnswer, route_text};
use fabdeck_fabric::{Guid, NodeKind, PhysicalState, PortNum};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{HOPS_MAX, MadStatus, NodeDescription, NodeInfo, PortInfo, Smp, SwitchInfo, attribute};

/// The subject of a query.
#[derive(Clone, Debug)]
pub enum DiscoveryQuestion {
    /// NodeInfo at the end of a route, and the port of a known node that the route goes through last.
    Who {
        route: Vec<u8>,
        beyond: Option<(usize, u8)>,
    },
    Description(usize),
    Switch(usize),
    Port(usize, u8),
}

/// Largest number of tries with an M_Key that may be wrong, whatever the policy says.
const MAX_KEY_TRIES: u32 = 3;

/// Discovers the topology as far as it answers.
pub fn discover(
    reader: &mut PortReader<'_>,
    without_fdr10: &mut KindsWithoutFdr10,
) -> Result<DiscoveryState, SourceError> {
    let ibsim = reader.is_ibsim();
    let mut phase = reader.open_phase::<DiscoveryQuestion>("topology");
    let local_key = ProvenKey(phase.keys.key_for(phase.exchange.local_guid()));
    let mut discovery = Discovery { local_key, ..Discovery::default() };
    discovery.found.refuses_extended_queries = ibsim;
    discovery.questions.push(DiscoveryQuestion::Who { route: Vec::new(), beyond: None });
    discovery.run(&mut phase)?;
    phase.end();
    let mut found = discovery.found;
    read_fdr10(reader, &mut found, without_fdr10)?;
    Ok(found)
}

#[derive(Debug, Default)]
pub struct Discovery {
    pub found: DiscoveryState,
    questions: Vec<DiscoveryQuestion>,
    /// The M_Key of the local port, the only port whose GUID is known before it answers.
    local_key: ProvenKey,
    /// Set if a known fabric is followed instead of discovered.
    following: Option<Rediscovery>,
    /// Ports that were asked in the older way after a refusal.
    older: FxHashSet<(usize, u8)>,
    /// Nodes that answered a query about themselves.
    pub heard: FxHashSet<usize>,
}

/// What is known of a fabric that is followed.
#[derive(Debug)]
struct Rediscovery {
    /// Ports with a known peer that is asked for NodeInfo all the same, each once.
    doubted: FxHashSet<(usize, u8)>,
    asked: FxHashSet<(usize, u8)>,
    /// Nodes that did not answer before.
    silent: FxHashSet<usize>,
}

impl Discovery {
    pub fn from_known(
        found: DiscoveryState,
        doubted: &BTreeSet<(usize, u8)>,
        silent: FxHashSet<usize>,
    ) -> Self {
        let doubted = doubted.iter().copied().collect();
        let following = Some(Rediscovery { doubted, asked: FxHashSet::default(), silent });
        Self { found, following, ..Self::default() }
    }

    pub fn ask_port(&mut self, node: usize, port: u8) {
        self.questions.push(DiscoveryQuestion::Port(node, port));
    }

    /// Queries a node itself, and not one of its ports.
    pub fn ask_node(&mut self, node: usize, ingress: u8) {
        self.questions.push(match self.found.nodes[node].kind {
            NodeKind::Switch => DiscoveryQuestion::Switch(node),
            _ => DiscoveryQuestion::Port(node, ingress),
        });
    }

    /// Nodes that were silent before and still are.
    pub fn still_silent_nodes(&self) -> FxHashSet<usize> {
        let silent = self.following.iter().flat_map(|following| &following.silent);
        silent.copied().filter(|node| !self.heard.contains(node)).collect()
    }

    /// Sends queries until none is left.
    pub fn run(&mut self, phase: &mut OpenPhase<'_, '_, DiscoveryQuestion>) -> Result<(), SourceError> {
        loop {
            for asked in std::mem::take(&mut self.questions) {
                let question = self.question(asked, phase.keys, phase.exchange.retries());
                phase.exchange.ask(question);
            }
            let Some((asked, reply)) = phase.next()? else { return Ok(()) };
            if self.found.nodes.is_empty() && !matches!(reply, Reply::Answer(_)) {
                return Err(phase.local_port_error());
            }
            let most = phase.exchange.max_nodes();
            self.handle_reply(asked, reply, most, phase.keys, phase.log);
        }
    }

    fn question(&self, asked: DiscoveryQuestion, keys: &Keys, retries: u32) -> Question<DiscoveryQuestion> {
        let to = |node: usize, attribute: u16| {
            let found = &self.found.nodes[node];
            (found.route.as_slice(), found.m_key, node as u32, attribute, 0)
        };
        // NodeInfo goes to an unknown node, so the limit per node does not apply.
        let (route, key, target, attribute, modifier) = match &asked {
            DiscoveryQuestion::Who { route, beyond } => {
                let target =
                    beyond.map_or(u32::MAX, |(node, port)| 1 << 31 | (node as u32) << 8 | u32::from(port));
                (route.as_slice(), self.key_for(route, *beyond, keys), target, attribute::NODE_INFO, 0)
            }
            DiscoveryQuestion::Description(node) => to(*node, attribute::NODE_DESCRIPTION),
            DiscoveryQuestion::Switch(node) => to(*node, attribute::SWITCH_INFO),
            DiscoveryQuestion::Port(node, port) => {
                let (_, key, target, attribute, _) = to(*node, attribute::PORT_INFO);
                let found = &self.found.nodes[*node];
                (found.route_to(*port), key, target, attribute, found.port_info_modifier(*port))
            }
        };
        let parcel = directed_get(attribute, modifier, route, key.0);
        // A node that answers a wrong M_Key with silence looks like a dead one, so the tries with a key are limited.
        let unknown = matches!(asked, DiscoveryQuestion::Who { .. }) && keys.has_keys();
        let retries = if unknown { retries.min(MAX_KEY_TRIES - 1) } else { retries };
        Question { parcel, target, retries, tag: asked }
    }

    /// The M_Key for a NodeInfo query. An unknown node gets the default key.
    fn key_for(&self, route: &[u8], beyond: Option<(usize, u8)>, keys: &Keys) -> ProvenKey {
        match beyond.and_then(|beyond| self.found.peer(beyond)) {
            Some((known, _)) => self.found.nodes[known].m_key,
            None if route.is_empty() => self.local_key,
            None => ProvenKey(keys.key_for(None)),
        }
    }

    fn handle_reply(
        &mut self,
        asked: DiscoveryQuestion,
        reply: Reply,
        most: usize,
        keys: &Keys,
        told: &mut PhaseLog,
    ) {
        let mad = match reply {
            Reply::Answer(mad) => Smp(mad),
            Reply::Refused(status) if self.can_ask_older(&asked, status) => return,
            Reply::Refused(status) => return self.handle_silence(&asked, Some(status.to_string()), told),
            Reply::Silence => return self.handle_silence(&asked, None, told),
        };
        match asked {
            DiscoveryQuestion::Who { route, beyond } => {
                let key = self.key_for(&route, beyond, keys);
                self.handle_node_info(mad.data::<NodeInfo>(), (route, beyond), key, most, told);
            }
            DiscoveryQuestion::Description(node) => {
                self.found.set_description(node, mad.data::<NodeDescription>().as_text())
            }
            DiscoveryQuestion::Switch(node) => {
                self.heard.insert(node);
                self.found.set_switch_info(node, *mad.data::<SwitchInfo>());
            }
            DiscoveryQuestion::Port(node, port) => {
                self.heard.insert(node);
                self.handle_port_info(node, port, mad.data::<PortInfo>(), told);
            }
        }
    }

    /// Asks for PortInfo in the older way, if the device did not accept the bit for extended speeds in the modifier.
    /// The device is never asked with that bit again.
    fn can_ask_older(&mut self, asked: &DiscoveryQuestion, status: MadStatus) -> bool {
        let DiscoveryQuestion::Port(node, port) = *asked else { return false };
        let again = status.is_invalid_field() && self.older.insert((node, port));
        if again {
            self.found.nodes[node].refuses_extended_query = true;
            self.questions.push(DiscoveryQuestion::Port(node, port));
        }
        again
    }

    fn handle_node_info(
        &mut self,
        info: &NodeInfo,
        (route, beyond): (Vec<u8>, Option<(usize, u8)>),
        key: ProvenKey,
        most: usize,
        told: &mut PhaseLog,
    ) {
        let kind = match check_node_info(info, beyond.is_some()) {
            Ok(kind) => kind,
            Err(reason) => {
                return self.handle_silence(&DiscoveryQuestion::Who { route, beyond }, Some(reason), told);
            }
        };
        if self.found.nodes.len() >= most && !self.found.has_node(kind, info) {
            told.note_partial("FN-528", || {
                format!("there are more than {most} nodes, more than a fabric can have: the rest is not read")
            });
            return;
        }
        let (node, new) = self.found.find_or_add_node(kind, info, &route, key);
        let ingress = info.local_port;
        if let Some(beyond) = beyond.filter(|beyond| self.following.is_some() && *beyond != (node, ingress)) {
            self.replace_cable(beyond, (node, ingress), new);
        } else if let Some(beyond) = beyond {
            if beyond == (node, ingress) || self.found.connect(beyond, (node, ingress)).is_err() {
                told.note_changed_peer(&route_text(&route), self.found.nodes[node].guid);
            } else if self.found.has_torn_cable(node, ingress) {
                told.note_torn_cable(self.found.nodes[node].guid, ingress);
            }
        }
        if kind != NodeKind::Switch {
            self.found.set_port_guid(node, ingress, Guid(info.port_guid.get()));
            self.questions.push(DiscoveryQuestion::Port(node, ingress));
        }
        if !new {
            return;
        }
        self.questions.push(DiscoveryQuestion::Description(node));
        if kind == NodeKind::Switch {
            self.found.set_port_guid(node, 0, Guid(info.port_guid.get()));
            self.questions.push(DiscoveryQuestion::Switch(node));
            self.questions.extend((0..=info.port_count).map(|port| DiscoveryQuestion::Port(node, port)));
        }
    }

    fn handle_port_info(&mut self, node: usize, number: u8, info: &PortInfo, told: &mut PhaseLog) {
        self.found.set_port_info(node, number, info);
        if self.following.is_none() && self.found.has_torn_cable(node, number) {
            told.note_torn_cable(self.found.nodes[node].guid, number);
        }
        if self.following.is_some() && is_link_down(info) {
            self.remove_cable((node, number));
        }
        let found = &self.found.nodes[node];
        let first = found.route.is_empty();
        if first && number == if found.kind == NodeKind::Switch { 0 } else { found.ingress } {
            self.found.manager_lid = Some(info.master_sm_lid.get());
            self.found.subnet_prefix = Some(info.subnet_prefix.get());
        }
        let found = &self.found.nodes[node];
        // Adapters and routers forward nothing; only the local adapter sends out of its own port.
        let leads_on =
            if found.kind == NodeKind::Switch { number > 0 } else { first && number == found.ingress };
        let linked = info.physical_state() == Some(PhysicalState::LinkUp);
        if !leads_on || !linked || !self.is_worth_asking((node, number)) {
            return;
        }
        let found = &self.found.nodes[node];
        if found.route.len() >= HOPS_MAX {
            let guid = found.guid;
            told.note_partial("FN-529", || {
                format!(
                    "the nodes behind port {number} of {guid} are more than {HOPS_MAX} hops away, and no \
                 directed-route MAD reaches them"
                )
            });
            return;
        }
        let mut route = found.route.clone();
        route.push(number);
        self.questions.push(DiscoveryQuestion::Who { route, beyond: Some((node, number)) });
    }

    /// Whether a NodeInfo query through this port can bring news: its peer is unknown or doubted.
    fn is_worth_asking(&mut self, port: (usize, u8)) -> bool {
        let unknown = !self.found.has_peer(port.0, port.1);
        match &mut self.following {
            None => unknown,
            // A peer is followed once, however often answers contradict each other. The next sweep asks again.
            Some(following) => (unknown || following.doubted.contains(&port)) && following.asked.insert(port),
        }
    }

    /// Removes the cable of a link that is down, and queries its other end.
    fn remove_cable(&mut self, end: (usize, u8)) {
        if let Some((node, port)) = self.found.disconnect(end) {
            self.found.repair_routes(&self.still_silent_nodes());
            self.ask_port(node, port);
        }
    }

    /// Records a cable in a new place, and queries the ports that lost theirs.
    fn replace_cable(&mut self, a: (usize, u8), b: (usize, u8), new: bool) {
        if self.found.peer(a) == Some(b) {
            return;
        }
        for end in [a, b] {
            if let Some((node, port)) = self.found.disconnect(end) {
                self.ask_port(node, port);
            }
        }
        // Both ends are free now, so this cannot fail.
        let _ = self.found.connect(a, b);
        self.found.repair_routes(&self.still_silent_nodes());
        if !new {
            self.ask_port(b.0, b.1);
        }
    }

    fn handle_silence(&mut self, asked: &DiscoveryQuestion, refusal: Option<String>, told: &mut PhaseLog) {
        let of = |node: usize| &self.found.nodes[node];
        let at_node = |node: usize, asked: String| MissingAnswer {
            route: of(node).route.clone(),
            asked,
            node: Some(of(node).guid),
            peer: None,
            refusal: refusal.clone(),
        };
        let silence = match asked {
            DiscoveryQuestion::Who { route, beyond } => MissingAnswer {
                route: route.clone(),
                asked: "NodeInfo".to_owned(),
                node: None,
                peer: beyond.map(|(node, port)| (of(node).guid, PortNum(port))),
                refusal: refusal.clone(),
            },
            DiscoveryQuestion::Description(node) => at_node(*node, "NodeDescription".to_owned()),
            DiscoveryQuestion::Switch(node) => at_node(*node, "SwitchInfo".to_owned()),
            DiscoveryQuestion::Port(node, port) => MissingAnswer {
                route: of(*node).route_to(*port).to_vec(),
                ..at_node(*node, format!("PortInfo {port}"))
            },
        };
        if let DiscoveryQuestion::Port(node, port) = asked {
            self.found.add_port(*node, *port);
        }
        told.silent.push(silence);
    }
}

/// The kind of a node, or why its NodeInfo is impossible.
fn check_node_info(info: &NodeInfo, by_cable: bool) -> Result<NodeKind, String> {
    let kind = info.kind().ok_or_else(|| format!("it reports node type {}", info.node_type))?;
    let (count, ingress) = (info.port_count, info.local_port);
    // Only the local switch receives queries through its port 0.
    let lowest = u8::from(by_cable || kind != NodeKind::Switch);
    if count > PortNum::MAX || !(lowest..=count).contains(&ingress) {
        return Err(format!("it reports {count} ports and was reached at its port {ingress}"));
    }
    Ok(kind)
}

/// Whether a port says that its link is down. Link error recovery does not count.
fn is_link_down(info: &PortInfo) -> bool {
    use PhysicalState::{Disabled, Polling, Sleep, Training};
    matches!(info.physical_state(), Some(Polling | Disabled | Sleep | Training))
}
