//! Lines that are typed, and what is said of those that cannot be taken.

use super::command_lines::{carried_out, hops};
use super::fixture::{appearance, frame, open_session, text};
use super::session_replay::replay;
use super::test_session::TestSession;
use fabdeck::catalogue::exit::Exit;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::details::ElementDetail;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::prompt::Purpose;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Mono)))
}

fn last_message(driver: &TestSession) -> &str {
    driver.state.messages.last().map_or("", |message| message.text.as_str())
}

fn filter(driver: &TestSession) -> (&str, usize) {
    let table = driver.state.current().table();
    (&table.filter, table.selection.rows.len())
}

#[test]
fn a_filter_is_typed_anew_and_the_one_before_can_be_had() {
    let mut driver = open_session("sim:demo");
    driver.press("V / leaf enter /");
    let line = |driver: &TestSession| driver.state.prompt.as_ref().unwrap().text.clone();
    assert_eq!((line(&driver).as_str(), filter(&driver)), ("", ("leaf", 6)));
    assert!(
        shown(&driver).contains("leaf stays") && shown(&driver).contains("up edit"),
        "{}",
        shown(&driver)
    );
    driver.press("enter");
    assert_eq!(filter(&driver), ("leaf", 6), "Enter keeps it");
    driver.press("/ s p");
    assert_eq!(filter(&driver), ("sp", 3), "what is typed takes its place");
    driver.press("esc");
    assert_eq!(filter(&driver), ("leaf", 6));
    driver.press("/ up");
    assert_eq!(line(&driver), "leaf");
    driver.press("backspace enter");
    assert_eq!(filter(&driver).0, "lea");
    driver.press("/ x ctrl-u enter");
    assert_eq!(filter(&driver).1, 9, "an emptied line shows all");
    driver.press("? / tour enter / enter");
    assert!(shown(&driver).contains("Take the tour") && !shown(&driver).contains("One row up"));
}

#[test]
fn a_prefix_without_a_match_is_refused_at_once() {
    let mut driver = open_session("sim:demo");
    driver.press("5 enter nosuchnode enter");
    let prompt = driver.state.prompt.as_ref().map(|prompt| (prompt.purpose, prompt.text.clone()));
    assert_eq!(prompt, Some((Purpose::From, "nosuchnode".to_owned())), "the same is asked again");
    assert!(last_message(&driver).contains("no node is called 'nosuchnode'"), "{}", last_message(&driver));
    assert!(shown(&driver).contains("from      nosuchnode"), "{}", shown(&driver));
    driver.press("node01 enter node24 enter");
    assert!(driver.state.screens.paths.trace.is_some());
    driver.press(":trace space nosuchnode enter");
    assert!(driver.state.prompt.is_none() && last_message(&driver).contains("nosuchnode"));
}

#[test]
fn hints_about_names_are_shown_for_typed_keys_only() {
    for keys in ["5 enter zzzzzz enter", ":mark space zzzzzz enter", "5 enter node01 enter zzzzzz enter"] {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        let said = last_message(&driver);
        assert!(said.contains("FD-1102") && said.contains("Tab completes names"), "{keys}: {said}");
        assert!(!said.contains("show switches"), "{keys}: {said}");
    }
}

#[test]
fn a_plan_needs_the_name_of_a_file() {
    let mut driver = open_session("sim:demo");
    driver.press("3 f :preview space updn enter down w ctrl-u enter");
    assert!(driver.written.is_empty());
    assert!(
        last_message(&driver).contains("name a file that does not exist yet"),
        "{}",
        last_message(&driver)
    );
}

#[test]
fn a_row_that_is_selected_gives_way_to_the_next() {
    for keys in ["V", "V V", "3", "down"] {
        let mut driver = open_session("sim:demo");
        driver.press("g").press(keys);
        let before = driver.state.current().table().cursor;
        driver.press("space space");
        let table = driver.state.current().table();
        assert_eq!((table.cursor, table.selected.len()), (before + 2, 2), "{keys}");
    }
}

#[test]
fn details_speak_in_words() {
    let driver = open_session("sim:demo");
    let numbers = ElementDetail::fabric_lines(driver.state.snapshot().unwrap());
    assert!(
        numbers.iter().any(|(label, count)| *label == "between switches" && count == "36"),
        "{numbers:?}"
    );
    assert!(numbers.iter().all(|(label, _)| !label.contains('_')), "{numbers:?}");
}

/// The lines of a path under a proposal, run in a folder of their own.
fn followed(driver: &TestSession) -> (usize, Vec<String>) {
    let line = driver.copied.last().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("updn.plan").display().to_string();
    let lines: Vec<String> = line.split("; ").map(|line| line.replace("updn.plan", &plan)).collect();
    if let (1, Some((_, text))) = (lines.len(), driver.written.last()) {
        std::fs::write(&plan, text).unwrap();
    }
    let mut answers = lines.iter().map(|line| carried_out(line)).collect::<Vec<_>>();
    let (exit, json) = answers.pop().unwrap();
    assert_eq!(exit, Exit::Done, "{line}");
    let nodes = json["rows"].as_array().unwrap().iter().map(|hop| hop["node"].as_str().unwrap().to_owned());
    (lines.len(), nodes.collect())
}

#[test]
fn a_path_under_a_proposal_is_the_one_that_its_lines_print() {
    let mut driver = open_session("sim:demo");
    // Without the switch that the path takes now it goes another way.
    driver.press("5 enter node01 enter node24 enter");
    let lost = hops(&driver);
    driver.press(":mark space").send_input(SessionInput::Paste(format!(" {}", lost[2]))).press("enter");
    driver.press(":preview space updn enter 5 V c");
    assert!(driver.copied.last().is_some(), "{}", last_message(&driver));
    assert_ne!(hops(&driver), lost);
    assert_eq!(followed(&driver), (2, hops(&driver)), "{:?}", driver.copied);
    driver.press("6 down w enter 5 c");
    assert_eq!(driver.written.last().unwrap().0, std::path::Path::new("updn.plan"));
    assert_eq!(followed(&driver), (1, hops(&driver)), "{:?}", driver.copied);
    // A plan for other marks is no help.
    driver.press("6 F :preview space updn enter 5 V");
    if driver.state.screens.paths.under.is_none() {
        driver.press("V");
    }
    driver.press("c");
    assert!(driver.copied.last().unwrap().contains("-o updn-2.plan; "), "{:?}", driver.copied);
}

#[test]
fn the_line_of_what_if_names_the_engines_as_they_are_listed() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.press(
        "3 / kind=switch-switch enter f :preview space updn,minhop,ftree enter :sort space engine enter S c",
    );
    assert_eq!(driver.state.screen, ScreenId::Whatif);
    let line = driver.copied.last().unwrap().clone();
    let engines = |line: &str| -> Vec<String> {
        let (_, json) = carried_out(line);
        json["engines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["engine"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(engines(&line), ["updn", "minhop", "ftree"], "{line}");
    driver.press("/ minhop enter c");
    let line = driver.copied.last().unwrap().clone();
    assert_eq!(engines(&line), ["minhop"], "{line}");
    // Who is named twice is asked once.
    assert_eq!(engines(&line.replace("minhop", "minhop,ftree,minhop")), ["minhop", "ftree"]);
}

#[test]
fn options_of_the_session_are_replayed() {
    let mut driver = open_session("sim:demo");
    driver.state.options = vec![("--node-name-map".to_owned(), "my names".to_owned())];
    driver.events[0] =
        serde_json::to_string(&fabdeck::console::event_loop::event::SessionHeader::from_state(&driver.state))
            .unwrap();
    driver.press("3 f").send_input(SessionInput::Tick);
    let look = driver.state.snapshot().unwrap().clone();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    assert_eq!(again.last_line, driver.state.last_line);
    assert!(again.last_line.unwrap().contains("--node-name-map 'my names'"));
    // What was written before options were is read as it was.
    let older = driver.events[0].replace(",\"options\":[[\"--node-name-map\",\"my names\"]]", "");
    assert_ne!(older, driver.events[0]);
    assert!(replay(&look, [older.as_str()]).is_ok());
}
