//! Asks the guard of a change, and starts a new guard if there is none.

use jiff::Timestamp;

use super::means::Means;
use super::told::user;
use super::{foreign_changes, home, refused};
use crate::script::{Exit, Failure};
use fabdeck_change::{
    Answer, Ask, Home, Kept, NOT_THROUGH_OPENSM, Phase, Record, RequestError, Status, request, request_status,
};

/// Sends an order to the guard of a pending change. A change without a guard gets one first, and an incomplete
/// rollback is begun again. Refusals are written to the audit trail.
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
    // The guard writes its refusals to the trail itself.
    match asked(means, (&home, &kept), ask)? {
        Answer::Status(status) => Ok(status),
        Answer::Refused { why } => Err(Failure::new(Exit::Refused, why)),
    }
}

/// Starts an incomplete rollback again with a new guard; with another OpenSM process if one is named.
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
    let mut detail: Vec<String> = Vec::new();
    detail.extend(anyway.then(|| "even where that loses paths".to_owned()));
    detail.extend(opensm.map(|process| format!("OpenSM is told by process {process}")));
    refused::audit(&home, ("rolling back again", Some(id)), &detail.join("; "), say);
    let remark = home::start_keeper(means, &home, &kept)?;
    remark.iter().for_each(|remark| say(remark));
    Ok(Some(Status::of(&kept.read.told)))
}

/// Failure for a change that is already decided.
pub fn decided(id: &str, phase: Phase) -> Failure {
    Failure::new(Exit::Refused, fabdeck_change::decided(id, phase))
}

/// Asks the guard once, after starting one if needed.
fn asked(means: Means<'_>, (home, kept): (&Home, &Kept), ask: &Ask) -> Result<Answer, Failure> {
    let mut start = || home::start_keeper(means, home, kept).map(drop);
    request(home, kept, ask, &mut start).map_err(|error| failure_of(kept, ask, error))
}

fn failure_of(kept: &Kept, ask: &Ask, error: RequestError<Failure>) -> Failure {
    let log = kept.log().display().to_string();
    match error {
        RequestError::NoGuard(error) => Failure::new(Exit::Failed, error.to_string()),
        RequestError::NotLetIn => Failure::new(Exit::Refused, not_let_in(kept)),
        RequestError::OfAnother => Failure::new(Exit::Refused, home::of_another(kept)),
        RequestError::Home(error) => home::refused(error),
        RequestError::Unanswered(error) => Failure::new(
            Exit::Failed,
            format!(
                "{error}; '{}' may still be carried out: 'fabdeck changes' tells; what the guard said last is in {log}",
                ask.word()
            ),
        ),
        RequestError::Silent(error) => {
            Failure::new(Exit::Failed, format!("{error}; what it said last is in {log}"))
        }
        RequestError::Start(failure) => failure,
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

/// Status of a change: from its guard, or from the journal once the change has ended.
pub fn look(means: Means<'_>, (home, kept): (&Home, &Kept)) -> Result<Status, Failure> {
    let mut start = || home::start_keeper(means, home, kept).map(drop);
    request_status(home, kept, &mut start).map_err(|error| failure_of(kept, &Ask::Status, error))
}
