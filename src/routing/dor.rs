//! `dor`: dimension order routing. Of the ports that lead one hop nearer, the first one in the order of dimensions decides
//! the next switch (dissertation 3.3.3). The dimensions of a switch are its ports, by number or in a given order. LIDs
//! are counted on each of several parallel cables to that switch, and the cable with the fewest takes the next LID. No
//! promise about deadlocks: meshes and hypercubes that are cabled alike have none, rings of five and more have.
//!
//! Each row follows from the distances alone, so rows are made in parallel and failures change nothing else. The LIDs of
//! switches are routed like all others and count for nothing, as in OpenSM.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::minhop::{HopCount, hop_matrix};
use super::problem::Problem;
use fabdeck_fabric::{Channel, Guid, NO_PATH, NodeId, PortNum};

pub const ID: &str = "dor";

/// The ports of switches in the order of their dimensions. A switch that is not listed has them by number, and so have
/// the ports that the line of a switch leaves out, behind those of the line.
pub type DimensionPorts = BTreeMap<Guid, Vec<PortNum>>;

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let remark = check_ports(problem, &request.dimension_ports)?;
    let hops = hop_matrix(&problem.graph);
    let mut routes = problem.empty_routes();
    let (stride, switches) = (routes.stride().max(1), routes.switch_count());
    let done = AtomicUsize::new(0);
    let rows = routes.entries_mut().par_chunks_exact_mut(stride).enumerate();
    rows.for_each(|(switch, row)| {
        if !pulse.is_cancelled() {
            fill_row(problem, &hops, &request.dimension_ports, switch as u32, row);
            pulse.report(done.fetch_add(1, Ordering::Relaxed) + 1, switches);
        }
    });
    pulse.check_cancelled()?;
    Ok(EngineAnswer { remarks: remark.into_iter().collect(), ..EngineAnswer::from(routes) })
}

/// A list of dimensions that names no switch of the fabric, or a port that a switch does not have, belongs to another
/// fabric. A switch that is missing only counts: it may have failed. Returns a remark about these.
fn check_ports(problem: &Problem<'_>, dimensions: &DimensionPorts) -> Result<Option<String>, EngineRefusal> {
    let fabric = problem.fabric;
    let refuse = |what: String| Err(EngineRefusal::Request { engine: ID, what });
    let mut missing = Vec::new();
    for (guid, ports) in dimensions {
        let switch = fabric.node_by_guid(*guid).filter(|id| fabric.node(*id).is_switch());
        let Some(switch) = switch else {
            missing.push(guid);
            continue;
        };
        if let Some(port) = ports.iter().find(|port| fabric.port_of(switch, **port).is_none()) {
            return refuse(format!(
                "the list of --dimension-ports has port {port} of {guid}, which has no such port; correct the list"
            ));
        }
    }
    match missing.as_slice() {
        [] => Ok(None),
        [first, ..] if missing.len() == dimensions.len() => refuse(format!(
            "the list of --dimension-ports names {first}, and no switch of it is in this fabric; give the list of this \
             fabric"
        )),
        [first, ..] => Ok(Some(format!(
            "{} of {} switches in the list of --dimension-ports are not in the fabric, the first {first}",
            missing.len(),
            dimensions.len()
        ))),
    }
}

/// The channels that leave a switch, in the order of dimensions.
fn by_dimension<'p>(problem: &'p Problem<'_>, dimensions: &DimensionPorts, switch: u32) -> Vec<&'p Channel> {
    let graph = &problem.graph;
    let mut channels: Vec<&Channel> = graph.channels()[graph.outgoing(switch)].iter().collect();
    if let Some(ports) = dimensions.get(&problem.fabric.node(NodeId(switch)).guid()) {
        let place = |port: PortNum| ports.iter().position(|listed| *listed == port).unwrap_or(ports.len());
        channels.sort_by_key(|channel| place(channel.from_port));
    }
    channels
}

fn fill_row(
    problem: &Problem<'_>,
    hops: &[Vec<HopCount>],
    dimensions: &DimensionPorts,
    switch: u32,
    row: &mut [u8],
) {
    let channels = by_dimension(problem, dimensions, switch);
    let first = first_nearer(hops, switch, &channels);
    let cables = parallel_cables(&channels);
    let mut lids_on = vec![0u32; channels.len()];
    for to in problem.switches() {
        if to == switch {
            problem.destinations_behind(to).iter().for_each(|end| row[end.lid.index()] = end.port.value());
            continue;
        }
        let Some(cables) = cables.get(usize::from(first[to as usize])) else { continue };
        for end in problem.destinations_behind(to) {
            let Some(taken) = cables.iter().copied().min_by_key(|at| lids_on[*at]) else { continue };
            row[end.lid.index()] = channels[taken].from_port.value();
            lids_on[taken] += u32::from(!end.is_switch());
        }
    }
}

/// For each channel the places of those from it on that lead to the same switch.
fn parallel_cables(channels: &[&Channel]) -> Vec<Vec<usize>> {
    let places = 0..channels.len();
    let leads_to = |first: usize, at: &usize| channels[*at].to == channels[first].to;
    places
        .clone()
        .map(|first| places.clone().skip(first).filter(|at| leads_to(first, at)).collect())
        .collect()
}

/// For each switch the place of the first channel that leads nearer to it; `NO_PATH` for none.
fn first_nearer(hops: &[Vec<HopCount>], switch: u32, channels: &[&Channel]) -> Vec<u8> {
    let here = &hops[switch as usize];
    let mut first = vec![NO_PATH; here.len()];
    // Channel by channel from the last one on, along rows that stand side by side in memory.
    for (place, channel) in channels.iter().enumerate().rev() {
        let there = &hops[channel.to as usize];
        for ((first, there), here) in first.iter_mut().zip(there).zip(here) {
            // No switch is as far as the value for no way, so that one never counts as nearer.
            if there.wrapping_add(1) == *here {
                *first = place as u8;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_list_of_another_fabric_is_refused_by_name() {
        let fabric = generate(&"mesh,dims=3x3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let refusal = |guid: Guid, port: u8| {
            let dimension_ports = DimensionPorts::from([(guid, vec![PortNum(port)])]).into();
            let request = Request { dimension_ports, ..Request::default() };
            route(&problem, &request, &NoProgress).map(|_| ()).map_err(|refusal| refusal.to_string())
        };
        let known = fabric.node(NodeId(0)).guid();
        assert_eq!(refusal(known, 1), Ok(()));
        assert!(refusal(Guid(7), 1).unwrap_err().contains("0x0000000000000007, and no switch of it is in"));
        assert!(refusal(known, 200).unwrap_err().contains("port 200 of"));
        // A switch of the list that has failed stops nothing.
        let list = DimensionPorts::from([(known, vec![PortNum(1)]), (Guid(7), vec![PortNum(1)])]);
        let request = Request { dimension_ports: list.into(), ..Request::default() };
        let remarks = route(&problem, &request, &NoProgress).unwrap().remarks;
        assert!(
            matches!(remarks.as_slice(), [one] if one.starts_with("1 of 2 switches in the list")),
            "{remarks:?}"
        );
    }
}
