//! `guard`: the process that holds a change, separate from the command that started it.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::args::GuardArgs;
use super::means::Means;
use super::told::user;
use super::{asking, foreign_changes, home, other_machine, second_keeper};
use crate::script::context::Context;
use crate::script::open::Reach;
use crate::script::{Exit, Failure};
use crate::session::ChangeRow;
use fabdeck_change::{
    Ask, Begun, Errand, GuardMode, GuardProcess, Home, Keeping, Kept, Phase, Told, take_keeping,
};
use fabdeck_live::Right;

/// Time that a guard has to finish a write or a rollback after a signal.
const FINISH_TIMEOUT: Duration = Duration::from_secs(600);

pub fn run(context: &mut Context<'_, '_>, args: &GuardArgs) -> Result<Exit, Failure> {
    context.refuse_filter("guard")?;
    // A closing terminal ends its session, so the guard makes its own. The call fails only for a session leader,
    // which has one.
    let _ = rustix::process::setsid();
    // Files of the guard are readable by their owner alone, whatever the caller's umask is.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    if let Some(id) = &args.second {
        return match second_keeper::wait(context, id)? {
            true => keep_one(context, id, Errand::TakeOver),
            false => Ok(Exit::Done),
        };
    }
    match (&args.begin, &args.keep) {
        (Some(id), _) => keep_one(context, id, Errand::Apply),
        (None, Some(id)) => keep_one(context, id, Errand::TakeOver),
        (None, None) => {
            let named = args.opensm_process.as_ref().map(|process| name_opensm(context, process));
            let worst = take_over(context, args.gone.as_deref())?;
            Ok(named.map_or(worst, |named| worst.max(named)))
        }
    }
}

/// Gives the guards of all pending changes through OpenSM the process of OpenSM to signal from now on. A change
/// without a guard gets one.
fn name_opensm(context: &mut Context<'_, '_>, process: &str) -> Exit {
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let mut worst = Exit::Done;
    let pending = home::all(means).into_iter().filter_map(|home| home.pending().ok()).flatten().flatten();
    let through_opensm = pending.filter(|kept| kept.read.told.begun.opensm.is_some());
    for id in through_opensm.map(|kept| kept.read.told.begun.id).collect::<Vec<_>>() {
        let ask = Ask::NameOpensm { user: user(), process: process.to_owned() };
        let asked = asking::order(means, &id, &ask, &mut |line| context.output.say(line));
        match asked {
            Ok(_) => context.output.say(&format!("change {id}: OpenSM is told by process {process}")),
            Err(failure) => {
                failure.message.iter().for_each(|message| context.output.say(message));
                worst = worst.max(failure.exit);
            }
        }
    }
    worst
}

fn keep_one(context: &mut Context<'_, '_>, id: &str, errand: Errand) -> Result<Exit, Failure> {
    let given = context.given();
    let (home, kept) = home::find(Means { outside: context.outside, given: &given }, id)?;
    let has_one = || Failure::new(Exit::Refused, format!("FD-7984: change {id} has a guard already"));
    let keeping = take_keeping(&kept).map_err(home::refused)?.ok_or_else(has_one)?;
    let told = keep(context, &home, &kept, keeping, errand)?;
    Ok(super::told::exit(told.phase))
}

/// Takes over abandoned changes: this process holds the first of this user's, and starts a guard for each of the
/// others. A guard may wait for long, for its window or for its fabric.
fn take_over(context: &mut Context<'_, '_>, gone: Option<&str>) -> Result<Exit, Failure> {
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let Abandoned { here, elsewhere, mut worst } = abandoned(context, means, gone);
    let (mut own, mut started) = (None, false);
    for (home, kept) in here {
        // A process that goes on to changes of another machine holds none itself.
        let taken = match own.is_none() && elsewhere.is_empty() && kept.is_own() {
            true => take_keeping(&kept).map_err(home::refused).map(|keeping| {
                own = keeping.map(|keeping| (home, kept, keeping));
            }),
            false => home::start_keeper(means, &home, &kept).map(|_| started = true),
        };
        if let Err(failure) = taken {
            failure.message.iter().for_each(|message| context.output.say(message));
            worst = Exit::RollbackIncomplete;
        }
    }
    if !elsewhere.is_empty() {
        return Ok(worst.max(other_machine::take_over(context, means, &elsewhere)));
    }
    let Some((home, kept, keeping)) = own else {
        if worst == Exit::Done && !started {
            context.output.say("no change is pending without a guard");
        }
        return Ok(worst);
    };
    match keep(context, &home, &kept, keeping, Errand::TakeOver) {
        // A guard that a signal ends leaves the change to the next guard.
        Ok(told) if told.phase.is_pending() && context.outside.stop().is_asked() => {}
        Ok(told) if told.phase.is_pending() || told.phase == Phase::Incomplete => {
            worst = Exit::RollbackIncomplete;
        }
        Ok(_) => {}
        Err(Failure { message, .. }) => {
            message.iter().for_each(|message| context.output.say(message));
            worst = Exit::RollbackIncomplete;
        }
    }
    Ok(worst)
}

/// Pending changes without a guard.
struct Abandoned {
    /// Changes that can have a guard of this user on this machine.
    here: Vec<(Home, Kept)>,
    /// Changes of the machine that `--gone` names.
    elsewhere: Vec<(Home, Kept)>,
    /// Exit code for the changes that could not be read.
    worst: Exit,
}

fn abandoned(context: &mut Context<'_, '_>, means: Means<'_>, gone: Option<&str>) -> Abandoned {
    let mut found = Abandoned { here: Vec::new(), elsewhere: Vec::new(), worst: Exit::Done };
    for home in home::all(means) {
        if home.is_closed() {
            context
                .output
                .say(&foreign_changes::unknown(&home, "only its owner can give its changes a guard"));
            found.worst = found.worst.max(Exit::Refused);
            continue;
        }
        let pending = match home.pending() {
            Ok(pending) => pending,
            Err(error) => vec![Err(error)],
        };
        for kept in pending {
            match kept {
                Ok(kept) if !kept.is_abandoned() => {
                    if let Some(why) = overdue_beside(&kept) {
                        context.output.say(&why);
                        found.worst = Exit::RollbackIncomplete;
                    }
                }
                Ok(kept) => match home::of_other_machine(&kept) {
                    Some(_) if gone == Some(kept.read.told.host.as_str()) => {
                        found.elsewhere.push((home.clone(), kept));
                    }
                    Some(why) => {
                        context.output.say(&why);
                        found.worst = found.worst.max(Exit::Refused);
                    }
                    None if kept.may_have_guard() => found.here.push((home.clone(), kept)),
                    None => context.output.say(&home::of_another(&kept)),
                },
                Err(error) => {
                    context.output.say(&error.to_string());
                    found.worst = Exit::RollbackIncomplete;
                }
            }
        }
    }
    found
}

/// Message about an overdue change that another process seems to hold.
fn overdue_beside(kept: &Kept) -> Option<String> {
    let (told, id) = (&kept.read.told, &kept.read.told.begun.id);
    let row = ChangeRow::of(told, None, None).at(Timestamp::now());
    let holder = kept.lock_holder().map_or_else(|| "its guard".to_owned(), |holder| holder.to_string());
    row.overdue.then(|| {
        format!(
            "FD-7992: change {id} is OVERDUE: {holder} holds it and has not taken it back; end that process, and 'fabdeck guard \
             --resume' takes the change back"
        )
    })
}

/// Holds one change until its end.
fn keep(
    context: &mut Context<'_, '_>,
    home: &Home,
    kept: &Kept,
    keeping: Keeping,
    errand: Errand,
) -> Result<Told, Failure> {
    let begun = &kept.read.told.begun;
    let (reach, right) = way_of(context, begun);
    let (outside, stop, given) = (context.outside, context.outside.stop(), context.given());
    let means = Means { outside, given: &given };
    let words = |failure: Failure| failure.message.unwrap_or_default();
    // A write or rollback under way is finished before the process ends.
    stop.heed_within(FINISH_TIMEOUT);
    let guard = GuardProcess {
        home,
        kept,
        rights: given.rights.clone(),
        socket_folder: home::socket_folder(means, home.folder()),
        open: &mut || outside.actuator(&begun.source, &reach, &right).map_err(words),
        start: &mut |mode| {
            let started = match mode {
                GuardMode::Second => home::start_guard(means, home, &["--second", &begun.id], &kept.log()),
                GuardMode::Successor => home::start_keeper(means, home, kept),
            };
            started.map_err(words)
        },
        say: &mut |line| context.output.say(&format!("{} {line}", Timestamp::now())),
        stop: &|| stop.is_asked(),
    };
    guard.run(keeping, errand).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// How the fabric of a change is reached, with the right to write to it. That right was given when the change began;
/// undoing the change needs no new one, whatever this process's configuration says.
pub(super) fn way_of(context: &Context<'_, '_>, begun: &Begun) -> (Reach, Right) {
    let mkey_file = context.globals.mkey_file.clone().or_else(|| begun.mkey_file.as_ref().map(PathBuf::from));
    let reach = Reach { at: None, mkey_file, traps: false, ..context.reach() };
    let switches = begun.switches.iter().filter_map(|guid| guid.parse().ok()).collect();
    (reach, Right { asked: true, opted_in: context.config.fabrics.clone(), begun: switches })
}
