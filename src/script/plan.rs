//! `plan show`, `plan check` and `plan diff`.

use std::path::Path;

use crate::access::Wanted;
use crate::change::{Fingerprint, Plan};
use crate::routing::certificate::{LaneKnowledge, Scope};
use crate::session::{Look, assume, judged, marks};

use super::args::PlanAction;
use super::context::Context;
use super::route::changes;
use super::table::write_pairs;
use super::{Exit, Failure};

pub fn run(context: &mut Context<'_, '_>, action: &PlanAction) -> Result<Exit, Failure> {
    context.refuse_filter("plan")?;
    match action {
        PlanAction::Show { plan } => show(context, plan),
        PlanAction::Check { plan } => judge(context, plan),
        PlanAction::Diff { plan } => diff(context, plan),
    }
}

pub fn read(file: &Path) -> Result<Plan, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::BadInput, format!("{name}: FD-7931: cannot be read: {error}")))?;
    Plan::read(&text).map_err(|error| Failure::new(Exit::BadInput, format!("{name}: {error}")))
}

fn show(context: &mut Context<'_, '_>, file: &Path) -> Result<Exit, Failure> {
    let plan = read(file)?;
    if context.output.json {
        let mut object = context.plain_object("plan-show")?;
        object.field("plan", &plan)?;
        object.end()?;
        return Ok(Exit::Done);
    }
    let lines = lines(&plan);
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    Ok(Exit::Done)
}

fn lines(plan: &Plan) -> Vec<(&'static str, String)> {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "not told".to_owned());
    let number = |value: &serde_json::Value| {
        value.as_u64().map_or_else(|| "?".to_owned(), |number| number.to_string())
    };
    let assumed = plan.assumed.as_ref().map(|engine| {
        (
            "assumed",
            format!("the tables before it are those of {engine}; it can be applied to a simulator only"),
        )
    });
    let told = vec![
        ("engine", plan.engine.clone()),
        ("made for", plan.source.clone()),
        ("failed", if plan.failed.is_empty() { "nothing".to_owned() } else { plan.failed.join(", ") }),
        ("created", or_none(&plan.created)),
        ("author", or_none(&plan.author)),
        ("lanes", plan.lanes.summary()),
        ("unreachable", number(&plan.certificate["unreachable"])),
        ("deadlock free", plan.certificate["deadlock_free"].to_string()),
        ("moved pairs", number(&plan.impact["moved_pairs"])),
        ("changes", changes(plan)),
    ];
    assumed.into_iter().chain(told).collect()
}

/// A plan is for one fabric in one state; the first thing that is different now makes it stale.
fn stale(look: &Look, plan: &Plan) -> Option<String> {
    let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let now = Fingerprint::of(look.fabric(), &look.observation.tables, manager);
    plan.fingerprint.first_difference(&now)
}

/// A plan for another fabric, or another state of it, says nothing about this one.
pub fn refuse_stale(context: &mut Context<'_, '_>, look: &Look, plan: &Plan) -> Result<(), Failure> {
    let Some(difference) = stale(look, plan) else { return Ok(()) };
    context.conclude(look);
    let what = format!("FD-7932: the plan is stale: {difference}; make it again for the fabric as it is");
    Err(Failure::new(Exit::Stale, what))
}

/// A plan that was made on assumed tables is judged on the same.
pub fn assume_as(look: &mut Look, plan: &Plan) -> Result<(), Failure> {
    match &plan.assumed {
        Some(id) if !look.observation.tables.has_forwarding() => {
            Ok(assume(look, super::whatif::engine_named(id)?)?)
        }
        _ => Ok(()),
    }
}

fn judge(context: &mut Context<'_, '_>, file: &Path) -> Result<Exit, Failure> {
    let plan = read(file)?;
    let mut look = context.look(Wanted { tables: true, ..Wanted::default() })?;
    assume_as(&mut look, &plan)?;
    refuse_stale(context, &look, &plan)?;
    let faults = marks(&look, &plan.failed).map_err(|error| {
        Failure::new(
            Exit::BadInput,
            format!("FD-7933: what the plan has marked as failed is not found here: {error}; give the --node-name-map that it was made with"),
        )
    })?;
    let after = plan.outcome(look.fabric(), &look.observation.tables);
    let routes = plan.routes(look.fabric(), &after);
    let scope = Scope { switches: false, lanes: LaneKnowledge::Known };
    let report = judged(&look, &routes, &faults, &scope)?;
    if context.output.json {
        let mut object = context.object("plan-check", &look)?;
        object.field("stale", &false)?;
        object.fields(&report)?;
        object.end()?;
    } else {
        let mut pairs = vec![("stale", "no: the fabric is as it was".to_owned())];
        pairs.extend(super::check::assumed(&look));
        pairs.push(("lanes", plan.lanes.summary()));
        pairs.extend(crate::session::report_lines(&report));
        write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    }
    let concluded = context.conclude(&look);
    Ok(if report.findings() { Exit::Findings } else { concluded })
}

fn diff(context: &mut Context<'_, '_>, file: &Path) -> Result<Exit, Failure> {
    let plan = read(file)?;
    let mut look = context.look(Wanted { tables: true, ..Wanted::default() })?;
    assume_as(&mut look, &plan)?;
    let after = plan.outcome(look.fabric(), &look.observation.tables);
    let differs = |id| look.observation.tables.lft(id) != after.lft(id);
    let switches: Vec<&str> =
        look.fabric().switches().filter(|(id, _)| differs(*id)).map(|(id, _)| look.name(id)).collect();
    let stale = stale(&look, &plan);
    if context.output.json {
        let mut object = context.object("plan-diff", &look)?;
        object.field("stale", &stale)?;
        object.field("switches", &switches)?;
        object.end()?;
    } else {
        let mut pairs = vec![("stale", stale.unwrap_or_else(|| "no: the fabric is as it was".to_owned()))];
        pairs.push(("differ", format!("{} switches from what the plan leads to", switches.len())));
        pairs.extend(switches.iter().take(10).map(|name| ("  such as", (*name).to_owned())));
        write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    }
    let concluded = context.conclude(&look);
    Ok(if switches.is_empty() { concluded } else { Exit::Findings })
}
