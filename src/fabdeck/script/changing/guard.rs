//! `guard`: the process that keeps changes, apart from whoever asked for them.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

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
    AccessPolicy, Ask, Begun, Direct, Door, Driver, Errand, Guard, Home, Keeping, Kept, OUT_OF_REACH, Opensm,
    Order, Phase, Plan, Refusals, Reopened, Status, SystemClocks, Told, is_listening, make_socket_folder,
    socket_in,
};
use fabdeck_live::Right;

/// How long a guard waits for whoever began the change to let go of it.
const HANDED_OVER: Duration = Duration::from_secs(5);

/// How long a guard that is to end may take to finish what it writes or takes back.
const FINISH_TIMEOUT: Duration = Duration::from_secs(600);

/// What the address of a socket has room for.
const SOCKET_MOST: usize = 107;

pub fn run(context: &mut Context<'_, '_>, args: &GuardArgs) -> Result<Exit, Failure> {
    context.refuse_filter("guard")?;
    // A terminal that closes takes its session with it; this is one of its own. A leader of one has it already.
    let _ = rustix::process::setsid();
    // What it makes is its owner's alone, whatever the mask of the caller is.
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

/// Tells the guard of every pending change that goes through OpenSM by which process it is told from now on; one whose guard
/// is gone gets another.
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
    let keeping = kept_soon(&kept)?.ok_or_else(has_one)?;
    // Locks do not keep guards apart everywhere: file systems of a network may have one for each machine.
    if is_listening(&kept.socket()) {
        return Err(has_one());
    }
    let told = keep(context, &home, &kept, keeping, errand)?;
    Ok(super::told::exit(told.phase))
}

/// The right to keep a change: whoever looks whether anybody keeps it holds it for a moment too.
fn kept_soon(kept: &Kept) -> Result<Option<Keeping>, Failure> {
    let since = Instant::now();
    loop {
        let keeping = kept.keep().map_err(home::refused)?;
        if keeping.is_some() || since.elapsed() > HANDED_OVER {
            return Ok(keeping);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The first of this user's that is found is kept here, and each of the others by a guard of its own: one may have to wait for long, for its
/// window or for its fabric.
fn take_over(context: &mut Context<'_, '_>, gone: Option<&str>) -> Result<Exit, Failure> {
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let Abandoned { here, elsewhere, mut worst } = abandoned(context, means, gone);
    let (mut own, mut started) = (None, false);
    for (home, kept) in here {
        // Whoever goes on to look after another machine's changes keeps none.
        let taken = match own.is_none() && elsewhere.is_empty() && kept.is_own() {
            true => kept_soon(&kept).map(|keeping| {
                let keeping = keeping.filter(|_| !is_listening(&kept.socket()));
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
        // A guard that is told to end leaves the change to the next one.
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

/// Changes that are pending and have no guard.
struct Abandoned {
    /// Those that may have one of this user on this machine.
    here: Vec<(Home, Kept)>,
    /// Those of the machine that is said to be gone.
    elsewhere: Vec<(Home, Kept)>,
    /// What cannot be read was said, and is the worst there is.
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

/// What is wrong with a change that another process keeps, or seems to, beyond its deadline.
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

/// Keeps one change to its end.
fn keep(
    context: &mut Context<'_, '_>,
    home: &Home,
    kept: &Kept,
    keeping: Keeping,
    errand: Errand,
) -> Result<Told, Failure> {
    let failed = |error: fabdeck_change::JournalError| Failure::new(Exit::Failed, error.to_string());
    // What the journal says now: somebody may have kept it until a moment ago.
    let (journal, read) = kept.journal().map_err(failed)?;
    if !read.told.phase.is_pending() {
        return Ok(read.told);
    }
    let begun = &read.told.begun;
    let (plan, trouble) = plan_of(kept);
    let (reach, right) = way_of(context, begun);
    let stop = context.outside.stop();
    let (sender, orders) = channel();
    let means = Means { outside: context.outside, given: &context.given() };
    let (door, remark) = open_door(means, (home, kept), begun, sender);
    let second = home::start_guard(means, home, &["--second", &begun.id], &kept.log());
    let (outside, source) = (context.outside, begun.source.clone());
    let mut way = Reopened::new(|| {
        let opened = outside.actuator(&source, &reach, &right);
        opened.map_err(|failure| failure.message.unwrap_or_default())
    });
    let (mut road, mut direct);
    let driver: &mut dyn Driver = match begun.opensm.clone() {
        Some(site) => {
            road = Opensm::new(Box::new(way), &plan, site);
            &mut road
        }
        None => {
            direct = Direct(&mut way);
            &mut direct
        }
    };
    let mut say = |line: &str| context.output.say(&format!("{} {line}", Timestamp::now()));
    let deaf = door.as_ref().err().map(|error| no_door(kept, error));
    let alone = second.err().and_then(|failure| failure.message);
    remark.iter().chain(&deaf).chain(&alone).for_each(|line| say(line));
    let guard = Guard {
        plan: &plan,
        journal,
        told: read.told.clone(),
        home: Some(home),
        driver,
        orders: &orders,
        clock: &SystemClocks,
        say: &mut say,
        patience: OUT_OF_REACH,
        // Nothing is written that nobody could confirm. What is written already is kept all the same, and taken back.
        trouble: trouble.or(deaf),
        stop: &|| stop.is_asked(),
    };
    // What is being written or taken back is brought to its end first.
    stop.heed_within(FINISH_TIMEOUT);
    let told = guard.keep(errand);
    if let Ok(door) = &door {
        door.close(orders, &Status::of(&told));
    }
    if !told.phase.is_pending() {
        kept.end();
    }
    drop(keeping);
    if told.phase.is_pending() && stop.is_asked() {
        start_successor(context, home, kept);
    }
    Ok(told)
}

/// How the fabric of a change is reached, and the right to write to it: it was given when the change was begun, and undoing it
/// needs no new one, whatever this process is configured with.
pub(super) fn way_of(context: &Context<'_, '_>, begun: &Begun) -> (Reach, Right) {
    let mkey_file = context.globals.mkey_file.clone().or_else(|| begun.mkey_file.as_ref().map(PathBuf::from));
    let reach = Reach { at: None, mkey_file, traps: false, ..context.reach() };
    let switches = begun.switches.iter().filter_map(|guid| guid.parse().ok()).collect();
    (reach, Right { asked: true, opted_in: context.config.fabrics.clone(), begun: switches })
}

/// The plan that was begun. The journal alone is enough to take it back.
fn plan_of(kept: &Kept) -> (Plan, Option<String>) {
    match kept.plan_begun() {
        Ok(plan) => (plan, None),
        Err(trouble) => (kept.plan_of_journal(), Some(trouble)),
    }
}

/// A guard that is ended by a signal leaves the change to another one.
fn start_successor(context: &mut Context<'_, '_>, home: &Home, kept: &Kept) {
    let means = Means { outside: context.outside, given: &context.given() };
    let started = home::start_keeper(means, home, kept);
    let words = match started {
        Ok(remark) => remark,
        Err(Failure { message, .. }) => message,
    };
    words.iter().for_each(|words| context.output.say(words));
}

/// Opens the guard's socket where other users reach it, or else in the folder of the change, with a remark.
fn open_door(
    means: Means<'_>,
    (home, kept): (&Home, &Kept),
    begun: &Begun,
    orders: Sender<Order>,
) -> (std::io::Result<Door>, Option<String>) {
    let policy = || AccessPolicy {
        begun: begun.clone(),
        rights: means.given.rights.clone(),
        refusals: Refusals::to_trail(Some(home), &begun.id),
        asked_by_others: AtomicBool::new(false),
    };
    let public = home::socket_folder(means, home.folder()).map(|folder| {
        let socket = socket_in(&folder, &begun.id);
        let opened = make_socket_folder(&folder).and_then(|()| Door::open(&socket, orders.clone(), policy()));
        opened.and_then(|door| kept.set_socket(&socket).map(|()| door))
    });
    let remark = match public {
        Some(Ok(door)) => return (Ok(door), None),
        Some(Err(error)) => Some(format!("only the owner of the state folder can ask this guard: {error}")),
        None => None,
    };
    let socket = kept.usual_socket();
    let door = Door::open(&socket, orders, policy());
    (door.and_then(|door| kept.set_socket(&socket).map(|()| door)), remark)
}

/// Why nobody can ask this guard anything.
fn no_door(kept: &Kept, error: &std::io::Error) -> String {
    let socket = kept.usual_socket();
    let long = match socket.as_os_str().len() > SOCKET_MOST {
        true => {
            format!("; no socket's path may have more than {SOCKET_MOST} bytes: take a shorter --state-dir")
        }
        false => String::new(),
    };
    let socket = socket.display();
    format!(
        "FD-7995: nobody can confirm the change or roll it back: the socket {socket} of its guard cannot be made: {error}{long}"
    )
}
