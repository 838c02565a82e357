//! The switches of a tree as Slurm lists them: each with its nodes or with the switches below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::file_place;
use super::hostlist::compress;
use super::tree::SwitchTree;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, Names, NodeId};

/// What stands under a switch, as a host list.
pub(super) enum UnderSwitch {
    Nodes(String),
    Switches(String),
}

pub(super) struct ListedSwitch {
    pub(super) name: String,
    pub(super) under: UnderSwitch,
}

/// The switches of a tree, those with hosts first, and their names.
pub(super) struct SwitchList {
    pub(super) switches: Vec<ListedSwitch>,
    pub(super) names: BTreeMap<NodeId, String>,
}

impl SwitchList {
    pub(super) fn new(fabric: &Fabric, names: &Names, tree: &SwitchTree, notes: &mut Notes) -> Self {
        let mut list = Self { switches: Vec::new(), names: switch_names(fabric, names, tree, notes) };
        for rank in 0..=tree.top_rank() {
            let of_rank: Vec<NodeId> =
                list.names.keys().copied().filter(|id| tree.rank(*id) == Some(rank)).collect();
            of_rank.into_iter().for_each(|id| list.add(tree, id, notes));
        }
        list
    }

    fn add(&mut self, tree: &SwitchTree, id: NodeId, notes: &mut Notes) {
        let name = self.names[&id].clone();
        let nodes = compress(tree.hosts(id));
        let mut children: Vec<String> =
            tree.children(id).filter_map(|child| self.names.get(&child).cloned()).collect();
        let mut name_of_nodes = name.clone();
        if !nodes.is_empty() && !children.is_empty() {
            // A switch has nodes or switches, never both.
            name_of_nodes.push_str("_nodes");
            notes.add("FN-454", file_place(), || {
                format!(
                    "{name} has hosts and is above leaves; its hosts are listed under a leaf {name_of_nodes}"
                )
            });
            children.push(name_of_nodes.clone());
        }
        if !nodes.is_empty() {
            self.switches.push(ListedSwitch { name: name_of_nodes, under: UnderSwitch::Nodes(nodes) });
        }
        if !children.is_empty() {
            self.switches.push(ListedSwitch { name, under: UnderSwitch::Switches(compress(&children)) });
        }
    }
}

/// Unique names for the switches in the file, in characters that Slurm accepts.
fn switch_names(
    fabric: &Fabric,
    names: &Names,
    tree: &SwitchTree,
    notes: &mut Notes,
) -> BTreeMap<NodeId, String> {
    let mut called = BTreeMap::new();
    let mut bearers: BTreeMap<String, u32> = BTreeMap::new();
    for (id, _) in fabric.switches().filter(|(id, _)| tree.is_listed(*id)) {
        let name = super::plain_name(names.name(id));
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
