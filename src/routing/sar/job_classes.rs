//! Job classes: adapters whose jobs are the same form one class. Within jobs, the same adapters send to every member of a class,
//! except that an adapter sends nothing to the other adapters of its own host.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::column_writer::{PathSenders, PlacedDestination};
use crate::problem::Problem;
use fabdeck_fabric::{Fabric, JobMap, Lid, NodeId, PortId};

/// The class of an adapter without a job.
pub(super) const NO_CLASS: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct JobClasses {
    /// Class of the adapter that has each LID.
    class_by_lid: Vec<u32>,
    classes: Vec<JobClass>,
    /// For adapters whose host has other adapters that share a job with them, by LID: the number of these others on each switch.
    siblings: FxHashMap<usize, Vec<(u32, u32)>>,
}

#[derive(Debug)]
struct JobClass {
    /// Size of the largest job of the class, in hosts.
    largest_job: usize,
    /// Number of adapters of each switch that share a job with the class; switches without any are left out.
    senders: Vec<(u32, u32)>,
}

impl JobClasses {
    pub(super) fn new(problem: &Problem<'_>, jobs: &JobMap) -> Self {
        let map = jobs;
        let jobs: Vec<_> = map.iter().map(|(_, ports)| ports).collect();
        let mut jobs_of: FxHashMap<PortId, Vec<usize>> = FxHashMap::default();
        for (job, ports) in jobs.iter().enumerate() {
            ports.iter().for_each(|port| jobs_of.entry(*port).or_default().push(job));
        }
        let sizes: Vec<usize> = jobs.iter().map(|ports| job_size(problem.fabric, map, ports)).collect();
        let terminals = problem.graph.terminals();
        let switch: FxHashMap<PortId, u32> =
            terminals.iter().map(|terminal| (terminal.port, terminal.switch)).collect();
        let class_of_jobs = |own: &[usize]| {
            let together: FxHashSet<&PortId> = own.iter().flat_map(|job| jobs[*job]).collect();
            let mut count: FxHashMap<u32, u32> = FxHashMap::default();
            for switch in together.into_iter().filter_map(|port| switch.get(port)) {
                *count.entry(*switch).or_default() += 1;
            }
            let largest_job = own.iter().map(|job| sizes[*job]).max().unwrap_or(0);
            JobClass { largest_job, senders: count.into_iter().collect() }
        };
        let mut classes = Vec::new();
        let mut numbers: FxHashMap<&[usize], u32> = FxHashMap::default();
        let mut number_of: FxHashMap<(u32, u8), (u32, PortId)> = FxHashMap::default();
        for terminal in terminals {
            let Some(own) = jobs_of.get(&terminal.port) else { continue };
            let number = *numbers.entry(own).or_insert_with(|| {
                classes.push(class_of_jobs(own));
                classes.len() as u32 - 1
            });
            number_of.insert((terminal.switch, terminal.switch_port.value()), (number, terminal.port));
        }
        let others = siblings(problem, map, &jobs_of);
        let mut siblings = FxHashMap::default();
        let mut of = vec![NO_CLASS; problem.empty_routes().stride()];
        for switch in problem.switches() {
            for end in problem.destinations_behind(switch) {
                if let Some((number, port)) = number_of.get(&(switch, end.port.value())) {
                    of[end.lid.index()] = *number;
                    siblings.extend(others.get(port).map(|own| (end.lid.index(), own.clone())));
                }
            }
        }
        Self { class_by_lid: of, classes, siblings }
    }

    pub(super) fn class_of(&self, lid: Lid) -> u32 {
        self.class_by_lid.get(lid.index()).copied().unwrap_or(NO_CLASS)
    }

    pub(super) fn count(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn largest_job(&self, class: u32) -> usize {
        self.classes.get(class as usize).map_or(0, |class| class.largest_job)
    }

    /// The other adapters of a LID's host that share a job with it: their number on each switch.
    pub(super) fn siblings(&self, lid: Lid) -> &[(u32, u32)] {
        self.siblings.get(&lid.index()).map_or(&[], Vec::as_slice)
    }

    /// The paths of jobs that each switch sends, for one destination after the other.
    pub(super) fn class_paths(&self, switches: usize) -> ClassPaths<'_> {
        ClassPaths { classes: self, class: NO_CLASS, senders: vec![0; switches], without: &[] }
    }
}

/// Numbers of paths within jobs that each switch sends. They are kept while the class of the destination stays the same.
#[derive(Debug)]
pub(super) struct ClassPaths<'c> {
    classes: &'c JobClasses,
    class: u32,
    senders: Vec<u32>,
    /// Adapters that are taken out of `senders`, because they belong to the destination's own host.
    without: &'c [(u32, u32)],
}

impl PathSenders for ClassPaths<'_> {
    fn job_class(&self, end: PlacedDestination) -> Option<u32> {
        Some(self.classes.class_of(end.to.lid)).filter(|class| *class != NO_CLASS)
    }

    fn senders_to(&mut self, end: PlacedDestination) -> Option<&[u32]> {
        let class = self.classes.class_of(end.to.lid);
        let senders = &self.classes.classes.get(class as usize)?.senders;
        for (switch, count) in std::mem::take(&mut self.without) {
            self.senders[*switch as usize] += count;
        }
        if class != self.class {
            let before = self.classes.classes.get(self.class as usize);
            for (switch, _) in before.map_or(&[][..], |class| &class.senders) {
                self.senders[*switch as usize] = 0;
            }
            for (switch, count) in senders {
                self.senders[*switch as usize] = *count;
            }
            self.class = class;
        }
        self.without = self.classes.siblings(end.to.lid);
        for (switch, count) in self.without {
            self.senders[*switch as usize] -= count;
        }
        Some(&self.senders)
    }
}

/// The size of a job is that of its hosts, however many ports they have.
fn job_size(fabric: &Fabric, jobs: &JobMap, ports: &BTreeSet<PortId>) -> usize {
    ports.iter().map(|port| jobs.host(fabric, *port)).collect::<FxHashSet<NodeId>>().len()
}

/// For each adapter whose host has other adapters that share a job with it: the number of these others on each switch.
fn siblings(
    problem: &Problem<'_>,
    jobs: &JobMap,
    jobs_of: &FxHashMap<PortId, Vec<usize>>,
) -> FxHashMap<PortId, Vec<(u32, u32)>> {
    let mut of_host: FxHashMap<NodeId, Vec<(PortId, u32)>> = FxHashMap::default();
    for terminal in problem.graph.terminals().iter().filter(|end| jobs_of.contains_key(&end.port)) {
        let host = jobs.host(problem.fabric, terminal.port);
        of_host.entry(host).or_default().push((terminal.port, terminal.switch));
    }
    let share = |a: &PortId, b: &PortId| jobs_of[a].iter().any(|job| jobs_of[b].contains(job));
    let mut siblings: FxHashMap<PortId, Vec<(u32, u32)>> = FxHashMap::default();
    for own in of_host.values().filter(|own| own.len() > 1) {
        for (port, _) in own {
            for (_, switch) in own.iter().filter(|(other, _)| other != port && share(other, port)) {
                let counts = siblings.entry(*port).or_default();
                match counts.iter_mut().find(|(at, _)| at == switch) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((*switch, 1)),
                }
            }
        }
    }
    siblings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_writer::placed_destinations;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_host_sends_nothing_to_itself() {
        // Two leaves with two adapters each; one of each leaf is of the same host.
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let terminals = problem.graph.terminals();
        let mut jobs = JobMap::default();
        terminals.iter().for_each(|end| jobs.add("1", end.port));
        let other = terminals.iter().position(|end| end.switch != terminals[0].switch).unwrap();
        jobs.join_host(terminals[other].port, fabric.port(terminals[0].port).node);
        let classes = JobClasses::new(&problem, &jobs);
        assert_eq!(classes.largest_job(0), 3);
        let mut sent = classes.class_paths(problem.graph.switch_count());
        let switches = 0..problem.graph.switch_count() as u32;
        let all: Vec<PlacedDestination> =
            placed_destinations(&problem, switches).filter(|end| !end.to.is_switch()).collect();
        // Twice, as what is taken out for one comes back for the next.
        for end in [&all[..], &all[..]].concat() {
            let own = terminals.iter().find(|own| own.lid == Some(end.to.lid)).unwrap();
            let mine = jobs.host(&fabric, own.port);
            let counted = sent.senders_to(end).unwrap();
            for switch in 0..problem.graph.switch_count() as u32 {
                let sends = |from: &&fabdeck_fabric::Terminal| {
                    from.switch == switch && (from.port == own.port || jobs.host(&fabric, from.port) != mine)
                };
                let count = terminals.iter().filter(sends).count();
                assert_eq!(counted[switch as usize] as usize, count, "{end:?} from {switch}");
            }
        }
    }
}
