//! Asks the guard of a change, and starts a new guard if there is none.

use jiff::Timestamp;

use super::change_exit::user;
use super::{change_store, foreign_changes, refusal_audit};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{
    ChangeDir, ChangePhase, ChangeStatus, ChangeStore, GuardAnswer, GuardRequest, JournalRecord,
    NOT_VIA_OPENSM, RequestError, current_phase, request_status, send_with_restart,
};

/// Sends an order to the guard of a pending change. A change without a guard gets one first, and an incomplete
/// rollback is begun again. Refusals are written to the audit trail.
pub fn send_order(
    means: Env<'_>,
    id: &str,
    ask: &GuardRequest,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeStatus, Failure> {
    if let GuardRequest::RollBack { anyway, .. } = ask
        && let Some(status) = restart_rollback(means, id, *anyway, None, say)?
    {
        return Ok(status);
    }
    let (home, kept) = match change_store::find_change(means, id) {
        Ok(found) => found,
        Err(failure) => {
            if let Some((home, id)) = foreign_changes::find(means, id) {
                return foreign_changes::send_order(means, &home, &id, ask);
            }
            let homes = change_store::open_all(means);
            let asked = ask.command_name();
            return Err(homes.iter().fold(failure, |failure, home| {
                refusal_audit::audit_refusal(home, asked, Some(id), failure, say)
            }));
        }
    };
    let phase = kept.read.state.phase;
    if !phase.is_pending() && !current_phase(&kept).is_pending() {
        return Err(refusal_audit::audit_refusal(
            &home,
            ask.command_name(),
            Some(id),
            decided_failure(id, phase),
            say,
        ));
    }
    // The guard writes its refusals to the trail itself.
    match ask_guard(means, &home, &kept, ask)? {
        GuardAnswer::Status(status) => Ok(status),
        GuardAnswer::Refused { why } => Err(Failure::new(Exit::Refused, why)),
    }
}

/// Starts an incomplete rollback again with a new guard; with another OpenSM process if one is named.
pub fn restart_rollback(
    means: Env<'_>,
    id: &str,
    anyway: bool,
    opensm: Option<&str>,
    say: &mut dyn FnMut(&str),
) -> Result<Option<ChangeStatus>, Failure> {
    let Ok((home, kept)) = change_store::find_change(means, id) else { return Ok(None) };
    if kept.read.state.phase != ChangePhase::Incomplete {
        return Ok(None);
    }
    if !kept.is_own() {
        return Err(Failure::new(Exit::Refused, change_store::other_user_reason(&kept)));
    }
    let (time, user) = (Timestamp::now().to_string(), user());
    let mut records = vec![JournalRecord::Again { time: time.clone(), user: user.clone(), anyway }];
    if let Some(process) = opensm {
        if kept.read.state.begun.opensm.is_none() {
            return Err(refusal_audit::audit_refusal(
                &home,
                "rollback",
                Some(id),
                Failure::new(Exit::Refused, NOT_VIA_OPENSM),
                say,
            ));
        }
        records.push(JournalRecord::OpensmNamed { time, user, process: process.to_owned() });
    }
    let kept = match home.reopen_rollback(id, &records).map_err(change_store::store_failure) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Ok(None),
        Err(failure) => {
            return Err(refusal_audit::audit_refusal(&home, "rollback", Some(id), failure, say));
        }
    };
    let mut detail: Vec<String> = Vec::new();
    detail.extend(anyway.then(|| "even if that loses paths".to_owned()));
    detail.extend(opensm.map(|process| format!("OpenSM is signalled as process {process}")));
    refusal_audit::write_audit(&home, "rolling back again", Some(id), &detail.join("; "), say);
    let remark = change_store::start_successor(means, &home, &kept)?;
    remark.iter().for_each(|remark| say(remark));
    Ok(Some(ChangeStatus::of(&kept.read.state)))
}

/// Failure for a change that is already decided.
pub fn decided_failure(id: &str, phase: ChangePhase) -> Failure {
    Failure::new(Exit::Refused, fabdeck_change::already_decided(id, phase))
}

/// Asks the guard once, after starting one if needed.
fn ask_guard(
    means: Env<'_>,
    home: &ChangeStore,
    kept: &ChangeDir,
    ask: &GuardRequest,
) -> Result<GuardAnswer, Failure> {
    let mut start = || change_store::start_successor(means, home, kept).map(drop);
    send_with_restart(home, kept, ask, &mut start).map_err(|error| request_failure(kept, ask, error))
}

fn request_failure(kept: &ChangeDir, ask: &GuardRequest, error: RequestError<Failure>) -> Failure {
    let log = kept.log().display().to_string();
    match error {
        RequestError::NoGuard(error) => Failure::new(Exit::Failed, error.to_string()),
        RequestError::NotLetIn => Failure::new(Exit::Refused, access_refusal(kept)),
        RequestError::OfAnother => Failure::new(Exit::Refused, change_store::other_user_reason(kept)),
        RequestError::Home(error) => change_store::store_failure(error),
        RequestError::Unanswered(error) => Failure::new(
            Exit::Failed,
            format!(
                "{error}; '{}' may still be carried out: 'fabdeck changes' shows whether it was{}; the guard's last \
                 messages are in {log}",
                ask.command_name(),
                hanging_guard_advice(kept)
            ),
        ),
        RequestError::Silent(error) => {
            Failure::new(Exit::Failed, format!("{error}; its last messages are in {log}"))
        }
        RequestError::Start(failure) => failure,
    }
}

/// What to do about a guard that does not answer.
fn hanging_guard_advice(kept: &ChangeDir) -> String {
    match kept.lock_holder().and_then(|holder| holder.pid) {
        Some(pid) => format!(
            ". If the guard (process {pid}) hangs, 'kill -9 {pid}' ends it, and the same command again starts another"
        ),
        None => String::new(),
    }
}

fn access_refusal(kept: &ChangeDir) -> String {
    let begun = &kept.read.state.begun;
    format!(
        "FD-7999: change {} belongs to {}, and its guard does not accept your requests; ask the owner or root, or \
         have the owner grant you rights ([rights] and socket-dir in the configuration)",
        begun.id, begun.user
    )
}

/// Status of a change: from its guard, or from the journal once the change has ended.
pub fn read_status(means: Env<'_>, home: &ChangeStore, kept: &ChangeDir) -> Result<ChangeStatus, Failure> {
    let mut start = || change_store::start_successor(means, home, kept).map(drop);
    request_status(home, kept, &mut start)
        .map_err(|error| request_failure(kept, &GuardRequest::Status, error))
}
