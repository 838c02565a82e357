//! The error counters of ports over restarts of the watch. What a port counted since its counters were stored last is its
//! growth, whether a watch ran meanwhile or not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use fabdeck_fabric::Fabric;
use fabdeck_fabric::counters::{growth_between, link_error_growth, sample_port};
use fabdeck_fabric::observe::{Counter, CounterValues, PortIdentity, Sweep};

/// The error counters of a port that are not 0, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, u64>", into = "BTreeMap<String, u64>")]
pub struct ErrorCounters(Vec<(Counter, u64)>);

impl From<BTreeMap<String, u64>> for ErrorCounters {
    fn from(named: BTreeMap<String, u64>) -> Self {
        Self(named.into_iter().map(|(name, value)| (Counter::from_name(&name), value)).collect())
    }
}

impl From<ErrorCounters> for BTreeMap<String, u64> {
    fn from(counters: ErrorCounters) -> Self {
        counters.0.into_iter().map(|(counter, value)| (counter.name().to_owned(), value)).collect()
    }
}

impl ErrorCounters {
    fn get(&self, counter: &Counter) -> u64 {
        self.0.iter().find(|(own, _)| own == counter).map_or(0, |(_, value)| *value)
    }

    fn set(&mut self, counter: &Counter, value: u64) {
        let at = self.0.iter().position(|(own, _)| own == counter);
        match (at, value) {
            (Some(at), 0) => drop(self.0.remove(at)),
            (Some(at), value) => self.0[at].1 = value,
            (None, 0) => {}
            (None, value) => self.0.push((counter.clone(), value)),
        }
    }
}

/// The error counters of a sample.
fn values_of(values: &CounterValues) -> impl Iterator<Item = (&'static Counter, u64)> + '_ {
    let both = Counter::link_error_counters().flat_map(|(narrow, wide)| [narrow, wide]);
    both.filter_map(|counter| Some((counter, values.get(counter)?)))
}

/// What a port counted and is not stored yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortGrowth {
    pub errors: u64,
    pub downs: u64,
}

#[derive(Clone, Debug, Default)]
struct FollowedPort {
    last: ErrorCounters,
    growth: PortGrowth,
}

/// Follows the error counters of all ports. Ports whose counters are all 0 take no room.
#[derive(Clone, Debug, Default)]
pub struct ErrorCounterWatch {
    ports: HashMap<PortIdentity, FollowedPort>,
    /// Ports whose counters differ from those that are stored.
    changed: BTreeSet<PortIdentity>,
}

impl ErrorCounterWatch {
    /// Begins with the counters that are stored.
    pub fn from_stored(stored: &BTreeMap<PortIdentity, ErrorCounters>) -> Self {
        let follow = |(port, last): (&PortIdentity, &ErrorCounters)| {
            (*port, FollowedPort { last: last.clone(), ..FollowedPort::default() })
        };
        Self { ports: stored.iter().map(follow).collect(), changed: BTreeSet::new() }
    }

    /// Takes up a sweep; returns the ports whose counters were never read before. What these had counted before is no growth.
    pub fn observe(
        &mut self,
        fabric: &Fabric,
        sweep: &Sweep,
        known: &BTreeSet<PortIdentity>,
    ) -> BTreeSet<PortIdentity> {
        let mut new = BTreeSet::new();
        for sample in &sweep.samples {
            let Some(port) = sample_port(fabric, sample).map(|port| fabric.port(port)) else { continue };
            let identity = (fabric.node(port.node).guid(), port.number);
            let is_known = known.contains(&identity);
            if !is_known {
                new.insert(identity);
            }
            let is_zero = values_of(&sample.values).all(|(_, value)| value == 0);
            if is_zero && !self.ports.contains_key(&identity) {
                continue;
            }
            self.follow(identity, &sample.values, is_known);
        }
        new
    }

    fn follow(&mut self, identity: PortIdentity, after: &CounterValues, is_known: bool) {
        let is_first = !self.ports.contains_key(&identity) && !is_known;
        let port = self.ports.entry(identity).or_default();
        let mut before = CounterValues::new();
        let mut differs = false;
        for (counter, value) in values_of(after) {
            let last = port.last.get(counter);
            before.insert(counter.clone(), Some(last));
            differs |= last != value;
        }
        if !differs {
            return;
        }
        if !is_first {
            let (narrow, wide) = (&Counter::LinkDownedCounter, &Counter::LinkDownedCounterExt);
            let downs = growth_between(narrow, wide, &before, after).lower_bound().unwrap_or(0);
            let all = link_error_growth(&before, after).lower_bound().unwrap_or(0);
            port.growth.downs = port.growth.downs.saturating_add(downs);
            port.growth.errors = port.growth.errors.saturating_add(all.saturating_sub(downs));
        }
        values_of(after).for_each(|(counter, value)| port.last.set(counter, value));
        self.changed.insert(identity);
    }

    /// Whether a link went down and that is not stored.
    pub fn has_downs(&self) -> bool {
        self.changed.iter().any(|port| self.ports.get(port).is_some_and(|port| port.growth.downs > 0))
    }

    /// Hands over what is not stored, of each port with its present counters.
    pub fn take_changes(&mut self) -> Vec<(PortIdentity, PortGrowth, ErrorCounters)> {
        let mut taken = Vec::new();
        for identity in std::mem::take(&mut self.changed) {
            let Some(port) = self.ports.get_mut(&identity) else { continue };
            taken.push((identity, std::mem::take(&mut port.growth), port.last.clone()));
        }
        taken
    }
}
