//! The two ends of a path, where a host name may stand for several adapters.

use std::collections::VecDeque;

use super::path_trace::{TraceEndpoint, TraceError, parse_endpoint};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::{ElementError, NodeId, NodeKind, PortId};
use fabdeck_files::slurm::host_name;

/// Both ends of a path, with a text about the choice where there was one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceEnds {
    pub from: TraceEndpoint,
    pub to: TraceEndpoint,
    pub choice: Option<String>,
}

/// Parses the two ends of a path. For hosts with several adapters, the pair with the fewest switches between
/// its adapters is taken. Of equal pairs, one with the same device name on both hosts comes first (`mlx5_2`),
/// as rails may meet at the spines.
pub fn parse_trace_ends(look: &Snapshot, from: &str, to: &str) -> Result<TraceEnds, TraceError> {
    let (sources, destinations) = (candidates(look, from)?, candidates(look, to)?);
    let (mut from_end, mut to_end) = (sources[0], destinations[0]);
    if sources.len() == 1 && destinations.len() == 1 {
        return Ok(TraceEnds { from: from_end, to: to_end, choice: None });
    }
    let mut nearest = (u32::MAX, true);
    for source in &sources {
        let distances = switch_distances(look, switch_of(look, *source));
        for destination in &destinations {
            let distance = switch_of(look, *destination).map_or(u32::MAX, |switch| distances[switch.index()]);
            let pair = (distance, device(look, *source) != device(look, *destination));
            if pair < nearest && source != destination {
                (nearest, from_end, to_end) = (pair, *source, *destination);
            }
        }
    }
    let several = [(from, sources.len()), (to, destinations.len())];
    let several = several.iter().filter(|(_, count)| *count > 1);
    let hosts: Vec<String> = several
        .map(|(name, count)| format!("'{name}' has {}", count_words(*count, "adapter", "adapters")))
        .collect();
    let which = match nearest {
        (_, false) => "the first pair on one rail (fewest switches)",
        (_, true) => "the first pair with the fewest switches between",
    };
    let choice = format!(
        "{}: traced from {} to {}, {which}; name others by GUID or port:NAME[PORT]",
        hosts.join(", "),
        from_end.name(look),
        to_end.name(look)
    );
    Ok(TraceEnds { from: from_end, to: to_end, choice: Some(choice) })
}

/// The ends that a text may mean, at least one; for a host name, all adapters of the host.
fn candidates(look: &Snapshot, text: &str) -> Result<Vec<TraceEndpoint>, TraceError> {
    match parse_endpoint(look, text) {
        Err(TraceError::Element(ElementError::Ambiguous { name, guids })) => {
            let adapters = adapters_of(look, text);
            match adapters.is_empty() {
                true => Err(ElementError::Ambiguous { name, guids }.into()),
                false => Ok(adapters),
            }
        }
        found => found.map(|end| vec![end]),
    }
}

/// The cabled adapters of a host, in the order of their names; empty where the text names no host.
fn adapters_of(look: &Snapshot, text: &str) -> Vec<TraceEndpoint> {
    let text = text.trim();
    let name = text.strip_prefix("host:").unwrap_or(text);
    let fabric = look.fabric();
    let mut nodes = look.names.find(fabric, name, Some(NodeKind::ChannelAdapter));
    // Adapters may share a description without a host name, such as mlx5_0.
    if host_name(name).is_none() {
        return Vec::new();
    }
    nodes.retain(|id| !fabric.node(*id).facts.is_aggregation());
    nodes.sort_by_key(|id| (look.name(*id).len(), look.name(*id).to_owned(), *id));
    nodes.iter().filter_map(|id| parse_endpoint(look, &fabric.node(*id).guid().to_string()).ok()).collect()
}

/// The device name of an adapter: the part of its description after the host name, such as `mlx5_2` or
/// `HCA-1`.
fn device(look: &Snapshot, end: TraceEndpoint) -> Option<&str> {
    let name = &look.fabric().node(end.node).facts.description;
    let host = host_name(name)?;
    name.split_once(host.as_str()).map(|(_, rest)| rest.trim())
}

pub(super) fn switch_of(look: &Snapshot, end: TraceEndpoint) -> Option<NodeId> {
    let fabric = look.fabric();
    match end.port {
        None => Some(end.node),
        Some(port) => fabric.peer(port).map(|peer| fabric.port(peer).node),
    }
}

/// Hops from a switch to every switch; `u32::MAX` where there is no path.
pub(super) fn switch_distances(look: &Snapshot, from: Option<NodeId>) -> Vec<u32> {
    let fabric = look.fabric();
    let mut hops = vec![u32::MAX; fabric.nodes().len()];
    let mut queue = VecDeque::new();
    if let Some(from) = from {
        hops[from.index()] = 0;
        queue.push_back(from);
    }
    while let Some(at) = queue.pop_front() {
        let far = |(_, port): (PortId, &fabdeck_fabric::Port)| port.peer.map(|peer| fabric.port(peer).node);
        for next in fabric.ports_of(at).filter_map(far).filter(|next| fabric.node(*next).is_switch()) {
            if hops[next.index()] == u32::MAX {
                hops[next.index()] = hops[at.index()] + 1;
                queue.push_back(next);
            }
        }
    }
    hops
}
