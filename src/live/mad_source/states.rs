//! The queries of a sweep besides counters: SwitchInfo of every switch, the local port, silent nodes, doubtful ports,
//! and items that are due. Nothing is changed here; differences are returned.

use std::collections::BTreeSet;

use super::discovery_state::{DiscoveredNode, node_id, port_facts};
use super::get_request::directed_get;
use super::keys::Keys;
use super::question::{Question, Reply};
use super::read_list::{ReadItem, ReadList};
use super::reader::{OpenPhase, PortReader};
use super::rotation::{ReadRotation, doubtful_ports};
use super::subnet_manager::{manager_query, to_subnet_manager};
use super::table_rotation::TableReadings;
use super::tables::{switch_nodes, to_silence};
use fabdeck_fabric::observe::KnownManager;
use fabdeck_fabric::{Fabric, Guid, Lid, NodeKind, PortNum, PortState};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{HOPS_MAX, LftBlock, NodeInfo, PortInfo, PortStateTable, Smp, SwitchInfo, attribute};

/// The answers to these queries.
#[derive(Clone, Debug, Default)]
pub struct SweepStates {
    pub switches: Vec<(usize, SwitchInfo)>,
    /// Nodes that did not answer; below, nodes that answer again.
    pub silent: BTreeSet<usize>,
    pub heard: BTreeSet<usize>,
    /// Ports that may have changed.
    pub suspects: BTreeSet<(usize, u8)>,
    /// The states of ports that differ from what was known, by the tables of their switches.
    pub stated: Vec<(Guid, u8, Option<PortState>)>,
    pub read: TableReadings,
    /// The items that are due. Of tables, only forwarding blocks are read so far.
    pub due: Vec<ReadItem>,
    /// The subnet manager, by the local port's PortInfo.
    pub manager: KnownManager,
}

/// The target of the question to the subnet manager, besides the nodes.
const MANAGER_TARGET: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
enum StateQuestion {
    Local(usize),
    Switch(usize),
    /// An adapter that was silent.
    Adapter(usize),
    Port(usize, u8),
    /// The states of the ports of a switch, by block.
    PortStates(usize, u8),
    Cable(usize, u8),
    Block(usize, u16),
    /// The subnet manager, and whether it answered the last time.
    Manager(Lid, bool),
}

pub fn read_states(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    (turns, fresh, choosing): (&mut ReadRotation, &BTreeSet<usize>, &[usize]),
    (known, without_table, patient): (&KnownManager, &mut BTreeSet<Guid>, bool),
) -> Result<SweepStates, SourceError> {
    let (now, period) = (reader.now(), reader.drift_period());
    let who = |at: usize| (nodes[at].kind, nodes[at].guid);
    let (due, fresh) =
        turns.take_due_with_fresh(&ReadList::new(fabric, nodes, choosing), (now, period), fresh, who);
    let mut phase = reader.open_phase::<StateQuestion>("states");
    if !patient {
        phase.exchange.doubt(silent_targets(nodes, known));
    }
    let mut questions = node_questions(nodes);
    let in_doubt = turns.take_due_doubtful(&doubtful_ports(fabric, nodes), who);
    questions.extend(in_doubt.into_iter().map(|(at, port)| StateQuestion::Port(at, port)));
    let has_table = |node: &DiscoveredNode| has_state_table(node) && !without_table.contains(&node.guid);
    let at_once: BTreeSet<usize> =
        switch_nodes(nodes).filter(|(_, node)| has_table(node)).map(|(at, _)| at).collect();
    questions.extend(at_once.iter().flat_map(|at| {
        (0..=last_port(fabric, *at) / PortStateTable::PORTS)
            .map(|block| StateQuestion::PortStates(*at, block))
    }));
    questions.extend(due.iter().filter_map(|item| match *item {
        ReadItem::Block(at, block) => Some(StateQuestion::Block(at, block)),
        ReadItem::Cable(at, port) => Some(StateQuestion::Cable(at, port)),
        // Its state is in the table of its switch.
        ReadItem::Bare(at, _) if at_once.contains(&at) => None,
        ReadItem::Bare(at, port) => Some(StateQuestion::Port(at, port)),
        ReadItem::Groups(..) | ReadItem::Lanes(_) | ReadItem::Arbitration(..) | ReadItem::Adaptive(_) => None,
    }));
    let (retries, keys) = (phase.exchange.retries(), phase.keys);
    // A full subnet has two million of them: each is made when there is room to send it.
    let expected = questions.len() as u64;
    let made = questions.into_iter().map(move |asked| question(asked, (fabric, nodes), keys, retries));
    phase.exchange.feed(expected, made);
    // Until the local port's answer, the subnet manager counts as unchanged.
    let mut states = SweepStates { manager: known.clone(), ..SweepStates::default() };
    while let Some((asked, reply)) = phase.next()? {
        if matches!((&asked, &reply), (StateQuestion::Local(_), Reply::Silence)) {
            return Err(phase.local_port_error());
        }
        if let (StateQuestion::PortStates(at, _), false) = (&asked, matches!(reply, Reply::Answer(_))) {
            without_table.insert(nodes[*at].guid);
            continue;
        }
        let told = matches!((&asked, &reply), (StateQuestion::Local(_), Reply::Answer(_)));
        states.handle_reply(asked, reply, (fabric, nodes), &mut phase);
        if let Some(lid) = states.manager.lid.filter(|_| told) {
            let answered = known.lid != Some(lid) || known.manager.is_some();
            phase.exchange.ask(question(
                StateQuestion::Manager(lid, answered),
                (fabric, nodes),
                keys,
                retries,
            ));
        }
    }
    phase.end();
    states.read.fresh = fresh;
    states.due = due;
    Ok(states)
}

/// The targets of questions to nodes that were silent the last time, and to a subnet manager that was.
fn silent_targets(nodes: &[DiscoveredNode], known: &KnownManager) -> Vec<u32> {
    let silent = nodes.iter().enumerate().filter(|(_, node)| node.memory.silent).map(|(at, _)| at as u32);
    let manager = (known.lid.is_some() && known.manager.is_none()).then_some(MANAGER_TARGET);
    silent.chain(manager).collect()
}

/// The local port, all switches, and adapters that were silent.
fn node_questions(nodes: &[DiscoveredNode]) -> Vec<StateQuestion> {
    let local = nodes.iter().position(|node| node.route.is_empty());
    let switches = switch_nodes(nodes).filter(|(_, node)| !node.memory.cut_off);
    let silent = nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.memory.silent && !node.memory.cut_off && node.kind != NodeKind::Switch);
    let switches = switches.map(|(at, _)| StateQuestion::Switch(at));
    let silent = silent.map(|(at, _)| StateQuestion::Adapter(at));
    local.map(StateQuestion::Local).into_iter().chain(switches).chain(silent).collect()
}

fn question(
    asked: StateQuestion,
    (fabric, nodes): (&Fabric, &[DiscoveredNode]),
    keys: &Keys,
    retries: u32,
) -> Question<StateQuestion> {
    let node = |at: usize| &nodes[at];
    let own = |at: usize, attribute: u16, port: u8| {
        let modifier = match attribute {
            attribute::PORT_INFO => node(at).port_info_modifier(port),
            _ => u32::from(port),
        };
        directed_get(attribute, modifier, node(at).route_to(port), node(at).m_key.0)
    };
    let parcel = match asked {
        StateQuestion::Local(at) | StateQuestion::Adapter(at) => {
            own(at, attribute::PORT_INFO, node(at).ingress)
        }
        StateQuestion::Switch(at) => own(at, attribute::SWITCH_INFO, 0),
        StateQuestion::Port(at, port) => own(at, attribute::PORT_INFO, port),
        StateQuestion::Manager(lid, _) => manager_query(fabric, nodes, lid, keys),
        StateQuestion::PortStates(at, block) => own(at, attribute::SWITCH_PORT_STATES, block),
        StateQuestion::Block(at, block) => {
            directed_get(attribute::LINEAR_FORWARDING, u32::from(block), &node(at).route, node(at).m_key.0)
        }
        StateQuestion::Cable(at, port) => {
            let route = [node(at).route.as_slice(), &[port]].concat();
            let peer = fabric.port_of(node_id(at), PortNum(port)).and_then(|port| fabric.peer(port));
            let key = peer.map_or(keys.key_for(None), |peer| nodes[fabric.port(peer).node.index()].m_key.0);
            directed_get(attribute::NODE_INFO, 0, &route, key)
        }
    };
    let target = match asked {
        StateQuestion::Cable(at, port) => 1 << 31 | (at as u32) << 8 | u32::from(port),
        StateQuestion::Local(at)
        | StateQuestion::Adapter(at)
        | StateQuestion::Switch(at)
        | StateQuestion::Port(at, _)
        | StateQuestion::PortStates(at, _)
        | StateQuestion::Block(at, _) => at as u32,
        StateQuestion::Manager(..) => MANAGER_TARGET,
    };
    // A silent node is asked in every sweep, so without retries; and what a switch may drop, once.
    let known_silent = match asked {
        StateQuestion::Switch(at) | StateQuestion::Adapter(at) => node(at).memory.silent,
        StateQuestion::Manager(_, answered) => !answered,
        StateQuestion::PortStates(..) => true,
        _ => false,
    };
    Question { parcel, target, retries: if known_silent { 0 } else { retries }, tag: asked }
}

fn last_port(fabric: &Fabric, at: usize) -> u8 {
    fabric.ports_of(node_id(at)).map(|(_, port)| port.number.value()).max().unwrap_or(0)
}

/// Whether a switch says that it has the states of all its ports in one table.
fn has_state_table(node: &DiscoveredNode) -> bool {
    !node.memory.silent
        && !node.memory.cut_off
        && node.capabilities.is_some_and(|known| known.has_switch_port_states())
}

impl SweepStates {
    fn handle_reply(
        &mut self,
        asked: StateQuestion,
        reply: Reply,
        (fabric, nodes): (&Fabric, &[DiscoveredNode]),
        phase: &mut OpenPhase<'_, '_, StateQuestion>,
    ) {
        let mad = match reply {
            Reply::Answer(mad) => Smp(mad),
            failed => {
                let (at, words) = match asked {
                    // The result reports a silent subnet manager as an event.
                    StateQuestion::Manager(..) => return,
                    // Its ports are asked one by one from now on.
                    StateQuestion::PortStates(..) => return,
                    // The peer is missing or another one; the PortInfo of the port decides.
                    StateQuestion::Cable(at, port) => {
                        self.suspects.insert((at, port));
                        return;
                    }
                    StateQuestion::Switch(at) => (at, "SwitchInfo".to_owned()),
                    StateQuestion::Local(at) | StateQuestion::Adapter(at) => (at, "PortInfo".to_owned()),
                    StateQuestion::Port(at, port) => (at, format!("PortInfo {port}")),
                    StateQuestion::Block(at, block) => (at, format!("LFT block {block}")),
                };
                if matches!(asked, StateQuestion::Switch(_) | StateQuestion::Adapter(_))
                    && matches!(failed, Reply::Silence)
                {
                    self.silent.insert(at);
                }
                phase.log.silent.push(to_silence(&nodes[at], words, &failed));
                return;
            }
        };
        match asked {
            StateQuestion::Switch(at) => {
                self.heard.extend(nodes[at].memory.silent.then_some(at));
                self.switches.push((at, *mad.data::<SwitchInfo>()));
            }
            StateQuestion::Adapter(at) => {
                self.heard.insert(at);
            }
            StateQuestion::Local(at) => {
                let info = mad.data::<PortInfo>();
                self.manager = KnownManager { lid: Lid::new(info.master_sm_lid.get().into()), manager: None };
                self.compare_port(fabric, nodes, (at, nodes[at].ingress), info);
            }
            StateQuestion::Manager(..) => self.manager.manager = Some(to_subnet_manager(&mad)),
            StateQuestion::Port(at, port) => {
                self.compare_port(fabric, nodes, (at, port), mad.data::<PortInfo>())
            }
            StateQuestion::PortStates(at, block) => {
                self.compare_states(fabric, nodes, (at, block), mad.data::<PortStateTable>());
            }
            StateQuestion::Cable(at, port) => {
                let info = mad.data::<NodeInfo>();
                let id = fabric.port_of(node_id(at), PortNum(port)).and_then(|port| fabric.peer(port));
                let same = id.is_some_and(|peer| {
                    let (peer, far) = (fabric.port(peer), &nodes[fabric.port(peer).node.index()]);
                    info.guid() == far.guid && info.local_port == peer.number.value()
                });
                self.suspects.extend((!same).then_some((at, port)));
            }
            StateQuestion::Block(at, block) => {
                self.read.blocks.push((at, block, mad.data::<LftBlock>().ports))
            }
        }
    }

    /// Compares the states of ports with what was known of them. A port whose state has changed, or whose code has no
    /// meaning, is asked itself.
    fn compare_states(
        &mut self,
        fabric: &Fabric,
        nodes: &[DiscoveredNode],
        (at, block): (usize, u8),
        table: &PortStateTable,
    ) {
        let first = block * PortStateTable::PORTS;
        for (_, port) in fabric.ports_of(node_id(at)) {
            let number = port.number.value();
            let here = number != 0 && (first..=first | (PortStateTable::PORTS - 1)).contains(&number);
            let Some(known) = port.facts.state.filter(|_| here) else { continue };
            let said = table.state(number - first);
            if said != Some(known) {
                self.suspects.insert((at, number));
                self.stated.push((nodes[at].guid, number, said));
            }
        }
    }

    /// Compares a port with what was known of it; a difference makes it suspect.
    fn compare_port(
        &mut self,
        fabric: &Fabric,
        nodes: &[DiscoveredNode],
        (at, number): (usize, u8),
        info: &PortInfo,
    ) {
        let known = fabric.port_of(node_id(at), PortNum(number)).map(|port| &fabric.port(port).facts);
        let addressed = nodes[at].kind != NodeKind::Switch || number == 0;
        let of = (addressed, nodes[at].capabilities_of(number, info));
        let same = known.is_some_and(|known| *known == port_facts(info, of, known));
        self.suspects.extend((!same).then_some((at, number)));
    }
}

/// The egress ports of a route: one of them may be down if the node at its end is silent.
pub fn route_hops(fabric: &Fabric, nodes: &[DiscoveredNode], route: &[u8]) -> Vec<(usize, u8)> {
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
