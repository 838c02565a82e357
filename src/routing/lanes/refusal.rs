//! Why flows cannot move to a slow lane.

use fabdeck_fabric::{Lid, NodeId, PortId, PortNum};

/// Why flows cannot move to a slow lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SlowLaneRefusal {
    /// The highest level or lane in use is so high that its slow twin would be above 14.
    TooHigh {
        /// The highest level or lane.
        top: u8,
    },
    /// Paths to other destinations than hot-spots use the slow twin of a level.
    Taken {
        /// The level.
        level: u8,
        /// The destination.
        lid: Lid,
    },
    /// Flows on the slow lane have other twins than the levels in use now.
    OtherTwins {
        /// The hot-spot of these flows.
        hot_spot: Lid,
        /// Their slow level.
        slow: u8,
        /// The slow twin of their level now.
        twin: u8,
    },
    /// A port on the path has fewer lanes than fast and slow lanes together.
    Lanes {
        /// The port.
        port: PortId,
        /// The number of its lanes.
        has: u8,
        /// The number of lanes needed.
        needs: u8,
    },
    /// The entry of a switch for a hot-spot was not read.
    Unread {
        /// The switch.
        switch: NodeId,
        /// The hot-spot.
        lid: Lid,
    },
    /// The SL2VL table between two ports of a node is unknown. Port 0 of an adapter is the ingress port of its own
    /// packets.
    NoTable {
        /// The node.
        node: NodeId,
        /// The ingress port.
        from: PortNum,
        /// The egress port.
        to: PortNum,
    },
    /// The VL arbitration of a port is unknown.
    NoWeights {
        /// The port.
        port: PortId,
    },
    /// No arbitration table of the port has the fast lane, so the port never sends on it.
    NeverSends {
        /// The port.
        port: PortId,
        /// The fast lane.
        lane: u8,
    },
    /// An arbitration table has no free entry for the slow lane.
    NoPlace {
        /// The port.
        port: PortId,
        /// The slow lane.
        lane: u8,
        /// Whether it is the high-priority table.
        high: bool,
    },
    /// The port does not have the lane of the fast level, so it drops these packets already.
    Dropped {
        /// The port.
        port: PortId,
        /// The fast level.
        level: u8,
        /// Its lane.
        lane: u8,
    },
}
