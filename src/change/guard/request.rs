//! Requests to the guard of a change, which gets another guard where its own is gone.

use std::io::ErrorKind;
use std::time::Duration;

use super::ask::{Answer, Ask, Status};
use super::door::DoorError;
use crate::clock::Stopwatch;
use crate::home::{Home, HomeError};
use crate::journal::Told;
use crate::kept::Kept;
use crate::system::LockHolder;

/// How long either end waits for the other's line.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a guard that was started just now may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a guard that is killed may take until it is gone.
const DYING_TIMEOUT: Duration = Duration::from_secs(2);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Why a request got no answer. `E` is why a guard could not be started.
#[derive(Debug)]
pub enum RequestError<E> {
    /// Another program listens at the guard's socket.
    NoGuard(DoorError),
    /// The guard lets this user ask nothing.
    NotLetIn,
    /// The change has no guard, and this user may not give it one.
    OfAnother,
    Home(HomeError),
    /// The guard may still do what it was asked for.
    Unanswered(DoorError),
    Silent(DoorError),
    Start(E),
}

/// How the change stands: the guard's own words, or the journal's once it is over. A guard that died on the way is replaced.
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

/// Sends one request, once there is a guard that answers.
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
        // It may be over, whoever ended it, and its guard be gone with its answer.
        let now = home.find(&kept.read.told.begun.id).map_err(RequestError::Home)?;
        if !now.read.told.phase.is_pending() {
            return Ok(Answer::Status(Status::of(&now.read.told)));
        }
        // A request that was taken may still be carried out: sent twice it could be done twice. A look changes nothing.
        if matches!(error, DoorError::Unanswered(_)) && *ask != Ask::Status {
            if !resent && before.is_certainly_not_done(home, kept) {
                // Once: what ends each guard that it is sent to is not sent to all of them.
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

/// How a change stood when its guard was asked.
struct Asked {
    told: Option<Told>,
    guard: Option<LockHolder>,
}

impl Asked {
    fn of(home: &Home, kept: &Kept) -> Self {
        let told = home.find(&kept.read.told.begun.id).ok().map(|kept| kept.read.told);
        Self { told, guard: kept.lock_holder() }
    }

    /// Whether the guard died before it did what it was asked: that stands in the journal before it is done.
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
