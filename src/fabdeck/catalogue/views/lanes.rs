//! Virtual lanes, with a row for each egress port whose SL2VL or arbitration table is known.

use std::collections::BTreeMap;

use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::{Arbitration, Element, ElementId, NodeId, PortNum, ServiceLevel, Sl2Vl, VlWeight};

/// A packet on virtual lane 15, the management lane, is dropped, so it is no data lane.
const DROP_LANE: u8 = 15;

/// An egress port of a node, and the common content of the SL2VL tables of all ingress ports towards it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Egress {
    pub node: NodeId,
    pub port: PortNum,
    /// Number of ingress ports with a table.
    pub inputs: u16,
    /// The table of all ingress ports, if they agree.
    pub agreed: Option<Sl2Vl>,
    /// One bit for each lane that some table maps to.
    pub used: u16,
}

type RowField = Field<Egress>;

pub const LANES: View<Egress> = View::new(LANE_FIELDS, "the source has no lane tables (SL2VL, arbitration)");

static LANE_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of the node", |l, &r| l.name(r.node).into())
        .node_name(),
    RowField::new("port", "PORT", FieldKind::Number, "egress port", |_, &r| r.port.into()).port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &r| {
        l.fabric().port_of(r.node, r.port).map_or(Value::Missing, |port| label_value(l, port))
    })
    .when_known(),
    RowField::new("guid", "GUID", FieldKind::Guid, "GUID of the node", |l, &r| {
        l.fabric().node(r.node).guid().into()
    })
    .on_request(),
    RowField::new(
        "operational",
        "OPERATIONAL",
        FieldKind::Number,
        "virtual lanes in use for data",
        |l, &r| {
            let port = l.fabric().port_of(r.node, r.port);
            port.and_then(|port| l.fabric().port(port).facts.operational_lanes).into()
        },
    ),
    RowField::new(
        "inputs",
        "INPUTS",
        FieldKind::Number,
        "ingress ports with an SL2VL table towards this port",
        |_, &r| r.inputs.into(),
    )
    .spare(),
    RowField::new(
        "lanes",
        "LANES",
        FieldKind::Number,
        "different lanes for data that these tables use",
        |_, &r| (r.inputs > 0).then(|| (r.used & !(1 << DROP_LANE)).count_ones()).into(),
    )
    .spare(),
    RowField::new("uniform", "UNIFORM", FieldKind::Flag, "all ingress ports have the same table", |_, &r| {
        (r.inputs > 0).then_some(r.agreed.is_some()).into()
    }),
    RowField::new(
        "sl2vl",
        "SL2VL",
        FieldKind::Text,
        "lane of SL 0 to 15, where all ingress ports agree",
        |_, &r| {
            let words =
                |map| levels().map(|level| lane(map, level).to_string()).collect::<Vec<_>>().join(" ");
            r.agreed.map(words).into()
        },
    ),
    RowField::new(
        "high_limit",
        "HIGH LIMIT",
        FieldKind::Number,
        "HighLimit: how much high-priority data may pass before low priority gets a turn",
        |l, &r| arbitration(l, r).map(|table| table.high_limit).into(),
    )
    .on_request(),
    RowField::new("high", "HIGH", FieldKind::Text, "arbitration of high priority as lane:weight", |l, &r| {
        arbitration(l, r).map(|table| weights(&table.high)).into()
    })
    .on_request(),
    RowField::new("low", "LOW", FieldKind::Text, "arbitration of low priority as lane:weight", |l, &r| {
        arbitration(l, r).map(|table| weights(&table.low)).into()
    })
    .on_request(),
    RowField::new("element", "ELEMENT", FieldKind::Text, "how commands name the port", |l, &r| {
        let port = l.fabric().port_of(r.node, r.port);
        port.map(|port| Element::from_id(l.fabric(), &l.names, ElementId::Port(port)).to_string()).into()
    })
    .on_request(),
];

pub fn lanes(look: &Snapshot) -> Rows<'_, Egress> {
    let mut rows = Vec::new();
    for (node, tables) in &look.observation.tables.nodes {
        let mut by_port: BTreeMap<PortNum, Egress> = BTreeMap::new();
        let blank = |port| Egress { node: *node, port, inputs: 0, agreed: None, used: 0 };
        for ((_, out), map) in &tables.sl2vl {
            by_port.entry(*out).or_insert_with(|| blank(*out)).merge(*map);
        }
        for port in tables.arbitration.keys() {
            by_port.entry(*port).or_insert_with(|| blank(*port));
        }
        rows.extend(by_port.into_values());
    }
    LANES.rows(look, rows)
}

impl Egress {
    fn merge(&mut self, map: Sl2Vl) {
        let first = self.inputs == 0;
        self.inputs += 1;
        self.agreed = if first { Some(map) } else { self.agreed.filter(|agreed| *agreed == map) };
        for level in levels() {
            self.used |= 1 << lane(map, level);
        }
    }
}

fn levels() -> impl Iterator<Item = ServiceLevel> {
    (0..=u32::from(ServiceLevel::MAX)).filter_map(ServiceLevel::new)
}

fn lane(map: Sl2Vl, level: ServiceLevel) -> u8 {
    map.lane(level).value()
}

fn arbitration(look: &Snapshot, row: Egress) -> Option<&Arbitration> {
    look.observation.tables.nodes.get(&row.node)?.arbitration.get(&row.port)
}

fn weights(entries: &[VlWeight]) -> String {
    let each = entries.iter().map(|entry| format!("{}:{}", entry.lane.value(), entry.weight));
    each.collect::<Vec<_>>().join(" ")
}
