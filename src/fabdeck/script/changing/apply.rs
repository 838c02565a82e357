//! `apply`: writes exactly what a plan says. A guard process writes it, and rolls it back if it is not confirmed.

use std::io::BufRead;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::args::{ApplyArgs, Via, WhenSilent};
use super::carried::road;
use super::means::Means;
use super::own::in_memory;
use super::prepared::{Prepared, begin, prepare, said_yes};
use super::told::{exit_of, user};
use super::{accept, pending};
use crate::script::context::Context;
use crate::script::table::write_pairs;
use crate::script::{Exit, Failure, plan};
use crate::session::Judged;
use crate::session::interactive::Acceptance;
use crate::session::{counted, devices, digits_in_groups, migration_lines, phase_lines, span_words};
use fabdeck_change::{
    Answer, Ask, Begun, Direct, Errand, Guard, OUT_OF_REACH, Order, Phase, Plan, Staged, Status, SystemClocks,
};
use fabdeck_mad::access::{Actuator, Unwatched};

pub fn run(context: &mut Context<'_, '_>, args: &ApplyArgs) -> Result<Exit, Failure> {
    context.refuse_filter("apply")?;
    let read = plan::read_with_text(&args.plan)?;
    if read.0.phases.is_none() && args.unanswered != WhenSilent::Stop {
        context
            .output
            .say("this plan has no phases, so it has no use for --unanswered: nobody is waited for");
    }
    let writes = read.0.writes.len();
    let source = context.named_source()?.to_owned();
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let opensm = args.via == Via::Opensm;
    let mut road = road(opensm, args.opensm_conf.clone(), args.opensm_console, args.beside_manager);
    if let (Some(site), Some(process)) = (&mut road.site, &args.opensm_process) {
        site.name_process(process);
    }
    let Some(mut ready) = prepare(means, &source, read, &road, &mut Unwatched)? else {
        pending::report_unchanged(context, writes)?;
        return Ok(Exit::Done);
    };
    if let Err(refused) = accept::refuse(&ready.found, &args.accept) {
        say_staged(context, &ready.judged, &args.accept);
        return Err(refused);
    }
    ready.refuse(means, &road, &mut |remark| context.output.say(remark))?;
    ask_first(context, args, &ready)?;
    let unanswered = args.unanswered.unanswered();
    let terms = Acceptance { accepted: args.accept.clone(), window: args.confirm_within, unanswered };
    let begun = said_yes(ready.begun(means, &road)?, &terms);
    let Prepared { plan, own, simulated, text, actuator, .. } = ready;
    if let Some(mut actuator) = actuator.filter(|_| own) {
        return in_process(context, args, &plan, (begun, actuator.as_mut()));
    }
    let (home, kept) = begin(means, simulated, (begun, &text), &mut |remark| context.output.say(remark))?;
    let first = Status::of(&kept.read.told);
    let status = pending::until(context, means, (&home, &kept), first, |status| {
        matches!(status.phase, Phase::Applied) || !status.phase.is_pending()
    })?;
    let status = match args.wait && status.phase.is_pending() {
        true => pending::until(context, means, (&home, &kept), status, |status| !status.phase.is_pending())?,
        false => status,
    };
    pending::report(context, &status)?;
    Ok(exit_of(&status))
}

/// Prints the commands that replace a plan which is unsafe under traffic.
fn say_staged(context: &mut Context<'_, '_>, judged: &Judged, accepted: &[String]) {
    let staged =
        judged.transition.staged.iter().filter(|_| !accepted.iter().any(|name| name == "transition"));
    for (name, words) in staged.flat_map(Staged::lines) {
        context.output.say_whole(&format!("{name:<9}{words}"));
    }
}

/// Prints what will be written and asks for confirmation on a terminal.
fn ask_first(context: &mut Context<'_, '_>, args: &ApplyArgs, ready: &Prepared) -> Result<(), Failure> {
    let Prepared { plan, judged, look, own, .. } = ready;
    if args.yes {
        // Without the question, the output still records which hosts and pairs are affected.
        let moved =
            [cut_off_line(judged).into_iter().collect(), migration_lines(plan), phase_lines(plan)].concat();
        moved.iter().for_each(|(label, words)| context.output.say(&format!("{label}: {words}")));
        ready.unregistered.iter().for_each(|why| context.output.say(&format!("others: {}", unseen(why))));
        return Ok(());
    }
    if !context.asks {
        return Err(Failure::new(
            Exit::Refused,
            "FD-7989: nobody is there to say yes before it is written; --yes says so beforehand (it still has to be confirmed)",
        ));
    }
    let mut lines = vec![
        (
            "writes",
            format!(
                "{} to {}, of plan {}",
                counted(plan.writes.len(), "part", "parts"),
                devices(plan.written()),
                args.plan.display()
            ),
        ),
        ("to", look.source.clone()),
        ("moves", format!("{} pairs to other paths", digits_in_groups(&plan.impact["moved_pairs"]))),
    ];
    lines.extend(cut_off_line(judged));
    lines.extend(migration_lines(plan));
    lines.extend(phase_lines(plan));
    lines.extend(judged.transition.lines());
    lines.push((
        "accepted",
        if args.accept.is_empty() { "nothing".to_owned() } else { args.accept.join(", ") },
    ));
    let alone = ready.unregistered.as_ref().map(|why| ("others", unseen(why)));
    lines.extend(alone);
    lines.extend(context.outside.guard_may_end_with().filter(|_| !own).map(|words| ("guard", words)));
    lines.push((
        "back",
        match own {
            true => "this simulator lives in this process, and the change ends with it".to_owned(),
            false => format!(
                "rolled back by itself unless it is confirmed within {}",
                span_words(args.confirm_within.as_secs() as i64)
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

fn unseen(why: &str) -> String {
    format!("other machines do not see this change, and may write beside it: {why}")
}

fn cut_off_line(judged: &Judged) -> Option<(&'static str, String)> {
    judged.cut_off.words().map(|words| ("cuts off", words))
}

/// Applies a plan to a simulator of this process; the change ends with the process.
fn in_process(
    context: &mut Context<'_, '_>,
    args: &ApplyArgs,
    plan: &Plan,
    (begun, actuator): (Begun, &mut dyn Actuator),
) -> Result<Exit, Failure> {
    let (journal, told) = in_memory(begun)?;
    let (sender, orders) = channel();
    if !args.wait {
        // A later command cannot confirm the change, so it is confirmed at once.
        std::thread::spawn(move || confirm_once_applied(&sender));
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
        clock: &SystemClocks,
        say: &mut |line| said.push(line.to_owned()),
        patience: OUT_OF_REACH,
        trouble: None,
        stop: &|| false,
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
    Ok(exit_of(&status))
}

fn confirm_once_applied(orders: &Sender<Order>) {
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
