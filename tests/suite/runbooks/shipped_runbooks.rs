//! The books that come with the program, over a served simulator.

use std::path::Path;

use super::{put, runs, states};
use crate::changes::processes::{DEMO, ServedLab};
use fabdeck::operations::view_id::ViewId;
use fabdeck::runbook::reader::read;
use fabdeck::runbook::value_names;

/// A book of `docs/runbooks`.
fn shipped(name: &str) -> String {
    Path::new(env!("FABDECK_ROOT")).join("docs/runbooks").join(name).display().to_string()
}

/// The ports of leaves that lead to spine-2.
fn cables() -> Vec<String> {
    (1..=6).flat_map(|leaf| [9, 10].map(|port| format!("rack{leaf}-leaf/{port}"))).collect()
}

#[test]
fn a_switch_is_drained_replaced_and_brought_back() {
    let lab = ServedLab::with("sim:demo,traffic=none,story=away", &[], |home| {
        // Its cables go and come again: a switch without cables is not discovered.
        let cable = |port: &String| format!("20s down {port}\n30s up {port}\n");
        put(home, "away", &cables().iter().map(cable).collect::<String>());
    });
    let file = shipped("planned-switch-replacement.toml");
    let set = ["--set", "switch=spine-2", "--set", "accept=transition", "--set", "every=500ms"];
    let times = ["--set", "gone_within=2m", "--set", "back_within=2m"];
    let (report, said) = runs(&lab, &[&[file.as_str()], &set[..], &times].concat(), 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
    assert_eq!(report["steps"][6]["values"]["passing_pairs"], 0, "{report:#}");
    assert!(said.contains("spine-2 carries nothing for others any more"), "{said}");
    lab.run_to_end(&["check"], 0);
    let changes = lab.run_to_end(&["changes"], 0);
    assert_eq!(changes.matches("confirmed").count(), 2, "{changes}");
}

#[test]
fn what_a_failed_spine_left_is_routed() {
    let lab = ServedLab::with("sim:demo,traffic=none,story=away", &[], |home| {
        let cable = |port: &String| format!("0s down {port}\n");
        put(home, "away", &cables().iter().map(cable).collect::<String>());
    });
    let file = shipped("failed-spine.toml");
    lab.run_to_end(&["check"], 2);
    let set = ["--set", "switch=spine-2", "--set", "left=8", "--set", "accept=transition"];
    let (report, _) = runs(&lab, &[&[file.as_str(), "--dry-run"], &set[..]].concat(), 0);
    assert!(states(&report).contains("rehearsed"), "{report:#}");
    lab.run_to_end(&["check"], 2);
    let (report, said) = runs(&lab, &[&[file.as_str()], &set[..]].concat(), 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
    lab.run_to_end(&["check"], 0);
    // There is nothing left to do.
    let (report, _) = runs(&lab, &[&[file.as_str()], &set[..]].concat(), 2);
    assert!(report["why"].as_str().unwrap().contains("'lost_pairs > 0' fails"), "{report:#}");
    // A switch that is there has not failed.
    let of = |name, left| [file.as_str(), "--set", name, "--set", left];
    let (report, _) = runs(&lab, &of("switch=spine-1", "left=8"), 2);
    assert_eq!(report["steps"][0]["state"], "stopped", "{report:#}");
    // No switch has a wrong name, and an equal number of switches shows that none is gone.
    let (report, _) = runs(&lab, &of("switch=spine-9", "left=7"), 2);
    assert_eq!(states(&report).split(' ').nth(1), Some("stopped"), "{report:#}");
    assert!(report["why"].as_str().unwrap().contains("found 8 rows"), "{report:#}");
}

#[test]
fn the_nightly_check_ends_with_two_where_something_is_wrong() {
    let lab = ServedLab::new(DEMO);
    let file = shipped("nightly-check.toml");
    let quick = ["--set", "interval=500ms", "--set", "accept=cycle"];
    // Paths of a ring close a credit loop, and a cable of the demo runs at 1x.
    let (report, _) = runs(&ServedLab::new("sim:torus,dims=6"), &[file.as_str()], 2);
    assert!(report["why"].as_str().unwrap().contains("(cycle)"), "{report:#}");
    let (report, _) = runs(&lab, &[&[file.as_str()], &quick[..]].concat(), 2);
    assert!(report["why"].as_str().unwrap().contains("found 1 row"), "{report:#}");
    let known = ["--set", "degraded=1"];
    let (report, _) = runs(&lab, &[&[file.as_str()], &quick[..], &known].concat(), 0);
    assert_eq!(report["state"], "done", "{report:#}");
    let worse = ["--set", "worst_efi=1"];
    let (report, _) = runs(&lab, &[&[file.as_str()], &quick[..], &known, &worse].concat(), 2);
    assert!(report["why"].as_str().unwrap().contains("edge_forwarding_index.max"), "{report:#}");
}

#[test]
fn routes_for_jobs_are_kept_where_they_are_worth_it() {
    let lab = ServedLab::new("sim:kary,k=3,n=2");
    let before = lab.tables();
    let file = shipped("routes-for-jobs.toml");
    put(lab.home.path(), "jobs.txt", "node0 a\nnode1 a\nnode3 a\nnode4 a\nnode6 a\n");
    let set = [file.as_str(), "--set", "list=jobs.txt"];
    let (report, _) = runs(&lab, &[&set[..], &["--set", "gain=90"]].concat(), 2);
    assert!(report["why"].as_str().unwrap().contains("sar.jobs.gain >= 90"), "{report:#}");
    assert_eq!(lab.tables(), before);
    let (report, said) = runs(&lab, &[&set[..], &["--set", "gain=1"]].concat(), 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
    assert_ne!(lab.tables(), before);
    let max = |step: usize, name: &str| report["steps"][step]["values"][name].clone();
    assert_eq!(
        max(5, "jobs.max"),
        max(2, "jobs.then_max"),
        "what was planned is what the jobs have: {report:#}"
    );
}

#[test]
fn another_engine_is_kept_only_where_it_does_better() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let file = shipped("engine-switch-with-rollback.toml");
    let set = ["--set", "engine=updn", "--set", "accept=transition", "--set", "interval=500ms"];
    // A book of the site's own that asks for more than the engine gives.
    let text = std::fs::read_to_string(&file).unwrap();
    let strict =
        text.replace("\"after.worst_wait <= before.worst_wait\"", "\"after.worst_wait < before.worst_wait\"");
    put(lab.home.path(), "strict.toml", &strict);
    let (report, said) = runs(&lab, &[&["strict.toml"], &set[..]].concat(), 2);
    assert!(report["why"].as_str().unwrap().contains("after.worst_wait < before.worst_wait"), "{report:#}");
    assert_eq!(report["on_failure"][0]["state"], "done", "{report:#}");
    assert!(said.contains("updn was not kept"), "{said}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before.clone()));
    let (report, _) = runs(&lab, &[&[file.as_str()], &set[..]].concat(), 0);
    assert_eq!(report["state"], "done", "{report:#}");
    assert_ne!(lab.tables(), before);
    assert_eq!(lab.state(), "confirmed");
}

/// Four hosts send to node0, and two of their leaves to others over the same cables.
fn heated(agents: &str) -> ServedLab {
    let fill = [3, 4, 6, 7].map(|host| format!("0s flow node{host} node0\n")).concat();
    let story = format!("host-limit 12.9\n{fill}0s flow node5 node1\n0s flow node8 node2\n");
    let source = format!("sim:xgft,m=3x3,w=1x1{agents},story=heat");
    let lab = ServedLab::with(&source, &[], |home| put(home, "heat", &story));
    let since = std::time::Instant::now();
    while !lab.run_to_end(&["--json", "hotspots", "--interval", "1s"], 2).contains("\"adapter\":\"node0") {
        assert!(since.elapsed().as_secs() < 60, "no hot-spot");
    }
    lab
}

const RELIEF: [&str; 6] =
    ["--set", "accept=cycle,transition,lanes", "--set", "interval=1s", "--set", "settle=2s"];

#[test]
fn a_hot_spot_is_relieved_where_hosts_move_their_flows() {
    let lab = heated(",agents=all");
    let file = shipped("hot-spot-relief.toml");
    let (report, said) = runs(&lab, &[&[file.as_str(), "--dry-run"], &RELIEF[..]].concat(), 0);
    assert!(report["steps"][1]["values"]["migrations"].as_u64().unwrap() > 0, "{report:#}{said}");
    assert_eq!(report["steps"][5]["guards"][0]["verdict"], "not-rehearsed", "{report:#}");
    let (report, said) = runs(&lab, &[&[file.as_str()], &RELIEF[..]].concat(), 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
    assert_eq!(lab.state(), "confirmed");
}

#[test]
fn lanes_without_agents_are_rolled_back_before_any_host_is_notified() {
    let lab = heated("");
    let before = lab.tables();
    let file = shipped("hot-spot-relief.toml");
    let (report, said) = runs(&lab, &[&[file.as_str()], &RELIEF[..]].concat(), 2);
    let why = report["why"].as_str().unwrap();
    assert!(why.contains("'after.waiting_elsewhere <= 0.95 * before.waiting_elsewhere' fails"), "{why}");
    assert_eq!(report["taken_back"]["state"], "rolled back", "{report:#}");
    let (back, told) = (said.find("is rolled back").unwrap(), said.find("it was not kept").unwrap());
    assert!(back < told, "{said}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

#[test]
fn the_page_of_runbooks_has_every_kind_every_value_and_every_book() {
    let root = Path::new(env!("FABDECK_ROOT"));
    let page = std::fs::read_to_string(root.join("docs/runbooks.md")).unwrap();
    for name in value_names::names() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/runbooks.md");
    }
    for table in ViewId::ALL.iter().filter(|view| view.is_of_snapshot()) {
        assert!(page.contains(&format!("`{}`", table.id())), "{}", table.id());
    }
    let mut books = 0;
    for entry in std::fs::read_dir(root.join("docs/runbooks")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(page.contains(&format!("(runbooks/{name})")), "{name}");
        // All of its variables are set, or it says what they are.
        let text = std::fs::read_to_string(&path).unwrap();
        let known = fabdeck::runbook::reader::ReaderOptions {
            time: |_| Ok(std::time::Duration::from_millis(1)),
            window: |_| Ok(std::time::Duration::from_secs(60)),
            findings: &["unreachable", "loop", "cycle", "lanes", "transition"],
        };
        let set = [("switch", "spine-2"), ("engine", "updn"), ("left", "7"), ("list", "jobs.txt")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let needed = set.into_iter().filter(|(name, _)| text.contains(&format!("[vars.{name}]"))).collect();
        read(&text, &needed, known).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}"));
        books += 1;
    }
    assert!(books >= 5, "{books}");
}
