//! Runs the cells of a group: failures, routes and certificate once, then each measure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cell_plan::{CellGroup, StudyCell, StudyPlan};
use super::measure_kind::MeasureKind;
use super::planned_cells::{cell_row, group_row};
use super::study_row::{CellStatus, StudyRow, six_digits};
use super::traffic_measure::measure_traffic;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::cap_request;
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::generate::{FailureCounts, draw_failures};
use fabdeck_fabric::{Faults, NodeKind};
use fabdeck_routing::analysis::{FlowPaths, PermutationLoads};
use fabdeck_routing::certificate::{Certificate, RouteScope, certify};
use fabdeck_routing::{EngineAnswer, EngineRefusal, Problem, Request, RouteProgress};

/// Why a cell has no result.
#[derive(Debug)]
pub enum CellStop {
    /// The process is to end: nothing is recorded, and another run begins the cell anew.
    Cancelled,
    /// The cell is over, with this status and reason.
    Ended(CellStatus, String),
}

/// Ends the work on a cell when the process is to end or the real time of the cell is over.
pub struct CellProgress<'s> {
    pub stop: &'s StopFlag,
    pub deadline: Instant,
    pub wall: Duration,
}

impl RouteProgress for CellProgress<'_> {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.stop.is_requested() || Instant::now() >= self.deadline
    }
}

impl<'s> CellProgress<'s> {
    fn new(stop: &'s StopFlag, wall: Duration) -> Self {
        Self { stop, deadline: Instant::now() + wall, wall }
    }

    /// What a cancelled computation means.
    pub fn cancellation(&self) -> CellStop {
        match self.stop.is_requested() {
            true => CellStop::Cancelled,
            false => {
                let seconds = self.wall.as_secs_f64();
                let why = format!("the real time of {seconds} s for a cell is over; another run tries again");
                CellStop::Ended(CellStatus::Wall, why)
            }
        }
    }
}

/// The routes of a group, which all of its measures share.
pub struct GroupRoutes {
    pub answer: EngineAnswer,
    pub certificate: Certificate,
}

/// Runs cells. A worker has one of its own, which holds the last fabric.
pub struct CellRunner<'p> {
    plan: &'p StudyPlan,
    stop: &'p StopFlag,
    /// Whether the seconds of engines count: no other process shares the work.
    times: bool,
    held: Option<(usize, Arc<Snapshot>)>,
}

impl<'p> CellRunner<'p> {
    pub fn new(plan: &'p StudyPlan, stop: &'p StopFlag, times: bool) -> Self {
        Self { plan, stop, times, held: None }
    }

    /// Runs these cells of a group and hands over each result with its seconds. Ends early if the process is to end.
    pub fn run_group(
        &mut self,
        group: &CellGroup,
        cells: &[StudyCell],
        done: &mut dyn FnMut(&StudyCell, StudyRow, f64),
    ) {
        let wall = self.plan.study.settings.wall;
        let mut begun = Instant::now();
        let mut row = group_row(self.plan, group);
        let progress = CellProgress::new(self.stop, wall);
        let prepared = guarded(|| self.prepare(group, &mut row, &progress));
        let (snapshot, faults, routes) = match prepared {
            Ok(prepared) => prepared,
            Err(CellStop::Cancelled) => return,
            Err(CellStop::Ended(status, why)) => {
                let seconds = begun.elapsed().as_secs_f64() / cells.len().max(1) as f64;
                for cell in cells {
                    let row = StudyRow { status, why: Some(why.clone()), ..cell_row(&row, cell) };
                    done(cell, row, seconds);
                }
                return;
            }
        };
        for cell in cells {
            let mut row = cell_row(&row, cell);
            let progress = CellProgress::new(self.stop, wall);
            let work = MeasureWork { plan: self.plan, snapshot: &snapshot, faults: &faults, group, cell };
            match guarded(|| work.measure(&routes, &mut row, &progress)) {
                Ok(()) => {}
                Err(CellStop::Cancelled) => return,
                Err(CellStop::Ended(status, why)) => (row.status, row.why) = (status, Some(why)),
            }
            done(cell, row, begun.elapsed().as_secs_f64());
            begun = Instant::now();
        }
    }

    fn prepare(
        &mut self,
        group: &CellGroup,
        row: &mut StudyRow,
        progress: &CellProgress<'_>,
    ) -> Result<(Arc<Snapshot>, Faults, GroupRoutes), CellStop> {
        let snapshot = self.snapshot(group.topology)?;
        let fabric = snapshot.fabric();
        let all = FailureCounts::of_fabric(fabric);
        let hosts = fabric.ports().filter(|(_, port)| {
            port.peer.is_some() && fabric.node(port.node).facts.kind == NodeKind::ChannelAdapter
        });
        (row.switches, row.links) = (Some(all.switches.into()), Some(all.links.into()));
        row.hosts = Some(hosts.count() as u64);
        let faults = draw_failures(fabric, group.failures, group.seed.unwrap_or(1))
            .map_err(|error| CellStop::Ended(CellStatus::Refused, error.to_string()))?;
        let begun = Instant::now();
        let routes = route(&snapshot, &faults, group, progress)?;
        if self.times {
            row.route_seconds = six_digits(begun.elapsed().as_secs_f64());
        }
        let routes = judge(&snapshot, &faults, routes, progress)?;
        fill_route_figures(row, &routes);
        Ok((snapshot, faults, routes))
    }

    fn snapshot(&mut self, topology: usize) -> Result<Arc<Snapshot>, CellStop> {
        if let Some((held, snapshot)) = &self.held
            && *held == topology
        {
            return Ok(Arc::clone(snapshot));
        }
        self.held = None;
        let loaded = self.plan.topologies[topology].load();
        let snapshot = loaded.map_err(|why| CellStop::Ended(CellStatus::Refused, why))?;
        self.held = Some((topology, Arc::clone(&snapshot)));
        Ok(snapshot)
    }
}

/// Runs work that may panic: a bug in one cell must not end the others. The panic hook reports it.
fn guarded<T>(work: impl FnOnce() -> Result<T, CellStop>) -> Result<T, CellStop> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|bug| {
        let text = bug.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| bug.downcast_ref::<String>().cloned());
        let why = format!("bug: {}", text.unwrap_or_else(|| "no message".to_owned()));
        Err(CellStop::Ended(CellStatus::Failed, why))
    })
}

fn route(
    snapshot: &Snapshot,
    faults: &Faults,
    group: &CellGroup,
    progress: &CellProgress<'_>,
) -> Result<EngineAnswer, CellStop> {
    let problem = Problem::new(snapshot.fabric(), faults);
    let request = Request::clone(&group.request).with_lanes(Some(group.lanes), None);
    let request = cap_request(snapshot, &problem, &request).request;
    (group.engine.route)(&problem, &request, progress).map_err(|refusal| match refusal {
        EngineRefusal::Cancelled => progress.cancellation(),
        refusal => CellStop::Ended(CellStatus::Refused, refusal.to_string()),
    })
}

fn judge(
    snapshot: &Snapshot,
    faults: &Faults,
    answer: EngineAnswer,
    progress: &CellProgress<'_>,
) -> Result<GroupRoutes, CellStop> {
    let problem = Problem::new(snapshot.fabric(), faults);
    let certificate = certify(&problem, &answer.routes, &RouteScope::default(), progress)
        .map_err(|_| progress.cancellation())?;
    Ok(GroupRoutes { answer, certificate })
}

fn fill_route_figures(row: &mut StudyRow, routes: &GroupRoutes) {
    let certificate = &routes.certificate;
    let index = certificate.picked_forwarding_index.as_ref().unwrap_or(&certificate.edge_forwarding_index);
    row.lanes = Some(certificate.lanes.len() as u64);
    (row.efi_min, row.efi_max) = (Some(index.min), Some(index.max));
    (row.efi_mean, row.efi_sdv) = (six_digits(index.mean), six_digits(index.stddev));
    row.hops_max = Some(certificate.lengths.longest.into());
    row.stretch_mean = six_digits(certificate.lengths.mean_stretch);
    row.degraded = Some(routes.answer.degraded);
    row.fell_back = routes.answer.fell_back.map(|count| count as u64);
    (row.lost_pairs, row.pairs) = (Some(certificate.lost.total()), Some(certificate.pairs));
    row.cycle = Some(!certificate.cycles.is_empty());
    if certificate.lost.total() + certificate.loops.count > 0 {
        row.status = CellStatus::Incomplete;
        let [lost, pairs] = [certificate.lost.total(), certificate.pairs];
        row.why = Some(format!("{lost} of {pairs} pairs have no path"));
    } else if let Some(cycle) = certificate.cycles.first() {
        row.status = CellStatus::Cycle;
        let length = cycle.channels.len();
        row.why = Some(format!("lane {} has a credit loop of {length} channels", cycle.lane.value()));
    }
}

/// One measure of a group that has its routes.
pub struct MeasureWork<'a> {
    pub plan: &'a StudyPlan,
    pub snapshot: &'a Snapshot,
    pub faults: &'a Faults,
    pub group: &'a CellGroup,
    pub cell: &'a StudyCell,
}

impl MeasureWork<'_> {
    fn measure(
        &self,
        routes: &GroupRoutes,
        row: &mut StudyRow,
        progress: &CellProgress<'_>,
    ) -> Result<(), CellStop> {
        match self.cell.measure {
            MeasureKind::Routes => Ok(()),
            MeasureKind::Lost => self.count_lost(row, progress),
            // Loads and packets of tables that lose pairs would compare with nothing.
            _ if row.status == CellStatus::Incomplete => Ok(()),
            MeasureKind::Loads => {
                let problem = Problem::new(self.snapshot.fabric(), self.faults);
                let loads =
                    PermutationLoads::measure(&FlowPaths::new(&problem, &routes.answer.routes), progress)
                        .map_err(|_| progress.cancellation())?;
                row.worst_permutation = Some(loads.worst.flows);
                row.abb = six_digits(loads.bisect.bandwidth);
                row.afpb = six_digits(loads.permutation.bandwidth);
                row.adb = six_digits(loads.dissemination.bandwidth);
                Ok(())
            }
            MeasureKind::Exchange { .. } | MeasureKind::Pattern { .. } => {
                measure_traffic(self, routes, row, progress)
            }
        }
    }

    /// The pairs that the failures take from the routes of the whole fabric.
    fn count_lost(&self, row: &mut StudyRow, progress: &CellProgress<'_>) -> Result<(), CellStop> {
        let answer = route(self.snapshot, &Faults::new(), self.group, progress)?;
        let GroupRoutes { certificate, .. } = judge(self.snapshot, self.faults, answer, progress)?;
        (row.lost_pairs, row.pairs) = (Some(certificate.lost.total()), Some(certificate.pairs));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_result_of_its_cell() {
        let ended = guarded(|| -> Result<(), CellStop> { std::panic::panic_any("no such lane") });
        match ended {
            Err(CellStop::Ended(CellStatus::Failed, why)) => assert_eq!(why, "bug: no such lane"),
            other => unreachable!("{other:?}"),
        }
    }
}
