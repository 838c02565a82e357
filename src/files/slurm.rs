//! Slurm's topology.conf for the plugin topology/tree, and its topology.yaml: leaf switches with their nodes, and upper switches with their
//! children. A switch may have several parents, which Slurm accepts. The notes name everything that no tree can
//! express.
//!
//! ```text
//! SwitchName=leaf0 Nodes=host[0-11]
//! SwitchName=spine0 Switches=leaf[0-3]
//! ```

mod host_names;
mod hostlist;
mod switch_list;
mod topology_yaml;
mod tree;

use std::fmt::Write;

use self::switch_list::{ListedSwitch, SwitchList, UnderSwitch};
use self::tree::{RailChoice, SwitchTree};
use super::writer_output::WriterOutput;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Names};

pub use host_names::{HostListError, MAX_NAMES, expand};
pub use hostlist::compress;
pub use topology_yaml::write_yaml;
pub use tree::{host_name, host_word};

/// The file in the notes of these writers.
const FILE_NAME: &str = "Slurm's topology";

fn file_place() -> NotePlace {
    NotePlace::file(FILE_NAME)
}

/// Writes topology.conf. `rail`: the host is listed at the leaf of its adapter with this number, from 1 on. Without it,
/// hosts on the same leaves are listed together at one of them.
pub fn write(fabric: &Fabric, names: &Names, rail: Option<usize>) -> WriterOutput {
    let mut notes = Notes::new();
    let choice = rail.map_or(RailChoice::Joined, RailChoice::Only);
    let tree = SwitchTree::new(fabric, names, choice, &mut notes);
    let mut text = String::new();
    for ListedSwitch { name, under } in SwitchList::new(fabric, names, &tree, &mut notes).switches {
        // Writing to a String cannot fail.
        let _ = match under {
            UnderSwitch::Nodes(nodes) => writeln!(text, "SwitchName={name} Nodes={nodes}"),
            UnderSwitch::Switches(switches) => writeln!(text, "SwitchName={name} Switches={switches}"),
        };
    }
    WriterOutput { text, notes }
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
