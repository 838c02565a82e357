//! Links, with a row for each cable.

use rustc_hash::FxHashMap;

use super::counters::errors_by_port;
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use crate::catalogue::views::modules::{WIRE_TONES, WIRE_WORDS};
use crate::catalogue::views::planes::{PLANES_ABOUT, PLANES_DOWN_ABOUT, planes_down_value, planes_value};
use fabdeck_fabric::{Element, ElementId, LinkId, LinkSpeed, LinkWidth, NodeId, NodeKind, Port, PortState};
use fabdeck_routing::analysis::PathIndex;

/// A cable, with the values that need more than its two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    pub link: LinkId,
    /// Number of cables between the same two nodes, this one included.
    pub parallel: u32,
    /// Number of paths over the busier direction. `None` where the tables are not indexed, or no path between
    /// switches crosses the cable.
    pub efi: Option<u64>,
    /// Number of errors that both ends counted; `None` where no counters were read.
    pub errors: Option<u64>,
    /// Utilization of the busier direction in percent, and in the next field errors per hour of both ends.
    /// `None` without a watch.
    pub load: Option<u16>,
    pub errors_per_hour: Option<u64>,
    /// How often it went down in the last 90 days, by the ledger of a watch; `None` for a cable that the ledger does not have.
    pub downs: Option<u64>,
}

type RowField = Field<Cable>;

pub const LINKS: View<Cable> = View::new(LINK_FIELDS, "the fabric has no cable");

static LINK_FIELDS: &[RowField] = &[
    RowField::new("a", "A", FieldKind::Text, "node at the first end", |l, &r| l.name(ends(l, r)[0].node).into()).node_name(),
    RowField::new("a_port", "PORT", FieldKind::Number, "port at the first end", |l, &r| ends(l, r)[0].number.into()).port_of("a"),
    RowField::new("a_label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &r| label_value(l, l.fabric().link(r.link).a))
        .when_known()
        .shed(2),
    RowField::new("b", "B", FieldKind::Text, "node at the other end", |l, &r| l.name(ends(l, r)[1].node).into()).node_name(),
    RowField::new("b_port", "PORT", FieldKind::Number, "port at the other end", |l, &r| ends(l, r)[1].number.into()).port_of("b"),
    RowField::new("b_label", "LABEL", FieldKind::Text, "label of the port at the other end", |l, &r| {
        label_value(l, l.fabric().link(r.link).b)
    })
    .when_known()
    .shed(2),
    RowField::new("a_guid", "A GUID", FieldKind::Guid, "node GUID at the first end", |l, &r| {
        l.fabric().node(ends(l, r)[0].node).guid().into()
    })
    .when_ambiguous(),
    RowField::new("b_guid", "B GUID", FieldKind::Guid, "node GUID at the other end", |l, &r| {
        l.fabric().node(ends(l, r)[1].node).guid().into()
    })
    .when_ambiguous(),
    RowField::new("state", "STATE", FieldKind::State, "logical state, of the worse end", |l, &r| state(l, r).into()).toned(&[("Down", Tone::LinkDown)]).status(),
    RowField::new("width", "WIDTH", FieldKind::Width, "width in use, the smaller of both ends", |l, &r| {
        l.width_in_use(r.link).into()
    }).shed(8),
    RowField::new("planes", "PLANES", FieldKind::Text, PLANES_ABOUT, |l, &r| planes_value(l.link_planes(r.link)))
        .when_known()
        .keyword(),
    RowField::new("planes_down", "PLANES DOWN", FieldKind::Number, PLANES_DOWN_ABOUT, |l, &r| {
        planes_down_value(l.link_planes(r.link))
    })
    .largest_first()
    .on_request(),
    RowField::new("speed", "SPEED", FieldKind::Speed, "speed in use, the smaller of both ends", |l, &r| {
        l.speed_in_use(r.link).into()
    }).shed(6),
    RowField::new("rate_mbps", "RATE", FieldKind::Number, "signalling rate of all physical lanes together", |l, &r| {
        let rate = l.width_in_use(r.link).zip(l.speed_in_use(r.link));
        rate.map(|(width, speed)| signalling_mbps(width, speed)).into()
    })
    .unit("Mbit/s")
    .on_request(),
    RowField::new("wire", "WIRE", FieldKind::Text, "wire verdict of the worse end: healthy, watch, bad, or not known", |l, &r| {
        l.link_judgement(r.link).1.verdict.word().into()
    })
    .words(WIRE_WORDS)
    .toned(WIRE_TONES)
    .on_request(),
    RowField::new("degraded", "DEGRADED", FieldKind::Flag, "below what both ends can do", |l, &r| {
        l.is_degraded(r.link).into()
    }).toned(&[("yes", Tone::LinkDegraded)])
    .largest_first(),
    RowField::new("mismatch", "MISMATCH", FieldKind::Flag, "the ends report different widths or speeds", |l, &r| {
        mismatch(l, r).into()
    }).toned(&[("yes", Tone::LinkDegraded)])
    .largest_first()
    .when_yes(),
    RowField::new("efi", "PATHS", FieldKind::Number, "paths over it under the tables in force, in the busier direction", |_, &r| {
        r.efi.into()
    }).shed(5)
    .largest_first()
    .when_known(),
    RowField::new(
        "errors",
        "ERRORS",
        FieldKind::Number,
        "sum of symbol errors, recoveries, link-downs, receive errors and overruns of both ends",
        |_, &r| r.errors.into(),
    ).toned_over_threshold()
    .largest_first()
    .when_known(),
    RowField::new("load", "LOAD %", FieldKind::Number, "share of its rate in use now, in the busier direction; known while counters are watched", |_, &r| {
        r.load.into()
    }).shed(7)
    .largest_first()
    .unit("%")
    .when_known(),
    RowField::new(
        "errors_per_hour",
        "ERR 1H",
        FieldKind::Number,
        "errors that both ends counted in the last half hour to hour; in the first hour of a watch, since the first sweep",
        |_, &r| r.errors_per_hour.into(),
    ).toned_over_threshold()
    .shed(3)
    .largest_first()
    .when_known(),
    RowField::new(
        "downs",
        "DOWNS 90D",
        FieldKind::Number,
        "how often it went down in the last 90 days, by the ledger of `watch`; of cables that the ledger has",
        |_, &r| r.downs.into(),
    )
    .largest_first()
    .when_known(),
    RowField::new("kind", "KIND", FieldKind::Text, "kinds of its ends: switch-switch, switch-host and so on", |l, &r| {
        kind(l, r).into()
    }).shed(2)
    .words(&[
        "switch-switch",
        "switch-host",
        "switch-router",
        "host-host",
        "host-router",
        "router-router",
    ])
    .spare(),
    RowField::new("width_possible", "CAN WIDTH", FieldKind::Width, "widest that both ends can do", |l, &r| {
        let [a, b] = ends(l, r).map(|port| port.facts.width_supported);
        a.zip(b).map(|(a, b)| a.min(b)).into()
    })
    .on_request(),
    RowField::new("speed_possible", "CAN SPEED", FieldKind::Speed, "fastest that both ends can do", |l, &r| {
        let [a, b] = ends(l, r).map(|port| port.facts.speed_supported);
        a.zip(b).map(|(a, b)| a.min(b)).into()
    })
    .on_request(),
    RowField::new(
        "parallel",
        "PARALLEL",
        FieldKind::Number,
        "cables between the same two nodes, this one included",
        |_, &r| r.parallel.into(),
    ).shed(1)
    .largest_first()
    .spare(),
    RowField::new("self_loop", "SELF LOOP", FieldKind::Flag, "both ends are on one node", |l, &r| {
        let [a, b] = ends(l, r);
        (a.node == b.node).into()
    })
    .largest_first()
    .on_request(),
    RowField::new("element", "ELEMENT", FieldKind::Text, "how commands name it", |l, &r| {
        Element::from_id(l.fabric(), &l.names, ElementId::Link(r.link)).to_string().into()
    })
    .on_request(),
];

/// A row for each cable, with its number of paths where the tables are indexed.
pub fn link_rows(look: &Snapshot, paths: Option<&PathIndex>) -> Vec<Cable> {
    let fabric = look.fabric();
    let pair = |link: LinkId| -> (NodeId, NodeId) {
        let [(a, _), (b, _)] = fabric.ends(link);
        (a.min(b), a.max(b))
    };
    let mut between: FxHashMap<(NodeId, NodeId), u32> = FxHashMap::default();
    for (link, _) in fabric.links() {
        *between.entry(pair(link)).or_default() += 1;
    }
    let counted = errors_by_port(fabric, &look.observation.counters);
    let cable = |link| {
        let [a, b] = { [fabric.link(link).a, fabric.link(link).b] }.map(|port| counted.get(&port).copied());
        Cable {
            link,
            parallel: between.get(&pair(link)).copied().unwrap_or(1),
            efi: paths.and_then(|paths| paths.load_of(link)).map(|[there, back]| there.max(back)),
            errors: a.or(b).map(|_| a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            load: None,
            errors_per_hour: None,
            downs: None,
        }
    };
    fabric.links().map(|(link, _)| cable(link)).collect()
}

pub fn links<'l>(look: &'l Snapshot, paths: Option<&PathIndex>) -> Rows<'l, Cable> {
    LINKS.rows(look, link_rows(look, paths))
}

fn ends(look: &Snapshot, row: Cable) -> [&Port; 2] {
    let fabric = look.fabric();
    let link = fabric.link(row.link);
    [fabric.port(link.a), fabric.port(link.b)]
}

fn kind(look: &Snapshot, row: Cable) -> &'static str {
    let [a, b] = ends(look, row).map(|port| look.fabric().node(port.node).facts.kind);
    use NodeKind::{ChannelAdapter, Router, Switch};
    match (a.min(b), a.max(b)) {
        (Switch, Switch) => "switch-switch",
        (Switch, ChannelAdapter) => "switch-host",
        (Switch, Router) => "switch-router",
        (ChannelAdapter, ChannelAdapter) => "host-host",
        (ChannelAdapter, _) => "host-router",
        (Router, _) => "router-router",
    }
}

/// The signalling rate of all physical lanes of a link together.
pub fn signalling_mbps(width: LinkWidth, speed: LinkSpeed) -> u64 {
    u64::from(width.lanes()) * lane_kbps(speed) / 1000
}

/// Signalling rate of one lane in kbit/s. Rates in whole Mbit/s would add up to 56,248 for a link of 56,250.
fn lane_kbps(speed: LinkSpeed) -> u64 {
    match speed {
        LinkSpeed::Fdr10 => 10_312_500,
        LinkSpeed::Fdr => 14_062_500,
        LinkSpeed::Edr => 25_781_250,
        whole => u64::from(whole.mbps()) * 1000,
    }
}

fn state(look: &Snapshot, row: Cable) -> Option<PortState> {
    ends(look, row).iter().filter_map(|port| port.facts.state).min()
}

/// Whether the ends report different widths or speeds; `None` where at most one end reports them.
fn mismatch(look: &Snapshot, row: Cable) -> Option<bool> {
    let [a, b] = ends(look, row).map(|port| &port.facts);
    let widths = a.width.zip(b.width).map(|(a, b)| a != b);
    let speeds = a.speed.zip(b.speed).map(|(a, b)| a != b);
    match (widths, speeds) {
        (None, None) => None,
        (widths, speeds) => Some(widths == Some(true) || speeds == Some(true)),
    }
}
