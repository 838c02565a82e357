//! Finds the differences between two snapshots of a fabric, the second derived from the first, and between two readings
//! of a table.

use fabdeck_fabric::observe::{ChangedEntry, FabricEvent, LinkRate, PortIdentity};
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Lid, Link, NO_PATH, NodeId, PortId, PortNum};

/// The events from one snapshot to the next: cables first, then new nodes.
pub fn diff_fabrics(before: &Fabric, now: &Fabric) -> Vec<FabricEvent> {
    let mut news = Vec::new();
    for (_, link) in before.links() {
        let (a, b) = (link_end(before, link.a), link_end(before, link.b));
        // Known nodes stay in a derived snapshot.
        let [Some(here), Some(there)] = [link.a, link.b].map(|port| matching_port(now, before, port)) else {
            continue;
        };
        let (was, is) = (link_rate(before, *link), link_rate(now, Link { a: here, b: there }));
        match (now.peer(here), now.peer(there)) {
            (Some(peer), _) if peer == there => {
                let told = is.0.is_some() && is.1.is_some() && was.0.is_some() && was.1.is_some();
                news.extend((told && was != is).then_some(FabricEvent::RateChanged {
                    a,
                    b,
                    before: was,
                    now: is,
                }));
            }
            (None, None) => news.push(FabricEvent::LinkDown { a, b }),
            // The new cables at these ports have their own events.
            _ => {}
        }
    }
    for (_, link) in now.links() {
        let (a, b) = (link_end(now, link.a), link_end(now, link.b));
        let twins = [link.a, link.b].map(|port| matching_port(before, now, port));
        let former = twins.map(|port| port.and_then(|port| before.peer(port)));
        match former {
            [None, None] => news.push(FabricEvent::LinkUp { a, b }),
            [Some(peer), _] if twins[1] == Some(peer) => {}
            _ => {
                for (at, was, is) in [(a, former[0], b), (b, former[1], a)] {
                    news.extend(was.map(|was| FabricEvent::Recabled {
                        at,
                        before: link_end(before, was),
                        now: is,
                    }));
                }
            }
        }
    }
    let new = now.nodes().filter(|(id, _)| same_node(before, now, *id).is_none());
    news.extend(new.map(|(_, node)| FabricEvent::NodeAppeared { node: node.guid() }));
    news
}

/// The same node in another snapshot.
pub fn same_node(other: &Fabric, fabric: &Fabric, id: NodeId) -> Option<NodeId> {
    let node = fabric.node(id);
    other.node_of(node.facts.kind, node.guid())
}

fn matching_port(other: &Fabric, fabric: &Fabric, port: PortId) -> Option<PortId> {
    let port = fabric.port(port);
    other.port_of(same_node(other, fabric, port.node)?, port.number)
}

fn link_end(fabric: &Fabric, port: PortId) -> PortIdentity {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}

/// The smaller width and speed of both ends.
fn link_rate(fabric: &Fabric, link: Link) -> LinkRate {
    let [a, b] = [link.a, link.b].map(|port| &fabric.port(port).facts);
    ([a.width, b.width].into_iter().flatten().min(), [a.speed, b.speed].into_iter().flatten().min())
}

/// The entries of one block that differ. LID 0 and LIDs above the top of the table do not count.
pub fn changed_entries(
    block: u16,
    top: u16,
    before: &[u8; BLOCK_LIDS as usize],
    now: &[u8; BLOCK_LIDS as usize],
) -> Vec<ChangedEntry> {
    let path = |port: u8| Some(port).filter(|port| *port != NO_PATH).map(PortNum);
    let pairs = before.iter().zip(now).enumerate().filter(|(_, (before, now))| before != now);
    let entry = |(offset, (before, now)): (usize, (&u8, &u8))| {
        let lid = Lid::new(u32::from(block) * u32::from(BLOCK_LIDS) + offset as u32)?;
        (lid.value() <= top).then_some(ChangedEntry { lid, before: path(*before), now: path(*now) })
    };
    pairs.filter_map(entry).collect()
}
