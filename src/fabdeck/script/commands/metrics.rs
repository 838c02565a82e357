//! `show counters --format prometheus`: counters, and with an interval rates, for the textfile collector of
//! node_exporter.

use std::time::Duration;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::counters::{fresh_counters, unplaced_counters};
use crate::operations::operation::OpenSnapshot;
use crate::operations::watch::sweep_judge::SweepSeries;
use crate::script::context::Context;
use crate::script::row_args::RowArgs;
use fabdeck_fabric::counters::{PortRates, Rates};
use fabdeck_files::prometheus::{Gauge, MetricSet, write, write_gauges};
use fabdeck_mad::access::ReadOptions;

pub fn run(
    context: &mut Context<'_, '_>,
    rows: &RowArgs,
    interval: Option<Duration>,
) -> Result<Exit, Failure> {
    refuse_selection(context, rows)?;
    let (mut snapshot, rates) = match interval {
        None => (
            context.operation().read_snapshot(ReadOptions { counters: true, ..ReadOptions::default() })?,
            None,
        ),
        Some(interval) => read_two_sweeps(context, interval)?,
    };
    for notes in [unplaced_counters(&snapshot), fresh_counters(&snapshot)] {
        snapshot.observation.notes.extend(notes);
    }
    let mut text = write(snapshot.fabric(), &snapshot.names, &snapshot.observation.counters, MetricSet::All);
    if let Some(rates) = rates {
        text += &write_gauges(snapshot.fabric(), &snapshot.names, &rate_gauges(&rates));
    }
    context.output.out.write_all(text.as_bytes())?;
    Ok(context.conclude(&snapshot))
}

/// Metrics are those of every port: the options that choose rows and columns have no meaning for them.
pub fn refuse_selection(context: &Context<'_, '_>, rows: &RowArgs) -> Result<(), Failure> {
    let chosen = rows.fields.is_some() || rows.sort.is_some() || rows.top.is_some();
    if chosen || context.output.json || !context.globals.filter.is_empty() {
        return Err(Failure::usage(
            "FD-7311: --format prometheus prints every counter of every port; leave out --fields, --sort, --top, --filter and \
             --json",
        ));
    }
    Ok(())
}

/// Reads two sweeps; the counters are those of the second.
fn read_two_sweeps(
    context: &mut Context<'_, '_>,
    interval: Duration,
) -> Result<(Snapshot, Option<Rates>), Failure> {
    let operation = &mut context.operation();
    let OpenSnapshot { mut source, mut snapshot } = operation.open_snapshot(ReadOptions::default())?;
    let mut series = SweepSeries::begin(operation, source.as_mut(), &mut snapshot, Some(interval), 1)?;
    let rates = series.advance(operation, source.as_mut(), &mut snapshot)?.rates;
    snapshot.observation.counters = series.into_last().samples;
    Ok((snapshot, Some(rates)))
}

/// Rates and shares of ports.
pub(super) fn rate_gauges(rates: &Rates) -> Vec<Gauge> {
    let gauge = |name, help, value: fn(&PortRates) -> Option<f64>| {
        let values = rates.ports.iter().filter_map(|port| Some((port.port, value(port)?))).collect();
        Gauge { name, help, values }
    };
    vec![
        gauge("transmit_data_bytes_per_second", "bytes sent per second", PortRates::bandwidth),
        gauge("receive_data_bytes_per_second", "bytes received per second", PortRates::receive_bandwidth),
        gauge("transmit_wait_ticks_per_second", "ticks of waiting per second", PortRates::congestion),
        gauge(
            "transmit_wait_ratio",
            "share of the time in which packets waited and nothing was sent",
            PortRates::wait_share,
        ),
        gauge("utilization_ratio", "share of the link's bandwidth that is sent", PortRates::utilisation),
    ]
}

pub fn row_rates_failure() -> Failure {
    Failure::usage(
        "FD-7312: rows are raw counters; --interval needs --format prometheus, and 'hotspots' judges rates",
    )
}
