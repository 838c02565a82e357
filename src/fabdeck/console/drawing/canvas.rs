//! Writes text into a buffer, cut at the edge of its area by display width.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::symbols::Symbols;
use super::theme::{Role, Theme};
use crate::console::model::layout;
use crate::console::model::mouse::{ClickTarget, ClickTargets};
use crate::operations::check::certificate_text::wrap_pairs;
use fabdeck_fabric::observe::{digits_in_groups, is_printable};

#[derive(Debug)]
pub struct Canvas<'b> {
    pub buffer: &'b mut Buffer,
    pub theme: &'b Theme,
    pub signs: Symbols,
    /// The place of the pane that was given the keys; `None` leaves them to the list of the screen.
    pub focus: Option<(u16, u16)>,
    /// What can be clicked of what is drawn.
    pub targets: ClickTargets,
}

/// Number of columns of a text in a terminal. A control character is drawn as a blank.
pub fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// Cuts a text to its room; `more` marks the cut.
pub fn truncate_text(text: &str, room: u16, more: &str) -> String {
    let clean = replace_controls(text);
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

/// Cuts a name in its middle, because both ends of a name distinguish it. Where this would lose a digit of a single word and
/// a cut at the end would not, the cut is there: `rack2-l…`.
pub fn shorten_name(name: &str, room: u16, more: &str) -> String {
    let clean = replace_controls(name);
    if width(&clean) <= room {
        return clean;
    }
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let middle = cut_middle(&clean, room, more);
    if let Some(between) = cut_between_words(&clean, room, more).filter(|cut| digits(cut) >= digits(&middle))
    {
        return between;
    }
    let all = digits(&clean);
    if digits(&middle) == all || room <= width(more) || clean.contains(' ') {
        return middle;
    }
    let head: String = clean.chars().take(usize::from(room - width(more))).collect::<String>() + more;
    if digits(&head) == all && width(&head) <= room { head } else { middle }
}

/// The name of a cable, with the line between its ends that they are cut around: `rack2-l…[7] ─ spine-1[3]`. Any other text is
/// cut as a name.
pub fn shorten_cable(name: &str, room: u16, signs: &Symbols) -> String {
    let mut ends = name.split(" - ");
    let (Some(first), Some(second), None) = (ends.next(), ends.next(), ends.next()) else {
        return shorten_name(name, room, signs.more);
    };
    let between = format!(" {} ", signs.rule);
    let Some(room) = room.checked_sub(width(&between)) else { return shorten_name(name, room, signs.more) };
    let left = width(first).min(room.saturating_sub(width(second).min(room / 2)));
    let [first, second] =
        [(first, left), (second, room - left)].map(|(end, room)| shorten_name(end, room, signs.more));
    format!("{first}{between}{second}")
}

/// Cuts whole words out of the middle of a name: of `storage01 mlx5_0` stay the host and the number of its device, `storage01…_0`. `None` where the first word and an end do not fit.
fn cut_between_words(clean: &str, room: u16, more: &str) -> Option<String> {
    // A label with its text is no name.
    if clean.contains(": ") {
        return None;
    }
    let borders = |signs: &'static [char]| {
        clean.char_indices().filter(move |(at, sign)| *at > 0 && signs.contains(sign)).map(|(at, _)| at)
    };
    let mut best: Option<(u16, &str, &str)> = None;
    for head_end in borders(&[' ']) {
        for tail_begin in borders(&[' ', '[', '_']).filter(|tail| *tail > head_end) {
            let (head, tail) = (&clean[..head_end], clean[tail_begin..].trim_start());
            let wide = width(head) + width(more) + width(tail);
            if wide <= room && best.is_none_or(|(held, ..)| wide > held) {
                best = Some((wide, head, tail));
            }
        }
    }
    best.map(|(_, head, tail)| format!("{head}{more}{tail}"))
}

fn cut_middle(clean: &str, room: u16, more: &str) -> String {
    let Some(room) = room.checked_sub(width(more)).filter(|room| *room > 0) else { return String::new() };
    let as_wide_as = |room: u16, signs: &mut dyn Iterator<Item = char>| -> Vec<char> {
        let mut used = 0;
        let fits = |sign: &char| {
            used += u16::try_from(sign.width().unwrap_or(0)).unwrap_or(0);
            used <= room
        };
        signs.take_while(fits).collect()
    };
    // In `node07 mlx5_0[1]` the host distinguishes more than the device, so the head gets more room: `node07…[1]`.
    let tail = if clean.contains(' ') { room / 3 } else { room / 2 };
    let head: String = as_wide_as(room - tail, &mut clean.chars()).into_iter().collect();
    let tail = as_wide_as(room - width(&head), &mut clean.chars().rev());
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}{more}{tail}")
}

/// Replaces control characters, which a terminal would obey.
fn replace_controls(text: &str) -> String {
    text.chars().map(|sign| if is_printable(sign) { sign } else { ' ' }).collect()
}

impl<'b> Canvas<'b> {
    pub fn new(buffer: &'b mut Buffer, theme: &'b Theme, signs: Symbols) -> Self {
        Self { buffer, theme, signs, focus: None, targets: ClickTargets::default() }
    }

    /// Lists what can be clicked in an area.
    pub fn add_target(&mut self, area: Rect, target: ClickTarget) {
        let Rect { x, y, width, height } = area.intersection(self.buffer.area);
        self.targets.add(layout::Rect::new(x, y, width, height), target);
    }

    /// Lists a row of a list as one that can be clicked.
    pub fn add_row_target(&mut self, area: Rect, y: u16, target: ClickTarget) {
        let row = Rect { y: area.y + y, height: u16::from(y < area.height), ..area };
        self.add_target(row, target);
    }

    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes into a row of an area from a column on, and returns the column behind the text.
    pub fn draw_text(&mut self, area: Rect, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        self.draw_styled(area, x, y, text, style)
    }

    pub fn draw_styled(&mut self, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if x >= area.width || y >= area.height || text.is_empty() {
            return x;
        }
        let text = truncate_text(text, area.width - x, self.signs.more);
        self.buffer.set_string(area.x + x, area.y + y, &text, style);
        x + width(&text)
    }

    /// Writes a name, cut in its middle if it does not fit.
    pub fn draw_name(&mut self, area: Rect, x: u16, y: u16, name: &str, role: Role) -> u16 {
        let name = shorten_name(name, area.width.saturating_sub(x), self.signs.more);
        self.draw_text(area, x, y, &name, role)
    }

    /// Writes the name of a cable.
    pub fn draw_cable(&mut self, area: Rect, x: u16, y: u16, name: &str, role: Role) -> u16 {
        let name = shorten_cable(name, area.width.saturating_sub(x), &self.signs);
        self.draw_text(area, x, y, &name, role)
    }

    /// Writes into a heading which rows of a scrolled list are visible, and that there are more.
    pub fn draw_extent(&mut self, heading: Rect, from: u16, top: usize, height: usize, rows: usize) {
        let room = heading.width.saturating_sub(from + 1);
        let extent = self.extent_text(top, height, rows, room);
        self.draw_right_aligned(heading, from + 1, 0, &extent, Role::Key);
    }

    /// Which rows are visible, and signs that there are more; signs alone where there is little room, and nothing if
    /// all rows are visible.
    pub fn extent_text(&self, top: usize, height: usize, rows: usize, room: u16) -> String {
        if rows <= height {
            return String::new();
        }
        let last = (top + height).min(rows);
        let above = if top > 0 { self.signs.up } else { "" };
        let below = if last < rows { self.signs.down } else { "" };
        let [first, last, rows] = [top + 1, last, rows].map(digits_in_groups);
        let long = format!("{first}-{last} of {rows} {above}{below}");
        if width(&long) <= room { long } else { format!("{above}{below}") }
    }

    /// Writes at the right edge of a row, unless that would reach left of `from`.
    pub fn draw_right_aligned(&mut self, area: Rect, from: u16, y: u16, text: &str, role: Role) {
        let x = area.width.saturating_sub(width(text));
        if x >= from {
            self.draw_text(area, x, y, text, role);
        }
    }

    /// Applies a style to a whole row.
    pub fn fill_row(&mut self, area: Rect, y: u16, role: Role) {
        let area = area.intersection(self.buffer.area);
        if y < area.height {
            let row = Rect::new(area.x, area.y + y, area.width, 1);
            self.buffer.set_style(row, self.theme.style(role));
        }
    }

    /// Clears an area.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        let style = self.style(Role::Text);
        for y in 0..area.height {
            let blank = " ".repeat(area.width.into());
            self.buffer.set_string(area.x, area.y + y, blank, style);
        }
    }

    /// Writes a label and a text in each row; a long text continues in the next row. Returns the number of rows.
    pub fn draw_pairs(&mut self, area: Rect, pairs: &[(&str, String)], skip: usize) -> u16 {
        let (label, rows) = wrap_pairs(pairs, area.width.into());
        let label = u16::try_from(label).unwrap_or(u16::MAX);
        let mut y = 0;
        for (name, line) in rows.into_iter().skip(skip).take(area.height.into()) {
            self.draw_text(Rect { width: area.width.min(label), ..area }, 0, y, name, Role::Label);
            self.draw_text(area, label + 2, y, &line, Role::Text);
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
        assert_eq!(shorten_name("leaf", 4, "~"), "leaf");
        assert_eq!(shorten_name("rack12-row3-leaf03", 13, "…"), "rack12…leaf03");
        assert_eq!(shorten_name("node07 mlx5_0[1]", 10, "…"), "node07…[1]");
        assert_eq!(shorten_name("rack12-row3-leaf03", 14, ".."), "rack12..leaf03");
        assert_eq!(shorten_name("叶子叶子叶", 6, "~"), "叶~叶");
        assert_eq!((shorten_name("leaf", 1, "~").as_str(), shorten_name("leaf", 0, "~").as_str()), ("", ""));
        assert_eq!(shorten_name("leaf", 2, "~"), "l~");
        assert_eq!(shorten_name("a\u{1b}b", 9, "~"), "a b");
    }

    #[test]
    fn both_ends_of_a_cable_keep_their_ports() {
        let cut = |name: &str, room| shorten_cable(name, room, &Symbols::UNICODE);
        assert_eq!(cut("rack3-leaf[10] - spine-2[6]", 40), "rack3-leaf[10] ─ spine-2[6]");
        assert_eq!(cut("rack3-leaf[10] - spine-2[6]", 24), "rack3…f[10] ─ spine-2[6]");
        assert_eq!(shorten_cable("a[1] - b[2]", 40, &Symbols::ASCII), "a[1] - b[2]");
        assert_eq!(cut("a - b - c", 40), "a - b - c", "no name of a cable");
        assert_eq!(cut("spine-2", 40), "spine-2");
    }

    #[test]
    fn text_is_cut_by_display_width() {
        assert_eq!(truncate_text("leaf", 4, "~"), "leaf");
        assert_eq!(truncate_text("leaves", 4, "~"), "lea~");
        assert_eq!(truncate_text("叶子叶", 5, "~"), "叶子~");
        assert_eq!(
            (truncate_text("ab", 0, "~").as_str(), truncate_text("a\u{1b}b", 9, "~").as_str()),
            ("", "a b")
        );
    }
}
