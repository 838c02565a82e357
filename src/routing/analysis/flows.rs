//! Flows between hosts over the channels that tables give them: what patterns of them share a channel.

use crate::Problem;
use crate::trees::Ways;
use fabdeck_fabric::{Fabric, Lid, Lmc, PortId, PortNum, Routes, SwitchGraph, Terminal, pick};

/// A host as a source and a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    pub(super) source: Source,
    /// Of the switch, where it leads to the host.
    switch_port: PortNum,
    pub(super) port: PortId,
    lid: Lid,
    lmc: Lmc,
}

/// What hosts that send alike have in common: their switch, and which LID of a port they pick.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Source {
    pub(super) switch: u32,
    /// The place among the hosts, modulo the most LIDs that a port has.
    pick: u8,
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

/// The hosts and the paths between them. Hosts are in the order of their switches and ports; aggregation nodes are
/// no hosts.
#[derive(Debug)]
pub struct Flows<'a> {
    pub(super) graph: &'a SwitchGraph,
    pub(super) fabric: &'a Fabric,
    routes: &'a Routes,
    ways: Ways,
    pub(super) hosts: Vec<Host>,
    most_lids: u16,
}

impl<'a> Flows<'a> {
    /// Collects the hosts of a problem and their paths.
    pub fn new(problem: &'a Problem<'_>, routes: &'a Routes) -> Self {
        let graph = &problem.graph;
        let hosts = graph.terminals().iter().filter(|terminal| computes(problem.fabric, terminal.port));
        let hosts: Vec<(&Terminal, Lid)> =
            hosts.filter_map(|terminal| Some((terminal, terminal.lid?))).collect();
        let most_lids = hosts.iter().map(|(terminal, _)| terminal.lmc.lids()).max().unwrap_or(1);
        let host = |(place, (terminal, lid)): (u32, &(&Terminal, Lid))| {
            let pick = (place & u32::from(most_lids - 1)) as u8;
            let Terminal { port, switch, switch_port, lmc, .. } = **terminal;
            Host { source: Source { switch, pick }, switch_port, port, lid: *lid, lmc }
        };
        let hosts = (0u32..).zip(&hosts).map(host).collect();
        Self { graph, fabric: problem.fabric, routes, ways: Ways::new(graph), hosts, most_lids }
    }

    /// The largest number of LIDs of a host's port. A host with several receives on one of them from each sender.
    pub fn most_lids(&self) -> u16 {
        self.most_lids
    }

    /// Hosts that send alike, with their number.
    pub(super) fn sources(hosts: impl Iterator<Item = Source>) -> Vec<(Source, u64)> {
        let mut all: Vec<Source> = hosts.collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u64)).collect()
    }

    pub(super) fn channels(&self) -> usize {
        self.graph.channels().len()
    }

    /// The channels between the switch of a source and a host, as far as a path leads to the LID that it picks.
    pub(super) fn path(&self, from: Source, to: &Host, path: &mut Vec<usize>) -> Arrival {
        path.clear();
        let (mut at, lid) = (from.switch, pick(from.pick.into(), to.lid, to.lmc.lids()));
        while at != to.source.switch {
            let Some((channel, next)) = self.ways.next(self.graph, self.routes, at, lid) else {
                return self.stuck(at, lid);
            };
            if path.len() > self.graph.switch_count() {
                return Arrival::Lost;
            }
            path.push(channel);
            at = next;
        }
        match self.routes.get(at, lid) {
            Some(port) if port == to.switch_port => Arrival::There,
            _ => self.stuck(at, lid),
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
            let arrival = flows.path(flows.hosts[from].source, &flows.hosts[to], &mut self.path);
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
