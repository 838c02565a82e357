//! Slurm's topology.yaml (25.05 and later): a tree, and its pods as blocks; a pair of them for each rail.
//!
//! ```text
//! - topology: "tree"
//!   cluster_default: true
//!   tree:
//!     switches:
//!       - switch: "spine0"
//!         children: "leaf[0-3]"
//! - topology: "block"
//!   cluster_default: false
//!   block:
//!     block_sizes: [16, 32, 64]
//!     blocks:
//!       - block: "pod0"
//!         nodes: "host[0-15]"
//! ```

use std::fmt::{self, Write};

use super::file_place;
use super::hostlist::{compress, split_number};
use super::switch_list::{ListedSwitch, SwitchList, UnderSwitch};
use super::tree::{RailChoice, SwitchTree};
use crate::writer_output::WriterOutput;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, Names, NodeId};

/// Hosts that are near to each other: those of a pod, or of a leaf where there are no pods.
struct HostBlock {
    name: String,
    hosts: Vec<String>,
}

/// Writes the file. Names have letters, digits and `-_.` alone, so that quotes make a text of each.
pub fn write_yaml(fabric: &Fabric, names: &Names, rail: Option<usize>) -> WriterOutput {
    let mut notes = Notes::new();
    let mut text = String::from("---\n");
    let rails = match rail {
        Some(_) => 1,
        None => SwitchTree::new(fabric, names, RailChoice::Joined, &mut Notes::new()).rails(),
    };
    for number in 1..=rails {
        let (choice, suffix) = match (rail, rails) {
            (Some(rail), _) => (RailChoice::Only(rail), String::new()),
            (None, 1) => (RailChoice::Joined, String::new()),
            (None, _) => (RailChoice::Each(number), format!("-rail{number}")),
        };
        let tree = SwitchTree::new(fabric, names, choice, &mut notes);
        let list = SwitchList::new(fabric, names, &tree, &mut notes);
        let blocks = pods(&tree, &list, &mut notes);
        // Writing to a String cannot fail.
        let _ = write_tree(&mut text, &format!("tree{suffix}"), number == 1, &list.switches);
        let _ = write_blocks(&mut text, &format!("block{suffix}"), &blocks);
    }
    WriterOutput { text, notes }
}

fn write_heading(text: &mut String, name: &str, is_default: bool) -> fmt::Result {
    writeln!(text, "- topology: \"{name}\"\n  cluster_default: {is_default}")
}

fn write_tree(text: &mut String, name: &str, is_default: bool, switches: &[ListedSwitch]) -> fmt::Result {
    if switches.is_empty() {
        return Ok(());
    }
    write_heading(text, name, is_default)?;
    writeln!(text, "  tree:\n    switches:")?;
    for ListedSwitch { name, under } in switches {
        let (key, list) = match under {
            UnderSwitch::Nodes(nodes) => ("nodes", nodes),
            UnderSwitch::Switches(switches) => ("children", switches),
        };
        writeln!(text, "      - switch: \"{name}\"\n        {key}: \"{list}\"")?;
    }
    Ok(())
}

/// The smallest block is the base size, and twice, four times that are sizes too, as long as there are as many blocks.
fn write_blocks(text: &mut String, name: &str, blocks: &[HostBlock]) -> fmt::Result {
    let Some(base) = blocks.iter().map(|block| block.hosts.len()).min() else { return Ok(()) };
    let joined = (0..).map(|power| 1_usize << power).take_while(|joined| *joined <= blocks.len());
    let sizes: Vec<String> = joined.map(|joined| (base * joined).to_string()).collect();
    write_heading(text, name, false)?;
    writeln!(text, "  block:\n    block_sizes: [{}]\n    blocks:", sizes.join(", "))?;
    for HostBlock { name, hosts } in blocks {
        writeln!(text, "      - block: \"{name}\"\n        nodes: \"{}\"", compress(hosts))?;
    }
    Ok(())
}

/// The hosts of each pod, pods in the order of their leaves' names.
fn pods(tree: &SwitchTree, list: &SwitchList, notes: &mut Notes) -> Vec<HostBlock> {
    let mut parts = tree.parts_below_the_top();
    let order = |id: &NodeId| {
        let (stem, digits) = split_number(&list.names[id]);
        (stem.to_owned(), digits.parse().unwrap_or(0_u64))
    };
    parts.iter_mut().for_each(|part| part.sort_by_key(order));
    parts.sort_by_key(|part| part.first().map(order));
    let several_leaves = parts.iter().any(|part| part.len() > 1);
    let blocks: Vec<HostBlock> = parts
        .iter()
        .enumerate()
        .map(|(at, leaves)| HostBlock {
            name: if several_leaves { format!("pod{at}") } else { list.names[&leaves[0]].clone() },
            hosts: leaves.iter().flat_map(|leaf| tree.hosts(*leaf)).cloned().collect(),
        })
        .collect();
    let mut sizes: Vec<usize> = blocks.iter().map(|block| block.hosts.len()).collect();
    sizes.sort_unstable();
    if let (Some(least), Some(middle)) = (sizes.first(), sizes.get(sizes.len() / 2))
        && least * 2 < *middle
    {
        notes.add("FN-469", file_place(), || {
            format!("the smallest block has {least} hosts where others have {middle}: it sets the base size of blocks")
        });
    }
    let inside: usize = sizes.iter().sum();
    let above = tree.host_count() - inside;
    if above > 0 {
        notes.add("FN-470", file_place(), || {
            format!("{above} hosts hang on switches above all blocks, and are in none")
        });
    }
    blocks
}
