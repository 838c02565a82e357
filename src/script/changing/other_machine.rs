//! A change in a folder that machines share, whose machine is said to be gone: the subnet manager has to show that its guard
//! is, before another machine takes the change over.

use std::time::Duration;

use super::guard::way_of;
use super::home;
use super::means::Means;
use crate::access::{Registered, Unwatched, Wanted};
use crate::change::Kept;
use crate::script::Failure;
use crate::script::context::Context;

/// A guard that lives renews its registration every ten seconds, or twenty where the manager did not take it.
const WATCHED: Duration = Duration::from_secs(45);

/// Why a change that has no guard here is not taken over; none where this machine keeps it, or where it is shown that the
/// other one does not any more.
pub fn refusal(
    context: &mut Context<'_, '_>,
    means: Means<'_>,
    kept: &Kept,
    gone: Option<&str>,
) -> Option<String> {
    let refusal = home::of_other_machine(kept)?;
    let (id, host) = (&kept.read.told.begun.id, &kept.read.told.host);
    if gone != Some(host.as_str()) {
        return Some(refusal);
    }
    context
        .output
        .say(&format!("change {id}: watching for {} s whether its guard on {host} lives", WATCHED.as_secs()));
    match is_gone(context, means, kept) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "FD-7974: change {id}: its guard on {host} lives: it renewed its registration with the subnet manager"
        )),
        Err(why) => {
            Some(format!("FD-7974: change {id}: whether its guard on {host} is gone is not known: {why}"))
        }
    }
}

/// Whether the registration of a change stands still, or is not there and does not come back.
fn is_gone(context: &Context<'_, '_>, means: Means<'_>, kept: &Kept) -> Result<bool, String> {
    let words = |failure: Failure| failure.message.unwrap_or_default();
    let begun = &kept.read.told.begun;
    let (reach, right) = way_of(context, begun);
    let mut actuator = means.outside.actuator(&begun.source, &reach, &right).map_err(words)?;
    actuator.look(Wanted::default(), &mut Unwatched).map_err(|error| error.to_string())?;
    let first = actuator.registered();
    std::thread::sleep(WATCHED);
    match (first, actuator.registered()) {
        (Registered::NotKept(why), _) | (_, Registered::NotKept(why)) => Err(why),
        (Registered::Nothing, Registered::Nothing) => Ok(true),
        (Registered::One(first), Registered::One(second)) if second.change == begun.id => {
            Ok((first.epoch, first.beat) == (second.epoch, second.beat))
        }
        (_, Registered::Nothing) => Err("its registration ended meanwhile".to_owned()),
        (_, Registered::One(_) | Registered::Several) => {
            Err("another change is registered with the subnet manager".to_owned())
        }
    }
}
