//! The command `run`: reads the runbook, runs it and prints the report.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::args::RunArgs;
use super::crew::Hands;
use super::journal::{Interrupted, RunJournal};
use super::{fabric, told};
use crate::runbook::{self, Book, Fault, Known, RunState, walk};
use crate::script::changing::{FINDINGS, Means, change_status, refuse_unwritable, state_folder};
use crate::script::context::Context;
use crate::script::values::{long_duration, window};
use crate::script::{Exit, Failure};

/// Time that a rollback may take after a signal ends the run.
const FAREWELL: Duration = Duration::from_secs(30);

pub fn run(context: &mut Context<'_, '_>, args: &RunArgs) -> Result<Exit, Failure> {
    context.refuse_filter("run")?;
    let file = args.runbook.as_path();
    let source = context.named_source()?.to_owned();
    let book = read(context, file, &args.set)?;
    let stop = context.outside.stop();
    stop.heed_within(FAREWELL);
    context.stop = Some(stop.clone());
    let (mut look, faults) = fabric::check(context, &book, args.dry_run)?;
    refuse(context, file, &faults, &[])?;
    let writes = book.writes() && !args.dry_run;
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let (mut journal, mut before) = (None, None);
    if writes {
        let (kept, interrupted) = RunJournal::open(&state_folder(means, &source)?, file)?;
        before = interrupted;
        if let Some(words) = before.as_ref().map(|before| before_words(means, before)) {
            context.output.say(&words);
        }
        refuse_unwritable(means, &source, &look)?;
        journal = Some(kept);
    }
    if let Some(journal) = &mut journal {
        journal.begin(&book.name)?;
    }
    let mut hands = Hands::new(context, (source, given), args.dry_run, journal);
    let report = walk(&book, &mut hands);
    told::mark_partial(&mut look, &report);
    told::write(context, &look, file, &report, before.as_ref())?;
    let concluded = context.conclude(&look);
    Ok(match report.state {
        RunState::Done => concluded,
        _ => Exit::ALL.iter().copied().find(|exit| exit.code() == report.exit).unwrap_or(Exit::Failed),
    })
}

fn before_words(means: Means<'_>, before: &Interrupted) -> String {
    let change = before.change.as_ref().map(|id| match change_status(means, id) {
        Some(status) => format!("; its change {id} is {}", status.phase.title()),
        None => format!("; its change {id} was never begun"),
    });
    format!("{}{}", before.words(), change.unwrap_or_default())
}

/// Reads the runbook in a file, or reports all its mistakes.
fn read(context: &mut Context<'_, '_>, file: &Path, set: &[(String, String)]) -> Result<Book, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::BadInput, format!("{name}: FD-9201: cannot be read: {error}")))?;
    let mut settings = BTreeMap::new();
    for (name, value) in set {
        if settings.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::usage(format!("FD-9221: --set: '{name}' is set twice")));
        }
    }
    let known = Known { time: long_duration, window, findings: FINDINGS };
    match runbook::read(&text, &settings, known) {
        Ok(book) => Ok(book),
        Err((faults, unset)) => match refuse(context, file, &faults, &unset) {
            Err(failure) => Err(failure),
            // Without a fault the runbook would have been read, so this cannot happen.
            Ok(()) => Err(Failure::new(Exit::BadInput, format!("{name}: the book cannot be read"))),
        },
    }
}

/// Prints the mistakes of a runbook, one a line; the last one is the failure of the command.
fn refuse(
    context: &mut Context<'_, '_>,
    file: &Path,
    faults: &[Fault],
    unset: &[String],
) -> Result<(), Failure> {
    let placed = faults.iter().map(|fault| format!("{}:{}: {}", file.display(), fault.line, fault.what));
    let mut all: Vec<String> = placed.chain(unset.iter().cloned()).collect();
    let Some(last) = all.pop() else { return Ok(()) };
    all.iter().for_each(|words| context.output.say(&format!("error: {words}")));
    Err(Failure::new(if faults.is_empty() { Exit::Usage } else { Exit::BadInput }, last))
}
