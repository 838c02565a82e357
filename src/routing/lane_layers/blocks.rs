//! Tables turned around: for each destination switch the columns of what is behind it, and the lane of every path there.

use rayon::prelude::*;

use super::possible_dependencies::PossibleDependencies;
use crate::descent::Descent;
use crate::problem::{Destination, Problem};
use fabdeck_fabric::{NO_PATH, PathLanes, Routes};

/// Not on any lane, or leads nowhere.
pub(super) const NONE: u8 = u8::MAX;

/// One destination switch.
#[derive(Debug)]
pub(super) struct DestinationBlock {
    pub(super) switch: u32,
    /// The hops of the farthest switch that reaches it.
    pub(super) far: u32,
    /// The switches that reach it, nearest first: on shortest paths the next hop comes before the switch.
    pub(super) order: Vec<u32>,
    /// A column for each destination behind it, with a byte for each switch: the channel taken, by its place among
    /// those that leave, and the lane of the path from there.
    pub(super) via: Vec<u8>,
    pub(super) lane: Vec<u8>,
    /// Paths that look for a lane.
    pub(super) left: usize,
}

impl DestinationBlock {
    /// No path has a lane, and none looks for one.
    pub(super) fn clear_lanes(&mut self) {
        self.lane.fill(NONE);
        self.left = 0;
    }
}

/// A block for each switch that has destinations.
pub(super) fn destination_blocks(
    problem: &Problem<'_>,
    routes: &Routes,
    on: &PossibleDependencies,
) -> Vec<DestinationBlock> {
    let places = channel_places(problem);
    let with: Vec<u32> =
        problem.switches().filter(|switch| !problem.destinations_behind(*switch).is_empty()).collect();
    let new = |descent: &mut Descent, switch: u32| {
        descent.build(&on.net, switch);
        let height = on.net.switch_count();
        let ends = problem.destinations_behind(switch);
        let mut via = vec![NONE; ends.len() * height];
        for from in problem.switches() {
            let (row, places) = (routes.row(from), &places[from as usize * 256..][..256]);
            for (at, end) in ends.iter().enumerate() {
                via[at * height + from as usize] = places[row[end.lid.index()] as usize];
            }
        }
        let lane = vec![NONE; via.len()];
        DestinationBlock {
            switch,
            far: descent.max_hops(),
            order: descent.order().to_vec(),
            via,
            lane,
            left: 0,
        }
    };
    with.into_par_iter().map_init(Descent::default, |descent, switch| new(descent, switch)).collect()
}

/// Of each port of each switch, the place of its channel among those that leave.
fn channel_places(problem: &Problem<'_>) -> Vec<u8> {
    let mut places = vec![NONE; problem.graph.switch_count() * 256];
    for switch in problem.switches() {
        let channels = &problem.graph.channels()[problem.graph.outgoing(switch)];
        for (place, channel) in channels.iter().enumerate() {
            let port = channel.from_port.value();
            if port != NO_PATH {
                places[switch as usize * 256 + port as usize] = place as u8;
            }
        }
    }
    places
}

/// The lanes of all blocks as routes have them, in the plainest form that says it.
pub(super) fn gather_lanes(
    problem: &Problem<'_>,
    routes: &Routes,
    blocks: &[DestinationBlock],
    lanes: u8,
) -> PathLanes {
    if lanes <= 1 {
        return PathLanes::One;
    }
    let height = problem.graph.switch_count();
    let columns = || {
        blocks.iter().flat_map(|block| {
            problem.destinations_behind(block.switch).iter().zip(block.lane.chunks_exact(height))
        })
    };
    if columns().all(|(_, column)| uniform_lane(column).is_some()) {
        let mut lane = vec![0; routes.stride()];
        for (end, column) in columns() {
            lane[end.lid.index()] = uniform_lane(column).unwrap_or(0);
        }
        return PathLanes::ByDestination { lanes, lane };
    }
    let mut lane = vec![0; routes.stride() * height];
    let columns: Vec<(&Destination, &[u8])> = columns().collect();
    let rows = lane.par_chunks_exact_mut(routes.stride());
    rows.with_min_len(64).enumerate().for_each(|(from, row)| {
        for (end, column) in &columns {
            if column[from] != NONE {
                row[end.lid.index()] = column[from];
            }
        }
    });
    PathLanes::ByPair { lanes, lane }
}

/// The lane of a whole column, when its paths have only one.
fn uniform_lane(column: &[u8]) -> Option<u8> {
    let mut lanes = column.iter().filter(|lane| **lane != NONE);
    let first = lanes.next().copied().unwrap_or(0);
    lanes.all(|lane| *lane == first).then_some(first)
}
