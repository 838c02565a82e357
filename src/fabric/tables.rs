//! The tables that nodes hold: forwarding, multicast, lanes and arbitration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Lane, Lid, NodeId, PortNum, ServiceLevel};

/// The entry of a forwarding table that leads nowhere.
pub const NO_PATH: u8 = 0xFF;

/// How many LIDs one block of a forwarding table covers.
pub const BLOCK_LIDS: u16 = 64;

/// A block of a row of ports; what lies beyond the end of the row leads nowhere.
pub fn block_of(row: &[u8], block: u16) -> [u8; BLOCK_LIDS as usize] {
    let mut ports = [NO_PATH; BLOCK_LIDS as usize];
    let start = usize::from(block) * usize::from(BLOCK_LIDS);
    let told = row.get(start..row.len().min(start + ports.len())).unwrap_or_default();
    ports[..told.len()].copy_from_slice(told);
    ports
}

/// A linear forwarding table: the egress port for each LID, 255 where there is none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lft {
    entries: Vec<u8>,
}

impl Lft {
    pub fn new() -> Self {
        Self::default()
    }

    /// A table from its bytes, one for each LID from 0 on.
    pub fn of(mut entries: Vec<u8>) -> Self {
        // Equal tables are equal values: nothing but paths at the end.
        entries.truncate(entries.iter().rposition(|port| *port != NO_PATH).map_or(0, |last| last + 1));
        Self { entries }
    }

    /// The bytes up to the last path.
    pub fn bytes(&self) -> &[u8] {
        &self.entries
    }

    pub fn get(&self, lid: Lid) -> Option<PortNum> {
        self.entries.get(lid.index()).copied().filter(|port| *port != NO_PATH).map(PortNum)
    }

    pub fn set(&mut self, lid: Lid, port: Option<PortNum>) {
        if lid.index() >= self.entries.len() {
            if port.is_none() {
                return;
            }
            self.entries.resize(lid.index() + 1, NO_PATH);
        }
        self.entries[lid.index()] = port.map_or(NO_PATH, PortNum::value);
        // Equal tables are equal values: nothing but paths at the end.
        while self.entries.last() == Some(&NO_PATH) {
            self.entries.pop();
        }
    }

    /// The LIDs with a path, ascending.
    pub fn routed(&self) -> impl Iterator<Item = (Lid, PortNum)> {
        let entries = self.entries.iter().enumerate().filter(|(_, port)| **port != NO_PATH);
        entries.filter_map(|(lid, port)| Some((Lid::new(lid as u32)?, PortNum(*port))))
    }

    pub fn is_empty(&self) -> bool {
        self.routed().next().is_none()
    }
}

/// A multicast forwarding table: the egress ports of each multicast LID.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mft {
    pub groups: BTreeMap<u16, Vec<PortNum>>,
}

/// Service level to virtual lane for one (in port, out port): sixteen lanes of four bits, SL 0 lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sl2Vl(u64);

impl Sl2Vl {
    pub fn lane(self, sl: ServiceLevel) -> Lane {
        Lane::new(((self.0 >> (4 * sl.value())) & 0xF) as u32).unwrap_or_default()
    }

    pub fn set(&mut self, sl: ServiceLevel, lane: Lane) {
        let shift = 4 * sl.value();
        self.0 = (self.0 & !(0xF << shift)) | (u64::from(lane.value()) << shift);
    }

    /// Sixteen hexadecimal digits, the lane of service level 0 first.
    pub fn from_digits(digits: &str) -> Option<Self> {
        let lanes: Vec<u64> =
            digits.chars().map(|digit| digit.to_digit(16).map(u64::from)).collect::<Option<_>>()?;
        let row = |lanes: Vec<u64>| lanes.iter().rev().fold(0, |row, lane| row << 4 | lane);
        (lanes.len() == 16).then(|| Self(row(lanes)))
    }
}

impl fmt::Display for Sl2Vl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..16).try_for_each(|level| write!(f, "{:x}", self.0 >> (4 * level) & 0xF))
    }
}

/// One entry of an arbitration table; the weight counts 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VlWeight {
    pub lane: Lane,
    pub weight: u8,
}

/// Virtual lane arbitration of one port.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Arbitration {
    pub high_limit: u8,
    pub high: Vec<VlWeight>,
    pub low: Vec<VlWeight>,
}

/// What one node holds. Adapters have lane tables too (in port 0).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeTables {
    pub lft: Option<Lft>,
    /// Blocks of 64 LIDs of the forwarding table that could not be read: what they hold nobody knows.
    pub unread: BTreeSet<u16>,
    pub mft: Option<Mft>,
    pub sl2vl: BTreeMap<(PortNum, PortNum), Sl2Vl>,
    pub arbitration: BTreeMap<PortNum, Arbitration>,
}

impl NodeTables {
    /// What the forwarding table says of the LIDs after one, up to another, was not read. Tables are held by blocks, so
    /// that counts for LIDs of the first block too that have no entry.
    pub fn forget_after(&mut self, last: Option<Lid>, top: Option<Lid>) {
        let block = |lid: Lid| lid.value() / BLOCK_LIDS;
        self.unread.extend(last.map_or(0, block)..=top.map_or(Lid::MAX / BLOCK_LIDS, block));
    }
}

/// The tables of a fabric by node. A node that is absent told nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    pub nodes: BTreeMap<NodeId, NodeTables>,
    /// The only blocks of forwarding tables that were asked for; `None`: all of them.
    pub only: Option<BTreeSet<u16>>,
}

impl Tables {
    /// Whether a table says what becomes of a LID, be it that it has no path.
    pub fn tells(&self, node: NodeId, lid: Lid) -> bool {
        let block = lid.value() / BLOCK_LIDS;
        let asked = self.only.as_ref().is_none_or(|only| only.contains(&block));
        let held = self.nodes.get(&node);
        asked && held.is_some_and(|held| held.lft.is_some() && !held.unread.contains(&block))
    }

    pub fn lft(&self, node: NodeId) -> Option<&Lft> {
        self.nodes.get(&node)?.lft.as_ref()
    }

    /// Whether any switch has a forwarding table.
    pub fn has_forwarding(&self) -> bool {
        self.nodes.values().any(|held| held.lft.is_some())
    }

    pub fn entry(&mut self, node: NodeId) -> &mut NodeTables {
        self.nodes.entry(node).or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_taken_back_leaves_no_trace() {
        let lid = |lid| Lid::new(lid).unwrap();
        let mut lft = Lft::new();
        lft.set(lid(3), Some(PortNum(1)));
        let before = lft.clone();
        lft.set(lid(900), Some(PortNum(2)));
        lft.set(lid(900), None);
        lft.set(lid(901), None);
        assert_eq!(lft, before);
        lft.set(lid(3), None);
        assert_eq!(lft, Lft::new());
    }

    #[test]
    fn a_row_of_lanes_holds_sixteen_levels() {
        let mut row = Sl2Vl::default();
        for sl in 0..16 {
            row.set(ServiceLevel::new(sl).unwrap(), Lane::new(15 - sl).unwrap());
        }
        let lanes: Vec<u8> = (0..16).map(|sl| row.lane(ServiceLevel::new(sl).unwrap()).value()).collect();
        assert_eq!(lanes, [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(
            (row.to_string().as_str(), Sl2Vl::from_digits("fedcba9876543210")),
            ("fedcba9876543210", Some(row))
        );
        for wrong in ["", "0", "00000000000000000", "000000000000000g"] {
            assert_eq!(Sl2Vl::from_digits(wrong), None, "{wrong}");
        }
    }
}
