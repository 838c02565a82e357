//! Flows between hosts over the channels that tables give them: what patterns of them share a channel.

use crate::Problem;
use crate::trees::PortMap;
use fabdeck_fabric::{Fabric, Lid, Lmc, PortId, PortNum, Routes, SwitchGraph, Terminal, pick_lid};

/// A host as a source and a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHost {
    pub(super) source: FlowSource,
    /// Of the switch, where it leads to the host.
    switch_port: PortNum,
    pub(super) port: PortId,
    lid: Lid,
    lmc: Lmc,
}

/// What hosts that send alike have in common: their switch, and which LID of a port they pick.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct FlowSource {
    pub(super) switch: u32,
    /// The path bits, modulo the most LIDs that a port has.
    path_bits: u8,
}

/// Where a path ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FlowEnd {
    There,
    /// Nowhere, or elsewhere.
    Lost,
    /// At a table whose entry for this LID was not read.
    Unread,
}

/// The hosts and the paths between them. Hosts are in the order of their switches and ports; aggregation nodes are
/// no hosts.
#[derive(Debug)]
pub struct FlowPaths<'a> {
    pub(super) graph: &'a SwitchGraph,
    pub(super) fabric: &'a Fabric,
    routes: &'a Routes,
    ways: PortMap,
    pub(super) hosts: Vec<FlowHost>,
    most_lids: u16,
}

impl<'a> FlowPaths<'a> {
    /// Collects the hosts of a problem and their paths.
    pub fn new(problem: &'a Problem<'_>, routes: &'a Routes) -> Self {
        let graph = &problem.graph;
        let hosts =
            graph.terminals().iter().filter(|terminal| is_compute_host(problem.fabric, terminal.port));
        let hosts: Vec<(&Terminal, Lid)> =
            hosts.filter_map(|terminal| Some((terminal, terminal.lid?))).collect();
        let most_lids = hosts.iter().map(|(terminal, _)| terminal.lmc.lid_count()).max().unwrap_or(1);
        let all_bits = routes.path_bits(problem.fabric);
        let host = |(terminal, lid): &(&Terminal, Lid)| {
            let Terminal { port, switch, switch_port, lmc, .. } = **terminal;
            let path_bits = (u16::from(all_bits.get(port)) & (most_lids - 1)) as u8;
            FlowHost { source: FlowSource { switch, path_bits }, switch_port, port, lid: *lid, lmc }
        };
        let hosts = hosts.iter().map(host).collect();
        Self { graph, fabric: problem.fabric, routes, ways: PortMap::new(graph), hosts, most_lids }
    }

    /// The largest number of LIDs of a host's port. A host with several receives on one of them from each sender.
    pub fn max_lids(&self) -> u16 {
        self.most_lids
    }

    /// Hosts that send alike, with their number.
    pub(super) fn group_sources(hosts: impl Iterator<Item = FlowSource>) -> Vec<(FlowSource, u64)> {
        let mut all: Vec<FlowSource> = hosts.collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u64)).collect()
    }

    pub(super) fn channel_count(&self) -> usize {
        self.graph.channels().len()
    }

    /// The channels between the switch of a source and a host, as far as a path leads to the LID that it picks.
    pub(super) fn path(&self, from: FlowSource, to: &FlowHost, path: &mut Vec<usize>) -> FlowEnd {
        path.clear();
        let (mut at, lid) = (from.switch, pick_lid(from.path_bits, to.lid, to.lmc.lid_count()));
        while at != to.source.switch {
            let Some((channel, next)) = self.ways.next(self.graph, self.routes, at, lid) else {
                return self.end_without_path(at, lid);
            };
            if path.len() > self.graph.switch_count() {
                return FlowEnd::Lost;
            }
            path.push(channel);
            at = next;
        }
        match self.routes.get(at, lid) {
            Some(port) if port == to.switch_port => FlowEnd::There,
            _ => self.end_without_path(at, lid),
        }
    }

    /// Why a path leads no further than to a switch.
    fn end_without_path(&self, at: u32, lid: Lid) -> FlowEnd {
        let absent = self.routes.get(at, lid).is_none();
        if absent && self.routes.is_unread(at, lid) { FlowEnd::Unread } else { FlowEnd::Lost }
    }
}

fn is_compute_host(fabric: &Fabric, port: PortId) -> bool {
    !fabric.node(fabric.port(port).node).facts.is_aggregation()
}

/// What one pattern puts on each channel; used over and over.
#[derive(Debug)]
pub(super) struct SharedChannels {
    flows: Vec<u32>,
    touched: Vec<usize>,
    path: Vec<usize>,
}

impl SharedChannels {
    pub(super) fn new(flows: &FlowPaths<'_>) -> Self {
        Self { flows: vec![0; flows.channel_count()], touched: Vec::new(), path: Vec::new() }
    }

    /// The most flows of a pattern that share a channel. Flows without a path are not in it.
    pub(super) fn max_shared(
        &mut self,
        flows: &FlowPaths<'_>,
        pairs: impl Iterator<Item = (usize, usize)>,
    ) -> u32 {
        let mut most = 0;
        for (from, to) in pairs {
            let arrival = flows.path(flows.hosts[from].source, &flows.hosts[to], &mut self.path);
            if arrival != FlowEnd::There {
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
