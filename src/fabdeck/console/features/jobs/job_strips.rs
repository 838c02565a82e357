//! The waits of the job at the cursor, and of its neighbours in the list. They are computed when a reading arrives or the
//! cursor moves, so a frame only draws them.

use std::sync::Arc;

use super::jobs_panes::JobsPanes;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::chart_axes::LABEL_WIDTH;
use crate::console::features::chart_time::{chart_history, chart_window, cursor_ms, latest_ms};
use crate::console::features::screens::ScreenId;
use crate::console::features::timeline::strips::StripQuantity;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::operations::health::short_port_name::short_port_name;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::watch::fabric_history::TimeWindow;
use crate::operations::watch::port_values::{PortQuantity, port_identity};
use fabdeck_fabric::PortId;

/// Columns of the name of a host, of its switch, and of its wait.
pub(super) const HOST_WIDTH: u16 = 12;
pub(super) const SWITCH_WIDTH: u16 = 12;
pub(super) const WAIT_WIDTH: u16 = 8;
/// Columns of the name of a job beside its chart.
pub(super) const JOB_WIDTH: u16 = 10;
/// Rows of a pane that are no strips: the axis, and what hits the job.
pub(super) const ROWS_BELOW: u16 = 4;
/// Rows of a chart with its axis, and most charts.
const CHART_ROWS: u16 = 4;
const MAX_CHARTS: u16 = 5;
/// The chart of a larger job is that of the ports that wait longest at its end.
pub(super) const MAX_CHART_PORTS: usize = 32;

/// The wait of a port of a job over time.
#[derive(Clone, Debug)]
pub(super) struct HostStrip {
    pub host: String,
    pub switch: String,
    /// The steps of its wait, `None` where it is not known.
    pub steps: Vec<Option<u8>>,
    /// Its wait at the cursor in time, in percent.
    pub percent: Option<f64>,
}

/// The worst wait of a job over time, in percent.
#[derive(Clone, Debug)]
pub(super) struct JobChart {
    pub job: String,
    pub values: Vec<Option<f64>>,
    /// Whether the job has more ports than its chart.
    pub is_partial: bool,
}

/// What the strips were made of: the readings, the jobs, the job at the cursor, the place of the list, the window, and the panes.
type StripsKey = (u64, Option<u64>, usize, Option<usize>, usize, TimeWindow, JobsPanes);

#[derive(Clone, Debug, Default)]
pub(super) struct JobStrips {
    of: Option<StripsKey>,
    pub window: Option<TimeWindow>,
    /// Those that have room, in the order of the hosts; where not all have, those that wait longest.
    pub hosts: Vec<HostStrip>,
    /// Number of all ports of the job.
    pub ports: usize,
    pub charts: Vec<JobChart>,
}

/// Computes the waits again where something of them changed.
pub fn follow(state: &mut SessionState) {
    let areas = state.areas();
    state.screens.jobs.set_areas(&areas);
    let Some(panes) = JobsPanes::new(&areas).filter(|_| state.screen == ScreenId::Jobs) else { return };
    let screen = &state.screens.jobs;
    let Some((comparison, look)) = screen.comparison.clone() else { return };
    let known = &state.known;
    let plot = strip_columns(&panes);
    let window = chart_window(known, plot);
    let order = screen.jobs_from_cursor(chart_count(&panes));
    let of = (
        latest_ms(known),
        cursor_ms(known),
        Arc::as_ptr(&comparison) as usize,
        screen.job(),
        order.first().copied().unwrap_or(0),
        window,
        panes,
    );
    if state.screens.jobs.strips.of == Some(of) {
        return;
    }
    let (hosts, ports) = host_strips(known, &look, ports_of(&comparison, screen.job()), window, &panes);
    let charts = order.iter().filter_map(|job| job_chart(known, &look, &comparison, *job, &panes)).collect();
    state.screens.jobs.strips = JobStrips { of: Some(of), window: Some(window), hosts, ports, charts };
}

/// Columns of a strip.
pub(super) fn strip_columns(panes: &JobsPanes) -> u16 {
    panes.hosts.inside(true).width.saturating_sub(HOST_WIDTH + SWITCH_WIDTH + WAIT_WIDTH + 2).max(1)
}

/// Columns of the plot of a chart.
pub(super) fn chart_columns(panes: &JobsPanes) -> u16 {
    panes.waits.inside(true).width.saturating_sub(JOB_WIDTH + LABEL_WIDTH + 1).max(1)
}

/// Number of charts that have room.
fn chart_count(panes: &JobsPanes) -> usize {
    usize::from((panes.waits.inside(true).height / CHART_ROWS).clamp(1, MAX_CHARTS))
}

fn ports_of(comparison: &JobComparison, job: Option<usize>) -> Vec<PortId> {
    let ports = job.and_then(|job| comparison.jobs.iter().nth(job)).map(|(_, ports)| ports);
    ports.into_iter().flatten().copied().collect()
}

/// The ports with their waits at the cursor in time, those that wait longest first; `None` where a wait is not known.
fn by_wait(known: &Model, look: &Snapshot, ports: Vec<PortId>) -> Vec<(PortId, Option<f64>)> {
    let (history, at_ms) = (chart_history(known), cursor_ms(known).unwrap_or_else(|| latest_ms(known)));
    let wait = |port: PortId| (port, history.wait_at(at_ms, &port_identity(look.fabric(), port)));
    let mut all: Vec<(PortId, Option<f64>)> = ports.into_iter().map(wait).collect();
    all.sort_by(|(_, a), (_, b)| b.unwrap_or(-1.0).total_cmp(&a.unwrap_or(-1.0)));
    all
}

fn host_strips(
    known: &Model,
    look: &Snapshot,
    ports: Vec<PortId>,
    window: TimeWindow,
    panes: &JobsPanes,
) -> (Vec<HostStrip>, usize) {
    let (fabric, count) = (look.fabric(), ports.len());
    let room = usize::from(panes.hosts.inside(true).height.saturating_sub(ROWS_BELOW));
    let mut shown = by_wait(known, look, ports);
    shown.truncate(room);
    shown.sort_by_key(|(port, _)| *port);
    let columns = usize::from(strip_columns(panes));
    let strip = |(port, percent): (PortId, Option<f64>)| {
        let identity = port_identity(fabric, port);
        let values = chart_history(known).port_columns(window, columns, identity, PortQuantity::Wait);
        let switch = fabric.port(port).peer.map(|peer| look.name(fabric.port(peer).node).to_owned());
        HostStrip {
            host: short_port_name(look, port),
            switch: switch.unwrap_or_default(),
            steps: values.into_iter().map(|value| Some(StripQuantity::Wait.step(value?, 100.0))).collect(),
            percent,
        }
    };
    (shown.into_iter().map(strip).collect(), count)
}

fn job_chart(
    known: &Model,
    look: &Snapshot,
    comparison: &JobComparison,
    job: usize,
    panes: &JobsPanes,
) -> Option<JobChart> {
    let plot = chart_columns(panes);
    let (window, columns) = (chart_window(known, plot), usize::from(plot) * 2);
    let mut ports = by_wait(known, look, ports_of(comparison, Some(job)));
    let is_partial = ports.len() > MAX_CHART_PORTS;
    ports.truncate(MAX_CHART_PORTS);
    let mut values = vec![None; columns];
    for (port, _) in ports {
        let port = port_identity(look.fabric(), port);
        let own = chart_history(known).port_columns(window, columns, port, PortQuantity::Wait);
        for (worst, own) in values.iter_mut().zip(own) {
            *worst = [*worst, own].into_iter().flatten().reduce(f64::max);
        }
    }
    Some(JobChart { job: comparison.name(job)?.clone(), values, is_partial })
}
