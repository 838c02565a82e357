//! Reads in turns what no status bit and no counter reports, a share of it in each sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::discovery_state::{DiscoveredNode, node_id};
use super::lanes::{LanePair, arbitrating_ports, pairs_of};
use super::tables::{group_blocks, last_used_lid, switch_nodes};
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Guid, NodeKind, PortNum};

/// The identity of a node, which does not depend on its index. Lists of nodes are in this order.
type NodeIdentity = (NodeKind, Guid);

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
    fn place(self, who: impl Fn(usize) -> NodeIdentity) -> ItemPlace {
        let (table, node, number, from) = match self {
            Self::Block(node, block) => (0, node, block, 0),
            Self::Cable(node, port) | Self::Bare(node, port) => (1, node, port.into(), 0),
            Self::Groups(node, block) => (2, node, block, 0),
            Self::Arbitration(node, port) => (3, node, port.into(), 0),
            Self::Lanes(pair) => (4, pair.node, pair.output_port().into(), pair.input_port()),
            Self::Adaptive(node) => (5, node, 0, 0),
        };
        ItemPlace { table, node: who(node), number, from }
    }
}

/// The position of an item, in the order of [`list_items`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ItemPlace {
    table: u8,
    node: NodeIdentity,
    number: u16,
    from: u8,
}

/// The state of the turns. Each sweep makes new lists without silent nodes, so the next item is remembered by its
/// identity and not by its index.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadRotation {
    /// The next item; `None` for the first.
    next: Option<ItemPlace>,
    /// The next of the doubtful ports.
    next_doubtful: Option<(NodeIdentity, u8)>,
    /// When the last share was read, by the clock of the port.
    pub last: Duration,
}

/// Number of tables of new or returned nodes that a sweep reads before their turn. The tables of one such node are
/// always read.
const MAX_FRESH_TABLES: usize = 4096;

/// Number of doubtful ports that a sweep reads. Of more than eight times as many it reads an eighth, so all come within
/// eight sweeps.
const DOUBTFUL_PORTS_PER_SWEEP: usize = 64;

impl ReadRotation {
    /// The items that are due now. `who` gives the identity of a node.
    pub fn take_due(
        &mut self,
        items: &[ReadItem],
        (now, period): (Duration, Duration),
        who: impl Fn(usize) -> NodeIdentity,
    ) -> Vec<ReadItem> {
        let share = share_size(items.len(), now.saturating_sub(self.last), period);
        self.last = now;
        take_share(items, &mut self.next, share, |item| item.place(&who))
    }

    /// The items that are due now, tables of fresh nodes first, and the fresh nodes among them.
    pub fn take_due_with_fresh(
        &mut self,
        items: &[ReadItem],
        times: (Duration, Duration),
        fresh: &BTreeSet<usize>,
        who: impl Fn(usize) -> NodeIdentity,
    ) -> (Vec<ReadItem>, BTreeSet<usize>) {
        let due = self.take_due(items, times, who);
        if fresh.is_empty() {
            return (due, BTreeSet::new());
        }
        let read = choose_fresh(fresh, items.iter().filter_map(|item| item.table_node()));
        let fresh = |item: &ReadItem| item.table_node().is_some_and(|node| read.contains(&node));
        let first = items.iter().copied().filter(fresh);
        let all = first.chain(due.into_iter().filter(|item| !fresh(item))).collect();
        (all, read)
    }

    /// The doubtful ports that are due.
    pub fn take_due_doubtful(
        &mut self,
        ports: &[(usize, u8)],
        who: impl Fn(usize) -> NodeIdentity,
    ) -> Vec<(usize, u8)> {
        let share = ports.len().min(DOUBTFUL_PORTS_PER_SWEEP.max(ports.len().div_ceil(8)));
        take_share(ports, &mut self.next_doubtful, share, |(node, port)| (who(node), port))
    }
}

/// The fresh nodes to read before their turn. `tables` has the node of each table.
fn choose_fresh(fresh: &BTreeSet<usize>, tables: impl Iterator<Item = usize>) -> BTreeSet<usize> {
    let mut counts: BTreeMap<usize, usize> = fresh.iter().map(|node| (*node, 0)).collect();
    for node in tables {
        if let Some(count) = counts.get_mut(&node) {
            *count += 1;
        }
    }
    let (mut read, mut taken) = (BTreeSet::new(), 0);
    for (node, count) in counts {
        if !read.is_empty() && taken >= MAX_FRESH_TABLES {
            break;
        }
        taken += count;
        read.insert(node);
    }
    read
}

/// A share of the sorted list, from the next item on, cyclically.
fn take_share<T: Copy, P: Ord + Copy>(
    all: &[T],
    next: &mut Option<P>,
    share: usize,
    place: impl Fn(T) -> P,
) -> Vec<T> {
    debug_assert!(all.is_sorted_by_key(|one| place(*one)), "turns go round by places");
    // If the next item has vanished, the item after it is next.
    let first = next.map_or(0, |next| all.partition_point(|one| place(*one) < next));
    let first = if first < all.len() { first } else { 0 };
    if share > 0 {
        *next = match first + share {
            behind if behind >= all.len() => (behind > all.len()).then(|| place(all[behind - all.len()])),
            behind => Some(place(all[behind])),
        };
    }
    all.iter().cycle().skip(first).take(share).copied().collect()
}

/// The number of items to read after `elapsed`, so that each is read again within the period. An item becomes due
/// between two sweeps and waits for the second, so the items are spread over `period - elapsed`.
fn share_size(total: usize, elapsed: Duration, period: Duration) -> usize {
    if period.is_zero() || elapsed.is_zero() {
        return 0;
    }
    let over = period.saturating_sub(elapsed).as_secs_f64();
    if over <= 0.0 {
        return total;
    }
    ((total as f64 * elapsed.as_secs_f64() / over).ceil() as usize).min(total)
}

/// All tables, all cables of switches (a cable between two of them once), and the switches to ask for adaptive routing.
pub fn list_items(fabric: &Fabric, nodes: &[DiscoveredNode], choosing: &[usize]) -> Vec<ReadItem> {
    let heard = || switch_nodes(nodes).filter(|(_, node)| !node.memory.silent);
    let blocks = heard().filter_map(|(at, node)| Some((at, last_used_lid(&node.switch_info?) / BLOCK_LIDS)));
    let blocks = blocks.flat_map(|(at, last)| (0..=last).map(move |block| ReadItem::Block(at, block)));
    let groups = heard()
        .flat_map(|(at, node)| (0..group_block_count(node)).map(move |block| ReadItem::Groups(at, block)));
    let ports = heard().flat_map(|(at, _)| {
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
    });
    let answering = || {
        let lost = |node: &DiscoveredNode| node.memory.silent || node.memory.cut_off;
        nodes.iter().enumerate().filter(move |(_, node)| !lost(node))
    };
    let lanes = answering().flat_map(|(at, node)| pairs_of(fabric, at, node)).map(ReadItem::Lanes);
    let arbitration = answering().flat_map(|(at, node)| {
        arbitrating_ports(fabric, at, node).into_iter().map(move |port| ReadItem::Arbitration(at, port))
    });
    let choosing = choosing.iter().filter(|at| !nodes[**at].memory.silent).map(|at| ReadItem::Adaptive(*at));
    blocks.chain(ports).chain(groups).chain(arbitration).chain(lanes).chain(choosing).collect()
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

/// Ports whose state may change without a status bit. A port that is not up: a fast subnet manager clears
/// PortStateChange before a sweep reads it. A port without a LID. All ports of a switch whose PortStateChange stays
/// set, or whose counters do not answer.
pub fn doubtful_ports(fabric: &Fabric, nodes: &[DiscoveredNode]) -> Vec<(usize, u8)> {
    use fabdeck_fabric::{PhysicalState, PortState};
    let of_node = |(at, node): (usize, &DiscoveredNode)| {
        let switch = fabric.node(node_id(at)).is_switch();
        let standing = node.memory.state_change || node.memory.mute;
        let ports = fabric.ports_of(node_id(at)).filter(move |(_, port)| {
            let up = port.facts.state == Some(PortState::Active)
                && port.facts.physical_state == Some(PhysicalState::LinkUp);
            let addressed = !switch || port.number == PortNum::MANAGEMENT;
            match (switch && !addressed, port.peer.is_some()) {
                (true, false) => true,
                (true, true) => standing || !up,
                (false, cabled) => (switch || cabled) && port.facts.lid.is_none(),
            }
        });
        ports.map(move |(_, port)| (at, port.number.value())).collect::<Vec<_>>()
    };
    nodes.iter().enumerate().filter(|(_, node)| !node.memory.silent).flat_map(of_node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes in the order of their GUIDs.
    fn who(node: usize) -> NodeIdentity {
        (NodeKind::Switch, Guid(node as u64))
    }

    /// Two switches vanish and return, turn by turn. Each of the others is still read within the period.
    #[test]
    fn nodes_that_come_and_go_delay_no_other() {
        let period = Duration::from_secs(300);
        // With an index in a list without them, half of the others would never be read.
        for (gone, blocks) in [([0, 1], 10), ([0, 9], 7), ([4, 8], 10), ([9, 2], 5)] {
            let all: Vec<ReadItem> =
                (0..10).flat_map(|at| (0..blocks).map(move |b| ReadItem::Block(at, b))).collect();
            let mut turns = ReadRotation::default();
            let mut seen: BTreeMap<(usize, u16), Duration> = BTreeMap::new();
            let mut now = Duration::ZERO;
            for sweep in 0..120 {
                now += Duration::from_secs(10);
                let away = gone[sweep % 2];
                let there: Vec<ReadItem> =
                    all.iter().copied().filter(|item| item.table_node() != Some(away)).collect();
                for item in turns.take_due(&there, (now, period), who) {
                    let ReadItem::Block(at, block) = item else { unreachable!() };
                    seen.insert((at, block), now);
                }
                let late = all.iter().filter(|item| item.table_node().is_none_or(|at| !gone.contains(&at)));
                for item in late.filter(|_| now > period) {
                    let ReadItem::Block(at, block) = *item else { unreachable!() };
                    let last = seen.get(&(at, block)).copied().unwrap_or_default();
                    assert!(
                        now - last <= period,
                        "{gone:?}: block {block} of {at} waits since {last:?} at {now:?}"
                    );
                }
            }
        }
    }

    /// One pass counts the tables of all fresh nodes. Beyond the limit, nodes wait.
    #[test]
    fn fresh_nodes_are_counted_once_and_read_up_to_a_number_of_tables() {
        let tables = || (0..100_usize).flat_map(|node| std::iter::repeat_n(node, 1000));
        let fresh = BTreeSet::from([7, 20, 21, 50, 51, 99, 4000]);
        let mut looked_at = 0;
        let read = choose_fresh(&fresh, tables().inspect(|_| looked_at += 1));
        assert_eq!((read, looked_at), (BTreeSet::from([7, 20, 21, 50, 51]), 100_000));
        // A node without tables takes no room, and one with too many is read all the same.
        let few = BTreeSet::from([98, 99, 4000]);
        assert_eq!(choose_fresh(&few, tables()), few);
        let many = std::iter::repeat_n(3_usize, 2 * MAX_FRESH_TABLES).chain([4]);
        assert_eq!(choose_fresh(&BTreeSet::from([3, 4]), many), BTreeSet::from([3]));
    }

    /// Whatever the time between two sweeps, no item waits longer than the period.
    #[test]
    fn everything_has_its_turn_within_the_period() {
        let items: Vec<ReadItem> = (0..1_000).map(|block| ReadItem::Block(0, block)).collect();
        let period = Duration::from_secs(300);
        for seconds in [1.0, 3.3, 10.0, 60.0, 149.0, 200.0, 301.0] {
            let (mut turns, mut seen) = (ReadRotation::default(), vec![Duration::ZERO; items.len()]);
            let step = Duration::from_secs_f64(seconds);
            let mut now = Duration::ZERO;
            while now < period * 4 {
                now += step;
                let due = turns.take_due(&items, (now, period), who);
                // The share is no larger than the period requires.
                let most = (1_000.0 * seconds / (300.0 - seconds).max(1.0)).ceil() as usize;
                assert!(due.len() <= most.min(1_000), "{seconds} s: {}", due.len());
                for item in due {
                    let ReadItem::Block(_, block) = item else { unreachable!() };
                    let waited = now - seen[usize::from(block)];
                    assert!(waited <= period.max(step), "{seconds} s: block {block} waited {waited:?}");
                    seen[usize::from(block)] = now;
                }
            }
            assert!(seen.iter().all(|time| now - *time <= period.max(step)), "{seconds} s");
        }
        let mut off = ReadRotation::default();
        assert!(off.take_due(&items, (period, Duration::ZERO), who).is_empty());
    }

    #[test]
    fn ports_in_doubt_are_few_at_a_time() {
        let ports: Vec<(usize, u8)> = (0..4_000).map(|at| (at, 1)).collect();
        let mut turns = ReadRotation::default();
        let seen: std::collections::BTreeSet<_> =
            (0..8).flat_map(|_| turns.take_due_doubtful(&ports, who)).map(|(at, _)| at).collect();
        assert_eq!(seen.len(), 4_000);
        assert_eq!(turns.take_due_doubtful(&ports[..64], who).len(), 64);
        assert_eq!(turns.take_due_doubtful(&ports[..65], who).len(), 64);
        assert!(turns.take_due_doubtful(&[], who).is_empty());
    }
}
