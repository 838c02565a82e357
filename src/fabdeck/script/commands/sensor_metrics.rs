//! `show sensors --format prometheus`: temperatures, fans, power supplies and uptime of devices, for the textfile collector of
//! node_exporter. A value that was not read has no line.

use super::metrics::refuse_selection;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::OpenSnapshot;
use crate::script::context::Context;
use crate::script::row_args::RowArgs;
use fabdeck_fabric::NodeId;
use fabdeck_fabric::observe::{DeviceSensors, TemperatureReading};
use fabdeck_files::prometheus::{NodeGauge, NodeValue, write_node_gauges};
use fabdeck_mad::access::{ReadOptions, WireReadOptions};

pub fn run(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    refuse_selection(context, rows)?;
    let OpenSnapshot { mut source, mut snapshot } =
        context.operation().open_snapshot(ReadOptions::default())?;
    let wanted = WireReadOptions { devices: true, ..WireReadOptions::default() };
    context.operation().read_wire(source.as_mut(), &mut snapshot, wanted)?;
    let text = write_node_gauges(snapshot.fabric(), &snapshot.names, &sensor_gauges(&snapshot));
    context.output.out.write_all(text.as_bytes())?;
    Ok(context.conclude(&snapshot))
}

/// Parts of a device with their values.
type PartValues = Vec<(Option<(&'static str, String)>, f64)>;

pub(super) fn sensor_gauges(look: &Snapshot) -> Vec<NodeGauge> {
    let gauge = |name, help, values: &dyn Fn(NodeId, &DeviceSensors) -> PartValues| {
        let devices = look
            .fabric()
            .nodes()
            .filter_map(|(id, node)| look.observation.wire.devices.get(&node.guid()).map(|said| (id, said)));
        let of_device = |(node, said)| {
            values(node, said).into_iter().map(move |(part, value)| NodeValue { node, part, value })
        };
        NodeGauge { name, help, values: devices.flat_map(of_device).collect() }
    };
    vec![
        gauge("temperature_celsius", "temperature by sensor", &|_, said| {
            temperatures(said, &|reading| Some(reading.celsius()))
        }),
        gauge("temperature_limit_celsius", "temperature limit of the device itself", &|_, said| {
            temperatures(said, &TemperatureReading::limit_celsius)
        }),
        gauge("fan_speed_rpm", "speed by fan", &|_, said| {
            let known = said.fans.iter().filter_map(|(number, speed)| Some((number, *speed.known()?)));
            known.map(|(number, speed)| (Some(("fan", number.to_string())), f64::from(speed))).collect()
        }),
        gauge("power_supply_ok", "1 where a power supply is there and reports no fault", &|_, said| {
            let held = said.power_supplies.known().into_iter().flatten();
            held.map(|(number, supply)| {
                let ok = supply.present != Some(false) && supply.faults.is_empty();
                (Some(("supply", number.to_string())), f64::from(u8::from(ok)))
            })
            .collect()
        }),
        gauge(
            "sensor_faults",
            "sensors above their limit, fans and power supplies that failed",
            &|node, _| vec![(None, look.sensor_faults(node).len() as f64)],
        ),
        gauge("uptime_seconds", "time since the device started", &|_, said| {
            said.firmware.known().map(|read| (None, f64::from(read.uptime_s))).into_iter().collect()
        }),
    ]
}

/// A value of the chip and of each sensor of the board.
fn temperatures(said: &DeviceSensors, value: &dyn Fn(TemperatureReading) -> Option<f64>) -> PartValues {
    let chip = said.temperature.known().map(|reading| ("chip".to_owned(), *reading));
    let board = said.board.iter().map(|(number, sensor)| {
        (sensor.name.clone().unwrap_or_else(|| format!("sensor {number}")), sensor.reading)
    });
    let known = chip.into_iter().chain(board);
    known.filter_map(|(name, reading)| Some((Some(("sensor", name)), value(reading)?))).collect()
}
