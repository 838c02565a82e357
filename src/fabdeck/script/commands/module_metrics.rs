//! `show modules --format prometheus`: wire verdicts, bit error rates and values of modules, for the textfile collector
//! of node_exporter. A value that was not read has no line.

use super::metrics::refuse_selection;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::OpenSnapshot;
use crate::script::context::Context;
use crate::script::row_args::RowArgs;
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{ErrorShare, PortErrorRates, WireVerdict};
use fabdeck_fabric::observe::ModuleReading;
use fabdeck_files::prometheus::{Gauge, write_gauges};
use fabdeck_mad::access::{ReadOptions, WireReadOptions};

pub fn run(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    refuse_selection(context, rows)?;
    let OpenSnapshot { mut source, mut snapshot } =
        context.operation().open_snapshot(ReadOptions::default())?;
    let wanted = WireReadOptions { ports: true, ..WireReadOptions::default() };
    context.operation().read_wire(source.as_mut(), &mut snapshot, wanted)?;
    let text = write_gauges(snapshot.fabric(), &snapshot.names, &module_gauges(&snapshot));
    context.output.out.write_all(text.as_bytes())?;
    Ok(context.conclude(&snapshot))
}

pub(super) fn module_gauges(look: &Snapshot) -> Vec<Gauge> {
    let gauge = |name, help, value: &dyn Fn(PortId) -> Option<f64>| {
        let ports = look.fabric().ports().map(|(id, _)| id);
        Gauge { name, help, values: ports.filter_map(|id| Some((id, value(id)?))).collect() }
    };
    let module = |id: PortId| look.port_wire(id)?.module.known();
    let weakest = |lanes: &[u16]| lanes.iter().min().map(|microwatts| f64::from(*microwatts) / 1e6);
    let rate = |id, of: fn(&PortErrorRates) -> Option<ErrorShare>| bit_error_rate(look, id, of);
    vec![
        gauge("wire_verdict", "wire verdict: 0 healthy, 1 watch, 2 bad", &|id| {
            verdict_number(look.wire_judgement(id).verdict)
        }),
        gauge("raw_bit_error_ratio", "bit errors before FEC for each bit", &|id| rate(id, |all| all.raw)),
        gauge("effective_bit_error_ratio", "bit errors after FEC for each bit", &|id| {
            rate(id, |all| all.effective)
        }),
        gauge("symbol_bit_error_ratio", "bit errors after FEC and retransmission for each bit", &|id| {
            rate(id, |all| all.symbol)
        }),
        gauge("module_temperature_celsius", "temperature of the module", &|id| {
            module(id).and_then(ModuleReading::celsius)
        }),
        gauge("module_voltage_volts", "supply voltage of the module", &|id| {
            module(id).and_then(ModuleReading::volts)
        }),
        gauge("module_receive_power_watts", "received light of the weakest lane", &|id| {
            module(id).and_then(|module| weakest(&module.rx_power))
        }),
        gauge("module_transmit_power_watts", "sent light of the weakest lane", &|id| {
            module(id).and_then(|module| weakest(&module.tx_power))
        }),
    ]
}

/// `None` without a verdict: no number would say that nothing is known.
fn verdict_number(verdict: WireVerdict) -> Option<f64> {
    match verdict {
        WireVerdict::NotKnown => None,
        WireVerdict::Healthy => Some(0.0),
        WireVerdict::Watch => Some(1.0),
        WireVerdict::Bad => Some(2.0),
    }
}

/// A rate that was measured. A lower bound and a count without an error are none.
fn bit_error_rate(look: &Snapshot, id: PortId, of: fn(&PortErrorRates) -> Option<ErrorShare>) -> Option<f64> {
    let facts = &look.fabric().port(id).facts;
    let rates = PortErrorRates::of_port(look.port_wire(id)?, facts.speed, facts.width)?;
    of(&rates).filter(|share| share.errors > 0 && !share.at_least).map(ErrorShare::rate)
}
