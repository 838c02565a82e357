//! Whoever keeps a change is asked, and given a successor where he is gone.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::means::Means;
use super::told::user;
use super::{foreign_changes, home, refused};
use crate::script::{Exit, Failure};
use fabdeck_change::{
    Answer, Ask, DoorError, Home, Kept, LockHolder, NOT_THROUGH_OPENSM, Phase, Record, Status, Told, call,
};

/// How long a guard that was started just now may take until it answers.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a guard that is killed may take until it is gone.
const DYING: Duration = Duration::from_secs(2);
const TURN: Duration = Duration::from_millis(50);

/// Asks the guard of a pending change; one whose guard is gone gets another first, and a rollback that ended incomplete is
/// begun again. What is refused stands in the trail.
pub fn order(means: Means<'_>, id: &str, ask: &Ask, say: &mut dyn FnMut(&str)) -> Result<Status, Failure> {
    if let Ask::RollBack { anyway, .. } = ask
        && let Some(status) = begin_again(means, id, (*anyway, None), say)?
    {
        return Ok(status);
    }
    let (home, kept) = match home::find(means, id) {
        Ok(found) => found,
        Err(failure) => {
            if let Some((home, id)) = foreign_changes::find(means, id) {
                return foreign_changes::order(means, &home, &id, ask);
            }
            let homes = home::all(means);
            let asked = (ask.word(), Some(id));
            return Err(homes.iter().fold(failure, |failure, home| refused::told(home, asked, failure, say)));
        }
    };
    let phase = kept.read.told.phase;
    if !phase.is_pending() {
        return Err(refused::told(&home, (ask.word(), Some(id)), decided(id, phase), say));
    }
    // What the guard refuses is in the trail already.
    match asked(means, (&home, &kept), ask)? {
        Answer::Status(status) => Ok(status),
        Answer::Refused { why } => Err(Failure::new(Exit::Refused, why)),
    }
}

/// A change that could not be rolled back to its end has that begun again, by a guard of its own; with another process of
/// OpenSM where one is named.
pub fn begin_again(
    means: Means<'_>,
    id: &str,
    (anyway, opensm): (bool, Option<&str>),
    say: &mut dyn FnMut(&str),
) -> Result<Option<Status>, Failure> {
    let Ok((home, kept)) = home::find(means, id) else { return Ok(None) };
    if kept.read.told.phase != Phase::Incomplete {
        return Ok(None);
    }
    if !kept.is_own() {
        return Err(Failure::new(Exit::Refused, home::of_another(&kept)));
    }
    let (time, user) = (Timestamp::now().to_string(), user());
    let mut records = vec![Record::Again { time: time.clone(), user: user.clone(), anyway }];
    if let Some(process) = opensm {
        if kept.read.told.begun.opensm.is_none() {
            return Err(refused::told(
                &home,
                ("rollback", Some(id)),
                Failure::new(Exit::Refused, NOT_THROUGH_OPENSM),
                say,
            ));
        }
        records.push(Record::OpensmNamed { time, user, process: process.to_owned() });
    }
    let kept = match home.begin_again(id, &records).map_err(home::refused) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Ok(None),
        Err(failure) => return Err(refused::told(&home, ("rollback", Some(id)), failure, say)),
    };
    let detail = if anyway { "even where that loses paths" } else { "" };
    refused::audit(&home, ("rolling back again", Some(id)), detail, say);
    let remark = home::start_keeper(means, &home, &kept)?;
    remark.iter().for_each(|remark| say(remark));
    Ok(Some(Status::of(&kept.read.told)))
}

/// It is over.
pub fn decided(id: &str, phase: Phase) -> Failure {
    Failure::new(Exit::Refused, fabdeck_change::decided(id, phase))
}

/// One question, once there is a guard that answers.
fn asked(means: Means<'_>, (home, kept): (&Home, &Kept), ask: &Ask) -> Result<Answer, Failure> {
    let since = Instant::now();
    let mut started = false;
    loop {
        let before = Asked::of(home, kept);
        let error = match call(&kept.socket(), ask) {
            Ok(answer) => return Ok(answer),
            Err(error @ DoorError::NoGuard(_)) => return Err(Failure::new(Exit::Failed, error.to_string())),
            Err(DoorError::Silent(error)) if error.kind() == ErrorKind::PermissionDenied => {
                let why = if kept.is_abandoned() { home::of_another(kept) } else { not_let_in(kept) };
                return Err(Failure::new(Exit::Refused, why));
            }
            Err(error) => error,
        };
        // It may be over, whoever ended it, and its guard be gone with its answer.
        let now = home.find(&kept.read.told.begun.id).map_err(home::refused)?;
        if !now.read.told.phase.is_pending() {
            return Ok(Answer::Status(Status::of(&now.read.told)));
        }
        // What was taken in may be carried out when its asker is gone: twice would be once too often. To look is nothing of that.
        if matches!(error, DoorError::Unanswered(_)) && *ask != Ask::Status {
            if before.is_certainly_not_done(home, kept) {
                continue;
            }
            return Err(Failure::new(
                Exit::Failed,
                format!(
                    "{error}; '{}' may still be carried out: 'fabdeck changes' tells; what the guard said last is in {}",
                    ask.word(),
                    kept.log().display()
                ),
            ));
        }
        if !started && kept.is_abandoned() {
            if !kept.may_have_guard() {
                return Err(Failure::new(Exit::Refused, home::of_another(kept)));
            }
            home::start_keeper(means, home, kept)?;
            started = true;
        }
        if since.elapsed() > PATIENCE {
            let log = kept.log().display().to_string();
            return Err(Failure::new(Exit::Failed, format!("{error}; what it said last is in {log}")));
        }
        std::thread::sleep(TURN);
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
        let since = Instant::now();
        // A process that is being killed may hold its lock for a moment.
        while kept.lock_holder().is_some_and(|now| now.pid == guard.pid) {
            if since.elapsed() > DYING {
                return false;
            }
            std::thread::sleep(TURN);
        }
        let Ok(now) = home.find(&told.begun.id) else { return false };
        let decisions = |told: &Told| {
            (told.phase, told.deadline.clone(), told.asked, told.going_on, told.begun.opensm.clone())
        };
        decisions(&now.read.told) == decisions(told)
    }
}

fn not_let_in(kept: &Kept) -> String {
    let begun = &kept.read.told.begun;
    format!(
        "FD-7999: change {} is {}'s, and its guard does not let you ask; ask them, or root, or use a folder whose mode lets \
         both of you write",
        begun.id, begun.user
    )
}

/// The guard's own words, or the journal's once it is over.
pub fn look(means: Means<'_>, (home, kept): (&Home, &Kept)) -> Result<Status, Failure> {
    if let Ok(Answer::Status(status)) = call(&kept.socket(), &Ask::Status) {
        return Ok(status);
    }
    let now = home.find(&kept.read.told.begun.id).map_err(home::refused)?;
    let told = &now.read.told;
    if told.phase.is_pending() && kept.is_abandoned() {
        // Its guard died under way: another one takes it back.
        match asked(means, (home, kept), &Ask::Status)? {
            Answer::Status(status) => return Ok(status),
            Answer::Refused { why } => return Err(Failure::new(Exit::Refused, why)),
        }
    }
    Ok(Status::of(told))
}
