//! The bytes that turn one frame into the next; as few as possible, because a session may run over a slow connection.

use std::io::{self, Write};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::console::drawing::color_depth::ansi_index;

/// Largest number of unchanged cells that are sent again, because moving the cursor over them would take more bytes.
const MAX_BRIDGED_CELLS: u16 = 6;

/// Modifiers that a frame uses, with their SGR codes.
const MODIFIERS: [(Modifier, &str); 4] =
    [(Modifier::BOLD, "1"), (Modifier::DIM, "2"), (Modifier::UNDERLINED, "4"), (Modifier::REVERSED, "7")];

/// The attributes that the terminal applies to the next cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

const PLAIN_PEN: Pen = Pen { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

/// Sets the background colour with which the terminal clears.
pub fn set_background(out: &mut impl Write, blank: Style) -> io::Result<()> {
    blank.bg.map_or(Ok(()), |bg| write!(out, "\x1b[{}m", colour_code(bg, 40)))
}

/// Writes the cells that differ. Both frames have the same area.
pub fn write_changes(out: &mut impl Write, before: &Buffer, next: &Buffer) -> io::Result<()> {
    let area = next.area;
    let mut pen = PLAIN_PEN;
    for y in 0..area.height {
        // Column of the terminal's cursor in this row.
        let mut at: Option<u16> = None;
        // Overwriting half of a wide character erases its other half; all cells up to this column are sent again.
        let mut torn = 0;
        let mut x = 0;
        while x < area.width {
            let cell = &next[(x, y)];
            let wide = columns(cell);
            // A wide character covers the cells behind it, which count as changed with it.
            let covered = x..(x + wide).min(area.width);
            let mut changed = covered.clone().filter(|x| before[(*x, y)] != next[(*x, y)]).peekable();
            if changed.peek().is_some() || x < torn {
                torn = covered.map(|x| x + columns(&before[(x, y)])).max().unwrap_or(0).max(torn);
                let from = at.filter(|at| x - at <= MAX_BRIDGED_CELLS && can_bridge(next, y, *at..x, pen));
                match from {
                    Some(from) => (from..x).try_for_each(|x| write!(out, "{}", next[(x, y)].symbol()))?,
                    None => write!(out, "\x1b[{};{}H", y + 1, x + 1)?,
                }
                if !looks_alike(cell, pen) {
                    write_style(out, &mut pen, cell)?;
                }
                write!(out, "{}", cell.symbol())?;
                at = Some(x + wide);
            }
            x += wide;
        }
    }
    if pen == PLAIN_PEN { Ok(()) } else { write!(out, "\x1b[0m") }
}

/// Number of columns of a cell's character.
fn columns(cell: &Cell) -> u16 {
    u16::try_from(cell.symbol().width().max(1)).unwrap_or(1)
}

/// Whether these cells look right with the current attributes.
fn can_bridge(next: &Buffer, y: u16, cells: std::ops::Range<u16>, pen: Pen) -> bool {
    cells.into_iter().all(|x| looks_alike(&next[(x, y)], pen) && next[(x, y)].symbol().width() == 1)
}

/// Whether a cell looks the same in these attributes. A blank does not show its foreground colour.
fn looks_alike(cell: &Cell, pen: Pen) -> bool {
    let lined = Modifier::UNDERLINED | Modifier::REVERSED;
    let blank = cell.symbol() == " " && !cell.modifier.intersects(lined) && !pen.modifier.intersects(lined);
    cell.bg == pen.bg && (blank || (cell.fg == pen.fg && cell.modifier == pen.modifier))
}

fn write_style(out: &mut impl Write, pen: &mut Pen, cell: &Cell) -> io::Result<()> {
    let mut codes: Vec<String> = Vec::new();
    // Not every terminal can switch off single modifiers, so all attributes are reset.
    if !cell.modifier.contains(pen.modifier) {
        codes.push("0".to_owned());
        *pen = PLAIN_PEN;
    }
    let begun = cell.modifier - pen.modifier;
    codes
        .extend(MODIFIERS.iter().filter(|(one, _)| begun.contains(*one)).map(|(_, code)| (*code).to_owned()));
    for (new, old, base) in [(cell.fg, pen.fg, 30), (cell.bg, pen.bg, 40)] {
        if new != old {
            codes.push(colour_code(new, base));
        }
    }
    *pen = Pen { fg: cell.fg, bg: cell.bg, modifier: cell.modifier };
    if codes.is_empty() { Ok(()) } else { write!(out, "\x1b[{}m", codes.join(";")) }
}

/// SGR code of a colour, for the foreground (30) or the background (40).
fn colour_code(colour: Color, base: u16) -> String {
    match colour {
        Color::Indexed(index) => format!("{};5;{index}", base + 8),
        Color::Rgb(red, green, blue) => format!("{};2;{red};{green};{blue}", base + 8),
        named => match ansi_index(named) {
            Some(dark @ 0..8) => (base + u16::from(dark)).to_string(),
            Some(bright) => (base + 52 + u16::from(bright)).to_string(),
            None => (base + 9).to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn painted(before: &Buffer, next: &Buffer) -> String {
        let mut out = Vec::new();
        write_changes(&mut out, before, next).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn row(text: &[(&str, Style)]) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        let mut x = 0;
        for (text, style) in text {
            buffer.set_string(x, 0, text, *style);
            x += u16::try_from(text.width()).unwrap();
        }
        buffer
    }

    #[test]
    fn blanks_are_bridged_and_colours_sent_once() {
        let red = Style::new().fg(Color::Red);
        let empty = Buffer::empty(Rect::new(0, 0, 40, 1));
        let next =
            row(&[("ab", red), ("   ", Style::new()), ("cd", red), ("          ", Style::new()), ("e", red)]);
        assert_eq!(painted(&empty, &next), "\x1b[1;1H\x1b[31mab   cd\x1b[1;18He\x1b[0m");
        assert_eq!(painted(&next, &next), "");
        let bold = row(&[("ab", red.add_modifier(Modifier::BOLD))]);
        assert_eq!(painted(&row(&[("ab", red)]), &bold), "\x1b[1;1H\x1b[1;31mab\x1b[0m");
    }

    fn any_row() -> impl Strategy<Value = Buffer> {
        let colours = prop_oneof![Just(Color::Reset), Just(Color::Red), Just(Color::Rgb(1, 2, 3))];
        let modifiers = prop_oneof![
            Just(Modifier::empty()),
            Just(Modifier::BOLD),
            Just(Modifier::UNDERLINED),
            Just(Modifier::REVERSED)
        ];
        let piece = ("[ a-c叶]{0,6}", colours.clone(), colours, modifiers);
        proptest::collection::vec(piece, 0..6).prop_map(|pieces| {
            let styled = pieces.iter().map(|(text, fg, bg, modifier)| {
                (text.as_str(), Style::new().fg(*fg).bg(*bg).add_modifier(*modifier))
            });
            row(&styled.collect::<Vec<_>>())
        })
    }

    /// Returns the cells of the terminal after the bytes of these frames; tests compare that with the last frame
    /// drawn alone.
    fn shown(frames: &[&Buffer]) -> Vec<String> {
        let mut screen = vt100::Parser::new(1.try_into().unwrap(), 40.try_into().unwrap(), 0);
        let mut before = Buffer::empty(Rect::new(0, 0, 40, 1));
        for frame in frames {
            screen.process(painted(&before, frame).as_bytes());
            before = (*frame).clone();
        }
        let cell = |x| {
            let cell = screen.screen().cell(0, x).unwrap();
            let blank = cell.contents().trim().is_empty();
            let colour =
                if blank && !cell.inverse() && !cell.underline() { None } else { Some(cell.fgcolor()) };
            format!(
                "{:?} {:?} {:?} {} {}",
                cell.contents().trim(),
                colour,
                cell.bgcolor(),
                cell.inverse(),
                cell.underline()
            )
        };
        (0..40).map(cell).collect()
    }

    proptest! {
        #[test]
        fn a_terminal_ends_with_the_last_frame(first in any_row(), second in any_row()) {
            prop_assert_eq!(shown(&[&first, &second]), shown(&[&second]));
        }
    }
}
