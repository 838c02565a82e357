//! The changes in a fabric between sweeps, as text.

use super::interval_verdict::shorten_list;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::observe::{
    ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, FabricEvent, KnownManager, LinkRate,
    PortIdentity,
};
use fabdeck_fabric::{Arbitration, Element, ElementId, Guid, Lid, PortId, PortNum, VlWeight};

/// The kind of a change, as a word for JSON and logs.
pub fn fabric_event_word(news: &FabricEvent) -> &'static str {
    match news {
        FabricEvent::LinkDown { .. } => "link-down",
        FabricEvent::LinkUp { .. } => "link-up",
        FabricEvent::Recabled { .. } => "recabled",
        FabricEvent::RateChanged { .. } => "rate-changed",
        FabricEvent::LinkFlapped { .. } => "link-flapped",
        FabricEvent::Trap { .. } => "trap",
        FabricEvent::ManagerChanged { .. } => "manager-changed",
        FabricEvent::NodeAppeared { .. } => "node-appeared",
        FabricEvent::NodeSilent { .. } => "node-silent",
        FabricEvent::NodeAnswers { .. } => "node-answers",
        FabricEvent::TableDrift { .. } => "table-drift",
        FabricEvent::GroupDrift { .. } => "group-drift",
        FabricEvent::LanesDrift { .. } => "lanes-drift",
        FabricEvent::ArbitrationDrift { .. } => "arbitration-drift",
        FabricEvent::JobsChanged { .. } => "jobs-changed",
        FabricEvent::JobsSilent { .. } => "jobs-silent",
    }
}

/// The words of all kinds, in the order of reports.
pub const FABRIC_EVENT_WORDS: &[&str] = &[
    "trap",
    "link-down",
    "recabled",
    "rate-changed",
    "link-flapped",
    "node-silent",
    "manager-changed",
    "table-drift",
    "group-drift",
    "lanes-drift",
    "arbitration-drift",
    "jobs-silent",
    "jobs-changed",
    "link-up",
    "node-appeared",
    "node-answers",
];

/// The changes as label and text pairs; of each kind the first `most`.
pub fn fabric_event_lines(look: &Snapshot, news: &[FabricEvent], most: usize) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for word in FABRIC_EVENT_WORDS {
        let all: Vec<&FabricEvent> = news.iter().filter(|news| fabric_event_word(news) == *word).collect();
        shorten_list(&mut lines, fabric_event_label(word), &all, most, |news| fabric_event_text(look, news));
    }
    lines
}

/// The label of a kind on screens.
pub fn fabric_event_label(word: &str) -> &'static str {
    match word {
        "trap" => "trap",
        "link-down" => "link down",
        "recabled" => "recabled",
        "rate-changed" => "rate",
        "link-flapped" => "flapped",
        "manager-changed" => "manager",
        "node-silent" => "silent",
        "table-drift" => "tables",
        "group-drift" => "groups",
        "lanes-drift" => "lanes",
        "arbitration-drift" => "arbitration",
        "jobs-changed" | "jobs-silent" => "jobs",
        "link-up" => "link up",
        "node-appeared" => "new",
        _ => "answers",
    }
}

/// The text of one change, without its label.
pub fn fabric_event_text(look: &Snapshot, news: &FabricEvent) -> String {
    let end = |of: &PortIdentity| labelled_end(look, *of);
    let link = |a: &PortIdentity, b: &PortIdentity| format!("{} to {}", end(a), end(b));
    match news {
        FabricEvent::LinkDown { a, b } | FabricEvent::LinkUp { a, b } => link(a, b),
        FabricEvent::Recabled { at, before, now } => {
            format!("{} leads to {} now, and led to {} before", end(at), end(now), end(before))
        }
        FabricEvent::RateChanged { a, b, before, now } => {
            format!("{}: {} now, {} before", link(a, b), rate_words(now), rate_words(before))
        }
        FabricEvent::LinkFlapped { a, b, downed, recovered } => {
            format!("{} {} since the last sweep", link(a, b), flap_text(*downed, *recovered))
        }
        FabricEvent::ManagerChanged { before, now } => {
            format!("{} now, {} before", manager_state_words(look, now), manager_state_words(look, before))
        }
        trap @ FabricEvent::Trap { .. } => trap_words(look, trap),
        FabricEvent::NodeAppeared { node } => node_name(look, *node),
        FabricEvent::NodeSilent { node } => format!("{} no longer answers", node_name(look, *node)),
        FabricEvent::NodeAnswers { node } => format!("{} answers again", node_name(look, *node)),
        FabricEvent::TableDrift { switch, blocks, entries, first, manager } => {
            let blocks: Vec<String> = blocks.iter().map(u16::to_string).collect();
            format!(
                "{} forwards {} differently than when its table was last read, in {} {}: {}",
                node_name(look, *switch),
                count_words(*entries, "LID", "LIDs"),
                if blocks.len() == 1 { "block" } else { "blocks" },
                blocks.join(", "),
                named_words(look, *entries, first, *manager, entry_words),
            )
        }
        FabricEvent::GroupDrift { switch, entries, first, manager } => format!(
            "{} forwards {} differently than when its table was last read: {}",
            node_name(look, *switch),
            count_words(*entries, "group", "groups"),
            named_words(look, *entries, first, *manager, group_words),
        ),
        FabricEvent::LanesDrift { node, entries, first, manager } => format!(
            "{} maps service levels to other lanes than when its tables were last read, over {}: {}",
            node_name(look, *node),
            count_words(*entries, "pair of ports", "pairs of ports"),
            named_words(look, *entries, first, *manager, lanes_words),
        ),
        FabricEvent::ArbitrationDrift { node, entries, first, manager } => format!(
            "{} weighs lanes differently than when its tables were last read, at {}: {}",
            node_name(look, *node),
            count_words(*entries, "port", "ports"),
            named_words(look, *entries, first, *manager, arbitration_words),
        ),
        FabricEvent::JobsChanged { began: 0, ended: 0, running } => {
            format!("{running} run, on other hosts or listed again")
        }
        FabricEvent::JobsChanged { began, ended, running } => {
            format!("{began} began and {ended} ended, {running} run")
        }
        FabricEvent::JobsSilent { why } => format!("the list of running jobs is no longer available: {why}"),
    }
}

/// Text of what a link did between two sweeps that found it up.
fn flap_text(downed: u64, recovered: u64) -> String {
    let times = |count: u64| count_words(usize::try_from(count).unwrap_or(usize::MAX), "time", "times");
    match (downed, recovered) {
        (0, recovered) => format!("recovered {} without going down", times(recovered)),
        (downed, 0) => format!("went down and came back {}", times(downed)),
        (downed, recovered) => {
            format!("went down and came back {}, and recovered {}", times(downed), times(recovered))
        }
    }
}

/// Text of a trap: its meaning, the port or node that it concerns, and its issuer.
fn trap_words(look: &Snapshot, news: &FabricEvent) -> String {
    let FabricEvent::Trap { number, issuer, producer, lid, port, guid, node } = news else {
        return String::new();
    };
    let issuer = issuer.map_or_else(String::new, |lid| format!(" at LID {lid}"));
    let port = port.map(|port| format!("port {port}"));
    let lid = lid.map(|lid| format!("LID {lid}"));
    let guid = guid.map(|guid| guid.to_string());
    let node = node.map(|node| node_name(look, node));
    let about: Vec<String> = [node, port, lid, guid].into_iter().flatten().collect();
    let about = if about.is_empty() { String::new() } else { format!(": {}", about.join(", ")) };
    format!("{number}, {}{about}; issued by {}{issuer}", trap_name(*number), producer_word(*producer))
}

/// The meaning of a trap number (IBA 13.4.8, 14.2.5).
pub fn trap_name(number: u16) -> &'static str {
    match number {
        64 => "a port is in service",
        65 => "a port is out of service",
        66 => "a multicast group was created",
        67 => "a multicast group was deleted",
        68 => "unpath",
        69 => "repath",
        128 => "the state of a link changed",
        129 => "a link has many errors",
        130 => "buffers overran",
        131 => "flow control updates are missing",
        144 => "the attributes of a port changed",
        145 => "a system image GUID changed",
        256 => "a wrong M_Key",
        257 | 259 => "a wrong P_Key",
        258 => "a wrong Q_Key",
        _ => "of unknown meaning",
    }
}

/// The kind of node that issued a trap.
pub fn producer_word(producer: u32) -> &'static str {
    match producer {
        1 => "adapter",
        2 => "switch",
        3 => "router",
        4 => "manager",
        _ => "other",
    }
}

/// The first differences, with the subnet manager that may have made them.
fn named_words<T>(
    look: &Snapshot,
    entries: usize,
    first: &[T],
    manager: Option<Lid>,
    words: impl Fn(&T) -> String,
) -> String {
    let named: Vec<String> = first.iter().map(words).collect();
    let more = if entries > first.len() { "; and others" } else { "" };
    format!("{}{more}; {}", named.join("; "), manager_words(look, manager))
}

fn entry_words(entry: &ChangedEntry) -> String {
    let port =
        |port: Option<PortNum>| port.map_or_else(|| "nowhere".to_owned(), |port| format!("port {port}"));
    format!("LID {} to {}, before to {}", entry.lid, port(entry.now), port(entry.before))
}

fn group_words(group: &ChangedGroup) -> String {
    let ports = |ports: &[PortNum]| match ports {
        [] => "to no port".to_owned(),
        ports => format!("to {}", ports.iter().map(PortNum::to_string).collect::<Vec<_>>().join(", ")),
    };
    format!("group 0x{:04x} {}, before {}", group.group, ports(&group.now), ports(&group.before))
}

fn lanes_words(lanes: &ChangedLanes) -> String {
    format!(
        "port {} to {}: {}, before {} (service levels 0 to 15)",
        lanes.from, lanes.to, lanes.now, lanes.before
    )
}

fn arbitration_words(changed: &ChangedArbitration) -> String {
    let words = |table: &Arbitration| {
        format!("high {}, low {}", weights_words(&table.high), weights_words(&table.low))
    };
    format!("port {}: {}; before {}", changed.port, words(&changed.now), words(&changed.before))
}

/// Arbitration entries as `lane:weight`; `-` where there are none.
pub(crate) fn weights_words(entries: &[VlWeight]) -> String {
    match entries {
        [] => "-".to_owned(),
        some => {
            let each = some.iter().map(|entry| format!("{}:{}", entry.lane.value(), entry.weight));
            each.collect::<Vec<_>>().join(" ")
        }
    }
}

fn manager_words(look: &Snapshot, manager: Option<Lid>) -> String {
    let Some(lid) = manager else { return "no subnet manager is known".to_owned() };
    let port = look.fabric().port_by_lid(lid).map(|port| format!(", {}", look.port_name(port)));
    format!("the subnet manager is at LID {lid}{}", port.unwrap_or_default())
}

/// The name of the port at which the subnet manager is reported.
pub(crate) fn manager_port(look: &Snapshot, known: &KnownManager) -> Option<String> {
    let by_guid = known.manager.as_ref().and_then(|manager| look.fabric().port_by_guid(manager.guid));
    let port = by_guid.or_else(|| look.fabric().port_by_lid(known.lid?));
    port.map(|port| look.port_name(port))
}

fn manager_state_words(look: &Snapshot, known: &KnownManager) -> String {
    let Some(lid) = known.lid else { return "no subnet manager".to_owned() };
    let port = manager_port(look, known).map_or_else(String::new, |port| format!(" ({port})"));
    let says = match &known.manager {
        None => "does not answer".to_owned(),
        Some(manager) => {
            let priority = manager.priority.map(|priority| format!("priority {priority}"));
            [manager.state.clone(), priority].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
    };
    format!("LID {lid}{port} {says}")
}

fn rate_words((width, speed): &LinkRate) -> String {
    let width = width.map_or("?", |width| width.word());
    format!("{width} {}", speed.map_or("?", |speed| speed.word()))
}

pub(crate) fn node_name(look: &Snapshot, guid: Guid) -> String {
    match look.fabric().node_by_guid(guid) {
        Some(node) => look.unique_name(node).into_owned(),
        None => guid.to_string(),
    }
}

/// The elements that a change is about, as `--fail` takes them. An end that is no longer in the fabric is left out.
pub fn fabric_event_elements(look: &Snapshot, news: &FabricEvent) -> Vec<String> {
    let fabric = look.fabric();
    let element = |id: ElementId| Element::from_id(fabric, &look.names, id).to_string();
    match news {
        FabricEvent::LinkDown { a, b }
        | FabricEvent::LinkUp { a, b }
        | FabricEvent::RateChanged { a, b, .. }
        | FabricEvent::LinkFlapped { a, b, .. }
        | FabricEvent::Recabled { at: a, now: b, .. } => {
            // A cable that is down is no longer one of the fabric; its ports are.
            let ports: Vec<PortId> = [a, b].into_iter().filter_map(|end| port_of(look, *end)).collect();
            match ports.first().and_then(|port| fabric.port(*port).link) {
                Some(link) => vec![element(ElementId::Link(link))],
                None => ports.into_iter().map(|port| element(ElementId::Port(port))).collect(),
            }
        }
        FabricEvent::NodeAppeared { node }
        | FabricEvent::NodeSilent { node }
        | FabricEvent::NodeAnswers { node }
        | FabricEvent::TableDrift { switch: node, .. }
        | FabricEvent::GroupDrift { switch: node, .. }
        | FabricEvent::LanesDrift { node, .. }
        | FabricEvent::ArbitrationDrift { node, .. } => {
            fabric.node_by_guid(*node).map(|node| element(ElementId::Node(node))).into_iter().collect()
        }
        FabricEvent::Trap { .. }
        | FabricEvent::ManagerChanged { .. }
        | FabricEvent::JobsChanged { .. }
        | FabricEvent::JobsSilent { .. } => Vec::new(),
    }
}

fn port_of(look: &Snapshot, (guid, port): PortIdentity) -> Option<PortId> {
    look.fabric().port_of(look.fabric().node_by_guid(guid)?, port)
}

/// The name of a port with its label, where one is known.
fn labelled_end(look: &Snapshot, of: PortIdentity) -> String {
    port_of(look, of).map_or_else(|| end_name(look, of), |port| look.labelled_port_name(port))
}

pub(crate) fn end_name(look: &Snapshot, (guid, port): PortIdentity) -> String {
    format!("{}[{port}]", node_name(look, guid))
}
