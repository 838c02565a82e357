//! Engines that take files of their own: `file` with forwarding tables, `dor` with the order of dimensions; options that
//! single engines take.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::binary;

/// What the program prints as JSON, and its exit code.
fn run(home: &TempDir, args: &[&str]) -> (Value, Option<i32>, String) {
    let ended = binary::fabdeck(home).args(args).output().unwrap();
    let value = serde_json::from_slice(&ended.stdout).unwrap_or(Value::Null);
    (value, ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn row<'v>(answer: &'v Value, engine: &str) -> &'v Value {
    answer["engines"].as_array().unwrap().iter().find(|row| row["engine"] == engine).unwrap()
}

/// The tables in force of a simulated fabric, in a file.
fn dump(home: &TempDir, source: &str) -> String {
    let file = home.path().join("opensm-lfts.dump").display().to_string();
    let (_, code, err) = run(home, &["convert", source, "--to", "lfts", "-o", &file]);
    assert_eq!(code, Some(0), "{err}");
    file
}

const TREE: &str = "sim:kary,k=3,n=2";

#[test]
fn tables_of_a_file_stand_beside_those_of_engines() {
    let home = binary::home();
    let tables = dump(&home, TREE);
    let whatif = ["--json", "--source", TREE, "whatif", "--tables", &tables];
    let (answer, code, err) = run(&home, &[&whatif[..], &["--engine", "file,minhop"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let file = row(&answer, "file");
    assert_eq!((&file["changed_entries"], &file["lanes"]), (&Value::from(0), &Value::from(1)));
    assert_eq!(row(&answer, "minhop")["not_used"], serde_json::json!(["--tables"]));
    // Without a choice of engines it comes after all others.
    let (answer, _, _) = run(&home, &whatif);
    let last = answer["engines"].as_array().unwrap().last().unwrap();
    assert_eq!(last["engine"], "file");
    // Nothing reacts to a failure: entries that lead there are no path.
    let fail = ["--engine", "file", "--fail", "switch:spine1"];
    let (answer, code, err) = run(&home, &[&whatif[..], &fail].concat());
    let file = row(&answer, "file");
    assert_eq!(code, Some(2), "{err}");
    assert!(file["certificate"]["unreachable"].as_u64() > Some(0), "{file}");
    let remarks = file["remarks"].as_array().unwrap();
    assert!(
        remarks.iter().any(|text| text.as_str().unwrap().starts_with("entries whose port")),
        "{remarks:?}"
    );
}

#[test]
fn the_tables_of_a_file_become_a_plan() {
    let home = binary::home();
    let tables = dump(&home, "sim:torus,dims=4x4");
    let plan = home.path().join("back.plan").display().to_string();
    let route = ["--source", "sim:torus,dims=4x4", "--assume", "updn", "route", "--engine", "file"];
    let (_, code, err) = run(&home, &[&route[..], &["--tables", &tables, "-o", &plan]].concat());
    assert!(matches!(code, Some(0 | 2)), "{err}");
    assert!(std::fs::read_to_string(Path::new(&plan)).unwrap().contains("\"file\""));
}

#[test]
fn what_the_engine_file_cannot_take_is_refused_with_its_reason() {
    let home = binary::home();
    let tables = dump(&home, TREE);
    let refused = |args: &[&str]| {
        let (answer, code, _) = run(&home, &[&["--json", "--source", TREE, "whatif"][..], args].concat());
        assert_eq!(code, Some(2), "{args:?}");
        row(&answer, "file")["refused"].as_str().unwrap().to_owned()
    };
    let without = refused(&["--engine", "file"]);
    assert!(without.contains("FD-8003") && without.contains("--tables FILE"), "{without}");
    let lanes = refused(&["--engine", "file", "--tables", &tables, "--lanes", "2"]);
    assert!(lanes.contains("FD-8003") && lanes.contains("--lanes"), "{lanes}");
    let (_, code, err) =
        run(&home, &["--source", TREE, "whatif", "--engine", "file", "--tables", "/no/such/file"]);
    assert!(code != Some(0) && err.contains("/no/such/file"), "{code:?} {err}");
}

#[test]
fn dimensions_come_from_a_file_and_a_wrong_line_is_named() {
    let home = binary::home();
    let list = home.path().join("dimensions");
    let whatif = |text: &str| {
        std::fs::write(&list, text).unwrap();
        let list = list.display().to_string();
        let args = ["--json", "--source", "sim:mesh,dims=3x3", "whatif", "--engine", "dor,minhop"];
        run(&home, &[&args[..], &["--dimension-ports", &list]].concat())
    };
    let (shown, _, _) = run(&home, &["--json", "--source", "sim:mesh,dims=3x3", "show", "switches"]);
    let guid = shown["rows"][0]["guid"].as_str().unwrap().to_owned();
    // `minhop` has a credit loop on a mesh, which is a finding.
    let (plain, code, err) = whatif(&format!("{guid} 1 2 3 4\n"));
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(row(&plain, "dor")["certificate"]["deadlock_free"], true);
    let plan = |text: &str| {
        std::fs::write(&list, text).unwrap();
        let (list, plan) = (list.display().to_string(), home.path().join("dor.plan").display().to_string());
        let route = ["--source", "sim:mesh,dims=3x3", "route", "--engine", "dor", "--dimension-ports", &list];
        let (_, code, err) = run(&home, &[&route[..], &["--force", "--no-times", "-o", &plan]].concat());
        assert!(matches!(code, Some(0 | 2)), "{err}");
        std::fs::read_to_string(plan).unwrap()
    };
    let [one, same, turned] = ["1 2 3 4", "1 2", "4 3 2 1"].map(|ports| plan(&format!("{guid} {ports}\n")));
    assert!(one == same && one != turned);
    assert_eq!(row(&plain, "minhop")["not_used"], serde_json::json!(["--dimension-ports"]));
    let (_, code, err) = whatif(&format!("{guid} 1\n{guid} x\n"));
    assert!(code != Some(0) && err.contains("dimensions:2") && err.contains("FD-2302"), "{code:?} {err}");
    let (answer, _, _) = whatif("0xdead 1\n");
    assert!(row(&answer, "dor")["refused"].as_str().unwrap().contains("FD-8003"), "{answer}");
}

#[test]
fn empty_lanes_and_the_plain_search_are_options() {
    let home = binary::home();
    let lanes = |source: &str, args: &[&str], engine: &str| {
        let whatif = ["--json", "--source", source, "whatif", "--engine", engine, "--lanes", "4"];
        let (answer, _, err) = run(&home, &[&whatif[..], args].concat());
        assert_eq!(row(&answer, engine)["not_used"], serde_json::json!([]), "{err}");
        assert_eq!(row(&answer, engine)["certificate"]["deadlock_free"], true, "{answer}");
        row(&answer, engine)["lanes"].as_u64().unwrap()
    };
    assert_eq!(lanes(TREE, &[], "dfsssp"), 1);
    assert_eq!(lanes(TREE, &["--spread-lanes"], "dfsssp"), 4);
    assert_eq!(lanes("sim:torus,dims=5x5", &[], "dfsssp"), 3);
    assert_eq!(lanes("sim:torus,dims=5x5", &["--spread-lanes"], "dfsssp"), 4);
    assert_eq!(lanes(TREE, &[], "nue"), 1);
    assert_eq!(lanes(TREE, &["--plain-search"], "nue"), 4);
}

/// `--levels` puts paths on the lanes of a list; on one lane the same tables have a credit loop.
#[test]
fn levels_beside_the_tables_of_a_file_are_lanes() {
    let home = binary::home();
    let source = "sim:torus,dims=5,terminals=2";
    let file = |name: &str| home.path().join(name).display().to_string();
    let (plan, tables, levels) = (file("lash.plan"), file("lash.lfts"), file("lash.psl"));
    let (_, code, err) = run(&home, &["--source", source, "route", "--engine", "lash", "-o", &plan]);
    assert!(matches!(code, Some(0 | 2)), "{err}");
    for (format, to) in [("lfts", &tables), ("psl", &levels)] {
        let (_, code, err) = run(&home, &["--source", source, "convert", &plan, "--to", format, "-o", to]);
        assert_eq!(code, Some(0), "{err}");
    }
    let whatif = |more: &[&str]| {
        let args = ["--json", "--source", source, "whatif", "--engine", "file", "--tables", &tables];
        run(&home, &[&args[..], more].concat())
    };
    let (one, code, _) = whatif(&[]);
    assert_eq!((code, &row(&one, "file")["certificate"]["deadlock_free"]), (Some(2), &Value::from(false)));
    let (laned, code, err) = whatif(&["--levels", &levels, "--lanes", "8"]);
    let file = row(&laned, "file");
    assert_eq!((code, &file["lanes"]), (Some(0), &Value::from(2)), "{err} {file}");
    assert_eq!(file["certificate"]["deadlock_free"], true);
    let (few, _, _) = whatif(&["--levels", &levels, "--lanes", "1"]);
    let refused = row(&few, "file")["refused"].as_str().unwrap().to_owned();
    assert!(refused.contains("FD-8002") && refused.contains('2'), "{refused}");
    let (_, code, err) = whatif(&["--levels", &tables]);
    assert!(code != Some(0) && err.contains("FD-7702") && err.contains("levels of paths"), "{err}");
    let (_, code, err) = run(&home, &["--source", source, "whatif", "--engine", "file", "--levels", &levels]);
    assert!(code == Some(64) && err.contains("--tables"), "{code:?} {err}");
}

/// A ring with two breaks that a file has, rather than marks: the ring and both breaks by name, as text and as JSON.
#[test]
fn a_torus_of_a_file_with_two_breaks_in_a_ring_is_refused_by_name() {
    let home = binary::home();
    let net = home.path().join("torus.net").display().to_string();
    let (_, code, err) = run(&home, &["generate", "torus,dims=7x3x3,terminals=1", "-o", &net]);
    assert_eq!(code, Some(0), "{err}");
    let text = std::fs::read_to_string(&net).unwrap();
    let (mut node, mut kept) = ("", String::new());
    // The cables from sw_1_0_0 and from sw_4_0_0 to the next switch in x leave from port 1 and arrive at port 2.
    let gone = [("sw_1_0_0", 1), ("sw_2_0_0", 2), ("sw_4_0_0", 1), ("sw_5_0_0", 2)];
    for line in text.lines() {
        if line.starts_with("Switch") || line.starts_with("Ca") {
            node = line.split('"').nth(3).unwrap_or_default().split(' ').next().unwrap_or_default();
        }
        let is_gone = |(name, port): &(&str, u8)| node == *name && line.starts_with(&format!("[{port}]"));
        if !gone.iter().any(is_gone) {
            kept += line;
            kept += "\n";
        }
    }
    assert_eq!(kept.lines().count() + 4, text.lines().count());
    std::fs::write(&net, kept).unwrap();
    let whatif = ["--source", &net, "whatif", "--engine", "torus2qos", "--lanes", "4"];
    let (answer, code, _) = run(&home, &[&["--json"], &whatif[..]].concat());
    assert_eq!(code, Some(2));
    let refused = row(&answer, "torus2qos")["refused"].as_str().unwrap().to_owned();
    let (_, _, err) = run(&home, &whatif);
    for said in [&refused, &err] {
        assert!(said.contains("FD-8001") && said.contains("the ring in x through sw_0_0_0"), "{said}");
        assert!(said.contains("2 breaks: no link from sw_1_0_0") && said.contains("from sw_4_0_0"), "{said}");
    }
}
