//! `plan show`, `plan check` and `plan diff`.

use std::path::PathBuf;

use super::check::finding_lines;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::changes::change_row::day_and_time;
use crate::operations::check::certificate_text::job_figures_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::loads::JobGain;
use crate::operations::lanes::migrations::migration_lines;
use crate::operations::plans::phases::phase_lines;
use crate::operations::plans::plan_check::{PlanCheck, PlanComparison, check_plan, compare_plan};
use crate::operations::plans::plan_file::read;
use crate::operations::plans::plan_overview::{MovedPairs, read_overview};
use crate::operations::plans::plan_verdict::{
    DriftReport, ExcludedElement, PlanFit, RemainingDifference, StalePlan,
};
use crate::operations::plans::route_plan::change_summary;
use crate::operations::preview::comparison::NO_TABLES;
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use clap::Args;
use fabdeck_change::{CertificateScope, CutOffReport, Plan, TransitionReport};
use fabdeck_fabric::observe::digits_in_groups;

pub const PLAN: CommandEntry = CommandEntry::new(
    "plan",
    "Read plans",
    "What a plan would do, whether it still fits, and how the fabric differs from it.",
);

pub const PLAN_SHOW: CommandEntry =
    CommandEntry::new("plan show", "What a plan would do", "From the file alone.")
        .examples(&["fabdeck plan show capture/reroute.plan"])
        .runs(&CommandFunction(show))
        .filter(FilterUse::Refused("plan"))
        .at(OptionUse::Used)
        .assume(OptionUse::Refused(PLAN_STATES_ASSUMPTION))
        .json(&[JsonSchema::answer::<PlanShowAnswer<'_>>("plan-show").without_source()]);

pub const PLAN_CHECK: CommandEntry = CommandEntry::new(
    "plan check",
    "Whether a plan still fits its fabric",
    "A plan is for one fabric in one state. If the fabric has changed, the plan is stale, and the first \
     difference is named (exit code 3). Otherwise the tables of the plan are certified again.",
)
.needs_fabric()
.examples(&["fabdeck --source umad plan check capture/reroute.plan"])
.runs(&CommandFunction(check))
.filter(FilterUse::Refused("plan"))
.at(OptionUse::Used)
.assume(OptionUse::Refused(PLAN_STATES_ASSUMPTION))
.json(&[JsonSchema::answer::<PlanCheckAnswer<'_>>("plan-check")]);

pub const PLAN_DIFF: CommandEntry = CommandEntry::new(
    "plan diff",
    "Where the fabric differs from a plan",
    "The switches whose tables are not those of the plan.",
)
.needs_fabric()
.examples(&["fabdeck --source umad plan diff capture/reroute.plan"])
.runs(&CommandFunction(diff))
.filter(FilterUse::Refused("plan"))
.at(OptionUse::Used)
.assume(OptionUse::Refused(PLAN_STATES_ASSUMPTION))
.json(&[JsonSchema::answer::<PlanDiffAnswer<'_>>("plan-diff")]);

const PLAN_STATES_ASSUMPTION: &str =
    "FD-7205: leave out --assume: a plan states which tables were assumed when it was made";

#[derive(Debug, Args)]
pub struct PlanFileArgs {
    /// A plan, as `route` and other commands write it with -o
    plan: PathBuf,
}

#[derive(Debug, Args)]
pub struct PlanCheckArgs {
    #[command(flatten)]
    file: PlanFileArgs,
    /// Judge paths from and to switches too, even if the plan was made without them
    #[arg(long)]
    switches: bool,
}

fn show(context: &mut Context<'_, '_>, args: &PlanFileArgs) -> Result<Exit, Failure> {
    let file = args.plan.as_path();
    let plan = read(file)?;
    if context.output.json {
        context.write_plain_answer("plan-show", PlanShowAnswer { plan: &plan })?;
        return Ok(Exit::Done);
    }
    let lines = lines(&plan);
    context.output.write_pairs(&lines)?;
    Ok(Exit::Done)
}

fn lines(plan: &Plan) -> Vec<(&'static str, String)> {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), digits_in_groups);
    let overview = read_overview(plan);
    let assumed = plan.assumed.as_ref().map(|engine| {
        (
            "assumed",
            format!("the tables in force are those of {engine}; the plan can be applied to a simulator only"),
        )
    });
    let failed: Vec<&str> = plan.failed.iter().map(|failed| failed.element.as_str()).collect();
    let pairs = if plan.scope.switches { "paths of switches too" } else { "paths between terminals" };
    let deadlock = match overview.deadlock_free {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    let moved = match overview.moved_pairs {
        MovedPairs::NoTables => format!("not known: {NO_TABLES}"),
        MovedPairs::Count(pairs) => number(pairs),
    };
    let rows = vec![
        ("engine", plan.engine.clone()),
        ("made for", plan.source.clone()),
        ("failed", if failed.is_empty() { "nothing".to_owned() } else { failed.join(", ") }),
        ("created", or_unknown(&plan.created.as_deref().map(day_and_time))),
        ("author", or_unknown(&plan.author)),
        ("lanes", plan.lanes.summary()),
        ("judged over", pairs.to_owned()),
        ("unreachable", number(overview.unreachable)),
        ("deadlock free", deadlock.to_owned()),
        ("moved pairs", moved),
        ("changes", change_summary(plan)),
    ];
    let found = finding_lines(&plan.findings);
    let cut_off = plan.cut_off.words().map(|words| ("cuts off", words));
    let picks = (!plan.path_bits.is_empty()).then(|| {
        let how = "by path bits of the plan; convert --to path-bits lists them";
        ("hosts pick LIDs", how.to_owned())
    });
    let rows = rows
        .into_iter()
        .chain(picks)
        .chain(cut_off)
        .chain(overview.jobs.iter().flat_map(job_lines))
        .chain(migration_lines(plan))
        .chain(phase_lines(plan));
    assumed.into_iter().chain(rows).chain(plan.transition.lines()).chain(found).collect()
}

/// The jobs for which the plan was made, with their figures under the tables before the plan and under its own.
fn job_lines(JobGain { count, now, then }: &JobGain) -> [(&'static str, String); 3] {
    let before = now.as_ref().map_or_else(|| "not known without tables".to_owned(), job_figures_words);
    [
        ("for jobs", format!("{} that ran when the plan was made", count_words(*count, "job", "jobs"))),
        ("jobs now", before),
        ("jobs then", job_figures_words(then)),
    ]
}

fn check(context: &mut Context<'_, '_>, args: &PlanCheckArgs) -> Result<Exit, Failure> {
    let (plan, switches) = (read(&args.file.plan)?, args.switches);
    let PlanCheck { snapshot, fit, judged, failed } = check_plan(&mut context.operation(), &plan, switches)?;
    if context.output.json {
        let answer = PlanCheckAnswer {
            stale: false,
            applied: fit == PlanFit::Applied,
            failed: &failed,
            scope: CertificateScope { switches: switches || plan.scope.switches },
            unmet_switches: judged.unmet.as_deref(),
            transition: &judged.transition,
            cut_off: &judged.cut_off,
            findings: &judged.findings,
            report: SortedKeys(&judged.report),
        };
        context.write_answer("plan-check", &snapshot, answer)?;
    } else {
        let mut pairs = vec![("stale", fit.words())];
        pairs.extend(super::check::premises(&snapshot));
        pairs.extend(failed.iter().map(|failed| {
            let there = if failed.found { "still present, and not used" } else { "gone" };
            ("failed", format!("{}: {there}", failed.element))
        }));
        pairs.extend(judged.cut_off.words().map(|words| ("cuts off", words)));
        pairs.push(("lanes", lanes_line(&plan, judged.unmet.as_deref())));
        pairs.extend(example_lines(judged.unmet.as_deref().unwrap_or_default()));
        pairs.extend(crate::operations::check::certificate_text::report_lines(&judged.report));
        pairs.extend(judged.transition.lines());
        pairs.extend(finding_lines(&judged.findings));
        context.output.write_pairs(&pairs)?;
    }
    let concluded = context.conclude(&snapshot);
    Ok(if judged.findings.is_empty() { concluded } else { Exit::Findings })
}

/// Lines with the first ten names.
fn example_lines(names: &[String]) -> impl Iterator<Item = (&'static str, String)> {
    names.iter().take(10).map(|name| ("  such as", name.clone()))
}

/// The lanes of a plan, and the switches that do not have them yet.
fn lanes_line(plan: &Plan, unmet: Option<&[String]>) -> String {
    let summary = plan.lanes.summary();
    match unmet {
        _ if plan.lanes.is_by_hop() => format!("{summary}; the plan writes the SL2VL tables"),
        _ if plan.lanes.count == 1 => summary,
        None => format!("{summary}; no switch reports its SL2VL tables"),
        Some(unmet) => {
            let switches = count_words(unmet.len(), "switch does not put", "switches do not put");
            format!("{summary}; {switches} each level on the lane of its number")
        }
    }
}

fn diff(context: &mut Context<'_, '_>, args: &PlanFileArgs) -> Result<Exit, Failure> {
    let plan = read(&args.plan)?;
    let PlanComparison { snapshot, fit, difference } = compare_plan(&mut context.operation(), &plan)?;
    let stale = fit.stale();
    if context.output.json {
        let answer = PlanDiffAnswer {
            stale: stale.map(StalePlan::words),
            applied: fit == PlanFit::Applied,
            drift: stale.map(|stale| &stale.drift),
            difference: SortedKeys(&difference),
        };
        context.write_answer("plan-diff", &snapshot, answer)?;
    } else {
        let mut pairs = vec![("stale", fit.words())];
        let switches = count_words(difference.switches.len(), "switch differs", "switches differ");
        pairs.push(("tables", format!("{switches} from the plan")));
        pairs.extend(example_lines(&difference.switches));
        pairs.push(("lanes", lanes_line(&plan, difference.lanes.as_deref())));
        pairs.extend(example_lines(difference.lanes.as_deref().unwrap_or_default()));
        context.output.write_pairs(&pairs)?;
    }
    let concluded = context.conclude(&snapshot);
    let differs = !difference.switches.is_empty() || difference.lanes.is_some_and(|lanes| !lanes.is_empty());
    Ok(match stale {
        Some(_) => Exit::Stale,
        None if differs => Exit::Findings,
        None => concluded,
    })
}

json_answer! {
    struct PlanShowAnswer<'a> {
        plan: &'a Plan,
    }

    struct PlanCheckAnswer<'a> {
        stale: bool,
        applied: bool,
        failed: &'a [ExcludedElement<'a>],
        scope: CertificateScope,
        unmet_switches: Option<&'a [String]>,
        transition: &'a TransitionReport,
        cut_off: &'a CutOffReport,
        findings: &'a [String],
        report: SortedKeys<&'a CertificateReport>,
    }

    struct PlanDiffAnswer<'a> {
        stale: Option<String>,
        applied: bool,
        drift: Option<&'a DriftReport>,
        difference: SortedKeys<&'a RemainingDifference>,
    }
}
