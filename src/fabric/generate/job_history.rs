//! Job histories by seed: what runs where on a fabric, ten minutes after ten minutes, as figure 5.1 of the dissertation shows
//! it of two systems for a month.
//!
//! What the paper tells (5.1, 5.3.2, 5.3.3) and holds here:
//! - several jobs run at any time, and a host runs one of them;
//! - more than half of the jobs are on several switches (66 % on Taurus and 50 % on TSUBAME2, the paper says; 60 % here);
//! - full use of the system goes before locality, so jobs lie scattered over what others left;
//! - samples are ten minutes apart, over a month; the largest job that the paper names had 200 hosts for a day.
//!
//! What it does not tell, and is assumed:
//! - hosts are given out in the order of their switches, the first that are free; jobs start in the order in which they came;
//! - between 70 and 95 % of the hosts are in use at most, a share that is drawn for each day;
//! - the sizes of jobs (see `Workload`);
//! - a job runs between ten minutes and 42 hours, drawn alike, whatever its size;
//! - a week has gone by before the first sample.

use std::collections::{BTreeMap, BTreeSet};

use super::rng::{Rng, RngStream};
use crate::{Fabric, Faults, JobMap, NodeId, PortId, SwitchGraph};

/// Samples of a day.
const SAMPLES_PER_DAY: u64 = 144;

/// The most hosts in use, in hundred: a day's is one of these.
const MIN_USE_LIMIT: usize = 70;
const MAX_USE_LIMIT: usize = 95;

/// Jobs run for less than two to this many samples.
const DURATION_OCTAVES: usize = 8;

/// The distribution of job sizes of a [`JobHistory`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    /// Percentage of jobs that run on one host.
    pub single: usize,
    /// Percentage of the other jobs that are larger than two or three hosts; of those, the percentage larger than
    /// four to seven, and so on.
    pub larger: usize,
    /// The largest number of hosts of a job.
    pub largest: usize,
}

impl Workload {
    /// The distribution for the systems of the paper. The sizes give loads near those that the paper's improvements
    /// imply: about 20 paths of a job on its busiest channel and about 100 channels per job. Smaller jobs would fit
    /// on one switch more often.
    pub const TYPICAL: Self = Self { single: 0, larger: 60, largest: 200 };
}

#[derive(Debug)]
struct Job {
    number: u64,
    size: usize,
    samples: u64,
}

#[derive(Debug)]
struct RunningJob {
    number: u64,
    until: u64,
    hosts: Vec<u32>,
}

/// An iterator over the jobs of a fabric. Each item holds the running jobs ten minutes after the item before.
#[derive(Debug)]
pub struct JobHistory {
    /// The cabled ports of each host, in the order of switches.
    hosts: Vec<Vec<PortId>>,
    workload: Workload,
    rng: Rng,
    now: u64,
    free: BTreeSet<u32>,
    running: Vec<RunningJob>,
    /// The next to start, once there is room.
    waiting: Job,
    /// The most hosts in use today.
    most: usize,
}

impl JobHistory {
    /// Makes a history for the hosts of a fabric. The same seed makes the same history.
    pub fn new(fabric: &Fabric, workload: Workload, seed: u64) -> Self {
        let hosts = hosts(fabric);
        let mut rng = Rng::new(seed, RngStream::Jobs);
        let waiting = draw_job(&mut rng, workload, 1);
        let free = (0..hosts.len() as u32).collect();
        let mut history = Self { hosts, workload, rng, now: 0, free, running: Vec::new(), waiting, most: 0 };
        (0..7 * SAMPLES_PER_DAY).for_each(|_| history.step());
        history
    }

    /// The percentage of hosts that run a job.
    #[cfg(test)]
    fn use_percent(&self) -> f64 {
        let used = self.hosts.len() - self.free.len();
        100.0 * used as f64 / self.hosts.len().max(1) as f64
    }

    fn step(&mut self) {
        if self.now.is_multiple_of(SAMPLES_PER_DAY) {
            let share = MIN_USE_LIMIT + self.rng.draw_below(MAX_USE_LIMIT - MIN_USE_LIMIT + 1);
            // A largest job must start one day.
            self.most = (self.hosts.len() * share / 100).max(self.largest());
        }
        self.now += 1;
        let (now, free) = (self.now, &mut self.free);
        self.running.retain(|job| {
            let over = job.until <= now;
            if over {
                free.extend(&job.hosts);
            }
            !over
        });
        while !self.hosts.is_empty() && self.start_next() {}
    }

    fn largest(&self) -> usize {
        self.workload.largest.min(self.hosts.len())
    }

    /// Starts the job that waits, if there is room.
    fn start_next(&mut self) -> bool {
        let size = self.waiting.size.min(self.largest());
        let used = self.hosts.len() - self.free.len();
        if used + size > self.most {
            return false;
        }
        let number = self.waiting.number;
        let later = self.free.iter().nth(size).copied();
        let later = later.map_or_else(BTreeSet::new, |first| self.free.split_off(&first));
        let hosts = std::mem::replace(&mut self.free, later).into_iter().collect();
        self.running.push(RunningJob { number, until: self.now + self.waiting.samples, hosts });
        self.waiting = draw_job(&mut self.rng, self.workload, number + 1);
        true
    }
}

impl Iterator for JobHistory {
    type Item = JobMap;

    fn next(&mut self) -> Option<JobMap> {
        self.step();
        let mut jobs = JobMap::default();
        for job in &self.running {
            let name = job.number.to_string();
            let ports = job.hosts.iter().flat_map(|host| &self.hosts[*host as usize]);
            ports.for_each(|port| jobs.add(&name, *port));
        }
        Some(jobs)
    }
}

fn draw_job(rng: &mut Rng, Workload { single, larger, largest }: Workload, number: u64) -> Job {
    let mut size = 1;
    if rng.draw_below(100) >= single {
        size = 2;
        while size * 2 <= largest && rng.draw_below(100) < larger {
            size *= 2;
        }
        size = (size + rng.draw_below(size)).min(largest);
    }
    Job { number, size, samples: draw_by_octave(rng, DURATION_OCTAVES) as u64 }
}

/// A number below 2^most, between each two powers of two as likely; whole numbers, so that every platform draws the same.
fn draw_by_octave(rng: &mut Rng, most: usize) -> usize {
    let from = 1 << rng.draw_below(most);
    from + rng.draw_below(from)
}

/// Adapters that compute, each with its cabled ports.
fn hosts(fabric: &Fabric) -> Vec<Vec<PortId>> {
    let graph = SwitchGraph::new(fabric, &Faults::default());
    let mut at: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut hosts: Vec<Vec<PortId>> = Vec::new();
    for terminal in graph.terminals() {
        let node = fabric.port(terminal.port).node;
        if fabric.node(node).facts.is_aggregation() {
            continue;
        }
        let host = *at.entry(node).or_insert(hosts.len());
        if host == hosts.len() {
            hosts.push(Vec::new());
        }
        hosts[host].push(terminal.port);
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FabricSpec, generate};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    /// The means over a month of: jobs, those of them on several switches in hundred, hosts in use in hundred.
    fn month(name: &str, workload: Workload, seed: u64) -> (f64, f64, f64) {
        let fabric = fabric(name);
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let switch: BTreeMap<PortId, u32> =
            graph.terminals().iter().map(|end| (end.port, end.switch)).collect();
        let mut history = JobHistory::new(&fabric, workload, seed);
        const SAMPLES: u32 = 720;
        let (mut jobs, mut several, mut used) = (0u32, 0u32, 0.0);
        for _ in 0..SAMPLES {
            // An hour on.
            let now = history.nth(5).unwrap();
            let mut taken = BTreeSet::new();
            for (_, ports) in now.iter() {
                jobs += 1;
                let switches: BTreeSet<u32> = ports.iter().map(|port| switch[port]).collect();
                several += u32::from(switches.len() > 1);
                assert!(ports.len() <= workload.largest);
                assert!(ports.iter().all(|port| taken.insert(*port)), "a host runs two jobs");
            }
            assert_eq!(taken.len(), history.hosts.len() - history.free.len());
            used += history.use_percent();
        }
        (
            f64::from(jobs) / f64::from(SAMPLES),
            100.0 * f64::from(several) / f64::from(jobs),
            used / f64::from(SAMPLES),
        )
    }

    #[test]
    fn more_than_half_of_the_jobs_are_on_several_switches() {
        for name in ["taurus", "tsubame2"] {
            let (jobs, several, used) = month(name, Workload::TYPICAL, 1);
            let told =
                format!("{name}: {jobs:.0} jobs, {several:.1} % on several switches, {used:.1} % in use");
            println!("{told}");
            assert!((55.0..65.0).contains(&several), "{told}");
            assert!(jobs > 40.0 && (60.0..95.0).contains(&used), "{told}");
        }
    }

    #[test]
    fn a_workload_without_single_hosts_has_none() {
        let mut rng = Rng::new(1, RngStream::Jobs);
        let workload = Workload { single: 0, ..Workload::TYPICAL };
        assert!((0..2000).all(|number| draw_job(&mut rng, workload, number).size > 1));
    }

    #[test]
    fn a_job_may_have_exactly_the_largest_size() {
        let mut rng = Rng::new(1, RngStream::Jobs);
        let sizes = |rng: &mut Rng, larger| -> BTreeSet<usize> {
            let workload = Workload { single: 0, larger, largest: 8 };
            (0..500).map(|number| draw_job(rng, workload, number).size).collect()
        };
        assert_eq!(sizes(&mut rng, 100), BTreeSet::from([8]));
        assert_eq!(sizes(&mut rng, 0), BTreeSet::from([2, 3]));
    }

    #[test]
    fn a_seed_is_a_history() {
        let fabric = fabric("switch648");
        let draw =
            |seed| JobHistory::new(&fabric, Workload::TYPICAL, seed).step_by(50).take(9).collect::<Vec<_>>();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn small_fabrics_and_none_have_a_history_too() {
        for name in ["kary,k=2,n=2", "torus,dims=3,terminals=0"] {
            let fabric = fabric(name);
            let hosts = hosts(&fabric).len();
            let most = JobHistory::new(&fabric, Workload::TYPICAL, 1)
                .take(500)
                .map(|jobs| jobs.iter().count())
                .max();
            assert_eq!(most > Some(0), hosts > 0, "{name}");
        }
    }
}
