//! The rows of the list for a line: groups, the best first, each with a few rows and the number of the others.

use std::cmp::Reverse;
use std::sync::Arc;

use super::entry_rows::{action_rows, change_rows, job_rows, problem_rows, recent_rows, seek_row, time_rows};
use super::goto_layout::GotoLayout;
use super::goto_state::{GotoCounts, GotoGroup, GotoRow, GotoTarget, RowsKey};
use super::map_rows::part_rows;
use super::member_rows::{group_rows_of, partition_rows_of};
use super::name_rows::{NameRows, name_rows};
use super::name_search::search_names;
use super::name_tasks::begin_search;
use super::text_match::line_words;
use crate::console::model::action::Action;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::{Prompt, Purpose};
use crate::console::model::state::SessionState;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::similar_words;

/// Rows of a group beside others: on a low screen, and on another one. Most rows of a group that is shown whole.
const FEW_ROWS: usize = 3;
const SOME_ROWS: usize = 5;
const LOW_SCREEN: u16 = 30;
const MAX_ROWS: usize = 100;

/// What a line is narrowed to by its first character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GotoKind {
    Problems,
    Actions,
    Times,
    Jobs,
}

impl GotoKind {
    pub const ALL: [(char, &'static str, Self); 4] = [
        ('!', "problems", Self::Problems),
        ('>', "actions", Self::Actions),
        ('@', "times", Self::Times),
        ('#', "jobs", Self::Jobs),
    ];
}

/// Splits a line into what it is narrowed to, and the rest.
pub fn split_line(line: &str) -> (Option<GotoKind>, &str) {
    let line = line.trim_start();
    let of = |(sign, _, kind): &(char, &str, GotoKind)| Some((*kind, line.strip_prefix(*sign)?));
    match GotoKind::ALL.iter().find_map(of) {
        Some((kind, rest)) => (Some(kind), rest.trim_start()),
        None => (None, line),
    }
}

/// The action that a word names: in full, or by a beginning that no other has.
pub fn named_action(state: &SessionState, word: &str) -> Option<&'static Action> {
    let only = || {
        let mut begun =
            state.keymap.actions().filter(|action| !word.is_empty() && action.id.starts_with(word));
        begun.next().filter(|_| begun.next().is_none())
    };
    state.keymap.find_action(word).or_else(only)
}

/// The action whose argument the line has, and the argument.
pub fn argument_of<'l>(state: &SessionState, line: &'l str) -> Option<(&'static Action, &'l str)> {
    let (kind, rest) = split_line(line);
    let (word, argument) = rest.split_once(char::is_whitespace)?;
    let is_action = matches!(kind, None | Some(GotoKind::Actions));
    named_action(state, word).filter(|_| is_action).map(|action| (action, argument.trim_start()))
}

/// What the rows of a line are made of now.
fn rows_key(state: &SessionState, line: &str) -> RowsKey {
    fn address<T>(of: Option<&Arc<T>>) -> usize {
        of.map_or(0, |of| Arc::as_ptr(of) as usize)
    }
    let known = &state.known;
    let recorded = known.playback.as_ref().map_or(0, |playback| playback.changed);
    RowsKey {
        line: line.to_owned(),
        expanded: state.goto.expanded,
        height: state.size.height,
        second: state.now_ms / 1000,
        shared: [
            address(known.look.as_ref()),
            address(known.problems.ranked.as_ref()),
            address(state.goto.index.as_ref()),
            address(known.jobs.comparison.as_ref()),
        ],
        counts: [
            usize::try_from(recorded).unwrap_or(usize::MAX),
            known.problems.events().len(),
            known.changes.rows().len(),
            state.goto.recent.len(),
        ],
        found: state.goto.found.as_ref().map(|(words, _)| words.clone()),
    }
}

/// Makes the rows again where the line or its facts have changed.
pub fn follow_rows(state: &mut SessionState) -> Vec<Effect> {
    let Some(prompt) = state.prompt.take_if(|prompt| prompt.purpose == Purpose::Command) else {
        return Vec::new();
    };
    let of = rows_key(state, &prompt.text);
    let effects = match state.goto.of.as_ref() == Some(&of) {
        true => Vec::new(),
        false => make_rows(state, &prompt, of),
    };
    state.prompt = Some(prompt);
    effects
}

fn make_rows(state: &mut SessionState, prompt: &Prompt, of: RowsKey) -> Vec<Effect> {
    let is_same_line = state.goto.of.as_ref().is_some_and(|before| before.line == of.line);
    if !is_same_line {
        (state.goto.is_chosen, state.goto.expanded) = (false, None);
    }
    state.goto.of = Some(RowsKey { expanded: state.goto.expanded, ..of });
    let here = state.goto.picked_row().filter(|_| state.goto.is_chosen).map(|row| row.target.clone());
    let mut effects = Vec::new();
    let (rows, counts) = match argument_of(state, &prompt.text) {
        Some((action, argument)) => argument_rows(state, prompt, action, argument),
        None => {
            let (found, searching) = found_rows(state, &prompt.text);
            effects = searching;
            found
        }
    };
    state.goto.counts = counts;
    let (_, rest) = split_line(&prompt.text);
    state.goto.is_scored =
        !rest.trim().is_empty() && rows.iter().any(|row| row.group != GotoGroup::Arguments);
    let again = here.and_then(|here| rows.iter().position(|row| row.target == here));
    let is_first_meant = rows.first().is_some_and(|row| row.is_sure) && !prompt.text.trim().is_empty();
    state.goto.is_chosen &= again.is_some();
    state.goto.picked = again.or(is_first_meant.then_some(0));
    state.goto.near = if rows.is_empty() { near_words(state, rest) } else { String::new() };
    state.goto.rows = rows;
    effects
}

/// Most names that are compared with a line that matches nothing.
const MAX_COMPARED: usize = 5000;

/// Names and actions like this text, as a sentence that follows; empty where none is.
fn near_words(state: &SessionState, text: &str) -> String {
    let names = state.snapshot().into_iter().flat_map(|look| {
        look.fabric()
            .nodes()
            .take(MAX_COMPARED)
            .map(|(node, _)| look.name(node).split(' ').next().unwrap_or(""))
    });
    let actions = state.keymap.actions().map(|action| action.id);
    match similar_words(text.trim(), names.chain(actions)).first() {
        Some(near) => format!(" Did you mean '{near}'?"),
        None => String::new(),
    }
}

/// The completions for the argument of an action, and the action.
fn argument_rows(
    state: &SessionState,
    prompt: &Prompt,
    action: &'static Action,
    argument: &str,
) -> (Vec<GotoRow>, GotoCounts) {
    let completion = |offer: &crate::console::model::prompt::Completion| {
        let target = GotoTarget::Completion { line: offer.line_start(), needs_more: offer.needs_argument() };
        let row = GotoRow::new(GotoGroup::Arguments, offer.text.clone(), target);
        GotoRow { about: offer.about.clone(), blocked: offer.blocked, is_sure: false, ..row }
    };
    let mut rows: Vec<GotoRow> = prompt.offers.iter().map(completion).collect();
    let target = GotoTarget::Action { id: action.id, argument: argument.to_owned() };
    let row = GotoRow::new(GotoGroup::Actions, format!("{} {}", action.id, action.argument), target);
    let row = GotoRow { about: action.title.to_owned(), is_sure: false, ..row };
    rows.push(row.of_action(state, action));
    (
        rows,
        GotoCounts { matching: 0, is_least: false, names: name_count(state), actions: action_count(state) },
    )
}

fn action_count(state: &SessionState) -> usize {
    state.keymap.actions().count()
}

/// Number of nodes and cables.
fn name_count(state: &SessionState) -> usize {
    state.snapshot().map_or(0, |look| look.fabric().nodes().len() + look.fabric().links().len())
}

/// Rows and their numbers.
type CountedRows = (Vec<GotoRow>, GotoCounts);

fn found_rows(state: &mut SessionState, line: &str) -> (CountedRows, Vec<Effect>) {
    let (kind, rest) = split_line(line);
    let words = line_words(rest);
    let (names, effects) = match kind {
        None => names_of(state, rest, &words),
        Some(_) => (NameRows::default(), Vec::new()),
    };
    let state = &*state;
    let wants = |of: GotoKind| kind.is_none_or(|kind| kind == of);
    let mut rows = names.rows;
    if wants(GotoKind::Problems) {
        rows.extend(problem_rows(state, &words));
    }
    if wants(GotoKind::Actions) {
        rows.extend(action_rows(state, &words));
    }
    // An empty line shows what was opened before, problems and actions; a sign shows the others.
    if kind == Some(GotoKind::Jobs) || (kind.is_none() && !words.is_empty()) {
        rows.extend(job_rows(state, &words));
    }
    if kind.is_none() && !words.is_empty() {
        rows.extend(part_rows(state, &words));
        rows.extend(partition_rows_of(state, &words));
        rows.extend(group_rows_of(state, &words));
    }
    if kind == Some(GotoKind::Times) || (kind.is_none() && !words.is_empty()) {
        rows.extend(seek_row(state, rest).filter(|row| kind.is_some() || !row.blocked));
        rows.extend(time_rows(state, &words));
    }
    if kind.is_none() {
        rows.extend(if words.is_empty() { Vec::new() } else { change_rows(state, &words) });
        rows.extend(recent_rows(state, &words));
    }
    let counts = GotoCounts {
        matching: names.matching,
        is_least: names.is_least,
        names: name_count(state),
        actions: action_count(state),
    };
    ((group_rows(state, rows, &names.counts, words.is_empty()), counts), effects)
}

/// The rows of names; a task looks through the names that are too many for a key.
fn names_of(state: &mut SessionState, line: &str, words: &[String]) -> (NameRows, Vec<Effect>) {
    let Some(index) = state.goto.index.clone().filter(|_| !words.is_empty()) else {
        return (NameRows::default(), Vec::new());
    };
    let found = state.goto.found.as_ref().filter(|(of, _)| of == words).map(|(_, hits)| hits.clone());
    let mut effects = Vec::new();
    let hits = match found {
        Some(hits) => hits,
        None => {
            let hits = search_names(&index, words, state.goto.names_per_key);
            state.goto.looked_through = hits.looked_through;
            if !hits.is_complete {
                effects = begin_search(state, index.clone(), words.to_vec());
            }
            hits
        }
    };
    (name_rows(state, &index, line, words, &hits), effects)
}

/// Puts rows into groups, the group with the best row first. On an empty line, what was opened before comes first.
fn group_rows(
    state: &SessionState,
    mut rows: Vec<GotoRow>,
    counts: &[(GotoGroup, usize)],
    is_empty: bool,
) -> Vec<GotoRow> {
    rows.sort_by_key(|row| (row.group, Reverse(row.score)));
    let mut groups: Vec<Vec<GotoRow>> = Vec::new();
    for row in rows {
        match groups.last_mut() {
            Some(group) if group[0].group == row.group => group.push(row),
            _ => groups.push(vec![row]),
        }
    }
    let is_before = |group: &[GotoRow]| group[0].group == GotoGroup::Before;
    match is_empty {
        true => groups.sort_by_key(|group| !is_before(group)),
        false => groups.sort_by_key(|group| Reverse(group[0].score)),
    }
    let single = groups.len() == 1;
    let few = if state.size.height < LOW_SCREEN { FEW_ROWS } else { SOME_ROWS };
    let count_of = |group: &[GotoRow]| {
        let of_group = counts.iter().find(|(of, _)| *of == group[0].group);
        of_group.map_or(group.len(), |(_, count)| *count)
    };
    let sizes: Vec<GroupSize> = groups
        .iter()
        .map(|group| GroupSize {
            rows: group.len(),
            count: count_of(group),
            is_whole: single || state.goto.expanded == Some(group[0].group),
        })
        .collect();
    let height = usize::from(GotoLayout::new(&state.areas()).list.height);
    let mut shown = Vec::new();
    for (group, taken) in groups.into_iter().zip(share_room(&sizes, few, height)) {
        let (id, count) = (group[0].group, count_of(&group));
        let is_whole = single || state.goto.expanded == Some(id);
        let score = group[0].score;
        shown.extend(group.into_iter().take(taken));
        if count > taken {
            let more = digits_in_groups(count - taken);
            let text =
                if is_whole { format!("{more} more: type more of the name") } else { format!("{more} more") };
            shown.push(GotoRow { score, is_sure: false, ..GotoRow::new(id, text, GotoTarget::More(id)) });
        }
    }
    shown
}

/// How many rows a group has, how many there are of it in all, and whether it is shown whole.
#[derive(Clone, Copy, Debug)]
struct GroupSize {
    rows: usize,
    count: usize,
    is_whole: bool,
}

impl GroupSize {
    /// Rows that the list needs for a group with its head, and the row with the number of the others.
    fn lines(self, taken: usize) -> usize {
        1 + taken + usize::from(self.count > taken)
    }
}

/// The rows that each group gets: a few, and more of the first ones where the list has room.
fn share_room(groups: &[GroupSize], few: usize, height: usize) -> Vec<usize> {
    let mut taken: Vec<usize> = groups
        .iter()
        .map(|group| match group.is_whole {
            true => group.rows.min(MAX_ROWS),
            // A row that says that there is one more would take the room of that row.
            false if group.count == few + 1 && group.rows == group.count => group.count,
            false => group.rows.min(few),
        })
        .collect();
    // The last row says what the bars mean.
    let mut left = height.saturating_sub(1);
    for (group, taken) in groups.iter().zip(&taken) {
        left = left.saturating_sub(group.lines(*taken));
    }
    for (group, taken) in groups.iter().zip(&mut taken) {
        // The last row of a group takes the place of the number of the others.
        let most = group.rows.min(MAX_ROWS);
        let fits = (*taken..=most).rev().find(|more| group.lines(*more) <= left + group.lines(*taken));
        let more = fits.unwrap_or(*taken);
        left = left + group.lines(*taken) - group.lines(more);
        *taken = more;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_room_shows_more_of_its_first_groups() {
        let size = |rows: usize, count: usize| GroupSize { rows, count, is_whole: false };
        let groups = [size(1, 1), size(13, 13), size(50, 108)];
        assert_eq!(share_room(&groups, 5, 12), [1, 5, 5], "no room");
        assert_eq!(share_room(&groups, 5, 24), [1, 13, 5], "the rest of the first group that has more");
        assert_eq!(share_room(&groups, 5, 40), [1, 13, 21]);
        assert_eq!(
            share_room(&[size(6, 6), size(7, 7)], 5, 0),
            [6, 5],
            "one more takes the row of its number"
        );
        let whole = GroupSize { is_whole: true, ..size(300, 300) };
        assert_eq!(share_room(&[whole], 5, 10), [MAX_ROWS]);
    }

    #[test]
    fn the_first_sign_narrows() {
        assert_eq!(split_line("!spine"), (Some(GotoKind::Problems), "spine"));
        assert_eq!(split_line(" > preview updn"), (Some(GotoKind::Actions), "preview updn"));
        assert_eq!(split_line("@14:2"), (Some(GotoKind::Times), "14:2"));
        assert_eq!(split_line("#"), (Some(GotoKind::Jobs), ""));
        assert_eq!(split_line("node!"), (None, "node!"));
    }
}
