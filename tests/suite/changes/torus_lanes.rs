//! A plan of `torus2qos` on a simulated torus: it writes SL2VL tables and routes, is exported exactly, and goes back.

use super::processes::ServedLab;

fn exported(lab: &ServedLab, inputs: &[&str], format: &str) -> String {
    let ended = lab.run(&[&["convert"], inputs, &["--to", format, "-o", "-"]].concat());
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    // Findings of the plan are on stderr.
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn a_plan_writes_the_lanes_of_a_torus_and_takes_them_back() {
    let lab = ServedLab::new("sim:torus,dims=4x3,terminals=1,traffic=none");
    let live = ["sim:./lab.sock"];
    let both = ["t.plan", "sim:./lab.sock"];
    let before = ["lfts", "sl2vl"].map(|format| exported(&lab, &live, format));
    let routed = lab.run(&["route", "--engine", "torus2qos", "--lanes", "4", "-o", "t.plan"]);
    let said = String::from_utf8_lossy(&routed.stdout).into_owned();
    assert!(matches!(routed.status.code(), Some(0 | 2)), "{routed:?}");
    assert!(said.contains("SL2VL tables"), "{said}");
    let shown = lab.run_to_end(&["plan", "show", "t.plan"], 0);
    assert!(shown.contains("2, by pair and changing on the way"), "{shown}");
    let planned = ["lfts", "sl2vl"].map(|format| exported(&lab, &both, format));
    assert!(planned[0] != before[0] && planned[1] != before[1]);
    assert!(exported(&lab, &both, "psl").lines().any(|line| line.ends_with(" 1")));
    let refused = lab.run(&["convert", both[0], both[1], "--to", "qos-policy", "-o", "-"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("FD-2601") && why.contains("its lane changes on the way"), "{why}");
    let unaccepted = lab.run(&["apply", "t.plan", "--yes"]);
    let why = String::from_utf8_lossy(&unaccepted.stderr).into_owned();
    assert!(why.contains("no subnet manager gives them their service levels"), "{why}");
    lab.run_to_end(&["apply", "t.plan", "--yes", "--accept", "lanes,transition,cycle"], 0);
    let applied = ["lfts", "sl2vl"].map(|format| exported(&lab, &live, format));
    assert!(applied == planned, "the tables of the fabric are those of the plan");
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["rollback", &id], 0);
    let after = ["lfts", "sl2vl"].map(|format| exported(&lab, &live, format));
    assert!(after == before, "a rollback restores routes and lanes");
    lab.run_to_end(&["apply", "t.plan", "--yes", "--accept", "lanes,transition,cycle"], 0);
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["confirm", &id], 0);
    let undone = lab.run(&["undo", &id, "-o", "back.plan"]);
    assert!(matches!(undone.status.code(), Some(0 | 2)), "{undone:?}");
    lab.run_to_end(&["apply", "back.plan", "--yes", "--accept", "lanes,transition,cycle"], 0);
    let after = ["lfts", "sl2vl"].map(|format| exported(&lab, &live, format));
    assert!(after == before, "a plan of the way back restores routes and lanes");
}
