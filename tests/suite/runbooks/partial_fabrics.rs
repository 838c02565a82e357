//! Fabrics of which a part does not answer: nothing is clean then, nothing gone, and the report says so.

use std::path::Path;

use serde_json::Value;

use super::{book, put, runs};
use crate::changes::processes::{ServedLab, command};

/// A switch of it is silent.
const SILENT: &str = "sim:kary,k=4,n=2,silent=30%,seed=2,traffic=none";

/// A book over it, that has to end with this code: its report.
fn ran(home: &Path, text: &str, more: &[&str], code: i32) -> Value {
    put(home, "b.toml", &book(text));
    let mut fabdeck = command(home);
    fabdeck.args(["--source", SILENT, "--json", "--no-times", "run", "b.toml"]).args(more);
    let ended = fabdeck.output().unwrap();
    assert_eq!(ended.status.code(), Some(code), "{text}: {ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[test]
fn what_does_not_answer_is_not_gone() {
    let home = tempfile::tempdir().unwrap();
    let ran = |text: &str, more: &[&str], code| ran(home.path(), text, more, code);
    let gone = "{ table = \"switches\", filter = \"name=spine0\", count = \"== 0\" }";
    let report = ran(&format!("[[step]]\nexpect = {gone}\n"), &[], 2);
    let why = report["why"].as_str().unwrap();
    assert!(why.contains("FD-9232") && why.contains("part of the fabric did not answer"), "{why}");
    // The row that would do is there, and others may be that would not.
    let some = "{ table = \"hosts\", filter = \"name~node\", count = \">= 1\", every = \"lid>0\" }";
    let report = ran(&format!("[[step]]\nexpect = {some}\n"), &[], 2);
    assert_eq!((&report["partial"], &report["steps"][0]["partial"]), (&true.into(), &true.into()));
    let text = format!("[[step]]\nwait = {{ until = {gone}, timeout = \"1s\", every = \"100ms\" }}\n");
    let report = ran(&text, &[], 2);
    let why = report["why"].as_str().unwrap();
    assert!(why.contains("FD-9233") && why.contains("part of the fabric did not answer"), "{why}");
}

#[test]
fn counters_of_a_part_are_not_clean() {
    let home = tempfile::tempdir().unwrap();
    let ran = |text: &str, more: &[&str], code| ran(home.path(), text, more, code);
    let steps = "[[step]]\nhotspots = { interval = \"200ms\" }\n";
    let report = ran(steps, &[], 0);
    let seen = &report["steps"][0];
    assert_eq!((&report["partial"], &seen["partial"]), (&true.into(), &true.into()), "{report:#}");
    assert!(seen["values"]["hotspots"].is_null() && seen["values"]["links_in_trouble"].is_null());
    assert!(seen["values"]["ports"].as_u64().unwrap() > 0, "{seen:#}");
    let report = ran(steps, &["--strict"], 2);
    assert_eq!(report["state"], "done", "{report:#}");
    for guard in ["hotspots <= 0", "links_in_trouble <= 0", "victims <= 0", "worst_wait >= 0"] {
        let report = ran(&format!("{steps}guards = [\"{guard}\"]\n"), &[], 2);
        assert!(report["why"].as_str().unwrap().contains("is not known to hold"), "{guard}: {report:#}");
    }
}

/// The first look finds all, and a later one does not.
#[test]
fn a_run_is_as_partial_as_its_later_looks() {
    let lab =
        ServedLab::with("sim:kary,k=3,n=2,story=dumb", &[], |home| put(home, "dumb", "4s silent node3\n"));
    let steps = "[[step]]\nwait = \"4s\"\n[[step]]\nhotspots = { interval = \"200ms\" }\n";
    put(lab.home.path(), "later.toml", &book(steps));
    let (report, _) = runs(&lab, &["later.toml", "--strict"], 2);
    assert_eq!((&report["partial"], &report["steps"][0]["partial"]), (&true.into(), &false.into()));
    assert!(report["notes"].to_string().contains("FN-706"), "{report:#}");
}

/// One good look may fall into a moment that passes.
#[test]
fn to_wait_takes_two_looks() {
    let lab = ServedLab::new("sim:demo,traffic=none");
    let until = "{ table = \"switches\", count = \">= 1\" }";
    let text = format!("[[step]]\nwait = {{ until = {until}, timeout = \"60s\", every = \"300ms\" }}\n");
    put(lab.home.path(), "two.toml", &book(&text));
    let (report, _) = runs(&lab, &["two.toml"], 0);
    assert!(
        report["steps"][0]["words"].as_str().unwrap().contains("in two consecutive readings"),
        "{report:#}"
    );
}

/// The pipe has no reader, and the run continues all the same.
#[test]
fn a_message_never_goes_into_a_pipe() {
    let lab = ServedLab::new("sim:demo,traffic=none");
    let pipe = lab.home.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    put(lab.home.path(), "pipe.toml", &book("[[step]]\nnotify = { text = \"x\", file = \"pipe\" }\n"));
    let (report, _) = runs(&lab, &["pipe.toml"], 1);
    assert!(report["why"].as_str().unwrap().contains("no regular file"), "{report:#}");
}
