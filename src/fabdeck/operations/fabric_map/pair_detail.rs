//! What lies between two parts of a fabric: the paths of their hosts, and the worst ports on these paths.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::figures::{MapFigures, MapQuantity};
use super::sender_lids::SenderLids;
use super::structure::MapStructure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::{ElementId, Lid, NodeId, PortId};
use fabdeck_routing::analysis::PathIndex;

/// Most ports that are named.
const MAX_WORST: usize = 8;
/// A longer path is a loop.
const MAX_HOPS: usize = 64;

/// A port on the paths between two parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairPort {
    pub port: PortId,
    pub figures: MapFigures,
    /// Paths from the one part to the other that use it.
    pub paths: u64,
}

/// The paths from the hosts of one part to those of another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PairDetail {
    /// Switches with hosts, and their hosts: of the senders and of the receivers.
    pub switches: [usize; 2],
    pub hosts: [usize; 2],
    pub paths: u64,
    /// Paths that lead nowhere, or whose tables were not read.
    pub broken: u64,
    /// Switches of the top rank that the paths cross.
    pub tops: usize,
    /// The worst ports, the worst first. Ports without a figure are left out.
    pub worst: Vec<PairPort>,
}

/// What the detail of a pair is made from: both parts are ranges of the switches with hosts.
#[derive(Debug)]
pub struct PairDetailRequest {
    pub look: Arc<Snapshot>,
    pub structure: Arc<MapStructure>,
    pub reading: Option<Arc<WatchVerdict>>,
    pub paths: Option<Arc<PathIndex>>,
    pub quantity: MapQuantity,
    pub parts: [Range<usize>; 2],
}

impl PairDetailRequest {
    /// Follows the tables from each switch of the senders to each host of the receivers.
    pub fn detail(&self) -> PairDetail {
        let leaves = &self.structure.groups.leaves;
        let [from, to] = self.parts.clone().map(|part| leaves.get(part).unwrap_or_default());
        let hosts = |at: &usize| self.structure.switches[*at].hosts.len();
        let mut detail = PairDetail {
            switches: [from.len(), to.len()],
            hosts: [from, to].map(|part| part.iter().map(hosts).sum()),
            ..PairDetail::default()
        };
        let senders = SenderLids::new(&self.look, &self.structure);
        let mut used: FxHashMap<PortId, u64> = FxHashMap::default();
        for receiver in to {
            for host in &self.structure.switches[*receiver].hosts {
                let lids = senders.lids_of(self.look.fabric(), host.port);
                for sender in from.iter().filter(|sender| *sender != receiver) {
                    if lids.is_empty() {
                        detail.broken += hosts(sender) as u64;
                    }
                    for lid in lids.iter().filter(|lid| senders.sends(*sender, lid)) {
                        let paths = senders.count(*sender, lid);
                        match self.ports_to(self.structure.switches[*sender].id, lid.lid, host.node) {
                            Some(ports) => {
                                detail.paths += paths;
                                ports.into_iter().for_each(|port| *used.entry(port).or_default() += paths);
                            }
                            None => detail.broken += paths,
                        }
                    }
                }
            }
        }
        detail.tops = self.tops_on(used.keys());
        detail.worst = self.worst_of(used);
        detail
    }

    /// The ports by which the switches on the path send; `None` where it does not arrive.
    fn ports_to(&self, from: NodeId, lid: Lid, to: NodeId) -> Option<Vec<PortId>> {
        let fabric = self.look.fabric();
        let (mut at, mut ports) = (from, Vec::new());
        while ports.len() < MAX_HOPS {
            let egress = self.look.observation.tables.lft(at)?.get(lid)?;
            let port = fabric.port_of(at, egress)?;
            ports.push(port);
            at = fabric.port(fabric.peer(port)?).node;
            if at == to {
                return Some(ports);
            }
        }
        None
    }

    fn tops_on<'p>(&self, ports: impl Iterator<Item = &'p PortId>) -> usize {
        let count = self.structure.ranks.first().copied().unwrap_or(0);
        let tops: FxHashSet<NodeId> =
            self.structure.switches.iter().take(count).map(|switch| switch.id).collect();
        let nodes = ports.map(|port| self.look.fabric().port(*port).node);
        nodes.filter(|node| tops.contains(node)).collect::<FxHashSet<_>>().len()
    }

    /// The figures of a port; the busiest cable of the fabric has `most` paths in a direction.
    fn figures(&self, port: PortId, most: u64) -> MapFigures {
        let row = self.reading.as_ref().and_then(|reading| reading.port_row_of(ElementId::Port(port)));
        let mut figures = row.map(MapFigures::of_port).unwrap_or_default();
        let fabric = self.look.fabric();
        let link = fabric.port(port).link;
        if let Some((link, loads)) = link.and_then(|link| Some((link, self.paths.as_ref()?.load_of(link)?))) {
            let over = loads[usize::from(fabric.link(link).a != port)];
            figures.set_paths(over, most);
        }
        figures
    }

    fn worst_of(&self, used: FxHashMap<PortId, u64>) -> Vec<PairPort> {
        let links = self.look.fabric().links();
        let loads = links.filter_map(|(id, _)| self.paths.as_ref()?.load_of(id));
        let most = loads.flatten().max().unwrap_or(0);
        let port = |(port, paths)| PairPort { port, figures: self.figures(port, most), paths };
        let mut ports: Vec<PairPort> = used.into_iter().map(port).collect();
        ports.retain(|port| port.figures.score(self.quantity).is_some_and(|score| score > 0));
        ports.sort_by_key(|port| (std::cmp::Reverse(port.figures.score(self.quantity)), port.port));
        ports.truncate(MAX_WORST);
        ports
    }
}
