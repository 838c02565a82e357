//! `confirm`, `extend`, `rollback` and `changes`.

use std::time::Duration;

use jiff::Timestamp;

use super::args::{ChangesArgs, ChangesFormat, ConfirmArgs, ExtendArgs, RollbackArgs};
use super::listed::{self, Listing};
use super::means::Means;
use super::schemas::UNCHANGED;
use super::told::{exit, user};
use super::{asking, attested, foreign_changes, home, list, metrics, seen};
use crate::script::context::Context;
use crate::script::progress::{Meter, renew, take_away};
use crate::script::table::write_pairs;
use crate::script::{Exit, Failure};
use crate::session::{
    ChangeRow, change_progress, change_words, phase_of_five_words, silent_words, time_of_day, waits_words,
};
use fabdeck_change::{Ask, Home, Kept, Phase, Status};

const TURN: Duration = Duration::from_millis(50);

pub fn confirm(context: &mut Context<'_, '_>, args: &ConfirmArgs) -> Result<Exit, Failure> {
    let id = meant(context, &args.id)?;
    let user = user();
    let ask = if args.go_on { Ask::GoOn { user } } else { Ask::Confirm { user } };
    let status = order(context, &id, &ask)?;
    report(context, &status)?;
    Ok(exit(status.phase))
}

pub fn extend(context: &mut Context<'_, '_>, args: &ExtendArgs) -> Result<Exit, Failure> {
    let id = meant(context, &args.id)?;
    let status = order(context, &id, &Ask::Extend { user: user(), seconds: args.by.as_secs() })?;
    report(context, &status)?;
    Ok(exit(status.phase))
}

/// Rolls back and waits for the end, because the operator wants to know that it is complete.
pub fn roll_back(context: &mut Context<'_, '_>, args: &RollbackArgs) -> Result<Exit, Failure> {
    let id = meant(context, &args.id)?;
    let first = match &args.opensm_process {
        Some(process) => name_and_roll_back(context, &id, args.force, process)?,
        None => order(context, &id, &Ask::RollBack { user: user(), anyway: args.force })?,
    };
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    if let Some((home, _)) = foreign_changes::find(means, &id).filter(|_| home::find(means, &id).is_err()) {
        let status = foreign_changes::await_end(means, &home, first)?;
        report(context, &status)?;
        return Ok(if status.phase == Phase::RolledBack { Exit::Done } else { exit(status.phase) });
    }
    let (home, kept) = home::find(means, &id)?;
    let status = until(context, means, (&home, &kept), first, |status| !status.phase.is_pending())?;
    report(context, &status)?;
    // The command asked for the rollback, so a complete rollback is a success.
    Ok(if status.phase == Phase::RolledBack { Exit::Done } else { exit(status.phase) })
}

/// Names OpenSM's process first: the rollback may wait for nothing else.
fn name_and_roll_back(
    context: &mut Context<'_, '_>,
    id: &str,
    anyway: bool,
    process: &str,
) -> Result<Status, Failure> {
    context.refuse_filter("a change")?;
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let mut say = |line: &str| context.output.say(line);
    if let Some(status) = asking::begin_again(means, id, (anyway, Some(process)), &mut say)? {
        return Ok(status);
    }
    let named = Ask::NameOpensm { user: user(), process: process.to_owned() };
    let status = asking::order(means, id, &named, &mut say)?;
    if status.phase == Phase::RollingBack && !anyway {
        // The rollback waited only for OpenSM.
        return Ok(status);
    }
    asking::order(means, id, &Ask::RollBack { user: user(), anyway }, &mut say)
}

fn meant(context: &Context<'_, '_>, text: &str) -> Result<String, Failure> {
    let given = context.given();
    home::meant(Means { outside: context.outside, given: &given }, text)
}

fn order(context: &mut Context<'_, '_>, id: &str, ask: &Ask) -> Result<Status, Failure> {
    context.refuse_filter("a change")?;
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    asking::order(means, id, ask, &mut |line| context.output.say(line))
}

/// Follows a change until its status fulfils a condition. Trouble of its guard is reported once.
pub fn until(
    context: &mut Context<'_, '_>,
    means: Means<'_>,
    (home, kept): (&Home, &Kept),
    first: Status,
    so: impl Fn(&Status) -> bool,
) -> Result<Status, Failure> {
    let mut status = Ok(first);
    let (mut troubled, mut waited, mut told) = (false, false, 0u8);
    while status.as_ref().is_ok_and(|status| !so(status)) {
        std::thread::sleep(TURN);
        status = asking::look(means, (home, kept));
        let trouble = status.as_ref().ok().and_then(|status| status.trouble.clone());
        if let Some(trouble) = trouble.filter(|_| !troubled) {
            context.output.say(&trouble);
            troubled = true;
        }
        // Phases that passed between two polls are reported too.
        let phase = status.as_ref().ok().and_then(|status| status.phase_of_five).unwrap_or(0);
        (told + 1..=phase).filter_map(phase_of_five_words).for_each(|words| context.output.say(&words));
        told = told.max(phase);
        if let Some(status) = status.as_ref().ok().filter(|status| status.waits && !waited) {
            let silent = silent_words(&status.silent).unwrap_or_default();
            context.output.say(&format!("{silent}: {}", waits_words(&status.id)));
            waited = true;
        }
        if let (true, Ok(status)) = (context.progress, &status) {
            renew(context.output.err, context.output.margin, &change_progress(status, Timestamp::now()));
        }
    }
    if context.progress {
        take_away(context.output.err);
    }
    status
}

/// Reports that no change was begun, because everything that the plan writes is in place.
pub fn report_unchanged(context: &mut Context<'_, '_>, writes: usize) -> Result<(), Failure> {
    context.output.say("nothing to do: all that the plan writes stands there already");
    if !context.output.json {
        return Ok(());
    }
    let mut object = context.plain_object("change")?;
    let none: Option<String> = None;
    object.field("deadline", &none)?;
    object.field("done", &0)?;
    object.field("drift", &none)?;
    object.field("id", &none)?;
    object.list("left", std::iter::empty::<()>())?;
    object.field("phase_of_five", &none)?;
    object.list("silent", std::iter::empty::<()>())?;
    object.field("state", &UNCHANGED)?;
    object.field("trouble", &none)?;
    object.field("waits", &false)?;
    object.field("why", &none)?;
    object.field("writes", &writes)?;
    Ok(object.end()?)
}

pub fn report(context: &mut Context<'_, '_>, status: &Status) -> Result<(), Failure> {
    seen::saw(context.outside, &status.id, status.phase);
    if context.output.json {
        let mut object = context.plain_object("change")?;
        object.fields(status)?;
        return Ok(object.end()?);
    }
    let lines = change_words(status, Timestamp::now());
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    Ok(())
}

/// Lists all changes, the newest first.
pub fn changes(context: &mut Context<'_, '_>, args: &ChangesArgs) -> Result<Exit, Failure> {
    context.refuse_filter("changes")?;
    let is_metrics = args.format == ChangesFormat::Prometheus;
    if is_metrics && context.output.json {
        return Err(Failure::usage("FD-7313: Prometheus' text is no JSON; leave out --json or --format"));
    }
    let source = args.verify.then(|| context.named_source().map(str::to_owned)).transpose()?;
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let Listing { rows, mut unread, closed } = listed::all(means)?;
    rows.iter().for_each(|listed| seen::saw(means.outside, &listed.row.id, listed.row.state));
    let mut rows: Vec<ChangeRow> = rows.into_iter().map(|listed| listed.row).collect();
    let overdue: Vec<String> = rows.iter().filter(|row| row.overdue).map(overdue_words).collect();
    unread.extend(home::cut_trails(means));
    unread.extend(args.system_log.iter().flat_map(|file| home::cut_trails_by_log(means, file)));
    let stepped_over = home::unread_trails(means);
    let verified = source.as_deref().map(|source| Verified::of(context, means, source, &mut rows));
    let is_known = unread.is_empty() && closed.is_empty();
    if is_metrics {
        let compared = verified.as_ref().map(|verified| verified.failure.is_none());
        let text = metrics::write(&rows, unread.len() + closed.len(), compared);
        context.output.out.write_all(text.as_bytes())?;
    } else if context.output.json {
        let partial = verified.as_ref().is_some_and(|verified| verified.is_partial);
        let mut object = context.partial_object("changes", partial)?;
        object.field("compared_with", &source)?;
        object
            .field("pending_elsewhere", &verified.as_ref().and_then(|verified| verified.elsewhere.clone()))?;
        object.list("rows", rows.iter())?;
        object.end()?;
    } else if is_known || !rows.is_empty() {
        rows.reverse();
        list::write(context, rows)?;
    }
    let found = verified.iter().flat_map(|verified| &verified.lines);
    let remarks = unread.iter().chain(&stepped_over).chain(&closed);
    remarks.chain(&overdue).chain(found).for_each(|line| context.output.say(line));
    Ok(match () {
        () if !overdue.is_empty() => Exit::RollbackIncomplete,
        () if !unread.is_empty() => Exit::BadInput,
        () if !closed.is_empty() => Exit::Refused,
        () => verified.map_or(Exit::Done, |verified| verified.exit),
    })
}

/// What a comparison with the fabric adds to the list of changes.
struct Verified {
    is_partial: bool,
    /// Lines about single changes, the newest change first.
    lines: Vec<String>,
    exit: Exit,
    failure: Option<Failure>,
    /// A pending change of another machine.
    elsewhere: Option<String>,
}

impl Verified {
    /// Compares, and adds each verdict to its row. An unreadable fabric leaves the rows as they are.
    fn of(context: &mut Context<'_, '_>, means: Means<'_>, source: &str, rows: &mut [ChangeRow]) -> Self {
        let mut meter = Meter::new(context.output.err, context.progress).heeding(context.stop.as_ref());
        let compared = attested::compare(means, source, &mut meter);
        meter.clear();
        let comparison = match compared {
            Ok(comparison) => comparison,
            Err(failure) => {
                let lines = failure.message.iter().cloned().collect();
                return Self {
                    is_partial: true,
                    lines,
                    exit: failure.exit,
                    failure: Some(failure),
                    elsewhere: None,
                };
            }
        };
        comparison.note_in(rows);
        let warnings = rows.iter().filter_map(|row| row.comparison.as_ref()?.warning(&row.id));
        let nothing = format!("no confirmed change is of the fabric of {source}: nothing was compared");
        let elsewhere = comparison.pending_elsewhere.clone();
        let nothing = comparison.by_change.is_empty().then_some(nothing);
        let lines = warnings.chain(nothing).chain(elsewhere.clone()).collect();
        let (is_partial, exit) = (comparison.partial, comparison.exit());
        Self { is_partial, lines, exit, failure: None, elsewhere }
    }
}

/// Message about a change that should have been rolled back, and what to do.
fn overdue_words(row: &ChangeRow) -> String {
    let (id, deadline) = (&row.id, row.deadline.as_deref().unwrap_or_default());
    format!(
        "FD-7992: change {id} is OVERDUE: nobody confirmed it until {} and its guard has not taken it back; 'fabdeck rollback {id}' \
         takes it back now, 'fabdeck guard --resume' gives it another guard",
        time_of_day(deadline)
    )
}
