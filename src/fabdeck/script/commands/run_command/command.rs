//! The command `run`: reads the runbook, runs it and prints the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::run_report;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::acceptance::FINDING_NAMES as FINDINGS;
use crate::operations::changes::change_control::{
    change_folder as state_folder, journal_status as change_status, refuse_unwritable,
};
use crate::operations::environment::Env;
use crate::runbook::execute::run_steps;
use crate::runbook::fields::RunbookFault;
use crate::runbook::reader;
use crate::runbook::reader::ReaderOptions;
use crate::runbook::report::RunState;
use crate::runbook::step_runner::fabric_check;
use crate::runbook::step_runner::run_journal::{InterruptedRun, RunJournal};
use crate::runbook::step_runner::runner::Runner;
use crate::runbook::steps::Runbook;
use crate::script::argument_values::{long_duration, window};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_files::read_text_within;

pub const RUN: CommandEntry = CommandEntry::new(
    "run",
    "Run a runbook",
    "A file of steps with guards between them: expect, fail, unmark, preview, route, disable, enable, apply, \
     wait, verify, compare, jobs, hotspots, lanes, confirm, rollback, record, run and notify (docs/runbooks.md). The whole \
     file is checked before the first step; every mistake is reported with file, line and reason (exit code \
     7). The first guard that does not hold ends the run (2): an applied and unconfirmed change is rolled \
     back, as it is when the run is interrupted, and the steps on failure run. With --dry-run everything is \
     read and computed, and nothing is written. A runbook that applies nothing needs no permission to write. \
     One that does needs what `apply` needs, and has no further question.",
)
.needs_fabric()
.danger(Danger::WritesFabric)
.examples(&[
    "fabdeck --source umad run docs/runbooks/nightly-check.toml",
    "fabdeck --source sim:./lab.sock run docs/runbooks/failed-spine.toml --set switch=spine-2 --dry-run",
])
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<run_report::RunAnswer<'_>>("run").titled("run RUNBOOK")]);

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A runbook in TOML, checked completely before its first step
    pub runbook: PathBuf,
    /// Value of a variable of the runbook
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Read and compute everything, but apply no change, write no file, run no program and send no message
    #[arg(long)]
    pub dry_run: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
    split.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "write NAME=VALUE".to_owned())
}

/// Most bytes of a runbook.
const MAX_RUNBOOK_BYTES: u64 = 4 << 20;

/// Time that a rollback may take after a signal ends the run.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

fn run(context: &mut Context<'_, '_>, args: &RunArgs) -> Result<Exit, Failure> {
    let file = args.runbook.as_path();
    let source = context.env().named_source()?.to_owned();
    let book = read_runbook(context, file, &args.set)?;
    let stop = context.outside.stop();
    stop.listen_within(SHUTDOWN_TIMEOUT);
    context.stop = Some(stop.clone());
    let (mut snapshot, faults) = fabric_check::check(&mut context.operation(), &book, args.dry_run)?;
    report_faults(context, file, &faults, &[])?;
    let writes = book.has_writes() && !args.dry_run;
    let means = context.env();
    let (mut journal, mut before) = (None, None);
    if writes {
        let (opened, interrupted) = RunJournal::open(&state_folder(means, &source)?, file)?;
        before = interrupted;
        if let Some(words) = before.as_ref().map(|before| interrupted_text(means, before)) {
            context.output.print_message(&words);
        }
        refuse_unwritable(means, &source, &snapshot)?;
        journal = Some(opened);
    }
    if let Some(journal) = &mut journal {
        journal.begin(&book.name)?;
    }
    let mut runner = Runner::new(context.operation(), source, args.dry_run, journal);
    let report = run_steps(&book, &mut runner);
    run_report::mark_partial(&mut snapshot, &report);
    run_report::write(context, &snapshot, file, &report, before.as_ref())?;
    let concluded = context.conclude(&snapshot);
    Ok(match report.state {
        RunState::Done => concluded,
        _ => Exit::ALL.iter().copied().find(|exit| exit.code() == report.exit).unwrap_or(Exit::Failed),
    })
}

fn interrupted_text(means: Env<'_>, before: &InterruptedRun) -> String {
    let change = before.change.as_ref().map(|id| match change_status(means, id) {
        Some(status) => format!("; its change {id} is {}", status.phase.title()),
        None => format!("; its change {id} never began"),
    });
    format!("{}{}", before.words(), change.unwrap_or_default())
}

/// Reads the runbook in a file, or reports all its mistakes.
fn read_runbook(
    context: &mut Context<'_, '_>,
    file: &Path,
    set: &[(String, String)],
) -> Result<Runbook, Failure> {
    let name = file.display();
    let text = read_text_within(file, MAX_RUNBOOK_BYTES).map_err(|error| {
        Failure::new(Exit::BadInput, format!("{name}: FD-9201: the runbook cannot be read: {error}"))
    })?;
    let mut settings = BTreeMap::new();
    for (name, value) in set {
        if settings.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::usage(format!("FD-9221: --set: '{name}' is set twice")));
        }
    }
    let options = ReaderOptions { time: long_duration, window, findings: FINDINGS };
    match reader::read(&text, &settings, options) {
        Ok(book) => Ok(book),
        Err((faults, unset)) => match report_faults(context, file, &faults, &unset) {
            Err(failure) => Err(failure),
            // A runbook without faults is read, so this cannot happen.
            Ok(()) => Err(Failure::new(Exit::BadInput, format!("{name}: the runbook cannot be read"))),
        },
    }
}

/// Prints the mistakes of a runbook, one a line; the last one is the failure of the command.
fn report_faults(
    context: &mut Context<'_, '_>,
    file: &Path,
    faults: &[RunbookFault],
    unset: &[String],
) -> Result<(), Failure> {
    let placed = faults.iter().map(|fault| format!("{}:{}: {}", file.display(), fault.line, fault.what));
    let mut all: Vec<String> = placed.chain(unset.iter().cloned()).collect();
    let Some(last) = all.pop() else { return Ok(()) };
    all.iter().for_each(|words| context.output.print_message(&format!("error: {words}")));
    Err(Failure::new(if faults.is_empty() { Exit::Usage } else { Exit::BadInput }, last))
}
