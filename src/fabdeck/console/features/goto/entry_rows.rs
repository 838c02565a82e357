//! The rows of problems, actions, jobs, changes and times, and of what was opened before.

use super::goto_state::{GotoGroup, GotoRow, GotoTarget, RecentPlace};
use super::text_match::{EXACT, INSIDE, START, WORD_START, match_score, matched_places};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::health::card_text::length_words;
use crate::console::model::action::{Action, KeyScope};
use crate::console::model::state::SessionState;
use crate::operations::health::problem::ProblemSeverity;

/// Most problems, jobs and events that a key looks through: the worst, and the latest.
const MAX_ENTRIES: usize = 2000;
/// Most rows of a group without a word to match.
const MAX_UNMATCHED: usize = 200;

/// The score of an action whose word is typed in full, and of its unique beginning.
const WHOLE_ACTION: u16 = EXACT + 12;
const UNIQUE_START: u16 = EXACT - 1;
/// What a match in the title of an action loses against one in its word.
const TITLE_DISTANCE: u16 = 35;

impl GotoRow {
    /// Adds to the score how bad the thing is and how lately it was opened.
    pub(super) fn scored(mut self, state: &SessionState, base: u16) -> Self {
        const BAD: [u16; 3] = [0, 4, 8];
        const LATELY: usize = 16;
        let place = state.goto.recent.iter().take(LATELY).position(|place| place.target == self.target);
        let lately = place.map_or(0, |place| (LATELY - place) / 2);
        let bonus = BAD[self.severity as usize] + u16::try_from(lately).unwrap_or(0);
        self.score = (base + bonus).min(Self::MAX_SCORE);
        self
    }

    /// Adds the key of an action, and why it cannot run now.
    pub(super) fn of_action(mut self, state: &SessionState, action: &Action) -> Self {
        self.key = action.first_key(&state.keymap).map_or_else(String::new, |key| key.to_string());
        if let Err(why) = (action.ready)(state) {
            (self.about, self.blocked) = (why, true);
        }
        self
    }
}

/// Adds a row where its text matches.
pub(super) fn add_matching(
    rows: &mut Vec<GotoRow>,
    state: &SessionState,
    words: &[String],
    row: GotoRow,
    hint: &str,
) {
    let text = format!("{} {hint}", row.text.to_lowercase());
    if words.is_empty() && rows.len() >= MAX_UNMATCHED {
        return;
    }
    if let Some(score) = match_score(text.trim_end(), words) {
        let matched = matched_places(&row.text, words);
        let is_sure = words.is_empty() || score >= INSIDE;
        rows.push(GotoRow { matched, is_sure, ..row }.scored(state, score));
    }
}

pub fn problem_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    let Some(ranked) = &state.known.problems.ranked else { return rows };
    for (at, problem) in ranked.problems.iter().take(MAX_ENTRIES).enumerate() {
        let text = format!("{} {}", at + 1, problem.title);
        let mut row = GotoRow::new(GotoGroup::Problems, text, GotoTarget::Problem(problem.id.clone()));
        row.severity = match (problem.severity, &problem.acknowledged) {
            (_, Some(_)) => Severity::Info,
            (ProblemSeverity::Critical, None) => Severity::Error,
            (ProblemSeverity::Warning, None) => Severity::Warning,
        };
        if problem.acknowledged.is_some() {
            row.about = "acknowledged".to_owned();
        }
        add_matching(&mut rows, state, words, row, problem.kind.word());
    }
    rows
}

/// The running jobs: those of Jobs, or those that Health places on the fabric.
pub fn job_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let known = &state.known;
    let placed = || known.look.as_ref().and_then(|look| known.problems.placed_jobs(look));
    let listed = known.jobs.comparison.as_ref().map(|comparison| &*comparison.jobs);
    let mut rows = Vec::new();
    for (name, ports) in listed.or_else(placed).into_iter().flat_map(|jobs| jobs.iter()).take(MAX_ENTRIES) {
        let mut row = GotoRow::new(GotoGroup::Jobs, format!("job {name}"), GotoTarget::Job(name.clone()));
        row.about = format!("on {}", count_words(ports.len(), "port", "ports"));
        add_matching(&mut rows, state, words, row, "");
    }
    rows
}

pub fn change_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    for change in state.known.changes.rows_here().take(MAX_ENTRIES) {
        let text = format!("change {}", change.number);
        let mut row = GotoRow::new(GotoGroup::Changes, text, GotoTarget::Change(change.id.clone()));
        row.severity = if change.state.is_pending() { Severity::Warning } else { Severity::Info };
        row.about = format!("{}, {}", change.engine, change.state_title());
        let hint = format!("{} {}", change.id, change.engine).to_lowercase();
        add_matching(&mut rows, state, words, row, &hint);
    }
    rows
}

/// The events of the recording, or those of the watch; the latest come first.
pub fn time_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    if state.known.playback.is_some() {
        for event in state.screens.timeline.events().iter().rev().take(MAX_ENTRIES) {
            let Some(place) = event.place else { continue };
            let target = GotoTarget::Moment { place, time: event.at };
            let text = format!("{} {}", event.time, event.text);
            let mut row = GotoRow::new(GotoGroup::Times, text, target);
            row.about = event.label.to_owned();
            add_matching(&mut rows, state, words, row, event.label);
        }
        return rows;
    }
    let latest = state.known.problems.latest_ms();
    for event in state.known.problems.events().rev().take(MAX_ENTRIES) {
        let mut row = GotoRow::new(GotoGroup::Times, event.text.clone(), GotoTarget::Events);
        row.severity = event.severity;
        let age = u64::try_from(latest.saturating_sub(event.at_ms)).unwrap_or(0);
        row.about = format!("{} ago", length_words(age));
        add_matching(&mut rows, state, words, row, "");
    }
    rows
}

/// The action that goes to a time of the recording, for a line that may be one.
pub fn seek_row(state: &SessionState, line: &str) -> Option<GotoRow> {
    let action = state
        .keymap
        .find_action("at")
        .filter(|_| line.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-'))?;
    let target = GotoTarget::Action { id: action.id, argument: line.to_owned() };
    let row = GotoRow::new(GotoGroup::Times, format!("go to {line}"), target).of_action(state, action);
    Some(GotoRow { is_sure: !row.blocked, ..row }.scored(state, START))
}

/// The actions. Without a word, those of this screen come first.
pub fn action_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let line = words.join(" ");
    let begun =
        state.keymap.actions().filter(|action| !line.is_empty() && action.id.starts_with(&line)).count();
    let mut rows = Vec::new();
    for action in state.keymap.actions() {
        let Some((score, is_sure)) = action_score(state, action, &line, words, begun == 1) else { continue };
        let word = match action.argument {
            "" => action.id.to_owned(),
            argument => format!("{} {argument}", action.id),
        };
        let target = GotoTarget::Action { id: action.id, argument: String::new() };
        let row = GotoRow::new(GotoGroup::Actions, word, target);
        let row = GotoRow { about: action.title.to_owned(), is_sure, ..row }.of_action(state, action);
        let matched = matched_places(action.id, words);
        rows.push(GotoRow { matched, ..row }.scored(state, score));
    }
    rows.extend(view_rows(state, words));
    rows
}

/// The lists of the Map, which have no key of their own: the word, the line that opens it, and what it is.
const MAP_VIEWS: [(&str, &str, &str); 5] = [
    ("hosts", "map view=hosts", "Map: every host with its switch and port"),
    ("switches", "map view=switches", "Map: every switch in a list"),
    ("tree", "map view=tree", "Map: the fabric as a tree"),
    ("partitions", "map view=partitions", "Map: the members of every partition"),
    ("groups", "map view=groups", "Map: the members of every multicast group"),
];

/// The views that a word names.
fn view_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let open = state.keymap.find_action("open").filter(|_| !words.is_empty());
    let Some(open) = open else { return Vec::new() };
    let row = |(word, line, about): &(&str, &str, &str)| {
        let score = match_score(word, words).filter(|score| *score >= START)?;
        let target = GotoTarget::Action { id: open.id, argument: (*line).to_owned() };
        let row = GotoRow::new(GotoGroup::Actions, (*word).to_owned(), target).of_action(state, open);
        let about = if row.blocked { row.about.clone() } else { (*about).to_owned() };
        let matched = matched_places(word, words);
        Some(GotoRow { about, matched, ..row }.scored(state, score))
    };
    MAP_VIEWS.iter().filter_map(row).collect()
}

/// The score of an action, and whether the line names it.
fn action_score(
    state: &SessionState,
    action: &Action,
    line: &str,
    words: &[String],
    is_only: bool,
) -> Option<(u16, bool)> {
    if line.is_empty() {
        let is_here = action.place == KeyScope::On(state.screen) || action.belongs.contains(&state.screen);
        let can_run = (action.ready)(state).is_ok();
        return Some((u16::from(can_run) + 2 * u16::from(is_here && can_run), false));
    }
    match (action.id == line || action.alias == line, action.id.starts_with(line)) {
        (true, _) => return Some((WHOLE_ACTION, true)),
        (_, true) if is_only => return Some((UNIQUE_START, true)),
        _ => {}
    }
    let own = match_score(action.id, words).map(|score| score.min(START));
    let title = match_score(&action.title.to_lowercase(), words).filter(|score| *score >= WORD_START);
    own.max(title.map(|score| score - TITLE_DISTANCE)).map(|score| (score, false))
}

/// What was opened before, the last one first.
pub fn recent_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    for place in &state.goto.recent {
        let RecentPlace { target, text, kind, at_ms } = place;
        let mut row = GotoRow::new(GotoGroup::Before, text.clone(), target.clone());
        row.about = format!("{kind}  {} ago", length_words(state.now_ms.saturating_sub(*at_ms)));
        add_matching(&mut rows, state, words, row, kind);
    }
    if words.is_empty() {
        return rows;
    }
    // A place in its own group comes before the same place here.
    rows.into_iter().map(|row| GotoRow { score: row.score.saturating_sub(WORD_START / 2), ..row }).collect()
}
