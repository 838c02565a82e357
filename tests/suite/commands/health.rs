//! `health`: the ranked problems, their causes, hits and next steps, and the line for monitoring systems.

use serde_json::Value;

use super::binary::{fabdeck as program, home};
use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;

fn json(args: &[&str], exit: Exit) -> Value {
    let ended = fabdeck(&[args, &["health", "--json"]].concat());
    assert_eq!(ended.exit, exit, "{} {}", ended.out, ended.err);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {} {}", ended.out, ended.err))
}

fn kinds(answer: &Value) -> Vec<&str> {
    let problems = answer["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["kind"].as_str().unwrap()).collect()
}

fn names<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list["first"].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap()).collect()
}

#[test]
fn a_hot_spot_comes_before_a_link_with_errors_and_names_those_that_wait() {
    let answer = json(&["--source", "hot"], Exit::Findings);
    assert_eq!((kinds(&answer), &answer["worst"]), (vec!["hot-spot", "link-errors"], &"critical".into()));
    let hot = &answer["problems"][0];
    let spots = fabdeck(&["--source", "hot", "hotspots", "--json"]);
    let spots: Value = serde_json::from_str(&spots.out).unwrap();
    let waiting: Vec<&str> = spots["sweeps"][0]["contributors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["port"].as_str().unwrap().split('[').next().unwrap())
        .collect();
    let mut hosts = names(&hot["hosts"], "host");
    hosts.sort_unstable();
    assert_eq!(hosts, waiting, "the same hosts as `hotspots`, without the one that has its fair share");
    let roles = names(&hot["hosts"], "role");
    assert!(roles.iter().all(|role| *role == "undecided"), "{hot}");
    assert!(hot["command"].as_str().unwrap().ends_with(" lanes propose"), "{hot}");
    let link = &answer["problems"][1];
    assert_eq!((&link["severity"], &link["certainty"]), (&"warning".into(), &"likely".into()), "{link}");
}

#[test]
fn waiting_without_a_hot_spot_has_only_victims() {
    let answer = json(&["--source", "rail"], Exit::Findings);
    let narrow = &answer["problems"][0];
    assert_eq!((&narrow["kind"], &narrow["severity"]), (&"narrow-links".into(), &"critical".into()));
    assert_eq!(names(&narrow["hosts"], "role"), ["victim"], "{narrow}");
}

/// Shortest paths of a ring wait for each other.
#[test]
fn a_credit_loop_of_the_tables_is_a_warning() {
    let answer = json(&["--source", "crowded ring"], Exit::Findings);
    let found = &answer["problems"][0];
    assert_eq!((&found["kind"], &found["severity"]), (&"credit-loop".into(), &"warning".into()), "{answer}");
    assert!(found["cause"].as_str().unwrap().starts_with("6 channels can wait for each other: "), "{found}");
}

#[test]
fn a_source_without_a_second_reading_is_judged_without_counters() {
    let answer = json(&["--source", "small"], Exit::Findings);
    assert_eq!(answer["checked"]["counters"], false);
    let why = answer["checked"]["counters_missing"].as_str().unwrap();
    assert!(why.starts_with("FD-5013"), "{why}");
    let check: Value = serde_json::from_str(&fabdeck(&["--source", "small", "check", "--json"]).out).unwrap();
    let lost: Vec<&Value> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|problem| problem["kind"] == "lost-paths" && problem["severity"] == "critical")
        .collect();
    let pairs: u64 = lost.iter().map(|problem| problem["paths"].as_u64().unwrap()).sum();
    assert_eq!(check["unreachable"], pairs, "as many as `check` finds: {answer}");
    let asked = fabdeck(&["--source", "small", "health", "--interval", "2s"]);
    assert!(asked.exit == Exit::Usage && asked.err.contains("FD-5013"), "{}", asked.err);
}

/// Output and exit code of the program itself, which reaches simulators and captures.
fn run(args: &[&str]) -> (String, i32) {
    let home = home();
    let ended = program(&home).args(args).output().unwrap();
    (String::from_utf8(ended.stdout).unwrap(), ended.status.code().unwrap())
}

fn run_json(args: &[&str]) -> Value {
    let (out, code) = run(args);
    assert_eq!(code, 2, "{out}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn jobs_are_those_of_the_named_list() {
    let folder = home();
    let list = folder.path().join("jobs");
    std::fs::write(&list, "node02 red\nnode04 red\nnode03 blue\n").unwrap();
    let list = list.display().to_string();
    let demo = ["--source", "sim:demo", "health", "--json", "--interval", "2s"];
    let answer = run_json(&[&demo[..], &["--file", &list]].concat());
    let jobs = &answer["problems"][0]["jobs"];
    assert_eq!((names(jobs, "job"), &jobs["first"][0]["hosts"]), (vec!["red"], &2.into()), "{answer}");
    assert_eq!(answer["checked"]["jobs"], list);
    let simulated = run_json(&demo);
    assert!(simulated["checked"]["jobs"].as_str().unwrap().starts_with("SIMULATED"), "{simulated}");
    let (_, code) = run(&["--source", "sim:demo", "health", "--file", "/no/such/list"]);
    assert_eq!(code, 7);
}

#[test]
fn a_fabric_without_problems_says_what_was_checked() {
    let quiet = ["--source", "sim:kary,k=4,n=2,traffic=none", "health"];
    let (out, code) = run(&quiet);
    let begins =
        "health   no problem\nchecked  32 links and 64 ports, counters over 10.0 s, forwarding tables";
    assert!(code == 0 && out.starts_with(begins), "{code} {out}");
    let (line, code) = run(&[&quiet[..], &["--format", "nagios"]].concat());
    assert!(code == 0 && line.starts_with("FABDECK OK - no problem | critical=0;;1 warning=0;1 "), "{line}");
}

#[test]
fn a_monitoring_system_gets_its_own_exit_codes() {
    let state = |source: &str| {
        let (out, code) = run(&["--source", source, "health", "--format", "nagios"]);
        assert_eq!(out.lines().count(), 1, "{out}");
        (code, out.split(" - ").next().unwrap().to_owned())
    };
    assert_eq!(state("sim:demo"), (2, "FABDECK CRITICAL".to_owned()));
    assert_eq!(state("sim:demo,traffic=none"), (1, "FABDECK WARNING".to_owned()));
    assert_eq!(state("/no/such/file"), (3, "FABDECK UNKNOWN".to_owned()));
    // A check without counters is no whole one, and says so.
    let line = ["--source", "broken", "health", "--format", "nagios"];
    let gaps = fabdeck(&line);
    assert!(gaps.out.contains("(counters were not compared)"), "{}", gaps.out);
    let empty = ["--source", "crowded", "health", "--format", "nagios"];
    let (usual, strict) = (fabdeck(&empty), fabdeck(&[&["--strict"][..], &empty].concat()));
    assert_eq!((usual.exit.code(), strict.exit.code()), (0, 3), "{} {}", usual.out, strict.out);
    let both = fabdeck(&[&line[..], &["--json"]].concat());
    assert!(both.exit == Exit::Usage && both.err.contains("FD-7333"), "{}", both.err);
}

/// Each incident at a moment within it: the kinds of its problems, and what the worst names.
#[test]
fn recorded_incidents_are_recognized() {
    let incidents = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures");
    for (name, at, kinds_then, worst) in [
        ("silent-host", "09:01:30", &["silent-node"][..], "node7 HCA-1 does not answer"),
        ("spine-failure", "11:11:50", &["link-down", "degraded-link"], "leaf0[6] to spine1[1] is down"),
        ("incast", "09:02:00", &["hot-spot"], "node0 accepts"),
        ("flapping-link", "09:03:00", &["link-errors"], "leaf1[5] to spine0[2] flapped 6 times"),
    ] {
        let source = format!("{incidents}/{name}");
        let answer = run_json(&["--source", &source, "--at", at, "health", "--json"]);
        assert_eq!(kinds(&answer), kinds_then, "{name}: {answer}");
        let problem = &answer["problems"][0];
        assert!(problem["title"].as_str().unwrap().starts_with(worst), "{name}: {problem}");
        assert!(problem["command"].as_str().unwrap().contains(&format!("--at {at} ")), "{name}: {problem}");
    }
}

/// Links that run alike below what they support are one problem, and a single one names its cable.
#[test]
fn a_setting_of_many_links_is_one_problem() {
    let incidents = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures");
    let answer = run_json(&["--source", &format!("{incidents}/spine-failure"), "health", "--json"]);
    let many =
        answer["problems"].as_array().unwrap().iter().find(|one| one["kind"] == "degraded-link").unwrap();
    let links = many["elements"].as_array().unwrap().len();
    assert!(many["id"].as_str().unwrap().ends_with(&format!(":{links}")), "{many}");
    assert!(
        links > 20 && many["title"].as_str().unwrap().starts_with(&format!("{links} links run at ")),
        "{many}"
    );
    let demo = run_json(&["--source", "sim:demo,traffic=none", "health", "--json"]);
    let one = &demo["problems"][0];
    assert_eq!(
        (&one["kind"], one["elements"].as_array().unwrap().len()),
        (&"degraded-link".into(), 1),
        "{one}"
    );
}

/// An acknowledged problem comes last and does not count; an ID that is no problem is refused with those that are.
#[test]
fn an_acknowledged_problem_does_not_count() {
    let home = home();
    let health = |more: &[&str]| {
        let line = [&["--source", "sim:demo,traffic=none", "health"], more].concat();
        let ended = program(&home).args(line).output().unwrap();
        (
            String::from_utf8(ended.stdout).unwrap(),
            String::from_utf8(ended.stderr).unwrap(),
            ended.status.code(),
        )
    };
    let (before, _, code) = health(&["--json"]);
    let before: Value = serde_json::from_str(&before).unwrap();
    let id = before["problems"][0]["id"].as_str().unwrap();
    assert_eq!((code, &before["problems"][0]["acknowledged"]), (Some(2), &Value::Null));
    let (out, _, code) = health(&["--acknowledge", id, "--note", "ordered"]);
    assert!(
        code == Some(0) && out.starts_with("health   no problem (1 more acknowledged)"),
        "{code:?} {out}"
    );
    assert!(out.contains("\nacknowledged  by ") && out.trim_end().ends_with(": ordered"), "{out}");
    let (line, _, code) = health(&["--format", "nagios"]);
    assert!(code == Some(0) && line.starts_with("FABDECK OK"), "{line}");
    let other = program(&home).args(["--source", "sim:demo", "health", "--json"]).output().unwrap();
    let other: Value = serde_json::from_slice(&other.stdout).unwrap();
    let last = other["problems"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["acknowledged"]["note"]), (&id.into(), &"ordered".into()), "{other}");
    let (_, refused, code) = health(&["--acknowledge", "nothing"]);
    assert!(code == Some(64) && refused.contains("FD-7331") && refused.contains(id), "{refused}");
    let (_, _, code) = health(&["--unacknowledge", id]);
    assert_eq!(code, Some(2));
    // What cannot be read acknowledges nothing, and is not written over.
    let file = walk(home.path()).into_iter().find(|file| file.ends_with("acknowledged")).unwrap();
    std::fs::write(&file, "nonsense\n").unwrap();
    let (out, _, code) = health(&[]);
    assert!(code == Some(2) && out.contains("unchecked  acknowledgements: "), "{out}");
    let (_, refused, code) = health(&["--acknowledge", id]);
    assert!(code == Some(1) && refused.contains("line 1"), "{code:?} {refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "nonsense\n");
}

/// An acknowledgement covers the problem as it was: worse, it counts again.
#[test]
fn a_worse_problem_counts_again() {
    let home = home();
    let health = |more: &[&str]| {
        let line = [&["--source", "sim:demo", "health"], more].concat();
        let ended = program(&home).args(line).output().unwrap();
        (String::from_utf8(ended.stdout).unwrap(), ended.status.code())
    };
    let answer = || -> Value { serde_json::from_str(&health(&["--json"]).0).unwrap() };
    let before = answer();
    let problems = before["problems"].as_array().unwrap();
    let ids: Vec<&str> = problems.iter().map(|one| one["id"].as_str().unwrap()).collect();
    for (at, id) in ids.iter().enumerate().rev() {
        let code = if at == 0 { 0 } else { 2 };
        assert_eq!(health(&["--acknowledge", id, "--note", "ordered"]).1, Some(code), "{id}");
    }
    let file = walk(home.path()).into_iter().find(|file| file.ends_with("acknowledged")).unwrap();
    let kept = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hot = lines.pop().unwrap();
    assert_eq!((&hot["problem"], &hot["extent"]["severity"]), (&ids[0].into(), &"critical".into()));
    let cable =
        lines.iter().find(|one| one["problem"].as_str().unwrap().starts_with("link-errors:")).unwrap();
    assert!(
        hot["made"].as_i64().unwrap() > 1_700_000_000_000 && cable["extent"]["sign"].is_string(),
        "{kept}"
    );
    let write = |hot: &Value| {
        let all: String = lines.iter().chain([hot]).map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, all).unwrap();
    };
    let mut warned = hot.clone();
    warned["extent"]["severity"] = "warning".into();
    write(&warned);
    let (out, code) = health(&[]);
    assert_eq!(code, Some(2));
    assert!(out.contains("worse") && out.contains("since it was acknowledged by "), "{out}");
    let (line, code) = health(&["--format", "nagios"]);
    assert!(code == Some(2) && line.contains("(worse since it was acknowledged by "), "{code:?} {line}");
    let problem = answer()["problems"][0].clone();
    assert_eq!(
        (&problem["acknowledged"], &problem["worse_since"]["note"]),
        (&Value::Null, &"ordered".into())
    );
    // Acknowledged anew, it is covered as it is now.
    assert_eq!(health(&["--acknowledge", ids[0]]).1, Some(0));
    // An acknowledgement of an older version covers the problem however bad it becomes.
    warned.as_object_mut().unwrap().retain(|key, _| key != "extent" && key != "made");
    write(&warned);
    assert_eq!(health(&[]).1, Some(0));
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Jobs that run now say nothing about a recorded moment.
#[test]
fn configured_jobs_are_not_those_of_a_capture() {
    let folder = home();
    let (list, config) = (folder.path().join("jobs"), folder.path().join("config.toml"));
    std::fs::write(&list, "node7 now\n").unwrap();
    std::fs::write(&config, format!("[jobs]\nfile = \"{}\"\n", list.display())).unwrap();
    let config = config.display().to_string();
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures/incast");
    let recorded = run_json(&["--config", &config, "--source", capture, "health", "--json"]);
    assert_eq!(recorded["checked"]["jobs"], Value::Null, "{recorded}");
    let now = run_json(&["--config", &config, "--source", "sim:demo", "health", "--json"]);
    assert_eq!(now["checked"]["jobs"], list.display().to_string(), "{now}");
}
