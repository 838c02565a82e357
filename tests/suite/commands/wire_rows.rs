//! `show modules`, `show sensors` and `health` on simulated fabrics whose devices answer about their links.

use serde_json::Value;

use super::binary::{fabdeck as program, home};

const OPTICS: &str = "sim:kary,k=2,n=2,speed=ndr,wire-optics=all";

/// The answer of a command, and what it wrote besides.
fn answer(args: &[&str]) -> (Value, String) {
    let ended = program(&home()).args(args).arg("--json").output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {said}")), said)
}

fn rows(source: &str, view: &str, more: &[&str]) -> Vec<Value> {
    let (rows, _) = answer(&[&["--source", source, "show", view][..], more].concat());
    rows["rows"].as_array().unwrap().clone()
}

#[test]
fn a_worn_lane_and_a_hot_module_are_bad_with_their_evidence() {
    let all = rows(
        OPTICS,
        "modules",
        &["--fields", "node,port,wire,module,temperature,raw_ber,over,evidence,serial"],
    );
    let bad: Vec<&Value> = all.iter().filter(|row| row["wire"] == "bad").collect();
    // Of each of the six nodes one lane is worn; switches have a second cabled port, whose module is hot.
    let nodes =
        all.iter().map(|row| row["node"].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>();
    assert!(bad.len() > nodes.len() && bad.len() < all.len(), "{} of {}", bad.len(), all.len());
    let evidence =
        |words: &str| bad.iter().filter(|row| row["evidence"].as_str().unwrap().contains(words)).count();
    assert_eq!(evidence("raw BER") + evidence("effective BER") + evidence("module at 78.0 °C"), bad.len());
    assert!(evidence("(its own limit is 75.0 °C)") > 0 && evidence("PDR thresholds V06") > 0, "{bad:?}");
    for row in &all {
        assert_eq!(row["module"], "optical");
        assert_eq!(row["over"], "60 min since the counters were cleared");
        assert!(row["serial"].as_str().unwrap().starts_with("SIM"));
        let well = row["wire"] == "healthy";
        assert_eq!(well, row["raw_ber"] == "1e-8" && row["temperature"].as_f64().unwrap() < 75.0, "{row}");
    }
    // Links and ports are asked for it where a filter needs it.
    for view in ["links", "ports"] {
        assert!(!rows(OPTICS, view, &["--filter", "wire=bad"]).is_empty(), "{view}");
    }
    let filtered = rows(OPTICS, "modules", &["--filter", "wire=bad"]);
    assert_eq!(filtered.len(), bad.len());
}

#[test]
fn metrics_have_the_values_that_were_read_and_no_line_for_others() {
    let metrics = |source: &str, more: &[&str]| {
        let args = [&["--source", source, "show", "modules", "--format", "prometheus"][..], more].concat();
        let ended = program(&home()).args(args).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let (code, text) = metrics(OPTICS, &[]);
    let values = |name: &str| -> Vec<f64> {
        let lines = text.lines().filter(|line| line.starts_with(&format!("infiniband_switch_port_{name}{{")));
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect()
    };
    assert_eq!(code, Some(0));
    let verdicts = values("wire_verdict");
    assert!(verdicts.contains(&0.0) && verdicts.contains(&2.0) && !verdicts.contains(&1.0), "{verdicts:?}");
    assert!(
        values("module_temperature_celsius").contains(&78.0) && values("module_voltage_volts").contains(&3.3)
    );
    assert!(values("raw_bit_error_ratio").iter().any(|rate| (rate / 1e-8 - 1.0).abs() < 1e-6), "{text}");
    // Nothing is 0 because it is not known.
    let (code, text) = metrics("sim:kary,k=2,n=2", &[]);
    assert_eq!((code, text.lines().filter(|line| !line.starts_with('#')).count()), (Some(0), 0), "{text}");
    assert_eq!(metrics(OPTICS, &["--top", "1"]).0, Some(64), "metrics are those of every port");
}

/// Whether a value is this word, or that of a device that was not asked because another one of its kind has this word.
fn is_word(value: &Value, word: &str) -> bool {
    let of_kind = match word {
        "absent" => "absent in its kind",
        "did not answer" => "its kind did not answer",
        other => other,
    };
    value == word || value == of_kind
}

#[test]
fn missing_values_have_their_word_and_are_never_zero() {
    for (profile, module, raw) in [
        ("wire-keyed", "did not answer", "did not answer"),
        ("wire-counters", "absent", "absent"),
        ("wire-nonsense", "not understood", "not understood"),
        ("wire-no-modules", "absent", "1e-8"),
        // Devices that have none of it.
        ("silent=0%,seed", "absent", "absent"),
    ] {
        let value = if profile.contains('=') { "1" } else { "all" };
        let source = format!("sim:kary,k=2,n=2,speed=ndr,{profile}={value}");
        for row in rows(&source, "modules", &["--fields", "wire,module,raw_ber,temperature,rx_power"]) {
            assert!(is_word(&row["module"], module) && is_word(&row["raw_ber"], raw), "{source}: {row}");
            assert!(row["temperature"].is_null() && row["rx_power"].is_null(), "{row}");
            let verdict = if raw == "1e-8" { "healthy" } else { "not known" };
            assert_eq!(row["wire"], verdict, "{source}");
        }
    }
}

#[test]
fn sensors_show_fans_of_switches_and_firmware_of_all() {
    let all = rows(
        "sim:kary,k=2,n=2,wire=all",
        "sensors",
        &["--fields", "node,kind,sensors,temperature,limit,fans,slowest_fan,firmware,uptime,serial"],
    );
    let of = |kind: &str| all.iter().filter(|row| row["kind"] == kind).cloned().collect::<Vec<_>>();
    let (switches, hosts) = (of("switch"), of("host"));
    assert!(!switches.is_empty() && !hosts.is_empty());
    for row in &switches {
        assert_eq!(
            (&row["fans"], &row["slowest_fan"], &row["sensors"]),
            (&"2".into(), &6350.into(), &"ok".into())
        );
        assert_eq!(
            (&row["firmware"], &row["limit"], &row["uptime"]),
            (&"31.2012.4036".into(), &105.0.into(), &240.into())
        );
        assert!(row["serial"].as_str().unwrap().starts_with("SIM"), "{row}");
    }
    for row in &hosts {
        assert!(is_word(&row["fans"], "absent") && row["firmware"] == "28.39.2048", "{row}");
        assert!(row["serial"].is_null() && row["temperature"].is_number(), "{row}");
    }
}

#[test]
fn the_cost_is_printed() {
    let ended = program(&home()).args(["-v", "--source", OPTICS, "show", "modules"]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.lines().any(|line| line.contains("link health: ") && line.contains(" MADs sent")), "{said}");
    assert!(said.contains("0 of them able to write"), "{said}");
}

#[test]
fn a_recording_shows_the_verdict_and_health_names_the_lane() {
    let home = home();
    let run = |args: &[&str]| {
        let ended = program(&home).args(args).output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        (text, String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    run(&["--source", OPTICS, "record", "-o", "it.fdcap", "--interval", "10s", "--for", "11m"]);
    let (health, said) = run(&["--source", "it.fdcap", "--json", "health"]);
    let health: Value =
        serde_json::from_str(&health).unwrap_or_else(|error| panic!("{error}: {health} {said}"));
    let problems = health["problems"].as_array().unwrap();
    let wire: Vec<&Value> = problems.iter().filter(|problem| problem["kind"] == "wire-health").collect();
    assert!(!wire.is_empty(), "{problems:?}");
    let text = |problem: &Value| problem.to_string();
    assert!(wire.iter().any(|problem| text(problem).contains("nearly all errors are on lane 3")), "{wire:?}");
    let (rows, _) = run(&["--source", "it.fdcap", "--json", "show", "modules", "--fields", "wire,over"]);
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let over: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().filter_map(|row| row["over"].as_str()).collect();
    assert!(over.iter().any(|over| !over.contains("cleared")), "windows between two readings: {over:?}");
}
