//! Routes in the order of algorithm 5.1.

use super::crowds::{Crowds, NOBODY};
use crate::fabric::Routes;
use crate::routing::balance::{Among, Balance, Weigh};
use crate::routing::columns::{Columns, End, ends};
use crate::routing::descent::Descent;
use crate::routing::dfsssp::{self, on_lanes};
use crate::routing::engine::{Answer, Pulse, Refusal, Request};
use crate::routing::problem::Problem;
use crate::routing::ranks::Computing;
use crate::routing::sssp::{senders, spread};

pub const ID: &str = "sar";

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    if request.jobs.is_empty() {
        let mut answer = dfsssp::route(problem, request, pulse)?;
        answer.remarks.insert(0, "no jobs are given (--jobs FILE), so these are dfsssp's routes".to_owned());
        return Ok(answer);
    }
    let order = Order::new(problem, request);
    on_lanes(ID, problem, request.lanes, pulse, |among| balanced(problem, &order, among, pulse))
}

/// Destinations in the order of algorithm 5.1.
struct Order {
    crowds: Crowds,
    /// What jobs run on, with who shares a job with it.
    working: Vec<End>,
    crowd: Vec<u32>,
    storage: Vec<End>,
    others: Vec<End>,
}

impl Order {
    fn new(problem: &Problem<'_>, request: &Request) -> Self {
        let crowds = Crowds::new(problem, &request.jobs);
        let computing = Computing::new(problem.fabric, request);
        let mut working = Vec::new();
        let (mut storage, mut others) = (Vec::new(), Vec::new());
        for end in ends(problem, spread(problem.graph.switch_count() as u32)) {
            let terminals = problem.graph.terminals_of(end.switch);
            let terminal = terminals.iter().find(|terminal| terminal.switch_port == end.to.port);
            match terminal.map(|terminal| (crowds.of(terminal.port), terminal.port)) {
                Some((NOBODY, port)) if computing.serves(port) => storage.push(end),
                None | Some((NOBODY, _)) => others.push(end),
                Some((crowd, _)) => working.push((crowd, end)),
            }
        }
        // Ends of one switch that are as large stay together, by LID.
        working.sort_by_key(|(crowd, _)| std::cmp::Reverse(crowds.largest_job(*crowd)));
        let (crowd, working) = working.into_iter().unzip();
        Self { crowds, working, crowd, storage, others }
    }
}

fn balanced(
    problem: &Problem<'_>,
    order: &Order,
    among: Among,
    pulse: &dyn Pulse,
) -> Result<Routes, Refusal> {
    let mut columns = Columns::new(problem, pulse);
    let new = |columns: &Columns<'_>| Balance::new(columns.net(), among, Weigh::Paths);
    let mut balance = new(&columns);
    let mut sent = order.crowds.sent(problem.graph.switch_count());
    let mut crowd = order.crowd.iter();
    columns.grow(&order.working, &mut balance, &mut |balance: &mut Balance, descent: &Descent, _: End| {
        if let Some(crowd) = crowd.next() {
            balance.load(descent, sent.by(*crowd));
        }
    })?;
    let senders = senders(problem);
    for ends in [&order.storage, &order.others] {
        let mut balance = new(&columns);
        columns.grow(ends, &mut balance, &mut |balance: &mut Balance, descent: &Descent, end: End| {
            if !end.to.is_switch() {
                balance.load(descent, &senders);
            }
        })?;
    }
    Ok(columns.routes())
}
