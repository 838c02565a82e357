//! The state of the line that goes to anything: its rows, the row of the cursor, and what was opened before.

use std::collections::VecDeque;
use std::sync::Arc;

use super::failure_cost::FailureCosts;
use super::name_index::NameIndex;
use super::name_search::{NameHits, NamesPending};
use crate::catalogue::severity::Severity;

/// Most places that are kept, and most lines.
const MAX_RECENT: usize = 50;
/// Names that a key looks through at most; a background task looks through the others.
pub const NAMES_PER_KEY: usize = 4096;

/// The groups of rows, in the order that rows of equal score have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum GotoGroup {
    /// The completions for the argument of an action.
    Arguments,
    Switches,
    Hosts,
    Ports,
    Cables,
    /// Pods, groups and slices of the map.
    MapParts,
    Partitions,
    Groups,
    Problems,
    Actions,
    Jobs,
    Changes,
    Times,
    Before,
}

impl GotoGroup {
    pub fn title(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Switches => "switches",
            Self::Hosts => "hosts",
            Self::Ports => "ports of it",
            Self::Cables => "cables of it",
            Self::MapParts => "parts of the map",
            Self::Partitions => "partitions",
            Self::Groups => "multicast groups",
            Self::Problems => "problems",
            Self::Actions => "actions",
            Self::Jobs => "jobs",
            Self::Changes => "changes",
            Self::Times => "times",
            Self::Before => "before",
        }
    }
}

impl GotoGroup {
    /// Whether the rows are names, which both of their ends distinguish.
    pub fn has_names(self) -> bool {
        matches!(self, Self::Switches | Self::Hosts | Self::Ports | Self::Cables | Self::Before)
    }
}

/// What Enter on a row does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GotoTarget {
    /// Goes to an element, in the notation of commands.
    Element(String),
    /// Goes to the card of a problem.
    Problem(String),
    Job(String),
    Change(String),
    /// Opens the map at a part, by its name.
    MapPart(String),
    /// Goes to a moment of the recording; its time finds it again where places have moved.
    Moment {
        place: usize,
        time: i64,
    },
    /// Shows the log, which has the events of a live fabric.
    Events,
    /// Runs an action; without an argument, one that needs it asks for it.
    Action {
        id: &'static str,
        argument: String,
    },
    /// Runs a whole line again.
    Line(String),
    /// Completes the line, which runs unless it needs more text.
    Completion {
        line: String,
        needs_more: bool,
    },
    /// Shows all rows of a group.
    More(GotoGroup),
}

/// A row of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GotoRow {
    pub group: GotoGroup,
    pub text: String,
    /// Places of the characters of the text that match the line.
    pub matched: Vec<usize>,
    /// What it is, or why the action cannot run now.
    pub about: String,
    pub key: String,
    pub blocked: bool,
    pub severity: Severity,
    /// How well it matches, how bad it is, and how lately it was used; at most [`GotoRow::MAX_SCORE`].
    pub score: u16,
    /// Whether Enter takes this row although no key has chosen it.
    pub is_sure: bool,
    pub target: GotoTarget,
}

impl GotoRow {
    pub const MAX_SCORE: u16 = 120;

    pub fn new(group: GotoGroup, text: impl Into<String>, target: GotoTarget) -> Self {
        Self {
            group,
            text: text.into(),
            matched: Vec::new(),
            about: String::new(),
            key: String::new(),
            blocked: false,
            severity: Severity::Info,
            score: 0,
            is_sure: true,
            target,
        }
    }

    /// The score as a share of the best one.
    pub fn share(&self) -> f64 {
        f64::from(self.score) / f64::from(Self::MAX_SCORE)
    }
}

/// A place that was opened before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecentPlace {
    pub target: GotoTarget,
    pub text: String,
    pub kind: &'static str,
    pub at_ms: u64,
}

/// The numbers in the title of the dialog.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GotoCounts {
    /// Names that match, and whether there may be more of them.
    pub matching: usize,
    pub is_least: bool,
    pub names: usize,
    pub actions: usize,
}

/// The line and the facts that rows are made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowsKey {
    pub(super) line: String,
    pub(super) expanded: Option<GotoGroup>,
    pub(super) height: u16,
    pub(super) second: u64,
    /// Addresses of the snapshot, the ranked problems, the index of names and the jobs.
    pub(super) shared: [usize; 4],
    /// Number of changes of the recording, of events, changes and recent places.
    pub(super) counts: [usize; 4],
    pub(super) found: Option<Vec<String>>,
}

#[derive(Debug)]
pub struct GotoState {
    pub rows: Vec<GotoRow>,
    pub counts: GotoCounts,
    /// The row of the cursor.
    pub picked: Option<usize>,
    /// Whether a key has moved the cursor since the line changed.
    pub is_chosen: bool,
    /// Whether the rows have scores, which is so where the line has a word.
    pub is_scored: bool,
    /// The group that is shown whole.
    pub expanded: Option<GotoGroup>,
    /// What was opened in this session, the last one first.
    pub recent: VecDeque<RecentPlace>,
    /// The lines that were entered in this session, the last one first, and the one that the line shows.
    pub lines: VecDeque<String>,
    pub recalled: Option<usize>,
    /// The names of the snapshot, once they are indexed.
    pub index: Option<Arc<NameIndex>>,
    pub pending: NamesPending,
    /// The names that the background task found for the words of a line.
    pub found: Option<(Vec<String>, NameHits)>,
    /// What the failure of the element at the cursor costs.
    pub costs: FailureCosts,
    /// Names like the line that matches nothing, as a sentence that follows.
    pub near: String,
    /// Number of names that the last key looked through.
    pub looked_through: usize,
    pub names_per_key: usize,
    /// The line and the facts of the rows.
    pub(super) of: Option<RowsKey>,
}

impl Default for GotoState {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            counts: GotoCounts::default(),
            picked: None,
            is_chosen: false,
            is_scored: false,
            expanded: None,
            recent: VecDeque::new(),
            lines: VecDeque::new(),
            near: String::new(),
            recalled: None,
            index: None,
            pending: NamesPending::default(),
            found: None,
            costs: FailureCosts::default(),
            looked_through: 0,
            names_per_key: NAMES_PER_KEY,
            of: None,
        }
    }
}

impl GotoState {
    /// The row of the cursor.
    pub fn picked_row(&self) -> Option<&GotoRow> {
        self.rows.get(self.picked?)
    }

    /// Moves the cursor by rows; past an end it goes to the other one.
    pub fn pick_next(&mut self, down: bool) {
        let count = self.rows.len();
        if count == 0 {
            return;
        }
        self.is_chosen = true;
        self.picked = Some(match (self.picked, down) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        });
    }

    /// Moves the cursor to the first row of the next or the previous group. In a single group it moves by rows.
    pub fn pick_group(&mut self, forward: bool) {
        let starts: Vec<usize> = (0..self.rows.len())
            .filter(|at| *at == 0 || self.rows[*at].group != self.rows[at - 1].group)
            .collect();
        let Some(last) = starts.len().checked_sub(1).filter(|last| *last > 0) else {
            return self.pick_next(forward);
        };
        let here = self.picked.map(|picked| starts.iter().rposition(|start| *start <= picked).unwrap_or(0));
        let to = match (here, forward) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) => (at + 1) % (last + 1),
            (Some(at), false) => (at + last) % (last + 1),
        };
        (self.picked, self.is_chosen) = (Some(starts[to]), true);
    }

    /// Records that a place was opened.
    pub fn remember_place(&mut self, place: RecentPlace) {
        self.recent.retain(|other| other.target != place.target);
        self.recent.push_front(place);
        self.recent.truncate(MAX_RECENT);
    }

    /// Records a line that was entered.
    pub fn remember_line(&mut self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            self.lines.retain(|other| other != line);
            self.lines.push_front(line.to_owned());
            self.lines.truncate(MAX_RECENT);
        }
    }

    /// The line before the one that was recalled last; `None` where there is none.
    pub fn recall_line(&mut self) -> Option<String> {
        let at = self.recalled.map_or(0, |at| at + 1);
        let line = self.lines.get(at)?.clone();
        self.recalled = Some(at);
        Some(line)
    }

    /// Forgets what belongs to one line, when the line closes.
    pub fn close(&mut self) {
        (self.rows, self.picked, self.is_chosen) = (Vec::new(), None, false);
        (self.expanded, self.recalled, self.of) = (None, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(groups: &[GotoGroup]) -> GotoState {
        let row = |group: &GotoGroup| GotoRow::new(*group, "a", GotoTarget::Events);
        GotoState { rows: groups.iter().map(row).collect(), ..GotoState::default() }
    }

    #[test]
    fn the_cursor_goes_round_and_from_group_to_group() {
        let mut goto = state(&[GotoGroup::Switches, GotoGroup::Cables, GotoGroup::Cables, GotoGroup::Jobs]);
        let mut places = Vec::new();
        for forward in [true, true, true, true, false, false] {
            goto.pick_group(forward);
            places.push(goto.picked.unwrap());
        }
        assert_eq!(places, [0, 1, 3, 0, 3, 1]);
        goto.pick_next(true);
        goto.pick_next(true);
        goto.pick_next(true);
        assert_eq!(goto.picked, Some(0));
        let mut single = state(&[GotoGroup::Jobs, GotoGroup::Jobs]);
        single.pick_group(true);
        single.pick_group(true);
        assert_eq!(single.picked, Some(1), "one group alone goes by rows");
        let mut empty = state(&[]);
        empty.pick_next(false);
        empty.pick_group(false);
        assert_eq!(empty.picked, None);
    }

    #[test]
    fn lines_and_places_are_kept_once_and_the_last_comes_first() {
        let mut goto = GotoState::default();
        for line in ["one", " ", "two", "one "] {
            goto.remember_line(line);
        }
        let recalled: Vec<_> = (0..3).map(|_| goto.recall_line()).collect();
        assert_eq!(recalled, [Some("one".to_owned()), Some("two".to_owned()), None]);
        let place = |job: usize| RecentPlace {
            target: GotoTarget::Job(job.to_string()),
            text: String::new(),
            kind: "job",
            at_ms: job as u64,
        };
        (0..MAX_RECENT + 5).chain([7]).for_each(|job| goto.remember_place(place(job)));
        assert_eq!((goto.recent.len(), goto.recent[0].at_ms), (MAX_RECENT, 7));
    }
}
