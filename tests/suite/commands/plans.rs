//! Plans from end to end, in this process: written, shown, found good, found stale.

use serde_json::Value;

use super::json::violations;
use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;
use fabdeck::script::schemas::schemas;
use fabdeck_change::{Plan, PlanLanes};

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
    assert!(stale.err.contains("FD-7932: the plan is stale: the node switch "), "{}", stale.err);
    assert!(!stale.err.contains("the node switch 0x"), "by name: {}", stale.err);
    let differs = fabdeck(&["--source", "broken", "plan", "diff", plan]);
    assert!(differs.exit == Exit::Stale && differs.out.contains("the node switch"), "{}", differs.out);

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
    // A mixture of the ring's tables and theirs can have a credit loop.
    for (engine, lanes) in [("nue", "by destination"), ("dfsssp", "by pair")] {
        let route = ["--source", "ring", "route", "--engine", engine, "--no-times", "--force", "-o", plan];
        let ended = fabdeck(&route);
        assert_eq!(ended.exit, Exit::Findings, "{engine}: {}", ended.err);
        let shown = fabdeck(&["plan", "show", plan]);
        assert!(shown.out.contains(lanes), "{engine}: {}", shown.out);
        let judged = fabdeck(&["--source", "ring", "plan", "check", plan]);
        assert_eq!(judged.exit, Exit::Findings, "{engine}: {} {}", judged.out, judged.err);
        assert!(judged.out.contains("no cycle of dependencies on any of its"), "{engine}: {}", judged.out);
        // The same tables with all of it on one lane would deadlock.
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace(lanes, "by moon").replace("\"count\": ", "\"count\": 1")).unwrap();
        let edited = fabdeck(&["plan", "show", plan]);
        assert!(edited.exit == Exit::BadInput && edited.err.contains("FD-5513"), "{}", edited.err);
        let mut flat = Plan::read(&text).unwrap();
        flat.lanes = PlanLanes { count: 1, by: "one".into(), ..PlanLanes::default() };
        std::fs::write(&file, flat.text().unwrap()).unwrap();
        let judged = fabdeck(&["--source", "ring", "plan", "check", plan]);
        assert_eq!(judged.exit, Exit::Findings, "{engine}: {} {}", judged.out, judged.err);
        let rows = Some("0007".to_owned());
        flat.lanes =
            PlanLanes { count: 2, by: "destination".into(), destination: rows, ..PlanLanes::default() };
        std::fs::write(&file, flat.text().unwrap()).unwrap();
        let refused = fabdeck(&["plan", "show", plan]);
        assert!(refused.exit == Exit::BadInput && refused.err.contains("FD-5515"), "{}", refused.err);
    }
}

/// The binary in a folder: its exit code and what it says.
fn binary(folder: &std::path::Path, words: &[&str]) -> (Option<i32>, String) {
    let (code, _, said) = binary_says(folder, words);
    (code, said)
}

/// The same with what it prints.
pub(super) fn binary_says(folder: &std::path::Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for place in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(place, folder);
    }
    let output = command.args(words).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn paths_are_followed_as_a_plan_leads_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let marked = ["--fail", "link:rack1-leaf[7]"];
    let route = ["--source", "sim:demo", "route", "--engine", "minhop", "-o", "p.json"];
    let (_, said) = binary(here, &[&route[..], &marked].concat());
    assert!(here.join("p.json").exists(), "{said}");
    let trace = |source: &'static str, more: &[&'static str]| {
        binary_says(here, &[&["--source", source, "trace", "node01", "node06"], more].concat())
    };
    let leaves_by = |path: &str| {
        let hop =
            path.lines().find(|line| line.contains(" rack1-leaf ") && !line.contains("node01")).unwrap();
        hop.split_whitespace().nth(2).unwrap().to_owned()
    };
    let (code, now, _) = trace("sim:demo", &[]);
    assert_eq!((code, leaves_by(&now).as_str()), (Some(0), "7"), "{now}");
    let (code, then, said) = trace("sim:demo", &["--tables", "p.json"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(leaves_by(&then) != "7" && then.contains("is reached over 4 links"), "{then}");
    let (code, _, said) = trace("sim:demo,faults=5%", &["--tables", "p.json"]);
    assert!(code == Some(3) && said.contains("FD-7932"), "{code:?} {said}");
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
        // The tables that are assumed deadlock by themselves, and so does the way from them.
        let route = ["--source", "site.net", "--assume", "minhop", "route", "--engine", engine, "-o", plan];
        let (code, said) = binary(here, &route);
        assert!(code == Some(2) && said.contains(": it is not safe while traffic flows\n"), "{said}");
        for format in ["lfts", "fdbs", "psl", "sl2vl", "slvl"] {
            made(&["convert", "site.net", plan, "-o", "out", "--to", format, "--force"]);
        }
    }
    made(&["--source", "site.net", "convert", "nue.plan", "-o", "qos.conf", "--to", "qos-policy"]);
    let policy = std::fs::read_to_string(here.join("qos.conf")).unwrap();
    assert!(policy.contains("destination: lane1") && policy.contains("name: DEFAULT"), "{policy}");
    for (words, exit, what) in [
        (&["convert", "site.net", "pair.plan", "-o", "x", "--to", "qos-policy"][..], 1, "FD-2601"),
        (&["convert", "site.net", "-o", "x", "--to", "psl"], 1, "FD-7605"),
        (&["convert", "nue.plan", "-o", "x", "--to", "lfts"], 64, "FD-7505"),
        (&["convert", "site.net", "nue.plan", "pair.plan", "-o", "x", "--to", "lfts"], 64, "FD-7506"),
        (&["--source", "sim:demo", "convert", "nue.plan", "-o", "x", "--to", "lfts"], 3, "FD-7932"),
    ] {
        let (code, said) = binary(here, words);
        assert!(said.contains(what), "{words:?}: {said}");
        assert_eq!(code, Some(exit), "{words:?}: {said}");
    }
}

/// What the binary says when it ends with this code.
fn ended_with(here: &std::path::Path, words: &[&str], exit: i32) -> (String, String) {
    let (code, out, err) = binary_says(here, words);
    assert_eq!(code, Some(exit), "{words:?}: {out} {err}");
    (out, err)
}

/// minhop goes all around a ring on one lane, updn does not: together they are as bad as minhop alone.
#[test]
fn an_unsafe_transition_names_its_credit_loop() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let run = |words: &[&str], exit: i32| ended_with(here, words, exit);
    run(&["generate", "torus,dims=6", "-o", "ring.net"], 0);
    let own = ["--source", "ring.net", "--assume", "minhop", "route", "--engine", "minhop", "-o", "own.plan"];
    let (_, err) = run(&own, 2);
    // What it makes of its own tables is no change, so only the credit loop itself is reported.
    assert!(
        err.contains(
            "warning: the plan of minhop: there is a credit loop: packets can wait for each other forever\n"
        ),
        "{err}"
    );
    std::fs::create_dir(here.join("ring")).unwrap();
    std::fs::copy(here.join("ring.net"), here.join("ring/ring.net")).unwrap();
    let (_, err) = run(&["convert", "ring.net", "own.plan", "-o", "ring/ring.lfts", "--to", "lfts"], 0);
    assert!(
        err.contains(
            "warning: the plan of minhop: there is a credit loop: packets can wait for each other forever"
        ),
        "{err}"
    );
    let route = ["--source", "ring", "--no-times", "route", "--engine", "updn", "--lanes-in-force", "one"];
    let (out, err) = run(&[&route[..], &["-o", "a.plan"]].concat(), 2);
    assert!(out.contains("on service level 0, as given"), "{out}");
    assert!(out.contains("not safe while traffic flows: 6 channels of lane 0"), "{out}");
    assert!(out.contains("by the old path from sw_"), "{out}");
    assert!(err.contains("warning: the plan of updn: it is not safe while traffic flows"), "{err}");
    let (shown, _) = run(&["plan", "show", "a.plan"], 0);
    assert!(shown.contains("by the old path from sw_"), "{shown}");
    let (judged, _) = run(&["--source", "ring", "plan", "check", "a.plan"], 2);
    assert!(judged.contains("by the old path from sw_"), "{judged}");
    let (row, _) = run(&[&route[..], &["--json", "--force", "-o", "a.plan"]].concat(), 2);
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!((&row["transition_safe"], &row["transition"]["old_lanes"]), (&false.into(), &"one".into()));
    let told = &row["transition"];
    assert_eq!(told["cycle"].as_array().map(Vec::len), Some(6));
    assert_eq!(told["cycle_paths"].as_array().map(Vec::len), Some(6));
    // A link that is marked is up until somebody takes it down, and the old paths over it are there till then.
    let marked = [&route[..], &["--fail", "link:sw_0/1", "--force", "-o", "marked.plan"]].concat();
    let (out, _) = run(&marked, 2);
    assert!(out.contains("not safe while traffic flows: 6 channels of lane 0"), "{out}");
    let (judged, _) = run(&["--source", "ring", "plan", "check", "marked.plan"], 2);
    assert!(judged.contains("not safe while traffic flows"), "{judged}");
    // Without a word on lanes all packets are on level 0, which is said.
    let (out, _) = run(&["--source", "ring", "--no-times", "whatif", "--engine", "updn"], 0);
    assert!(
        out.contains("service level 0, as no source states their levels") && out.contains("  waits"),
        "{out}"
    );
}

#[test]
fn what_a_plan_does_without_may_be_gone_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let made = |words: &[&str], exit: i32| {
        let (code, said) = binary(here, words);
        assert_eq!(code, Some(exit), "{words:?}: {said}");
        said
    };
    made(&["generate", "kary,k=3,n=2", "-o", "bare.net"], 0);
    made(&["--source", "bare.net", "--assume", "updn", "route", "--engine", "updn", "-o", "own.plan"], 0);
    let text = std::fs::read_to_string(here.join("bare.net")).unwrap();
    // Whole, without the cable of leaf0's port 4, and without another one.
    let without = |cable: [&str; 2]| {
        let lines: Vec<&str> =
            text.lines().filter(|line| !cable.iter().any(|end| line.contains(end))).collect();
        assert_eq!(
            lines.len() + cable.iter().filter(|end| text.contains(**end)).count(),
            text.lines().count()
        );
        lines.join("\n")
    };
    let [leaf, other, spine] =
        ["S-0002c90100000000", "S-0002c90100000001", "S-0002c90100000003"].map(|name| format!("\"{name}\""));
    let up = format!("[4]\t{spine}[1]");
    let (down, far_up, far_down) =
        (format!("[1]\t{leaf}[4]"), format!("[4]\t{spine}[2]"), format!("[2]\t{other}[4]"));
    for (folder, content) in
        [("whole", text.clone()), ("mended", without([&up, &down])), ("worse", without([&far_up, &far_down]))]
    {
        std::fs::create_dir(here.join(folder)).unwrap();
        std::fs::write(here.join(folder).join("site.net"), content).unwrap();
        let lfts = format!("{folder}/site.lfts");
        made(&["convert", "bare.net", "own.plan", "-o", &lfts, "--to", "lfts"], 0);
    }
    let route = ["--source", "whole", "route", "--engine", "updn", "--fail", "link:leaf0[4]", "-o", "a.plan"];
    made(&route, 0);
    made(&["--source", "whole", "plan", "check", "a.plan"], 0);
    made(&["--source", "mended", "plan", "check", "a.plan"], 0);
    let said = made(&["--source", "worse", "plan", "check", "a.plan"], 3);
    assert!(said.contains("the node switch leaf1 (0x"), "{said}");
    // Somebody wrote a table since: which entries, by name.
    let tables = std::fs::read_to_string(here.join("whole/site.lfts")).unwrap();
    let changed = tables.replacen("0x0007 001", "0x0007 002", 1);
    assert_ne!(tables, changed, "{}", &tables[..400]);
    std::fs::write(here.join("whole/site.lfts"), changed).unwrap();
    let said = made(&["--source", "whole", "plan", "check", "a.plan"], 3);
    assert!(said.contains("the forwarding table of switch leaf0 (0x"), "{said}");
    assert!(said.contains("leaf0 LID 7 (port 1 then, port 2 now)"), "{said}");
}

#[test]
fn a_plan_is_judged_in_the_scope_that_it_was_made_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scope.plan");
    let plan = file.to_str().unwrap();
    let pairs = |more: &[&str], flags: &[&str]| {
        let route =
            ["--source", "routed", "route", "--engine", "minhop", "--no-times", "--force", "-o", plan];
        let made = fabdeck(&[&route[..], more].concat());
        assert!(matches!(made.exit, Exit::Done | Exit::Findings), "{}", made.err);
        let judged = fabdeck(&[&["--source", "routed", "plan", "check", plan, "--json"], flags].concat());
        let value: Value = serde_json::from_str(&judged.out).unwrap();
        assert_eq!(value["lanes_from"], "plan");
        let told = &value["transition"];
        let why = told["reason"].as_str().unwrap_or_default();
        match (more, flags) {
            ([], []) => assert_eq!(told["safe"], true),
            // What was seen without the paths of switches is judged again with them: they close a credit loop.
            ([], _) => assert!(told["safe"] == false && told["cycle"].is_array(), "{told}"),
            _ => assert!(!why.contains("make it again"), "{told}"),
        }
        (value["pairs"].as_u64().unwrap(), value["scope"]["switches"].as_bool().unwrap())
    };
    let (terminals, all) = (pairs(&[], &[]), pairs(&["--switches"], &[]));
    assert!(terminals.0 < all.0 && !terminals.1 && all.1, "{terminals:?} {all:?}");
    assert_eq!(pairs(&[], &["--switches"]), all);
}

/// A verdict over paths of switches is the same, whether a plan was made with it or it is asked for later.
#[test]
fn a_wider_scope_is_judged_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.plan");
    let plan = file.to_str().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for source in ["crowded", "routed", "ring"] {
        for engine in ["minhop", "sftree", "updn", "sssp"] {
            let verdict = |made: &[&str], asked: &[&str]| {
                let route = ["--source", source, "route", "--engine", engine, "--force", "-o", plan];
                if fabdeck(&[&route[..], made].concat()).out.is_empty() {
                    return None;
                }
                let judged =
                    fabdeck(&[&["--source", source, "plan", "check", plan, "--json"], asked].concat());
                let told: Value = serde_json::from_str(&judged.out).unwrap();
                Some((told["transition"]["safe"].clone(), told["transition"]["reason"].clone()))
            };
            let (wide, later) = (verdict(&["--switches"], &[]), verdict(&[], &["--switches"]));
            assert_eq!(wide, later, "{source} {engine}");
            seen.extend(later.map(|(safe, _)| safe.to_string()));
        }
    }
    assert!(seen.contains("true") && seen.contains("false"), "{seen:?}");
}

/// Tables of lanes that put every level on lane 0 make one lane of all that a plan has.
#[test]
fn lanes_that_switches_do_not_give_are_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let run = |words: &[&str], exit: i32| ended_with(here, words, exit);
    run(&["generate", "torus,dims=6", "-o", "ring.net"], 0);
    for (engine, plan) in [("updn", "flat.plan"), ("nue", "lanes.plan")] {
        let from = ["--source", "ring.net", "--assume", engine, "route"];
        run(&[&from[..], &["--engine", engine, "-o", plan]].concat(), 0);
    }
    for (folder, plan) in [("flat", "flat.plan"), ("met", "lanes.plan")] {
        std::fs::create_dir(here.join(folder)).unwrap();
        std::fs::copy(here.join("ring.net"), here.join(folder).join("ring.net")).unwrap();
        let file = |name: &str| format!("{folder}/{name}");
        run(&["convert", "ring.net", "lanes.plan", "-o", &file("ring.lfts"), "--to", "lfts"], 0);
        run(&["convert", "ring.net", plan, "-o", &file("ring.sl2vl"), "--to", "sl2vl"], 0);
    }
    let route = ["route", "--engine", "nue", "-o", "nue.plan"];
    let said = "only after 6 switches map each level to the lane of its number";
    let (_, err) = run(&[&["--source", "flat"], &route[..]].concat(), 2);
    assert!(err.contains(said), "{err}");
    let (out, _) = run(&["--source", "flat", "plan", "check", "nue.plan"], 2);
    assert!(out.contains(said) && out.contains("6 switches do not put each level"), "{out}");
    let (out, _) = run(&["--source", "flat", "plan", "check", "nue.plan", "--json"], 2);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["unmet_switches"].as_array().map(Vec::len), Some(6));
    // Where the lanes are met, the tables in force still close a credit loop on level 0, and that alone is reported.
    let (_, err) = run(&[&["--source", "met"], &route[..], &["--force"]].concat(), 2);
    assert!(!err.contains("only once") && err.contains("it is not safe while traffic flows"), "{err}");
    let (out, _) = run(&["--source", "met", "plan", "check", "nue.plan"], 2);
    assert!(!out.contains("only once") && out.contains("not safe while traffic flows"), "{out}");
}

#[test]
fn a_plan_that_is_in_force_is_applied_and_not_stale() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let run = |words: &[&str]| {
        let (code, out, err) = binary_says(here, words);
        assert_eq!(code, Some(0), "{words:?}: {out} {err}");
        out
    };
    run(&["generate", "kary,k=3,n=2", "-o", "site.net"]);
    let own = ["--source", "site.net", "--assume", "updn", "route", "--engine", "updn", "-o", "own.plan"];
    run(&own);
    for folder in ["before", "after"] {
        std::fs::create_dir(here.join(folder)).unwrap();
        std::fs::copy(here.join("site.net"), here.join(folder).join("site.net")).unwrap();
    }
    run(&["convert", "site.net", "own.plan", "-o", "before/site.lfts", "--to", "lfts"]);
    run(&["--source", "before", "route", "--engine", "sssp", "-o", "new.plan"]);
    run(&["--source", "before", "convert", "new.plan", "-o", "after/site.lfts", "--to", "lfts"]);
    assert!(run(&["--source", "before", "plan", "check", "new.plan"]).contains("as it was"));
    assert!(run(&["--source", "after", "plan", "check", "new.plan"]).contains("applied already"));
    assert!(run(&["--source", "after", "plan", "diff", "new.plan"]).contains("applied already"));
}

/// Cables to a few leaves or switches, and a whole switch, that a plan shall do without.
#[test]
fn a_plan_that_cuts_something_off_is_one_that_can_be_read() {
    for (source, engine, failed) in [
        ("sim:torus,dims=5", "minhop", &["link:sw_0[1]", "link:sw_2[1]"][..]),
        ("sim:kary,k=3,n=2", "minhop", &["link:leaf0[4]", "link:leaf0[5]", "link:leaf0[6]"]),
        ("sim:torus,dims=4x4", "dfsssp", &["switch:sw_0_0"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let route = ["--source", source, "route", "--engine", engine, "-o", "a.plan", "--fail"];
        let (code, said) = binary(folder.path(), &[&route[..], failed].concat());
        assert!(matches!(code, Some(0 | 2)), "{source}: {said}");
        let (code, said) = binary(folder.path(), &["plan", "show", "a.plan"]);
        assert_eq!(code, Some(0), "{source}: {said}");
    }
}

/// What somebody made stays, unless they say otherwise; a file without content is nobody's.
#[test]
fn a_plan_takes_the_place_of_nothing_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.plan");
    let plan = file.to_str().unwrap();
    let route = ["--source", "routed", "route", "--engine", "minhop", "--no-times", "-o", plan];
    std::fs::write(&file, "").unwrap();
    assert_eq!(fabdeck(&route).exit.code(), 0);
    let made = std::fs::read_to_string(&file).unwrap();
    let again = ["--source", "routed", "route", "--engine", "updn", "--no-times", "-o", plan];
    let refused = fabdeck(&again);
    assert_eq!((refused.exit.code(), refused.out.as_str()), (1, ""));
    assert!(refused.err.contains("FD-7922") && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), made);
    // Nobody waits for an engine to learn it.
    let unknown = ["--source", "nothing", "route", "--engine", "updn", "-o", plan];
    assert!(fabdeck(&unknown).err.contains("FD-7922"));
    let forced = fabdeck(&[&again[..], &["--force"]].concat());
    assert_eq!(forced.exit.code(), 0, "{}", forced.err);
    assert_ne!(std::fs::read_to_string(&file).unwrap(), made);
    let as_source = binary(folder.path(), &["--source", "a.plan", "show", "fabric"]);
    assert_eq!(as_source.0, Some(7));
    assert!(
        as_source.1.contains("this is a plan, not a fabric; 'fabdeck plan show a.plan'"),
        "{}",
        as_source.1
    );
}

/// A credit loop among paths that stay as they are is no reason to drain anything.
#[test]
fn a_plan_that_changes_nothing_asks_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let route = ["--source", "sim:torus,dims=6", "--assume", "minhop", "route", "--engine", "minhop"];
    let (out, err) = ended_with(here, &[&route[..], &["-o", "same.plan"]].concat(), 2);
    assert!(out.contains("0 blocks on 0 switches") && out.contains("nothing changes"), "{out}");
    assert!(!out.contains("drain") && !err.contains("not safe"), "{out} {err}");
    let source = ["--source", "sim:torus,dims=6"];
    for words in [&["plan", "show", "same.plan"][..], &["plan", "check", "same.plan", "--switches"]] {
        let code = if words[1] == "show" { 0 } else { 2 };
        let (out, _) = ended_with(here, &[&source[..], words].concat(), code);
        assert!(!out.contains("drain"), "{out}");
    }
}

/// A file without an end, or one that is too long, is refused in bounded memory.
#[test]
fn a_file_that_is_too_long_is_no_plan() {
    let home = super::binary::home();
    let long = std::fs::File::create(home.path().join("long.plan")).unwrap();
    // A hole: no block of the disk is taken.
    long.set_len((1 << 30) + 1).unwrap();
    let ended = super::binary::fabdeck(&home).args(["plan", "show", "long.plan"]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(7), "{said}");
    assert!(said.contains("FD-7931") && said.contains("1024 MiB"), "{said}");
}

/// Keys that others can read are keys of others.
#[test]
fn a_file_of_keys_that_others_can_read_is_remarked() {
    use std::os::unix::fs::PermissionsExt;
    let home = super::binary::home();
    let file = home.path().join("site.key");
    std::fs::write(&file, "0x1234\n").unwrap();
    let said = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let args = ["--source", "sim:demo", "--mkey-file", "site.key", "show", "fabric"];
        let ended = super::binary::fabdeck(&home).args(args).output().unwrap();
        String::from_utf8(ended.stderr).unwrap()
    };
    let open = said(0o644);
    assert!(
        open.contains("FN-709") && open.contains("chmod 600 site.key") && !open.contains("1234"),
        "{open}"
    );
    assert!(!said(0o600).contains("FN-709"));
}

/// A marked switch that answers loses its routes: `route`, its JSON, the plan and `apply` name it.
#[test]
fn what_a_plan_cuts_off_is_named_wherever_it_is_reported() {
    let home = super::binary::home();
    let said = |args: &[&str]| {
        let ended = super::binary::fabdeck(&home).args(["--source", "sim:demo"]).args(args).output().unwrap();
        let [out, err] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {out} {err}");
        (out, err)
    };
    let words = "Answers now and will be cut off: spine-1, 1 aggregation node, 88 pairs\n";
    let marked = ["route", "--engine", "minhop", "--fail", "switch:spine-1", "--force", "-o", "a.plan"];
    let (route, _) = said(&marked);
    assert!(route.contains(&format!("\ncuts off       {words}")), "{route}");
    let json: Value = serde_json::from_str(&said(&[&marked[..], &["--json"]].concat()).0).unwrap();
    let cut_off = &json["cut_off"];
    assert_eq!((&cut_off["switches"][0], &cut_off["pairs"]), (&"spine-1".into(), &88.into()), "{cut_off}");
    assert!(said(&["plan", "show", "a.plan"]).0.contains(words));
    assert!(said(&["apply", "a.plan", "--yes"]).1.contains(words));
    let unmarked = ["route", "--engine", "minhop", "--fail", "link:rack3-leaf[10]", "-o", "b.plan"];
    assert!(!said(&unmarked).0.contains("cuts off"));
}

/// A plan beside the topology that it was made for, as it is and packed: named as a plan, and nothing is missing.
#[test]
fn plans_in_a_folder_are_named_and_are_not_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir(here.join("site")).unwrap();
    let says = |words: &[&str]| binary_says(here, words);
    says(&["generate", "kary,k=3,n=2", "--format", "ibnetdiscover", "-o", "site/net.txt"]);
    says(&["--source", "site/net.txt", "route", "--engine", "updn", "-o", "site/it.plan"]);
    let notes = || {
        let (code, out, err) = says(&["--source", "site", "show", "switches", "--json"]);
        let seen: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"));
        assert_eq!((code, &seen["partial"]), (Some(0), &false.into()), "{out}");
        let notes = seen["notes"].as_array().unwrap().iter();
        notes.map(|note| format!("{}: {}", note["code"], note["text"]).replace('"', "")).collect::<Vec<_>>()
    };
    let named =
        "FN-504: it.plan is a plan: its routes are not in force; 'fabdeck plan show site/it.plan' shows it";
    assert_eq!(notes(), [named]);
    assert_eq!(says(&["plan", "show", "site/it.plan"]).0, Some(0));

    let text = std::fs::read(here.join("site/it.plan")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    std::fs::write(here.join("site/other.plan.gz"), packed.finish().unwrap()).unwrap();
    // Half of a plan is a plan still as far as it can be told: its routes are not in force either.
    std::fs::write(here.join("site/third.plan"), &text[..text.len() - 40]).unwrap();
    let notes = notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let several = "it.plan, other.plan.gz, third.plan are plans: their routes are not in force";
    assert!(notes[0].contains(several), "{notes:?}");
}

/// Where a mixture of old and new tables can hold a credit loop, no line of any report and no key of JSON says that it is
/// safe while traffic flows, it is a finding, and `apply` writes nothing unless that is accepted by name.
#[test]
fn a_plan_whose_mixture_can_hold_a_credit_loop_is_not_safe() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let route = ["--source", "sim:demo", "route", "--engine", "nue", "-o", "nue.plan"];
    let check = ["--source", "sim:demo", "plan", "check", "nue.plan"];
    let reports = [
        ended_with(here, &route, 2).0,
        ended_with(here, &["plan", "show", "nue.plan"], 0).0,
        ended_with(here, &check, 2).0,
        ended_with(here, &[&check[..], &["--switches"]].concat(), 2).0,
    ];
    let plan = Plan::read(&std::fs::read_to_string(here.join("nue.plan")).unwrap()).unwrap();
    assert_eq!(
        (plan.transition.safe, plan.transition.mixed),
        (Some(false), Some(false)),
        "the demo has such a plan"
    );
    assert!(plan.transition.mixed_cycle.is_some() && plan.transition.cycle.is_none());
    assert_eq!(plan.findings, ["it is not safe while traffic flows"]);
    for (line, at) in [
        (&[&route[..], &["--force", "--json"]].concat(), "/transition_safe"),
        (&[&route[..], &["--force", "--json"]].concat(), "/transition/safe"),
        (&[&check[..], &["--json"]].concat(), "/transition/safe"),
    ] {
        let object: serde_json::Value = serde_json::from_str(&ended_with(here, line, 2).0).unwrap();
        assert_eq!(object.pointer(at), Some(&false.into()), "{at} of {line:?}");
    }
    let apply = ["--source", "sim:demo", "apply", "nue.plan", "--yes"];
    let refused = ended_with(here, &apply, 4).1;
    assert!(refused.contains("FD-7983") && refused.contains("--accept transition"), "{refused}");
    assert!(refused.contains("not while tables change"), "{refused}");
    ended_with(here, &[&apply[..], &["--accept", "transition"]].concat(), 0);
    for report in reports {
        assert!(!report.replace("not safe while", "").contains("safe while traffic flows"), "{report}");
        assert!(
            report.contains("safe before and after, not while tables change: old and new paths"),
            "{report}"
        );
        assert!(report.contains("a credit loop is possible on the way"), "{report}");
    }
    // A preview of a small fabric is judged in the order that its plan has.
    let whatif = ["--source", "sim:demo", "whatif", "--engine", "nue,minhop"];
    let words = ended_with(here, &whatif, 0).0;
    assert!(!words.contains("safe while traffic flows"), "{words}");
    let object = ended_with(here, &[&whatif[..], &["--json"]].concat(), 0).0;
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    let safe = |at: usize| object.pointer(&format!("/engines/{at}/transition_safe"));
    assert_eq!((safe(0), safe(1)), (Some(&false.into()), Some(&true.into())), "{object}");
}
