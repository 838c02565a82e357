//! Trouble is told where it is hidden: in closed groups of the tree, on the page of messages, on a narrow screen.

use super::fixture::{appearance, frame, open_session, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn line(driver: &TestSession, part: &str) -> String {
    let all = shown(driver);
    all.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {all}")).to_owned()
}

/// The first row of the demo is its spines: one of them has a weak cable.
#[test]
fn a_closed_group_tells_what_is_inside() {
    let mut driver = open_session("sim:demo");
    driver.press("g enter");
    assert!(line(&driver, "+ spines").contains("1 degraded"), "{}", shown(&driver));
    assert!(line(&driver, "- leaves").contains("1 degraded"), "{}", shown(&driver));
    driver.press(":mark space switch:spine-1 enter 2");
    assert!(line(&driver, "+ spines").ends_with("1 degraded, 1 marked"), "{}", shown(&driver));
    driver.press(":mark space host:node01 enter 2");
    for group in ["+ racks", "+ hosts"] {
        assert!(line(&driver, group).ends_with("1 marked"), "{}", shown(&driver));
    }
    driver.press("F 2");
    assert!(line(&driver, "+ spines").ends_with("1 degraded"), "{}", shown(&driver));
    assert!(line(&driver, "+ hosts").ends_with("45"), "{}", shown(&driver));
}

#[test]
fn a_group_has_the_colour_of_its_worst() {
    let mut driver = open_session("sim:demo");
    driver.press("g enter down");
    let look = appearance("dark", ColorDepth::True);
    let buffer = frame(&driver.state, &look);
    let all = text(&buffer);
    let y = all.lines().position(|line| line.contains("+ spines")).unwrap();
    let row = all.lines().nth(y).unwrap();
    let x = row.chars().count() - "1 degraded".len();
    assert_eq!(buffer[(x as u16, y as u16)].style().fg, look.theme.style(Role::LinkDegraded).fg, "{all}");
}

#[test]
fn a_mark_on_a_cable_is_shown_by_its_switch_and_its_group() {
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter f 2");
    assert!(shown(&driver).contains("a link is marked"), "{}", shown(&driver));
    for group in ["- spines", "- leaves"] {
        assert!(line(&driver, group).contains("1 marked"), "{}", shown(&driver));
    }
}

#[test]
fn unread_warnings_are_announced_until_they_are_read() {
    let mut driver = open_session("sim:switch648,faults=1%");
    let header = |driver: &TestSession| shown(driver).lines().next().unwrap().to_owned();
    assert!(header(&driver).contains("1 warning: M"), "{}", header(&driver));
    driver.press("M");
    assert!(shown(&driver).contains("FN-512"), "{}", shown(&driver));
    driver.press("esc");
    assert!(!header(&driver).contains("warning"), "{}", header(&driver));
}

#[test]
fn a_narrow_header_keeps_source_marks_and_read_only() {
    for source in ["sim:demo", "sim:switch648,faults=1%"] {
        let mut driver = open_session(source);
        driver.press("3 f down f");
        for width in [40, 60, 80] {
            driver.send_input(SessionInput::Resized(Size { width, height: 12 }));
            let all = shown(&driver);
            let header = all.lines().next().unwrap();
            assert!(header.starts_with(if width == 40 { " SIM  s" } else { " SIM  sim" }), "{header}");
            assert!(header.contains("✗ 2") && header.contains("read-only"), "{header}");
            // The size goes first, and is there again where there is room.
            assert!(width == 60 || header.contains("switches") == (width == 80), "{header}");
        }
    }
}
