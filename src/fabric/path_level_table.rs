//! The service levels of paths as a list of (source node, destination LID) has them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fabric, Guid, Lid, NodeId, NodeKind, PortId, PortNum, ServiceLevel, ServiceLevels};

/// Service levels path by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathLevelTable {
    /// The service level by the GUID of the source node and by destination LID.
    pub sources: BTreeMap<Guid, BTreeMap<Lid, ServiceLevel>>,
}

/// A [`PathLevelTable`] applied to a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedLevels {
    /// The levels by source switch; the sources of one switch may differ.
    pub levels: ServiceLevels,
    /// Pairs (source node, LID) that the table does not list.
    pub unlisted: u64,
    /// The first of them.
    pub first_unlisted: Option<(NodeId, Lid)>,
    /// Pairs (source switch, LID) of which the table lists some sources only.
    pub partly_listed: u64,
}

/// A node that sends into a switch.
struct Sender {
    node: NodeId,
    /// Its ports at the switch: one but for adapters that are cabled to it several times.
    ports: Vec<PortId>,
}

impl PathLevelTable {
    /// The level of a path, where it is listed.
    pub fn level(&self, source: Guid, lid: Lid) -> Option<ServiceLevel> {
        self.sources.get(&source)?.get(&lid).copied()
    }

    /// The number of listed paths.
    pub fn count(&self) -> usize {
        self.sources.values().map(BTreeMap::len).sum()
    }

    /// Applies the table to the paths of a fabric: those between terminals, with `switches` also those from and to
    /// switches.
    pub fn apply_to(&self, fabric: &Fabric, switches: bool) -> ListedLevels {
        let top = fabric.top_lid();
        let mut listed = ListedLevels {
            levels: ServiceLevels::unknown(fabric.switch_count(), top),
            unlisted: 0,
            first_unlisted: None,
            partly_listed: 0,
        };
        let ends = destinations(fabric, switches);
        for (switch, _) in fabric.switches() {
            let senders = senders(fabric, switch, switches);
            let alone: BTreeSet<PortId> = senders.iter().filter_map(Sender::only_port).collect();
            let mut had = vec![0; top.map_or(0, |lid| lid.index() + 1)];
            for sender in &senders {
                let Some(row) = self.sources.get(&fabric.node(sender.node).guid()) else { continue };
                for (lid, level) in row {
                    let end = fabric.port_by_lid(*lid).filter(|end| sender.has_path_to(*end));
                    if let Some(had) = had.get_mut(lid.index()).filter(|_| end.is_some()) {
                        *had += 1;
                        listed.levels.add(switch.0, *lid, *level);
                    }
                }
            }
            for (lid, end) in &ends {
                let wanted = senders.len() - usize::from(alone.contains(end));
                let missing = wanted.saturating_sub(had[lid.index()]);
                if missing == 0 {
                    continue;
                }
                listed.unlisted += missing as u64;
                listed.partly_listed += u64::from(missing < wanted);
                let first = || senders.iter().find(|sender| self.is_missing(fabric, sender, (*lid, *end)));
                if listed.first_unlisted.is_none() {
                    listed.first_unlisted = first().map(|sender| (sender.node, *lid));
                }
            }
        }
        listed
    }

    fn is_missing(&self, fabric: &Fabric, sender: &Sender, (lid, end): (Lid, PortId)) -> bool {
        sender.has_path_to(end) && self.level(fabric.node(sender.node).guid(), lid).is_none()
    }
}

impl Sender {
    fn only_port(&self) -> Option<PortId> {
        self.ports.first().copied().filter(|_| self.ports.len() == 1)
    }

    /// A port sends nothing to itself.
    fn has_path_to(&self, end: PortId) -> bool {
        self.ports.iter().any(|port| *port != end)
    }
}

/// What sends into a switch; with `switches` the switch too.
fn senders(fabric: &Fabric, switch: NodeId, switches: bool) -> Vec<Sender> {
    let mut senders: Vec<Sender> = Vec::new();
    let own = fabric.port_of(switch, PortNum::MANAGEMENT).filter(|_| switches);
    senders.extend(own.map(|port| Sender { node: switch, ports: vec![port] }));
    for (_, port) in fabric.ports_of(switch) {
        let Some(peer) = port.peer else { continue };
        let (node, addressed) = (fabric.port(peer).node, fabric.port(peer).facts.lid.is_some());
        if fabric.node(node).facts.kind == NodeKind::Switch || !addressed {
            continue;
        }
        match senders.iter_mut().find(|sender| sender.node == node) {
            Some(sender) => sender.ports.push(peer),
            None => senders.push(Sender { node, ports: vec![peer] }),
        }
    }
    senders
}

/// Every LID of a terminal that is cabled to a switch; with `switches` those of switches too.
fn destinations(fabric: &Fabric, switches: bool) -> Vec<(Lid, PortId)> {
    let mut ends = Vec::new();
    for (id, port) in fabric.ports() {
        let wanted = match fabric.node(port.node).is_switch() {
            true => switches && port.number == PortNum::MANAGEMENT,
            false => port.peer.is_some_and(|peer| fabric.node(fabric.port(peer).node).is_switch()),
        };
        let Some(base) = port.facts.lid.filter(|_| wanted) else { continue };
        let lids = (0..u32::from(port.facts.lmc.lid_count())).map(|more| u32::from(base.value()) + more);
        ends.extend(lids.filter_map(Lid::new).map(|lid| (lid, id)));
    }
    ends.sort_unstable();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, NodeFacts};

    /// Two switches, joined, with two hosts each.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new();
        let node = |builder: &mut FabricBuilder, kind, guid, ports| {
            builder.add_node(NodeFacts::new(kind, Guid(guid), ports, String::new())).unwrap()
        };
        let switches = [1, 2].map(|guid| {
            let switch = node(&mut builder, NodeKind::Switch, guid, 3);
            builder.port(switch, PortNum::MANAGEMENT).lid = Lid::new(guid as u32);
            switch
        });
        builder.connect((switches[0], PortNum(3)), (switches[1], PortNum(3))).unwrap();
        for (at, switch) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
            let host = node(&mut builder, NodeKind::ChannelAdapter, 10 + at, 1);
            builder.port(host, PortNum(1)).lid = Lid::new(10 + at as u32);
            builder.connect((switches[switch], PortNum(1 + at as u8 % 2)), (host, PortNum(1))).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn a_path_that_is_not_listed_is_counted() {
        let fabric = fabric();
        let level = |level| ServiceLevel::new(level).unwrap();
        let ends = destinations(&fabric, false);
        let guid = |port: PortId| fabric.node(fabric.port(port).node).guid();
        let mut table = PathLevelTable::default();
        for (_, from) in &ends {
            let to = ends.iter().filter(|(_, to)| to != from);
            table.sources.insert(guid(*from), to.map(|(lid, _)| (*lid, level(2))).collect());
        }
        let all = table.apply_to(&fabric, false);
        assert_eq!((all.unlisted, all.partly_listed, all.first_unlisted), (0, 0, None));
        assert_eq!(all.levels.all_bits(), 0b100);
        // A source that the list does not have, beside one that it has, with another level for one LID.
        let (gone, stays) = (ends[0].1, ends[1].1);
        assert_eq!(fabric.peer(gone).map(|port| fabric.port(port).node), {
            fabric.peer(stays).map(|port| fabric.port(port).node)
        });
        table.sources.remove(&guid(gone));
        table.sources.get_mut(&guid(stays)).unwrap().insert(ends[3].0, level(5));
        let some = table.apply_to(&fabric, false);
        let switch = fabric.port(fabric.peer(gone).unwrap()).node;
        assert_eq!((some.unlisted, some.partly_listed), (3, 2));
        assert_eq!(some.first_unlisted, Some((fabric.port(gone).node, ends[1].0)));
        let told = [ends[0].0, ends[1].0, ends[3].0].map(|lid| some.levels.level_bits(switch.0, lid));
        assert_eq!(told, [0b100, 0, 0b10_0000]);
        assert_eq!(
            destinations(&fabric, true).len(),
            ends.len() + 2,
            "two switches, by their management ports"
        );
        // Of switches nothing is listed.
        let with = table.apply_to(&fabric, true);
        assert!(with.unlisted > some.unlisted && with.partly_listed > some.partly_listed);
    }
}
