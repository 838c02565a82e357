//! Reads the keys of a TOML table, with their lines; a key that no reader took is a fault.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::guard::StepGuard;
use super::reader::ReaderOptions;
use crate::catalogue::unknown_key::unknown_key_text;
use fabdeck_fabric::{similar_words, suggest};

/// A mistake in a runbook, with its line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunbookFault {
    pub line: usize,
    pub what: String,
}

/// Text, variables and faults that all readers of a runbook share.
pub(super) struct FieldReader<'t> {
    pub text: &'t str,
    pub options: ReaderOptions,
    pub vars: BTreeMap<String, String>,
    faults: RefCell<Vec<RunbookFault>>,
}

impl<'t> FieldReader<'t> {
    pub fn new(text: &'t str, options: ReaderOptions) -> Self {
        Self { text, options, vars: BTreeMap::new(), faults: RefCell::default() }
    }

    pub fn report_fault(&self, line: usize, what: impl Into<String>) {
        self.faults.borrow_mut().push(RunbookFault { line, what: what.into() });
    }

    pub fn faults(&self) -> Vec<RunbookFault> {
        self.faults.borrow().clone()
    }

    pub fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    pub fn line_of<T>(&self, spanned: &Spanned<T>) -> usize {
        self.line(spanned.span().start)
    }

    /// Returns a text with its variables replaced.
    pub fn substitute_vars(&self, line: usize, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("${") {
            filled.push_str(&rest[..at]);
            let after = &rest[at + 2..];
            let Some(end) = after.find('}') else {
                self.report_fault(line, format!("FD-9207: '{text}' has '${{' without '}}'"));
                return filled;
            };
            let name = &after[..end];
            match self.vars.get(name) {
                Some(value) => filled.push_str(value),
                None => {
                    let meant = suggest(&similar_words(name, self.vars.keys().map(String::as_str)));
                    self.report_fault(line, format!("FD-9207: there is no variable '{name}'{meant}"));
                }
            }
            rest = &after[end + 1..];
        }
        filled.push_str(rest);
        filled
    }

    /// Parses guards, one from each text.
    pub fn guards(&self, texts: &[(usize, String)]) -> Vec<StepGuard> {
        let read = |(line, text): &(usize, String)| match StepGuard::parse(*line, text) {
            Ok(guard) => Some(guard),
            Err(what) => {
                self.report_fault(*line, what);
                None
            }
        };
        texts.iter().filter_map(read).collect()
    }
}

/// A table whose keys are read one by one.
pub(super) struct Fields<'r, 't> {
    pub reader: &'r FieldReader<'t>,
    pub table: &'r DeTable<'t>,
    pub line: usize,
    /// How messages name the table.
    pub what: String,
    taken: BTreeSet<&'static str>,
}

impl<'r, 't> Fields<'r, 't> {
    pub fn new(
        reader: &'r FieldReader<'t>,
        table: &'r DeTable<'t>,
        line: usize,
        what: impl Into<String>,
    ) -> Self {
        Self { reader, table, line, what: what.into(), taken: BTreeSet::new() }
    }

    pub fn take(&mut self, key: &'static str) -> Option<&'r Spanned<DeValue<'t>>> {
        self.taken.insert(key);
        let found = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        found.map(|(_, value)| value)
    }

    fn report_wrong_value(&self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        let line = self.reader.line_of(value);
        let found = value.get_ref().type_str();
        self.reader
            .report_fault(line, format!("FD-9204: '{key}' of {} has to be {wanted}, not {found}", self.what));
    }

    fn report_missing(&self, key: &str) {
        self.reader.report_fault(self.line, format!("FD-9205: {} has no '{key}'", self.what));
    }

    pub fn text(&mut self, key: &'static str) -> Option<(usize, String)> {
        let value = self.take(key)?;
        self.text_of(value, key)
    }

    fn text_of(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<(usize, String)> {
        let line = self.reader.line_of(value);
        match value.get_ref().as_str() {
            Some(text) => Some((line, self.reader.substitute_vars(line, text))),
            None => {
                self.report_wrong_value(value, key, "a string");
                None
            }
        }
    }

    /// Returns a text without replacing its variables.
    pub fn raw_text(&mut self, key: &'static str) -> (usize, String) {
        let Some(value) = self.take(key) else { return (self.line, String::new()) };
        let line = self.reader.line_of(value);
        match value.get_ref().as_str() {
            Some(text) => (line, text.to_owned()),
            None => {
                self.report_wrong_value(value, key, "a string");
                (line, String::new())
            }
        }
    }

    pub fn required_text(&mut self, key: &'static str) -> (usize, String) {
        if self.take(key).is_none() {
            self.report_missing(key);
        }
        self.text(key).unwrap_or((self.line, String::new()))
    }

    /// Reads a text, or a list of texts.
    pub fn texts(&mut self, key: &'static str) -> Vec<(usize, String)> {
        self.take(key).map(|value| self.texts_of(value, key)).unwrap_or_default()
    }

    pub fn texts_of(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<(usize, String)> {
        match value.get_ref().as_array() {
            Some(list) => list.iter().filter_map(|item| self.text_of(item, key)).collect(),
            None => match value.get_ref().as_str() {
                Some(_) => self.text_of(value, key).into_iter().collect(),
                None => {
                    self.report_wrong_value(value, key, "a string or a list of strings");
                    Vec::new()
                }
            },
        }
    }

    pub fn path(&mut self, key: &'static str) -> Option<PathBuf> {
        self.text(key).map(|(_, text)| text.into())
    }

    pub fn flag(&mut self, key: &'static str) -> bool {
        let Some(value) = self.take(key) else { return false };
        let line = self.reader.line_of(value);
        // A variable is written as a text.
        let text = value.get_ref().as_str().map(|text| self.reader.substitute_vars(line, text));
        match (value.get_ref().as_bool(), text.as_deref()) {
            (Some(flag), _) => flag,
            (None, Some("true")) => true,
            (None, Some("false")) => false,
            _ => {
                self.report_wrong_value(value, key, "true or false");
                false
            }
        }
    }

    /// Reads a whole number, written as a number or (with a variable) as a text.
    pub fn number(&mut self, key: &'static str, usual: u32, fits: std::ops::RangeInclusive<u32>) -> u32 {
        let Some(value) = self.take(key) else { return usual };
        let line = self.reader.line_of(value);
        let read = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::String(text) => self.reader.substitute_vars(line, text).parse().ok(),
            _ => {
                self.report_wrong_value(value, key, "a whole number");
                return usual;
            }
        };
        match read.filter(|number| fits.contains(number)) {
            Some(number) => number,
            None => {
                let (least, most) = (fits.start(), fits.end());
                let what =
                    format!("FD-9206: '{key}' of {} is no whole number from {least} to {most}", self.what);
                self.reader.report_fault(line, what);
                usual
            }
        }
    }

    pub fn time(&mut self, key: &'static str) -> Option<Duration> {
        let (line, text) = self.text(key)?;
        let time = self.reader.options.time;
        self.time_of(line, key, &text, time)
    }

    pub fn time_of(
        &self,
        line: usize,
        key: &str,
        text: &str,
        read: fn(&str) -> Result<Duration, String>,
    ) -> Option<Duration> {
        match read(text) {
            Ok(time) => Some(time),
            Err(why) => {
                let what = format!("FD-9206: '{key}' of {}: '{text}' is no time: {why}", self.what);
                self.reader.report_fault(line, what);
                None
            }
        }
    }

    pub fn guards(&mut self) -> Vec<StepGuard> {
        let texts = self.texts("guards");
        self.reader.guards(&texts)
    }

    /// Reads the table of a key.
    pub fn subtable(&self, value: &'r Spanned<DeValue<'t>>, what: String) -> Option<Fields<'r, 't>> {
        let line = self.reader.line_of(value);
        match value.get_ref().as_table() {
            Some(table) => Some(Fields::new(self.reader, table, line, what)),
            None => {
                let found = value.get_ref().type_str();
                self.reader.report_fault(line, format!("FD-9204: {what} has to be a table, not {found}"));
                None
            }
        }
    }

    /// Reports each key that no reader took, because it was meant to have an effect.
    pub fn refuse_unknown_keys(self) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !self.taken.contains(name) {
                let line = self.reader.line_of(key);
                let what = format!("FD-9203: {}", unknown_key_text(name, &self.what, &self.taken));
                self.reader.report_fault(line, what);
            }
        }
    }
}
