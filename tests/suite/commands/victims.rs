//! Whom `whatif` names as hit, in text and in JSON.

use serde_json::{Value, json};

use super::binary::{fabdeck, home};

/// What `whatif` prints on a source.
fn whatif(source: &str, args: &[&str]) -> String {
    let line = ["--source", source, "whatif", "--engine", "updn", "--no-times"];
    let output = fabdeck(&home()).args(line).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn hosts_of_a_failed_leaf_are_named_and_so_are_their_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.txt");
    std::fs::write(&jobs, "node06 1\nnode20 1\nnode07 2\nnode08 2\nnode21 2\nnode22 3\nnode23 3\n").unwrap();
    let jobs = jobs.display().to_string();
    let args = ["--fail", "switch:rack2-leaf", "--jobs", &jobs];
    let answer: Value =
        serde_json::from_str(&whatif("sim:demo", &[&args[..], &["--json"]].concat())).unwrap();
    let victims = &answer["victims"];
    let names: Vec<String> = (6..12).map(|host| format!("node{host:02} mlx5_0")).collect();
    assert_eq!(victims["cut_off"], json!({ "count": 6, "first": names }));
    assert_eq!((&victims["cut_off_aggregation_nodes"], &victims["untouched_hosts"]), (&1.into(), &30.into()));
    // Of 45 ends, 7 have no pair left.
    assert_eq!(answer["cut_off_pairs"], 45 * 44 - 38 * 37);
    let broken = [
        json!({ "job": "2", "hosts": 3, "cut_off": { "count": 2, "first": ["node07 mlx5_0", "node08 mlx5_0"] } }),
        json!({ "job": "1", "hosts": 2, "cut_off": { "count": 1, "first": ["node06 mlx5_0"] } }),
    ];
    assert_eq!(victims["jobs"], json!({ "count": 2, "known": 3, "first": broken }));
    let text = whatif("sim:demo", &args);
    assert!(
        text.contains("cut off   6 hosts: node06 node07 node08 node09 node10 node11; 1 aggregation node"),
        "{text}"
    );
    assert!(text.contains("jobs      2 of 3 lose hosts: 2 2 of 3, 1 1 of 2"), "{text}");
}

#[test]
fn without_jobs_and_tables_what_is_not_known_is_null() {
    let answer: Value =
        serde_json::from_str(&whatif("sim:demo", &["--fail", "switch:spine-1", "--json"])).unwrap();
    assert_eq!(answer["victims"]["jobs"], Value::Null);
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("new.net").display().to_string();
    let generated = fabdeck(&home()).args(["generate", "kary,k=3,n=2", "-o", &topology]).status().unwrap();
    assert!(generated.success());
    let plain = whatif(&topology, &["--fail", "switch:leaf0", "--json"]);
    let plain: Value = serde_json::from_str(&plain).unwrap();
    let victims = &plain["victims"];
    assert_eq!((&victims["degraded"], &victims["untouched_hosts"]), (&Value::Null, &Value::Null), "{plain}");
    assert_eq!(victims["cut_off"]["count"], 3, "{plain}");
    let text = whatif(&topology, &["--fail", "switch:leaf0"]);
    assert!(text.contains("degraded  not known"), "{text}");
}
