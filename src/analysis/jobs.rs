//! What jobs make of channels: effective edge forwarding indices and dark fiber (dissertation, definitions 5.1, 5.2), and
//! what tables 5.1 and 5.2 compare routings by.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::flows::{Flows, Host};
use crate::fabric::{ChannelId, JobMap, PortId};

/// So many destinations of a job are one piece of work.
const PIECE: usize = 256;

/// Paths between the hosts of a job, or of all jobs each among its own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effective {
    pub hosts: usize,
    /// The switches that these hosts are on. A job on one switch has no path between switches.
    pub switches: usize,
    /// The channels between switches that such paths cross and how many do, in the order of the channels.
    pub loads: Vec<(ChannelId, u64)>,
    /// The most paths of that kind over one channel.
    pub max: u64,
    /// Over all channels between switches, those that carry none included.
    pub mean: f64,
    /// Percent of the channels between switches that no such path uses.
    pub dark_fiber: f64,
}

impl Effective {
    fn new(hosts: &[&Host], loads: Vec<(ChannelId, u64)>, channels: usize) -> Self {
        let count = channels.max(1) as f64;
        Self {
            hosts: hosts.len(),
            switches: hosts.chunk_by(|a, b| a.switch == b.switch).count(),
            max: loads.iter().map(|(_, paths)| *paths).max().unwrap_or(0),
            mean: loads.iter().map(|(_, paths)| *paths).sum::<u64>() as f64 / count,
            dark_fiber: 100.0 * (channels - loads.len()) as f64 / count,
            loads,
        }
    }

    /// Channels that carry such paths.
    pub fn links(&self) -> usize {
        self.loads.len()
    }

    /// How many channels carry so many of these paths (figures 5.2 and 5.11); those that carry none are not in it.
    pub fn histogram(&self) -> BTreeMap<u64, usize> {
        let mut channels = BTreeMap::new();
        self.loads.iter().for_each(|(_, paths)| *channels.entry(*paths).or_default() += 1);
        channels
    }
}

/// What tables 5.1 and 5.2 compare routings by.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JobMetrics {
    /// Jobs on several switches. The means are over them, as no other has a path between switches.
    pub jobs: usize,
    /// The most paths of all jobs over one channel.
    pub max: u64,
    /// The mean over jobs of the most paths of the job over one channel.
    pub mean_max: f64,
    /// Percent of the channels between switches that no path of a job uses.
    pub dark_fiber: f64,
    /// The mean over jobs of the channels that the job uses.
    pub mean_links: f64,
}

/// Each job on its own, and all together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobLoads {
    pub all: Effective,
    /// In the order of the jobs.
    pub jobs: Vec<Effective>,
}

impl JobLoads {
    pub fn of(flows: &Flows<'_>, jobs: &JobMap) -> Self {
        let at: FxHashMap<PortId, u32> =
            (0u32..).zip(&flows.hosts).map(|(at, host)| (host.port, at)).collect();
        let jobs: Vec<Vec<&Host>> = jobs.iter().map(|(_, ports)| on(flows, &at, ports)).collect();
        let mut pieces: Vec<(usize, Range<usize>)> = Vec::new();
        for (job, hosts) in jobs.iter().enumerate() {
            let starts = (0..hosts.len()).step_by(PIECE);
            pieces.extend(starts.map(|start| (job, start..hosts.len().min(start + PIECE))));
        }
        let loaded: Vec<_> = pieces
            .into_par_iter()
            .map_init(
                || Load::new(flows.channels()),
                |load, (job, to)| (job, load.between(flows, &jobs[job], &jobs[job][to])),
            )
            .collect();
        let channels = flows.channels();
        let mut sum = Load::new(channels);
        let mut own: Vec<Effective> = Vec::with_capacity(jobs.len());
        let mut pieces = loaded.into_iter().peekable();
        for (number, hosts) in jobs.iter().enumerate() {
            while let Some((_, more)) = pieces.next_if(|(job, _)| *job == number) {
                more.into_iter().for_each(|(channel, paths)| sum.add(channel.index(), paths));
            }
            own.push(Effective::new(hosts, sum.take(), channels));
        }
        for (channel, paths) in own.iter().flat_map(|job| &job.loads) {
            sum.add(channel.index(), *paths);
        }
        let mut everywhere = jobs.concat();
        everywhere.sort_by_key(|host| host.switch);
        Self { all: Effective::new(&everywhere, sum.take(), channels), jobs: own }
    }

    pub fn metrics(&self) -> JobMetrics {
        let several = || self.jobs.iter().filter(|job| job.switches > 1);
        let jobs = several().count();
        let mean = |of: fn(&Effective) -> u64| several().map(of).sum::<u64>() as f64 / jobs.max(1) as f64;
        JobMetrics {
            jobs,
            max: self.all.max,
            mean_max: mean(|job| job.max),
            dark_fiber: self.all.dark_fiber,
            mean_links: mean(|job| job.links() as u64),
        }
    }
}

/// The hosts with these ports, in the order of their switches.
fn on<'f>(flows: &'f Flows<'_>, at: &FxHashMap<PortId, u32>, ports: &BTreeSet<PortId>) -> Vec<&'f Host> {
    let mut hosts: Vec<u32> = ports.iter().filter_map(|port| at.get(port).copied()).collect();
    hosts.sort_unstable();
    hosts.into_iter().map(|host| &flows.hosts[host as usize]).collect()
}

/// Paths over each channel; used over and over.
struct Load {
    paths: Vec<u64>,
    touched: Vec<usize>,
    path: Vec<usize>,
}

impl Load {
    fn new(channels: usize) -> Self {
        Self { paths: vec![0; channels], touched: Vec::new(), path: Vec::new() }
    }

    fn add(&mut self, channel: usize, paths: u64) {
        let held = &mut self.paths[channel];
        if *held == 0 {
            self.touched.push(channel);
        }
        *held += paths;
    }

    /// Paths from the hosts of a job to some of them. Those of a switch go the same way, so each way is gone once.
    fn between(&mut self, flows: &Flows<'_>, from: &[&Host], to: &[&Host]) -> Vec<(ChannelId, u64)> {
        let senders: Vec<(u32, u64)> =
            from.chunk_by(|a, b| a.switch == b.switch).map(|own| (own[0].switch, own.len() as u64)).collect();
        let mut path = std::mem::take(&mut self.path);
        for to in to {
            for (switch, count) in &senders {
                if flows.path(*switch, to, &mut path) {
                    path.iter().for_each(|channel| self.add(*channel, *count));
                }
            }
        }
        self.path = path;
        self.take()
    }

    /// What was added, in the order of the channels; nothing is left.
    fn take(&mut self) -> Vec<(ChannelId, u64)> {
        self.touched.sort_unstable();
        let paths = &mut self.paths;
        let taken = |channel: usize| (ChannelId(channel as u32), std::mem::take(&mut paths[channel]));
        self.touched.drain(..).map(taken).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Faults;
    use crate::generate::{Spec, generate};
    use crate::routing::{NoPulse, Problem, Request, engine};

    #[test]
    fn only_paths_within_a_job_count() {
        // Five switches in a ring, two hosts each, every path the shorter way round.
        let fabric = generate(&"torus,dims=5,terminals=2".parse::<Spec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes =
            (engine("minhop").unwrap().route)(&problem, &Request::default(), &NoPulse).unwrap().routes;
        let flows = Flows::new(&problem, &routes);
        assert_eq!((flows.hosts.len(), flows.channels()), (10, 10));
        let beside = |channel: &&crate::fabric::Channel| channel.from == 0;
        let next = problem.graph.channels().iter().find(beside).unwrap().to;
        let mut jobs = JobMap::default();
        for host in flows.hosts.iter().filter(|host| host.switch == 0 || host.switch == next) {
            jobs.add("pair", host.port);
        }
        let alone = flows.hosts.iter().find(|host| host.switch != 0 && host.switch != next).unwrap();
        jobs.add("single", alone.port);
        let seen = JobLoads::of(&flows, &jobs);
        // Two hosts send to two over one channel there and one back; the other eight are dark.
        let there =
            problem.graph.channels().iter().position(|channel| (channel.from, channel.to) == (0, next));
        let there = ChannelId(there.unwrap() as u32);
        let mut loads = vec![(there, 4), (problem.graph.channel(there).reverse, 4)];
        loads.sort_unstable();
        let pair = Effective { hosts: 4, switches: 2, loads, max: 4, mean: 0.8, dark_fiber: 80.0 };
        let single = Effective { hosts: 1, switches: 1, dark_fiber: 100.0, ..Effective::default() };
        assert_eq!(seen.jobs, [pair.clone(), single]);
        assert_eq!(seen.all, Effective { hosts: 5, switches: 3, ..pair });
        assert_eq!(seen.all.histogram(), BTreeMap::from([(4, 2)]));
        // Who is on one switch is in no mean.
        let told = JobMetrics { jobs: 1, max: 4, mean_max: 4.0, dark_fiber: 80.0, mean_links: 2.0 };
        assert_eq!(seen.metrics(), told);
    }
}
