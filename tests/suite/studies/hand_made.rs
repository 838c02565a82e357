//! A study whose values are made by hand, so that its figures do not depend on engines and simulator.

use std::fs;

use fabdeck_files::study_segment::{HEADER, encode_record, read_segment};
use serde_json::{Value, json};

use super::study_runs::{StudyHome, segments};

const STUDY: &str = r#"name = "hand-made"
about = "values <by hand>, to look at figures"
[[topology]]
name = "kary,k=2,n=2"
[[topology]]
name = "torus,dims=3x3,terminals=1"
[faults]
links = [0, 1, 2]
seeds = "1..3"
[engines]
use = ["dfsssp", "updn", "dor", "nue"]
lanes = [4]
[engines.nue]
lanes = [1, 2]
[[measure]]
kind = "exchange"
[[measure]]
kind = "uniform"
time = "10us"
[[measure]]
kind = "routes"
[[measure]]
kind = "lost"
# Without failures alone: no point has the seed 9.
[[measure]]
kind = "permutation"
time = "10us"
load = [0.2, 0.5, 0.8]
seeds = "9..9"
"#;

/// Makes the study `made` in the folder `results`.
pub fn make_study(home: &StudyHome) {
    fs::write(home.path("made.toml"), STUDY).unwrap();
    home.run(&["study", "run", "made.toml", "-o", "results"]);
    let mut records = Vec::new();
    for file in segments(&home.path("results")) {
        let bytes = fs::read(&file).unwrap();
        let made = read_segment(&bytes).unwrap().records.into_iter().map(|json| {
            let mut record: Value = serde_json::from_str(json).unwrap();
            set_values(&mut record["row"]);
            record.to_string()
        });
        records.extend(made);
        fs::remove_file(file).unwrap();
    }
    let bytes = records.iter().flat_map(|json| encode_record(json));
    let bytes: Vec<u8> = HEADER.bytes().chain(bytes).collect();
    fs::write(home.path("results/segments/by-hand-1.segment"), bytes).unwrap();
}

/// The columns of what was measured.
const MEASURED: &[&str] = &[
    "efi_min",
    "efi_mean",
    "efi_max",
    "efi_sdv",
    "hops_max",
    "stretch_mean",
    "degraded",
    "fell_back",
    "lost_pairs",
    "cycle",
    "steady",
    "simulated_ns",
    "packet_hops",
    "throughput_gbyte_s",
    "consumption_min",
    "consumption_q1",
    "consumption_median",
    "consumption_q3",
    "consumption_max",
    "latency_mean_ns",
    "latency_p99_ns",
    "why",
    "lanes",
    "route_seconds",
];

/// Replaces what a cell came to by values that follow from its place in the study.
fn set_values(row: &mut Value) {
    let number = |key: &str, row: &Value| row[key].as_f64().unwrap_or(0.0);
    let (failures, seed, lanes) =
        (number("link_faults", row), number("fault_seed", row), number("lanes_asked", row));
    let is_torus = row["topology"].as_str().unwrap().starts_with("torus");
    let engine = row["engine"].as_str().unwrap().to_owned();
    MEASURED.iter().for_each(|key| row[key] = Value::Null);
    (row["hosts"], row["links"], row["pairs"]) = (json!(10), json!(40), json!(90));
    (row["version"], row["status"]) = (json!("1.1.1"), json!("done"));
    let status = match (engine.as_str(), is_torus) {
        ("dor", false) => Some("refused"),
        ("dor", true) if failures >= 2.0 && seed < 3.0 => Some("deadlock"),
        ("updn", true) if failures >= 2.0 => Some("incomplete"),
        _ => None,
    };
    if let Some(status) = status {
        row["status"] = json!(status);
        return;
    }
    let (begin, slope) = match engine.as_str() {
        "dfsssp" => (40.0, 6.0),
        "updn" => (33.0, 1.0),
        "dor" => (35.0, 5.0),
        _ => (28.0 + 4.0 * lanes, 3.0),
    };
    let spread = if failures > 0.0 { (seed - 2.0) * 0.8 } else { 0.0 };
    let throughput = (begin - slope * failures + spread) * if is_torus { 1.5 } else { 1.0 };
    match row["pattern"].as_str().unwrap() {
        "exchange" => row["throughput_gbyte_s"] = json!(throughput),
        "uniform" => {
            row["throughput_gbyte_s"] = json!(throughput * 0.9);
            let quartiles = [("min", 0.05), ("q1", 0.08), ("median", 0.1), ("q3", 0.11), ("max", 0.13)];
            for (name, share) in quartiles {
                row[format!("consumption_{name}")] = json!(throughput * share);
            }
        }
        "routes" => {
            (row["efi_max"], row["lost_pairs"]) =
                (json!((60.0 - throughput + 4.0 * failures) as u64), json!(0));
        }
        "lost" => row["lost_pairs"] = json!((7.0 * failures + seed * failures) as u64),
        _ => {
            let load = number("load", row);
            row["throughput_gbyte_s"] = json!(throughput * load.min(0.6));
            row["latency_mean_ns"] = json!((400.0 / (1.02 - load)) as u64);
        }
    }
}
