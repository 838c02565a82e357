//! Follows changes instead of discovering everything again: suspect ports are read, a link that is down loses its
//! cable, and the peer of a link that is up is identified.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::discovery::Discovery;
use super::discovery_state::{DiscoveredNode, DiscoveryState};
use super::reader::PortReader;
use fabdeck_fabric::{Fabric, NodeKind};
use fabdeck_mad::access::SourceError;

pub fn rediscover(
    reader: &mut PortReader<'_>,
    (fabric, nodes): (&Fabric, &[DiscoveredNode]),
    suspects: &BTreeSet<(usize, u8)>,
    silent: &BTreeSet<usize>,
) -> Result<DiscoveryState, SourceError> {
    let mut phase = reader.open_phase("moved");
    let again = DiscoveryState::from_fabric(fabric, nodes.to_vec());
    let mut discovery = Discovery::from_known(again, suspects, FxHashSet::from_iter(silent.iter().copied()));
    for (node, port) in suspects {
        discovery.ask_port(*node, *port);
    }
    discovery.run(&mut phase)?;
    // Nodes that were silent over their old routes are asked over the present ones.
    let unheard: Vec<usize> = silent.iter().copied().filter(|node| !discovery.heard.contains(node)).collect();
    discovery.found.repair_routes(&discovery.still_silent_nodes());
    for node in unheard {
        let (old, new) = (&nodes[node], &discovery.found.nodes[node]);
        let another = old.route != new.route || old.memory.cut_off;
        // A node that answered until now is asked once more, so that a bad cable does not pass for silence. Adapters
        // were only asked for counters, by LID.
        if !new.memory.cut_off && (another || !old.memory.silent) {
            let ingress = new.ingress;
            discovery.ask_node(node, ingress);
        }
    }
    discovery.run(&mut phase)?;
    // Much may have changed at a switch while it was silent.
    for at in silent {
        let back = nodes[*at].memory.silent && discovery.heard.contains(at);
        if back && nodes[*at].kind == NodeKind::Switch {
            (0..=nodes[*at].port_count).for_each(|port| discovery.ask_port(*at, port));
        }
    }
    discovery.run(&mut phase)?;
    let silent_now = discovery.still_silent_nodes();
    discovery.found.repair_routes(&silent_now);
    for at in 0..discovery.found.nodes.len() {
        discovery.found.set_silent(at, silent_now.contains(&at));
    }
    phase.end();
    Ok(discovery.found)
}
