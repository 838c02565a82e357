//! Paths spread over lanes that are left empty (dissertation, algorithm 3.6, line 16): fewer packets wait in one queue. A
//! part of the paths of a lane has no cycle where all of them have none, so every part may have a lane of its own.

use rayon::prelude::*;

use crate::problem::Problem;
use fabdeck_fabric::{PathLanes, Routes};

/// Gives the lanes beyond those in use to the lanes with most paths for each of theirs, and divides the destinations of
/// a lane among its parts in turns. Returns a remark, or `None` where no lane is left.
pub(crate) fn spread_lanes(problem: &Problem<'_>, routes: &mut Routes, given: u8) -> Option<String> {
    let used = routes.lane_count();
    if used >= given {
        return None;
    }
    let parts = lane_parts(&count_paths(problem, routes), given);
    // The turn of each LID among the destinations; all lanes take them in this order.
    let mut turn = vec![0; routes.stride()];
    for (at, end) in problem.destinations().iter().enumerate() {
        turn[end.lid.index()] = at;
    }
    let part = |lane: u8, lid: usize| {
        let parts = &parts[usize::from(lane)];
        parts[turn[lid] % parts.len()]
    };
    let stride = routes.stride();
    routes.lanes = match std::mem::take(&mut routes.lanes) {
        PathLanes::One => {
            PathLanes::ByDestination { lanes: given, lane: (0..stride).map(|lid| part(0, lid)).collect() }
        }
        PathLanes::ByDestination { lane, .. } => {
            let lane = lane.iter().enumerate().map(|(lid, lane)| part(*lane, lid)).collect();
            PathLanes::ByDestination { lanes: given, lane }
        }
        PathLanes::ByPair { mut lane, .. } => {
            lane.par_chunks_mut(stride.max(1)).for_each(|row| {
                row.iter_mut().enumerate().for_each(|(lid, lane)| *lane = part(*lane, lid));
            });
            PathLanes::ByPair { lanes: given, lane }
        }
        // Lanes that change on the way are those of the tables.
        by_hop @ PathLanes::ByHop { .. } => {
            routes.lanes = by_hop;
            return None;
        }
    };
    Some(format!("paths are spread over {given} lanes, of which {used} are needed"))
}

/// The lanes of the parts of each lane, itself first.
fn lane_parts(paths: &[u64], given: u8) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = (0..paths.len() as u8).map(|lane| vec![lane]).collect();
    for more in paths.len() as u8..given {
        let fullest = (0..paths.len())
            .max_by_key(|lane| (paths[*lane] / parts[*lane].len() as u64, std::cmp::Reverse(*lane)));
        if let Some(fullest) = fullest {
            parts[fullest].push(more);
        }
    }
    parts
}

/// The number of paths on each lane, from switches to LIDs.
fn count_paths(problem: &Problem<'_>, routes: &Routes) -> Vec<u64> {
    let mut paths = vec![0; routes.lane_count().into()];
    for from in problem.switches() {
        let ends = problem.destinations().iter().filter(|end| routes.get(from, end.lid).is_some());
        ends.for_each(|end| paths[usize::from(routes.lane(from, end.lid).value())] += 1);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_lanes_go_to_the_fullest_parts() {
        assert_eq!(lane_parts(&[90, 30], 2), [vec![0], vec![1]]);
        assert_eq!(lane_parts(&[90, 40], 5), [vec![0, 2, 3], vec![1, 4]]);
        assert_eq!(lane_parts(&[7], 3), [vec![0, 1, 2]]);
    }
}
