//! What hosts add to base LIDs, in a plan: routes that are made for it are other routes without it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use fabdeck_fabric::{Fabric, Faults, Guid, PathBits, PortId, PortNum, Routes, SwitchGraph};

/// A port owns at most 128 LIDs.
const MAX_BITS: u8 = 127;

/// The path bits of all hosts: by node GUID, the number for each port. Empty where hosts pick by their places.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanPathBits {
    nodes: BTreeMap<String, BTreeMap<u8, u8>>,
}

impl PlanPathBits {
    pub fn of(fabric: &Fabric, routes: &Routes) -> Self {
        let mut bits = Self::default();
        let Some(held) = &routes.path_bits else { return bits };
        // Hosts that are marked as failed are in the plan too, for the time when they are back.
        for end in SwitchGraph::new(fabric, &Faults::new()).terminals() {
            let port = fabric.port(end.port);
            let node = bits.nodes.entry(fabric.node(port.node).guid().to_string()).or_default();
            node.insert(port.number.value(), held.get(end.port));
        }
        bits
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What is wrong with the numbers.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.nodes.keys().any(|guid| Guid::from_hex(guid).is_err()) {
            return Some("a key is not the GUID of a node");
        }
        let mut all = self.nodes.values().flat_map(BTreeMap::values);
        all.any(|bits| *bits > MAX_BITS).then_some("a number is above 127")
    }

    /// As routes have them; `None` where hosts pick by their places. Ports that are not there are left out.
    pub fn to_path_bits(&self, fabric: &Fabric) -> Option<PathBits> {
        if self.is_empty() {
            return None;
        }
        let mut bits = PathBits::default();
        for (guid, ports) in &self.nodes {
            let node = Guid::from_hex(guid).ok().and_then(|guid| fabric.node_by_guid(guid));
            for (number, value) in ports {
                let port: Option<PortId> = node.and_then(|node| fabric.port_of(node, PortNum(*number)));
                if let Some(port) = port {
                    bits.set(port, *value);
                }
            }
        }
        Some(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{FabricBuilder, Lid, Lmc, NodeFacts, NodeKind};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    /// Hosts of one switch, each with two LIDs.
    fn star(hosts: &[u64]) -> Fabric {
        let mut builder = FabricBuilder::new();
        let switch = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1), 9, "switch")).unwrap();
        for host in hosts {
            let node = NodeFacts::new(NodeKind::ChannelAdapter, Guid(16 + host), 1, "host");
            let node = builder.add_node(node).unwrap();
            builder.connect((switch, PortNum(*host as u8 + 1)), (node, PortNum(1))).unwrap();
            let facts = builder.port(node, PortNum(1));
            (facts.lid, facts.lmc) = (Lid::new(16 + 2 * *host as u32), Lmc::new(1).unwrap());
        }
        builder.finish()
    }

    #[test]
    fn a_host_that_disappears_leaves_the_path_bits_of_the_others() {
        let bits_of = |fabric: &Fabric, bits: &PathBits| -> Vec<(Guid, u8)> {
            let graph = SwitchGraph::new(fabric, &Faults::new());
            let of = |port: PortId| (fabric.node(fabric.port(port).node).guid(), bits.get(port));
            graph.terminals().iter().map(|end| of(end.port)).collect()
        };
        let (whole, faults) = (star(&[0, 1, 2, 3]), Faults::new());
        let mut routes = Problem::new(&whole, &faults).empty_routes();
        routes.path_bits = Some(PathBits::by_place(&whole));
        let plan = PlanPathBits::of(&whole, &routes);
        let rest = star(&[0, 2, 3]);
        let kept = plan.to_path_bits(&rest).unwrap();
        assert_eq!(bits_of(&rest, &kept), [(Guid(16), 0), (Guid(18), 0), (Guid(19), 1)]);
        assert_ne!(kept, PathBits::by_place(&rest));
    }

    #[test]
    fn path_bits_of_opt_come_back_from_a_plan() {
        let spec: FabricSpec = "gft2,n=4,m=4,r=6,lmc=1".parse().unwrap();
        let (fabric, faults) = (generate(&spec).unwrap().fabric, Faults::new());
        let problem = Problem::new(&fabric, &faults);
        let routes = |id: &str| {
            (find_engine(id).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes
        };
        let opt = routes("opt");
        let bits = PlanPathBits::of(&fabric, &opt);
        let text = serde_json::to_string(&bits).unwrap();
        let read: PlanPathBits = serde_json::from_str(&text).unwrap();
        assert_eq!((read.to_path_bits(&fabric), read.fault()), (opt.path_bits, None));
        assert!(text.contains(r#"{"1":1}"#), "{text}");
        let by_place = PlanPathBits::of(&fabric, &routes("mlid")).to_path_bits(&fabric);
        assert_eq!(by_place, Some(PathBits::by_place(&fabric)));
        let others = PlanPathBits::of(&fabric, &routes("minhop"));
        assert!(others.is_empty() && others.to_path_bits(&fabric).is_none());
        for wrong in [r#"{"0x10":{"1":128}}"#, r#"{"host":{"1":1}}"#] {
            assert!(serde_json::from_str::<PlanPathBits>(wrong).unwrap().fault().is_some(), "{wrong}");
        }
    }
}
