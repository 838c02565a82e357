//! `route`: routes of one engine, certified, and a plan to get there.

use std::path::Path;

use crate::change::Plan;
use crate::session::{EngineRow, Look, Made, Proposal, UnwrittenPlan, plan_of, propose, report_lines};

use super::args::RoutePlanArgs;
use super::check;
use super::context::Context;
use super::table::write_pairs;
use super::{Exit, Failure, target, whatif};

pub fn run(context: &mut Context<'_, '_>, args: &RoutePlanArgs) -> Result<Exit, Failure> {
    context.refuse_filter("route")?;
    let engine = whatif::engine_named(&args.engine)?;
    let look = context.look_with_tables()?;
    if !look.observation.tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7913: the source has no forwarding tables, so what a plan would change cannot be said; put a dump of \
             them beside the topology (dump_lfts, opensm-lfts.dump), or say whose to assume: --assume ENGINE",
        ));
    }
    refuse_other_file(&args.output)?;
    let faults = whatif::faults(context, &look, &args.fail)?;
    let request = whatif::request(context, &look, &args.route)?;
    let tables = &look.observation.tables;
    let begun = std::time::Instant::now();
    let outcome = context.watched(engine.id, |pulse| {
        propose(&look, tables, &faults, engine, &request, args.route.switches, pulse)
    });
    let seconds = (!context.globals.no_times).then(|| begun.elapsed().as_secs_f64());
    let row = EngineRow::new(engine.id, outcome.as_ref(), seconds);
    let proposal = outcome?;
    let times = !context.globals.no_times;
    let made = Made {
        created: times.then(|| jiff::Timestamp::now().to_string()),
        author: std::env::var("USER").ok().filter(|_| times),
    };
    let unwritten = |error: UnwrittenPlan| Failure::new(Exit::Failed, error.to_string());
    let plan = plan_of(&look, &faults, engine.id, &proposal, made).map_err(unwritten)?;
    let text = plan.text().map_err(|error| unwritten(error.into()))?;
    target::write(&mut context.output, &args.output, text.as_bytes())?;
    write(context, &look, args, &plan, &proposal, &row)?;
    let concluded = context.conclude(&look);
    let found = proposal.report.faults();
    found.iter().for_each(|fault| context.output.say(&format!("{}: {fault}", engine.id)));
    Ok(if found.is_empty() { concluded } else { Exit::Findings })
}

/// A plan may take the place of a plan; any other file is one that somebody still wants.
fn refuse_other_file(output: &Path) -> Result<(), Failure> {
    let held = std::fs::metadata(output).is_ok_and(|held| held.is_file() && held.len() > 0);
    let plan = || std::fs::read_to_string(output).is_ok_and(|text| text.contains("\"fabdeck.plan/"));
    if target::is_stdout(output) || !held || plan() {
        return Ok(());
    }
    let what = format!("FD-7922: {} is there and is no plan; name another file", output.display());
    Err(Failure::new(Exit::Failed, what))
}

fn write(
    context: &mut Context<'_, '_>,
    look: &Look,
    args: &RoutePlanArgs,
    plan: &Plan,
    proposal: &Proposal,
    row: &EngineRow,
) -> Result<(), Failure> {
    if target::is_stdout(&args.output) {
        return Ok(());
    }
    let file = args.output.display().to_string();
    if context.output.json {
        let mut object = context.object("route", look)?;
        object.fields(row)?;
        object.field("plan", &file)?;
        return Ok(object.end()?);
    }
    let mut lines: Vec<_> = check::assumed(look).into_iter().collect();
    lines.push(("engine", plan.engine.clone()));
    lines.extend(report_lines(&proposal.report));
    lines.push(("changes", changes(plan)));
    lines.push(("plan", file));
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    proposal.remarks.iter().for_each(|remark| context.output.say(remark));
    Ok(())
}

/// What a plan would write, in a sentence.
pub fn changes(plan: &Plan) -> String {
    let switches: std::collections::BTreeSet<&str> =
        plan.writes.iter().map(|write| write.switch.as_str()).collect();
    let safe = match plan.transition["safe"].as_bool() {
        Some(true) => "safe while traffic flows",
        Some(false) => "not safe while traffic flows",
        None => "whether it is safe while traffic flows is not known",
    };
    format!("{} blocks on {} switches; {safe}", plan.writes.len(), switches.len())
}
