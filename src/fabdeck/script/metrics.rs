//! `show counters --format prometheus`: counters, and with an interval rates, for the textfile collector of
//! node_exporter.

use std::time::Duration;

use super::args::RowArgs;
use super::context::Context;
use super::hotspots::sweep;
use super::{Exit, Failure};
use crate::session::{Snapshot, fresh_counters, unplaced_counters};
use fabdeck_fabric::counters::{PortRates, Rates, rates_of_sweeps};
use fabdeck_files::prometheus::{Gauge, write, write_gauges};
use fabdeck_mad::access::ReadOptions;

pub fn run(
    context: &mut Context<'_, '_>,
    rows: &RowArgs,
    interval: Option<Duration>,
) -> Result<Exit, Failure> {
    let chosen = rows.fields.is_some() || rows.sort.is_some() || rows.top.is_some();
    if chosen || context.output.json || !context.globals.filter.is_empty() {
        return Err(Failure::usage(
            "FD-7311: Prometheus is given every counter of every port; leave out --fields, --sort, --top, --filter and \
             --json",
        ));
    }
    let (mut look, rates) = match interval {
        None => (context.read_snapshot(ReadOptions { counters: true, ..ReadOptions::default() })?, None),
        Some(interval) => read_two_sweeps(context, interval)?,
    };
    for notes in [unplaced_counters(&look), fresh_counters(&look)] {
        look.observation.notes.extend(notes);
    }
    let mut text = write(look.fabric(), &look.names, &look.observation.counters);
    if let Some(rates) = rates {
        text += &write_gauges(look.fabric(), &look.names, &gauges(&rates));
    }
    context.output.out.write_all(text.as_bytes())?;
    Ok(context.conclude(&look))
}

/// Reads two sweeps; the counters are those of the second.
fn read_two_sweeps(
    context: &mut Context<'_, '_>,
    interval: Duration,
) -> Result<(Snapshot, Option<Rates>), Failure> {
    let mut source = context.open_source(context.named_source()?)?;
    let mut look = context.read_snapshot_through(source.as_mut(), ReadOptions::default())?;
    source.rewind(&mut look.observation, interval)?;
    let before = sweep(context, source.as_mut(), &mut look, Duration::ZERO)?;
    let after = sweep(context, source.as_mut(), &mut look, before.began + interval)?;
    let fabric = look.fabric();
    let rates = rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &look.observation.ticks);
    look.observation.counters = after.samples;
    Ok((look, Some(rates)))
}

fn gauges(rates: &Rates) -> Vec<Gauge> {
    let gauge = |name, help, value: fn(&PortRates) -> Option<f64>| {
        let values = rates.ports.iter().filter_map(|port| Some((port.port, value(port)?))).collect();
        Gauge { name, help, values }
    };
    vec![
        gauge("transmit_data_bytes_per_second", "bytes sent a second", PortRates::bandwidth),
        gauge("receive_data_bytes_per_second", "bytes received a second", PortRates::receive_bandwidth),
        gauge("transmit_wait_ticks_per_second", "ticks of waiting a second", PortRates::congestion),
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
        "FD-7312: rows are raw counters; --interval goes with --format prometheus, and 'hotspots' judges rates",
    )
}
