//! Adaptive forwarding of ibdiagnet (`ibdiagnet2.far`): for each switch its groups of ports, and its forwarding tables
//! with a static port, a state and a group for each LID.
//!
//! ```text
//! Switch 0x0002c90000000201
//! Groups Definition:
//! Group   Sub Group   WHBF   Ports
//! --------------------------------
//! 18      0           0      5,6,7,
//!
//! LFT Definition:
//! PLFT_NUM: 0, top: 0x0004
//! LID      Static Port   Lid State   Group
//! ----------------------------------------
//! 0x0001   5             Free        18
//! ```
//!
//! The columns differ between versions. A line that is not understood leaves the tables of its switch out, and no others.

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{AdaptiveEntry, EntryState, Guid, Lid, PortNum, PortSet};

use super::FileError;
use super::content::{AdaptiveFile, AdaptiveSection};
use super::opensm::{
    no_content, note_truncated_line, parse_decimal, parse_prefixed_hex, parse_table_lid, printable_excerpt,
    split_leading_hex,
};
use super::text::{Input, TextLine};

pub const ID: &str = "far";

/// A line of a switch that is not understood.
const BAD_ROW: &str = "FN-446";
/// The file ends within a switch.
const CUT: &str = "FN-302";

pub fn looks_like(head: &str) -> bool {
    let has = |begin: &str| head.lines().any(|line| line.trim_start().starts_with(begin));
    has("Switch 0x") && (has("Groups Definition") || has("LFT Definition"))
}

/// The part of a switch that lines belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Nothing,
    Groups,
    Table(u8),
}

struct FarReader<'a> {
    input: Input<'a>,
    file: AdaptiveFile,
    open: Option<AdaptiveSection>,
    part: Part,
    /// Whether the last line of the file was seen.
    closed: bool,
    /// Whether the file has the comments of a tool that marks the end.
    has_frame: bool,
}

pub fn read(input: Input<'_>) -> Result<AdaptiveFile, Box<FileError>> {
    let mut reader = FarReader {
        input,
        file: AdaptiveFile::default(),
        open: None,
        part: Part::Nothing,
        closed: false,
        has_frame: false,
    };
    for line in input.lines() {
        reader.read_line(&line?);
    }
    reader.finish()
}

impl FarReader<'_> {
    fn place(&self, line: u64) -> NotePlace {
        self.input.line_place(line)
    }

    fn read_line(&mut self, line: &TextLine<'_>) {
        let text = line.text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            // Comments hold the command line, which may contain keys, so nothing of them is kept.
            let comment = comment.trim_start();
            self.closed |= comment.starts_with("File closed at");
            self.has_frame |= comment.starts_with("File created at");
            return;
        }
        if text.is_empty() || text.bytes().all(|b| b == b'-' || b == b'=') {
            return;
        }
        if line.unended {
            let place = self.place(line.number);
            note_truncated_line(&mut self.file.notes, place, text);
            self.leave_out_open();
            return;
        }
        if let Some(rest) = text.strip_prefix("Switch ") {
            self.begin_switch(rest.trim_start(), line.number);
        } else if text.starts_with("Groups Definition") {
            self.part = Part::Groups;
        } else if text.starts_with("LFT Definition") {
            self.part = Part::Table(0);
        } else if let Some(rest) = text.strip_prefix("PLFT_NUM") {
            self.begin_table(rest, line.number);
        } else if !is_heading(text) {
            self.read_row(text, line.number);
        }
    }

    fn begin_switch(&mut self, rest: &str, number: u64) {
        self.end_switch();
        self.part = Part::Nothing;
        let guid = rest.strip_prefix("0x").and_then(split_leading_hex);
        match guid {
            Some((guid, _)) => self.open = Some(AdaptiveSection::new(Guid(guid), self.place(number))),
            None => self.note_bad_row(rest, number),
        }
    }

    /// Reads `: 1, top: 0x0004`.
    fn begin_table(&mut self, rest: &str, number: u64) {
        let rest = rest.trim_start_matches([':', ' ', '\t']);
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let table = parse_decimal(digits).and_then(|table| u8::try_from(table).ok());
        match (table, &mut self.open) {
            (Some(table), Some(open)) => {
                self.part = Part::Table(table);
                open.numbered = true;
                open.tables.entry(table).or_default();
            }
            _ => self.note_bad_row(rest, number),
        }
    }

    fn read_row(&mut self, text: &str, number: u64) {
        if text.starts_with("File version") {
            return;
        }
        let words: Vec<&str> =
            text.split(|c: char| c.is_whitespace() || c == ':').filter(|word| !word.is_empty()).collect();
        let understood = match (self.part, &mut self.open) {
            (Part::Groups, Some(open)) => read_group(&words, &mut open.groups),
            (Part::Table(table), Some(open)) => read_entry(&words, open.tables.entry(table).or_default()),
            // A LID or a group outside of its part.
            (Part::Nothing, Some(_)) => None,
            (_, None) => None,
        };
        if understood.is_none() {
            self.note_bad_row(text, number);
        }
    }

    fn note_bad_row(&mut self, text: &str, number: u64) {
        let of = match &self.open {
            Some(open) => format!("the adaptive tables of switch {} are left out", open.node),
            None => "it belongs to no switch".to_owned(),
        };
        let place = self.place(number);
        self.file
            .notes
            .add_partial(BAD_ROW, place, || format!("'{}' is not understood: {of}", printable_excerpt(text)));
        self.leave_out_open();
    }

    /// Part of a switch's tables is missing, so none of them are used.
    fn leave_out_open(&mut self) {
        if let Some(open) = &mut self.open {
            open.whole = false;
        }
    }

    fn end_switch(&mut self) {
        self.file.sections.extend(self.open.take());
    }

    fn finish(mut self) -> Result<AdaptiveFile, Box<FileError>> {
        if self.has_frame && !self.closed {
            self.leave_out_open();
            note_cut(&mut self.file.notes, self.input, self.open.as_ref());
        }
        self.end_switch();
        if self.file.sections.is_empty() {
            return Err(no_content(self.input.name, "switch with adaptive tables"));
        }
        Ok(self.file)
    }
}

fn note_cut(notes: &mut Notes, input: Input<'_>, open: Option<&AdaptiveSection>) {
    let place = open.map_or_else(|| NotePlace::file(input.name), |open| open.place.clone());
    notes.add_partial(CUT, place, || {
        let of = open.map_or(String::new(), |open| format!(", in the tables of switch {}", open.node));
        format!("the file ends without its last line (File closed at){of}")
    });
}

fn is_heading(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || c == ':').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    ["Group", "LID"].iter().any(|word| first.eq_ignore_ascii_case(word))
        && words.next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Reads `18 0 0 5,6,7,`: the ports of all sub-groups are those of the group. The list may be empty, and older files have
/// no weights before it. Ports end in a comma each.
fn read_group(words: &[&str], groups: &mut BTreeMap<u16, PortSet>) -> Option<()> {
    let [group, sub_group, rest @ ..] = words else { return None };
    parse_decimal(sub_group)?;
    let group = parse_decimal(group).and_then(|group| u16::try_from(group).ok())?;
    if group > AdaptiveEntry::MAX_GROUP {
        return None;
    }
    let list = match rest {
        [] | [_] if !rest.iter().any(|word| word.ends_with(',')) => "",
        [ports] | [_, ports] => ports,
        _ => return None,
    };
    let mut ports = PortSet::EMPTY;
    for word in list.split(',').filter(|word| !word.is_empty()) {
        ports.insert(parse_decimal(word).and_then(PortNum::new)?);
    }
    let known = groups.entry(group).or_insert(PortSet::EMPTY);
    *known = known.union(&ports);
    Some(())
}

/// Reads `0x0001 5 Free 18`. A static entry may have no group.
fn read_entry(words: &[&str], table: &mut BTreeMap<Lid, AdaptiveEntry>) -> Option<()> {
    let (lid, port, state, group) = match words {
        [lid, port, state, group] => (lid, port, state, *group),
        [lid, port, state] => (lid, port, state, "N/A"),
        // `0x0003 : UNREACHABLE` is no path.
        [lid, word] if word.eq_ignore_ascii_case("UNREACHABLE") => return parse_table_lid(lid).map(|_| ()),
        _ => return None,
    };
    let state = EntryState::ALL.into_iter().find(|known| state.eq_ignore_ascii_case(state_word(*known)))?;
    let port = match *port {
        "255" | "0xff" | "0xFF" | "N/A" | "UNREACHABLE" => None,
        word => {
            let number = parse_prefixed_hex(word).and_then(|port| u32::try_from(port).ok());
            Some(number.or_else(|| parse_decimal(word)).and_then(PortNum::new)?)
        }
    };
    let has_none = group.eq_ignore_ascii_case("N/A") || group == "-";
    let group = match has_none {
        true if state == EntryState::Static => 0,
        _ => parse_decimal(group).and_then(|group| u16::try_from(group).ok())?,
    };
    let lid = parse_table_lid(lid).filter(|_| group <= AdaptiveEntry::MAX_GROUP)?;
    let entry = AdaptiveEntry { port, state, group };
    // Two different entries of one LID: which one is in force is not known.
    table.insert(lid, entry).is_none_or(|known| known == entry).then_some(())
}

fn state_word(state: EntryState) -> &'static str {
    match state {
        EntryState::Bounded => "Bounded",
        EntryState::Free => "Free",
        EntryState::Static => "Static",
        EntryState::Hash => "HBF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# File created at : now\nFile version: 1\nSwitch 0x1 \"sw\"\nGroups Definition:\n\
        Group   Sub Group   WHBF   Ports\n--------\n0  0  0  \n18 0 0 5,6,\n18 1 0 7,\n\nLFT Definition:\n\
        PLFT_NUM: 0, top: 0x0003\nLID  Static Port  Lid State  Group\n-----\n0x0001 5 Free 18\n0x0002 255 Static 0\n\
        0x0003 6 HBF 18\n\n# File closed at : now\n";

    fn read_text(text: &str) -> AdaptiveFile {
        read(Input::new("f", text.as_bytes())).unwrap()
    }

    fn ports(ports: &[u8]) -> PortSet {
        ports.iter().copied().map(PortNum).collect()
    }

    #[test]
    fn groups_and_entries() {
        let file = read_text(WHOLE);
        assert!(file.notes.is_empty(), "{:?}", file.notes);
        let section = &file.sections[0];
        assert!(section.whole && section.numbered && section.node == Guid(1));
        assert_eq!(section.groups, BTreeMap::from([(0, PortSet::EMPTY), (18, ports(&[5, 6, 7]))]));
        let entry = |port: u8, state, group| AdaptiveEntry { port: PortNum::new(port.into()), state, group };
        let lid = |lid| Lid::new(lid).unwrap();
        let none = AdaptiveEntry { port: None, state: EntryState::Static, group: 0 };
        assert_eq!(
            section.tables[&0],
            BTreeMap::from([
                (lid(1), entry(5, EntryState::Free, 18)),
                (lid(2), none),
                (lid(3), entry(6, EntryState::Hash, 18))
            ])
        );
    }

    #[test]
    fn older_groups_have_no_weights() {
        let file = read_text(&WHOLE.replace("18 0 0 5,6,", "18 0 5,6,").replace("18 1 0 7,", "18 1"));
        assert_eq!(file.sections[0].groups[&18], ports(&[5, 6]));
        assert!(file.sections[0].whole);
    }

    #[test]
    fn a_bad_line_takes_its_switch_and_no_other() {
        let two = format!("{WHOLE}{}", WHOLE.replace("Switch 0x1", "Switch 0x2"));
        for (from, to) in [
            ("0x0001 5 Free 18", "0x0001 5 Wild 18"),
            ("0x0001 5 Free 18", "0x0001 5 Free"),
            ("0x0001 5 Free 18", "0x0001 5 Free 70000"),
            ("0x0001 5 Free 18", "0x0001 500 Free 18"),
            ("0x0001 5 Free 18", "0x0001 5 Free 18\n0x0001 6 Free 18"),
            ("18 0 0 5,6,", "18 0 0 5,six,"),
            ("PLFT_NUM: 0", "PLFT_NUM: x"),
        ] {
            let file = read_text(&two.replacen(from, to, 1));
            let whole: Vec<bool> = file.sections.iter().map(|section| section.whole).collect();
            assert_eq!(whole, [false, true], "{to}");
            assert!(file.notes.has(BAD_ROW) && file.notes.is_partial(), "{to}");
        }
    }

    #[test]
    fn a_cut_file_has_no_last_switch() {
        for cut in [WHOLE.find("# File closed").unwrap(), WHOLE.find("HBF 18").unwrap()] {
            let file = read_text(&WHOLE[..cut]);
            assert!(!file.sections[0].whole && file.notes.has(CUT), "{cut}");
        }
    }
}
