//! Fat-tree routing (Zahavi; dissertation 3.3.5): shortest paths up and then down, each destination by a main path of
//! its own, so that shift permutations meet nowhere on a full k-ary n-tree.
//!
//! Paths may go across once between switches of one height, as racks joined in pairs do. What has no such path, spine
//! to spine for one, is left without an entry; `sftree` serves it.

use super::acyclic::{CompletionScope, balance_tables, choose_reading};
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::Problem;
use super::ranks::{self, TreeRanks};
use super::updown::{TieBreak, TieBreaks, UpDownOrder, fill_tables};

pub const ID: &str = "ftree";

const TIE_BREAKS: TieBreaks = TieBreaks { adapters: TieBreak::First, switches: TieBreak::First };

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let found = ranks::find_ranks(ID, problem, request)?;
    pulse.check_cancelled()?;
    let make = |ranks: &TreeRanks| {
        let order = UpDownOrder::new(&problem.graph, &ranks.height, false);
        let mut routes = fill_tables(problem, &order, TIE_BREAKS, request, pulse)?;
        let evened = balance_tables(problem, request, pulse, CompletionScope::BetweenHosts, &mut routes)?;
        Ok((
            evened,
            EngineAnswer { routes, remarks: vec![ranks.remark.clone()], degraded: false, fell_back: None },
        ))
    };
    choose_reading(ID, problem, request, found, make)
}
