//! `--assume` and `--threads`: tables that the source lacks, marked as what they are; the same answer on any number of
//! threads.

use serde_json::Value;

use super::json::violations;
use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;
use fabdeck::script::schemas::schemas;

#[test]
fn answers_on_assumed_tables_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("assumed.plan");
    let plan = file.to_str().unwrap();
    let commands: &[(&str, &[&str], bool)] = &[
        ("check", &["check"], true),
        ("whatif", &["whatif", "--fail", "link:leaf0/4", "--engine", "updn"], true),
        ("route", &["route", "--engine", "updn", "--force", "-o", plan], true),
        ("trace", &["trace", "node0", "node4"], true),
        ("tables", &["show", "tables"], false),
    ];
    for (id, words, line) in commands {
        let bare = fabdeck(&[&["--source", "untold"], *words].concat());
        match *id {
            "tables" => {}
            // What engines make of a topology needs no tables.
            "whatif" | "route" => assert!(bare.out.contains("no tables in force"), "{id}: {}", bare.out),
            _ => {
                assert!(bare.err.contains("--assume ENGINE"), "{id}: {}", bare.err);
                assert_eq!(bare.exit, Exit::Usage, "{id}");
            }
        }
        let args = [&["--source", "untold", "--assume", "minhop"], *words].concat();
        let ended = fabdeck(&args);
        assert_eq!(ended.exit, Exit::Done, "{id}: {}", ended.err);
        assert!(ended.err.contains("FN-703") || ended.err.contains("assumed"), "{id}: {}", ended.err);
        assert_eq!(ended.out.contains("the tables are those of minhop"), *line, "{id}: {}", ended.out);
        let json = fabdeck(&[&args[..], &["--json", "--no-times"]].concat());
        let value: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!(value["assumed"], "minhop", "{id}");
        let schema = value["schema"].as_str().unwrap().trim_start_matches("fabdeck.").trim_end_matches("/1");
        let schema: Value = serde_json::from_str(&schemas()[&format!("{schema}.json")]).unwrap();
        assert_eq!(violations(&schema, &value), [""; 0], "{id}");
        let threads = fabdeck(&[&args[..], &["--json", "--no-times", "--threads", "1"]].concat());
        assert_eq!(threads.out, json.out, "{id}");
    }
    let shown = fabdeck(&["plan", "show", plan]);
    assert!(shown.out.contains("a simulator only"), "{}", shown.out);
    let judged = fabdeck(&["--source", "untold", "plan", "check", plan]);
    assert!(judged.exit == Exit::Done && judged.out.contains("assumed"), "{} {}", judged.out, judged.err);
    let stale = fabdeck(&["--source", "routed", "plan", "check", plan]);
    assert_eq!(stale.exit, Exit::Stale, "tables that are there are not the assumed ones: {}", stale.out);
}

#[test]
fn lanes_of_assumed_routes_are_known() {
    let ended = fabdeck(&["--source", "bare", "check", "--assume", "nue"]);
    assert!(ended.out.contains("free: no cycle"), "{} {}", ended.out, ended.err);
}

#[test]
fn tables_that_are_there_are_not_assumed() {
    let plain = fabdeck(&["--source", "routed", "check", "--json"]);
    let ended = fabdeck(&["--source", "routed", "check", "--json", "--assume", "minhop"]);
    assert!(ended.out.contains("FN-701") && !ended.out.contains("\"assumed\""), "{}", ended.out);
    let pairs = |text: &str| serde_json::from_str::<Value>(text).unwrap()["unreachable"].clone();
    assert_eq!(pairs(&plain.out), pairs(&ended.out));
}

#[test]
fn flags_without_effect_are_refused() {
    for (words, code) in [
        (&["--source", "untold", "check", "--assume", "magic"][..], "FD-7912"),
        (&["--source", "untold", "show", "hosts", "--assume", "minhop"], "FD-7203"),
        (&["sources", "--assume", "minhop"], "FD-7203"),
        (&["plan", "show", "x", "--assume", "minhop"], "FD-7205"),
        (&["--source", "untold", "check", "--threads", "0"], "from 1 to 1024"),
        (&["--source", "untold", "check", "--threads", "100000"], "from 1 to 1024"),
    ] {
        let ended = fabdeck(words);
        assert_eq!(ended.exit, Exit::Usage, "{words:?}: {}", ended.err);
        assert!(ended.err.contains(code), "{words:?}: {}", ended.err);
    }
}
