//! The queries of a sweep besides counters: SwitchInfo of every switch, the local port, silent nodes, doubtful ports,
//! and items that are due. Nothing is changed here; differences are returned.

use std::collections::BTreeSet;

use super::discovery::directed;
use super::found::{FoundNode, node_id, port_facts};
use super::keys::Keys;
use super::manager::{manager_again, manager_of};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, Reader};
use super::rotation::{Item, Turns, doubtful, items};
use super::tables::{silence, switches};
use super::turned::TablesRead;
use fabdeck_fabric::observe::ManagerTold;
use fabdeck_fabric::{Fabric, Lid, NodeKind, PortNum};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{HOPS_MAX, LftBlock, NodeInfo, PortInfo, Smp, SwitchInfo, attribute};

/// The answers to these queries.
#[derive(Clone, Debug, Default)]
pub struct States {
    pub switches: Vec<(usize, SwitchInfo)>,
    /// Nodes that did not answer; below, nodes that answer again.
    pub silent: BTreeSet<usize>,
    pub heard: BTreeSet<usize>,
    /// Ports that may have changed.
    pub suspects: BTreeSet<(usize, u8)>,
    pub read: TablesRead,
    /// The items that are due. Of tables, only forwarding blocks are read so far.
    pub due: Vec<Item>,
    /// The subnet manager, by the local port's PortInfo.
    pub manager: ManagerTold,
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Local(usize),
    Switch(usize),
    /// An adapter that was silent.
    Adapter(usize),
    Port(usize, u8),
    Cable(usize, u8),
    Block(usize, u16),
    /// The subnet manager, and whether it answered the last time.
    Manager(Lid, bool),
}

pub fn read_states(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    nodes: &[FoundNode],
    (turns, fresh, choosing): (&mut Turns, &BTreeSet<usize>, &[usize]),
    known: &ManagerTold,
) -> Result<States, SourceError> {
    let (now, period) = (reader.now(), reader.drift_period());
    let who = |at: usize| (nodes[at].kind, nodes[at].guid);
    let (due, fresh) = turns.due_with_fresh(&items(fabric, nodes, choosing), (now, period), fresh, who);
    let mut phase = reader.phase::<Asked>("states");
    let mut questions = Vec::new();
    let local = nodes.iter().position(|node| node.route.is_empty());
    questions.extend(local.map(Asked::Local));
    questions.extend(switches(nodes).filter(|(_, node)| !node.kept.cut_off).map(|(at, _)| Asked::Switch(at)));
    let silent = nodes.iter().enumerate().filter(|(_, node)| node.kept.silent && !node.kept.cut_off);
    questions
        .extend(silent.filter(|(_, node)| node.kind != NodeKind::Switch).map(|(at, _)| Asked::Adapter(at)));
    let in_doubt = turns.due_doubtful(&doubtful(fabric, nodes), who);
    questions.extend(in_doubt.into_iter().map(|(at, port)| Asked::Port(at, port)));
    questions.extend(due.iter().filter_map(|item| match *item {
        Item::Block(at, block) => Some(Asked::Block(at, block)),
        Item::Cable(at, port) => Some(Asked::Cable(at, port)),
        Item::Bare(at, port) => Some(Asked::Port(at, port)),
        Item::Groups(..) | Item::Lanes(_) | Item::Arbitration(..) | Item::Adaptive(_) => None,
    }));
    let (retries, keys) = (phase.exchange.retries(), phase.keys);
    let made: Vec<_> =
        questions.into_iter().map(|asked| question(asked, (fabric, nodes), keys, retries)).collect();
    phase.exchange.feed(made.len() as u64, made.into_iter());
    // Until the local port's answer, the subnet manager counts as unchanged.
    let mut states = States { manager: known.clone(), ..States::default() };
    while let Some((asked, reply)) = phase.next()? {
        if matches!((&asked, &reply), (Asked::Local(_), Reply::Silence)) {
            return Err(phase.local_port_silent());
        }
        let told = matches!((&asked, &reply), (Asked::Local(_), Reply::Answer(_)));
        states.take(asked, reply, (fabric, nodes), &mut phase);
        if let Some(lid) = states.manager.lid.filter(|_| told) {
            let answered = known.lid != Some(lid) || known.manager.is_some();
            phase.exchange.ask(question(Asked::Manager(lid, answered), (fabric, nodes), keys, retries));
        }
    }
    phase.end();
    states.read.fresh = fresh;
    states.due = due;
    Ok(states)
}

fn question(
    asked: Asked,
    (fabric, nodes): (&Fabric, &[FoundNode]),
    keys: &Keys,
    retries: u32,
) -> Question<Asked> {
    let node = |at: usize| &nodes[at];
    let own = |at: usize, attribute: u16, port: u8| {
        let modifier = u32::from(port);
        directed(attribute, modifier, node(at).route_to(port), node(at).m_key.0)
    };
    let parcel = match asked {
        Asked::Local(at) | Asked::Adapter(at) => own(at, attribute::PORT_INFO, node(at).ingress),
        Asked::Switch(at) => own(at, attribute::SWITCH_INFO, 0),
        Asked::Port(at, port) => own(at, attribute::PORT_INFO, port),
        Asked::Manager(lid, _) => manager_again(fabric, nodes, lid, keys),
        Asked::Block(at, block) => {
            directed(attribute::LINEAR_FORWARDING, u32::from(block), &node(at).route, node(at).m_key.0)
        }
        Asked::Cable(at, port) => {
            let route = [node(at).route.as_slice(), &[port]].concat();
            let peer = fabric.port_of(node_id(at), PortNum(port)).and_then(|port| fabric.peer(port));
            let key = peer.map_or(keys.of(None), |peer| nodes[fabric.port(peer).node.index()].m_key.0);
            directed(attribute::NODE_INFO, 0, &route, key)
        }
    };
    let target = match asked {
        Asked::Cable(at, port) => 1 << 31 | (at as u32) << 8 | u32::from(port),
        Asked::Local(at)
        | Asked::Adapter(at)
        | Asked::Switch(at)
        | Asked::Port(at, _)
        | Asked::Block(at, _) => at as u32,
        Asked::Manager(..) => u32::MAX,
    };
    // A silent node is asked in every sweep, so without retries.
    let known_silent = match asked {
        Asked::Switch(at) | Asked::Adapter(at) => node(at).kept.silent,
        Asked::Manager(_, answered) => !answered,
        _ => false,
    };
    Question { parcel, target, retries: if known_silent { 0 } else { retries }, tag: asked }
}

impl States {
    fn take(
        &mut self,
        asked: Asked,
        reply: Reply,
        (fabric, nodes): (&Fabric, &[FoundNode]),
        phase: &mut OpenPhase<'_, '_, Asked>,
    ) {
        let mad = match reply {
            Reply::Answer(mad) => Smp(mad),
            failed => {
                let (at, words) = match asked {
                    // The result reports a silent subnet manager as an event.
                    Asked::Manager(..) => return,
                    // The peer is missing or another one; the PortInfo of the port decides.
                    Asked::Cable(at, port) => {
                        self.suspects.insert((at, port));
                        return;
                    }
                    Asked::Switch(at) => (at, "SwitchInfo".to_owned()),
                    Asked::Local(at) | Asked::Adapter(at) => (at, "PortInfo".to_owned()),
                    Asked::Port(at, port) => (at, format!("PortInfo {port}")),
                    Asked::Block(at, block) => (at, format!("LFT block {block}")),
                };
                if matches!(asked, Asked::Switch(_) | Asked::Adapter(_)) && matches!(failed, Reply::Silence) {
                    self.silent.insert(at);
                }
                phase.told.silent.push(silence(&nodes[at], words, &failed));
                return;
            }
        };
        match asked {
            Asked::Switch(at) => {
                self.heard.extend(nodes[at].kept.silent.then_some(at));
                self.switches.push((at, *mad.data::<SwitchInfo>()));
            }
            Asked::Adapter(at) => {
                self.heard.insert(at);
            }
            Asked::Local(at) => {
                let info = mad.data::<PortInfo>();
                self.manager = ManagerTold { lid: Lid::new(info.master_sm_lid.get().into()), manager: None };
                self.compare(fabric, nodes, (at, nodes[at].ingress), info);
            }
            Asked::Manager(..) => self.manager.manager = Some(manager_of(&mad)),
            Asked::Port(at, port) => self.compare(fabric, nodes, (at, port), mad.data::<PortInfo>()),
            Asked::Cable(at, port) => {
                let info = mad.data::<NodeInfo>();
                let id = fabric.port_of(node_id(at), PortNum(port)).and_then(|port| fabric.peer(port));
                let same = id.is_some_and(|peer| {
                    let (peer, far) = (fabric.port(peer), &nodes[fabric.port(peer).node.index()]);
                    info.guid() == far.guid && info.local_port == peer.number.value()
                });
                self.suspects.extend((!same).then_some((at, port)));
            }
            Asked::Block(at, block) => self.read.blocks.push((at, block, mad.data::<LftBlock>().ports)),
        }
    }

    /// Compares a port with what was known of it; a difference makes it suspect.
    fn compare(&mut self, fabric: &Fabric, nodes: &[FoundNode], (at, number): (usize, u8), info: &PortInfo) {
        let known = fabric.port_of(node_id(at), PortNum(number)).map(|port| &fabric.port(port).facts);
        let addressed = nodes[at].kind != NodeKind::Switch || number == 0;
        let same = known.is_some_and(|known| *known == port_facts(info, addressed, known.guid));
        self.suspects.extend((!same).then_some((at, number)));
    }
}

/// The egress ports of a route: one of them may be down if the node at its end is silent.
pub fn hops(fabric: &Fabric, nodes: &[FoundNode], route: &[u8]) -> Vec<(usize, u8)> {
    let mut at = nodes.iter().position(|node| node.route.is_empty());
    let mut hops = Vec::new();
    for egress in route.iter().take(HOPS_MAX) {
        let Some(node) = at else { break };
        hops.push((node, *egress));
        let port = fabric.port_of(node_id(node), PortNum(*egress));
        at = port.and_then(|port| fabric.peer(port)).map(|peer| fabric.port(peer).node.index());
    }
    hops
}
