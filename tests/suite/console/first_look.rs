//! What an operator who sees the console for the first time reads: counts that stay, facts that are whole, charts that say
//! what they show.

use std::path::Path;

use super::fixture::{open_session, text};
use super::health::demo;
use super::pauses::watch_and_history;
use super::replays::{last_message, played};
use super::test_session::TestSession;
use super::timelines::screen_text;
use super::watches::{CounterStory, ERRORS, long_incast, shown, swept, watching};
use fabdeck::catalogue::severity::Severity;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::details::ElementDetail;
use fabdeck::console::features::health::health_model::ChartWindow;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::health::problem::{ProblemKind, ProblemSeverity};
use fabdeck::operations::watch::history_clock::HistoryClock;

fn resized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    shown(driver)
}

/// The drawn map on a narrow screen.
fn drawn_map(driver: &mut TestSession) -> String {
    driver.press("2");
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
    }
    shown(driver)
}

fn first_row(screen: &str) -> String {
    screen.lines().next().unwrap().to_owned()
}

fn last_row(screen: &str) -> String {
    screen.lines().last().unwrap().to_owned()
}

fn incast() -> TestSession {
    played(&Path::new(env!("FABDECK_ROOT")).join("captures/incast/incast.fdcap"), None)
}

#[test]
fn counts_of_problems_stay_in_the_header() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    let ranked = driver.state.known.problems.ranked.clone().unwrap();
    assert!(ranked.critical + ranked.warnings > 0);
    driver.press(":mark space spine-2 enter");
    (0..3).for_each(|at| driver.state.log_message(Severity::Warning, format!("something new {at}")));
    for width in [60, 80, 120] {
        let header = first_row(&resized(&mut driver, width, 24));
        for (sign, count) in [("◆", ranked.critical), ("▲", ranked.warnings)] {
            let wanted = format!("{sign} {count}");
            assert!(count == 0 || header.contains(&wanted), "{width}: {wanted}: {header}");
        }
        assert!(header.contains("✗ 1"), "{header}");
    }
}

#[test]
fn the_header_counts_the_warnings_that_the_log_lists() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    let warnings =
        driver.state.messages.iter().filter(|message| message.severity == Severity::Warning).count();
    assert_eq!(driver.state.messages.unread(), warnings, "{:?}", driver.state.messages);
    driver.press("M");
    assert_eq!(driver.state.messages.unread(), 0);
}

#[test]
fn aggregation_nodes_are_no_hosts() {
    let mut driver = open_session("sim:demo");
    let header = first_row(&resized(&mut driver, 120, 40));
    assert!(header.contains("9 switches, 36 hosts, 81 cables"), "{header}");
}

#[test]
fn a_title_is_cut_between_its_facts() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 20);
    let problems = driver.state.known.problems.ranked.clone().unwrap().problems.clone();
    let worn =
        problems.iter().find(|problem| problem.title.contains("flapped")).expect("a cable that flapped");
    let (_, facts) = worn.title.split_once(" runs at 1x HDR, flapped ").expect(&worn.title);
    assert!(facts.ends_with(" errors in 1 min 35 s"), "{facts}");
    let screen = resized(&mut driver, 80, 24);
    let row = screen.lines().find(|row| row.contains("runs at 1x HDR,") || row.contains("1x HDR, flapped"));
    assert!(row.is_some_and(|row| row.contains("flapped")), "{screen}");
}

#[test]
fn heads_of_charts_keep_their_values() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 20);
    for width in [80, 90, 100, 120] {
        let screen = resized(&mut driver, width, 24);
        let head = screen.lines().nth(2).unwrap();
        assert!(head.contains("Gb/s") && head.contains(" %") && head.contains(" /s"), "{width}: {head}");
    }
}

/// A number with a suffix: `1k` is 1000.
fn amount(text: &str) -> f64 {
    let (number, factor) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 1e3),
        Some(b'M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    number.parse::<f64>().unwrap() * factor
}

#[test]
fn the_scale_of_a_card_has_room_for_its_errors() {
    // Ten errors a second at first, and later a burst of 150,000.
    let mut driver = watching(|second| {
        vec![("rack2-leaf", 3, ERRORS, if second < 40 { 10 * second } else { 400 + 150_000 * (second - 40) })]
    });
    driver.press("1");
    let mut most: f64 = 0.0;
    for _ in 0..16 {
        swept(&mut driver, 1);
        let screen = resized(&mut driver, 80, 40);
        let rows: Vec<&str> = screen.lines().collect();
        let of_errors = |row: &&str| row.contains("errors in ") || row.contains("flapped");
        let card = |row: &str| row.starts_with('▌') && row.trim_end().ends_with(" /s");
        let Some(at) = rows.iter().position(|row| of_errors(row) && card(row)) else { continue };
        let value = rows[at].trim_end().trim_end_matches(" /s").rsplit(' ').next().unwrap();
        let top = rows[at + 1].split('┤').next().unwrap().rsplit(' ').next().unwrap();
        assert!(amount(top) >= amount(value), "{value} beside a scale up to {top}: {screen}");
        most = most.max(amount(value));
    }
    assert!(most > 100_000.0, "no burst of errors was seen: {most}");
}

#[test]
fn the_first_window_of_a_capture_fits_its_length() {
    let driver = incast();
    let timeline = driver.state.known.playback.as_ref().unwrap().timeline().clone();
    let (from, to) = timeline.span().unwrap();
    assert_eq!(driver.state.known.problems.window, ChartWindow::fitting((to - from) as u64));
    let lengths = [0, 40_000, 60_000, 61_000, 900_000, 900_001, 999_999_999].map(ChartWindow::fitting);
    assert_eq!(
        lengths.map(ChartWindow::words),
        ["1 min", "1 min", "1 min", "5 min", "15 min", "1 h", "24 h"]
    );
}

#[test]
fn axes_end_with_the_last_sample() {
    let mut driver = incast();
    driver.press("G");
    let timeline = driver.state.known.playback.as_ref().unwrap().timeline().clone();
    let (_, to) = timeline.span().unwrap();
    driver.state.known.playback.as_mut().unwrap().cursor.seek_place(timeline.times.len() - 1);
    let end = timeline.clock_text(to);
    for (width, height) in [(80, 24), (120, 40)] {
        driver.press("1");
        let screen = resized(&mut driver, width, height);
        let axis = screen.lines().find(|row| row.contains('╰') && row.contains(':')).expect(&screen);
        assert!(axis.contains(&end), "{end}: {axis}");
    }
}

#[test]
fn the_first_moment_has_no_value() {
    let mut driver = incast();
    driver.press("0");
    driver.press("[ [ [ [ [ [ [ [ [ [ [ [ [ [ [ [ [ [ [ [");
    while driver.state.known.playback.as_ref().unwrap().place() > 0 {
        driver.press("[");
    }
    let screen = resized(&mut driver, 80, 24);
    let strip = screen.lines().find(|row| row.trim_start().starts_with("worst wait")).expect(&screen);
    assert!(strip.contains('○') && !strip.contains('%'), "{strip}");
}

#[test]
fn the_end_of_the_events_names_the_way_back() {
    let mut driver = incast();
    driver.press("0");
    (0..60).for_each(|_| {
        driver.press("n");
    });
    let message = last_message(&driver);
    assert!(message.contains("no event after") && message.contains("N goes to the one before"), "{message}");
    assert!(last_row(&resized(&mut driver, 120, 40)).contains("n N event"));
}

#[test]
fn the_first_line_of_a_replay_names_the_key_of_the_timeline() {
    let driver = incast();
    let wanted = format!("{} is the Timeline", ScreenId::Timeline.title().number);
    assert!(driver.state.messages.iter().any(|message| message.text.contains(&wanted)));
}

#[test]
fn names_on_the_map_keep_their_numbers() {
    let mut driver = open_session("sim:demo");
    driver.press(":mark space spine-2 enter");
    let screen = drawn_map(&mut driver);
    assert!(screen.contains("✗ spine-2") && !screen.contains('□'), "the leaves are not marked: {screen}");
    for rack in 1..=6 {
        driver.press(&format!(":mark space rack{rack}-leaf[7] enter"));
    }
    let screen = shown(&driver);
    for rack in 1..=6 {
        assert!(screen.contains(&format!("□ rack{rack}")), "rack{rack}: {screen}");
    }
    let legend = screen.lines().find(|row| row.starts_with("wait, % of time")).unwrap();
    assert!(legend.contains("╌ □ ✗ down or marked") && legend.contains("▲ ◪ below its width"), "{screen}");
}

#[test]
fn an_ascii_legend_has_the_signs_that_are_drawn() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    drawn_map(&mut driver);
    let colours = super::fixture::appearance("dark", ColorDepth::True);
    let buffer = super::fixture::frame(&driver.state, &Appearance { signs: Symbols::ASCII, ..colours });
    let screen = text(&buffer);
    let legend = screen.lines().find(|row| row.starts_with("wait, % of time")).expect(&screen);
    assert!(legend.contains("0 ._-:=+*% 100 %"), "{legend}");
    assert!(!Symbols::ASCII.levels.contains(&Symbols::ASCII.more), "a cut is no level");
    // No sign of the map is a level or a severity besides: a legend has all of them.
    let Symbols { map, levels, severity, .. } = Symbols::ASCII;
    assert!(map.iter().all(|sign| !levels.contains(sign) && !severity.contains(sign)), "{map:?}");
    assert!(legend.contains("/ path") || !legend.contains(" path"), "{legend}");
}

#[test]
fn one_preview_is_one_event() {
    let (mut driver, _) = watch_and_history("sim:demo", u64::MAX, |_, _| {});
    driver.press(":mark space spine-2 enter");
    driver.press("6 p");
    let events: Vec<String> = driver.state.known.problems.events().map(|event| event.text.clone()).collect();
    let proposed: Vec<&String> = events.iter().filter(|text| text.contains("proposed routes")).collect();
    assert_eq!(proposed.len(), 1, "{events:?}");
    assert!(proposed[0].contains("engines proposed routes around 1 mark"), "{proposed:?}");
}

#[test]
fn the_last_row_always_ends_with_the_ways_on() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    for width in [60, 80, 120] {
        for screen in ["1", "2", "3", "4", "6", "8", "0"] {
            driver.press(screen);
            let row = last_row(&resized(&mut driver, width, 24));
            let ends = row.trim_end();
            assert!(ends.contains(": go to  ? help  q "), "{width} {screen}: {row}");
        }
    }
}

#[test]
fn the_number_of_rows_below_covers_no_row() {
    let mut driver = open_session("sim:demo");
    resized(&mut driver, 80, 24);
    driver.press(": >");
    let screen = screen_text(&driver);
    let row = screen.lines().find(|row| row.contains("more rows")).expect(&screen);
    assert_eq!(row.trim_matches(['│', ' ']).matches(' ').count(), 3, "nothing else is in the row: {row}");
}

#[test]
fn go_to_anything_opens_the_list_of_hosts_and_names_what_is_near() {
    let mut driver = open_session("sim:demo");
    driver.press(": h o s t");
    let rows = &driver.state.goto.rows;
    assert!(rows.iter().any(|row| row.text == "hosts" && row.about.starts_with("Map")), "{rows:?}");
    driver.press("esc : s p i n n e - 2");
    let screen = shown(&driver);
    assert!(screen.contains("Did you mean 'spine-2'?"), "{screen}");
}

#[test]
fn leaving_a_long_watch_is_asked_once() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("q");
    assert!(driver.state.leaving, "a short watch ends at once");
    let mut driver = demo("sim:demo");
    swept(&mut driver, 20);
    driver.press("q");
    assert!(!driver.state.leaving, "{:?}", driver.state.messages.last());
    assert!(last_message(&driver).contains("leave?"), "{}", last_message(&driver));
    driver.press("down q");
    assert!(!driver.state.leaving, "another key takes the question back");
    driver.press("q");
    assert!(driver.state.leaving);
}

#[test]
fn the_second_step_of_the_tour_goes_to_hot_spots() {
    let mut driver = open_session("sim:demo");
    driver.press(":tour enter .");
    assert_eq!((driver.state.tour.step, driver.state.screen), (Some(1), ScreenId::Hotspots));
}

#[test]
fn a_zero_is_faint() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    drawn_map(&mut driver);
    let colours = super::fixture::appearance("dark", ColorDepth::True);
    let buffer = super::fixture::frame(&driver.state, &colours);
    let screen = text(&buffer);
    let (y, row) = screen.lines().enumerate().find(|(_, row)| row.contains("wait 0 %")).expect(&screen);
    let x = row[..row.rfind("wait 0 %").unwrap()].chars().count() as u16;
    assert_eq!(Some(buffer[(x, y as u16)].fg), colours.theme.style(Role::Faint).fg);
}

/// A hot-spot for which no port waits 1 % of the time is a warning at most, and its title says why.
#[test]
fn a_brief_hot_spot_is_a_warning() {
    let severity = |story: CounterStory| {
        let mut driver = watching(story);
        swept(&mut driver, 8);
        let ranked = driver.state.known.problems.ranked.as_ref().unwrap();
        let hot = ranked.problems.iter().find(|problem| problem.kind == ProblemKind::HotSpot);
        hot.map(|hot| (hot.severity, hot.title.ends_with(" briefly"))).expect("a hot-spot")
    };
    assert_eq!(severity(super::watches::incast), (ProblemSeverity::Warning, true));
    assert_eq!(severity(long_incast), (ProblemSeverity::Critical, false));
}

/// The same problem has the same word for how sure its cause is on Health and on Hot-spots.
#[test]
fn how_sure_a_cause_is_has_one_word() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("1 g");
    let health = resized(&mut driver, 120, 40);
    let cause = health.lines().find(|row| row.contains("cause")).expect(&health);
    assert!(cause.contains("likely: a slow host"), "{health}");
    driver.press("4 g");
    let hot = resized(&mut driver, 120, 40);
    assert!(
        hot.contains("rack6-leaf[5] ")
            && hot.contains("cause likely ─╮")
            && hot.contains("likely: a slow host"),
        "{hot}"
    );
    assert!(!hot.contains("hot-spot  sure"), "{hot}");
}

/// One number of hosts everywhere: aggregation nodes are counted apart.
#[test]
fn the_pane_of_the_fabric_counts_hosts_as_the_header_does() {
    let driver = open_session("sim:demo");
    let lines = ElementDetail::fabric_lines(driver.state.snapshot().unwrap());
    let of = |label: &str| lines.iter().find(|(own, _)| *own == label).map(|(_, text)| text.as_str());
    assert_eq!((of("hosts"), of("aggregation nodes")), (Some("36"), Some("9")));
}

/// The log has the times that the header's clock shows; without a clock, those since the session began.
#[test]
fn the_log_has_times_of_the_clock() {
    let mut driver = open_session("sim:demo");
    driver.state.known.clock = None;
    driver.advance_ms(65_000);
    driver.state.log_message(Severity::Info, "something happened");
    driver.press("M");
    assert!(shown(&driver).contains("65 s  something happened"), "{}", shown(&driver));
    let unix_ms = 1_795_313_620_000;
    driver.state.known.clock = Some(HistoryClock { at_ms: 0, unix_ms, utc_offset_s: 0 });
    let screen = shown(&driver);
    let row = screen.lines().find(|row| row.contains("something happened")).expect(&screen);
    let time = driver.state.known.clock.unwrap().clock_text(65_000).unwrap();
    assert!(row.contains(&time), "{time}: {row}");
}

/// The names of Worst waits are whole, for roles give way.
#[test]
fn roles_are_cut_before_names() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("1");
    let waits = driver.state.known.problems.ranked.as_ref().unwrap().waits.clone().unwrap();
    for (width, height) in [(120, 40), (200, 60)] {
        let screen = resized(&mut driver, width, height);
        assert!(screen.contains("Worst waits"), "{screen}");
        for row in waits.rows.iter().take(4) {
            assert!(screen.contains(&format!("{} ", row.name)), "{} at {width}: {screen}", row.name);
        }
    }
}
