//! Checks whether files belong to one fabric. Dumps of two sites in one file look like one fabric in several parts, and
//! their nodes with equal GUIDs are merged.

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, NodeId};
use fabdeck_files::content::MergedNodes;

/// The note about parts of a fabric that no cable joins.
const SEPARATE_PARTS: &str = "FN-556";
/// The note about merged nodes.
const MERGED_NODES: &str = "FN-557";

/// Number of names that are listed.
const MAX_NAMES: usize = 8;

/// Number of merged hosts that are listed.
const MAX_HOSTS: usize = 32;

pub(super) fn note_parts(source: &str, fabric: &Fabric, notes: &mut Notes) {
    let parts = connected_parts(fabric);
    if parts.len() < 2 {
        return;
    }
    notes.add_grave(SEPARATE_PARTS, NotePlace::file(source), || {
        let mut told: Vec<String> = parts.iter().take(MAX_NAMES).map(|part| part.words(fabric)).collect();
        told.extend((parts.len() > MAX_NAMES).then(|| format!("{} more", parts.len() - MAX_NAMES)));
        format!(
            "these are {} fabrics, or parts of one fabric without a cable between them: {}; if dumps of several \
             sites were combined, give them one by one",
            parts.len(),
            told.join("; ")
        )
    });
}

pub(super) fn note_merged(source: &str, fabric: &Fabric, merged: &[MergedNodes], notes: &mut Notes) {
    if merged.is_empty() {
        return;
    }
    notes.add_grave(MERGED_NODES, NotePlace::file(source), || {
        let name = |node: &MergedNodes| {
            let [first, second] = &node.names;
            match first == second {
                true => format!("two nodes '{first}' ({})", node.guid),
                false => format!("'{first}' and '{second}' ({})", node.guid),
            }
        };
        // Which hosts are two decides whose jobs suffer.
        let is_switch = |node: &&MergedNodes| {
            fabric.node_by_guid(node.guid).is_some_and(|id| fabric.node(id).is_switch())
        };
        let (switches, others): (Vec<&MergedNodes>, Vec<&MergedNodes>) = merged.iter().partition(is_switch);
        let names: Vec<String> = [(others, MAX_HOSTS, "hosts"), (switches, MAX_NAMES, "switches")]
            .into_iter()
            .flat_map(|(nodes, most, kind)| {
                let more = nodes.len().saturating_sub(most);
                let rest = (more > 0).then(|| format!("{more} more {kind}"));
                nodes.into_iter().take(most).map(name).chain(rest).collect::<Vec<_>>()
            })
            .collect();
        let count = match merged.len() {
            1 => "1 GUID is that".to_owned(),
            count => format!("{count} GUIDs are those"),
        };
        format!("{count} of two nodes each, which are merged into one: {}", names.join(", "))
    });
}

struct FabricPart {
    switches: usize,
    others: usize,
    first: NodeId,
}

impl FabricPart {
    fn words(&self, fabric: &Fabric) -> String {
        let node = fabric.node(self.first);
        let counted = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        format!(
            "{} and {} with '{}' ({})",
            counted(self.switches, "switch", "switches"),
            counted(self.others, "other node", "other nodes"),
            node.facts.description,
            node.guid()
        )
    }
}

/// The connected parts with a switch and a cable, in canonical order. A node without a cable is no part.
fn connected_parts(fabric: &Fabric) -> Vec<FabricPart> {
    let mut seen = vec![false; fabric.nodes().count()];
    let mut parts = Vec::new();
    for (start, _) in fabric.switches() {
        if std::mem::replace(&mut seen[start.0 as usize], true) {
            continue;
        }
        let mut part = FabricPart { switches: 0, others: 0, first: start };
        let mut queue = vec![start];
        while let Some(id) = queue.pop() {
            match fabric.node(id).is_switch() {
                true => part.switches += 1,
                false => part.others += 1,
            }
            for peer in fabric.ports_of(id).filter_map(|(_, port)| port.peer) {
                let next = fabric.port(peer).node;
                if !std::mem::replace(&mut seen[next.0 as usize], true) {
                    queue.push(next);
                }
            }
        }
        if part.switches + part.others > 1 {
            parts.push(part);
        }
    }
    parts
}
