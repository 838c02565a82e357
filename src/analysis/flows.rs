//! Flows between hosts over the channels that tables give them: what patterns of them share a channel.

use crate::fabric::{Fabric, Lid, PortId, PortNum, Routes, SwitchGraph};
use crate::routing::Problem;
use crate::routing::trees::Ways;

/// A host as a source and a destination, by its first LID.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    pub(super) switch: u32,
    /// Of the switch, where it leads to the host.
    switch_port: PortNum,
    pub(super) port: PortId,
    lid: Lid,
}

/// Where a path ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    There,
    /// Nowhere, or elsewhere.
    Lost,
    /// At a table of which nobody read this entry.
    Unread,
}

/// Hosts in the order of their switches and ports there; aggregation nodes are none.
#[derive(Debug)]
pub struct Flows<'a> {
    pub(super) graph: &'a SwitchGraph,
    pub(super) fabric: &'a Fabric,
    routes: &'a Routes,
    ways: Ways,
    pub(super) hosts: Vec<Host>,
}

impl<'a> Flows<'a> {
    pub fn new(problem: &'a Problem<'_>, routes: &'a Routes) -> Self {
        let graph = &problem.graph;
        let hosts = graph.terminals().iter().filter(|terminal| computes(problem.fabric, terminal.port));
        let hosts = hosts.filter_map(|terminal| {
            let (switch, switch_port) = (terminal.switch, terminal.switch_port);
            Some(Host { switch, switch_port, port: terminal.port, lid: terminal.lid? })
        });
        Self { graph, fabric: problem.fabric, routes, ways: Ways::new(graph), hosts: hosts.collect() }
    }

    pub(super) fn channels(&self) -> usize {
        self.graph.channels().len()
    }

    /// The channels between a switch and a host, as far as a path leads.
    pub(super) fn path(&self, from: u32, to: &Host, path: &mut Vec<usize>) -> Arrival {
        path.clear();
        let mut at = from;
        while at != to.switch {
            let Some((channel, next)) = self.ways.next(self.graph, self.routes, at, to.lid) else {
                return self.stuck(at, to.lid);
            };
            if path.len() > self.graph.switch_count() {
                return Arrival::Lost;
            }
            path.push(channel);
            at = next;
        }
        match self.routes.get(at, to.lid) {
            Some(port) if port == to.switch_port => Arrival::There,
            _ => self.stuck(at, to.lid),
        }
    }

    /// Why a path leads no further than to a switch.
    fn stuck(&self, at: u32, lid: Lid) -> Arrival {
        let absent = self.routes.get(at, lid).is_none();
        if absent && self.routes.is_unread(at, lid) { Arrival::Unread } else { Arrival::Lost }
    }
}

fn computes(fabric: &Fabric, port: PortId) -> bool {
    !fabric.node(fabric.port(port).node).facts.is_aggregation()
}

/// What one pattern puts on each channel; used over and over.
#[derive(Debug)]
pub(super) struct Pattern {
    flows: Vec<u32>,
    touched: Vec<usize>,
    path: Vec<usize>,
}

impl Pattern {
    pub(super) fn new(flows: &Flows<'_>) -> Self {
        Self { flows: vec![0; flows.channels()], touched: Vec::new(), path: Vec::new() }
    }

    /// The most flows of a pattern that share a channel. Flows without a path are not in it.
    pub(super) fn most(&mut self, flows: &Flows<'_>, pairs: impl Iterator<Item = (usize, usize)>) -> u32 {
        let mut most = 0;
        for (from, to) in pairs {
            let arrival = flows.path(flows.hosts[from].switch, &flows.hosts[to], &mut self.path);
            if arrival != Arrival::There {
                continue;
            }
            for channel in &self.path {
                let held = &mut self.flows[*channel];
                if *held == 0 {
                    self.touched.push(*channel);
                }
                *held += 1;
                most = most.max(*held);
            }
        }
        self.touched.drain(..).for_each(|channel| self.flows[channel] = 0);
        most
    }
}
