//! What is read again in turns, a share of it at each sweep: everything that no bit and no counter would tell of.

use std::collections::BTreeSet;
use std::time::Duration;

use super::found::{FoundNode, node_id};
use super::lanes::{Pair, arbitrating, pairs_of};
use super::tables::{group_blocks, switches, top};
use crate::fabric::{BLOCK_LIDS, Fabric, PortNum};

/// One thing to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A block of a switch's forwarding table.
    Block(usize, u16),
    /// A block of its groups.
    Groups(usize, u16),
    /// The lanes from one port to another.
    Lanes(Pair),
    /// The arbitration tables of a port.
    Arbitration(usize, u8),
    /// Who is at the other end of a switch port's cable.
    Cable(usize, u8),
    /// The state of a switch port without one.
    Bare(usize, u8),
}

impl Item {
    /// The node that holds it, where it is a table.
    pub fn table_of(self) -> Option<usize> {
        match self {
            Self::Block(node, _) | Self::Groups(node, _) | Self::Arbitration(node, _) => Some(node),
            Self::Lanes(pair) => Some(pair.node),
            Self::Cable(..) | Self::Bare(..) => None,
        }
    }
}

/// Where the turns are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// The next item.
    next: usize,
    /// The next of the ports in doubt.
    next_doubtful: usize,
    /// When the last share was read, by the clock of the port.
    pub last: Duration,
}

/// Tables of nodes that are new or came back: so many are read before their turn at one sweep, those of one node
/// always.
const FRESH: usize = 4096;

/// Ports in doubt that a sweep reads, however many there are; of more an eighth, so all of them within eight sweeps.
const DOUBTFUL: usize = 64;

impl Turns {
    /// What is due now.
    pub fn due(&mut self, items: &[Item], now: Duration, period: Duration) -> Vec<Item> {
        let share = share(items.len(), now.saturating_sub(self.last), period);
        self.last = now;
        take(items, &mut self.next, share)
    }

    /// What is due now, the tables of fresh nodes first; whose tables are among it.
    pub fn due_with_fresh(
        &mut self,
        items: &[Item],
        (now, period): (Duration, Duration),
        fresh: &BTreeSet<usize>,
    ) -> (Vec<Item>, BTreeSet<usize>) {
        let due = self.due(items, now, period);
        if fresh.is_empty() {
            return (due, BTreeSet::new());
        }
        let (mut read, mut taken) = (BTreeSet::new(), 0);
        for node in fresh {
            if !read.is_empty() && taken >= FRESH {
                break;
            }
            taken += items.iter().filter(|item| item.table_of() == Some(*node)).count();
            read.insert(*node);
        }
        let fresh = |item: &Item| item.table_of().is_some_and(|node| read.contains(&node));
        let first = items.iter().copied().filter(fresh);
        let all = first.chain(due.into_iter().filter(|item| !fresh(item))).collect();
        (all, read)
    }

    /// The ports in doubt that have their turn.
    pub fn due_doubtful(&mut self, ports: &[(usize, u8)]) -> Vec<(usize, u8)> {
        let share = ports.len().min(DOUBTFUL.max(ports.len().div_ceil(8)));
        take(ports, &mut self.next_doubtful, share)
    }
}

fn take<T: Copy>(all: &[T], next: &mut usize, share: usize) -> Vec<T> {
    let first = if *next < all.len() { *next } else { 0 };
    *next = first + share;
    if *next >= all.len() {
        *next -= all.len();
    }
    all.iter().cycle().skip(first).take(share).copied().collect()
}

/// How many of so many are read after a time, so that each is read again within the period. What is due falls between
/// two sweeps and waits for the second, hence the shorter time to share them out over.
fn share(total: usize, elapsed: Duration, period: Duration) -> usize {
    if period.is_zero() || elapsed.is_zero() {
        return 0;
    }
    let over = period.saturating_sub(elapsed).as_secs_f64();
    if over <= 0.0 {
        return total;
    }
    ((total as f64 * elapsed.as_secs_f64() / over).ceil() as usize).min(total)
}

/// All tables, and all cables of switches, a cable between two of them once.
pub fn items(fabric: &Fabric, nodes: &[FoundNode]) -> Vec<Item> {
    let heard = || switches(nodes).filter(|(_, node)| !node.kept.silent);
    let blocks = heard().filter_map(|(at, node)| Some((at, top(&node.switch_info?) / BLOCK_LIDS)));
    let blocks = blocks.flat_map(|(at, last)| (0..=last).map(move |block| Item::Block(at, block)));
    let groups =
        heard().flat_map(|(at, node)| (0..group_turns(node)).map(move |block| Item::Groups(at, block)));
    let ports = heard().flat_map(|(at, _)| {
        fabric.ports_of(node_id(at)).filter_map(move |(id, port)| {
            let number = port.number.value();
            match port.peer.map(|peer| (peer, fabric.port(peer).node)) {
                None if number > 0 => Some(Item::Bare(at, number)),
                Some((peer, node)) if !fabric.node(node).is_switch() || id <= peer => {
                    (!nodes[node.index()].kept.silent).then_some(Item::Cable(at, number))
                }
                _ => None,
            }
        })
    });
    let answering = || {
        let lost = |node: &FoundNode| node.kept.silent || node.kept.cut_off;
        nodes.iter().enumerate().filter(move |(_, node)| !lost(node))
    };
    let lanes = answering().flat_map(|(at, node)| pairs_of(fabric, at, node)).map(Item::Lanes);
    let arbitration = answering().flat_map(|(at, node)| {
        arbitrating(fabric, at, node).into_iter().map(move |port| Item::Arbitration(at, port))
    });
    blocks.chain(ports).chain(groups).chain(arbitration).chain(lanes).collect()
}

/// The blocks of a switch that may hold groups: as far as it says, and where it does not, one more than it was seen to
/// hold, for who makes a group takes the next free LID.
fn group_turns(node: &FoundNode) -> u16 {
    let Some(info) = &node.switch_info else { return 0 };
    match info.multicast_top.get() {
        0 => group_blocks(info).min(node.kept.last_groups.map_or(0, |block| block + 1) + 1),
        _ => group_blocks(info),
    }
}

/// Ports whose state may change without a word: what is not up (a manager that is quicker than the sweeps takes the
/// switch's word back before it is read), what has no address yet, and all of a switch whose word was taken back by
/// nobody, for it says nothing more, or whose counters nobody gives.
pub fn doubtful(fabric: &Fabric, nodes: &[FoundNode]) -> Vec<(usize, u8)> {
    use crate::fabric::{PhysicalState, PortState};
    let of_node = |(at, node): (usize, &FoundNode)| {
        let switch = fabric.node(node_id(at)).is_switch();
        let standing = node.kept.state_change || node.kept.mute;
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
    nodes.iter().enumerate().filter(|(_, node)| !node.kept.silent).flat_map(of_node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the time between two sweeps, nothing waits longer than the period.
    #[test]
    fn everything_has_its_turn_within_the_period() {
        let items: Vec<Item> = (0..1_000).map(|block| Item::Block(0, block)).collect();
        let period = Duration::from_secs(300);
        for seconds in [1.0, 3.3, 10.0, 60.0, 149.0, 200.0, 301.0] {
            let (mut turns, mut seen) = (Turns::default(), vec![Duration::ZERO; items.len()]);
            let step = Duration::from_secs_f64(seconds);
            let mut now = Duration::ZERO;
            while now < period * 4 {
                now += step;
                let due = turns.due(&items, now, period);
                // The share is no more than what the period asks for.
                let most = (1_000.0 * seconds / (300.0 - seconds).max(1.0)).ceil() as usize;
                assert!(due.len() <= most.min(1_000), "{seconds} s: {}", due.len());
                for item in due {
                    let Item::Block(_, block) = item else { unreachable!() };
                    let waited = now - seen[usize::from(block)];
                    assert!(waited <= period.max(step), "{seconds} s: block {block} waited {waited:?}");
                    seen[usize::from(block)] = now;
                }
            }
            assert!(seen.iter().all(|time| now - *time <= period.max(step)), "{seconds} s");
        }
        let mut off = Turns::default();
        assert!(off.due(&items, period, Duration::ZERO).is_empty());
    }

    #[test]
    fn ports_in_doubt_are_few_at_a_time() {
        let ports: Vec<(usize, u8)> = (0..4_000).map(|at| (at, 1)).collect();
        let mut turns = Turns::default();
        let seen: std::collections::BTreeSet<_> =
            (0..8).flat_map(|_| turns.due_doubtful(&ports)).map(|(at, _)| at).collect();
        assert_eq!(seen.len(), 4_000);
        assert_eq!(turns.due_doubtful(&ports[..64]).len(), 64);
        assert_eq!(turns.due_doubtful(&ports[..65]).len(), 64);
        assert!(turns.due_doubtful(&[]).is_empty());
    }
}
