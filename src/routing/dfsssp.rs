//! `dfsssp`: the routes of `sssp` on lanes, so that the dependencies of no lane have a cycle (dissertation 3.3.8), those
//! of paths from and to switches included. Between adapters every path is the one of `sssp`. Paths to a switch that fit
//! on no lane that adapters need follow a tree on lane 0; they may be longer than the shortest.

use super::engine::{Answer, Pulse, Refusal, Request};
use super::lanes::layer;
use super::problem::Problem;
use super::sssp;

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let mut routes = sssp::balanced(problem, pulse)?;
    let layered = layer(problem, &mut routes, pulse)?;
    // Lane 15 is for management.
    if layered.needed > request.lanes.min(15).into() {
        return Err(Refusal::Lanes { engine: "dfsssp", needed: layered.needed, given: request.lanes });
    }
    let mut remarks = Vec::new();
    if layered.between_adapters < layered.needed {
        remarks.push(format!(
            "paths between adapters take {} of the {} lanes, the others are for what switches send them",
            layered.between_adapters, layered.needed
        ));
    }
    if layered.escaped > 0 {
        remarks.push(format!(
            "paths to {} LIDs of switches follow a tree, as their shortest paths fit on no lane of the adapters",
            layered.escaped
        ));
    }
    Ok(Answer { routes, remarks })
}
