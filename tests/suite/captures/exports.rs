//! What other tools are given of a capture is what it holds.

use fabdeck_files::capture_format::CaptureReader;
use fabdeck_files::csv::read_row;
use serde_json::Value;
use tempfile::TempDir;

use super::commands::{json, recorded, run};
use super::sample_fabric::reference;

fn rows(home: &TempDir, source: &str, args: &[&str]) -> Value {
    json(home, &[&["--source", source], args].concat(), 0)["rows"].take()
}

/// One moment as ibnetdiscover and dump_lfts would have told it, read back.
#[test]
fn topology_and_tables_of_a_moment_come_back_as_they_were() {
    let home = recorded();
    std::fs::create_dir(home.path().join("moment")).unwrap();
    for (format, file) in [("ibnetdiscover", "moment/topology"), ("lfts", "moment/tables")] {
        run(&home, &["convert", "demo.fdcap", "--at", "-10s", "--to", format, "-o", file], 0);
    }
    for args in [
        &["show", "switches", "--fields", "name,guid,lid,ports,linked_ports"][..],
        &["show", "hosts", "--fields", "name,guid,port,lid,switch,switch_port"],
        &["show", "tables", "--fields", "switch,guid,routed,no_path,ports_used,top_lid"],
        &["show", "tables", "rack1-leaf"],
        &["show", "tables", "spine-2"],
        &["show", "links", "--fields", "a,a_port,b,b_port,width,speed,efi"],
    ] {
        let seen = rows(&home, "demo.fdcap", args);
        assert!(seen.as_array().is_some_and(|rows| rows.len() > 4), "{args:?}: {seen}");
        assert_eq!(rows(&home, "moment", args), seen, "{args:?}");
    }
}

#[test]
fn prometheus_text_of_a_moment_is_what_is_shown_of_it() {
    let home = recorded();
    run(&home, &["convert", "demo.fdcap", "--at", "-10s", "--to", "prometheus", "-o", "moment.prom"], 0);
    let shown = run(
        &home,
        &["--source", "demo.fdcap", "--at", "-10s", "show", "counters", "--format", "prometheus"],
        0,
    );
    let written = std::fs::read(home.path().join("moment.prom")).unwrap();
    assert!(written == shown.stdout && written.len() > 10_000);
    run(&home, &["convert", "demo.fdcap", "--to", "prometheus", "-o", "end.prom"], 0);
    assert!(std::fs::read(home.path().join("end.prom")).unwrap() != written, "time passes");
}

fn table(home: &TempDir, args: &[&str]) -> Vec<Vec<String>> {
    table_of(home, "demo.fdcap", args)
}

fn table_of(home: &TempDir, file: &str, args: &[&str]) -> Vec<Vec<String>> {
    let output = run(home, &[&["capture", "export", file], args, &["-o", "-"]].concat(), 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let mut cells = Vec::new();
        read_row(line, &mut cells).unwrap();
        cells.into_iter().map(|cell| cell.into_owned()).collect()
    };
    text.lines().map(row).collect()
}

#[test]
fn counters_over_time_are_those_of_each_moment() {
    let home = recorded();
    let all = table(&home, &["--from", "-20s", "--to", "-10s"]);
    let (title, lines) = all.split_first().unwrap();
    assert_eq!(title[..4], ["time", "guid", "port", "name"]);
    let times: std::collections::BTreeSet<&String> = lines.iter().map(|line| &line[0]).collect();
    assert_eq!(times.len(), 11);
    for time in [times.first().unwrap(), times.last().unwrap()] {
        let seen = json(&home, &["--source", "demo.fdcap", "--at", time, "show", "counters"], 0);
        let seen = seen["rows"].as_array().unwrap();
        let mine: Vec<&Vec<String>> = lines.iter().filter(|line| line[0] == **time).collect();
        assert!(mine.len() > 100 && mine.len() == seen.len(), "{} {}", mine.len(), seen.len());
        for (line, row) in mine.into_iter().zip(seen) {
            let who = format!("{}[{}]", line[3], line[2]);
            assert!(row.to_string().contains(&line[3]), "{who}: {row}");
            let counters = title[4..].iter().zip(&line[4..]).filter(|(_, value)| !value.is_empty());
            for (counter, value) in counters {
                assert_eq!(row[counter].to_string(), *value, "{who} {counter}");
            }
        }
    }
}

#[test]
fn rates_over_time_are_those_that_prometheus_is_given() {
    let home = recorded();
    let all = table(&home, &["--from", "-15s", "--to", "-10s", "--rates"]);
    let (title, lines) = all.split_first().unwrap();
    let last = &lines.last().unwrap()[0];
    let text = run(
        &home,
        &[
            "--source",
            "demo.fdcap",
            "--at",
            last,
            "show",
            "counters",
            "--format",
            "prometheus",
            "--interval",
            "1s",
        ],
        0,
    );
    let text = String::from_utf8(text.stdout).unwrap();
    let mine: Vec<&Vec<String>> = lines.iter().filter(|line| line[0] == *last).collect();
    assert!(mine.len() > 100 && lines.len() == 5 * mine.len(), "{} {}", mine.len(), lines.len());
    for line in mine {
        for (name, value) in title[4..].iter().zip(&line[4..]).filter(|(_, value)| !value.is_empty()) {
            let labels = format!("{name}{{guid=\"{}\",port=\"{}\",", line[1], line[2]);
            let told = text.lines().find(|told| told.contains(&labels)).unwrap_or_else(|| panic!("{labels}"));
            assert!(told.ends_with(&format!(" {value}")), "{told}: {value}");
        }
    }
}

/// Lines of the same time are one moment.
fn times(home: &TempDir, file: &str, args: &[&str]) -> Vec<String> {
    let mut times: Vec<String> =
        table_of(home, file, args).drain(1..).map(|mut line| line.swap_remove(0)).collect();
    times.dedup();
    times
}

/// The first moment of each recording has none, nor one behind a gap or behind one that is lost.
#[test]
fn rates_are_those_of_moments_that_follow_each_other() {
    let home = TempDir::new().unwrap();
    let whole = reference().bytes;
    let reader = CaptureReader::open("f", whole.as_slice()).unwrap();
    let slot = reader.frame_slot(reader.moments()[2]);
    let mut damaged = whole.clone();
    damaged[slot.offset as usize + slot.lead.packed as usize / 2] ^= 1;
    for (name, bytes) in
        [("whole", whole.clone()), ("joined", [whole.as_slice(), &whole].concat()), ("damaged", damaged)]
    {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    let all = times(&home, "whole", &[]);
    assert_eq!(all.len(), 10);
    let behind_no_gap = |place: &usize| ![0, 8].contains(place);
    let once: Vec<String> = (0..10).filter(behind_no_gap).map(|place| all[place].clone()).collect();
    assert_eq!(times(&home, "whole", &["--rates"]), once);
    assert_eq!(times(&home, "joined", &["--rates"]), [once.as_slice(), &once].concat());
    let seen = times(&home, "damaged", &[]);
    assert!(seen.len() < 10 && seen.contains(&all[1]) && !seen.contains(&all[2]), "{seen:?}");
    let follows =
        |place: &usize| behind_no_gap(place) && [place - 1, *place].iter().all(|at| seen.contains(&all[*at]));
    let told: Vec<String> = (0..10).filter(follows).map(|place| all[place].clone()).collect();
    assert_eq!(times(&home, "damaged", &["--rates"]), told);
    assert!(told.len() + 3 <= seen.len(), "{told:?} of {seen:?}");
}
