//! Each value that guards may be over, once in a guard that does not hold.

use fabdeck::runbook::value_names;

use super::{put, runs};
use crate::changes::processes::{DEMO, ServedLab};

/// What the values of jobs take.
const JOBS: &str = "jobs = { file = \"jobs.txt\" }";

/// A step that gives values, and what comes before it.
const GIVERS: &[&str] = &[
    JOBS,
    "verify = { accept = \"cycle\" }",
    "route = { engine = \"updn\" }",
    "preview = { engines = [\"minhop\"] }",
    "hotspots = { interval = \"200ms\" }",
    "expect = { table = \"switches\", count = \">= 1\" }",
    "fail = \"switch:spine-2\"",
    "record = { file = \"FILE.fdcap\", for = \"200ms\", interval = \"100ms\" }",
    "run = { program = \"true\" }",
    "lanes = { interval = \"200ms\" }",
    "compare = true",
];

/// The step that gives a value first.
fn giver(name: &str) -> (&'static str, String) {
    for step in GIVERS {
        let text = super::book(&format!("[[step]]\n{step}\n"));
        let book = super::read_book(&text.replace("200ms", "1s").replace("100ms", "1s")).unwrap();
        let names = value_names::names_of_task(&book.steps[0].task);
        let behind = format!("minhop.{name}");
        match (names.iter().any(|known| known == name), names.contains(&behind)) {
            (true, _) => return (step, name.to_owned()),
            (_, true) => return (step, behind),
            _ => {}
        }
    }
    panic!("no step gives {name}")
}

#[test]
fn each_value_fails_a_guard_once_and_the_book_ends_with_two() {
    let (demo, ring) = (ServedLab::new(DEMO), ServedLab::new("sim:torus,dims=6,traffic=none"));
    put(demo.home.path(), "jobs.txt", "node01 a\nnode20 a\nnode40 a\n");
    let mut judged = 0;
    for (at, name) in value_names::names().into_iter().enumerate() {
        let (step, called) = giver(name);
        let step = step.replace("FILE", &format!("r{at}"));
        // Paths around a ring wait for each other; nothing drifted.
        let lab = if matches!(name, "transition_safe" | "deadlock_free") { &ring } else { &demo };
        let guard = match name {
            "transition_safe" | "deadlock_free" | "drifted" => called.clone(),
            _ => format!("{called} < 0"),
        };
        // Routes are weighed for jobs where a step before names them.
        let jobs = value_names::is_job_value(name) && step != JOBS;
        let before = if jobs { format!("[[step]]\n{JOBS}\n") } else { String::new() };
        let steps = format!("{before}[[step]]\n{step}\nguards = [\"{guard}\"]\n[[step]]\nnotify = \"on\"\n");
        put(lab.home.path(), "g.toml", &super::book(&steps));
        let (report, said) = runs(lab, &["g.toml"], 2);
        let at = usize::from(jobs);
        assert_eq!(
            (&report["steps"][at]["state"], &report["steps"][at + 1]["state"]),
            (&"stopped".into(), &"not-run".into()),
            "{guard}"
        );
        assert!(
            said.contains(&format!("FD-9231: the guard '{guard}' fails: {called} is ")),
            "{guard}: {said}"
        );
        judged += 1;
    }
    println!("said: {judged} values, each in a guard that ended a book with 2");
}
