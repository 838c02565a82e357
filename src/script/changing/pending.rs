//! `confirm`, `extend`, `rollback` and `changes`.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::args::{ExtendArgs, RollbackArgs};
use super::home;
use super::told::{ChangeRow, exit, progress, user, words};
use crate::change::{Answer, Ask, DoorError, Home, Kept, Phase, Status, call};
use crate::script::context::Context;
use crate::script::table::write_pairs;
use crate::script::{Exit, Failure};

/// How long a guard that was started just now may take until it answers.
const PATIENCE: Duration = Duration::from_secs(30);
const TURN: Duration = Duration::from_millis(50);

pub fn confirm(context: &mut Context<'_, '_>, id: &str) -> Result<Exit, Failure> {
    let status = order(context, id, &Ask::Confirm { user: user() })?;
    report(context, &status)?;
    Ok(exit(status.phase))
}

pub fn extend(context: &mut Context<'_, '_>, args: &ExtendArgs) -> Result<Exit, Failure> {
    let status = order(context, &args.id, &Ask::Extend { user: user(), seconds: args.by.as_secs() })?;
    report(context, &status)?;
    Ok(exit(status.phase))
}

/// Waits for the end: who rolls back wants to know that it is done.
pub fn roll_back(context: &mut Context<'_, '_>, args: &RollbackArgs) -> Result<Exit, Failure> {
    let first = order(context, &args.id, &Ask::RollBack { user: user(), anyway: args.force })?;
    let (home, kept) = home::find(context, &args.id)?;
    let status = until(context, (&home, &kept), first, |status| !status.phase.is_pending())?;
    report(context, &status)?;
    // It was asked for, so that it was rolled back is what was to be done.
    Ok(if status.phase == Phase::RolledBack { Exit::Done } else { exit(status.phase) })
}

/// Asks the guard of a pending change; one whose guard is gone gets another first.
fn order(context: &mut Context<'_, '_>, id: &str, ask: &Ask) -> Result<Status, Failure> {
    context.refuse_filter("a change")?;
    let (home, kept) = home::find(context, id)?;
    let phase = kept.read.told.phase;
    if !phase.is_pending() {
        let what = format!("FD-7985: change {id} is {}: there is nothing left to decide", phase.title());
        return Err(Failure::new(Exit::Refused, what));
    }
    match asked(context, (&home, &kept), ask)? {
        Answer::Status(status) => Ok(status),
        Answer::Refused { why } => Err(Failure::new(Exit::Refused, why)),
    }
}

/// One question, once there is a guard that answers.
fn asked(context: &Context<'_, '_>, (home, kept): (&Home, &Kept), ask: &Ask) -> Result<Answer, Failure> {
    let since = Instant::now();
    let mut started = false;
    loop {
        let error = match call(&kept.socket(), ask) {
            Ok(answer) => return Ok(answer),
            Err(error @ DoorError::NoGuard(_)) => return Err(Failure::new(Exit::Failed, error.to_string())),
            Err(error) => error,
        };
        // It may be over, whoever ended it, and its guard be gone with its answer.
        let now = home.find(&kept.read.told.begun.id).map_err(home::refused)?;
        if !now.read.told.phase.is_pending() {
            return Ok(Answer::Status(Status::of(&now.read.told)));
        }
        if !started && kept.is_abandoned() {
            home::start_guard(context, home, &["--resume"], &kept.log())?;
            started = true;
        }
        if since.elapsed() > PATIENCE {
            let log = kept.log().display().to_string();
            return Err(Failure::new(Exit::Failed, format!("{error}; what it said last is in {log}")));
        }
        std::thread::sleep(TURN);
    }
}

/// Looks at a change until something is so of it.
pub fn until(
    context: &mut Context<'_, '_>,
    (home, kept): (&Home, &Kept),
    first: Status,
    so: impl Fn(&Status) -> bool,
) -> Result<Status, Failure> {
    let mut status = first;
    let mut shown = false;
    while !so(&status) {
        std::thread::sleep(TURN);
        status = look(context, (home, kept))?;
        if context.progress {
            let (line, _) = (progress(&status, Timestamp::now()), shown = true);
            let _ = write!(context.output.err, "\r\x1b[K{line}").and_then(|()| context.output.err.flush());
        }
    }
    if shown {
        let _ = context.output.err.write_all(b"\r\x1b[K").and_then(|()| context.output.err.flush());
    }
    Ok(status)
}

/// The guard's own words, or the journal's once it is over.
pub fn look(context: &Context<'_, '_>, (home, kept): (&Home, &Kept)) -> Result<Status, Failure> {
    if let Ok(Answer::Status(status)) = call(&kept.socket(), &Ask::Status) {
        return Ok(status);
    }
    let now = home.find(&kept.read.told.begun.id).map_err(home::refused)?;
    let told = &now.read.told;
    if told.phase.is_pending() && kept.is_abandoned() {
        // Its guard died under way: another one takes it back.
        match asked(context, (home, kept), &Ask::Status)? {
            Answer::Status(status) => return Ok(status),
            Answer::Refused { why } => return Err(Failure::new(Exit::Refused, why)),
        }
    }
    Ok(Status::of(told))
}

pub fn report(context: &mut Context<'_, '_>, status: &Status) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.plain_object("change")?;
        object.fields(status)?;
        return Ok(object.end()?);
    }
    let lines = words(status, Timestamp::now());
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    Ok(())
}

/// Every change there is, the last first.
pub fn changes(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("changes")?;
    let mut rows = Vec::new();
    let mut unread = Vec::new();
    for home in home::all(context) {
        for kept in home.all().map_err(home::refused)? {
            match kept {
                Ok(kept) => {
                    let asked = kept.read.told.phase.is_pending().then(|| call(&kept.socket(), &Ask::Status));
                    let drift = match asked {
                        Some(Ok(Answer::Status(status))) => status.drift,
                        _ => None,
                    };
                    rows.push(ChangeRow::of(&kept.read.told, drift));
                }
                Err(error) => unread.push(error.to_string()),
            }
        }
    }
    rows.reverse();
    if context.output.json {
        let mut object = context.plain_object("changes")?;
        object.list("rows", rows.iter())?;
        object.end()?;
    } else {
        list(context, &rows)?;
    }
    unread.iter().for_each(|error| context.output.say(error));
    Ok(if unread.is_empty() { Exit::Done } else { Exit::BadInput })
}

fn list(context: &mut Context<'_, '_>, rows: &[ChangeRow]) -> Result<(), Failure> {
    if rows.is_empty() {
        writeln!(context.output.out, "no changes: nothing was applied with this state folder")?;
        return Ok(());
    }
    for row in rows {
        let waits = row.deadline.as_ref().map(|deadline| super::told::until(deadline, Timestamp::now()));
        let what = [
            Some(row.state.title().to_owned()),
            waits,
            row.why.clone(),
            row.drift.clone(),
            (!row.left.is_empty()).then(|| format!("{} parts left as they were", row.left.len())),
        ];
        let what: Vec<String> = what.into_iter().flatten().collect();
        let time = row.time.get(..19).unwrap_or(&row.time).replace('T', " ");
        let line = format!(
            "{time}  {}  {} writes by {} to {}: {}",
            row.user,
            row.writes,
            row.engine,
            row.source,
            what.join("; ")
        );
        let pairs = [(row.id.as_str(), line)];
        write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    }
    Ok(())
}
