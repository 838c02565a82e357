//! Fat-tree routing (Zahavi; dissertation 3.3.5): shortest paths up and then down, each destination by a main path of
//! its own, so that shift permutations meet nowhere on a full k-ary n-tree.
//!
//! Paths may go across once between switches of one height, as racks joined in pairs do. What has no such path, spine
//! to spine for one, is left without an entry; `sftree` serves it.

use super::acyclic::{Wanted, best_reading, even_out};
use super::engine::{Answer, Pulse, Refusal, Request};
use super::problem::Problem;
use super::ranks::{self, Ranks};
use super::updown::{Order, fill};

pub const ID: &str = "ftree";

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let found = ranks::find(ID, problem, request)?;
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let make = |ranks: &Ranks| {
        let order = Order::new(&problem.graph, &ranks.height, false);
        let mut routes = fill(problem, &order, request, pulse)?;
        let evened = even_out(problem, (request, pulse), Wanted::BetweenHosts, &mut routes)?;
        Ok((evened, Answer { routes, remarks: vec![ranks.remark.clone()], degraded: false }))
    };
    best_reading(ID, problem, request, found, make)
}
