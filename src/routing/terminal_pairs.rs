//! Which ordered pairs of terminals count: those of all terminals with a LID, or those that share a partition.

use fabdeck_fabric::{Partitions, PortId, SwitchGraph};

/// The pairs of terminals that count on one fabric.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminalPairs {
    /// `None`: all terminals exchange packets.
    partitions: Option<Partitions>,
    /// The senders to destinations of each class; one class where there are no partitions.
    by_class: Vec<ClassTerminals>,
}

/// The terminals that send to destinations of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassTerminals {
    /// Their number at each switch.
    pub(crate) at_switch: Vec<u16>,
    /// Their number.
    total: u64,
    /// The destinations themselves are counted among them.
    itself: bool,
    /// For each class whether it sends; empty where all send.
    shares: Vec<bool>,
}

impl ClassTerminals {
    fn new(at_switch: Vec<u32>, shares: Vec<bool>, itself: bool) -> Self {
        let total = at_switch.iter().map(|count| u64::from(*count)).sum();
        let at_switch = at_switch.into_iter().map(|count| u16::try_from(count).unwrap_or(u16::MAX)).collect();
        Self { at_switch, total, itself, shares }
    }

    /// The number that sends to one of the destinations; none sends to itself.
    pub(crate) fn senders(&self) -> u64 {
        self.total.saturating_sub(self.itself.into())
    }

    /// The number at a switch that sends to a destination behind `root`.
    pub(crate) fn senders_from(&self, switch: u32, root: u32) -> u16 {
        let itself = u16::from(switch == root && self.itself);
        self.at_switch.get(switch as usize).map_or(0, |count| count.saturating_sub(itself))
    }
}

impl TerminalPairs {
    pub(crate) fn new(graph: &SwitchGraph, partitions: Option<&Partitions>) -> Self {
        let by_class = match partitions {
            None => vec![ClassTerminals::new(graph.senders(), Vec::new(), true)],
            Some(held) => (0..held.class_count() as u32)
                .map(|class| {
                    let shares = held.classes_sharing(class);
                    let itself = shares.get(class as usize) == Some(&true);
                    ClassTerminals::new(held.senders(graph, class), shares, itself)
                })
                .collect(),
        };
        Self { partitions: partitions.cloned(), by_class }
    }

    /// Whether only ends that share a partition are pairs.
    pub(crate) fn is_partitioned(&self) -> bool {
        self.partitions.is_some()
    }

    /// The class of a port as a destination; 0 where there are no partitions.
    pub(crate) fn class(&self, port: PortId) -> u32 {
        self.partitions.as_ref().map_or(0, |held| held.class(port))
    }

    /// The senders to destinations of a class.
    pub(crate) fn senders_to(&self, class: u32) -> &ClassTerminals {
        &self.by_class[class as usize]
    }

    /// Whether a port sends to destinations of a class.
    pub(crate) fn is_sender(&self, class: u32, port: PortId) -> bool {
        let Some(held) = &self.partitions else { return true };
        self.senders_to(class).shares.get(held.class(port) as usize) == Some(&true)
    }

    /// The number of pairs whose ends are in one part, given the terminals of each part.
    pub(crate) fn within_parts(&self, ends: impl Iterator<Item = (u32, PortId)>) -> u64 {
        let counts = self.count_parts(ends);
        let pairs = |counts: &Vec<u64>| match &self.partitions {
            Some(held) => held.pairs(counts),
            None => counts.iter().map(|count| count * count.saturating_sub(1)).sum(),
        };
        counts.iter().map(pairs).sum()
    }

    /// For each part the number of its terminals of each class; an empty list for a part without terminals.
    pub(crate) fn count_parts(&self, ends: impl Iterator<Item = (u32, PortId)>) -> Vec<Vec<u64>> {
        let mut counts: Vec<Vec<u64>> = Vec::new();
        for (part, port) in ends.filter(|(part, _)| *part != u32::MAX) {
            if counts.len() <= part as usize {
                counts.resize(part as usize + 1, Vec::new());
            }
            let of_part = &mut counts[part as usize];
            of_part.resize(self.by_class.len(), 0);
            of_part[self.class(port) as usize] += 1;
        }
        counts
    }

    /// Of terminals by class, the number that sends to destinations of a class.
    pub(crate) fn count_senders(&self, counts: &[u64], class: u32) -> u64 {
        let shares = &self.senders_to(class).shares;
        let sends = |at: usize| self.partitions.is_none() || shares.get(at) == Some(&true);
        counts.iter().enumerate().filter(|(at, _)| sends(*at)).map(|(_, count)| count).sum()
    }
}
