//! `route`: computes and certifies the routes of one engine, and writes a plan for them.

use super::route_args::RoutePlanArgs;
use super::{check, staged_commands, whatif};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::certificate_text::{job_figures_words, report_lines};
use crate::operations::check::loads::JobFigures;
use crate::operations::plans::phases::{LidHalf, phase_lines};
use crate::operations::plans::planned_routes::{PlannedRoutes, RoutesRequest, plan_routes};
use crate::operations::plans::route_plan::{RoutedPlan, change_summary, findings_warning, text_of_plan};
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::engine_names;
use crate::operations::preview::whatif::{EngineRow, supposed_words};
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;
use fabdeck_change::CutOffReport;

pub const ROUTE: CommandEntry = CommandEntry::new(
    "route",
    "Route with one engine and write a plan",
    "The engine routes the fabric without the failed elements, and a certificate that does not trust the \
     engine is computed. The plan has the fabric that it is for, every block that would change with its old \
     and new bytes, the certificate, and the impact. On assumed tables it is a plan for simulators. Nothing \
     is sent to any switch. A certificate with findings ends with exit code 2.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&["fabdeck --source sim:demo route --engine minhop --fail switch:spine-2 -o reroute.plan"])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::answer::<RouteAnswer<'_>>("route")]);

fn run(context: &mut Context<'_, '_>, args: &RoutePlanArgs) -> Result<Exit, Failure> {
    if args.partitions.is_some() {
        return Err(Failure::usage(
            "FD-7925: a plan is judged over all pairs, because it has no partitions to check again when it is applied; \
             leave out --partitions, and use `check --partitions` for the tables",
        ));
    }
    // The check comes before the engine, which may take minutes.
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let engine = engine_names::engine_named(&args.engine)?;
    let half = match (args.phases, args.high_lids) {
        (true, _) => Some(LidHalf::Base),
        (_, true) => Some(LidHalf::High),
        _ => None,
    };
    let (marks, options) = (args.fail.marks(), args.route.options());
    let request = RoutesRequest { marks, options, engine, half };
    let PlannedRoutes { snapshot, routed, jobs: before, has_tables } =
        plan_routes(&mut context.operation(), &request)?;
    let RoutedPlan { mut plan, proposal, mut row } = routed;
    if half.is_none() {
        staged_commands::add_commands(&mut plan.transition, context.globals, args);
    }
    if !has_tables {
        row = row.without_tables();
    }
    (row.transition_safe, row.transition) = (plan.transition.safe, Some(plan.transition.clone()));
    let text = text_of_plan(&plan)?;
    output_file::refuse_unless_forced(&args.output, args.force)?;
    output_file::write(context.output.out, &args.output, text.as_bytes())?;
    let routed = RoutedPlan { plan, proposal, row };
    write(context, &snapshot, args, &routed, before.as_ref(), has_tables)?;
    let plan = routed.plan;
    findings_warning(&plan).iter().for_each(|line| context.output.print_message(line));
    let concluded = context.conclude(&snapshot);
    Ok(if plan.findings.is_empty() { concluded } else { Exit::Findings })
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    args: &RoutePlanArgs,
    routed: &RoutedPlan,
    before: Option<&JobFigures>,
    has_tables: bool,
) -> Result<(), Failure> {
    let RoutedPlan { plan, proposal, row } = routed;
    if output_file::is_stdout(&args.output) {
        return Ok(());
    }
    let file = args.output.display().to_string();
    if context.output.json {
        let answer = RouteAnswer {
            row: SortedKeys(row),
            jobs_in_force: before,
            plan: file,
            cut_off: &plan.cut_off,
            findings: &plan.findings,
        };
        return context.write_answer("route", snapshot, answer);
    }
    let mut lines = check::premises(snapshot);
    lines.push(("engine", plan.engine.clone()));
    lines.extend(report_lines(&proposal.report));
    lines.extend(supposed_words([row]).map(|words| ("lanes", words)));
    let job_lines = [("jobs now", before), ("  then", row.jobs.as_ref())];
    lines.extend(
        job_lines.into_iter().filter_map(|(when, figures)| Some((when, job_figures_words(figures?)))),
    );
    match has_tables {
        true => {
            lines.push(("changes", change_summary(plan)));
            lines.extend(phase_lines(plan));
            lines.extend(plan.transition.lines());
        }
        false => lines.push(("changes", format!("{NO_TABLES}, so the changes of the plan are unknown"))),
    }
    lines.extend(plan.cut_off.words().map(|words| ("cuts off", words)));
    lines.push(("plan", file));
    context.output.write_pairs(&lines)?;
    proposal.remarks.iter().for_each(|remark| context.output.print_message(remark));
    if !proposal.not_used.is_empty() {
        context.output.print_message(&whatif::unused_option_note(&plan.engine, &proposal.not_used));
    }
    Ok(())
}

json_answer! {
    struct RouteAnswer<'a> {
        row: SortedKeys<&'a EngineRow>,
        jobs_in_force: Option<&'a JobFigures>,
        plan: String,
        cut_off: &'a CutOffReport,
        findings: &'a [String],
    }
}
