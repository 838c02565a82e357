//! `confirm`, `extend`, `rollback` and `changes`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;

use super::args::opensm_process;
use super::{change_table, metrics};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::JsonType;
use crate::catalogue::summary::{count_words, nothing_to_do};
use crate::operations::changes::change_control::{self, WaitEvent};
use crate::operations::changes::change_exit::{exit_of_phase, user};
use crate::operations::changes::change_list::ChangeList;
use crate::operations::changes::change_row::{ChangeRow, change_progress, change_words, time_of_day};
use crate::operations::changes::{
    change_comparison, change_list, change_store, foreign_changes, guard_requests, seen_changes,
};
use crate::operations::environment::Env;
use crate::script::answer::{Lines, json_answer};
use crate::script::argument_values::window;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::progress::{clear_line, rewrite_line};
use fabdeck_change::{ChangeDir, ChangePhase, ChangeStatus, ChangeStore, GuardRequest, RollbackRemainder};

pub const CONFIRM: CommandEntry = CommandEntry::new(
    "confirm",
    "Confirm a change that was applied, so that it stays",
    "ID is printed by `apply` and `changes`. Only this command, the console and a runbook confirm a change.",
)
.danger(Danger::WritesFabric)
.examples(&["fabdeck confirm 3f2a91bc"])
.runs(&CommandFunction(confirm))
.filter(FilterUse::Refused("a change"));

pub const EXTEND: CommandEntry = CommandEntry::new(
    "extend",
    "Give a change more time to be confirmed",
    "The guard waits longer before it rolls the change back; a day at most.",
)
.danger(Danger::WritesFabric)
.examples(&["fabdeck extend 3f2a91bc 30m"])
.runs(&CommandFunction(extend))
.filter(FilterUse::Refused("a change"));

pub const ROLLBACK: CommandEntry = CommandEntry::new(
    "rollback",
    "Roll a change back now",
    "Everything that is still as the change wrote it is restored and read back. What another tool has written \
     since, and what does not answer, stays and is named (exit code 6). If the fabric has changed so that the \
     rollback would lose paths, the command prints how many and needs --force. A rollback that ended \
     incomplete starts again.",
)
.danger(Danger::WritesFabric)
.examples(&["fabdeck rollback 3f2a91bc"])
.runs(&CommandFunction(roll_back))
.filter(FilterUse::Refused("a change"));

pub const CHANGES: CommandEntry = CommandEntry::new(
    "changes",
    "The pending change and those before it",
    "From the journals of the state folder, the newest last; with --json the newest comes first. --format \
     prometheus prints the numbers of pending and overdue changes for node_exporter's textfile collector. \
     With --verify each confirmed change of the source's fabric is compared with the tables there, entry by \
     entry: it stands, it no longer stands (exit code 3, with the switches and the possible writers), or it \
     is not known because a switch does not answer (8). Entries that a newer change wrote count for that \
     change.",
)
.examples(&[
    "fabdeck changes",
    "fabdeck changes --json",
    "fabdeck changes --format prometheus",
    "fabdeck --source sim:demo changes --verify",
])
.runs(&CommandFunction(changes))
.json(&[JsonSchema::answer::<ChangesAnswer<'_>>("changes").without_source()]);

#[derive(Debug, Args)]
pub struct ConfirmArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// For a change in five phases that waits for hosts (`apply --unanswered wait`): continue without them, if that is
    /// shown to be safe. The change still has to be confirmed once it is applied
    #[arg(long)]
    pub go_on: bool,
}

#[derive(Debug, Args)]
pub struct ExtendArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// Time to add to the window: 10m, 2h
    #[arg(value_name = "DURATION", value_parser = window)]
    pub by: Duration,
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// Roll back even if that loses paths because the fabric has changed
    #[arg(long)]
    pub force: bool,
    /// For a change through OpenSM: OpenSM's process from now on, by number or pid file, if it is not the one that
    /// `apply` knew
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process)]
    pub opensm_process: Option<String>,
}

#[derive(Debug, Args)]
pub struct ChangesArgs {
    /// Rows, or metrics of Prometheus (such as pending and overdue changes) for node_exporter's textfile collector
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ChangesFormat::Rows)]
    pub format: ChangesFormat,
    /// Compare the confirmed changes of the fabric of --source with its tables, to see whether they still stand
    #[arg(long)]
    pub verify: bool,
    /// Compare the length of the audit trail with the system log (journalctl -t fabdeck _UID=OWNER -o cat > FILE; `-`
    /// is stdin)
    #[arg(long, value_name = "FILE")]
    pub system_log: Option<PathBuf>,
}

/// The output format of `changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChangesFormat {
    Rows,
    Prometheus,
}

fn confirm(context: &mut Context<'_, '_>, args: &ConfirmArgs) -> Result<Exit, Failure> {
    let id = resolve_id(context, &args.id)?;
    let user = user();
    let ask = if args.go_on { GuardRequest::GoOn { user } } else { GuardRequest::Confirm { user } };
    let status = send_order(context, &id, &ask)?;
    report(context, &status)?;
    Ok(exit_of_phase(status.phase))
}

fn extend(context: &mut Context<'_, '_>, args: &ExtendArgs) -> Result<Exit, Failure> {
    let id = resolve_id(context, &args.id)?;
    let status =
        send_order(context, &id, &GuardRequest::Extend { user: user(), seconds: args.by.as_secs() })?;
    report(context, &status)?;
    Ok(exit_of_phase(status.phase))
}

/// Rolls back and waits for the end, because the operator wants to know that it is complete.
fn roll_back(context: &mut Context<'_, '_>, args: &RollbackArgs) -> Result<Exit, Failure> {
    let env = context.env();
    let id = resolve_id(context, &args.id)?;
    let first = match &args.opensm_process {
        Some(process) => {
            let output = &mut context.output;
            let say = &mut |line: &str| output.print_message(line);
            change_control::name_and_roll_back(env, &id, args.force, process, say)?
        }
        None => send_order(context, &id, &GuardRequest::RollBack { user: user(), anyway: args.force })?,
    };
    let means = context.env();
    if let Some((home, _)) =
        foreign_changes::find(means, &id).filter(|_| change_store::find_change(means, &id).is_err())
    {
        let status = foreign_changes::await_end(means, &home, first)?;
        report(context, &status)?;
        return Ok(if status.phase == ChangePhase::RolledBack {
            Exit::Done
        } else {
            exit_of_phase(status.phase)
        });
    }
    let (home, kept) = change_store::find_change(means, &id)?;
    let status = wait_until(context, &home, &kept, first, |status| !status.phase.is_pending())?;
    report(context, &status)?;
    // The command asked for the rollback, so a complete rollback is a success.
    Ok(if status.phase == ChangePhase::RolledBack { Exit::Done } else { exit_of_phase(status.phase) })
}

fn resolve_id(context: &Context<'_, '_>, text: &str) -> Result<String, Failure> {
    change_store::resolve_id(context.env(), text)
}

fn send_order(context: &mut Context<'_, '_>, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, Failure> {
    let means = context.env();
    guard_requests::send_order(means, id, ask, &mut |line| context.output.print_message(line))
}

/// Follows a change until its status fulfils a condition, with a line of progress.
pub fn wait_until(
    context: &mut Context<'_, '_>,
    home: &ChangeStore,
    kept: &ChangeDir,
    first: ChangeStatus,
    so: impl Fn(&ChangeStatus) -> bool,
) -> Result<ChangeStatus, Failure> {
    let (env, output) = (context.env(), &mut context.output);
    let ended = change_control::wait_until(env, home, kept, first, so, &mut |event| match event {
        WaitEvent::Line(line) => output.print_message(line),
        WaitEvent::Status(status) if output.progress => {
            rewrite_line(output.err, output.margin, &change_progress(status, Timestamp::now()));
        }
        WaitEvent::Status(_) => {}
    });
    if context.output.progress {
        clear_line(context.output.err);
    }
    ended
}

/// Reports that a plan writes nothing. `warning`: what is in place may belong to another machine.
pub fn report_unchanged(
    context: &mut Context<'_, '_>,
    writes: usize,
    warning: Option<String>,
) -> Result<(), Failure> {
    context.output.print_message(&nothing_to_do("the plan", writes));
    warning.iter().for_each(|warning| context.output.print_message(&format!("others: {warning}")));
    if !context.output.json {
        return Ok(());
    }
    let answer = ChangeAnswer::new(None, writes as u64);
    context.write_plain_answer("change", answer)
}

json_answer! {
    /// One change. It has no id if none was begun, because everything that the plan writes is in place.
    pub struct ChangeAnswer<'a> {
        deadline: Option<&'a str>,
        done: u64,
        drift: Option<&'a str>,
        id: Option<&'a str>,
        left: &'a [RollbackRemainder],
        phase_of_five: Option<u8>,
        silent: &'a [String],
        state: ReportedState,
        trouble: Option<&'a str>,
        waits: bool,
        why: Option<&'a str>,
        writes: u64,
    }

    struct ChangesAnswer<'a> {
        compared_with: Option<&'a str>,
        pending_elsewhere: Option<&'a str>,
        rows: Lines<'a, &'a ChangeRow>,
    }
}
impl<'a> ChangeAnswer<'a> {
    fn new(status: Option<&'a ChangeStatus>, writes: u64) -> Self {
        let text = |field: fn(&'a ChangeStatus) -> &'a Option<String>| field(status?).as_deref();
        Self {
            deadline: text(|status| &status.deadline),
            done: status.map_or(0, |status| status.done),
            drift: text(|status| &status.drift),
            id: status.map(|status| status.id.as_str()),
            left: status.map_or(&[], |status| &status.left),
            phase_of_five: status.and_then(|status| status.phase_of_five),
            silent: status.map_or(&[], |status| &status.silent),
            state: status
                .map_or(ReportedState::Unchanged(UNCHANGED), |status| ReportedState::Phase(status.phase)),
            trouble: text(|status| &status.trouble),
            waits: status.is_some_and(|status| status.waits),
            why: text(|status| &status.why),
            writes,
        }
    }
}

/// The state of a change, or that there is nothing to do.
#[derive(Serialize)]
#[serde(untagged)]
enum ReportedState {
    Phase(ChangePhase),
    Unchanged(&'static str),
}

/// State that is printed if there is nothing to do.
const UNCHANGED: &str = "unchanged";

impl JsonType for ReportedState {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "anyOf": [ChangePhase::schema(), { "const": UNCHANGED }] })
    }
}

pub fn report(context: &mut Context<'_, '_>, status: &ChangeStatus) -> Result<(), Failure> {
    seen_changes::record_phase(context.outside, &status.id, status.phase);
    if context.output.json {
        let answer = ChangeAnswer::new(Some(status), status.writes);
        return context.write_plain_answer("change", answer);
    }
    let lines = change_words(status, Timestamp::now());
    context.output.write_pairs(&lines)?;
    Ok(())
}

/// Lists all changes, the newest first.
fn changes(context: &mut Context<'_, '_>, args: &ChangesArgs) -> Result<Exit, Failure> {
    let is_metrics = args.format == ChangesFormat::Prometheus;
    if is_metrics && context.output.json {
        return Err(Failure::usage("FD-7313: Prometheus' text is not JSON; leave out --json or --format"));
    }
    let source = args.verify.then(|| context.env().named_source().map(str::to_owned)).transpose()?;
    let means = context.env();
    let ChangeList { rows, mut unread, closed, guarded_only } = change_list::read_all(means)?;
    rows.iter()
        .for_each(|listed| seen_changes::record_phase(means.outside, &listed.row.id, listed.row.state));
    let incomplete = rows.iter().filter(|listed| listed.is_incomplete(&rows));
    let incomplete: Vec<String> = incomplete.map(|listed| incomplete_text(&listed.row)).collect();
    let mut rows: Vec<ChangeRow> = rows.into_iter().map(|listed| listed.row).collect();
    let overdue: Vec<String> = rows.iter().filter(|row| row.overdue).map(overdue_text).collect();
    unread.extend(change_store::truncated_trails(means));
    unread.extend(args.system_log.iter().flat_map(|file| change_store::truncated_trails_by_log(means, file)));
    let stepped_over = change_store::unread_trails(means);
    let verified = source.as_deref().map(|source| ComparisonSummary::of(context, means, source, &mut rows));
    let is_known = unread.is_empty() && closed.is_empty();
    if is_metrics {
        let compared = verified.as_ref().map(|verified| verified.failure.is_none());
        let text = metrics::write(&rows, incomplete.len(), unread.len() + closed.len(), compared);
        context.output.out.write_all(text.as_bytes())?;
    } else if context.output.json {
        let partial = !is_known
            || !guarded_only.is_empty()
            || verified.as_ref().is_some_and(|verified| verified.is_partial);
        let answer = ChangesAnswer {
            compared_with: source.as_deref(),
            pending_elsewhere: verified.as_ref().and_then(|verified| verified.elsewhere.as_deref()),
            rows: Lines::of(&rows),
        };
        context.write_partial_answer("changes", partial, answer)?;
    } else if is_known || !rows.is_empty() {
        rows.reverse();
        let folders = means.state_folders();
        change_table::write(context, rows, &folders)?;
    }
    let found = verified.iter().flat_map(|verified| &verified.lines);
    let remarks = unread.iter().chain(&stepped_over).chain(&closed).chain(&guarded_only);
    remarks
        .chain(&overdue)
        .chain(&incomplete)
        .chain(found)
        .for_each(|line| context.output.print_message(line));
    Ok(match () {
        () if !overdue.is_empty() || !incomplete.is_empty() => Exit::RollbackIncomplete,
        () if !unread.is_empty() => Exit::BadInput,
        () if !closed.is_empty() => Exit::Refused,
        () => verified.map_or(Exit::Done, |verified| verified.exit),
    })
}

/// What a comparison with the fabric adds to the list of changes.
struct ComparisonSummary {
    is_partial: bool,
    /// Lines about single changes, the newest change first.
    lines: Vec<String>,
    exit: Exit,
    failure: Option<Failure>,
    /// A pending change of another machine.
    elsewhere: Option<String>,
}

impl ComparisonSummary {
    /// Compares, and adds each verdict to its row. An unreadable fabric leaves the rows as they are.
    fn of(context: &mut Context<'_, '_>, means: Env<'_>, source: &str, rows: &mut [ChangeRow]) -> Self {
        let compared = change_comparison::compare(means, source, &mut context.operation().begin_reading());
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
        comparison.annotate(rows);
        let warnings = rows.iter().filter_map(|row| row.comparison.as_ref()?.warning(&row.id));
        let nothing = format!("no confirmed change belongs to the fabric of {source}: nothing was compared");
        let elsewhere = comparison.pending_elsewhere.clone();
        let nothing = comparison.by_change.is_empty().then_some(nothing);
        let lines = warnings.chain(nothing).chain(elsewhere.clone()).collect();
        let (is_partial, exit) = (comparison.partial, comparison.exit());
        Self { is_partial, lines, exit, failure: None, elsewhere }
    }
}

/// Message about a rollback that left something, and what to do.
fn incomplete_text(row: &ChangeRow) -> String {
    let (id, left) = (&row.id, count_words(row.left.len(), "part", "parts"));
    format!(
        "FD-7926: the rollback of change {id} left {left} in the fabric; 'fabdeck changes --json' names them, 'fabdeck rollback {id}' \
         tries again, and a later change that is confirmed ends this message"
    )
}

/// Message about a change that should have been rolled back, and what to do.
fn overdue_text(row: &ChangeRow) -> String {
    let (id, deadline) = (&row.id, row.deadline.as_deref().unwrap_or_default());
    if !deadline.parse::<Timestamp>().is_ok_and(|at| at < Timestamp::now()) {
        let state = row.state.title();
        return format!(
            "FD-7992: change {id} is OVERDUE: it is {state}, and its guard neither writes nor answers; 'fabdeck guard \
             --resume' ends a guard that is stopped and rolls the change back, or names the process that you have to end"
        );
    }
    format!(
        "FD-7992: change {id} is OVERDUE: it was not confirmed until {} and its guard has not rolled it back; 'fabdeck rollback {id}' \
         rolls it back now, 'fabdeck guard --resume' starts another guard",
        time_of_day(deadline)
    )
}
