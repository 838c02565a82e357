//! Four flows that close a credit loop on a tree of three stages, in the manner of figure 2 of the sFtree paper, whose
//! drawing is lost. Two pairs of hosts go up and down, two pairs of switches down and up again, and each needs a cable
//! that the next one holds.
//!
//! ```text
//!        R0 ◄──────────────┐         hosts:    L0 up by M0 and R0, down by M2 to L2;  L2 by M2, R1, M0 to L0
//!     ▲      │             │         switches: R0 down to M2 and up to R1;  R1 down to M0 and up to R0
//!     M0     ▼
//!     ▲      M2
//!     │      │
//!        R1 ◄┘
//! ```

use super::headline_run::{HeadlineRun, HeadlineStop};
use fabdeck_fabric::{Fabric, Faults, NodeId, PortId, PortNum, Routes, SwitchGraph};
use fabdeck_simulator::traffic::{Flow, TrafficSettings};

/// The tree with the four switches of the credit loop and the leaves of the two hosts.
pub struct FourSwitchLoop {
    pub fabric: Fabric,
    graph: SwitchGraph,
    /// R0, M2, R1, M0, in the order of the credit loop.
    credit_loop: [u32; 4],
    leaves: [u32; 2],
    hosts: [PortId; 2],
}

impl FourSwitchLoop {
    /// Rate of a stream that sends as much as it can.
    pub const STREAM_MBPS: u32 = 98_000;

    pub fn new(run: &HeadlineRun<'_>) -> Result<Self, HeadlineStop> {
        let fabric = run.fabric("kary,k=2,n=3")?;
        let graph = SwitchGraph::new(&fabric, &Faults::new());
        let found = Self::find(&graph);
        let (credit_loop, leaves, hosts) =
            found.ok_or_else(|| HeadlineStop::Failed("the tree has no such credit loop".to_owned()))?;
        Ok(Self { fabric, graph, credit_loop, leaves, hosts })
    }

    fn find(graph: &SwitchGraph) -> Option<([u32; 4], [u32; 2], [PortId; 2])> {
        let near = |switch: u32| -> Vec<u32> {
            graph.channels()[graph.outgoing(switch)].iter().map(|channel| channel.to).collect()
        };
        let is_leaf = |switch: &u32| !graph.terminals_of(*switch).is_empty();
        let leaf = (0..graph.switch_count() as u32).find(is_leaf)?;
        let middle = *near(leaf).first()?;
        let roots: Vec<u32> = near(middle).into_iter().filter(|switch| !is_leaf(switch)).collect();
        let [first, second] = *roots.as_slice() else { return None };
        let other = near(first).into_iter().find(|switch| *switch != middle)?;
        let far = near(other).into_iter().find(is_leaf)?;
        let host = |leaf: u32| graph.terminals_of(leaf).first().map(|end| end.port);
        Some(([first, other, second, middle], [leaf, far], [host(leaf)?, host(far)?]))
    }

    /// Generators as able as hosts, as in the paper's artificial scenario (7.1.3), and a buffer for one packet, as in the
    /// multiple LID paper (5.1): with more the shares of four flows just fit, and only chance fills the credit loop.
    pub fn settings() -> TrafficSettings {
        TrafficSettings { switch_limit_mbps: Self::STREAM_MBPS, buffer: 2100, ..TrafficSettings::default() }
    }

    fn own_port(&self, switch: u32) -> Result<PortId, HeadlineStop> {
        let port = self.fabric.port_of(NodeId(switch), PortNum::MANAGEMENT);
        port.ok_or_else(|| HeadlineStop::Failed("a switch has no port 0".to_owned()))
    }

    pub fn flows(&self) -> Result<Vec<Flow>, HeadlineStop> {
        let [first, _, second, _] = self.credit_loop;
        let (one, two) = (self.own_port(first)?, self.own_port(second)?);
        let [a, b] = self.hosts;
        Ok(vec![Flow::new(a, b), Flow::new(one, two), Flow::new(b, a), Flow::new(two, one)])
    }

    /// Each flow on a shortest path, so that the four close a credit loop.
    pub fn routes_by_hand(&self) -> Routes {
        let mut routes = Routes::empty(self.graph.switch_count(), self.fabric.top_lid());
        let ([first, other, second, middle], [near, far]) = (self.credit_loop, self.leaves);
        self.lay_path(&mut routes, &[near, middle, first, other, far], Some(self.hosts[1]));
        self.lay_path(&mut routes, &[first, other, second], self.own_port(second).ok());
        self.lay_path(&mut routes, &[far, other, second, middle, near], Some(self.hosts[0]));
        self.lay_path(&mut routes, &[second, middle, first], self.own_port(first).ok());
        routes
    }

    /// Each switch of the path leads on to the next.
    fn lay_path(&self, routes: &mut Routes, path: &[u32], to: Option<PortId>) {
        let address = to.and_then(|port| self.fabric.address_of(port));
        let Some((lid, _)) = address else { return };
        for hop in path.windows(2) {
            let leaving = &self.graph.channels()[self.graph.outgoing(hop[0])];
            let port = leaving.iter().find(|channel| channel.to == hop[1]);
            routes.set(hop[0], lid, port.map(|channel| channel.from_port));
        }
        if let Some(last) = path.last() {
            let end = self.graph.terminals_of(*last).iter().find(|end| Some(end.port) == to);
            routes.set(*last, lid, Some(end.map_or(PortNum(0), |end| end.switch_port)));
        }
    }
}
