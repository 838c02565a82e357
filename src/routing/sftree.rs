//! Fat-tree routing in which every switch reaches everything, on one lane (sFtree paper).
//!
//! - Hosts are routed as `ftree` routes them.
//! - In each connected part one switch at the bottom becomes the root of the subtree: the first from which every top is
//!   reached by going up (algorithm 1), else the one that reaches most; never the switch of the subnet manager while
//!   another serves as well.
//! - A pair without a path up and down goes down the subtree and up again (algorithm 2). `updown/order.rs` says which
//!   turns that takes, and what becomes of switches that the subtree does not serve.

use super::engine::{Answer, Pulse, Refusal, Request};
use super::problem::Problem;
use super::ranks;
use super::updown::{Order, fill_evenly};
use crate::fabric::NodeId;

pub const ID: &str = "sftree";

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let found = ranks::find(ID, problem, request)?;
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let mut order = Order::new(&problem.graph, &found.height, false);
    let roots = subtree_roots(problem, request, &order);
    order.complete(&problem.graph, &roots);
    let mut remarks = vec![found.remark];
    let name = |switch: u32| {
        let node = problem.fabric.node(NodeId(switch));
        format!("{} ({})", node.facts.description.trim(), node.guid())
    };
    remarks.extend(roots.iter().map(|root| format!("root of the subtree: {}", name(*root))));
    let grafted: Vec<u32> = order.grafted().collect();
    if let Some(first) = grafted.first() {
        let first = name(*first);
        let count = grafted.len();
        remarks.push(format!(
            "{count} switches are outside of what the subtree serves and hang on one cable each, {first} the first"
        ));
    }
    Ok(Answer { routes: fill_evenly(problem, &order, request, pulse)?, remarks })
}

/// Tops above a switch, whether it is not the manager's, whether it has hosts.
type Merit = (usize, bool, bool);

/// For each part the bottom switch with most tops above it; not the manager's, with hosts, the lowest GUID among equals.
pub(super) fn subtree_roots(problem: &Problem<'_>, request: &Request, order: &Order) -> Vec<u32> {
    let (part, parts) = problem.graph.parts();
    let hosts = ranks::hosts(problem, request);
    let fabric = problem.fabric;
    let managers = problem.graph.terminals().iter().filter(|terminal| {
        let node = fabric.node(fabric.port(terminal.port).node);
        request.manager == Some(node.guid())
    });
    let managers: Vec<u32> = managers.map(|terminal| terminal.switch).collect();
    let manages = |switch: u32| {
        managers.contains(&switch) || request.manager == Some(fabric.node(NodeId(switch)).guid())
    };
    let tops: Vec<usize> = order.tops().iter().map(Vec::len).collect();
    let mut best: Vec<Option<(Merit, u32)>> = vec![None; parts as usize];
    for switch in problem.switches().filter(|at| problem.graph.alive(*at) && order.down(*at).is_empty()) {
        let number = part[switch as usize] as usize;
        let fullest = (tops[number], true, true);
        if best[number].is_some_and(|(rank, _)| rank == fullest) {
            continue;
        }
        let reached = order.above(switch).into_iter().filter(|at| order.up(*at).is_empty()).count();
        let rank = (reached, !manages(switch), hosts[switch as usize] > 0);
        if best[number].is_none_or(|(least, _)| rank > least) {
            best[number] = Some((rank, switch));
        }
    }
    best.into_iter().flatten().map(|(_, switch)| switch).collect()
}
