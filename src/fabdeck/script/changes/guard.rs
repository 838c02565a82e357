//! `guard`: the process that holds a change, separate from the command that started it.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::args::GuardArgs;
use super::change_exit::user;
use super::env::Env;
use super::{change_store, foreign_changes, guard_requests, other_machine, standby_guard};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_row::ChangeRow;
use crate::script::context::Context;
use crate::system::access::SourceOptions;
use fabdeck_change::{
    BeginRecord, ChangeDir, ChangePhase, ChangeState, ChangeStore, GuardLock, GuardMode, GuardProcess,
    GuardRequest, GuardRole, take_guard_lock,
};
use fabdeck_live::WriteRight;

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
        return match standby_guard::wait_for_guard(context, id)? {
            true => run_guard_of(context, id, GuardMode::TakeOver),
            false => Ok(Exit::Done),
        };
    }
    match (&args.begin, &args.keep) {
        (Some(id), _) => run_guard_of(context, id, GuardMode::Apply),
        (None, Some(id)) => run_guard_of(context, id, GuardMode::TakeOver),
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
    let given = context.change_options();
    let means = Env { outside: context.outside, given: &given };
    let mut worst = Exit::Done;
    let pending = change_store::open_all(means)
        .into_iter()
        .filter_map(|home| home.list_pending().ok())
        .flatten()
        .flatten();
    let through_opensm = pending.filter(|kept| kept.read.state.begun.opensm.is_some());
    for id in through_opensm.map(|kept| kept.read.state.begun.id).collect::<Vec<_>>() {
        let ask = GuardRequest::NameOpensm { user: user(), process: process.to_owned() };
        let asked =
            guard_requests::send_order(means, &id, &ask, &mut |line| context.output.print_message(line));
        match asked {
            Ok(_) => context
                .output
                .print_message(&format!("change {id}: OpenSM is signalled as process {process}")),
            Err(failure) => {
                failure.message.iter().for_each(|message| context.output.print_message(message));
                worst = worst.max(failure.exit);
            }
        }
    }
    worst
}

fn run_guard_of(context: &mut Context<'_, '_>, id: &str, errand: GuardMode) -> Result<Exit, Failure> {
    let given = context.change_options();
    let (home, kept) = change_store::find_change(Env { outside: context.outside, given: &given }, id)?;
    let has_one = || Failure::new(Exit::Refused, format!("FD-7984: change {id} has a guard already"));
    let keeping = take_guard_lock(&kept).map_err(change_store::store_failure)?.ok_or_else(has_one)?;
    let told = run_guard(context, &home, &kept, keeping, errand)?;
    Ok(super::change_exit::exit_of_phase(told.phase))
}

/// Takes over abandoned changes: this process holds the first of this user's, and starts a guard for each of the
/// others. A guard may wait for long, for its window or for its fabric.
fn take_over(context: &mut Context<'_, '_>, gone: Option<&str>) -> Result<Exit, Failure> {
    let given = context.change_options();
    let means = Env { outside: context.outside, given: &given };
    let AbandonedChanges { here, elsewhere, mut worst } = find_abandoned(context, means, gone);
    let (mut own, mut started) = (None, false);
    for (home, kept) in here {
        // A process that goes on to changes of another machine holds none itself.
        let taken = match own.is_none() && elsewhere.is_empty() && kept.is_own() {
            true => take_guard_lock(&kept).map_err(change_store::store_failure).map(|keeping| {
                own = keeping.map(|keeping| (home, kept, keeping));
            }),
            false => change_store::start_successor(means, &home, &kept).map(|_| started = true),
        };
        if let Err(failure) = taken {
            failure.message.iter().for_each(|message| context.output.print_message(message));
            worst = Exit::RollbackIncomplete;
        }
    }
    if !elsewhere.is_empty() {
        return Ok(worst.max(other_machine::take_over(context, means, &elsewhere)));
    }
    let Some((home, kept, keeping)) = own else {
        if worst == Exit::Done && !started {
            context.output.print_message("no change is pending without a guard");
        }
        return Ok(worst);
    };
    match run_guard(context, &home, &kept, keeping, GuardMode::TakeOver) {
        // A guard that a signal ends leaves the change to the next guard.
        Ok(told) if told.phase.is_pending() && context.outside.stop().is_requested() => {}
        Ok(told) if told.phase.is_pending() || told.phase == ChangePhase::Incomplete => {
            worst = Exit::RollbackIncomplete;
        }
        Ok(_) => {}
        Err(Failure { message, .. }) => {
            message.iter().for_each(|message| context.output.print_message(message));
            worst = Exit::RollbackIncomplete;
        }
    }
    Ok(worst)
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

fn find_abandoned(context: &mut Context<'_, '_>, means: Env<'_>, gone: Option<&str>) -> AbandonedChanges {
    let mut found = AbandonedChanges { here: Vec::new(), elsewhere: Vec::new(), worst: Exit::Done };
    for home in change_store::open_all(means) {
        if home.is_unreadable() {
            context.output.print_message(&foreign_changes::unknown_reason(
                &home,
                "only its owner can start guards for its changes",
            ));
            found.worst = found.worst.max(Exit::Refused);
            continue;
        }
        let pending = match home.list_pending() {
            Ok(pending) => pending,
            Err(error) => vec![Err(error)],
        };
        for kept in pending {
            match kept {
                Ok(kept) if !kept.is_abandoned() && !ends_stopped_guard(context, &kept) => {
                    if let Some(why) = overdue_warning(&kept) {
                        context.output.print_message(&why);
                        found.worst = Exit::RollbackIncomplete;
                    }
                }
                Ok(kept) => match change_store::other_machine_reason(&kept) {
                    Some(_) if gone == Some(kept.read.state.host.as_str()) => {
                        found.elsewhere.push((home.clone(), kept));
                    }
                    Some(why) => {
                        context.output.print_message(&why);
                        found.worst = found.worst.max(Exit::Refused);
                    }
                    None if kept.may_have_guard() => found.here.push((home.clone(), kept)),
                    None => context.output.print_message(&change_store::other_user_reason(&kept)),
                },
                Err(error) => {
                    context.output.print_message(&error.to_string());
                    found.worst = Exit::RollbackIncomplete;
                }
            }
        }
    }
    found
}

/// Ends a guard that is stopped by a signal and whose change is beyond its deadline. False: there is none, or it cannot
/// be ended.
fn ends_stopped_guard(context: &mut Context<'_, '_>, kept: &ChangeDir) -> bool {
    if overdue_warning(kept).is_none() || !kept.is_own() || !kept.is_guard_stopped() {
        return false;
    }
    match kept.end_guard() {
        Ok(Some(holder)) => {
            let id = &kept.read.state.begun.id;
            let words = format!("change {id}: {holder} is stopped beyond the deadline, and was ended");
            context.output.print_message(&words);
            true
        }
        _ => false,
    }
}

/// Message about an overdue change that another process seems to hold.
fn overdue_warning(kept: &ChangeDir) -> Option<String> {
    let (told, id) = (&kept.read.state, &kept.read.state.begun.id);
    let row = ChangeRow::from_state(told, None, None).judged_at(Timestamp::now());
    let holder = kept.lock_holder().map_or_else(|| "its guard".to_owned(), |holder| holder.to_string());
    row.overdue.then(|| {
        format!(
            "FD-7992: change {id} is OVERDUE: {holder} has its lock and has not rolled it back; end that process, then 'fabdeck \
             guard --resume' rolls the change back"
        )
    })
}

/// Holds one change until its end.
fn run_guard(
    context: &mut Context<'_, '_>,
    home: &ChangeStore,
    kept: &ChangeDir,
    keeping: GuardLock,
    errand: GuardMode,
) -> Result<ChangeState, Failure> {
    let begun = &kept.read.state.begun;
    let (reach, right) = guard_access(context, begun);
    let (outside, stop, given) = (context.outside, context.outside.stop(), context.change_options());
    let means = Env { outside, given: &given };
    let words = |failure: Failure| failure.message.unwrap_or_default();
    given.rights_refused.iter().for_each(|why| context.output.print_message(why));
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
        log: &mut |line| context.output.print_message(&format!("{} {line}", Timestamp::now())),
        stop: &|| stop.is_requested(),
    };
    guard.run(keeping, errand).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// How the fabric of a change is reached, with the right to write to it. That right was given when the change began;
/// undoing the change needs no new one, whatever this process's configuration says.
pub(super) fn guard_access(context: &Context<'_, '_>, begun: &BeginRecord) -> (SourceOptions, WriteRight) {
    let mkey_file = context.globals.mkey_file.clone().or_else(|| begun.mkey_file.as_ref().map(PathBuf::from));
    let reach = SourceOptions { at: None, mkey_file, traps: false, ..context.source_options() };
    let switches = begun.switches.iter().filter_map(|guid| guid.parse().ok()).collect();
    (reach, WriteRight { asked: true, opted_in: context.config.fabrics.clone(), begun: switches })
}
