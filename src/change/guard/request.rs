//! Requests to the guard of a change. A change whose guard has ended gets another guard.

use std::io::ErrorKind;
use std::time::Duration;

use super::ask::{Answer, Ask, Status};
use super::door::DoorError;
use crate::clock::Stopwatch;
use crate::home::{Home, HomeError};
use crate::journal::Told;
use crate::kept::Kept;
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
    NoGuard(DoorError),
    /// This user has no right to open the guard's socket.
    NotLetIn,
    /// The change has no guard, and this user may not start one.
    OfAnother,
    Home(HomeError),
    /// The guard took the request, and may still carry it out.
    Unanswered(DoorError),
    Silent(DoorError),
    Start(E),
}

/// The status from the guard, or from the journal once the change has ended. A guard that died is replaced.
pub fn request_status<E>(
    home: &Home,
    kept: &Kept,
    start: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Status, RequestError<E>> {
    if let Ok(Answer::Status(status)) = kept.system().ask(&kept.socket(), &Ask::Status, ANSWER_TIMEOUT) {
        return Ok(status);
    }
    let now = home.find(&kept.read.told.begun.id).map_err(RequestError::Home)?;
    if now.read.told.phase.is_pending()
        && kept.is_abandoned()
        && let Answer::Status(status) = request(home, kept, &Ask::Status, start)?
    {
        return Ok(status);
    }
    Ok(Status::of(&now.read.told))
}

/// Sends one request, once a guard answers.
pub fn request<E>(
    home: &Home,
    kept: &Kept,
    ask: &Ask,
    start: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Answer, RequestError<E>> {
    let system = kept.system();
    let since = Stopwatch::start(system);
    let (mut started, mut resent) = (false, false);
    loop {
        let before = Asked::of(home, kept);
        let error = match system.ask(&kept.socket(), ask, ANSWER_TIMEOUT) {
            Ok(answer) => return Ok(answer),
            Err(error @ DoorError::NoGuard(_)) => return Err(RequestError::NoGuard(error)),
            Err(DoorError::Silent(error)) if error.kind() == ErrorKind::PermissionDenied => {
                let gone = kept.is_abandoned();
                return Err(if gone { RequestError::OfAnother } else { RequestError::NotLetIn });
            }
            Err(error) => error,
        };
        // The change may have ended, and its guard with it before the answer came.
        let now = home.find(&kept.read.told.begun.id).map_err(RequestError::Home)?;
        if !now.read.told.phase.is_pending() {
            return Ok(Answer::Status(Status::of(&now.read.told)));
        }
        // The guard may still carry out a request that it took, so sending it twice could do it twice. A status request
        // is harmless.
        if matches!(error, DoorError::Unanswered(_)) && *ask != Ask::Status {
            if !resent && before.is_certainly_not_done(home, kept) {
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
struct Asked {
    told: Option<Told>,
    guard: Option<LockHolder>,
}

impl Asked {
    fn of(home: &Home, kept: &Kept) -> Self {
        let told = home.find(&kept.read.told.begun.id).ok().map(|kept| kept.read.told);
        Self { told, guard: kept.lock_holder() }
    }

    /// Whether the guard died before it carried out the request: the journal has each decision before it takes effect.
    fn is_certainly_not_done(&self, home: &Home, kept: &Kept) -> bool {
        let Some((told, guard)) = self.told.as_ref().zip(self.guard.as_ref()) else { return false };
        let since = Stopwatch::start(kept.system());
        // A process that is being killed may hold its lock for a moment.
        while kept.lock_holder().is_some_and(|now| now.pid == guard.pid) {
            if since.elapsed() > DYING_TIMEOUT {
                return false;
            }
            kept.system().sleep(RETRY_INTERVAL);
        }
        let Ok(now) = home.find(&told.begun.id) else { return false };
        let decisions = |told: &Told| {
            (told.phase, told.deadline.clone(), told.asked, told.going_on, told.begun.opensm.clone())
        };
        decisions(&now.read.told) == decisions(told)
    }
}
