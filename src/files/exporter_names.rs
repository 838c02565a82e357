//! What two other exporters name and fabdeck does not: `treydock/infiniband_exporter` and `SckyzO/infiniband_exporter`. With
//! these families their dashboards and alerts read a service of fabdeck as they read the exporter.

use std::fmt::Write;

use fabdeck_fabric::observe::CounterSample;
use fabdeck_fabric::{Fabric, Names, NodeId, PortId};

use crate::prometheus::{MetricFamily, port_of, write_head, write_label, write_line};

/// The exporter whose names the metrics have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExporterNames {
    /// Fabdeck's own, which are those that both exporters have.
    #[default]
    Fabdeck,
    Treydock,
    Sckyzo,
}

/// What an exporter reports of its last collection.
#[derive(Clone, Copy, Debug)]
pub struct Collection<'a> {
    pub counters: &'a [CounterSample],
    pub seconds: f64,
}

/// The families of an exporter besides those of [`crate::prometheus::write`].
pub fn write_exporter(
    fabric: &Fabric,
    names: &Names,
    exporter: ExporterNames,
    collection: &Collection<'_>,
) -> String {
    let mut out = String::new();
    if exporter == ExporterNames::Fabdeck {
        return out;
    }
    let mut is_read = vec![false; fabric.nodes().len()];
    for port in collection.counters.iter().filter_map(|sample| port_of(fabric, sample)) {
        is_read[fabric.port(port).node.index()] = true;
    }
    for family in [MetricFamily::Switch, MetricFamily::Adapter] {
        let nodes: Vec<NodeId> = fabric
            .nodes()
            .filter(|(_, node)| MetricFamily::of_node_kind(node.facts.kind) == family)
            .map(|(node, _)| node)
            .collect();
        let writer = FamilyWriter { fabric, names, family, nodes };
        writer.write_nodes(&mut out, exporter, &is_read);
        writer.write_rates(&mut out, exporter);
    }
    write_collection(&mut out, fabric, exporter, (&is_read, collection.seconds));
    out
}

struct FamilyWriter<'a> {
    fabric: &'a Fabric,
    names: &'a Names,
    family: MetricFamily,
    nodes: Vec<NodeId>,
}

impl FamilyWriter<'_> {
    fn head(&self, out: &mut String, name: &str, help: &str) -> String {
        let name = format!("infiniband_{}_{name}", self.family.label());
        if !self.nodes.is_empty() {
            write_head(out, &name, &format!("Infiniband {} {help}", self.family.description()), "gauge");
        }
        name
    }

    fn guid_label(&self, node: NodeId) -> String {
        format!("guid=\"{}\"", self.fabric.node(node).guid())
    }

    /// `guid`, and the name of the node.
    fn node_labels(&self, node: NodeId) -> String {
        let mut labels = self.guid_label(node) + ",";
        write_label(&mut labels, self.family.label(), self.names.name(node));
        labels
    }

    fn write_nodes(&self, out: &mut String, exporter: ExporterNames, is_read: &[bool]) {
        let name = self.head(out, "info", "information");
        for node in &self.nodes {
            let lid = self.fabric.ports_of(*node).find_map(|(port, _)| self.fabric.address_of(port));
            let mut labels = self.node_labels(*node) + ",";
            write_label(&mut labels, "lid", &lid.map_or(String::new(), |(lid, _)| lid.to_string()));
            write_line(out, &name, &labels, 1);
        }
        if exporter == ExporterNames::Sckyzo {
            let name = self.head(out, "up", "answered the last time (1) or not (0)");
            for node in &self.nodes {
                write_line(out, &name, &self.node_labels(*node), u128::from(is_read[node.index()]));
            }
        }
        for (name, help, value) in [
            ("collect_error", "has no counters of the last collection", None),
            ("collect_timeout", "ran into a time limit, which counts as an error here", Some(0)),
        ] {
            let name = self.head(out, name, help);
            for node in &self.nodes {
                let value = value.unwrap_or_else(|| u128::from(!is_read[node.index()]));
                let labels = format!("{},collector=\"{}\"", self.guid_label(*node), self.family.label());
                write_line(out, &name, &labels, value);
            }
        }
    }

    /// Rates of data, without coding; `treydock` names those of adapters without their port.
    fn write_rates(&self, out: &mut String, exporter: ExporterNames) {
        let by_adapter = exporter == ExporterNames::Treydock && self.family == MetricFamily::Adapter;
        let bytes = |mbps: u32, lanes: u32| u128::from(mbps) * u128::from(lanes) * 1_000_000 / 8;
        let rates = |port: PortId| {
            let facts = &self.fabric.port(port).facts;
            let (width, speed) = (facts.width?, facts.speed?);
            Some([bytes(speed.data_mbps(), width.lanes()), bytes(speed.mbps(), width.lanes())])
        };
        if by_adapter {
            for (at, name) in ["rate_bytes_per_second", "raw_rate_bytes_per_second"].into_iter().enumerate() {
                let name = self.head(out, name, if at == 0 { "rate" } else { "raw rate" });
                for node in &self.nodes {
                    let Some(rates) = self.fabric.ports_of(*node).find_map(|(port, _)| rates(port)) else {
                        continue;
                    };
                    write_line(out, &name, &self.guid_label(*node), rates[at]);
                }
            }
            return;
        }
        let name = self.head(out, "port_rate_bytes_per_second", "port rate");
        for node in &self.nodes {
            for (port, facts) in self.fabric.ports_of(*node) {
                let Some([rate, _]) = rates(port).filter(|_| self.fabric.peer(port).is_some()) else {
                    continue;
                };
                let mut labels = self.guid_label(*node);
                let _ = write!(labels, ",port=\"{}\",", facts.number);
                write_label(&mut labels, self.family.label(), self.names.name(*node));
                write_line(out, &name, &labels, rate);
            }
        }
    }
}

fn write_collection(
    out: &mut String,
    fabric: &Fabric,
    exporter: ExporterNames,
    (is_read, seconds): (&[bool], f64),
) {
    let kind_of = |node: NodeId| MetricFamily::of_node_kind(fabric.node(node).facts.kind);
    let unread = |family: MetricFamily| {
        fabric.nodes().filter(|(node, _)| kind_of(*node) == family && !is_read[node.index()]).count()
    };
    let name = "infiniband_exporter_collector_duration_seconds";
    write_head(out, name, "Collector time duration", "gauge");
    for family in [MetricFamily::Switch, MetricFamily::Adapter] {
        // One sweep reads both.
        let _ = writeln!(out, "{name}{{collector=\"{}\"}} {}", family.label(), seconds);
    }
    // The other exporter counts since its start; a service of fabdeck has fabdeck_sweep_failures_total for that.
    if exporter == ExporterNames::Treydock {
        for (name, help) in [
            ("infiniband_exporter_collect_errors", "Nodes without counters in the last collection"),
            ("infiniband_exporter_collect_timeouts", "Time limits, which count as errors here"),
        ] {
            write_head(out, name, help, "gauge");
            for family in [MetricFamily::Switch, MetricFamily::Adapter] {
                let count = if name.ends_with("errors") { unread(family) } else { 0 };
                write_line(out, name, &format!("collector=\"{}\"", family.label()), count as u128);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prometheus::{MetricSet, write_as};
    use fabdeck_fabric::NameMap;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::Counter;

    /// Metrics of a fabric of two leaves whose first adapter has a sample, as an exporter names them.
    fn text(exporter: ExporterNames) -> String {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let names = Names::new(&fabric, &NameMap::default());
        let (_, adapter) = fabric.nodes().find(|(_, node)| !node.is_switch()).unwrap();
        let port =
            fabric.ports().find(|(_, port)| fabric.node(port.node).guid() == adapter.guid()).unwrap().1;
        let mut sample =
            CounterSample { node: Some(adapter.guid()), port: Some(port.number), ..CounterSample::default() };
        sample.values.insert(Counter::PortDLIDMappingErrors, Some(3));
        let counters = [sample];
        let collection = Collection { counters: &counters, seconds: 0.25 };
        write_as(&fabric, &names, &counters, MetricSet::All, exporter)
            + &write_exporter(&fabric, &names, exporter, &collection)
    }

    #[test]
    fn each_exporter_has_its_names_and_values() {
        let [own, treydock, sckyzo] =
            [ExporterNames::Fabdeck, ExporterNames::Treydock, ExporterNames::Sckyzo].map(text);
        let has = |text: &str, begins: &str, value: &str| {
            let mut lines = text.lines().filter(|line| line.starts_with(begins));
            lines.any(|line| line.rsplit(' ').next() == Some(value))
        };
        assert!(!own.contains("infiniband_switch_info"));
        assert!(has(&treydock, "infiniband_hca_port_dli_mapping_errors_total{", "3"), "{treydock}");
        assert!(has(&sckyzo, "infiniband_hca_port_dlid_mapping_errors_total{", "3"));
        // One adapter of four answered.
        assert!(has(&sckyzo, "infiniband_hca_up{", "1") && has(&sckyzo, "infiniband_hca_up{", "0"));
        assert!(has(&treydock, "infiniband_exporter_collect_errors{collector=\"hca\"}", "3"), "{treydock}");
        assert!(
            has(&treydock, "infiniband_exporter_collect_errors{collector=\"switch\"}", "4"),
            "{treydock}"
        );
        // QDR, 4x: 32 Gbit/s of data, 40 on the cable.
        assert!(has(&treydock, "infiniband_hca_rate_bytes_per_second{guid=", "4000000000"), "{treydock}");
        assert!(has(&treydock, "infiniband_hca_raw_rate_bytes_per_second{guid=", "5000000000"));
        assert!(has(&sckyzo, "infiniband_hca_port_rate_bytes_per_second{guid=", "4000000000"));
        for text in [&treydock, &sckyzo] {
            assert!(
                has(text, "infiniband_switch_info{guid=", "1") && has(text, "infiniband_hca_info{guid=", "1")
            );
            assert!(has(text, "infiniband_switch_port_rate_bytes_per_second{guid=", "4000000000"));
            assert!(has(
                text,
                "infiniband_exporter_collector_duration_seconds{collector=\"switch\"}",
                "0.25"
            ));
        }
    }
}
