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
fn choices_are_certified_where_their_tables_are_known_and_plans_are_not() {
    let unknown_words = "not certified, because 4 switches did not answer whether adaptive routing is on";
    let odd_words =
        "not certified, because adaptive routing is on and its tables are not understood at 1 switch";
    let free_words = "free: no cycle of dependencies over all choices of";
    for (key, on, unknown, free, words) in [
        ("ar=all", 4, 0, Some(true), free_words),
        ("ar=leaf0", 1, 0, Some(true), free_words),
        ("ar-plft=all", 4, 0, Some(true), free_words),
        ("ar-plft-only=all", 0, 0, Some(true), free_words),
        ("ar-odd=leaf0", 1, 0, None, odd_words),
        ("ar-silent=all", 0, 4, None, unknown_words),
    ] {
        let source = format!("sim:kary,k=2,n=2,{key}");
        let code = if free.is_some() { 0 } else { 2 };
        let check = answer(&["--source", &source, "check", "--strict"], code);
        assert_eq!(
            (&check["deadlock_free"], &check["adaptive_routing"]),
            (&free.into(), &on.into()),
            "{check}"
        );
        assert_eq!(
            (&check["adaptive_unknown"], &check["choices"]["certified"]),
            (&unknown.into(), &free.is_some().into())
        );
        assert_eq!(check["findings"].as_array().unwrap().len(), usize::from(free.is_none()), "{check}");
        let (text, _, code) = fabdeck(&["--source", &source, "check"]);
        assert!(text.contains(&format!("\ndeadlock      {words}")) && !text.contains("FN-707"), "{text}");
        assert_eq!(
            (code, text.contains("\nchoices       12 paths arrive by every choice")),
            (0, free.is_some()),
            "{text}"
        );
        let strict = fabdeck(&["--source", &source, "check", "--strict"]).0;
        let finding = "\nfinding       FN-707: deadlock is not certified, because ";
        assert_eq!(strict.contains(finding), free.is_none(), "{strict}");
        let whatif =
            answer(&["--source", &source, "whatif", "--fail", "link:leaf0/3", "--engine", "updn"], 0);
        assert_eq!(
            (&whatif["by_static_ports"], &whatif["adaptive_unknown"]),
            (&true.into(), &unknown.into())
        );
        // Hosts that miss senders follow the same tables as the pairs.
        let (text, ..) =
            fabdeck(&["--source", &source, "whatif", "--fail", "link:leaf0/3", "--engine", "updn"]);
        let degraded = text.lines().find(|line| line.starts_with("degraded")).unwrap();
        assert!(degraded.contains(" by static ports "), "{degraded}");
        let row = &whatif["engines"][0];
        assert_eq!(
            (&row["deadlock_free"], &row["transition"]["safe"]),
            (&Value::Null, &Value::Null),
            "{row}"
        );

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.plan").to_str().unwrap().to_owned();
        let route = ["--source", &source, "route", "--engine", "updn", "--fail", "link:leaf0/3", "-o", &file];
        let (_, err, code) = fabdeck(&route);
        let reason = match key {
            "ar-silent=all" => "4 switches (such as leaf0) did not answer whether adaptive routing is on",
            "ar=leaf0" | "ar-odd=leaf0" => "adaptive routing is on at 1 switch (such as leaf0)",
            _ => "adaptive routing is on at 4 switches (such as leaf0)",
        };
        assert!(
            code != 0 && err.contains("FD-7927: no plan is made: ") && err.contains(reason),
            "{key}: {err}"
        );
        assert!(!std::path::Path::new(&file).exists(), "{key}: no plan is written");
    }
}

/// A plan that was made before adaptive routing was turned on is not applied, whatever is accepted.
#[test]
fn a_plan_is_not_applied_where_switches_route_adaptively() {
    const FABRIC: &str = "sim:kary,k=2,n=2";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it.plan").to_str().unwrap().to_owned();
    let (_, err, code) =
        fabdeck(&["--source", FABRIC, "route", "--engine", "updn", "--fail", "link:leaf0/3", "-o", &file]);
    assert_eq!(code, 0, "{err}");
    let apply = |source: &str| {
        fabdeck(&["--source", source, "apply", &file, "--yes", "--accept", "cycle,transition"])
    };
    for key in ["ar=all", "ar-recovery=all", "ar-silent=all"] {
        let (out, err, code) = apply(&format!("{FABRIC},{key}"));
        assert!(code == 4 && err.contains("FD-7928: the plan is not applied: "), "{key} {code}: {out} {err}");
    }
    let (out, err, _) = apply(FABRIC);
    assert!(!err.contains("FD-7928"), "{out} {err}");
}

/// What `check` says of choices is a problem of Health, and what it leaves open is no certificate there.
#[test]
fn health_and_report_say_what_the_certificate_leaves_open() {
    for key in ["ar-odd=leaf0", "ar-silent=all"] {
        let source = format!("sim:kary,k=2,n=2,{key}");
        let (text, ..) = fabdeck(&["--source", &source, "health", "--interval", "1s"]);
        assert!(text.contains("\nunchecked  tables: not certified, because "), "{text}");
        let (nagios, ..) =
            fabdeck(&["--source", &source, "health", "--interval", "1s", "--format", "nagios"]);
        assert!(nagios.contains("the tables are not certified)"), "{nagios}");
        let json = answer(&["--source", &source, "health", "--interval", "1s"], 0);
        assert!(
            json["checked"]["uncertified"].as_str().unwrap().starts_with("not certified, because "),
            "{json}"
        );
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        let (_, err, code) = fabdeck(&["--source", &source, "report", "-o", page.to_str().unwrap()]);
        let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{error} {code}: {err}"));
        assert!(page.contains("not certified, because ") && !page.contains(">certified<"), "{key}");
    }
    let (text, ..) = fabdeck(&["--source", "sim:kary,k=3,n=2,ar-loop=all", "health", "--interval", "1s"]);
    for words in [
        "can be lost by a choice of adaptive routing",
        "adaptive routing can send packets around ",
        "choices of adaptive routing close a credit loop",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains(" whatif\n"), "engines have no answer there: {text}");
}

#[test]
fn without_adaptive_routing_linear_tables_are_judged_and_with_it_tables_of_a_file_are_not() {
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

/// A cable fails: at both ends of it some choices of others lose packets, and no pair loses all.
#[test]
fn whatif_counts_what_some_choice_and_what_every_choice_loses() {
    let choices = |key: &str, fail: &str| {
        let source = format!("sim:kary,k=4,n=2,{key}");
        answer(&["--source", &source, "whatif", "--fail", fail, "--engine", "updn"], 0)["choices"].take()
    };
    let counts = |answer: &Value| {
        ["paths", "lost_by_some_choice", "lost_by_every_choice", "lost_before"]
            .map(|key| answer[key].as_u64().unwrap())
    };
    // Packets to the four hosts of the leaf come to the spine from the twelve others; four times twelve are lost there.
    assert_eq!(counts(&choices("ar=all", "link:leaf0/5")), [240, 48, 0, 0]);
    // No switch sends to a spine that is down.
    assert_eq!(counts(&choices("ar=all", "spine0")), [240, 0, 0, 0]);
    let unknown = choices("ar=all,ar-silent=leaf2", "link:leaf0/5");
    assert!(unknown["reason"].as_str().unwrap().contains("did not answer"), "{unknown}");
    assert_eq!(counts(&unknown), [0; 4], "nothing is counted that is not known");
    assert_eq!(choices("ar=none", "link:leaf0/5"), Value::Null);
}

/// Groups that close a loop: the loop is named, and what can be lost.
#[test]
fn loops_that_choices_close_are_named() {
    let check = answer(&["--source", "sim:torus,dims=4x4,ar=all", "check"], 2);
    assert_eq!((&check["deadlock_free"], &check["choices"]["certified"]), (&false.into(), &true.into()));
    assert_eq!(check["cycle"].as_array().unwrap().len(), check["cycle_paths"].as_array().unwrap().len());
    assert_eq!(check["choices"]["lost_paths"], 0);
    let check = answer(&["--source", "sim:kary,k=3,n=2,ar-loop=all", "check"], 2);
    let choices = &check["choices"];
    assert!(
        choices["lost_paths"].as_u64().unwrap() > 0 && choices["loops"].as_u64().unwrap() > 0,
        "{choices}"
    );
    assert!(choices["lost_examples"][0].as_str().unwrap().contains(": a loop by "), "{choices}");
}

/// "absent", "did not answer", "off" and "not known" are different words.
#[test]
fn a_table_shows_adaptive_routing_by_switch() {
    let words = |key: &str| -> Vec<(String, String)> {
        let rows = answer(&["--source", &format!("sim:kary,k=2,n=2,{key}"), "show", "adaptive"], 0);
        let rows = rows["rows"].as_array().unwrap().clone();
        let word = |row: &Value, field: &str| row[field].as_str().unwrap_or("-").to_owned();
        rows.iter().map(|row| (word(row, "state"), word(row, "tables"))).collect()
    };
    let all = |state: &str, tables: &str| vec![(state.to_owned(), tables.to_owned()); 4];
    assert_eq!(words("ar=all"), all("on", "read"));
    assert_eq!(words("ar-off=all"), all("off", "-"));
    assert_eq!(words("ar-refuse=all"), all("on", "absent"));
    assert_eq!(words("ar-odd=all"), all("on", "not understood"));
    assert_eq!(words("ar=none"), all("absent", "-"));
}

/// `show switches` has the same word for each switch; nothing is asked for it where no one wants the column.
#[test]
fn switches_have_a_column_of_adaptive_routing() {
    let switches = |key: &str, args: &[&str]| {
        let source = format!("sim:kary,k=2,n=2,{key}");
        let rows = answer(&[&["--source", source.as_str(), "show", "switches"], args].concat(), 0);
        let rows = rows["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["adaptive"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let asked = ["--fields", "name,adaptive"];
    assert_eq!(switches("ar=leaf0+spine0,ar-off=leaf1", &asked), ["on", "off", "on", "absent"]);
    assert_eq!(
        switches("ar-silent=leaf0", &asked[..]).iter().filter(|word| *word == "did not answer").count(),
        1
    );
    assert_eq!(switches("ar=all", &[]), ["not asked"; 4]);
    let text = |args: &[&str]| {
        fabdeck(&[&["--source", "sim:kary,k=2,n=2,ar=all", "show", "switches"], args].concat()).0
    };
    assert!(!text(&[]).contains("ADAPTIVE"), "{}", text(&[]));
    assert!(text(&["--filter", "adaptive=on"]).contains("ADAPTIVE"));
}

#[test]
fn only_switches_of_the_fabric_are_named() {
    let (_, err, code) = fabdeck(&["--source", "sim:kary,k=2,n=2,ar-silent=node0", "show", "fabric"]);
    assert!(code == 64 && err.contains("FD-5031: ar-silent=node0"), "{code}: {err}");
}

/// A path by static ports is one of several where switches route adaptively, and `trace` says so.
#[test]
fn a_trace_names_the_other_ports_of_adaptive_switches() {
    let row = |answer: &Value, at: usize| answer["rows"][at]["choices"].clone();
    let folder = format!("{}/tests/fixtures/ibdiagnet", env!("FABDECK_ROOT"));
    let trace = answer(&["--source", &folder, "trace", "n1 mlx5_0", "n2 mlx5_0"], 0);
    assert_eq!((&trace["by_static_ports"], row(&trace, 0)), (&true.into(), Value::Null), "{trace}");
    assert_eq!(row(&trace, 1), "3", "the group of the leaf has two ports to spines: {trace}");
    let (text, ..) = fabdeck(&["--source", &folder, "trace", "n1 mlx5_0", "n2 mlx5_0"]);
    assert!(text.contains(" CHOICES ") && text.contains("adaptive: the path by static ports; "), "{text}");
    // A live trace asks whether switches route adaptively, and reads one block of each table: which ports they choose
    // among is not known.
    let source = |keys: &str| format!("sim:kary,k=2,n=2{keys}");
    let path = ["trace", "node0", "node3"];
    for (keys, first) in
        [(",ar=all", "not known"), (",ar-silent=all", "not known"), (",ar-plft-only=all", "not known")]
    {
        let (text, ..) = fabdeck(&[&["--source", &source(keys)][..], &path].concat());
        let words =
            "adaptive: the path by static ports; by which ports packets may leave is not known at 3 switches";
        assert!(text.contains(first) && text.contains(words), "{keys}: {text}");
    }
    for keys in ["", ",ar-off=all"] {
        let trace = answer(&[&["--source", &source(keys)][..], &path].concat(), 0);
        assert_eq!(
            (&trace["by_static_ports"], row(&trace, 1)),
            (&false.into(), Value::Null),
            "{keys}: {trace}"
        );
        let (text, ..) = fabdeck(&[&["--source", &source(keys)][..], &path].concat());
        assert!(!text.contains("CHOICES") && !text.contains("adaptive"), "{keys}: {text}");
    }
}

/// What tables say of paths, roles and lost pairs is about static ports alone.
#[test]
fn figures_by_static_ports_say_so_in_their_own_lines() {
    for (keys, words) in [
        (",ar=all", Some("adaptive routing is on or has tables, so tables do not determine the paths")),
        (",ar-silent=all", Some("4 switches did not report whether adaptive routing is on")),
        (",ar-off=all", None),
    ] {
        let source = format!("sim:kary,k=2,n=2{keys}");
        for args in [&["hotspots", "--interval", "1s"][..], &["health", "--interval", "1s"], &["jobs"]] {
            let (text, ..) = fabdeck(&[&["--source", &source][..], args].concat());
            let line = text.lines().find(|line| line.starts_with("adaptive "));
            let is_right = match words {
                Some(words) => line.is_some_and(|line| line.contains(words)),
                None => line.is_none(),
            };
            assert!(is_right, "{keys} {args:?}: {text}");
        }
        let (_, said, _) = fabdeck(&["--source", &source, "disable", "leaf0[3]", "-o", "it.plan"]);
        assert!(said.contains("pairs have no path"), "{said}");
        assert_eq!(said.contains("pairs have no path by static ports, "), words.is_some(), "{keys}: {said}");
    }
}
