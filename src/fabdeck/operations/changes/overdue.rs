//! Changes that should have ended, or gone on, by now: beyond their deadline, or half written by a guard that is
//! stopped or hangs.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_row::ChangeRow;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use fabdeck_change::{ChangeDir, ChangeStore, GuardRequest, GuardSocketError};

/// Timeout for a guard that may hang.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a command that waits for a change looks whether its guard still works.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How long such a command waits for another guard: in place of a stopped one, and of one that hangs. The second process
/// ends the one within seconds, the other after two minutes.
const STOPPED_PATIENCE: Duration = Duration::from_secs(10);
const SILENT_PATIENCE: Duration = Duration::from_secs(90);

/// Whether the change is beyond its deadline, or its guard neither writes nor answers.
pub fn is_overdue(kept: &ChangeDir) -> bool {
    is_late(kept) || (kept.is_stalled() && is_silent(kept))
}

fn is_late(kept: &ChangeDir) -> bool {
    ChangeRow::from_state(&kept.read.state, None, None).judged_at(Timestamp::now()).overdue
}

/// Whether the guard does not answer. A stopped one is not asked. One that does not let this user ask may work.
fn is_silent(kept: &ChangeDir) -> bool {
    let is_closed = |error: &GuardSocketError| matches!(error, GuardSocketError::Silent(error) if error.kind() == ErrorKind::PermissionDenied);
    let ask = || kept.system().ask_guard(&kept.socket(), &GuardRequest::Status, ANSWER_TIMEOUT);
    kept.is_guard_stopped() || ask().is_err_and(|error| !is_closed(&error))
}

/// Message about an overdue change that another process seems to hold.
pub fn overdue_text(kept: &ChangeDir) -> String {
    let id = &kept.read.state.begun.id;
    let holder = kept.lock_holder().map_or_else(|| "its guard".to_owned(), |holder| holder.to_string());
    match kept.is_guard_stopped() && kept.may_have_guard() {
        true => format!(
            "FD-7992: change {id} is OVERDUE: {holder}, its guard, is stopped by a signal and has not rolled it back; \
             'fabdeck guard --resume' ends that process and rolls the change back"
        ),
        false => format!(
            "FD-7992: change {id} is OVERDUE: {holder} has its lock and has not rolled it back; end that process, then 'fabdeck \
             guard --resume' rolls the change back"
        ),
    }
}

/// Watches the guard of a change for a command that waits, so that no wait goes on without a working guard.
#[derive(Debug)]
pub struct GuardWatch {
    checked: Instant,
    silent: Option<Instant>,
}

impl GuardWatch {
    pub fn start() -> Self {
        Self { checked: Instant::now(), silent: None }
    }

    /// Reports a guard that has stopped working. An error once no other guard has replaced it in time.
    pub fn check(&mut self, home: &ChangeStore, id: &str, say: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        if self.checked.elapsed() < CHECK_INTERVAL {
            return Ok(());
        }
        // A folder that cannot be read at the moment is the business of the request.
        let found = home.find(id).ok().filter(|kept| kept.read.state.phase.is_pending());
        let failed = found.filter(|kept| (is_late(kept) || kept.is_stalled()) && is_silent(kept));
        self.checked = Instant::now();
        let Some(kept) = failed else {
            self.silent = None;
            return Ok(());
        };
        let patience = if kept.is_guard_stopped() { STOPPED_PATIENCE } else { SILENT_PATIENCE };
        match self.silent {
            None => say(&format!(
                "{}. This command waits {} s for another guard",
                overdue_text(&kept),
                patience.as_secs()
            )),
            Some(since) if since.elapsed() >= patience => {
                return Err(Failure::new(Exit::RollbackIncomplete, overdue_text(&kept)));
            }
            Some(_) => {}
        }
        self.silent.get_or_insert_with(Instant::now);
        Ok(())
    }
}
