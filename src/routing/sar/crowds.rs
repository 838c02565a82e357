//! Who shares a job with whom. Adapters with the same jobs are one crowd, which the same ones send to within a job.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fabric::{Fabric, JobMap, Lid, NodeId, PortId};
use crate::routing::columns::{End, Senders};
use crate::routing::problem::Problem;

/// No crowd: no job runs there.
pub(super) const NOBODY: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Crowds {
    /// Of each LID.
    of: Vec<u32>,
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
        let jobs: Vec<_> = jobs.iter().map(|(_, ports)| ports).collect();
        let mut jobs_of: FxHashMap<PortId, Vec<usize>> = FxHashMap::default();
        for (job, ports) in jobs.iter().enumerate() {
            ports.iter().for_each(|port| jobs_of.entry(*port).or_default().push(job));
        }
        let sizes: Vec<usize> = jobs.iter().map(|ports| nodes(problem.fabric, ports.iter())).collect();
        let terminals = problem.graph.terminals();
        let switch: FxHashMap<PortId, u32> =
            terminals.iter().map(|terminal| (terminal.port, terminal.switch)).collect();
        let crowd = |own: &[usize]| {
            let together: FxHashSet<&PortId> = own.iter().flat_map(|job| jobs[*job]).collect();
            let mut count: FxHashMap<u32, u32> = FxHashMap::default();
            for switch in together.into_iter().filter_map(|port| switch.get(port)) {
                *count.entry(*switch).or_default() += 1;
            }
            let largest_job = own.iter().map(|job| sizes[*job]).max().unwrap_or(0);
            Crowd { largest_job, senders: count.into_iter().collect() }
        };
        let mut crowds = Vec::new();
        let mut numbers: FxHashMap<&[usize], u32> = FxHashMap::default();
        let mut number_of: FxHashMap<(u32, u8), u32> = FxHashMap::default();
        for terminal in terminals {
            let Some(own) = jobs_of.get(&terminal.port) else { continue };
            let number = *numbers.entry(own).or_insert_with(|| {
                crowds.push(crowd(own));
                crowds.len() as u32 - 1
            });
            number_of.insert((terminal.switch, terminal.switch_port.value()), number);
        }
        let mut of = vec![NOBODY; problem.no_routes().stride()];
        for switch in problem.switches() {
            for end in problem.behind(switch) {
                if let Some(number) = number_of.get(&(switch, end.port.value())) {
                    of[end.lid.index()] = *number;
                }
            }
        }
        Self { of, crowds }
    }

    pub(super) fn of(&self, lid: Lid) -> u32 {
        self.of.get(lid.index()).copied().unwrap_or(NOBODY)
    }

    pub(super) fn largest_job(&self, crowd: u32) -> usize {
        self.crowds.get(crowd as usize).map_or(0, |crowd| crowd.largest_job)
    }

    /// What each of so many switches sends.
    pub(super) fn sent(&self, switches: usize) -> Sent<'_> {
        Sent { crowds: self, crowd: NOBODY, senders: vec![0; switches] }
    }
}

/// Paths that each switch sends within a job, to one crowd after the other.
#[derive(Debug)]
pub(super) struct Sent<'c> {
    crowds: &'c Crowds,
    crowd: u32,
    senders: Vec<u32>,
}

impl Senders for Sent<'_> {
    fn to(&mut self, end: End) -> Option<&[u32]> {
        let crowd = self.crowds.of(end.to.lid);
        let senders = &self.crowds.crowds.get(crowd as usize)?.senders;
        if crowd != self.crowd {
            let before = self.crowds.crowds.get(self.crowd as usize);
            for (switch, _) in before.map_or(&[][..], |crowd| &crowd.senders) {
                self.senders[*switch as usize] = 0;
            }
            for (switch, count) in senders {
                self.senders[*switch as usize] = *count;
            }
            self.crowd = crowd;
        }
        Some(&self.senders)
    }
}

/// The size of a job is that of its hosts, however many ports they have.
fn nodes<'p>(fabric: &Fabric, ports: impl Iterator<Item = &'p PortId>) -> usize {
    ports.map(|port| fabric.port(*port).node).collect::<FxHashSet<NodeId>>().len()
}
