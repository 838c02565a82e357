//! `health`.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::check::{adaptive_line, premises};
use super::health_answer::HealthAnswer;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::kept_apart_line;
use crate::operations::health::acknowledgements::own_acknowledgement;
use crate::operations::health::health_check::{
    CheckedFabric, HealthChecks, HealthReport, HealthRequest, check_health,
};
use crate::operations::health::link_health_coverage::LinkHealthCoverage;
use crate::operations::health::pending_changes::PendingChanges;
use crate::operations::health::problem::{
    Certainty, FabricProblem, HitHost, HitJob, HitRole, ProblemSeverity,
};
use crate::operations::jobs::list_source::JobSource;
use crate::operations::watch::interval_verdict::per_cent;
use crate::script::argument_values::duration;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::commands::jobs::job_args::JobSourceArgs;
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::capture_format::AcknowledgementRecord;

pub const HEALTH: CommandEntry = CommandEntry::new(
    "health",
    "What is wrong now, who is hit, why, and what to do next",
    "All problems of the fabric, the worst first: hot-spots with the hosts that wait for them, links with errors \
     or below their width or speed, links and nodes that went down, pairs without a path. Each has its cause with \
     how sure that is, the hosts and jobs that are hit by name, and a next step whose command only reads. Problems \
     that hit hosts now are critical; of those, the ones that hit the most jobs come first, then the most hosts. \
     Counters are read twice, and nothing is cleared; a file without a second reading is judged without them. \
     Jobs come from the same sources as for `jobs`. Any problem that is not acknowledged ends with exit code 2, and so does a change that is beyond its deadline; a change that \
     waits to be confirmed is listed, and is no problem. Acknowledgements are kept in the state folder of the user, and those of a capture in the capture. --format nagios prints one \
     line for a monitoring plugin, and ends with 0 for no problem, 1 for warnings, 2 for critical problems, and 3 \
     where the fabric could not be checked.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:demo health",
    "fabdeck --source capture/ health --json",
    "fabdeck --source umad health --slurm --format nagios",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.traps(OptionUse::Used)
.json(&[JsonSchema::answer::<HealthAnswer<'_>>("health")]);

/// How the problems are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum HealthFormat {
    /// One line with performance data, and the exit codes of a monitoring plugin
    Nagios,
}

#[derive(Debug, Args)]
pub struct HealthArgs {
    /// Interval between the two sweeps: 500ms, 2s, or seconds without a unit (default: 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    #[command(flatten)]
    pub jobs: JobSourceArgs,
    /// Acknowledge the problem with this ID (-v prints it): it comes last and does not count for the exit code
    #[arg(long, value_name = "ID", conflicts_with_all = ["unacknowledge", "format"])]
    pub acknowledge: Option<String>,
    /// Reason of the acknowledgement, for others who look
    #[arg(long, value_name = "TEXT", requires = "acknowledge")]
    pub note: Option<String>,
    /// Take an acknowledgement back
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    pub unacknowledge: Option<String>,
    /// Print only the worst N problems; JSON has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print in the format of a monitoring system
    #[arg(long, value_enum)]
    pub format: Option<HealthFormat>,
}

impl HealthArgs {
    /// The change of an acknowledgement, if one is asked for.
    fn change(&self) -> Option<AcknowledgementRecord> {
        let added =
            self.acknowledge.clone().map(|problem| own_acknowledgement(problem, self.note.clone(), false));
        added.or_else(|| Some(own_acknowledgement(self.unacknowledge.clone()?, None, true)))
    }
}

fn run(context: &mut Context<'_, '_>, args: &HealthArgs) -> Result<Exit, Failure> {
    if args.format.is_some() && context.output.json {
        return Err(Failure::usage("FD-7333: --format nagios prints one line; leave out --json"));
    }
    let request = HealthRequest {
        interval: args.interval,
        jobs: JobSource::from(&args.jobs),
        configured_jobs: context.config.jobs.settings.from.clone(),
        change: args.change(),
    };
    let checked = check_health(&mut context.operation(), &request);
    if args.format == Some(HealthFormat::Nagios) {
        return write_nagios(context, checked);
    }
    let CheckedFabric { snapshot, report } = checked?;
    match context.output.json {
        true => {
            let answer = HealthAnswer::new(&report, &snapshot, !context.options.no_times);
            context.write_answer("health", &snapshot, answer)?;
        }
        false => write_text(context, &snapshot, &report, args.top)?,
    }
    let concluded = context.conclude(&snapshot);
    Ok(if report.worst().is_none() && !report.changes.is_overdue() { concluded } else { Exit::Findings })
}

fn write_text(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    report: &HealthReport,
    most: usize,
) -> Result<(), Failure> {
    let mut head = premises(snapshot);
    head.extend(adaptive_line(snapshot, "paths are counted by static ports, and prove the role of no host"));
    head.push(("health", summary(report)));
    head.extend(change_lines(&report.changes));
    head.extend(check_lines(&report.checks));
    context.output.write_pairs(&head)?;
    for problem in report.problems.iter().take(most) {
        writeln!(context.output.out)?;
        context.output.write_pairs(&problem_lines(
            problem,
            report.checks.jobs.is_ok(),
            context.output.verbose,
        ))?;
    }
    if report.problems.len() > most {
        writeln!(context.output.out)?;
        let more = format!("and {} more (--top)", digits_in_groups(report.problems.len() - most));
        context.output.print_message(&more);
    }
    Ok(())
}

/// `1 critical problem, 2 warnings`.
pub(super) fn summary(report: &HealthReport) -> String {
    let critical = report.count(ProblemSeverity::Critical);
    let warnings = report.count(ProblemSeverity::Warning);
    let acknowledged = report.problems.iter().filter(|problem| problem.acknowledged.is_some()).count();
    let acknowledged = match acknowledged {
        0 => String::new(),
        some => format!(" ({} more acknowledged)", digits_in_groups(some)),
    };
    let open = match (critical, warnings) {
        (0, 0) => "no problem".to_owned(),
        (0, _) => count_words(warnings, "warning", "warnings"),
        (_, 0) => count_words(critical, "critical problem", "critical problems"),
        _ => format!(
            "{}, {}",
            count_words(critical, "critical problem", "critical problems"),
            count_words(warnings, "warning", "warnings")
        ),
    };
    open + &acknowledged
}

/// The changes that wait to be decided, and how to decide.
fn change_lines(changes: &PendingChanges) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for row in &changes.rows {
        let id = &row.id;
        lines.push(("change", format!("{} is {}: {}", row.number, row.state_title(), row.begun_words())));
        lines.push(("", row.next_words()));
        let pairs = row.pair_words().unwrap_or_else(|| "not known".to_owned());
        lines.push(("", format!("pairs without a path: {pairs}")));
        lines.push(("", format!("fabdeck confirm {id} confirms it, fabdeck rollback {id} rolls it back")));
    }
    lines.extend(changes.unread.iter().map(|why| ("unchecked", format!("changes: {why}"))));
    lines
}

/// What was checked, and what was not.
pub(super) fn check_lines(checks: &HealthChecks) -> Vec<(&'static str, String)> {
    let HealthChecks {
        links,
        ports,
        seconds,
        uncounted,
        tables,
        uncertified,
        kept_apart,
        link_health,
        jobs,
        unacknowledged,
    } = checks;
    let (links, ports) = (count_words(*links, "link", "links"), count_words(*ports, "port", "ports"));
    let counters = seconds.map(|seconds| format!(", counters over {seconds:.1} s"));
    let tables_read = if *tables { ", forwarding tables" } else { "" };
    let jobs_read = jobs.as_ref().map(|from| format!(", jobs ({from})")).unwrap_or_default();
    let whole = link_health.is_some_and(LinkHealthCoverage::is_complete);
    let health_read = if whole { ", link health" } else { "" };
    let counters = counters.unwrap_or_default();
    let checked = format!("{links} and {ports}{counters}{health_read}{tables_read}{jobs_read}");
    let mut lines = vec![("checked", checked)];
    lines.extend(kept_apart.map(kept_apart_line));
    lines.extend(uncounted.iter().map(|why| ("unchecked", format!("counters: {why}"))));
    lines.extend(link_health.filter(|coverage| !coverage.is_complete()).map(|coverage| {
        let words = coverage.words();
        ("unchecked", format!("link health: {words}; `fabdeck show modules` asks all of them"))
    }));
    lines.extend(uncertified.iter().map(|why| ("unchecked", format!("tables: {why}"))));
    if !tables {
        lines.push(("unchecked", "paths: the source has no forwarding tables (--assume ENGINE)".to_owned()));
    }
    lines.extend(jobs.as_ref().err().map(|why| ("unchecked", format!("jobs: {why}"))));
    lines.extend(unacknowledged.iter().map(|why| ("unchecked", format!("acknowledgements: {why}"))));
    lines
}

pub(super) fn problem_lines(
    problem: &FabricProblem,
    jobs_known: bool,
    verbose: bool,
) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        (problem.severity.word(), problem.title.clone()),
        (
            "cause",
            match problem.cause.certainty {
                Certainty::Sure => problem.cause.text.clone(),
                Certainty::Likely => format!("likely: {}", problem.cause.text),
                Certainty::Unknown => format!("not known: {}", problem.cause.text),
            },
        ),
        ("hits", hit_words(problem, jobs_known)),
    ];
    lines.extend(problem.history.as_ref().map(|words| ("history", words.clone())));
    lines.extend([("next", format!("{}:", problem.next.text)), ("", problem.next.command.clone())]);
    lines.extend(verbose.then(|| ("id", problem.id.clone())));
    lines.extend(problem.acknowledged.as_ref().map(|by| ("acknowledged", by.words())));
    lines.extend(
        problem.worse_since.as_ref().map(|by| ("worse", format!("since it was acknowledged {}", by.words()))),
    );
    lines
}

/// The hosts, paths and jobs that are hit, the first ones by name.
fn hit_words(problem: &FabricProblem, jobs_known: bool) -> String {
    let hits = &problem.hits;
    const SHOWN: usize = 4;
    let mut parts = Vec::new();
    for role in HitRole::ALL {
        let own: Vec<&HitHost> = hits.hosts.iter().filter(|host| host.role == role).collect();
        if own.is_empty() {
            continue;
        }
        let names: Vec<String> = own.iter().take(SHOWN).map(|host| host_words(host)).collect();
        let more = if own.len() > SHOWN { format!(" and {} more", own.len() - SHOWN) } else { String::new() };
        let (count, words) = (digits_in_groups(own.len()), role.words_of(own.len()));
        parts.push(format!("{count} {words}: {}{more}", names.join(", ")));
    }
    parts.extend(hits.paths_words(problem.kind));
    match hits.jobs.as_deref() {
        Some([]) => parts.push("no job".to_owned()),
        Some(jobs) => {
            let names: Vec<String> = jobs.iter().take(SHOWN).map(job_words).collect();
            let more =
                if jobs.len() > SHOWN { format!(" and {} more", jobs.len() - SHOWN) } else { String::new() };
            parts.push(format!(
                "{} {}{more}",
                if jobs.len() == 1 { "job" } else { "jobs" },
                names.join(", ")
            ));
        }
        None if jobs_known => parts.push("jobs not counted".to_owned()),
        None => parts.push("jobs not known".to_owned()),
    }
    parts.join("; ")
}

fn host_words(host: &HitHost) -> String {
    let waits = host.time_waited.map(|waited| format!(" ({} of the time)", per_cent(waited)));
    format!("{}{}", host.host, waits.unwrap_or_default())
}

fn job_words(job: &HitJob) -> String {
    match job.hosts {
        0 => format!(
            "{} ({})",
            job.job,
            count_words(usize::try_from(job.paths).unwrap_or(usize::MAX), "path", "paths")
        ),
        hosts => format!("{} ({})", job.job, count_words(hosts, "host", "hosts")),
    }
}

/// The line of a monitoring plugin: state, problems, and their numbers as performance data.
fn write_nagios(
    context: &mut Context<'_, '_>,
    checked: Result<CheckedFabric, Failure>,
) -> Result<Exit, Failure> {
    let one_line = |text: &str| text.replace(['|', '\n'], " ");
    let CheckedFabric { snapshot, report } = match checked {
        Ok(checked) => checked,
        Err(failure) if matches!(failure.exit, Exit::Interrupted | Exit::Terminated | Exit::Hangup) => {
            return Err(failure);
        }
        Err(failure) => {
            let why = one_line(&failure.message.unwrap_or_default());
            writeln!(context.output.out, "FABDECK UNKNOWN - {why}")?;
            return Ok(NAGIOS_UNKNOWN);
        }
    };
    let gaps = gap_words(&snapshot, &report);
    // A check reads a few ports of many: that is said, and no gap of this check.
    let partly = report.checks.link_health.filter(|coverage| !coverage.is_complete());
    let health = partly.map_or_else(String::new, |coverage| format!(", link health {}", coverage.words()));
    let (state, exit) = match report.worst() {
        _ if report.changes.is_overdue() => ("CRITICAL", Exit::Findings),
        Some(ProblemSeverity::Critical) => ("CRITICAL", Exit::Findings),
        Some(ProblemSeverity::Warning) => ("WARNING", NAGIOS_WARNING),
        None if !gaps.is_empty() && context.globals.strict => ("UNKNOWN", NAGIOS_UNKNOWN),
        None => ("OK", Exit::Done),
    };
    let overdue = report.changes.rows.iter().filter(|row| row.overdue);
    let overdue = overdue.map(|row| format!("change {} is OVERDUE", row.number));
    let problems = report.open_problems().map(|problem| {
        let worse = problem
            .worse_since
            .as_ref()
            .map(|by| format!(" (worse since it was acknowledged {})", by.words()));
        one_line(&(problem.title.clone() + &worse.unwrap_or_default()))
    });
    let titles: Vec<String> = overdue.chain(problems).take(3).collect();
    let titles = if titles.is_empty() { String::new() } else { format!(": {}", titles.join("; ")) };
    // With several hot-spots a host may wait for each.
    let waiting: BTreeSet<&str> = report
        .problems
        .iter()
        .flat_map(|problem| &problem.hits.hosts)
        .filter(|host| host.time_waited.is_some())
        .map(|host| host.host.as_str())
        .collect();
    writeln!(
        context.output.out,
        "FABDECK {state} - {}{titles}{gaps}{health} | critical={};;1 warning={};1 waiting_hosts={} links={} ports={}",
        summary(&report),
        report.count(ProblemSeverity::Critical),
        report.count(ProblemSeverity::Warning),
        waiting.len(),
        report.checks.links,
        report.checks.ports,
    )?;
    Ok(exit)
}

/// What a line without details has to say of a check that was not a whole one.
fn gap_words(snapshot: &Snapshot, report: &HealthReport) -> String {
    let HealthChecks { uncounted, tables, uncertified, .. } = &report.checks;
    let gaps = [
        (snapshot.observation.is_partial(), "part of the fabric did not answer"),
        (uncounted.is_some(), "counters were not compared"),
        (!tables, "there are no forwarding tables"),
        (uncertified.is_some(), "the tables are not certified"),
    ];
    let gaps: Vec<&str> = gaps.into_iter().filter(|(is_open, _)| *is_open).map(|(_, words)| words).collect();
    if gaps.is_empty() { String::new() } else { format!(" ({})", gaps.join(", ")) }
}

/// Exit codes that a monitoring system expects of its plugins.
const NAGIOS_WARNING: Exit = Exit::Failed;
const NAGIOS_UNKNOWN: Exit = Exit::Stale;
