//! `route --phases` and `route --high-lids`: plans for one half of the LIDs.

use super::context::Context;
use super::levels::InForce;
use super::route::{Routed, made};
use super::{Exit, Failure};
use crate::session::{Asked, EngineRow, Half, Look, Unphased, leaving, plan_of_half, propose, settled};
use fabdeck_fabric::{Faults, Lid};
use fabdeck_mad::access::{Source, Wanted};
use fabdeck_routing::Engine;

/// Adds lane tables to a snapshot, and asks which of its hosts have an agent.
pub fn agents(
    context: &mut Context<'_, '_>,
    look: &mut Look,
    faults: &Faults,
) -> Result<Vec<(Lid, Option<bool>)>, Failure> {
    let lids = leaving(look, faults).map_err(failure)?;
    let mut source = context.open(context.named_source()?)?;
    let source: &mut dyn Source = source.as_mut();
    // Asking for agents needs the subnet manager, which this reading finds.
    context.look_through(source, Wanted::default())?;
    context.read_lanes(source, look, None)?;
    let told = source.agents(&lids)?;
    Ok(lids.into_iter().zip(told).collect())
}

/// Routes with an engine and keeps one half of the LIDs.
pub fn routed(
    context: &mut Context<'_, '_>,
    (look, faults): (&Look, &Faults),
    engine: &'static Engine,
    (half, agents): (Half, &[(Lid, Option<bool>)]),
    (asked, in_force): (Asked<'_>, &InForce),
) -> Result<Routed, Failure> {
    let tables = &look.observation.tables;
    let begun = std::time::Instant::now();
    let outcome = context.watched(engine.id, |pulse| {
        let proposal = propose(look, tables, faults, engine, asked, pulse)?;
        settled(look, faults, proposal, asked.sent, pulse)
    });
    let proposal = outcome?;
    let made = made(context);
    let sent = in_force.sent();
    let half = (half, agents);
    let (plan, proposal) =
        plan_of_half((look, faults), (engine.id, &proposal), half, (sent, made), &fabdeck_routing::NoPulse)
            .map_err(failure)?;
    let seconds = (!context.globals.no_times).then(|| begun.elapsed().as_secs_f64());
    let row = EngineRow::new(engine.id, Ok(&proposal), seconds);
    Ok(Routed { plan, proposal, row })
}

fn failure(error: Unphased) -> Failure {
    let exit = match &error {
        Unphased::Plan(error) => super::route::exit_of(error),
        Unphased::Refused(_) => Exit::Failed,
        _ => Exit::Refused,
    };
    Failure::new(exit, error.to_string())
}
