//! What lies in the repository: which files the module tree reaches, which rooms exist, what stands at the top.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Offence, Source};

/// The files of a crate by the path of their module, from its root on. A declared module without a file is an
/// offence; which files were reached tells what is stray.
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

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path relative to a folder, `..` resolved.
fn join(folder: &str, path: &str) -> String {
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

/// The name in `mod name;`, whatever its visibility and attributes.
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

/// The files that `Cargo.toml` builds: `lib.rs`, `main.rs` and every `path = "....rs"`.
pub fn roots(manifest: &str) -> Vec<String> {
    let paths = manifest.lines().filter_map(|line| line.trim().strip_prefix("path = \"")?.strip_suffix('"'));
    let paths = paths.filter(|path| path.ends_with(".rs")).map(str::to_owned);
    ["src/lib.rs".to_owned(), "src/main.rs".to_owned()].into_iter().chain(paths).collect()
}

/// The room of a source below `src`: its folder, or its own name at the top.
pub fn room(path: &str) -> Option<&str> {
    let below = path.strip_prefix("src/")?;
    let room = below.split_once('/').map_or_else(|| below.trim_end_matches(".rs"), |(room, _)| room);
    (room != "lib" && room != "main").then_some(room)
}

/// Rooms of the sources against rooms of the architecture.
pub fn rooms(sources: &BTreeMap<String, Source>, floors: &BTreeMap<String, u8>) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut here = BTreeSet::new();
    for path in sources.keys() {
        let Some(room) = room(path) else { continue };
        if here.insert(room) && !floors.contains_key(room) {
            let what = format!("the room '{room}' has no row in docs/architecture.md");
            offences.push(Offence { path: path.clone(), line: 1, what });
        }
    }
    for room in floors.keys().filter(|room| !here.contains(room.as_str())) {
        let what = format!("the room '{room}' has a row and no source");
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

/// The top level is fixed, but for dotfiles.
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
    fn rooms_and_the_table_must_agree() {
        let sources =
            sources(&[("src/a/mod.rs", ""), ("src/b.rs", ""), ("src/lib.rs", ""), ("src/main.rs", "")]);
        let floors = [("a", 0), ("c", 1)].map(|(room, floor)| (room.to_owned(), floor));
        let found: Vec<String> = rooms(&sources, &floors.into()).iter().map(|o| o.what.clone()).collect();
        assert_eq!(
            found,
            ["the room 'b' has no row in docs/architecture.md", "the room 'c' has a row and no source"]
        );
    }

    #[test]
    fn strangers_at_the_top_are_caught() {
        let entries = ["src", ".ci", "Cargo.toml", "scripts"].map(str::to_owned);
        let found = top_level(&entries);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "scripts");
    }

    #[test]
    fn the_manifest_names_the_roots() {
        let manifest =
            "[[test]]\nname = \"a\"\npath = \"tests/a/main.rs\"\n[dependencies]\nb = { path = \"x\" }\n";
        assert_eq!(roots(manifest), ["src/lib.rs", "src/main.rs", "tests/a/main.rs"]);
    }
}
