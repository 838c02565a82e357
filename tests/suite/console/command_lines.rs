//! The command line that does the same: what it prints is what the screen shows.

use std::ffi::OsString;

use super::fixture::{appearance, frame, open_session, text};
use super::test_session::TestSession;
use fabdeck::catalogue::exit::Exit;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::script::run::{CliResult, run};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;

/// Splits as a shell does, as far as copied lines need it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for sign in line.chars() {
        match sign {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            sign => word.push(sign),
        }
    }
    words.push(word);
    words
}

pub fn carried_out(line: &str) -> (Exit, serde_json::Value) {
    let args =
        words(line).into_iter().chain(["--json".to_owned(), "--no-times".to_owned()]).map(OsString::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = run(args, &LocalSystemAccess::default(), &TerminalInfo::default(), &mut out, &mut err);
    let CliResult::Exit(exit) = ended else { panic!("{line} opened a console") };
    let json = serde_json::from_slice(&out)
        .unwrap_or_else(|e| panic!("{line}: {e}: {}", String::from_utf8_lossy(&err)));
    (exit, json)
}

/// The first column of the list on the screen, row by row.
pub fn first_column(driver: &TestSession) -> Vec<String> {
    let state = &driver.state;
    let listing = state.current().listing(&state.known).unwrap();
    let table = state.current().table();
    table.selection.rows.iter().map(|row| listing.cell(*row, 0).display_text().into_owned()).collect()
}

/// The nodes of the path on the screen.
pub fn hops(driver: &TestSession) -> Vec<String> {
    let state = &driver.state;
    let listing = state.current().listing(&state.known).unwrap();
    (0..listing.row_count()).map(|row| listing.cell(row, 1).display_text().into_owned()).collect()
}

#[test]
fn lists_are_what_their_lines_print() {
    for keys in [
        "V c",
        "V / leaf enter s s S c",
        "V V c",
        "3 c",
        "3 / kind=switch-switch enter s s s S c",
        "3 / width<4x enter c",
        "V / ~spn enter c",
        "3 / efi>50 enter c",
        "3 / kind=switch-switch enter down down U c",
        "3 / kind=switch-switch enter U s s s S c",
    ] {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        let line = driver.copied.last().unwrap_or_else(|| panic!("{keys} copied nothing")).clone();
        let (exit, json) = carried_out(&line);
        assert_eq!(exit, Exit::Done, "{line}");
        let first = json["rows"].as_array().unwrap_or_else(|| panic!("{line}: {json}"));
        let id = driver.state.current().listing(&driver.state.known).unwrap().column(0).id.to_string();
        let printed: Vec<String> = first.iter().map(|row| row[&id].as_str().unwrap().to_owned()).collect();
        assert_eq!(printed, first_column(&driver), "{line}");
    }
}

#[test]
fn what_marks_cost_is_what_the_line_prints() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.press("3 / kind=switch-switch enter f down f 6 :preview space ftree,minhop enter c");
    let line = driver.copied.last().unwrap().clone();
    let (_, json) = carried_out(&line);
    let cost = driver.state.known.cost.as_ref().unwrap();
    assert_eq!(json["lost_until_reroute"], cost.lost.pairs, "{line}");
    assert_eq!(json["cut_off_pairs"], cost.lost.critical, "{line}");
    let engines: Vec<&str> =
        json["engines"].as_array().unwrap().iter().map(|row| row["engine"].as_str().unwrap()).collect();
    assert_eq!(engines, ["ftree", "minhop"], "{line}");
    assert!(cost.lost.pairs > 0);
}

#[test]
fn a_plan_is_the_one_that_its_line_writes() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.press("3 / kind=switch-switch enter f 6 :preview space updn enter");
    driver.press("down w");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("console.plan");
    // The name that is offered goes, and another is typed.
    driver.press("ctrl-u");
    driver.send_input(SessionInput::Paste(file.display().to_string()));
    driver.press("enter");
    let (to, written) = driver.written.last().cloned().expect("a plan was written");
    assert_eq!(to, file);
    let line = driver.state.last_line.clone().unwrap();
    carried_out(&line);
    let by_line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let by_console: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(by_line, by_console, "{line}");
    // On the page of the engine, c copies the line that writes its plan.
    driver.press("enter c");
    assert!(
        driver.copied.last().unwrap().contains("route --engine updn --fail"),
        "{:?}",
        driver.copied.last()
    );
}

/// A topology without tables: routes and certificates come, costs against tables in force are not known, and the plan is the
/// command's.
#[test]
fn a_topology_without_tables_needs_no_assumption() {
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("new.net");
    carried_out(&format!("fabdeck generate kary,k=3,n=2 -o {}", topology.display()));
    let mut driver = open_session(topology.to_str().unwrap());
    driver.press("6 :preview space updn enter down");
    let shown = text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
    assert!(shown.contains("pairs without a path not known: no tables in force"), "{shown}");
    driver.press("enter");
    let page = text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
    for line in ["loops         none", "no tables in force, so what would change is not known"] {
        assert!(page.contains(line), "{page}");
    }
    let file = folder.path().join("new.plan");
    driver.press("esc w ctrl-u");
    driver.send_input(SessionInput::Paste(file.display().to_string()));
    driver.press("enter");
    let (_, written) = driver.written.last().cloned().expect("a plan was written");
    let line = driver.state.last_line.clone().unwrap();
    carried_out(&line);
    let by_line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let by_console: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(by_line, by_console, "{line}");
}

#[test]
fn a_path_is_the_one_that_its_line_prints() {
    let mut driver = open_session("sim:demo");
    driver.press("5 enter node01 enter node24 enter c");
    let line = driver.copied.last().unwrap().clone();
    let (exit, json) = carried_out(&line);
    assert_eq!(exit, Exit::Done);
    let printed: Vec<&str> =
        json["rows"].as_array().unwrap().iter().map(|hop| hop["node"].as_str().unwrap()).collect();
    assert_eq!(printed, hops(&driver), "{line}");
}

/// A name that a plan went to is not offered again: it would be refused.
#[test]
fn plans_are_offered_names_that_are_free() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.press("3 / kind=switch-switch enter f 6 :preview space updn enter down");
    for name in ["updn.plan", "updn-2.plan"] {
        driver.press("w");
        assert_eq!(driver.state.prompt.as_ref().unwrap().text, name);
        driver.press("enter");
        assert_eq!(driver.written.last().unwrap().0, std::path::Path::new(name));
    }
    driver.press("enter c");
    assert!(driver.copied.last().unwrap().ends_with("-o updn-3.plan"), "{:?}", driver.copied.last());
}

/// What a session was opened with is needed to see the same again; of keys it is the file that holds them.
#[test]
fn options_of_the_session_stand_in_its_lines() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.state.options = [("--node-name-map", "my names"), ("--mkey-file", "/etc/keys")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .to_vec();
    driver.press("3 c");
    let line = driver.copied.last().unwrap();
    let begin = "fabdeck --source sim:kary,k=3,n=2 --node-name-map 'my names' --mkey-file /etc/keys ";
    assert!(line.starts_with(begin), "{line}");
    // Something that the process has to tell is a message like others, and is written down.
    driver.send_input(SessionInput::Message("an adapter is there".to_owned()));
    assert_eq!(driver.state.messages.last().unwrap().text, "an adapter is there");
    assert!(driver.events.last().unwrap().contains("an adapter is there"));
}
