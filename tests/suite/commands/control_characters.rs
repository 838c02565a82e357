//! Names from a fabric that hold control characters: none reaches a terminal, a table, metrics or JSON as it is.

use super::binary::{fabdeck, home};

/// A C1 control that begins a sequence, a mark that turns the direction, and the beginning of a formula.
const EVIL: &str = "=1+1\u{9b}31m\u{202e}leaf";

fn output(home: &tempfile::TempDir, args: &[&str]) -> String {
    let ended = fabdeck(home).args(args).output().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 2)), "{args:?}: {ended:?}");
    format!("{}{}", String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn names_with_control_characters_act_nowhere() {
    let home = home();
    let topology = output(&home, &["convert", "sim:demo", "--to", "ibnetdiscover", "-o", "-"]);
    assert!(topology.contains("rack1-leaf"));
    std::fs::write(home.path().join("evil.topo"), topology.replace("rack1-leaf", EVIL)).unwrap();
    let source = ["--source", "evil.topo"];
    for args in [
        &["show", "switches"][..],
        &["show", "links", "--json"],
        &["show", "switches", "--json"],
        &["check", "--json", "--assume", "minhop"],
        &["check", "--assume", "minhop"],
        &["route", "--engine", "updn", "-o", "-"],
        &["trace", "node01", "node12", "--assume", "minhop"],
    ] {
        let text = output(&home, &[&source, args].concat());
        let acts = |sign: char| sign.is_control() && sign != '\n' || sign == '\u{202e}';
        assert!(!text.contains(acts), "{args:?}: {text:?}");
    }
    for format in ["ibnetdiscover", "ibsim"] {
        let text = output(&home, &["convert", "evil.topo", "--to", format, "-o", "-"]);
        assert!(
            text.contains("=1+1 31m leaf") && !text.contains(['\u{9b}', '\u{202e}']),
            "{format}: {text:?}"
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&output(&home, &["--source", "evil.topo", "show", "switches", "--json"]))
            .unwrap();
    let names: Vec<&str> =
        json["rows"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&EVIL), "whoever reads the JSON has the name as it is: {names:?}");
    let csv = |more: &[&str]| {
        output(&home, &[&["convert", "evil.topo", "--to", "csv", "-o", "-"][..], more].concat())
    };
    let table = csv(&[]);
    assert!(table.contains("'=1+1\\u{9b}31m\\u{202e}leaf") && !table.contains(EVIL), "{table}");
    assert!(csv(&["--raw-cells"]).contains(EVIL));
    let metrics = output(&home, &["convert", "evil.topo", "--to", "prometheus", "-o", "-"]);
    assert!(!metrics.contains(['\u{9b}', '\u{202e}']), "{metrics}");
}
