//! Who shares a job with whom. Adapters with the same jobs are one crowd, which the same ones send to within a job.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fabric::{Fabric, JobMap, NodeId, PortId};
use crate::routing::problem::Problem;

/// No crowd: no job runs there.
pub(super) const NOBODY: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Crowds {
    of: FxHashMap<PortId, u32>,
    crowds: Vec<Crowd>,
}

#[derive(Debug)]
struct Crowd {
    /// The nodes of its largest job.
    largest_job: usize,
    /// How many adapters of each switch share a job with it, where any does.
    senders: Vec<(u32, u32)>,
}

impl Crowds {
    pub(super) fn new(problem: &Problem<'_>, jobs: &JobMap) -> Self {
        let mut jobs_of: FxHashMap<PortId, Vec<usize>> = FxHashMap::default();
        let jobs: Vec<_> = jobs.iter().map(|(_, ports)| ports).collect();
        for (job, ports) in jobs.iter().enumerate() {
            ports.iter().for_each(|port| jobs_of.entry(*port).or_default().push(job));
        }
        let sizes: Vec<usize> = jobs.iter().map(|ports| nodes(problem.fabric, ports.iter())).collect();
        let switch: FxHashMap<PortId, u32> =
            problem.graph.terminals().iter().map(|terminal| (terminal.port, terminal.switch)).collect();
        let mut crowds = Vec::new();
        let mut numbers: FxHashMap<&[usize], u32> = FxHashMap::default();
        let mut of = FxHashMap::default();
        for terminal in problem.graph.terminals() {
            let Some(own) = jobs_of.get(&terminal.port) else { continue };
            let number = *numbers.entry(own).or_insert_with(|| {
                let together: FxHashSet<PortId> =
                    own.iter().flat_map(|job| jobs[*job].iter().copied()).collect();
                let mut count: FxHashMap<u32, u32> = FxHashMap::default();
                for switch in together.iter().filter_map(|port| switch.get(port)) {
                    *count.entry(*switch).or_default() += 1;
                }
                let largest_job = own.iter().map(|job| sizes[*job]).max().unwrap_or(0);
                crowds.push(Crowd { largest_job, senders: count.into_iter().collect() });
                crowds.len() as u32 - 1
            });
            of.insert(terminal.port, number);
        }
        Self { of, crowds }
    }

    pub(super) fn of(&self, port: PortId) -> u32 {
        self.of.get(&port).copied().unwrap_or(NOBODY)
    }

    pub(super) fn largest_job(&self, crowd: u32) -> usize {
        self.crowds[crowd as usize].largest_job
    }

    /// What each switch sends, of so many.
    pub(super) fn sent(&self, switches: usize) -> Sent<'_> {
        Sent { crowds: &self.crowds, crowd: NOBODY, senders: vec![0; switches] }
    }
}

/// Paths that each switch sends to one of a crowd within a job.
#[derive(Debug)]
pub(super) struct Sent<'c> {
    crowds: &'c [Crowd],
    crowd: u32,
    senders: Vec<u32>,
}

impl Sent<'_> {
    pub(super) fn by(&mut self, crowd: u32) -> &[u32] {
        if crowd != self.crowd {
            if let Some(before) = self.crowds.get(self.crowd as usize) {
                before.senders.iter().for_each(|(switch, _)| self.senders[*switch as usize] = 0);
            }
            for (switch, count) in &self.crowds[crowd as usize].senders {
                self.senders[*switch as usize] = *count;
            }
            self.crowd = crowd;
        }
        &self.senders
    }
}

/// The size of a job is that of its hosts, however many ports they have.
fn nodes<'p>(fabric: &Fabric, ports: impl Iterator<Item = &'p PortId>) -> usize {
    ports.map(|port| fabric.port(*port).node).collect::<FxHashSet<NodeId>>().len()
}
