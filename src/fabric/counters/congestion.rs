//! Where a fabric is congested: ports that wait, hot-spots, what adapters have to do with them, and narrow uplinks.

use crate::{NodeId, PortId};

/// A port that waits, and how much.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CongestedPort {
    /// The port.
    pub port: PortId,
    /// Ticks of waiting per second.
    pub congestion: f64,
    /// Whether the port may have waited more than `congestion` says.
    pub at_least: bool,
    /// The fraction of the time in which the port waited, where the length of a tick is known.
    pub time_waited: Option<f64>,
    /// The fraction of its link's bandwidth that the port used, where that is known.
    pub utilisation: Option<f64>,
}

/// An adapter that receives more slowly than packets arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotSpot {
    /// The switch port in front of the adapter; it counts the waiting.
    pub at: CongestedPort,
    /// The adapter's port, which is the hot-spot.
    pub adapter: PortId,
}

/// What shows that an adapter contributes to a hot-spot. Rates are in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Evidence {
    /// The other adapters' paths to this hot-spot carry less than what arrives there.
    OthersFallShort {
        /// The adapter port that receives too slowly.
        hot_spot: PortId,
        /// What the other adapters' paths carry at most.
        others: f64,
        /// What arrives at the hot-spot.
        arrived: f64,
    },
    /// Adapters that are no hot-spots can have received only a part of what this adapter sends.
    NowhereElse {
        /// What the other adapters can have received at most.
        elsewhere: f64,
        /// What the adapter sends.
        sent: f64,
    },
    /// The rates of all channels together leave no other explanation: this much of what the adapter sends goes to
    /// the hot-spot.
    AllChannels {
        /// The adapter port that receives too slowly.
        hot_spot: PortId,
        /// What the adapter sends to it at least.
        least: f64,
        /// What the adapter sends.
        sent: f64,
    },
}

/// The role of an adapter that waits, with its evidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CongestionRole {
    /// It gets less than a fair share and sends to a hot-spot.
    Contributor(Evidence),
    /// It gets less than a fair share: either it sends to a hot-spot, or its packets wait behind packets to one.
    /// The counters alone do not separate the two.
    Undecided,
    /// It gets less than a fair share, and little of what it sends goes to a hot-spot. Rates are in bytes per
    /// second.
    Victim {
        /// What the adapter sends to hot-spots at most.
        most: f64,
        /// What the adapter sends.
        sent: f64,
    },
    /// It waits, and it gets at least the fair share of its link.
    FairShare,
    /// It waits, and how much it sends is unknown.
    Unknown,
}

/// What an adapter sends to a hot-spot, in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotSpotFlow {
    /// The adapter port that receives too slowly.
    pub hot_spot: PortId,
    /// What the adapter sends to it at the least.
    pub least: f64,
    /// What the adapter sends to it at the most.
    pub most: f64,
    /// The port on the path that carried least, and so limits the flow.
    pub narrowest: Option<PortId>,
}

/// The role of an adapter that earlier intervals suggest and do not prove.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LikelyRole {
    /// It sends to a hot-spot, unless an adapter changed its destinations and did not send more.
    Contributor(HotSpotFlow),
    /// It sent nothing to the hot-spots before, and its rate has not risen since.
    Victim {
        /// What the adapter sends to hot-spots at most, in bytes per second.
        most: f64,
    },
}

impl LikelyRole {
    /// The role with the limits of both, where both are the same.
    pub(super) fn joined(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Victim { most: a }, Self::Victim { most: b }) => Some(Self::Victim { most: a.max(b) }),
            (Self::Contributor(a), Self::Contributor(b)) if a.hot_spot == b.hot_spot => {
                let (least, most) = (a.least.min(b.least), a.most.max(b.most));
                Some(Self::Contributor(HotSpotFlow { least, most, ..a }))
            }
            _ => None,
        }
    }
}

/// An adapter that waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CongestedAdapter {
    /// The adapter's own port, which counts the waiting.
    pub at: CongestedPort,
    /// Whether the adapter causes the waiting or suffers from it, as far as one interval proves it.
    pub role: CongestionRole,
    /// What it sends to the hot-spot that it can send most to. `None`: not computed, or there is no hot-spot.
    pub flow: Option<HotSpotFlow>,
    /// The role that earlier intervals suggest, where this one proves none.
    pub likely: Option<LikelyRole>,
    /// Whether the likely role rests on the flows that agents of hosts list.
    pub by_agents: bool,
}

impl CongestedAdapter {
    /// An adapter of which nothing but its role is known.
    pub fn new(at: CongestedPort, role: CongestionRole) -> Self {
        Self { at, role, flow: None, likely: None, by_agents: false }
    }
}

/// A port between switches that carries the traffic of more hosts than its bandwidth allows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OversubscribedUplink {
    /// The port and how much it waits.
    pub at: CongestedPort,
    /// The switch with the hosts: the port's own switch where the port leads up, its peer where it leads down.
    pub leaf: NodeId,
    /// The number of hosts at the switch.
    pub hosts: usize,
    /// The number of links between the switch and other switches.
    pub uplinks: usize,
    /// The bandwidth of the hosts divided by the bandwidth of the uplinks.
    pub ratio: f64,
}

/// The hot-spots of one interval, and the ports that wait.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HotSpots {
    /// The hot-spots, the most congested first.
    pub hot_spots: Vec<HotSpot>,
    /// Adapters that wait, the most congested first. Without a hot-spot the cause is another one.
    pub congested_adapters: Vec<CongestedAdapter>,
    /// Ports between switches that wait, the most congested first.
    pub congested_ports: Vec<CongestedPort>,
    /// The ports of `congested_ports` that are too narrow for the hosts behind them, the most congested first.
    pub oversubscribed: Vec<OversubscribedUplink>,
    /// Ports whose waiting is unknown: they do not count it, the counter is at its maximum, or they did not answer.
    pub unknown_ports: Vec<PortId>,
}

impl HotSpots {
    /// Whether ports between switches wait although no adapter is a hot-spot.
    pub fn has_narrow_links(&self) -> bool {
        self.hot_spots.is_empty() && !self.congested_ports.is_empty()
    }

    /// Whether the waiting ports between switches send almost nothing although their links have bandwidth left.
    pub fn is_stalled(&self) -> bool {
        let still = |way: &CongestedPort| way.utilisation.is_some_and(|used| used < 0.005);
        self.has_narrow_links() && self.congested_ports.iter().all(still)
    }

    /// Whether no port waits.
    pub fn is_quiet(&self) -> bool {
        self.hot_spots.is_empty() && self.congested_adapters.is_empty() && self.congested_ports.is_empty()
    }
}
