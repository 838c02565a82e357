//! One sweep: states, counters, and what changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::adaptive::{AdaptiveAnswers, ask_adaptive, note_adaptive, summarize_adaptive, switches_to_ask};
use super::adaptive_tables::{read_adaptive_tables, store_adaptive};
use super::agent_flows::{AgentFlowMemory, read_agent_flows};
use super::counter_sweep::{AgentTrust, CounterAgents, CounterSweep, sweep_counters};
use super::discovery_state::{DiscoveredNode, DiscoveryState, NodeMemory, far_end};
use super::fabric_events::{diff_fabrics, same_node};
use super::fdr10::KindsWithoutFdr10;
use super::flaps::update_link_downs;
use super::hierarchy::HierarchyMemory;
use super::link_down_counts::LinkDownCounts;
use super::read_list::ReadItem;
use super::reader::PortReader;
use super::rediscovery::rediscover;
use super::rotation::ReadRotation;
use super::states::{SweepStates, read_states, route_hops};
use super::table_changes::update_tables;
use super::table_rotation::read_due_tables;
use super::tables::last_used_lid;
use super::ticks::read_ticks;
use super::wire::{WireMemory, WireScope, read_wire_turn};
use fabdeck_fabric::observe::{FabricEvent, FlowLists, KnownManager, Observation, Sweep};
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, NodeKind, PortNum, PortState};
use fabdeck_mad::access::SourceError;

/// Of this number of sweeps one waits for nodes that were silent before as long as for others: a device that answers late
/// is found again.
const PATIENT_SWEEP: u64 = 8;

/// What sweeps remember besides the nodes.
#[derive(Clone, Debug, Default)]
pub struct SweepMemory {
    /// The capabilities of performance agents, as far as sweeps have asked.
    pub agents: CounterAgents,
    pub turns: ReadRotation,
    /// Number of sweeps so far.
    pub sweeps: u64,
    /// Nodes that are new or answer again: their tables are read before their turn.
    pub fresh: BTreeSet<Guid>,
    /// The subnet manager of the last sweep.
    pub manager: KnownManager,
    /// Ports that reports of traps have named since the last sweep.
    pub named: BTreeSet<(usize, u8)>,
    /// The answers of switches about adaptive routing.
    pub adaptive: AdaptiveAnswers,
    /// What is known of the agents of hosts.
    pub hosts: AgentFlowMemory,
    /// What devices have of the health of links.
    pub wire: WireMemory,
    /// Switches that did not answer with the states of all ports, though they say that they can.
    pub without_port_states: BTreeSet<Guid>,
    /// Kinds of devices whose ports are not asked for FDR10 again.
    pub without_fdr10: KindsWithoutFdr10,
    /// What devices said about the labels of their ports.
    pub hierarchies: HierarchyMemory,
}

/// Runs one sweep. Apart from the capabilities of performance agents, nothing is stored before all queries have ended,
/// so a cancelled sweep has no effect.
pub fn run_sweep(
    reader: &mut PortReader<'_>,
    look: &mut Observation,
    nodes: &mut Vec<DiscoveredNode>,
    memory: &mut SweepMemory,
) -> Result<Sweep, SourceError> {
    let (began, phases) = (reader.now(), reader.phases.len());
    let mut turns = memory.turns;
    let fresh = fresh_nodes(nodes, &memory.fresh);
    let choosing = switches_to_judge(look, nodes, &memory.adaptive);
    let turned = (&mut turns, &fresh, choosing.as_slice());
    let patient = (memory.sweeps + 1).is_multiple_of(PATIENT_SWEEP);
    let known = (&memory.manager, &mut memory.without_port_states, patient);
    let mut states = read_states(reader, &look.fabric, nodes, turned, known)?;
    let trust = agent_trust(nodes, &states, patient);
    let counted = sweep_counters(reader, &look.fabric, nodes, &mut memory.agents, trust)?;
    let due = without_silent(nodes, &states, &counted);
    read_due_tables(reader, &look.fabric, nodes, &due, &mut states.read)?;
    let turn = due_adaptive_switches(&due);
    let adaptive = ask_adaptive(reader, nodes, &turn, &memory.adaptive)?;
    let adaptive_tables = read_adaptive_tables(reader, nodes, &look.tables, &memory.adaptive, &turn)?;
    let ticks = read_ticks(reader, &look.fabric, nodes, &look.ticks, |at| counted.mute.contains(&at))?;
    let flows = read_flows(reader, &look.fabric, &counted, memory)?;
    let silent = silent_nodes(nodes, &states, &counted);
    let mut suspects = suspect_ports(&look.fabric, nodes, &states, &counted, &silent);
    suspects.extend(&memory.named);
    let mut found = rediscover_moved(reader, (&look.fabric, nodes), (&suspects, &silent), &states)?;
    memory.turns = turns;
    memory.sweeps += 1;
    memory.named.clear();
    memory.adaptive.extend(adaptive);
    memory.adaptive.tables.extend(adaptive_tables);
    look.ticks = ticks;
    let lost = lost_cables(&look.fabric, found.as_ref());
    let kept = found.as_mut().map_or(nodes.as_mut_slice(), |found| &mut found.nodes);
    for at in settled_fresh_nodes(&states, &counted) {
        memory.fresh.remove(&kept[at].guid);
    }
    let mut news = update_link_downs(&look.fabric, kept, &counted.falls, &lost);
    let manager = states.manager.clone();
    let stated = std::mem::take(&mut states.stated);
    let (drifts, retabled) = store_readings(kept, look, states, &counted);
    let mut fabric = None;
    if let Some(found) = found {
        let (now, mut found) = found.into_fabric();
        news.extend(diff_fabrics(&look.fabric, &now));
        news.extend(silence_news((&look.fabric, nodes), (&now, &found)));
        memory.fresh.extend(news.iter().filter_map(newcomer));
        // A node that is new or returned may have other firmware, or was silent to everything.
        memory.without_port_states.retain(|guid| !memory.fresh.contains(guid));
        memory.adaptive.forget_silence(|guid| memory.fresh.contains(guid));
        std::mem::swap(nodes, &mut found);
        if now != look.fabric {
            fabric = Some(Arc::new(now.clone()));
            move_to_fabric(look, now, &mut memory.agents);
        }
    }
    memory.without_port_states.extend(contradicted(&look.fabric, &stated));
    news.extend(update_manager(look, memory, manager));
    news.extend(drifts);
    let retabled = retabled | update_adaptive(reader, look, nodes, &memory.adaptive);
    let took = reader.now().saturating_sub(began);
    let sent = reader.phases[phases..].iter().map(|phase| phase.sent).sum();
    read_health(reader, look, nodes, memory);
    let CounterSweep { samples, at, ports, .. } = counted;
    let at = at.into_iter().map(whole_micros).collect();
    let (began, took) = (whole_micros(began), whole_micros(took));
    Ok(Sweep { samples, at, began, took, ports, sent, fabric, retabled, news, flows })
}

/// Reads what may have changed; `None` where nothing did.
fn rediscover_moved(
    reader: &mut PortReader<'_>,
    (fabric, nodes): (&Fabric, &[DiscoveredNode]),
    (suspects, silent): (&BTreeSet<(usize, u8)>, &BTreeSet<usize>),
    states: &SweepStates,
) -> Result<Option<DiscoveryState>, SourceError> {
    let moved = !suspects.is_empty()
        || !states.heard.is_empty()
        || silent.iter().any(|node| !nodes[*node].memory.silent);
    moved.then(|| rediscover(reader, (fabric, nodes), suspects, silent)).transpose()
}

/// How the agent of each node is asked for counters, after the states were read.
fn agent_trust(
    nodes: &[DiscoveredNode],
    states: &SweepStates,
    patient: bool,
) -> impl Fn(usize) -> AgentTrust {
    move |at| match nodes[at].memory {
        NodeMemory { silent: true, .. } if !states.heard.contains(&at) => AgentTrust::LeftOut,
        _ if states.silent.contains(&at) => AgentTrust::Doubted { patient: false },
        NodeMemory { hung: true, .. } => AgentTrust::Doubted { patient },
        _ => AgentTrust::Answers,
    }
}

/// A node that is new or answers again.
fn newcomer(news: &FabricEvent) -> Option<Guid> {
    match news {
        FabricEvent::NodeAppeared { node } | FabricEvent::NodeAnswers { node } => Some(*node),
        _ => None,
    }
}

/// The switches whose table of states says something else than the ports themselves. They are not asked for it again:
/// each difference costs a reading of the port.
fn contradicted(fabric: &Fabric, stated: &[(Guid, u8, Option<PortState>)]) -> BTreeSet<Guid> {
    let differs = |(guid, number, said): &(Guid, u8, Option<PortState>)| {
        let node = fabric.node_of(NodeKind::Switch, *guid);
        let port = node.and_then(|id| fabric.port_of(id, PortNum(*number)));
        port.is_some_and(|port| fabric.port(port).facts.state != *said).then_some(*guid)
    };
    stated.iter().filter_map(differs).collect()
}

/// Asks the agents of hosts that wait.
fn read_flows(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    counted: &CounterSweep,
    memory: &mut SweepMemory,
) -> Result<FlowLists, SourceError> {
    let manager = memory.manager.lid.zip(reader.own_lid());
    read_agent_flows(reader, fabric, &counted.samples, &mut memory.hosts, manager)
}

/// Reads the health of links that is due. The sweep is complete without it, so it comes last, its datagrams are not
/// among those of the sweep, and a reading that is cancelled here keeps what came.
fn read_health(
    reader: &mut PortReader<'_>,
    look: &mut Observation,
    nodes: &[DiscoveredNode],
    memory: &mut SweepMemory,
) {
    let scope = WireScope { fabric: &look.fabric, nodes, agents: &memory.agents };
    // A port that is gone fails the next sweep.
    let _ = read_wire_turn(reader, scope, &mut memory.wire, &mut look.wire);
}

/// Stores the subnet manager, and reports a change of it.
fn update_manager(
    look: &mut Observation,
    memory: &mut SweepMemory,
    now: KnownManager,
) -> Option<FabricEvent> {
    let before = std::mem::replace(&mut memory.manager, now);
    (before != memory.manager).then(|| {
        look.subnet_manager.clone_from(&memory.manager.manager);
        FabricEvent::ManagerChanged { before, now: memory.manager.clone() }
    })
}

/// The switches to ask for adaptive routing. Without tables, no verdict depends on it.
fn switches_to_judge(look: &Observation, nodes: &[DiscoveredNode], said: &AdaptiveAnswers) -> Vec<usize> {
    match look.tables.has_forwarding() {
        true => switches_to_ask(&look.fabric, nodes, said),
        false => Vec::new(),
    }
}

/// The switches whose turn it is to be asked for adaptive routing.
fn due_adaptive_switches(due: &[ReadItem]) -> Vec<usize> {
    let switches = due.iter().filter_map(|item| match item {
        ReadItem::Adaptive(at) => Some(*at),
        _ => None,
    });
    switches.collect()
}

/// Stores the state of adaptive routing, and returns whether it has changed.
fn update_adaptive(
    reader: &mut PortReader<'_>,
    look: &mut Observation,
    nodes: &[DiscoveredNode],
    answers: &AdaptiveAnswers,
) -> bool {
    // Without tables no switch was asked.
    let has_tables = look.tables.has_forwarding();
    let changed = has_tables && store_adaptive(nodes, &mut look.tables, answers);
    let now = if has_tables { summarize_adaptive(nodes, answers) } else { look.adaptive };
    if now == look.adaptive {
        return changed;
    }
    look.adaptive = now;
    note_adaptive(&mut reader.log, nodes, answers);
    true
}

/// Ports that had a cable and now have another one, or none.
fn lost_cables(fabric: &Fabric, found: Option<&DiscoveryState>) -> BTreeSet<(usize, u8)> {
    let Some(found) = found else { return BTreeSet::new() };
    let cabled = fabric.ports().filter(|(_, port)| port.peer.is_some());
    let ends = cabled.map(|(_, port)| (port.node.index(), port.number.value()));
    ends.filter(|end| found.peer(*end) != far_end(fabric, *end)).collect()
}

/// The items that are due, without the tables of nodes that have just fallen silent: a query would only run into its
/// timeout. Silent nodes are switches that did not answer, and adapters whose counters stopped. A switch without
/// counters may still answer for its tables.
fn without_silent(nodes: &[DiscoveredNode], states: &SweepStates, counted: &CounterSweep) -> Vec<ReadItem> {
    let mute = |at: usize| {
        nodes[at].kind != NodeKind::Switch && !nodes[at].memory.mute && counted.mute.contains(&at)
    };
    let heard = |at: usize| !states.silent.contains(&at) && !mute(at);
    states.due.iter().filter(|item| item.table_node().is_none_or(heard)).copied().collect()
}

/// The nodes that are no longer fresh. A node that did not answer at all is read before its turn again; a refusal is an
/// answer.
fn settled_fresh_nodes(states: &SweepStates, counted: &CounterSweep) -> Vec<usize> {
    let told = states.read.node_set();
    let heard = |at: &usize| !states.silent.contains(at) && (told.contains(at) || !counted.mute.contains(at));
    states.read.fresh.iter().copied().filter(heard).collect()
}

/// Nodes whose tables are read before their turn. A switch that no subnet manager has set up can wait.
fn fresh_nodes(nodes: &[DiscoveredNode], fresh: &BTreeSet<Guid>) -> BTreeSet<usize> {
    let ready = |node: &DiscoveredNode| {
        let set_up =
            node.kind != NodeKind::Switch || node.switch_info.is_some_and(|info| last_used_lid(&info) > 0);
        fresh.contains(&node.guid) && !node.memory.silent && set_up
    };
    nodes.iter().enumerate().filter(|(_, node)| !fresh.is_empty() && ready(node)).map(|(at, _)| at).collect()
}

/// The silent nodes: switches that did not answer, adapters whose counters did not answer, and nodes that were silent
/// or cut off before and still are.
fn silent_nodes(nodes: &[DiscoveredNode], states: &SweepStates, counted: &CounterSweep) -> BTreeSet<usize> {
    let lost = |node: &DiscoveredNode| node.memory.silent || node.memory.cut_off;
    let before = nodes.iter().enumerate().filter(|(_, node)| lost(node)).map(|(at, _)| at);
    let still = before.filter(|at| !states.heard.contains(at));
    let adapters = |at: &&usize| nodes[**at].kind != NodeKind::Switch && !nodes[**at].memory.mute;
    let mute = counted.mute.iter().filter(adapters).copied();
    states.silent.iter().copied().chain(still).chain(mute).collect()
}

/// Ports that may have changed. These are ports that report a change, and all ports of a switch with a new
/// PortStateChange. Ports whose link went down since the last sweep count too, and ports on the route to a node that
/// fell silent.
fn suspect_ports(
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    states: &SweepStates,
    counted: &CounterSweep,
    silent: &BTreeSet<usize>,
) -> BTreeSet<(usize, u8)> {
    let mut suspects = states.suspects.clone();
    for (at, info) in &states.switches {
        if info.has_port_state_change() && !nodes[*at].memory.state_change {
            suspects.extend((1..=nodes[*at].port_count).map(|port| (*at, port)));
        }
    }
    for (at, port, falls) in &counted.falls {
        let before = nodes[*at].memory.falls.get(port);
        if before.is_some_and(|before| falls.since(*before) != LinkDownCounts::default()) {
            suspects.insert((*at, *port));
            suspects.extend(far_end(fabric, (*at, *port)));
        }
    }
    // Much may have changed at a switch while it was silent.
    for at in states.heard.iter().filter(|at| nodes[**at].kind == NodeKind::Switch) {
        suspects.extend((0..=nodes[*at].port_count).map(|port| (*at, port)));
    }
    // If a performance agent fell silent because its switch got another LID, port 0 shows it.
    let newly_mute = counted.mute.iter().filter(|at| !nodes[**at].memory.mute);
    suspects.extend(newly_mute.filter(|at| nodes[**at].kind == NodeKind::Switch).map(|at| (*at, 0)));
    for at in silent.iter().filter(|at| !nodes[**at].memory.silent) {
        suspects.extend(route_hops(fabric, nodes, &nodes[*at].route));
    }
    suspects
}

/// Stores what was read. Returns the differences of tables, and whether the tables of the snapshot changed.
fn store_readings(
    nodes: &mut [DiscoveredNode],
    look: &mut Observation,
    states: SweepStates,
    counted: &CounterSweep,
) -> (Vec<FabricEvent>, bool) {
    for (at, info) in states.switches {
        nodes[at].memory.state_change = info.has_port_state_change();
        nodes[at].switch_info = Some(info);
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        node.memory.mute = counted.mute.contains(&at);
        node.memory.hung = counted.hung.contains(&at);
    }
    update_tables(nodes, &mut look.tables, states.read, states.manager.lid)
}

/// Reports nodes that fell silent or answer again. If a cable was lost or gained as well, that event is enough.
fn silence_news<'n>(
    (before, old): (&'n Fabric, &'n [DiscoveredNode]),
    (now, new): (&'n Fabric, &'n [DiscoveredNode]),
) -> impl Iterator<Item = FabricEvent> + 'n {
    let cabled = |fabric: &Fabric, node: NodeId| fabric.ports_of(node).any(|(_, port)| port.peer.is_some());
    let tell = move |((id, _), node): ((NodeId, _), &DiscoveredNode)| {
        let known = same_node(before, now, id)?;
        let guid = node.guid;
        match (old[known.index()].memory.silent, node.memory.silent) {
            (false, true) if cabled(now, id) => Some(FabricEvent::NodeSilent { node: guid }),
            (true, false) if cabled(before, known) => Some(FabricEvent::NodeAnswers { node: guid }),
            _ => None,
        }
    };
    now.nodes().zip(new).filter_map(tell)
}

/// Gives the snapshot another fabric. The tables move with their nodes. Agents whose LID now belongs to another node
/// are asked for their capabilities again.
fn move_to_fabric(look: &mut Observation, fabric: Fabric, agents: &mut CounterAgents) {
    let before = std::mem::replace(&mut look.fabric, fabric);
    let now = &look.fabric;
    let of = |fabric: &Fabric, lid: Lid| {
        fabric.port_by_lid(lid).map(|port| fabric.node(fabric.port(port).node).guid())
    };
    agents.retain(|lid, _| of(&before, *lid) == of(now, *lid));
    if before.nodes().len() != now.nodes().len() {
        let tables = std::mem::take(&mut look.tables.nodes).into_iter();
        look.tables.nodes =
            tables.filter_map(|(id, held)| Some((same_node(now, &before, id)?, held))).collect();
    }
}

/// Rounds to microseconds, as captures store times, so that results do not depend on whether a sweep was recorded.
fn whole_micros(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
