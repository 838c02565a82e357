//! The weights of algorithm 5.1 inside the layers of `nue`, for a lane that depends on the destination alone. Nue has one
//! set of weights and searches its layers side by side, so two things are not the paper's: instead of being reset between
//! jobs, storage and others the weights count a path within a job so much more than any other path that these only fill
//! what jobs leave; and the largest job goes first behind each switch, not over the whole fabric.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::sar_routes::SarOrder;
use crate::column_writer::PathSenders;
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::nue::{Demand, route_for};
use crate::problem::Problem;

/// Paths that one within a job weighs as much as. With 16 or fewer nothing that was searched is better than `updn`'s routes on
/// TSUBAME2; beyond 64 little is won (docs/performance.md, job histories).
const JOB_PATH_WEIGHT: u32 = 64;

pub(super) fn route(
    problem: &Problem<'_>,
    request: &Request,
    order: Option<&SarOrder>,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let plain =
        Request { roots: Vec::new(), compute_nodes: Vec::new(), io_nodes: Vec::new(), ..request.clone() };
    let demand = order.map(|order| demand(problem, order));
    let mut answer = route_for(problem, &plain, demand.as_ref(), pulse)?;
    let why =
        "shortest paths cannot have lanes by destination here, so these are routes in the layers of nue";
    answer.remarks.insert(0, why.to_owned());
    if order.is_some() {
        let weight =
            format!("there, a path within a job has the weight of {JOB_PATH_WEIGHT} paths on a channel");
        answer.remarks.insert(1, weight);
    }
    if !request.io_nodes.is_empty() {
        answer.remarks.push("there, I/O nodes have the weight of nodes without a job".to_owned());
    }
    Ok(answer)
}

/// A job class, and the adapters of the destination's own host that send nothing to it.
type ClassKey<'c> = (u32, &'c [(u32, u32)]);

fn demand(problem: &Problem<'_>, order: &SarOrder) -> Demand {
    let mut demand = Demand::default();
    let mut sent = order.job_classes.class_paths(problem.graph.switch_count());
    let mut alike: FxHashMap<ClassKey<'_>, Arc<[u32]>> = FxHashMap::default();
    for (turn, end) in (0..).zip(&order.working) {
        let whose = (order.job_classes.class_of(end.to.lid), order.job_classes.siblings(end.to.lid));
        let senders = alike.entry(whose).or_insert_with(|| {
            let paths = sent.senders_to(*end).unwrap_or_default();
            paths.iter().map(|paths| paths * JOB_PATH_WEIGHT).collect()
        });
        demand.add(end.to.lid.index() as u32, turn, senders.clone());
    }
    demand
}
