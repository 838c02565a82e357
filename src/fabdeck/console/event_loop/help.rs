//! The content of the help: keys of this screen and of every screen, filtered by a search, and the meaning of
//! columns. All of it comes from the tables of actions and fields.

use crate::catalogue::field::Column;
use crate::console::features::screens::SCREENS;
use crate::console::model::action::{Action, KeyScope};
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;

/// A line of help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HelpLine {
    Heading(String),
    /// The keys, or the palette word of an action without a key; and what the action does.
    Entry(String, String),
}

/// The column at which the descriptions begin.
pub fn help_column(state: &SessionState) -> u16 {
    if state.size.width < 60 { 14 } else { 18 }
}

/// Least width of a screen whose help has two columns.
const TWO_COLUMNS_MIN_WIDTH: u16 = 150;

/// The lines of help in columns that scroll together. The keys of the screen in sight come first.
pub struct HelpColumns {
    pub columns: Vec<Vec<HelpLine>>,
}

impl HelpColumns {
    pub fn new(state: &SessionState, search: &str) -> Self {
        let width = state.areas().overlay.width;
        if width < TWO_COLUMNS_MIN_WIDTH {
            return Self { columns: vec![help_rows(state, search, width)] };
        }
        let mut left = help_rows(state, search, width / 2);
        let right = left.split_off(split_row(&left));
        Self { columns: [left, right].into_iter().filter(|column| !column.is_empty()).collect() }
    }

    pub fn row_count(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The row that begins the second column: a heading near the middle, or else an entry.
fn split_row(rows: &[HelpLine]) -> usize {
    let middle = rows.len().div_ceil(2);
    let headings = (0..rows.len()).filter(|at| matches!(rows[*at], HelpLine::Heading(_)));
    let nearest = headings.min_by_key(|at| at.abs_diff(middle));
    if let Some(at) = nearest.filter(|at| at.abs_diff(middle) <= rows.len() / 8) {
        return at;
    }
    // The rest of a wrapped line has no key.
    let begins = |at: &usize| !matches!(&rows[*at], HelpLine::Entry(key, _) if key.is_empty());
    (middle..rows.len()).find(begins).unwrap_or(rows.len())
}

/// The lines of help as rows of this width, with long lines wrapped.
fn help_rows(state: &SessionState, search: &str, width: u16) -> Vec<HelpLine> {
    let room = width.saturating_sub(help_column(state) + 1);
    let rows = |line: HelpLine| match line {
        HelpLine::Heading(_) => vec![line],
        HelpLine::Entry(keys, words) => {
            let rows = wrap_text(&words, room.into()).into_iter().enumerate();
            let first = |at: usize| if at == 0 { keys.clone() } else { String::new() };
            rows.map(|(at, row)| HelpLine::Entry(first(at), row)).collect()
        }
    };
    help_lines(state, search).into_iter().flat_map(rows).collect()
}

fn help_lines(state: &SessionState, search: &str) -> Vec<HelpLine> {
    let search = search.to_lowercase();
    let fits = |action: &&Action| {
        search.is_empty() || format!("{} {}", action.id, action.title).to_lowercase().contains(&search)
    };
    let mut lines = Vec::new();
    let places = std::iter::once(KeyScope::On(state.screen)).chain([KeyScope::Everywhere]);
    let others = SCREENS
        .iter()
        .map(|screen| KeyScope::On(screen.id))
        .filter(|place| *place != KeyScope::On(state.screen));
    let here = KeyScope::On(state.screen);
    let stands = |action: &Action| if action.belongs.contains(&state.screen) { here } else { action.place };
    let fields = field_lines(state, &search);
    for (at, place) in places.chain(others).enumerate() {
        // What the columns mean comes after the keys of the screen.
        if at == 1 {
            lines.extend(fields.iter().cloned());
        }
        let of_place = state.keymap.actions().filter(|action| stands(action) == place).filter(fits);
        let grouping = match (search.is_empty(), place == here) {
            (false, _) => RefusedEntries::InPlace,
            (true, true) => RefusedEntries::WithTitles,
            (true, false) => RefusedEntries::KeysAlone,
        };
        let entries = entries_of_place(state, of_place, grouping);
        if !entries.is_empty() {
            lines.push(HelpLine::Heading(format!("On {place}")));
            lines.extend(entries);
        }
    }
    lines
}

/// How the help has the actions that do not work now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefusedEntries {
    /// In their place, each with its reason: what a search finds.
    InPlace,
    /// Last, below a row with their reason: those of the screen in sight.
    WithTitles,
    /// Last, a row for each reason with the keys alone.
    KeysAlone,
}

/// The entries of actions.
fn entries_of_place<'k>(
    state: &SessionState,
    actions: impl Iterator<Item = &'k Action>,
    grouping: RefusedEntries,
) -> Vec<HelpLine> {
    let keys_of = |action: &Action| {
        let keys: Vec<String> = state.keymap.keys(action).iter().map(ToString::to_string).collect();
        if keys.is_empty() { format!(":{}", action.id) } else { keys.join(" ") }
    };
    let mut entries = Vec::new();
    let mut refused: Vec<(String, Vec<(String, &Action)>)> = Vec::new();
    for action in actions {
        let keys = keys_of(action);
        match (action.ready)(state) {
            Ok(()) => entries.push(HelpLine::Entry(keys, action.title.to_owned())),
            Err(why) if grouping == RefusedEntries::InPlace => {
                entries.push(HelpLine::Entry(keys, format!("{} (not now: {why})", action.title)));
            }
            Err(why) => match refused.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, actions)) => actions.push((keys, action)),
                None => refused.push((why, vec![(keys, action)])),
            },
        }
    }
    for (why, actions) in refused {
        if grouping == RefusedEntries::WithTitles {
            entries.push(HelpLine::Entry("not now".to_owned(), why));
            let entry = |(keys, action): (String, &Action)| HelpLine::Entry(keys, action.title.to_owned());
            entries.extend(actions.into_iter().map(entry));
            continue;
        }
        let word = |(keys, action): &(String, &Action)| match keys.starts_with(':') {
            true => keys.clone(),
            false => format!("{keys} {}", action.id),
        };
        let words: Vec<String> = actions.iter().map(word).collect();
        entries.push(HelpLine::Entry("not now".to_owned(), format!("{}: {why}", words.join(", "))));
    }
    entries
}

/// The fields of the list in sight, each with its heading and what it means.
fn field_lines(state: &SessionState, search: &str) -> Vec<HelpLine> {
    let Some(listing) = state.current().listing(&state.known) else { return Vec::new() };
    let about = (0..listing.column_count()).map(|at| listing.column(at));
    let fits = |column: &&Column| {
        search.is_empty()
            || format!("{} {} {}", column.id, column.title, column.about).to_lowercase().contains(search)
    };
    let columns: Vec<HelpLine> = about
        .filter(fits)
        .map(|column| HelpLine::Entry(column.id.to_string(), format!("{}: {}", column.title, column.about)))
        .collect();
    if columns.is_empty() {
        return columns;
    }
    std::iter::once(HelpLine::Heading("Fields of this list, for / and s".to_owned())).chain(columns).collect()
}
