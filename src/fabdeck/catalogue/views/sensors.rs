//! Sensors and firmware, with a row for each switch, and for each other node that answered.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::modules::{answer, celsius};
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::NodeId;
use fabdeck_fabric::counters::{SensorFaultKind, count_failed_fans};
use fabdeck_fabric::observe::{
    BoardSensor, DeviceSensors, FirmwareReading, PowerSupplyReading, SystemReading, TemperatureReading,
};

type RowField = Field<NodeId>;

pub const SENSORS: View<NodeId> = View::new(SENSOR_FIELDS, "the source has no switch");

static SENSOR_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of the node", |l, &id| l.name(id).into())
        .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "GUID of the node", |l, &id| {
        l.fabric().node(id).guid().into()
    })
    .when_ambiguous(),
    RowField::new("kind", "KIND", FieldKind::Text, "kind of the node: switch, host or router", |l, &id| {
        l.fabric().node(id).facts.kind.word().into()
    })
    .words(&["switch", "host", "router"])
    .on_request(),
    RowField::new(
        "sensors",
        "SENSORS",
        FieldKind::Text,
        "ok, hot, fault (of fans or power supplies), or why the temperature is not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| match l.sensor_faults(id).first().map(|fault| fault.kind) {
                Some(SensorFaultKind::HotSensor) => "hot".into(),
                Some(SensorFaultKind::Fan | SensorFaultKind::PowerSupply) => "fault".into(),
                None => answer(&said.temperature, |read| heat_word(l, *read).into()),
            })
        },
    )
    .toned(&[("hot", Tone::Danger), ("fault", Tone::Danger)])
    .status(),
    RowField::new(
        "faults",
        "FAULTS",
        FieldKind::Text,
        "what is too hot, which fans and power supplies failed, with the value and its limit",
        |l, &id| {
            let faults: Vec<String> = l.sensor_faults(id).into_iter().map(|fault| fault.text).collect();
            if faults.is_empty() { Value::Missing } else { faults.join("; ").into() }
        },
    )
    .on_request(),
    RowField::new("temperature", "TEMP", FieldKind::Decimal, "temperature of the chip", |l, &id| {
        celsius(temperature(l, id).map(TemperatureReading::celsius))
    })
    .unit("C")
    .largest_first(),
    RowField::new(
        "highest",
        "HIGHEST",
        FieldKind::Decimal,
        "highest temperature since it was reset",
        |l, &id| {
            celsius(temperature(l, id).and_then(|read| read.highest).map(|highest| f64::from(highest) / 8.0))
        },
    )
    .unit("C")
    .on_request(),
    RowField::new(
        "limit",
        "LIMIT",
        FieldKind::Decimal,
        "temperature limit of the device itself",
        |l, &id| celsius(temperature(l, id).and_then(TemperatureReading::limit_celsius)),
    )
    .unit("C"),
    RowField::new(
        "hottest",
        "HOTTEST",
        FieldKind::Text,
        "the hottest sensor beside that of the chip, or one above its limit",
        |l, &id| hot_text(l, id).into(),
    )
    .on_request(),
    RowField::new(
        "fans",
        "FANS",
        FieldKind::Text,
        "number of fans, with those beyond their limits, or why it is not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.fan_list, |fans| fan_text(said, *fans).into()))
        },
    ),
    RowField::new("slowest_fan", "SLOWEST", FieldKind::Number, "speed of the slowest fan", |l, &id| {
        let speeds = said(l, id).into_iter().flat_map(|said| said.fans.values());
        speeds.filter_map(|speed| speed.known().copied()).min().map(u64::from).into()
    })
    .unit("rpm"),
    RowField::new(
        "power",
        "POWER",
        FieldKind::Text,
        "power supplies: ok, or what is wrong with them, or why it is not known",
        |l, &id| {
            let text = |held: &BTreeMap<u8, PowerSupplyReading>| power_text(l, id, held).into();
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.power_supplies, text))
        },
    )
    .on_request(),
    RowField::new("firmware", "FIRMWARE", FieldKind::Text, "version of the firmware", |l, &id| {
        said(l, id).map_or(NOT_ASKED, |said| {
            answer(&said.firmware, |read: &FirmwareReading| Value::text(&read.version))
        })
    }),
    RowField::new("psid", "PSID", FieldKind::Text, "identifier of the board's parameters", |l, &id| {
        said(l, id)
            .and_then(|said| said.firmware.known()?.psid.as_deref())
            .map_or(Value::Missing, Value::text)
    })
    .on_request(),
    RowField::new("uptime", "UPTIME", FieldKind::Number, "time since the device started", |l, &id| {
        said(l, id).and_then(|said| Some(u64::from(said.firmware.known()?.uptime_s) / 3600)).into()
    })
    .unit("h"),
    RowField::new("serial", "SERIAL", FieldKind::Text, "serial number of the system", |l, &id| {
        system(l, id, |system| system.serial.as_deref())
    })
    .shed(2),
    RowField::new("part", "PART", FieldKind::Text, "part number of the system", |l, &id| {
        system(l, id, |system| system.part.as_deref())
    })
    .shed(1),
    RowField::new("product", "PRODUCT", FieldKind::Text, "name of the product", |l, &id| {
        system(l, id, |system| system.product.as_deref())
    })
    .on_request(),
];

const NOT_ASKED: Value<'static> = Value::Text(Cow::Borrowed("not asked"));

pub fn sensors(look: &Snapshot) -> Rows<'_, NodeId> {
    let nodes = look.fabric().nodes();
    let rows: Vec<_> =
        nodes.filter(|(id, node)| node.is_switch() || said(look, *id).is_some()).map(|(id, _)| id).collect();
    SENSORS.rows(look, rows)
}

fn said(look: &Snapshot, id: NodeId) -> Option<&DeviceSensors> {
    look.observation.wire.devices.get(&look.fabric().node(id).guid())
}

fn temperature(look: &Snapshot, id: NodeId) -> Option<TemperatureReading> {
    said(look, id)?.temperature.known().copied()
}

/// A sensor of the board with its temperature: `ASIC 71.0 C`.
fn sensor_text(number: u16, sensor: &BoardSensor) -> String {
    let name = sensor.name.clone().unwrap_or_else(|| format!("sensor {number}"));
    format!("{name} {:.1} C", sensor.reading.celsius())
}

/// The faults of a node of one kind, the worst first.
fn faults_of(look: &Snapshot, id: NodeId, kind: SensorFaultKind) -> Vec<String> {
    let faults = look.sensor_faults(id).into_iter();
    faults.filter(|fault| fault.kind == kind).map(|fault| fault.text).collect()
}

/// The sensor that is the most above its limit, or else the hottest one beside that of the chip.
fn hot_text(look: &Snapshot, id: NodeId) -> Option<String> {
    let hot = faults_of(look, id, SensorFaultKind::HotSensor).into_iter().next();
    hot.or_else(|| hottest_sensor(said(look, id)?))
}

fn hottest_sensor(said: &DeviceSensors) -> Option<String> {
    let by_heat = |(number, sensor): &(&u16, &BoardSensor)| (sensor.reading.now, std::cmp::Reverse(**number));
    said.board.iter().max_by_key(by_heat).map(|(number, sensor)| sensor_text(*number, sensor))
}

/// The number of fans with what is wrong with them: how many failed, what the device itself reports, and whose speed is not
/// known.
fn fan_text(said: &DeviceSensors, fans: u16) -> String {
    let failed = count_failed_fans(said);
    let mut wrong: Vec<String> = (failed > 0).then(|| format!("{failed} failed")).into_iter().collect();
    wrong.extend(said.fan_faults.iter().cloned());
    let known = said.fans.values().filter(|speed| speed.known().is_some()).count();
    let fans = fans.count_ones() as usize;
    match fans.saturating_sub(known) {
        0 => {}
        all if all == fans => wrong.push("speeds not known".to_owned()),
        some => wrong.push(format!("{some} of unknown speed")),
    }
    if wrong.is_empty() { fans.to_string() } else { format!("{fans} ({})", wrong.join(", ")) }
}

/// The state of power supplies: `2 ok`, or what is wrong.
fn power_text(look: &Snapshot, id: NodeId, held: &BTreeMap<u8, PowerSupplyReading>) -> String {
    let wrong = faults_of(look, id, SensorFaultKind::PowerSupply);
    if wrong.is_empty() { format!("{} ok", held.len()) } else { wrong.join("; ") }
}

/// Whether a limit judges a temperature; one above it is a fault.
fn heat_word(look: &Snapshot, read: TemperatureReading) -> &'static str {
    match read.limit.is_some() || look.wire_thresholds.sensor_bad_c.is_some() {
        true => "ok",
        false => "no limit stated",
    }
}

fn system<'l>(look: &'l Snapshot, id: NodeId, of: fn(&SystemReading) -> Option<&str>) -> Value<'l> {
    said(look, id).and_then(|said| of(said.system.known()?)).map_or(Value::Missing, Value::text)
}
