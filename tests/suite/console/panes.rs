//! Panes: one has the whole body, and the borders between them move and stay where they were put.

use super::fake_changes::{FakeChanges, offer, row};
use super::fixture::golden;
use super::pty::Session;
use super::session_replay::replay_watched;
use super::test_session::{TestSession, UserSystem};
use super::watches::{incast, shown, swept, watching};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::panes::kept_sizes::read_pane_sizes;
use fabdeck::console::features::panes::pins::{detail_element, detail_row, has_details};
use fabdeck::console::features::screens::SCREENS;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_change::ChangePhase;
use fabdeck_fabric::ElementId;

fn resized(driver: &mut TestSession, width: u16, height: u16) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
}

fn demo() -> TestSession {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    driver
}

/// What is between the tabs and the last row.
fn body(screen: &str) -> String {
    let rows: Vec<&str> = screen.lines().collect();
    rows[2..rows.len() - 1].join("\n")
}

/// The widths of the panes in the upper row of the body, boxes of a wide screen.
fn widths(screen: &str) -> Vec<usize> {
    let row: Vec<char> = screen.lines().nth(2).unwrap().chars().collect();
    let corners = |corner| row.iter().enumerate().filter(move |(_, sign)| **sign == corner).map(|(at, _)| at);
    corners('╭').zip(corners('╮')).map(|(left, right)| right - left + 1).collect()
}

#[test]
fn a_zoomed_pane_has_the_body_on_every_screen_and_the_others_come_back() {
    let mut driver = demo();
    let mut several = 0;
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        resized(&mut driver, width, height);
        for screen in SCREENS.iter().flat_map(|screen| [format!("{}", screen.number), "tab".to_owned()]) {
            driver.press(&screen);
            // A message about the key has a row of its own until the next one.
            driver.state.seen = driver.state.messages.total_count();
            resized(&mut driver, width, height);
            let before = shown(&driver);
            let has_panes = driver.state.areas().panes.are_several();
            let keys = before.lines().last().unwrap();
            assert_eq!(keys.contains("Z zoom"), has_panes, "{screen} at {width}x{height}:\n{before}");
            if !has_panes {
                driver.press("Z");
                let said = &driver.state.messages.last().unwrap().text;
                assert!(said.starts_with("zoom: there is one pane here"), "{said}");
                driver.press("k");
                continue;
            }
            several += 1;
            let area = driver.state.areas().panes.area(driver.state.focused_pane());
            for back in ["Z", "esc"] {
                driver.press("Z");
                let zoomed = shown(&driver);
                let areas = driver.state.areas();
                assert!(zoomed.contains("▸") && zoomed.contains("Z all panes"), "{screen}:\n{zoomed}");
                assert_eq!(zoomed.matches('▸').count(), 1, "{screen}:\n{zoomed}");
                if areas.boxed {
                    // Some panes are several boxes beside each other.
                    let across: usize = widths(&zoomed).iter().sum();
                    assert_eq!(across, usize::from(width), "{screen} {width}:\n{zoomed}");
                }
                let now = areas.panes.area(driver.state.focused_pane());
                assert!(now.width >= area.width && now.height > area.height || now.width > area.width);
                driver.press(back);
                assert_eq!(body(&shown(&driver)), body(&before), "{screen} at {width}x{height} after {back}");
            }
        }
    }
    assert!(several > 25, "{several} screens with several panes");
}

#[test]
fn a_zoomed_list_has_its_columns_and_pages_are_longer() {
    let mut driver = demo();
    resized(&mut driver, 120, 40);
    driver.press("1 tab tab Z");
    assert!(shown(&driver).contains("▸ Worst waits"), "{}", shown(&driver));
    golden("health zoomed", &shown(&driver));
    // The next pane has the body then.
    driver.press("tab");
    assert!(shown(&driver).contains("▸ Latest") && !shown(&driver).contains("Worst waits"));
    driver.press("esc 3 Z");
    golden("links zoomed", &shown(&driver));
    driver.press("pgdn");
    let page = driver.state.current().table().cursor;
    driver.press("0 Z pgdn G");
    assert!(page > 30, "{page}");
    assert!(shown(&driver).contains("▸ Events"));
}

#[test]
fn tab_gives_the_keys_to_each_pane_in_turn_on_every_screen() {
    let mut driver = demo();
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        for screen in SCREENS {
            driver.press(&screen.number.to_string());
            driver.state.seen = driver.state.messages.total_count();
            resized(&mut driver, width, height);
            let mut panes = driver.state.areas().panes.names();
            panes.retain(|pane| driver.state.current().can_focus(pane));
            let first = driver.state.focused_pane();
            let at = panes.iter().position(|name| *name == first).unwrap();
            if panes.len() < 2 {
                driver.press("tab");
                let said = &driver.state.messages.last().unwrap().text;
                assert!(said.starts_with("next-pane: there is one pane here"), "{said}");
                continue;
            }
            for turn in 1..=panes.len() {
                driver.press("tab");
                let wanted = panes[(at + turn) % panes.len()];
                assert_eq!(driver.state.focused_pane(), wanted, "{} at {width}x{height}", screen.title);
                let area = driver.state.areas().panes.area(wanted);
                let drawn = shown(&driver);
                let signs = drawn.lines().enumerate();
                let signs: Vec<(usize, usize)> = signs
                    .flat_map(|(y, row)| {
                        row.chars().enumerate().filter(|(_, sign)| *sign == '▸').map(move |(x, _)| (x, y))
                    })
                    .collect();
                let [(x, y)] = signs[..] else { panic!("{wanted}: {signs:?} on\n{drawn}") };
                assert!(
                    area.contains(x as u16, y as u16),
                    "{wanted} at {area:?}, the sign at {x}, {y}:\n{drawn}"
                );
                // The pane with the keys is the one that is zoomed.
                driver.press("Z");
                assert_eq!(driver.state.focused_pane(), wanted);
                assert!(driver.state.areas().panes.area(wanted).height >= area.height, "{wanted}");
                driver.press("Z");
            }
            driver.press("shift-tab tab");
            assert_eq!(driver.state.focused_pane(), first, "{}", screen.title);
        }
    }
}

#[test]
fn a_border_moves_within_its_limits_and_goes_back() {
    let mut driver = demo();
    resized(&mut driver, 120, 40);
    driver.press("3");
    let first = widths(&shown(&driver));
    assert_eq!(first.iter().sum::<usize>(), 120);
    driver.press("ctrl-right ctrl-right");
    let [list, details] = widths(&shown(&driver))[..] else { panic!("{}", shown(&driver)) };
    assert_eq!([list, details], [first[0] + 4, first[1] - 4]);
    for _ in 0..60 {
        driver.press("ctrl-left");
    }
    assert_eq!(widths(&shown(&driver)), [40, 80]);
    assert_eq!(driver.state.messages.last().unwrap().text, "the border moves no further");
    driver.press("ctrl-up");
    let said = &driver.state.messages.last().unwrap().text;
    assert_eq!(said, "this pane has no border above or below it that moves");
    // Another width class has borders of its own, and another screen too.
    resized(&mut driver, 200, 60);
    assert_eq!(widths(&shown(&driver))[0], 134);
    resized(&mut driver, 130, 40);
    assert_eq!(widths(&shown(&driver)), [43, 87]);
    driver.press("9");
    assert_eq!(widths(&shown(&driver))[0], 88);
    driver.press("3 :reset-size enter");
    resized(&mut driver, 120, 40);
    assert_eq!(widths(&shown(&driver)), first);
    // Rows of Health.
    driver.press("1 ctrl-down");
    let cards = driver.state.areas().panes.area("problems").height;
    driver.press("ctrl-up");
    assert_eq!(driver.state.areas().panes.area("problems").height + 1, cards);
}

#[test]
fn places_of_borders_are_kept_for_the_next_session() {
    let folder = tempfile::tempdir().unwrap();
    let system = || LocalSystemAccess::default().with_state(folder.path());
    let mut driver = demo();
    driver.system = UserSystem(Some(Box::new(system())));
    resized(&mut driver, 120, 40);
    driver.press("3 ctrl-left 1 ctrl-down");
    let [links, health] = ["3", "1"].map(|screen| shown(driver.press(screen)));
    let lines = std::fs::read_to_string(folder.path().join("panes")).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.contains(r#""screen":"links","width":"wide","border":"details""#), "{lines}");
    let mut next = demo();
    next.state.panes.sizes = read_pane_sizes(&system()).unwrap();
    next.system = UserSystem(Some(Box::new(system())));
    resized(&mut next, 120, 40);
    assert_eq!(body(&shown(next.press("3"))), body(&links));
    assert_eq!(body(&shown(next.press("1"))), body(&health));
    next.press("3 :reset-size enter");
    let lines = std::fs::read_to_string(folder.path().join("panes")).unwrap();
    assert!(lines.lines().count() == 1 && lines.contains("health"), "{lines}");
    // A file that cannot be read is named, and a session replays with the places that it began with.
    std::fs::write(folder.path().join("panes"), "no line").unwrap();
    let why = read_pane_sizes(&system()).unwrap_err();
    assert!(why.contains("panes") && why.contains("line 1"), "{why}");
}

#[test]
fn a_recorded_session_with_moved_borders_replays() {
    let mut driver = super::fixture::open_session("sim:demo");
    resized(&mut driver, 120, 40);
    driver.press("3 ctrl-left Z pgdn Z pgdn");
    let look = std::sync::Arc::new(super::fixture::look("sim:demo"));
    let events = driver.events.iter().map(String::as_str);
    let again = replay_watched(&look, Default::default(), events).unwrap();
    assert_eq!(again.panes.sizes, driver.state.panes.sizes);
    assert_eq!(again.current().table().cursor, driver.state.current().table().cursor);
    // A session that begins with borders of an earlier one has them in its header, and moves them from there.
    let mut begun: serde_json::Value = serde_json::from_str(&driver.events[0]).unwrap();
    begun["panes"] = serde_json::to_value(&driver.state.panes.sizes).unwrap();
    let begun = begun.to_string();
    let events = || std::iter::once(begun.as_str()).chain(driver.events.iter().skip(1).map(String::as_str));
    let kept = replay_watched(&look, Default::default(), events().take(1)).unwrap();
    assert_eq!(kept.panes.sizes, driver.state.panes.sizes);
    let moved = replay_watched(&look, Default::default(), events()).unwrap();
    assert_ne!(moved.panes.sizes, driver.state.panes.sizes, "the same keys move the border further");
}

/// The keys of a terminal zoom and move; the next program has the border where it was.
#[test]
fn a_terminal_zooms_and_keeps_borders() {
    let state = tempfile::tempdir().unwrap();
    let variables = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
    let open = || {
        let mut session = Session::open_with(&["--source", "sim:demo"], &variables, 120, 40);
        session.until("1 Health");
        session.press("3");
        session.until("1 of 81");
        session
    };
    let mut session = open();
    let list_width = |session: &Session| widths(&session.text())[0];
    assert_eq!(list_width(&session), 88);
    session.press("Z");
    session.until("Z all panes");
    assert_eq!(list_width(&session), 120);
    session.press("\x1b");
    session.until("Z zoom");
    let before = session.bytes();
    session.press("\x1b[1;5D");
    session.settled_after(before);
    assert_eq!(list_width(&session), 86);
    session.press("\x03");
    session.ended();
    session.assert_restored();
    let mut session = open();
    assert_eq!(list_width(&session), 86);
    session.press("\x03");
    session.ended();
    session.assert_restored();
}

/// What the pane beside the list is about, and whether its border says that it is pinned.
fn details_of(driver: &TestSession) -> (Option<ElementId>, bool) {
    let screen = shown(driver);
    let row = screen.lines().find(|row| row.contains("╮╭")).unwrap().to_owned();
    (detail_element(&driver.state), row.contains(" pinned "))
}

#[test]
fn pinned_details_stay_on_their_row_while_the_cursor_goes_on() {
    let mut driver = demo();
    resized(&mut driver, 120, 40);
    for screen in ["2 V V", "3", "4 V"] {
        driver.press(screen).press("down");
        let (row, pinned) = details_of(&driver);
        assert!(row.is_some() && !pinned, "{screen}");
        driver.press("P down down");
        assert_eq!(details_of(&driver), (row, true), "{screen}:\n{}", shown(&driver));
        swept(&mut driver, 1);
        assert_eq!(details_of(&driver), (row, true), "{screen} after a reading");
        driver.press("P");
        let (now, pinned) = details_of(&driver);
        assert!(now != row && !pinned, "{screen}: {now:?}");
    }
    driver.press("3 P j");
    golden("links pinned", &shown(&driver));
    // The page of all details is that of the cursor, and each screen has a pin of its own.
    driver.press("4");
    assert!(!details_of(&driver).1);
    resized(&mut driver, 80, 24);
    driver.press("P");
    assert!(driver.state.messages.last().unwrap().text.starts_with("pin: no details are in sight"));
}

/// A row of events is found again by what it is about, whatever its place is.
#[test]
fn a_pinned_event_stays_when_others_come() {
    let mut driver = demo();
    resized(&mut driver, 120, 40);
    driver.press("f 0 G P");
    let pinned = driver.state.panes.pins.clone();
    assert_eq!(pinned.len(), 1, "{:?}", driver.state.messages);
    driver.press("g");
    let text = |driver: &TestSession| {
        let at = driver.state.areas().details;
        let row = |y: u16| {
            let line: Vec<char> = shown(driver).lines().nth(y.into()).unwrap().chars().collect();
            line[usize::from(at.x)..usize::from(at.x + at.width)].iter().collect::<String>()
        };
        (at.y..at.y + at.height).map(row).collect::<Vec<_>>().join("\n")
    };
    let before = text(&driver);
    swept(&mut driver, 6);
    driver.press("2 f 0 s s g");
    assert_eq!(text(&driver), before);
}

/// Rows of jobs, changes and flows are pinned by what they are about too.
#[test]
fn pins_stay_on_jobs_changes_and_lanes() {
    let mut jobs = super::health::demo("sim:demo");
    swept(&mut jobs, 6);
    jobs.press("8");
    let mut lanes = super::health::demo("sim:demo");
    swept(&mut lanes, 6);
    lanes.press("7");
    let rows =
        vec![row(1, ChangePhase::Applied), row(2, ChangePhase::RolledBack), row(3, ChangePhase::Applied)];
    let mut changes = FakeChanges::new(Ok(offer(1)), rows).session(WriteAccess::Simulated);
    changes.press("9");
    for (name, driver) in [("jobs", &mut jobs), ("lanes", &mut lanes), ("changes", &mut changes)] {
        resized(driver, 120, 40);
        let key = |driver: &TestSession, row: usize| driver.state.current().row_key(row, &driver.state.known);
        assert!(driver.state.current().table().selection.rows.len() > 1, "{name}: {}", shown(driver));
        driver.press("g j");
        let here = driver.state.current().table().row().unwrap();
        let wanted = key(driver, here);
        driver.press("P");
        if has_details(&driver.state).is_err() {
            let said = &driver.state.messages.last().unwrap().text;
            assert!(said.starts_with("pin: no details are in sight"), "{name}: {said}");
            continue;
        }
        for keys in ["k", "G", "s s", "/ a esc"] {
            driver.press(keys);
            let pinned = detail_row(&driver.state).unwrap_or_else(|| panic!("{name} {keys}"));
            assert_eq!(key(driver, pinned), wanted, "{name} {keys}");
        }
        driver.press("P G");
        assert_eq!(detail_row(&driver.state), driver.state.current().table().row(), "{name}");
    }
}
