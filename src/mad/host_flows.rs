//! The open flows of a host. The agent there lists them for machines that watch: on a real host a program of the site
//! knows them. A simulated host runs no software, so the simulator lists its flows, and moves them for a client at that
//! host (Algorithm 2 of dFtree's paper).
//!
//! ```text
//! Get  modifier: the first flow that is wanted
//!      24  0  1  how many there are   2  3  how many follow here
//!          4 ..  of each: LID (2), service level (1), nothing (1)
//! Set  24  0  1  LID   2  the level of its flows from now on   4  5  answer: how many moved
//!      LID 0: all flows go to   3  1: high LIDs, 2: base LIDs      4  5  answer: 0 once nothing is under way to others
//! ```

use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method, attribute};

const DATA_AT: usize = 24;

/// Flows to one LID on one level.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct HostFlow {
    pub lid: U16,
    pub level: u8,
    pub reserved: u8,
}

/// A part of the flows of a host.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct HostFlows {
    pub all: U16,
    pub here: U16,
    pub flows: [HostFlow; HostFlows::MAX_PER_PACKET],
}

impl HostFlows {
    /// Most flows in one answer.
    pub const MAX_PER_PACKET: usize = 57;

    /// The flows that are in this answer.
    pub fn entries(&self) -> &[HostFlow] {
        &self.flows[..usize::from(self.here.get()).min(Self::MAX_PER_PACKET)]
    }

    /// The answer to a request that begins at flow `first`.
    pub fn page(all: &[(u16, u8)], first: usize) -> Self {
        let none = HostFlow { lid: 0.into(), level: 0, reserved: 0 };
        let count = |many: usize| u16::try_from(many).unwrap_or(u16::MAX).into();
        let rest = all.get(first..).unwrap_or_default();
        let here = rest.len().min(Self::MAX_PER_PACKET);
        let mut page = Self { all: count(all.len()), here: count(here), flows: [none; Self::MAX_PER_PACKET] };
        for (place, (lid, level)) in page.flows.iter_mut().zip(rest) {
            (place.lid, place.level) = ((*lid).into(), *level);
        }
        page
    }
}

/// Moves the flows to a LID to this level.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FlowLevel {
    pub lid: U16,
    pub level: u8,
    pub half: u8,
    pub moved: U16,
}

impl FlowLevel {
    /// All flows move to high LIDs, or to base LIDs.
    pub const HIGH: u8 = 1;
    pub const BASE: u8 = 2;
}

impl Mad {
    pub fn query_flows(first: u32) -> Self {
        Self::new(Class::HOST_AGENTS, Method::GET, attribute::HOST_FLOWS, first)
    }

    pub fn move_flows(lid: u16, level: u8) -> Self {
        let mut mad = Self::new(Class::HOST_AGENTS, Method::SET, attribute::HOST_FLOWS, 0);
        *mad.flow_level_mut() = FlowLevel { lid: lid.into(), level, half: 0, moved: 0.into() };
        mad
    }

    /// Moves all flows to the high or base LIDs of the ports that they go to.
    pub fn readdress_flows(high: bool, level: u8) -> Self {
        let mut mad = Self::move_flows(0, level);
        mad.flow_level_mut().half = if high { FlowLevel::HIGH } else { FlowLevel::BASE };
        mad
    }

    pub fn host_flows(&self) -> &HostFlows {
        self.view(DATA_AT)
    }

    pub fn host_flows_mut(&mut self) -> &mut HostFlows {
        self.view_mut(DATA_AT)
    }

    pub fn flow_level(&self) -> &FlowLevel {
        self.view(DATA_AT)
    }

    pub fn flow_level_mut(&mut self) -> &mut FlowLevel {
        self.view_mut(DATA_AT)
    }
}

const _: () = assert!(DATA_AT + size_of::<HostFlows>() <= super::MAD_SIZE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_flows_are_readdressed_by_one_request() {
        for (high, half) in [(true, 1), (false, 2)] {
            let mad = Mad::readdress_flows(high, 5);
            assert_eq!(*mad.flow_level(), FlowLevel { lid: 0.into(), level: 5, half, moved: 0.into() });
            let mut same = Mad::new(Class::HOST_AGENTS, Method::SET, attribute::HOST_FLOWS, 0);
            *same.flow_level_mut() = *mad.flow_level();
            assert_eq!(mad, same);
        }
    }
}
