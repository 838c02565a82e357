//! Routes in the order of algorithm 5.1.

use super::by_destination;
use super::job_classes::{JobClasses, NO_CLASS};
use crate::balance::{ChannelBalance, PathChoice};
use crate::column_writer::{ColumnWriter, GrowthPass, PlacedDestination, placed_destinations};
use crate::dfsssp::route_on_lanes;
use crate::engine::{EngineAnswer, EngineRefusal, LaneDependence, Request, RouteProgress};
use crate::problem::Problem;
use crate::ranks::ComputeAdapters;
use crate::sssp::{self, AdapterSenders, spread_order};
use fabdeck_fabric::{PathLanes, Routes};

/// Not in the paper: most passes that reroute within jobs. `PATIENCE` passes without gain end them earlier.
const MAX_PASSES: usize = 9;
/// Destinations, times channels, that this may take; once is always worth it.
const MAX_WORK: usize = 150_000_000;
const PATIENCE: usize = 2;
/// Ratio of loads of the busiest channel from which the higher one counts as notably more.
const NOTABLE_LOAD_RATIO: (u64, u64) = (21, 20);

pub const ID: &str = "sar";

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let order = (!request.jobs.is_empty()).then(|| SarOrder::new(problem, request));
    let mut answer = match &order {
        Some(order) => {
            route_on_lanes(ID, problem, request, pulse, |among| balance_routes(problem, order, among, pulse))
        }
        None => {
            route_on_lanes(ID, problem, request, pulse, |among| sssp::route_balanced(problem, among, pulse))
        }
    };
    if request.lanes_by == LaneDependence::Destination {
        let fits = |answer: &EngineAnswer| !matches!(answer.routes.lanes, PathLanes::ByPair { .. });
        match &answer {
            Ok(answer) if fits(answer) => {}
            Ok(_) | Err(EngineRefusal::Lanes { .. }) => {
                answer = by_destination::route(problem, request, order.as_ref(), pulse);
            }
            Err(_) => {}
        }
    }
    if order.is_none() {
        let none = "no job runs, or none is given (--jobs FILE), so all adapters have the same weight, as with dfsssp";
        answer.iter_mut().for_each(|answer| answer.remarks.insert(0, none.to_owned()));
    }
    answer
}

/// Destinations in the order of algorithm 5.1.
pub(super) struct SarOrder {
    pub(super) job_classes: JobClasses,
    /// Adapters on which jobs run.
    pub(super) working: Vec<PlacedDestination>,
    storage: Vec<PlacedDestination>,
    others: Vec<PlacedDestination>,
}

impl SarOrder {
    fn new(problem: &Problem<'_>, request: &Request) -> Self {
        let job_classes = JobClasses::new(problem, &request.jobs);
        let computing = ComputeAdapters::new(problem.fabric, request);
        let (mut working, mut storage, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for end in placed_destinations(problem, spread_order(problem.graph.switch_count() as u32)) {
            let terminals = problem.graph.terminals_of(end.switch);
            let terminal = terminals.iter().find(|terminal| terminal.switch_port == end.to.port);
            match job_classes.class_of(end.to.lid) {
                NO_CLASS if terminal.is_some_and(|end| computing.is_io(end.port)) => storage.push(end),
                NO_CLASS => others.push(end),
                class => working.push((job_classes.largest_job(class), end)),
            }
        }
        // Ends of one switch whose jobs are as large stay together, by LID.
        working.sort_by_key(|(nodes, _)| std::cmp::Reverse(*nodes));
        let working = working.into_iter().map(|(_, end)| end).collect();
        Self { job_classes, working, storage, others }
    }
}

fn balance_routes(
    problem: &Problem<'_>,
    order: &SarOrder,
    among: PathChoice,
    pulse: &dyn RouteProgress,
) -> Result<Routes, EngineRefusal> {
    let mut columns = ColumnWriter::new(problem, pulse);
    route_within_jobs(problem, order, among.clone(), &mut columns)?;
    for ends in [&order.storage, &order.others] {
        let mut balance = ChannelBalance::new(columns.neighbours(), among.clone());
        columns.grow_trees(ends, GrowthPass::First, &mut balance, &mut AdapterSenders::new(problem))?;
    }
    Ok(columns.into_routes())
}

/// Routes to what jobs run on: those of algorithm 5.1, then made again as long as that is worth it. First each job counts for
/// itself too; then all count together alone, and what comes of that is taken where the busiest channel gains notably.
fn route_within_jobs(
    problem: &Problem<'_>,
    order: &SarOrder,
    among: PathChoice,
    columns: &mut ColumnWriter<'_>,
) -> Result<(), EngineRefusal> {
    let mut balance =
        ChannelBalance::new(columns.neighbours(), among.clone()).with_job_classes(order.job_classes.count());
    let mut sent = order.job_classes.class_paths(problem.graph.switch_count());
    let passes = pass_count(order.working.len(), problem.graph.channels().len());
    columns.add_expected(order.working.len() * passes);
    columns.grow_trees(&order.working, GrowthPass::First, &mut balance, &mut sent)?;
    let mut again = |columns: &mut ColumnWriter<'_>, balance: &mut ChannelBalance, passes: usize| {
        let (mut least, mut best) = (balance.total_load(), columns.routes().clone());
        let mut idle = 0;
        for pass in 1..=passes {
            columns.grow_trees(&order.working, GrowthPass::Again, balance, &mut sent)?;
            let load = balance.total_load();
            if load < least {
                (least, best) = (load, columns.routes().clone());
                idle = 0;
            } else {
                idle += 1;
            }
            if idle == PATIENCE {
                columns.skip(order.working.len() * (passes - pass));
                break;
            }
        }
        Ok((least.0, best))
    };
    let (each, of_each) = again(columns, &mut balance, passes / 4)?;
    balance.drop_job_classes();
    let (all, of_all) = again(columns, &mut balance, passes - passes / 4)?;
    columns.replace_routes(if is_notably_less(all, each) { of_all } else { of_each });
    Ok(())
}

/// How many passes over this number of destinations are worth their time.
fn pass_count(destinations: usize, channels: usize) -> usize {
    (MAX_WORK / (destinations * channels).max(1)).clamp(1, MAX_PASSES)
}

/// Whether a busiest channel carries notably less than another one.
fn is_notably_less(load: u32, than: u32) -> bool {
    u64::from(than) * NOTABLE_LOAD_RATIO.1 > u64::from(load) * NOTABLE_LOAD_RATIO.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, JobMap};
    use std::sync::Arc;

    #[test]
    fn adapters_without_a_job_are_storage_where_they_are_given_as_such() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let terminals = problem.graph.terminals();
        // The two adapters of one leaf: one serves, one idles; all others are in a job.
        let beside = terminals
            .iter()
            .position(|end| end.switch == terminals[0].switch && end.port != terminals[0].port);
        for (serves, idle) in [(0, beside.unwrap()), (beside.unwrap(), 0)] {
            let mut jobs = JobMap::default();
            let busy = (0..terminals.len()).filter(|at| ![serves, idle].contains(at));
            busy.clone().for_each(|at| jobs.add("1", terminals[at].port));
            let io_nodes = vec![fabric.node(fabric.port(terminals[serves].port).node).guid()];
            let request = Request { jobs: Arc::new(jobs), io_nodes, ..Request::default() };
            let order = SarOrder::new(&problem, &request);
            let lids = |ends: &[PlacedDestination]| {
                ends.iter().filter(|end| !end.to.is_switch()).map(|end| end.to.lid).collect::<Vec<_>>()
            };
            assert_eq!(lids(&order.storage), [terminals[serves].lid.unwrap()]);
            assert_eq!(lids(&order.others), [terminals[idle].lid.unwrap()]);
            assert_eq!(order.working.len(), busy.count());
        }
    }

    #[test]
    fn large_fabrics_have_fewer_passes() {
        let counts = [(0, 0), (3000, 1000), (15_000, 5000), (100_000, 100_000)];
        assert_eq!(counts.map(|(destinations, channels)| pass_count(destinations, channels)), [9, 9, 2, 1]);
    }

    #[test]
    fn a_twentieth_more_is_notable_from_there_on() {
        assert!(!is_notably_less(100, 100) && !is_notably_less(100, 105) && is_notably_less(100, 106));
        assert!(!is_notably_less(106, 100) && is_notably_less(0, 1) && !is_notably_less(0, 0));
    }
}
