//! Files of the repository: those that the module tree reaches, the rooms, and the entries at the top.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::Architecture;
use crate::source::{Offence, Source};

/// The files of a crate by the path of their module from its root. A declared module without a file is an offence.
/// Files that no tree reaches are strays.
#[derive(Debug, Default)]
pub struct Tree {
    pub modules: BTreeMap<String, Vec<String>>,
    pub offences: Vec<Offence>,
}

impl Tree {
    /// Follows the declarations of modules from a root file.
    pub fn follow(root: &str, sources: &BTreeMap<String, Source>) -> Self {
        let mut tree = Self::default();
        tree.visit(root, folder(root).to_owned(), Vec::new(), sources);
        tree
    }

    fn visit(&mut self, path: &str, inside: String, module: Vec<String>, sources: &BTreeMap<String, Source>) {
        let Some(source) = sources.get(path) else { return };
        if self.modules.insert(path.to_owned(), module.clone()).is_some() {
            return;
        }
        let mut stated: Option<String> = None;
        for (at, line) in source.lines.iter().enumerate() {
            stated = stated_path(&line.full).or(stated);
            let Some(name) = declared(&line.code) else {
                if !line.code.trim().is_empty() && !line.code.trim().starts_with('#') {
                    stated = None;
                }
                continue;
            };
            let candidates = match stated.take() {
                Some(stated) => vec![join(folder(path), &stated)],
                None => vec![format!("{inside}/{name}.rs"), format!("{inside}/{name}/mod.rs")],
            };
            let Some(found) = candidates.iter().find(|path| sources.contains_key(*path)) else {
                self.offences.push(source.offence(at, format!("mod {name} has no file")));
                continue;
            };
            let below = match found.ends_with("/mod.rs") {
                true => folder(found).to_owned(),
                false => found.trim_end_matches(".rs").to_owned(),
            };
            let mut module = module.clone();
            module.push(name.to_owned());
            self.visit(&found.clone(), below, module, sources);
        }
    }
}

pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins a path to a folder, and resolves `..`.
pub fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn stated_path(line: &str) -> Option<String> {
    let path = line.trim().strip_prefix("#[path = \"")?;
    path.strip_suffix("\"]").map(str::to_owned)
}

/// The name in `mod name;`, with any visibility and attributes.
fn declared(code: &str) -> Option<&str> {
    let at = code.find("mod ").filter(|at| !code[..*at].ends_with(crate::source::is_name))?;
    let name = code[at + 4..].trim().strip_suffix(';')?.trim();
    name.chars().all(crate::source::is_name).then_some(name)
}

/// Sources that no module tree reaches.
pub fn strays(sources: &BTreeMap<String, Source>, reached: &BTreeSet<String>) -> Vec<Offence> {
    let stray = sources.values().filter(|source| !reached.contains(&source.path));
    stray.map(|source| source.offence(0, "no module tree reaches this file")).collect()
}

/// Whether a source is a program in a library's `examples` folder, which Cargo finds by itself.
pub fn is_example(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts[..], ["src", _, "examples", file] if file.ends_with(".rs"))
}

/// The crate of a source below `src`, and its name at the crate's root: the folder, or the file's own name. For
/// `lib.rs` and `main.rs` it is the crate's name. Examples use the crate from outside and belong to no room.
pub fn crate_and_name(path: &str) -> Option<(&str, &str)> {
    if is_example(path) {
        return None;
    }
    let (krate, below) = path.strip_prefix("src/")?.split_once('/')?;
    let name = below.split_once('/').map_or_else(|| below.trim_end_matches(".rs"), |(name, _)| name);
    Some((krate, if below == "lib.rs" || below == "main.rs" { krate } else { name }))
}

/// Compares crates and rooms of the sources with those of the architecture.
pub fn rooms(sources: &BTreeMap<String, Source>, architecture: &Architecture) -> Vec<Offence> {
    let mut offences = Vec::new();
    let (mut crates, mut rooms, mut missing) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for path in sources.keys() {
        let Some((krate, name)) = crate_and_name(path) else { continue };
        let mut wrong = |what: String| offences.push(Offence { path: path.clone(), line: 1, what });
        if crates.insert(krate) && !architecture.needs.contains_key(krate) {
            wrong(format!("the crate '{krate}' has no row in docs/architecture.md"));
        }
        // The root of the program belongs to no room.
        let of_program = krate == name && sources.contains_key(&format!("src/{krate}/main.rs"));
        match architecture.room(krate, name) {
            Some(room) => drop(rooms.insert(room)),
            None if of_program || !missing.insert((krate, name)) => {}
            None => wrong(format!("the room '{name}' of {krate} has no row in docs/architecture.md")),
        }
    }
    let rows = architecture.needs.keys().filter(|krate| !crates.contains(krate.as_str()));
    let rows = rows.map(|krate| format!("the crate '{krate}' has a row and no source"));
    let room_rows = architecture.rooms.keys().filter(|room| !rooms.contains(room.as_str()));
    for what in rows.chain(room_rows.map(|room| format!("the room '{room}' has a row and no source"))) {
        offences.push(Offence { path: "docs/architecture.md".to_owned(), line: 1, what });
    }
    offences
}

const TOP: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "captures",
    "docs",
    "src",
    "target",
    "tests",
    "themes",
];

/// The top level is fixed, except for dotfiles.
pub fn top_level(entries: &[String]) -> Vec<Offence> {
    let stray = entries.iter().filter(|name| !name.starts_with('.') && !TOP.contains(&name.as_str()));
    let what = "does not belong to the top level".to_owned();
    stray.map(|name| Offence { path: name.clone(), line: 1, what: what.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> BTreeMap<String, Source> {
        files.iter().map(|(path, text)| ((*path).to_owned(), Source::scan(path, text))).collect()
    }

    #[test]
    fn stray_files_and_missing_modules_are_caught() {
        let sources = sources(&[
            ("src/lib.rs", "pub mod a;\nmod gone;\n// mod stray;\n"),
            ("src/a/mod.rs", "mod b;\n#[cfg(test)]\n#[path = \"../other/c.rs\"]\nmod c;\nmod inner {}\n"),
            ("src/a/b.rs", "mod d;"),
            ("src/a/b/d.rs", ""),
            ("src/other/c.rs", ""),
            ("src/stray.rs", ""),
        ]);
        let tree = Tree::follow("src/lib.rs", &sources);
        assert_eq!(tree.modules["src/a/b/d.rs"], ["a", "b", "d"]);
        assert_eq!(tree.offences.len(), 1, "{:?}", tree.offences);
        let reached = tree.modules.into_keys().collect();
        let strays = strays(&sources, &reached);
        assert_eq!(strays.len(), 1);
        assert_eq!(strays[0].path, "src/stray.rs");
    }

    #[test]
    fn rooms_and_the_tables_must_agree() {
        let tables = "| crate | needs |\n|---|---|\n| `a` | - |\n| `gone` | - |\n| `p` | `a` |\n\n\
                      | floor | room | crate |\n|---|---|---|\n| 0 | `a` | `a` |\n| 1 | `b` | `a` |\n\
                      | 1 | `c` | `a` |\n| 2 | `d` | `p` |\n";
        let sources = sources(&[
            ("src/a/lib.rs", ""),
            ("src/a/b/mod.rs", ""),
            ("src/a/other.rs", ""),
            ("src/e/lib.rs", ""),
            ("src/p/main.rs", ""),
            ("src/p/lib.rs", ""),
            ("src/p/d/mod.rs", ""),
            ("src/p/b.rs", ""),
            ("tests/c.rs", ""),
        ]);
        let found = rooms(&sources, &Architecture::read(tables));
        let found: Vec<&str> = found.iter().map(|offence| offence.what.as_str()).collect();
        let expected = [
            "the crate 'e' has no row in docs/architecture.md",
            "the room 'e' of e has no row in docs/architecture.md",
            "the room 'b' of p has no row in docs/architecture.md",
            "the crate 'gone' has a row and no source",
            "the room 'c' has a row and no source",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn sources_have_a_crate_and_a_name_at_its_root() {
        assert_eq!(crate_and_name("src/a/b/c/mod.rs"), Some(("a", "b")));
        assert_eq!(crate_and_name("src/a/b.rs"), Some(("a", "b")));
        assert_eq!(crate_and_name("src/a/lib.rs"), Some(("a", "a")));
        assert_eq!(crate_and_name("src/a/b/lib.rs"), Some(("a", "b")));
        assert_eq!(crate_and_name("tests/a/b.rs"), None);
        assert_eq!(crate_and_name("src/a/examples/b.rs"), None);
        assert_eq!(crate_and_name("src/a/examples.rs"), Some(("a", "examples")));
    }

    #[test]
    fn programs_in_examples_are_roots() {
        assert!(is_example("src/a/examples/b.rs"));
        for other in
            ["src/a/examples/b/c.rs", "src/a/examples/b.md", "tests/examples/b.rs", "src/examples/b.rs"]
        {
            assert!(!is_example(other), "{other}");
        }
    }

    #[test]
    fn strangers_at_the_top_are_caught() {
        let entries = ["src", ".ci", "Cargo.toml", "scripts"].map(str::to_owned);
        let found = top_level(&entries);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "scripts");
    }
}
