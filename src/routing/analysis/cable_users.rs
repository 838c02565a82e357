//! Who uses a cable: the destinations whose trees cross it, and how many terminals send to each of them over it.

use super::path_index::PathIndex;
use fabdeck_fabric::{Lid, LinkId};

/// A destination whose paths cross a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CableUse {
    /// The destination.
    pub lid: Lid,
    /// Whether the paths cross the cable from its second end to its first.
    pub back: bool,
    /// The number of terminals that send to it over the cable.
    pub sources: u64,
}

impl PathIndex {
    /// The destinations whose paths cross a cable between switches, in the order of their switches. Empty for a
    /// cable to a host, which carries exactly the host's own traffic.
    pub fn destinations_over(&self, fabric: &fabdeck_fabric::Fabric, link: LinkId) -> Vec<CableUse> {
        let first = fabric.port(fabric.link(link).a).node.0;
        let mut uses = Vec::new();
        for id in self.channels_of(link).into_iter().flatten() {
            let channel = self.graph().channels()[id as usize];
            let row = self.routes().row(channel.from);
            for (lid, sources) in self.carried_lids(channel.from) {
                if sources > 0 && row.get(lid.index()) == Some(&channel.from_port.value()) {
                    uses.push(CableUse { lid, back: channel.from != first, sources });
                }
            }
        }
        uses
    }
}
