//! An update in five phases through the program itself: a served simulator with two LIDs a port, agents as processes and as
//! part of the fabric, and the command line.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::processes::ServedLab;
use crate::agents::{Agent, hook};

/// Nine hosts, all but the first with an agent of the fabric's own.
fn lab(agents: &str) -> ServedLab {
    ServedLab::new(&format!("sim:kary,k=3,n=2,lmc=1,traffic=permutation,agents={agents}"))
}

const ALL_BUT_ONE: &str = "node1+node2+node3+node4+node5+node6+node7+node8";

fn agent(lab: &ServedLab, host: usize, args: &[&str]) -> Agent {
    Agent::start(lab.home.path(), &lab.home.path().join("lab.sock"), host, args)
}

#[test]
fn hosts_leave_and_come_back_by_the_commands() {
    let lab = lab(ALL_BUT_ONE);
    let args = ["route", "--engine", "dfsssp", "--lanes", "1", "--phases", "-o", "phases.plan"];
    let said = lab.run_to_end(&args, 4);
    assert!(
        said.contains("FD-7976") && said.contains("node0") && said.contains("transition check"),
        "{said}"
    );
    let values = lab.home.path().join("values");
    let script = format!("env | grep ^FABDECK_ | sort >> {}", values.display());
    let hook = hook(lab.home.path(), "turns", &script);
    let first = agent(&lab, 0, &["--hook", &hook]);
    let said = lab.run_to_end(&args, 0);
    assert!(said.contains("9 ports of hosts to leave base LIDs (level 0) for high LIDs (level 1)"), "{said}");
    let said = lab.run_to_end(&["apply", "phases.plan", "--yes"], 0);
    let phases =
        ["phase 1 of 5: hosts are", "phase 2 of 5: hosts drain", "phase 3 of 5: the", "phase 4 of 5: hosts"];
    for words in ["9 ports of hosts to leave base LIDs"].iter().chain(&phases) {
        assert!(said.contains(words), "{words}: {said}");
    }
    let row = lab.row();
    assert_eq!(row["phase_of_five"], 5, "{row}");
    assert_eq!(
        (&row["state"], row["silent"].as_array().map(Vec::len)),
        (&"applied".into(), Some(0)),
        "{row}"
    );
    let found = std::fs::read_to_string(&values).unwrap();
    let told = |key: &str| {
        let line = |line: &str| line.strip_prefix(key).map(str::to_owned);
        found.lines().filter_map(line).collect::<Vec<_>>()
    };
    assert_eq!(told("FABDECK_DIRECTION="), ["high", "base"], "{found}");
    assert_eq!(told("FABDECK_SERVICE_LEVEL="), ["1", "0"], "{found}");
    assert_eq!(told("FABDECK_HOT_SPOT_LID="), ["", ""], "{found}");
    assert_eq!(first.count("moved"), 2);
    let trail = lab.trail();
    for phase in ["phase 1 of 5", "phase 2 of 5: 9 agents answered", "phase 3 of 5", "phase 4 of 5: 9 agents"]
    {
        assert!(trail.contains(phase), "{phase}: {trail}");
    }
    lab.run_to_end(&["confirm", row["id"].as_str().unwrap()], 0);
    // All of it stands there already, and JSON says that too.
    let again = lab.run(&["apply", "phases.plan", "--yes", "--json"]);
    let told: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (&told["state"], &told["id"], again.status.code()),
        (&"unchanged".into(), &Value::Null, Some(0))
    );
    let shown = lab.run_to_end(&["plan", "show", "phases.plan"], 0);
    assert!(shown.contains("9 ports of hosts to leave base LIDs"), "{shown}");
}

/// An agent that was killed is still subscribed: it does not answer, and nothing is written.
#[test]
fn an_agent_that_was_killed_is_named_and_nothing_is_written() {
    let lab = lab(ALL_BUT_ONE);
    let mut dead = agent(&lab, 0, &[]);
    lab.run_to_end(&["route", "--engine", "dfsssp", "--lanes", "1", "--phases", "-o", "phases.plan"], 0);
    dead.child.kill().unwrap();
    dead.child.wait().unwrap();
    let before = lab.tables();
    let said = lab.run_to_end(&["apply", "phases.plan", "--yes"], 4);
    assert!(said.contains("FD-5661") && said.contains("node0"), "{said}");
    assert!(lab.tables() == before);
    let row = lab.row();
    assert_eq!((&row["state"], &row["left"]), (&"refused".into(), &Value::Array(Vec::new())), "{row}");
    assert_eq!(row["silent"], Value::from(vec!["node0 HCA-1[1]"]), "{row}");
}

#[test]
fn without_two_lids_a_port_the_plain_update_is_offered() {
    let lab = ServedLab::new("sim:kary,k=3,n=2,agents=all");
    for flag in ["--phases", "--high-lids"] {
        let said =
            lab.run_to_end(&["route", "--engine", "dfsssp", "--lanes", "1", flag, "-o", "phases.plan"], 4);
        assert!(said.contains("FD-7975") && said.contains("transition check"), "{said}");
    }
}

/// Where packets wait in a credit loop already there is nowhere to go: high LIDs come first.
#[test]
fn high_lids_come_first_where_tables_in_force_have_credit_loops() {
    let lab = ServedLab::new("sim:torus,dims=5x5,hosts=25,lmc=1,agents=all");
    let phased = ["route", "--engine", "updn", "--lanes", "1", "--phases", "-o", "phases.plan"];
    let said = lab.run_to_end(&phased, 4);
    assert!(said.contains("FD-7978") && said.contains("--high-lids"), "{said}");
    let high = ["route", "--engine", "updn", "--lanes", "1", "--high-lids", "-o", "high.plan", "--json"];
    let ended = lab.run(&high);
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(told["changed_entries"].as_u64().unwrap() > 0, "{told}");
}

/// The first host has an agent that was killed, and a plan for all of them is made.
fn with_a_dead_agent() -> ServedLab {
    let lab = lab(ALL_BUT_ONE);
    let mut dead = agent(&lab, 0, &[]);
    lab.run_to_end(&["route", "--engine", "dfsssp", "--lanes", "1", "--phases", "-o", "phases.plan"], 0);
    dead.child.kill().unwrap();
    dead.child.wait().unwrap();
    lab
}

/// The process that applied it waits; another one continues or ends it.
#[test]
fn a_change_that_waits_for_a_host_is_decided_from_elsewhere() {
    let lab = with_a_dead_agent();
    let waits = |lab: &ServedLab| {
        let apply = lab.command(&["apply", "phases.plan", "--yes", "--unanswered", "wait"]).spawn().unwrap();
        let since = Instant::now();
        let mut row = lab.row();
        while row["waits"] != true {
            // The guard is the lab's to end.
            assert!(since.elapsed() < Duration::from_secs(30), "{row}{}", lab.logs());
            std::thread::sleep(Duration::from_millis(100));
            row = lab.row();
        }
        (apply, row["id"].as_str().unwrap().to_owned())
    };
    let ends = |apply: std::process::Child, code: i32| {
        let ended = apply.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{said}");
        said
    };
    let before = lab.tables();
    let (apply, id) = waits(&lab);
    lab.run_to_end(&["rollback", &id], 0);
    ends(apply, 5);
    assert!(lab.tables() == before);
    let (apply, id) = waits(&lab);
    assert!(lab.run_to_end(&["confirm", &id], 4).contains("FD-5655"), "it is not applied yet");
    lab.run_to_end(&["confirm", &id, "--go-on"], 0);
    let said = ends(apply, 0);
    assert!(said.contains("node0") && said.contains(&format!("fabdeck confirm {id} --go-on")), "{said}");
    assert!(lab.tables() != before);
    let row = lab.row();
    assert_eq!((&row["state"], &row["waits"]), (&"applied".into(), &false.into()), "{row}");
    assert!(lab.run_to_end(&["confirm", &id, "--go-on"], 4).contains("FD-5664"));
    assert!(lab.trail().contains("going on"));
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
}

/// A book goes through the phases as `apply` does, and says itself what becomes of hosts that do not answer.
#[test]
fn a_runbook_applies_in_five_phases() {
    let lab = with_a_dead_agent();
    let book = |more: &str| {
        let text = format!(
            "name = \"phases\"\nsummary = \"base LIDs\"\n[[step]]\napply = {{ plan = \"phases.plan\"{more} }}\n[[step]]\n\
             confirm = true\n"
        );
        std::fs::write(lab.home.path().join("book.toml"), text).unwrap();
    };
    let before = lab.tables();
    book(", unanswered = \"perhaps\"");
    assert!(lab.run_to_end(&["run", "book.toml"], 7).contains("stop, wait or go-on"));
    book("");
    let said = lab.run_to_end(&["run", "book.toml"], 4);
    assert!(said.contains("FD-5661") && said.contains("node0"), "{said}");
    assert!(lab.tables() == before && lab.state() == "refused");
    book(", unanswered = \"go-on\"");
    lab.run_to_end(&["run", "book.toml"], 0);
    assert!(lab.tables() != before && lab.state() == "confirmed");
    let trail = lab.trail();
    assert!(
        ["phase 1 of 5", "going on", "phase 4 of 5"].iter().all(|phase| trail.contains(phase)),
        "{trail}"
    );
}
