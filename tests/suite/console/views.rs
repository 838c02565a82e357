//! Views as lines: what a session shows opens again from the line that it copies.

use super::pty::Session;
use super::test_session::TestSession;
use super::watches::{EVERY, incast, lab, long_incast, shown, swept, watching};
use fabdeck::catalogue::severity::Severity;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::views::console_view::ConsoleView;
use fabdeck::console::features::views::view_line::current_view;
use fabdeck::console::model::layout::Size;

fn demo() -> TestSession {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver
}

/// What is between the tabs and the last row, without messages.
fn body(driver: &mut TestSession) -> String {
    driver.state.seen = driver.state.messages.total_count();
    // What is laid out while a message has a row is laid out anew without it.
    let size = driver.state.size;
    driver.send_input(SessionInput::Resized(size));
    let screen = shown(driver);
    let rows: Vec<&str> = screen.lines().collect();
    rows[2..rows.len() - 1].join("\n")
}

/// The line of a view, in words.
fn open(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(format!("open {line}"))).press("enter");
}

#[test]
fn every_screen_opens_again_from_its_line() {
    for keys in [
        "1",
        "1 tab tab down",
        "1 + +",
        "2 V V V",
        "2 V V V v right down",
        "2 V V down down",
        "2 V V V s S down",
        "2 down enter down down",
        "2 down down",
        "2 V V down enter down",
        "3 G",
        "3 / kind=switch-switch enter s s down",
        "3 down down enter",
        "4 down",
        "4 V down down",
        "5",
        "6 down",
        "6 V",
        "7 V",
        "8",
        "9",
        "0",
    ] {
        let mut driver = demo();
        driver.press(keys);
        let line = current_view(&driver.state).line();
        assert_eq!(ConsoleView::parse(&line).unwrap().line(), line, "{keys}");
        let mut other = demo();
        open(&mut other, &line);
        assert_eq!(body(&mut other), body(&mut driver), "{keys}: {line}");
        assert_eq!(current_view(&other.state).line(), line, "{keys}");
        // The same, as --open: before anything is read.
        let mut unread = begun(&line, (120, 40));
        assert_eq!(body(&mut unread), body(&mut driver), "{keys}: --open {line}");
        // At another size all of it that exists there opens, and a warning names what does not.
        let mut narrow = begun(&line, (80, 24));
        let failed = narrow.state.messages.iter().find(|said| said.severity == Severity::Error);
        assert!(failed.is_none() && narrow.state.opening.is_none(), "{keys}: {line}: {failed:?}");
        assert_eq!(narrow.state.screen, driver.state.screen, "{keys}");
        body(&mut narrow);
    }
}

/// A session that is begun with `--open`, watched as long as `demo`.
fn begun(line: &str, (width, height): (u16, u16)) -> TestSession {
    let (look, sweeper) = lab(incast, Default::default());
    let view = ConsoleView::parse(line).unwrap();
    let mut driver = TestSession::open_at(look, sweeper, EVERY, Size { width, height }, view);
    swept(&mut driver, 4);
    driver
}

/// A live source is ranked before its counters are read twice: the object of a view appears with the first interval.
#[test]
fn an_object_that_needs_an_interval_is_waited_for() {
    let mut driver = watching(long_incast);
    swept(&mut driver, 4);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("1");
    let line = current_view(&driver.state).line();
    assert!(line.contains("at=hot-spot:"), "{line}");
    let (look, sweeper) = lab(long_incast, Default::default());
    let open = || ConsoleView::parse(&line).unwrap();
    let size = Size { width: 120, height: 40 };
    let mut unread = TestSession::open_at(look, sweeper, EVERY, size, open());
    assert!(unread.state.opening.is_some(), "{:?}", unread.state.messages);
    swept(&mut unread, 4);
    let said = |driver: &TestSession| {
        driver.state.messages.iter().filter(|said| said.text.contains("FD-6333")).count()
    };
    assert_eq!((said(&unread), unread.state.opening.is_none()), (0, true));
    assert_eq!(current_view(&unread.state).line(), line);
    // A key that moves ends the wait, and the cursor stays where it was put.
    let (look, sweeper) = lab(long_incast, Default::default());
    let mut moved = TestSession::open_at(look, sweeper, EVERY, size, open());
    moved.press("j");
    assert!(moved.state.opening.is_none());
}

#[test]
fn an_opening_over_an_empty_list_ends() {
    let mut driver = demo();
    open(&mut driver, "links filter=nosuch at=link:spine-1[1]");
    let said = &driver.state.messages.last().unwrap().text;
    assert!(said.starts_with("FD-6333: no row matches the filter (81 without it)"), "{said}");
    assert!(driver.state.opening.is_none());
    // A list without rows of its own is waited for, until the operator moves.
    let mut driver = super::fixture::open_session("sim:demo");
    open(&mut driver, "hotspots at=port:spine-1[1]");
    assert!(driver.state.opening.is_some(), "{:?}", driver.state.messages);
    driver.press("down");
    assert!(driver.state.opening.is_none());
}

#[test]
fn a_view_opens_in_its_own_order() {
    let mut driver = demo();
    let order = |driver: &TestSession| driver.state.current().table().sort.clone();
    open(&mut driver, "hotspots 'view=most waiting'");
    let waits = order(&driver).expect("the view is an order");
    assert!(waits.1, "{waits:?}");
    open(&mut driver, "hotspots 'view=most waiting'");
    assert_eq!(order(&driver), Some(waits), "also where it is open already");
    open(&mut driver, "links sort=a");
    open(&mut driver, "links");
    assert_eq!(order(&driver), None);
}

/// A view from a larger screen opens as far as it exists here.
#[test]
fn a_view_of_another_size_opens_without_what_is_not_there() {
    let mut driver = demo();
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    open(&mut driver, "health view=events window=1min");
    let said = &driver.state.messages.last().unwrap().text;
    assert!(said.starts_with("FD-6334: view=events does not exist at this size: a larger screen"), "{said}");
    assert_eq!(driver.state.known.problems.window.words(), "1 min");
    let mut driver = super::fixture::open_session("sim:demo");
    open(&mut driver, "paths from=node01 to=node33 under=minhop");
    let said = &driver.state.messages.last().unwrap().text;
    assert!(said.starts_with("FD-6334: under=minhop: this session has no proposal of minhop"), "{said}");
    assert!(driver.state.screens.paths.trace.is_some());
    // With the proposal, the line comes back.
    driver.press("6 :preview space minhop enter");
    open(&mut driver, "paths from=node01 to=node33 under=minhop");
    let line = current_view(&driver.state).line();
    assert!(line.starts_with("paths from=node01 to=node33 under=minhop"), "{line}");
}

#[test]
fn what_does_not_exist_is_named_with_what_there_is() {
    for (line, words) in [
        ("cables", "a view begins with one of health, map, links"),
        ("map view=heat", "Map has no view 'heat': drawn, tree, switches, hosts"),
        ("links sort=heat", "this list has no field 'heat': "),
        ("links at=link:spine-9[1]", "spine-9"),
        ("health at=nothing", "'nothing' is not on Health; there is "),
        ("whatif at=opal", "'opal' is not on What-if; there is minhop"),
        ("map in=link:spine-1[1]", "is not a switch or a host"),
        ("links page=cable", "page=cable is the page of a cable; name it"),
        ("jobs by=load", "a view of jobs has no 'by'; it has view, filter, sort, at"),
        ("links filter=kind=switch-switch at=node01[1]", "has no row here"),
    ] {
        let mut driver = demo();
        open(&mut driver, line);
        let said = &driver.state.messages.last().unwrap().text;
        assert!(said.contains(words), "{line}: {said}");
        assert!(driver.state.opening.is_none(), "{line}");
    }
}

#[test]
fn c_copies_the_command_and_again_the_line_that_opens_the_view() {
    let mut driver = demo();
    driver.press("3 s c c c");
    assert_eq!(driver.copied.len(), 3);
    assert!(driver.copied[0].contains("show links --sort"), "{:?}", driver.copied);
    assert!(driver.copied[1].contains(" --open 'links sort="), "{:?}", driver.copied);
    assert_eq!(driver.copied[0], driver.copied[2]);
    driver.press("c j c");
    assert!(driver.copied[4].contains("show links"), "another row is another view: {:?}", driver.copied);
}

#[test]
fn a_terminal_opens_at_a_view() {
    let view = "links filter=kind=switch-switch sort=a at=link:rack2-leaf[7]";
    let mut session = Session::open(&["--source", "sim:demo", "--open", view], 120, 40);
    session.until("7 of 36, 81 in all");
    session.until("A▲");
    session.press("\x03");
    session.ended();
    session.assert_restored();
}
