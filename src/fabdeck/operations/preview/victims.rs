//! Who is hit by failed elements, by name: hosts that are cut off, hosts that some senders no longer reach, and jobs that
//! lose hosts.

use std::collections::BTreeSet;

use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::preview::whatif::CostBound;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Faults, JobMap, NodeId, PortId};
use fabdeck_routing::analysis::{HitPorts, MarkedPaths};

/// Largest number of hosts and of jobs that are named, in an answer and on a screen; the counts are complete.
const MAX_NAMED: usize = 24;
const MAX_SHOWN: usize = 240;

json_type! {
    /// Hosts and jobs that failed elements hit. Lists have the first names, and counts are complete.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct Victims {
        /// Hosts that no cable connects any more with the largest part of the fabric.
        pub cut_off: NamedHosts,
        /// Aggregation nodes of switches that are cut off, which are no hosts.
        pub cut_off_aggregation_nodes: usize,
        /// Hosts to which some senders have no path until a reroute. `None`: not known, because no tables are.
        pub degraded: Option<DegradedHosts>,
        /// Hosts that are neither. `None`: not known.
        pub untouched_hosts: Option<usize>,
        /// `None`: no job is known.
        pub jobs: Option<BrokenJobs>,
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct NamedHosts {
        pub count: usize,
        pub first: Vec<String>,
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct DegradedHosts {
        pub count: usize,
        /// Number of senders that a host has before the marks, without those that are cut off; for screens. `None` where
        /// partitions give hosts different senders.
        #[serde(skip)]
        pub of_senders: Option<u64>,
        /// The most hit hosts first.
        pub first: Vec<DegradedHost>,
        /// The words before the count that say how far it can be trusted; JSON has them with the other costs.
        #[serde(skip)]
        pub bound: &'static str,
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct DegradedHost {
        pub host: String,
        /// Number of senders without a path to it.
        pub senders: u64,
        /// The first job that runs on it, for screens.
        #[serde(skip)]
        pub job: Option<String>,
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct BrokenJobs {
        /// Number of jobs with a host that is cut off.
        pub count: usize,
        /// Number of jobs that are known.
        pub known: usize,
        /// The jobs that lose most hosts first.
        pub first: Vec<BrokenJob>,
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct BrokenJob {
        pub job: String,
        /// Number of its hosts.
        pub hosts: usize,
        pub cut_off: NamedHosts,
    }
}

/// The hosts that failed elements hit; names and jobs follow when they are asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HitHosts {
    cut_off: BTreeSet<NodeId>,
    cut_off_aggregation_nodes: usize,
    /// Hosts to which this number of senders has no path, the most hit first. `None` without tables.
    degraded: Option<Vec<(NodeId, u64)>>,
    /// How far these follow what packets do.
    bound: CostBound,
    /// Number of all hosts, and of all aggregation nodes of switches.
    hosts: usize,
    aggregation_nodes: usize,
    /// Number of senders to a port that is not cut off: all end ports but itself and those that are. `None` with
    /// partitions.
    senders: Option<u64>,
}

/// How victims are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostNames {
    /// As in other answers: `node01 mlx5_0`.
    Full,
    /// Without an only adapter: `node01`.
    Short,
}

impl HitHosts {
    /// The hosts that marks hit under indexed paths.
    pub fn under_tables(look: &Snapshot, marked: &MarkedPaths, bound: CostBound) -> Self {
        let hit = Self::new(look, &marked.hit_ports(look.fabric(), manager_port(look)), true);
        Self { bound, ..hit }
    }

    /// The hosts that marks cut off, where no tables are known.
    pub fn by_cables(look: &Snapshot, faults: &Faults) -> Self {
        Self::new(look, &HitPorts::by_cables(look.fabric(), faults, manager_port(look)), false)
    }

    fn new(look: &Snapshot, hit: &HitPorts, tables: bool) -> Self {
        let fabric = look.fabric();
        let node = |port: PortId| fabric.port(port).node;
        let gone: BTreeSet<PortId> = hit.cut_off.iter().copied().collect();
        // A node with several ports is cut off when all of them are.
        let is_gone = |id: &NodeId| {
            let mut ports = fabric.ports_of(*id).filter(|(_, port)| port.facts.lid.is_some());
            ports.all(|(port, _)| gone.contains(&port))
        };
        let is_host = |id: &NodeId| is_host(look, *id);
        let nodes: BTreeSet<NodeId> = hit.cut_off.iter().map(|port| node(*port)).filter(is_gone).collect();
        let (cut_off, aggregation): (BTreeSet<NodeId>, BTreeSet<NodeId>) =
            nodes.into_iter().partition(|id| is_host(id));
        let mut seen = cut_off.clone();
        let degraded = hit.degraded.iter().map(|hit| (node(hit.port), hit.senders));
        let degraded = degraded.filter(|(id, _)| is_host(id) && seen.insert(*id)).collect();
        Self {
            cut_off_aggregation_nodes: aggregation.len(),
            degraded: tables.then_some(degraded),
            bound: CostBound::Exact,
            hosts: fabric.nodes().filter(|(id, _)| is_host(id)).count(),
            aggregation_nodes: fabric.nodes().filter(|(_, node)| node.facts.is_aggregation()).count(),
            senders: look
                .partitions
                .is_none()
                .then(|| hit.ports.saturating_sub(hit.cut_off.len() + 1) as u64),
            cut_off,
        }
    }

    /// `36 hosts + 9 aggregation nodes`: what pairs are counted of, where that is not hosts alone.
    pub fn end_nodes_words(&self) -> Option<String> {
        let nodes = Some(self.aggregation_nodes).filter(|nodes| *nodes > 0)?;
        let hosts = count_words(self.hosts, "host", "hosts");
        Some(format!("{hosts} + {}", count_words(nodes, "aggregation node", "aggregation nodes")))
    }

    /// The victims by name, with the jobs that lose hosts where jobs are known.
    pub fn victims(&self, look: &Snapshot, jobs: Option<&JobMap>, names: HostNames) -> Victims {
        let degraded = self.degraded.as_ref();
        Victims {
            cut_off: NamedHosts::new(look, &self.cut_off, names),
            cut_off_aggregation_nodes: self.cut_off_aggregation_nodes,
            degraded: degraded.map(|hosts| DegradedHosts {
                count: hosts.len(),
                of_senders: self.senders,
                bound: self.bound.prefix(),
                first: hosts
                    .iter()
                    .take(names.most())
                    .map(|(host, senders)| DegradedHost {
                        host: names.name(look, *host),
                        senders: *senders,
                        job: jobs.and_then(|jobs| job_on(look, jobs, *host)),
                    })
                    .collect(),
            }),
            untouched_hosts: degraded.map(|hosts| self.hosts - self.cut_off.len() - hosts.len()),
            jobs: jobs.map(|jobs| self.broken_jobs(look, jobs, names)),
        }
    }

    fn broken_jobs(&self, look: &Snapshot, jobs: &JobMap, names: HostNames) -> BrokenJobs {
        let known = jobs.iter().len();
        if self.cut_off.is_empty() {
            return BrokenJobs { known, ..BrokenJobs::default() };
        }
        let fabric = look.fabric();
        let broken = |(job, ports): (&String, &BTreeSet<PortId>)| {
            let hosts: BTreeSet<NodeId> = ports.iter().map(|port| jobs.host(fabric, *port)).collect();
            let gone: BTreeSet<NodeId> = hosts.intersection(&self.cut_off).copied().collect();
            (!gone.is_empty()).then(|| (job.clone(), hosts.len(), gone))
        };
        let mut broken: Vec<_> = jobs.iter().filter_map(broken).collect();
        broken.sort_by_key(|(_, _, gone)| std::cmp::Reverse(gone.len()));
        let count = broken.len();
        let named = broken.into_iter().take(names.most()).map(|(job, hosts, gone)| BrokenJob {
            job,
            hosts,
            cut_off: NamedHosts::new(look, &gone, names),
        });
        BrokenJobs { count, known, first: named.collect() }
    }
}

/// The first job with a port of a host.
fn job_on(look: &Snapshot, jobs: &JobMap, host: NodeId) -> Option<String> {
    let fabric = look.fabric();
    let runs = |ports: &BTreeSet<PortId>| ports.iter().any(|port| jobs.host(fabric, *port) == host);
    jobs.iter().find(|(_, ports)| runs(ports)).map(|(job, _)| job.clone())
}

impl HostNames {
    fn most(self) -> usize {
        match self {
            Self::Full => MAX_NAMED,
            Self::Short => MAX_SHOWN,
        }
    }

    fn name(self, look: &Snapshot, host: NodeId) -> String {
        match self {
            Self::Full => look.unique_name(host).into_owned(),
            Self::Short => look.host_name(host).into_owned(),
        }
    }
}

impl NamedHosts {
    fn new(look: &Snapshot, hosts: &BTreeSet<NodeId>, names: HostNames) -> Self {
        let first = hosts.iter().take(names.most()).map(|host| names.name(look, *host));
        Self { count: hosts.len(), first: first.collect() }
    }
}

/// Whether a node is a host: an adapter, and no aggregation node of a switch.
fn is_host(look: &Snapshot, id: NodeId) -> bool {
    let node = look.fabric().node(id);
    !node.is_switch() && !node.facts.is_aggregation()
}

/// The port of the subnet manager, where it is known.
fn manager_port(look: &Snapshot) -> Option<PortId> {
    look.fabric().port_by_guid(look.manager()?)
}

impl Victims {
    /// The victims as lines of a label and a text.
    pub fn lines(&self) -> [(&'static str, String); 3] {
        const NAMED: usize = 6;
        let hosts = |count| count_words(count, "host", "hosts");
        let mut cut_off = match self.cut_off.count {
            0 => "no host".to_owned(),
            count => format!("{}: {}", hosts(count), self.cut_off.names(NAMED)),
        };
        if let 1.. = self.cut_off_aggregation_nodes {
            let nodes = count_words(self.cut_off_aggregation_nodes, "aggregation node", "aggregation nodes");
            cut_off.push_str(&format!("; {nodes}"));
        }
        let degraded = self.degraded.as_ref().map(|degraded| match (degraded.count, degraded.bound) {
            (0, "") => "no host".to_owned(),
            (0, bound) => format!("{bound}0 hosts"),
            (count, bound) => {
                format!("{bound}{} until rerouted: {}", hosts(count), degraded.names(NAMED))
            }
        });
        let jobs = self.jobs.as_ref().map(|jobs| match jobs.count {
            0 => format!("none of {} loses a host", count_words(jobs.known, "job", "jobs")),
            count => {
                let verb = if count == 1 { "loses" } else { "lose" };
                format!("{count} of {} {verb} hosts: {}", jobs.known, jobs.names(NAMED))
            }
        });
        let known = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
        [("cut off", cut_off), ("degraded", known(degraded)), ("jobs", known(jobs))]
    }
}

impl NamedHosts {
    /// The first names, and how many more there are.
    pub fn names(&self, named: usize) -> String {
        join_first(self.first.iter().cloned(), named, self.count, " ")
    }
}

impl DegradedHost {
    /// `node02 (job 83) 35`: the number is that of the hosts which no longer reach it, as a heading says.
    pub fn words(&self) -> String {
        let job = self.job.as_ref().map_or_else(String::new, |job| format!(" (job {job})"));
        format!("{}{job} {}", self.host, digits_in_groups(self.senders))
    }
}

impl DegradedHosts {
    /// The most hit hosts with the number of senders that no longer reach each.
    fn names(&self, named: usize) -> String {
        let senders = |host: &DegradedHost| {
            format!("{} from {}", host.host, count_words(host.senders as usize, "sender", "senders"))
        };
        join_first(self.first.iter().map(senders), named, self.count, ", ")
    }
}

impl BrokenJobs {
    fn names(&self, named: usize) -> String {
        let lost = |job: &BrokenJob| format!("{} {} of {}", job.job, job.cut_off.count, job.hosts);
        join_first(self.first.iter().map(lost), named, self.count, ", ")
    }
}

/// The first texts, and how many more of `count` there are.
fn join_first(texts: impl Iterator<Item = String>, named: usize, count: usize, between: &str) -> String {
    let first: Vec<String> = texts.take(named).collect();
    match count.saturating_sub(first.len()) {
        0 => first.join(between),
        more => format!("{} and {more} more", first.join(between)),
    }
}
