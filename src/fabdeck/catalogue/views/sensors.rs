//! Sensors and firmware, with a row for each switch, and for each other node that answered.

use std::borrow::Cow;

use super::modules::{answer, celsius};
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::NodeId;
use fabdeck_fabric::observe::{DeviceSensors, FirmwareReading, SystemReading, TemperatureReading};

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
        "ok, hot, or why the temperature is not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.temperature, |read| heat_word(*read).into()))
        },
    )
    .toned(&[("hot", Tone::Danger)])
    .status(),
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
        |l, &id| celsius(temperature(l, id).map(|read| f64::from(read.highest) / 8.0)),
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
    RowField::new("fans", "FANS", FieldKind::Text, "number of fans, or why it is not known", |l, &id| {
        let count = |fans: &u16| Value::Text(Cow::Owned(fans.count_ones().to_string()));
        said(l, id).map_or(NOT_ASKED, |said| answer(&said.fan_list, count))
    }),
    RowField::new("slowest_fan", "SLOWEST", FieldKind::Number, "speed of the slowest fan", |l, &id| {
        let speeds = said(l, id).into_iter().flat_map(|said| said.fans.values());
        speeds.filter_map(|speed| speed.known().copied()).min().map(u64::from).into()
    })
    .unit("rpm"),
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

/// Whether a device is above its own limit; without one nothing is judged.
fn heat_word(read: TemperatureReading) -> &'static str {
    match read.limit {
        Some(limit) if read.now > limit => "hot",
        Some(_) => "ok",
        None => "no limit stated",
    }
}

fn system<'l>(look: &'l Snapshot, id: NodeId, of: fn(&SystemReading) -> Option<&str>) -> Value<'l> {
    said(look, id).and_then(|said| of(said.system.known()?)).map_or(Value::Missing, Value::text)
}
