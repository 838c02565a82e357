//! Takes over changes of a machine that is gone, from a state folder that machines share. The subnet manager's
//! registrations have to show first that the guards are gone.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::guard::way_of;
use super::home;
use super::means::Means;
use crate::script::context::Context;
use crate::script::{Exit, Failure};
use crate::session::ChangeRow;
use fabdeck_change::{Home, Kept, Phase};
use fabdeck_mad::access::{Actuator, Registered, Unwatched, Wanted};

/// A guard that waits for a confirmation renews its registration every ten seconds, or every twenty if the manager
/// did not accept it.
const WATCHED: Duration = Duration::from_secs(45);
/// A guard that writes or rolls back renews less often.
const WATCHED_AT_WORK: Duration = Duration::from_secs(300);
const TURN: Duration = Duration::from_millis(200);

/// A change with its registration at the begin of the watch.
struct Watched<'k> {
    home: &'k Home,
    kept: &'k Kept,
    actuator: Box<dyn Actuator>,
    first: Registered,
}

/// Watches all changes at the same time, and starts a guard for each whose guard is shown to be gone.
pub fn take_over(context: &mut Context<'_, '_>, means: Means<'_>, changes: &[(Home, Kept)]) -> Exit {
    let (mut watched, mut worst) = (Vec::new(), Exit::Done);
    for (home, kept) in changes {
        match look(context, means, kept) {
            Ok((actuator, first)) => watched.push(Watched { home, kept, actuator, first }),
            Err(why) => {
                context.output.say(&not_known(kept, &why));
                worst = worst.max(Exit::Refused);
            }
        }
    }
    let at_work = |watched: &Watched<'_>| watched.kept.read.told.phase != Phase::Applied;
    let time = if watched.iter().any(at_work) { WATCHED_AT_WORK } else { WATCHED };
    if !watched.is_empty() {
        context.output.say(&format!("watching for {} s whether their guards live", time.as_secs()));
    }
    let (since, stop) = (Instant::now(), means.outside.stop());
    while !watched.is_empty() && since.elapsed() < time {
        if stop.is_asked() {
            return worst.max(Exit::Refused);
        }
        std::thread::sleep(TURN);
    }
    for Watched { home, kept, mut actuator, first } in watched {
        let refusal = match is_gone(kept, &first, &actuator.registered()) {
            Ok(true) => match home::start_keeper_here(means, home, kept) {
                Ok(remark) => {
                    remark.iter().for_each(|remark| context.output.say(remark));
                    context.output.say(&format!("change {}: a guard on this machine takes over", id(kept)));
                    continue;
                }
                Err(failure) => failure.message.unwrap_or_default(),
            },
            Ok(false) => format!(
                "FD-7974: change {}: its guard on {} lives: it renewed its registration with the subnet manager",
                id(kept),
                kept.read.told.host
            ),
            Err(why) => not_known(kept, &why),
        };
        context.output.say(&refusal);
        worst = worst.max(Exit::Refused);
    }
    worst
}

fn id(kept: &Kept) -> &str {
    &kept.read.told.begun.id
}

fn not_known(kept: &Kept, why: &str) -> String {
    let host = &kept.read.told.host;
    format!("FD-7974: change {}: whether its guard on {host} is gone is not known: {why}", id(kept))
}

fn look(
    context: &Context<'_, '_>,
    means: Means<'_>,
    kept: &Kept,
) -> Result<(Box<dyn Actuator>, Registered), String> {
    let words = |failure: Failure| failure.message.unwrap_or_default();
    let begun = &kept.read.told.begun;
    let (reach, right) = way_of(context, begun);
    let mut actuator = means.outside.actuator(&begun.source, &reach, &right).map_err(words)?;
    actuator.look(Wanted::default(), &mut Unwatched).map_err(|error| error.to_string())?;
    let first = actuator.registered();
    Ok((actuator, first))
}

/// Whether the registration shows that the guard is gone: it stands still, or it is missing and the change is
/// overdue. A missing registration alone proves nothing, because the guard may only be unable to reach the manager.
fn is_gone(kept: &Kept, first: &Registered, last: &Registered) -> Result<bool, String> {
    match (first, last) {
        (Registered::NotKept(why), _) | (_, Registered::NotKept(why)) => Err(why.clone()),
        (Registered::One(first), Registered::One(last)) if last.change == id(kept) => {
            Ok((first.epoch, first.beat) == (last.epoch, last.beat))
        }
        (_, Registered::Nothing) if ChangeRow::of(&kept.read.told, None, None).at(Timestamp::now()).overdue => {
            Ok(true)
        }
        (_, Registered::Nothing) => Err(
            "it is not registered, and its deadline is not over: a guard that cannot reach the subnet manager would look \
             the same"
                .to_owned(),
        ),
        (_, Registered::One(_) | Registered::Several) => {
            Err("another change is registered with the subnet manager".to_owned())
        }
    }
}
