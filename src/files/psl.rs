//! The service level of each path as ibdmchk takes it (`-c`): source node, destination LID, level, with lane and level
//! being the same number: `0x0002c90000000201 17 3`.

use std::io::{self, Write};

use fabdeck_fabric::observe::{Notes, Place};
use fabdeck_fabric::{Fabric, Lid, NodeId, NodeKind, PortNum, Routes};

pub const ID: &str = "psl";

/// A node whose ports take different lanes to a destination.
const PORTS_DIFFER: &str = "FN-361";

/// So many lines are a file of half a gigabyte.
pub const MOST_LINES: usize = 20_000_000;

/// A node that sends, with the switches that its ports lead to: one for a switch, itself.
struct Sender {
    node: NodeId,
    switches: Vec<NodeId>,
}

/// How many lines the file will have.
pub fn lines(fabric: &Fabric) -> usize {
    senders(fabric).len().saturating_mul(destinations(fabric).len())
}

/// Writes the levels of all paths, those of switches included.
pub fn write(fabric: &Fabric, routes: &Routes, out: &mut dyn Write) -> io::Result<Notes> {
    let mut notes = Notes::new();
    let ends = destinations(fabric);
    for sender in senders(fabric) {
        let guid = fabric.node(sender.node).guid();
        let Some((first, others)) = sender.switches.split_first() else { continue };
        for (lid, owner) in ends.iter().filter(|(_, owner)| *owner != sender.node) {
            let lane = routes.lane(first.0, *lid);
            writeln!(out, "{guid} {lid} {}", lane.value())?;
            if others.iter().any(|switch| routes.lane(switch.0, *lid) != lane) {
                let owner = fabric.node(*owner).guid();
                notes.add(PORTS_DIFFER, Place::default(), || {
                    format!("the ports of {guid} take different lanes to {owner}; the format knows nodes: the first counts")
                });
            }
        }
    }
    Ok(notes)
}

fn senders(fabric: &Fabric) -> Vec<Sender> {
    let sender = |(node, facts): (NodeId, &fabdeck_fabric::Node)| {
        let switches = match facts.facts.kind {
            NodeKind::Switch => vec![node],
            _ => fabric
                .ports_of(node)
                .filter_map(|(port, _)| fabric.peer(port))
                .map(|peer| fabric.port(peer).node)
                .filter(|peer| fabric.node(*peer).is_switch())
                .collect(),
        };
        Sender { node, switches }
    };
    fabric.nodes().map(sender).filter(|sender| !sender.switches.is_empty()).collect()
}

/// Every LID that somebody owns, with its node.
fn destinations(fabric: &Fabric) -> Vec<(Lid, NodeId)> {
    let mut ends = Vec::new();
    for (_, port) in fabric.ports() {
        let end = port.number == PortNum::MANAGEMENT || !fabric.node(port.node).is_switch();
        let Some(base) = port.facts.lid.filter(|_| end) else { continue };
        let lids = (0..u32::from(port.facts.lmc.lids())).map(|more| u32::from(base.value()) + more);
        ends.extend(lids.filter_map(Lid::new).map(|lid| (lid, port.node)));
    }
    ends.sort_unstable();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Lanes;
    use fabdeck_fabric::generate::{Spec, generate};

    #[test]
    fn a_line_for_each_node_and_lid() {
        let fabric = generate(&"kary,k=2,n=1".parse::<Spec>().unwrap()).unwrap().fabric;
        let top = fabric.top_lid().unwrap();
        let mut routes = Routes::empty(fabric.switch_count(), Some(top));
        let lane = (0..=top.index()).map(|lid| (lid % 3) as u8).collect();
        routes.lanes = Lanes::ByDestination { lanes: 3, lane };
        let mut bytes = Vec::new();
        assert!(write(&fabric, &routes, &mut bytes).unwrap().is_empty());
        let text = String::from_utf8(bytes).unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let lid: u32 = words[1].parse().unwrap();
            assert_eq!((words.len(), words[2].parse::<u32>().unwrap()), (3, lid % 3), "{line}");
            assert!(words[0].starts_with("0x") && words[0].len() == 18, "{line}");
        }
        let nodes = fabric.nodes().len();
        assert_eq!((text.lines().count(), lines(&fabric)), (nodes * (nodes - 1), nodes * nodes));
    }
}
