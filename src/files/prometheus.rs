//! Prometheus text exposition of counters and link states. The metrics have the names of the usual exporter
//! (`infiniband_switch_port_transmit_wait_total`), so its dashboards and alerts work.
//!
//! Sums over all ports of a node (`ALL`) are left out, because they would count twice. Of a counter in two widths the
//! 64-bit one is written, and of two samples of one port the later one. A port that the fabric lacks is left out.

use std::fmt::Write;

use fabdeck_fabric::observe::{Counter, CounterKind, CounterSample, escape_unprintable};
use fabdeck_fabric::{Fabric, Lid, Names, NodeId, NodeKind, PortId, PortState};

use crate::exporter_names::ExporterNames;

/// A metric: its name after `infiniband_switch_port_` or `infiniband_hca_port_`, and its counters (narrow, 64-bit).
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

/// The metrics of ports that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricSet {
    /// All counters, states and the other ends of cables.
    All,
    /// Data, waiting, errors and states: what dashboards of large fabrics need.
    Core,
}

/// The counters of the smaller set, by the names of their metrics.
const CORE: &[&str] = &[
    "transmit_data_bytes_total",
    "receive_data_bytes_total",
    "symbol_error_total",
    "link_error_recovery_total",
    "link_downed_total",
    "receive_errors_total",
    "transmit_discards_total",
    "transmit_wait_total",
];

pub fn write(fabric: &Fabric, names: &Names, counters: &[CounterSample], set: MetricSet) -> String {
    write_as(fabric, names, counters, set, ExporterNames::Fabdeck)
}

/// The same with the names and values of an exporter where these are others for the same thing.
pub fn write_as(
    fabric: &Fabric,
    names: &Names,
    counters: &[CounterSample],
    set: MetricSet,
    exporter: ExporterNames,
) -> String {
    let exposition = Exposition { exporter, ..Exposition::new(fabric, names, counters) };
    let mut out = String::new();
    for family in [MetricFamily::Switch, MetricFamily::Adapter] {
        for metric in METRICS.iter().filter(|metric| set == MetricSet::All || CORE.contains(&metric.name)) {
            exposition.write_counter(&mut out, family, metric);
        }
        exposition.write_states(&mut out, family);
        if set == MetricSet::All {
            exposition.write_uplinks(&mut out, family);
        }
    }
    out
}

/// A value of ports that is not a counter: a rate or a share.
#[derive(Debug)]
pub struct Gauge {
    /// The name after `infiniband_switch_port_` or `infiniband_hca_port_`.
    pub name: &'static str,
    pub help: &'static str,
    /// In the order of the ports.
    pub values: Vec<(PortId, f64)>,
}

/// Writes values under names like those of the counters, with the same labels.
pub fn write_gauges(fabric: &Fabric, names: &Names, gauges: &[Gauge]) -> String {
    let exposition = Exposition::new(fabric, names, &[]);
    let mut out = String::new();
    for family in [MetricFamily::Switch, MetricFamily::Adapter] {
        for Gauge { name, help, values } in gauges {
            let name = format!("infiniband_{}_port_{name}", family.label());
            let mut mine = values.iter().filter(|(port, _)| exposition.family(*port) == family).peekable();
            if mine.peek().is_some() {
                write_head(
                    &mut out,
                    &name,
                    &format!("Infiniband {} port {help}", family.description()),
                    "gauge",
                );
            }
            for (port, value) in mine {
                // Writing to a String cannot fail.
                let _ = writeln!(out, "{name}{{{}}} {value}", exposition.labels[port.index()]);
            }
        }
    }
    out
}

/// A value of nodes.
#[derive(Debug)]
pub struct NodeGauge {
    /// The name after `infiniband_switch_` or `infiniband_hca_`.
    pub name: &'static str,
    pub help: &'static str,
    /// In the order of the nodes.
    pub values: Vec<NodeValue>,
}

/// A value of a node, or of a part of it.
#[derive(Debug)]
pub struct NodeValue {
    pub node: NodeId,
    /// The kind of the part, and which one of them it is.
    pub part: Option<(&'static str, String)>,
    pub value: f64,
}

/// Writes values of nodes, with the labels of ports but the port.
pub fn write_node_gauges(fabric: &Fabric, names: &Names, gauges: &[NodeGauge]) -> String {
    let mut out = String::new();
    let family_of = |node: NodeId| MetricFamily::of_node_kind(fabric.node(node).facts.kind);
    for family in [MetricFamily::Switch, MetricFamily::Adapter] {
        for NodeGauge { name, help, values } in gauges {
            let name = format!("infiniband_{}_{name}", family.label());
            let mut mine = values.iter().filter(|value| family_of(value.node) == family).peekable();
            if mine.peek().is_some() {
                let help = format!("Infiniband {} {help}", family.description());
                write_head(&mut out, &name, &help, "gauge");
            }
            for NodeValue { node, part, value } in mine {
                let mut labels = format!("guid=\"{}\",", fabric.node(*node).guid());
                write_label(&mut labels, family.label(), names.name(*node));
                if let Some((kind, which)) = part {
                    labels.push(',');
                    write_label(&mut labels, kind, which);
                }
                let _ = writeln!(out, "{name}{{{labels}}} {value}");
            }
        }
    }
    out
}

/// The exporter has one family of metrics for switches and one for adapters; routers count as adapters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetricFamily {
    Switch,
    Adapter,
}

impl MetricFamily {
    pub(crate) fn of_node_kind(kind: NodeKind) -> Self {
        if kind == NodeKind::Switch { Self::Switch } else { Self::Adapter }
    }

    /// The word in a metric's name, which is also the label of the node's name.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Adapter => "hca",
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Adapter => "HCA",
        }
    }
}

/// The port of a sample: by the GUID of its node or of itself, or by its LID.
pub(crate) fn port_of(fabric: &Fabric, sample: &CounterSample) -> Option<PortId> {
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

struct Exposition<'a> {
    fabric: &'a Fabric,
    names: &'a Names,
    samples: Vec<(PortId, &'a CounterSample)>,
    exporter: ExporterNames,
    /// By port: all series of a port begin with the same labels.
    labels: Vec<String>,
}

impl<'a> Exposition<'a> {
    fn new(fabric: &'a Fabric, names: &'a Names, samples: &'a [CounterSample]) -> Self {
        let samples = samples.iter().filter_map(|sample| Some((port_of(fabric, sample)?, sample))).collect();
        let labels = fabric.ports().map(|(id, _)| port_labels(fabric, names, id)).collect();
        Self { fabric, names, samples, exporter: ExporterNames::default(), labels }
    }

    fn family(&self, port: PortId) -> MetricFamily {
        MetricFamily::of_node_kind(self.fabric.node(self.fabric.port(port).node).facts.kind)
    }

    /// The ports of a family that have a value, in canonical order.
    fn series<T>(&self, family: MetricFamily, value: impl Fn(PortId) -> Option<T>) -> Vec<(PortId, T)> {
        let ports = self.fabric.ports().map(|(id, _)| id).filter(|port| self.family(*port) == family);
        ports.filter_map(|port| Some((port, value(port)?))).collect()
    }

    fn write_counter(&self, out: &mut String, family: MetricFamily, metric: &Metric) {
        let [Some(counter), wide] = &metric.counters else { return };
        // The value of each port, and whether it came from the 64-bit counter.
        let mut readings: Vec<Option<(u64, bool)>> = vec![None; self.labels.len()];
        for (port, sample) in self.samples.iter().filter(|(port, _)| self.family(*port) == family) {
            // A difference below zero is no counter value.
            let of = |counter| sample.values.get(counter).filter(|value| *value <= i64::MAX as u64);
            // A counter with only one width counts as 64-bit.
            let reading = match (wide.as_ref().and_then(of), of(counter)) {
                (Some(value), _) => (value, true),
                (None, Some(value)) => (value, wide.is_none()),
                (None, None) => continue,
            };
            let known = &mut readings[port.index()];
            if reading.1 || known.is_none_or(|(_, wide)| !wide) {
                *known = Some(reading);
            }
        }
        let series = self.series(family, |port| readings[port.index()]);
        let spelled = match (self.exporter, metric.name) {
            (ExporterNames::Sckyzo, "dli_mapping_errors_total") => "dlid_mapping_errors_total",
            (_, name) => name,
        };
        let name = format!("infiniband_{}_port_{spelled}", family.label());
        if !series.is_empty() {
            write_head(out, &name, &format!("Infiniband {} port {counter}", family.description()), "counter");
        }
        let bytes = if counter.kind() == Some(CounterKind::Data) { 4 } else { 1 };
        for (port, (value, _)) in series {
            write_line(out, &name, &self.labels[port.index()], u128::from(value) * bytes);
        }
    }

    fn write_states(&self, out: &mut String, family: MetricFamily) {
        let facts = |port| &self.fabric.port(port).facts;
        let mut gauge = |name: &str, help: &str, value: &dyn Fn(PortId) -> Option<u64>| {
            let name = format!("infiniband_{}_port_{name}", family.label());
            let series = self.series(family, value);
            if !series.is_empty() {
                write_head(out, &name, &format!("Infiniband {} port {help}", family.description()), "gauge");
            }
            for (port, value) in series {
                write_line(out, &name, &self.labels[port.index()], u128::from(value));
            }
        };
        if self.exporter == ExporterNames::Sckyzo {
            gauge("state", "state (1 up, 0 down)", &|port| {
                facts(port).state.map(|state| u64::from(state == PortState::Active))
            });
        } else {
            gauge("state", "state (1 down, 2 init, 3 armed, 4 active)", &|port| {
                facts(port).state.map(|state| u64::from(state.code()))
            });
        }
        gauge("physical_state", "physical state (2 polling, 3 disabled, 5 link up)", &|port| {
            facts(port).physical_state.map(|state| u64::from(state.code()))
        });
        gauge("raw_rate_bytes_per_second", "raw rate", &|port| {
            let (width, speed) = (facts(port).width?, facts(port).speed?);
            Some(u64::from(width.lanes()) * u64::from(speed.mbps()) * 1_000_000 / 8)
        });
    }

    fn write_uplinks(&self, out: &mut String, family: MetricFamily) {
        let series = self.series(family, |port| self.fabric.peer(port));
        let name = format!("infiniband_{}_uplink_info", family.label());
        if !series.is_empty() {
            write_head(
                out,
                &name,
                &format!("Infiniband {} uplink information", family.description()),
                "gauge",
            );
        }
        for (port, peer) in series {
            let labels =
                format!("{}{}", self.labels[port.index()], uplink_labels(self.fabric, self.names, peer));
            write_line(out, &name, &labels, 1);
        }
    }
}

pub(crate) fn write_head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

pub(crate) fn write_line(out: &mut String, name: &str, labels: &str, value: u128) {
    let _ = writeln!(out, "{name}{{{labels}}} {value}");
}

fn port_labels(fabric: &Fabric, names: &Names, port: PortId) -> String {
    let port = fabric.port(port);
    let node = fabric.node(port.node);
    let family = MetricFamily::of_node_kind(node.facts.kind);
    let mut labels = format!("guid=\"{}\",port=\"{}\",", node.guid(), port.number);
    write_label(&mut labels, family.label(), names.name(port.node));
    labels
}

/// The labels for the other end of the cable.
fn uplink_labels(fabric: &Fabric, names: &Names, peer: PortId) -> String {
    let port = fabric.port(peer);
    let node = fabric.node(port.node);
    let kind = match node.facts.kind {
        NodeKind::Switch => "SW",
        NodeKind::ChannelAdapter => "CA",
        NodeKind::Router => "RT",
    };
    let lid = fabric.address_of(peer).map_or(String::new(), |(lid, _)| lid.to_string());
    let mut labels = String::from(",");
    write_label(&mut labels, "uplink", names.name(port.node));
    let _ = write!(
        labels,
        ",uplink_guid=\"{}\",uplink_type=\"{kind}\",uplink_port=\"{}\",uplink_lid=\"{lid}\"",
        node.guid(),
        port.number
    );
    labels
}

/// Writes a label, with its value escaped as the format requires. Every label whose value is text from elsewhere is
/// written here.
pub fn write_label(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, "{name}=\"");
    for c in escape_unprintable(value).chars() {
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
        write_label(&mut out, "switch", "a\\b\"c\u{1b}d");
        assert_eq!(out, "switch=\"a\\\\b\\\"c\\\\u{1b}d\"");
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
