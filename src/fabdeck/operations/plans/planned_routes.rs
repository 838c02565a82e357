//! Reads the fabric and makes a plan for the routes of one engine.

use super::phased_routing;
use super::phased_routing::PhasedHalf;
use super::phases::LidHalf;
use super::route_plan::{RoutedPlan, route_plan};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::loads::{JobFigures, job_figures_in_force};
use crate::operations::lanes::lanes_in_force::{LaneReading, read_snapshot};
use crate::operations::operation::Operation;
use crate::operations::preview::assume::assume_lids;
use crate::operations::preview::engine_request::{EngineOptions, MarkRequest, read_faults, route_request};
use crate::operations::preview::whatif::ProposalOptions;
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::Engine;

/// The routes to plan.
pub struct RoutesRequest {
    pub marks: MarkRequest,
    pub options: EngineOptions,
    pub engine: &'static Engine,
    /// The LIDs whose tables change, if those of the others stay.
    pub half: Option<LidHalf>,
}

/// The planned routes, with what they were compared with.
pub struct PlannedRoutes {
    pub snapshot: Snapshot,
    pub routed: RoutedPlan,
    /// Figures of the jobs under the tables in force.
    pub jobs: Option<JobFigures>,
    pub has_tables: bool,
}

/// Runs the engine on the marked fabric.
pub fn plan_routes(
    operation: &mut Operation<'_>,
    RoutesRequest { marks, options, engine, half }: &RoutesRequest,
) -> Result<PlannedRoutes, Failure> {
    let lanes = engine.writes_lane_tables;
    let wanted = ReadOptions { tables: true, lanes, ..ReadOptions::default() };
    let choice = LaneReading { choice: options.lanes_in_force, switches: options.switches };
    let (mut snapshot, in_force) = read_snapshot(operation, wanted, choice)?;
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
    let faults = read_faults(operation, &snapshot, marks)?;
    let request = route_request(operation.env, &mut snapshot, options)?;
    let agents = match half {
        Some(LidHalf::Base) => phased_routing::read_agents(operation, &mut snapshot, &faults)?,
        _ => Vec::new(),
    };
    let asked = ProposalOptions { request: &request, switches: options.switches, sent: in_force.sent() };
    let jobs = job_figures_in_force(&snapshot, &snapshot.observation.tables, &faults, &request.jobs);
    let routed = match half {
        None => route_plan(operation, &snapshot, &faults, engine, asked)?,
        Some(half) => phased_routing::route_in_phases(
            operation,
            &snapshot,
            &faults,
            engine,
            PhasedHalf { half: *half, agents: &agents },
            asked,
        )?,
    };
    Ok(PlannedRoutes { snapshot, routed, jobs, has_tables })
}
