//! The second process beside the guard of a change. It only waits, and ends with the change. It takes the change over
//!
//! - if the deadline has passed and the guard has not begun the rollback;
//! - if the guard has ended, hangs, or is stopped by a signal while it writes or rolls back.
//!
//! A guard that still runs is killed first, so that it can never write again.

use std::io;
use std::time::Duration;

use super::protocol::GuardRequest;
use super::trail_writer::SHORT_TIMEOUT;
use super::window::window_left;
use crate::audit::AuditEntry;
use crate::change_dir::ChangeDir;
use crate::change_store::ChangeStore;
use crate::clock::Stopwatch;
use crate::hang_watch::HangWatch;
use crate::journal::ChangePhase;

const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// A guard begins the rollback within a second of the deadline. If it has not begun by now, it hangs.
const GRACE: Duration = Duration::from_secs(2);
/// A guard that writes to switches answers between two writes, each of which may run into its timeouts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// A guard whose change waits writes nothing, and answers at once.
const WAITING_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Why the change has to be taken over. The guard has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardTakeover(pub String);

/// Waits beside the guard of a change. `Some`: the change has to be taken over. `None`: the change has ended, another
/// process waits beside it, or this process is to end.
pub fn wait_as_standby(
    home: &ChangeStore,
    kept: ChangeDir,
    user: &str,
    stop: &dyn Fn() -> bool,
) -> io::Result<Option<GuardTakeover>> {
    let Ok(Some(_only_one)) = kept.lock_standby() else { return Ok(None) };
    let id = kept.read.state.begun.id.clone();
    let (system, mut late, mut kept) = (home.system(), None, kept);
    let (mut hang, mut last) = (HangWatch::default(), None);
    let journal = kept.open_journal()?;
    loop {
        system.sleep(POLL_INTERVAL);
        if stop() {
            return last.map_or(Ok(None), Err);
        }
        if kept.has_new_records() {
            match home.find(&id) {
                Ok(now) => kept = now,
                // The folder was removed, and with it everything that a rollback needs.
                Err(_) if journal.status().is_ok_and(|held| held.links == 0) => return Ok(None),
                // The folder is away or cannot be read for a moment.
                Err(_) => continue,
            }
        }
        if !kept.read.state.phase.is_pending() {
            return Ok(None);
        }
        // While the change waits to be confirmed, a guard that hangs does no harm before the deadline.
        let holder = kept.guard_holder().and_then(|holder| holder.pid);
        if hang.is_hanging(system, holder.filter(|_| kept.read.state.phase != ChangePhase::Applied)) {
            // The process has not ended yet, or another one has just replaced it: check again in the next turn.
            match end_guard(home, &kept, user) {
                Ok(replaced) => return Ok(Some(replaced)),
                Err(error) => last = Some(error),
            }
        }
        if !is_late(&kept) {
            late = None;
            continue;
        }
        if late.get_or_insert_with(|| Stopwatch::start(system)).elapsed() < GRACE {
            continue;
        }
        if !is_working(&kept) {
            // The process has not ended yet, or another one has just replaced it: check again in the next turn.
            match end_guard(home, &kept, user) {
                Ok(replaced) => return Ok(Some(replaced)),
                Err(error) => last = Some(error),
            }
        }
        late = None;
    }
}

/// Whether the guard is overdue. A change that waits for its confirmation needs no guard before the deadline. A
/// half-written change needs one at once.
fn is_late(kept: &ChangeDir) -> bool {
    let told = &kept.read.state;
    match told.phase {
        ChangePhase::Applied => window_left(told, kept.system()).is_zero(),
        _ => kept.is_abandoned() || kept.is_guard_stopped(),
    }
}

/// Whether the guard works all the same. If its disk fails, it rolls back without a record, and answers meanwhile.
fn is_working(kept: &ChangeDir) -> bool {
    let timeout = match kept.read.state.phase {
        ChangePhase::Applied => WAITING_ANSWER_TIMEOUT,
        _ => ANSWER_TIMEOUT,
    };
    let answers = || kept.system().ask_guard(&kept.socket(), &GuardRequest::Status, timeout).is_ok();
    !kept.is_guard_stopped() && answers()
}

fn end_guard(home: &ChangeStore, kept: &ChangeDir, user: &str) -> io::Result<GuardTakeover> {
    let words = match kept.end_guard()? {
        Some(holder) => {
            format!(
                "{holder} hung or did not roll the change back in time, and was killed; another guard rolls it back"
            )
        }
        None => "the guard was gone; another one rolls the change back".to_owned(),
    };
    let entry = AuditEntry {
        time: home.system().now().to_string(),
        user: user.to_owned(),
        pid: home.system().pid(),
        what: "guard replaced".to_owned(),
        change: Some(kept.read.state.begun.id.clone()),
        detail: words.clone(),
    };
    // Neither a failed audit trail nor a long wait for its lock stops the rollback.
    let told = match home.audit_all(std::slice::from_ref(&entry), SHORT_TIMEOUT) {
        Ok(()) => words,
        Err(error) => format!("{words}; {error}"),
    };
    Ok(GuardTakeover(told))
}
