//! `show partitions` and `show groups`, and pairs that partitions keep apart in `check`.

use serde_json::Value;

use super::binary::{fabdeck as program, home};

/// The answer of a command as JSON or text, its exit code, and what it wrote besides.
fn run(args: &[&str]) -> (String, i32, String) {
    let ended = program(&home()).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(ended.stdout), ended.status.code().unwrap(), text(ended.stderr))
}

fn json(args: &[&str]) -> (Value, i32) {
    let (text, code, said) = run(&[args, &["--json"]].concat());
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {said}")), code)
}

/// A file of two partitions beside the default one, which has limited members only.
fn partition_file(folder: &tempfile::TempDir) -> String {
    let file = folder.path().join("partitions.conf");
    let text = "Default=0x7fff : SELF=full ;\n\
                storage=0x10, defmember=full : 0x0002c90300000001, 0x0002c90300000011=limited, ALL_SWITCHES ;\n";
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn rows(source: &str, more: &[&str]) -> Vec<Value> {
    let (rows, _) = json(&[&["--source", source, "show", "partitions"][..], more].concat());
    rows["rows"].as_array().unwrap().clone()
}

#[test]
fn members_have_names_and_ports_without_a_key_have_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let source = format!(
        "sim:kary,k=2,n=2,partitions={file},pkeys-absent=node2,pkeys-empty=node3,pkeys-enforce=leaf0,pkeys-off=leaf1"
    );
    let all = rows(&source, &["--fields", "pkey,node,port,member,at_switch,enforced"]);
    let of = |node: &str| -> Vec<String> {
        let rows = all.iter().filter(|row| row["node"] == node);
        let word = |row: &Value, field: &str| row[field].as_str().unwrap_or("-").to_owned();
        rows.map(|row| ["pkey", "member", "at_switch", "enforced"].map(|field| word(row, field)).join(" "))
            .collect()
    };
    assert_eq!(
        of("node0 HCA-1"),
        ["0x0010 full passes both", "0x7fff full passes both"],
        "the manager is a full member"
    );
    assert_eq!(of("node1 HCA-1"), ["0x0010 limited passes both", "0x7fff limited passes both"]);
    assert_eq!(of("node2 HCA-1"), ["- absent off off"]);
    assert_eq!(of("node3 HCA-1"), ["- empty off off"]);
    assert_eq!(of("spine1"), ["0x0010 full - -", "0x7fff limited - -"]);
    let limited = rows(&source, &["--filter", "pkey=0x0010,member=limited"]);
    assert_eq!((limited.len(), &limited[0]["node"]), (1, &Value::from("node1 HCA-1")));
    let lacking = source.replace("pkeys-enforce", "pkeys-lack");
    let dropped = rows(&lacking, &["--filter", "at_switch=drops"]);
    assert!(dropped.len() == 2 && dropped.iter().all(|row| row["pkey"] == "0x0010"), "{dropped:?}");
    // A silent device makes the answer partial, and an absent table does not.
    let (whole, _) = json(&["--source", &source, "show", "partitions"]);
    let (silent, _) =
        json(&["--source", &source.replace("pkeys-absent", "pkeys-silent"), "show", "partitions"]);
    assert!(silent["rows"].as_array().unwrap().iter().any(|row| row["member"] == "did not answer"));
    assert_eq!((&whole["partial"], &silent["partial"]), (&Value::from(false), &Value::from(true)));
}

#[test]
fn check_counts_pairs_that_partitions_keep_apart_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let plain = "sim:kary,k=2,n=2";
    let (report, _) = json(&["--source", plain, "check"]);
    assert_eq!((&report["kept_apart"], &report["pairs"]), (&Value::from(0), &Value::from(12)));
    assert_eq!(report["partitions_from"], "P_Key tables");
    let (text, code, _) = run(&["--source", plain, "check"]);
    assert!(code == 0 && !text.contains("partition"), "{text}");

    // node0, the manager's host, reaches all; node1 to node3 are limited members, and reach node0 alone.
    let source = format!("{plain},partitions={file}");
    for (from, args) in [
        ("P_Key tables", vec!["--source", &source, "check"]),
        ("partitions.conf", vec!["--source", plain, "check", "--partitions", &file]),
    ] {
        let (report, code) = json(&args);
        assert_eq!((&report["pairs"], &report["kept_apart"]), (&Value::from(6), &Value::from(6)), "{from}");
        assert_eq!(
            (&report["unreachable"], &report["partitions"]),
            (&Value::from(0), &Value::from(2)),
            "{from}"
        );
        assert_eq!((report["partitions_from"].as_str(), code), (Some(from), 0));
    }
    let (text, code, said) = run(&["--source", &source, "check"]);
    assert!(
        text.contains("kept apart    6 pairs by partitions: neither lost nor counted as pairs"),
        "{text}"
    );
    assert!(code == 0 && !text.contains("partial"), "{text} {said}");
    // A port without a known table keeps no pair apart, and the report says so.
    let (text, _, _) = run(&["--source", &format!("{source},pkeys-absent=node3"), "check"]);
    assert!(text.contains("kept apart    2 pairs"), "{text}");
    assert!(text.contains("the P_Key tables of 1 port, which count as in every partition"), "{text}");
}

/// `check` and `whatif` count the same pairs, and JSON and text of `whatif` say how many are kept apart.
#[test]
fn whatif_counts_the_pairs_that_check_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let plain = "sim:kary,k=2,n=2";
    let source = format!("{plain},partitions={file}");
    for (named, more) in [(source.as_str(), vec![]), (plain, vec!["--partitions", &file]), (plain, vec![])] {
        let of = |command: &[&str]| json(&[&["--source", named][..], command, &more].concat()).0;
        let check = of(&["check"]);
        let whatif = of(&["whatif", "--fail", "host:node0", "--engine", "minhop", "--no-times"]);
        assert_eq!(whatif["pairs"], check["pairs"], "{named} {more:?}");
        assert_eq!(
            whatif["kept_apart"].as_u64().unwrap_or(0),
            check["kept_apart"].as_u64().unwrap(),
            "{named} {more:?}"
        );
        // All pairs of limited members are with the full member that fails.
        let pairs = check["pairs"].as_u64().unwrap();
        let lost = whatif["lost_until_reroute"].as_u64().unwrap();
        assert_eq!(lost, 6, "{whatif}");
        assert_eq!(whatif["cut_off_pairs"], 6);
        let engine = &whatif["engines"][0]["certificate"];
        assert_eq!(engine["pairs"].as_u64().unwrap(), pairs - 6, "{engine}");
    }
    // A port without a known table keeps no pair apart, and the answer says so.
    let absent = format!("{source},pkeys-absent=node3");
    let (text, ..) = run(&["--source", &absent, "whatif", "--fail", "host:node1", "--engine", "minhop"]);
    assert!(text.contains("of 10 pairs"), "{text}");
    assert!(text.contains("the P_Key tables of 1 port, which count as in every partition"), "{text}");
    let (text, ..) = run(&["--source", &source, "whatif", "--fail", "host:node1", "--engine", "minhop"]);
    assert!(text.contains("2 of 6 pairs (33.3 %)"), "{text}");
    assert!(text.contains("kept apart  6 pairs by partitions: neither lost nor counted as pairs"), "{text}");
}

/// A member whose packets its switch port drops shares a partition with no one.
#[test]
fn check_counts_pairs_whose_packets_switch_ports_drop_as_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("partitions.conf");
    std::fs::write(&file, "Default=0x7fff : ALL=limited, SELF=full ;\nall=0x0005 : ALL=full ;\n").unwrap();
    let source = format!("sim:kary,k=2,n=2,partitions={}", file.display());
    let (report, _) = json(&["--source", &source, "check"]);
    let (lacking, _) = json(&["--source", &format!("{source},pkeys-lack=all"), "check"]);
    let count = |report: &Value, key: &str| report[key].as_u64().unwrap();
    assert!(
        count(&report, "dropped_partitions") == 0 && count(&lacking, "dropped_partitions") > 0,
        "{lacking}"
    );
    assert!(count(&lacking, "kept_apart") > count(&report, "kept_apart"), "{report} {lacking}");
    assert_eq!(
        count(&lacking, "pairs") + count(&lacking, "kept_apart"),
        count(&report, "pairs") + count(&report, "kept_apart")
    );
    let (text, _, _) = run(&["--source", &format!("{source},pkeys-lack=all"), "check"]);
    assert!(text.contains("switch ports drop the packets of "), "{text}");
    // Where every port refuses its table, none is known.
    let (text, _, _) = run(&["--source", &format!("{source},pkeys-absent=all"), "check"]);
    assert!(text.contains("the P_Key tables of ") && !text.contains("kept apart"), "{text}");
}

#[test]
fn a_recording_shows_the_partitions_that_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let source = format!("sim:kary,k=2,n=2,partitions={file},pkeys-absent=node2,pkeys-lack=all");
    let capture = folder.path().join("it.fdcap").display().to_string();
    let (_, code, said) =
        run(&["--source", &source, "record", "--partitions", "-o", &capture, "--for", "3s"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(rows(&capture, &[]), rows(&source, &[]));
    let anonymous = folder.path().join("anonymous.fdcap").display().to_string();
    let (_, code, said) = run(&["capture", "anonymize", &capture, "-o", &anonymous]);
    assert_eq!(code, 0, "{said}");
    let words = |rows: Vec<Value>| -> Vec<[Value; 3]> {
        rows.iter().map(|row| ["pkey", "member", "at_switch"].map(|field| row[field].clone())).collect()
    };
    let (mut known, mut hidden) = (words(rows(&capture, &[])), words(rows(&anonymous, &[])));
    known.sort_by_key(|row| format!("{row:?}"));
    hidden.sort_by_key(|row| format!("{row:?}"));
    assert_eq!(known, hidden);
}

#[test]
fn groups_have_names_and_members_by_name() {
    let plain = "sim:kary,k=2,n=2";
    let rows = |source: &str| {
        let (answer, _) = json(&[
            "--source",
            source,
            "show",
            "groups",
            "--fields",
            "mlid,group,mgid,pkey,node,port,state,tree",
        ]);
        answer["rows"].as_array().unwrap().clone()
    };
    let live = rows(plain);
    assert_eq!(live.len(), 4);
    for (number, row) in (0..).zip(&live) {
        let expected = serde_json::json!({
            "mlid": "0xc000", "group": "IPoIB broadcast", "mgid": "ff12:401b:ffff::ffff:ffff", "pkey": "0x7fff",
            "node": format!("node{number} HCA-1"), "port": 1, "state": "joined", "tree": true
        });
        assert_eq!(*row, expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("it.fdcap").display().to_string();
    let (_, code, said) = run(&["--source", plain, "record", "--partitions", "-o", &capture, "--for", "2s"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(rows(&capture), live);
    let bare = folder.path().join("bare.fdcap").display().to_string();
    run(&["--source", plain, "record", "-o", &bare, "--for", "2s"]);
    assert!(rows(&bare).is_empty(), "without --partitions the manager is not asked");
}

/// What `check` counts, `health`, `report` and the problems of cables count too.
#[test]
fn health_and_reports_leave_out_pairs_that_partitions_keep_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let fabric = "sim:kary,k=2,n=2,speed=xdr,planes=2,plane-down=leaf0/3";
    let apart = format!("{fabric},partitions={file}");
    let (check, _) = json(&["--source", &apart, "check"]);
    let expected = check["kept_apart"].as_u64().unwrap();
    let health = |source: &str| json(&["--source", source, "health", "--interval", "1s"]).0;
    let (split, whole) = (health(&apart), health(fabric));
    assert!(expected > 0, "{check}");
    assert_eq!(
        (&split["checked"]["kept_apart"], &whole["checked"]["kept_apart"]),
        (&expected.into(), &Value::Null)
    );
    let paths = |health: &Value| health["problems"][0]["paths"].as_u64().unwrap();
    assert!(paths(&split) < paths(&whole), "{split} {whole}");
    let (text, ..) = run(&["--source", &apart, "health", "--interval", "1s"]);
    assert!(text.contains(&format!("\nkept apart  {expected} pairs by partitions")), "{text}");
    let page = folder.path().join("report.html").display().to_string();
    run(&["--source", &apart, "report", "--interval", "1s", "-o", &page]);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains(&format!("partitions keep {expected} pairs apart")), "{}", page.len());
}

/// The step that verifies tables counts the pairs that `check` counts.
#[test]
fn a_runbook_verifies_the_pairs_that_share_a_partition() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("sim:kary,k=2,n=2,partitions={}", partition_file(&folder));
    let book = folder.path().join("book.toml").display().to_string();
    std::fs::write(&book, "name = \"v\"\nsummary = \"s\"\n[[step]]\nverify = true\n").unwrap();
    let (check, _) = json(&["--source", &source, "check"]);
    let pairs = check["pairs"].as_u64().unwrap();
    let (text, code, said) = run(&["--source", &source, "run", &book]);
    assert!(pairs < 12 && code == 0, "{check} {said}");
    assert!(text.contains(&format!("0 of {pairs} pairs lost")), "{text} {said}");
}

/// A manager gives no path record for pairs without a common partition, so none is asked for, and nothing is missing.
#[test]
fn pairs_that_a_file_keeps_apart_are_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = partition_file(&folder);
    let source = format!("sim:kary,k=2,n=2,partitions={file}");
    let (check, _) = json(&["--source", &source, "check", "--partitions", &file]);
    let notes = check["notes"].to_string();
    assert!(check["partial"] == false && !notes.contains("FN-531"), "{notes}");
    assert!(check["kept_apart"].as_u64().unwrap() > 0, "{check}");
}
