//! Which LID a host sends to, where ports have several.

use super::{Fabric, Faults, Lid, PortId, SwitchGraph};

/// What each port adds to the base LID of a destination: the path bits of its address vectors. Modulo the number of
/// LIDs that the destination has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathBits {
    /// By port; ports beyond the end have 0.
    bits: Vec<u8>,
}

impl PathBits {
    /// The path bits without other advice: the place of each host among the hosts of its part of the fabric, in the order
    /// of (switch, port), modulo the most LIDs that a port has. On an m-port n-tree the place is the PID of the MLID paper
    /// (Lin et al., 4.2). Switches and aggregation nodes send to base LIDs. Failed parts keep their place, so a failure
    /// changes what no host sends to.
    pub fn by_place(fabric: &Fabric) -> Self {
        if !fabric.has_several_lids() {
            return Self::default();
        }
        let graph = SwitchGraph::new(fabric, &Faults::new());
        let (part, parts) = graph.components();
        let is_host = |port: PortId| !fabric.node(fabric.port(port).node).facts.is_aggregation();
        let hosts = graph.terminals().iter().filter(|end| end.lid.is_some() && is_host(end.port));
        let most = hosts.clone().map(|end| end.lmc.lid_count()).max().unwrap_or(1);
        let mut places = vec![0u32; parts as usize];
        let mut bits = Self::default();
        for end in hosts {
            let place = &mut places[part[end.switch as usize] as usize];
            bits.set(end.port, (*place % u32::from(most.max(1))) as u8);
            *place += 1;
        }
        bits
    }

    /// The path bits of a port.
    pub fn get(&self, port: PortId) -> u8 {
        self.bits.get(port.index()).copied().unwrap_or(0)
    }

    /// Sets the path bits of a port.
    pub fn set(&mut self, port: PortId, bits: u8) {
        if bits > 0 && self.bits.len() <= port.index() {
            self.bits.resize(port.index() + 1, 0);
        }
        if let Some(held) = self.bits.get_mut(port.index()) {
            *held = bits;
        }
    }
}

impl Fabric {
    /// Whether some port has several LIDs, so that its senders pick one.
    pub fn has_several_lids(&self) -> bool {
        self.ports().any(|(_, port)| port.facts.lmc.value() > 0)
    }
}

/// The LID that a port with these path bits sends to when the destination has `lids` LIDs (a power of two) from `base`
/// on. Path records of OpenSM do not choose: without path bits a host sends to the base LID.
pub fn pick_lid(path_bits: u8, base: Lid, lids: u16) -> Lid {
    let offset = u32::from(path_bits) & u32::from(lids.max(1) - 1);
    Lid::new(u32::from(base.value()) + offset).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, Guid, Lmc, NodeFacts, NodeKind, PortNum};

    #[test]
    fn hosts_spread_over_the_lids_of_a_port() {
        let base = Lid::new(8).unwrap();
        let picked = |lids| (0..6).map(|bits| pick_lid(bits, base, lids).value()).collect::<Vec<_>>();
        assert_eq!(picked(4), [8, 9, 10, 11, 8, 9]);
        assert_eq!((picked(1), picked(0)), (vec![8; 6], vec![8; 6]));
        let last = Lid::new(u32::from(Lid::MAX)).unwrap();
        assert_eq!(pick_lid(1, last, 2), last);
    }

    fn bits_of_hosts(fabric: &Fabric) -> Vec<u8> {
        let bits = PathBits::by_place(fabric);
        let graph = SwitchGraph::new(fabric, &Faults::new());
        graph.terminals().iter().map(|end| bits.get(end.port)).collect()
    }

    #[test]
    fn every_part_counts_from_its_own_first_host() {
        // Two switches without a cable between them, three hosts each.
        let mut builder = FabricBuilder::new();
        for switch in 0..2 {
            let facts = NodeFacts::new(NodeKind::Switch, Guid(1 + switch), 4, "switch");
            let at = builder.add_node(facts).unwrap();
            for port in 1..4 {
                let guid = Guid(16 * (switch + 1) + u64::from(port));
                let host = NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, "host");
                let host = builder.add_node(host).unwrap();
                builder.connect((at, PortNum(port)), (host, PortNum(1))).unwrap();
                let facts = builder.port(host, PortNum(1));
                (facts.lid, facts.lmc) =
                    (Lid::new(16 * u32::from(port) + 64 * switch as u32), Lmc::new(1).unwrap());
            }
        }
        assert_eq!(bits_of_hosts(&builder.finish()), [0, 1, 0, 0, 1, 0]);
    }
}
