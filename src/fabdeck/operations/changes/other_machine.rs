//! Takes over changes of a machine that is gone, from a state folder that machines share. The subnet manager's
//! registrations have to show first that the guards are gone.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_row::ChangeRow;
use super::change_store;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{ChangeDir, ChangePhase, ChangeStore};
use fabdeck_mad::access::{Actuator, NoObserver, ReadOptions, RegistrationLookup};

/// A guard that waits for a confirmation renews its registration every ten seconds, or every twenty if the manager
/// did not accept it.
const WATCH_TIME: Duration = Duration::from_secs(45);
/// A guard that writes or rolls back renews less often.
const WATCH_TIME_WHILE_WRITING: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A change with its registration at the begin of the watch.
struct WatchedChange<'k> {
    home: &'k ChangeStore,
    kept: &'k ChangeDir,
    actuator: Box<dyn Actuator>,
    first: RegistrationLookup,
}

/// Watches all changes at the same time, and starts a guard for each whose guard is shown to be gone.
pub fn take_over(means: Env<'_>, changes: &[(ChangeStore, ChangeDir)], say: &mut dyn FnMut(&str)) -> Exit {
    let (mut watched, mut worst) = (Vec::new(), Exit::Done);
    for (home, kept) in changes {
        match read_registration(means, kept) {
            Ok((actuator, first)) => watched.push(WatchedChange { home, kept, actuator, first }),
            Err(why) => {
                say(&unknown_state_message(kept, &why));
                worst = worst.max(Exit::Refused);
            }
        }
    }
    let at_work = |watched: &WatchedChange<'_>| watched.kept.read.state.phase != ChangePhase::Applied;
    let time = if watched.iter().any(at_work) { WATCH_TIME_WHILE_WRITING } else { WATCH_TIME };
    if !watched.is_empty() {
        say(&format!("watching for {} s whether their guards live", time.as_secs()));
    }
    let (since, stop) = (Instant::now(), means.outside.stop());
    while !watched.is_empty() && since.elapsed() < time {
        if stop.is_requested() {
            return worst.max(Exit::Refused);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    for WatchedChange { home, kept, mut actuator, first } in watched {
        let refusal = match is_gone(kept, &first, &actuator.read_registration()) {
            Ok(true) => match change_store::start_successor_here(means, home, kept) {
                Ok(remark) => {
                    remark.iter().for_each(|remark| say(remark));
                    say(&format!("change {}: a guard on this machine takes over", id(kept)));
                    continue;
                }
                Err(failure) => failure.message.unwrap_or_default(),
            },
            Ok(false) => format!(
                "FD-7974: change {}: its guard on {} lives: it renewed its registration with the subnet manager; confirm the change or roll it back there",
                id(kept),
                kept.read.state.host
            ),
            Err(why) => unknown_state_message(kept, &why),
        };
        say(&refusal);
        worst = worst.max(Exit::Refused);
    }
    worst
}

fn id(kept: &ChangeDir) -> &str {
    &kept.read.state.begun.id
}

fn unknown_state_message(kept: &ChangeDir, why: &str) -> String {
    let host = &kept.read.state.host;
    format!("FD-7974: change {}: it is not known whether its guard on {host} has ended: {why}", id(kept))
}

fn read_registration(
    means: Env<'_>,
    kept: &ChangeDir,
) -> Result<(Box<dyn Actuator>, RegistrationLookup), String> {
    let words = |failure: Failure| failure.message.unwrap_or_default();
    let begun = &kept.read.state.begun;
    let (reach, right) = means.guard_access(begun);
    let mut actuator = means.outside.actuator(&begun.source, &reach, &right).map_err(words)?;
    actuator.read_fabric(ReadOptions::default(), &mut NoObserver).map_err(|error| error.to_string())?;
    let first = actuator.read_registration();
    Ok((actuator, first))
}

/// Whether the registration shows that the guard is gone: it stands still, or it is missing and the change is
/// overdue. A missing registration alone proves nothing, because the guard may only be unable to reach the manager.
fn is_gone(kept: &ChangeDir, first: &RegistrationLookup, last: &RegistrationLookup) -> Result<bool, String> {
    match (first, last) {
        (RegistrationLookup::NotKept(why), _) | (_, RegistrationLookup::NotKept(why)) => Err(why.clone()),
        (RegistrationLookup::One(first), RegistrationLookup::One(last)) if last.change == id(kept) => {
            Ok((first.epoch, first.beat) == (last.epoch, last.beat))
        }
        (_, RegistrationLookup::Nothing) if ChangeRow::from_state(&kept.read.state, None, None).judged_at(Timestamp::now()).overdue => {
            Ok(true)
        }
        (_, RegistrationLookup::Nothing) => Err(
            "it is not registered, and its deadline is not over: a guard that cannot reach the subnet manager would look \
             the same"
                .to_owned(),
        ),
        (_, RegistrationLookup::One(_) | RegistrationLookup::Several) => {
            Err("another change is registered with the subnet manager".to_owned())
        }
    }
}
