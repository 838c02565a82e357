//! Runbooks: refused before the first step, stopped by the first guard, interrupted anywhere, rehearsed without a write, and those
//! that come with the program.

mod guards;
mod interruptions;
mod jobs;
mod partial_fabrics;
mod refusals;
mod shipped_runbooks;
mod step_order;
mod whole_run;

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::changes::processes::ServedLab;
use fabdeck::runbook::fields::RunbookFault;
use fabdeck::runbook::reader::{ReaderOptions, read};
use fabdeck::runbook::steps::Runbook;

fn time(text: &str) -> Result<std::time::Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().map_err(|_| "no time".to_owned())?;
    Ok(std::time::Duration::from_secs(seconds))
}

fn known() -> ReaderOptions {
    ReaderOptions { time, window: time, findings: &["transition", "cycle"] }
}

fn read_book(text: &str) -> Result<Runbook, Vec<RunbookFault>> {
    read(text, &Default::default(), known()).map_err(|(faults, unset)| {
        assert!(unset.is_empty(), "{unset:?}");
        faults
    })
}

/// A book of these steps, with what every book has.
fn book(steps: &str) -> String {
    format!("name = \"b\"\nsummary = \"s\"\n{steps}")
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// Runs a book, which has to end with this code; its report.
fn runs(lab: &ServedLab, args: &[&str], code: i32) -> (Value, String) {
    let args = [&["--json", "--no-times", "run"], args].concat();
    let ended = lab.run(&args);
    parse_result(lab, &args, &ended, code)
}

fn parse_result(lab: &ServedLab, args: &[&str], ended: &Output, code: i32) -> (Value, String) {
    let err = String::from_utf8_lossy(&ended.stderr).into_owned();
    let out = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {out}{err}{}", lab.logs());
    (serde_json::from_str(&out).unwrap_or(Value::Null), err)
}

/// The states of all steps, in a line.
fn states(report: &Value) -> String {
    let steps = report["steps"].as_array().unwrap().iter();
    steps.map(|step| step["state"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}
