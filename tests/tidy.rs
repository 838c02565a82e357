//! The rules of the house as tests: one direction of imports, budgets, words, and places of files. Each rule is in
//! `tests/tidy/`, beside a test that shows it an offence.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "tidy/architecture.rs"]
mod architecture;
#[path = "tidy/import_cycles.rs"]
mod import_cycles;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/manifests.rs"]
mod manifests;
#[path = "tidy/named_tests.rs"]
mod named_tests;
#[path = "tidy/prose.rs"]
mod prose;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/shrinking.rs"]
mod shrinking;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/type_names.rs"]
mod type_names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use architecture::Architecture;
use imports::Place;
use manifests::Manifest;
use shrinking::ShrinkingList;
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

fn architecture() -> Architecture {
    Architecture::read(&text("docs/architecture.md"))
}

/// The manifests of the workspace's members.
/// The tool that puts breaks into the library crates is a workspace of its own.
const OWN_WORKSPACE: &str = "tests/mutants/";

/// The manifests of the workspace's members.
fn manifests() -> Vec<Manifest> {
    let paths = files("src").into_iter().chain(files("tests"));
    paths
        .filter(|path| path.ends_with("/Cargo.toml") && !path.starts_with(OWN_WORKSPACE))
        .map(|path| Manifest::read(&path, &text(&path)))
        .collect()
}

fn floor(path: &str, architecture: &Architecture) -> Option<u8> {
    tree::crate_and_name(path).and_then(|(krate, name)| architecture.floor(krate, name))
}

#[track_caller]
fn none(offences: Vec<Offence>) {
    let list: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} offences:\n{}", list.len(), list.join("\n"));
}

/// Compares what is there with a list that may only shrink.
#[track_caller]
fn only_shrinks(list: &str, found: &BTreeMap<String, usize>) {
    let path = format!("tests/tidy/lists/{list}.txt");
    let known = ShrinkingList::read(&path, &text(&path));
    if std::env::var_os("FABDECK_UPDATE_DOCS").is_some() {
        std::fs::write(repository().join(&path), known.shrunk(found)).unwrap();
    }
    none(ShrinkingList::read(&path, &text(&path)).offences(found));
}

#[test]
fn imports_go_down() {
    let (sources, architecture) = (sources(), architecture());
    assert!(!architecture.rooms.is_empty(), "docs/architecture.md has no table of floors");
    let mut offences = architecture.offences();
    let mut placed = BTreeSet::new();
    for krate in architecture.needs.keys() {
        for (path, module) in &Tree::follow(&format!("src/{krate}/lib.rs"), &sources).modules {
            offences.extend(imports::imports(&sources[path], Some(Place { krate, module }), &architecture));
            placed.insert(path.clone());
        }
    }
    for source in sources.values().filter(|source| !placed.contains(&source.path)) {
        offences.extend(imports::imports(source, None, &architecture));
    }
    none(offences);
}

/// The room `app` may import `script`, because the process runs the command line; its console may not.
#[test]
fn the_console_of_the_process_imports_nothing_of_the_command_line() {
    let sources = sources();
    let modules = Tree::follow("src/fabdeck/lib.rs", &sources).modules;
    let console = modules.iter().filter(|(path, _)| path.starts_with("src/fabdeck/app/console/"));
    let named = console.flat_map(|(path, module)| {
        let named = imports::paths_inside(&sources[path], module).into_iter();
        named.map(|named| (sources[path].offence(0, named.join("::")), named))
    });
    let named: Vec<_> = named.collect();
    assert!(named.iter().any(|(_, path)| path.first().is_some_and(|room| room == "console")));
    let script = named.into_iter().filter(|(_, path)| path.first().is_some_and(|room| room == "script"));
    none(script.map(|(offence, _)| offence).collect());
}

#[test]
fn crates_and_rooms_stand_in_the_architecture() {
    none(tree::rooms(&sources(), &architecture()));
}

#[test]
fn crates_need_what_the_architecture_says() {
    let architecture = architecture();
    let manifests = manifests();
    let needs = manifests.iter().flat_map(|manifest| manifest.check_needs(&architecture));
    none(needs.chain(manifests.iter().flat_map(|manifest| manifest.check_name(&architecture))).collect());
}

#[test]
fn versions_and_lints_come_from_the_workspace() {
    none(manifests().iter().flat_map(Manifest::check_inherited).collect());
}

#[test]
fn paths_in_the_docs_exist() {
    let pages = files("docs").into_iter().filter(|path| path.ends_with(".md"));
    let named = pages.flat_map(|page| architecture::named_paths(&page, &text(&page)));
    none(named.filter(|(_, path)| !repository().join(path).exists()).map(|(offence, _)| offence).collect());
}

#[test]
fn tests_in_the_docs_exist() {
    let sources = sources();
    let pages = files("docs").into_iter().filter(|path| path.ends_with(".md"));
    none(pages.flat_map(|page| named_tests::missing(&page, &text(&page), &sources)).collect());
}

#[test]
fn every_source_is_reached() {
    let sources = sources();
    let of_tool = sources.keys().filter(|path| path.starts_with(OWN_WORKSPACE)).cloned();
    let (mut reached, mut offences) = (BTreeSet::from_iter(of_tool), Vec::new());
    let examples = sources.keys().filter(|path| tree::is_example(path)).cloned();
    for root in manifests().iter().flat_map(Manifest::roots).chain(examples) {
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
    let architecture = architecture();
    none(
        sources()
            .values()
            .flat_map(|source| rules::words(source, floor(&source.path, &architecture)))
            .collect(),
    );
}

#[test]
fn words_without_a_meaning_shrink() {
    let sources = sources();
    let below_src = sources.values().map(|source| (source.path.clone(), prose::in_source(source)));
    let pages =
        files("docs").into_iter().filter(|path| path.ends_with(".md")).chain(["README.md".to_owned()]);
    let pages = pages.map(|path| (path.clone(), prose::in_page(&text(&path))));
    only_shrinks("words", &below_src.chain(pages).filter(|(_, count)| *count > 0).collect());
}

#[test]
fn public_types_have_names_of_their_own() {
    let sources = sources();
    let product = sources.values().filter(|source| source.path.starts_with("src/"));
    only_shrinks("type_names", &type_names::repeated(product));
}

#[test]
fn cycles_of_imports_shrink() {
    let (sources, architecture) = (sources(), architecture());
    let trees = architecture.needs.keys().map(|krate| Tree::follow(&format!("src/{krate}/lib.rs"), &sources));
    let cycles = trees.flat_map(|tree| import_cycles::import_cycles(&tree, &sources));
    let cycles: Vec<(String, Vec<String>)> = cycles.collect();
    cycles.iter().for_each(|(_, files)| println!("files that all lead to each other: {}", files.join(", ")));
    only_shrinks("import_cycles", &cycles.into_iter().map(|(first, files)| (first, files.len())).collect());
}

#[test]
fn the_world_stays_above() {
    let architecture = architecture();
    none(
        sources()
            .values()
            .flat_map(|source| rules::world(source, floor(&source.path, &architecture)))
            .collect(),
    );
}

#[test]
fn no_path_of_a_machine() {
    let top = [
        "Cargo.toml",
        "README.md",
        "LICENSE",
        ".gitattributes",
        ".gitignore",
        ".clippy.toml",
        ".rustfmt.toml",
    ]
    .map(str::to_owned);
    let below = ["src", "tests", "docs", "themes", "captures", ".ci", ".cargo", ".config"]
        .map(files)
        .into_iter()
        .flatten();
    let mut offences = Vec::new();
    for path in top.into_iter().chain(below) {
        // Files that are missing or not UTF-8 (corpus files, captures) are skipped.
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
