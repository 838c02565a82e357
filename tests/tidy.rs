//! The house rules, kept by a test: one direction of imports, budgets, words, and what lies where. Each rule stands
//! in `tests/tidy/` beside a test of its own that shows it an offence.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/tree.rs"]
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use imports::Plan;
use source::{Offence, Source};
use tree::Tree;

fn repository() -> PathBuf {
    PathBuf::from(env!("FABDECK_ROOT"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every file below a folder of the repository, by its path from the root.
fn files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => found.push(from_root(&entry)),
            }
        }
    }
    found.sort();
    found
}

fn from_root(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned()
}

fn sources() -> BTreeMap<String, Source> {
    let paths = files("src").into_iter().chain(files("tests")).filter(|path| path.ends_with(".rs"));
    paths.map(|path| (path.clone(), Source::scan(&path, &text(&path)))).collect()
}

fn plan() -> Plan {
    Plan::read(&text("docs/architecture.md"))
}

fn floor(path: &str, plan: &Plan) -> Option<u8> {
    tree::room(path).and_then(|room| plan.floors.get(room)).copied()
}

#[track_caller]
fn none(offences: Vec<Offence>) {
    let list: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} offences:\n{}", list.len(), list.join("\n"));
}

#[test]
fn imports_go_down() {
    let (sources, plan) = (sources(), plan());
    assert!(!plan.floors.is_empty(), "docs/architecture.md has no table of floors");
    let mut offences = plan.offences("docs/architecture.md");
    for (path, module) in &Tree::follow("src/lib.rs", &sources).modules {
        offences.extend(imports::imports(&sources[path], Some(module), &plan));
    }
    offences.extend(imports::imports(&sources["src/main.rs"], None, &plan));
    none(offences);
}

#[test]
fn rooms_stand_in_the_architecture() {
    none(tree::rooms(&sources(), &plan().floors));
}

#[test]
fn every_source_is_reached() {
    let sources = sources();
    let (mut reached, mut offences) = (BTreeSet::new(), Vec::new());
    for root in tree::roots(&text("Cargo.toml")) {
        let tree = Tree::follow(&root, &sources);
        reached.extend(tree.modules.into_keys());
        offences.extend(tree.offences);
    }
    offences.extend(tree::strays(&sources, &reached));
    none(offences);
}

#[test]
fn files_and_functions_keep_their_budgets() {
    none(sources().values().flat_map(rules::budgets).collect());
}

#[test]
fn declaring_files_only_declare() {
    none(sources().values().flat_map(rules::declares_only).collect());
}

#[test]
fn refused_words_are_absent() {
    let plan = plan();
    none(sources().values().flat_map(|source| rules::words(source, floor(&source.path, &plan))).collect());
}

#[test]
fn the_world_stays_above() {
    let plan = plan();
    none(sources().values().flat_map(|source| rules::world(source, floor(&source.path, &plan))).collect());
}

#[test]
fn no_path_of_a_machine() {
    let top = ["Cargo.toml", "README.md", "LICENSE", ".gitignore"].map(str::to_owned);
    let below =
        ["src", "tests", "docs", "themes", "captures", ".ci", ".cargo"].map(files).into_iter().flatten();
    let mut offences = Vec::new();
    for path in top.into_iter().chain(below) {
        // Corpus files and captures are bytes; a file that is not there has nothing wrong in it.
        let Ok(text) = std::fs::read_to_string(repository().join(&path)) else { continue };
        offences.extend(rules::machine_paths(&path, &text));
    }
    none(offences);
}

#[test]
fn the_top_level_is_fixed() {
    let entries = std::fs::read_dir(repository()).unwrap();
    let entries: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    none(tree::top_level(&entries));
}
