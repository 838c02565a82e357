//! `policy off`, `on` and `show`, and a watch with a policy as a process.

use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::binary::{fabdeck, home};

fn run(home: &TempDir, args: &[&str]) -> Output {
    fabdeck(home).args(["--state-dir", "state"]).current_dir(home.path()).args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn show(home: &TempDir) -> Value {
    let shown = run(home, &["policy", "show", "--json"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown));
    serde_json::from_slice(&shown.stdout).unwrap()
}

#[test]
fn policies_are_turned_off_and_on_without_a_watch() {
    let home = home();
    assert_eq!(show(&home)["on"], true);
    let off = run(&home, &["policy", "off", "--why", "cabling work"]);
    assert!(off.status.success() && text(&off).contains("state/policy-off"), "{}", text(&off));
    let shown = show(&home);
    assert_eq!((&shown["on"], &shown["stopped"]["why"]), (&false.into(), &"cabling work".into()));
    assert!(text(&run(&home, &["policy", "show"])).contains("policies are off since"));
    // Off once more is off.
    assert!(run(&home, &["policy", "off"]).status.success());
    assert!(run(&home, &["policy", "on"]).status.success());
    assert_eq!((&show(&home)["on"], &show(&home)["stopped"]), (&true.into(), &Value::Null));
    assert!(text(&run(&home, &["policy", "on"])).contains("on already"));
    // What cannot be read stops policies too.
    std::fs::write(home.path().join("state/policy-off"), "?").unwrap();
    assert_eq!(show(&home)["on"], false);
}

/// The user of the watch reads the file of another user, and replaces it whatever lock that one left.
#[test]
fn off_is_readable_for_all_and_needs_no_lock() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let state = home.path().join("state");
    std::fs::create_dir(&state).unwrap();
    // A lock that cannot be opened.
    std::fs::create_dir(state.join("policy-off.lock")).unwrap();
    let off = run(&home, &["policy", "off"]);
    assert!(off.status.success(), "{}", text(&off));
    let mode = std::fs::metadata(state.join("policy-off")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn off_that_cannot_be_written_is_an_error() {
    let home = home();
    std::fs::write(home.path().join("state"), "no folder").unwrap();
    let off = run(&home, &["policy", "off"]);
    assert!(!off.status.success() && text(&off).contains("FD-7383"), "{}", text(&off));
}

/// A cable whose port counts errors, in a simulator of the process.
fn watch(home: &TempDir, policy: &str, more: &[&str]) -> Output {
    std::fs::write(home.path().join("story"), "1s errors leaf0/4 6000000\n").unwrap();
    std::fs::write(home.path().join("policy.toml"), policy).unwrap();
    let source = "sim:kary,k=3,n=2,traffic=none,story=story";
    let usual = ["--source", source, "--json", "--no-times", "watch", "--policy", "policy.toml"];
    run(home, &[&usual[..], &["--count", "4", "--interval", "10s"], more].concat())
}

#[test]
fn a_watch_proposes_in_shadow_mode() {
    let home = home();
    let watched = watch(&home, "", &[]);
    assert_eq!(watched.status.code(), Some(0), "{}", text(&watched));
    let events: Vec<Value> = String::from_utf8_lossy(&watched.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["kind"].as_str().unwrap().starts_with("policy"))
        .collect();
    assert_eq!(events.len(), 1, "{events:#?}");
    assert_eq!((&events[0]["kind"], &events[0]["severity"]), (&"policy-proposed".into(), &"warning".into()));
    assert_eq!(events[0]["elements"], serde_json::json!(["port:leaf0[4]", "port:spine0[1]"]));
    let words = events[0]["text"].as_str().unwrap();
    assert!(words.contains("leaf0[4] - spine0[1] would be taken out of use (shadow)"), "{words}");
    assert!(words.contains("errors in an hour") && words.contains("busiest channel"), "{words}");
    // The same watch while policies are off.
    run(&home, &["policy", "off"]);
    let off = text(&watch(&home, "", &[]));
    assert!(off.contains("policy-switched") && !off.contains("policy-proposed"), "{off}");
}

#[test]
fn a_policy_that_may_not_apply_is_refused_before_anything_runs() {
    let home = home();
    for (policy, more, code, words) in [
        ("mode = \"apply\"", &[][..], 4, "FD-7382"),
        ("mode = \"apply\"", &["--allow-write"], 4, "names neither"),
        ("mode = \"apply\"\nfabrics = [\"other\"]", &["--allow-write"], 4, "names neither"),
        // A simulator in this process ends with it.
        (
            "mode = \"apply\"\nfabrics = [\"sim:kary,k=3,n=2,traffic=none,story=story\"]",
            &["--allow-write"],
            4,
            "FD-9238",
        ),
        ("mode = \"act\"", &[], 7, "policy.toml:1: FD-9404"),
        ("[slurm]\nmode = \"apply\"", &[], 4, "FD-7382"),
    ] {
        let refused = watch(&home, policy, more);
        let text = text(&refused);
        assert_eq!(
            (refused.status.code(), text.contains(words)),
            (Some(code), true),
            "{policy} {more:?}: {text}"
        );
        assert!(refused.stdout.is_empty(), "{text}");
    }
    let absent = run(&home, &["--source", "sim:demo", "watch", "--policy", "absent.toml"]);
    assert!(absent.status.code() == Some(7) && text(&absent).contains("FD-7380"), "{}", text(&absent));
}
