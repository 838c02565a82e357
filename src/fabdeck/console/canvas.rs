//! Writes text into a buffer, cut at the edge of its area by what a terminal will show of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::signs::Signs;
use super::theme::{Role, Theme};
use crate::session::paired;
use fabdeck_fabric::observe::is_printable;

pub struct Canvas<'b> {
    pub buffer: &'b mut Buffer,
    pub theme: &'b Theme,
    pub signs: Signs,
}

/// How wide a terminal shows it. Control signs are drawn as a blank.
pub fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// As much as fits, with a sign for what was cut off.
pub fn fit(text: &str, room: u16, more: &str) -> String {
    let clean = shown(text);
    if width(&clean) <= room {
        return clean;
    }
    let room = room.saturating_sub(width(more));
    let mut cut = String::new();
    let mut used = 0;
    for sign in clean.chars() {
        let wide = u16::try_from(sign.width().unwrap_or(0)).unwrap_or(0);
        if used + wide > room {
            break;
        }
        used += wide;
        cut.push(sign);
    }
    if room > 0 {
        cut.push_str(more);
    }
    cut
}

/// A name cut to its room. What goes is the middle: names are told apart by both of their ends.
pub fn shorten(name: &str, room: u16, more: &str) -> String {
    let clean = shown(name);
    if width(&clean) <= room {
        return clean;
    }
    let Some(room) = room.checked_sub(width(more)).filter(|room| *room > 0) else { return String::new() };
    let as_wide_as = |room: u16, signs: &mut dyn Iterator<Item = char>| -> Vec<char> {
        let mut used = 0;
        let fits = |sign: &char| {
            used += u16::try_from(sign.width().unwrap_or(0)).unwrap_or(0);
            used <= room
        };
        signs.take_while(fits).collect()
    };
    // Of `node07 mlx5_0[1]` it is the host that tells it apart, and the device that hardly does: `node07…[1]`.
    let tail = if clean.contains(' ') { room / 3 } else { room / 2 };
    let head: String = as_wide_as(room - tail, &mut clean.chars()).into_iter().collect();
    let tail = as_wide_as(room - width(&head), &mut clean.chars().rev());
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}{more}{tail}")
}

/// Control signs would do something to a terminal.
fn shown(text: &str) -> String {
    text.chars().map(|sign| if is_printable(sign) { sign } else { ' ' }).collect()
}

impl Canvas<'_> {
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes into a row of an area, from a column of it on; says the column behind it.
    pub fn text(&mut self, area: Rect, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        self.styled(area, x, y, text, style)
    }

    pub fn styled(&mut self, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if x >= area.width || y >= area.height || text.is_empty() {
            return x;
        }
        let text = fit(text, area.width - x, self.signs.more);
        self.buffer.set_string(area.x + x, area.y + y, &text, style);
        x + width(&text)
    }

    /// A name, cut in its middle where it does not fit.
    pub fn name(&mut self, area: Rect, x: u16, y: u16, name: &str, role: Role) -> u16 {
        let name = shorten(name, area.width.saturating_sub(x), self.signs.more);
        self.text(area, x, y, &name, role)
    }

    /// In the heading of what is scrolled: which of its rows are in sight, and that there are more.
    pub fn extent(&mut self, heading: Rect, from: u16, top: usize, height: usize, rows: usize) {
        if rows <= height {
            return;
        }
        let last = (top + height).min(rows);
        let above = if top > 0 { self.signs.up } else { "" };
        let below = if last < rows { self.signs.down } else { "" };
        let said = format!("{}-{last} of {rows} {above}{below}", top + 1);
        let short = format!("{above}{below}");
        let room = heading.width.saturating_sub(from + 1);
        self.right(heading, from + 1, 0, if width(&said) <= room { &said } else { &short }, Role::Key);
    }

    /// At the right edge of a row; not over anything left of `from`.
    pub fn right(&mut self, area: Rect, from: u16, y: u16, text: &str, role: Role) {
        let x = area.width.saturating_sub(width(text));
        if x >= from {
            self.text(area, x, y, text, role);
        }
    }

    /// Gives a whole row a style.
    pub fn wash(&mut self, area: Rect, y: u16, role: Role) {
        let area = area.intersection(self.buffer.area);
        if y < area.height {
            let row = Rect::new(area.x, area.y + y, area.width, 1);
            self.buffer.set_style(row, self.theme.style(role));
        }
    }

    /// Empties an area.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        let style = self.style(Role::Text);
        for y in 0..area.height {
            let blank = " ".repeat(area.width.into());
            self.buffer.set_string(area.x, area.y + y, blank, style);
        }
    }

    /// Label and text, a pair a row; long texts go on in the next row. Says how many rows it took.
    pub fn pairs(&mut self, area: Rect, pairs: &[(&str, String)], skip: usize) -> u16 {
        let (label, rows) = paired(pairs, area.width.into());
        let label = u16::try_from(label).unwrap_or(u16::MAX);
        let mut y = 0;
        for (name, line) in rows.into_iter().skip(skip).take(area.height.into()) {
            self.text(area, 0, y, name, Role::Label);
            self.text(area, label + 2, y, &line, Role::Text);
            y += 1;
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shorten("leaf", 4, "~"), "leaf");
        assert_eq!(shorten("rack12-row3-leaf03", 13, "…"), "rack12…leaf03");
        assert_eq!(shorten("node07 mlx5_0[1]", 10, "…"), "node07…[1]");
        assert_eq!(shorten("rack12-row3-leaf03", 14, ".."), "rack12..leaf03");
        assert_eq!(shorten("叶子叶子叶", 6, "~"), "叶~叶");
        assert_eq!((shorten("leaf", 1, "~").as_str(), shorten("leaf", 0, "~").as_str()), ("", ""));
        assert_eq!(shorten("leaf", 2, "~"), "l~");
        assert_eq!(shorten("a\u{1b}b", 9, "~"), "a b");
    }

    #[test]
    fn text_is_cut_by_what_is_seen() {
        assert_eq!(fit("leaf", 4, "~"), "leaf");
        assert_eq!(fit("leaves", 4, "~"), "lea~");
        assert_eq!(fit("叶子叶", 5, "~"), "叶子~");
        assert_eq!((fit("ab", 0, "~").as_str(), fit("a\u{1b}b", 9, "~").as_str()), ("", "a b"));
    }
}
