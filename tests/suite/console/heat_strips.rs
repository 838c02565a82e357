//! The strips of the Timeline, and the cursor in time that is the same on all charts.

use std::path::Path;

use super::fixture::{appearance, frame, golden, styles};
use super::replays::{last_message, playback, played};
use super::test_session::TestSession;
use super::watches::{WAIT, incast, quiet, shown, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::health::health_model::ChartWindow;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::watch::history_clock::HistoryClock;
use fabdeck_fabric::observe::Counter;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn resize(driver: &mut TestSession, (width, height): (u16, u16)) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
}

/// Half a minute of calm, then the incast, with errors of another cable.
fn story(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let mut all = incast(second.saturating_sub(30));
    // Of a second, the leaf waits more and more, up to most of it.
    let at = second.saturating_sub(30);
    all.push(("rack1-leaf", 2, WAIT, 16_000_000 * at * at));
    all.push(("spine-1", 2, WAIT, 300_000_000 * at));
    all.push(("rack3-leaf", 10, Counter::SymbolErrorCounterExt, 400 * second.saturating_sub(60)));
    all
}

fn watched(count: usize) -> TestSession {
    let mut driver = watching(story);
    driver.state.known.clock =
        Some(HistoryClock { at_ms: 0, unix_ms: 1_795_313_620_000, utc_offset_s: 3600 });
    swept(&mut driver, count);
    driver.press("0");
    driver
}

/// The cells of the row with this label, at 120 columns.
fn cells(screen: &str, label: &str) -> Vec<char> {
    let row = screen.lines().find(|line| line.trim_start_matches(['│', ' ']).starts_with(label));
    let row = row.unwrap_or_else(|| panic!("{label}: {screen}"));
    row.chars().skip(29).take(89).collect()
}

#[test]
fn the_strips_have_their_frame_at_each_size() {
    for size in SIZES {
        let mut driver = watched(24);
        resize(&mut driver, size);
        let screen = shown(&driver);
        for words in ["worst wait", "traffic", "errors", "no path", "problems", "now", "▇"] {
            assert!(screen.contains(words), "{words} at {size:?}:\n{screen}");
        }
        let buffer = frame(&driver.state, &appearance("dark", ColorDepth::True));
        let blank = appearance("dark", ColorDepth::True).theme.blank();
        golden(
            &format!("timeline {}x{}", size.0, size.1),
            &format!("{screen}-- styles\n{}", styles(&buffer, blank)),
        );
    }
}

#[test]
fn each_cell_has_the_step_of_its_time() {
    let mut driver = watched(24);
    resize(&mut driver, (120, 40));
    let screen = shown(&driver);
    let wait = cells(&screen, "worst wait");
    // Two minutes of five: calm first, then the wait of the leaf.
    let known = wait.iter().filter(|cell| **cell != ' ').count();
    assert!((30..40).contains(&known), "{known}: {screen}");
    assert!(wait.contains(&'·') && wait.contains(&'▇'), "{screen}");
    assert!(
        wait.iter().position(|cell| *cell == '·') < wait.iter().position(|cell| *cell == '▇'),
        "{screen}"
    );
    assert!(cells(&screen, "errors").contains(&'▆'), "{screen}");
    // The ports that waited, the worst first; each with its wait at the end.
    let ports: Vec<&str> =
        screen.lines().filter(|line| line.starts_with("│ ") && line.contains(" % ")).collect();
    assert!(ports[0].contains("rack1-leaf[2]"), "{screen}");
    // A fabric that rests has nothing to show, and says so; what was not ranked is not zero.
    let mut calm = watching(quiet);
    swept(&mut calm, 4);
    calm.press("0");
    resize(&mut calm, (120, 40));
    let screen = shown(&calm);
    assert!(screen.contains("no port is known to have waited"), "{screen}");
    assert!(cells(&screen, "worst wait").iter().all(|cell| [' ', '·'].contains(cell)), "{screen}");
    assert!(cells(&screen, "worst wait").contains(&' '), "before the watch nothing is known: {screen}");
}

#[test]
fn lanes_group_events_and_show_what_lasts() {
    let mut driver = watched(24);
    resize(&mut driver, (120, 40));
    let screen = shown(&driver);
    let hot = cells(&screen, "hot-spots");
    assert!(hot.contains(&'◆') && hot.contains(&'━'), "{screen}");
    assert!(cells(&screen, "cables").contains(&'▲'), "{screen}");
    driver.press("g");
    let event = driver.state.screens.timeline.event().unwrap().clone();
    assert_eq!((event.place, event.by), (None, "watch"), "the list has the events of the watch");
}

#[test]
fn one_cursor_goes_through_the_charts_of_all_screens() {
    let mut driver = watched(24);
    resize(&mut driver, (120, 40));
    let latest = driver.state.known.watch.totals.latest().unwrap().0;
    let now = shown(&driver);
    assert_eq!(driver.state.known.chart_cursor, None);
    assert!(!now.contains('▼') && !now.contains("at 03:15"), "{now}");
    driver.press("left left left");
    let here = driver.state.known.chart_cursor.expect("a cursor");
    assert!(here < latest && latest - here < 15_000, "{here} of {latest}");
    let back = shown(&driver);
    // On the axis, through each strip, and as the time of the values.
    assert!(back.contains('▼') && back.contains("at 03:15:3"), "{back}");
    let line = cells(&back, "worst wait").iter().position(|cell| *cell == '│').expect("a line");
    for label in ["traffic", "errors", "no path", "problems", "hot-spots", "rack1-leaf[2]"] {
        assert_eq!(cells(&back, label).iter().position(|cell| *cell == '│'), Some(line), "{label}: {back}");
    }
    // The same time on Health and on the page of a cable.
    driver.press("1");
    let health = shown(&driver);
    assert_eq!(health.matches("at 03:15:3").count() + health.matches("  03:15:3").count(), 3, "{health}");
    driver.press("right");
    assert!(driver.state.known.chart_cursor.unwrap() > here, "keys on Health move it too");
    driver.press("3 enter left");
    assert_eq!(driver.state.known.chart_cursor, Some(here), "and those on the page of a cable");
    driver.press("esc left");
    assert_eq!(driver.state.known.chart_cursor, Some(here), "a list has columns instead");
    // It stays at its time when a reading comes, and L leads back to the present.
    driver.advance_ms(5000);
    assert_eq!(driver.state.known.chart_cursor, Some(here));
    driver.press("0 L");
    assert_eq!(driver.state.known.chart_cursor, None);
    driver.press("L");
    assert!(last_message(&driver).contains("the screens are live already"), "{}", last_message(&driver));
    // Past the first reading there is nothing, and past the last one is the present.
    for _ in 0..80 {
        driver.press("left");
    }
    assert_eq!(last_message(&driver), "nothing was read before this time");
    for _ in 0..80 {
        driver.press("right");
    }
    assert_eq!(driver.state.known.chart_cursor, None);
}

/// The values at the cursor are those of its interval.
#[test]
fn values_are_those_at_the_cursor() {
    let mut driver = watched(24);
    resize(&mut driver, (120, 40));
    let worst = |driver: &TestSession| {
        let screen = shown(driver);
        let row = screen.lines().find(|line| line.contains("worst wait  ")).unwrap().to_owned();
        row.chars().skip(18).take(10).collect::<String>().trim().to_owned()
    };
    let totals = &driver.state.known.watch.totals;
    let (last, _) = totals.latest().unwrap();
    let then = totals.sums_at(last - 60_000).unwrap().2.worst_wait.unwrap();
    let now = totals.sums_at(last).unwrap().2.worst_wait.unwrap();
    assert!(then.round() != now.round(), "{then} and {now}");
    assert_eq!(worst(&driver), format!("{now:.0} %"));
    driver.state.known.chart_cursor = Some(last - 60_000);
    assert_eq!(worst(&driver), format!("{then:.0} %"));
}

#[test]
fn the_window_is_that_of_all_charts() {
    let mut driver = watched(24);
    resize(&mut driver, (120, 40));
    driver.press("+");
    assert_eq!(driver.state.known.problems.window, ChartWindow::Quarter);
    assert!(shown(&driver).contains("one column is 10 s"), "{}", shown(&driver));
    driver.press("- -");
    assert_eq!(driver.state.known.problems.window, ChartWindow::Minute);
    let minute = shown(&driver);
    assert!(cells(&minute, "worst wait").iter().all(|cell| *cell != ' '), "{minute}");
    assert!(minute.contains(":20") && minute.contains("now"), "the axis has clock times: {minute}");
}

fn incident(name: &str, size: (u16, u16)) -> TestSession {
    let file = Path::new(env!("FABDECK_ROOT")).join(format!("captures/{name}/{name}.fdcap"));
    let mut driver = played(&file, None);
    resize(&mut driver, size);
    driver
}

/// The strips have the whole recording, wherever the cursor is.
#[test]
fn in_a_recording_the_cursor_is_the_moment_shown() {
    let mut driver = incident("incast", (120, 40));
    driver.press("0");
    let end = shown(&driver);
    let known = |screen: &str| cells(screen, "worst wait").iter().filter(|cell| **cell != ' ').count();
    let count = playback(&driver).timeline().times.len();
    assert_eq!(playback(&driver).place(), count - 1);
    let axis = end.lines().nth(4).unwrap();
    assert!(!axis.contains('▼') && known(&end) > 30, "{end}");
    for _ in 0..5 {
        driver.press("left");
    }
    let back = shown(&driver);
    assert!(playback(&driver).place() < count - 4, "{}", playback(&driver).place());
    assert!(back.contains('▼'), "{back}");
    assert_eq!(known(&back), known(&end), "what comes after the moment stays: {back}");
    let clock = playback(&driver).timeline().clock_text(playback(&driver).time());
    assert!(back.contains(&format!("at {clock}")), "{clock}: {back}");
    // A wide window has several moments in a column: a key moves by a column then.
    driver.press("+ + +");
    let before = playback(&driver).place();
    driver.press("left");
    assert!(before - playback(&driver).place() > 5, "{before} to {}", playback(&driver).place());
    for _ in 0..5 {
        driver.press("left");
    }
    assert_eq!(playback(&driver).place(), 0);
    driver.press("left");
    assert!(last_message(&driver).contains("is the first moment"), "{}", last_message(&driver));
}

/// What a frame costs does not depend on how much was read: the strips are made when a reading comes.
#[test]
fn a_frame_draws_strips_that_are_made() {
    let mut driver = watched(8);
    resize(&mut driver, (120, 40));
    let before = shown(&driver);
    driver.state.known.watch.totals = Default::default();
    let row = |screen: &str| cells(screen, "worst wait");
    assert_eq!(row(&shown(&driver)), row(&before));
}
