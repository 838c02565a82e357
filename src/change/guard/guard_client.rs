//! Requests to the guard of a change. A change whose guard has ended gets another guard.

use std::io::ErrorKind;
use std::time::Duration;

use super::protocol::{ChangeStatus, GuardAnswer, GuardRequest, GuardSocketError};
use crate::change_dir::ChangeDir;
use crate::change_store::ChangeStore;
use crate::change_store_error::ChangeStoreError;
use crate::clock::Stopwatch;
use crate::journal::{ChangePhase, ChangeState};
use crate::system::LockHolder;

/// Timeout of either end for the other's line.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a guard that has just started may take to answer.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a killed guard may take to end.
const DYING_TIMEOUT: Duration = Duration::from_secs(2);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Why a request got no answer. `E` is why a guard could not start.
#[derive(Debug)]
pub enum RequestError<E> {
    /// Another program listens at the guard's socket.
    NoGuard(GuardSocketError),
    /// This user has no right to open the guard's socket.
    NotLetIn,
    /// The change has no guard, and this user may not start one.
    OfAnother,
    Home(ChangeStoreError),
    /// The guard took the request, and may still carry it out.
    Unanswered(GuardSocketError),
    Silent(GuardSocketError),
    Start(E),
}

/// The status from the guard, or from the journal once the change has ended. A guard that died is replaced.
pub fn request_status<E>(
    home: &ChangeStore,
    kept: &ChangeDir,
    start: &mut dyn FnMut() -> Result<(), E>,
) -> Result<ChangeStatus, RequestError<E>> {
    if let Some(status) = ask_status(kept) {
        return Ok(status);
    }
    let now = home.find(&kept.read.state.begun.id).map_err(RequestError::Home)?;
    if now.read.state.phase.is_pending()
        && kept.is_abandoned()
        && let GuardAnswer::Status(status) = send_with_restart(home, kept, &GuardRequest::Status, start)?
    {
        return Ok(status);
    }
    Ok(ChangeStatus::of(&now.read.state))
}

/// The phase of a change. Where its guard answers, that counts: on a disk that fails, the journal may have a record that the
/// guard refused and could not cut off.
pub fn current_phase(kept: &ChangeDir) -> ChangePhase {
    ask_status(kept).map_or(kept.read.state.phase, |status| status.phase)
}

/// The status from the guard, where one answers.
fn ask_status(kept: &ChangeDir) -> Option<ChangeStatus> {
    match kept.system().ask_guard(&kept.socket(), &GuardRequest::Status, ANSWER_TIMEOUT) {
        Ok(GuardAnswer::Status(status)) => Some(status),
        _ => None,
    }
}

/// Sends one request, once a guard answers.
pub fn send_with_restart<E>(
    home: &ChangeStore,
    kept: &ChangeDir,
    ask: &GuardRequest,
    start: &mut dyn FnMut() -> Result<(), E>,
) -> Result<GuardAnswer, RequestError<E>> {
    let system = kept.system();
    let since = Stopwatch::start(system);
    let (mut started, mut resent) = (false, false);
    loop {
        let before = RequestContext::of(home, kept);
        let error = match system.ask_guard(&kept.socket(), ask, ANSWER_TIMEOUT) {
            Ok(answer) => return Ok(answer),
            Err(error @ GuardSocketError::NoGuard(_)) => return Err(RequestError::NoGuard(error)),
            Err(GuardSocketError::Silent(error)) if error.kind() == ErrorKind::PermissionDenied => {
                let gone = kept.is_abandoned();
                return Err(if gone { RequestError::OfAnother } else { RequestError::NotLetIn });
            }
            Err(error) => error,
        };
        // The change may have ended, and its guard with it before the answer came.
        let now = home.find(&kept.read.state.begun.id).map_err(RequestError::Home)?;
        if !now.read.state.phase.is_pending() {
            return Ok(GuardAnswer::Status(ChangeStatus::of(&now.read.state)));
        }
        // The guard may still carry out a request that it took, so sending it twice could do it twice. A status request
        // is harmless.
        if matches!(error, GuardSocketError::Unanswered(_)) && *ask != GuardRequest::Status {
            if !resent && before.is_certainly_undone(home, kept) {
                // Only once: a request that kills a guard must not go to all of them.
                resent = true;
                continue;
            }
            return Err(RequestError::Unanswered(error));
        }
        if !started && kept.is_abandoned() {
            if !kept.may_have_guard() {
                return Err(RequestError::OfAnother);
            }
            start().map_err(RequestError::Start)?;
            started = true;
        }
        if since.elapsed() > START_TIMEOUT {
            return Err(RequestError::Silent(error));
        }
        system.sleep(RETRY_INTERVAL);
    }
}

/// The state of a change when its guard got the request.
struct RequestContext {
    state: Option<ChangeState>,
    guard: Option<LockHolder>,
}

impl RequestContext {
    fn of(home: &ChangeStore, kept: &ChangeDir) -> Self {
        let told = home.find(&kept.read.state.begun.id).ok().map(|kept| kept.read.state);
        Self { state: told, guard: kept.lock_holder() }
    }

    /// Whether the guard died before it carried out the request: the journal has each decision before it takes effect.
    fn is_certainly_undone(&self, home: &ChangeStore, kept: &ChangeDir) -> bool {
        let Some((told, guard)) = self.state.as_ref().zip(self.guard.as_ref()) else { return false };
        let since = Stopwatch::start(kept.system());
        // A process that is being killed may hold its lock for a moment.
        while kept.lock_holder().is_some_and(|now| now.pid == guard.pid) {
            if since.elapsed() > DYING_TIMEOUT {
                return false;
            }
            kept.system().sleep(RETRY_INTERVAL);
        }
        let Ok(now) = home.find(&told.begun.id) else { return false };
        let decisions = |told: &ChangeState| {
            (told.phase, told.deadline.clone(), told.asked, told.going_on, told.begun.opensm.clone())
        };
        decisions(&now.read.state) == decisions(told)
    }
}
