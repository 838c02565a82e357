//! The screen Timeline and what is seen of Hot-spots on a narrow terminal: nothing that somebody looks for is cut away.

use std::path::Path;

use super::fixture::{appearance, frame, look, text};
use super::replays::{last_message, playback, played, settings, watched_every};
use super::test_session::TestSession;
use super::watches::swept;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::chart_time::chart_history;
use fabdeck::console::features::health::health_model::ChartWindow;
use fabdeck::console::features::screen::Screen;
use fabdeck::console::features::timeline::event_rows::EventRow;
use fabdeck::console::features::timeline::strips::StripQuantity;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::replay::changed_words::changed_words;
use fabdeck_fabric::{NO_PATH, NodeId};

fn incident(name: &str, width: u16, height: u16) -> TestSession {
    let file = Path::new(env!("FABDECK_ROOT")).join(format!("captures/{name}/{name}.fdcap"));
    let mut driver = played(&file, None);
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver
}

pub fn screen_text(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

/// Without the blanks that lines are broken at.
fn run_on(text: &str) -> String {
    text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A long text is cut in the list, and whole below it, beside it and on its page.
#[test]
fn the_event_under_the_cursor_is_shown_in_full() {
    for (width, height) in [(80, 24), (200, 60)] {
        let mut driver = incident("credit-loop", width, height);
        driver.press("0 / b y = r e c o r d e r enter g");
        let event = driver.state.screens.timeline.event().unwrap().clone();
        assert!(event.text.len() > 100, "{}", event.text);
        let page = {
            driver.press("d");
            let page = screen_text(&driver);
            driver.press("esc");
            page
        };
        for part in [event.text.as_str(), "recorder", "sample"] {
            assert!(run_on(&page).contains(part), "{part}: {page}");
        }
        assert!(!page.contains("The fabric"), "{page}");
        let list = screen_text(&driver);
        let beside: Vec<&str> = list.lines().map(|line| line.rsplit('│').nth(1).unwrap_or(line)).collect();
        let words: Vec<&str> = event.text.split_whitespace().collect();
        match width {
            80 => assert!(
                run_on(&list).contains(&format!("{}: {}", event.label, words[..12].join(" "))),
                "{list}"
            ),
            _ => {
                let pane = run_on(&beside.join("\n"));
                assert!(
                    pane.contains(&words[words.len() - 3..].join(" ")) && pane.contains("recorder"),
                    "{list}"
                );
            }
        }
    }
    // What counters came to says so.
    let mut driver = incident("incast", 80, 24);
    driver.press("0 / by=counters enter g d");
    let page = run_on(&screen_text(&driver));
    assert!(page.contains("derived from the recording") && page.contains("PortXmitWait"), "{page}");
}

/// What counters came to enters the list later, and the cursor is where it would be had it all been there.
#[test]
fn the_cursor_stays_at_its_time() {
    let mut driver = incident("credit-loop", 120, 40);
    driver.press("0");
    let table = |driver: &TestSession| {
        let table = driver.state.screens.timeline.table().clone();
        (table.cursor, table.selection.rows.len())
    };
    let (cursor, rows) = table(&driver);
    assert_eq!(cursor + 1, rows, "at the last moment it is the last event");
    // A bookmark enters it too.
    driver.press("g");
    let event = driver.state.screens.timeline.event().cloned();
    driver.press(":bookmark enter");
    assert_eq!((driver.state.screens.timeline.event().cloned(), table(&driver).1), (event, rows + 1));
}

/// The sign of the cursor goes over the axis from left to right, moment by moment.
#[test]
fn the_sign_of_the_cursor_goes_over_the_axis() {
    let mut driver = incident("incast", 80, 24);
    driver.press("0");
    let count = playback(&driver).timeline().times.len();
    driver.press(":at space -9h enter");
    let mut before = 0;
    for place in 0..count - 1 {
        assert_eq!(playback(&driver).place(), place);
        let frame = screen_text(&driver);
        let line = frame.lines().find(|line| line.contains('▼')).unwrap_or_else(|| panic!("{frame}"));
        let column = line.chars().position(|sign| sign == '▼').unwrap();
        assert!(column >= before, "{place}: {line}");
        before = column;
        driver.press("]");
    }
    assert!(before > 70, "{before}");
    assert!(!screen_text(&driver).contains('▼'), "at the end there is none");
}

#[test]
fn hot_spots_have_their_part_of_the_time_on_a_narrow_terminal() {
    let mut driver = incident("incast", 80, 24);
    driver.press("4 g");
    let frame = screen_text(&driver);
    assert!(frame.contains(" WAIT %  8 SWEEPS ") && frame.contains(" 93  ████"), "{frame}");
    assert!(!frame.contains("TICKS/S"), "ticks say less than the part of the time: {frame}");
    driver.press("V g");
    let frame = screen_text(&driver);
    assert!(
        frame.contains(" WAIT %  TICKS/S▼ 8 SWEEPS") && frame.contains(" 93 "),
        "sorted by ticks: {frame}"
    );
    driver.press("d");
    assert!(
        run_on(&screen_text(&driver)).contains("2,909,960,000 ticks/s"),
        "details have all digits: {}",
        screen_text(&driver)
    );
}

/// What a line leaves out is said before it.
#[test]
fn a_line_says_what_it_does_not_do() {
    let mut driver = incident("incast", 80, 24);
    driver.press("4 c");
    assert!(last_message(&driver).starts_with("copied: fabdeck "), "{}", last_message(&driver));
    driver.press("/ leaf enter c");
    assert!(last_message(&driver).starts_with("copied (without the filter, "), "{}", last_message(&driver));
    driver.press("V / leaf enter c");
    assert!(
        last_message(&driver).starts_with("copied (without filter and order, "),
        "{}",
        last_message(&driver)
    );
    driver.press("esc c");
    assert!(last_message(&driver).starts_with("copied (without the order, "), "{}", last_message(&driver));
    driver.press("3 / leaf enter c");
    assert!(
        last_message(&driver).starts_with("copied: fabdeck "),
        "links have it: {}",
        last_message(&driver)
    );
}

/// A host that does not answer is seen in the tree, in its group, in its details and in the numbers of the fabric, and
/// the word is the same everywhere.
#[test]
fn a_silent_host_is_seen_on_the_fabric() {
    let mut driver = incident("silent-host", 120, 40);
    let silent = {
        let fabric = driver.state.snapshot().unwrap().fabric();
        fabric.nodes().find(|(_, node)| !node.facts.answered).map(|(id, _)| id)
    };
    if silent.is_none() {
        driver.press("0 g enter");
    }
    let look = driver.state.snapshot().unwrap().clone();
    let (id, _) = look.fabric().nodes().find(|(_, node)| !node.facts.answered).unwrap();
    driver.press("2 G");
    let tree = screen_text(&driver);
    assert!(tree.contains("1 no answer"), "the group of hosts: {tree}");
    driver.press("enter / ").press(&look.name(id).chars().map(String::from).collect::<Vec<_>>().join(" "));
    let tree = screen_text(&driver);
    driver.press("enter g d");
    let page = screen_text(&driver);
    assert!(tree.matches("no answer").count() >= 1, "{tree}");
    assert!(page.contains("no answer"), "{page}");
    let numbers = fabdeck::console::features::details::ElementDetail::fabric_lines(&look);
    assert!(numbers.contains(&("no answer", "1".to_owned())), "{numbers:?}");
    assert!(numbers.iter().all(|(label, _)| !["silent", "unanswered"].contains(label)), "{numbers:?}");
}

/// What is to be done stands first in a message: at 80 columns the end of it may be cut.
#[test]
fn advice_is_not_cut() {
    let mut driver = incident("silent-host", 80, 24);
    for (keys, advice) in [
        (":save space a.fdcap enter", "'fabdeck capture cut' takes parts of this capture"),
        (":at space noon enter", "write 02:13:40, or -5m before the end"),
    ] {
        driver.press(keys);
        assert!(screen_text(&driver).contains(advice), "{}", screen_text(&driver));
    }
}

/// The recorder says only that something changed; what differs is compared.
#[test]
fn a_change_of_the_fabric_is_named() {
    let before = look("sim:demo");
    assert_eq!(changed_words(&before, &before), None, "the same list of jobs again is no event");
    let mut observation = before.observation.clone();
    let switches: Vec<NodeId> = before.fabric().switches().map(|(id, _)| id).collect();
    for switch in &switches[..4] {
        observation.tables.node_mut(*switch).lft.as_mut().unwrap().set_from(1, &[NO_PATH, NO_PATH]);
    }
    let guid = before.fabric().node(switches[8]).guid();
    observation.names.by_guid.insert(guid, "renamed".to_owned());
    let after = Snapshot::new("sim:demo", observation.clone(), &observation.names);
    let words = changed_words(&before, &after).unwrap();
    assert!(words.starts_with("tables of ") && words.contains(" and 1 more ("), "{words}");
    assert!(words.contains(" entries)") && words.contains("names: renamed"), "{words}");
}

/// A recording in which jobs were read again, and nothing else changed, has no event of it.
#[test]
fn what_did_not_change_is_no_event() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calm.fdcap");
    let (mut driver, writing) = watched_every("sim:demo", &file, settings());
    swept(&mut driver, 8);
    writing.borrow_mut().take().unwrap().finish(1_795_313_900_000).unwrap();
    let mut driver = played(&file, None);
    driver.press("0");
    let changed = |row: &&EventRow| row.label == "changed";
    let rows = driver.state.screens.timeline.events();
    assert_eq!(rows.iter().filter(changed).count(), 0, "{rows:?}");
}

/// The window of the charts begins no earlier than the recording, wherever the cursor in time goes.
#[test]
fn the_window_of_a_recording_begins_with_its_first_moment() {
    let mut driver = incident("failed-link", 120, 40);
    driver.state.known.problems.window = ChartWindow::fitting(0);
    driver.press("0 :at space -9h enter");
    let playback = playback(&driver);
    assert_eq!(playback.place(), 0);
    let length = playback.at_ms(playback.timeline().times.len() - 1) - playback.at_ms(0);
    assert!(length > 61_000, "longer than the window: {length}");
    let first = i64::try_from(playback.at_ms(0)).unwrap();
    let window = driver.state.screens.timeline.strips.window.unwrap();
    assert!(window.from_ms + 2000 > first, "{} {first}", window.from_ms);
}

/// Of several events of a moment, the message is about the one that the list has the cursor on.
#[test]
fn the_message_is_about_the_event_of_the_cursor() {
    for capture in ["incast", "spine-failure", "flapping-link"] {
        let mut driver = incident(capture, 120, 40);
        driver.press("0 g");
        for at in 0..driver.state.screens.timeline.events().len() {
            driver.press("enter");
            let event = driver.state.screens.timeline.event().unwrap().clone();
            let wanted = &driver.state.screens.timeline.events()[at];
            assert_eq!(event, *wanted, "{capture}: enter leaves the cursor on its event");
            let message = last_message(&driver);
            assert!(message.contains(&event.text), "{capture} {at}: {event:?}: {message}");
            driver.press("down");
        }
    }
}

/// A moment can have several events: the key for the next one leads to the worst of them.
#[test]
fn the_next_event_is_the_worst_of_its_moment() {
    for capture in ["incast", "spine-failure", "flapping-link"] {
        let mut driver = incident(capture, 120, 40);
        driver.press("0 g enter");
        for _ in 0..12 {
            driver.press("n");
            let timeline = &driver.state.screens.timeline;
            let event = timeline.event().unwrap();
            let same = timeline.events().iter().filter(|other| other.place == event.place);
            let worst = same.map(|other| other.kind).min().unwrap();
            assert_eq!(event.kind, worst, "{capture}: {event:?}");
        }
    }
}

/// The offer of Hot-spots and the moves of Lanes are counted by one function.
#[test]
fn hot_spots_offer_as_many_flows_as_lanes_moves() {
    let mut driver = incident("incast", 120, 40);
    driver.press("4");
    let offered = screen_text(&driver);
    let flows = driver.state.known.lanes.relief.proposed();
    assert!(flows > 0 && offered.contains(&format!("{flows} flows to the slow lane")), "{flows}: {offered}");
    driver.press("p");
    let moves = screen_text(&driver);
    assert!(moves.contains(&format!("{flows} flows would move to the slow lane")), "{flows}: {moves}");
}

/// One key leads to the worst moment, and the list of events to what was worst then.
#[test]
fn the_worst_moment_is_a_key_away() {
    for name in ["incast", "flapping-link"] {
        let mut driver = incident(name, 120, 40);
        driver.press("0 : w o r s t enter");
        assert!(last_message(&driver).starts_with("the worst moment, "), "{name}: {}", last_message(&driver));
        let history = &playback(&driver).timeline().times;
        assert!(playback(&driver).place() < history.len());
        let place = playback(&driver).place();
        driver.press("] ] w");
        assert_eq!(playback(&driver).place(), place, "{name}");
        let (at_ms, worst) = chart_history(&driver.state.known).worst_moment().unwrap();
        assert_eq!(playback(&driver).place_at(at_ms), place, "{name}: {worst:?}");
    }
}

/// Ports with errors have rows among those that wait.
#[test]
fn ports_with_errors_rank_among_those_that_wait() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut driver = incident("flapping-link", width, height);
        driver.press("0");
        let ports = &driver.state.screens.timeline.strips.ports;
        let errors = ports.iter().filter(|strip| strip.quantity == StripQuantity::Errors).count();
        assert!(errors > 0 && errors <= ports.len(), "{width}: {ports:?}");
        let screen = screen_text(&driver);
        let strip = ports.iter().find(|strip| strip.quantity == StripQuantity::Errors).unwrap();
        let label = &strip.label[..strip.label.len().min(5)];
        assert!(screen.lines().any(|line| line.contains(label) && line.contains("/s")), "{label}: {screen}");
    }
}
