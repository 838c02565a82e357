//! Where adapters can have sent to.

use std::collections::BTreeMap;

use crate::observe::FlowLists;
use crate::{Fabric, PortId};

/// The adapters that each adapter can have sent to, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Destinations(BTreeMap<PortId, Vec<PortId>>);

impl Destinations {
    /// What agents list.
    pub fn of_lists(fabric: &Fabric, lists: &FlowLists) -> Self {
        let mut known = Self::default();
        for ((guid, number), to) in &lists.0 {
            let node = fabric.node_by_guid(*guid);
            let Some(from) = node.and_then(|node| fabric.port_of(node, *number)) else { continue };
            known.add_sender(from);
            to.iter().filter_map(|lid| fabric.port_by_lid(*lid)).for_each(|to| known.add(from, to));
        }
        known
    }

    /// Whether an adapter can have sent to another.
    pub fn has(&self, from: PortId, to: PortId) -> bool {
        self.0.get(&from).is_some_and(|all| all.binary_search(&to).is_ok())
    }

    /// Adds a destination.
    pub fn add(&mut self, from: PortId, to: PortId) {
        let all = self.0.entry(from).or_default();
        if let Err(place) = all.binary_search(&to) {
            all.insert(place, to);
        }
    }

    /// Adds an adapter without destinations.
    pub fn add_sender(&mut self, from: PortId) {
        self.0.entry(from).or_default();
    }

    /// Whether anything is known of an adapter.
    pub fn lists(&self, from: PortId) -> bool {
        self.0.contains_key(&from)
    }

    fn pairs(&self) -> impl Iterator<Item = (PortId, PortId)> {
        self.0.iter().flat_map(|(from, all)| all.iter().map(|to| (*from, *to)))
    }

    fn covers(&self, other: &Self) -> bool {
        other.pairs().all(|(from, to)| self.has(from, to))
    }

    /// The destinations of all of these.
    pub(super) fn joined(all: &[Self]) -> Self {
        let mut joined = Self::default();
        all.iter().flat_map(Self::pairs).for_each(|(from, to)| joined.add(from, to));
        joined
    }

    /// Those that no other one covers. What a wider alternative cannot explain, a narrower one cannot either.
    /// Of more than `limit` of these, those of all together are left.
    pub(super) fn widest(all: Vec<Self>, limit: usize) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for one in all {
            if kept.iter().any(|other| other.covers(&one)) {
                continue;
            }
            kept.retain(|other| !one.covers(other));
            kept.push(one);
        }
        if kept.len() > limit { vec![Self::joined(&kept)] } else { kept }
    }
}
