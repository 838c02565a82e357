//! Draws the line that goes to anything: over the screen with a preview, or instead of it where there is little room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::draw_preview;
use super::goto_layout::GotoLayout;
use super::goto_rows::{GotoKind, split_line};
use super::goto_state::{GotoGroup, GotoRow, GotoTarget};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_cable, truncate_text, width};
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::prompt::Prompt;
use crate::console::model::state::SessionState;
use fabdeck_fabric::observe::digits_in_groups;

/// Columns of the bar of a score, and those left of a text.
const BAR_WIDTH: u16 = 4;
const TEXT_AT: u16 = 4;
/// What the bars show.
const BAR_TEXT: &str = "bar: how well it matches, how bad it is, how lately used";
/// Least columns between a text and what is said about it.
const GAP: u16 = 2;
/// Least width of a line with the signs that narrow it.
const SIGNS_MIN_WIDTH: u16 = 60;

/// Draws the dialog; the screen below it is drawn already.
pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, prompt: &Prompt) {
    let layout = GotoLayout::new(&state.areas());
    let dialog = buffer_area(layout.dialog).intersection(canvas.buffer.area);
    if layout.floats {
        grey_out(canvas);
    }
    clear(canvas, dialog, layout.floats);
    let numbers = title_numbers(state);
    let right = [(numbers.as_str(), Role::Dim)];
    let head = PaneHead { title: "Go to anything", right: &right, focused: true };
    draw_pane(canvas, dialog, &head, layout.floats);
    draw_line(canvas, buffer_area(layout.line), prompt);
    if layout.floats {
        draw_rules(canvas, &layout);
    }
    draw_rows(canvas, buffer_area(layout.list), state, prompt);
    if let Some(row) = state.goto.picked_row() {
        let preview = buffer_area(layout.preview);
        let inside = Rect { x: preview.x + 2, width: preview.width.saturating_sub(3), ..preview };
        if preview.width > 3 {
            draw_preview::draw(canvas, inside, state, row);
        }
    }
}

/// Everything that is drawn so far steps back: one colour, no ground.
fn grey_out(canvas: &mut Canvas<'_>) {
    let style = Style::reset().patch(canvas.theme.blank()).patch(canvas.style(Role::Behind));
    let all = canvas.buffer.area;
    canvas.buffer.set_style(all, style);
}

fn clear(canvas: &mut Canvas<'_>, area: Rect, floats: bool) {
    let blank = canvas.theme.blank();
    let ground = if floats { canvas.style(Role::Dialog).bg.or(blank.bg) } else { blank.bg };
    let style = Style { bg: ground, ..blank };
    let buffer: &mut Buffer = canvas.buffer;
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
    }
}

/// `14 of 135 names, 73 actions, 12 of before`.
fn title_numbers(state: &SessionState) -> String {
    let goto = &state.goto;
    let counts = goto.counts;
    let names = count_words(counts.names, "name", "names");
    let matching = match (&goto.index, counts.is_least) {
        (None, _) if state.known.look.is_none() => "no name was read yet".to_owned(),
        (None, _) => format!("{names} are being indexed"),
        (Some(_), true) => format!("at least {} of {names}", digits_in_groups(counts.matching)),
        (Some(_), false) => format!("{} of {names}", digits_in_groups(counts.matching)),
    };
    let actions = count_words(counts.actions, "action", "actions");
    format!("{matching}, {actions}, {} of before", goto.recent.len())
}

/// Draws the line with its cursor, and at its right the signs that narrow it.
fn draw_line(canvas: &mut Canvas<'_>, area: Rect, prompt: &Prompt) {
    let mut right = area.width;
    if area.width >= SIGNS_MIN_WIDTH {
        let (kind, _) = split_line(&prompt.text);
        right = draw_signs(canvas, area, kind);
    }
    let area = Rect { width: right, ..area };
    let sign = format!(" {} ", canvas.signs.crumb);
    let x = canvas.draw_text(area, 0, 0, &sign, Role::Key);
    let before: Vec<char> = prompt.text.chars().take(prompt.cursor).collect();
    let room = area.width.saturating_sub(x + 1);
    // A line that is longer than its room shows its end.
    let mut skip = 0;
    while skip < before.len() && width(&before[skip..].iter().collect::<String>()) > room {
        skip += 1;
    }
    let shown: String = prompt.text.chars().skip(skip).collect();
    canvas.draw_text(area, x, 0, &shown, Role::Strong);
    let cursor = x + width(&before[skip..].iter().collect::<String>());
    let under: String = prompt.text.chars().skip(prompt.cursor).take(1).collect();
    let style = Style::new().add_modifier(Modifier::REVERSED);
    canvas.draw_styled(area, cursor, 0, if under.is_empty() { " " } else { &under }, style);
}

/// Returns the column where the signs begin.
fn draw_signs(canvas: &mut Canvas<'_>, area: Rect, chosen: Option<GotoKind>) -> u16 {
    let wide: u16 = GotoKind::ALL.iter().map(|(_, word, _)| width(word) + 4).sum();
    let from = area.width.saturating_sub(wide);
    let mut x = from;
    for (sign, word, kind) in GotoKind::ALL {
        x = canvas.draw_text(area, x, 0, &sign.to_string(), Role::Key);
        let role = if chosen == Some(kind) { Role::Strong } else { Role::Dim };
        x = canvas.draw_text(area, x + 1, 0, word, role) + 2;
    }
    from
}

/// Draws the rule below the line, and the one left of the preview, as one border.
fn draw_rules(canvas: &mut Canvas<'_>, layout: &GotoLayout) {
    let (dialog, rule, preview) =
        (buffer_area(layout.dialog), buffer_area(layout.rule), buffer_area(layout.preview));
    let [above, below] = canvas.signs.ticks;
    canvas.draw_text(rule, 0, 0, &canvas.signs.rule.repeat(rule.width.into()), Role::Key);
    let x = preview.x - dialog.x;
    for y in 0..preview.height {
        canvas.draw_text(preview, 0, y, canvas.signs.beside, Role::Key);
    }
    canvas.draw_text(dialog, x, rule.y - dialog.y, below, Role::Key);
    canvas.draw_text(dialog, x, dialog.height - 1, above, Role::Key);
}

/// A line of the list.
enum ListLine<'r> {
    Head(GotoGroup),
    Row(usize, &'r GotoRow),
}

fn draw_rows(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, prompt: &Prompt) {
    let rows = &state.goto.rows;
    if rows.is_empty() {
        canvas.draw_text(area, 2, 0, &empty_text(state, prompt), Role::Dim);
        return;
    }
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if at == 0 || rows[at - 1].group != row.group {
            lines.push(ListLine::Head(row.group));
        }
        lines.push(ListLine::Row(at, row));
    }
    let is_picked =
        |line: &ListLine<'_>| matches!(line, ListLine::Row(at, _) if Some(*at) == state.goto.picked);
    let here = lines.iter().position(is_picked).unwrap_or(0);
    // The cursor stays in sight, with the head of its group where that is next to it.
    // The number of rows below has a row of its own.
    let is_long = lines.len() > usize::from(area.height) && area.height > 1;
    let rows_high = if is_long { area.height - 1 } else { area.height };
    let height = usize::from(rows_high);
    let top = (here + 1).saturating_sub(height);
    for (y, line) in (0..rows_high).zip(lines.iter().skip(top)) {
        match line {
            ListLine::Head(group) => {
                canvas.draw_text(area, 1, y, group.title(), Role::Dim);
            }
            ListLine::Row(at, row) => {
                let target = ClickTarget::Found { place: *at, text: row.text.clone() };
                canvas.add_row_target(area, y, target);
                draw_row(canvas, area, y, state, (row, state.goto.picked == Some(*at)));
            }
        }
    }
    let below = lines.len().saturating_sub(top + height);
    if below > 0 && is_long {
        let more = format!("{} {below} more rows ", canvas.signs.down);
        canvas.draw_right_aligned(area, 0, area.height - 1, &more, Role::Dim);
    } else if state.goto.is_scored && lines.len() + 1 < height {
        canvas.draw_text(area, 1, area.height - 1, BAR_TEXT, Role::Faint);
    }
}

fn empty_text(state: &SessionState, prompt: &Prompt) -> String {
    let (kind, rest) = split_line(&prompt.text);
    match kind {
        None if !rest.is_empty() && state.goto.index.is_none() && state.known.look.is_some() => {
            format!("Names are being indexed; nothing else matches '{}'.", rest.trim())
        }
        _ if !rest.is_empty() => format!("Nothing matches '{}'.{}", rest.trim(), state.goto.near),
        Some(GotoKind::Problems) if state.known.problems.ranked.is_none() => {
            "Problems are being ranked.".to_owned()
        }
        Some(GotoKind::Problems) => "No problem is known.".to_owned(),
        Some(GotoKind::Times) => "No event was recorded yet.".to_owned(),
        Some(GotoKind::Jobs) => "No job is known. :jobs slurm asks Slurm.".to_owned(),
        Some(GotoKind::Actions) | None => String::new(),
    }
}

/// As many of the facts about a row as there is room for, so that its name stays whole.
fn first_facts(about: &str, room: u16) -> Option<&str> {
    let ends = about.match_indices(", ").map(|(at, _)| at).chain([about.len()]);
    ends.map(|end| &about[..end]).filter(|facts| width(facts) <= room).last()
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    (row, here): (&GotoRow, bool),
) {
    if here {
        canvas.fill_row(
            Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area },
            y,
            Role::Cursor,
        );
    }
    let role = |role: Role| if here { Role::Cursor } else { role };
    let (sign, sign_role) = row_sign(canvas, row);
    canvas.draw_text(area, 2, y, sign, role(sign_role));
    let is_more = matches!(row.target, GotoTarget::More(_));
    let has_bar = state.goto.is_scored && row.score > 0 && !row.blocked && !is_more;
    let mut right = area.width.saturating_sub(1);
    if has_bar && right > BAR_WIDTH {
        right -= BAR_WIDTH;
        draw_plain_gauge(canvas, area, (right, y), BAR_WIDTH, row.share(), Role::Key);
        right = right.saturating_sub(1);
    }
    if !row.key.is_empty() && !row.blocked {
        right = right.saturating_sub(width(&row.key));
        canvas.draw_text(area, right, y, &row.key, role(Role::Key));
        right = right.saturating_sub(1);
    }
    let room = right.saturating_sub(TEXT_AT);
    let beside = room.saturating_sub(width(&row.text) + GAP);
    let about = match first_facts(&row.about, beside).filter(|_| row.group.has_names()) {
        Some(facts) => facts.to_owned(),
        // What is said about a row has at most half of the room beside a long text.
        None => truncate_text(&row.about, beside.max(room / 2), canvas.signs.more),
    };
    let text_room = room.saturating_sub(if about.is_empty() { 0 } else { width(&about) + GAP });
    let text = match row.group {
        group if !group.has_names() => truncate_text(&row.text, text_room, canvas.signs.more),
        _ => shorten_cable(&row.text, text_room, &canvas.signs),
    };
    let text_role = match (row.blocked, is_more) {
        (true, _) => Role::Faint,
        (_, true) => Role::Dim,
        _ => Role::Text,
    };
    canvas.draw_text(area, TEXT_AT, y, &text, role(text_role));
    if width(&row.text) <= text_room {
        draw_matched(canvas, area, y, (row, &text), here);
    }
    let about_role = if row.blocked { Role::Warning } else { Role::Dim };
    let at = right.saturating_sub(width(&about));
    canvas.draw_text(area, at.max(TEXT_AT), y, &about, role(about_role));
}

/// Underlines the characters that match.
fn draw_matched(canvas: &mut Canvas<'_>, area: Rect, y: u16, (row, text): (&GotoRow, &str), here: bool) {
    let mut x = TEXT_AT;
    let mut matched = row.matched.iter().peekable();
    let role = if here { Role::Cursor } else { Role::Key };
    let style = canvas.style(role).add_modifier(Modifier::UNDERLINED);
    for (at, sign) in text.chars().enumerate() {
        let sign = sign.to_string();
        let wide = width(&sign);
        if matched.next_if(|place| **place == at).is_some() && !row.blocked && x + wide <= area.width {
            canvas.draw_styled(area, x, y, &sign, style);
        }
        x += wide;
    }
}

/// The sign at the left of a row.
fn row_sign(canvas: &Canvas<'_>, row: &GotoRow) -> (&'static str, Role) {
    let [critical, warning, ..] = canvas.signs.severity;
    match (row.severity, row.group) {
        (Severity::Error, _) => (critical, Role::Danger),
        (Severity::Warning, _) => (warning, Role::Warning),
        (_, GotoGroup::Switches) => (canvas.signs.map[0], Role::Dim),
        (_, GotoGroup::Cables) => (canvas.signs.rule, Role::Dim),
        (_, GotoGroup::Actions | GotoGroup::Arguments) => (canvas.signs.crumb, Role::Dim),
        (_, GotoGroup::Before) => (canvas.signs.up, Role::Dim),
        _ => (canvas.signs.untold, Role::Dim),
    }
}
