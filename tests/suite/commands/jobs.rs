//! `jobs`, `show jobs` and `jobs watch` over lists of every form.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::binary;
use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;

/// Three leaves below three spines, three hosts each: node0 to node2 are on the first leaf.
const TREE: [&str; 2] = ["--source", "crowded"];

fn run_json(args: &[&str]) -> Value {
    let ended = fabdeck(&[&TREE[..], args, &["--json"]].concat());
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// A squeue that prints what lies beside it, and fails where that is not there.
fn squeue(folder: &Path) -> PathBuf {
    let file = folder.join("squeue");
    let list = folder.join("list");
    let text = format!(
        "#!/bin/sh\ncase $1 in --json) echo no json >&2; exit 1;; esac\nexec cat {}\n",
        list.display()
    );
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
    file
}

#[test]
fn a_job_has_its_hosts_switches_links_and_index() {
    // The job 17 has two hosts on each of two leaves, 18 is on one leaf, and nobody knows the hosts of 19.
    let list = "17 node[0-1],17 node[3-4],18 node[6-7],19 gpu[1-3]";
    let all = run_json(&["jobs", "--file", list]);
    let row = &all["rows"][0];
    assert_eq!((&row["job"], &row["hosts"], &row["switches"]), (&"17".into(), &4.into(), &2.into()), "{all}");
    let (links, max) = (row["links"].as_u64().unwrap(), row["max"].as_u64().unwrap());
    assert!((4..=8).contains(&links) && (2..=4).contains(&max), "{all}");
    let row = &all["rows"][1];
    assert_eq!((&row["job"], &row["switches"], &row["max"]), (&"18".into(), &1.into(), &0.into()), "{all}");
    assert_eq!((&row["links"], &row["dark_fiber"]), (&0.into(), &100.0.into()), "{all}");
    let totals = &all["totals"];
    for (key, value) in [("listed", 3), ("placed", 2), ("multi_switch", 1), ("hosts", 6), ("not_found", 3)] {
        assert_eq!(totals[key], value, "{key}: {all}");
    }
    // One job on several switches: all of them together are that one.
    assert_eq!((&totals["max"], &totals["links"]), (&max.into(), &links.into()), "{all}");
    assert_eq!(all["notes"][0]["code"], "FN-541", "{all}");
    assert_eq!(run_json(&["show", "jobs", "--file", list])["rows"], all["rows"]);
    let chosen = run_json(&["show", "jobs", "--file", list, "--filter", "switches>1", "--fields", "job,max"]);
    assert_eq!(chosen["rows"], json!([{ "job": "17", "max": max }]));
    let text = fabdeck(&[&TREE[..], &["jobs", "--file", list]].concat()).out;
    assert!(text.contains("2 of 3 on 6 hosts, 1 of them on several switches"), "{text}");
    assert!(text.contains("MOST PATHS"), "{text}");
}

/// Channel by channel the same comes out as job by job.
#[test]
fn channels_tell_whose_paths_they_carry() {
    let list = "17 node[0-1],17 node[3-4],18 node[2],18 node[5]";
    let (jobs, all) = (run_json(&["jobs", "--file", list]), run_json(&["jobs", "channels", "--file", list]));
    assert_eq!(all["totals"], jobs["totals"]);
    let rows = all["rows"].as_array().unwrap();
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    assert_eq!(rows.len() as u64, number(&jobs["totals"], "links"), "{all}");
    assert_eq!(number(&rows[0], "paths"), number(&jobs["totals"], "max"), "{all}");
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(number(row, "paths"))), "{all}");
    for job in jobs["rows"].as_array().unwrap() {
        let own = rows.iter().filter(|row| row["job"] == job["job"]);
        assert!(own.map(|row| number(row, "most")).all(|most| most <= number(job, "max")), "{all}");
    }
    for row in rows {
        let (paths, most, jobs) = (number(row, "paths"), number(row, "most"), number(row, "jobs"));
        assert!((1..=2).contains(&jobs) && most <= paths && paths <= jobs * most, "{row}");
        // Paths within jobs between leaves go up, or down.
        let ends = ["from", "to"].map(|end| row[end].as_str().unwrap().starts_with("leaf"));
        assert!(ends[0] != ends[1], "{row}");
    }
    // Eight paths of 17 and two of 18 go up and come down again.
    assert_eq!(rows.iter().map(|row| number(row, "paths")).sum::<u64>(), 2 * (8 + 2), "{all}");
    let fields = fabdeck(&["jobs", "channels", "--fields", "help"]).out;
    assert!(fields.contains("effective edge forwarding index"), "{fields}");
}

/// Node 0 and node 1 run two jobs each.
const SHARED: &str = "node0 a,node1 a,node0 b,node1 b,node2 b";

#[test]
fn a_host_with_several_jobs_is_listed_once_and_reported() {
    let all = run_json(&["jobs", "--file", SHARED]);
    assert_eq!((&all["totals"]["hosts"], &all["totals"]["shared"]), (&3.into(), &2.into()), "{all}");
    let note = &all["notes"][0];
    assert_eq!(note["code"], "FN-544", "{all}");
    assert!(
        note.to_string().contains("2 of 3 hosts with jobs have several jobs: node0 (2), node1 (2)"),
        "{note}"
    );
    let text = fabdeck(&[&TREE[..], &["jobs", "--file", SHARED]].concat()).out;
    assert!(text.contains("2 on 3 hosts, 0 of them on several switches"), "{text}");
    let one = fabdeck(&[&TREE[..], &["jobs", "--file", "node0 a,gpu0 a"]].concat()).out;
    assert!(one.contains("1 on 1 host, 0 of them") && one.contains("1 is not in the fabric"), "{one}");
    let one = fabdeck(&[&TREE[..], &["check", "--jobs", "node0 a"]].concat()).out;
    assert!(one.contains("1 on 1 host: at most 0 paths on a channel"), "{one}");
}

#[test]
fn every_host_that_is_missing_is_named() {
    let all = run_json(&["jobs", "--file", "17 node0,17 gpu[1-7],18 gpu7"]);
    let missing = all["totals"]["missing_hosts"].as_array().unwrap();
    assert_eq!((missing.len(), &all["totals"]["missing_hosts_more"]), (7, &0.into()), "{all}");
    assert_eq!(missing[6], json!({ "host": "gpu7", "jobs": ["17", "18"], "fits": [] }));
    let text = |more: &[&str]| {
        fabdeck(&[&TREE[..], &["jobs", "--file", "17 node0,17 gpu[1-7],18 gpu7"], more].concat()).out
    };
    assert!(text(&["-v"]).contains("gpu7, of 17, 18") && !text(&[]).contains("gpu7"), "{}", text(&["-v"]));
    // A list that is all strange is told to a bound.
    let many = run_json(&["jobs", "--file", "17 gpu[1-1003]"]);
    assert_eq!(many["totals"]["missing_hosts"].as_array().unwrap().len(), 1000);
    assert_eq!(many["totals"]["missing_hosts_more"], 3);
}

#[test]
fn pairs_without_a_path_are_reported_wherever_jobs_are() {
    // Two hosts on each of two leaves that nothing leads between; on each leaf they reach each other.
    let (torn, list) = (["--source", "torn"], "17 node[0-1],17 node[3-4],18 node[6-7]");
    let ended = |args: &[&str]| fabdeck(&[&torn[..], args].concat());
    let json =
        |args: &[&str]| -> Value { serde_json::from_str(&ended(&[args, &["--json"]].concat()).out).unwrap() };
    let all = json(&["jobs", "--file", list]);
    assert_eq!((&all["totals"]["lost"], &all["rows"][0]["lost"]), (&8.into(), &8.into()), "{all}");
    assert_eq!((&all["rows"][1]["job"], &all["rows"][1]["lost"]), (&"18".into(), &0.into()), "{all}");
    let text = ended(&["jobs", "--file", list]).out;
    assert!(text.contains("8 pairs within jobs have no path") && text.contains("LOST"), "{text}");
    let whole = fabdeck(&[&TREE[..], &["jobs", "--file", list]].concat()).out;
    assert!(!whole.contains("LOST") && !whole.contains("no path"), "{whole}");
    let checked = json(&["check", "--jobs", list]);
    assert_eq!((&checked["jobs"]["lost"], &checked["jobs"]["first"][0]["lost"]), (&8.into(), &8.into()));
    assert!(
        ended(&["check", "--jobs", list]).out.contains("17 on 4 hosts: 0 at most, 100.0 % dark fiber, 8 w")
    );
    let previewed = json(&["whatif", "--jobs", list, "--engine", "sar", "--no-times"]);
    assert_eq!(
        (&previewed["jobs"]["lost"], &previewed["engines"][0]["jobs"]["lost"]),
        (&8.into(), &0.into())
    );
    let text = ended(&["whatif", "--jobs", list, "--engine", "sar", "--no-times"]).out;
    let cells = |name: &str| text.lines().rfind(|line| line.starts_with(name)).unwrap().replace(name, "");
    assert!(cells("in force").split_whitespace().any(|cell| cell == "8"), "{text}");
    // What a table that was not read does is not known.
    let deaf = fabdeck(&["--source", "deaf", "jobs", "--file", list, "--json"]).out;
    let deaf: Value = serde_json::from_str(&deaf).unwrap();
    assert_eq!(deaf["totals"]["lost"], 0, "{deaf}");
}

#[test]
fn of_many_jobs_the_rest_is_counted() {
    let list: Vec<String> = (0..7).map(|job| format!("node{job} {job}")).collect();
    let text = fabdeck(&[&TREE[..], &["check", "--jobs", &list.join(",")]].concat()).out;
    assert!(text.contains("and 2 more"), "{text}");
    let text = fabdeck(&[&TREE[..], &["check", "--jobs", &list[..5].join(",")]].concat()).out;
    assert!(!text.contains(" more; "), "{text}");
}

#[test]
fn dark_fiber_of_a_job_has_a_decimal() {
    // Four of 18 channels at the least: 77.8 percent are dark.
    let row = &run_json(&["show", "jobs", "--file", "node0 17,node3 17"])["rows"][0];
    assert_eq!((&row["links"], &row["dark_fiber"]), (&4.into(), &77.8.into()), "{row}");
    let some = |filter| {
        run_json(&["show", "jobs", "--file", "node0 17,node3 17", "--filter", filter])["rows"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((some("dark_fiber>77.7"), some("dark_fiber>77"), some("dark_fiber>77.8")), (1, 1, 0));
}

#[test]
fn equal_lists_in_three_forms_are_equal() {
    let by_hand = run_json(&["jobs", "--file", "node0 17,node4 17,node8 18"]);
    let json = r#"{"errors": [], "jobs": [{"job_id": 17, "job_state": ["RUNNING"], "nodes": "node[0@4]"},"#
        .replace('@', ",")
        + r#"{"job_id": 18, "job_state": "RUNNING", "nodes": "node8"}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("squeue");
    std::fs::write(&program, format!("#!/bin/sh\necho '{json}'\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let by_json = run_json(&["jobs", "--slurm", "--squeue", program.to_str().unwrap()]);
    assert_eq!((&by_json["rows"], &by_json["totals"]), (&by_hand["rows"], &by_hand["totals"]));
    assert_eq!((&by_json["from"], by_json["notes"].as_array().unwrap().len()), (&"squeue".into(), 0));
    let text = squeue(folder.path());
    std::fs::write(folder.path().join("list"), "17 node[0,4]\n18 node8\n").unwrap();
    let by_text = run_json(&["jobs", "--slurm", "--squeue", text.to_str().unwrap()]);
    assert_eq!((&by_text["rows"], &by_text["totals"]), (&by_hand["rows"], &by_hand["totals"]));
}

/// Slurm knows hosts that the fabric has not; who writes one by hand made a mistake.
#[test]
fn check_takes_what_squeue_prints() {
    let check = |list: &str| fabdeck(&[&TREE[..], &["check", "--jobs", list, "--json"]].concat());
    let told: Value = serde_json::from_str(&check("17 node[0-1],17 node3,18 gpu7").out).unwrap();
    assert_eq!((&told["jobs"]["count"], &told["jobs"]["hosts"]), (&1.into(), &3.into()), "{told}");
    assert!(told["notes"].as_array().unwrap().iter().any(|note| note["code"] == "FN-541"), "{told}");
    assert_eq!(check("node0 17,gpu7 18").exit, Exit::BadInput);
}

/// The real command over files of a folder.
fn run_in_folder(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(args).current_dir(folder).env("HOME", folder).env_remove("XDG_CONFIG_HOME");
    let ended = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

/// A switch with a host of two adapters and one of one, as ibnetdiscover prints them.
fn two_adapters(folder: &Path) {
    let names = ["big HCA-1", "big HCA-2", "small HCA-1"];
    let mut text = String::from("vendid=0x2c9\nswitchguid=0x100(100)\n");
    text += "Switch 3 \"S-0000000000000100\" # \"leaf\" base port 0 lid 1 lmc 0\n";
    for (at, name) in names.iter().enumerate() {
        text += &format!("[{}] \"H-{:016x}\"[1] # \"{name}\" lid {} 4xEDR\n", at + 1, 0x200 + at, at + 2);
    }
    for (at, name) in names.iter().enumerate() {
        let (guid, port, lid) = (0x200 + at, at + 1, at + 2);
        text += &format!("\ncaguid=0x{guid:x}\nCa 1 \"H-{guid:016x}\" # \"{name}\"\n");
        text +=
            &format!("[1]({guid:x}) \"S-0000000000000100\"[{port}] # lid {lid} lmc 0 \"leaf\" lid 1 4xEDR\n");
    }
    std::fs::write(folder.join("two.lst"), text).unwrap();
}

#[test]
fn every_command_finds_the_hosts_of_a_list_by_the_same_rule() {
    let folder = tempfile::tempdir().unwrap();
    two_adapters(folder.path());
    std::fs::write(folder.path().join("jobs.txt"), "big a\nsmall.site a\n").unwrap();
    let source = ["--source", "two.lst", "--assume", "minhop", "--json"];
    let seen = |args: &[&str]| -> Value {
        let (code, out, err) = run_in_folder(folder.path(), &[&source[..], args].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        serde_json::from_str(&out).unwrap()
    };
    assert_eq!(seen(&["jobs", "--file", "jobs.txt"])["totals"]["hosts"], 2);
    assert_eq!(seen(&["check", "--jobs", "jobs.txt"])["jobs"]["hosts"], 2);
    seen(&["whatif", "--engine", "sar", "--jobs", "jobs.txt"]);
    std::fs::write(folder.path().join("jobs.txt"), "big a\nbig.site,large a\n").unwrap();
    let (code, _, err) =
        run_in_folder(folder.path(), &[&source[..], &["check", "--jobs", "jobs.txt"]].concat());
    assert!(code == Some(7) && err.contains("jobs.txt:2: FD-7903") && err.contains("'large'"), "{err}");
}

/// Jobs of another fabric are none here, and that nothing runs is no mistake.
#[test]
fn a_list_of_another_fabric_is_distinguished_from_an_idle_one() {
    let ended = |args: &[&str]| fabdeck(&[&TREE[..], args, &["--no-times"]].concat());
    let elsewhere = "17 gpu[0-1],18 gpu7";
    let routes = ["whatif", "--engine", "sar", "--jobs"];
    for args in [&["check", "--jobs"][..], &routes, &["route", "--engine", "sar", "-o", "no.plan", "--jobs"]]
    {
        let refused = ended(&[args, &[elsewhere]].concat());
        assert_eq!(refused.exit, Exit::BadInput, "{args:?}");
        let said = refused.err;
        assert!(said.contains("FD-7904: none of the hosts with jobs (3: gpu0, gpu1, gpu7)"), "{said}");
    }
    let idle = ended(&[&routes[..], &["# nothing runs"]].concat());
    assert_eq!(idle.exit, Exit::Done, "{}", idle.err);
    assert!(idle.err.contains("FN-546: no job runs"), "{}", idle.err);
    let idle = ended(&[&routes[..], &["# nothing runs", "--json"]].concat()).out;
    assert!(idle.contains("no job runs, or none is given"), "{idle}");
    let told = ended(&["jobs", "--file", elsewhere, "--json"]);
    assert_eq!(told.exit, Exit::Done, "{}", told.err);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["partial"], &told["totals"]["placed"]), (&true.into(), &0.into()), "{told}");
    assert!(told["notes"].to_string().contains("the order of its columns"), "{told}");
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let ended = |args: &[&str]| fabdeck(&[&TREE[..], args].concat());
    let refused = ended(&["jobs"]);
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.err.contains("FD-7811"), "{}", refused.err);
    let refused = ended(&["jobs", "--slurm", "--squeue", "/nowhere/squeue"]);
    assert_eq!(refused.exit, Exit::Unreachable);
    assert!(refused.err.contains("FD-4601: /nowhere/squeue"), "{}", refused.err);
    let refused = ended(&["jobs", "--file", "17 node[0-"]);
    assert_eq!(refused.exit, Exit::BadInput);
    assert!(refused.err.contains("jobs:1: FD-2309"), "{}", refused.err);
    let refused = ended(&["jobs", "watch", "--file", "node0 17", "-o", "/nowhere/plans", "--count", "1"]);
    assert!(refused.err.contains("FD-7812"), "{}", refused.err);
    // Without tables who is where is known, and no more.
    let bare = fabdeck(&["--source", "untold", "jobs", "--file", "node0 17,node4 17", "--json"]);
    let bare: Value = serde_json::from_str(&bare.out).unwrap();
    let row = &bare["rows"][0];
    assert_eq!(
        (&row["switches"], &row["max"], &bare["totals"]["max"]),
        (&2.into(), &Value::Null, &Value::Null)
    );
}

fn watched(lists: &[&str], more: &[&str]) -> Vec<Value> {
    watched_over(&TREE, lists, more)
}

fn watched_over(source: &[&str], lists: &[&str], more: &[&str]) -> Vec<Value> {
    let ended = watch(source, lists, &[&["--json"], more].concat());
    ended.0.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a watch prints and says whose list is another at each turn: a squeue counts how often it was asked.
fn watch(source: &[&str], lists: &[&str], more: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    for (number, list) in lists.iter().enumerate() {
        std::fs::write(folder.path().join(format!("list{number}")), list).unwrap();
    }
    let script = format!(
        "#!/bin/sh\ncase $1 in --json) exit 1;; esac\nn=$(cat {at}/n 2>/dev/null || echo 0)\necho $((n+1)) >{at}/n\n\
         test -s {at}/list$n || {{ echo no controller >&2; exit 1; }}\nexec cat {at}/list$n\n"
    );
    let program = folder.path().join("squeue");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let count = lists.len().to_string();
    let watch = ["jobs", "watch", "--slurm", "--squeue", program.to_str().unwrap(), "--count", &count];
    let usual = ["--interval", "1ms", "--no-times"];
    let ended = fabdeck(&[source, &watch, &usual, more].concat());
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    (ended.out, ended.err)
}

fn events(told: &[Value]) -> Vec<&str> {
    told.iter().map(|line| line["event"].as_str().unwrap()).collect()
}

const FIRST: &str = "17 node[0-8]\n";
/// Another id on the same hosts, and a job on one switch beside it.
const SAME: &str = "20 node[0-8]\n21 node[0-1]\n";
const OTHER: &str = "30 node[0-5]\n";

#[test]
fn a_watch_judges_what_is_another_and_keeps_still_else() {
    let told = watched(&[FIRST, SAME, "", OTHER, OTHER], &["--gain", "100"]);
    assert_eq!(events(&told), ["kept", "unchanged", "unheard", "kept", "unchanged"], "{told:?}");
    assert!(told[2]["why"].as_str().unwrap().contains("FD-4603"), "{told:?}");
    assert_eq!(told[0]["now"]["multi_switch"], 1, "{told:?}");
}

/// Tables that cut every job have no load, so that no route gains anything on them.
#[test]
fn fewer_lost_paths_are_worth_a_proposal() {
    let told = watched_over(&["--source", "torn"], &[FIRST], &["--gain", "10"]);
    assert_eq!(events(&told), ["proposed"], "{told:?}");
    // Nine hosts, three on each leaf: 54 of their 72 pairs are on two leaves.
    assert_eq!((&told[0]["now"]["lost"], &told[0]["proposed"]["lost"]), (&54.into(), &0.into()), "{told:?}");
}

#[test]
fn a_proposal_is_a_plan_and_the_next_one_waits() {
    let folder = tempfile::tempdir().unwrap();
    let plans = folder.path().to_str().unwrap();
    let told = watched(&[FIRST, OTHER, FIRST], &["--gain", "0", "-o", plans]);
    // The first list again is what was judged.
    assert_eq!(events(&told), ["proposed", "held", "unchanged"], "{told:?}");
    let plan = std::fs::read_to_string(told[0]["plan"].as_str().unwrap()).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["engine"], "sar");
    assert_eq!(told[0]["findings"], plan["findings"]);
    let gains = |line: &Value| line["gain"].as_f64().unwrap() >= 0.0;
    assert!(gains(&told[0]), "{told:?}");
    let told = watched(&[FIRST, OTHER], &["--gain", "0", "--at-most-every", "1ms", "-o", plans]);
    assert_eq!(events(&told)[0], "proposed", "{told:?}");
    assert_ne!(events(&told)[1], "held", "{told:?}");
    assert!(folder.path().join("sar-00002.plan").is_file());
}

/// What a caller of squeue sets to see less does not make a fabric look idle.
#[test]
fn filters_of_the_caller_are_not_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("squeue");
    let text = "#!/bin/sh\ncase $1 in --json) exit 1;; esac\n[ -n \"$SQUEUE_USERS\" ] || echo 7 \"node[0-1]\" # \"$SLURM_CONF\"\n";
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "sim:kary,k=2,n=2", "jobs", "--json", "--slurm", "--squeue"]).arg(&program);
    command.env("SQUEUE_USERS", "nobody").env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME");
    let told: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(told["totals"]["listed"], 1, "{told}");
}

/// A site that calls its hosts by other names than its adapters.
#[test]
fn a_rule_in_the_configuration_says_whose_adapters_are() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let rule = |rule: &str| std::fs::write(&config, format!("[jobs]\nhosts = [{rule}]\n")).unwrap();
    rule("{ adapter = \"node{} HCA-*\", host = \"cn{}\" }");
    let with = |args: &[&str]| fabdeck(&[&["--config", config.to_str().unwrap()], &TREE[..], args].concat());
    let list = "17 cn[0-1],17 cn[3-4]";
    let ruled: Value = serde_json::from_str(&with(&["jobs", "--file", list, "--json"]).out).unwrap();
    let plain = run_json(&["jobs", "--file", "17 node[0-1],17 node[3-4]"]);
    assert_eq!((&ruled["rows"], &ruled["totals"]), (&plain["rows"], &plain["totals"]));
    let plain = fabdeck(&[&TREE[..], &["jobs", "--file", list, "--json"]].concat()).out;
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(plain["totals"]["not_found"], 4, "not without the rule");
    // What the others take, and elements that somebody names.
    assert_eq!(with(&["check", "--jobs", "cn0 17,cn3 17"]).exit, Exit::Done);
    assert_eq!(with(&["trace", "cn0", "cn3"]).exit, Exit::Done);
    rule("{ adapter = \"*{}*\" }");
    let told = with(&["jobs", "--file", list]);
    assert!(told.err.contains("FN-543") && told.err.contains(" or "), "{}", told.err);
    rule("\n{ adapter = \"node\" }");
    let refused = with(&["jobs", "--file", list]);
    assert_eq!(refused.exit, Exit::BadInput);
    assert!(refused.err.contains("config.toml:3: FD-7114"), "{}", refused.err);
}

/// Hosts that are not there are counted with every list, and told where they are others.
#[test]
fn a_watch_tells_of_hosts_that_are_not_there_whenever_they_are_others() {
    let (two, one) = ("17 node[0-8]\n18 ghost,gone\n", "17 node[0-8]\n18 ghost\n");
    let told = watched(&[FIRST, two, two, one], &["--gain", "100"]);
    let missing: Vec<Option<u64>> = told.iter().map(|line| line["not_found"].as_u64()).collect();
    assert_eq!(missing, [0, 2, 2, 1].map(Some), "{told:?}");
    assert_eq!(events(&told), ["kept", "unchanged", "unchanged", "unchanged"]);
    let (out, err) = watch(&TREE, &[FIRST, two, two, one], &["--gain", "100"]);
    assert_eq!(err.matches("FN-541").count(), 2, "{err}");
    assert!(err.contains("FN-541: 2 of 11 ") && err.contains("FN-541: 1 of 10 "), "{err}");
    let words: Vec<&str> = out.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(words, events(&told), "the words of the table");
    assert!(out.lines().nth(1) == Some("unchanged: 1 job on several switches; 2 hosts not in the fabric"));
}

#[test]
fn what_came_to_nothing_is_tried_again_and_nothing_to_gain_is_no_proposal() {
    // No base and high LIDs here, so the phased engine has nothing to go by.
    let told = watched(&[FIRST, FIRST], &["--phases"]);
    assert_eq!(events(&told), ["refused", "refused"], "{told:?}");
    // A folder that takes no file.
    let told = watched(&[FIRST, FIRST], &["--gain", "0", "-o", "/proc/self"]);
    assert_eq!(events(&told), ["unwritten", "unwritten"], "{told:?}");
    let told = watched(&["21 node[0-1]\n", "22 node[3-4]\n"], &["--gain", "0"]);
    assert_eq!(events(&told), ["kept", "unchanged"], "{told:?}");
    // The same jobs are judged again after a while, and where all is as it was nothing is told.
    let folder = tempfile::tempdir().unwrap();
    let plans = folder.path().join("plans");
    let more = ["--gain", "0", "--at-most-every", "1ms", "-o", plans.to_str().unwrap()];
    let told = watched(&[FIRST, FIRST], &more);
    assert_eq!(events(&told), ["proposed", "unchanged"], "{told:?}");
    assert_eq!(std::fs::read_dir(&plans).unwrap().count(), 1);
}

#[test]
fn the_configuration_names_the_job_source_where_no_flag_does() {
    let folder = tempfile::tempdir().unwrap();
    two_adapters(folder.path());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", "big a\nsmall a\n");
    write("other.txt", "small a\n");
    write("c.toml", "[jobs]\nfile = \"jobs.txt\"\n");
    let source = ["--config", "c.toml", "--source", "two.lst", "--assume", "minhop", "--json"];
    let ended = |args: &[&str]| run_in_folder(folder.path(), &[&source[..], args].concat());
    let seen = |args: &[&str]| -> Value {
        let (code, out, err) = ended(args);
        assert_eq!(code, Some(0), "{args:?}: {err}");
        serde_json::from_str(&out).unwrap()
    };
    for command in [&["jobs"][..], &["show", "jobs"]] {
        let told = seen(command);
        assert_eq!((&told["from"], &told["rows"][0]["hosts"]), (&"jobs.txt".into(), &2.into()), "{told}");
    }
    assert_eq!(seen(&["jobs", "--file", "other.txt"])["totals"]["hosts"], 1);
    let watch =
        ["--config", "c.toml", "--source", "sim:kary,k=2,n=2", "jobs", "watch", "--count", "1", "--json"];
    let (_, out, err) = run_in_folder(folder.path(), &watch);
    let told: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    assert_eq!((&told["event"], &told["not_found"]), (&"kept".into(), &2.into()), "{told}");
    let (code, _, err) = ended(&["jobs", "--squeue", "squeue"]);
    assert!(code == Some(64) && err.contains("--slurm"), "{err}");
    write("c.toml", "[jobs]\nslurm = true\nsqueue = \"/nowhere/squeue\"\n");
    assert!(ended(&["jobs"]).2.contains("FD-4601: /nowhere/squeue"));
}

/// With an LMC above 0 the figures of jobs are of one LID of several, which every command with such figures says.
#[test]
fn figures_of_jobs_say_which_lid_they_are_of() {
    let home = binary::home();
    std::fs::write(home.path().join("jobs.txt"), "node0 7\nnode1 7\nnode2 7\nnode3 7\n").unwrap();
    let plan = ["--lanes-in-force", "one", "-o"];
    let commands: [&[&str]; 6] = [
        &["jobs", "--file", "jobs.txt"],
        &["show", "jobs", "--file", "jobs.txt"],
        &["jobs", "channels", "--file", "jobs.txt"],
        // Nobody is named: the jobs are made up.
        &["jobs"],
        &["whatif", "--engine", "updn", "--jobs", "jobs.txt"],
        &["jobs", "watch", "--file", "jobs.txt", "--count", "1"],
    ];
    let said = |args: &[&str]| {
        let ended = binary::fabdeck(&home).args(args).output().unwrap();
        (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
    };
    for (lmc, several) in [(0, false), (2, true)] {
        let source = format!("sim:kary,k=2,n=2,lmc={lmc}");
        let route =
            [&["route", "--engine", "updn", "--jobs", "jobs.txt"], &plan[..], &[&format!("{lmc}.plan")]];
        for args in commands.into_iter().chain([&route.concat()[..]]) {
            let (out, err) = said(&[&["--source", &source], args].concat());
            let note = "FN-708: LIDs in the figures of jobs: each sender uses one of up to 4 of a port";
            assert_eq!(err.contains(note), several, "{args:?}: {out} {err}");
        }
        let (out, _) = said(&["--source", &source, "jobs", "--file", "jobs.txt", "--json"]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        let notes = answer["notes"].as_array().unwrap();
        assert_eq!(notes.iter().any(|note| note["code"] == "FN-708"), several, "{out}");
        let (check, _) = said(&["--source", &source, "check", "--jobs", "jobs.txt"]);
        assert_eq!(
            check.contains("\n  LIDs        each sender uses one of up to 4 of a port"),
            several,
            "{check}"
        );
    }
}
