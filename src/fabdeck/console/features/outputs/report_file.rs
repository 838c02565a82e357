//! Writes a report of what the session knows, in the background.

use std::path::{Path, PathBuf};

use jiff::Zoned;

use crate::catalogue::severity::Severity;
use crate::catalogue::shell_words::quote_for_shell;
use crate::console::features::jobs::current_job_source::{CurrentJobSource, current_job_source};
use crate::console::features::preconditions::has_fabric;
use crate::console::features::timeline::playback::{Playback, frame_time};
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::report::fabric_report::{FabricReport, ReportEvent, ReportEvents, ReportFacts};
use crate::operations::report::page::write_page;
use crate::operations::report::report_request::{checks_of, counters_check};
use crate::operations::watch::history_clock::HistoryClock;
use fabdeck_routing::RouteProgress;

/// The file where none is named.
const DEFAULT_FILE: &str = "fabdeck-report.html";

/// Writes a report. The facts are those of the moment at which it was asked for.
#[derive(Debug)]
pub struct ReportTask {
    facts: Box<ReportFacts>,
    /// Time of the session at which it began, where the facts have no clock of a recording.
    session_ms: Option<i64>,
    to: PathBuf,
    /// Whether no name was given, so that another one may be taken.
    is_unnamed: bool,
}

impl BackgroundTask for ReportTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn is_cancellable(&self) -> bool {
        true
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.to)
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        let now = Zoned::now();
        let mut facts = ReportFacts::clone(&self.facts);
        facts.written = Some(now.strftime("%Y-%m-%d %H:%M:%S %:z").to_string());
        if let Some(session_ms) = self.session_ms {
            let elapsed = i64::try_from(services.elapsed_ms()).unwrap_or(0);
            let unix_ms = now.timestamp().as_millisecond().saturating_sub(elapsed);
            let utc_offset_s = now.offset().seconds();
            facts.clock = Some(HistoryClock { at_ms: session_ms, unix_ms, utc_offset_s });
        }
        let report = FabricReport::new(facts, progress)?;
        let page = write_page(&report);
        let result = match self.is_unnamed {
            true => services.write_free_file(&self.to, page.as_bytes()),
            false => {
                let written = services.write_file(&self.to, page.as_bytes(), "give :report another name");
                written.map(|()| self.to.clone())
            }
        };
        Some(Box::new(ReportOutcome { to: self.to.clone(), result }))
    }
}

#[derive(Debug)]
pub struct ReportOutcome {
    to: PathBuf,
    /// The file that was written.
    result: Result<PathBuf, String>,
}

impl TaskOutcome for ReportOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        match self.result {
            Ok(file) => {
                let text = format!("the report is in {}; any browser opens it", file.display());
                state.log_message(Severity::Info, text);
            }
            Err(error) => state.log_message(Severity::Error, format!("no report was written: {error}")),
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("report {} {:?}", self.to.display(), self.result)
    }

    fn unwritten_file(&self) -> Option<(&Path, &str)> {
        self.result.as_ref().err().map(|error| (self.to.as_path(), error.as_str()))
    }
}

/// Whether the problems are known, without which there is nothing to report.
pub fn can_report(state: &SessionState) -> Result<(), String> {
    has_fabric(state)?;
    match state.known.problems.ranked {
        Some(_) => Ok(()),
        None => Err("the problems are still being ranked".to_owned()),
    }
}

/// Writes the report to a new file.
pub fn write_report(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let is_unnamed = file.trim().is_empty();
    let file = match file.trim() {
        "" => DEFAULT_FILE,
        "-" => {
            let text = "no report was written: - is stdout, which is this screen; name a file";
            state.log_message(Severity::Error, text);
            return Vec::new();
        }
        file => file,
    };
    let Some(facts) = report_facts(state) else { return Vec::new() };
    let session_ms = facts.clock.is_none().then(|| i64::try_from(state.now_ms).unwrap_or(i64::MAX));
    let task = ReportTask { facts: Box::new(facts), session_ms, to: PathBuf::from(file), is_unnamed };
    vec![state.begin(format!("writing {file}"), task).1]
}

fn report_facts(state: &SessionState) -> Option<ReportFacts> {
    let known = &state.known;
    let (look, ranked) = (known.look.clone()?, known.problems.ranked.clone()?);
    let event = |event: &crate::console::features::health::health_model::HealthEvent| ReportEvent {
        at_ms: event.at_ms,
        severity: event.severity,
        text: event.text.clone(),
    };
    let events =
        ReportEvents::new(known.problems.events().map(event).collect(), known.problems.event_count());
    let mut checks = vec![counters_check(known.watch.reading.as_deref(), None)];
    checks.extend(checks_of(&ranked, table_words(known), job_words(known)));
    let at = frame_time(known.playback.as_ref());
    let at = at.map(|at| format!("--at {} ", quote_for_shell(&at))).unwrap_or_default();
    Some(ReportFacts {
        command: format!("fabdeck --source {} {at}report", quote_for_shell(&state.source)),
        reading: known.watch.reading.clone(),
        paths: known.paths.clone(),
        history: known.watch.totals.clone(),
        clock: known.playback.as_ref().and_then(Playback::clock),
        written: None,
        look,
        ranked,
        events,
        checks,
    })
}

fn table_words(known: &Model) -> Result<String, String> {
    match known.problems.tables_checked() {
        Ok(true) => Ok("certified".to_owned()),
        Ok(false) if known.problems.is_checking() => Err("they were being checked".to_owned()),
        Ok(false) => Err("the source has none".to_owned()),
        Err(why) => Err(why),
    }
}

fn job_words(known: &Model) -> Result<String, String> {
    let ranked = known.problems.ranked.as_ref();
    let Some(jobs) = ranked.and_then(|ranked| ranked.jobs.as_ref()) else {
        return Err("no list of jobs is known".to_owned());
    };
    Ok(match current_job_source(known) {
        CurrentJobSource::Named(from) => format!("{}: {}", from.words(), jobs.rows.len()),
        CurrentJobSource::Recorded(_) => format!("recorded: {}", jobs.rows.len()),
        CurrentJobSource::Unknown => format!("SIMULATED: {}", jobs.rows.len()),
    })
}
