//! What jobs make of channels against a walk over every pair, and histories of jobs replayed under several engines
//! (dissertation 5.3.2).

#[allow(dead_code, reason = "the benchmark prints more of it")]
mod replay;

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::{ChannelId, Faults, JobMap, PortId, Routes};
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::{FlowPaths, JobLoads};
use rayon::prelude::*;

use crate::routing::certificate::{Dice, any_fabric, damage, path};
use crate::routing::route;
use replay::{Placements, SYSTEMS, WORKLOADS, gain, metrics, other_signs};

/// Jobs of any size on any adapters, some of which run several, and some of which are of one host.
fn any_jobs(problem: &Problem<'_>, dice: &mut Dice) -> JobMap {
    let mut jobs = JobMap::default();
    let ends = problem.graph.terminals();
    for job in 0..1 + dice.below(5) {
        for _ in 0..1 + dice.below(9) {
            jobs.add(&job.to_string(), ends[dice.below(ends.len())].port);
        }
    }
    for _ in 0..dice.below(9) {
        let (first, other) = (ends[dice.below(ends.len())].port, ends[dice.below(ends.len())].port);
        let host = jobs.host(problem.fabric, first);
        jobs.join_host(other, host);
        jobs.join_host(first, host);
    }
    jobs
}

/// The paths of a job over each channel, and the pairs without one, pair by pair of different hosts.
fn walked(
    problem: &Problem<'_>,
    routes: &Routes,
    jobs: &JobMap,
    ports: &BTreeSet<PortId>,
) -> (BTreeMap<u32, u64>, u64) {
    let own = || problem.graph.terminals().iter().filter(|end| ports.contains(&end.port));
    let (mut loads, mut lost) = (BTreeMap::new(), 0);
    for (from, to) in own().flat_map(|from| own().map(move |to| (from, to))) {
        if jobs.host(problem.fabric, from.port) == jobs.host(problem.fabric, to.port) {
            continue;
        }
        let path = path(problem, routes, from.switch, to.lid.unwrap());
        lost += u64::from(path.is_none());
        path.into_iter().flatten().for_each(|channel| *loads.entry(channel).or_default() += 1);
    }
    (loads, lost)
}

/// The hosts that ports are of.
fn hosts(problem: &Problem<'_>, jobs: &JobMap, ports: &BTreeSet<PortId>) -> usize {
    ports.iter().map(|port| jobs.host(problem.fabric, *port)).collect::<BTreeSet<_>>().len()
}

#[test]
fn loads_of_jobs_are_those_of_a_walk_over_every_pair() {
    let (mut several, mut any_lost, mut with_siblings) = (0, 0, 0);
    for seed in 0..90 {
        let (fabric, faults, mut dice) = (any_fabric(seed), Faults::default(), Dice(seed));
        let problem = Problem::new(&fabric, &faults);
        let mut routes = route("minhop", &problem).unwrap().routes;
        if seed % 2 == 1 {
            damage(&problem, &mut routes, &mut dice);
        }
        let jobs = any_jobs(&problem, &mut dice);
        let seen = JobLoads::new(&FlowPaths::new(&problem, &routes), &jobs);
        let mut all = BTreeMap::<u32, u64>::new();
        let (mut most, mut links, mut counted, mut lost_of_all) = (0, 0, 0, 0);
        for ((_, ports), job) in jobs.iter().zip(&seen.jobs) {
            let (walked, lost) = walked(&problem, &routes, &jobs, ports);
            let hosts = hosts(&problem, &jobs, ports);
            assert_eq!((job.lost, job.hosts, job.ports), (lost, hosts, ports.len()), "seed {seed}");
            lost_of_all += lost;
            with_siblings += usize::from(hosts < ports.len());
            let told: BTreeMap<u32, u64> =
                job.loads.iter().map(|(ChannelId(id), paths)| (*id, *paths)).collect();
            assert_eq!(told, walked, "seed {seed}");
            let switches: BTreeSet<u32> = (problem.graph.terminals().iter())
                .filter(|end| ports.contains(&end.port))
                .map(|end| end.switch)
                .collect();
            assert_eq!(job.switches, switches.len(), "seed {seed}");
            if switches.len() > 1 && hosts > 1 {
                most += walked.values().max().copied().unwrap_or(0);
                links += walked.len();
                counted += 1;
            }
            walked.into_iter().for_each(|(id, paths)| *all.entry(id).or_default() += paths);
        }
        let told = seen.metrics();
        assert_eq!(told.lost, lost_of_all, "seed {seed}");
        any_lost += lost_of_all;
        let everybody: BTreeSet<PortId> = jobs.iter().flat_map(|(_, ports)| ports.clone()).collect();
        assert_eq!(seen.all.hosts, self::hosts(&problem, &jobs, &everybody), "seed {seed}");
        let channels = problem.graph.channels().len();
        assert_eq!((told.jobs, told.max), (counted, all.values().max().copied().unwrap_or(0)), "seed {seed}");
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "seed {seed}: {a} {b}");
        close(told.mean_max * counted as f64, most as f64);
        close(told.mean_links * counted as f64, links as f64);
        close(told.dark_fiber, 100.0 * (channels - all.len()) as f64 / channels as f64);
        assert_eq!(seen.all.histogram().values().sum::<usize>(), all.len(), "seed {seed}");
        several += counted;
    }
    assert!(several > 60, "{several} jobs on several switches");
    assert!(any_lost > 100 && with_siblings > 20, "{any_lost} lost, {with_siblings} jobs with siblings");
}

/// Tables 5.1 and 5.2.
#[test]
fn sar_is_better_where_the_dissertation_says_so() {
    let samples = if crate::changes::long() { 200 } else { 20 };
    for system in &SYSTEMS {
        let began = std::time::Instant::now();
        let seen = replay::replay(system, WORKLOADS[0], 1, samples);
        println!("{}: {samples} samples in {:.0} s", system.name, began.elapsed().as_secs_f64());
        assert_eq!(other_signs(system, &seen), Vec::<String>::new());
        if system.name == "tsubame2" {
            for other in 0..3 {
                let lit = gain(&seen, 2, other).mean;
                assert!(
                    lit >= 5.0,
                    "{} percentage points less dark fiber than {}",
                    lit,
                    replay::OTHERS[other]
                );
            }
        }
    }
}

/// What was sent to the systems is not known, so signs do not hang on it.
#[test]
fn sar_is_better_whatever_is_sent_to_a_system() {
    let samples = if crate::changes::long() { 200 } else { 4 };
    for (system, workload) in
        SYSTEMS.iter().flat_map(|system| WORKLOADS[1..].iter().map(move |one| (system, *one)))
    {
        let seen = replay::replay(system, workload, 2, samples);
        assert_eq!(other_signs(system, &seen), Vec::<String>::new(), "{workload:?}");
    }
}

/// The job of 200 hosts of 5.3.2.3. `updn` stands for the fat-tree routing of the dissertation, with the same main paths: our
/// `ftree` moves paths off busy channels, and so has less to be bettered.
#[test]
fn a_large_job_on_few_leaves_is_spread() {
    // A median of few is not that of many.
    let (samples, least) = if crate::changes::long() { (100, 1.8) } else { (20, 1.6) };
    let fabric = replay::fabric("tsubame2");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let plain = replay::route(&problem, "updn", &JobMap::default());
    let placed: Vec<JobMap> = Placements::new(&problem, 1).take(samples).collect();
    let mut factors: Vec<f64> = placed
        .par_iter()
        .map(|jobs| {
            let sar = replay::route(&problem, "sar", jobs);
            metrics(&problem, &plain, jobs).max as f64 / metrics(&problem, &sar, jobs).max as f64
        })
        .collect();
    factors.sort_by(f64::total_cmp);
    println!("{factors:.2?}");
    assert!(factors[samples / 2] >= least, "{factors:?}");
}
