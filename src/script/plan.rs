//! `plan show`, `plan check` and `plan diff`.

use std::path::Path;

use crate::access::Wanted;
use crate::change::{Plan, Scope};
use crate::session::{Look, Stale, ahead, assume, counted, failed, judge, stale};

use super::args::PlanAction;
use super::context::Context;
use super::route::changes;
use super::table::write_pairs;
use super::{Exit, Failure};

pub fn run(context: &mut Context<'_, '_>, action: &PlanAction) -> Result<Exit, Failure> {
    context.refuse_filter("plan")?;
    match action {
        PlanAction::Show { plan } => show(context, plan),
        PlanAction::Check { plan, switches } => check(context, plan, *switches),
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
    let failed: Vec<&str> = plan.failed.iter().map(|failed| failed.element.as_str()).collect();
    let pairs = if plan.scope.switches { "paths of switches too" } else { "paths between terminals" };
    let told = vec![
        ("engine", plan.engine.clone()),
        ("made for", plan.source.clone()),
        ("failed", if failed.is_empty() { "nothing".to_owned() } else { failed.join(", ") }),
        ("created", or_none(&plan.created)),
        ("author", or_none(&plan.author)),
        ("lanes", plan.lanes.summary()),
        ("judged over", pairs.to_owned()),
        ("unreachable", number(&plan.certificate["unreachable"])),
        ("deadlock free", plan.certificate["deadlock_free"].to_string()),
        ("moved pairs", number(&plan.impact["moved_pairs"])),
        ("changes", changes(plan)),
    ];
    assumed.into_iter().chain(told).chain(plan.transition.lines()).collect()
}

/// A plan for another fabric, or another state of it, says nothing about this one.
pub fn refuse_stale(context: &mut Context<'_, '_>, look: &Look, plan: &Plan) -> Result<(), Failure> {
    let Some(stale) = stale(look, plan) else { return Ok(()) };
    context.conclude(look);
    let what =
        format!("FD-7932: the plan is stale: {}; make it again for the fabric as it is", stale.words());
    Err(Failure::new(Exit::Stale, what))
}

/// Says in one line what a plan's certificate and transition find fault with.
pub fn warn(context: &mut Context<'_, '_>, plan: &Plan) {
    let found = plan.findings();
    if !found.is_empty() {
        context.output.say(&format!("warning: the plan has findings: {}", found.join("; ")));
    }
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

fn check(context: &mut Context<'_, '_>, file: &Path, switches: bool) -> Result<Exit, Failure> {
    let plan = read(file)?;
    let lanes = !plan.fingerprint.lanes.is_empty();
    let mut look = context.look(Wanted { tables: true, lanes, ..Wanted::default() })?;
    assume_as(&mut look, &plan)?;
    refuse_stale(context, &look, &plan)?;
    let report = judge(&look, &plan, switches)?;
    let failed = failed(&look, &plan);
    if context.output.json {
        let mut object = context.object("plan-check", &look)?;
        object.field("stale", &false)?;
        object.field("failed", &failed)?;
        object.field("scope", &Scope { switches: switches || plan.scope.switches, ..plan.scope })?;
        object.field("transition", &plan.transition)?;
        object.fields(&report)?;
        object.end()?;
    } else {
        let mut pairs = vec![("stale", "no: the fabric is as it was".to_owned())];
        pairs.extend(super::check::assumed(&look));
        pairs.extend(failed.iter().map(|failed| {
            let there = if failed.found { "there still, and left alone" } else { "gone" };
            ("failed", format!("{}: {there}", failed.element))
        }));
        pairs.push(("lanes", plan.lanes.summary()));
        pairs.extend(crate::session::report_lines(&report));
        pairs.extend(plan.transition.lines());
        write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    }
    let concluded = context.conclude(&look);
    let unsafe_live = plan.transition.safe == Some(false);
    Ok(if report.findings() || unsafe_live { Exit::Findings } else { concluded })
}

fn diff(context: &mut Context<'_, '_>, file: &Path) -> Result<Exit, Failure> {
    let plan = read(file)?;
    let lanes = !plan.fingerprint.lanes.is_empty();
    let mut look = context.look(Wanted { tables: true, lanes, ..Wanted::default() })?;
    assume_as(&mut look, &plan)?;
    let ahead = ahead(&look, &plan);
    let stale = stale(&look, &plan);
    if context.output.json {
        let mut object = context.object("plan-diff", &look)?;
        object.field("stale", &stale.as_ref().map(Stale::words))?;
        object.field("drift", &stale.as_ref().map(|stale| &stale.drift))?;
        object.fields(&ahead)?;
        object.end()?;
    } else {
        let words = stale.as_ref().map(Stale::words);
        let mut pairs = vec![("stale", words.unwrap_or_else(|| "no: the fabric is as it was".to_owned()))];
        let such_as = |names: &[String]| {
            names.iter().take(10).map(|name| ("  such as", name.clone())).collect::<Vec<_>>()
        };
        let switches = counted(ahead.switches.len(), "switch", "switches");
        pairs.push(("tables", format!("{switches} to write, for what the plan leads to")));
        pairs.extend(such_as(&ahead.switches));
        let wrong = ahead.lanes.as_deref().unwrap_or_default();
        let switches = counted(wrong.len(), "switch does not put", "switches do not put");
        pairs.push((
            "lanes",
            match (&ahead.lanes, plan.lanes.count) {
                (_, 1) => plan.lanes.summary(),
                (None, _) => format!("{}; no switch tells what it does with levels", plan.lanes.summary()),
                (Some(_), _) => {
                    format!("{}; {switches} each level on the lane of its number", plan.lanes.summary())
                }
            },
        ));
        pairs.extend(such_as(wrong));
        write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    }
    let concluded = context.conclude(&look);
    let differs = !ahead.switches.is_empty() || ahead.lanes.is_some_and(|lanes| !lanes.is_empty());
    Ok(match stale {
        Some(_) => Exit::Stale,
        None if differs => Exit::Findings,
        None => concluded,
    })
}
