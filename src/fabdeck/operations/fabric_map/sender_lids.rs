//! Which LIDs of a host the hosts of a switch send to, where hosts have several.

use std::collections::BTreeMap;

use super::structure::{AttachedHost, MapStructure};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::{Fabric, Lid, PortId, pick_lid};

/// By switch of the map, the path bits of its hosts, each with the number of hosts that have them.
#[derive(Debug)]
pub struct SenderLids {
    picks: Vec<Vec<(u8, u64)>>,
}

impl SenderLids {
    pub fn new(look: &Snapshot, structure: &MapStructure) -> Self {
        let fabric = look.fabric();
        if !fabric.has_several_lids() {
            let all = |hosts: usize| vec![(0, hosts as u64)];
            return Self { picks: structure.switches.iter().map(|switch| all(switch.hosts.len())).collect() };
        }
        let bits = look.path_bits();
        let of_switch = |hosts: &[AttachedHost]| {
            let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
            for port in hosts.iter().filter_map(|host| fabric.peer(host.port)) {
                *counts.entry(bits.get(port)).or_default() += 1;
            }
            counts.into_iter().collect()
        };
        Self { picks: structure.switches.iter().map(|switch| of_switch(&switch.hosts)).collect() }
    }

    /// The LIDs of a host. `port` is the port of the switch that it is cabled to.
    pub fn lids_of(&self, fabric: &Fabric, port: PortId) -> Vec<PickedLid> {
        let Some(facts) = fabric.peer(port).map(|peer| &fabric.port(peer).facts) else { return Vec::new() };
        let Some(base) = facts.lid else { return Vec::new() };
        let count = facts.lmc.lid_count();
        (0..count)
            .map(|offset| PickedLid { lid: pick_lid(offset as u8, base, count), offset, count })
            .collect()
    }

    /// The number of hosts of a switch that send to a LID.
    pub fn count(&self, switch: usize, to: &PickedLid) -> u64 {
        let picks = |bits: u8| u16::from(bits) & (to.count - 1) == to.offset;
        self.picks[switch].iter().filter(|(bits, _)| picks(*bits)).map(|(_, hosts)| hosts).sum()
    }

    /// Whether a host of a switch sends to a LID.
    pub fn sends(&self, switch: usize, to: &PickedLid) -> bool {
        self.count(switch, to) > 0
    }
}

/// A LID of a host, one of `count`.
#[derive(Clone, Copy, Debug)]
pub struct PickedLid {
    pub lid: Lid,
    offset: u16,
    count: u16,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::operations::fabric_map::figures::MapQuantity;
    use crate::operations::fabric_map::pair_detail::{PairDetail, PairDetailRequest};
    use crate::operations::fabric_map::ranks::ranks;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::Observation;
    use fabdeck_fabric::{Faults, NameMap, PathBits};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    /// What lies between the first two switches with hosts under the tables of mlid.
    fn between_leaves(base_lids: bool) -> PairDetail {
        let fabric = generate(&"gft2,n=4,m=4,r=4,lmc=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::new();
        let problem = Problem::new(&fabric, &faults);
        let mlid = find_engine("mlid").unwrap();
        let mut routes = (mlid.route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        let mut observation = Observation::default();
        for (id, _) in fabric.switches() {
            observation.tables.node_mut(id).lft = Some(routes.lft(id.0));
        }
        if base_lids {
            routes.path_bits = Some(PathBits::default());
        }
        let mut look = Snapshot::new("test", Observation { fabric, ..observation }, &NameMap::default());
        look.routes = Some(routes);
        let structure = ranks(&look).1;
        let request = PairDetailRequest {
            look: Arc::new(look),
            structure: Arc::new(structure),
            reading: None,
            paths: None,
            quantity: MapQuantity::default(),
            parts: [0..1, 1..2],
        };
        request.detail()
    }

    #[test]
    fn paths_between_leaves_are_those_of_the_lids_that_hosts_pick() {
        let (picked, base) = (between_leaves(false), between_leaves(true));
        assert_eq!((picked.hosts, picked.paths, picked.broken), ([4, 4], 16, 0));
        assert_eq!((base.paths, base.broken), (16, 0));
        assert_eq!(
            (picked.tops, base.tops),
            (4, 1),
            "each of four hosts has a way of its own, by base LIDs all have one"
        );
    }
}
