//! The texts about a pair: its way back, the switches of a path, what marks do to it.

use super::screen::PathsScreen;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::drawing::theme::Role;
use crate::console::model::fabric_model::Model;
use crate::operations::trace::path_trace::Trace;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// The switches of a path: `rack1-leaf, spine-3, rack3-leaf`.
pub fn switch_names(look: &Snapshot, trace: &Trace) -> String {
    let names: Vec<String> = switches(look, trace).map(|node| look.host_name(node).into_owned()).collect();
    if names.is_empty() { "no switch".to_owned() } else { names.join(", ") }
}

fn switches<'t>(look: &'t Snapshot, trace: &'t Trace) -> impl Iterator<Item = NodeId> + 't {
    trace.hops.iter().map(|hop| hop.node).filter(|node| look.fabric().node(*node).is_switch())
}

/// The cables of a path.
pub fn cables(look: &Snapshot, trace: &Trace) -> Vec<LinkId> {
    let fabric = look.fabric();
    let port = |hop: &crate::operations::trace::path_trace::TraceHop| fabric.port_of(hop.node, hop.egress?);
    trace.hops.iter().filter_map(|hop| fabric.port(port(hop)?).link).collect()
}

/// How a path compares with the way there: over the same cables, the same switches, or others.
pub fn back_words(look: &Snapshot, there: &Trace, back: &Trace) -> (String, Role) {
    if !back.has_arrived() {
        return (back.verdict(look), Role::Danger);
    }
    let (mut one, mut other) = (cables(look, there), cables(look, back));
    one.sort_unstable();
    other.sort_unstable();
    if one == other {
        return ("over the same cables".to_owned(), Role::Good);
    }
    let mut nodes: Vec<NodeId> = switches(look, there).collect();
    let mut others: Vec<NodeId> = switches(look, back).collect();
    nodes.sort_unstable();
    others.sort_unstable();
    let shared = other.iter().filter(|link| one.contains(link)).count();
    let shared = format!("{shared} of {} shared", count_words(other.len(), "cable", "cables"));
    match nodes == others {
        true => (format!("through the same switches, {shared}"), Role::Text),
        false => (format!("through {}, {shared}", switch_names(look, back)), Role::Text),
    }
}

/// What the marks do to the pair, and what they do to all pairs.
pub fn mark_words(screen: &PathsScreen, known: &Model) -> Vec<(String, Role)> {
    if known.marks.is_empty() {
        return vec![("nothing is marked: f marks the cable at the cursor as failed".to_owned(), Role::Dim)];
    }
    let marks = count_words(known.marks.len(), "mark", "marks");
    let mut lines = vec![match screen.first_failed_element(known) {
        Some(struck) => (format!("this pair is lost, at {}", plain_name(&struck)), Role::Danger),
        None if known.marks.len() == 1 => ("the mark leaves this path as it is".to_owned(), Role::Good),
        None => (format!("the {marks} leave this path as it is"), Role::Good),
    }];
    if let Some(back) = screen.facts().and_then(|facts| facts.paths.back.as_ref())
        && let Some(struck) = failed_element(back, known)
    {
        lines.push((format!("its way back is lost, at {}", plain_name(&struck)), Role::Danger));
    }
    lines.push(match (&known.cost, &known.paths) {
        (Some(cost), Some(paths)) => {
            let [lost, all] = [cost.lost.pairs, paths.pairs()].map(digits_in_groups);
            (format!("{lost} of {all} pairs are without a path until rerouted"), Role::Text)
        }
        _ => ("how many pairs they cost is not known yet".to_owned(), Role::Dim),
    });
    lines
}

/// What a proposed path is, beside the one in force.
pub fn proposed_words(look: &Snapshot, shown: &Trace, proposed: Option<&Trace>) -> (String, Role) {
    let Some(trace) = proposed else { return ("knows no way to it".to_owned(), Role::Danger) };
    if !trace.has_arrived() {
        return (trace.verdict(look), Role::Danger);
    }
    if trace.hops == shown.hops {
        return ("the same path".to_owned(), Role::Dim);
    }
    let links = match trace.link_count().cmp(&shown.link_count()) {
        std::cmp::Ordering::Equal => String::new(),
        _ => format!(", {}", count_words(trace.link_count(), "link", "links")),
    };
    (format!("through {}{links}", switch_names(look, trace)), Role::Preview)
}

/// The element of a path that is marked, by its name.
pub fn failed_element(trace: &Trace, known: &Model) -> Option<String> {
    let fabric = known.look.as_deref()?.fabric();
    let mut along = trace.hops.iter().flat_map(|hop| {
        let port = hop.egress.and_then(|number| fabric.port_of(hop.node, number));
        let link = port.and_then(|port| fabric.port(port).link);
        [Some(ElementId::Node(hop.node)), link.map(ElementId::Link)].into_iter().flatten()
    });
    along.find_map(|what| known.mark_of(what)).and_then(|mark| known.element(mark))
}

/// The name of an element without the word of its kind.
fn plain_name(element: &str) -> &str {
    element.split_once(':').map_or(element, |(_, name)| name)
}
