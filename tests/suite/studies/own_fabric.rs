//! A fabric of one's own: what the next failures would do to it.

use std::fs;

use super::study_runs::StudyHome;

#[test]
fn a_source_is_stored_once_and_every_process_uses_it() {
    let home = StudyHome::new();
    home.run(&["generate", "kary,k=3,n=2", "-o", "site.topo"]);
    // Without a study it is the one of the package.
    let run = home.text(&["--source", "site.topo", "study", "run", "-o", "named", "--limit", "1ms"]);
    assert!(run.contains("next-failures"), "{run}");
    let next = home.text(&["study", "show", "next-failures"]);
    let less =
        next.replace("1..10", "1..2").replace("lanes = [8]", "lanes = [8]\nuse = [\"dfsssp\", \"updn\"]");
    fs::write(home.path("less.toml"), less).unwrap();
    home.run(&["--source", "site.topo", "study", "run", "less.toml", "-o", "own"]);
    let table = home.table("own");
    // The first reading counts: the file may change or go.
    fs::remove_file(home.path("site.topo")).unwrap();
    home.run(&["study", "run", "own"]);
    assert!(home.table("own") == table);
    let other = home.run(&["--source", "sim:demo", "study", "run", "own"]);
    assert!(String::from_utf8(other.stderr).unwrap().contains("not what --source names now"));
    assert!(home.table("own") == table);
    let lost = home.text(&[
        "study",
        "table",
        "own",
        "--filter",
        "pattern=lost",
        "--filter",
        "link_faults=4",
        "--json",
    ]);
    let lost: serde_json::Value = serde_json::from_str(&lost).unwrap();
    let rows = lost["rows"].as_array().unwrap();
    let pairs = |row: &serde_json::Value| row["lost_pairs"].as_u64().unwrap();
    assert!(rows.iter().any(|row| row["status"] == "done" && pairs(row) > 0), "{lost}");
    assert!(rows.iter().all(|row| row["topology"].as_str().unwrap().starts_with("source@")), "{lost}");
    // The same fabric by another file has the same cells; another fabric has others.
    home.run(&["generate", "kary,k=3,n=2", "-o", "again.topo"]);
    home.run(&["--source", "again.topo", "study", "run", "less.toml", "-o", "again"]);
    assert!(home.table("again") == table);
}

#[test]
fn failures_by_rate_a_year_are_those_of_the_years() {
    let home = StudyHome::new();
    home.run(&["generate", "kary,k=4,n=3", "-o", "site.topo"]);
    let study = "name = \"years\"\n[[topology]]\nfile = \"site.topo\"\n[faults]\nlinks_a_year = \"1%\"\nswitches_a_year = \"1%\"\n\
                 years = [0, 2, 8]\n[engines]\nuse = [\"updn\"]\n[[measure]]\nkind = \"routes\"\n";
    fs::write(home.path("years.toml"), study).unwrap();
    home.run(&["study", "run", "years.toml", "-o", "out"]);
    let rows = home.text(&["study", "table", "out", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
    let counts: Vec<_> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["link_faults"].clone(), row["switch_faults"].clone()))
        .collect();
    // 128 links and 48 switches; rounded down, one at least.
    assert_eq!(serde_json::to_string(&counts).unwrap(), "[[0,0],[2,1],[10,3]]");
}
