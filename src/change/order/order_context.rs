//! What is the same for every destination: the senders, and which switches cables join.

use fabdeck_fabric::NO_PATH;
use fabdeck_routing::trees::PortMap;
use fabdeck_routing::{Destination, Problem};

/// No entry, or an entry that leads to no other switch.
pub(super) const NO_NEXT: u32 = u32::MAX;

/// The destination is at this switch.
pub(super) const AT_DESTINATION: u32 = u32::MAX - 1;

/// A fabric before the writes.
#[derive(Debug)]
pub(super) struct OrderContext<'p> {
    pub(super) problem: &'p Problem<'p>,
    ways: PortMap,
    part: Vec<u32>,
    /// Number of switches in each connected part.
    parts: Vec<u32>,
    /// Number of terminals in scope at each switch.
    ends: Vec<u64>,
    switches: bool,
}

impl<'p> OrderContext<'p> {
    /// `switches`: whether paths from and to switches are in scope too.
    pub(super) fn new(problem: &'p Problem<'p>, switches: bool) -> Self {
        let (part, count) = problem.graph.components();
        let mut parts = vec![0; count as usize];
        for part in &part {
            if let Some(size) = parts.get_mut(*part as usize) {
                *size += 1;
            }
        }
        let own = |switch| {
            u64::from(switches && problem.destinations_behind(switch).iter().any(Destination::is_switch))
        };
        let terminals = problem.graph.senders();
        let ends = problem.switches().map(|switch| u64::from(terminals[switch as usize]) + own(switch));
        let ends = ends.collect();
        Self { problem, ways: PortMap::new(&problem.graph), part, parts, ends, switches }
    }

    pub(super) fn switch_count(&self) -> usize {
        self.ends.len()
    }

    /// Whether paths to a destination are in scope.
    pub(super) fn is_in_scope(&self, end: &Destination) -> bool {
        self.switches || !end.is_switch()
    }

    /// Number of terminals that send from a switch to a destination at `root`, if cables join them; the destination
    /// itself does not.
    pub(super) fn sender_count(&self, switch: u32, root: u32) -> u64 {
        let at = switch as usize;
        if self.part[at] != self.part[root as usize] {
            return 0;
        }
        self.ends[at].saturating_sub(u64::from(switch == root))
    }

    /// Number of pairs in scope that cables join.
    pub(super) fn pair_count(&self) -> u64 {
        let mut ends = vec![0; self.parts.len()];
        for (part, more) in self.part.iter().zip(&self.ends) {
            if let Some(ends) = ends.get_mut(*part as usize) {
                *ends += more;
            }
        }
        let counted = self.problem.switches().flat_map(|root| {
            let counted =
                self.problem.destinations_behind(root).iter().filter(|end| self.is_in_scope(end)).count();
            std::iter::repeat_n(root, counted)
        });
        counted.map(|root| ends[self.part[root as usize] as usize] - 1).sum()
    }

    /// Number of switches that are joined to one, including itself.
    pub(super) fn joined_count(&self, root: u32) -> usize {
        self.parts.get(self.part[root as usize] as usize).map_or(0, |size| *size as usize)
    }

    /// The switch that an entry leads to.
    pub(super) fn next_switch(&self, switch: u32, port: u8, (root, end): (u32, &Destination)) -> u32 {
        if port == NO_PATH {
            return NO_NEXT;
        }
        // At the destination's own switch, a packet is lost unless it leaves by the right port.
        if switch == root {
            return if port == end.port.value() { AT_DESTINATION } else { NO_NEXT };
        }
        self.ways.hop(switch, port).map_or(NO_NEXT, |way| way.switch())
    }
}
