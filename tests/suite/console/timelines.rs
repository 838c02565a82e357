//! The screen Timeline and what is seen of Hot-spots on a narrow terminal: nothing that somebody looks for is cut away.

use std::path::Path;

use super::fixture::{appearance, frame, text};
use super::replays::{last_message, playback, played};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::screen::Screen;
use fabdeck::console::model::layout::Size;

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
        for part in [event.text.as_str(), "recorder", "moment"] {
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
    for view in ["4 g", "V g"] {
        driver.press(view);
        let frame = screen_text(&driver);
        assert!(frame.contains(" WAIT  WAITED ") && frame.contains(" 93  ████"), "{frame}");
        assert!(!frame.contains("WAIT/S"), "ticks say less than the part of the time: {frame}");
    }
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
