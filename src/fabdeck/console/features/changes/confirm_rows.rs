//! The rows of the question whether to confirm a change: what it is, what became of it, and what both answers do.
//!
//! ```text
//! change      updn of sim:demo, started by alice
//! ─ What became of it ──────────────── before the writes, and now ─
//! ● no path   before 0, now 0, of 1,980 pairs
//! ● worst wait before 89 %, now 31 %
//! ▲ errors    before 1 /s, now 12 /s
//!   what if   spine-2 fails: before 504 pairs without a path, after 0
//! (charts of waiting and errors)
//! confirm     it stays: nothing of it is rolled back later
//! ```

use super::dialogue::{DialogueRoom, change_pairs, waiting_pair};
use super::dialogue_row::{DialogueRow, DialogueSign, Piece, labelled, labelled_text};
use crate::catalogue::quantity_words::short_number;
use crate::console::drawing::theme::Role;
use crate::console::features::lanes::lane_effect::effect_since;
use crate::console::model::fabric_model::Model;
use crate::operations::changes::change_facts::{short_supposed_words, supposed_words};
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::watch::fabric_history::FabricSums;
use fabdeck_fabric::observe::digits_in_groups;

/// Rows of the charts in a box, and on a narrow screen.
const BOXED_CHART_ROWS: u16 = 10;
const CHART_ROWS: u16 = 5;

pub fn confirm_rows(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    let mut rows = first_rows(known, row, room);
    let last = last_rows(room);
    let charts = if room.boxed { BOXED_CHART_ROWS } else { CHART_ROWS };
    // Without room for them, the figures say the same in short.
    if rows.len() + usize::from(charts) + last.len() <= room.height {
        rows.push(DialogueRow::Charts { rows: charts });
        rows.extend((1..charts).map(|_| DialogueRow::Blank));
    }
    rows.extend(last);
    rows
}

fn first_rows(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    let mut pairs = change_pairs(row);
    pairs.extend(waiting_pair(&known.changes, row));
    let drift = row.drift.clone().unwrap_or_else(|| "nothing of it was changed since".to_owned());
    pairs.push(("by others", drift));
    let mut rows: Vec<DialogueRow> =
        pairs.iter().flat_map(|(label, text)| labelled_text(label, text, room.width)).collect();
    if room.boxed {
        rows.push(DialogueRow::Blank);
    }
    let right = Some(("before the writes, and now".to_owned(), Role::Dim));
    rows.push(DialogueRow::Heading { title: "What became of it", right, ruled: true });
    rows.extend(effect_rows(known, row, room));
    let supposed = if room.boxed { supposed_words } else { short_supposed_words };
    if let Some(words) = row.pairs.as_ref().and_then(|pairs| supposed(pairs, &row.failed)) {
        rows.extend(labelled_text("what if", words, room.width));
    }
    rows
}

/// The figures before the writes of a change, and now.
pub(super) fn effect_rows(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    let mut rows = pair_figures(known, row, room);
    rows.extend(watched_figures(known, row, room));
    rows
}

fn last_rows(room: DialogueRoom) -> Vec<DialogueRow> {
    let lines = [
        ("confirm", "it stays: nothing of it is rolled back later"),
        ("roll back", "all that is still as it wrote it is restored"),
    ];
    lines.into_iter().flat_map(|(label, text)| labelled_text(label, text, room.width)).collect()
}

/// What a move of flows does to paths.
pub(super) const ROUTES_STAY: &str = "as before: no forwarding table is written, and every path stays";

/// A value that grew by a smaller factor is not worse: readings of the same traffic differ by as much.
const NOISE_FACTOR: f64 = 1.05;

/// A value before the writes and now. A value that is not known has the reason for that.
struct EffectFigure {
    label: &'static str,
    before: Result<f64, &'static str>,
    now: Result<f64, &'static str>,
    text: fn(f64) -> String,
    /// What is said behind the figures.
    behind: String,
}

impl EffectFigure {
    fn rows(&self, room: DialogueRoom) -> Vec<DialogueRow> {
        let texts = [&self.before, &self.now].map(|value| value.map(self.text));
        // Values that read alike are alike, and less than a twentieth more is noise.
        let is_worse = self.before.is_ok_and(|before| self.now.is_ok_and(|now| now > before * NOISE_FACTOR))
            && texts[0] != texts[1];
        let sign = match (&self.before, &self.now) {
            (Ok(_), Ok(_)) if is_worse => DialogueSign::Warning,
            (Ok(_), Ok(_)) => DialogueSign::Well,
            _ => DialogueSign::Unknown,
        };
        let [before, now] = texts;
        let piece = |text: Result<String, &str>, role| match text {
            Ok(text) => (text, role),
            Err(why) => (why.to_owned(), Role::Dim),
        };
        let pieces: Vec<Piece> = vec![
            ("before ".to_owned(), Role::Dim),
            piece(before, Role::Text),
            (", now ".to_owned(), Role::Dim),
            piece(now, if is_worse { Role::Warning } else { Role::Strong }),
            (if self.now.is_ok() { self.behind.clone() } else { String::new() }, Role::Dim),
        ];
        labelled(sign, self.label, pieces, room.width)
    }
}

fn pair_figures(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    if !row.moves.is_empty() && row.pairs.is_none() {
        let text = vec![(ROUTES_STAY.to_owned(), Role::Text)];
        return labelled(DialogueSign::Well, "no path", text, room.width);
    }
    let now = match pairs_now(known, row) {
        CountState::Counted(Some(pairs)) => Ok(pairs as f64),
        CountState::Counted(None) => Err("not known"),
        CountState::Counting => Err("being counted"),
    };
    let supposed = row.pairs.as_ref();
    // A journal of an older version has only the counts of the supposed failure.
    let (before, all, behind) = match (row.actual_pairs(), supposed) {
        (Some(actual), _) => (Ok(actual.before as f64), actual.pairs, ""),
        (None, Some(pairs)) => (Ok(pairs.before as f64), pairs.pairs, ", if its marks fail"),
        (None, None) => (Err("not known"), 0, ""),
    };
    let behind =
        if all > 0 { format!(", of {} pairs{behind}", digits_in_groups(all)) } else { String::new() };
    let text = |pairs| digits_in_groups(pairs as u64);
    EffectFigure { label: "no path", before, now, text, behind }.rows(room)
}

type ValueOf = fn(&FabricSums) -> Option<f64>;

fn watched_figures(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    const NOT_WATCHED: &str = "not known (nothing was watched then)";
    let is_read = known.watch.can_watch() && !known.watch.paused && known.watch.trouble.is_none();
    let not_read = if is_read { "being read" } else { "not known (no reading since)" };
    let (before, now) = (known.changes.effects.values_before(&row.id), values_now(known, row));
    let value = |sums: Option<FabricSums>, of: ValueOf, why| match sums {
        Some(sums) => of(&sums).ok_or("not known"),
        None => Err(why),
    };
    let figure = |label: &'static str, of: ValueOf, text: fn(f64) -> String| EffectFigure {
        label,
        before: value(before, of, NOT_WATCHED),
        now: value(now, of, not_read),
        text,
        behind: String::new(),
    };
    let mut rows = figure("worst wait", |sums| sums.worst_wait, |wait| format!("{wait:.0} %")).rows(room);
    rows.extend(move_rows(known, row, now.is_some(), room));
    let errors = figure("errors", |sums| sums.errors_per_s, |errors| format!("{} /s", short_number(errors)));
    rows.extend(errors.rows(room));
    rows.extend(traffic_rows(before, now, not_read, room));
    rows.extend(problem_rows(known, row, now.is_some(), not_read, room));
    rows
}

/// What became of the waiting at the hot-spots whose flows a change moved, and of the hosts that waited there.
fn move_rows(known: &Model, row: &ChangeRow, is_read: bool, room: DialogueRoom) -> Vec<DialogueRow> {
    let Some(before) = known.changes.effects.moves.get(&row.id).filter(|_| is_read) else {
        return Vec::new();
    };
    // A host is one piece, so that no row ends within its figures.
    let line = |text: String| {
        let parts: Vec<&str> = text.split("; ").collect();
        let last = parts.len().saturating_sub(1);
        let piece = |(at, part): (usize, &&str)| {
            (if at < last { format!("{part};  ") } else { (*part).to_owned() }, Role::Text)
        };
        let pieces = parts.iter().enumerate().map(piece).collect();
        labelled(DialogueSign::Well, "its flows", pieces, room.width)
    };
    effect_since(known, before).into_iter().flat_map(line).collect()
}

/// The traffic of all links; less of it is no defect of itself, but a sign of one.
fn traffic_rows(
    before: Option<FabricSums>,
    now: Option<FabricSums>,
    not_read: &'static str,
    room: DialogueRoom,
) -> Vec<DialogueRow> {
    /// A fall below this share of the traffic before is pointed out.
    const FALL_SHARE: f64 = 0.8;
    let value = |sums: Option<FabricSums>| sums.and_then(|sums| sums.traffic_gbps);
    let (before, now) = (value(before), value(now));
    let has_fallen = before.zip(now).is_some_and(|(before, now)| now < before * FALL_SHARE);
    let sign = match (before, now) {
        (Some(_), Some(_)) if has_fallen => DialogueSign::Warning,
        (Some(_), Some(_)) => DialogueSign::Well,
        _ => DialogueSign::Unknown,
    };
    let text = |value: Option<f64>, why: &str| {
        value.map_or_else(|| why.to_owned(), |gbps| format!("{} Gb/s", short_number(gbps)))
    };
    let role = if has_fallen { Role::Warning } else { Role::Strong };
    let pieces: Vec<Piece> = vec![
        ("before ".to_owned(), Role::Dim),
        (text(before, "not known"), Role::Text),
        (", now ".to_owned(), Role::Dim),
        (text(now, not_read), if now.is_some() { role } else { Role::Dim }),
    ];
    labelled(sign, "traffic", pieces, room.width)
}

/// The problems that began with the change, and those that ended, by their titles.
fn problem_rows(
    known: &Model,
    row: &ChangeRow,
    is_read: bool,
    not_read: &'static str,
    room: DialogueRoom,
) -> Vec<DialogueRow> {
    /// Most problems with a row.
    const MAX_NAMED: usize = 2;
    let ranked = known.problems.ranked.as_ref().filter(|_| is_read);
    let dim = |text: &str| vec![(text.to_owned(), Role::Dim)];
    let Some(ranked) = ranked else {
        return labelled(DialogueSign::Unknown, "problems", dim(not_read), room.width);
    };
    let Some(changes) = known.changes.effects.problem_changes(&row.id, ranked) else {
        return labelled(DialogueSign::Unknown, "problems", dim("those of before are not known"), room.width);
    };
    if changes.new.is_empty() && changes.ended.is_empty() {
        return labelled(DialogueSign::Well, "problems", dim("none began and none ended since"), room.width);
    }
    let mut rows = Vec::new();
    let groups =
        [(DialogueSign::Warning, "new", &changes.new), (DialogueSign::Well, "ended", &changes.ended)];
    for (sign, word, titles) in groups {
        for title in titles.iter().take(MAX_NAMED) {
            rows.extend(labelled(sign, word, vec![(title.clone(), Role::Text)], room.width));
        }
        if let more @ 1.. = titles.len().saturating_sub(MAX_NAMED) {
            rows.extend(labelled(sign, word, dim(&format!("and {more} more problems")), room.width));
        }
    }
    rows
}

/// A figure that may still be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CountState {
    Counting,
    Counted(Option<u64>),
}

/// The values of the last reading that began after the writes of a change.
fn values_now(known: &Model, row: &ChangeRow) -> Option<FabricSums> {
    let written_ms = known.changes.session_time_ms(&row.time)?;
    known.watch.totals.latest_since(u64::try_from(written_ms).unwrap_or(0))
}

/// The pairs without a path in the current tables.
pub(super) fn pairs_now(known: &Model, row: &ChangeRow) -> CountState {
    let effects = &known.changes.effects;
    let counted = known.look.as_ref().filter(|_| !known.changes.look_wanted).and_then(|look| {
        effects.counted.as_ref().filter(|counted| counted.is_of(&row.id, look)).map(|counted| counted.pairs)
    });
    match counted {
        Some(pairs) => CountState::Counted(pairs),
        None if known.look.is_some() && row.pairs.is_some() => CountState::Counting,
        None => CountState::Counted(None),
    }
}
