//! Reads all changes with their states. A cache makes repeated lists cheap: journals may be long, and a change that
//! has ended no longer alters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::means::Means;
use super::{foreign_changes, home};
use crate::script::Failure;
use crate::session::ChangeRow;
use fabdeck_change::{Answer, Ask, Begun, Kept, Phase, Status, SystemClocks, call_within, deadline_now};

/// Time that a command waits for a guard.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause before a silent guard is asked again.
const SILENCE: Duration = Duration::from_secs(10);

/// A change with what identifies its fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub row: ChangeRow,
    pub switches: BTreeSet<String>,
    pub simulator: Option<String>,
}

/// All changes, the newest first, and the reasons why others could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    pub rows: Vec<Listed>,
    pub unread: Vec<String>,
    /// Reasons why changes in state folders of other users are unknown.
    pub closed: Vec<String>,
}

/// Reads all changes once.
pub fn all(means: Means<'_>) -> Result<Listing, Failure> {
    Known::default().list(means, PATIENCE)
}

/// Cache of a repeated list.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<PathBuf, One>);

#[derive(Debug)]
enum One {
    Pending { kept: Box<Kept>, status: Option<Box<Status>>, silent: Option<Instant> },
    Ended(Box<Listed>),
}

impl Known {
    pub fn list(&mut self, means: Means<'_>, patience: Duration) -> Result<Listing, Failure> {
        let mut listing = Listing::default();
        let mut there = BTreeSet::new();
        let mut foreign_rows = Vec::new();
        for home in home::all(means) {
            if home.is_closed() {
                let (rows, closed) = foreign_changes::list(means, &home, patience);
                foreign_rows.extend(rows);
                listing.closed.extend(closed);
                continue;
            }
            let read = home.those(|folder| {
                there.insert(folder.to_owned());
                self.is_news(folder, patience)
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
                        self.0.insert(kept.folder.clone(), One::of(kept, patience));
                    }
                    Err(error) => listing.unread.push(error.to_string()),
                }
            }
        }
        self.0.retain(|folder, _| there.contains(folder));
        listing.rows = self.0.values().map(One::listed).chain(foreign_rows).collect();
        let now = Timestamp::now();
        for listed in &mut listing.rows {
            listed.row = listed.row.clone().at(now);
        }
        sort(&mut listing.rows);
        Ok(listing)
    }

    /// Whether some pending change has no guard.
    pub fn has_abandoned(&self) -> bool {
        self.0.values().any(|one| match one {
            One::Pending { kept, status: None, .. } => {
                kept.read.told.phase.is_pending() && kept.is_abandoned()
            }
            _ => false,
        })
    }

    /// Whether the journal has to be read. A change whose guard answers, or whose journal has not grown, needs no
    /// reading.
    fn is_news(&mut self, folder: &Path, patience: Duration) -> bool {
        match self.0.get_mut(folder) {
            None => true,
            Some(One::Ended(_)) => false,
            Some(One::Pending { kept, status, silent }) => {
                *status = asked(kept, silent, patience).map(Box::new);
                match status {
                    Some(status) => !status.phase.is_pending(),
                    None => kept.has_grown(),
                }
            }
        }
    }
}

/// Sorts by time first, because each folder numbers its own changes.
fn sort(rows: &mut [Listed]) {
    rows.sort_by_cached_key(|Listed { row, .. }| {
        (Reverse(row.time.parse::<Timestamp>().ok()), Reverse(row.number), row.id.clone())
    });
}

impl One {
    fn of(kept: Kept, patience: Duration) -> Self {
        let phase = kept.read.told.phase;
        // An incomplete change may be begun again.
        if !phase.is_pending() && phase != Phase::Incomplete {
            let row = ChangeRow::of(&kept.read.told, None, None);
            return Self::Ended(Box::new(listed(&kept.read.told.begun, row)));
        }
        let mut silent = None;
        let status = asked(&kept, &mut silent, patience).map(Box::new);
        Self::Pending { kept: Box::new(kept), status, silent }
    }

    fn listed(&self) -> Listed {
        match self {
            Self::Ended(listed) => (**listed).clone(),
            Self::Pending { kept, status, .. } => {
                // The change has no guard at the moment, or its guard does not let this user ask.
                let unasked = status.is_none() && kept.read.told.phase.is_pending();
                let trouble = unasked.then(|| kept.trouble()).flatten();
                let told = &kept.read.told;
                let mut row = ChangeRow::of(told, None, trouble);
                // The wall clock may have been set since the deadline was recorded.
                if told.phase == Phase::Applied {
                    row.deadline = deadline_now(told, &SystemClocks);
                }
                // Only the journal proves that a change has ended.
                let status = status.as_ref().filter(|status| status.phase.is_pending());
                listed(&kept.read.told.begun, status.map_or(row.clone(), |status| row.as_told(status)))
            }
        }
    }
}

fn listed(begun: &Begun, row: ChangeRow) -> Listed {
    Listed { row, switches: begun.switches.clone(), simulator: begun.simulator.clone() }
}

/// Status from the guard, unless the guard was silent a moment ago.
fn asked(kept: &Kept, silent: &mut Option<Instant>, patience: Duration) -> Option<Status> {
    if silent.is_some_and(|since| since.elapsed() < SILENCE) {
        return None;
    }
    let begun = Instant::now();
    let answer = call_within(&kept.socket(), &Ask::Status, patience);
    // A socket that does not exist costs no time and may appear at any moment, so only a timeout counts as silence.
    *silent = (answer.is_err() && begun.elapsed() >= patience).then(Instant::now);
    match answer {
        Ok(Answer::Status(status)) => Some(status),
        _ => None,
    }
}
