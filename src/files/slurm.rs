//! Slurm's topology.conf for the plugin topology/tree: leaf switches with their nodes, and upper switches with their
//! children. A switch may have several parents, which Slurm accepts. The notes name everything that no tree can
//! express.
//!
//! ```text
//! SwitchName=leaf0 Nodes=host[0-11]
//! SwitchName=spine0 Switches=leaf[0-3]
//! ```

mod host_names;
mod hostlist;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::writer_output::WriterOutput;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Names, NodeId};

pub use host_names::{HostListError, MAX_NAMES, expand};
pub use hostlist::compress;
pub use tree::{host_name, host_word};

/// The file in the notes of this writer.
const FILE_NAME: &str = "topology.conf";

fn file_place() -> NotePlace {
    NotePlace::file(FILE_NAME)
}

/// Writes the file. `rail`: the host is listed at the leaf of its adapter with this number, from 1 on. Without it,
/// hosts on the same leaves are listed together at one of them.
pub fn write(fabric: &Fabric, names: &Names, rail: Option<usize>) -> WriterOutput {
    let mut notes = Notes::new();
    let tree = tree::SwitchTree::new(fabric, names, rail, &mut notes);
    let called = switch_names(fabric, names, &tree, &mut notes);
    let mut text = String::new();
    for rank in 0..=tree.top_rank() {
        for (id, name) in called.iter().filter(|(id, _)| tree.rank(**id) == Some(rank)) {
            write_switch(&mut text, &tree, *id, name, &called, &mut notes);
        }
    }
    WriterOutput { text, notes }
}

fn write_switch(
    text: &mut String,
    tree: &tree::SwitchTree,
    id: NodeId,
    name: &str,
    called: &BTreeMap<NodeId, String>,
    notes: &mut Notes,
) {
    let nodes = compress(tree.hosts(id));
    let mut children: Vec<String> =
        tree.children(id).filter_map(|child| called.get(&child).cloned()).collect();
    let mut name_of_nodes = name.to_owned();
    if !nodes.is_empty() && !children.is_empty() {
        // A line has nodes or switches, never both.
        name_of_nodes.push_str("_nodes");
        notes.add("FN-454", file_place(), || {
            format!("{name} has hosts and is above leaves; its hosts are listed under a leaf {name_of_nodes}")
        });
        children.push(name_of_nodes.clone());
    }
    // Writing to a String cannot fail.
    if !nodes.is_empty() {
        let _ = writeln!(text, "SwitchName={name_of_nodes} Nodes={nodes}");
    }
    if !children.is_empty() {
        let _ = writeln!(text, "SwitchName={name} Switches={}", compress(&children));
    }
}

/// Unique names for the switches in the file, in characters that Slurm accepts.
fn switch_names(
    fabric: &Fabric,
    names: &Names,
    tree: &tree::SwitchTree,
    notes: &mut Notes,
) -> BTreeMap<NodeId, String> {
    let mut called = BTreeMap::new();
    let mut bearers: BTreeMap<String, u32> = BTreeMap::new();
    for (id, _) in fabric.switches().filter(|(id, _)| tree.is_listed(*id)) {
        let name = plain_name(names.name(id));
        if name != names.name(id) {
            notes.add("FN-458", file_place(), || {
                format!("'{}' is written {name}: Slurm does not accept all of its characters", names.name(id))
            });
        }
        *bearers.entry(name.clone()).or_default() += 1;
        called.insert(id, name);
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (id, name) in &mut called {
        if bearers.get(name).is_some_and(|count| *count > 1) {
            notes.add("FN-459", file_place(), || {
                format!("several switches are called {name}; their GUIDs are added")
            });
            let _ = write!(name, "_{:016x}", fabric.node(*id).guid().0);
        }
        // Hosts on upper switches are listed under a name with `_nodes`.
        while taken.contains(name.as_str()) || taken.contains(&format!("{name}_nodes")) {
            let _ = write!(name, "_{:x}", fabric.node(*id).guid().0);
        }
        taken.insert(name.clone());
        taken.insert(format!("{name}_nodes"));
    }
    called
}

/// Replaces all characters except letters, digits, `-`, `_` and `.`.
fn plain_name(name: &str) -> String {
    let name = name.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if plain.is_empty() { "switch".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_slurm() {
        assert_eq!(plain_name("MF0;ib5:SX6036/U1 "), "MF0_ib5_SX6036_U1");
        assert_eq!(plain_name("leaf[1-3],x"), "leaf_1-3__x");
        assert_eq!(plain_name("  "), "switch");
    }
}
