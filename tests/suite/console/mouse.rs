//! The mouse: what a click, the wheel and a drag do, and that the terminal has it back at the end.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fake_changes::{FakeChanges, dialogue, offer};
use super::fixture::{appearance, open_session};
use super::pty::Session;
use super::session_replay::{replay, replay_watched};
use super::test_session::TestSession;
use super::watches::{incast, shown, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::draw_with_targets;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::features::screens::{SCREENS, ScreenId};
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::mouse::{ClickTarget, ClickTargets, MouseAction, MouseInput, ShownTarget};
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_fabric::ElementId;

/// A session with the mouse at this size.
fn with_mouse(mut driver: TestSession, width: u16, height: u16) -> TestSession {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver.press(":mouse enter k");
    assert!(driver.state.mouse);
    driver
}

fn demo() -> TestSession {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    with_mouse(driver, 120, 40)
}

fn targets(driver: &TestSession) -> ClickTargets {
    let Size { width, height } = driver.state.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw_with_targets(&driver.state, &appearance("dark", ColorDepth::True), &mut buffer)
}

/// An event of the mouse, with what the screen shows there.
fn mouse(driver: &mut TestSession, action: MouseAction, (x, y): (u16, u16)) {
    let target = targets(driver).at(x, y).cloned();
    driver.send_input(SessionInput::Mouse(MouseInput { action, x, y, target }));
}

fn click(driver: &mut TestSession, at: (u16, u16)) {
    mouse(driver, MouseAction::Press, at);
    mouse(driver, MouseAction::Release, at);
}

/// The cell where a text begins; the nth place of it.
fn place_of(driver: &TestSession, text: &str, nth: usize) -> (u16, u16) {
    let screen = shown(driver);
    let rows = screen.lines().enumerate();
    let mut found = rows.flat_map(|(y, row)| {
        let starts: Vec<usize> = row.match_indices(text).map(|(at, _)| row[..at].chars().count()).collect();
        starts.into_iter().map(move |x| (x as u16, y as u16))
    });
    found.nth(nth).unwrap_or_else(|| panic!("no '{text}' on\n{screen}"))
}

/// The cells of targets that fit.
fn cells(driver: &TestSession, fits: impl Fn(&ClickTarget) -> bool) -> Vec<(u16, u16)> {
    let (targets, Size { width, height }) = (targets(driver), driver.state.size);
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    all.filter(|(x, y)| targets.at(*x, *y).is_some_and(|shown| fits(&shown.target))).collect()
}

#[test]
fn a_click_opens_screens_chooses_rows_and_sorts() {
    let mut driver = demo();
    for screen in SCREENS {
        let at = place_of(&driver, &format!("{} {}", screen.number, screen.title), 0);
        click(&mut driver, at);
        assert_eq!(driver.state.screen, screen.id, "{}", screen.title);
    }
    driver.press("3");
    let rows = cells(&driver, |target| matches!(target, ClickTarget::Row(4)));
    click(&mut driver, rows[3]);
    assert_eq!(driver.state.current().table().cursor, 4);
    // A heading sorts as the key does; again, it turns the order around.
    let heading = place_of(&driver, "STATE", 0);
    click(&mut driver, heading);
    let sorted = driver.state.current().table().sort.clone().unwrap();
    assert_eq!(sorted.0, "state");
    click(&mut driver, heading);
    assert_eq!(driver.state.current().table().sort, Some((sorted.0, !sorted.1)));
    // A click beside everything changes nothing.
    driver.state.seen = driver.state.messages.total_count();
    let before = shown(&driver);
    click(&mut driver, (118, 39));
    assert_eq!(shown(&driver), before);
}

#[test]
fn a_click_gives_a_pane_the_keys_and_the_wheel_moves_the_list_under_it() {
    let mut driver = demo();
    driver.press("1");
    let at = place_of(&driver, "Latest", 0);
    click(&mut driver, at);
    assert!(shown(&driver).contains("▸ Latest"), "{}", shown(&driver));
    let inside = (at.0, at.1 + 1);
    mouse(&mut driver, MouseAction::WheelDown, inside);
    assert_eq!(driver.state.current().table().cursor, 1, "{}", shown(&driver));
    mouse(&mut driver, MouseAction::WheelUp, inside);
    assert_eq!(driver.state.current().table().cursor, 0);
    // Cards are chosen where they are, and charts take no keys.
    let cards = cells(&driver, |target| *target == ClickTarget::Row(1));
    let card = cards.iter().find(|(_, y)| *y < 30).unwrap();
    click(&mut driver, *card);
    assert!(shown(&driver).contains("▸ Problems"), "{}", shown(&driver));
    assert_eq!(driver.state.current().table().cursor, 1);
    mouse(&mut driver, MouseAction::WheelDown, (5, 5));
    assert_eq!(driver.state.current().table().cursor, 1, "the wheel over a chart moves no list");
    // The help scrolls under the wheel.
    driver.press("?");
    let top = shown(&driver);
    mouse(&mut driver, MouseAction::WheelDown, (5, 5));
    assert_ne!(shown(&driver), top);
}

#[test]
fn a_drag_moves_a_border_within_its_limits_and_keeps_it_once() {
    let mut driver = demo();
    driver.press("3");
    let border = driver.state.areas().panes.border("details").unwrap().first;
    for grabbed in [border - 1, border] {
        let before = driver.state.areas().panes.border("details").unwrap().first;
        mouse(&mut driver, MouseAction::Press, (grabbed, 20));
        mouse(&mut driver, MouseAction::Drag, (grabbed - 10, 20));
        assert_eq!(driver.state.areas().panes.border("details").unwrap().first, before - 10);
        assert!(!driver.state.panes.unkept.is_empty(), "a border under the mouse is not kept yet");
        mouse(&mut driver, MouseAction::Drag, (grabbed, 22));
        mouse(&mut driver, MouseAction::Release, (grabbed, 22));
        assert_eq!(driver.state.areas().panes.border("details").unwrap().first, before);
        assert!(driver.state.panes.unkept.is_empty(), "a border that was left is kept");
    }
    mouse(&mut driver, MouseAction::Press, (border, 20));
    mouse(&mut driver, MouseAction::Drag, (0, 20));
    assert_eq!(driver.state.areas().panes.border("details").unwrap().first, 40);
    mouse(&mut driver, MouseAction::Release, (0, 20));
    // Released, it stays.
    mouse(&mut driver, MouseAction::Drag, (90, 20));
    assert_eq!(driver.state.areas().panes.border("details").unwrap().first, 40);
}

#[test]
fn a_click_on_the_map_goes_to_the_cable_or_the_switch() {
    let mut driver = demo();
    driver.press("2 V V V");
    let here = |driver: &TestSession| driver.state.current().current(&driver.state.known);
    let cables = cells(&driver, |target| matches!(target, ClickTarget::Cable(_)));
    assert!(cables.len() > 100, "{}", cables.len());
    for at in cables.iter().step_by(cables.len() / 7) {
        let shown = targets(&driver).at(at.0, at.1).cloned().unwrap();
        let ClickTarget::Cable(link) = shown.target else { panic!() };
        click(&mut driver, *at);
        assert_eq!(here(&driver), Some(ElementId::Link(fabdeck_fabric::LinkId(link))), "{at:?}");
    }
    let leaf = place_of(&driver, "rack4-leaf", 0);
    click(&mut driver, leaf);
    let element = driver.state.known.element(here(&driver).unwrap()).unwrap();
    assert!(element.contains("rack4-leaf"), "{element}");
    let host = place_of(&driver, "node24", 0);
    click(&mut driver, host);
    let element = driver.state.known.element(here(&driver).unwrap()).unwrap();
    assert!(element.contains("rack5-leaf"), "a host goes to its switch: {element}");
}

/// A frame may be held over a slow line while rows are sorted anew or another screen opens: then a click does nothing.
#[test]
fn a_click_on_a_row_that_moved_does_nothing() {
    let mut driver = demo();
    driver.press("3");
    let at = cells(&driver, |target| matches!(target, ClickTarget::Row(4)))[0];
    let held = targets(&driver);
    let late = |driver: &mut TestSession, (x, y): (u16, u16)| {
        let target = held.at(x, y).cloned();
        assert!(target.is_some());
        driver.send_input(SessionInput::Mouse(MouseInput { action: MouseAction::Press, x, y, target }));
    };
    let cursor = |driver: &TestSession| driver.state.current().table().cursor;
    driver.press("s S g");
    late(&mut driver, at);
    assert_eq!(cursor(&driver), 0, "another row is there now");
    driver.press("5");
    late(&mut driver, at);
    assert_eq!((driver.state.screen, cursor(&driver)), (ScreenId::Paths, 0));
    // The titles of screens stay where they are.
    driver.press("3");
    let title = place_of(&driver, "2 Map", 0);
    driver.press("4");
    late(&mut driver, title);
    assert_eq!(driver.state.screen, ScreenId::Map);
    // In the order of the frame, the same click chooses the row.
    let mut same = demo();
    same.press("3");
    late(&mut same, at);
    assert_eq!(cursor(&same), 4);
    // Cables and switches of the map, and cells of its matrix, belong to its screen.
    let mut driver = demo();
    driver.press("2 V V V");
    let cable = cells(&driver, |target| matches!(target, ClickTarget::Cable(_)))[0];
    let held = targets(&driver);
    driver.press("3 2 V V");
    let before = driver.state.current().current(&driver.state.known);
    let target = held.at(cable.0, cable.1).cloned();
    let (x, y) = cable;
    driver.press("3").send_input(SessionInput::Mouse(MouseInput {
        action: MouseAction::Press,
        x,
        y,
        target,
    }));
    driver.press("2");
    assert_eq!(driver.state.current().current(&driver.state.known), before);
}

/// A card stays the same problem, whatever its place.
#[test]
fn a_click_on_a_card_that_moved_does_nothing() {
    let mut driver = demo();
    driver.press("1");
    let card = cells(&driver, |target| matches!(target, ClickTarget::Row(1)))
        .into_iter()
        .find(|at| targets(&driver).at(at.0, at.1).unwrap().id.as_ref().is_some_and(|id| id.contains(':')))
        .unwrap();
    let mut target = targets(&driver).at(card.0, card.1).cloned().unwrap();
    assert_eq!(target.screen, "health");
    target.id = Some("link-errors:0x1/1".to_owned());
    let (x, y) = card;
    let press = |target| SessionInput::Mouse(MouseInput { action: MouseAction::Press, x, y, target });
    driver.send_input(press(Some(target)));
    assert_eq!(driver.state.current().table().cursor, 0);
    click(&mut driver, card);
    assert_eq!(driver.state.current().table().cursor, 1);
}

#[test]
fn a_dialog_takes_clicks_on_its_buttons_alone() {
    let fake = FakeChanges::new(Ok(offer(1)), Vec::new());
    let mut driver = with_mouse(fake.session(WriteAccess::Simulated), 120, 40);
    driver.press("3 :preview space updn enter / updn enter a");
    assert!(dialogue(&driver).is_some());
    // Beside the dialog, on its text, and on a screen behind it: nothing happens.
    for y in 0..40_u16 {
        // Every column is met in some row; each click draws a frame.
        for x in (y % 13..120).step_by(13) {
            if targets(&driver).at(x, y).is_none() {
                click(&mut driver, (x, y));
            }
        }
    }
    assert!(dialogue(&driver).is_some() && fake.0.borrow().begun.is_empty());
    let at = place_of(&driver, "[ Apply ]", 0);
    click(&mut driver, at);
    assert!(dialogue(&driver).is_some(), "a risk is not acknowledged");
    let risk = place_of(&driver, "[ ]", 0);
    click(&mut driver, risk);
    assert_eq!(dialogue(&driver).unwrap().unacknowledged_count(), 0);
    // A click that meant another question answers nothing.
    let target = ClickTarget::Button { title: "Roll change 1 back?".to_owned(), word: "Apply".to_owned() };
    let target = Some(ShownTarget { target, screen: "whatif".to_owned(), id: None });
    let (x, y) = place_of(&driver, "Apply ]", 0);
    driver.send_input(SessionInput::Mouse(MouseInput { action: MouseAction::Press, x, y, target }));
    assert!(dialogue(&driver).is_some() && fake.0.borrow().begun.is_empty());
    let cancel = place_of(&driver, "Cancel", 0);
    click(&mut driver, cancel);
    assert!(dialogue(&driver).is_none() && fake.0.borrow().begun.is_empty());
    driver.press("a");
    let risk = place_of(&driver, "[ ]", 0);
    click(&mut driver, risk);
    let apply = place_of(&driver, "Apply ]", 0);
    click(&mut driver, apply);
    assert_eq!(fake.0.borrow().begun.len(), 1, "{}", shown(&driver));
}

#[test]
fn the_line_that_goes_to_anything_takes_a_click_on_its_rows() {
    let mut driver = demo();
    driver.press("3 :screen-jobs");
    let before = shown(&driver);
    click(&mut driver, (1, 1));
    assert_eq!(shown(&driver), before, "a click beside the rows leaves the line as it is");
    let rows = cells(
        &driver,
        |target| matches!(target, ClickTarget::Found { text, .. } if text.contains("screen-jobs")),
    );
    click(&mut driver, rows[0]);
    assert_eq!(driver.state.screen, ScreenId::Jobs, "{}", shown(&driver));
}

#[test]
fn the_mouse_is_off_until_it_is_turned_on() {
    let mut driver = open_session("sim:demo");
    driver.press("3");
    let press = |x, y, target| SessionInput::Mouse(MouseInput { action: MouseAction::Press, x, y, target });
    let target = ClickTarget::Screen("map".to_owned());
    driver.send_input(press(3, 1, Some(ShownTarget { target, screen: "links".to_owned(), id: None })));
    assert_eq!((driver.state.screen, driver.state.mouse), (ScreenId::Links, false));
    assert_eq!(cells(&driver, |_| true), [], "a frame lists nothing while the mouse is off");
    driver.press(":mouse space maybe enter");
    assert!(driver.state.messages.last().unwrap().text.contains("neither on nor off"));
    driver.press(":mouse space on enter");
    assert!(driver.state.messages.last().unwrap().text.contains("with Shift held"));
    driver.press(":mouse space on enter").press(":mouse enter");
    assert!(!driver.state.mouse);
}

#[test]
fn a_recorded_session_with_clicks_replays() {
    let mut driver = with_mouse(open_session("sim:demo"), 120, 40);
    driver.press("3");
    for words in ["STATE", "rack1-leaf", "6 What-if", "3 Links"] {
        let at = place_of(&driver, words, 0);
        click(&mut driver, at);
    }
    let border = driver.state.areas().panes.border("details").unwrap().first;
    mouse(&mut driver, MouseAction::Press, (border, 20));
    mouse(&mut driver, MouseAction::Drag, (border - 7, 20));
    let look = std::sync::Arc::new(super::fixture::look("sim:demo"));
    let events = driver.events.iter().map(String::as_str);
    let again = replay_watched(&look, Default::default(), events).unwrap();
    assert_eq!(again.panes.sizes, driver.state.panes.sizes);
    assert_eq!(again.panes.dragged, driver.state.panes.dragged);
    let (table, same) = (again.current().table(), driver.state.current().table());
    assert_eq!((table.cursor, &table.sort), (same.cursor, &same.sort));
    assert_eq!((again.screen, again.mouse), (driver.state.screen, true));
    // One that was begun with the mouse has it from its first event on.
    let begun = driver.events[0].replacen('{', "{\"mouse\":true,", 1);
    assert!(replay(&look, [begun.as_str()]).unwrap().mouse);
}

/// What a terminal sends for a click at a cell.
fn click_bytes(x: u16, y: u16) -> String {
    let (x, y) = (x + 1, y + 1);
    format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m")
}

#[test]
fn a_terminal_reports_the_mouse_while_the_session_has_it() {
    let mut session = Session::open(&["--source", "sim:demo"], 120, 40);
    session.open_map();
    assert!(!session.has_mouse());
    session.press(":mouse on\r");
    session.until("the mouse is on");
    assert!(session.has_mouse());
    let row = session.text().lines().nth(1).unwrap().to_owned();
    let at = row.find("3 Links").unwrap();
    session.press(&click_bytes(at as u16, 1));
    session.until("STATE");
    // A stop gives it back, and the session takes it again.
    session.signal("TSTP");
    session.until_stopped();
    session.assert_restored();
    session.signal("CONT");
    session.until("STATE");
    session.quiet();
    assert!(session.has_mouse());
    session.press(":mouse off\r");
    session.until("the mouse is off");
    assert!(!session.has_mouse());
    session.press(":mouse\r");
    session.until("the mouse is on");
    assert!(session.has_mouse());
    session.press("\x03");
    session.ended();
    session.assert_restored();
}

/// From the configuration, and back with the terminal when a bug ends the session.
#[test]
fn a_configured_mouse_is_given_back_after_a_bug() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "mouse = true\n").unwrap();
    let args = ["--source", "sim:demo", "--config", config.to_str().unwrap()];
    let mut session = Session::open_with(&args, &[("FABDECK_BREAK", "input")], 120, 40);
    session.open_map();
    assert!(session.has_mouse());
    session.press("\x1b[200~x\x1b[201~");
    assert_eq!(session.ended(), 101);
    session.assert_restored();
    assert!(!session.has_mouse());
}

#[test]
fn keys_of_the_last_row_times_of_charts_and_groups_can_be_clicked() {
    let mut driver = demo();
    driver.press("1");
    let times = cells(&driver, |target| matches!(target, ClickTarget::Time(_)));
    let at = *times.iter().max().expect("charts list their times");
    let before = times.iter().filter(|(_, y)| *y == at.1).map(|(x, _)| *x).max().unwrap();
    click(&mut driver, (before - 1, at.1));
    assert!(driver.state.known.chart_cursor.is_some(), "the cursor in time goes there");
    let help = cells(&driver, |target| matches!(target, ClickTarget::Key(word) if word == "help"));
    click(&mut driver, help[0]);
    assert!(driver.state.layer.is_some());
    let mut ring = with_mouse(open_session("sim:dragonfly"), 120, 40);
    ring.press("2");
    while ring.state.screens.map.view != MapView::Drawn {
        ring.press("V");
    }
    let group = cells(&ring, |target| matches!(target, ClickTarget::Cell(4, _)));
    click(&mut ring, *group.first().expect("groups can be clicked"));
    assert_eq!(ring.state.screens.map.drawn.matrix.cursor.0, 4);
}

#[test]
fn a_switch_of_a_slice_and_another_slice_can_be_clicked() {
    let mut driver = with_mouse(open_session("sim:torus,dims=4x4x3"), 120, 40);
    driver.press("2");
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
    }
    let slices = cells(&driver, |target| matches!(target, ClickTarget::Slice(2)));
    click(&mut driver, *slices.last().expect("thumbnails can be clicked"));
    assert_eq!(driver.state.screens.map.drawn.slice.slice, 2);
    let switches = cells(&driver, |target| matches!(target, ClickTarget::Switch(_)));
    click(&mut driver, *switches.last().unwrap());
    assert_eq!(driver.state.screens.map.drawn.slice.at, (3, 3));
}

#[test]
fn the_wheel_scrolls_details_that_have_more_lines_than_room() {
    let mut driver = with_mouse(open_session("sim:kary,k=10,n=2"), 120, 20);
    driver.press("2");
    while driver.state.screens.map.view != MapView::Switches {
        driver.press("V");
    }
    assert!(shown(&driver).contains("▼"), "{}", shown(&driver));
    mouse(&mut driver, MouseAction::WheelDown, (110, 8));
    assert_eq!(driver.state.panes.detail_top, 3);
    let below = shown(&driver);
    driver.press("down");
    assert_ne!(shown(&driver), below, "keys scroll it too");
    // The list has the keys again, and the details begin anew.
    driver.press("tab");
    assert_eq!(driver.state.panes.detail_top, 0);
}
