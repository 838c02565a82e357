//! Reads a runbook from its text and reports all mistakes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::{FieldReader, Fields, RunbookFault};
use super::step_kinds::{KINDS, task};
use super::steps::{Runbook, RunbookStep};
use super::validation;

/// What other modules contribute: how times are written, and which names findings of plans have.
#[derive(Clone, Copy, Debug)]
pub struct ReaderOptions {
    pub time: fn(&str) -> Result<Duration, String>,
    pub window: fn(&str) -> Result<Duration, String>,
    pub findings: &'static [&'static str],
}

/// Reads a runbook with the variables set for this run. The second list of faults is about those variables, not about
/// the runbook.
pub fn read(
    text: &str,
    set: &BTreeMap<String, String>,
    options: ReaderOptions,
) -> Result<Runbook, (Vec<RunbookFault>, Vec<String>)> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = FieldReader::new(text, options);
    for error in &errors {
        let line = error.span().map_or(1, |span| reader.line(span.start));
        reader.report_fault(line, format!("FD-9202: {}", error.message()));
    }
    // Faults in the rest of a file with broken syntax would mislead.
    if !errors.is_empty() {
        return Err((reader.faults(), Vec::new()));
    }
    let mut unset = Vec::new();
    reader.vars = vars(&reader, table.get_ref(), set, &mut unset);
    let book = book(&reader, table.get_ref());
    let mut faults = reader.faults();
    if faults.is_empty() {
        faults = validation::find_faults(&book);
    }
    faults.sort();
    faults.dedup();
    if faults.is_empty() && unset.is_empty() { Ok(book) } else { Err((faults, unset)) }
}

/// Reads `[vars.NAME]`: its description, and its default.
fn vars(
    reader: &FieldReader<'_>,
    table: &DeTable<'_>,
    set: &BTreeMap<String, String>,
    unset: &mut Vec<String>,
) -> BTreeMap<String, String> {
    let mut vars = BTreeMap::new();
    let mut later = Vec::new();
    let mut top = Fields::new(reader, table, 1, "the runbook");
    if let Some(value) = top.take("vars")
        && let Some(all) = top.subtable(value, "'vars'".to_owned())
    {
        for (key, value) in all.table {
            let name = key.get_ref().to_string();
            let what = format!("the variable '{name}'");
            let Some(mut fields) = all.subtable(value, what) else { continue };
            let about = fields.required_text("about").1;
            let usual = fields.take("default").map(|_| fields.raw_text("default"));
            fields.refuse_unknown_keys();
            match (set.get(&name).cloned(), usual) {
                (Some(value), _) => drop(vars.insert(name, value)),
                (None, Some(usual)) => later.push((name, usual)),
                (None, None) => {
                    unset.push(format!(
                        "FD-9222: the variable '{name}' ({about}) is not set; set it with --set {name}=VALUE"
                    ));
                    // An empty value keeps the texts that use the variable from being reported too.
                    vars.insert(name, String::new());
                }
            }
        }
    }
    // A default can use variables that were set, and defaults that use no variable themselves.
    let (plain, made): (Vec<_>, Vec<_>) = later.into_iter().partition(|(_, (_, text))| !text.contains("${"));
    vars.extend(plain.into_iter().map(|(name, (_, text))| (name, text)));
    let mut with_vars = FieldReader::new(reader.text, reader.options);
    with_vars.vars = vars.clone();
    for (name, (line, text)) in made {
        vars.insert(name, with_vars.substitute_vars(line, &text));
    }
    with_vars.faults().into_iter().for_each(|fault| reader.report_fault(fault.line, fault.what));
    for name in set.keys().filter(|name| !vars.contains_key(*name)) {
        let names = vars.keys().cloned().collect::<Vec<_>>().join(", ");
        let names =
            if names.is_empty() { "it has none".to_owned() } else { format!("its variables are {names}") };
        unset.push(format!("FD-9221: --set: the runbook has no variable '{name}'; {names}"));
    }
    vars
}

fn book(reader: &FieldReader<'_>, table: &DeTable<'_>) -> Runbook {
    let mut top = Fields::new(reader, table, 1, "the runbook");
    top.take("vars");
    let name = top.required_text("name").1;
    let summary = top.required_text("summary").1;
    let guards = top.guards();
    let mut list = |key: &'static str| match top.take(key) {
        None => Vec::new(),
        Some(value) => steps(reader, &top, value, key),
    };
    let (steps, on_failure) = (list("step"), list("on_failure"));
    if steps.is_empty() && reader.faults().is_empty() {
        reader.report_fault(1, "FD-9205: the runbook has no [[step]]");
    }
    top.refuse_unknown_keys();
    let mut ids = BTreeSet::new();
    for step in steps.iter().chain(&on_failure) {
        if let Some(id) = &step.id
            && !ids.insert(id.clone())
        {
            reader.report_fault(step.line, format!("FD-9206: two steps have the id '{id}'"));
        }
    }
    Runbook { name, summary, vars: reader.vars.clone(), guards, steps, on_failure }
}

fn steps<'r, 't>(
    reader: &'r FieldReader<'t>,
    top: &Fields<'r, 't>,
    value: &'r Spanned<DeValue<'t>>,
    key: &str,
) -> Vec<RunbookStep> {
    let Some(list) = value.get_ref().as_array() else {
        reader.report_fault(
            reader.line_of(value),
            format!("FD-9204: '{key}' has to be a list: write [[{key}]]"),
        );
        return Vec::new();
    };
    let each = list.iter().enumerate();
    let read = |(at, value)| {
        let what = format!("{} {}", if key == "step" { "step" } else { "on_failure step" }, at + 1);
        step(top.subtable(value, what)?)
    };
    each.filter_map(read).collect()
}

fn step(mut fields: Fields<'_, '_>) -> Option<RunbookStep> {
    let id = fields.text("id");
    if let Some((line, id)) = &id
        && (id.is_empty() || !id.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_".contains(sign)))
    {
        fields.reader.report_fault(*line, format!("FD-9206: '{id}' is no id; use letters, digits, - and _"));
    }
    let name = fields.text("name").map(|(_, text)| text);
    let guards = fields.guards();
    let there: Vec<&'static str> = KINDS.iter().copied().filter(|kind| fields.take(kind).is_some()).collect();
    let (line, what) = (fields.line, fields.what.clone());
    let task = match there.as_slice() {
        [kind] => task(&mut fields, kind),
        [] => {
            let kinds = KINDS.join(", ");
            fields.reader.report_fault(line, format!("FD-9208: {what} has no kind; give one of: {kinds}"));
            None
        }
        several => {
            let several = several.join(" and ");
            fields.reader.report_fault(
                line,
                format!("FD-9208: {what} has several kinds: {several}; write one step for each"),
            );
            None
        }
    };
    fields.refuse_unknown_keys();
    Some(RunbookStep { line, id: id.map(|(_, id)| id), name, task: task?, guards })
}
