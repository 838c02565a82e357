//! The numbers of a fabric.

use super::json_type::JsonType;
use super::snapshot::Snapshot;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Link, NodeKind, PortState};

/// The numbers of elements in a fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FabricSummary {
    pub switches: usize,
    /// Channel adapters, aggregation nodes of switches included.
    pub hosts: usize,
    /// Number of these adapters that are aggregation nodes.
    pub aggregation: usize,
    pub routers: usize,
    /// Cables, those of hosts included.
    pub links: usize,
    /// Cables with a switch at both ends.
    pub switch_links: usize,
    /// Links below what both of their ends support; `None` when no link reports it.
    pub degraded_links: Option<usize>,
    /// Links with an end that reports it is down; `None` when no link reports its state.
    pub down_links: Option<usize>,
    /// Ports with a peer.
    pub ports: usize,
    /// Number of nodes that no longer answer, or are known only by their peer.
    pub unanswered: usize,
    /// Switches whose forwarding table is known; `None` where the tables of a live fabric were not read.
    pub tables: Option<usize>,
    /// Requests to a live fabric without an answer.
    pub silent: usize,
}

/// A number of a fabric in JSON.
#[derive(Clone, Debug)]
pub struct SummaryNumber {
    pub key: &'static str,
    pub number: Option<usize>,
    pub schema: serde_json::Value,
}

impl FabricSummary {
    pub fn from_snapshot(look: &Snapshot) -> Self {
        let fabric = look.fabric();
        let down = |link: &Link| {
            let states = [link.a, link.b].map(|port| fabric.port(port).facts.state);
            states.iter().any(Option::is_some).then(|| states.contains(&Some(PortState::Down)))
        };
        Self {
            switches: fabric.switch_count(),
            hosts: fabric.count(NodeKind::ChannelAdapter),
            aggregation: fabric.nodes().filter(|(_, node)| node.facts.is_aggregation()).count(),
            routers: fabric.count(NodeKind::Router),
            links: fabric.links().len(),
            switch_links: fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).count(),
            degraded_links: count_yes(fabric.links().map(|(id, _)| look.is_degraded(id))),
            down_links: count_yes(fabric.links().map(|(_, link)| down(link))),
            ports: fabric.ports().filter(|(_, port)| port.peer.is_some()).count(),
            unanswered: fabric.nodes().filter(|(_, node)| !node.facts.answered).count(),
            tables: known_tables(look),
            silent: look.observation.reading.as_ref().map_or(0, |reading| reading.silent.len()),
        }
    }

    /// Every number with its JSON key; `None` where it is unknown.
    pub fn numbers(&self) -> [SummaryNumber; 11] {
        fn number<T: JsonType + Into<Option<usize>>>(key: &'static str, number: T) -> SummaryNumber {
            SummaryNumber { key, number: number.into(), schema: T::schema() }
        }
        [
            number("switches", self.switches),
            number("hosts", self.hosts),
            number("routers", self.routers),
            number("links", self.links),
            number("ports", self.ports),
            number("switch_links", self.switch_links),
            number("degraded_links", self.degraded_links),
            number("down_links", self.down_links),
            number("unanswered", self.unanswered),
            number("tables", self.tables),
            number("silent", self.silent),
        ]
    }

    /// The main numbers in one phrase.
    pub fn sentence(&self) -> String {
        let counted = [
            count_words(self.switches, "switch", "switches"),
            count_words(self.hosts, "host", "hosts"),
            count_words(self.links, "link", "links"),
        ];
        counted.join(", ")
    }
}

/// Number of known forwarding tables; `None` where the tables of a live fabric were not read, as they are
/// read on demand.
fn known_tables(look: &Snapshot) -> Option<usize> {
    let reading = look.observation.reading.as_ref();
    let asked = reading.is_none_or(|reading| reading.phase("tables").is_some());
    let known = || look.observation.tables.nodes.values().filter(|tables| tables.lft.is_some()).count();
    asked.then(known)
}

/// Number of `true` answers; `None` when there are links and none of them reports.
fn count_yes(answers: impl ExactSizeIterator<Item = Option<bool>>) -> Option<usize> {
    let mut some = answers.len() == 0;
    let mut yes = 0;
    for answer in answers.flatten() {
        some = true;
        yes += usize::from(answer);
    }
    some.then_some(yes)
}

/// Number of devices: `9 switches`, `9 switches and 1 adapter`.
pub fn device_words((switches, adapters): (usize, usize)) -> String {
    let switches = (switches > 0 || adapters == 0).then(|| count_words(switches, "switch", "switches"));
    let adapters = (adapters > 0).then(|| count_words(adapters, "adapter", "adapters"));
    switches.into_iter().chain(adapters).collect::<Vec<_>>().join(" and ")
}

/// Message for a plan that changes nothing: it has no writes, or the fabric has them already.
pub fn nothing_to_do(plan: &str, writes: usize) -> String {
    match writes {
        0 => format!("nothing to do: {plan} writes nothing"),
        _ => format!("nothing to do: the fabric already has everything that {plan} writes"),
    }
}

/// A count with its noun: `1 switch`, `2 switches`.
pub fn count_words(count: usize, one: &str, several: &str) -> String {
    format!("{} {}", digits_in_groups(count), if count == 1 { one } else { several })
}
