//! A frame as an SVG picture, cell by cell as a terminal shows it. It has no scripts and needs no fonts but one of fixed
//! width.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::color_depth::ansi_index;
use crate::operations::report::html::{HtmlWriter, number};

/// Width and height of a cell, the size of its font, and the distance of its baseline from its top.
const CELL: (f64, f64) = (8.4, 18.0);
const FONT_SIZE: &str = "14";
const BASELINE: f64 = 13.5;
const MARGIN: f64 = 10.0;

/// The colours where a cell has none of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PictureGround {
    pub text: [u8; 3],
    pub paper: [u8; 3],
}

impl PictureGround {
    pub const DARK: Self = Self { text: [0xc9, 0xd1, 0xd9], paper: [0x0d, 0x11, 0x17] };
    pub const LIGHT: Self = Self { text: [0x24, 0x29, 0x2f], paper: [0xff, 0xff, 0xff] };

    /// The ground that fits a colour of text: a dark one below light text.
    pub fn for_text(colour: Color) -> Self {
        match rgb(colour) {
            Some([red, green, blue]) if u16::from(red) + u16::from(green) + u16::from(blue) < 300 => {
                Self::LIGHT
            }
            _ => Self::DARK,
        }
    }
}

/// How a run of cells looks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CellLook {
    text: [u8; 3],
    paper: [u8; 3],
    modifier: Modifier,
}

impl CellLook {
    fn of(cell: &Cell, ground: PictureGround) -> Self {
        let (mut text, mut paper) =
            (rgb(cell.fg).unwrap_or(ground.text), rgb(cell.bg).unwrap_or(ground.paper));
        if cell.modifier.contains(Modifier::REVERSED) {
            (text, paper) = (paper, text);
        }
        let shown = Modifier::BOLD | Modifier::DIM | Modifier::UNDERLINED | Modifier::ITALIC;
        Self { text, paper, modifier: cell.modifier & shown }
    }
}

/// The picture of a frame.
pub fn screen_svg(buffer: &Buffer, ground: PictureGround, title: &str) -> String {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (width, height) = (columns * CELL.0 + 2.0 * MARGIN, rows * CELL.1 + 2.0 * MARGIN);
    let [wide, high] = [width, height].map(number);
    let view = format!("0 0 {wide} {high}");
    let mut picture = HtmlWriter::default();
    let font = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
    picture.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("width", &wide),
            ("height", &high),
            ("viewBox", &view),
            ("font-family", font),
            ("font-size", FONT_SIZE),
        ],
    );
    picture.element("title", &[], title);
    let paper = hex(ground.paper);
    picture.element("rect", &[("width", "100%"), ("height", "100%"), ("rx", "8"), ("fill", &paper)], "");
    for y in 0..buffer.area.height {
        draw_row(&mut picture, buffer, y, ground);
    }
    picture.finish()
}

/// Draws the cells of a row: those that look alike are one rectangle and one text.
fn draw_row(picture: &mut HtmlWriter, buffer: &Buffer, y: u16, ground: PictureGround) {
    let mut x = 0;
    while x < buffer.area.width {
        let look = CellLook::of(&buffer[(x, y)], ground);
        let mut end = x + 1;
        while end < buffer.area.width && CellLook::of(&buffer[(end, y)], ground) == look {
            end += 1;
        }
        draw_run(picture, buffer, (x, end, y), look, ground);
        x = end;
    }
}

fn draw_run(
    picture: &mut HtmlWriter,
    buffer: &Buffer,
    (from, to, y): (u16, u16, u16),
    look: CellLook,
    ground: PictureGround,
) {
    let left = |x: u16| MARGIN + f64::from(x) * CELL.0;
    let top = MARGIN + f64::from(y) * CELL.1;
    if look.paper != ground.paper {
        let [x, y, width, height] = [left(from), top, f64::from(to - from) * CELL.0, CELL.1].map(number);
        let fill = hex(look.paper);
        picture.element(
            "rect",
            &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("fill", &fill)],
            "",
        );
    }
    // Blanks at both ends draw nothing, unless they are underlined.
    let is_blank = |x: &u16| buffer[(*x, y)].symbol().trim().is_empty();
    let is_lined = look.modifier.contains(Modifier::UNDERLINED);
    let cells = || (from..to).filter(|x| is_lined || !is_blank(x));
    let (Some(first), Some(last)) = (cells().next(), cells().next_back()) else { return };
    let text: String = (first..=last).map(|x| buffer[(x, y)].symbol()).collect();
    let [x, baseline, length] =
        [left(first), top + BASELINE, f64::from(last + 1 - first) * CELL.0].map(number);
    let fill = hex(look.text);
    let mut attributes = vec![
        ("x", x.as_str()),
        ("y", &baseline),
        ("textLength", &length),
        ("lengthAdjust", "spacingAndGlyphs"),
        ("fill", &fill),
        ("xml:space", "preserve"),
    ];
    let styles = [
        (Modifier::BOLD, "font-weight", "bold"),
        (Modifier::DIM, "opacity", "0.7"),
        (Modifier::UNDERLINED, "text-decoration", "underline"),
        (Modifier::ITALIC, "font-style", "italic"),
    ];
    for (modifier, name, value) in styles {
        if look.modifier.contains(modifier) {
            attributes.push((name, value));
        }
    }
    picture.element("text", &attributes, &text);
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The 16 colours of a terminal.
const SIXTEEN: [[u8; 3]; 16] = [
    [0x1b, 0x1f, 0x24],
    [0xcd, 0x31, 0x31],
    [0x0d, 0xbc, 0x79],
    [0xe5, 0xb5, 0x10],
    [0x24, 0x72, 0xc8],
    [0xbc, 0x3f, 0xbc],
    [0x11, 0xa8, 0xcd],
    [0xc9, 0xd1, 0xd9],
    [0x66, 0x70, 0x7b],
    [0xf1, 0x4c, 0x4c],
    [0x23, 0xd1, 0x8b],
    [0xf5, 0xd9, 0x4c],
    [0x6c, 0xb6, 0xff],
    [0xd6, 0x70, 0xd6],
    [0x29, 0xb8, 0xdb],
    [0xff, 0xff, 0xff],
];

/// A colour in red, green and blue; `None` for that of the terminal.
fn rgb(colour: Color) -> Option<[u8; 3]> {
    match colour {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        Color::Indexed(index) => Some(indexed(index)),
        named => ansi_index(named).map(indexed),
    }
}

/// A colour of the 256: the 16 of the terminal, a cube of 6 by 6 by 6, and 24 greys.
fn indexed(index: u8) -> [u8; 3] {
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => SIXTEEN[usize::from(index)],
        16..232 => {
            let at = index - 16;
            [level(at / 36), level(at / 6 % 6), level(at % 6)]
        }
        232.. => [8 + 10 * (index - 232); 3],
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn cells_that_look_alike_are_one_text_and_markup_is_escaped() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(1, 0, "<b>", Style::new().fg(Color::Rgb(1, 2, 3)));
        buffer.set_string(5, 0, "on", Style::new().bg(Color::Indexed(21)).add_modifier(Modifier::BOLD));
        let picture = screen_svg(&buffer, PictureGround::DARK, "a & b");
        assert_eq!(picture.matches("<text").count(), 2, "{picture}");
        assert!(picture.contains("fill=\"#010203\" xml:space=\"preserve\">&lt;b&gt;</text>"), "{picture}");
        assert!(picture.contains("width=\"16.8\" height=\"18\" fill=\"#0000ff\""), "{picture}");
        assert!(picture.contains("font-weight=\"bold\">on</text>"), "{picture}");
        assert!(picture.contains("<title>a &amp; b</title>"), "{picture}");
    }

    #[test]
    fn reversed_cells_change_their_colours_and_dark_text_has_light_paper() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
        buffer.set_string(0, 0, "xy", Style::new().add_modifier(Modifier::REVERSED));
        let picture = screen_svg(&buffer, PictureGround::LIGHT, "");
        assert!(picture.contains("fill=\"#24292f\"></rect>"), "{picture}");
        assert!(picture.contains("fill=\"#ffffff\" xml:space"), "{picture}");
        assert_eq!(PictureGround::for_text(Color::Rgb(0x24, 0x29, 0x2f)), PictureGround::LIGHT);
        assert_eq!(PictureGround::for_text(Color::Reset), PictureGround::DARK);
    }
}
