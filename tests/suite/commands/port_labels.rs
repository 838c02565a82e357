//! Labels of ports and places of nodes: from a sheet, from files of ibdiagnet, and by the rules of models; how tables show
//! them, and how arguments name ports by them.

use std::path::Path;

use serde_json::Value;

use super::test_system::{CommandResult, fabdeck};
use fabdeck::catalogue::exit::Exit;

const LABELLED: [&str; 4] = ["--source", "small", "--labels", "sheet.csv"];

fn run(args: &[&str]) -> CommandResult {
    fabdeck(&[&LABELLED[..], args].concat())
}

fn rows(result: &CommandResult) -> Vec<Value> {
    let answer: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|error| panic!("{error}: {}", result.err));
    answer["rows"].as_array().cloned().unwrap_or_else(|| panic!("no rows: {}", result.out))
}

fn row<'r>(rows: &'r [Value], pairs: &[(&str, Value)]) -> &'r Value {
    let wanted = |row: &&Value| pairs.iter().all(|(key, value)| row[*key] == *value);
    rows.iter().find(wanted).unwrap_or_else(|| panic!("no {pairs:?} in {rows:?}"))
}

#[test]
fn tables_have_a_column_of_labels_where_some_are_known() {
    for (view, columns) in
        [("ports", " LABEL "), ("links", " LABEL "), ("modules", " LABEL "), ("switches", " PLACE ")]
    {
        let plain = fabdeck(&["--source", "small", "show", view]);
        assert!(!plain.out.contains(columns.trim()), "{view}: {}", plain.out);
        let shown = run(&["show", view]);
        assert!(
            shown.out.lines().next().is_some_and(|head| head.contains(columns.trim())),
            "{view}: {}",
            shown.out
        );
    }
    let ports = rows(&run(&["show", "ports", "--json"]));
    let leaf = row(&ports, &[("node", "leaf0".into()), ("number", 1.into())]);
    assert_eq!((&leaf["label"], &leaf["label_from"]), (&"2/1".into(), &"sheet".into()));
    let host = row(&ports, &[("node", "h0".into()), ("number", 1.into())]);
    assert_eq!((&host["label"], &host["peer_label"]), (&Value::Null, &"2/1".into()));
    let links = rows(&run(&["show", "links", "--json", "--filter", "a=leaf0"]));
    let link = row(&links, &[("a", "leaf0".into()), ("a_port", 2.into())]);
    assert_eq!((&link["a_label"], &link["b_label"]), (&"2/2".into(), &Value::Null));
    let switches = rows(&run(&["show", "switches", "--json"]));
    assert_eq!(row(&switches, &[("name", "leaf0".into())])["place"], "rack B7, U 31");
    // A filter takes labels as any other field.
    assert_eq!(rows(&run(&["show", "ports", "--json", "--filter", "label=2/2"])).len(), 1);
}

#[test]
fn a_line_that_fits_nothing_is_named_and_takes_no_other() {
    let shown = run(&["show", "ports"]);
    assert!(shown.err.contains("FN-710") && shown.err.contains("sheet.csv:4"), "{}", shown.err);
    assert!(shown.err.contains("no node is called 'nothing'"), "{}", shown.err);
}

#[test]
fn a_port_is_named_by_its_label() {
    let number = run(&["whatif", "--fail", "leaf0[1]", "--json", "--no-times"]);
    for text in ["leaf0[2/1]", "link:leaf0[2/1]", "leaf0/2/1", "port:leaf0[2/1]"] {
        let label = run(&["whatif", "--fail", text, "--json", "--no-times"]);
        assert_eq!(label.exit, number.exit, "{text}: {}", label.err);
        if !text.starts_with("port:") {
            assert_eq!(label.out, number.out, "{text}");
        }
    }
    let traced = run(&["trace", "port:leaf0[2/1]", "h1"]);
    assert!(!traced.err.contains("FD-1101"), "{}", traced.err);
    let unknown = run(&["whatif", "--fail", "leaf0[9/9]"]);
    assert_eq!(unknown.exit, Exit::Usage, "{}", unknown.err);
    assert!(
        unknown.err.contains("FD-1106: leaf0 has no port with the label '9/9'; its labels: 2/1, 2/2"),
        "{}",
        unknown.err
    );
    let bare = fabdeck(&["--source", "small", "whatif", "--fail", "leaf1[9/9]"]);
    assert!(bare.err.contains("no label of its ports is known: name the port by its number"), "{}", bare.err);
}

#[test]
fn a_filter_takes_a_port_by_its_label() {
    let found = |view: &str, text: &str| rows(&run(&["show", view, "--json", "--filter", text]));
    for text in ["leaf0[2/1]", "LEAF0[2/1]", "port:leaf0[2/1]", "leaf0/2/1", "leaf0[1]", "\"leaf0[2/1]\""] {
        if text.starts_with("LEAF0") {
            // Names are compared with their case, as in every other place.
            assert!(found("ports", text).is_empty());
            continue;
        }
        let links = found("links", text);
        assert_eq!(links.len(), 1, "{text}: {links:?}");
        let link = &links[0];
        assert!(
            [("a", "a_port"), ("b", "b_port")]
                .iter()
                .any(|(node, port)| link[*node] == "leaf0" && link[*port] == 1),
            "{text}: {link}"
        );
        // The port itself, and the port at the other end of its cable.
        let ports = found("ports", text);
        let names: Vec<_> =
            ports.iter().map(|row| (row["node"].as_str().unwrap(), row["number"].clone())).collect();
        assert_eq!(names, [("leaf0", 1.into()), ("h0", 1.into())], "{text}");
        assert_eq!(found("hosts", text).len(), 1, "{text}");
    }
    // Either end of a cable between switches names it, though the element of its row has one of them.
    let [one, other] = ["leaf0[5]", "spine0[1]"].map(|text| found("links", text));
    assert!(one.len() == 1 && one == other, "{one:?} {other:?}");
    assert!(found("links", "leaf0[9/9]").is_empty());
    let counted = rows(&run(&["show", "counters", "--json", "--filter", "leaf0[2/2]"]));
    assert_eq!((counted.len(), &counted[0]["label"]), (1, &"2/2".into()));
}

#[test]
fn labels_stand_beside_the_ports_of_trace_check_counters_and_whatif() {
    let traced = run(&["trace", "h0", "h2"]);
    let head = traced.out.lines().next().unwrap_or_default();
    assert!(head.contains("PEER LABEL") && traced.out.contains("2/1"), "{}", traced.out);
    let bare = run(&["trace", "leaf0[2/1]", "h2"]);
    assert!(bare.exit == traced.exit && bare.out.contains("leaf0"), "{} {}", bare.out, bare.err);
    assert!(run(&["trace", "leaf0[9/9]", "h2"]).err.contains("FD-1106"));
    let counters = run(&["show", "counters"]);
    assert!(counters.out.contains(" LABEL ") && counters.out.contains("2/2"), "{}", counters.out);
    let failed = run(&["whatif", "--fail", "leaf0[2/2]", "--no-times"]);
    assert!(failed.out.contains("link:leaf0[2] (2/2)"), "{}", failed.out);
    // JSON has the name that commands take.
    let failed = run(&["whatif", "--fail", "leaf0[2/2]", "--no-times", "--json"]);
    assert!(failed.out.contains("[\"link:leaf0[2]\"]"), "{}", failed.out);
    // Two switches of a model with labels, in a ring with credit loops.
    let source = "sim:torus,dims=5,labels=all";
    let home = super::binary::home();
    let args = ["--source", source, "check", "--json"];
    let checked = super::binary::fabdeck(&home).args(args).output().unwrap();
    let text = String::from_utf8(checked.stdout).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    for field in ["cycle", "busiest"] {
        assert!(report[field].to_string().contains("] (1/1/"), "{field}: {}", report[field]);
    }
}

fn on_folder(args: &[&str]) -> std::process::Output {
    let home = super::binary::home();
    let folder = Path::new(env!("FABDECK_ROOT")).join("tests/fixtures/ibdiagnet");
    super::binary::fabdeck(&home).arg("--source").arg(folder).args(args).output().unwrap()
}

fn folder_rows(args: &[&str]) -> Vec<Value> {
    let output = on_folder(args);
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    answer["rows"].as_array().cloned().unwrap()
}

#[test]
fn files_of_ibdiagnet_have_labels_and_partitions() {
    let ports = folder_rows(&["show", "ports", "--json"]);
    let label = |node: &str, number: u64| {
        let row = row(&ports, &[("node", node.into()), ("number", number.into())]);
        (row["label"].as_str().unwrap_or("-").to_owned(), row["label_from"].clone())
    };
    // PORT_HIERARCHY_INFO, .net_dump, .net_dump_ext.
    assert_eq!(label("leaf1", 1), ("1/1/1".to_owned(), "file".into()));
    assert_eq!(label("leaf2", 3), ("1/3/1".to_owned(), "file".into()));
    assert_eq!(label("spine1", 2).0, "1/2/1");
    assert_eq!(label("n1 mlx5_0", 1).0, "B177D0F0/0/0/1");
    let switches = folder_rows(&["show", "switches", "--json"]);
    assert_eq!(row(&switches, &[("name", "leaf1".into())])["place"], "rack R7, U 12");
    // The table PKEY.
    let partitions = folder_rows(&["show", "partitions", "--json"]);
    assert!(!partitions.is_empty(), "{partitions:?}");
    let check = on_folder(&["whatif", "--fail", "leaf1[1/2/1]"]);
    assert!(!String::from_utf8_lossy(&check.stderr).contains("FD-1"), "{check:?}");
}

/// Two switches of a model with a rule for labels, with a cable between their ports 3.
const QUANTUM: &str = "\
vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0xa1\nswitchguid=0xa1(a1)\n\
Switch\t65 \"S-00000000000000a1\"\t\t# \"MF0;q1:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n\
[3]\t\"S-00000000000000a2\"[3]\t\t# \"MF0;q2:MQM9700/U1\" lid 2 4xNDR\n\n\
vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0xa2\nswitchguid=0xa2(a2)\n\
Switch\t65 \"S-00000000000000a2\"\t\t# \"MF0;q2:MQM9700/U1\" enhanced port 0 lid 2 lmc 0\n\
[3]\t\"S-00000000000000a1\"[3]\t\t# \"MF0;q1:MQM9700/U1\" lid 1 4xNDR\n";

#[test]
fn a_guess_is_marked_and_a_command_that_takes_it_says_so() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("q.ibnetdiscover");
    std::fs::write(&file, QUANTUM).unwrap();
    let home = super::binary::home();
    let run =
        |args: &[&str]| super::binary::fabdeck(&home).arg("--source").arg(&file).args(args).output().unwrap();
    let shown = String::from_utf8(run(&["show", "links"]).stdout).unwrap();
    assert!(shown.contains("1/2/1?"), "{shown}");
    let ports = String::from_utf8(run(&["show", "ports", "--json"]).stdout).unwrap();
    assert!(ports.contains("\"label\":\"1/2/1?\"") && ports.contains("\"label_from\":\"guess\""), "{ports}");
    let failed = run(&["whatif", "--fail", "MF0;q1:MQM9700/U1[1/2/1]"]);
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains("the label 1/2/1 is a guess by the rule of its model"), "{said}");
    // The number of the port says nothing of a guess.
    let said = String::from_utf8(run(&["whatif", "--fail", "MF0;q1:MQM9700/U1[3]"]).stderr).unwrap();
    assert!(!said.contains("guess"), "{said}");
}

/// A label stands beside each port number of a table, where one is known.
#[test]
fn every_table_with_ports_has_their_labels() {
    let home = super::binary::home();
    let shown = |source: &str, args: &[&str]| {
        let output = super::binary::fabdeck(&home).args(["--source", source]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let columns: &[(&[&str], &[&str])] = &[
        (&["show", "hosts"], &["SWITCH LABEL"]),
        (&["show", "lanes"], &["LABEL"]),
        (&["show", "tables", "leaf0"], &["LABEL", "NEXT LABEL"]),
        (&["show", "users", "leaf0[4]"], &["OVER LABEL"]),
        (&["show", "partitions"], &["LABEL"]),
        (&["show", "groups"], &["LABEL"]),
        (&["jobs", "channels"], &["FROM LABEL", "TO LABEL"]),
    ];
    for (args, titles) in columns {
        let [with, without] =
            ["sim:kary,k=3,n=2,labels=all", "sim:kary,k=3,n=2"].map(|source| shown(source, args));
        let head = with.lines().next().unwrap_or_default();
        assert!(titles.iter().all(|title| head.contains(title)) && with.contains("1/1/"), "{args:?}: {with}");
        assert!(!without.contains("LABEL") && !without.is_empty(), "{args:?}: {without}");
    }
}
