//! The tables that nodes hold: forwarding, multicast, lanes and arbitration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AdaptiveSwitch, Lane, Lid, NodeId, PortNum, ServiceLevel};

/// The egress port of an entry without a path.
pub const NO_PATH: u8 = 0xFF;

/// The number of LIDs of one block of a forwarding table.
pub const BLOCK_LIDS: u16 = 64;

/// A block of a row; LIDs beyond the end of the row have no path.
pub fn block_of(row: &[u8], block: u16) -> [u8; BLOCK_LIDS as usize] {
    let mut ports = [NO_PATH; BLOCK_LIDS as usize];
    let start = usize::from(block) * usize::from(BLOCK_LIDS);
    let told = row.get(start..row.len().min(start + ports.len())).unwrap_or_default();
    ports[..told.len()].copy_from_slice(told);
    ports
}

/// A linear forwarding table: the egress port for each LID, [`NO_PATH`] for none. Clones share the entries until one of
/// them changes: the tables of a full subnet are 188 MB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lft {
    entries: Arc<Vec<u8>>,
}

impl Lft {
    /// Makes a table without paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a table from its egress ports, from LID 0 on.
    pub fn from_entries(mut entries: Vec<u8>) -> Self {
        end_at_last_path(&mut entries);
        Self { entries: Arc::new(entries) }
    }

    /// Makes a table without paths that has memory for the LIDs up to `last`, so that it need not grow.
    pub fn with_room_to(last: u16) -> Self {
        Self { entries: Arc::new(Vec::with_capacity(usize::from(last) + 1)) }
    }

    /// The egress ports from LID 0 to the last path, as shared memory.
    pub fn shared_bytes(&self) -> Arc<Vec<u8>> {
        self.entries.clone()
    }

    /// The egress ports from LID 0 to the last path.
    pub fn bytes(&self) -> &[u8] {
        &self.entries
    }

    /// The egress port for a LID.
    pub fn get(&self, lid: Lid) -> Option<PortNum> {
        self.entries.get(lid.index()).copied().filter(|port| *port != NO_PATH).map(PortNum)
    }

    /// Sets the egress port for a LID; `None` is no path.
    pub fn set(&mut self, lid: Lid, port: Option<PortNum>) {
        if lid.index() >= self.entries.len() && port.is_none() {
            return;
        }
        self.set_from(lid.index(), &[port.map_or(NO_PATH, PortNum::value)]);
    }

    /// Sets the egress ports of consecutive LIDs from `first` on, [`NO_PATH`] for none.
    pub fn set_from(&mut self, first: usize, ports: &[u8]) {
        let entries = Arc::make_mut(&mut self.entries);
        let end = first + ports.len();
        if end > entries.len() {
            entries.resize(end, NO_PATH);
        }
        entries[first..end].copy_from_slice(ports);
        end_at_last_path(entries);
    }

    /// Gives back memory that the entries do not need.
    pub fn shrink_to_fit(&mut self) {
        Arc::make_mut(&mut self.entries).shrink_to_fit();
    }

    /// The LIDs with a path, ascending, with their egress ports.
    pub fn routed_lids(&self) -> impl Iterator<Item = (Lid, PortNum)> {
        let entries = self.entries.iter().enumerate().filter(|(_, port)| **port != NO_PATH);
        entries.filter_map(|(lid, port)| Some((Lid::new(lid as u32)?, PortNum(*port))))
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.routed_lids().next().is_none()
    }
}

/// Equal tables are equal values: nothing but paths at the end.
fn end_at_last_path(entries: &mut Vec<u8>) {
    entries.truncate(entries.iter().rposition(|port| *port != NO_PATH).map_or(0, |last| last + 1));
}

/// A multicast forwarding table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mft {
    /// The egress ports of each multicast LID.
    pub groups: BTreeMap<u16, Vec<PortNum>>,
}

/// The virtual lane of each service level for one pair (ingress port, egress port).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sl2Vl(u64);

impl Sl2Vl {
    /// The lane of a level.
    pub fn lane(self, sl: ServiceLevel) -> Lane {
        Lane::new(((self.0 >> (4 * sl.value())) & 0xF) as u32).unwrap_or_default()
    }

    /// Sets the lane of a level.
    pub fn set(&mut self, sl: ServiceLevel, lane: Lane) {
        let shift = 4 * sl.value();
        self.0 = (self.0 & !(0xF << shift)) | (u64::from(lane.value()) << shift);
    }

    /// Reads sixteen hexadecimal digits, the lane of service level 0 first.
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

/// An entry of a VL arbitration table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VlWeight {
    /// The lane.
    pub lane: Lane,
    /// The data that the lane may send in a turn, in units of 64 bytes.
    pub weight: u8,
}

/// The VL arbitration tables of one port.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Arbitration {
    /// The data of the high-priority table that may pass before the other one gets a turn (HighLimit).
    pub high_limit: u8,
    /// The high-priority table.
    pub high: Vec<VlWeight>,
    /// The low-priority table.
    pub low: Vec<VlWeight>,
}

/// The tables of one node. Adapters have SL2VL and arbitration tables too; their ingress port is 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeTables {
    /// The forwarding table of a switch.
    pub lft: Option<Lft>,
    /// Blocks of 64 LIDs of the forwarding table that could not be read.
    pub unread: BTreeSet<u16>,
    /// The multicast forwarding table of a switch.
    pub mft: Option<Mft>,
    /// The SL2VL tables by (ingress port, egress port).
    pub sl2vl: BTreeMap<(PortNum, PortNum), Sl2Vl>,
    /// The arbitration tables by port.
    pub arbitration: BTreeMap<PortNum, Arbitration>,
    /// Adaptive routing of a switch; `None` where the source does not mention it.
    pub adaptive: Option<AdaptiveSwitch>,
}

impl NodeTables {
    /// Marks the blocks of the LIDs after `last` up to `top` as not read. A block that begins before `last` is
    /// marked as a whole.
    pub fn mark_unread_after(&mut self, last: Option<Lid>, top: Option<Lid>) {
        let block = |lid: Lid| lid.value() / BLOCK_LIDS;
        self.unread.extend(last.map_or(0, block)..=top.map_or(Lid::MAX / BLOCK_LIDS, block));
    }
}

/// The tables of a fabric by node. A node without any is absent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    /// The tables.
    pub nodes: BTreeMap<NodeId, NodeTables>,
    /// The blocks of forwarding tables that were asked for; `None` for all.
    pub only: Option<BTreeSet<u16>>,
}

impl Tables {
    /// Whether the table of a node has a known entry for a LID, a path or none.
    pub fn is_entry_known(&self, node: NodeId, lid: Lid) -> bool {
        let block = lid.value() / BLOCK_LIDS;
        let asked = self.only.as_ref().is_none_or(|only| only.contains(&block));
        let held = self.nodes.get(&node);
        asked && held.is_some_and(|held| held.lft.is_some() && !held.unread.contains(&block))
    }

    /// The forwarding table of a switch.
    pub fn lft(&self, node: NodeId) -> Option<&Lft> {
        self.nodes.get(&node)?.lft.as_ref()
    }

    /// Whether any switch has a forwarding table.
    pub fn has_forwarding(&self) -> bool {
        self.nodes.values().any(|held| held.lft.is_some())
    }

    /// The SL2VL tables alone.
    pub fn lane_tables(&self) -> Self {
        let lanes = |held: &NodeTables| NodeTables { sl2vl: held.sl2vl.clone(), ..NodeTables::default() };
        let nodes = self.nodes.iter().filter(|(_, held)| !held.sl2vl.is_empty());
        Self { nodes: nodes.map(|(id, held)| (*id, lanes(held))).collect(), only: None }
    }

    /// The tables of a node, to fill in.
    pub fn node_mut(&mut self, node: NodeId) -> &mut NodeTables {
        self.nodes.entry(node).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_entries_until_one_changes() {
        let mut table = Lft::new();
        table.set_from(64, &[NO_PATH, 7, 8, NO_PATH]);
        assert_eq!((table.bytes().len(), table.get(Lid::new(66).unwrap())), (67, Some(PortNum(8))));
        let kept = table.clone();
        assert_eq!(kept.bytes().as_ptr(), table.bytes().as_ptr(), "the same memory");
        table.set_from(65, &[NO_PATH, NO_PATH]);
        assert!(table.bytes().is_empty() && table == Lft::new(), "nothing but paths at the end");
        assert_eq!(kept.bytes().len(), 67, "the other clone stays");
    }

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
