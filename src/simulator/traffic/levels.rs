//! Service levels of a host's flows, changed during the run (dFtree, Algorithm 2). Flows to the LID of a notice change
//! their level; queued packets keep theirs.

use super::lanes::lane_of;
use super::network::TrafficRun;
use fabdeck_fabric::PortId;

impl TrafficRun {
    /// The LIDs that a port sends to, with levels, sorted by LID and without duplicates.
    pub fn flows_of(&self, port: PortId) -> Vec<(u16, u8)> {
        let Some(end) = self.end_of_port(port) else { return Vec::new() };
        let mut all: Vec<(u16, u8)> = match self.senders.is_random(end) {
            false => {
                self.senders.flows.iter().filter(|flow| flow.from == end).map(|f| (f.lid, f.level)).collect()
            }
            true => {
                let others = self.senders.hosts.iter().filter(|host| **host != end);
                others.map(|to| self.random_flow(end, *to)).collect()
            }
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Moves the flows of a port to a LID to a level; returns how many were on another one.
    pub fn set_flow_level(&mut self, port: PortId, lid: u16, level: u8) -> usize {
        let level = level & 0xF;
        let Some(end) = self.end_of_port(port) else { return 0 };
        self.ensure_lane_of_level(level);
        let lane = lane_of(&self.adapters, end, level);
        let moved = match self.senders.is_random(end) {
            true => {
                let to = self.senders.hosts.iter().copied().filter(|host| *host != end);
                let held = to.map(|to| self.random_flow(end, to)).find(|flow| flow.0 == lid);
                let moves = held.is_some_and(|(_, held)| held != level);
                if moves {
                    self.senders.set_random_level(end, lid, (level, lane));
                }
                usize::from(moves)
            }
            false => self.senders.move_flows(end, lid, (level, lane), &self.adapters),
        };
        if moved > 0 {
            self.begin_sending(end);
        }
        moved
    }

    /// Adds queues for the lanes of a level that was not used before.
    pub(crate) fn ensure_lane_of_level(&mut self, level: u8) {
        self.lanes = self.lanes.max(self.lane_map.lane_count(1 << level, &self.adapters));
        self.add_lanes(u32::from(self.lanes).next_power_of_two().trailing_zeros());
    }

    pub(crate) fn end_of_port(&self, port: PortId) -> Option<u32> {
        (0u32..).zip(&self.graph.ends).find(|(_, end)| end.port == port).map(|(number, _)| number)
    }

    /// The LID and the level of the packets that one end draws for another.
    fn random_flow(&self, end: u32, to: u32) -> (u16, u8) {
        let target = &self.graph.ends[to as usize];
        let usual =
            self.service.path_level(&self.routes, (self.graph.ends[end as usize].switch, target.lid), 0);
        self.senders.random_flow(end, to, target, usual)
    }
}
