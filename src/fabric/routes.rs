//! Routes: where each switch sends each LID, on which lane, and which LID of a port hosts send to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::route_rows::RouteRows;
use super::{BLOCK_LIDS, Fabric, Lane, Lft, Lid, NO_PATH, PathBits, PortNum, Tables};

/// The virtual lanes of paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PathLanes {
    /// All paths are on lane 0.
    #[default]
    One,
    /// The lane depends on the destination.
    ByDestination {
        /// The number of lanes.
        lanes: u8,
        /// The lane of each LID, from LID 0 on.
        lane: Vec<u8>,
    },
    /// The lane depends on the source switch and the destination.
    ByPair {
        /// The number of lanes.
        lanes: u8,
        /// A row for each switch, with the lane of each LID from LID 0 on.
        lane: Vec<u8>,
    },
    /// The lane changes on the way: the service level depends on the source switch and the destination, and each node
    /// maps it to a lane by ingress and egress port.
    ByHop {
        /// The number of lanes.
        lanes: u8,
        /// A row for each switch, with the service level of each LID from LID 0 on.
        level: Vec<u8>,
        /// The SL2VL tables of switches and adapters; other tables do not count.
        tables: Arc<Tables>,
    },
}

impl PathLanes {
    /// Whether switches map a service level to different lanes on the way.
    pub fn is_by_hop(&self) -> bool {
        matches!(self, Self::ByHop { .. })
    }
}

/// The unknown part of a forwarding table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnreadEntries {
    /// The whole table.
    All,
    /// Blocks of 64 LIDs.
    Blocks(BTreeSet<u16>),
    /// Single LIDs, whose entries depend on a part that was not read.
    Lids(BTreeSet<Lid>),
}

impl UnreadEntries {
    /// Whether the entry of a LID is unknown.
    pub fn has_lid(&self, lid: Lid) -> bool {
        match self {
            Self::All => true,
            Self::Blocks(blocks) => blocks.contains(&(lid.value() / BLOCK_LIDS)),
            Self::Lids(lids) => lids.contains(&lid),
        }
    }
}

/// The forwarding tables of all switches: one byte for each switch and LID, in the order of the switches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    rows: RouteRows,
    /// The virtual lanes of the paths.
    pub lanes: PathLanes,
    /// The path bits that the routes are made for; `None` for those by place.
    pub path_bits: Option<PathBits>,
    /// By switch, of tables of which part was not read.
    unread: BTreeMap<u32, UnreadEntries>,
}

impl Routes {
    /// Makes tables without any path, for LIDs up to `top`.
    pub fn empty(switches: usize, top: Option<Lid>) -> Self {
        let stride = top.map_or(0, |lid| lid.index() + 1);
        Self { rows: RouteRows::empty(switches, stride), ..Self::default() }
    }

    /// The number of switches.
    pub fn switch_count(&self) -> usize {
        self.rows.len()
    }

    /// The memory of tables and lanes in bytes.
    pub fn memory_bytes(&self) -> usize {
        let lanes = match &self.lanes {
            PathLanes::One => 0,
            PathLanes::ByDestination { lane, .. } | PathLanes::ByPair { lane, .. } => lane.len(),
            PathLanes::ByHop { level, .. } => level.len(),
        };
        self.rows.len() * self.stride() + lanes
    }

    /// The number of LIDs of a row, LID 0 included.
    pub fn stride(&self) -> usize {
        self.rows.stride()
    }

    /// The row of a switch: the egress port for each LID from 0 on, [`NO_PATH`] for none.
    pub fn row(&self, switch: u32) -> &[u8] {
        self.rows.row(switch as usize)
    }

    /// All rows, to fill in parallel.
    pub fn rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [u8]> {
        let stride = self.stride().max(1);
        self.rows.block_mut().chunks_exact_mut(stride)
    }

    /// All bytes, row after row.
    pub fn entries_mut(&mut self) -> &mut [u8] {
        self.rows.block_mut()
    }

    /// The egress port of a switch for a LID.
    pub fn get(&self, switch: u32, lid: Lid) -> Option<PortNum> {
        self.row(switch).get(lid.index()).copied().filter(|port| *port != NO_PATH).map(PortNum)
    }

    /// Sets the egress port of a switch for a LID; `None` is no path.
    pub fn set(&mut self, switch: u32, lid: Lid, port: Option<PortNum>) {
        let row = self.rows.row_mut(switch as usize);
        if let Some(entry) = row.and_then(|row| row.get_mut(lid.index())) {
            *entry = port.map_or(NO_PATH, PortNum::value);
        }
    }

    /// The number of lanes that the paths use.
    pub fn lane_count(&self) -> u8 {
        match &self.lanes {
            PathLanes::One => 1,
            PathLanes::ByDestination { lanes, .. }
            | PathLanes::ByPair { lanes, .. }
            | PathLanes::ByHop { lanes, .. } => *lanes,
        }
    }

    /// The lane of packets from the hosts of a switch to a LID. Where lanes change on the way, the number of the service
    /// level.
    pub fn lane(&self, from: u32, to: Lid) -> Lane {
        let lane = match &self.lanes {
            PathLanes::One => 0,
            PathLanes::ByDestination { lane, .. } => lane.get(to.index()).copied().unwrap_or(0),
            PathLanes::ByPair { lane, .. } | PathLanes::ByHop { level: lane, .. } => {
                lane.get(from as usize * self.stride() + to.index()).copied().unwrap_or(0)
            }
        };
        Lane::new(lane.into()).unwrap_or_default()
    }

    /// What hosts add to base LIDs: what the routes are made for, else their places.
    pub fn path_bits(&self, fabric: &Fabric) -> Cow<'_, PathBits> {
        self.path_bits.as_ref().map_or_else(|| Cow::Owned(PathBits::by_place(fabric)), Cow::Borrowed)
    }

    /// The forwarding table of a switch.
    pub fn lft(&self, switch: u32) -> Lft {
        Lft::from_entries(self.row(switch).to_vec())
    }

    /// Makes routes from forwarding tables that were read; a switch without one has no paths.
    pub fn from_tables<'t>(tables: impl Iterator<Item = Option<&'t Lft>>) -> Self {
        let tables: Vec<Option<&Lft>> = tables.collect();
        Self { rows: RouteRows::from_tables(&tables), ..Self::default() }
    }

    /// Adds which parts of which tables are unknown. All other absent entries are no path.
    pub fn with_unread(self, unread: BTreeMap<u32, UnreadEntries>) -> Self {
        Self { unread, ..self }
    }

    /// Whether the entry of a switch for a LID is unknown.
    pub fn is_unread(&self, switch: u32, lid: Lid) -> bool {
        self.unread.get(&switch).is_some_and(|unread| unread.has_lid(lid))
    }

    /// The switches with unknown entries.
    pub fn unread_entries(&self) -> impl Iterator<Item = (u32, &UnreadEntries)> {
        self.unread.iter().map(|(switch, unread)| (*switch, unread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_tables_and_tables_are_rows() {
        let lid = |lid| Lid::new(lid).unwrap();
        let mut routes = Routes::empty(3, Lid::new(9));
        routes.set(1, lid(9), Some(PortNum(4)));
        routes.set(2, lid(3), Some(PortNum(0)));
        routes.set(2, lid(77), Some(PortNum(1)));
        // LID 10 is beyond the row, and must not be LID 0 of the next row.
        routes.set(0, lid(10), Some(PortNum(1)));
        assert_eq!((routes.row(1)[0], routes.memory_bytes()), (NO_PATH, 30));
        assert_eq!(
            (routes.get(1, lid(9)), routes.get(1, lid(8)), routes.get(2, lid(77))),
            (Some(PortNum(4)), None, None)
        );
        let tables: Vec<Lft> = (0..3).map(|switch| routes.lft(switch)).collect();
        assert_eq!(Routes::from_tables(tables.iter().map(Some)), routes);
        assert_eq!((routes.switch_count(), routes.stride(), routes.lane_count()), (3, 10, 1));
        assert_eq!(Routes::from_tables([None, None].into_iter()).switch_count(), 0);
    }

    #[test]
    fn lanes_follow_destination_or_pair() {
        let mut routes = Routes::empty(2, Lid::new(2));
        let lid = |lid| Lid::new(lid).unwrap();
        routes.lanes = PathLanes::ByDestination { lanes: 2, lane: vec![0, 1, 0] };
        assert_eq!((routes.lane(1, lid(1)).value(), routes.lane(0, lid(2)).value()), (1, 0));
        routes.lanes = PathLanes::ByPair { lanes: 3, lane: vec![0, 0, 0, 0, 2, 1] };
        assert_eq!((routes.lane(0, lid(1)).value(), routes.lane(1, lid(1)).value()), (0, 2));
        assert_eq!(routes.memory_bytes(), 12, "six entries and six lanes");
    }
}
