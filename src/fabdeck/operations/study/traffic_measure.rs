//! Packets over the routes of a cell.

use super::cell_runner::{CellProgress, CellStop, GroupRoutes, MeasureWork};
use super::measure_kind::MeasureKind;
use super::study_row::{CellStatus, StudyRow, six_digits};
use crate::operations::traffic::traffic_run::{
    TrafficOptions, TrafficReport, TrafficRoutes, TrafficRunEnd, TrafficRunError, simulate,
};
use fabdeck_simulator::traffic::{TrafficPattern, TrafficSettings};

/// Gbit/s in a Gbyte/s.
const BITS: f64 = 8.0;

pub fn measure_traffic(
    work: &MeasureWork<'_>,
    routes: &GroupRoutes,
    row: &mut StudyRow,
    progress: &CellProgress<'_>,
) -> Result<(), CellStop> {
    let settings = &work.plan.study.settings;
    let seed = work.cell.traffic_seed.unwrap_or(1);
    let mut traffic = TrafficSettings { seed, ..settings.traffic };
    let mut course = TrafficRoutes::of_engine_routes(routes.answer.routes.clone(), work.group.engine);
    let (pattern, for_ns, until_steady) = match work.cell.measure {
        MeasureKind::Exchange { message, shifts } => {
            (TrafficPattern::Shift { packets: message, shifts }, settings.time_ns, false)
        }
        MeasureKind::Pattern { pattern, time_ns, until_steady, load, spread } => {
            traffic.load = load.share();
            if let Some(lanes) = spread {
                course = course.in_turns(lanes);
            }
            (pattern.pattern(), time_ns, until_steady)
        }
        MeasureKind::Routes | MeasureKind::Loads | MeasureKind::Lost => return Ok(()),
    };
    let options = TrafficOptions {
        pattern,
        settings: traffic,
        for_ns,
        every_ns: None,
        max_packet_hops: Some(settings.hops),
        until_steady,
        rows: usize::MAX / 2,
    };
    let report =
        simulate(work.snapshot, work.faults, &course, &options, progress).map_err(|error| match error {
            TrafficRunError::Cancelled(_) => progress.cancellation(),
            TrafficRunError::Traffic(error) => CellStop::Ended(CellStatus::Refused, error.to_string()),
        })?;
    fill_traffic_figures(row, &report, work.cell.measure);
    Ok(())
}

fn fill_traffic_figures(row: &mut StudyRow, report: &TrafficReport, measure: MeasureKind) {
    (row.simulated_ns, row.packet_hops) = (Some(report.simulated_ns), Some(report.packet_hops));
    let is_exchange = matches!(measure, MeasureKind::Exchange { .. });
    match report.ended {
        TrafficRunEnd::Deadlock => {
            row.status = CellStatus::Deadlock;
            let first = report.deadlock.as_ref().and_then(|deadlock| deadlock.circle.first());
            row.why = Some(first.map_or_else(
                || "buffers wait for each other".to_owned(),
                |held| format!("buffers wait for each other: {}, lane {}", held.channel, held.lane),
            ));
            return;
        }
        TrafficRunEnd::PacketHops => {
            row.status = CellStatus::Time;
            row.why = Some(format!("ended after {} packet-hops", report.packet_hops));
            return;
        }
        TrafficRunEnd::Time if is_exchange => {
            row.status = CellStatus::Time;
            row.why = Some(format!("the exchange was not over after {} ns", report.simulated_ns));
            return;
        }
        TrafficRunEnd::Time | TrafficRunEnd::Steady | TrafficRunEnd::Finished => {}
    }
    (row.latency_mean_ns, row.latency_p99_ns) = (Some(report.latency_ns.mean), Some(report.latency_ns.p99));
    match report.exchange_gbps.filter(|_| is_exchange) {
        Some(gbps) => row.throughput_gbyte_s = six_digits(gbps / BITS),
        None => {
            row.throughput_gbyte_s = six_digits(report.total_gbps / BITS);
            row.steady = Some(report.steady);
            fill_quartiles(row, report);
        }
    }
}

/// Quartiles over the hosts, as the nearest of them.
fn fill_quartiles(row: &mut StudyRow, report: &TrafficReport) {
    let rates = report.top_hosts.iter().chain(&report.bottom_hosts);
    let mut rates: Vec<f64> = rates.map(|host| host.received_gbps / BITS).collect();
    rates.sort_by(f64::total_cmp);
    let Some(last) = rates.len().checked_sub(1) else { return };
    let quartile = |quarter: usize| six_digits(rates[(last * quarter + 2) / 4]);
    row.consumption_min = quartile(0);
    row.consumption_q1 = quartile(1);
    row.consumption_median = quartile(2);
    row.consumption_q3 = quartile(3);
    row.consumption_max = quartile(4);
}
