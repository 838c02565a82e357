//! The filter of figure 5.6: jobs of several hosts on several switches, without their ids.

use std::collections::BTreeSet;

use fabdeck_fabric::{Fabric, Guid, JobMap, NodeId, PortId};

/// The hosts of each job on several switches, without its id, in a fixed order. Equal lists need the same routes: a
/// job that follows another on the same hosts changes nothing (dissertation 5.2.2.1).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MultiSwitchJobs(Vec<BTreeSet<Guid>>);

impl MultiSwitchJobs {
    pub fn of(fabric: &Fabric, jobs: &JobMap) -> Self {
        let several = jobs
            .iter()
            .filter(|(_, ports)| host_count(fabric, jobs, ports) > 1 && switch_count(fabric, ports) > 1);
        let adapters = |ports: &BTreeSet<PortId>| {
            ports.iter().map(|port| fabric.node(fabric.port(*port).node).guid()).collect()
        };
        let mut sets: Vec<BTreeSet<Guid>> = several.map(|(_, ports)| adapters(ports)).collect();
        sets.sort_unstable();
        Self(sets)
    }

    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Number of hosts of a job. A host with adapters on several switches sends nothing to itself.
fn host_count(fabric: &Fabric, jobs: &JobMap, ports: &BTreeSet<PortId>) -> usize {
    ports.iter().map(|port| jobs.host(fabric, *port)).collect::<BTreeSet<NodeId>>().len()
}

/// Number of switches that the ports are on.
fn switch_count(fabric: &Fabric, ports: &BTreeSet<PortId>) -> usize {
    let peer = |port: &PortId| Some(fabric.port(fabric.peer(*port)?).node);
    let switches: BTreeSet<NodeId> =
        ports.iter().filter_map(peer).filter(|node| fabric.node(*node).is_switch()).collect();
    switches.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn jobs_on_one_switch_and_ids_count_for_nothing() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        // Two leaves with two hosts each.
        let hosts: Vec<PortId> = fabric
            .nodes()
            .filter(|(_, node)| !node.is_switch())
            .flat_map(|(id, _)| fabric.ports_of(id).map(|(port, _)| port).collect::<Vec<_>>())
            .collect();
        let of = |rows: &[(&str, &[usize])]| {
            let mut jobs = JobMap::default();
            for (job, at) in rows {
                at.iter().for_each(|at| jobs.add(job, hosts[*at]));
            }
            MultiSwitchJobs::of(&fabric, &jobs)
        };
        let first = of(&[("1", &[0, 3]), ("2", &[0, 1]), ("3", &[1, 2])]);
        assert_eq!(first.len(), 2);
        // Other jobs on the same hosts, in another order, and another job on one switch.
        assert_eq!(of(&[("10", &[1, 2]), ("11", &[0, 3]), ("12", &[2, 3])]), first);
        assert_ne!(of(&[("1", &[0, 3]), ("3", &[1, 3])]), first);
        assert_ne!(of(&[("1", &[0, 3])]), first);
        // A second job on the same hosts changes routes: they weigh by pairs.
        assert_ne!(of(&[("1", &[0, 3]), ("4", &[0, 3]), ("3", &[1, 2])]), first);
        assert!(of(&[("2", &[0, 1])]).is_empty());
    }

    #[test]
    fn a_job_of_one_host_is_no_multi_switch_job() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let adapters = fabric.nodes().filter(|(_, node)| !node.is_switch());
        let ports: Vec<(PortId, NodeId)> = adapters
            .flat_map(|(id, _)| fabric.ports_of(id).map(|(port, _)| (port, id)).collect::<Vec<_>>())
            .collect();
        // The first and the last adapter, on two leaves, belong to one host.
        let mut jobs = JobMap::default();
        [0, 3].iter().for_each(|at: &usize| jobs.add("1", ports[*at].0));
        assert_eq!(MultiSwitchJobs::of(&fabric, &jobs).len(), 1);
        jobs.join_host(ports[3].0, ports[0].1);
        assert!(MultiSwitchJobs::of(&fabric, &jobs).is_empty());
        jobs.add("1", ports[1].0);
        assert_eq!(MultiSwitchJobs::of(&fabric, &jobs).len(), 1);
    }
}
