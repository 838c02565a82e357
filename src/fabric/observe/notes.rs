//! Notes: what was read in an unusual way, and where. One note stands for all of its kind.

use std::collections::BTreeMap;
use std::fmt;

/// A file with a line (from 1) or a byte offset.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct NotePlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The byte offset.
    pub offset: Option<u64>,
}

impl NotePlace {
    /// Makes the place of a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, offset: None }
    }

    /// Makes the place of a line.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line: Some(line), offset: None }
    }
}

impl fmt::Display for NotePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        Ok(())
    }
}

/// A note on what was read, with its first place and its number of occurrences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The stable code (`FN-201`) of this kind of note.
    pub code: &'static str,
    /// What was read and how it is understood, for the first occurrence.
    pub text: String,
    /// The first place.
    pub first: NotePlace,
    /// The number of occurrences.
    pub count: u64,
    /// Whether something is missing that should be there.
    pub partial: bool,
    /// Whether the result describes something else than it seems to: shown before everything else.
    pub grave: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.first, self.code, self.text)?;
        if self.count > 1 {
            write!(f, " (and {} more like it)", self.count - 1)?;
        }
        Ok(())
    }
}

/// The part of the order that puts grave notes first.
type SortsAfterGrave = bool;

/// Notes by file and code in a fixed order, grave ones first. A million notes of one kind take the memory of one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    by_kind: BTreeMap<(SortsAfterGrave, String, &'static str), Note>,
}

impl Notes {
    /// Makes a collection without notes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a note on something that was understood. `text` runs only for the first note of its code in a file.
    pub fn add(&mut self, code: &'static str, place: NotePlace, text: impl FnOnce() -> String) {
        self.record(
            Note { code, text: String::new(), first: place, count: 1, partial: false, grave: false },
            text,
        );
    }

    /// Adds a note on something that is missing: the result is partial.
    pub fn add_partial(&mut self, code: &'static str, place: NotePlace, text: impl FnOnce() -> String) {
        self.record(
            Note { code, text: String::new(), first: place, count: 1, partial: true, grave: false },
            text,
        );
    }

    /// Adds a note that the source is not what it seems to be: the result is partial, and the note comes first.
    pub fn add_grave(&mut self, code: &'static str, place: NotePlace, text: impl FnOnce() -> String) {
        self.record(
            Note { code, text: String::new(), first: place, count: 1, partial: true, grave: true },
            text,
        );
    }

    fn record(&mut self, note: Note, text: impl FnOnce() -> String) {
        match self.by_kind.entry((!note.grave, note.first.file.clone(), note.code)) {
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.count += 1;
                known.partial |= note.partial;
            }
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(Note { text: text(), ..note });
            }
        }
    }

    /// Adds the notes of another reading.
    pub fn extend(&mut self, other: Notes) {
        for (kind, note) in other.by_kind {
            match self.by_kind.get_mut(&kind) {
                Some(known) => {
                    known.count += note.count;
                    known.partial |= note.partial;
                }
                None => {
                    self.by_kind.insert(kind, note);
                }
            }
        }
    }

    /// The notes, grave ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.by_kind.values()
    }

    /// The grave notes.
    pub fn grave_notes(&self) -> impl Iterator<Item = &Note> {
        self.by_kind.values().filter(|note| note.grave)
    }

    /// Whether there is no note.
    pub fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }

    /// Whether there is a note with a code.
    pub fn has(&self, code: &str) -> bool {
        self.by_kind.values().any(|note| note.code == code)
    }

    /// Number of things that are missing, of all kinds together.
    pub fn partial_count(&self) -> u64 {
        self.by_kind.values().filter(|note| note.partial).map(|note| note.count).sum()
    }

    /// Whether any note says that something is missing.
    pub fn is_partial(&self) -> bool {
        self.by_kind.values().any(|note| note.partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_two_readings_are_counted_together() {
        let reading = |times: u64, partial: bool| {
            let mut notes = Notes::new();
            for _ in 0..times {
                let place = NotePlace::file("a");
                match partial {
                    true => notes.add_partial("FN-1", place, String::new),
                    false => notes.add("FN-1", place, String::new),
                }
            }
            notes
        };
        let mut notes = reading(3, false);
        notes.extend(reading(2, true));
        let all: Vec<(u64, bool)> = notes.iter().map(|note| (note.count, note.partial)).collect();
        assert_eq!(all, [(5, true)]);
    }
}
