//! The operation of `cabling`: reads the plan and the fabric, and finds out what each repair does to routes.

use std::path::PathBuf;
use std::sync::Arc;

use super::cabling_check::{CablingReport, check_cabling};
use super::engine_effect::{RepairEffect, RoutesInForce};
use super::finding_words::CablingNames;
use super::work_list::{WorkItem, route_words, work_list};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use fabdeck_files::cabling::CablingPlan;
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::Engine;

/// The plan to compare with, and the engine that the operator names.
#[derive(Clone, Debug)]
pub struct CablingRequest {
    pub plan: PathBuf,
    pub engine: Option<&'static Engine>,
}

/// What was read and computed. The comparison borrows the plan, so it is made anew from here.
#[derive(Debug)]
pub struct CablingAnswer {
    pub look: Snapshot,
    pub plan: Arc<CablingPlan>,
    /// The engine in force, where it is known.
    pub engine: Option<&'static str>,
    /// For each finding what its repair does to routes, and in the next field the same in words.
    pub effects: Vec<RepairEffect>,
    pub routes: Vec<String>,
}

impl CablingAnswer {
    pub fn report(&self) -> CablingReport<'_> {
        check_cabling(&self.look, &self.plan)
    }

    pub fn names<'n>(&'n self, report: &'n CablingReport<'n>) -> CablingNames<'n> {
        CablingNames { look: &self.look, bound: &report.bound }
    }

    /// The work list.
    pub fn work(&self, report: &CablingReport<'_>) -> Vec<WorkItem> {
        let names = CablingNames { look: &self.look, bound: &report.bound };
        work_list(&names, report, &self.routes)
    }
}

/// Compares the named source with a plan.
pub fn answer_cabling(
    operation: &mut Operation<'_>,
    request: &CablingRequest,
) -> Result<CablingAnswer, Failure> {
    operation.env.named_source()?;
    // A plan that cannot be read is refused before the fabric is asked anything.
    let plan = Arc::new(operation.env.outside.cabling_plan(&request.plan)?);
    let mut look = operation.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    operation.env.assume(&mut look)?;
    let report = check_cabling(&look, &plan);
    let (effects, engine) = operation.run_with_progress("cabling", |progress| {
        if report.findings.is_empty() {
            return (Vec::new(), None);
        }
        let mut routes = RoutesInForce::new(&look, request.engine);
        let effects: Vec<RepairEffect> =
            report.findings.iter().map(|finding| routes.effect(finding, progress)).collect();
        (effects, routes.known_engine().map(|engine| engine.id))
    });
    let routes = effects.iter().map(|effect| route_words(effect, engine)).collect();
    Ok(CablingAnswer { look, plan, engine, effects, routes })
}
