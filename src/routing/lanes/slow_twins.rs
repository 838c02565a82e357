//! Slow twins: of levels and lanes 0 to k-1 in use those from k to 2k-1.
//!
//! Where an engine keeps lanes apart against deadlock, one slow lane for all would put together again what it keeps apart, so
//! each lane has a twin of its own. Slow flows keep their routes, so on the twins they wait for each other at the most as they
//! did on the fast lanes. No lane is both fast and slow, so moved and other flows never wait in one queue.

use super::moves::MovedFlows;
use super::refusal::SlowLaneRefusal;
use crate::certificate::data_lane_count;
use fabdeck_fabric::{Fabric, Lane, Lid, PortId, ServiceLevel, ServiceLevels, Tables, levels_in};

/// The distance between a lane or level and its slow twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowTwins {
    /// The distance.
    pub apart: u8,
}

/// The levels of paths as if no flow were on a slow lane: path records may state slow levels.
pub fn fast_levels(levels: &ServiceLevels, moved: &[&MovedFlows]) -> ServiceLevels {
    let mut fast = levels.clone();
    for flows in moved {
        let (slow, own) = (1u16 << flows.slow.value(), 1u16 << flows.fast.value());
        fast.map_lid(flows.hot_spot, |held| if held & slow == 0 { held } else { held & !slow | own });
    }
    fast
}

impl SlowTwins {
    /// Computes the distance from the levels in use, moved flows by their fast levels, and from the lanes that
    /// these levels map to anywhere.
    pub fn find(
        fabric: &Fabric,
        tables: &Tables,
        fast: &ServiceLevels,
        moved: &[&MovedFlows],
    ) -> Result<Self, SlowLaneRefusal> {
        let in_use = fast.all_bits();
        let top = 15 - in_use.leading_zeros().min(15) as u8;
        let top = top.max(top_lane(fabric, tables, in_use));
        let twins = Self { apart: top + 1 };
        for flows in moved {
            let slow = flows.slow.value();
            // Other paths on a level that is slow lie between the twins.
            if in_use >> slow & 1 == 1 {
                let lid = level_user(fast, slow).unwrap_or(flows.hot_spot);
                return Err(SlowLaneRefusal::Taken { level: slow, lid });
            }
            let twin = flows.fast.value() + twins.apart;
            if slow != twin {
                return Err(SlowLaneRefusal::OtherTwins { hot_spot: flows.hot_spot, slow, twin });
            }
        }
        // Lane 15 is for management.
        match 2 * twins.apart <= Lane::MAX {
            true => Ok(twins),
            false => Err(SlowLaneRefusal::TooHigh { top }),
        }
    }

    /// The number of fast and slow lanes together.
    pub(super) fn lanes(self) -> u8 {
        2 * self.apart
    }

    /// The slow twin of a level.
    pub fn level(self, fast: ServiceLevel) -> ServiceLevel {
        ServiceLevel::new(u32::from(fast.value() + self.apart)).unwrap_or(fast)
    }

    /// The slow twin of a lane.
    pub(super) fn lane(self, fast: Lane) -> Lane {
        Lane::new(u32::from(fast.value() + self.apart)).unwrap_or(fast)
    }
}

/// A LID that packets are sent to on a level.
fn level_user(levels: &ServiceLevels, level: u8) -> Option<Lid> {
    match levels {
        ServiceLevels::One(_) => None,
        ServiceLevels::ByLid(bits) => Lid::new(bits.iter().position(|bits| bits >> level & 1 == 1)? as u32),
        ServiceLevels::BySwitch { stride, bits } => {
            let at = bits.iter().position(|bits| bits >> level & 1 == 1)?;
            Lid::new((at % stride) as u32)
        }
    }
}

/// The highest lane that tables of cabled ports put these levels on, where the port has it.
fn top_lane(fabric: &Fabric, tables: &Tables, levels: u16) -> u8 {
    let mut top = 0;
    for (node, held) in &tables.nodes {
        for ((_, to), row) in &held.sl2vl {
            let cabled = |port: &PortId| fabric.peer(*port).is_some();
            let Some(port) = fabric.port_of(*node, *to).filter(cabled) else { continue };
            let room = data_lane_count(fabric, port);
            let lanes = levels_in(levels).map(|level| row.lane(level).value()).filter(|lane| *lane < room);
            top = lanes.fold(top, u8::max);
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn lid(lid: u32) -> Lid {
        Lid::new(lid).unwrap()
    }

    #[test]
    fn slow_levels_are_taken_for_the_levels_before() {
        let level = |level| ServiceLevel::new(level).unwrap();
        let flows = |hot_spot| MovedFlows {
            hot_spot: lid(hot_spot),
            fast: level(1),
            slow: level(4),
            hosts: BTreeSet::from([lid(1)]),
            gone: None,
        };
        let levels = ServiceLevels::ByLid(vec![0, 1 << 4, 1 << 4 | 1 << 2, 1 << 2]);
        let fast = fast_levels(&levels, &[&flows(2), &flows(3)]);
        // LID 1 has moved no flow, and LID 3 has none on the slow level.
        assert_eq!(fast, ServiceLevels::ByLid(vec![0, 1 << 4, 1 << 1 | 1 << 2, 1 << 2]));
    }

    #[test]
    fn the_first_lid_on_a_level_is_named() {
        let by_lid = ServiceLevels::ByLid(vec![0, 1, 1 << 4 | 1, 1 << 4]);
        assert_eq!([0, 4, 5].map(|level| level_user(&by_lid, level)), [Some(lid(1)), Some(lid(2)), None]);
        let by_switch = ServiceLevels::BySwitch { stride: 3, bits: vec![0, 1, 1, 0, 1, 1 << 4] };
        assert_eq!([0, 4, 5].map(|level| level_user(&by_switch, level)), [Some(lid(1)), Some(lid(2)), None]);
    }
}
