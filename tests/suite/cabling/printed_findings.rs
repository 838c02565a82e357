//! The command itself: text, JSON, the work list, exit codes, and the plan that `cabling export` writes.

use std::fs;

use crate::commands::binary::{fabdeck, home};
use crate::commands::json::violations;
use serde_json::Value;

/// Exit code, stdout and stderr.
fn run(home: &tempfile::TempDir, args: &[&str]) -> (Option<i32>, String, String) {
    let ended = fabdeck(home).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

const SOURCE: &str = "sim:kary,k=4,n=2";

/// The exported plan with these lines changed.
fn plan(home: &tempfile::TempDir, change: impl Fn(&mut Vec<String>)) -> String {
    let (code, text, _) = run(home, &["--source", SOURCE, "cabling", "export"]);
    assert_eq!(code, Some(0));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(home.path().join("plan.csv"), lines.join("\n") + "\n").unwrap();
    text
}

/// Exchanges the second ends of two lines of a plan.
fn swap_ends(lines: &mut [String], a: usize, b: usize) {
    let split = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        (cells[..9].join(","), cells[9..].join(","))
    };
    let ((a_first, a_second), (b_first, b_second)) = (split(&lines[a]), split(&lines[b]));
    (lines[a], lines[b]) = (format!("{a_first},{b_second}"), format!("{b_first},{a_second}"));
}

#[test]
fn an_exported_plan_reads_back_to_no_finding() {
    let home = home();
    plan(&home, |_| {});
    let (code, text, _) = run(&home, &["--source", SOURCE, "cabling", "plan.csv"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("as planned: 32 of 32 cables"), "{text}");
    let export = ["--source", SOURCE, "cabling", "export", "--to", "topo", "-o", "plan.topo"];
    assert_eq!(run(&home, &export).0, Some(0));
    assert_eq!(run(&home, &["--source", SOURCE, "cabling", "plan.topo"]).0, Some(0));
    let (code, _, error) = run(&home, &export);
    assert_eq!(code, Some(1));
    assert!(error.contains("FD-7922"), "{error}");
    // A capture is a plan too, and so is any fabric that a source can name.
    assert_eq!(run(&home, &["--source", SOURCE, "cabling", SOURCE]).0, Some(0));
    let (code, text, _) = run(&home, &["--source", SOURCE, "cabling", "sim:kary,k=3,n=2"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn findings_have_repairs_and_say_what_these_do_to_routes() {
    let home = home();
    plan(&home, |lines| {
        swap_ends(lines, 30, 31);
        lines.push("0xdead,host,ghost,1,,,,,,0xa,switch,nowhere,1,,,,,,,,,".to_owned());
        lines.push("cut".to_owned());
    });
    let args = ["--source", SOURCE, "cabling", "plan.csv"];
    let (code, text, error) = run(&home, &args);
    assert_eq!(code, Some(2), "{text}{error}");
    for words in ["swapped", "repair", "exchange the plugs in", "routes", "is not in the fabric"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(error.contains("FN-466") && error.contains("plan.csv:35"), "{error}");
    let (code, json, _) = run(&home, &[&args[..], &["--json", "--no-times"]].concat());
    assert_eq!(code, Some(2));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "fabdeck.cabling/1");
    let schema = concat!(env!("FABDECK_ROOT"), "/docs/schemas/cabling.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(violations(&schema, &json), [""; 0]);
    assert_eq!((&json["planned"], &json["right"]), (&33.into(), &30.into()));
    let findings = json["findings"].as_array().unwrap();
    let faults: Vec<&str> = findings.iter().map(|finding| finding["fault"].as_str().unwrap()).collect();
    assert_eq!(faults, ["missing-device", "swapped"]);
    assert_eq!(findings[1]["cables"].as_array().unwrap().len(), 2);
    assert_eq!(findings[1]["routes"]["used"], true);
    assert!(json["work"].as_array().unwrap().len() >= 2);
}

#[test]
fn routes_without_tables_are_not_known_and_a_named_engine_is_run() {
    let home = home();
    plan(&home, |lines| swap_ends(lines, 1, 20));
    fs::write(home.path().join("net.topo"), "").unwrap();
    let generate = ["generate", "kary,k=4,n=2", "-o", "net.txt"];
    assert_eq!(run(&home, &generate).0, Some(0));
    let base = ["--source", "net.txt", "cabling", "plan.csv", "--json"];
    let routes = |more: &[&str]| -> Value {
        let (code, text, error) = run(&home, &[&base[..], more].concat());
        assert_eq!(code, Some(2), "{text}{error}");
        serde_json::from_str::<Value>(&text).unwrap()["findings"][0]["routes"].clone()
    };
    let plain = routes(&[]);
    assert_eq!((&plain["used"], &plain["changed"]), (&Value::Null, &Value::Null), "{plain}");
    assert!(plain["text"].as_str().unwrap().contains("not known"), "{plain}");
    let named = routes(&["--assume", "updn"]);
    assert!(named["used"].is_boolean() && named["changed"].is_boolean(), "{named}");
}

#[test]
fn the_work_list_is_in_the_order_of_racks() {
    let home = home();
    plan(&home, |lines| {
        swap_ends(lines, 1, 20);
        // Places of the first ends: the lower cable is in the earlier rack.
        for (at, rack) in [(1, "B10"), (20, "B2")] {
            let mut cells: Vec<String> = lines[at].split(',').map(str::to_owned).collect();
            (cells[7], cells[8]) = (rack.to_owned(), "4".to_owned());
            (cells[16], cells[17]) = (rack.to_owned(), "5".to_owned());
            lines[at] = cells.join(",");
        }
        lines.remove(25);
    });
    let work = |file: &str| {
        let (code, _, error) = run(&home, &["--source", SOURCE, "cabling", "plan.csv", "--work", file]);
        assert_eq!(code, Some(2), "{error}");
        fs::read_to_string(home.path().join(file)).unwrap()
    };
    let text = work("list.txt");
    let places: Vec<usize> =
        ["rack B", "rack not known"].iter().map(|rack| text.find(rack).unwrap()).collect();
    assert!(places.is_sorted() && text.contains("[ ] U "), "{text}");
    let csv = work("list.csv");
    assert_eq!(csv.lines().next().unwrap(), "site,room,row,rack,u,device,step,finding,fault,routes,done");
    let page = work("list.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("class=\"box\"") && !page.contains("<script")
    );
    let steps = text.matches("[ ]").count();
    assert_eq!((csv.lines().count() - 1, page.matches("<li>").count()), (steps, steps));
}

#[test]
fn a_plan_that_cannot_be_read_is_refused_with_its_place() {
    let home = home();
    fs::write(home.path().join("bad.csv"), "a_device,a_port,b_device,b_port\nx,,y,1\n").unwrap();
    fs::write(home.path().join("other.txt"), "Dear all,\nplease cable this.\n").unwrap();
    for (file, exit, words) in [
        ("bad.csv", 7, &["FD-2423", "bad.csv:2", "the first end has no port"][..]),
        ("other.txt", 7, &["FD-2424", "other.txt"]),
        ("none.csv", 8, &["none.csv"]),
    ] {
        let (code, _, error) = run(&home, &["--source", SOURCE, "cabling", file]);
        assert_eq!(code, Some(exit), "{error}");
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let (code, _, error) = run(&home, &["--source", SOURCE, "cabling"]);
    assert_eq!(code, Some(64));
    assert!(error.contains("FD-7344"), "{error}");
}

#[test]
fn findings_are_problems_of_health() {
    let home = home();
    plan(&home, |lines| swap_ends(lines, 30, 31));
    let args = ["--source", SOURCE, "--cabling", "plan.csv", "health", "--json", "--interval", "1s"];
    let (code, text, error) = run(&home, &args);
    assert_eq!(code, Some(2), "{error}");
    let json: Value = serde_json::from_str(&text).unwrap();
    let own: Vec<&Value> = json["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|problem| problem["kind"] == "miscabled")
        .collect();
    assert_eq!(own.len(), 1, "{text}");
    assert!(own[0]["title"].as_str().unwrap().ends_with("are swapped"));
    assert!(own[0]["command"].as_str().unwrap().contains("cabling plan.csv"));
    assert_eq!(own[0]["elements"].as_array().unwrap().len(), 2);
}
