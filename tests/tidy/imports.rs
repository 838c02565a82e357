//! The direction of imports: the tables of `docs/architecture.md`, and every path of the crate that a source names.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Offence, Source, is_name};

/// Floors and pairs as the architecture states them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub floors: BTreeMap<String, u8>,
    pub pairs: BTreeSet<(String, String)>,
}

impl Plan {
    /// Reads the tables whose heads are `floor | room` and `from | to`.
    pub fn read(markdown: &str) -> Self {
        let mut plan = Self::default();
        let mut head = Vec::new();
        for line in markdown.lines() {
            let Some(row) = line.trim().strip_prefix('|') else {
                head.clear();
                continue;
            };
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(clean).collect();
            if head.is_empty() {
                head = cells;
            } else if head.starts_with(&["floor", "room"]) && cells.len() > 1 {
                if let Ok(floor) = cells[0].parse() {
                    plan.floors.insert(cells[1].trim_end_matches('/').to_owned(), floor);
                }
            } else if head.starts_with(&["from", "to"]) && cells.len() > 1 && !cells[0].starts_with('-') {
                plan.pairs.insert((cells[0].to_owned(), cells[1].to_owned()));
            }
        }
        plan
    }

    /// Pairs join rooms of one floor, and following them never leads back.
    pub fn offences(&self, path: &str) -> Vec<Offence> {
        let mut offences = Vec::new();
        let mut wrong = |what: String| offences.push(Offence { path: path.to_owned(), line: 1, what });
        for (from, to) in &self.pairs {
            match (self.floors.get(from), self.floors.get(to)) {
                (Some(a), Some(b)) if a == b => {}
                _ => wrong(format!("the pair {from} -> {to} does not join two rooms of one floor")),
            }
            if self.reaches(to, from, &mut BTreeSet::new()) {
                wrong(format!("the pair {from} -> {to} leads back to {from}"));
            }
        }
        offences
    }

    fn reaches(&self, from: &str, to: &str, seen: &mut BTreeSet<String>) -> bool {
        if from == to {
            return true;
        }
        if !seen.insert(from.to_owned()) {
            return false;
        }
        let next = self.pairs.iter().filter(|(a, _)| a == from);
        next.into_iter().any(|(_, b)| self.reaches(b, to, seen))
    }

    /// Why a room must not name another, if it must not. Tests may look at any room of their own floor.
    fn refusal(&self, from: &str, to: &str, test: bool) -> Option<String> {
        if from == to {
            return None;
        }
        let (Some(here), Some(there)) = (self.floors.get(from), self.floors.get(to)) else {
            return Some(format!("'{to}' is no room of the architecture"));
        };
        let listed = self.pairs.contains(&(from.to_owned(), to.to_owned()));
        match here.cmp(there) {
            std::cmp::Ordering::Greater => None,
            std::cmp::Ordering::Equal if listed || test => None,
            std::cmp::Ordering::Equal => {
                Some(format!("{from} -> {to}: a pair on one floor that is not listed"))
            }
            std::cmp::Ordering::Less => {
                Some(format!("{from} (floor {here}) imports {to} (floor {there}) upward"))
            }
        }
    }
}

fn clean(cell: &str) -> &str {
    cell.trim().trim_matches('`').trim()
}

/// Every import of a source that goes the wrong way. `module` is the file's own path in the crate
/// (`["files", "lfts"]`; empty for `lib.rs`); `None` is the binary, which names rooms through the library.
pub fn imports(source: &Source, module: Option<&[String]>, plan: &Plan) -> Vec<Offence> {
    let mut offences = Vec::new();
    for named in paths(&source.code()) {
        let Some(room) = room_of(&named, module) else { continue };
        let test = source.lines.get(named.line).is_some_and(|line| line.test);
        let refusal = match module {
            None if plan.floors.contains_key(&room) => None,
            None => Some(format!("'{room}' is no room of the architecture")),
            Some([]) => None,
            Some([from, ..]) => plan.refusal(from, &room, test),
        };
        if let Some(what) = refusal {
            offences.push(source.offence(named.line, what));
        }
    }
    offences.sort();
    offences.dedup();
    offences
}

/// A path as written, its line, and how many inline modules it stands in.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    path: Vec<String>,
    line: usize,
    inside: usize,
}

/// The room that a path leads to, when it leaves the file's own module through the root of the crate.
fn room_of(named: &Named, module: Option<&[String]>) -> Option<String> {
    let first = named.path.first()?;
    if first == "fabdeck" && module.is_none() {
        return named.path.get(1).cloned();
    }
    let depth = module?.len() + named.inside;
    match first.as_str() {
        "crate" => named.path.get(1).filter(|name| name.as_str() != "{").cloned(),
        "super" | "self" => {
            let climbs = named.path.iter().skip_while(|name| *name == "self");
            let climbs = climbs.take_while(|name| *name == "super").count();
            let at = usize::from(first == "self") + climbs;
            (climbs >= depth).then(|| named.path.get(at).cloned().unwrap_or_default())
        }
        _ => None,
    }
}

/// All paths that begin with `crate`, `super`, `self` or `fabdeck`, with the trees of `use` spread out.
fn paths(code: &str) -> Vec<Named> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut modules: Vec<usize> = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while at < tokens.len() {
        let (token, line) = (tokens[at].0.as_str(), tokens[at].1);
        match token {
            "{" => {
                if at >= 2 && tokens[at - 2].0 == "mod" {
                    modules.push(depth);
                }
                depth += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                if modules.last() == Some(&depth) {
                    modules.pop();
                }
            }
            "crate" | "super" | "self" | "fabdeck" if at == 0 || tokens[at - 1].0 != "::" => {
                let start = found.len();
                at = spread(&tokens, at, &mut Vec::new(), &mut found);
                for (_, named) in found.iter_mut().enumerate().skip(start) {
                    named.inside = modules.len();
                    named.line = named.line.max(line);
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

type Token = (String, usize);

/// Follows one path from a token on, into braces; returns the token after it.
fn spread(tokens: &[Token], mut at: usize, prefix: &mut Vec<String>, found: &mut Vec<Named>) -> usize {
    let kept = prefix.len();
    let mut line = tokens.get(at).map_or(0, |token| token.1);
    loop {
        match tokens.get(at).map(|token| token.0.as_str()) {
            Some("{") => {
                at += 1;
                while at < tokens.len() && tokens[at].0 != "}" {
                    let next = spread(tokens, at, prefix, found);
                    at = next.max(at + 1);
                    if tokens.get(at).is_some_and(|token| token.0 == ",") {
                        at += 1;
                    }
                }
                prefix.truncate(kept);
                return at + 1;
            }
            Some(name) if name.starts_with(is_name) || name == "*" => {
                prefix.push(name.to_owned());
                line = tokens[at].1;
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_some_and(|token| token.0 == "::") {
            at += 1;
        } else {
            break;
        }
    }
    if tokens.get(at).is_some_and(|token| token.0 == "as") {
        at += 2;
    }
    if prefix.len() > kept {
        found.push(Named { path: prefix.clone(), line, inside: 0 });
    }
    prefix.truncate(kept);
    at
}

/// Names, `::` and single signs, each with its line from 0.
fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_name(first) {
                rest.find(|c| !is_name(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((rest[..length].to_owned(), number));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "\
| floor | room | what |
|---|---|---|
| 0 | `ground` | a |
| 1 | `left/` | b |
| 1 | `right` | c |
| 2 | `roof` | d |

Pairs:

| from | to | why |
|---|---|---|
| `left` | `right` | e |
";

    fn offences(module: &[&str], text: &str) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|name| (*name).to_owned()).collect();
        let source = Source::scan("src/x.rs", text);
        imports(&source, Some(&module), &Plan::read(PLAN)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn both_tables_are_read() {
        let plan = Plan::read(PLAN);
        assert_eq!(plan.floors.len(), 4);
        assert_eq!(plan.floors["left"], 1);
        assert_eq!(plan.pairs, BTreeSet::from([("left".to_owned(), "right".to_owned())]));
        assert!(plan.offences("docs").is_empty());
    }

    #[test]
    fn pairs_never_lead_back_nor_across_floors() {
        let both = format!("{PLAN}| `right` | `left` | f |\n");
        assert_eq!(Plan::read(&both).offences("docs").len(), 2);
        let up = format!("{PLAN}| `ground` | `roof` | f |\n");
        assert_eq!(Plan::read(&up).offences("docs").len(), 1);
    }

    #[test]
    fn upward_imports_are_caught_in_every_spelling() {
        for text in [
            "use crate::roof::Tile;",
            "use crate::{ground, roof};",
            "use crate::{\n    ground::Stone,\n    roof::{Tile, Beam},\n};",
            "fn f() { let x = crate::roof::tile(); }",
            "fn f(x: &super::super::roof::Tile) {}",
            "use super::super::{roof};",
            "mod inner { use super::super::super::roof::Tile; }",
            "pub use crate::roof as top;",
            "use crate::{left::{self, b}, roof};",
            "pub(crate) fn f() { crate::roof::go(); }",
        ] {
            let found = offences(&["left", "file"], text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("upward"), "{found:?}");
        }
    }

    #[test]
    fn imports_downward_inside_the_room_and_of_listed_pairs_pass() {
        for text in [
            "use crate::ground::Stone;",
            "use super::other; use super::super::right::x; use crate::left::file;",
            "use crate::right::Wall;",
            "// use crate::roof::Tile;",
            "const A: &str = \"crate::roof\";",
            "mod tests { use super::*; use super::super::other; }",
            "pub(crate) struct A; pub(in crate::left) struct B;",
            "use self::part::Part;",
        ] {
            assert_eq!(offences(&["left", "file"], text), [""; 0], "{text}");
        }
    }

    #[test]
    fn unlisted_pairs_fail_and_tests_may_look_around_their_floor() {
        assert!(offences(&["right"], "use crate::left::A;")[0].contains("not listed"));
        let test = "#[cfg(test)]\nmod tests {\n    use crate::left::A;\n    use crate::roof::B;\n}";
        let found = offences(&["right"], test);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("src/x.rs:4: "), "{found:?}");
    }

    #[test]
    fn a_room_outside_the_plan_fails() {
        assert!(offences(&["left"], "use crate::cellar::A;")[0].contains("no room"));
        let source = Source::scan("src/main.rs", "fn main() { fabdeck::cellar::go(); fabdeck::roof::go() }");
        assert_eq!(imports(&source, None, &Plan::read(PLAN)).len(), 1);
    }
}
