//! Why flows cannot move to a slow lane.

use fabdeck_fabric::{Lid, NodeId, PortId, PortNum};

/// What there is not, and where.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refused {
    /// The highest level or lane in use is so high that the twins would be beyond 14.
    TooHigh { top: u8 },
    /// Paths to others than hot-spots in force use the slow twin of a level.
    Taken { level: u8, lid: Lid },
    /// Flows that are on the slow lane already have other twins than those of the levels in use now.
    OtherTwins { hot_spot: Lid, slow: u8, twin: u8 },
    /// A port on the way has fewer lanes than fast and slow ones together.
    Lanes { port: PortId, has: u8, needs: u8 },
    /// Where a switch leads packets for a hot-spot nobody knows.
    Unread { switch: NodeId, lid: Lid },
    /// Which lanes a node puts packets on from one port to another nobody knows. Port 0 of an adapter: what it sends itself.
    NoTable { node: NodeId, from: PortNum, to: PortNum },
    /// How a port shares its time among lanes nobody knows.
    NoWeights { port: PortId },
    /// The fast lane is in no table of the port, so that it never sends.
    NeverSends { port: PortId, lane: u8 },
    /// A table of arbitration has no free place for the slow lane.
    NoPlace { port: PortId, lane: u8, high: bool },
    /// The port does not have the lane of the fast level, so that its packets end there already.
    Dropped { port: PortId, level: u8, lane: u8 },
}
