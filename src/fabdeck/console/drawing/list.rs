//! Draws a list: headings, visible rows, cursor. Its work depends on the height of the screen, not on the size of the
//! fabric.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::canvas::{Canvas, shorten_name, truncate_text, width};
use super::theme::{Quantity, Role};
use super::{gauge, heat};
use crate::catalogue::field::{Column, ColumnContent, Listing, Tone};
use crate::catalogue::value::{FieldKind, Value};
use crate::console::features::screen::Screen;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::console::model::table::Table;
use fabdeck_fabric::observe::digits_in_groups;

/// Number of rows beyond the visible ones that influence column widths, so that scrolling seldom moves columns.
const SAMPLE_ROWS: usize = 64;
const COLUMN_GAP: u16 = 2;
/// Largest share of a narrow screen for one column while other columns wait for room, and its largest width on any
/// screen.
const MAX_COLUMN_SHARE: u16 = 5;
const MAX_COLUMN_WIDTH: u16 = 40;
/// Width of the cursor, the sign of a marked or selected row, and a blank.
const SYMBOLS_WIDTH: u16 = 3;
/// Least width of names beside lesser columns, and least width at all.
const NAME_MIN_WIDTH: u16 = 14;
const NAME_LEAST_WIDTH: u16 = 10;
/// Columns of the sign of a tone before a value.
const TONE_SIGN_WIDTH: u16 = 2;
/// Width of the name of a row for which columns give way.
const ROW_NAME_WIDTH: u16 = 24;
/// The same for a sentence.
const SENTENCE_MIN_WIDTH: u16 = 26;
/// A list this wide has whole sentences, and columns of a rank give way to them.
const WHOLE_SENTENCE_ROOM: u16 = 110;
/// Columns of a gauge.
const GAUGE_WIDTH: u16 = 12;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let screen = state.current();
    let table = screen.table();
    let Some(listing) = screen.listing(&state.known) else {
        let words = crate::operations::check::certificate_text::wrap_text(
            &screen.empty_text(&state.known),
            area.width.saturating_sub(2).into(),
        );
        for (y, line) in (0..area.height).zip(words) {
            canvas.draw_text(area, 1, y, &line, Role::Dim);
        }
        return;
    };
    let listing = &*listing;
    let height = usize::from(area.height.saturating_sub(1));
    let rows = &table.selection.rows;
    if rows.is_empty() {
        let words = empty_words(listing, table);
        draw_headings(canvas, area, listing, &layout_columns(screen, listing, &[], area.width), state);
        let (words, role) = match &table.problem {
            Some(problem) => (problem.clone(), Role::Danger),
            None => (words, Role::Dim),
        };
        for (y, line) in (1..area.height).zip(crate::operations::check::certificate_text::wrap_text(
            &words,
            area.width.saturating_sub(2).into(),
        )) {
            canvas.draw_text(area, 1, y, &line, role);
        }
        return;
    }
    let top = table.top.min(rows.len() - 1);
    let seen = &rows[top..rows.len().min(top + height)];
    let sample: Vec<usize> = rows.iter().take(SAMPLE_ROWS).chain(seen).copied().collect();
    let columns = layout_columns(screen, listing, &sample, area.width);
    draw_headings(canvas, area, listing, &columns, state);
    for (at, row) in seen.iter().enumerate() {
        let y = at as u16 + 1;
        canvas.add_row_target(area, y, ClickTarget::Row(top + at));
        let here = top + at == table.cursor;
        let what = screen.element(*row, &state.known);
        let failed = what.is_some_and(|what| state.known.is_failed(what));
        let selected = what.is_some_and(|what| table.selected.contains(&what));
        if here {
            canvas.fill_row(area, y, Role::Cursor);
        }
        let base = match (here, failed) {
            (true, _) => Role::Cursor,
            (_, true) => Role::Marked,
            _ => Role::Text,
        };
        canvas.draw_text(area, 0, y, if here { canvas.signs.cursor } else { "" }, base);
        let sign = match (failed, selected) {
            (true, true) => canvas.signs.marked_selected,
            (true, false) => canvas.signs.marked,
            (false, true) => canvas.signs.selected,
            (false, false) => "",
        };
        canvas.draw_text(area, 1, y, sign, base);
        let over = what.is_some_and(|what| state.known.has_errors(what));
        let has_trouble = says_trouble(listing, *row, &columns, over);
        let drawn = DrawnRow { listing, row: *row, y, base, over, has_trouble };
        for column in &columns {
            draw_cell(canvas, area, column, &drawn);
        }
    }
}

/// Why a list has no row.
fn empty_words(listing: &dyn Listing, table: &Table) -> String {
    match table.selection.of {
        0 => listing.empty_text().to_owned(),
        all => format!("no row of {} matches '{}'; Esc shows all", digits_in_groups(all), table.filter),
    }
}

/// A visible column with its position and width.
struct VisibleColumn {
    column: usize,
    x: u16,
    width: u16,
    /// Width of its longest text.
    widest: u16,
    /// Whether it holds names, which can be cut.
    name: bool,
    /// Whether it holds sentences, which columns of a rank give way to.
    sentence: bool,
    right: bool,
    /// Whether it is the name of the row.
    first: bool,
    /// Room for a gauge left of the number, and the number that fills it.
    gauge: u16,
    largest: u64,
}

/// Chooses the columns, with room for the sign that there are more.
fn layout_columns(
    screen: &dyn Screen,
    listing: &dyn Listing,
    sample: &[usize],
    room: u16,
) -> Vec<VisibleColumn> {
    let all = layout_columns_in(screen, listing, sample, room);
    let table = screen.table();
    match table.selection.columns.len() > all.len() + table.left {
        true => layout_columns_in(screen, listing, sample, room.saturating_sub(1)),
        false => all,
    }
}

fn layout_columns_in(
    screen: &dyn Screen,
    listing: &dyn Listing,
    sample: &[usize],
    room: u16,
) -> Vec<VisibleColumn> {
    let (table, held) = (screen.table(), screen.fixed_columns());
    let all = &table.selection.columns;
    let order = all.iter().take(held).chain(all.iter().skip(held + table.left));
    let mut shown: Vec<VisibleColumn> = order
        .enumerate()
        .map(|(at, column)| {
            measure_column(
                listing,
                sample,
                *column,
                (room / MAX_COLUMN_SHARE).clamp(NAME_MIN_WIDTH, MAX_COLUMN_WIDTH),
                at == 0,
            )
        })
        .collect();
    // When the operator moves through columns with the arrow keys, none is hidden.
    if table.left == 0 {
        let sorted = table.sort.as_ref().map(|(field, _)| field.as_str());
        shed_columns(&mut shown, listing, (held, sorted), room);
    }
    add_gauges(&mut shown, listing, room);
    distribute_width(&mut shown, room);
    place_columns(shown, room)
}

fn measure_column(
    listing: &dyn Listing,
    sample: &[usize],
    column: usize,
    most: u16,
    first: bool,
) -> VisibleColumn {
    let about = listing.column(column);
    let texts = sample
        .iter()
        .map(|row| width(&cell_text(about, &listing.short_cell(*row, column))))
        .max()
        .unwrap_or(0);
    let texts = texts + if about.signed && texts > 0 { TONE_SIGN_WIDTH } else { 0 };
    let title = width(&about.title);
    let most = match about.content {
        // Few words, each of which is lost where it is cut.
        ColumnContent::Keyword => u16::MAX,
        ColumnContent::Status if about.signed => u16::MAX,
        ColumnContent::Sentence => (most * 4 / 3).max(SENTENCE_MIN_WIDTH),
        _ if first => most * 2,
        _ => most,
    };
    let wide = texts.min(most).max(title);
    let (name, right) = (is_name(about), about.kind.is_right_aligned());
    let largest = match about.content {
        ColumnContent::Gauge => sample.iter().filter_map(|row| amount(&listing.cell(*row, column))).max(),
        _ => None,
    };
    let largest = largest.unwrap_or(0);
    let sentence = about.content == ColumnContent::Sentence;
    VisibleColumn {
        column,
        x: 0,
        width: wide,
        widest: texts.max(title),
        name,
        sentence,
        right,
        first,
        gauge: 0,
        largest,
    }
}

/// A value as the list shows it.
fn cell_text<'v>(about: &Column, value: &'v Value<'_>) -> Cow<'v, str> {
    if about.scaled { value.scaled() } else { about.in_words(value) }
}

/// Whether the column holds names, which both of their ends distinguish.
fn is_name(column: &Column) -> bool {
    let is_uncut =
        matches!(column.content, ColumnContent::Keyword | ColumnContent::Status | ColumnContent::Levels);
    matches!(column.kind, FieldKind::Text) && !is_uncut
}

impl VisibleColumn {
    fn min_width(&self, name: u16) -> u16 {
        if self.name { self.width.min(name) } else { self.width }
    }

    /// The width for which columns of a rank give way: a sentence says more than they do, and so does the name of a row.
    fn wanted_width(&self, name: u16, room: u16) -> u16 {
        match self.sentence {
            false if self.first && self.name && name > NAME_LEAST_WIDTH => self.width.min(ROW_NAME_WIDTH),
            true if room >= WHOLE_SENTENCE_ROOM => self.width,
            true => self.width.min(name.max(SENTENCE_MIN_WIDTH)),
            false => self.min_width(name),
        }
    }
}

/// Width of these columns if no name has more than `name`.
fn min_total_width(columns: &[VisibleColumn], name: u16) -> u16 {
    total_width(columns, |shown| shown.min_width(name))
}

/// Width of columns with the gaps between them.
fn total_width(columns: &[VisibleColumn], of: impl Fn(&VisibleColumn) -> u16) -> u16 {
    SYMBOLS_WIDTH + columns.iter().map(|shown| of(shown) + COLUMN_GAP).sum::<u16>().saturating_sub(COLUMN_GAP)
}

/// Hides the columns of the lowest ranks until the others fit, then columns before the one that shows trouble until that is visible.
/// The column that the list is sorted by stays.
fn shed_columns(
    columns: &mut Vec<VisibleColumn>,
    listing: &dyn Listing,
    (fixed, sorted): (usize, Option<&str>),
    room: u16,
) {
    let about = |shown: &VisibleColumn| listing.column(shown.column);
    loop {
        let unfixed = columns.iter().enumerate().skip(fixed);
        let unfixed = unfixed.filter(|(_, shown)| Some(about(shown).id.as_ref()) != sorted);
        let ranked = unfixed.filter_map(|(at, shown)| Some((about(shown).shed_rank?, at, shown)));
        let Some((_, at, shown)) = ranked.min_by_key(|(rank, at, _)| (*rank, *at)) else { break };
        let name = if about(shown).outranks_names { NAME_LEAST_WIDTH } else { NAME_MIN_WIDTH };
        if total_width(columns, |shown| shown.wanted_width(name, room)) <= room {
            return;
        }
        columns.remove(at);
    }
    let is_status = |shown: &VisibleColumn| about(shown).content == ColumnContent::Status;
    while let Some(at) = columns.iter().position(is_status) {
        if at < 2 || min_total_width(&columns[..=at], NAME_LEAST_WIDTH) <= room {
            return;
        }
        columns.remove(at - 1);
    }
}

/// Shrinks names for other columns, and grows them into the room that is left. Columns that are beyond the right edge even
/// with the shortest names take nothing from them.
fn distribute_width(columns: &mut [VisibleColumn], room: u16) {
    let fits = |count: &usize| min_total_width(&columns[..*count], NAME_LEAST_WIDTH) <= room;
    let count = (1..=columns.len()).rev().find(fits).unwrap_or(columns.len());
    let columns = &mut columns[..count];
    let total = |columns: &[VisibleColumn]| total_width(columns, |shown| shown.width);
    while total(columns) > room {
        let widest = columns
            .iter_mut()
            .filter(|shown| shown.width > shown.min_width(NAME_LEAST_WIDTH))
            .max_by_key(|shown| shown.width);
        let Some(shown) = widest else { return };
        shown.width -= 1;
    }
    let mut left = room - total(columns);
    for shown in columns.iter_mut() {
        let more = left.min(shown.widest.saturating_sub(shown.width));
        shown.width += more;
        left -= more;
    }
}

/// The amount that a gauge shows.
fn amount(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Number(number) | Value::AtLeast(number) | Value::Tenths(number) => Some(*number),
        _ => None,
    }
}

/// Adds room for the gauges of columns that have one, where all columns fit with them: a column says more than a gauge.
fn add_gauges(columns: &mut [VisibleColumn], listing: &dyn Listing, room: u16) {
    let has_gauge = |shown: &VisibleColumn| {
        listing.column(shown.column).content == ColumnContent::Gauge && shown.largest > 0
    };
    let count = columns.iter().filter(|shown| has_gauge(shown)).count() as u16;
    if min_total_width(columns, u16::MAX) + count * (GAUGE_WIDTH + 2) > room {
        return;
    }
    for shown in columns.iter_mut().filter(|shown| has_gauge(shown)) {
        (shown.width, shown.widest) = (shown.width + GAUGE_WIDTH + 2, shown.widest + GAUGE_WIDTH + 2);
        shown.gauge = GAUGE_WIDTH;
    }
}

/// Places columns. A column with less than half of its width is left to the arrow keys. So is a number without room
/// for all its digits, because a cut number is a wrong number.
fn place_columns(columns: Vec<VisibleColumn>, room: u16) -> Vec<VisibleColumn> {
    let mut x = SYMBOLS_WIDTH;
    let mut placed = Vec::new();
    for shown in columns {
        let needed = if shown.right { shown.width } else { shown.width / 2 };
        if x >= room || (!placed.is_empty() && x + needed > room) {
            break;
        }
        let wide = shown.width;
        placed.push(VisibleColumn { x, width: wide.min(room - x), ..shown });
        x += wide + COLUMN_GAP;
    }
    placed
}

/// Draws the titles of the visible columns, with an arrow after the sorted one, and a sign at the right edge if there are more
/// columns to the right.
fn draw_headings(
    canvas: &mut Canvas<'_>,
    area: Rect,
    listing: &dyn Listing,
    columns: &[VisibleColumn],
    state: &SessionState,
) {
    let table = state.current().table();
    for shown in columns {
        let about = listing.column(shown.column);
        let sorted = table.sort.as_ref().filter(|(id, _)| id.as_str() == about.id.as_ref());
        let descending = sorted.map(|(_, descending)| *descending);
        let sign = match descending {
            Some(true) => canvas.signs.down,
            Some(false) => canvas.signs.up,
            None => "",
        };
        let title = format!("{}{sign}", about.title);
        let x = if shown.right { shown.x + shown.width.saturating_sub(width(&title)) } else { shown.x };
        canvas.draw_text(area, x, 0, &title, Role::Heading);
        // The gap after a column belongs to its heading, so that short ones are easy to hit.
        let wide = (shown.width + COLUMN_GAP).min(area.width.saturating_sub(shown.x));
        let heading = Rect { x: area.x + shown.x, width: wide, height: area.height.min(1), ..area };
        canvas.add_target(heading, ClickTarget::Heading(about.id.to_string()));
    }
    let hidden = table.selection.columns.len().saturating_sub(columns.len() + table.left);
    if hidden > 0 {
        let more = canvas.signs.more;
        canvas.draw_right_aligned(area, area.width.saturating_sub(1), 0, more, Role::Dim);
    }
}

/// A row of the listing on its line of the list.
struct DrawnRow<'l> {
    listing: &'l dyn Listing,
    row: usize,
    y: u16,
    /// The colour of the whole row.
    base: Role,
    /// Whether the errors of its element exceed their threshold.
    over: bool,
    /// Whether its status says that something is wrong: then nothing of it is green.
    has_trouble: bool,
}

/// Whether the status of a row says that something is wrong with it.
fn says_trouble(listing: &dyn Listing, row: usize, columns: &[VisibleColumn], over: bool) -> bool {
    columns.iter().any(|shown| {
        let about = listing.column(shown.column);
        let tone = about.tone(&listing.cell(row, shown.column), over);
        about.content == ColumnContent::Status && tone.is_some_and(|tone| tone != Tone::Good)
    })
}

fn draw_cell(canvas: &mut Canvas<'_>, area: Rect, shown: &VisibleColumn, drawn: &DrawnRow<'_>) {
    let DrawnRow { listing, row, y, base, over, has_trouble } = *drawn;
    let value = listing.short_cell(row, shown.column);
    let about = listing.column(shown.column);
    let text = cell_text(about, &value);
    if about.content == ColumnContent::LevelHistory && !value.is_missing() {
        let inside = Rect { width: area.width.min(shown.x + shown.width), ..area };
        let steps = || heat::parse_levels(truncate_history(&text, shown.width));
        // A row has one colour, that of the latest level. A colour for each level would be most of the output of
        // every second.
        let now = steps().last().map_or(base, |level| heat::level_symbol(canvas, level).1);
        let role = |level| match base {
            // Level 0 never has the colour of a load.
            Role::Text => (level > 0).then_some(now),
            other => Some(other),
        };
        return heat::draw_strip(canvas, inside, (shown.x, y), steps(), role);
    }
    if about.content == ColumnContent::Levels && !value.is_missing() {
        let inside = Rect { width: area.width.min(shown.x + shown.width), ..area };
        let role = |_| (base != Role::Text).then_some(base);
        heat::draw_strip(canvas, inside, (shown.x, y), heat::parse_levels(&text), role);
        if text.len() > usize::from(shown.width) {
            canvas.draw_text(area, shown.x + shown.width.saturating_sub(1), y, canvas.signs.more, Role::Dim);
        }
        return;
    }
    if let Some(number) = amount(&value).filter(|_| shown.gauge > 0) {
        let inside = Rect { width: area.width.min(shown.x + shown.gauge), ..area };
        let share = number as f64 / shown.largest.max(1) as f64;
        gauge::draw_gauge(canvas, inside, (shown.x, y), shown.gauge, share, Quantity::Load);
    }
    // Names are distinguished by both ends, sentences begin with what matters.
    let is_sentence = about.content == ColumnContent::Sentence;
    let cut = if is_name(about) && !is_sentence { shorten_name } else { truncate_text };
    let sign = if about.signed && !value.is_missing() { TONE_SIGN_WIDTH } else { 0 };
    let text = cut(&text, shown.width.saturating_sub(sign), canvas.signs.more);
    let x = if shown.right { shown.x + shown.width.saturating_sub(width(&text)) } else { shown.x };
    let role = match about.tone(&value, over) {
        _ if base != Role::Text => base,
        _ if value.display_text() == "-" => Role::Dim,
        Some(Tone::Good) if has_trouble => Role::Text,
        tone => tone.map_or(Role::Text, tone_role),
    };
    if sign > 0 {
        let tone = about.tone(&value, over).map_or("", |tone| tone_sign(canvas, tone));
        canvas.draw_text(area, x, y, tone, role);
    }
    canvas.draw_text(area, x + sign, y, &text, role);
}

/// The sign of a tone.
fn tone_sign(canvas: &Canvas<'_>, tone: Tone) -> &'static str {
    match tone {
        Tone::Good => canvas.signs.proven,
        Tone::Danger | Tone::LinkDown => canvas.signs.severity[0],
        Tone::Warning | Tone::LinkDegraded => canvas.signs.severity[1],
        Tone::Marked => canvas.signs.marked,
    }
}

/// The end of a history, as long as there is room.
fn truncate_history(steps: &str, room: u16) -> &str {
    steps.get(steps.len().saturating_sub(room.into())..).unwrap_or(steps)
}

/// The role of a tone, for its colour.
fn tone_role(tone: Tone) -> Role {
    match tone {
        Tone::Good => Role::Good,
        Tone::Warning => Role::Warning,
        Tone::Danger => Role::Danger,
        Tone::LinkDown => Role::LinkDown,
        Tone::LinkDegraded => Role::LinkDegraded,
        Tone::Marked => Role::Marked,
    }
}
