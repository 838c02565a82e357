//! The worst port on the paths between two parts of a fabric, for each pair of parts. It follows the tables from
//! every switch to every host, which takes long on a large fabric. The ports of the senders do not count: each is on all
//! paths of its host, so a host that waits would fill the row of its part and hide the cables behind it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::figures::{MapFigures, MapQuantity};
use super::groups::MapBucket;
use super::sender_lids::SenderLids;
use super::structure::MapStructure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::rowset::Rowset;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::{Lid, NodeId, PortId, PortNum};
use fabdeck_routing::RouteProgress;
use fabdeck_routing::analysis::PathIndex;

/// The worst port of a pair, with its figures. `None` where no port on the paths has a figure.
pub type PairCell = Option<(PortId, MapFigures)>;

/// The pairs of rows and columns.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    pub rows: Vec<MapBucket>,
    pub columns: Vec<MapBucket>,
    /// The cells, row by row.
    pub cells: Vec<PairCell>,
    /// Number of paths that lead nowhere, or whose tables were not read.
    pub broken: u64,
}

impl PairTable {
    pub fn cell(&self, row: usize, column: usize) -> PairCell {
        self.cells.get(row * self.columns.len() + column).copied().flatten()
    }

    /// The row and the column of the worst cell, of equal ones the first.
    pub fn worst_place(&self, quantity: MapQuantity) -> (usize, usize) {
        let scored =
            self.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?.1.score(quantity))));
        let worst = scored.max_by_key(|(at, score)| (*score, std::cmp::Reverse(*at)));
        worst.map_or((0, 0), |(at, _)| (at / self.columns.len(), at % self.columns.len()))
    }

    /// The worst cell of a column.
    pub fn worst_of_column(&self, column: usize, quantity: MapQuantity) -> PairCell {
        let cells = (0..self.rows.len()).filter_map(|row| self.cell(row, column));
        cells.max_by_key(|(port, figures)| (figures.score(quantity), std::cmp::Reverse(*port)))
    }
}

/// What a table of pairs is made from.
#[derive(Debug)]
pub struct PairRequest {
    pub look: Arc<Snapshot>,
    pub structure: Arc<MapStructure>,
    pub reading: Option<Arc<WatchVerdict>>,
    pub paths: Option<Arc<PathIndex>>,
    pub quantity: MapQuantity,
    pub rows: Vec<MapBucket>,
    pub columns: Vec<MapBucket>,
}

/// A port on the way to a destination: its score, and its number in the list of ports.
type ScoredPort = (u64, u32);

/// What is known of the switches on the way to one destination. A switch was seen if its number is that of the round.
struct WalkState {
    worst: Vec<Option<ScoredPort>>,
    seen: Vec<u32>,
    reached: Vec<bool>,
    round: u32,
}

impl PairRequest {
    /// Follows the tables from every switch with hosts to every host, and reports how many of the switches that receive
    /// are done. A table that is not wanted any more stays incomplete.
    pub fn table(&self, progress: &dyn RouteProgress) -> PairTable {
        let fabric = self.look.fabric();
        let figures = self.port_figures();
        let score = |port: PortId| figures[port.index()].score(self.quantity);
        let places: FxHashMap<NodeId, usize> = self.structure.places();
        let senders = SenderLids::new(&self.look, &self.structure);
        let count = self.structure.switches.len();
        let mut walk = WalkState {
            worst: vec![None; count],
            seen: vec![0; count],
            reached: vec![false; count],
            round: 0,
        };
        let mut best: Vec<Option<ScoredPort>> = vec![None; self.rows.len() * self.columns.len()];
        let (mut broken, mut done) = (0, 0);
        let of = self.columns.iter().map(|bucket| bucket.leaves.len()).sum();
        for (column, bucket) in self.columns.iter().enumerate() {
            for leaf in &self.structure.groups.leaves[bucket.leaves.clone()] {
                if progress.is_cancelled() {
                    break;
                }
                progress.report(done, of);
                done += 1;
                for host in &self.structure.switches[*leaf].hosts {
                    let lids = senders.lids_of(fabric, host.port);
                    broken += u64::from(lids.is_empty());
                    for lid in lids {
                        walk.round += 1;
                        for (row, from) in self.rows.iter().enumerate() {
                            let cell = &mut best[row * self.columns.len() + column];
                            let sources = &self.structure.groups.leaves[from.leaves.clone()];
                            for source in sources
                                .iter()
                                .filter(|source| *source != leaf && senders.sends(**source, &lid))
                            {
                                match self.walk(&mut walk, &places, &score, *source, lid.lid, host.node) {
                                    true => *cell = (*cell).max(walk.worst[*source]),
                                    false => broken += 1,
                                }
                            }
                        }
                    }
                }
            }
        }
        let found = |cell: Option<ScoredPort>| {
            cell.map(|(_, port)| (PortId(u32::MAX - port), figures[(u32::MAX - port) as usize]))
        };
        let cells = best.into_iter().map(found).collect();
        PairTable { rows: self.rows.clone(), columns: self.columns.clone(), cells, broken }
    }

    /// The figures of what each port sends.
    fn port_figures(&self) -> Vec<MapFigures> {
        let fabric = self.look.fabric();
        let mut figures = vec![MapFigures::default(); fabric.ports().len()];
        if let Some(Rowset::Hot(rows)) = self.reading.as_ref().map(|reading| &*reading.ports.rows) {
            for row in rows {
                figures[row.port.index()] = MapFigures::of_port(row);
            }
        }
        if let Some(paths) = &self.paths {
            let loads = || fabric.links().filter_map(|(id, link)| Some((link, paths.load_of(id)?)));
            let most = loads().flat_map(|(_, load)| load).max().unwrap_or(0);
            for (link, load) in loads() {
                for (port, load) in [link.a, link.b].into_iter().zip(load) {
                    figures[port.index()].set_paths(load, most);
                }
            }
        }
        figures
    }

    /// Follows the tables from a switch to a destination, and keeps the worst port from each switch on the way. Returns
    /// whether the path arrives.
    fn walk(
        &self,
        walk: &mut WalkState,
        places: &FxHashMap<NodeId, usize>,
        score: &impl Fn(PortId) -> Option<u64>,
        from: usize,
        lid: Lid,
        to: NodeId,
    ) -> bool {
        let fabric = self.look.fabric();
        let mut way: Vec<(usize, Option<ScoredPort>)> = Vec::new();
        let mut at = from;
        let (arrives, mut worst) = loop {
            if walk.seen[at] == walk.round {
                break (walk.reached[at], walk.worst[at]);
            }
            walk.seen[at] = walk.round;
            (walk.reached[at], walk.worst[at]) = (false, None);
            let switch = self.structure.switches[at].id;
            let egress: Option<PortNum> =
                self.look.observation.tables.lft(switch).and_then(|table| table.get(lid));
            let Some(port) = egress.and_then(|number| fabric.port_of(switch, number)) else {
                break (false, None);
            };
            let own = score(port).map(|score| (score, u32::MAX - port.0));
            way.push((at, own));
            let Some(peer) = fabric.peer(port).map(|peer| fabric.port(peer).node) else {
                break (false, None);
            };
            if peer == to {
                break (true, None);
            }
            match places.get(&peer) {
                Some(next) => at = *next,
                None => break (false, None),
            }
        };
        for (at, own) in way.into_iter().rev() {
            worst = worst.max(own);
            (walk.reached[at], walk.worst[at]) = (arrives, worst);
        }
        arrives
    }
}
