//! The direction of imports: translates every path in a source into rooms of `docs/architecture.md`.

use crate::architecture::Architecture;
use crate::source::{Offence, Source, is_name};

/// Position of a source: its crate, and its module path in it (`["capture", "tape"]`; empty for `lib.rs`).
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub krate: &'a str,
    pub module: &'a [String],
}

/// Every import of a source in the wrong direction. Sources without a position (the binary, and tests) import crates
/// from outside and may use any room.
pub fn imports(source: &Source, place: Option<Place>, architecture: &Architecture) -> Vec<Offence> {
    let mut offences = Vec::new();
    let here = place.and_then(|place| {
        architecture.room(place.krate, place.module.first().map_or(place.krate, String::as_str))
    });
    for named in paths(&source.code()) {
        let Some((krate, name)) = target(&named, place, architecture) else { continue };
        let test = source.lines.get(named.line).is_some_and(|line| line.test);
        let refusal = match architecture.room(krate, name) {
            None => Some(format!("'{name}' is no room of the crate {krate}")),
            Some(room) => here.and_then(|here| architecture.refusal(here, room, test)),
        };
        if let Some(what) = refusal {
            offences.push(source.offence(named.line, what));
        }
    }
    offences.sort();
    offences.dedup();
    offences
}

/// The paths that a source's own code takes inside its crate, each from the crate's root on. Tests do not count.
pub fn paths_inside(source: &Source, module: &[String]) -> Vec<Vec<String>> {
    let own = paths(&source.code()).into_iter();
    let own = own.filter(|named| !source.lines.get(named.line).is_some_and(|line| line.test));
    own.filter_map(|named| from_root(&named, module)).collect()
}

fn from_root(named: &NamedPath, module: &[String]) -> Option<Vec<String>> {
    let (first, rest) = named.path.split_first()?;
    if first == "crate" {
        return Some(rest.to_vec());
    }
    let supers =
        named.path.iter().skip_while(|name| *name == "self").take_while(|name| *name == "super").count();
    let from = usize::from(first == "self") + supers;
    let up = supers.saturating_sub(named.inside);
    let base = module.get(..module.len().checked_sub(up)?)?;
    let below = named.path.get(from..)?;
    Some(base.iter().chain(below).cloned().collect())
}

/// A path as written, with its line and the number of inline modules around it.
#[derive(Debug, PartialEq, Eq)]
struct NamedPath {
    path: Vec<String>,
    line: usize,
    inside: usize,
}

/// The crate that a path leads into, with the path's name at that crate's root. `None` if the path stays in the
/// file's own module.
fn target<'a>(
    named: &'a NamedPath,
    place: Option<Place<'a>>,
    architecture: &Architecture,
) -> Option<(&'a str, &'a str)> {
    let first = named.path.first()?.as_str();
    let name = |at: usize| named.path.get(at).map(String::as_str);
    if first == "fabdeck" {
        return Some((first, name(1)?));
    }
    if let Some(krate) = first.strip_prefix("fabdeck_") {
        return architecture.needs.contains_key(krate).then(|| (krate, name(1).unwrap_or(krate)));
    }
    let Place { krate, module } = place?;
    match first {
        "crate" => Some((krate, name(1)?)),
        "super" | "self" => {
            let climbs = named.path.iter().skip_while(|name| *name == "self");
            let climbs = climbs.take_while(|name| *name == "super").count();
            let at = usize::from(first == "self") + climbs;
            (climbs >= module.len() + named.inside).then(|| (krate, name(at).unwrap_or(krate)))
        }
        // In `lib.rs` the crate's modules are in scope without a prefix.
        _ => (module.is_empty() && architecture.room(krate, first) == Some(first)).then_some((krate, first)),
    }
}

/// All paths that begin with `crate`, `super`, `self` or a crate of the workspace, and all that follow `use`, with
/// nested `use` trees expanded.
fn paths(code: &str) -> Vec<NamedPath> {
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
            _ if begins_path(&tokens, at) => {
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

fn begins_path(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].0.as_str());
    let token = tokens[at].0.as_str();
    if before(1) == "use" {
        return token.starts_with(is_name);
    }
    // `pub(super)` and `pub(in crate::x)` say who may import, and import nothing.
    if [before(2), before(1)] == ["pub", "("] || [before(3), before(2), before(1)] == ["pub", "(", "in"] {
        return false;
    }
    let begins = matches!(token, "crate" | "super" | "self" | "fabdeck") || token.starts_with("fabdeck_");
    // A `::` continues a path, unless it begins an absolute path (`::fabdeck_mad`).
    let from_crates = !before(2).ends_with(|c| is_name(c) || c == '>') || KEYWORDS.contains(&before(2));
    begins && (before(1) != "::" || from_crates)
}

/// Keywords that a path may follow.
const KEYWORDS: &[&str] = &["as", "dyn", "for", "impl", "in", "mut", "return", "use"];

/// Follows one path from a token on, also into braces; returns the token after it.
fn spread(tokens: &[Token], mut at: usize, prefix: &mut Vec<String>, found: &mut Vec<NamedPath>) -> usize {
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
        found.push(NamedPath { path: prefix.clone(), line, inside: 0 });
    }
    prefix.truncate(kept);
    at
}

/// Splits code into names, `::` and single characters, each with its line from 0.
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
    use crate::architecture::tests::TABLES;

    fn offences(krate: &str, module: &[&str], text: &str) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|name| (*name).to_owned()).collect();
        let place = Place { krate, module: &module };
        let source = Source::scan("src/x.rs", text);
        let found = imports(&source, Some(place), &Architecture::read(TABLES));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn upward_imports_are_caught_in_every_spelling() {
        for text in [
            "use crate::roof::Tile;",
            "use crate::{right, roof};",
            "use crate::{\n    right::Stone,\n    roof::{Tile, Beam},\n};",
            "fn f() { let x = crate::roof::tile(); }",
            "fn f(x: &super::super::roof::Tile) {}",
            "use super::super::{roof};",
            "mod inner { use super::super::super::roof::Tile; }",
            "pub use crate::roof as top;",
            "use crate::{right::{self, b}, roof};",
            "pub(crate) fn f() { crate::roof::go(); }",
            "use fabdeck_house::roof::Tile;",
            "fn f(x: &::fabdeck_house::roof::Tile) {}",
            "use ::fabdeck_house::roof;",
            "use fabdeck::door;",
            "fn f() { fabdeck::bell::ring() }",
        ] {
            let found = offences("house", &["left", "file"], text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("upward"), "{found:?}");
        }
    }

    #[test]
    fn imports_downward_inside_the_room_and_of_listed_pairs_pass() {
        for text in [
            "use fabdeck_ground::Stone; use fabdeck_ground as ground;",
            "use super::other; use super::super::right::x; use crate::left::file;",
            "use crate::right::Wall;",
            "// use crate::roof::Tile;",
            "const A: &str = \"crate::roof\";",
            "mod tests { use super::*; use super::super::other; }",
            "pub(crate) struct A; pub(in crate::left) struct B;",
            "use self::part::Part; use other::crate_of; let fabdeck_roof = 1;",
            "use fabdeck_shed::Spade;",
            "use roof::in_a_crate_from_elsewhere;",
        ] {
            assert_eq!(offences("house", &["left", "file"], text), [""; 0], "{text}");
        }
    }

    #[test]
    fn marks_of_visibility_are_no_imports() {
        let module = ["left".to_owned(), "file".to_owned()];
        for text in
            ["pub(super) fn f() {}", "pub(in crate::left) struct A;", "pub(in super::super) struct A;"]
        {
            assert_eq!(paths_inside(&Source::scan("src/x.rs", text), &module), [[""; 0]; 0], "{text}");
        }
        let both = "pub(super) fn f() { super::g() }";
        assert_eq!(paths_inside(&Source::scan("src/x.rs", both), &module), [["left", "g"]]);
    }

    #[test]
    fn modules_that_are_no_rooms_belong_to_the_root_room() {
        assert_eq!(offences("house", &["window", "pane"], "use crate::Brick; use super::frame;"), [""; 0]);
        assert_eq!(
            offences("house", &["roof"], "use super::window; use crate::Brick; pub(super) fn f() {}"),
            [""; 0]
        );
        assert!(
            offences("house", &["window"], "use super::roof;")[0].contains("house (floor 1) imports roof")
        );
        assert!(offences("house", &["left"], "use crate::window;")[0].contains("left -> house"));
        assert!(offences("ground", &["left"], "use fabdeck_house::Brick;")[0].contains("ground (floor 0)"));
    }

    #[test]
    fn a_root_that_exports_a_higher_room_is_caught() {
        assert!(
            offences("house", &[], "mod roof;\npub use roof::Tile;")[0].contains("x.rs:2: house (floor 1)")
        );
        assert_eq!(offences("house", &[], "pub mod roof;\nmod window;\npub use window::Pane;"), [""; 0]);
        assert_eq!(offences("fabdeck", &[], "pub use bell::ring;"), [""; 0]);
    }

    #[test]
    fn unlisted_pairs_fail_and_tests_may_import_their_floor() {
        assert!(offences("house", &["right"], "use crate::left::A;")[0].contains("not listed"));
        let test = "#[cfg(test)]\nmod tests {\n    use crate::left::A;\n    use crate::roof::B;\n}";
        let found = offences("house", &["right"], test);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("src/x.rs:4: "), "{found:?}");
    }

    #[test]
    fn a_room_without_a_row_fails() {
        for name in ["cellar", "left"] {
            let found = offences("fabdeck", &["bell"], &format!("use crate::{name}::A;"));
            assert!(found[0].contains("no room of the crate fabdeck"), "{found:?}");
        }
        assert_eq!(offences("fabdeck", &["bell"], "use crate::door::A; use fabdeck_house::roof;"), [""; 0]);
        let main = "fn main() { fabdeck::cellar::go(); fabdeck::bell::go() }\nfn fabdeck() {}";
        let found = imports(&Source::scan("src/fabdeck/main.rs", main), None, &Architecture::read(TABLES));
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
