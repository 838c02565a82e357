//! Rules of drawing that a screen could break without a frame looking wrong at first sight.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::fixture::{appearance, frame, open_session, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::{Quantity, Role};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::model::layout::Size;

fn buffer(driver: &TestSession) -> Buffer {
    frame(&driver.state, &appearance("dark", ColorDepth::True))
}

fn colour(role: Role) -> Option<Color> {
    appearance("dark", ColorDepth::True).theme.style(role).fg
}

/// The session with a mark, and all engines asked.
fn previewed(element: &str, width: u16, height: u16) -> TestSession {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver.press(":").send_input(SessionInput::Paste(format!("mark {element}"))).press("enter 6 p");
    driver
}

/// What is right with routes that lose pairs is not drawn as if they were right.
#[test]
fn a_row_that_loses_pairs_has_no_green() {
    let mut driver = previewed("switch:rack2-leaf", 160, 40);
    // The row is below those that are clean.
    driver.press("end");
    let drawn = buffer(&driver);
    let screen = text(&drawn);
    let greens = |y: usize| {
        let row = (0..drawn.area.width).map(|x| &drawn[(x, y as u16)]);
        row.filter(|cell| cell.symbol() != " " && Some(cell.fg) == colour(Role::Good)).count()
    };
    let (mut losing, mut clean) = (0, 0);
    for (y, row) in screen.lines().enumerate() {
        if row.contains(" lost") && row.contains("free") {
            assert_eq!(greens(y), 0, "{row}");
            losing += 1;
        }
        clean += usize::from(row.contains("clean") && greens(y) > 0);
    }
    assert!(losing > 0, "{screen}");
    let clean_screen = buffer(&previewed("switch:spine-2", 160, 40));
    let good = clean_screen.content().iter().filter(|cell| Some(cell.fg) == colour(Role::Good)).count();
    assert!(clean + good > 0, "routes that lose nothing have green: {}", text(&clean_screen));
}

/// The cursor of the map is on the same switch on both sides.
#[test]
fn live_and_preview_share_the_cursor_of_the_map() {
    let mut driver = previewed("switch:spine-2", 200, 60);
    // The Map shows its drawn view, whose cursor both sides share.
    driver.press("2");
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
    }
    driver.press("6");
    let cursors = |driver: &TestSession| -> Vec<(u16, u16)> {
        let drawn = buffer(driver);
        let wanted = appearance("dark", ColorDepth::True).theme.style(Role::Cursor).bg;
        let cells = (7..31).flat_map(|y| (0..200).map(move |x| (x, y)));
        cells.filter(|at| Some(drawn[*at].bg) == wanted).collect()
    };
    // The row of the cursor, and its middle: the texts in a box differ, for only the preview has marks.
    let place = |cells: Vec<(u16, u16)>| -> Option<(u16, u16)> {
        let (first, last) = (cells.first()?, cells.last()?);
        Some(((first.0 + last.0) / 2, first.1))
    };
    let sides = |driver: &TestSession| {
        let all = cursors(driver);
        let (left, right): (Vec<_>, Vec<_>) = all.into_iter().partition(|(x, _)| *x < 100);
        [place(left), place(right.into_iter().map(|(x, y)| (x - 100, y)).collect())]
    };
    let mut seen = Vec::new();
    for key in ["tab", "tab", "right", "right", "tab", "left", "tab", "tab"] {
        driver.press(key);
        let [left, right] = sides(&driver);
        let near = |a: (u16, u16), b: (u16, u16)| a.0.abs_diff(b.0) < 12 && a.1 == b.1;
        let is_shared = left.zip(right).map_or(left == right, |(left, right)| near(left, right));
        assert!(is_shared, "{key}: {left:?} {right:?} {}", text(&buffer(&driver)));
        seen.extend(left);
    }
    seen.dedup();
    assert!(seen.len() > 1, "the cursor was seen, and moved: {seen:?}");
}

/// Routes in force have the colour of load, those that are only proposed that of a preview.
#[test]
fn the_bars_of_a_histogram_say_what_is_real() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    driver.press("8 p V");
    let drawn = buffer(&driver);
    let screen = text(&drawn);
    let head = screen.lines().position(|row| row.contains("in force") && row.contains("sar")).expect(&screen);
    let row = screen.lines().nth(head).unwrap();
    let at = |word: &str| row.chars().count() - row[row.find(word).unwrap()..].chars().count();
    let (real, proposed) = (colour(Quantity::Load.step_role(3)), colour(Role::Preview));
    let mut bars = [0, 0];
    for y in head as u16 + 1..drawn.area.height {
        for x in 0..drawn.area.width {
            let cell = &drawn[(x, y)];
            if cell.symbol() != "━" {
                continue;
            }
            let side = usize::from(usize::from(x) >= at("sar"));
            assert_eq!(Some(cell.fg), [real, proposed][side], "{x},{y}: {screen}");
            bars[side] += 1;
        }
    }
    assert!(bars.iter().all(|count| *count > 3), "{bars:?}: {screen}");
    assert_ne!(real, proposed);
}
