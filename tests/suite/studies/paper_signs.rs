//! Signs of the dissertation, from parts of the built-in studies. Set `FABDECK_LONG=1` to run them.

use std::fs;

use serde_json::Value;

use super::study_runs::StudyHome;

/// Runs a built-in study with other lines, and returns the rows of a table.
fn rows(home: &StudyHome, name: &str, lines: &[(&str, &str)], table: &[&str]) -> Vec<Value> {
    let text = home.text(&["study", "show", name]);
    let changed = text.lines().map(|line| {
        let other = lines.iter().find(|(begin, _)| line.starts_with(begin));
        other.map_or(line, |(_, other)| other)
    });
    let file = format!("{name}.toml");
    fs::write(home.path(&file), changed.collect::<Vec<_>>().join("\n")).unwrap();
    home.run(&["study", "run", &file, "-o", name]);
    let table = home.text(&[&["study", "table", name, "--json"], table].concat());
    serde_json::from_str::<Value>(&table).unwrap()["rows"].as_array().unwrap().clone()
}

#[test]
fn failures_cost_throughput_on_the_nine_small_topologies() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let home = StudyHome::new();
    let lines = [("use =", "use = [\"dfsssp\"]"), ("seeds =", "seeds = \"1..2\"")];
    let fits = rows(&home, "domke-small", &lines, &["--fit"]);
    assert_eq!(fits.len(), 9);
    for fit in fits {
        assert!(fit["slope"].as_f64().unwrap() < 0.0, "{fit}");
    }
}

#[test]
fn dfsssp_is_above_updn_on_tsubame2() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let home = StudyHome::new();
    let lines = [
        ("use =", "use = [\"dfsssp\", \"updn\"]"),
        ("switches =", "switches = [\"0\"]"),
        ("kind = \"uniform\"", "kind = \"routes\""),
        ("until =", ""),
        ("time = \"5ms\"", ""),
    ];
    let cells = rows(&home, "tsubame2", &lines, &["--filter", "pattern=exchange"]);
    let throughput = |engine: &str| {
        let row = cells.iter().find(|row| row["engine"] == engine).unwrap();
        row["throughput_gbyte_s"].as_f64().unwrap()
    };
    assert!(throughput("dfsssp") > throughput("updn"), "{cells:?}");
}
