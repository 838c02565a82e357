//! Draws a list: headings, visible rows, cursor. Its work depends on the height of the screen, not on the size of the
//! fabric.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::canvas::{Canvas, fit, shorten, width};
use super::heat;
use super::theme::Role;
use crate::session::interactive::{Screen, State};
use crate::session::{Column, HISTORIES, Kind, Listing, Value};

/// Number of rows beyond the visible ones that influence column widths, so that scrolling seldom moves columns.
const SAMPLE: usize = 64;
const GAP: u16 = 2;
/// Largest share of a narrow screen for one column while other columns wait for room, and its largest width on any
/// screen.
const SHARE: u16 = 5;
const WIDEST: u16 = 40;
/// Width of the cursor, the sign of a marked or selected row, and a blank.
const SIGNS: u16 = 3;
/// Least width of names beside lesser columns, and least width at all.
const NAME: u16 = 14;
const LEAST: u16 = 10;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let screen = state.current();
    let table = screen.table();
    let Some(listing) = screen.listing(&state.known) else {
        let words =
            crate::session::wrap(&screen.when_empty(&state.known), area.width.saturating_sub(2).into());
        for (y, line) in (0..area.height).zip(words) {
            canvas.text(area, 1, y, &line, Role::Dim);
        }
        return;
    };
    let listing = &*listing;
    let height = usize::from(area.height.saturating_sub(1));
    let rows = &table.selection.rows;
    if rows.is_empty() {
        let words = match (rows.len() < table.selection.of, &table.filter) {
            (true, filter) => format!("none of {} rows fits '{filter}'; Esc shows all", table.selection.of),
            (false, _) => listing.when_empty().to_owned(),
        };
        headings(canvas, area, listing, &columns(screen, listing, &[], area.width), state);
        let (words, role) = match &table.problem {
            Some(problem) => (problem.clone(), Role::Danger),
            None => (words, Role::Dim),
        };
        for (y, line) in
            (1..area.height).zip(crate::session::wrap(&words, area.width.saturating_sub(2).into()))
        {
            canvas.text(area, 1, y, &line, role);
        }
        return;
    }
    let top = table.top.min(rows.len() - 1);
    let seen = &rows[top..rows.len().min(top + height)];
    let sample: Vec<usize> = rows.iter().take(SAMPLE).chain(seen).copied().collect();
    let columns = columns(screen, listing, &sample, area.width);
    headings(canvas, area, listing, &columns, state);
    for (at, row) in seen.iter().enumerate() {
        let y = at as u16 + 1;
        let here = top + at == table.cursor;
        let what = screen.what(*row, &state.known);
        let failed = what.is_some_and(|what| state.known.failed(what));
        let selected = what.is_some_and(|what| table.selected.contains(&what));
        if here {
            canvas.wash(area, y, Role::Cursor);
        }
        let base = match (here, failed) {
            (true, _) => Role::Cursor,
            (_, true) => Role::Marked,
            _ => Role::Text,
        };
        canvas.text(area, 0, y, if here { canvas.signs.cursor } else { "" }, base);
        let sign = match (failed, selected) {
            (true, true) => canvas.signs.marked_selected,
            (true, false) => canvas.signs.marked,
            (false, true) => canvas.signs.selected,
            (false, false) => "",
        };
        canvas.text(area, 1, y, sign, base);
        let over = what.is_some_and(|what| state.known.has_errors(what));
        for column in &columns {
            cell(canvas, area, y, column, (listing, *row), (base, over));
        }
    }
}

/// Columns that are hidden first where not all fit, in this order. The details show the same values, and the arrow
/// keys lead to the columns.
const LESSER: [&str; 18] = [
    "via",
    "user",
    "share_of_all",
    "rcv_mbps",
    "xmit_mbps",
    WORTH_NAMES,
    "parallel",
    "kind",
    "guid",
    "physical",
    "answered",
    "lid",
    "sar_links",
    "links",
    "hosts",
    "switch_port",
    "speed",
    "width",
];
/// For this column names are cut as far as possible.
const WORTH_NAMES: &str = "share_of_time";
/// The column that shows trouble is visible on any screen.
const KEPT: &str = "state";
/// Columns whose words are never cut.
const WORDS: [&str; 4] = [KEPT, "role", "left", "time"];

/// A visible column with its position and width.
struct Shown {
    column: usize,
    x: u16,
    width: u16,
    /// Width of its longest text.
    widest: u16,
    /// Whether it holds names, which can be cut.
    name: bool,
    right: bool,
}

/// Chooses the columns, with room for the sign that there are more.
fn columns(screen: &dyn Screen, listing: &dyn Listing, sample: &[usize], room: u16) -> Vec<Shown> {
    let all = columns_in(screen, listing, sample, room);
    let table = screen.table();
    match table.selection.columns.len() > all.len() + table.left {
        true => columns_in(screen, listing, sample, room.saturating_sub(1)),
        false => all,
    }
}

fn columns_in(screen: &dyn Screen, listing: &dyn Listing, sample: &[usize], room: u16) -> Vec<Shown> {
    let (table, held) = (screen.table(), screen.held_columns());
    let all = &table.selection.columns;
    let order = all.iter().take(held).chain(all.iter().skip(held + table.left));
    let mut shown: Vec<Shown> = order
        .enumerate()
        .map(|(at, column)| measured(listing, sample, *column, (room / SHARE).clamp(NAME, WIDEST), at == 0))
        .collect();
    // When the operator moves through columns with the arrow keys, none is hidden.
    if table.left == 0 {
        give_way(&mut shown, listing, held, room);
    }
    share_out(&mut shown, room);
    place(shown, room)
}

fn measured(listing: &dyn Listing, sample: &[usize], column: usize, most: u16, first: bool) -> Shown {
    let about = listing.column(column);
    let texts =
        sample.iter().map(|row| width(&in_words(about, &listing.cell(*row, column)))).max().unwrap_or(0);
    let title = width(&about.title);
    let wide = texts.min(if first { most * 2 } else { most }).max(title);
    let (name, right) = (is_name(about), about.kind.right_aligned());
    Shown { column, x: 0, width: wide, widest: texts.max(title), name, right }
}

/// A value as the list shows it.
fn in_words<'v>(about: &Column, value: &'v Value<'_>) -> Cow<'v, str> {
    if about.scaled { value.scaled() } else { about.in_words(value) }
}

/// Whether the column holds names, which both of their ends distinguish.
fn is_name(column: &Column) -> bool {
    matches!(column.kind, Kind::Text) && !WORDS.contains(&&*column.id)
}

impl Shown {
    fn least(&self, name: u16) -> u16 {
        if self.name { self.width.min(name) } else { self.width }
    }
}

/// Width of these columns if no name has more than `name`.
fn least(columns: &[Shown], name: u16) -> u16 {
    SIGNS + columns.iter().map(|shown| shown.least(name) + GAP).sum::<u16>().saturating_sub(GAP)
}

/// Hides lesser columns until the others fit, then columns before the one that shows trouble until that is visible.
fn give_way(columns: &mut Vec<Shown>, listing: &dyn Listing, held: usize, room: u16) {
    let id = |shown: &Shown| listing.column(shown.column).id.clone();
    for lesser in LESSER {
        let Some(at) = columns.iter().skip(held).position(|shown| id(shown) == lesser) else { continue };
        let name = if lesser == WORTH_NAMES { LEAST } else { NAME };
        if least(columns, name) <= room {
            return;
        }
        columns.remove(held + at);
    }
    while let Some(at) = columns.iter().position(|shown| id(shown) == KEPT) {
        if at < 2 || least(&columns[..=at], LEAST) <= room {
            return;
        }
        columns.remove(at - 1);
    }
}

/// Shrinks names for other columns, and grows them into the room that is left.
fn share_out(columns: &mut [Shown], room: u16) {
    let total = |columns: &[Shown]| {
        SIGNS + columns.iter().map(|shown| shown.width + GAP).sum::<u16>().saturating_sub(GAP)
    };
    while total(columns) > room {
        let widest = columns
            .iter_mut()
            .filter(|shown| shown.width > shown.least(LEAST))
            .max_by_key(|shown| shown.width);
        let Some(shown) = widest else { return };
        shown.width -= 1;
    }
    let mut left = room - total(columns);
    for shown in columns {
        let more = left.min(shown.widest.saturating_sub(shown.width));
        shown.width += more;
        left -= more;
    }
}

/// Places columns. A column with less than half of its width is left to the arrow keys. So is a number without room
/// for all its digits, because a cut number is a wrong number.
fn place(columns: Vec<Shown>, room: u16) -> Vec<Shown> {
    let mut x = SIGNS;
    let mut placed = Vec::new();
    for shown in columns {
        let needed = if shown.right { shown.width } else { shown.width / 2 };
        if x >= room || (!placed.is_empty() && x + needed > room) {
            break;
        }
        let wide = shown.width;
        placed.push(Shown { x, width: wide.min(room - x), ..shown });
        x += wide + GAP;
    }
    placed
}

fn headings(canvas: &mut Canvas<'_>, area: Rect, listing: &dyn Listing, columns: &[Shown], state: &State) {
    let table = state.current().table();
    for shown in columns {
        let about = listing.column(shown.column);
        let sorted = table.sort.as_ref().filter(|(id, _)| id.as_str() == about.id.as_ref());
        let sign = match sorted {
            Some((_, true)) => canvas.signs.down,
            Some((_, false)) => canvas.signs.up,
            None => "",
        };
        let title = format!("{}{sign}", about.title);
        let x = if shown.right { shown.x + shown.width.saturating_sub(width(&title)) } else { shown.x };
        canvas.text(area, x, 0, &title, Role::Heading);
    }
    let hidden = table.selection.columns.len().saturating_sub(columns.len() + table.left);
    if hidden > 0 {
        let more = canvas.signs.more;
        canvas.right(area, area.width.saturating_sub(1), 0, more, Role::Dim);
    }
}

fn cell(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    shown: &Shown,
    (listing, row): (&dyn Listing, usize),
    (base, over): (Role, bool),
) {
    let value = listing.cell(row, shown.column);
    let about = listing.column(shown.column);
    let text = in_words(about, &value);
    if HISTORIES.contains(&about.id.as_ref()) && !value.is_missing() {
        let inside = Rect { width: area.width.min(shown.x + shown.width), ..area };
        let steps = || heat::of_digits(latest(&text, shown.width));
        // A row has one colour, that of the latest level. A colour for each level would be most of the output of
        // every second.
        let now = steps().last().map_or(base, |level| heat::step(canvas, level).1);
        let role = |level| match base {
            // Level 0 never has the colour of a load.
            Role::Text => (level > 0).then_some(now),
            other => Some(other),
        };
        return heat::strip(canvas, inside, (shown.x, y), steps(), role);
    }
    let cut = if is_name(about) { shorten } else { fit };
    let text = cut(&text, shown.width, canvas.signs.more);
    let x = if shown.right { shown.x + shown.width.saturating_sub(width(&text)) } else { shown.x };
    let role = match &*about.id {
        _ if base != Role::Text => base,
        // The threshold is exceeded; the role of the port or its state says the same in a word.
        "errors" | "errors_per_hour" if over && matches!(value, Value::Number(1..)) => Role::Warning,
        id => role_of(id, &value),
    };
    canvas.text(area, x, y, &text, role);
}

/// The end of a history, as long as there is room.
fn latest(steps: &str, room: u16) -> &str {
    steps.get(steps.len().saturating_sub(room.into())..).unwrap_or(steps)
}

/// Role of a value, for its colour; its text says the same.
fn role_of(column: &str, value: &Value<'_>) -> Role {
    let text = value.shown();
    match (column, text.as_ref()) {
        (_, "-") => Role::Dim,
        ("degraded" | "mismatch", "yes") => Role::LinkDegraded,
        ("deadlock_free" | "transition", "yes") => Role::Good,
        ("deadlock_free" | "transition" | "answered", "no") => Role::Danger,
        ("state", "not answering") => Role::Danger,
        ("state", "down" | "a link is down" | "Down") => Role::LinkDown,
        ("state", "errors" | "a link has errors") => Role::Warning,
        ("state", "degraded" | "a link is degraded") => Role::LinkDegraded,
        ("state", "marked" | "a link is marked") => Role::Marked,
        ("state", "rollback incomplete") => Role::Danger,
        ("state", "applying" | "applied, not confirmed" | "rolling back") => Role::Warning,
        ("state", "clean" | "confirmed") => Role::Good,
        ("state", "findings" | "refused") => Role::Warning,
        ("state", summed) => inside(summed),
        ("lost", lost) if lost != "0" => Role::Danger,
        ("role", "hot-spot") => Role::Danger,
        (
            "role",
            "contributor" | "contr/victim" | "victim" | "link too narrow" | "stands still" | "errored"
            | "flaps",
        ) => Role::Warning,
        _ => Role::Text,
    }
}

/// Role of the worst word of a rank or rack, which its summary begins with: `1 down, 2 marked`.
fn inside(summed: &str) -> Role {
    match summed.split(", ").next().and_then(|worst| worst.split_once(' ')) {
        Some((_, "not answering")) => Role::Danger,
        Some((_, "down")) => Role::LinkDown,
        Some((_, "with errors")) => Role::Warning,
        Some((_, "degraded")) => Role::LinkDegraded,
        Some((_, "marked")) => Role::Marked,
        _ => Role::Text,
    }
}
