//! `apply`: exactly what a plan says, by a process of its own that takes it back unless somebody confirms.

use std::io::BufRead;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use jiff::Timestamp;

use super::args::{ApplyArgs, Via};
use super::told::{exit, id_of, user};
use super::{accept, home, pending};
use crate::access::{Actuator, Part, Surveyor, Unwatched, Wanted};
use crate::change::{
    Answer, Ask, Begun, Direct, Errand, Guard, Journal, MemoryDisk, Opensm, OpensmSite, Order, Phase, Plan,
    Record, Status, Told, wrong,
};
use crate::script::context::Context;
use crate::script::table::write_pairs;
use crate::script::{Exit, Failure, plan};
use crate::session::{Fit, Judged, Look, Sent, counted, fit, judge};
use crate::source::{Right, socket_of};

pub fn run(context: &mut Context<'_, '_>, args: &ApplyArgs) -> Result<Exit, Failure> {
    context.refuse_filter("apply")?;
    let (plan, text) = plan::read_with_text(&args.plan)?;
    let source = context.named_source()?.to_owned();
    // Whether it may be written is known before anything is looked at for long.
    let right = Right { asked: context.globals.allow_write, opted_in: context.config.fabrics.clone() };
    let mut actuator = context.outside.actuator(&source, &context.reach(), &right)?;
    let lanes = plan::knows_lanes(&plan);
    let wanted = Wanted { tables: true, lanes, ..Wanted::default() };
    let observed = actuator.look(wanted, &mut Unwatched)?;
    let look = context.look_of(&source, observed)?;
    let judged = match fit(&look, &plan) {
        Fit::Stale(stale) => {
            let what = format!("FD-7986: the plan is stale: {}; make it again", stale.words());
            return Err(Failure::new(Exit::Stale, what));
        }
        Fit::Applied => {
            context.output.say("nothing to do: all that the plan writes stands there already");
            return Ok(Exit::Done);
        }
        fit @ Fit::AsMade => judge(&look, &plan, &fit, (false, Sent::Unsaid))?,
    };
    let found = accept::findings(&judged, &plan);
    accept::refuse(&found, &args.accept)?;
    let own = context.outside.is_own_simulator(&source);
    refuse_stdin_key(context, own)?;
    let simulated = source.starts_with("sim:");
    refuse_beside(args, &look, simulated)?;
    refuse_unreachable(actuator.as_mut(), &plan)?;
    if let Some(site) = site(args) {
        check_opensm(context, actuator, &plan, site)?;
        actuator = context.outside.actuator(&source, &context.reach(), &right)?;
    }
    ask_first(context, args, (&plan, &judged), (&look, own))?;
    let begun = begun(context, args, &plan, &look)?;
    if own {
        return in_process(context, args, &plan, (begun, actuator.as_mut()));
    }
    drop(actuator);
    let home = home::of_source(context, simulated)?;
    let (kept, keeping) = home.begin(begun, &text).map_err(home::refused)?;
    let id = kept.read.told.begun.id.clone();
    // The guard waits for it; were this process to die in between, nothing is written, and that is what is found.
    drop(keeping);
    home::start_guard(context, &home, &["--begin", &id], &kept.log())?;
    let first = Status::of(&kept.read.told);
    let status = pending::until(context, (&home, &kept), first, |status| {
        matches!(status.phase, Phase::Applied) || !status.phase.is_pending()
    })?;
    let status = match args.wait && status.phase.is_pending() {
        true => pending::until(context, (&home, &kept), status, |status| !status.phase.is_pending())?,
        false => status,
    };
    pending::report(context, &status)?;
    Ok(exit(status.phase))
}

/// The guard reads the keys itself, and so does the one after it.
fn refuse_stdin_key(context: &Context<'_, '_>, own: bool) -> Result<(), Failure> {
    let stdin = context.reach().mkey_file.is_some_and(|file| file.as_os_str() == "-");
    if own || !stdin {
        return Ok(());
    }
    Err(Failure::usage(
        "FD-7991: the guard of a change reads the M_Keys itself, later too: give a file with --mkey-file",
    ))
}

/// What the journal begins with.
fn begun(context: &Context<'_, '_>, args: &ApplyArgs, plan: &Plan, look: &Look) -> Result<Begun, Failure> {
    let source = context.named_source()?;
    let simulator = match source.strip_prefix("sim:") {
        Some(words) => socket_of(words)?.map(|(path, _)| path),
        None => None,
    };
    let full = |path: std::path::PathBuf| std::fs::canonicalize(&path).unwrap_or(path).display().to_string();
    let simulator = simulator.map(full);
    let at = source.split_once(",at=").map_or_else(String::new, |(_, at)| format!(",at={at}"));
    let mut begun = Begun {
        time: Timestamp::now().to_string(),
        user: user(),
        pid: std::process::id(),
        // Another process opens it again, in another folder.
        source: simulator.as_ref().map_or_else(|| source.to_owned(), |path| format!("sim:{path}{at}")),
        via: match args.via {
            Via::Direct => "direct".to_owned(),
            Via::Opensm => "opensm".to_owned(),
        },
        opensm: site(args),
        window_s: args.confirm_within.as_secs(),
        plan: plan.hash.clone(),
        engine: plan.engine.clone(),
        accepted: args.accept.clone(),
        mkey_file: context.reach().mkey_file.map(full),
        switches: look.fabric().switches().map(|(_, node)| node.guid().to_string()).collect(),
        simulator,
        lost_before: wrong(look.fabric(), &look.observation.tables, plan).pairs,
        writes: plan.writes.clone(),
        ..Begun::default()
    };
    begun.id = id_of(&begun);
    Ok(begun)
}

/// Where the OpenSM is that the change goes through.
fn site(args: &ApplyArgs) -> Option<OpensmSite> {
    let usual = OpensmSite::default();
    let conf = args.opensm_conf.clone().unwrap_or_else(|| usual.conf.clone());
    let conf = std::path::absolute(&conf).unwrap_or(conf);
    (args.via == Via::Opensm).then_some(OpensmSite { conf, console: args.opensm_console, ..usual })
}

/// What of OpenSM stands against this plan, and what one should know of it.
fn check_opensm(
    context: &mut Context<'_, '_>,
    surveyor: Box<dyn Actuator>,
    plan: &Plan,
    site: OpensmSite,
) -> Result<(), Failure> {
    let checked = Opensm::new(surveyor, plan, site).check();
    checked.remarks.iter().for_each(|remark| context.output.say(remark));
    if checked.refusals.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = checked.refusals.iter().map(ToString::to_string).collect();
    Err(Failure::new(Exit::Refused, words.join("\n")))
}

/// OpenSM never reads tables back, and would mix what it knows with what was written.
fn refuse_beside(args: &ApplyArgs, look: &Look, simulated: bool) -> Result<(), Failure> {
    let direct = args.via == Via::Direct;
    match look.manager().filter(|_| direct && !simulated && !args.beside_manager) {
        None => Ok(()),
        Some(manager) => Err(Failure::new(
            Exit::Refused,
            format!(
                "FD-7987: the subnet manager {manager} is in charge: it does not read tables back, and writes over this change \
                 at its next handover or reroute; --beside-manager does it all the same"
            ),
        )),
    }
}

/// A port that is disabled must not be on the only way to a switch that is written.
fn refuse_unreachable(surveyor: &mut (impl Surveyor + ?Sized), plan: &Plan) -> Result<(), Failure> {
    let steps: Vec<_> = plan.writes.iter().filter_map(|write| write.step().ok()).collect();
    let ports = steps.iter().filter_map(|step| match step.slot.part {
        Part::Port(port) => Some((step.slot.switch, port)),
        _ => None,
    });
    let lost = surveyor.keep_off(&ports.collect());
    match lost.iter().find(|guid| steps.iter().any(|step| step.slot.switch == **guid)) {
        None => Ok(()),
        Some(guid) => Err(Failure::new(
            Exit::Refused,
            format!(
                "FD-7988: without the ports that the plan disables there is no way left to switch {guid}"
            ),
        )),
    }
}

/// Says what will be done, and asks whoever sits before a terminal.
fn ask_first(
    context: &mut Context<'_, '_>,
    args: &ApplyArgs,
    (plan, judged): (&Plan, &Judged),
    (look, own): (&Look, bool),
) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    if !context.asks {
        return Err(Failure::new(
            Exit::Refused,
            "FD-7989: nobody is there to say yes before it is written; --yes says so beforehand (it still has to be confirmed)",
        ));
    }
    let switches: std::collections::BTreeSet<&str> =
        plan.writes.iter().map(|write| write.switch.as_str()).collect();
    let mut lines = vec![
        (
            "writes",
            format!(
                "{} to {}, of plan {}",
                counted(plan.writes.len(), "part", "parts"),
                counted(switches.len(), "switch", "switches"),
                args.plan.display()
            ),
        ),
        ("to", look.source.clone()),
        ("moves", format!("{} pairs to other paths", plan.impact["moved_pairs"])),
    ];
    lines.extend(judged.transition.lines());
    lines.push((
        "accepted",
        if args.accept.is_empty() { "nothing".to_owned() } else { args.accept.join(", ") },
    ));
    lines.push((
        "back",
        match own {
            true => "this simulator lives in this process, and the change ends with it".to_owned(),
            false => format!(
                "rolled back by itself unless it is confirmed within {}s",
                args.confirm_within.as_secs()
            ),
        },
    ));
    for (name, words) in lines {
        context.output.say(&format!("{name:<12}{words}"));
    }
    let _ = write!(context.output.err, "fabdeck: write this now? Type yes: ")
        .and_then(|()| context.output.err.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if answer.trim() == "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Refused, "FD-7990: it was not confirmed with yes; nothing was written")),
    }
}

/// A simulator of this process: the change ends with it.
fn in_process(
    context: &mut Context<'_, '_>,
    args: &ApplyArgs,
    plan: &Plan,
    (begun, actuator): (Begun, &mut dyn Actuator),
) -> Result<Exit, Failure> {
    let mut journal = Journal::on("journal in memory", Box::new(MemoryDisk));
    let record = Record::Begun(Box::new(begun.clone()));
    journal.keep(&record).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let Some(told) = Told::of(&[record]) else { return Ok(Exit::Bug) };
    let (sender, orders) = channel();
    if !args.wait {
        // Nobody could confirm it later.
        let (reply, _) = channel();
        std::thread::spawn(move || confirm_once_applied(&sender, &reply));
    }
    let (verbose, mut said) = (context.output.verbose, Vec::new());
    let mut driver = Direct(actuator);
    let guard = Guard {
        plan,
        journal,
        told,
        home: None,
        driver: &mut driver,
        orders: &orders,
        now: &Timestamp::now,
        say: &mut |line| said.push(line.to_owned()),
    };
    let told = guard.keep(Errand::Apply);
    said.iter().filter(|_| verbose).for_each(|line| context.output.say(line));
    let status = Status::of(&told);
    if status.phase == Phase::Confirmed {
        let what = [(
            "applied",
            format!(
                "{} writes, read back; the simulator ends with this command, and the change with it",
                status.writes
            ),
        )];
        if context.output.json {
            pending::report(context, &status)?;
        } else {
            write_pairs(context.output.out, (context.output.paint, context.output.page), &what)?;
        }
    } else {
        pending::report(context, &status)?;
    }
    Ok(exit(status.phase))
}

fn confirm_once_applied(orders: &Sender<Order>, _reply: &Sender<Answer>) {
    loop {
        let (reply, answer) = channel();
        if orders.send(Order { ask: Ask::Confirm { user: user() }, reply }).is_err() {
            return;
        }
        match answer.recv() {
            Ok(Answer::Refused { .. }) => std::thread::sleep(Duration::from_millis(5)),
            _ => return,
        }
    }
}
