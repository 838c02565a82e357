//! `apply`: writes exactly what a plan says. A guard process writes it, and rolls it back if it is not confirmed.

use std::io::BufRead;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::args::{DriverChoice, SilentHostChoice, opensm_process};
use super::decision_commands;
use super::decision_commands::ChangeAnswer;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::{count_words, device_words};
use crate::operations::changes::apply::{ApplyFrontEnd, ApplyOptions, ApplyOutcome, apply};
use crate::operations::changes::asked_change::QuestionFrontEnd;
use crate::operations::changes::change_control::driver_options;
use crate::operations::changes::change_exit::exit_of_status;
use crate::operations::changes::change_facts::ChangeFacts;
use crate::operations::changes::change_row::span_words;
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::PreparedChange;
use crate::operations::environment::Env;
use crate::operations::lanes::migrations::migration_lines;
use crate::operations::plans::phases::phase_lines;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::PlanVerdict;
use crate::script::argument_values::window;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_change::{ChangeDir, ChangePhase, ChangeStatus, ChangeStore, StagedTransition};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_mad::access::NoObserver;

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
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<ChangeAnswer<'_>>("change").without_source().titled("apply, confirm, extend and rollback")]);

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
    let env = context.env();
    let source = env.named_source()?;
    env.given.rights_refused.iter().for_each(|why| context.output.print_message(why));
    let opensm = args.via == DriverChoice::Opensm;
    let mut driver =
        driver_options(opensm, args.opensm_conf.clone(), args.opensm_console, args.beside_manager);
    if let (Some(site), Some(process)) = (&mut driver.site, &args.opensm_process) {
        site.name_process(process);
    }
    let unanswered = args.unanswered.unanswered();
    let acceptance = Acceptance { accepted: args.accept.clone(), window: args.confirm_within, unanswered };
    let audited_as = format!("apply {}", args.plan.display());
    let options = ApplyOptions { source, driver: &driver, acceptance: &acceptance, audited_as };
    match apply(env, &options, read, &mut NoObserver, &mut ApplyCommand { context, args })? {
        ApplyOutcome::NothingToDo(nothing) => {
            decision_commands::report_unchanged(context, writes, nothing.warning())?;
            Ok(Exit::Done)
        }
        ApplyOutcome::Begun(status) => {
            decision_commands::report(context, &status)?;
            Ok(exit_of_status(&status))
        }
        ApplyOutcome::EndedInProcess(status, said) => {
            report_in_process(context, &status, &said)?;
            Ok(exit_of_status(&status))
        }
    }
}

/// The command as the front end of its operation.
struct ApplyCommand<'r, 'a, 'o> {
    context: &'r mut Context<'a, 'o>,
    args: &'r ApplyArgs,
}

impl QuestionFrontEnd for ApplyCommand<'_, '_, '_> {
    fn report_line(&mut self, line: &str) {
        self.context.output.print_message(line);
    }

    fn report_unaccepted(&mut self, change: &PreparedChange) {
        print_staged_commands(self.context, &change.judged, &self.args.accept);
    }

    fn ask(&mut self, change: &PreparedChange) -> Result<(), Failure> {
        ask_for_confirmation(self.context, self.args, change)
    }
}

impl ApplyFrontEnd for ApplyCommand<'_, '_, '_> {
    fn waits_in_process(&self) -> bool {
        self.args.wait
    }

    fn wait(
        &mut self,
        _: Env<'_>,
        store: &ChangeStore,
        dir: &ChangeDir,
        first: ChangeStatus,
    ) -> Result<ChangeStatus, Failure> {
        let applied =
            |status: &ChangeStatus| status.phase == ChangePhase::Applied || !status.phase.is_pending();
        let status = decision_commands::wait_until(self.context, store, dir, first, applied)?;
        match self.args.wait && status.phase.is_pending() {
            true => decision_commands::wait_until(self.context, store, dir, status, |status| {
                !status.phase.is_pending()
            }),
            false => Ok(status),
        }
    }
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
    lines.extend(ChangeFacts::with_source_jobs(ready).lines());
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

/// Reports a change to a simulator of this process, with which the change ends.
fn report_in_process(
    context: &mut Context<'_, '_>,
    status: &ChangeStatus,
    said: &[String],
) -> Result<(), Failure> {
    let verbose = context.output.verbose;
    said.iter().filter(|_| verbose).for_each(|line| context.output.print_message(line));
    if status.phase != ChangePhase::Confirmed || context.output.json {
        return decision_commands::report(context, status);
    }
    let words = format!(
        "{} writes, read back; the simulator ends with this command, and the change with it",
        status.writes
    );
    let what = [("applied", words)];
    Ok(context.output.write_pairs(&what)?)
}
