//! A public type has a name of its own: two rooms do not use one name for different things.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, is_name};

const KEYWORDS: &[&str] = &["struct", "enum", "union", "type"];

/// The public types that several files below `src` define, with the number of those files. Types of tests and
/// associated types, which are not public by themselves, do not count.
pub fn repeated<'a>(sources: impl IntoIterator<Item = &'a Source>) -> BTreeMap<String, usize> {
    let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        for line in source.lines.iter().filter(|line| !line.test) {
            if let Some(name) = public_type(&line.code) {
                files.entry(name.to_owned()).or_default().insert(&source.path);
            }
        }
    }
    let counts = files.into_iter().map(|(name, files)| (name, files.len()));
    counts.filter(|(_, count)| *count > 1).collect()
}

/// The name in `pub struct Name` and its kin, whatever the reach of `pub`.
fn public_type(code: &str) -> Option<&str> {
    let rest = code.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1,
        None => rest,
    };
    let (keyword, rest) = rest.trim_start().split_once(' ')?;
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    KEYWORDS.contains(&keyword).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_files_are_found() {
        let scan = |path, text| Source::scan(path, text);
        let sources = [
            scan("src/a.rs", "pub struct Path<'a>(&'a str);\npub(crate) enum Kind { A }\nstruct Row;\n"),
            scan("src/b.rs", "    pub struct Path {\n}\npub type Kind = u8;\nstruct Row;\n"),
            scan(
                "src/c.rs",
                "#[cfg(test)]\nmod tests { \npub struct Row; }\npub fn path() {}\npub struct Row;",
            ),
        ];
        let found: Vec<String> = repeated(&sources).into_keys().collect();
        assert_eq!(found, ["Kind", "Path"]);
    }
}
