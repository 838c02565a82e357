//! A fabric under the routes of an engine: paths as names, and traffic over them.

use std::sync::Arc;

use super::headline_run::{HeadlineRun, HeadlineStop};
use fabdeck_fabric::{Fabric, Faults, Lid, NodeId, PortId, Routes, SwitchGraph, Tables};
use fabdeck_routing::{Problem, RouteProgress};
use fabdeck_simulator::traffic::{
    LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

/// Simulated time between two looks at the stop flag.
const WINDOW_NS: u64 = 50_000;

/// A fabric, its routes, and the lanes and levels of packets.
pub struct RoutedFabric {
    pub fabric: Fabric,
    pub faults: Faults,
    pub routes: Arc<Routes>,
    pub service: LevelSelection,
    pub tables: Tables,
}

impl RoutedFabric {
    /// A fabric by name under an engine.
    pub fn new(run: &HeadlineRun<'_>, name: &str, engine: &str) -> Result<Self, HeadlineStop> {
        let fabric = run.fabric(name)?;
        let routes = run.route(engine, &Problem::new(&fabric, &Faults::default()))?.routes;
        Ok(Self::of(fabric, routes))
    }

    pub fn of(fabric: Fabric, routes: Routes) -> Self {
        let routes = Arc::new(routes);
        let (faults, service) = (Faults::default(), LevelSelection::Routes);
        Self { fabric, faults, routes, service, tables: Tables::default() }
    }

    pub fn begin(
        &self,
        pattern: TrafficPattern,
        settings: TrafficSettings,
    ) -> Result<TrafficRun, HeadlineStop> {
        let setup = NetworkSetup {
            fabric: &self.fabric,
            faults: &self.faults,
            routes: &self.routes,
            service: &self.service,
            tables: &self.tables,
        };
        TrafficRun::new(setup, &TrafficLoad { pattern, settings })
            .map_err(|error| HeadlineStop::Failed(error.to_string()))
    }

    /// Fills the network for a time, then measures for another.
    pub fn measure(
        &self,
        run: &HeadlineRun<'_>,
        (pattern, settings): (TrafficPattern, TrafficSettings),
        (warm_up_ns, measured_ns): (u64, u64),
    ) -> Result<TrafficRun, HeadlineStop> {
        let mut traffic = self.begin(pattern, settings)?;
        advance(run, &mut traffic, warm_up_ns)?;
        traffic.begin_measuring();
        advance(run, &mut traffic, warm_up_ns + measured_ns)?;
        Ok(traffic)
    }

    /// The switches of a path and the ports by which it leaves them, `leaf0[3] mid0[3]`.
    pub fn path_words(&self, from: u32, lid: Lid) -> String {
        let names = walk(&self.fabric, &self.routes, from, lid);
        let words: Vec<String> = names.iter().map(|(name, port)| format!("{name}[{port}]")).collect();
        words.join(" ")
    }

    /// The switch with this name.
    pub fn switch(&self, name: &str) -> Result<u32, HeadlineStop> {
        let found = self.fabric.switches().find(|(id, _)| switch_name(&self.fabric, id.0) == name);
        found.map(|(id, _)| id.0).ok_or_else(|| HeadlineStop::Failed(format!("there is no switch '{name}'")))
    }

    /// The own LID of a switch.
    pub fn lid_of_switch(&self, switch: u32) -> Result<Lid, HeadlineStop> {
        let port = self.fabric.port_of(NodeId(switch), fabdeck_fabric::PortNum::MANAGEMENT);
        let lid = port.and_then(|port| self.fabric.address_of(port)).map(|(lid, _)| lid);
        lid.ok_or_else(|| HeadlineStop::Failed("a switch has no LID".to_owned()))
    }
}

/// The first word of a switch's description.
pub fn switch_name(fabric: &Fabric, switch: u32) -> String {
    let description = &fabric.node(NodeId(switch)).facts.description;
    description.split(' ').next().unwrap_or_default().to_owned()
}

/// The switches of a path, each with the port by which it leaves. A loop ends after as many hops as there are switches.
pub fn walk(fabric: &Fabric, routes: &Routes, from: u32, lid: Lid) -> Vec<(String, u8)> {
    let graph = SwitchGraph::new(fabric, &Faults::default());
    let (mut at, mut path) = (from, Vec::new());
    while let Some(port) = routes.get(at, lid).filter(|_| path.len() <= graph.switch_count()) {
        path.push((switch_name(fabric, at), port.value()));
        let leaving = &graph.channels()[graph.outgoing(at)];
        let Some(channel) = leaving.iter().find(|channel| channel.from_port == port) else { break };
        at = channel.to;
    }
    path
}

/// Advances traffic, and ends where the process is to end.
pub fn advance(run: &HeadlineRun<'_>, traffic: &mut TrafficRun, until_ns: u64) -> Result<(), HeadlineStop> {
    while traffic.now_ns() + 1 < until_ns {
        if run.is_cancelled() {
            return Err(HeadlineStop::Cancelled);
        }
        let next = (traffic.now_ns() + WINDOW_NS).min(until_ns);
        traffic.advance(next);
    }
    Ok(())
}

/// Gb/s that a host receives, in the mean.
pub fn gbps_a_host(traffic: &TrafficRun) -> f64 {
    let ends = traffic.end_counts();
    let hosts = || ends.iter().filter(|end| end.is_host);
    let all: u64 = hosts().map(|end| end.taken_mbps).sum();
    all as f64 / 1e3 / hosts().count().max(1) as f64
}

/// The ports of all hosts, in the order of switches and ports.
pub fn host_ports(fabric: &Fabric) -> Vec<PortId> {
    SwitchGraph::new(fabric, &Faults::default()).terminals().iter().map(|end| end.port).collect()
}
