//! Multicast groups whose tree is cut by marked elements, until it is rebuilt.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::{Fabric, Faults, NodeId, PortNum, Tables};

/// The multicast groups that marks cut apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupDamage {
    /// The number of groups in the multicast tables.
    pub known: usize,
    /// The multicast LIDs of groups whose working members do not all reach each other any more.
    pub cut: Vec<u16>,
}

/// Finds the multicast groups that marks cut apart; `None` when no switch has a multicast table.
pub fn group_damage(fabric: &Fabric, tables: &Tables, faults: &Faults) -> Option<GroupDamage> {
    let mut groups: BTreeMap<u16, Vec<(NodeId, &[PortNum])>> = BTreeMap::new();
    let mut told = false;
    for (node, held) in &tables.nodes {
        let Some(mft) = &held.mft else { continue };
        told = true;
        for (group, ports) in mft.groups.iter().filter(|(_, ports)| !ports.is_empty()) {
            groups.entry(*group).or_default().push((*node, ports));
        }
    }
    let cut = groups.iter().filter(|(_, tree)| is_cut(fabric, tree, faults)).map(|(group, _)| *group);
    told.then(|| GroupDamage { known: groups.len(), cut: cut.collect() })
}

/// Members that were joined and all work must stay joined. A member whose own cable or switch failed is lost and cuts
/// no other member off.
fn is_cut(fabric: &Fabric, tree: &[(NodeId, &[PortNum])], faults: &Faults) -> bool {
    let whole = TreeComponents::new(fabric, tree, &Faults::new());
    let left = TreeComponents::new(fabric, tree, faults);
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    left.members.iter().any(|at| {
        let (before, after) = (whole.find_root(*at), left.find_root(*at));
        *seen.entry(before).or_insert(after) != after
    })
}

/// Switches of a tree, joined where it goes over a cable.
struct TreeComponents {
    towards: Vec<usize>,
    /// Places of switches that have a working member.
    members: BTreeSet<usize>,
}

impl TreeComponents {
    fn new(fabric: &Fabric, tree: &[(NodeId, &[PortNum])], faults: &Faults) -> Self {
        // Tables come in the order of their nodes.
        let place = |node: NodeId| tree.binary_search_by_key(&node, |(known, _)| *known).ok();
        let mut joined = Self { towards: (0..tree.len()).collect(), members: BTreeSet::new() };
        for (at, (node, ports)) in
            tree.iter().enumerate().filter(|(_, (node, _))| !faults.is_node_failed(*node))
        {
            for number in *ports {
                if *number == PortNum::MANAGEMENT {
                    joined.members.insert(at);
                    continue;
                }
                let Some(port) = fabric.port_of(*node, *number) else { continue };
                let works = |link| !faults.is_link_failed(fabric, link);
                if !fabric.port(port).link.is_some_and(works) {
                    continue;
                }
                let Some(peer) = fabric.peer(port).map(|peer| fabric.port(peer).node) else { continue };
                match (fabric.node(peer).is_switch(), place(peer)) {
                    (true, Some(other)) => joined.unite(at, other),
                    // A switch that knows nothing of the group drops what comes.
                    (true, None) => {}
                    (false, _) => {
                        joined.members.insert(at);
                    }
                }
            }
        }
        joined
    }

    fn find_root(&self, mut at: usize) -> usize {
        while let Some(next) = self.towards.get(at).copied().filter(|next| *next != at) {
            at = next;
        }
        at
    }

    /// The path behind is shortened on the way, so that a long chain of switches is walked once.
    fn unite(&mut self, a: usize, b: usize) {
        let end = self.find_root(a).min(self.find_root(b));
        for mut at in [a, b] {
            while let Some(next) = self.towards.get_mut(at).filter(|next| **next != end) {
                let last = *next == at;
                (at, *next) = (*next, end);
                if last {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Mft};

    /// Three switches in a row, 0 - 1 - 2, cut out of a ring; two groups over all of them, one on the first alone.
    fn row() -> (Fabric, Tables) {
        let fabric = generate(&"torus,dims=5".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut tables = Tables::default();
        for (at, node) in [0u32, 1, 2].map(NodeId).into_iter().enumerate() {
            let neighbours = fabric.ports_of(node).filter(|(id, _)| {
                let peer = fabric.peer(*id).map(|peer| fabric.port(peer).node);
                peer.is_some_and(|peer| [0, 1, 2].contains(&peer.0) && fabric.node(peer).is_switch())
            });
            let way: Vec<PortNum> = neighbours.map(|(_, port)| port.number).collect();
            let mft = tables.node_mut(node).mft.get_or_insert_with(Mft::default);
            let with = |more: Vec<PortNum>| way.iter().copied().chain(more).collect::<Vec<_>>();
            // Members at both ends; at the last switch its own port is one.
            mft.groups.insert(
                0xC001,
                with([host(&fabric, node), PortNum(0)][..].iter().copied().take(at).collect()),
            );
            mft.groups.insert(0xC002, with(if at == 1 { vec![] } else { vec![host(&fabric, node)] }));
            if at == 0 {
                mft.groups.insert(0xC003, vec![host(&fabric, node)]);
            }
            mft.groups.insert(0xC004, Vec::new());
        }
        (fabric, tables)
    }

    fn host(fabric: &Fabric, node: NodeId) -> PortNum {
        let mut ports = fabric.ports_of(node).filter(|(id, _)| {
            fabric.peer(*id).is_some_and(|peer| !fabric.node(fabric.port(peer).node).is_switch())
        });
        ports.next().map(|(_, port)| port.number).unwrap()
    }

    fn cut(fabric: &Fabric, tables: &Tables, marks: &[ElementId]) -> Vec<u16> {
        let mut faults = Faults::new();
        marks.iter().for_each(|what| assert!(faults.mark(*what)));
        let found = group_damage(fabric, tables, &faults).unwrap();
        assert_eq!(found.known, 3, "a group without ports is none");
        found.cut
    }

    fn cable(fabric: &Fabric, a: u32, b: u32) -> ElementId {
        let joins = |link: &fabdeck_fabric::Link| {
            let ends = [link.a, link.b].map(|port| fabric.port(port).node.0);
            ends == [a, b] || ends == [b, a]
        };
        ElementId::Link(fabric.links().find(|(_, link)| joins(link)).unwrap().0)
    }

    #[test]
    fn a_cable_of_the_tree_cuts_the_groups_with_members_on_both_sides() {
        let (fabric, tables) = row();
        assert_eq!(cut(&fabric, &tables, &[]), [0; 0]);
        // The first has no member at switch 0.
        assert_eq!(cut(&fabric, &tables, &[cable(&fabric, 0, 1)]), [0xC002]);
        assert_eq!(cut(&fabric, &tables, &[cable(&fabric, 1, 2)]), [0xC001, 0xC002]);
        // Not of the tree.
        assert_eq!(cut(&fabric, &tables, &[cable(&fabric, 2, 3)]), [0; 0]);
    }

    #[test]
    fn a_lost_member_cuts_no_other_member_off() {
        let (fabric, tables) = row();
        let port = fabric.port_of(NodeId(0), host(&fabric, NodeId(0))).unwrap();
        assert_eq!(cut(&fabric, &tables, &[ElementId::Port(port)]), [0; 0]);
        assert_eq!(cut(&fabric, &tables, &[ElementId::Node(NodeId(2))]), [0; 0]);
        // The switch between the members.
        assert_eq!(cut(&fabric, &tables, &[ElementId::Node(NodeId(1))]), [0xC002]);
        let both = [cable(&fabric, 0, 1), ElementId::Port(port)];
        assert_eq!(cut(&fabric, &tables, &both), [0; 0], "who is on the other side is lost anyway");
    }

    #[test]
    fn tables_without_groups_say_nothing_of_them() {
        let (fabric, mut tables) = row();
        tables.nodes.values_mut().for_each(|held| held.mft = None);
        assert_eq!(group_damage(&fabric, &tables, &Faults::new()), None);
        tables.node_mut(NodeId(0)).mft = Some(Mft::default());
        assert_eq!(group_damage(&fabric, &tables, &Faults::new()), Some(GroupDamage::default()));
    }
}
