//! `reproduce`: the frame on cheap headlines, the list of all, and the page of all with `FABDECK_LONG=1`.

use std::fs;

use serde_json::Value;

use crate::studies::study_runs::StudyHome;

/// Every table and figure of the papers that has numbers: the rows of the plan of the reproduction.
const IDS: [&str; 50] = [
    "sftree-2",
    "sftree-3",
    "sftree-I",
    "sftree-6",
    "sftree-7a",
    "sftree-7b",
    "sftree-III",
    "sftree-IV",
    "sftree-7.2.3",
    "sftree-7.3",
    "dftree-5",
    "dftree-7",
    "dftree-9",
    "dftree-11",
    "dftree-II",
    "dftree-13",
    "dftree-I",
    "mlid-5",
    "mlid-7",
    "mlid-10",
    "mlid-1",
    "mlid-12",
    "opt-1",
    "opt-I",
    "opt-II",
    "opt-theorems",
    "domke-3.1",
    "domke-3.2",
    "domke-4.1",
    "domke-fig-4.2",
    "domke-4.2",
    "domke-6.1",
    "domke-4.3",
    "domke-4.4",
    "domke-4.5",
    "domke-4.6",
    "domke-4.7",
    "domke-6.2",
    "domke-5.1",
    "domke-5.2",
    "domke-5.8",
    "domke-5.9",
    "domke-5.12",
    "domke-5.13",
    "domke-5.3.3.1",
    "domke-5.3.3",
    "domke-6.3",
    "domke-6.10",
    "domke-6.11",
    "domke-6.12",
];

/// The authors' logs and their production system have no value here.
const WITHOUT_OUR_VALUE: [&str; 3] = ["domke-4.1", "domke-5.1", "domke-5.3.3.1"];

/// Headlines of a second together.
const CHEAP: [&str; 7] =
    ["sftree-2", "sftree-3", "dftree-I", "mlid-10", "domke-3.2", "domke-5.13", "domke-6.3"];

fn is_long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn every_table_and_figure_is_listed() {
    let list = json(&StudyHome::new().text(&["reproduce", "--list", "--json"]));
    let headlines = list["headlines"].as_array().unwrap();
    let ids: Vec<&str> = headlines.iter().map(|headline| text(headline, "id")).collect();
    assert_eq!(ids, IDS);
    for headline in headlines {
        assert!(["place", "shows", "inputs"].iter().all(|key| !text(headline, key).is_empty()), "{headline}");
    }
}

#[test]
fn cheap_headlines_hold_and_have_the_same_bytes_again() {
    let home = StudyHome::new();
    let args = [&["--no-times", "reproduce", "--quick", "--json"][..], &CHEAP].concat();
    let once = home.text(&args);
    assert_eq!(once, home.text(&args));
    let answer = json(&once);
    let rows = answer["rows"].as_array().unwrap();
    for id in CHEAP {
        assert!(rows.iter().any(|row| row["id"] == id && row["ours"].is_string()), "{id}");
    }
    for row in rows.iter().filter(|row| row["must"] == true) {
        assert_eq!(row["verdict"], "holds", "{row}");
    }
    // The one error of the paper among them is printed as a difference that is known.
    let wrong: Vec<&Value> = rows.iter().filter(|row| row["verdict"] == "differs").collect();
    assert!(wrong.len() == 1 && text(wrong[0], "row").starts_with("figure 6.6"), "{wrong:?}");
    assert!(text(wrong[0], "why").contains("error of the paper"));
    assert_eq!(answer["findings"], 0);
    assert_eq!(answer["headlines"], CHEAP.len());
}

#[test]
fn what_cannot_be_compared_says_why_and_a_paper_names_its_headlines() {
    let home = StudyHome::new();
    let logs = json(&home.text(&["reproduce", "domke-4.1", "--json"]));
    let row = &logs["rows"][0];
    assert_eq!((text(row, "verdict"), row["ours"].is_null()), ("cannot be compared", true), "{row}");
    assert!(text(row, "why").contains("logs"), "{row}");
    let list = json(&home.text(&["reproduce", "mlid", "--list", "--json"]));
    assert_eq!(list["headlines"].as_array().unwrap().len(), 5);
    let unknown = home.command(&["reproduce", "opt-9"]).output().unwrap();
    let error = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!(unknown.status.code(), Some(64), "{error}");
    assert!(error.contains("FD-9460") && error.contains("opt-I"), "{error}");
}

#[test]
fn a_folder_has_the_page_and_the_tables() {
    let home = StudyHome::new();
    home.run(&["--no-times", "reproduce", "dftree-I", "domke-5.1", "-o", "results"]);
    let read = |name: &str| fs::read_to_string(home.path("results").join(name)).unwrap();
    let page = read("reproduction.md");
    for wanted in [
        "# Reproduction",
        "## dftree-I",
        "| 100000 | 100000 | equal, must | holds |",
        "cannot be compared: the authors' logs",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert_eq!(read("reproduction.csv").lines().count(), 4);
    assert_eq!(read("reproduction.jsonl").lines().count(), 3);
}

/// `docs/reproduction.md` is the page of `reproduce --quick --no-times`; with `FABDECK_UPDATE_DOCS=1` it is written.
#[test]
fn the_page_of_the_docs_is_that_of_a_quick_run() {
    if !is_long() {
        return;
    }
    let home = StudyHome::new();
    let run = home.command(&["--no-times", "reproduce", "--quick", "-o", "page"]).output().unwrap();
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    let page = fs::read_to_string(home.path("page").join("reproduction.md")).unwrap();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md");
    if std::env::var("FABDECK_UPDATE_DOCS").is_ok_and(|update| update == "1") {
        fs::write(docs, &page).unwrap();
    }
    assert_eq!(run.status.code(), Some(0), "{error}");
    assert_eq!(page, fs::read_to_string(docs).unwrap());
    let rows = fs::read_to_string(home.path("page").join("reproduction.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(json).collect();
    for id in IDS {
        let has_value = rows.iter().any(|row| row["id"] == id && row["ours"].is_string());
        // Times are left out of the page.
        let is_time = ["sftree-IV", "sftree-7.3", "domke-5.3.3"].contains(&id);
        assert_eq!(has_value, !WITHOUT_OUR_VALUE.contains(&id) && !is_time, "{id}");
    }
}
