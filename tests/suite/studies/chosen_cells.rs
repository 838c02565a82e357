//! Cells that `--only` chooses, exchanges of sampled shifts, and the destinations on escape paths.

use std::fs;

use serde_json::Value;

use super::study_runs::StudyHome;

const STUDY: &str = r#"name = "chosen"
[[topology]]
name = "kary,k=2,n=2"
[[topology]]
name = "torus,dims=3x3,terminals=2"
[engines]
use = ["dfsssp", "nue"]
lanes = [1, 2]
[[measure]]
kind = "routes"
[[measure]]
kind = "exchange"
[[measure]]
kind = "exchange"
shifts = 4
"#;

fn rows(home: &StudyHome, folder: &str) -> Vec<Value> {
    let table: Value =
        serde_json::from_str(&home.text(&["--no-times", "study", "table", folder, "--json"])).unwrap();
    table["rows"].as_array().unwrap().clone()
}

#[test]
fn only_the_cells_that_match_every_filter_run() {
    let home = StudyHome::new();
    fs::write(home.path("a.toml"), STUDY).unwrap();
    let only = ["--only", "engine=nue", "--only", "lanes=2", "--only", "measure=routes"];
    let run = home.text(&[&["study", "run", "a.toml", "-o", "a", "--json"][..], &only].concat());
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!([&run["cells"], &run["shard_cells"], &run["ran"], &run["left"]], [24, 2, 2, 0]);
    let chosen = rows(&home, "a");
    assert_eq!(chosen.len(), 2);
    assert!(chosen.iter().all(|row| row["engine"] == "nue" && row["lanes_asked"] == 2), "{chosen:?}");
    // The rest runs later, and the table is that of one run.
    home.run(&["study", "run", "a", "--only", "topology~torus"]);
    assert_eq!(home.left("a"), 11);
    home.run(&["study", "run", "a"]);
    home.run(&["study", "run", "a.toml", "-o", "b"]);
    assert_eq!(rows(&home, "a"), rows(&home, "b"));
    for (filter, found) in [
        ("engine=lash", "FD-9415: none of 24 cells matches --only"),
        ("throughput_gbyte_s>1", "throughput_gbyte_s"),
    ] {
        let output = home.command(&["study", "run", "a", "--only", filter]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(64), "{message}");
        assert!(message.contains(found), "{message}");
    }
}

#[test]
fn a_sampled_exchange_has_fewer_packets_and_its_row_has_the_number_of_shifts() {
    let home = StudyHome::new();
    fs::write(home.path("a.toml"), STUDY).unwrap();
    home.run(&[
        "study",
        "run",
        "a.toml",
        "-o",
        "a",
        "--only",
        "topology~torus",
        "--only",
        "measure=exchange",
    ]);
    let rows = rows(&home, "a");
    let (sampled, whole): (Vec<&Value>, Vec<&Value>) = rows.iter().partition(|row| row["shifts"] == 4);
    assert_eq!((sampled.len(), whole.len()), (4, 4));
    for (sample, whole) in sampled.iter().zip(&whole) {
        assert!(whole["shifts"].is_null() && sample["status"] == "done", "{sample}");
        assert!(sample["packet_hops"].as_u64() < whole["packet_hops"].as_u64(), "{sample}");
        assert!(sample["throughput_gbyte_s"].as_f64() > Some(0.0), "{sample}");
    }
    // As many shifts as there are make the exchange of all.
    fs::write(home.path("b.toml"), STUDY.replace("shifts = 4", "shifts = 17")).unwrap();
    home.run(&["study", "run", "b.toml", "-o", "b", "--only", "topology~torus", "--only", "shifts=17"]);
    let values = |row: &Value| [row["simulated_ns"].clone(), row["packet_hops"].clone()];
    let all: Vec<_> = self::rows(&home, "b").iter().map(values).collect();
    assert_eq!(all, whole.iter().map(|row| values(row)).collect::<Vec<_>>());
}

#[test]
fn nue_reports_the_destinations_on_escape_paths() {
    let home = StudyHome::new();
    fs::write(home.path("a.toml"), STUDY).unwrap();
    home.run(&["study", "run", "a.toml", "-o", "a", "--only", "measure=routes"]);
    for row in rows(&home, "a") {
        assert_eq!(row["fell_back"].is_u64(), row["engine"] == "nue", "{row}");
    }
}
