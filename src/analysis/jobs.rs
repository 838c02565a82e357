//! What jobs make of channels: effective edge forwarding indices and dark fiber (dissertation, definitions 5.1, 5.2).

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::flows::{Flows, Host};
use crate::fabric::{JobMap, PortId};

/// Paths between the hosts of a job, or of all jobs each among its own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effective {
    pub hosts: usize,
    /// The most paths of that kind over one channel.
    pub max: u64,
    pub mean: f64,
    /// Percent of the channels between switches that no such path uses.
    pub dark_fiber: f64,
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
        let mut all = vec![0; flows.channels()];
        let mut hosts = 0;
        let one = |(_, ports): (&String, &BTreeSet<PortId>)| {
            let own: Vec<&Host> = flows.hosts.iter().filter(|host| ports.contains(&host.port)).collect();
            let load = load(flows, &own);
            all.iter_mut().zip(&load).for_each(|(all, paths)| *all += paths);
            hosts += own.len();
            effective(own.len(), &load)
        };
        let jobs = jobs.iter().map(one).collect();
        Self { all: effective(hosts, &all), jobs }
    }
}

fn effective(hosts: usize, load: &[u64]) -> Effective {
    let count = load.len().max(1) as f64;
    let dark = load.iter().filter(|paths| **paths == 0).count();
    Effective {
        hosts,
        max: load.iter().copied().max().unwrap_or(0),
        mean: load.iter().sum::<u64>() as f64 / count,
        dark_fiber: 100.0 * dark as f64 / count,
    }
}

/// Paths between some hosts over each channel. Hosts come in the order of their switches.
fn load(flows: &Flows<'_>, hosts: &[&Host]) -> Vec<u64> {
    let senders: Vec<(u32, u64)> =
        hosts.chunk_by(|a, b| a.switch == b.switch).map(|own| (own[0].switch, own.len() as u64)).collect();
    let empty = || (vec![0u64; flows.channels()], Vec::new());
    let loads = hosts.par_iter().with_min_len(256).fold(empty, |(mut load, mut path), to| {
        for (switch, count) in &senders {
            if flows.path(*switch, to, &mut path) {
                path.iter().for_each(|channel| load[*channel] += count);
            }
        }
        (load, path)
    });
    let join = |mut one: Vec<u64>, other: Vec<u64>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    loads.map(|(load, _)| load).reduce(|| vec![0; flows.channels()], join)
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
        let pair = Effective { hosts: 4, max: 4, mean: 0.8, dark_fiber: 80.0 };
        assert_eq!(
            seen.jobs,
            [pair.clone(), Effective { hosts: 1, dark_fiber: 100.0, ..Effective::default() }]
        );
        assert_eq!(seen.all, Effective { hosts: 5, ..pair });
    }
}
