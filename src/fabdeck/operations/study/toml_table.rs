//! Reads the keys of a TOML table, with their lines; a key that no reader took is a fault.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::catalogue::unknown_key::unknown_key_text;

/// A mistake in a study file, with its line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StudyFault {
    pub line: usize,
    pub what: String,
}

impl fmt::Display for StudyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// The text of a file and the faults that were found in it.
pub struct TomlText<'t> {
    text: &'t str,
    faults: RefCell<Vec<StudyFault>>,
}

impl<'t> TomlText<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, faults: RefCell::default() }
    }

    pub fn report(&self, line: usize, what: impl Into<String>) {
        self.faults.borrow_mut().push(StudyFault { line, what: what.into() });
    }

    /// The faults in the order of their lines.
    pub fn into_faults(self) -> Vec<StudyFault> {
        let mut faults = self.faults.into_inner();
        faults.sort();
        faults.dedup();
        faults
    }

    pub fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }
}

/// A value with its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lined<T> {
    pub line: usize,
    pub value: T,
}

impl<T> Lined<T> {
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Lined<U> {
        Lined { line: self.line, value: make(self.value) }
    }
}

/// A table whose keys are read one by one.
pub struct TomlTable<'r, 't> {
    text: &'r TomlText<'t>,
    table: &'r DeTable<'t>,
    pub line: usize,
    /// How messages name the table.
    what: String,
    taken: BTreeSet<&'static str>,
    /// Keys that such a table may have, whether or not they go with the others of this one.
    listed: BTreeSet<&'static str>,
}

impl<'r, 't> TomlTable<'r, 't> {
    pub fn new(text: &'r TomlText<'t>, table: &'r DeTable<'t>, line: usize, what: impl Into<String>) -> Self {
        Self { text, table, line, what: what.into(), taken: BTreeSet::new(), listed: BTreeSet::new() }
    }

    pub fn report(&self, line: usize, what: impl Into<String>) {
        self.text.report(line, what);
    }

    /// Names keys of which only some go together, so that messages know all of them.
    pub fn list_keys(&mut self, keys: &[&'static str]) {
        self.listed.extend(keys);
    }

    /// Whether a key is `true`.
    pub fn flag(&mut self, key: &'static str) -> bool {
        let Some(value) = self.take(key) else { return false };
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.report_kind(value, key, "true or false");
            false
        })
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(name, _)| name.get_ref().as_ref() == key)
    }

    fn take(&mut self, key: &'static str) -> Option<&'r Spanned<DeValue<'t>>> {
        self.taken.insert(key);
        self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    fn line_of<T>(&self, value: &Spanned<T>) -> usize {
        self.text.line(value.span().start)
    }

    fn report_kind(&self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        let found = value.get_ref().type_str();
        let what = format!("FD-9402: '{key}' of {} has to be {wanted}, not {found}", self.what);
        self.report(self.line_of(value), what);
    }

    /// A text; a number counts as its digits.
    pub fn text(&mut self, key: &'static str) -> Option<Lined<String>> {
        let value = self.take(key)?;
        self.text_of(value, key)
    }

    fn text_of(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<Lined<String>> {
        let line = self.line_of(value);
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => {
                self.report_kind(value, key, "a text or a number");
                return None;
            }
        };
        Some(Lined { line, value: text })
    }

    pub fn required_text(&mut self, key: &'static str) -> String {
        if !self.has(key) {
            self.taken.insert(key);
            self.report(self.line, format!("FD-9403: {} has no '{key}'", self.what));
        }
        self.text(key).map_or_else(String::new, |text| text.value)
    }

    /// A text or number, or a list of them; empty without the key.
    pub fn texts(&mut self, key: &'static str) -> Vec<Lined<String>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        match value.get_ref().as_array() {
            Some(list) => list.iter().filter_map(|item| self.text_of(item, key)).collect(),
            None => self.text_of(value, key).into_iter().collect(),
        }
    }

    /// The value that `read` makes of a text, or `usual` without the key.
    pub fn parsed<T>(&mut self, key: &'static str, usual: T, read: impl Fn(&str) -> Result<T, String>) -> T {
        let Some(text) = self.text(key) else { return usual };
        self.parse(key, &text, read).unwrap_or(usual)
    }

    /// The values that `read` makes of the texts of a list, or `usual` without the key.
    pub fn all_parsed<T>(
        &mut self,
        key: &'static str,
        usual: Vec<T>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        self.taken.insert(key);
        match self.has(key) {
            true => {
                let texts = self.texts(key);
                texts.iter().filter_map(|text| self.parse(key, text, &read)).collect()
            }
            false => usual,
        }
    }

    pub fn parse<T>(
        &self,
        key: &str,
        text: &Lined<String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        read(&text.value)
            .map_err(|why| {
                let what =
                    format!("FD-9404: '{key}' of {}: '{}' is not possible: {why}", self.what, text.value);
                self.report(text.line, what);
            })
            .ok()
    }

    pub fn number(&mut self, key: &'static str, usual: u32, fits: RangeInclusive<u32>) -> u32 {
        self.parsed(key, usual, |text| whole_number(text, &fits))
    }

    pub fn table(&mut self, key: &'static str) -> Option<TomlTable<'r, 't>> {
        let value = self.take(key)?;
        let what = match self.what.strip_prefix('[').and_then(|what| what.strip_suffix(']')) {
            Some(above) => format!("[{above}.{key}]"),
            None => format!("[{key}]"),
        };
        self.table_of(value, what)
    }

    fn table_of(&self, value: &'r Spanned<DeValue<'t>>, what: String) -> Option<TomlTable<'r, 't>> {
        match value.get_ref().as_table() {
            Some(table) => Some(Self::new(self.text, table, self.line_of(value), what)),
            None => {
                let found = value.get_ref().type_str();
                self.report(self.line_of(value), format!("FD-9402: {what} has to be a table, not {found}"));
                None
            }
        }
    }

    /// One table, `[key]`, or a list of them.
    pub fn one_or_more_tables(&mut self, key: &'static str) -> Vec<TomlTable<'r, 't>> {
        match self.take(key).map(|value| value.get_ref().is_array()) {
            Some(true) => self.tables(key),
            _ => self.table(key).into_iter().collect(),
        }
    }

    /// The tables of a list, `[[key]]`.
    pub fn tables(&mut self, key: &'static str) -> Vec<TomlTable<'r, 't>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            self.report(self.line_of(value), format!("FD-9402: '{key}' has to be a list: write [[{key}]]"));
            return Vec::new();
        };
        let each = list.iter().enumerate();
        each.filter_map(|(at, value)| self.table_of(value, format!("[[{key}]] {}", at + 1))).collect()
    }

    /// Reports each key that no reader took, because it was meant to have an effect.
    pub fn refuse_unknown_keys(self) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if self.taken.contains(name) {
                continue;
            }
            let known: BTreeSet<&str> = self.taken.union(&self.listed).copied().collect();
            let what = match self.listed.contains(name) {
                true => format!("FD-9401: '{name}' of {} does not go with its other keys", self.what),
                false => format!("FD-9401: {}", unknown_key_text(name, &self.what, &known)),
            };
            self.report(self.line_of(key), what);
        }
    }
}

/// Parses a whole number within limits.
pub fn whole_number(text: &str, fits: &RangeInclusive<u32>) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| fits.contains(number));
    number.ok_or_else(|| format!("write a whole number from {} to {}", fits.start(), fits.end()))
}
