//! The weights of algorithm 5.1 inside the layers of `nue`, for a lane that depends on the destination alone. Nue has one
//! set of weights and searches its layers side by side, so two things are not the paper's: instead of being reset between
//! jobs, storage and others the weights count a path within a job so much more than any other path that these only fill
//! what jobs leave; and the largest job goes first behind each switch, not over the whole fabric.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::routes::Order;
use crate::columns::Senders;
use crate::engine::{Answer, Pulse, Refusal, Request};
use crate::nue::{Demand, route_for};
use crate::problem::Problem;

/// Paths that one within a job weighs as much as. With 16 or fewer nothing that was searched is better than `updn`'s routes on
/// TSUBAME2; beyond 64 little is won (docs/performance.md, job histories).
const WITHIN_A_JOB: u32 = 64;

pub(super) fn route(
    problem: &Problem<'_>,
    request: &Request,
    order: Option<&Order>,
    pulse: &dyn Pulse,
) -> Result<Answer, Refusal> {
    let plain =
        Request { roots: Vec::new(), compute_nodes: Vec::new(), io_nodes: Vec::new(), ..request.clone() };
    let demand = order.map(|order| demand(problem, order));
    let mut answer = route_for(problem, &plain, demand.as_ref(), pulse)?;
    let why = "shortest paths have no lane by destination here, so these are routes in the layers of nue";
    answer.remarks.insert(0, why.to_owned());
    if order.is_some() {
        let weight = format!("there, a path within a job counts as {WITHIN_A_JOB} paths on a channel");
        answer.remarks.insert(1, weight);
    }
    if !request.io_nodes.is_empty() {
        answer.remarks.push("there, I/O nodes weigh as all that no job runs on".to_owned());
    }
    Ok(answer)
}

/// A crowd, and the adapters beside one of it that send nothing to it.
type Whose<'c> = (u32, &'c [(u32, u32)]);

fn demand(problem: &Problem<'_>, order: &Order) -> Demand {
    let mut demand = Demand::default();
    let mut sent = order.crowds.sent(problem.graph.switch_count());
    let mut alike: FxHashMap<Whose<'_>, Arc<[u32]>> = FxHashMap::default();
    for (turn, end) in (0..).zip(&order.working) {
        let whose = (order.crowds.of(end.to.lid), order.crowds.siblings(end.to.lid));
        let senders = alike.entry(whose).or_insert_with(|| {
            let paths = sent.to(*end).unwrap_or_default();
            paths.iter().map(|paths| paths * WITHIN_A_JOB).collect()
        });
        demand.add(end.to.lid.index() as u32, turn, senders.clone());
    }
    demand
}
