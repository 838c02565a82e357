//! Sets of port numbers.

use std::fmt;

use super::PortNum;

/// A set of ports of one switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PortSet([u64; 4]);

impl PortSet {
    /// The set without ports.
    pub const EMPTY: Self = Self([0; 4]);

    /// Makes the set with one port.
    pub fn of(port: PortNum) -> Self {
        let mut set = Self::EMPTY;
        set.insert(port);
        set
    }

    /// Makes a set from 256 bits, port 0 in the lowest bit of the first word.
    pub fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The 256 bits, port 0 in the lowest bit of the first word.
    pub fn words(&self) -> [u64; 4] {
        self.0
    }

    /// Adds a port.
    pub fn insert(&mut self, port: PortNum) {
        self.0[port.index() / 64] |= 1 << (port.index() % 64);
    }

    /// Removes a port.
    pub fn remove(&mut self, port: PortNum) {
        self.0[port.index() / 64] &= !(1 << (port.index() % 64));
    }

    /// Whether a port is in the set.
    pub fn has(&self, port: PortNum) -> bool {
        self.0[port.index() / 64] >> (port.index() % 64) & 1 == 1
    }

    /// The ports of both sets.
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// The ports that both sets have.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The number of ports.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no port is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The ports, ascending.
    pub fn iter(self) -> impl Iterator<Item = PortNum> {
        (0u32..).zip(self.0).flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(PortNum((at * 64 + bit) as u8))
            })
        })
    }
}

impl FromIterator<PortNum> for PortSet {
    fn from_iter<I: IntoIterator<Item = PortNum>>(ports: I) -> Self {
        let mut set = Self::EMPTY;
        ports.into_iter().for_each(|port| set.insert(port));
        set
    }
}

impl fmt::Debug for PortSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(PortNum::value)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_every_port_once_and_in_order() {
        let all = [0, 1, 63, 64, 127, 128, 192, 254, 255].map(PortNum);
        let mut set: PortSet = all.iter().rev().chain(&all).copied().collect();
        assert_eq!((set.iter().collect::<Vec<_>>(), set.count()), (all.to_vec(), 9));
        set.remove(PortNum(64));
        assert!(!set.has(PortNum(64)) && set.has(PortNum(63)) && set.has(PortNum(255)));
        assert_eq!(set.union(&PortSet::of(PortNum(64))).count(), 9);
        assert_eq!(set.intersection(&PortSet::of(PortNum(64))), PortSet::EMPTY);
        assert_eq!(PortSet::from_words(set.words()), set);
    }
}
