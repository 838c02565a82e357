//! Modules and bit errors, with a row for each cabled port.

use std::borrow::Cow;

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::counters::{ErrorShare, PortErrorRates, WireVerdict, share_text};
use fabdeck_fabric::observe::{
    BitErrorCounts, CableKind, CongestionMarks, DeviceAnswer, FecCounts, FecMode, ModuleReading,
    PhysicalLayerCounts, PortWire, RetransmissionCounts,
};
use fabdeck_fabric::{Port, PortId};

type RowField = Field<PortId>;

/// The words of the verdict, the best first.
pub const WIRE_WORDS: &[&str] = &["not known", "healthy", "watch", "bad"];

/// The wire verdict on a port.
pub const PORT_WIRE: RowField = RowField::new(
    "wire",
    "WIRE",
    FieldKind::Text,
    "wire verdict: healthy, watch, bad, or not known",
    |l, &id| l.wire_judgement(id).verdict.word().into(),
)
.words(WIRE_WORDS)
.toned(WIRE_TONES);

/// The tones of these words.
pub const WIRE_TONES: &[(&str, Tone)] = &[("bad", Tone::Danger), ("watch", Tone::Warning)];

pub const MODULES: View<PortId> = View::new(MODULE_FIELDS, "the source has no cabled port");

static MODULE_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of its node", |l, &id| {
        l.name(port(l, id).node).into()
    })
    .node_name(),
    RowField::new("port", "PORT", FieldKind::Number, "port number on the node", |l, &id| {
        port(l, id).number.into()
    })
    .identifier()
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &id| label_value(l, id))
        .when_known()
        .shed(2),
    RowField::new("node_guid", "NODE GUID", FieldKind::Guid, "GUID of its node", |l, &id| {
        l.fabric().node(port(l, id).node).guid().into()
    })
    .when_ambiguous(),
    RowField::new("peer", "PEER", FieldKind::Text, "node at the other end of the cable", |l, &id| {
        port(l, id).peer.map(|peer| l.name(port(l, peer).node)).into()
    })
    .node_name()
    .on_request(),
    PORT_WIRE.status(),
    RowField::new(
        "module",
        "MODULE",
        FieldKind::Text,
        "kind of the cable, or why the module is not known",
        |l, &id| {
            of_module(l, id, |module| module.kind.map(CableKind::word).unwrap_or("kind not known").into())
        },
    ),
    RowField::new("vendor", "VENDOR", FieldKind::Text, "maker of the module", |l, &id| {
        text(module(l, id).and_then(|module| module.vendor.as_deref()))
    })
    .shed(3),
    RowField::new("part", "PART", FieldKind::Text, "part number of the module", |l, &id| {
        text(module(l, id).and_then(|module| module.part.as_deref()))
    })
    .shed(2),
    RowField::new("serial", "SERIAL", FieldKind::Text, "serial number of the module", |l, &id| {
        text(module(l, id).and_then(|module| module.serial.as_deref()))
    })
    .shed(1),
    RowField::new("length", "LENGTH", FieldKind::Decimal, "length of the cable", |l, &id| {
        module(l, id)
            .and_then(|module| module.length_dm)
            .map(|dm| Value::Tenths(dm.into()))
            .unwrap_or(Value::Missing)
    })
    .unit("m")
    .on_request(),
    RowField::new("temperature", "TEMP", FieldKind::Decimal, "temperature of the module", |l, &id| {
        celsius(module(l, id).and_then(ModuleReading::celsius))
    })
    .unit("C")
    .largest_first(),
    RowField::new("voltage", "VOLTAGE", FieldKind::Number, "supply voltage of the module", |l, &id| {
        module(l, id).and_then(|module| module.voltage).map(|tenth_mv| u64::from(tenth_mv) / 10).into()
    })
    .unit("mV")
    .on_request(),
    RowField::new("rx_power", "RX", FieldKind::Number, "received power, of the weakest lane", |l, &id| {
        module(l, id).and_then(|module| module.rx_power.iter().min().copied()).map(u64::from).into()
    })
    .unit("uW"),
    RowField::new("tx_power", "TX", FieldKind::Number, "sent power, of the weakest lane", |l, &id| {
        module(l, id).and_then(|module| module.tx_power.iter().min().copied()).map(u64::from).into()
    })
    .unit("uW")
    .on_request(),
    RowField::new("bias", "BIAS", FieldKind::Number, "laser current, of the strongest lane", |l, &id| {
        module(l, id)
            .and_then(|module| module.bias.iter().max().copied())
            .map(|two_ua| u64::from(two_ua) * 2)
            .into()
    })
    .unit("uA")
    .on_request(),
    RowField::new(
        "fec",
        "FEC",
        FieldKind::Text,
        "forward error correction in use, or why it is not known",
        |l, &id| said(l, id).map_or(NOT_ASKED, |said| answer(&said.fec, |mode: &FecMode| mode.word().into())),
    ),
    RowField::new(
        "raw_ber",
        "RAW BER",
        FieldKind::Text,
        "bit errors before FEC, or why they are not known",
        |l, &id| rate(l, id, |rates| rates.raw),
    ),
    RowField::new("effective_ber", "EFF BER", FieldKind::Text, "bit errors after FEC", |l, &id| {
        rate(l, id, |rates| rates.effective)
    }),
    RowField::new(
        "symbol_ber",
        "SYM BER",
        FieldKind::Text,
        "bit errors after FEC and retransmission",
        |l, &id| rate(l, id, |rates| rates.symbol),
    )
    .on_request(),
    RowField::new("over", "OVER", FieldKind::Text, "time that the error rates are over", |l, &id| {
        rates(l, id).map(|rates| rates.time_text()).into()
    })
    .on_request(),
    RowField::new(
        "evidence",
        "EVIDENCE",
        FieldKind::Text,
        "the worst value behind the verdict, with its limit; without a verdict, why bit errors are not known",
        |l, &id| {
            let worst = l.wire_judgement(id).evidence.into_iter().next().map(|worst| worst.text);
            worst.or_else(|| missing_bit_errors(l, id)).into()
        },
    )
    .on_request(),
    RowField::new(
        "lane_errors",
        "LANE ERRORS",
        FieldKind::Text,
        "bit errors before FEC by lane, from lane 1 on, since they were cleared, or why they are not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.bit_errors, |counts| lane_text(counts).into()))
        },
    )
    .on_request(),
    RowField::new(
        "fec_counts",
        "FEC COUNTS",
        FieldKind::Text,
        "blocks and symbols that FEC corrected or could not correct by the port counters of extended speeds; asked where \
         the device has no bit errors, otherwise why they are not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.fec_counts, |counts| fec_text(counts).into()))
        },
    )
    .on_request(),
    RowField::new("rcv_errors", "RCV ERRORS", FieldKind::Text, "causes of receive errors", |l, &id| {
        said(l, id).map_or(NOT_ASKED, |said| answer(&said.errors, |causes| causes.text().into()))
    })
    .on_request(),
    RowField::new("discards", "DISCARDS", FieldKind::Text, "causes of discards", |l, &id| {
        said(l, id).map_or(NOT_ASKED, |said| answer(&said.discards, |causes| causes.text().into()))
    })
    .on_request(),
    RowField::new(
        "fecn",
        "FECN",
        FieldKind::Number,
        "received packets with a forward congestion mark",
        |l, &id| congestion(l, id).map(|marks| u64::from(marks.forward)).into(),
    )
    .unit("packets")
    .on_request(),
    RowField::new(
        "becn",
        "BECN",
        FieldKind::Number,
        "received packets with a backward congestion mark",
        |l, &id| congestion(l, id).map(|marks| u64::from(marks.backward)).into(),
    )
    .unit("packets")
    .on_request(),
    RowField::new(
        "uncorrectable",
        "UNCORRECTABLE",
        FieldKind::Number,
        "FEC blocks that could not be corrected, since they were cleared",
        |l, &id| layer(l, id).map(|counts| counts.uncorrectable_blocks).into(),
    )
    .unit("blocks")
    .on_request(),
    RowField::new(
        "recoveries",
        "RECOVERIES",
        FieldKind::Number,
        "how often the link recovered without going down, since it was cleared",
        |l, &id| layer(l, id).map(|counts| u64::from(counts.recoveries)).into(),
    )
    .on_request(),
    RowField::new(
        "link_downs",
        "LINK DOWNS",
        FieldKind::Number,
        "how often the link went down, by the physical layer's own count",
        |l, &id| layer(l, id).map(|counts| u64::from(counts.link_downs)).into(),
    )
    .on_request(),
    RowField::new(
        "retries",
        "RETRIES",
        FieldKind::Number,
        "codes that the physical layer sent again",
        |l, &id| retransmission(l, id).map(|counts| counts.retry_codes).into(),
    )
    .unit("codes")
    .on_request(),
    RowField::new(
        "retry_losses",
        "RETRY LOSSES",
        FieldKind::Number,
        "events in which retransmission lost data",
        |l, &id| retransmission(l, id).map(|counts| counts.losses).into(),
    )
    .on_request(),
    RowField::new(
        "trouble",
        "TROUBLE",
        FieldKind::Text,
        "what keeps the link down by the device's own words, or why it is not known",
        |l, &id| {
            said(l, id).map_or(NOT_ASKED, |said| answer(&said.troubleshooting, |page| page.words().into()))
        },
    )
    .on_request(),
    RowField::new(
        "last_down",
        "LAST DOWN",
        FieldKind::Text,
        "who took the link down the last time, and why, or why that is not known",
        |l, &id| said(l, id).map_or(NOT_ASKED, |said| answer(&said.link_down, |page| page.words().into())),
    )
    .on_request(),
];

/// The fields about the course of the link, which are read only where they are used.
pub const LINK_PAGE_FIELDS: &[&str] = &[
    "fecn",
    "becn",
    "uncorrectable",
    "recoveries",
    "link_downs",
    "retries",
    "retry_losses",
    "trouble",
    "last_down",
];

const NOT_ASKED: Value<'static> = Value::Text(Cow::Borrowed("not asked"));

/// The cabled ports, and those with an answer.
pub fn modules(look: &Snapshot) -> Rows<'_, PortId> {
    let known = |(id, port): &(PortId, &Port)| port.peer.is_some() || said(look, *id).is_some();
    let rows: Vec<_> = look.fabric().ports().filter(known).map(|(id, _)| id).collect();
    MODULES.rows(look, rows)
}

fn port(look: &Snapshot, id: PortId) -> &Port {
    look.fabric().port(id)
}

fn said(look: &Snapshot, id: PortId) -> Option<&PortWire> {
    look.port_wire(id)
}

fn module(look: &Snapshot, id: PortId) -> Option<&ModuleReading> {
    said(look, id)?.module.known()
}

/// The value of an answer, or the word for why there is none.
pub(super) fn answer<'l, T>(
    answer: &'l DeviceAnswer<T>,
    value: impl FnOnce(&'l T) -> Value<'l>,
) -> Value<'l> {
    match (answer.known(), answer.missing_word()) {
        (Some(known), _) => value(known),
        (None, word) => Value::Text(Cow::Borrowed(word.unwrap_or("not asked"))),
    }
}

/// Why bit errors are not known, with the device that settled it for its kind.
fn missing_bit_errors(look: &Snapshot, id: PortId) -> Option<String> {
    let name = |guid| match look.fabric().node_by_guid(guid) {
        Some(node) => look.name(node).to_string(),
        None => guid.to_string(),
    };
    said(look, id)?.bit_errors.missing_text(name)
}

fn of_module<'l>(
    look: &'l Snapshot,
    id: PortId,
    value: impl FnOnce(&'l ModuleReading) -> Value<'l>,
) -> Value<'l> {
    said(look, id).map_or(NOT_ASKED, |said| answer(&said.module, value))
}

/// None where the source states no errors by lane.
fn lane_text(counts: &BitErrorCounts) -> Option<String> {
    let lanes: Vec<String> = counts.lane_errors.iter().map(|errors| errors.to_string()).collect();
    (!lanes.is_empty()).then(|| lanes.join(", "))
}

fn fec_text(counts: &FecCounts) -> String {
    let symbols = counts.corrected_symbols.map(|symbols| format!(", corrected symbols {symbols}"));
    format!(
        "corrected blocks {}, uncorrected blocks {}{}, sync header errors {}",
        counts.corrected_blocks,
        counts.uncorrected_blocks,
        symbols.unwrap_or_default(),
        counts.sync_header_errors
    )
}

fn congestion(look: &Snapshot, id: PortId) -> Option<&CongestionMarks> {
    said(look, id)?.congestion.known()
}

fn layer(look: &Snapshot, id: PortId) -> Option<&PhysicalLayerCounts> {
    said(look, id)?.layer.known()
}

fn retransmission(look: &Snapshot, id: PortId) -> Option<&RetransmissionCounts> {
    said(look, id)?.retransmission.known()
}

fn text(value: Option<&str>) -> Value<'_> {
    value.map_or(Value::Missing, Value::text)
}

/// A temperature in tenths. One below zero is not shown as a number: no table has a place for it.
pub(super) fn celsius(value: Option<f64>) -> Value<'static> {
    match value {
        Some(value) if value >= 0.0 => Value::tenths(value),
        _ => Value::Missing,
    }
}

fn rates(look: &Snapshot, id: PortId) -> Option<PortErrorRates> {
    let facts = &port(look, id).facts;
    PortErrorRates::of_port(said(look, id)?, facts.speed, facts.width)
}

/// An error rate, or the word for why it is not known. A missing rate is never 0.
fn rate(look: &Snapshot, id: PortId, of: fn(&PortErrorRates) -> Option<ErrorShare>) -> Value<'_> {
    let Some(said) = said(look, id) else { return NOT_ASKED };
    match rates(look, id).and_then(|rates| of(&rates)) {
        Some(share) => Value::Text(Cow::Owned(share_text(share))),
        None => answer(&said.bit_errors, |_| Value::Missing),
    }
}

const _: () = assert!(WIRE_WORDS.len() == WireVerdict::ALL.len());
