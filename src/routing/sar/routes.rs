//! Routes in the order of algorithm 5.1.

use super::by_destination;
use super::crowds::{Crowds, NOBODY};
use crate::balance::{Among, Balance};
use crate::columns::{Columns, End, Pass, ends};
use crate::dfsssp::on_lanes;
use crate::engine::{Answer, LanesBy, Pulse, Refusal, Request};
use crate::problem::Problem;
use crate::ranks::Computing;
use crate::sssp::{self, All, spread};
use fabdeck_fabric::{Lanes, Routes};

/// Ours: routes within jobs are made again so many times at most, until so many times in a row nothing got better.
const PASSES: usize = 9;
/// Destinations, times channels, that this may take; once is always worth it.
const WORK: usize = 150_000_000;
const PATIENCE: usize = 2;
/// So many paths over the busiest channel beside so many are notably more.
const NOTABLY: (u64, u64) = (21, 20);

pub const ID: &str = "sar";

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let order = (!request.jobs.is_empty()).then(|| Order::new(problem, request));
    let mut answer = match &order {
        Some(order) => on_lanes(ID, problem, request, pulse, |among| balanced(problem, order, among, pulse)),
        None => on_lanes(ID, problem, request, pulse, |among| sssp::balanced(problem, among, pulse)),
    };
    if request.lanes_by == LanesBy::Destination {
        let fits = |answer: &Answer| !matches!(answer.routes.lanes, Lanes::ByPair { .. });
        match &answer {
            Ok(answer) if fits(answer) => {}
            Ok(_) | Err(Refusal::Lanes { .. }) => {
                answer = by_destination::route(problem, request, order.as_ref(), pulse);
            }
            Err(_) => {}
        }
    }
    if order.is_none() {
        let none =
            "no job runs, or none is given (--jobs FILE), so that all adapters weigh alike, as with dfsssp";
        answer.iter_mut().for_each(|answer| answer.remarks.insert(0, none.to_owned()));
    }
    answer
}

/// Destinations in the order of algorithm 5.1.
pub(super) struct Order {
    pub(super) crowds: Crowds,
    /// What jobs run on.
    pub(super) working: Vec<End>,
    storage: Vec<End>,
    others: Vec<End>,
}

impl Order {
    fn new(problem: &Problem<'_>, request: &Request) -> Self {
        let crowds = Crowds::new(problem, &request.jobs);
        let computing = Computing::new(problem.fabric, request);
        let (mut working, mut storage, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for end in ends(problem, spread(problem.graph.switch_count() as u32)) {
            let terminals = problem.graph.terminals_of(end.switch);
            let terminal = terminals.iter().find(|terminal| terminal.switch_port == end.to.port);
            match crowds.of(end.to.lid) {
                NOBODY if terminal.is_some_and(|end| computing.serves(end.port)) => storage.push(end),
                NOBODY => others.push(end),
                crowd => working.push((crowds.largest_job(crowd), end)),
            }
        }
        // Ends of one switch whose jobs are as large stay together, by LID.
        working.sort_by_key(|(nodes, _)| std::cmp::Reverse(*nodes));
        let working = working.into_iter().map(|(_, end)| end).collect();
        Self { crowds, working, storage, others }
    }
}

fn balanced(
    problem: &Problem<'_>,
    order: &Order,
    among: Among,
    pulse: &dyn Pulse,
) -> Result<Routes, Refusal> {
    let mut columns = Columns::new(problem, pulse);
    within_jobs(problem, order, among.clone(), &mut columns)?;
    for ends in [&order.storage, &order.others] {
        let mut balance = Balance::new(columns.net(), among.clone());
        columns.grow(ends, Pass::First, &mut balance, &mut All::new(problem))?;
    }
    Ok(columns.into_routes())
}

/// Routes to what jobs run on: those of algorithm 5.1, then made again as long as that is worth it. First each job counts for
/// itself too; then all count together alone, and what comes of that is taken where the busiest channel gains notably.
fn within_jobs(
    problem: &Problem<'_>,
    order: &Order,
    among: Among,
    columns: &mut Columns<'_>,
) -> Result<(), Refusal> {
    let mut balance = Balance::new(columns.net(), among.clone()).with_crowds(order.crowds.count());
    let mut sent = order.crowds.sent(problem.graph.switch_count());
    let pass = order.working.len() * problem.graph.channels().len();
    let passes = (WORK / pass.max(1)).clamp(1, PASSES);
    columns.expect(order.working.len() * passes);
    columns.grow(&order.working, Pass::First, &mut balance, &mut sent)?;
    let mut again = |columns: &mut Columns<'_>, balance: &mut Balance, passes: usize| {
        let (mut least, mut best) = (balance.load_of_all(), columns.routes().clone());
        let mut idle = 0;
        for pass in 1..=passes {
            columns.grow(&order.working, Pass::Again, balance, &mut sent)?;
            let load = balance.load_of_all();
            if load < least {
                (least, best) = (load, columns.routes().clone());
                idle = 0;
            } else {
                idle += 1;
            }
            if idle == PATIENCE {
                columns.pass_over(order.working.len() * (passes - pass));
                break;
            }
        }
        Ok((least.0, best))
    };
    let (each, of_each) = again(columns, &mut balance, passes / 4)?;
    balance.without_crowds();
    let (all, of_all) = again(columns, &mut balance, passes - passes / 4)?;
    let notably = u64::from(each) * NOTABLY.1 > u64::from(all) * NOTABLY.0;
    columns.become_again(if notably { of_all } else { of_each });
    Ok(())
}
