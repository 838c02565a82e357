//! Partitions: which ports may exchange packets. Two ports may when both are members of one partition and at least one
//! of them is a full member. A switch is a member by its port 0.

use std::collections::{BTreeMap, BTreeSet};

use super::{PortId, SwitchGraph};

/// The members of partitions on one fabric. Ports with equal memberships are one class, so that questions about
/// pairs concern classes and not ports. A switch is a member by its port 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partitions {
    /// By port. Class 0 has the ports without a partition, which reach no port.
    class_of: Vec<u32>,
    /// For each class its P_Keys, ascending, without the bit of membership, and whether it is a full member.
    classes: Vec<Vec<(u16, bool)>>,
    /// For each P_Key the classes that are members.
    members: BTreeMap<u16, Vec<(u32, bool)>>,
}

impl Partitions {
    /// Makes partitions from the members of each P_Key: `true` for full members. `ports` is the number of ports of
    /// the fabric.
    pub fn new(ports: usize, by_key: &BTreeMap<u16, BTreeMap<PortId, bool>>) -> Self {
        let mut of_port: Vec<Vec<(u16, bool)>> = vec![Vec::new(); ports];
        for (key, members) in by_key {
            for (port, full) in members {
                if let Some(held) = of_port.get_mut(port.index()) {
                    held.push((*key, *full));
                }
            }
        }
        let mut known = BTreeMap::from([(Vec::new(), 0u32)]);
        let class_of = of_port
            .into_iter()
            .map(|held| {
                let next = known.len() as u32;
                *known.entry(held).or_insert(next)
            })
            .collect();
        let mut classes = vec![Vec::new(); known.len()];
        known.into_iter().for_each(|(held, class)| classes[class as usize] = held);
        let mut members: BTreeMap<u16, Vec<(u32, bool)>> = BTreeMap::new();
        for (class, held) in (0u32..).zip(&classes) {
            held.iter().for_each(|(key, full)| members.entry(*key).or_default().push((class, *full)));
        }
        Self { class_of, classes, members }
    }

    /// The same where the memberships of some ports are not known: they reach every port that is in a partition, and each
    /// other. No P_Key has the number 0, so it stands for that.
    pub fn with_unknown(
        ports: usize,
        by_key: &BTreeMap<u16, BTreeMap<PortId, bool>>,
        unknown: &BTreeSet<PortId>,
    ) -> Self {
        if unknown.is_empty() {
            return Self::new(ports, by_key);
        }
        let mut by_key = by_key.clone();
        let mut any: BTreeMap<PortId, bool> =
            by_key.values().flat_map(BTreeMap::keys).map(|port| (*port, false)).collect();
        any.extend(unknown.iter().map(|port| (*port, true)));
        by_key.insert(0, any);
        Self::new(ports, &by_key)
    }

    /// The number of partitions with members on this fabric.
    pub fn partition_count(&self) -> usize {
        self.members.keys().filter(|key| **key != 0).count()
    }

    /// The P_Keys of a port, each with whether it is a full member.
    pub fn keys(&self, port: PortId) -> impl Iterator<Item = (u16, bool)> {
        let held = self.classes.get(self.class(port) as usize).into_iter().flatten();
        held.copied().filter(|(key, _)| *key != 0)
    }

    /// The number of classes.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// The class of a port.
    pub fn class(&self, port: PortId) -> u32 {
        self.class_of.get(port.index()).copied().unwrap_or(0)
    }

    /// Whether a class shares a partition with each class.
    pub fn classes_sharing(&self, class: u32) -> Vec<bool> {
        let mut shares = vec![false; self.classes.len()];
        for (key, full) in self.classes.get(class as usize).into_iter().flatten() {
            for (other, other_full) in self.members.get(key).into_iter().flatten() {
                shares[*other as usize] |= *full || *other_full;
            }
        }
        shares
    }

    /// Whether two ports share a partition, at least one of them as a full member.
    pub fn can_share(&self, a: PortId, b: PortId) -> bool {
        self.can_classes_share(self.class(a), self.class(b))
    }

    /// Whether the ports of two classes share a partition.
    fn can_classes_share(&self, a: u32, b: u32) -> bool {
        let held = |class: u32| self.classes.get(class as usize).map_or(&[][..], Vec::as_slice);
        let (mut a, mut b) = (held(a), held(b));
        while let ([(key, full), rest @ ..], [(other, other_full), other_rest @ ..]) = (a, b) {
            if key == other && (*full || *other_full) {
                return true;
            }
            if key <= other {
                a = rest;
            } else {
                b = other_rest;
            }
        }
        false
    }

    /// The number of ordered pairs of different ports that share a partition, given the number of ports of each
    /// class.
    pub fn pairs(&self, ports: &[u64]) -> u64 {
        let of_class = |(class, count): (u32, &u64)| {
            if *count == 0 {
                return 0;
            }
            let shares = self.classes_sharing(class);
            let with = ports.iter().zip(&shares).filter(|(_, shares)| **shares);
            let others: u64 = with.map(|(count, _)| count).sum();
            count * others.saturating_sub(u64::from(shares[class as usize]))
        };
        (0..).zip(ports.iter().take(self.classes.len())).map(of_class).sum()
    }

    /// The number of terminals with a LID at each switch that share a partition with a class.
    pub fn senders(&self, graph: &SwitchGraph, class: u32) -> Vec<u32> {
        let shares = self.classes_sharing(class);
        let mut count = vec![0; graph.switch_count()];
        for terminal in graph.terminals().iter().filter(|terminal| terminal.lid.is_some()) {
            count[terminal.switch as usize] += u32::from(shares[self.class(terminal.port) as usize]);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_share_where_one_of_them_is_a_full_member() {
        let members = |of: &[(u32, bool)]| of.iter().map(|(port, full)| (PortId(*port), *full)).collect();
        let by_key = BTreeMap::from([
            (0x7fff, members(&[(0, true), (1, false), (2, false), (3, false)])),
            (0x0001, members(&[(2, true), (3, false)])),
            (0x0002, members(&[(9, true)])),
        ]);
        let partitions = Partitions::new(5, &by_key);
        let talks = |a: u32, b: u32| partitions.can_share(PortId(a), PortId(b));
        let expected = [(0, 0), (0, 1), (0, 2), (0, 3), (2, 2), (2, 3)];
        for a in 0..6 {
            for b in 0..6 {
                assert_eq!(talks(a, b), expected.contains(&(a.min(b), a.max(b))), "{a} {b}");
                let shares = partitions.classes_sharing(partitions.class(PortId(a)));
                assert_eq!(shares[partitions.class(PortId(b)) as usize], talks(a, b), "{a} {b}");
            }
        }
        let mut count = vec![0; partitions.class_count()];
        (0..5).for_each(|port| count[partitions.class(PortId(port)) as usize] += 1);
        // A member beyond the fabric is none.
        assert_eq!(
            (partitions.pairs(&count), partitions.partition_count(), partitions.class_count()),
            (8, 2, 5)
        );
        assert_eq!(Partitions::default().pairs(&[3]), 0);
    }

    #[test]
    fn ports_of_unknown_membership_reach_all_but_ports_without_a_partition() {
        let members = |of: &[(u32, bool)]| of.iter().map(|(port, full)| (PortId(*port), *full)).collect();
        let by_key = BTreeMap::from([(0x10, members(&[(0, true), (1, false), (2, false)]))]);
        let unknown = BTreeSet::from([PortId(3), PortId(4)]);
        let partitions = Partitions::with_unknown(6, &by_key, &unknown);
        let apart = [(1, 1), (1, 2), (2, 2), (0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5)];
        for a in 0..6 {
            for b in a..6 {
                let shares = partitions.can_share(PortId(a), PortId(b));
                assert_eq!(shares, !apart.contains(&(a, b)), "{a} {b}");
            }
        }
        assert_eq!((partitions.partition_count(), partitions.keys(PortId(3)).count()), (1, 0));
        assert_eq!(partitions.keys(PortId(1)).collect::<Vec<_>>(), [(0x10, false)]);
    }
}
