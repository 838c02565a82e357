//! What single ports did in one interval: of every port in a fabric of usual size, otherwise of those that sent, waited
//! or erred most, and of pinned ones. Ports are known by GUID, so the values stay valid in another snapshot.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::wait_column::WaitColumn;
use fabdeck_fabric::counters::{PortRates, Rates};
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{Fabric, PortId};

/// Most ports whose values an interval keeps without a choice.
const MAX_PORTS: usize = 4096;

/// In larger fabrics: most ports that an interval keeps for each quantity, those with the largest values.
const MAX_PORTS_OF_QUANTITY: usize = 1000;

/// What an interval keeps of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortQuantity {
    /// Gb/s that it sends.
    Sent,
    /// Percent of the time in which packets waited.
    Wait,
    /// Errors a second.
    Errors,
}

impl PortQuantity {
    const ALL: [Self; 3] = [Self::Sent, Self::Wait, Self::Errors];

    /// The value of the rates of a port.
    pub fn of(self, rates: &PortRates) -> Option<f64> {
        match self {
            Self::Sent => rates.bandwidth().map(|bytes| bytes * 8.0 / 1e9),
            Self::Wait => rates.wait_share().map(|share| (share * 100.0).min(100.0)),
            Self::Errors => rates.errors_per_hour().map(|errors| errors / 3600.0),
        }
    }
}

/// The values of a port, in the order of the quantities.
type ValuesOfPort = [Option<f32>; 3];

/// The values of ports, in the order of their identities.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PortValues {
    values: Arc<[(PortIdentity, ValuesOfPort)]>,
    /// Their waits, which are kept longer.
    pub waits: WaitColumn,
}

impl PortValues {
    pub fn new(fabric: &Fabric, rates: &Rates, pinned: &[PortIdentity]) -> Self {
        let chosen = (rates.ports.len() > MAX_PORTS).then(|| {
            let pinned = pinned.iter().filter_map(|(guid, number)| {
                let node = fabric.node_by_guid(*guid)?;
                fabric.port_of(node, *number)
            });
            PortQuantity::ALL
                .iter()
                .flat_map(|quantity| largest(rates, *quantity))
                .chain(pinned)
                .collect::<BTreeSet<_>>()
        });
        let is_kept = |port: &&PortRates| chosen.as_ref().is_none_or(|chosen| chosen.contains(&port.port));
        let values =
            |port: &PortRates| PortQuantity::ALL.map(|quantity| quantity.of(port).map(|value| value as f32));
        let mut kept: Vec<(PortIdentity, ValuesOfPort)> = rates
            .ports
            .iter()
            .filter(is_kept)
            .map(|port| (port_identity(fabric, port.port), values(port)))
            .collect();
        kept.sort_by_key(|(port, _)| *port);
        let wait = |values: &ValuesOfPort| values[PortQuantity::Wait as usize].map(f64::from);
        let waits = kept.iter().map(|(port, values)| (*port, wait(values)));
        let waits = if chosen.is_some() { WaitColumn::of_largest(waits) } else { WaitColumn::new(waits) };
        Self { values: kept.into(), waits }
    }

    /// A value of a port; `None` where it is not known, or was not kept.
    pub fn value(&self, port: &PortIdentity, quantity: PortQuantity) -> Option<f64> {
        let at = self.values.binary_search_by_key(port, |(port, _)| *port);
        let kept = at.ok().and_then(|at| self.values.get(at)?.1[quantity as usize]);
        match quantity {
            PortQuantity::Wait => kept.map(f64::from).or_else(|| self.waits.value(port)),
            _ => kept.map(f64::from),
        }
    }

    /// The ports with errors, and their errors a second.
    pub fn errors(&self) -> impl Iterator<Item = (PortIdentity, f64)> {
        let errors = |(port, values): &(PortIdentity, ValuesOfPort)| {
            let errors = values[PortQuantity::Errors as usize].filter(|errors| *errors > 0.0)?;
            Some((*port, f64::from(errors)))
        };
        self.values.iter().filter_map(errors)
    }

    /// Drops everything but waits.
    pub fn keep_waits(&mut self) {
        self.values = Arc::default();
    }

    /// Drops everything but waits and errors.
    pub fn keep_errors(&mut self) {
        let errors = |(port, values): &(PortIdentity, ValuesOfPort)| {
            let errors = values[PortQuantity::Errors as usize].filter(|errors| *errors > 0.0)?;
            Some((*port, [None, None, Some(errors)]))
        };
        self.values = self.values.iter().filter_map(errors).collect();
    }
}

/// The GUID of the node of a port, and its number.
pub fn port_identity(fabric: &Fabric, port: PortId) -> PortIdentity {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}

/// The ports with the largest values above zero.
fn largest(rates: &Rates, quantity: PortQuantity) -> Vec<PortId> {
    let value = |port: &PortRates| Some((quantity.of(port).filter(|value| *value > 0.0)?, port.port));
    let mut all: Vec<(f64, PortId)> = rates.ports.iter().filter_map(value).collect();
    let order = |a: &(f64, PortId), b: &(f64, PortId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if all.len() > MAX_PORTS_OF_QUANTITY {
        all.select_nth_unstable_by(MAX_PORTS_OF_QUANTITY, order);
        all.truncate(MAX_PORTS_OF_QUANTITY);
    }
    all.into_iter().map(|(_, port)| port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::counters::rates_of_sweeps;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::{Counter, CounterSample, CounterValues, Sweep};
    use std::time::Duration;

    /// Rates of a fabric whose ports send by their index and have no errors, but for one.
    fn values(spec: &str, pinned: &[PortIdentity]) -> (Fabric, PortValues) {
        let fabric = generate(&spec.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let sweep = |second: u64| {
            let sample = |(id, port): (PortId, &fabdeck_fabric::Port)| {
                let mut values = CounterValues::default();
                let sent = if port.number.0 == 3 { 0 } else { id.0 as u64 };
                values.insert(Counter::PortXmitDataExtended, Some(sent * 1_000_000 * second));
                values.insert(Counter::SymbolErrorCounter, Some(if id.0 == 7 { second } else { 0 }));
                CounterSample {
                    node: Some(fabric.node(port.node).guid()),
                    port: Some(port.number),
                    values,
                    ..CounterSample::default()
                }
            };
            Sweep {
                began: Duration::from_secs(second),
                at: vec![Duration::from_secs(second); fabric.ports().len()],
                samples: fabric.ports().map(sample).collect(),
                ..Sweep::default()
            }
        };
        let rates = rates_of_sweeps(&fabric, &sweep(0), &sweep(1));
        let values = PortValues::new(&fabric, &rates, pinned);
        (fabric, values)
    }

    #[test]
    fn every_port_of_a_small_fabric_is_kept() {
        let (fabric, values) = values("demo", &[]);
        let known = fabric
            .ports()
            .filter(|(id, _)| values.value(&port_identity(&fabric, *id), PortQuantity::Sent).is_some());
        assert_eq!(known.count(), fabric.ports().count());
    }

    #[test]
    fn a_large_fabric_keeps_the_largest_values_and_pinned_ports() {
        let (fabric, none) = values("switch3456", &[]);
        assert!(fabric.ports().count() > MAX_PORTS);
        let quiet = fabric.ports().find(|(_, port)| port.number.0 == 3).unwrap().0;
        let busiest = fabric.ports().filter(|(_, port)| port.number.0 != 3).last().unwrap().0;
        let pinned = port_identity(&fabric, quiet);
        assert_eq!(none.value(&pinned, PortQuantity::Sent), None, "not kept is not 0");
        assert!(none.value(&port_identity(&fabric, busiest), PortQuantity::Sent).is_some());
        assert_eq!(none.values.len(), MAX_PORTS_OF_QUANTITY + 1, "and the one with errors");
        let (_, mut with) = values("switch3456", &[pinned]);
        assert_eq!(with.value(&pinned, PortQuantity::Sent), Some(0.0));
        with.keep_errors();
        assert_eq!(with.values.len(), 1);
        assert_eq!(with.value(&pinned, PortQuantity::Sent), None);
        let erring = port_identity(&fabric, PortId(7));
        assert_eq!(with.value(&erring, PortQuantity::Errors), Some(1.0));
    }
}
