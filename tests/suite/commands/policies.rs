//! `check` in a folder of files: which levels are taken for in use, and what `--strict` makes of an unknown verdict.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};

/// Runs the binary; its exit code and what it printed.
fn ends(home: &TempDir, args: &[&str]) -> (i32, String) {
    let ended = fabdeck(home).args(args).output().unwrap();
    (ended.status.code().unwrap(), String::from_utf8(ended.stdout).unwrap())
}

fn check(home: &TempDir, more: &[&str]) -> (i32, Value) {
    let (code, text) = ends(home, &[&["--source", "site", "check", "--json"], more].concat());
    (code, serde_json::from_str(&text).unwrap())
}

/// A folder `site` of a torus and the forwarding tables of an engine, beside it the plan they are from.
fn site(engine: &str, lanes: &str) -> TempDir {
    let home = home();
    std::fs::create_dir(home.path().join("site")).unwrap();
    for line in [
        "generate torus,dims=4x4 -o site/torus.net".to_owned(),
        format!("--source site/torus.net route --engine {engine} --lanes {lanes} -o routes.plan"),
        "convert site/torus.net routes.plan --to lfts -o site/opensm-lfts.dump".to_owned(),
    ] {
        let (code, text) = ends(&home, &line.split(' ').collect::<Vec<_>>());
        // minhop's own credit loop is a finding of `route`.
        assert!(matches!(code, 0 | 2), "{line}: {text}");
    }
    home
}

fn write(home: &TempDir, name: &str, text: &str) {
    std::fs::write(home.path().join("site").join(name), text).unwrap();
}

#[test]
fn stock_min_hop_tables_of_a_torus_end_with_2() {
    let home = site("minhop", "1");
    for more in [&[][..], &["--strict"]] {
        let (code, report) = check(&home, more);
        assert_eq!((code, &report["deadlock_free"]), (2, &Value::Bool(false)), "{report}");
        assert_eq!(report["lanes_from"], "level 0 assumed");
        assert!(report["findings"][0].as_str().unwrap().contains("credit loop"), "{report}");
    }
}

/// Routes of two lanes have a loop on one of them alone. The policy says which level a path has, the SL2VL tables which lane.
#[test]
fn a_policy_in_a_folder_puts_its_levels_in_use() {
    let home = site("nue", "2");
    assert_eq!(check(&home, &[]).0, 2, "on level 0 alone there is a loop");
    for (format, file) in [("slvl", "lanes.slvl"), ("qos-policy", "qos-policy.conf")] {
        let file = format!("site/{file}");
        let convert = ["convert", "site/torus.net", "routes.plan", "--to", format, "-o", &file];
        assert_eq!(ends(&home, &convert).0, 0);
    }
    let (code, report) = check(&home, &["--strict"]);
    assert_eq!((code, &report["deadlock_free"]), (0, &Value::Bool(true)), "{report}");
    assert_eq!(report["lanes_from"], "QoS policy");
    // Without the tables of lanes it is not known where the levels go.
    std::fs::remove_file(home.path().join(Path::new("site/lanes.slvl"))).unwrap();
    let (code, report) = check(&home, &[]);
    assert_eq!((code, &report["deadlock_free"]), (0, &Value::Null), "{report}");
    let (code, report) = check(&home, &["--strict"]);
    let finding = report["findings"][0].as_str().unwrap();
    assert!(code == 2 && finding.contains("the lanes of the paths are not known"), "{report}");
}

#[test]
fn rules_that_do_not_follow_the_destination_leave_lanes_unknown() {
    let home = site("minhop", "1");
    write(&home, "qos-policy.conf", "qos-ulps\n    default : 0\n    sdp, port-num 30000 : 2\nend-qos-ulps\n");
    let (code, report) = check(&home, &[]);
    assert_eq!((code, &report["deadlock_free"]), (0, &Value::Null), "{report}");
    assert!(report["notes"].as_array().unwrap().iter().any(|note| note["code"] == "FN-261"), "{report}");
    assert_eq!(check(&home, &["--strict"]).0, 2);
    // With every level 0, one lane is in use again.
    write(&home, "qos-policy.conf", "qos-ulps\n    default : 0\n    sdp, port-num 30000 : 0\nend-qos-ulps\n");
    let (code, report) = check(&home, &[]);
    assert_eq!((code, &report["deadlock_free"]), (2, &Value::Bool(false)), "{report}");
    // Two policies that differ: which is in force is not known.
    write(&home, "old-policy.conf", "qos-ulps\n    default : 0\n    ipoib : 3\nend-qos-ulps\n");
    let (code, report) = check(&home, &[]);
    assert_eq!((code, &report["deadlock_free"]), (0, &Value::Null), "{report}");
}

/// A section without its end is a damaged file: named, and nothing is taken from it.
#[test]
fn a_policy_that_is_cut_is_left_out() {
    let home = site("minhop", "1");
    write(&home, "qos-policy.conf", "qos-ulps\n    default : 0\n    sdp : 2\n");
    let (code, report) = check(&home, &[]);
    assert_eq!(code, 2);
    let left_out = |note: &Value| note["code"] == "FN-509" && note["partial"] == true;
    assert!(report["notes"].as_array().unwrap().iter().any(left_out), "{report}");
}
