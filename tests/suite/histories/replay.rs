//! Job histories replayed under several engines (dissertation 5.3.2): what `sar` makes better, and by how much.

use std::sync::Arc;

use fabdeck_fabric::generate::{FabricSpec, JobHistory, Workload, generate};
use fabdeck_fabric::{Fabric, Faults, JobMap, PortId, Routes};
use fabdeck_routing::analysis::{FlowPaths, JobLoads, JobMetrics};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use rayon::prelude::*;

/// What `sar` is held against, in the order of the tables.
pub const OTHERS: [&str; 3] = ["dfsssp", "ftree", "updn"];

/// Samples of a month.
pub const MONTH: usize = 30 * 144;

/// What tables 5.1 and 5.2 say of a system: the mean improvement of each metric against each of the others, in hundred of
/// what the other has, for dark fiber in percentage points.
pub struct PaperSystem {
    pub name: &'static str,
    pub paper: [[f64; 3]; 4],
}

pub const SYSTEMS: [PaperSystem; 2] = [
    PaperSystem {
        name: "taurus",
        paper: [[23.3, -0.6, -0.6], [23.4, -2.1, -2.1], [6.03, 3.62, 3.62], [11.1, 9.4, 9.4]],
    },
    PaperSystem {
        name: "tsubame2",
        paper: [[38.5, 29.7, 26.8], [30.1, 14.8, 13.2], [7.63, 9.99, 5.51], [17.4, 27.3, 6.4]],
    },
];

/// What was sent to the systems is not known; the signs are to hold whatever it was.
pub const WORKLOADS: [Workload; 4] = [
    Workload::TYPICAL,
    Workload { single: 10, larger: 85, largest: 200 },
    Workload { single: 10, larger: 70, largest: 200 },
    Workload { single: 0, larger: 50, largest: 200 },
];

pub const METRICS: [&str; 4] =
    ["paths over the busiest channel", "the same of a job, mean", "dark fiber", "links of a job, mean"];

pub fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

pub fn route(problem: &Problem<'_>, id: &str, jobs: &JobMap) -> Routes {
    let request = Request { jobs: Arc::new(jobs.clone()), ..Request::default() };
    (find_engine(id).unwrap().route)(problem, &request, &NoProgress).unwrap().routes
}

pub fn metrics(problem: &Problem<'_>, routes: &Routes, jobs: &JobMap) -> JobMetrics {
    JobLoads::new(&FlowPaths::new(problem, routes), jobs).metrics()
}

/// What runs at one moment under each engine.
pub struct Sample {
    pub sar: JobMetrics,
    pub others: [JobMetrics; 3],
}

/// So many moments of a month, evenly spread.
pub fn replay(system: &PaperSystem, workload: Workload, seed: u64, samples: usize) -> Vec<Sample> {
    let fabric = fabric(system.name);
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let others = OTHERS.map(|other| route(&problem, other, &JobMap::default()));
    let history = JobHistory::new(&fabric, workload, seed);
    let moments: Vec<JobMap> = history.step_by(MONTH / samples).take(samples).collect();
    let sample = |jobs: &JobMap| Sample {
        sar: metrics(&problem, &route(&problem, "sar", jobs), jobs),
        others: others.each_ref().map(|routes| metrics(&problem, routes, jobs)),
    };
    moments.par_iter().map(sample).collect()
}

/// What `sar` makes better than another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gain {
    pub mean: f64,
    pub most: f64,
    /// In hundred of what the other has; of dark fiber, which is a percentage, the same as above.
    pub mean_percent: f64,
    pub most_percent: f64,
}

pub fn metric_value(metrics: &JobMetrics, metric: usize) -> f64 {
    [metrics.max as f64, metrics.mean_max, metrics.dark_fiber, metrics.mean_links][metric]
}

pub fn gain(samples: &[Sample], metric: usize, other: usize) -> Gain {
    let better = |sample: &Sample| {
        let (other, sar) = (metric_value(&sample.others[other], metric), metric_value(&sample.sar, metric));
        // More links are better, of everything else less.
        let by = if metric == 3 { sar - other } else { other - sar };
        let percent = if metric == 2 { by } else { 100.0 * by / other.max(1e-9) };
        (by, percent)
    };
    let all: Vec<(f64, f64)> = samples.iter().map(better).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MIN, f64::max);
    Gain {
        mean: mean(|one| one.0),
        most: most(|one| one.0),
        mean_percent: mean(|one| one.1),
        most_percent: most(|one| one.1),
    }
}

/// The mean of a metric over samples, under `sar` and under the others.
pub fn means(samples: &[Sample], metric: usize) -> [f64; 4] {
    let mean = |of: &dyn Fn(&Sample) -> JobMetrics| {
        samples.iter().map(|sample| metric_value(&of(sample), metric)).sum::<f64>()
            / samples.len().max(1) as f64
    };
    [
        mean(&|sample| sample.sar),
        mean(&|one| one.others[0]),
        mean(&|one| one.others[1]),
        mean(&|one| one.others[2]),
    ]
}

/// The metrics of which the paper's mean is beyond 5 in hundred and that have another sign here.
pub fn other_signs(system: &PaperSystem, samples: &[Sample]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (metric, means) in system.paper.iter().enumerate() {
        for (other, paper) in means.iter().enumerate().filter(|(_, paper)| paper.abs() > 5.0) {
            let here = gain(samples, metric, other).mean_percent;
            if here * paper <= 0.0 {
                let (name, metric, other) = (system.name, METRICS[metric], OTHERS[other]);
                wrong.push(format!("{name}, {metric}, against {other}: {here:.1}, the paper has {paper}"));
            }
        }
    }
    wrong
}

/// Places for the job of 5.3.2.3: 200 hosts on 15 leaf switches.
pub struct Placements {
    /// The ports of the hosts of each leaf.
    leaves: Vec<Vec<PortId>>,
    draw: u64,
}

impl Placements {
    pub fn new(problem: &Problem<'_>, seed: u64) -> Self {
        let ports = |switch| problem.graph.terminals_of(switch).iter().map(|end| end.port).collect();
        let leaves: Vec<Vec<PortId>> = problem.switches().map(ports).collect();
        Self { leaves: leaves.into_iter().filter(|leaf| !leaf.is_empty()).collect(), draw: seed }
    }

    /// SplitMix64.
    fn below(&mut self, limit: usize) -> usize {
        self.draw = self.draw.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.draw ^ self.draw >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 16) as usize % limit
    }

    /// Moves so many to the front, drawn alike.
    fn choose<T>(&mut self, all: &mut [T], count: usize) {
        for at in 0..count {
            let rest = all.len() - at;
            all.swap(at, at + self.below(rest));
        }
    }
}

impl Iterator for Placements {
    type Item = JobMap;

    fn next(&mut self) -> Option<JobMap> {
        const LEAVES: usize = 15;
        const HOSTS: usize = 200;
        let mut leaves = self.leaves.clone();
        self.choose(&mut leaves, LEAVES);
        leaves.truncate(LEAVES);
        // One host of each leaf, and the others from anywhere there.
        let mut jobs = JobMap::default();
        let mut rest = Vec::new();
        for leaf in &mut leaves {
            self.choose(leaf, 1);
            jobs.add("200", leaf[0]);
            rest.extend_from_slice(&leaf[1..]);
        }
        self.choose(&mut rest, HOSTS - LEAVES);
        rest[..HOSTS - LEAVES].iter().for_each(|port| jobs.add("200", *port));
        Some(jobs)
    }
}
