//! The paths over each cable under the tables in force and under the routes that an engine proposes, and which cables
//! differ most. It takes an index of all paths, so it is made once for a proposal, in the background.

use crate::catalogue::snapshot::Snapshot;
use crate::operations::fabric_map::figures::FigureTable;
use crate::operations::preview::whatif::Proposal;
use fabdeck_fabric::{Faults, LinkId};
use fabdeck_routing::analysis::PathIndex;
use fabdeck_routing::difference::MovedTerminal;
use fabdeck_routing::{EngineRefusal, Problem, RouteProgress};

/// The paths over a cable between switches, in the direction with more of them. `None` where the routes cannot use the
/// cable, because it is marked or down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CableChange {
    pub link: LinkId,
    pub live: Option<u64>,
    pub preview: Option<u64>,
}

impl CableChange {
    /// How many paths more the proposal has here.
    pub fn difference(&self) -> i64 {
        let count = |paths: Option<u64>| i64::try_from(paths.unwrap_or(0)).unwrap_or(i64::MAX);
        count(self.preview) - count(self.live)
    }
}

/// All cables between switches under both routings.
#[derive(Clone, Debug)]
pub struct PathChanges {
    /// The cables whose number of paths differs: those that the routes use, the largest difference first; then the others.
    pub changed: Vec<CableChange>,
    /// Number of cables between switches.
    pub cables: usize,
    /// The paths over the busiest cable, live and under the proposal.
    pub busiest: [u64; 2],
    /// The figures for maps of both, on one scale.
    pub live: FigureTable,
    pub preview: FigureTable,
    /// The pairs that lead to each host and move.
    pub moved: MovedHostPairs,
}

/// The pairs that move, by the host that they lead to.
#[derive(Clone, Debug)]
pub struct MovedHostPairs {
    /// The pairs that move as the paths over a host's cable; the scale ends at all pairs that lead there.
    pub figures: FigureTable,
    /// The most pairs that lead to one host.
    pub most: u64,
}

impl MovedHostPairs {
    fn new(look: &Snapshot, moved: &[MovedTerminal]) -> Self {
        let most = moved.iter().map(|terminal| terminal.pairs).max().unwrap_or(0);
        let mut figures = FigureTable::of_no_paths(look);
        for terminal in moved {
            let link = look.fabric().port(terminal.port).link;
            link.into_iter().for_each(|link| figures.set_link_paths(link, terminal.moved, terminal.pairs));
        }
        Self { figures, most }
    }
}

impl PathChanges {
    pub fn new(
        look: &Snapshot,
        live: &PathIndex,
        marks: &Faults,
        proposal: &Proposal,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let problem = Problem::new(look.fabric(), marks);
        let (routes, partitions) = (proposal.routes.clone(), look.partitions.as_ref());
        let preview = PathIndex::partitioned(&problem, routes, partitions, pulse)?;
        let over = |paths: &PathIndex, link| paths.load_of(link).map(|[there, back]| there.max(back));
        let links = look.fabric().links();
        let all = links.map(|(link, _)| CableChange {
            link,
            live: over(live, link),
            preview: over(&preview, link),
        });
        let all: Vec<CableChange> =
            all.filter(|cable| cable.live.is_some() || cable.preview.is_some()).collect();
        let busiest =
            |paths: &dyn Fn(&CableChange) -> Option<u64>| all.iter().filter_map(paths).max().unwrap_or(0);
        let busiest = [busiest(&|cable| cable.live), busiest(&|cable| cable.preview)];
        let most = busiest[0].max(busiest[1]);
        let mut changed: Vec<CableChange> =
            all.iter().copied().filter(|cable| cable.live != cable.preview).collect();
        // That a failed cable carries nothing is no news: those that carry more or less come before.
        changed.sort_by_key(|cable| {
            let difference = cable.difference().unsigned_abs();
            (cable.preview.is_none(), std::cmp::Reverse(difference), cable.link)
        });
        Ok(Self {
            changed,
            cables: all.len(),
            busiest,
            live: FigureTable::of_paths(look, live, most),
            preview: FigureTable::of_paths(look, &preview, most),
            moved: MovedHostPairs::new(look, &proposal.moved),
        })
    }
}
