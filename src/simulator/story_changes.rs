//! Applies the changes of a story to the simulated fabric.

use super::device::PortRef;
use super::manager_stand_in;
use super::simulated_fabric::SimulatedFabric;
use super::story_step::StoryChange;
use fabdeck_fabric::{ElementId, Faults, LinkWidth, NodeId, PortNum};

impl SimulatedFabric {
    pub(super) fn apply_change(&mut self, change: &StoryChange) {
        let Some(underway) = &mut self.background_traffic else { return };
        match *change {
            StoryChange::FlowRate { flow, mbps } => underway.run.set_flow_rate(flow, mbps),
            StoryChange::SymbolErrors { at, per_minute } => underway.set_error_rate(at, per_minute),
            StoryChange::Link { at, up } => self.set_link(NodeId(at.0), PortNum(at.1), up),
            StoryChange::Width { at, width } => self.set_width(at, width),
            StoryChange::Silence { node, silent } => self.set_silent(node, silent),
            StoryChange::Manager { runs } => self.run_manager(runs),
            StoryChange::Route { engine } => self.reroute(engine),
        }
    }

    fn reroute(&mut self, engine: &str) {
        let mut down = Faults::new();
        for (_, port) in self.snapshot.ports() {
            let socket = self.device(port.node.0).port(port.number.value());
            let link = port.link.filter(|_| !socket.is_some_and(|socket| socket.is_passing_mads()));
            if let Some(link) = link {
                down.mark(ElementId::Link(link));
            }
        }
        manager_stand_in::fill_linear_tables(&self.snapshot, &down, engine, &mut self.devices);
        self.acknowledge_changes();
        self.rewritten = true;
        self.grouped = false;
        self.update_traffic_tables();
    }

    fn set_width(&mut self, at: PortRef, width: LinkWidth) {
        let far = self.devices[at.0 as usize].port(at.1).and_then(|socket| socket.peer);
        let mut mbps = None;
        for (node, port) in [Some(at), far].into_iter().flatten() {
            if let Some(socket) = self.devices[node as usize].port_mut(port) {
                socket.width = width;
                mbps = Some(socket.speed.data_mbps() * width.lanes());
            }
        }
        let port = self.snapshot.port_of(NodeId(at.0), PortNum(at.1));
        if let (Some(underway), Some(port), Some(mbps)) = (&mut self.background_traffic, port, mbps) {
            underway.run.set_rate(port, mbps);
        }
    }
}
