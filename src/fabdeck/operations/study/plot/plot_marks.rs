//! The marks of series: eight shapes, so that figures can be read without colours.

use super::plot_style::SERIES_COLOURS;
use crate::operations::report::html::{HtmlWriter, number};

/// Half of the size of a mark.
const HALF: f64 = 4.0;

const SHAPES: usize = 8;

/// Dashes of the curves, by style.
const DASHES: [&str; 4] = ["none", "6 3", "2 3", "8 3 2 3"];

/// The class of a style's colour.
pub fn colour_class(style: usize) -> String {
    format!("s{}", style % SERIES_COLOURS)
}

pub fn dash(style: usize) -> &'static str {
    DASHES[style % DASHES.len()]
}

/// Draws the mark of a style. Styles of one colour have different shapes.
pub fn draw_mark(page: &mut HtmlWriter, style: usize, (x, y): (f64, f64)) {
    let shape = (style + style / SHAPES) % SHAPES;
    let at = |dx: f64, dy: f64| format!("{} {}", number(x + dx * HALF), number(y + dy * HALF));
    let path = match shape {
        0 => {
            let (x, y, half) = (number(x), number(y), number(HALF));
            page.element(
                "ellipse",
                &[("class", "solid"), ("cx", &x), ("cy", &y), ("rx", &half), ("ry", &half)],
                "",
            );
            return;
        }
        1 | 5 => format!("M{}L{}L{}L{}Z", at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)),
        2 | 6 => format!("M{}L{}L{}Z", at(0.0, -1.2), at(1.1, 1.0), at(-1.1, 1.0)),
        3 => format!("M{}L{}L{}L{}Z", at(0.0, -1.3), at(1.3, 0.0), at(0.0, 1.3), at(-1.3, 0.0)),
        4 => format!("M{}L{}L{}Z", at(0.0, 1.2), at(1.1, -1.0), at(-1.1, -1.0)),
        _ => format!("M{}L{}M{}L{}", at(-1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0), at(1.0, -1.0)),
    };
    let class = if shape < 5 { "solid" } else { "outline" };
    page.element("path", &[("class", class), ("d", &path)], "");
}
