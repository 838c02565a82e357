//! Tests that a page names by file and name: `window.rs::a_window_ends`, or `::another` of the file named last.

use std::collections::BTreeMap;

use super::source::{Offence, Source};

/// Offences for named tests that do not exist in a source with that path.
pub fn missing(page: &str, text: &str, sources: &BTreeMap<String, Source>) -> Vec<Offence> {
    let (mut file, mut offences) = (String::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let Some((of, name)) = quoted.split_once("::") else { continue };
            if !of.is_empty() && !of.ends_with(".rs") {
                continue;
            }
            if !of.is_empty() {
                of.clone_into(&mut file);
            }
            if !is_there(&file, name, sources) {
                let what = format!("there is no test '{name}' in {file}");
                offences.push(Offence { path: page.to_owned(), line: at + 1, what });
            }
        }
    }
    offences
}

fn is_there(file: &str, name: &str, sources: &BTreeMap<String, Source>) -> bool {
    let head = format!("fn {name}(");
    let is_meant =
        |path: &str| path.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let meant = sources.values().filter(|source| is_meant(&source.path));
    meant.flat_map(|source| &source.lines).any(|line| line.code.contains(&head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_no_test_is_caught() {
        let source =
            Source::scan("tests/a/window.rs", "#[test]\nfn it_ends() {}\n\n#[test]\nfn it_begins() {}\n");
        let sources = BTreeMap::from([(source.path.clone(), source)]);
        let text =
            "| `window.rs::it_ends`, `::it_begins` |\n| `::it_lasts`, `low.rs::it_ends`, `crate::other` |\n";
        let missing = missing("docs/a.md", text, &sources);
        let found: Vec<_> = missing.iter().map(|offence| (offence.line, offence.what.as_str())).collect();
        let expected = ["there is no test 'it_lasts' in window.rs", "there is no test 'it_ends' in low.rs"];
        assert_eq!(found, expected.map(|what| (2, what)));
    }
}
