//! `guard --second`: a small process beside the guard of a change that does not share its fate. It only waits, and ends with
//! the change. It takes the change over
//!
//! - where the deadline has passed and the guard has not begun the rollback;
//! - where the guard is gone, hangs, or a signal has stopped it, while it writes or rolls back.
//!
//! A guard that still runs is ended first, so that it can never write again.

use std::time::{Duration, Instant};

use super::home;
use super::means::Means;
use crate::script::context::Context;
use crate::script::{Exit, Failure};
use fabdeck_change::{Ask, HangWatch, Home, Kept, Phase, SystemClocks, call_within, window_left};

const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// A guard begins the rollback within a second; one that has not after this time hangs.
const GRACE: Duration = Duration::from_secs(2);
/// A guard that writes to switches answers between two writes, each of which may run into its timeouts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Waits beside the guard of a change. `true`: the guard is ended, and the change has to be taken over.
pub fn wait(context: &mut Context<'_, '_>, id: &str) -> Result<bool, Failure> {
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let (home, kept) = home::find(means, id)?;
    let Ok(Some(_only_one)) = kept.lock_second() else { return Ok(false) };
    let stop = means.outside.stop();
    let (mut late, mut kept, mut hang) = (None, kept, HangWatch::default());
    loop {
        std::thread::sleep(POLL_INTERVAL);
        if stop.is_asked() {
            return Ok(false);
        }
        if kept.has_grown() {
            match home.find(id) {
                Ok(now) => kept = now,
                // The folder was taken away, and with it what could be taken back.
                Err(_) => return Ok(false),
            }
        }
        if !kept.read.told.phase.is_pending() {
            return Ok(false);
        }
        // Whoever waits for a confirmation waits in turns, and has until the deadline.
        let holder = kept.lock_holder().and_then(|holder| holder.pid);
        if hang.is_hanging(holder.filter(|_| kept.read.told.phase != Phase::Applied)) {
            return end_guard(context, &home, &kept).map(|()| true);
        }
        if !is_late(&kept) {
            late = None;
            continue;
        }
        if late.get_or_insert_with(Instant::now).elapsed() < GRACE {
            continue;
        }
        if !is_working(&kept) {
            return end_guard(context, &home, &kept).map(|()| true);
        }
        late = None;
    }
}

/// Whether the guard should have done something by now. A change that waits for its confirmation needs no guard before the
/// deadline; one that is half written needs one at once.
fn is_late(kept: &Kept) -> bool {
    let told = &kept.read.told;
    match told.phase {
        Phase::Applied => window_left(told, &SystemClocks).is_zero(),
        _ => kept.is_abandoned() || is_stopped(kept),
    }
}

fn is_stopped(kept: &Kept) -> bool {
    kept.lock_holder().is_some_and(|holder| holder.is_stopped())
}

/// Whether the guard works all the same: on a disk that takes no record it goes back without one, and answers meanwhile.
fn is_working(kept: &Kept) -> bool {
    !is_stopped(kept) && call_within(&kept.socket(), &Ask::Status, ANSWER_TIMEOUT).is_ok()
}

fn end_guard(context: &mut Context<'_, '_>, home: &Home, kept: &Kept) -> Result<(), Failure> {
    let id = &kept.read.told.begun.id;
    let ended = kept.end_guard().map_err(|error| {
        Failure::new(
            Exit::RollbackIncomplete,
            format!("FD-7994: the guard of change {id} hangs and cannot be ended: {error}"),
        )
    })?;
    let words = match ended {
        Some(holder) => {
            format!("{holder} did not take the change back in time and was ended; another guard does")
        }
        None => "the guard was gone; another one takes the change back".to_owned(),
    };
    super::refused::audit(home, ("guard replaced", Some(id)), &words, &mut |line| context.output.say(line));
    context.output.say(&words);
    Ok(())
}
