//! The changes of the checked fabric that wait to be decided.

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_list::{ChangeList, read_all};
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::environment::{Env, simulator_socket, switch_guids};
use fabdeck_live::is_live;

/// The pending changes of a fabric, the newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PendingChanges {
    pub rows: Vec<ChangeRow>,
    /// Why further ones may not be known.
    pub unread: Vec<String>,
}

impl PendingChanges {
    /// Whether a change is beyond its deadline, which counts as a problem.
    pub fn is_overdue(&self) -> bool {
        self.rows.iter().any(|row| row.overdue)
    }
}

/// Finds the pending changes of the fabric of a snapshot. A recording has none, and those of a simulator in this process
/// end with it.
pub fn find_pending_changes(env: Env<'_>, snapshot: &Snapshot) -> PendingChanges {
    let source = env.given.source.as_deref().unwrap_or_default();
    if !is_live(source) || env.outside.is_own_simulator(source) {
        return PendingChanges::default();
    }
    let unread = |failure: Failure| PendingChanges {
        unread: failure.message.into_iter().collect(),
        ..PendingChanges::default()
    };
    let simulator = match simulator_socket(source) {
        Ok(simulator) => simulator,
        Err(failure) => return unread(failure),
    };
    let ChangeList { rows, mut unread, closed, .. } = match read_all(env) {
        Ok(list) => list,
        Err(failure) => return unread(failure),
    };
    // A simulator's changes are never in a folder of another user.
    unread.extend(closed.into_iter().filter(|_| simulator.is_none()));
    let switches = switch_guids(snapshot);
    let here = rows.into_iter().filter(|listed| listed.is_of_fabric(simulator.as_deref(), &switches));
    let rows = here.map(|listed| listed.row).filter(|row| row.state.is_pending()).collect();
    PendingChanges { rows, unread }
}
