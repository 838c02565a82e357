//! Asks the agents of hosts that wait where they have flows open. Only hosts that subscribed to the notices of dFtree are
//! asked, because only these run an agent; the subnet manager says which they are.

use std::collections::BTreeMap;
use std::time::Duration;

use super::question::{Question, Reply};
use super::reader::PortReader;
use super::subscribers::read_subscribers;
use fabdeck_fabric::observe::{Counter, CounterSample, FlowLists, PortIdentity};
use fabdeck_fabric::{Fabric, Lid, NodeKind};
use fabdeck_mad::Mad;
use fabdeck_mad::access::{AddressedMad, MadAddress, SourceError};

/// Hosts whose agents are asked in one sweep.
const MAX_HOSTS: usize = 128;
/// Hosts of which the subnet manager is asked in one sweep whether they run an agent: two requests each.
const MAX_NEW_HOSTS: usize = 32;
/// What is known of a host holds for this long.
const HOLDS: Duration = Duration::from_secs(300);
/// Most flows of one host. A host with more is taken to list none.
const MAX_FLOWS: usize = 4096;

/// What sweeps remember of hosts and their agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFlowMemory {
    /// How much the ports of adapters had waited.
    waited: BTreeMap<PortIdentity, u64>,
    /// Whether a host has an agent that lists its flows, and when that was found.
    listing: BTreeMap<Lid, (bool, Duration)>,
    /// The lists of the last sweep.
    last: FlowLists,
}

/// A page of the flows of a host.
#[derive(Clone, Copy, Debug)]
struct FlowQuestion {
    host: (PortIdentity, Lid),
    first: u32,
}

/// The flows of the hosts that waited since the last sweep, as far as agents list them.
pub fn read_agent_flows(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    samples: &[CounterSample],
    memory: &mut AgentFlowMemory,
    manager: Option<(Lid, Lid)>,
) -> Result<FlowLists, SourceError> {
    let waiting = waiting_hosts(fabric, samples, memory);
    let now = reader.now();
    memory.listing.retain(|_, (_, found)| now.saturating_sub(*found) < HOLDS);
    let unknown = waiting.iter().map(|(_, lid)| *lid).filter(|lid| !memory.listing.contains_key(lid));
    let unknown: Vec<Lid> = unknown.take(MAX_NEW_HOSTS).collect();
    if let Some(manager) = manager.filter(|_| !unknown.is_empty()) {
        let subscribed = read_subscribers(reader, manager, &unknown)?;
        let known = unknown.into_iter().zip(subscribed);
        memory.listing.extend(known.map(|(lid, subscribed)| (lid, (subscribed == Some(true), now))));
    }
    let lists = |lid: &Lid| memory.listing.get(lid).is_some_and(|(lists, _)| *lists);
    let asked = waiting.into_iter().filter(|(_, lid)| lists(lid)).take(MAX_HOSTS).collect();
    let (lists, without) = ask_agents(reader, asked)?;
    memory.listing.extend(without.into_iter().map(|lid| (lid, (false, now))));
    let over_the_interval = memory.last.joined(&lists);
    memory.last = lists;
    Ok(over_the_interval)
}

/// The ports of adapters that waited since the last sweep, each with its LID.
fn waiting_hosts(
    fabric: &Fabric,
    samples: &[CounterSample],
    memory: &mut AgentFlowMemory,
) -> Vec<(PortIdentity, Lid)> {
    let before = std::mem::take(&mut memory.waited);
    let mut waiting = Vec::new();
    for sample in samples {
        let Some((guid, number)) = sample.node.zip(sample.port) else { continue };
        let waited = sample.values.figure(&Counter::PortXmitWait, &Counter::PortXmitWaitExt);
        let Some(waited) = waited.map(|figure| figure.value).filter(|value| *value > 0) else { continue };
        let node = fabric.node_by_guid(guid);
        let Some(node) = node.filter(|node| fabric.node(*node).facts.kind == NodeKind::ChannelAdapter) else {
            continue;
        };
        memory.waited.insert((guid, number), waited);
        let grew = before.get(&(guid, number)).is_some_and(|before| waited > *before);
        let lid = fabric.port_of(node, number).and_then(|port| fabric.port(port).facts.lid);
        waiting.extend(lid.filter(|_| grew).map(|lid| ((guid, number), lid)));
    }
    waiting
}

/// The lists of hosts, and the hosts whose agents list none.
fn ask_agents(
    reader: &mut PortReader<'_>,
    hosts: Vec<(PortIdentity, Lid)>,
) -> Result<(FlowLists, Vec<Lid>), SourceError> {
    let (mut lists, mut without) = (FlowLists::default(), Vec::new());
    if hosts.is_empty() {
        return Ok((lists, without));
    }
    let mut phase = reader.open_phase::<FlowQuestion>("flows of hosts");
    for host in hosts {
        phase.exchange.ask(question(FlowQuestion { host, first: 0 }));
    }
    let mut flows: BTreeMap<PortIdentity, Vec<Lid>> = BTreeMap::new();
    while let Some((asked, reply)) = phase.next()? {
        let (port, lid) = asked.host;
        let Reply::Answer(mad) = reply else {
            without.push(lid);
            continue;
        };
        let page = *mad.host_flows();
        let entries = page.entries();
        let known = flows.entry(port).or_default();
        known.extend(entries.iter().filter_map(|flow| Lid::new(flow.lid.get().into())));
        let (next, all) = (asked.first + entries.len() as u32, u32::from(page.all.get()));
        match next < all {
            false => {
                known.sort_unstable();
                known.dedup();
                lists.0.insert(port, std::mem::take(known));
            }
            true if entries.is_empty() || all as usize > MAX_FLOWS => without.push(lid),
            true => phase.exchange.ask(question(FlowQuestion { first: next, ..asked })),
        }
    }
    phase.end();
    Ok((lists, without))
}

/// A host without an answer is left alone for a while, so one try is enough.
fn question(asked: FlowQuestion) -> Question<FlowQuestion> {
    let mad = Mad::query_flows(asked.first);
    let address = MadAddress::for_class(asked.host.1, mad.class());
    Question { parcel: AddressedMad { mad, address }, target: 0, retries: 1, tag: asked }
}
