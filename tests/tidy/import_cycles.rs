//! Cycles of imports between the files of one crate: sets of files that all lead to each other by `use` and by paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports;
use crate::source::Source;
use crate::tree::Tree;

/// Size of the largest cycle that needs no row in the list.
const FEW: usize = 8;

/// Cycles of more than `FEW` files: their files, by the first one.
pub fn import_cycles(tree: &Tree, sources: &BTreeMap<String, Source>) -> BTreeMap<String, Vec<String>> {
    let edges = edges(tree, sources);
    let mut cycles = BTreeMap::new();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    for file in edges.keys() {
        if placed.contains(file.as_str()) {
            continue;
        }
        let behind = reached(file, &edges);
        let cycle: Vec<&str> =
            behind.iter().copied().filter(|other| reached(other, &edges).contains(file.as_str())).collect();
        placed.extend(&cycle);
        if cycle.len() > FEW {
            cycles.insert(file.clone(), cycle.into_iter().map(str::to_owned).collect());
        }
    }
    cycles
}

/// The files that each file of a crate imports from, itself excepted. What tests import does not count.
fn edges(tree: &Tree, sources: &BTreeMap<String, Source>) -> BTreeMap<String, BTreeSet<String>> {
    let files: BTreeMap<&[String], &str> =
        tree.modules.iter().map(|(path, module)| (module.as_slice(), path.as_str())).collect();
    let mut edges = BTreeMap::new();
    for (path, module) in &tree.modules {
        let paths = imports::paths_inside(&sources[path], module);
        let named = paths
            .iter()
            .filter_map(|path| (0..=path.len()).rev().find_map(|length| files.get(&path[..length])).copied());
        let others = named.filter(|other| *other != path.as_str() && !other.ends_with("/lib.rs"));
        edges.insert(path.clone(), others.map(str::to_owned).collect());
    }
    edges
}

/// Every file that imports lead to from one on, itself if a cycle leads back.
fn reached<'a>(from: &str, edges: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![from];
    while let Some(file) = ahead.pop() {
        for next in edges.get(file).into_iter().flatten() {
            if reached.insert(next.as_str()) {
                ahead.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_of_many_files_is_found() {
        let ring = |length: usize| {
            let mut sources = BTreeMap::new();
            let mut add =
                |path: String, text: String| drop(sources.insert(path.clone(), Source::scan(&path, &text)));
            add("src/x/lib.rs".to_owned(), (0..length).map(|at| format!("mod m{at};\n")).collect());
            for at in 0..length {
                let next = (at + 1) % length;
                let text =
                    format!("use crate::m{next}::Stone;\n#[cfg(test)]\nmod tests {{\n use crate::m0;\n}}");
                add(format!("src/x/m{at}.rs"), text);
            }
            let tree = Tree::follow("src/x/lib.rs", &sources);
            import_cycles(&tree, &sources)
        };
        assert_eq!(ring(FEW), BTreeMap::new());
        let found = ring(FEW + 1);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["src/x/m0.rs"]);
        assert_eq!(found["src/x/m0.rs"].len(), FEW + 1);
    }
}
