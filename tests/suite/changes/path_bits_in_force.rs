//! After a plan of `opt` was applied, its hosts pick LIDs by the path bits of the plan, in every command.

use serde_json::Value;

use super::processes::ServedLab;

const ACCEPTED: &str = "transition,cycle,unreachable,lanes";

/// The path bits that `convert` writes for hosts.
fn bits(lab: &ServedLab) -> Vec<u8> {
    let text = lab.run_to_end(&["convert", "sim:./lab.sock", "--to", "path-bits", "-o", "-"], 0);
    let is_host = |line: &&str| !line.starts_with('#') && line.contains('[');
    text.lines().filter(is_host).map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect()
}

/// What a host adds to the base LID of another in a trace.
fn offset(lab: &ServedLab, from: &str, to: &str) -> u64 {
    let text = lab.run(&["trace", from, to, "--json"]).stdout;
    let value: Value = serde_json::from_slice(&text).unwrap();
    value["lid"].as_u64().unwrap() - value["to"]["lid"].as_u64().unwrap()
}

fn apply(lab: &ServedLab, plan: &str, number: &str) {
    lab.run_to_end(&["apply", plan, "--yes", "--accept", ACCEPTED], 0);
    lab.run_to_end(&["confirm", number], 0);
}

#[test]
fn hosts_pick_by_the_last_change_until_it_is_undone() {
    let (groups, places) = ([0, 0, 1, 1].repeat(6), [0, 1, 0, 1].repeat(6));
    let lab = ServedLab::new("sim:gft2,n=4,m=4,r=6,lmc=1");
    let hosts = lab.run_to_end(&["convert", "sim:./lab.sock", "--to", "path-bits", "-o", "-"], 0);
    let hosts: Vec<&str> =
        hosts.lines().filter(|line| line.contains('[')).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(bits(&lab), places);
    assert!(!lab.run_to_end(&["check"], 0).contains("hosts pick LIDs"));
    let routed = lab.run(&["route", "--engine", "opt", "-o", "opt.plan"]);
    assert!(matches!(routed.status.code(), Some(0 | 2)), "{routed:?}");
    lab.run_to_end(&["apply", "opt.plan", "--yes", "--accept", ACCEPTED], 0);
    // A change that is not confirmed yet counts, and a rolled back one does not.
    assert_eq!(bits(&lab), groups);
    lab.run_to_end(&["rollback", "1"], 0);
    assert_eq!(bits(&lab), places);
    apply(&lab, "opt.plan", "2");
    assert_eq!(bits(&lab), groups);
    let how = "by path bits of change 2 (opt)";
    for command in [
        &["check"][..],
        &["trace", hosts[2], hosts[9]],
        &["simulate", "--pattern", "uniform", "--for", "10us"],
    ] {
        let said = lab.run_to_end(command, 0);
        assert!(said.contains("hosts pick LIDs") && said.contains(how), "{command:?}: {said}");
    }
    assert_eq!([1, 2, 3].map(|from| offset(&lab, hosts[from], hosts[9])), [0, 1, 1]);
    // The same routes again change nothing.
    let again = lab.run(&["whatif", "--engine", "opt", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    let again = &again["engines"][0];
    assert_eq!(
        (&again["changed_entries"], &again["transition"]["reason"]),
        (&0.into(), &"nothing changes".into())
    );
    // Hosts that pick otherwise are a change, though the tables stay.
    let file = ["convert", "sim:./lab.sock", "--to", "lfts", "-o", "opt.lfts"];
    lab.run_to_end(&file, 0);
    let stored = lab.run(&["whatif", "--engine", "file", "--tables", "opt.lfts", "--json"]);
    let stored: Value = serde_json::from_slice(&stored.stdout).unwrap();
    let stored = &stored["engines"][0];
    assert_eq!(stored["changed_entries"], 0, "{stored}");
    assert_ne!(stored["transition"]["reason"], "nothing changes", "{stored}");
    lab.run(&["route", "--engine", "mlid", "-o", "mlid.plan"]);
    apply(&lab, "mlid.plan", "3");
    assert_eq!(bits(&lab), places);
    assert!(lab.run_to_end(&["check"], 0).contains("by path bits of change 3 (mlid)"));
    let planned = lab.run(&["undo", "3", "-o", "back.plan", "--force"]);
    assert!(matches!(planned.status.code(), Some(0 | 2)), "{planned:?}");
    apply(&lab, "back.plan", "4");
    assert_eq!(bits(&lab), groups, "the change before the undone one is in force again");
    lab.run(&["undo", "2", "-o", "back.plan", "--force"]);
    apply(&lab, "back.plan", "5");
    assert_eq!(bits(&lab), places);
}
