//! The screen Hot-spots: the backlog as a tree, the proof beside it, and the way from one hot-spot to the next.

use super::fixture::{appearance, frame, text};
use super::test_session::TestSession;
use super::watches::{SENT, WAIT, incast, quiet, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::observe::Counter;

/// Two hosts receive too slowly, the one in the first rack more so.
fn two_spots(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let mut counted = incast(second);
    counted.extend([("rack3-leaf", 1, WAIT, 700_000 * second), ("rack3-leaf", 1, SENT, 1_000_000 * second)]);
    counted
}

fn shown(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

/// The column of a text in the row that has it first.
fn column(all: &str, text: &str) -> usize {
    let row = all.lines().find(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}: {all}"));
    row.split(text).next().unwrap().chars().count()
}

#[test]
fn ports_that_wait_hang_below_the_next_one_on_their_path() {
    let mut driver = watching(incast);
    swept(&mut driver, 8);
    driver.press("4");
    for (width, height) in [(120, 40), (200, 60)] {
        let all = shown(&mut driver, width, height);
        assert!(all.contains("Backlog of node01"), "{all}");
        let [spot, root, behind] = ["◆ node01", "└─ rack1-leaf[2]", "└─ spine-1[2]"];
        let columns = [spot, root, behind].map(|text| column(&all, text));
        assert!(columns[0] == columns[1] && columns[1] < columns[2], "{columns:?} {all}");
        assert!(all.contains("from") && all.contains("node10"), "{all}");
        assert!(all.contains("contributor") && all.contains("sends hot-spots over 5 %"), "{all}");
    }
    let small = shown(&mut driver, 80, 24);
    assert!(small.contains("Backlog of node01") && small.contains("spine-1[2]"), "{small}");
    assert!(!small.contains("└─"), "a low screen has the backlog in two rows: {small}");
}

#[test]
fn brackets_lead_to_the_next_hot_spot() {
    let mut driver = watching(two_spots);
    swept(&mut driver, 8);
    driver.press("4");
    assert!(shown(&mut driver, 120, 40).contains("Backlog of node01"));
    driver.press(")");
    let second = shown(&mut driver, 120, 40);
    assert!(second.contains("2 of 2 hot-spots") && second.contains("─ rack3-leaf[1]"), "{second}");
    // The choice stays with the next reading.
    swept(&mut driver, 1);
    assert!(shown(&mut driver, 120, 40).contains("2 of 2 hot-spots"));
    driver.press(")");
    assert!(shown(&mut driver, 120, 40).contains("1 of 2 hot-spots"));
}

#[test]
fn without_a_hot_spot_the_list_has_all_rows() {
    let mut driver = watching(quiet);
    swept(&mut driver, 4);
    driver.press("4");
    let all = shown(&mut driver, 120, 40);
    assert!(!all.contains("Backlog") && all.contains("Ports that wait") && all.contains("quiet"), "{all}");
    driver.press(")");
    assert!(shown(&mut driver, 120, 40).contains("no adapter is a hot-spot"));
}

#[test]
fn what_would_help_has_keys_that_work() {
    let mut driver = watching(incast);
    swept(&mut driver, 8);
    driver.press("4");
    let all = shown(&mut driver, 120, 40);
    for words in ["What would help", "to the slow lane", "trace a path from"] {
        assert!(all.contains(words), "{words}: {all}");
    }
    driver.press("p");
    assert_eq!(driver.state.screen, ScreenId::Lanes);
    driver.press("4");
    let has_job = shown(&mut driver, 120, 40).contains(" J job ");
    driver.press("J");
    assert_eq!(driver.state.screen == ScreenId::Jobs, has_job);
}
