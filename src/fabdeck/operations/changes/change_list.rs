//! Reads all changes with their states. A cache makes repeated lists cheap: journals may be long, and a change that
//! has ended no longer alters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_row::ChangeRow;
use super::{change_store, foreign_changes};
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{
    BeginRecord, ChangeDir, ChangePhase, ChangeStatus, GuardAnswer, GuardRequest, SystemClocks, deadline_now,
    have_most_in_common, send_request_within,
};

/// Time that a command waits for a guard.
const GUARD_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of guards that may be silent for their whole timeout in one list, and the timeout of the guards after them.
const MAX_SILENT: u32 = 2;
const MIN_PATIENCE: Duration = Duration::from_millis(200);
/// Pause before a silent guard is asked again.
const SILENT_GUARD_PAUSE: Duration = Duration::from_secs(10);

/// A change with what identifies its fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedChange {
    pub row: ChangeRow,
    pub switches: BTreeSet<String>,
    pub simulator: Option<String>,
}

impl ListedChange {
    /// Whether its rollback left parts in the fabric and no later change of the same fabric was confirmed. One that was
    /// rolled back as well put back what it had found, with these parts.
    pub fn is_incomplete(&self, all: &[Self]) -> bool {
        let is_later =
            |other: &&Self| other.row.state == ChangePhase::Confirmed && other.row.time > self.row.time;
        self.row.state == ChangePhase::Incomplete
            && !all
                .iter()
                .filter(is_later)
                .any(|other| other.is_of_fabric(self.simulator.as_deref(), &self.switches))
    }

    /// Whether the change is of a fabric: the same simulator, or most of the same switches.
    pub fn is_of_fabric(&self, simulator: Option<&str>, switches: &BTreeSet<String>) -> bool {
        self.simulator.as_deref() == simulator && have_most_in_common(&self.switches, switches)
    }
}

/// All changes, the newest first, and the reasons why others could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangeList {
    pub rows: Vec<ListedChange>,
    pub unread: Vec<String>,
    /// Reasons why changes in state folders of other users are unknown.
    pub closed: Vec<String>,
    /// Remarks about folders of other users of which only changes with a guard are listed.
    pub guarded_only: Vec<String>,
}

/// Reads all changes once.
pub fn read_all(means: Env<'_>) -> Result<ChangeList, Failure> {
    ChangeListCache::default().list(means, GUARD_TIMEOUT)
}

/// Cache of a repeated list.
#[derive(Debug, Default)]
pub struct ChangeListCache(BTreeMap<PathBuf, CachedChange>);

#[derive(Debug)]
enum CachedChange {
    Pending { kept: Box<ChangeDir>, status: Option<Box<ChangeStatus>>, silent: Option<Instant> },
    Ended(Box<ListedChange>),
}

impl ChangeListCache {
    /// Lists all changes. Each guard has `patience` to answer; once several have used that up, the others have
    /// `MIN_PATIENCE`, so that many silent guards do not hold the list up.
    pub fn list(&mut self, means: Env<'_>, patience: Duration) -> Result<ChangeList, Failure> {
        let since = Instant::now();
        let patience_left = || {
            (patience * MAX_SILENT)
                .saturating_sub(since.elapsed())
                .clamp(MIN_PATIENCE.min(patience), patience)
        };
        let mut listing = ChangeList::default();
        let mut there = BTreeSet::new();
        let mut foreign_rows = Vec::new();
        for home in change_store::open_all(means) {
            if home.is_unreadable() {
                let (rows, closed) = foreign_changes::list(means, &home, patience);
                if !rows.is_empty() {
                    listing.guarded_only.push(foreign_changes::guarded_only_note(&home));
                }
                foreign_rows.extend(rows);
                listing.closed.extend(closed);
                continue;
            }
            let read = home.select(|folder| {
                there.insert(folder.to_owned());
                self.needs_reading(folder, patience_left())
            });
            let read = match read {
                Ok(read) => read,
                // Other folders may still be readable.
                Err(error) => {
                    listing.unread.push(error.to_string());
                    continue;
                }
            };
            for kept in read {
                match kept {
                    Ok(kept) => {
                        self.0.insert(kept.folder.clone(), CachedChange::of(kept, patience_left()));
                    }
                    Err(error) => listing.unread.push(error.to_string()),
                }
            }
        }
        self.0.retain(|folder, _| there.contains(folder));
        let now = Timestamp::now();
        listing.rows = self.0.values().map(CachedChange::to_listed).chain(foreign_rows).collect();
        for listed in &mut listing.rows {
            listed.row = listed.row.clone().judged_at(now);
        }
        let stalled: Vec<&str> = self.0.values().filter_map(CachedChange::stalled_id).collect();
        let rows = listing.rows.iter_mut().filter(|listed| stalled.contains(&listed.row.id.as_str()));
        rows.for_each(|listed| listed.row.overdue = true);
        sort(&mut listing.rows);
        Ok(listing)
    }

    /// Whether some pending change has no guard.
    pub fn has_abandoned(&self) -> bool {
        self.0.values().any(|one| match one {
            CachedChange::Pending { kept, status: None, .. } => {
                kept.read.state.phase.is_pending() && kept.is_abandoned()
            }
            _ => false,
        })
    }

    /// Whether the journal has to be read. A change whose guard answers, or whose journal has not grown, needs no
    /// reading.
    fn needs_reading(&mut self, folder: &Path, patience: Duration) -> bool {
        match self.0.get_mut(folder) {
            None => true,
            Some(CachedChange::Ended(_)) => false,
            Some(CachedChange::Pending { kept, status, silent }) => {
                *status = ask_status(kept, silent, patience).map(Box::new);
                match status {
                    Some(status) => !status.phase.is_pending(),
                    None => kept.has_new_records(),
                }
            }
        }
    }
}

/// Sorts by time first, because each folder numbers its own changes.
fn sort(rows: &mut [ListedChange]) {
    rows.sort_by_cached_key(|ListedChange { row, .. }| {
        (Reverse(row.time.parse::<Timestamp>().ok()), Reverse(row.number), row.id.clone())
    });
}

impl CachedChange {
    fn of(kept: ChangeDir, patience: Duration) -> Self {
        let phase = kept.read.state.phase;
        let mut silent = None;
        let status = ask_status(&kept, &mut silent, patience).map(Box::new);
        // On a disk that fails, the journal may have an end that the guard refused. An incomplete change may be begun again.
        let is_open = phase.is_pending() || status.as_ref().is_some_and(|status| status.phase.is_pending());
        if !is_open && phase != ChangePhase::Incomplete {
            let row = ChangeRow::from_state(&kept.read.state, None, None);
            return Self::Ended(Box::new(list_entry(&kept.read.state.begun, row)));
        }
        Self::Pending { kept: Box::new(kept), status, silent }
    }

    /// The id of a change that is half written, and whose guard is gone, stopped, or did not answer in time.
    fn stalled_id(&self) -> Option<&str> {
        let Self::Pending { kept, status: None, silent } = self else { return None };
        let has_failed = || silent.is_some() || kept.is_guard_stopped() || kept.is_abandoned();
        (kept.is_stalled() && has_failed()).then_some(kept.read.state.begun.id.as_str())
    }

    fn to_listed(&self) -> ListedChange {
        match self {
            Self::Ended(listed) => (**listed).clone(),
            Self::Pending { kept, status, .. } => {
                // The change has no guard at the moment, or its guard does not let this user ask.
                let unasked = status.is_none() && kept.read.state.phase.is_pending();
                let trouble = unasked.then(|| kept.find_problem()).flatten();
                let told = &kept.read.state;
                let mut row = ChangeRow::from_state(told, None, trouble);
                // The wall clock may have been set since the deadline was recorded.
                if told.phase == ChangePhase::Applied {
                    row.deadline = deadline_now(told, &SystemClocks);
                }
                // Only the journal proves that a change has ended.
                let status = status.as_ref().filter(|status| status.phase.is_pending());
                list_entry(
                    &kept.read.state.begun,
                    status.map_or(row.clone(), |status| row.with_status(status)),
                )
            }
        }
    }
}

fn list_entry(begun: &BeginRecord, row: ChangeRow) -> ListedChange {
    ListedChange { row, switches: begun.switches.clone(), simulator: begun.simulator.clone() }
}

/// Status from the guard, unless the guard was silent a moment ago.
fn ask_status(kept: &ChangeDir, silent: &mut Option<Instant>, patience: Duration) -> Option<ChangeStatus> {
    if silent.is_some_and(|since| since.elapsed() < SILENT_GUARD_PAUSE) {
        return None;
    }
    let begun = Instant::now();
    let answer = send_request_within(&kept.socket(), &GuardRequest::Status, patience);
    // A socket that does not exist costs no time and may appear at any moment, so only a timeout counts as silence.
    *silent = (answer.is_err() && begun.elapsed() >= patience).then(Instant::now);
    match answer {
        Ok(GuardAnswer::Status(status)) => Some(status),
        _ => None,
    }
}
