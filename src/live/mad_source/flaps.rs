//! Finds links that went down and came back between two sweeps, which only counters show.

use std::collections::{BTreeMap, BTreeSet};

use super::discovery_state::{DiscoveredNode, far_end, node_id};
use super::link_down_counts::LinkDownCounts;
use fabdeck_fabric::observe::FabricEvent;
use fabdeck_fabric::{Fabric, PortNum};

/// A port by its node and number.
type Place = (usize, u8);

/// Stores the counters, and reports links that went down and are up again. `lost`: ports that had a cable and have
/// another one, or none.
///
/// Both ends count one fall, and a sweep may read one end before the fall and the other after it. So the report is the
/// growth of the larger of both sums. A lost cable has an event of its own; the counts of its ends start anew.
pub fn update_link_downs(
    fabric: &Fabric,
    nodes: &mut [DiscoveredNode],
    falls: &[(usize, u8, LinkDownCounts)],
    lost: &BTreeSet<Place>,
) -> Vec<FabricEvent> {
    let mut grown: BTreeMap<Place, LinkDownCounts> = BTreeMap::new();
    for (at, port, falls) in falls {
        let kept = &mut nodes[*at].memory;
        let Some(before) = kept.falls.insert(*port, *falls) else { continue };
        let more = falls.since(before);
        if more != LinkDownCounts::default() {
            let sum = kept.fallen.entry(*port).or_default();
            *sum = sum.combine(more, u64::saturating_add);
            grown.insert((*at, *port), more);
        }
    }
    let mut told = BTreeSet::new();
    let mut news = Vec::new();
    for end in grown.keys() {
        let Some(far) = far_end(fabric, *end) else { continue };
        let (a, b) = (*end.min(&far), *end.max(&far));
        if !told.insert((a, b)) {
            continue;
        }
        if lost.contains(end) {
            continue;
        }
        let sum = |(at, port): Place| nodes[at].memory.fallen.get(&port).copied().unwrap_or_default();
        let more = |place: Place| grown.get(&place).copied().unwrap_or_default();
        let before = |place: Place| sum(place).combine(more(place), u64::saturating_sub);
        let new = sum(a)
            .combine(sum(b), u64::max)
            .combine(before(a).combine(before(b), u64::max), u64::saturating_sub);
        let name = |(at, port): Place| (fabric.node(node_id(at)).guid(), PortNum(port));
        if new != LinkDownCounts::default() {
            let LinkDownCounts { downed, recovered } = new;
            news.push(FabricEvent::LinkFlapped { a: name(a), b: name(b), downed, recovered });
        }
    }
    for (at, port) in lost {
        nodes[*at].memory.falls.remove(port);
        nodes[*at].memory.fallen.remove(port);
    }
    news
}
