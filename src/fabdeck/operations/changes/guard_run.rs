//! The guards of this process's changes: a guard holds a change, apart from the process that started it.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_exit::user;
use super::overdue::{is_overdue, overdue_text};
use super::{change_store, foreign_changes, guard_requests, other_machine};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{
    ChangeDir, ChangePhase, ChangeState, ChangeStore, GuardAnswer, GuardLock, GuardMode, GuardProcess,
    GuardRequest, GuardRole, take_guard_lock,
};

/// Time that a guard has to finish a write or a rollback after a signal.
const FINISH_TIMEOUT: Duration = Duration::from_secs(600);
/// How long `--resume` follows the guards that it started: less than the period of systemd's timer.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Gives the guards of all pending changes through OpenSM the process of OpenSM to signal from now on. A change
/// without a guard gets one.
pub fn name_opensm(means: Env<'_>, process: &str, say: &mut dyn FnMut(&str)) -> Exit {
    let mut worst = Exit::Done;
    let pending = change_store::open_all(means)
        .into_iter()
        .filter_map(|home| home.list_pending().ok())
        .flatten()
        .flatten();
    let through_opensm = pending.filter(|kept| kept.read.state.begun.opensm.is_some());
    for id in through_opensm.map(|kept| kept.read.state.begun.id).collect::<Vec<_>>() {
        let ask = GuardRequest::NameOpensm { user: user(), process: process.to_owned() };
        let asked = guard_requests::send_order(means, &id, &ask, say);
        match asked {
            Ok(_) => say(&format!("change {id}: OpenSM is signalled as process {process}")),
            Err(failure) => {
                failure.message.iter().for_each(|message| say(message));
                worst = worst.max(failure.exit);
            }
        }
    }
    worst
}

pub fn run_guard_of(
    means: Env<'_>,
    id: &str,
    errand: GuardMode,
    say: &mut dyn FnMut(&str),
) -> Result<Exit, Failure> {
    let (home, kept) = change_store::find_change(means, id)?;
    let has_one = || Failure::new(Exit::Refused, format!("FD-7984: change {id} has a guard already"));
    let keeping = take_guard_lock(&kept).map_err(change_store::store_failure)?.ok_or_else(has_one)?;
    let told = run_guard(means, &home, &kept, keeping, errand, say)?;
    Ok(super::change_exit::exit_of_phase(told.phase))
}

/// Starts a guard for each abandoned change, and ends when the guards work. It keeps none itself: systemd's timer starts no
/// unit that still runs, so changes that lose their guards later would wait for the end of the one that is kept.
pub fn take_over(means: Env<'_>, gone: Option<&str>, say: &mut dyn FnMut(&str)) -> Result<Exit, Failure> {
    let AbandonedChanges { here, elsewhere, mut worst } = find_abandoned(means, gone, say);
    if here.is_empty() && elsewhere.is_empty() && worst == Exit::Done {
        say("no change is pending without a guard");
    }
    let mut started = Vec::new();
    for (home, kept) in here {
        match change_store::start_successor(means, &home, &kept) {
            Ok(remark) => {
                remark.iter().for_each(|remark| say(remark));
                started.push((home, kept));
            }
            Err(failure) => {
                failure.message.iter().for_each(|message| say(message));
                worst = Exit::RollbackIncomplete;
            }
        }
    }
    let since = Instant::now();
    for (home, kept) in &started {
        worst = worst.max(await_guard(home, kept, since, say));
    }
    if !elsewhere.is_empty() {
        worst = worst.max(other_machine::take_over(means, &elsewhere, say));
    }
    Ok(worst)
}

/// Waits until the new guard of a change waits for its confirmation, or has ended it. A rollback that takes longer goes
/// on without this process.
fn await_guard(home: &ChangeStore, kept: &ChangeDir, since: Instant, say: &mut dyn FnMut(&str)) -> Exit {
    let id = &kept.read.state.begun.id;
    loop {
        let is_last = since.elapsed() >= TAKEOVER_TIMEOUT;
        let asked = kept.system().ask_guard(&kept.socket(), &GuardRequest::Status, ANSWER_TIMEOUT);
        let journal = home.find(id).map(|kept| kept.read.state.phase);
        let (words, exit) = match (asked, journal) {
            (_, Ok(ChangePhase::Incomplete)) => {
                (format!("change {id}: the rollback is incomplete"), Exit::RollbackIncomplete)
            }
            (_, Ok(phase)) if !phase.is_pending() => {
                (format!("change {id} is {}", phase.title()), Exit::Done)
            }
            (Ok(GuardAnswer::Status(status)), _) if is_last || status.phase == ChangePhase::Applied => {
                let title = status.phase.title();
                (
                    format!("change {id} is {title}; its guard goes on, 'fabdeck changes' shows the end"),
                    Exit::Done,
                )
            }
            _ if is_last => {
                let log = kept.log().display().to_string();
                let words = format!(
                    "FD-7981: the guard of change {id} was started and does not answer; its last messages are in {log}"
                );
                (words, Exit::RollbackIncomplete)
            }
            _ => {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
        };
        say(&words);
        return exit;
    }
}

/// Pending changes without a guard.
struct AbandonedChanges {
    /// Changes that can have a guard of this user on this machine.
    here: Vec<(ChangeStore, ChangeDir)>,
    /// Changes of the machine that `--gone` names.
    elsewhere: Vec<(ChangeStore, ChangeDir)>,
    /// Exit code for the changes that could not be read.
    worst: Exit,
}

fn find_abandoned(means: Env<'_>, gone: Option<&str>, say: &mut dyn FnMut(&str)) -> AbandonedChanges {
    let mut found = AbandonedChanges { here: Vec::new(), elsewhere: Vec::new(), worst: Exit::Done };
    for home in change_store::open_all(means) {
        if home.is_unreadable() {
            say(&foreign_changes::unknown_reason(&home, "only its owner can start guards for its changes"));
            found.worst = found.worst.max(Exit::Refused);
            continue;
        }
        let pending = match home.list_pending() {
            Ok(pending) => pending,
            Err(error) => vec![Err(error)],
        };
        for kept in pending {
            match kept {
                Ok(kept) if !kept.is_abandoned() && !ends_stopped_guard(&kept, say) => {
                    if is_overdue(&kept) {
                        say(&overdue_text(&kept));
                        found.worst = Exit::RollbackIncomplete;
                    }
                }
                Ok(kept) => match change_store::other_machine_reason(&kept) {
                    Some(_) if gone == Some(kept.read.state.host.as_str()) => {
                        found.elsewhere.push((home.clone(), kept));
                    }
                    Some(why) => {
                        say(&why);
                        found.worst = found.worst.max(Exit::Refused);
                    }
                    None if kept.may_have_guard() => found.here.push((home.clone(), kept)),
                    None => {
                        say(&change_store::other_user_reason(&kept));
                        let exit = if is_overdue(&kept) { Exit::RollbackIncomplete } else { Exit::Refused };
                        found.worst = found.worst.max(exit);
                    }
                },
                Err(error) => {
                    say(&error.to_string());
                    found.worst = Exit::RollbackIncomplete;
                }
            }
        }
    }
    found
}

/// Ends a guard that is stopped by a signal: beyond the deadline, or while it writes or rolls back. False: there is
/// none, or it cannot be ended.
fn ends_stopped_guard(kept: &ChangeDir, say: &mut dyn FnMut(&str)) -> bool {
    let (id, phase) = (&kept.read.state.begun.id, kept.read.state.phase);
    let is_waiting = phase == ChangePhase::Applied;
    let fails = || match is_waiting {
        true => is_overdue(kept) && kept.is_guard_stopped(),
        false => kept.is_stopped_under_way(),
    };
    if !kept.may_have_guard() || !fails() {
        return false;
    }
    match kept.end_guard() {
        Ok(Some(holder)) => {
            let when = if is_waiting {
                "beyond the deadline".to_owned()
            } else {
                format!("while it is {}", phase.title())
            };
            say(&format!("change {id}: {holder} is stopped {when}, and was ended"));
            true
        }
        _ => false,
    }
}

/// Holds one change until its end.
fn run_guard(
    means: Env<'_>,
    home: &ChangeStore,
    kept: &ChangeDir,
    keeping: GuardLock,
    errand: GuardMode,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeState, Failure> {
    let begun = &kept.read.state.begun;
    let (reach, right) = means.guard_access(begun);
    let Env { outside, given } = means;
    let stop = outside.stop();
    let words = |failure: Failure| failure.message.unwrap_or_default();
    given.rights_refused.iter().for_each(|why| say(why));
    // A write or rollback under way is finished before the process ends.
    stop.listen_within(FINISH_TIMEOUT);
    let guard = GuardProcess {
        home,
        change_dir: kept,
        rights: given.rights.clone(),
        socket_folder: change_store::socket_folder(means, home.folder()),
        open: &mut || outside.actuator(&begun.source, &reach, &right).map_err(words),
        start: &mut |mode| {
            let started = match mode {
                GuardRole::Second => {
                    change_store::start_guard(means, home, &["--second", &begun.id], &kept.log())
                }
                GuardRole::Successor => change_store::start_successor(means, home, kept),
            };
            started.map_err(words)
        },
        log: &mut |line| say(&format!("{} {line}", Timestamp::now())),
        stop: &|| stop.is_requested(),
    };
    guard.run(keeping, errand).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}
