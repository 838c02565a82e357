//! Plans from end to end, in this process: written, shown, found good, found stale.

use fabdeck::script::{Exit, schemas};
use serde_json::Value;

use super::json::violations;
use super::world::fabdeck;

#[test]
fn a_plan_is_written_shown_judged_and_goes_stale() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reroute.plan");
    let plan = file.to_str().unwrap();
    let route = ["--source", "routed", "route", "--engine", "minhop", "--no-times", "-o"];
    let ended = fabdeck(&[&route[..], &[plan]].concat());
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    assert!(ended.out.contains("changes") && ended.out.contains("unreachable"), "{}", ended.out);
    let first = std::fs::read_to_string(&file).unwrap();
    fabdeck(&[&route[..], &[plan]].concat());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first, "the same plan is the same bytes");

    let shown = fabdeck(&["plan", "show", plan]);
    assert!(shown.exit == Exit::Done && shown.out.contains("minhop"), "{}", shown.out);
    let judged = fabdeck(&["--source", "routed", "plan", "check", plan]);
    assert!(judged.exit == Exit::Done && judged.out.contains("as it was"), "{} {}", judged.out, judged.err);
    let differs = fabdeck(&["--source", "routed", "plan", "diff", plan]);
    assert!(differs.exit == Exit::Findings && differs.out.contains("leaf0"), "{}", differs.out);
    let stale = fabdeck(&["--source", "broken", "plan", "check", plan]);
    assert_eq!(stale.exit, Exit::Stale, "{}", stale.err);
    assert!(stale.err.contains("FD-7932: the plan is stale: the node"), "{}", stale.err);

    for (action, source, schema) in [
        ("show", None, "plan-show"),
        ("check", Some("routed"), "plan-check"),
        ("diff", Some("routed"), "plan-diff"),
    ] {
        let source: Vec<&str> = source.into_iter().flat_map(|source| ["--source", source]).collect();
        let ended = fabdeck(&[&source[..], &["plan", action, plan, "--json"]].concat());
        let value: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(value["schema"], format!("fabdeck.{schema}/1"));
        let schema: Value = serde_json::from_str(&schemas()[&format!("{schema}.json")]).unwrap();
        assert_eq!(violations(&schema, &value), [""; 0]);
    }
    std::fs::write(&file, first.replace("minhop", "minhop\u{0}").replace('{', "[")).unwrap();
    let broken = fabdeck(&["plan", "show", plan]);
    assert_eq!(broken.exit, Exit::BadInput);
    assert!(broken.err.contains("reroute.plan: line 2: FD-5511"), "{}", broken.err);
    assert_eq!(fabdeck(&["plan", "show", "/nonexistent"]).exit, Exit::BadInput);
}

#[test]
fn lanes_of_a_plan_are_judged_as_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lanes.plan");
    let plan = file.to_str().unwrap();
    for (engine, lanes) in [("nue", "by destination"), ("dfsssp", "by pair")] {
        let route = ["--source", "ring", "route", "--engine", engine, "--no-times", "-o", plan];
        let ended = fabdeck(&route);
        assert_eq!(ended.exit, Exit::Done, "{engine}: {}", ended.err);
        let shown = fabdeck(&["plan", "show", plan]);
        assert!(shown.out.contains(lanes), "{engine}: {}", shown.out);
        let judged = fabdeck(&["--source", "ring", "plan", "check", plan]);
        assert_eq!(judged.exit, Exit::Done, "{engine}: {} {}", judged.out, judged.err);
        assert!(judged.out.contains("no cycle of dependencies on any of its"), "{engine}: {}", judged.out);
        // The same tables with all of it on one lane would deadlock.
        let text = std::fs::read_to_string(&file).unwrap();
        let flat: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut flat = flat;
        flat["lanes"] = serde_json::json!({ "count": 1, "by": "one" });
        std::fs::write(&file, flat.to_string()).unwrap();
        let judged = fabdeck(&["--source", "ring", "plan", "check", plan]);
        assert_eq!(judged.exit, Exit::Findings, "{engine}: {} {}", judged.out, judged.err);
        flat["lanes"] = serde_json::json!({ "count": 2, "by": "destination", "destination": "0007" });
        std::fs::write(&file, flat.to_string()).unwrap();
        let refused = fabdeck(&["plan", "show", plan]);
        assert!(refused.exit == Exit::BadInput && refused.err.contains("FD-5515"), "{}", refused.err);
    }
}

/// The binary in a folder: its exit code and what it says.
fn binary(folder: &std::path::Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for place in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(place, folder);
    }
    let output = command.args(words).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_plan_is_an_input_of_convert() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let made = |words: &[&str]| {
        let (code, said) = binary(here, words);
        assert_eq!(code, Some(0), "{words:?}: {said}");
    };
    made(&["generate", "torus,dims=4x4", "-o", "site.net"]);
    for (engine, plan) in [("nue", "nue.plan"), ("dfsssp", "pair.plan")] {
        made(&["--source", "site.net", "--assume", "minhop", "route", "--engine", engine, "-o", plan]);
        for format in ["lfts", "fdbs", "psl", "sl2vl", "slvl"] {
            made(&["convert", "site.net", plan, "-o", "out", "--to", format]);
        }
    }
    made(&["--source", "site.net", "convert", "nue.plan", "-o", "qos.conf", "--to", "qos-policy"]);
    let policy = std::fs::read_to_string(here.join("qos.conf")).unwrap();
    assert!(policy.contains("destination: lane1") && policy.contains("name: DEFAULT"), "{policy}");
    for (words, exit, what) in [
        (&["convert", "site.net", "pair.plan", "-o", "x", "--to", "qos-policy"][..], 64, "FD-2601"),
        (&["convert", "site.net", "-o", "x", "--to", "psl"], 64, "FD-7605"),
        (&["convert", "nue.plan", "-o", "x", "--to", "lfts"], 64, "FD-7505"),
        (&["convert", "site.net", "nue.plan", "pair.plan", "-o", "x", "--to", "lfts"], 64, "FD-7506"),
        (&["--source", "sim:demo", "convert", "nue.plan", "-o", "x", "--to", "lfts"], 3, "FD-7932"),
    ] {
        let (code, said) = binary(here, words);
        assert!(said.contains(what), "{words:?}: {said}");
        println!("{words:?}: {code:?}");
        assert!(code == Some(exit) || exit == 64 && code != Some(0), "{words:?}: {code:?} {said}");
    }
}
