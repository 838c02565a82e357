//! What sweeps read in turns, in its order. A large fabric has millions of items, so the list keeps their numbers and
//! makes those that are wanted.

use super::discovery_state::{DiscoveredNode, node_id};
use super::lanes::{LanePair, arbitrating_ports, pair_count, pairs_of};
use super::tables::{group_blocks, last_used_lid, switch_nodes};
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Guid, NodeKind};

/// The identity of a node, which does not depend on its index. Lists of nodes are in this order.
pub type NodeIdentity = (NodeKind, Guid);

/// One part to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadItem {
    /// A block of a switch's forwarding table.
    Block(usize, u16),
    /// A block of a switch's multicast groups.
    Groups(usize, u16),
    /// The lanes from one port to another.
    Lanes(LanePair),
    /// The arbitration tables of a port.
    Arbitration(usize, u8),
    /// Whether adaptive routing is on at a switch.
    Adaptive(usize),
    /// The peer of a switch port with a cable.
    Cable(usize, u8),
    /// The state of a switch port without a cable.
    Bare(usize, u8),
}

impl ReadItem {
    /// The node of the table, if the item is part of a table.
    pub fn table_node(self) -> Option<usize> {
        match self {
            Self::Block(node, _)
            | Self::Groups(node, _)
            | Self::Arbitration(node, _)
            | Self::Adaptive(node) => Some(node),
            Self::Lanes(pair) => Some(pair.node),
            Self::Cable(..) | Self::Bare(..) => None,
        }
    }

    /// The position of the item in the order of all items, whichever others exist.
    pub fn place(self, who: impl Fn(usize) -> NodeIdentity) -> ItemPlace {
        let (kind, node, number, from) = match self {
            Self::Block(node, block) => (ItemKind::Block, node, block, 0),
            Self::Cable(node, port) | Self::Bare(node, port) => (ItemKind::Port, node, port.into(), 0),
            Self::Groups(node, block) => (ItemKind::Groups, node, block, 0),
            Self::Arbitration(node, port) => (ItemKind::Arbitration, node, port.into(), 0),
            Self::Lanes(pair) => (ItemKind::Lanes, pair.node, pair.output_port().into(), pair.input_port()),
            Self::Adaptive(node) => (ItemKind::Adaptive, node, 0, 0),
        };
        ItemPlace { kind, node: who(node), number, from }
    }
}

/// The kinds of items in the order in which they are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ItemKind {
    Block,
    Port,
    Groups,
    Arbitration,
    Lanes,
    Adaptive,
}

/// The position of an item in a [`ReadList`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ItemPlace {
    kind: ItemKind,
    node: NodeIdentity,
    number: u16,
    from: u8,
}

/// The items of one kind at one node.
#[derive(Clone, Copy, Debug)]
struct NodeItems {
    kind: ItemKind,
    node: usize,
    /// The number of items before these in the list.
    before: usize,
    count: usize,
}

/// All tables, all cables of switches (a cable between two of them once), and the switches to ask for adaptive routing.
/// Items of the same kind follow each other in the order of their nodes.
#[derive(Clone, Debug)]
pub struct ReadList<'f> {
    fabric: &'f Fabric,
    nodes: &'f [DiscoveredNode],
    parts: Vec<NodeItems>,
}

impl<'f> ReadList<'f> {
    /// Counts the items. `choosing` has the switches to ask for adaptive routing.
    pub fn new(fabric: &'f Fabric, nodes: &'f [DiscoveredNode], choosing: &[usize]) -> Self {
        let mut list = Self { fabric, nodes, parts: Vec::new() };
        let answering_switches = || switch_nodes(nodes).filter(|(_, node)| !node.memory.silent);
        for (at, node) in answering_switches() {
            let blocks = node.switch_info.map(|info| usize::from(last_used_lid(&info) / BLOCK_LIDS) + 1);
            list.push(ItemKind::Block, at, blocks.unwrap_or(0));
        }
        for (at, _) in answering_switches() {
            list.push(ItemKind::Port, at, ports_to_read(fabric, nodes, at).count());
        }
        for (at, node) in answering_switches() {
            list.push(ItemKind::Groups, at, group_block_count(node).into());
        }
        let lost = |node: &DiscoveredNode| node.memory.silent || node.memory.cut_off;
        let answering = || nodes.iter().enumerate().filter(|(_, node)| !lost(node));
        for (at, node) in answering() {
            list.push(ItemKind::Arbitration, at, arbitrating_ports(fabric, at, node).len());
        }
        for (at, node) in answering() {
            list.push(ItemKind::Lanes, at, pair_count(fabric, at, node));
        }
        for at in choosing.iter().filter(|at| !nodes[**at].memory.silent) {
            list.push(ItemKind::Adaptive, *at, 1);
        }
        list
    }

    /// A list of forwarding blocks, by node and their number.
    #[cfg(test)]
    pub fn with_blocks(fabric: &'f Fabric, blocks: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut list = Self { fabric, nodes: &[], parts: Vec::new() };
        blocks.into_iter().for_each(|(node, count)| list.push(ItemKind::Block, node, count));
        list
    }

    fn push(&mut self, kind: ItemKind, node: usize, count: usize) {
        let before = self.len();
        self.parts.extend((count > 0).then_some(NodeItems { kind, node, before, count }));
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.before + part.count)
    }

    /// Whether the list has as many items as it counts, and each at its place.
    pub fn is_in_order(&self, who: impl Fn(usize) -> NodeIdentity) -> bool {
        let all = self.range(0, self.len());
        all.len() == self.len() && all.is_sorted_by_key(|item| item.place(&who))
    }

    /// Some items, from this one on.
    pub fn range(&self, from: usize, count: usize) -> Vec<ReadItem> {
        let first = self.parts.partition_point(|part| part.before + part.count <= from);
        let mut items = Vec::with_capacity(count);
        for part in &self.parts[first..] {
            if items.len() == count {
                break;
            }
            let skipped = from.saturating_sub(part.before);
            items.extend(self.items_of(*part).skip(skipped).take(count - items.len()));
        }
        items
    }

    /// The number of items at places before this one.
    pub fn count_before(&self, place: ItemPlace, who: impl Fn(usize) -> NodeIdentity) -> usize {
        let key = (place.kind, place.node);
        let part = self.parts.partition_point(|part| (part.kind, who(part.node)) < key);
        let Some(part) = self.parts.get(part) else { return self.len() };
        part.before + self.items_of(*part).take_while(|item| item.place(&who) < place).count()
    }

    /// The number of table items of each node, once for each kind.
    pub fn tables_of_nodes(&self) -> impl Iterator<Item = (usize, usize)> {
        let tables = self.parts.iter().filter(|part| part.kind != ItemKind::Port);
        tables.map(|part| (part.node, part.count))
    }

    /// The table items of these nodes.
    pub fn table_items(&self, is_wanted: impl Fn(usize) -> bool) -> impl Iterator<Item = ReadItem> {
        let tables =
            self.parts.iter().filter(move |part| part.kind != ItemKind::Port && is_wanted(part.node));
        tables.flat_map(|part| self.items_of(*part))
    }

    fn items_of(&self, part: NodeItems) -> Box<dyn Iterator<Item = ReadItem> + '_> {
        let (at, fabric) = (part.node, self.fabric);
        let blocks = 0..part.count as u16;
        match part.kind {
            ItemKind::Block => Box::new(blocks.map(move |block| ReadItem::Block(at, block))),
            ItemKind::Groups => Box::new(blocks.map(move |block| ReadItem::Groups(at, block))),
            ItemKind::Port => Box::new(ports_to_read(fabric, self.nodes, at)),
            ItemKind::Arbitration => {
                let ports = arbitrating_ports(fabric, at, &self.nodes[at]);
                Box::new(ports.into_iter().map(move |port| ReadItem::Arbitration(at, port)))
            }
            ItemKind::Lanes => {
                Box::new(pairs_of(fabric, at, &self.nodes[at]).into_iter().map(ReadItem::Lanes))
            }
            ItemKind::Adaptive => Box::new(std::iter::once(ReadItem::Adaptive(at))),
        }
    }
}

/// The ports of a switch that no status bit reports: those without a cable, and the peers of those with one. A cable
/// between two switches is read at its lower port.
fn ports_to_read<'f>(
    fabric: &'f Fabric,
    nodes: &'f [DiscoveredNode],
    at: usize,
) -> impl Iterator<Item = ReadItem> + 'f {
    fabric.ports_of(node_id(at)).filter_map(move |(id, port)| {
        let number = port.number.value();
        match port.peer.map(|peer| (peer, fabric.port(peer).node)) {
            None if number > 0 => Some(ReadItem::Bare(at, number)),
            Some((peer, node)) if !fabric.node(node).is_switch() || id <= peer => {
                (!nodes[node.index()].memory.silent).then_some(ReadItem::Cable(at, number))
            }
            _ => None,
        }
    })
}

/// Number of group blocks of a switch, by the top in its SwitchInfo. If the switch reports no top, one more than the
/// last used block: a new group takes the next free LID.
fn group_block_count(node: &DiscoveredNode) -> u16 {
    let Some(info) = &node.switch_info else { return 0 };
    match info.multicast_top.get() {
        0 => group_blocks(info).min(node.memory.last_groups.map_or(0, |block| block + 1) + 1),
        _ => group_blocks(info),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(node: usize) -> NodeIdentity {
        (NodeKind::Switch, Guid(node as u64))
    }

    #[test]
    fn every_range_is_that_of_the_whole_list() {
        let fabric = Fabric::default();
        let list = ReadList::with_blocks(&fabric, [(0, 3), (1, 0), (2, 1), (5, 4)]);
        let all = list.range(0, 8);
        assert_eq!((list.len(), all.len()), (8, 8));
        for from in 0..=8 {
            for count in 0..=8 - from {
                assert_eq!(list.range(from, count), all[from..from + count], "{count} from {from}");
            }
        }
    }

    /// Places of items that are not in the list have a position too: a node may vanish between two sweeps.
    #[test]
    fn a_place_has_as_many_before_it_as_there_are_smaller_ones() {
        let fabric = Fabric::default();
        let blocks = [(0, 3), (2, 1), (5, 4)];
        let list = ReadList::with_blocks(&fabric, blocks);
        let all = list.range(0, list.len());
        let others = (0..7).flat_map(|node| (0..6).map(move |block| ReadItem::Block(node, block)));
        for place in others.chain([ReadItem::Adaptive(0)]).map(|item| item.place(who)) {
            let before = all.iter().filter(|item| item.place(who) < place).count();
            assert_eq!(list.count_before(place, who), before, "{place:?}");
        }
    }
}
