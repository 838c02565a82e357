//! Ends of cables by number, and which end leads to which.

use std::collections::BTreeMap;

/// A device: a node of the fabric by its index, or behind those a device that only the plan has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CabledDevice(pub u32);

/// A port of a device. Ports that only the plan has are numbered from 256 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CableEnd {
    pub device: CabledDevice,
    pub port: u16,
}

/// Cables, each between two ends of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CableMap {
    peers: BTreeMap<CableEnd, CableEnd>,
}

impl CableMap {
    /// Adds a cable; `false` where an end has one already, or both ends are the same.
    pub fn insert(&mut self, [a, b]: [CableEnd; 2]) -> bool {
        let is_free = a != b && !self.peers.contains_key(&a) && !self.peers.contains_key(&b);
        if is_free {
            self.peers.insert(a, b);
            self.peers.insert(b, a);
        }
        is_free
    }

    /// Removes the cable of an end.
    pub fn remove(&mut self, end: CableEnd) {
        if let Some(peer) = self.peers.remove(&end) {
            self.peers.remove(&peer);
        }
    }

    pub fn peer(&self, end: CableEnd) -> Option<CableEnd> {
        self.peers.get(&end).copied()
    }

    pub fn has(&self, [a, b]: [CableEnd; 2]) -> bool {
        self.peer(a) == Some(b)
    }

    /// The cables, each once with its lower end first.
    pub fn cables(&self) -> impl Iterator<Item = [CableEnd; 2]> {
        self.peers.iter().filter(|(a, b)| a < b).map(|(a, b)| [*a, *b])
    }

    /// The ends of a device that have a cable, with the other ends, by port.
    pub fn of_device(&self, device: CabledDevice) -> impl Iterator<Item = (CableEnd, CableEnd)> {
        let [first, last] = [0, u16::MAX].map(|port| CableEnd { device, port });
        self.peers.range(first..=last).map(|(own, peer)| (*own, *peer))
    }

    /// The number of cables.
    pub fn len(&self) -> usize {
        self.peers.len() / 2
    }

    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// The same cables with other ends.
    pub fn renamed(&self, rename: impl Fn(CableEnd) -> CableEnd) -> Self {
        Self { peers: self.peers.iter().map(|(a, b)| (rename(*a), rename(*b))).collect() }
    }
}

/// A cable with its ends in order.
pub fn in_order([a, b]: [CableEnd; 2]) -> [CableEnd; 2] {
    if b < a { [b, a] } else { [a, b] }
}
