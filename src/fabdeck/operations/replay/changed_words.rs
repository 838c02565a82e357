//! What differs between two moments of a recording of which the recorder says only that something changed: cables, nodes,
//! ports, tables and names, each with its number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::observe::{JobSnapshot, PortIdentity, digits_in_groups};
use fabdeck_fabric::{Guid, LinkId, NodeId, NodeKind, PortId};
use fabdeck_files::capture::{DerivedEvent, TimelineEntry, TimelineEvent};

/// The label of the event.
pub const CHANGED_LABEL: &str = "changed";

/// Switches that the text names at most.
const MAX_NAMED: usize = 3;

/// The byte of a table for a LID that leads nowhere.
pub(super) const NO_PORT: u8 = u8::MAX;

/// What differs after a moment of which the recorder says that something changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComparedChange {
    pub place: usize,
    /// `None` where nothing differs that a screen shows, as when the same list of jobs was read again.
    pub text: Option<String>,
}

/// Names the changes that were compared, and removes those without a difference.
pub fn name_changes(entries: &mut Vec<TimelineEntry>, changes: &[ComparedChange]) {
    let compared: BTreeMap<usize, &Option<String>> =
        changes.iter().map(|change| (change.place, &change.text)).collect();
    entries.retain_mut(|entry| {
        if entry.event != TimelineEvent::Changed {
            return true;
        }
        let Some(text) = compared.get(&entry.place) else { return true };
        let Some(text) = text else { return false };
        let derived = DerivedEvent { label: CHANGED_LABEL, text: text.clone(), began: false };
        entry.event = TimelineEvent::Derived(derived);
        true
    });
}

/// What differs after a moment: `1 cable new, 2 cables down; tables of rack1-leaf and spine-1 (52 entries)`.
pub fn changed_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let parts = [
        node_words(before, after, true),
        node_words(before, after, false),
        cable_words(before, after),
        port_words(before, after),
        table_words(before, after),
        name_words(before, after),
        other_words(before, after),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What differs besides the fabric and its tables, in a word each.
fn other_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let (old, new) = (&before.observation, &after.observation);
    let list =
        |jobs: &Option<Arc<JobSnapshot>>| jobs.as_ref().map(|jobs| (jobs.jobs.clone(), jobs.failure.clone()));
    let others = [
        (old.subnet_manager != new.subnet_manager, "the subnet manager"),
        (old.adaptive != new.adaptive, "adaptive routing"),
        (old.policy != new.policy, "service levels of paths"),
        (old.ticks != new.ticks, "the length of ticks"),
        (list(&old.jobs) != list(&new.jobs), "the list of jobs"),
    ];
    let words: Vec<&str> = others.into_iter().filter(|(differs, _)| *differs).map(|(_, word)| word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Number of entries that differ between two forwarding tables.
pub(super) fn differing_entries(before: &[u8], after: &[u8]) -> usize {
    let entry = |row: &[u8], at: usize| row.get(at).copied().unwrap_or(NO_PORT);
    let lids = before.len().max(after.len());
    (0..lids).filter(|at| entry(before, *at) != entry(after, *at)).count()
}

fn node_words(before: &Snapshot, after: &Snapshot, switches: bool) -> Option<String> {
    let guids = |look: &Snapshot| -> BTreeSet<Guid> {
        let nodes = look.fabric().nodes();
        nodes
            .filter(|(_, node)| (node.facts.kind == NodeKind::Switch) == switches)
            .map(|(_, node)| node.guid())
            .collect()
    };
    let (old, new) = (guids(before), guids(after));
    let [one, many] = if switches { ["switch", "switches"] } else { ["host", "hosts"] };
    let count =
        |count: usize, word: &str| (count > 0).then(|| format!("{} {word}", count_words(count, one, many)));
    let parts = [count(new.difference(&old).count(), "new"), count(old.difference(&new).count(), "gone")];
    join_parts(parts)
}

/// The identity of a cable: its ends.
type Cable = (PortIdentity, PortIdentity);

fn cable_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    // Of each cable: whether it is down, and its width and speed.
    let cables = |look: &Snapshot| -> BTreeMap<Cable, (bool, String)> {
        let fabric = look.fabric();
        let cable = |(id, link): (LinkId, &fabdeck_fabric::Link)| {
            let end = |port: PortId| (fabric.node(fabric.port(port).node).guid(), fabric.port(port).number);
            let (a, b) = (end(link.a), end(link.b));
            let rate = format!("{:?} {:?}", look.width_in_use(id), look.speed_in_use(id));
            ((a.min(b), a.max(b)), (look.is_down(id), rate))
        };
        fabric.links().map(cable).collect()
    };
    let (old, new) = (cables(before), cables(after));
    let both = || old.iter().filter_map(|(ends, was)| Some((was, new.get(ends)?)));
    let count = |count: usize, word: &str| {
        (count > 0).then(|| format!("{} {word}", count_words(count, "cable", "cables")))
    };
    join_parts([
        count(new.keys().filter(|ends| !old.contains_key(ends)).count(), "new"),
        count(old.keys().filter(|ends| !new.contains_key(ends)).count(), "gone"),
        count(both().filter(|(was, is)| !was.0 && is.0).count(), "down"),
        count(both().filter(|(was, is)| was.0 && !is.0).count(), "up"),
        count(both().filter(|(was, is)| was.0 == is.0 && was.1 != is.1).count(), "at another rate"),
    ])
}

/// Ports whose facts differ, where neither their cable nor their node does.
fn port_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let (old, new) = (before.fabric(), after.fabric());
    if cable_words(before, after).is_some() {
        return None;
    }
    let differs = |(_, node): &(NodeId, &fabdeck_fabric::Node)| -> usize {
        let (Some(was), Some(is)) = (old.node_by_guid(node.guid()), new.node_by_guid(node.guid())) else {
            return 0;
        };
        let ports = new.ports_of(is);
        let changed = |port: &fabdeck_fabric::Port| {
            old.port_of(was, port.number).is_none_or(|other| old.port(other).facts != port.facts)
        };
        ports.filter(|(_, port)| changed(port)).count()
    };
    let count: usize = new.nodes().map(|node| differs(&node)).sum();
    (count > 0).then(|| format!("state or addresses of {}", count_words(count, "port", "ports")))
}

fn table_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let (old, new) = (before.fabric(), &after.observation.tables);
    let (mut entries, mut forwarding, mut other): (usize, Vec<&str>, Vec<&str>) = (0, Vec::new(), Vec::new());
    for (id, node) in after.fabric().nodes() {
        let was = old.node_by_guid(node.guid()).and_then(|was| before.observation.tables.nodes.get(&was));
        let is = new.nodes.get(&id);
        if was == is {
            continue;
        }
        let bytes = |held: Option<&fabdeck_fabric::NodeTables>| -> Vec<u8> {
            held.and_then(|held| held.lft.as_ref()).map_or_else(Vec::new, |lft| lft.bytes().to_vec())
        };
        let differ = differing_entries(&bytes(was), &bytes(is));
        entries += differ;
        let names = if differ > 0 { &mut forwarding } else { &mut other };
        names.push(after.name(id));
    }
    let tables = (!forwarding.is_empty()).then(|| {
        format!(
            "tables of {} ({} {})",
            named(&forwarding),
            digits_in_groups(entries),
            if entries == 1 { "entry" } else { "entries" }
        )
    });
    let lanes = (!other.is_empty()).then(|| format!("lanes, groups or choices of {}", named(&other)));
    let parts: Vec<String> = tables.into_iter().chain(lanes).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn name_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let old = before.fabric();
    let renamed = |(id, node): &(NodeId, &fabdeck_fabric::Node)| {
        old.node_by_guid(node.guid()).is_some_and(|was| before.name(was) != after.name(*id))
    };
    let names: Vec<&str> = after.fabric().nodes().filter(renamed).map(|(id, _)| after.name(id)).collect();
    (!names.is_empty()).then(|| format!("names: {}", named(&names)))
}

/// `a, b and 4 more`.
fn named(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= MAX_NAMED => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..MAX_NAMED].join(", "), names.len() - MAX_NAMED),
    }
}

fn join_parts<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compared_change_is_named_or_no_event() {
        let changed = |place| TimelineEntry { place, time: 0, event: TimelineEvent::Changed };
        let compared = |place, text: Option<&str>| ComparedChange { place, text: text.map(str::to_owned) };
        let mut entries = vec![changed(3), changed(5), changed(8)];
        name_changes(&mut entries, &[compared(3, Some("names: spine-1")), compared(5, None)]);
        let texts: Vec<(usize, Option<String>)> = entries
            .into_iter()
            .map(|entry| match entry.event {
                TimelineEvent::Derived(derived) => (entry.place, Some(derived.text)),
                _ => (entry.place, None),
            })
            .collect();
        assert_eq!(texts, [(3, Some("names: spine-1".to_owned())), (8, None)]);
    }

    #[test]
    fn a_few_names_stand_for_many() {
        assert_eq!(named(&["a", "b", "c"]), "a, b and c");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
