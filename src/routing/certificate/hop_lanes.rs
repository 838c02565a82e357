//! The verdict on routes whose lanes change on the way: service levels by pair, and SL2VL tables.

use super::lane_mapping::LaneMapping;
use super::report::{Certificate, DependencyCycle};
use super::service::{CreditLoop, ServedPaths, certify_service_together};
use crate::engine::{EngineRefusal, RouteProgress};
use crate::problem::Problem;
use fabdeck_fabric::{Lid, PathLanes, Routes, ServiceLevel, ServiceLevels, Tables};

/// The service levels of routes. Where a path stays on one lane, its level has the number of the lane.
pub fn levels_of(routes: &Routes) -> ServiceLevels {
    let (stride, switches) = (routes.stride(), routes.switch_count());
    let bit = |level: u8| 1u16 << (level & 0xF);
    match &routes.lanes {
        PathLanes::One => ServiceLevels::One(ServiceLevel::default()),
        PathLanes::ByDestination { .. } => {
            let lane = |lid: u32| Lid::new(lid).map_or(0, |lid| bit(routes.lane(0, lid).value()));
            ServiceLevels::ByLid((0..stride as u32).map(lane).collect())
        }
        PathLanes::ByPair { lane: level, .. } | PathLanes::ByHop { level, .. } => {
            let mut bits: Vec<u16> = level.iter().copied().map(bit).collect();
            bits.resize(stride * switches, 0);
            ServiceLevels::BySwitch { stride, bits }
        }
    }
}

/// What packets of several sets of routes do together.
pub(crate) struct JointVerdict {
    pub cycle: Option<DependencyCycle>,
    /// The lanes in use between switches.
    pub lanes: Vec<u8>,
    /// Whether the lane of every path is known at every hop, and every port has it.
    pub is_complete: bool,
}

/// Certifies several sets of routes together, on the lanes that their own tables map levels to. Routes without tables
/// use the lane with the number of the level.
pub(crate) fn certify_together(
    problem: &Problem<'_>,
    all: &[&Routes],
    switches: bool,
    pulse: &dyn RouteProgress,
) -> Result<JointVerdict, EngineRefusal> {
    let levels: Vec<ServiceLevels> = all.iter().map(|routes| levels_of(routes)).collect();
    let none = Tables::default();
    let mappings: Vec<LaneMapping<'_>> =
        all.iter().map(|routes| LaneMapping::new(problem, lane_tables_of(routes).unwrap_or(&none))).collect();
    let paths: Vec<ServedPaths<'_>> = all
        .iter()
        .zip(mappings.iter().zip(&levels))
        .map(|(routes, (mapping, levels))| ServedPaths { routes, mapping, levels })
        .collect();
    let served = certify_service_together(problem, &paths, switches, pulse)?;
    let has_own_lanes = all.iter().any(|routes| !routes.lanes.is_by_hop());
    Ok(JointVerdict {
        cycle: served.credit_loop.as_ref().map(dependency_cycle),
        is_complete: served.limits.is_empty() && (has_own_lanes || served.without_tables.is_empty()),
        lanes: served.lanes,
    })
}

/// The SL2VL tables of routes whose lanes change on the way.
pub(crate) fn lane_tables_of(routes: &Routes) -> Option<&Tables> {
    match &routes.lanes {
        PathLanes::ByHop { tables, .. } => Some(tables),
        _ => None,
    }
}

/// Adds the verdict on the lanes that packets take to a certificate over one shared lane. Without a credit loop the
/// verdict stays open where a port drops packets, or where a switch on the way has no table.
pub(super) fn certify_hop_lanes(
    problem: &Problem<'_>,
    routes: &Routes,
    shared: Certificate,
    pulse: &dyn RouteProgress,
) -> Result<Certificate, EngineRefusal> {
    let JointVerdict { cycle, lanes, is_complete } =
        certify_together(problem, &[routes], shared.scope.switches, pulse)?;
    let verdict = match &cycle {
        Some(_) => Some(false),
        // Paths without a cycle on one shared lane have none on any lanes.
        None => (is_complete || shared.cycles.is_empty()).then_some(true),
    };
    Ok(Certificate { lanes, deadlock_free: verdict, cycles: cycle.into_iter().collect(), ..shared })
}

pub(crate) fn dependency_cycle(found: &CreditLoop) -> DependencyCycle {
    DependencyCycle {
        lane: found.hops.first().map(|(_, lane)| *lane).unwrap_or_default(),
        hop_lanes: found.hops.iter().map(|(_, lane)| *lane).collect(),
        channels: found.hops.iter().map(|(channel, _)| *channel).collect(),
        paths: found.paths.clone(),
    }
}
