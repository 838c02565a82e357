//! Views as lines: what a session shows opens again from the line that it copies.

use super::pty::Session;
use super::test_session::TestSession;
use super::watches::{incast, shown, swept, watching};
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
    }
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
