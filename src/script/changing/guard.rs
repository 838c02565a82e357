//! `guard`: the process that keeps changes, apart from whoever asked for them.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::args::GuardArgs;
use super::home;
use crate::change::{Direct, Door, Driver, Errand, Guard, Home, Keeping, Kept, Opensm, Phase, Plan, Told};
use crate::script::context::Context;
use crate::script::open::Reach;
use crate::script::{Exit, Failure, plan};
use crate::source::Right;

/// How long a guard waits for whoever began the change to let go of it.
const HANDED_OVER: Duration = Duration::from_secs(5);

pub fn run(context: &mut Context<'_, '_>, args: &GuardArgs) -> Result<Exit, Failure> {
    context.refuse_filter("guard")?;
    // A terminal that closes takes its session with it; this is one of its own. A leader of one has it already.
    let _ = rustix::process::setsid();
    match &args.begin {
        Some(id) => begin(context, id),
        None => take_over(context),
    }
}

fn begin(context: &mut Context<'_, '_>, id: &str) -> Result<Exit, Failure> {
    let (home, kept) = home::find(context, id)?;
    let since = Instant::now();
    let keeping = loop {
        match kept.keep().map_err(home::refused)? {
            Some(keeping) => break keeping,
            None if since.elapsed() > HANDED_OVER => {
                return Err(Failure::new(Exit::Refused, format!("FD-7984: change {id} has a guard already")));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let told = keep(context, &home, &kept, keeping, Errand::Apply)?;
    Ok(super::told::exit(told.phase))
}

/// One change after the other: of one fabric there is one at a time.
fn take_over(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let mut worst = Exit::Done;
    let mut taken = 0;
    for home in home::all(context) {
        for kept in home.pending().map_err(home::refused)? {
            let kept = match kept {
                Ok(kept) => kept,
                Err(error) => {
                    context.output.say(&error.to_string());
                    worst = Exit::RollbackIncomplete;
                    continue;
                }
            };
            if !kept.is_abandoned() {
                continue;
            }
            let Some(keeping) = kept.keep().map_err(home::refused)? else { continue };
            taken += 1;
            match keep(context, &home, &kept, keeping, Errand::TakeOver) {
                Ok(told) if told.phase == Phase::Incomplete => worst = Exit::RollbackIncomplete,
                Ok(_) => {}
                Err(Failure { message, .. }) => {
                    message.iter().for_each(|message| context.output.say(message));
                    worst = Exit::RollbackIncomplete;
                }
            }
        }
    }
    if taken == 0 && worst == Exit::Done {
        context.output.say("no change is pending without a guard");
    }
    Ok(worst)
}

/// Keeps one change to its end.
fn keep(
    context: &mut Context<'_, '_>,
    home: &Home,
    kept: &Kept,
    keeping: Keeping,
    errand: Errand,
) -> Result<Told, Failure> {
    let failed = |error: crate::change::JournalError| Failure::new(Exit::Failed, error.to_string());
    // What the journal says now: somebody may have kept it until a moment ago.
    let (journal, read) = kept.journal().map_err(failed)?;
    if !read.told.phase.is_pending() {
        return Ok(read.told);
    }
    let begun = &read.told.begun;
    let plan: Plan = plan::read(&kept.plan())?;
    let mkey_file = context.globals.mkey_file.clone().or_else(|| begun.mkey_file.as_ref().map(PathBuf::from));
    let reach = Reach { at: None, mkey_file, traps: false, ..context.reach() };
    // It was asked for when the change was begun, and undoing it needs no new leave.
    let right = Right { asked: true, opted_in: context.config.fabrics.clone() };
    let (sender, orders) = channel();
    let door = Door::open(&kept.socket(), sender);
    let mut actuator = context.outside.actuator(&begun.source, &reach, &right)?;
    let (mut road, mut direct);
    let driver: &mut dyn Driver = match begun.opensm.clone() {
        Some(site) => {
            road = Opensm::new(actuator, &plan, site);
            &mut road
        }
        None => {
            direct = Direct(actuator.as_mut());
            &mut direct
        }
    };
    let mut say = |line: &str| context.output.say(&format!("{} {line}", Timestamp::now()));
    if let Err(error) = &door {
        say(&format!("nobody can ask for the change: its socket cannot be made: {error}"));
    }
    let guard = Guard {
        plan: &plan,
        journal,
        told: read.told.clone(),
        home: Some(home),
        driver,
        orders: &orders,
        now: &Timestamp::now,
        say: &mut say,
    };
    let told = guard.keep(errand);
    drop(orders);
    if let Ok(door) = &door {
        door.see_out();
    }
    if !told.phase.is_pending() {
        kept.end();
    }
    drop(keeping);
    Ok(told)
}
