//! Prometheus' text exposition: counters and link states, under the names of the trade's exporter
//! (`infiniband_switch_port_transmit_wait_total`), so that its dashboards and alarms read them.
//!
//! Sums over all ports of a node (`ALL`) are left out: they would be counted twice. Where the samples hold a counter
//! in two widths the wide one is written, and of two samples of one port the later one. A port that the fabric does
//! not have is left out.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::fabric::{Fabric, Lid, Names, NodeId, NodeKind, PortId};
use crate::observe::{Counter, CounterKind, CounterSample};

/// The metric's name after `infiniband_switch_port_` or `infiniband_hca_port_`, its counters (narrow, wide) and the
/// word in its help text.
struct Metric {
    name: &'static str,
    counters: [Option<Counter>; 2],
}

macro_rules! metrics {
    ($($name:literal, $narrow:ident $(, $wide:ident)?;)+) => {
        const METRICS: &[Metric] = &[
            $(Metric { name: $name, counters: [Some(Counter::$narrow), metrics!(@wide $($wide)?)] },)+
        ];
    };
    (@wide) => { None };
    (@wide $wide:ident) => { Some(Counter::$wide) };
}

metrics! {
    "transmit_data_bytes_total", PortXmitData, PortXmitDataExtended;
    "receive_data_bytes_total", PortRcvData, PortRcvDataExtended;
    "transmit_packets_total", PortXmitPkts, PortXmitPktsExtended;
    "receive_packets_total", PortRcvPkts, PortRcvPktsExtended;
    "unicast_transmit_packets_total", PortUnicastXmitPkts;
    "unicast_receive_packets_total", PortUnicastRcvPkts;
    "multicast_transmit_packets_total", PortMulticastXmitPkts;
    "multicast_receive_packets_total", PortMulticastRcvPkts;
    "symbol_error_total", SymbolErrorCounter, SymbolErrorCounterExt;
    "link_error_recovery_total", LinkErrorRecoveryCounter, LinkErrorRecoveryCounterExt;
    "link_downed_total", LinkDownedCounter, LinkDownedCounterExt;
    "receive_errors_total", PortRcvErrors, PortRcvErrorsExt;
    "receive_remote_physical_errors_total", PortRcvRemotePhysicalErrors, PortRcvRemotePhysicalErrorsExt;
    "receive_switch_relay_errors_total", PortRcvSwitchRelayErrors, PortRcvSwitchRelayErrorsExt;
    "transmit_discards_total", PortXmitDiscards, PortXmitDiscardsExt;
    "transmit_constraint_errors_total", PortXmitConstraintErrors, PortXmitConstraintErrorsExt;
    "receive_constraint_errors_total", PortRcvConstraintErrors, PortRcvConstraintErrorsExt;
    "local_link_integrity_errors_total", LocalLinkIntegrityErrors, LocalLinkIntegrityErrorsExt;
    "excessive_buffer_overrun_errors_total", ExcessiveBufferOverrunErrors, ExcessiveBufferOverrunErrorsExt;
    "vl15_dropped_total", VL15Dropped, VL15DroppedExt;
    "transmit_wait_total", PortXmitWait, PortXmitWaitExt;
    "qp1_dropped_total", QP1Dropped, QP1DroppedExt;
    "local_physical_errors_total", PortLocalPhysicalErrors;
    "malformed_packet_errors_total", PortMalformedPktErrors;
    "buffer_overrun_errors_total", PortBufferOverrunErrors;
    // The exporter's spelling.
    "dli_mapping_errors_total", PortDLIDMappingErrors;
    "vl_mapping_errors_total", PortVLMappingErrors;
    "looping_errors_total", PortLoopingErrors;
}

pub fn write(fabric: &Fabric, names: &Names, counters: &[CounterSample]) -> String {
    let mut out = String::new();
    let readings = readings(fabric, counters);
    for family in [Family::Switch, Family::Adapter] {
        for (at, metric) in METRICS.iter().enumerate() {
            write_counter(&mut out, (fabric, names), family, metric, readings.get(&(family, at)));
        }
        write_states(&mut out, fabric, names, family);
    }
    out
}

/// The exporter has one family for switches and one for adapters; routers go with the adapters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Family {
    Switch,
    Adapter,
}

impl Family {
    fn of(kind: NodeKind) -> Self {
        if kind == NodeKind::Switch { Self::Switch } else { Self::Adapter }
    }

    /// The word in a metric's name, which is the label of the node's name too.
    fn word(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Adapter => "hca",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Adapter => "HCA",
        }
    }
}

/// The value of one metric for one port, and whether it came from the wide counter.
type Readings = BTreeMap<(Family, usize), BTreeMap<PortId, (u64, bool)>>;

fn readings(fabric: &Fabric, samples: &[CounterSample]) -> Readings {
    let mut readings = Readings::new();
    for sample in samples {
        let Some(port) = port_of(fabric, sample) else { continue };
        let family = Family::of(fabric.node(fabric.port(port).node).facts.kind);
        for (at, metric) in METRICS.iter().enumerate() {
            let [narrow, wide] = metric.counters.each_ref();
            let of =
                |counter: &Option<Counter>| counter.as_ref().and_then(|counter| sample.values.get(counter));
            // A counter that has one width only is as good as a wide one.
            let reading = match (of(wide), of(narrow)) {
                (Some(value), _) => (value, true),
                (None, Some(value)) => (value, wide.is_none()),
                (None, None) => continue,
            };
            let values = readings.entry((family, at)).or_default();
            let known = values.entry(port).or_insert(reading);
            if reading.1 || !known.1 {
                *known = reading;
            }
        }
    }
    readings
}

/// The port of a sample: by the GUID of its node or of itself, or by its LID.
fn port_of(fabric: &Fabric, sample: &CounterSample) -> Option<PortId> {
    let number = sample.port?;
    let node: NodeId = match (sample.node, sample.lid) {
        (Some(guid), _) => {
            let by_port = || fabric.port_by_guid(guid).map(|port| fabric.port(port).node);
            fabric.node_by_guid(guid).or_else(by_port)?
        }
        (None, Some(lid)) => fabric.port(fabric.port_by_lid(Lid::new(u32::from(lid))?)?).node,
        (None, None) => return None,
    };
    fabric.port_of(node, number)
}

fn write_counter(
    out: &mut String,
    (fabric, names): (&Fabric, &Names),
    family: Family,
    metric: &Metric,
    values: Option<&BTreeMap<PortId, (u64, bool)>>,
) {
    let (Some(values), [Some(counter), _]) = (values, &metric.counters) else { return };
    let name = format!("infiniband_{}_port_{}", family.word(), metric.name);
    head(out, &name, &format!("Infiniband {} port {counter}", family.title()), "counter");
    let bytes = if counter.kind() == Some(CounterKind::Data) { 4 } else { 1 };
    for (port, (value, _)) in values {
        let labels = labels(fabric, names, family, *port);
        line(out, &name, &labels, u128::from(*value) * bytes);
    }
}

fn write_states(out: &mut String, fabric: &Fabric, names: &Names, family: Family) {
    let ports: Vec<PortId> = fabric
        .ports()
        .filter(|(_, port)| Family::of(fabric.node(port.node).facts.kind) == family)
        .map(|(id, _)| id)
        .collect();
    let mut gauge = |name: &str, help: &str, value: &dyn Fn(PortId) -> Option<u64>| {
        let name = format!("infiniband_{}_port_{name}", family.word());
        let mut valued = ports.iter().filter_map(|port| Some((*port, value(*port)?))).peekable();
        if valued.peek().is_some() {
            head(out, &name, &format!("Infiniband {} port {help}", family.title()), "gauge");
        }
        for (port, value) in valued {
            line(out, &name, &labels(fabric, names, family, port), u128::from(value));
        }
    };
    let facts = |port| &fabric.port(port).facts;
    gauge("state", "state (1 down, 2 init, 3 armed, 4 active)", &|port| {
        facts(port).state.map(|state| u64::from(state.code()))
    });
    gauge("physical_state", "physical state (2 polling, 3 disabled, 5 link up)", &|port| {
        facts(port).physical_state.map(|state| u64::from(state.code()))
    });
    gauge("raw_rate_bytes_per_second", "raw rate", &|port| {
        let (width, speed) = (facts(port).width?, facts(port).speed?);
        Some(u64::from(width.lanes()) * u64::from(speed.mbps()) * 1_000_000 / 8)
    });
    let name = format!("infiniband_{}_uplink_info", family.word());
    let mut linked = ports.iter().filter_map(|port| Some((*port, fabric.peer(*port)?))).peekable();
    if linked.peek().is_some() {
        head(out, &name, &format!("Infiniband {} uplink information", family.title()), "gauge");
    }
    for (port, peer) in linked {
        let labels = labels(fabric, names, family, port) + &uplink(fabric, names, peer);
        line(out, &name, &labels, 1);
    }
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: u128) {
    let _ = writeln!(out, "{name}{{{labels}}} {value}");
}

fn labels(fabric: &Fabric, names: &Names, family: Family, port: PortId) -> String {
    let port = fabric.port(port);
    let mut labels = format!("guid=\"{}\",port=\"{}\",", fabric.node(port.node).guid(), port.number);
    label(&mut labels, family.word(), names.of(port.node));
    labels
}

/// What lies at the other end of the cable.
fn uplink(fabric: &Fabric, names: &Names, peer: PortId) -> String {
    let port = fabric.port(peer);
    let node = fabric.node(port.node);
    let kind = match node.facts.kind {
        NodeKind::Switch => "SW",
        NodeKind::ChannelAdapter => "CA",
        NodeKind::Router => "RT",
    };
    let lid = fabric.address_of(peer).map_or(String::new(), |(lid, _)| lid.to_string());
    let mut labels = String::from(",");
    label(&mut labels, "uplink", names.of(port.node));
    let _ = write!(
        labels,
        ",uplink_guid=\"{}\",uplink_type=\"{kind}\",uplink_port=\"{}\",uplink_lid=\"{lid}\"",
        node.guid(),
        port.number
    );
    labels
}

/// A label with its value escaped as the format asks.
fn label(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, "{name}=\"");
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut out = String::new();
        label(&mut out, "switch", "a\\b\"c\nd");
        assert_eq!(out, "switch=\"a\\\\b\\\"c\\nd\"");
    }

    #[test]
    fn every_counter_has_at_most_one_metric() {
        let mut counters: Vec<&Counter> =
            METRICS.iter().flat_map(|metric| metric.counters.iter().flatten()).collect();
        let count = counters.len();
        counters.sort();
        counters.dedup();
        assert_eq!(counters.len(), count);
    }
}
