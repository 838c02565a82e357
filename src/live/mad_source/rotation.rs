//! Reads in turns what no status bit and no counter reports, a share of it in each sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::discovery_state::{DiscoveredNode, node_id};
use super::read_list::{ItemPlace, NodeIdentity, ReadItem, ReadList};
use fabdeck_fabric::{Fabric, PortNum};

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
        items: &ReadList<'_>,
        (now, period): (Duration, Duration),
        who: impl Fn(usize) -> NodeIdentity,
    ) -> Vec<ReadItem> {
        debug_assert!(items.is_in_order(&who), "turns go round by places");
        let share = share_size(items.len(), now.saturating_sub(self.last), period);
        self.last = now;
        // If the next item has vanished, the item after it is next.
        let first = self.next.map_or(0, |next| items.count_before(next, &who));
        let turn = Turn::new(first, share, items.len());
        if share > 0 {
            self.next = turn.next.and_then(|next| Some(items.range(next, 1).first()?.place(&who)));
        }
        [items.range(turn.first, turn.up_to_end), items.range(0, turn.from_start)].concat()
    }

    /// The items that are due now, tables of fresh nodes first, and the fresh nodes among them.
    pub fn take_due_with_fresh(
        &mut self,
        items: &ReadList<'_>,
        times: (Duration, Duration),
        fresh: &BTreeSet<usize>,
        who: impl Fn(usize) -> NodeIdentity,
    ) -> (Vec<ReadItem>, BTreeSet<usize>) {
        let due = self.take_due(items, times, who);
        if fresh.is_empty() {
            return (due, BTreeSet::new());
        }
        let read = choose_fresh(fresh, items.tables_of_nodes());
        let fresh = |item: &ReadItem| item.table_node().is_some_and(|node| read.contains(&node));
        let first = items.table_items(|node| read.contains(&node));
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
        let place = |(node, port): (usize, u8)| (who(node), port);
        debug_assert!(ports.is_sorted_by_key(|port| place(*port)), "turns go round by places");
        let first = self.next_doubtful.map_or(0, |next| ports.partition_point(|port| place(*port) < next));
        let turn = Turn::new(first, share, ports.len());
        if share > 0 {
            self.next_doubtful = turn.next.map(|next| place(ports[next]));
        }
        [&ports[turn.first..][..turn.up_to_end], &ports[..turn.from_start]].concat()
    }
}

/// The share of one sweep in a list that is read cyclically.
struct Turn {
    first: usize,
    /// The number of items from the first one to the end of the list, and then from its start.
    up_to_end: usize,
    from_start: usize,
    /// The next turn's first item; `None` for the first of the list, whichever that will be.
    next: Option<usize>,
}

impl Turn {
    /// `share` items of `all`; a turn that begins behind the end begins at the start.
    fn new(first: usize, share: usize, all: usize) -> Self {
        let first = if first < all { first } else { 0 };
        let up_to_end = share.min(all - first);
        let from_start = share - up_to_end;
        let next = match first + share {
            behind if behind >= all => Some(from_start).filter(|start| *start > 0),
            behind => Some(behind),
        };
        Self { first, up_to_end, from_start, next }
    }
}

/// The fresh nodes to read before their turn. `tables` has nodes with their numbers of tables.
fn choose_fresh(fresh: &BTreeSet<usize>, tables: impl Iterator<Item = (usize, usize)>) -> BTreeSet<usize> {
    let mut counts: BTreeMap<usize, usize> = fresh.iter().map(|node| (*node, 0)).collect();
    for (node, more) in tables {
        if let Some(count) = counts.get_mut(&node) {
            *count += more;
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
        (fabdeck_fabric::NodeKind::Switch, fabdeck_fabric::Guid(node as u64))
    }

    /// Two switches vanish and return, turn by turn. Each of the others is still read within the period.
    #[test]
    fn nodes_that_come_and_go_delay_no_other() {
        let period = Duration::from_secs(300);
        // With an index in a list without them, half of the others would never be read.
        for (gone, blocks) in [([0, 1], 10), ([0, 9], 7), ([4, 8], 10), ([9, 2], 5)] {
            let fabric = Fabric::default();
            let of = |nodes: &mut dyn Iterator<Item = usize>| {
                ReadList::with_blocks(&fabric, nodes.map(|at| (at, blocks)))
            };
            let all = of(&mut (0..10)).range(0, 10 * blocks);
            let mut turns = ReadRotation::default();
            let mut seen: BTreeMap<(usize, u16), Duration> = BTreeMap::new();
            let mut now = Duration::ZERO;
            for sweep in 0..120 {
                now += Duration::from_secs(10);
                let away = gone[sweep % 2];
                let there = of(&mut (0..10).filter(|at| *at != away));
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
        let tables = || (0..100_usize).map(|node| (node, 1000));
        let fresh = BTreeSet::from([7, 20, 21, 50, 51, 99, 4000]);
        let mut looked_at = 0;
        let read = choose_fresh(&fresh, tables().inspect(|_| looked_at += 1));
        assert_eq!((read, looked_at), (BTreeSet::from([7, 20, 21, 50, 51]), 100));
        // A node without tables takes no room, and one with too many is read all the same.
        let few = BTreeSet::from([98, 99, 4000]);
        assert_eq!(choose_fresh(&few, tables()), few);
        let many = [(3, 2 * MAX_FRESH_TABLES), (4, 1)].into_iter();
        assert_eq!(choose_fresh(&BTreeSet::from([3, 4]), many), BTreeSet::from([3]));
    }

    /// Whatever the time between two sweeps, no item waits longer than the period.
    #[test]
    fn everything_has_its_turn_within_the_period() {
        let fabric = Fabric::default();
        let items = ReadList::with_blocks(&fabric, [(0, 1_000)]);
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
