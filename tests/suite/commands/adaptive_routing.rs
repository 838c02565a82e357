//! Adaptive routing on a live fabric: no verdict rests on forwarding tables that switches need not keep to.

use std::process::Command;

use serde_json::Value;

/// The program in a folder of its own: what it said, and how it ended.
fn fabdeck(args: &[&str]) -> (String, String, i32) {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home.path());
    }
    let ended = command.args(args).current_dir(home.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(ended.stdout), text(ended.stderr), ended.status.code().unwrap())
}

fn answer(args: &[&str], code: i32) -> Value {
    let (out, err, ended) = fabdeck(&[args, &["--json"]].concat());
    assert_eq!(ended, code, "{args:?}: {out} {err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// The certificate of tables in force, of other tables, of proposals and of their transition.
#[test]
fn tables_are_not_judged_where_switches_choose_or_may_choose() {
    for (key, on, unknown) in
        [("ar=all", Some(4), 0), ("ar=leaf0", Some(1), 0), ("ar-silent=all", Some(0), 4)]
    {
        let source = format!("sim:kary,k=2,n=2,{key}");
        let check = answer(&["--source", &source, "check", "--strict"], 2);
        assert_eq!(
            (&check["deadlock_free"], &check["adaptive_routing"]),
            (&Value::Null, &on.into()),
            "{check}"
        );
        assert_eq!(check["adaptive_unknown"], unknown);
        let findings = check["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{check}");
        assert!(findings[0].as_str().unwrap().starts_with("FN-707: deadlock is not judged: "), "{check}");
        let strict = fabdeck(&["--source", &source, "check", "--strict"]).0;
        assert!(strict.contains("\nfinding       FN-707: deadlock is not judged: "), "{strict}");
        let (text, _, code) = fabdeck(&["--source", &source, "check"]);
        assert!(text.contains("\ndeadlock      not judged: ") && !text.contains("FN-707"), "{text}");
        assert_eq!(code, 0, "{text}");
        assert_eq!(
            text.contains("4 switches did not report whether adaptive routing is on"),
            unknown > 0,
            "{text}"
        );

        let whatif =
            answer(&["--source", &source, "whatif", "--fail", "link:leaf0/3", "--engine", "updn"], 0);
        assert_eq!((&whatif["at_least"], &whatif["adaptive_unknown"]), (&true.into(), &unknown.into()));
        let row = &whatif["engines"][0];
        assert_eq!(
            (&row["deadlock_free"], &row["transition"]["safe"]),
            (&Value::Null, &Value::Null),
            "{row}"
        );

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.plan").to_str().unwrap().to_owned();
        let route = ["--source", &source, "route", "--engine", "updn", "--fail", "link:leaf0/3", "-o", &file];
        fabdeck(&route);
        let plan: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(plan["certificate"]["deadlock_free"], Value::Null, "{key}");
        assert_eq!(plan["transition"]["safe"], Value::Null, "{key}");
    }
    for key in ["ar=none", "ar-off=all"] {
        let check = answer(&["--source", &format!("sim:kary,k=2,n=2,{key}"), "check", "--strict"], 0);
        let said = (&check["deadlock_free"], &check["adaptive_routing"], &check["adaptive_unknown"]);
        assert_eq!(said, (&true.into(), &Value::Null, &0.into()));
    }
    // Tables of a file over a fabric that is there.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lfts.txt").to_str().unwrap().to_owned();
    let written = fabdeck(&["convert", "sim:kary,k=2,n=2", "--to", "lfts", "-o", &file]);
    assert_eq!(written.2, 0, "{}", written.1);
    let check = answer(&["--source", "sim:kary,k=2,n=2,ar=leaf1", "check", "--tables", &file], 0);
    assert_eq!((&check["deadlock_free"], &check["adaptive_routing"]), (&Value::Null, &1.into()));
}

/// Three hosts share the link of a fourth, and tables prove it: unless switches choose ports by themselves.
#[test]
fn no_flow_is_judged_or_moved_by_tables_that_switches_need_not_follow() {
    let folder = tempfile::tempdir().unwrap();
    let story = folder.path().join("it.story");
    let flows = "0s flow node0 node7\n0s flow node4 node7\n0s flow node10 node7\n";
    std::fs::write(&story, format!("host-limit 100\n{flows}")).unwrap();
    let fabric = format!("sim:kary,k=4,n=2,speed=HDR,ratio=1:10000,story={}", story.display());
    for (key, told_apart) in
        [("ar=none", true), ("ar-off=all", true), ("ar=leaf0", false), ("ar-silent=leaf2", false)]
    {
        let source = format!("{fabric},{key}");
        let spots = answer(&["--source", &source, "hotspots", "--interval", "5s"], 2);
        let held = spots["sweeps"][0]["waiting_adapters"].as_array().unwrap();
        let role = if told_apart { "contributor" } else { "undecided" };
        assert!(held.len() == 3 && held.iter().all(|held| held["role"] == role), "{key}: {held:?}");

        let file = folder.path().join(format!("{key}.plan")).to_str().unwrap().to_owned();
        let one = ["--lanes-in-force", "one", "--interval", "5s", "-o", &file];
        fabdeck(&[&["--source", &source, "lanes", "propose"][..], &one].concat());
        let plan: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let verdict = if told_apart { Value::Bool(true) } else { Value::Null };
        assert_eq!(
            (&plan["certificate"]["deadlock_free"], &plan["transition"]["safe"]),
            (&verdict, &verdict)
        );
        let findings = plan["findings"].to_string();
        assert_eq!(findings.contains("paths on which no slow lane is prepared"), !told_apart, "{findings}");
    }
}

#[test]
fn only_switches_of_the_fabric_are_named() {
    let (_, err, code) = fabdeck(&["--source", "sim:kary,k=2,n=2,ar-silent=node0", "show", "fabric"]);
    assert!(code == 64 && err.contains("FD-5031: ar-silent=node0"), "{code}: {err}");
}
