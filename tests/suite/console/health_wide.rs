//! Health on a wide screen, the mark of its cursor, the time that titles name, and the clock of the header.

use super::fixture::{appearance, frame, open_session};
use super::health::demo;
use super::test_session::TestSession;
use super::watches::{shown, swept};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::event_loop::update::next_wake_ms;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::watch::history_clock::HistoryClock;

fn resized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    shown(driver)
}

#[test]
fn a_wide_screen_has_the_map_where_it_is_drawn_as_lines() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    let screen = resized(&mut driver, 200, 60);
    assert!(screen.contains("─ Map ─") && screen.contains("│rack1-leaf│"), "{screen}");
    assert!(screen.contains("─ Cables ─") && screen.contains("─ Watch ─"), "{screen}");
    let mut large = open_session("sim:kary,k=6,n=3");
    large.press("1");
    let screen = resized(&mut large, 200, 60);
    assert!(!screen.contains("─ Map ─") && screen.contains("─ Cables ─"), "{screen}");
}

/// How long a port has waited is as much worth as that it waits.
#[test]
fn a_wide_list_of_waits_has_their_history() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    let screen = resized(&mut driver, 200, 60);
    let row = screen.lines().find(|row| row.contains("hot-spot │")).unwrap_or_else(|| panic!("{screen}"));
    let pane = row.split('│').find(|pane| pane.contains("hot-spot")).unwrap();
    let between = pane.split('%').nth(1).unwrap();
    let is_dots = |sign: char| ('\u{2801}'..='\u{28ff}').contains(&sign);
    assert!(between.chars().any(is_dots), "{row}");
    // It is drawn where names, gauges and roles have their room.
    assert!(pane.contains('━') && pane.contains("rack6-leaf[5]"), "{row}");
    let narrow = resized(&mut driver, 120, 40);
    let row = narrow.lines().find(|row| row.contains("━") && row.contains(" % ")).unwrap_or_default();
    assert!(!row.chars().any(is_dots), "{narrow}");
}

#[test]
fn a_pane_without_rows_takes_the_mark_of_the_cursor_with_the_keys() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    resized(&mut driver, 200, 60);
    let marked = |driver: &TestSession| {
        let cursor = appearance("dark", ColorDepth::True).theme.style(Role::Cursor);
        let frame = frame(&driver.state, &appearance("dark", ColorDepth::True));
        // Below the cards, which keep their mark.
        frame.content.iter().skip(200 * 31).filter(|cell| Some(cell.bg) == cursor.bg).count()
    };
    driver.press("tab");
    assert!(marked(&driver) > 0, "{}", shown(&driver));
    while driver.state.focused_pane() != "cables" {
        driver.press("tab");
    }
    assert_eq!(marked(&driver), 0, "{}", shown(&driver));
}

/// Seconds of watching are no hour.
#[test]
fn titles_say_the_time_that_was_watched() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    let title = driver
        .state
        .known
        .problems
        .ranked
        .as_ref()
        .unwrap()
        .problems
        .iter()
        .map(|problem| problem.title.as_str())
        .find(|title| title.contains("errors"));
    let title = title.expect("a cable with errors");
    assert!(title.ends_with("in 15 s"), "{title}");
}

#[test]
fn the_header_has_the_minute_and_wakes_with_the_next() {
    let mut driver = open_session("sim:demo");
    assert!(next_wake_ms(&driver.state).is_none_or(|at| at > 60_000), "no clock, no wake");
    let clock = HistoryClock { at_ms: 0, unix_ms: 1_700_000_050_000, utc_offset_s: 0 };
    driver.state.known.clock = Some(clock);
    let now_ms = driver.state.now_ms;
    assert_eq!(next_wake_ms(&driver.state), Some(now_ms + 60_000 - (now_ms + 10_000) % 60_000));
    assert!(shown(&driver).lines().next().unwrap().trim_end().ends_with("22:14"), "{}", shown(&driver));
}
