//! Who is hit: the hosts and jobs behind ports, and the paths and jobs over links.

use std::collections::BTreeSet;

use super::problem::{HitHost, HitJob, HitRole};
use super::problem_list::HealthFacts;
use fabdeck_fabric::{LinkId, NodeId, PortId};

impl HealthFacts<'_> {
    /// The hosts at the ends of a link, each as its attached host.
    pub(super) fn attached_hosts(&self, link: LinkId) -> Vec<NodeId> {
        let fabric = self.look.fabric();
        let ends = fabric.link(link);
        let nodes = [ends.a, ends.b].map(|port| fabric.port(port).node);
        nodes.into_iter().filter(|node| !fabric.node(*node).is_switch()).collect()
    }

    /// The hosts that a switch leads to.
    pub(super) fn hosts_at(&self, switch: NodeId) -> Vec<NodeId> {
        let fabric = self.look.fabric();
        let peers = fabric.ports_of(switch).filter_map(|(_, port)| port.peer);
        let nodes: BTreeSet<NodeId> = peers.map(|port| fabric.port(port).node).collect();
        let is_host = |node: &NodeId| {
            let node = fabric.node(*node);
            !node.is_switch() && !node.facts.is_aggregation()
        };
        nodes.into_iter().filter(is_host).collect()
    }

    pub(super) fn hit_hosts(&self, nodes: &[NodeId], role: HitRole) -> Vec<HitHost> {
        let host = |node: &NodeId| HitHost {
            host: self.look.unique_name(*node).into_owned(),
            role,
            time_waited: None,
        };
        nodes.iter().map(host).collect()
    }

    /// Paths over a link between switches, where tables are known.
    pub(super) fn paths_over(&self, link: LinkId) -> Option<u64> {
        self.paths?.load_of(link).map(|[there, back]| there + back)
    }

    /// The jobs with hosts among these.
    pub(super) fn jobs_of_hosts(&self, hosts: &[NodeId]) -> Option<Vec<HitJob>> {
        let (fabric, map) = (self.look.fabric(), &self.jobs?.jobs);
        let hit = |(job, ports): (&String, &BTreeSet<PortId>)| {
            let own: BTreeSet<NodeId> = ports.iter().map(|port| fabric.port(*port).node).collect();
            let hosts = hosts.iter().filter(|host| own.contains(host)).count();
            (hosts > 0).then(|| HitJob { job: job.clone(), hosts, paths: 0 })
        };
        let mut hit: Vec<HitJob> = map.iter().filter_map(hit).collect();
        hit.sort_by_key(|job| std::cmp::Reverse(job.hosts));
        Some(hit)
    }

    /// The jobs with paths over a link: under the current tables over one between switches, otherwise those of its
    /// host.
    pub(super) fn jobs_over(&self, link: LinkId) -> Option<Vec<HitJob>> {
        let fabric = self.look.fabric();
        if !fabric.is_between_switches(link) {
            return self.jobs_of_hosts(&self.attached_hosts(link));
        }
        let jobs = self.jobs?;
        let loads = &jobs.in_force.as_ref()?.loads;
        let ends = [fabric.link(link).a, fabric.link(link).b];
        let channels: Vec<usize> =
            (0..jobs.channels.len()).filter(|at| ends.contains(&jobs.channels[*at])).collect();
        let paths = |at: usize| -> u64 {
            let own = loads.jobs.get(at).map_or(&[][..], |job| job.loads.as_slice());
            own.iter()
                .filter(|(channel, _)| channels.contains(&channel.index()))
                .map(|(_, paths)| paths)
                .sum()
        };
        let hit = |(at, (job, _)): (usize, (&String, &BTreeSet<PortId>))| {
            let paths = paths(at);
            (paths > 0).then(|| HitJob { job: job.clone(), hosts: 0, paths })
        };
        let mut hit: Vec<HitJob> = jobs.jobs.iter().enumerate().filter_map(hit).collect();
        hit.sort_by_key(|job| std::cmp::Reverse(job.paths));
        Some(hit)
    }
}
