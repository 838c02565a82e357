//! Every code of files and sources stands in docs/formats.md or docs/live.md, and nothing else does; each means one thing.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The codes in a text: `FN-` with three digits, and those errors that come from files, ports and sources.
fn codes(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (start, digits) in [("FN-", 3), ("FD-2", 3), ("FD-4", 3), ("FD-5", 3)] {
        for (at, _) in text.match_indices(start) {
            let number: String = text[at + start.len()..].chars().take_while(char::is_ascii_digit).collect();
            if number.len() == digits {
                found.insert(format!("{start}{number}"));
            }
        }
    }
    found
}

fn codes_under(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes_under(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.extend(codes(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn codes_of_files_are_documented() {
    let root = Path::new(env!("FABDECK_ROOT"));
    let mut used = BTreeSet::new();
    let folders = ["mad/access", "files", "simulator", "live", "fabdeck/system", "fabdeck/catalogue/views"];
    for folder in folders {
        codes_under(&root.join("src").join(folder), &mut used);
    }
    used.extend(codes(&std::fs::read_to_string(root.join("src/fabdeck/script/commands/trace.rs")).unwrap()));
    // Notes of commands and of the console, whatever the source.
    let mut of_program = BTreeSet::new();
    ["fabdeck/script", "fabdeck/catalogue", "fabdeck/operations", "fabdeck/console", "fabdeck/system"]
        .iter()
        .for_each(|folder| codes_under(&root.join("src").join(folder), &mut of_program));
    used.extend(of_program.into_iter().filter(|code| code.starts_with("FN-7")));
    let pages =
        ["docs/formats.md", "docs/live.md"].map(|page| std::fs::read_to_string(root.join(page)).unwrap());
    let documented = codes(&pages.concat());
    let missing: Vec<_> = used.difference(&documented).collect();
    let stale: Vec<_> = documented.difference(&used).collect();
    assert!(missing.is_empty() && stale.is_empty(), "missing {missing:?}, stale {stale:?}");
}

/// Those of changes have a page of their own.
#[test]
fn codes_of_changes_are_documented() {
    let root = Path::new(env!("FABDECK_ROOT"));
    let mut used = BTreeSet::new();
    codes_under(&root.join("src/change"), &mut used);
    // Notes of commands and of the console, whatever the source.
    let mut of_program = BTreeSet::new();
    ["fabdeck/script", "fabdeck/catalogue", "fabdeck/operations", "fabdeck/console", "fabdeck/system"]
        .iter()
        .for_each(|folder| codes_under(&root.join("src").join(folder), &mut of_program));
    used.extend(of_program.into_iter().filter(|code| code.starts_with("FN-7")));
    let pages =
        ["docs/safety.md", "docs/opensm.md"].map(|page| std::fs::read_to_string(root.join(page)).unwrap());
    let documented = codes(&pages.concat());
    // FD-55xx are those of plans: whoever reads the file sees them.
    let used: BTreeSet<_> = used.into_iter().filter(|code| code.starts_with("FD-56")).collect();
    assert_eq!(used, documented);
}

/// What the messages of a code begin with, by the file that says them; tests of a file and what is put in are left out.
fn beginnings(folder: &Path, found: &mut BTreeMap<String, BTreeSet<(String, String)>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            beginnings(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for (at, _) in text.match_indices("\"FD-") {
            let Some((code, words)) = text[at + 1..].split_once(": ") else { continue };
            let begin: Vec<&str> = words.split([' ', '"']).take(3).collect();
            if code.len() == 7 && !begin[0].starts_with('{') {
                let place = (path.display().to_string(), begin.join(" "));
                found.entry(code.to_owned()).or_default().insert(place);
            }
        }
    }
}

/// Whoever looks a code up finds one thing. Those of runbooks (FD-92xx) are kinds of failures, whichever step fails so.
#[test]
fn a_code_means_the_same_wherever_it_is_said() {
    let mut found = BTreeMap::new();
    beginnings(&Path::new(env!("FABDECK_ROOT")).join("src"), &mut found);
    assert!(found.len() > 200, "{}", found.len());
    for (code, places) in found.iter().filter(|(code, _)| !code.starts_with("FD-92")) {
        let files: BTreeSet<&String> = places.iter().map(|(file, _)| file).collect();
        let begin: BTreeSet<&String> = places.iter().map(|(_, words)| words).collect();
        assert!(files.len() == 1 || begin.len() == 1, "{code}: {places:#?}");
    }
}
