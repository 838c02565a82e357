//! `route`: computes and certifies the routes of one engine, and writes a plan for them.

use super::context::Context;
use super::route_args::RoutePlanArgs;
use super::table::write_pairs;
use super::{check, staged_commands, whatif};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::certificate_text::{job_figures_words, report_lines};
use crate::operations::check::loads::{JobFigures, job_figures_in_force};
use crate::operations::lanes::lanes_in_force;
use crate::operations::plans::phased_routing;
use crate::operations::plans::phases::{LidHalf, phase_lines};
use crate::operations::plans::route_plan::{
    RoutedPlan, change_summary, findings_warning, route_plan, text_of_plan,
};
use crate::operations::preview::assume::assume_lids;
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::engine_names;
use crate::operations::preview::whatif::{EngineRow, Proposal, ProposalOptions, supposed_words};
use crate::system::output_file;
use fabdeck_change::Plan;
use fabdeck_mad::access::ReadOptions;

pub fn run(context: &mut Context<'_, '_>, args: &RoutePlanArgs) -> Result<Exit, Failure> {
    context.refuse_filter("route")?;
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
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let (mut snapshot, in_force) = lanes_in_force::read_snapshot(
        &mut context.operation(),
        wanted,
        (args.route.lanes_in_force, args.route.switches),
    )?;
    let has_tables = snapshot.observation.tables.has_forwarding();
    if !has_tables && half.is_some() {
        return Err(Failure::usage(
            "FD-7913: the source has no tables in force, so they cannot change in phases; put a dump of them beside the \
             topology (dump_lfts, opensm-lfts.dump), or assume those of an engine: --assume ENGINE",
        ));
    }
    if !has_tables {
        assume_lids(&mut snapshot);
    }
    let faults = whatif::read_faults(context, &snapshot, &args.fail)?;
    let request = whatif::route_request(context, &mut snapshot, &args.route)?;
    let agents = match half {
        Some(LidHalf::Base) => phased_routing::read_agents(&mut context.operation(), &mut snapshot, &faults)?,
        _ => Vec::new(),
    };
    let asked = ProposalOptions { request: &request, switches: args.route.switches, sent: in_force.sent() };
    let before = job_figures_in_force(&snapshot, &snapshot.observation.tables, &faults, &request.jobs);
    let RoutedPlan { mut plan, proposal, mut row } = match half {
        None => route_plan(&mut context.operation(), &snapshot, &faults, engine, asked)?,
        Some(half) => phased_routing::route_in_phases(
            &mut context.operation(),
            (&snapshot, &faults),
            engine,
            (half, &agents),
            (asked, &in_force),
        )?,
    };
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
    write(context, &snapshot, args, (&plan, before.as_ref()), &proposal, (&row, has_tables))?;
    findings_warning(&plan).iter().for_each(|line| context.output.print_message(line));
    let concluded = context.conclude(&snapshot);
    Ok(if plan.findings.is_empty() { concluded } else { Exit::Findings })
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    args: &RoutePlanArgs,
    (plan, before): (&Plan, Option<&JobFigures>),
    proposal: &Proposal,
    (row, has_tables): (&EngineRow, bool),
) -> Result<(), Failure> {
    if output_file::is_stdout(&args.output) {
        return Ok(());
    }
    let file = args.output.display().to_string();
    if context.output.json {
        let mut object = context.object("route", snapshot)?;
        object.fields(row)?;
        object.field("jobs_in_force", &before)?;
        object.field("plan", &file)?;
        object.field("cut_off", &plan.cut_off)?;
        object.field("findings", &plan.findings)?;
        return Ok(object.end()?);
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
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    proposal.remarks.iter().for_each(|remark| context.output.print_message(remark));
    if !proposal.not_used.is_empty() {
        context.output.print_message(&whatif::unused_option_note(&plan.engine, &proposal.not_used));
    }
    Ok(())
}
