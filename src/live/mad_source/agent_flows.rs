//! Asks the agents of hosts that wait where they have flows open. Only hosts that subscribed to the notices of dFtree are
//! asked, because only these run an agent; the subnet manager says which they are.

use std::collections::BTreeMap;
use std::time::Duration;

use super::question::{Question, Reply};
use super::reader::PortReader;
use super::subscribers::read_subscribers;
use fabdeck_fabric::observe::{Counter, CounterSample, FlowLists, PortIdentity};
use fabdeck_fabric::{Fabric, Lid, NodeKind};
use fabdeck_mad::access::{AddressedMad, MadAddress, SourceError};
use fabdeck_mad::{HostFlows, Mad};

/// Hosts whose agents are asked in one sweep.
const MAX_HOSTS: usize = 128;
/// Hosts of which the subnet manager is asked in one sweep whether they run an agent: two requests each.
const MAX_NEW_HOSTS: usize = 32;
/// What is known of a host holds for this long.
const HOLDS: Duration = Duration::from_secs(300);
/// Most flows of one host. A host with more is taken to list none.
const MAX_FLOWS: u32 = 4096;
/// Pages of flows that are asked for in one sweep, over all hosts.
const MAX_PAGES: u32 = 512;

/// What sweeps remember of hosts and their agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFlowMemory {
    /// How much the ports of adapters had waited.
    waited: BTreeMap<PortIdentity, u64>,
    /// Whether a host has an agent that lists its flows, and when that was found.
    listing: BTreeMap<Lid, (bool, Duration)>,
    /// The lists of the last sweep.
    last: FlowLists,
    /// The host that comes first in the next sweep: the last sweep had no room for it.
    next: Option<PortIdentity>,
}

/// A page of the flows of a host.
#[derive(Clone, Copy, Debug)]
struct FlowQuestion {
    host: (PortIdentity, Lid),
    first: u32,
    /// The number of this page, from 1.
    page: u32,
    /// The pages that the first answer announced.
    pages: u32,
}

/// What follows from a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PageOutcome {
    /// The list is complete.
    Complete,
    /// The next page is asked for.
    Next { first: u32, pages: u32 },
    /// The host lists none: it announces more flows than a host has, or its pages do not hold what it announced.
    NoList,
    /// The sweep has no room for the list. The host comes first in the next one.
    Postponed,
}

impl FlowQuestion {
    /// A list has one page for each 57 flows, so a host with pages of one flow each cannot make the sweep longer. The
    /// pages of a list are taken out of `left` at its first page.
    fn outcome(self, entries: u32, all: u32, left: &mut u32) -> PageOutcome {
        let first = self.first + entries;
        if first >= all {
            return PageOutcome::Complete;
        }
        let pages = if self.page == 1 { all.div_ceil(HostFlows::MAX_PER_PACKET as u32) } else { self.pages };
        if all > MAX_FLOWS || entries == 0 || self.page >= pages {
            return PageOutcome::NoList;
        }
        if self.page == 1 {
            let Some(rest) = left.checked_sub(pages - 1) else { return PageOutcome::Postponed };
            *left = rest;
        }
        PageOutcome::Next { first, pages }
    }
}

/// The lists of one sweep.
#[derive(Debug, Default)]
struct AgentAnswers {
    lists: FlowLists,
    /// Hosts whose agents list none.
    without: Vec<Lid>,
    /// The first host whose list did not fit into the sweep.
    postponed: Option<PortIdentity>,
}

/// The flows of the hosts that waited since the last sweep, as far as agents list them.
pub fn read_agent_flows(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    samples: &[CounterSample],
    memory: &mut AgentFlowMemory,
    manager: Option<(Lid, Lid)>,
) -> Result<FlowLists, SourceError> {
    let waiting = begin_at(waiting_hosts(fabric, samples, memory), memory.next);
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
    let mut asked: Vec<_> = waiting.into_iter().filter(|(_, lid)| lists(lid)).collect();
    let beyond = asked.split_off(asked.len().min(MAX_HOSTS));
    let AgentAnswers { lists, without, postponed } = ask_agents(reader, asked)?;
    memory.next = postponed.or(beyond.first().map(|(port, _)| *port));
    memory.listing.extend(without.into_iter().map(|lid| (lid, (false, now))));
    let over_the_interval = memory.last.joined(&lists);
    memory.last = lists;
    Ok(over_the_interval)
}

/// The hosts in the order of their ports, from this one on.
fn begin_at(mut hosts: Vec<(PortIdentity, Lid)>, first: Option<PortIdentity>) -> Vec<(PortIdentity, Lid)> {
    hosts.sort_unstable();
    let start = first.map_or(0, |first| hosts.partition_point(|(port, _)| *port < first));
    hosts.rotate_left(start);
    hosts
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

/// The lists of hosts, as far as the sweep has room for them.
fn ask_agents(
    reader: &mut PortReader<'_>,
    hosts: Vec<(PortIdentity, Lid)>,
) -> Result<AgentAnswers, SourceError> {
    let mut answers = AgentAnswers::default();
    if hosts.is_empty() {
        return Ok(answers);
    }
    let mut phase = reader.open_phase::<FlowQuestion>("flows of hosts");
    let mut left = MAX_PAGES.saturating_sub(hosts.len() as u32);
    for host in hosts {
        phase.exchange.ask(question(FlowQuestion { host, first: 0, page: 1, pages: 1 }));
    }
    let mut flows: BTreeMap<PortIdentity, Vec<Lid>> = BTreeMap::new();
    while let Some((asked, reply)) = phase.next()? {
        let (port, lid) = asked.host;
        let Reply::Answer(mad) = reply else {
            answers.without.push(lid);
            continue;
        };
        let page = *mad.host_flows();
        let entries = page.entries();
        let known = flows.entry(port).or_default();
        known.extend(entries.iter().filter_map(|flow| Lid::new(flow.lid.get().into())));
        match asked.outcome(entries.len() as u32, page.all.get().into(), &mut left) {
            PageOutcome::Complete => {
                known.sort_unstable();
                known.dedup();
                answers.lists.0.insert(port, std::mem::take(known));
            }
            PageOutcome::NoList => answers.without.push(lid),
            PageOutcome::Postponed => answers.postponed = answers.postponed.or(Some(port)),
            PageOutcome::Next { first, pages } => {
                phase.exchange.ask(question(FlowQuestion { first, pages, page: asked.page + 1, ..asked }));
            }
        }
    }
    phase.end();
    Ok(answers)
}

/// A host without an answer is left alone for a while, so one try is enough.
fn question(asked: FlowQuestion) -> Question<FlowQuestion> {
    let mad = Mad::query_flows(asked.first);
    let address = MadAddress::for_class(asked.host.1, mad.class());
    Question { parcel: AddressedMad { mad, address }, target: 0, retries: 1, tag: asked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Guid, PortNum};

    fn host(number: u64) -> (PortIdentity, Lid) {
        ((Guid(number), PortNum(1)), Lid::new(number as u32).unwrap())
    }

    /// The pages that a host is asked for that announces `all` flows and sends `here` in each page.
    fn pages_of(all: u32, here: u32, left: &mut u32) -> (u32, PageOutcome) {
        let mut asked = FlowQuestion { host: host(1), first: 0, page: 1, pages: 1 };
        loop {
            match asked.outcome(here.min(all - asked.first), all, left) {
                PageOutcome::Next { first, pages } => {
                    asked = FlowQuestion { first, pages, page: asked.page + 1, ..asked };
                }
                end => return (asked.page, end),
            }
        }
    }

    #[test]
    fn a_list_has_no_more_pages_than_its_flows_need() {
        for (all, here, pages, end) in [
            (0, 57, 1, PageOutcome::Complete),
            (57, 57, 1, PageOutcome::Complete),
            (58, 57, 2, PageOutcome::Complete),
            (4096, 57, 72, PageOutcome::Complete),
            (4096, 1, 72, PageOutcome::NoList),
            (4096, 0, 1, PageOutcome::NoList),
            (4097, 57, 1, PageOutcome::NoList),
        ] {
            assert_eq!(pages_of(all, here, &mut 511), (pages, end), "{all} {here}");
        }
    }

    #[test]
    fn a_sweep_has_room_for_a_number_of_pages_and_other_hosts_wait_for_the_next() {
        let mut left = 100;
        assert_eq!(pages_of(4096, 57, &mut left), (72, PageOutcome::Complete));
        assert_eq!(left, 29);
        assert_eq!(pages_of(4096, 57, &mut left), (1, PageOutcome::Postponed));
        assert_eq!(pages_of(570, 57, &mut left), (10, PageOutcome::Complete));
        let hosts = || vec![host(3), host(1), host(2)];
        assert_eq!(begin_at(hosts(), None), [host(1), host(2), host(3)]);
        assert_eq!(begin_at(hosts(), Some(host(2).0)), [host(2), host(3), host(1)]);
        assert_eq!(begin_at(hosts(), Some(host(9).0)), [host(1), host(2), host(3)]);
    }
}
