//! What a watch draws: its history over a look, shares of time, errors beyond their threshold.

use super::fixture::{appearance, frame, open_session, text};
use super::session_replay::replay;
use super::test_session::TestSession;
use super::watches::{WAIT, counted, incast, messages, node, shown, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::chart_time::latest_ms;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::PortNum;
use fabdeck_fabric::observe::Counter;

/// What every port did stays over another look, which is what follows an apply; and the verdict until the next.
#[test]
fn history_stays_over_a_look() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    let levels = |driver: &TestSession| {
        let leaf = node(driver.state.snapshot().unwrap(), "rack1-leaf");
        let port = driver.state.snapshot().unwrap().fabric().port_of(leaf, PortNum(2)).unwrap();
        driver.state.known.watch.history.port_levels(port, 100).collect::<Vec<_>>()
    };
    let before = levels(&driver);
    assert!(!before.is_empty());
    driver.press("4 r").send_input(SessionInput::Resized(Size { width: 200, height: 60 }));
    assert_eq!((driver.state.known.watch.sweeps, levels(&driver)), (0, before.clone()));
    let seen = shown(&driver);
    assert!(seen.contains("hot-spot") && seen.contains("before the source was read again"), "{seen}");
    swept(&mut driver, 3);
    assert!(shown(&driver).contains("3 sweeps in "), "{}", shown(&driver));
    let after = levels(&driver);
    assert!(after.len() > before.len() && after.starts_with(&before), "{after:?}");
    assert_eq!(counted(&driver, "hot-spot: node01"), 1, "{:?}", messages(&driver));
}

/// Bars grow with the share of time, and nothing of a row that waits 0 % is in a colour that says otherwise.
#[test]
fn waiting_is_drawn_by_its_share_of_time() {
    fn shares(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        // A tick of the demo is 0.32 ns: 0.06, 29 and 90 percent of the time.
        vec![
            ("rack1-leaf", 2, WAIT, 2_000_000 * second),
            ("node10 mlx5_0", 1, WAIT, 900_000_000 * second),
            ("node11 mlx5_0", 1, WAIT, 2_800_000_000 * second),
        ]
    }
    let mut driver = watching(shares);
    swept(&mut driver, 4);
    driver.press("4").send_input(SessionInput::Resized(Size { width: 130, height: 40 }));
    let looks = appearance("dark", ColorDepth::True);
    let buffer = frame(&driver.state, &looks);
    let all = text(&buffer);
    for (name, percent, bars) in
        [("rack1-leaf[2]", " 0", "▁▁▁"), ("node10", " 29", "▄▄▄"), ("node11", " 90", "███")]
    {
        // The same ports are in the backlog above the list.
        let mut list = all.lines().enumerate().skip_while(|(_, line)| !line.contains("Ports that wait"));
        let (y, line) = list.find(|(_, line)| line.contains(name)).unwrap();
        assert!(line.contains(bars) && line.contains(percent), "{name}: {all}");
        let x = line.chars().position(|sign| bars.starts_with(sign)).unwrap();
        let hot = [Role::Heat2, Role::Heat3].map(|role| looks.theme.style(role).fg);
        let colour = buffer[(x as u16, y as u16)].style().fg;
        assert_eq!(hot.contains(&colour), name == "node11", "{name}: {colour:?}");
    }
}

/// Errors beyond their threshold are told where the fabric is looked at, not on one screen alone.
#[test]
fn errors_beyond_their_threshold_are_named_in_the_tree_and_coloured_in_links() {
    let mut driver = watching(incast);
    let leaf = |driver: &TestSession| {
        let id = node(driver.state.snapshot().unwrap(), "rack2-leaf");
        driver.state.known.health.node(id)
    };
    assert_eq!(leaf(&driver), "");
    swept(&mut driver, 8);
    assert_eq!(leaf(&driver), "a link has errors");
    driver.send_input(SessionInput::Resized(Size { width: 130, height: 40 }));
    let tree = shown(&driver);
    assert!(tree.contains("1 with errors") && tree.contains("a link has errors"), "{tree}");
    driver.press("3 :sort space errors_per_hour enter down");
    let looks = appearance("dark", ColorDepth::True);
    let buffer = frame(&driver.state, &looks);
    let all = text(&buffer);
    let errors = |row: u16| {
        let heading = all.lines().nth(3).unwrap();
        let begin = heading[..heading.find("ERR 1H").unwrap()].chars().count() as u16;
        let digit = |x: &u16| buffer[(*x, row)].symbol().bytes().all(|sign| sign.is_ascii_digit());
        let x = (begin - 1..begin + 6).find(digit).unwrap();
        buffer[(x, row)].style().fg
    };
    assert_eq!(errors(4), looks.theme.style(Role::Warning).fg, "{all}");
    assert_ne!(errors(6), looks.theme.style(Role::Warning).fg, "{all}");
}

/// Over a slow line, charts move in steps of 5 s, and in between nothing in them changes.
#[test]
fn charts_move_in_steps_over_a_slow_line() {
    let mut driver = watching(incast);
    driver.state.known.watch.settings.interval_ms = 1000;
    swept(&mut driver, 10);
    // In a window of a minute a column of a chart has less than a second.
    driver.press("1 -").send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    let plots = |driver: &TestSession| {
        let braille = |line: &&str| line.contains('┤');
        shown(driver).lines().filter(braille).map(str::to_owned).collect::<Vec<_>>()
    };
    let changes = |driver: &mut TestSession| {
        let mut changes = 0;
        for _ in 0..20 {
            let before = plots(driver);
            driver.advance_ms(1000);
            changes += usize::from(plots(driver) != before);
        }
        changes
    };
    let usual = changes(&mut driver);
    driver.press(":slow-line space on enter");
    assert!(messages(&driver).last().unwrap().1.contains("every 5 s"), "{:?}", messages(&driver));
    let slow = changes(&mut driver);
    assert!(usual > 4 && slow <= 4 && slow > 0, "{usual} and {slow}");
    driver.press(":slow-line space auto enter");
    assert!(
        messages(&driver).last().unwrap().1.contains("no slow line, as measured"),
        "{:?}",
        messages(&driver)
    );
    driver.press(":slow-line space never enter");
    assert!(messages(&driver).last().unwrap().1.contains("give on, off or auto"), "{:?}", messages(&driver));
}

/// What was measured of the line is an input like others: a recorded session is slow at the same times.
#[test]
fn a_measured_line_is_recorded_and_comes_back() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::LineSpeed { is_slow: true });
    assert!(driver.state.known.line.is_slow());
    assert!(messages(&driver).last().unwrap().1.contains("is slow: charts move every 5 s"));
    let look = std::sync::Arc::new(super::fixture::look("sim:demo"));
    let again =
        |driver: &TestSession| replay(&look, driver.events.iter().map(String::as_str)).unwrap().known.line;
    assert_eq!(again(&driver), driver.state.known.line);
    driver.send_input(SessionInput::LineSpeed { is_slow: false });
    assert!(!driver.state.known.line.is_slow());
    assert!(messages(&driver).last().unwrap().1.contains("no longer slow"));
    // With a setting, the measurement changes nothing and says nothing.
    driver.press(":slow-line space off enter");
    let said = messages(&driver).len();
    driver.send_input(SessionInput::LineSpeed { is_slow: true });
    assert_eq!((driver.state.known.line.is_slow(), messages(&driver).len()), (false, said));
    assert_eq!(again(&driver), driver.state.known.line);
    let begun = driver.events[0].replacen('{', "{\"slow_line\":true,", 1);
    assert_eq!(replay(&look, [begun.as_str()]).unwrap().known.line.setting, Some(true));
}

/// Over a slow line charts end before the last reading, and the cursor begins at their end.
#[test]
fn the_cursor_in_time_begins_where_charts_end() {
    let mut driver = watching(incast);
    driver.state.known.watch.settings.interval_ms = 1000;
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 })).press("1 -");
    for _ in 0..23 {
        driver.advance_ms(1000);
    }
    driver.press(":slow-line space on enter");
    let end = latest_ms(&driver.state.known);
    let reading = driver.state.known.watch.totals.latest().unwrap().0;
    assert!(end < reading, "{end} and {reading}");
    driver.press("left");
    let here = driver.state.known.chart_cursor.expect("the first key moves the cursor");
    assert!(here < end, "{here} is before {end}");
    driver.press("right");
    assert_eq!(driver.state.known.chart_cursor, None, "and back at the end charts follow the present");
}
