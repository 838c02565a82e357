//! The test bed of the dFtree paper (figure 3): three leaf switches with two cables each to one root.

use super::headline_run::HeadlineStop;
use super::routed_fabric::RoutedFabric;
use fabdeck_fabric::{
    ElementId, Fabric, FabricBuilder, Faults, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeId, NodeKey,
    NodeKind, PortId, PortNum, Routes,
};
use fabdeck_simulator::traffic::{Flow, TrafficSettings};

const LEAVES: u8 = 3;
/// What the hosts of the paper send at the most, in Mb/s.
const HOST_LIMIT: u32 = 12_900;

/// Hosts a leaf, speed of the cables to the root, and whether a cable of leaf A has failed.
#[derive(Clone, Copy, Debug)]
pub struct TestBedShape {
    pub per_leaf: u8,
    pub trunk: LinkSpeed,
    pub one_lost: bool,
}

/// The fabric with the paper's routes.
pub struct DftreeTestBed {
    pub routed: RoutedFabric,
}

impl DftreeTestBed {
    /// Odd hosts are reached over the first cable of their leaf, even ones over the second, if it has not failed.
    pub fn new(shape: TestBedShape) -> Result<Self, HeadlineStop> {
        let fabric =
            figure_3(shape).ok_or_else(|| HeadlineStop::Failed("figure 3 has no fabric".to_owned()))?;
        let routes = paper_routes(&fabric, shape);
        let faults = if shape.one_lost { lost_cable(&fabric, shape.per_leaf) } else { Faults::default() };
        Ok(Self { routed: RoutedFabric { faults, ..RoutedFabric::of(fabric, routes) } })
    }

    pub fn host(&self, number: u8) -> Result<PortId, HeadlineStop> {
        let fabric = &self.routed.fabric;
        let node = fabric.node_of(NodeKind::ChannelAdapter, host_guid(number));
        let port = node.and_then(|node| fabric.port_of(node, PortNum(1)));
        port.ok_or_else(|| HeadlineStop::Failed(format!("there is no host {number}")))
    }

    pub fn flow(&self, (from, to): (u8, u8)) -> Result<Flow, HeadlineStop> {
        Ok(Flow::new(self.host(from)?, self.host(to)?))
    }
}

pub fn host_limits() -> TrafficSettings {
    TrafficSettings { host_limit_mbps: Some(HOST_LIMIT), ..TrafficSettings::default() }
}

/// Far enough apart that the ports of an adapter can have the next numbers.
fn host_guid(number: u8) -> Guid {
    Guid(0x100 + 0x10 * u64::from(number))
}

fn paper_routes(fabric: &Fabric, TestBedShape { per_leaf, one_lost, .. }: TestBedShape) -> Routes {
    let mut routes = Routes::empty(usize::from(LEAVES) + 1, fabric.top_lid());
    let second = |leaf: u8, host: u8| u8::from(host.is_multiple_of(2) && !(one_lost && leaf == 0));
    for host in 1..=LEAVES * per_leaf {
        let own = (host - 1) / per_leaf;
        let Some(lid) = Lid::new(host.into()) else { continue };
        for at in 0..LEAVES {
            let port = match at == own {
                true => (host - 1) % per_leaf + 1,
                false => per_leaf + 1 + second(at, host),
            };
            routes.set(at.into(), lid, Some(PortNum(port)));
        }
        routes.set(LEAVES.into(), lid, Some(PortNum(2 * own + 1 + second(own, host))));
    }
    routes
}

fn figure_3(shape: TestBedShape) -> Option<Fabric> {
    let TestBedShape { per_leaf, trunk, .. } = shape;
    let mut builder = FabricBuilder::new();
    let mut switches = Vec::new();
    for (number, name) in ["A", "B", "C", "root"].into_iter().enumerate() {
        let facts = NodeFacts::new(NodeKind::Switch, Guid(number as u64 + 1), 36, name);
        let key = builder.add_node(facts).ok()?;
        builder.port(key, PortNum(0)).lid = Lid::new(100 + number as u32);
        switches.push(key);
    }
    let root = *switches.last()?;
    for leaf in 0..LEAVES {
        for second in 0..2 {
            let up = (*switches.get(usize::from(leaf))?, PortNum(per_leaf + 1 + second));
            connect(&mut builder, [up, (root, PortNum(2 * leaf + 1 + second))], trunk)?;
        }
    }
    for host in 1..=LEAVES * per_leaf {
        let (at, port) = ((host - 1) / per_leaf, (host - 1) % per_leaf + 1);
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, host_guid(host), 1, format!("node{host}"));
        let key = builder.add_node(facts).ok()?;
        builder.port(key, PortNum(1)).lid = Lid::new(host.into());
        let leaf = *switches.get(usize::from(at))?;
        connect(&mut builder, [(key, PortNum(1)), (leaf, PortNum(port))], LinkSpeed::Ddr)?;
    }
    Some(builder.finish())
}

fn connect(builder: &mut FabricBuilder, ends: [(NodeKey, PortNum); 2], speed: LinkSpeed) -> Option<()> {
    for (key, port) in ends {
        let facts = builder.port(key, port);
        (facts.speed, facts.width) = (Some(speed), Some(LinkWidth::X4));
    }
    builder.connect(ends[0], ends[1]).ok()
}

/// The failed cable of leaf A.
fn lost_cable(fabric: &Fabric, per_leaf: u8) -> Faults {
    let mut faults = Faults::default();
    let port = fabric
        .node_of(NodeKind::Switch, Guid(1))
        .and_then(|leaf: NodeId| fabric.port_of(leaf, PortNum(per_leaf + 2)));
    if let Some(link) = port.and_then(|port| fabric.port(port).link) {
        faults.mark(ElementId::Link(link));
    }
    faults
}
