//! `jobs watch --apply` over a served simulator: what it applies is a change like every other, what it cannot look at goes back,
//! and after that somebody has to look first.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::changes::foreign_writes::write_plan;
use crate::changes::processes::ServedLab;

/// Large enough that a look takes longer than a signal.
const TREE: &str = "sim:kary,k=6,n=3";
const PATIENCE: Duration = Duration::from_secs(120);

/// A host of each leaf, from this one on.
fn jobs(first: usize) -> String {
    (0..20).map(|leaf| format!("node{} a\n", leaf * 6 + first)).collect()
}

/// A watch under way, which ends with this.
struct WatchProcess {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// Events that are not waited for.
    quiet: &'static [&'static str],
}

impl Drop for WatchProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl WatchProcess {
    fn watch_over(lab: &ServedLab, more: &[&str]) -> Self {
        let usual =
            ["jobs", "watch", "--file", "jobs.txt", "--gain", "0", "--at-most-every", "1ms", "--json"];
        let applies = ["--interval", "300ms", "--apply", "--confirm-within", "30s"];
        let mut child = lab.command(&[&usual[..], &applies, more].concat()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        // Judged again with every list, what was applied is kept.
        Self { child, lines, quiet: &["unchanged", "kept"] }
    }

    /// The next line that is waited for.
    fn next(&mut self) -> Value {
        let since = Instant::now();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended: {:?}", self.child.wait());
            let event: Value = serde_json::from_str(&line).unwrap();
            if !self.quiet.iter().any(|quiet| event["event"] == **quiet) {
                return event;
            }
            assert!(since.elapsed() < PATIENCE, "nothing but {line}");
        }
    }

    fn is(&mut self, event: &str) -> Value {
        let next = self.next();
        assert_eq!(next["event"], event, "{next}");
        next
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

fn put(lab: &ServedLab, first: usize) {
    std::fs::write(lab.home.path().join("jobs.txt"), jobs(first)).unwrap();
}

fn mark(lab: &ServedLab) -> std::path::PathBuf {
    lab.home.path().join("state/jobs-watch.mark")
}

#[test]
fn what_a_watch_applies_is_a_change_with_its_journal() {
    let lab = ServedLab::new(TREE);
    let before = lab.tables();
    put(&lab, 0);
    let mut watch = WatchProcess::watch_over(&lab, &[]);
    let proposed = watch.is("proposed");
    assert_eq!(proposed["findings"], serde_json::json!([]), "{proposed}");
    let applied = watch.is("applied");
    assert_eq!(
        (&applied["writes"], applied["deadline"].is_string()),
        (&proposed["writes"], true),
        "{applied}"
    );
    let confirmed = watch.is("confirmed");
    assert_eq!(confirmed["change"], applied["change"]);
    assert_ne!(lab.tables(), before);
    let row = lab.row();
    assert_eq!((&row["id"], &row["state"]), (&applied["change"], &"confirmed".into()), "{row}");
    assert!(lab.folder().join("journal").is_file() && !mark(&lab).exists());
    assert!(lab.trail().contains("confirmed"), "{}", lab.trail());
    // Another list is another change.
    put(&lab, 1);
    let again = [watch.is("proposed"), watch.is("applied"), watch.is("confirmed")];
    assert_ne!(again[2]["change"], confirmed["change"]);
    // Another plan is pending: nothing is applied beside it, and it is retried once the other is decided.
    lab.run_to_end(&["route", "--engine", "updn", "-o", "b.plan"], 0);
    lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition"], 0);
    put(&lab, 2);
    watch.is("proposed");
    let refused = watch.is("not-applied");
    assert!(refused["why"].as_str().unwrap().contains("FD-5632"), "{refused}");
    assert_eq!((lab.state().as_str(), mark(&lab).exists()), ("applied", false));
    lab.run_to_end(&["confirm", lab.row()["id"].as_str().unwrap()], 0);
    while watch.next()["event"] != "confirmed" {}
    watch.signal(Signal::TERM);
    assert_eq!(watch.child.wait().unwrap().code(), Some(143));
}

/// A change of this watch that is applied while it is looking at it, and that it does not go on with.
fn wait_until_held(lab: &ServedLab, watch: &mut WatchProcess) -> String {
    watch.is("proposed");
    let id = watch.is("applied")["change"].as_str().unwrap().to_owned();
    watch.signal(Signal::STOP);
    assert_eq!(lab.state(), "applied", "it was faster");
    assert!(mark(lab).exists());
    id
}

#[test]
fn a_change_that_was_rolled_back_is_reported_and_blocks_further_ones_until_the_mark_is_removed() {
    let lab = ServedLab::new(TREE);
    let before = lab.tables();
    put(&lab, 0);
    let mut watch = WatchProcess::watch_over(&lab, &[]);
    let id = wait_until_held(&lab, &mut watch);
    lab.run_to_end(&["rollback", &id], 0);
    watch.signal(Signal::CONT);
    let back = watch.is("rolled-back");
    assert_eq!(back["change"], Value::from(id), "{back}");
    assert_eq!(lab.tables(), before);
    // It goes on proposing, and so does the next one.
    let refused = |watch: &mut WatchProcess| {
        watch.is("proposed");
        let why = watch.is("not-applied")["why"].to_string();
        assert!(why.contains("FD-7816") && why.contains("jobs-watch.mark"), "{why}");
    };
    put(&lab, 1);
    refused(&mut watch);
    drop(watch);
    let mut watch = WatchProcess::watch_over(&lab, &[]);
    refused(&mut watch);
    assert_eq!(lab.tables(), before);
    std::fs::remove_file(mark(&lab)).unwrap();
    while watch.next()["event"] != "confirmed" {}
    assert_ne!(lab.tables(), before);
}

#[test]
fn the_guard_takes_back_what_a_killed_watch_left() {
    let lab = ServedLab::new(TREE);
    let before = lab.tables();
    put(&lab, 0);
    let mut watch = WatchProcess::watch_over(&lab, &[]);
    wait_until_held(&lab, &mut watch);
    assert_ne!(lab.tables(), before);
    watch.signal(Signal::KILL);
    lab.wait_for_state("rolled-back", PATIENCE);
    assert_eq!(lab.tables(), before);
    let mut next = WatchProcess::watch_over(&lab, &[]);
    next.is("proposed");
    let why = next.is("not-applied")["why"].to_string();
    assert!(why.contains("FD-7816"), "{why}");
    assert_eq!(lab.tables(), before);
}

/// A change that another tool writes over during the watch's check is not confirmed.
#[test]
fn what_is_not_as_planned_is_not_confirmed() {
    let lab = ServedLab::new(TREE);
    put(&lab, 0);
    let mut watch = WatchProcess::watch_over(&lab, &[]);
    wait_until_held(&lab, &mut watch);
    // As a tool does that does not check for pending changes.
    let made = lab.command_of("./other", &["route", "--engine", "updn", "-o", "b.plan"]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(!write_plan(&lab, "b.plan").is_empty());
    watch.signal(Signal::CONT);
    let event = watch.next();
    assert!(["failed", "rolled-back"].contains(&event["event"].as_str().unwrap()), "{event}");
    assert!(event["why"].as_str().unwrap().contains("FD-7818"), "{event}");
    assert!(mark(&lab).exists() && lab.state() != "confirmed");
}

#[test]
fn a_watch_that_may_not_write_does_not_begin() {
    let lab = ServedLab::new("sim:kary,k=2,n=2");
    put(&lab, 0);
    let watch = |args: &[&str]| lab.run(&[&["jobs", "watch", "--file", "jobs.txt"], args].concat());
    for (args, code) in [(&["--via", "direct"][..], 64), (&["--confirm-within", "1m"], 64)] {
        assert_eq!(watch(args).status.code(), Some(code), "{args:?}: without --apply");
    }
    let mut own = lab.command(&["jobs", "watch", "--file", "jobs.txt", "--apply", "--source", "sim:demo"]);
    let own = own.output().unwrap();
    let said = String::from_utf8_lossy(&own.stderr);
    assert!(own.status.code() == Some(4) && said.contains("FD-9238"), "{said}");
}

/// Both halves of the LIDs close a credit loop on one lane here. Path records have them there, and hosts got another level
/// for the high ones; and routes that would take two lanes are made on the one that notices can name.
#[test]
fn in_five_phases_what_is_applied_is_judged_by_the_levels_that_hosts_receive() {
    let lab = ServedLab::new("sim:torus,dims=3x3,terminals=3,lmc=1,agents=all");
    std::fs::write(lab.home.path().join("jobs.txt"), "node[0-26] all\n").unwrap();
    let mut watch = WatchProcess::watch_over(&lab, &["--phases"]);
    let applied = [watch.is("proposed"), watch.is("applied")];
    assert_eq!(watch.is("confirmed")["change"], applied[1]["change"]);
    assert!(!mark(&lab).exists());
    let apart: String = (0..27).map(|at| format!("node{} job{}\n", at * 7 % 27, at / 4)).collect();
    renamed(lab.home.path(), &apart);
    watch.quiet = &["unchanged"];
    let judged = std::iter::repeat_with(|| watch.next())
        .find(|told| told["event"] == "refused" || told["now"]["multi_switch"] == 7)
        .unwrap();
    assert!(["kept", "proposed"].contains(&judged["event"].as_str().unwrap()), "{judged}");
}

/// Lists that change nothing are judged without a look: who would be looked at is gone by then.
#[test]
fn a_list_that_changes_nothing_needs_no_look() {
    let mut lab = ServedLab::new("sim:kary,k=3,n=2");
    renamed(lab.home.path(), "node0 a\nnode3 a\nghost a\n");
    let args = ["jobs", "watch", "--file", "jobs.txt", "--gain", "100", "--interval", "100ms", "--json"];
    let mut child = lab.command(&args).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let mut watch = WatchProcess { child, lines, quiet: &["unchanged"] };
    watch.is("kept");
    lab.stop();
    let told = |watch: &mut WatchProcess| -> Value {
        let mut line = String::new();
        watch.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    (0..5).for_each(|_| assert_eq!(told(&mut watch)["event"], "unchanged"));
    renamed(lab.home.path(), "node0 b\nnode3 b\nghost b\nnode1 c\n");
    (0..5).for_each(|_| assert_eq!(told(&mut watch)["event"], "unchanged"));
    // A host that was missing may be there by now, and jobs elsewhere have to be judged.
    for text in ["node0 b\nnode3 b\nspirit b\n", "node0 b\nnode6 b\n"] {
        renamed(lab.home.path(), text);
        assert_eq!(watch.is("unseen")["event"], "unseen", "{text}");
    }
    lab.start("sim:kary,k=3,n=2");
    while watch.next()["event"] != "kept" {}
}

/// The same jobs over other tables are worth a judgement too, once it is time for one.
#[test]
fn tables_changed_by_another_tool_are_judged_again() {
    // With two cables between switches updn crosses fewer links than the tables of before.
    let lab = ServedLab::new("sim:kary,k=3,n=2,redundancy=2");
    renamed(lab.home.path(), "node0 a\nnode3 a\nnode6 a\nnode1 b\nnode4 b\nnode7 b\n");
    let args = ["jobs", "watch", "--file", "jobs.txt", "--gain", "100", "--at-most-every", "1ms", "--json"];
    let mut child = lab.command(&[&args[..], &["--interval", "100ms"]].concat()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let mut watch = WatchProcess { child, lines, quiet: &["unchanged"] };
    let first = watch.is("kept");
    lab.run_to_end(&["route", "--engine", "updn", "-o", "b.plan"], 0);
    lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition"], 0);
    let second = watch.is("kept");
    assert_ne!(second["now"], first["now"], "{first} {second}");
}

/// Another list, whole at once.
fn renamed(home: &Path, text: &str) {
    std::fs::write(home.join("jobs.new"), text).unwrap();
    std::fs::rename(home.join("jobs.new"), home.join("jobs.txt")).unwrap();
}
