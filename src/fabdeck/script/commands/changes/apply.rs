//! `apply`: writes exactly what a plan says. A guard process writes it, and rolls it back if it is not confirmed.

use std::io::BufRead;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::args::{DriverChoice, SilentHostChoice, opensm_process};
use super::{decision_commands, schemas};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::{count_words, device_words};
use crate::operations::changes::change_control::driver_options;
use crate::operations::changes::change_exit::exit_of_status;
use crate::operations::changes::change_row::span_words;
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::{PreparedChange, accept_now, begin_change, prepare};
use crate::operations::changes::refusal_audit::audit_source_refusal;
use crate::operations::changes::{acceptance, in_process};
use crate::operations::lanes::migrations::migration_lines;
use crate::operations::plans::phases::phase_lines;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::PlanVerdict;
use crate::script::argument_values::window;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::table::write_pairs;
use fabdeck_change::{BeginRecord, ChangePhase, ChangeStatus, Plan, StagedTransition};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_mad::access::{Actuator, NoObserver};

pub const APPLY: CommandEntry = CommandEntry::new(
    "apply",
    "Write exactly what a plan says, and roll it back unless it is confirmed",
    "The fabric has to be the one that the plan is for (exit code 3 otherwise), and the plan has to be \
     without findings, or with those that --accept names (4). Everything is in a journal before the first \
     write. Every part is compared with what the plan found there, written, and read back. The guard, a \
     process of its own, does that and holds the deadline. It rolls the change back unless it is confirmed in \
     time, even if this terminal is closed. A fabric that is not simulated needs an opt-in: --allow-write, \
     and an entry that `sources --identity` prints. docs/safety.md has the guarantees.",
)
.needs_fabric()
.danger(Danger::WritesFabric)
.examples(&[
    "fabdeck --source umad --allow-write apply reroute.plan",
    "fabdeck --source sim:./lab.sock apply reroute.plan --yes --confirm-within 2m",
])
.runs(&CommandFunction(apply_with_audit))
.json(&[JsonSchema::answer("change", schemas::change).without_source().titled("apply, confirm, extend and rollback")]);

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan, as `route` and other commands write it with -o
    pub plan: PathBuf,
    /// Driver that writes to the fabric
    #[arg(long, value_name = "DRIVER", value_enum, default_value_t = DriverChoice::Direct)]
    pub via: DriverChoice,
    /// Window of the change: without confirmation it is rolled back afterwards; 30s to 24h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = window)]
    pub confirm_within: Duration,
    /// Do not ask before writing; the change still has to be confirmed
    #[arg(long)]
    pub yes: bool,
    /// Wait until the change is confirmed (exit code 0) or rolled back (5)
    #[arg(long)]
    pub wait: bool,
    /// Findings that are accepted, by name, separated by commas: unreachable, loop, cycle, lanes, transition
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// For plans in five phases: what to do when hosts do not confirm that they left the base LIDs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = SilentHostChoice::Stop)]
    pub unanswered: SilentHostChoice,
    /// With --via opensm: OpenSM's configuration file (default: /etc/opensm/opensm.conf)
    #[arg(long, value_name = "FILE")]
    pub opensm_conf: Option<PathBuf>,
    /// With --via opensm: address of OpenSM's console, as 127.0.0.1:10000; without one OpenSM gets SIGHUP
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub opensm_console: Option<SocketAddr>,
    /// With --via opensm: OpenSM's process, by number or pid file (default: the only live process of this user called
    /// opensm)
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process)]
    pub opensm_process: Option<String>,
    /// With --via direct: write although a subnet manager is in charge. The manager does not read tables back and may
    /// overwrite them at any time
    #[arg(long)]
    pub beside_manager: bool,
}

fn run(context: &mut Context<'_, '_>, args: &ApplyArgs) -> Result<Exit, Failure> {
    let read = plan_file::read_with_text(&args.plan)?;
    if read.0.phases.is_none() && args.unanswered != SilentHostChoice::Stop {
        context.output.print_message("this plan has no phases, so --unanswered has no effect");
    }
    let writes = read.0.writes.len();
    let source = context.env().named_source()?.to_owned();
    let means = context.env();
    means.given.rights_refused.iter().for_each(|why| context.output.print_message(why));
    let opensm = args.via == DriverChoice::Opensm;
    let mut road = driver_options(opensm, args.opensm_conf.clone(), args.opensm_console, args.beside_manager);
    if let (Some(site), Some(process)) = (&mut road.site, &args.opensm_process) {
        site.name_process(process);
    }
    let mut ready = match prepare(means, &source, read, &road, &mut NoObserver)? {
        Ok(ready) => ready,
        Err(nothing) => {
            decision_commands::report_unchanged(context, writes, nothing.warning())?;
            return Ok(Exit::Done);
        }
    };
    if let Err(refused) = acceptance::refuse_unaccepted(&ready.found, &args.accept) {
        print_staged_commands(context, &ready.judged, &args.accept);
        return Err(refused);
    }
    ready.refuse(means, &road, &mut |remark| context.output.print_message(remark))?;
    ask_for_confirmation(context, args, &ready)?;
    let unanswered = args.unanswered.unanswered();
    let terms = Acceptance { accepted: args.accept.clone(), window: args.confirm_within, unanswered };
    let begun = accept_now(ready.begin_record(means, &road)?, &terms);
    let PreparedChange { plan, own, simulated, text, actuator, .. } = ready;
    if let Some(mut actuator) = actuator.filter(|_| own) {
        return apply_in_process(context, args, &plan, (begun, actuator.as_mut()));
    }
    let (home, kept) =
        begin_change(means, simulated, (begun, &text), &mut |remark| context.output.print_message(remark))?;
    let first = ChangeStatus::of(&kept.read.state);
    let status = decision_commands::wait_until(context, (&home, &kept), first, |status| {
        matches!(status.phase, ChangePhase::Applied) || !status.phase.is_pending()
    })?;
    let status = match args.wait && status.phase.is_pending() {
        true => decision_commands::wait_until(context, (&home, &kept), status, |status| {
            !status.phase.is_pending()
        })?,
        false => status,
    };
    decision_commands::report(context, &status)?;
    Ok(exit_of_status(&status))
}

/// Prints the commands that replace a plan which is unsafe under traffic.
fn print_staged_commands(context: &mut Context<'_, '_>, judged: &PlanVerdict, accepted: &[String]) {
    let staged =
        judged.transition.staged.iter().filter(|_| !accepted.iter().any(|name| name == "transition"));
    for (name, words) in staged.flat_map(StagedTransition::lines) {
        context.output.print_unwrapped(&format!("{name:<9}{words}"));
    }
}

/// Prints what will be written and asks for confirmation on a terminal.
fn ask_for_confirmation(
    context: &mut Context<'_, '_>,
    args: &ApplyArgs,
    ready: &PreparedChange,
) -> Result<(), Failure> {
    let PreparedChange { plan, judged, look, own, .. } = ready;
    if args.yes {
        // Without the question, the output still records which hosts and pairs are affected.
        let moved =
            [cut_off_line(judged).into_iter().collect(), migration_lines(plan), phase_lines(plan)].concat();
        moved.iter().for_each(|(label, words)| context.output.print_message(&format!("{label}: {words}")));
        ready
            .unregistered_warning()
            .iter()
            .for_each(|warning| context.output.print_message(&format!("others: {warning}")));
        return Ok(());
    }
    if !context.asks {
        return Err(Failure::new(
            Exit::Refused,
            "FD-7989: there is no terminal to ask on before the plan is written; --yes answers in advance (the change still has to be confirmed)",
        ));
    }
    let mut lines = vec![
        (
            "writes",
            format!(
                "{} to {}, of plan {}",
                count_words(plan.writes.len(), "part", "parts"),
                device_words(plan.count_targets()),
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
    lines.extend(ready.unregistered_warning().map(|warning| ("others", warning)));
    lines.extend(context.outside.guard_lifetime_warning().filter(|_| !own).map(|words| ("guard", words)));
    lines.push((
        "back",
        match own {
            true => "this simulator lives in this process, and the change ends with it".to_owned(),
            false => format!(
                "rolled back automatically unless it is confirmed within {}",
                span_words(args.confirm_within.as_secs() as i64)
            ),
        },
    ));
    for (name, words) in lines {
        context.output.print_message(&format!("{name:<12}{words}"));
    }
    let _ = write!(context.output.err, "fabdeck: write this now? Type yes: ")
        .and_then(|()| context.output.err.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if answer.trim() == "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Refused, "FD-7990: the answer was not yes; nothing was written")),
    }
}

fn cut_off_line(judged: &PlanVerdict) -> Option<(&'static str, String)> {
    judged.cut_off.words().map(|words| ("cuts off", words))
}

/// Applies a plan to a simulator of this process; the change ends with the process.
fn apply_in_process(
    context: &mut Context<'_, '_>,
    args: &ApplyArgs,
    plan: &Plan,
    (begun, actuator): (BeginRecord, &mut dyn Actuator),
) -> Result<Exit, Failure> {
    let mut said = Vec::new();
    let status = in_process::apply_alone(plan, (begun, actuator), args.wait, &mut said)?;
    let verbose = context.output.verbose;
    said.iter().filter(|_| verbose).for_each(|line| context.output.print_message(line));
    if status.phase == ChangePhase::Confirmed && !context.output.json {
        let words = format!(
            "{} writes, read back; the simulator ends with this command, and the change with it",
            status.writes
        );
        let what = [("applied", words)];
        write_pairs(context.output.out, (context.output.paint, context.output.page), &what)?;
    } else {
        decision_commands::report(context, &status)?;
    }
    Ok(exit_of_status(&status))
}

/// Runs `apply` and writes its refusals to the audit trail.
fn apply_with_audit(context: &mut Context<'_, '_>, args: &ApplyArgs) -> Result<Exit, Failure> {
    let ended = run(context, args);
    let Err(failure) = ended else { return ended };
    let Some(source) = context.options.source.as_deref().map(str::to_owned) else { return Err(failure) };
    let means = context.env();
    let what = format!("apply {}", args.plan.display());
    Err(audit_source_refusal(means, &source, &what, failure, &mut |line| context.output.print_message(line)))
}
