//! The error counters of single ports that grew in an interval. Most ports count no errors, so only growth is kept.

use std::sync::Arc;

use super::port_values::port_identity;
use fabdeck_fabric::Fabric;
use fabdeck_fabric::counters::{PortRates, find_sample, growth_between};
use fabdeck_fabric::observe::{Counter, CounterKind, PortIdentity, Sweep};

/// Most ports in a fabric of which every port is looked at; of others, those with link errors or dropped packets.
const MAX_PORTS: usize = 4096;

/// Most growths that an interval keeps, those that are largest.
const MAX_GROWTHS: usize = 4096;

/// Growth a second of counters, in the order of ports and counters. Each counter is its 64-bit form.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterRates(Arc<[(PortIdentity, Counter, f32)]>);

impl CounterRates {
    pub(super) fn new(fabric: &Fabric, ports: &[PortRates], [before, after]: [&Sweep; 2]) -> Self {
        let mut kept: Vec<(PortIdentity, Counter, f32)> = Vec::new();
        // In a large fabric, a look at each counter of each port would take as long as the rates.
        let is_small = ports.len() <= MAX_PORTS;
        let errs = |port: &&PortRates| {
            let rates = [port.errors_per_hour(), port.discards_per_hour()];
            is_small || rates.into_iter().flatten().any(|rate| rate > 0.0)
        };
        for port in ports.iter().filter(errs) {
            let Some(now) = find_sample(fabric, &after.samples, port.port) else { continue };
            let mut then = None;
            let counted = |(counter, value): &(Counter, Option<u64>)| {
                value.is_some_and(|value| value > 0) && counter.kind() == Some(CounterKind::Error)
            };
            for (counter, _) in now.values.iter().filter(counted) {
                let wide = counter.clone().extended();
                let then = match then {
                    Some(then) => then,
                    None => *then.insert(find_sample(fabric, &before.samples, port.port)),
                };
                let Some(then) = then else { break };
                let narrow = narrow_form(&counter);
                let growth = growth_between(&narrow, &wide, &then.values, &now.values).lower_bound();
                if let Some(count @ 1..) = growth {
                    kept.push((port_identity(fabric, port.port), wide, (count as f64 / port.seconds) as f32));
                }
            }
        }
        if kept.len() > MAX_GROWTHS {
            kept.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (a.0, &a.1).cmp(&(b.0, &b.1))));
            kept.truncate(MAX_GROWTHS);
        }
        kept.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        // Both forms of a counter are one, and its growth takes both.
        kept.dedup_by(|a, b| (a.0, &a.1) == (b.0, &b.1));
        Self(kept.into())
    }

    /// Growth a second of a counter at a port; 0 where it did not grow.
    pub(super) fn value(&self, port: &PortIdentity, wide: &Counter) -> f64 {
        let at = self.0.binary_search_by(|(other, counter, _)| (other, counter).cmp(&(port, wide)));
        at.map_or(0.0, |at| f64::from(self.0[at].2))
    }
}

/// The form of PortCounters of a counter; the counter itself where there is no other.
fn narrow_form(counter: &Counter) -> Counter {
    let narrow = counter.name().strip_suffix("Ext").map(Counter::from_name);
    narrow.filter(|narrow| !matches!(narrow, Counter::Other(_))).unwrap_or_else(|| counter.clone())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use fabdeck_fabric::counters::rates_of_sweeps;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::{CounterSample, CounterValues};

    #[test]
    fn growth_is_kept_by_counter_and_nothing_else_is() {
        let fabric = generate(&"demo".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let erring = fabric.ports().nth(7).unwrap().0;
        let sweep = |second: u64| {
            let sample = |(id, port): (fabdeck_fabric::PortId, &fabdeck_fabric::Port)| {
                let mut values = CounterValues::default();
                let count = if id == erring { 10 * second } else { 0 };
                values.insert(Counter::PortXmitDiscards, Some(count));
                values.insert(Counter::PortXmitDiscardsExt, Some(count));
                values.insert(Counter::SymbolErrorCounter, Some(3));
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
        let (before, after) = (sweep(1), sweep(3));
        let rates = rates_of_sweeps(&fabric, &before, &after);
        let growth = CounterRates::new(&fabric, &rates.ports, [&before, &after]);
        let port = port_identity(&fabric, erring);
        assert_eq!(growth.value(&port, &Counter::PortXmitDiscardsExt), 10.0);
        assert_eq!(growth.value(&port, &Counter::SymbolErrorCounterExt), 0.0);
        assert_eq!(growth.0.len(), 1, "{growth:?}");
    }
}
