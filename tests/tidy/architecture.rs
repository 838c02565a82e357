//! The tables of `docs/architecture.md`: crates and their needs, rooms and their floors, pairs of rooms on one floor.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::source::Offence;

const PATH: &str = "docs/architecture.md";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Architecture {
    /// The crates of the workspace that each crate depends on.
    pub needs: BTreeMap<String, BTreeSet<String>>,
    pub rooms: BTreeMap<String, Room>,
    pub pairs: BTreeSet<(String, String)>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Room {
    pub floor: u8,
    pub krate: String,
}

impl Architecture {
    /// Reads the tables whose heads are `crate | needs`, `floor | room | crate` and `from | to`.
    pub fn read(markdown: &str) -> Self {
        let mut architecture = Self::default();
        let mut head = Vec::new();
        for line in markdown.lines() {
            let Some(row) = line.trim().strip_prefix('|') else {
                head.clear();
                continue;
            };
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(clean).collect();
            match head.is_empty() {
                true => head = cells,
                false if cells[0].starts_with("--") => {}
                false => architecture.add_row(&head, &cells),
            }
        }
        architecture.spell_out_all();
        architecture
    }

    fn add_row(&mut self, head: &[&str], cells: &[&str]) {
        if head.starts_with(&["crate", "needs"]) && cells.len() > 1 {
            let needs = cells[1].split(',').map(clean).filter(|name| *name != "-");
            self.needs.insert(cells[0].to_owned(), needs.map(str::to_owned).collect());
        } else if head.starts_with(&["floor", "room", "crate"]) && cells.len() > 2 {
            if let Ok(floor) = cells[0].parse() {
                self.rooms.insert(cells[1].to_owned(), Room { floor, krate: cells[2].to_owned() });
            }
        } else if head.starts_with(&["from", "to"]) && cells.len() > 1 {
            self.pairs.insert((cells[0].to_owned(), cells[1].to_owned()));
        }
    }

    /// Replaces `all` in the needs of a crate by every other crate.
    fn spell_out_all(&mut self) {
        let names: BTreeSet<String> = self.needs.keys().cloned().collect();
        for (name, needs) in &mut self.needs {
            if needs.remove("all") {
                needs.extend(names.iter().filter(|other| *other != name).cloned());
            }
        }
    }

    /// The room of a name at the root of a crate: the room with this name, otherwise the crate's root room. The root
    /// room has the crate's name. The program has no root room, so each name there is a room.
    pub fn room<'a>(&'a self, krate: &'a str, name: &'a str) -> Option<&'a str> {
        let is_room = |room: &&str| self.rooms.get(*room).is_some_and(|room| room.krate == krate);
        [name, krate].into_iter().find(is_room)
    }

    pub fn floor(&self, krate: &str, name: &str) -> Option<u8> {
        self.room(krate, name).map(|room| self.rooms[room].floor)
    }

    /// Checks the tables themselves: rooms belong to listed crates, and pairs join rooms on one floor of one crate
    /// without a cycle.
    pub fn offences(&self) -> Vec<Offence> {
        let mut offences = Vec::new();
        let mut wrong = |what: String| offences.push(Offence { path: PATH.to_owned(), line: 1, what });
        for (name, needs) in &self.needs {
            for unknown in needs.iter().filter(|need| !self.needs.contains_key(*need)) {
                wrong(format!("the crate {name} needs '{unknown}', which has no row"));
            }
        }
        for (name, room) in self.rooms.iter().filter(|(_, room)| !self.needs.contains_key(&room.krate)) {
            wrong(format!("the room {name} lies in '{}', which is no crate of the table", room.krate));
        }
        for (from, to) in &self.pairs {
            match (self.rooms.get(from), self.rooms.get(to)) {
                (Some(a), Some(b)) if a == b => {}
                _ => wrong(format!("the pair {from} -> {to} does not join rooms of one floor in one crate")),
            }
            if self.leads_to(to, from, &mut BTreeSet::new()) {
                wrong(format!("the pair {from} -> {to} leads back to {from}"));
            }
        }
        offences
    }

    fn leads_to(&self, from: &str, to: &str, visited: &mut BTreeSet<String>) -> bool {
        if from == to {
            return true;
        }
        if !visited.insert(from.to_owned()) {
            return false;
        }
        let mut next = self.pairs.iter().filter(|(a, _)| a == from);
        next.any(|(_, b)| self.leads_to(b, to, visited))
    }

    /// Reason why a room must not import another, or `None` if it may. Cargo keeps the order of crates on one floor.
    /// Tests may import any room on their own floor.
    pub fn refusal(&self, from: &str, to: &str, test: bool) -> Option<String> {
        let (here, there) = (self.rooms.get(from)?, self.rooms.get(to)?);
        let listed = self.pairs.contains(&(from.to_owned(), to.to_owned()));
        match here.floor.cmp(&there.floor) {
            Ordering::Greater => None,
            Ordering::Equal if from == to || here.krate != there.krate || listed || test => None,
            Ordering::Equal => Some(format!("{from} -> {to}: a pair on one floor that is not listed")),
            Ordering::Less => {
                Some(format!("{from} (floor {}) imports {to} (floor {}) upward", here.floor, there.floor))
            }
        }
    }
}

fn clean(cell: &str) -> &str {
    cell.trim().trim_matches('`').trim()
}

/// Paths in backticks that name something below `src`, `tests` or `docs`, without placeholders such as `src/NAME`.
/// Arguments after a path are ignored.
pub fn named_paths(page: &str, text: &str) -> Vec<(Offence, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let path = quoted.split_whitespace().next().unwrap_or_default();
            let ours = ["src/", "tests/", "docs/"].iter().any(|top| path.starts_with(top));
            let fixed = path.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
            let form = path.split('/').any(|part| part.starts_with(|c: char| c.is_uppercase()));
            if ours && fixed && !form {
                let what = format!("'{path}' does not exist");
                found.push((Offence { path: page.to_owned(), line: at + 1, what }, path.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const TABLES: &str = "\
| crate | needs | what |
|---|---|---|
| `ground` | - | a library |
| `house` | `ground` | a library |
| `shed` | `ground`, `house` | a library |
| `fabdeck` | all | the program |

| floor | room | crate | what |
|---|---|---|---|
| 0 | `ground` | `ground` | a |
| 1 | `house` | `house` | b |
| 1 | `left` | `house` | c |
| 1 | `right` | `house` | d |
| 1 | `shed` | `shed` | e |
| 2 | `roof` | `house` | f |
| 3 | `door` | `fabdeck` | g |
| 4 | `bell` | `fabdeck` | h |

Pairs:

| from | to | why |
|---|---|---|
| `left` | `right` | i |
";

    #[test]
    fn all_tables_are_read() {
        let read = Architecture::read(TABLES);
        let needs = |name: &str| read.needs[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(read.needs.len(), 4);
        assert_eq!(needs("ground"), [""; 0]);
        assert_eq!(needs("shed"), ["ground", "house"]);
        assert_eq!(needs("fabdeck"), ["ground", "house", "shed"]);
        assert_eq!(read.rooms.len(), 8);
        assert_eq!(read.rooms["left"], Room { floor: 1, krate: "house".to_owned() });
        assert_eq!(read.pairs, BTreeSet::from([("left".to_owned(), "right".to_owned())]));
        assert_eq!(read.offences(), []);
    }

    #[test]
    fn names_belong_to_their_room_or_to_the_root_room_of_their_crate() {
        let read = Architecture::read(TABLES);
        assert_eq!(read.room("house", "left"), Some("left"));
        assert_eq!(read.room("house", "Window"), Some("house"));
        assert_eq!(read.room("shed", "left"), Some("shed"), "a module named as a room of another crate");
        assert_eq!(read.room("fabdeck", "door"), Some("door"));
        assert_eq!(read.room("fabdeck", "left"), None);
        assert_eq!(read.floor("house", "roof"), Some(2));
    }

    #[test]
    fn tables_that_contradict_themselves_are_caught() {
        let with = |row: &str| Architecture::read(&format!("{TABLES}{row}\n")).offences().len();
        assert_eq!(with("| `right` | `left` | leads back, and so does the listed one |"), 2);
        assert_eq!(with("| `ground` | `roof` | two floors |"), 1);
        assert_eq!(with("| `shed` | `house` | two crates |"), 1);
        assert_eq!(with("\n| floor | room | crate |\n|---|---|---|\n| 1 | `attic` | `castle` |"), 1);
        assert_eq!(with("\n| crate | needs |\n|---|---|\n| `ground` | `cellar` |"), 1);
    }

    #[test]
    fn paths_that_pages_name_are_found() {
        let text =
            "see `src/a/b.rs`, `tests/run --long`, `docs/x.md`\n`src/NAME/lib.rs` `theirs/a` src/plain.rs";
        let found: Vec<String> = named_paths("docs/a.md", text).into_iter().map(|(_, path)| path).collect();
        assert_eq!(found, ["src/a/b.rs", "tests/run", "docs/x.md"]);
    }
}
