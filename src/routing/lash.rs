//! `lash`: layered shortest path routing (dissertation 3.3.6; the steps are those of OpenSM). One shortest way for each
//! ordered pair of switches, without any balance, and a lane for each pair, the same in both directions. All LIDs behind a
//! switch share its ways and lanes.

use rayon::prelude::*;

use super::descent::Neighbours;
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::lane_layers::{MAX_PAIR_LANES, PairLanes, assign_pair_lanes};
use super::pair_ways::{NO_WAY, PairWays};
use super::problem::Problem;
use fabdeck_fabric::{NodeId, PathLanes, Routes};

pub const ID: &str = "lash";

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let given = problem.usable_lanes(request.lanes);
    let order = switch_order(problem);
    let ways = PairWays::find(&Neighbours::new(&problem.graph), &order, pulse)?;
    let lanes = assign_pair_lanes(problem, &ways, &order, given.into(), pulse)?;
    let needed = lanes.count();
    if needed > u32::from(given) {
        return Err(refuse_lanes(needed, given));
    }
    let mut routes = write_tables(problem, &ways);
    if needed > 1 {
        routes.lanes = write_lanes(problem, &routes, &lanes);
    }
    let remarks = if needed > 1 { vec![size_remark(&lanes)] } else { Vec::new() };
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

fn refuse_lanes(needed: u32, given: u8) -> EngineRefusal {
    if needed <= MAX_PAIR_LANES {
        return EngineRefusal::Lanes { engine: ID, needed, given };
    }
    let why = format!("its paths need more than {MAX_PAIR_LANES} lanes; nue takes any number of lanes");
    EngineRefusal::Unfit { engine: ID, why }
}

/// All switches in the order of OpenSM, which sorts GUIDs by their last byte first.
fn switch_order(problem: &Problem<'_>) -> Vec<u32> {
    let mut order: Vec<u32> = problem.switches().collect();
    order.sort_by_key(|switch| problem.fabric.node(NodeId(*switch)).guid().0.swap_bytes());
    order
}

fn size_remark(lanes: &PairLanes) -> String {
    let sizes: Vec<String> = lanes.sizes().iter().map(usize::to_string).collect();
    format!("pairs of switches on each lane, both directions together: {}", sizes.join(", "))
}

fn write_tables(problem: &Problem<'_>, ways: &PairWays) -> Routes {
    let mut routes = problem.empty_routes();
    let stride = routes.stride().max(1);
    routes.entries_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(from, row)| {
        let from = from as u32;
        let channels = &problem.graph.channels()[problem.graph.outgoing(from)];
        for to in problem.switches() {
            let place = ways.place(from, to);
            for end in problem.destinations_behind(to) {
                if to == from {
                    row[end.lid.index()] = end.port.value();
                } else if place != NO_WAY {
                    row[end.lid.index()] = channels[usize::from(place)].from_port.value();
                }
            }
        }
    });
    routes
}

fn write_lanes(problem: &Problem<'_>, routes: &Routes, lanes: &PairLanes) -> PathLanes {
    let stride = routes.stride();
    let mut lane = vec![0; stride * problem.graph.switch_count()];
    lane.par_chunks_exact_mut(stride.max(1)).enumerate().for_each(|(from, row)| {
        for to in problem.switches() {
            let own = lanes.lane(from as u32, to);
            problem.destinations_behind(to).iter().for_each(|end| row[end.lid.index()] = own);
        }
    });
    PathLanes::ByPair { lanes: lanes.count() as u8, lane }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lanes_than_are_counted_are_no_number() {
        let most = refuse_lanes(MAX_PAIR_LANES, 8);
        assert_eq!(most, EngineRefusal::Lanes { engine: ID, needed: 64, given: 8 });
        let more = refuse_lanes(MAX_PAIR_LANES + 1, 8).to_string();
        assert!(more.contains("more than 64 lanes; nue takes any number") && !more.contains("65"), "{more}");
    }
}
