//! What jobs make of channels: effective edge forwarding indices and dark fiber (dissertation, definitions 5.1, 5.2), and
//! what tables 5.1 and 5.2 compare routings by.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::flow_paths::{FlowEnd, FlowHost, FlowPaths, FlowSource};
use fabdeck_fabric::{ChannelId, JobMap, NodeId, PortId};

/// Destinations of a job in one unit of work.
const BATCH: usize = 256;

/// The paths between the hosts of a job, or of all jobs each among its own hosts. A path leads from a port to a
/// port of another host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EffectiveIndex {
    /// The number of hosts.
    pub hosts: usize,
    /// The number of ports of these hosts.
    pub ports: usize,
    /// The number of switches with these hosts. A job on one switch has no path between switches.
    pub switches: usize,
    /// The channels between switches that carry these paths, with their number of paths, in the order of the
    /// channels.
    pub loads: Vec<(ChannelId, u64)>,
    /// The largest number of these paths over one channel.
    pub max: u64,
    /// The mean over all channels between switches, unused ones included.
    pub mean: f64,
    /// The percentage of channels between switches that none of these paths uses.
    pub dark_fiber: f64,
    /// Ordered pairs of these ports without a path. They load no channel, so low loads need a look at this number
    /// too.
    pub lost: u64,
}

impl EffectiveIndex {
    fn new(crew: &JobPorts<'_>, (loads, lost): (Vec<(ChannelId, u64)>, u64), channels: usize) -> Self {
        let count = channels.max(1) as f64;
        Self {
            hosts: crew.hosts,
            ports: crew.ports.len(),
            switches: crew.ports.chunk_by(|(a, _), (b, _)| a.source.switch == b.source.switch).count(),
            lost,
            max: loads.iter().map(|(_, paths)| *paths).max().unwrap_or(0),
            mean: loads.iter().map(|(_, paths)| *paths).sum::<u64>() as f64 / count,
            dark_fiber: 100.0 * (channels - loads.len()) as f64 / count,
            loads,
        }
    }

    /// Whether there can be paths between switches: several hosts on several switches.
    pub fn is_multi_switch(&self) -> bool {
        self.switches > 1 && self.hosts > 1
    }

    /// The number of channels that carry these paths.
    pub fn used_channels(&self) -> usize {
        self.loads.len()
    }

    /// The number of channels by the number of these paths that they carry (figures 5.2 and 5.11); unused channels
    /// are not in it.
    pub fn histogram(&self) -> BTreeMap<u64, usize> {
        let mut channels = BTreeMap::new();
        self.loads.iter().for_each(|(_, paths)| *channels.entry(*paths).or_default() += 1);
        channels
    }
}

/// The metrics by which tables 5.1 and 5.2 compare routings.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JobMetrics {
    /// The number of jobs with several hosts on several switches. The means are over these jobs.
    pub jobs: usize,
    /// Ordered pairs within jobs without a path.
    pub lost: u64,
    /// The largest number of paths of all jobs over one channel.
    pub max: u64,
    /// The mean over jobs of the largest number of the job's paths over one channel.
    pub mean_max: f64,
    /// The percentage of channels between switches that no path of a job uses.
    pub dark_fiber: f64,
    /// The mean over jobs of the number of channels that the job uses.
    pub mean_links: f64,
}

/// The paths of each job, and of all jobs together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobLoads {
    /// All jobs together.
    pub all: EffectiveIndex,
    /// Each job, in the order of the jobs.
    pub jobs: Vec<EffectiveIndex>,
}

impl JobLoads {
    /// Counts the paths of jobs.
    pub fn new(flows: &FlowPaths<'_>, jobs: &JobMap) -> Self {
        let at: FxHashMap<PortId, u32> =
            (0u32..).zip(&flows.hosts).map(|(at, host)| (host.port, at)).collect();
        let place = |port: &PortId| Some((*at.get(port)?, jobs.host(flows.fabric, *port)));
        let crews: Vec<JobPorts<'_>> =
            jobs.iter().map(|(_, ports)| JobPorts::new(flows, ports.iter().filter_map(place))).collect();
        let mut pieces: Vec<(usize, Range<usize>)> = Vec::new();
        for (job, crew) in crews.iter().enumerate() {
            let starts = (0..crew.ports.len()).step_by(BATCH);
            pieces.extend(starts.map(|start| (job, start..crew.ports.len().min(start + BATCH))));
        }
        let channels = flows.channel_count();
        let loaded: Vec<_> = pieces
            .into_par_iter()
            .map_init(
                || LoadBuffer::new(channels),
                |load, (job, to)| (job, load.add_paths(flows, &crews[job], to)),
            )
            .collect();
        let mut sum = LoadBuffer::new(channels);
        let mut own: Vec<EffectiveIndex> = Vec::with_capacity(crews.len());
        let mut pieces = loaded.into_iter().peekable();
        for (number, crew) in crews.iter().enumerate() {
            while let Some((_, (more, lost))) = pieces.next_if(|(job, _)| *job == number) {
                more.into_iter().for_each(|(channel, paths)| sum.add(channel.index(), paths));
                sum.lost += lost;
            }
            own.push(EffectiveIndex::new(crew, sum.take_loads(), channels));
        }
        for job in &own {
            job.loads.iter().for_each(|(channel, paths)| sum.add(channel.index(), *paths));
            sum.lost += job.lost;
        }
        // Who runs several jobs is there once.
        let ports: BTreeSet<&PortId> = jobs.iter().flat_map(|(_, ports)| ports).collect();
        let everybody = JobPorts::new(flows, ports.into_iter().filter_map(place));
        Self { all: EffectiveIndex::new(&everybody, sum.take_loads(), channels), jobs: own }
    }

    /// The metrics over all jobs.
    pub fn metrics(&self) -> JobMetrics {
        let several = || self.jobs.iter().filter(|job| job.is_multi_switch());
        let jobs = several().count();
        let mean =
            |of: fn(&EffectiveIndex) -> u64| several().map(of).sum::<u64>() as f64 / jobs.max(1) as f64;
        JobMetrics {
            jobs,
            lost: self.all.lost,
            max: self.all.max,
            mean_max: mean(|job| job.max),
            dark_fiber: self.all.dark_fiber,
            mean_links: mean(|job| job.used_channels() as u64),
        }
    }
}

/// The ports of a job in the order of their switches, each with its host.
struct JobPorts<'f> {
    ports: Vec<(&'f FlowHost, NodeId)>,
    hosts: usize,
    /// Of hosts with several of these ports: how many of which source.
    several: FxHashMap<NodeId, Vec<(FlowSource, u64)>>,
}

impl<'f> JobPorts<'f> {
    /// Of places among the ports of the fabric, and hosts.
    fn new(flows: &'f FlowPaths<'_>, at: impl Iterator<Item = (u32, NodeId)>) -> Self {
        let mut at: Vec<(u32, NodeId)> = at.collect();
        at.sort_unstable();
        let mut several: FxHashMap<NodeId, Vec<(FlowSource, u64)>> = FxHashMap::default();
        for (port, host) in &at {
            let (own, source) = (several.entry(*host).or_default(), flows.hosts[*port as usize].source);
            match own.iter_mut().find(|(known, _)| *known == source) {
                Some((_, count)) => *count += 1,
                _ => own.push((source, 1)),
            }
        }
        let hosts = several.len();
        several.retain(|_, own| own.iter().map(|(_, count)| count).sum::<u64>() > 1);
        let ports = at.into_iter().map(|(port, host)| (&flows.hosts[port as usize], host)).collect();
        Self { ports, hosts, several }
    }
}

/// Paths over each channel, and pairs without one.
type LoadsAndLoss = (Vec<(ChannelId, u64)>, u64);

/// Paths over each channel; used over and over.
struct LoadBuffer {
    paths: Vec<u64>,
    touched: Vec<usize>,
    path: Vec<usize>,
    lost: u64,
}

impl LoadBuffer {
    fn new(channels: usize) -> Self {
        Self { paths: vec![0; channels], touched: Vec::new(), path: Vec::new(), lost: 0 }
    }

    fn add(&mut self, channel: usize, paths: u64) {
        let held = &mut self.paths[channel];
        if *held == 0 {
            self.touched.push(channel);
        }
        *held += paths;
    }

    /// Adds the paths from all ports of a job to some of them. All paths from one switch to one port take the same channels,
    /// so these are followed once. A host sends nothing to itself (definition 5.1 takes pairs of nodes).
    fn add_paths(&mut self, flows: &FlowPaths<'_>, job: &JobPorts<'_>, to: Range<usize>) -> LoadsAndLoss {
        let ports = &job.ports;
        let senders = FlowPaths::group_sources(ports.iter().map(|(port, _)| port.source));
        let mut path = std::mem::take(&mut self.path);
        for (to, host) in &ports[to] {
            let alone = [(to.source, 1)];
            let own = job.several.get(host).map_or(&alone[..], Vec::as_slice);
            for (source, all) in &senders {
                let own = own.iter().find(|(at, _)| at == source).map_or(0, |(_, count)| *count);
                let count = all - own;
                if count == 0 {
                    continue;
                }
                match flows.path(*source, to, &mut path) {
                    FlowEnd::There => path.iter().for_each(|channel| self.add(*channel, count)),
                    FlowEnd::Lost => self.lost += count,
                    FlowEnd::Unread => {}
                }
            }
        }
        self.path = path;
        self.take_loads()
    }

    /// What was added, in the order of the channels; nothing is left.
    fn take_loads(&mut self) -> LoadsAndLoss {
        self.touched.sort_unstable();
        let paths = &mut self.paths;
        let taken = |channel: usize| (ChannelId(channel as u32), std::mem::take(&mut paths[channel]));
        (self.touched.drain(..).map(taken).collect(), std::mem::take(&mut self.lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoProgress, Problem, Request, find_engine};
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn only_paths_within_a_job_count() {
        // Five switches in a ring, two hosts each, every path the shorter way round.
        let fabric = generate(&"torus,dims=5,terminals=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        let flows = FlowPaths::new(&problem, &routes);
        assert_eq!((flows.hosts.len(), flows.channel_count()), (10, 10));
        let beside = |channel: &&fabdeck_fabric::Channel| channel.from == 0;
        let next = problem.graph.channels().iter().find(beside).unwrap().to;
        let mut jobs = JobMap::default();
        for host in flows.hosts.iter().filter(|host| [0, next].contains(&host.source.switch)) {
            jobs.add("pair", host.port);
        }
        let alone = flows.hosts.iter().find(|host| ![0, next].contains(&host.source.switch)).unwrap();
        jobs.add("single", alone.port);
        let seen = JobLoads::new(&flows, &jobs);
        // Two hosts send to two over one channel there and one back; the other eight are dark.
        let there =
            problem.graph.channels().iter().position(|channel| (channel.from, channel.to) == (0, next));
        let there = ChannelId(there.unwrap() as u32);
        let mut loads = vec![(there, 4), (problem.graph.channel(there).reverse, 4)];
        loads.sort_unstable();
        let pair = EffectiveIndex {
            hosts: 4,
            ports: 4,
            switches: 2,
            loads,
            max: 4,
            mean: 0.8,
            dark_fiber: 80.0,
            lost: 0,
        };
        let single = EffectiveIndex {
            hosts: 1,
            ports: 1,
            switches: 1,
            dark_fiber: 100.0,
            ..EffectiveIndex::default()
        };
        assert_eq!(seen.jobs, [pair.clone(), single]);
        assert_eq!(seen.all, EffectiveIndex { hosts: 5, ports: 5, switches: 3, ..pair });
        assert_eq!(seen.all.histogram(), BTreeMap::from([(4, 2)]));
        // Who is on one switch is in no mean.
        let told = JobMetrics { jobs: 1, lost: 0, max: 4, mean_max: 4.0, dark_fiber: 80.0, mean_links: 2.0 };
        assert_eq!(seen.metrics(), told);
    }
}
