//! What a manager reported while a fabric was recorded, and what of it is given away.

use serde_json::Value;

use super::commands::{json, run};

const STORY: &str = "7s down leaf0/4\n12s silent node2\n18s answers node2\n";

/// Traps in the news of some intervals: number, whose, and the GUID that they name.
fn traps(told: &Value) -> Vec<(u64, String, String)> {
    let sweeps = told["sweeps"].as_array().unwrap().iter();
    let news = sweeps.flat_map(|sweep| sweep["news"].as_array().unwrap());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let traps = news.filter(|news| news["what"] == "trap").map(|news| {
        let trap = &news["trap"];
        assert!(trap["issuer_lid"].is_u64() && news["text"].as_str().unwrap().contains("; issued by "));
        (trap["number"].as_u64().unwrap(), word(&news["guid"]), word(&trap["port_guid"]))
    });
    traps.collect()
}

#[test]
fn traps_are_recorded_as_reported_and_anonymized_without_guids() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("it.story"), STORY).unwrap();
    let source = "sim:xgft,m=2x3,w=1x1,redundancy=2,speed=DDR,story=it.story";
    let record = ["--source", source, "record", "--interval", "5s", "--for", "25s"];
    run(&home, &[&record[..], &["--traps", "-o", "it.fdcap"]].concat(), 0);
    run(&home, &[&record[..], &["-o", "without.fdcap"]].concat(), 0);
    // Sweeps that wait for the silent take longer, so less than the whole time lies between the first and the last.
    let watch = ["hotspots", "--interval", "5s", "--count", "4"];
    let told = |source: &str, more: &[&str]| {
        traps(&json(&home, &[&["--source", source], &watch[..], more].concat(), 2))
    };
    let live = told(source, &["--traps"]);
    let numbers: Vec<u64> = live.iter().map(|(number, ..)| *number).collect();
    // Both switches at the cable that goes down report it, over the cable that is left.
    assert_eq!(numbers, [128, 128, 65, 64], "{live:?}");
    assert_eq!(told("it.fdcap", &[]), live);
    assert_eq!(told("without.fdcap", &[]), []);
    assert_eq!(told(source, &[]), []);
    let text = run(&home, &[&["--source", "it.fdcap"], &watch[..]].concat(), 2);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("65, a port is out of service: node2 HCA-1, 0x"), "{text}");
    run(&home, &["capture", "anonymize", "it.fdcap", "-o", "given.fdcap"], 0);
    let given = told("given.fdcap", &[]);
    assert_eq!(given.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), numbers);
    for ((_, node, port), (_, old_node, old_port)) in given.iter().zip(&live) {
        assert!(node != old_node && node.starts_with("0x02000000"), "{given:?}");
        assert!(old_port.is_empty() || (port != old_port && port.starts_with("0x02000000")), "{given:?}");
    }
}
