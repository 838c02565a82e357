//! The dissertation (Domke), chapter 5: scheduling-aware routing, and migration in five phases.

use std::sync::Arc;
use std::time::Instant;

use super::headline::HeadlineRelation::{AtLeast, AtMost, Equal, SameOrder, SameSign, Within};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork, order_words};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::job_island::{JobsOnLeaves, figure_5_2, jobs_on_leaves, placements};
use super::migration_run::migration;
use super::routed_fabric::{RoutedFabric, advance};
use fabdeck_fabric::generate::{JobHistory, Workload};
use fabdeck_fabric::{Faults, JobMap, Routes};
use fabdeck_routing::analysis::{FlowPaths, JobLoads, JobMetrics};
use fabdeck_routing::{Problem, Request};
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{Flow, MixedPattern, TrafficPattern, TrafficSettings};
use rayon::prelude::*;

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "domke-5.1",
        place: "dissertation, figure 5.1",
        shows: "job histories of a month on two systems",
        inputs: "none",
        work: HeadlineWork::Impossible("the authors' logs of batch systems"),
    },
    Headline {
        id: "domke-5.2",
        place: "dissertation, figure 5.2",
        shows: "most paths of three jobs of 60 hosts over one channel: 160 with oblivious routes, 60 with SAR",
        inputs: "10 leaves of 18 hosts, with 9 and 6 spines; LIDs and GUIDs in drawn orders; engine `sar`",
        work: HeadlineWork::Rows(three_jobs),
    },
    Headline {
        id: "domke-5.8",
        place: "dissertation, figure 5.8, tables 5.1 and 5.2",
        shows: "how much better SAR is, in % (of dark fiber in percentage points)",
        inputs: "`taurus`, `tsubame2`, job histories of a month by seed",
        work: HeadlineWork::Rows(job_tables),
    },
    Headline {
        id: "domke-5.9",
        place: "dissertation, figures 5.9 to 5.11",
        shows: "a job of 200 hosts on 15 leaves: paths over its busiest channel with fat-tree routing divided by those with SAR",
        inputs: "`tsubame2`, engines `ftree` and `sar`, placements by seed",
        work: HeadlineWork::Rows(placed_job),
    },
    Headline {
        id: "domke-5.12",
        place: "dissertation, figure 5.12",
        shows: "time of an exchange of 28 hosts on ten switches beside other jobs, under three engines",
        inputs: "`taurus`, 28 drawn hosts on ten leaves, the other hosts of these leaves in jobs of 20 that send in rings",
        work: HeadlineWork::Rows(job_exchange),
    },
    Headline {
        id: "domke-5.13",
        place: "dissertation, figure 5.13",
        shows: "a stream moves from one cable to another in phases, without loss and in order",
        inputs: "two switches, two cables, LMC 1, one stream that is directed to the high LID and back",
        work: HeadlineWork::Rows(migrated_stream),
    },
    Headline {
        id: "domke-5.3.3.1",
        place: "dissertation, sections 5.3.3.1 to 5.3.3.3",
        shows: "time of the filter, reconfigurations a day, and time to write tables in production",
        inputs: "none",
        work: HeadlineWork::Impossible("the authors' production system"),
    },
    Headline {
        id: "domke-5.3.3",
        place: "dissertation, section 5.3.3",
        shows: "seconds of SAR on Taurus",
        inputs: "`taurus` with the jobs of a synthetic month",
        work: HeadlineWork::Rows(sar_seconds),
    },
];

fn job_request(jobs: &JobMap) -> Request {
    Request { jobs: Arc::new(jobs.clone()), ..Request::default() }
}

/// The most paths of all jobs over one channel.
fn most_paths(problem: &Problem<'_>, routes: &Routes, jobs: &JobMap) -> u64 {
    JobLoads::new(&FlowPaths::new(problem, routes), jobs).all.max
}

fn three_jobs(run: &HeadlineRun<'_>) -> HeadlineRows {
    let orders = run.samples(6, 30);
    let mut rows = Vec::new();
    for (spines, cables) in [(9, 2), (6, 3)] {
        let mut found = Vec::new();
        for seed in 0..orders {
            let (fabric, jobs) = figure_5_2((spines, cables), seed)?;
            let faults = Faults::default();
            let problem = Problem::new(&fabric, &faults);
            let oblivious = run.route("dfsssp", &problem)?.routes;
            let aware = run.route_as("sar", &problem, &job_request(&jobs))?.routes;
            found.push((most_paths(&problem, &oblivious, &jobs), most_paths(&problem, &aware, &jobs)));
        }
        let most = |of: fn(&(u64, u64)) -> u64| found.iter().map(of).max().unwrap_or(0);
        let (oblivious, aware) = (most(|pair| pair.0), most(|pair| pair.1));
        let sample = run.sample_words(6, 30, "orders, the worst");
        let label = |engine: &str| format!("{spines} spines, {engine}: most paths over a channel");
        let row = HeadlineRow::may(label("dfsssp"), 160u64, oblivious, AtLeast(66.0));
        let why =
            "the paper does not say how many spines and which order of LIDs; more than under SAR counts";
        rows.push(row.because(why).over(sample.clone()));
        rows.push(HeadlineRow::must(label("sar"), 60u64, aware, AtMost(66.0)).over(sample));
    }
    Ok(rows)
}

/// Engines that SAR is compared with, in the order of the tables.
const OTHERS: [&str; 3] = ["dfsssp", "ftree", "updn"];
const METRICS: [&str; 4] =
    ["paths over the busiest channel", "the same of a job", "dark fiber", "channels of a job"];

/// A system with the mean improvements of tables 5.1 and 5.2, by metric and engine.
struct JobSystem {
    name: &'static str,
    paper: [[f64; 3]; 4],
}

static JOB_SYSTEMS: [JobSystem; 2] = [
    JobSystem {
        name: "taurus",
        paper: [[23.3, -0.6, -0.6], [23.4, -2.1, -2.1], [6.03, 3.62, 3.62], [11.1, 9.4, 9.4]],
    },
    JobSystem {
        name: "tsubame2",
        paper: [[38.5, 29.7, 26.8], [30.1, 14.8, 13.2], [7.63, 9.99, 5.51], [17.4, 27.3, 6.4]],
    },
];

/// What SAR makes better, by metric, against another engine.
fn improvements(sar: &JobMetrics, other: &JobMetrics) -> [f64; 4] {
    let less = |sar: f64, other: f64| 100.0 * (other - sar) / other.max(1e-9);
    [
        less(sar.max as f64, other.max as f64),
        less(sar.mean_max, other.mean_max),
        other.dark_fiber - sar.dark_fiber,
        // More channels are better.
        -less(sar.mean_links, other.mean_links),
    ]
}

/// The mean improvements over samples of a month, by engine.
fn mean_improvements(
    run: &HeadlineRun<'_>,
    system: &JobSystem,
    samples: u64,
) -> Result<[[f64; 4]; 3], HeadlineStop> {
    /// Samples of a month: one every ten minutes.
    const MONTH: usize = 30 * 144;
    let (fabric, faults) = (run.fabric(system.name)?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut others = Vec::new();
    for other in OTHERS {
        others.push(run.route(other, &problem)?.routes);
    }
    let history = JobHistory::new(&fabric, Workload::TYPICAL, 1);
    let moments: Vec<JobMap> = history.step_by(MONTH / samples as usize).take(samples as usize).collect();
    let sample = |jobs: &JobMap| -> Result<Vec<[f64; 4]>, HeadlineStop> {
        let metrics = |routes: &Routes| JobLoads::new(&FlowPaths::new(&problem, routes), jobs).metrics();
        let sar = metrics(&run.route_as("sar", &problem, &job_request(jobs))?.routes);
        Ok(others.iter().map(|routes| improvements(&sar, &metrics(routes))).collect())
    };
    let found = moments.par_iter().map(sample).collect::<Result<Vec<_>, _>>()?;
    let mut means = [[0.0; 4]; 3];
    for one in &found {
        for (mean, values) in means.iter_mut().zip(one) {
            for (mean, value) in mean.iter_mut().zip(values) {
                *mean += value / found.len() as f64;
            }
        }
    }
    Ok(means)
}

fn job_tables(run: &HeadlineRun<'_>) -> HeadlineRows {
    let samples = run.samples(4, 200);
    let sample = run.sample_words(4, 200, "samples of a month");
    let mut rows = Vec::new();
    for system in &JOB_SYSTEMS {
        run.show(format!("domke-5.8: {}", system.name));
        let means = mean_improvements(run, system, samples)?;
        for (metric, (name, paper)) in METRICS.into_iter().zip(system.paper).enumerate() {
            for (at, other) in OTHERS.into_iter().enumerate() {
                let label = format!("{}, {name}, against {other}", system.name);
                let (paper, ours) = (paper[at], means[at][metric]);
                // The paper's own means below 5 are within the spread of its months.
                let row = match paper.abs() > 5.0 && !run.quick {
                    true => HeadlineRow::must(label, paper, ours, SameSign),
                    false => HeadlineRow::may(label, paper, ours, SameSign),
                };
                rows.push(row.because("the paper's job histories are not public").over(sample.clone()));
            }
        }
    }
    Ok(rows)
}

fn placed_job(run: &HeadlineRun<'_>) -> HeadlineRows {
    let (fabric, faults) = (run.fabric("tsubame2")?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let fat_tree = run.route("ftree", &problem)?.routes;
    let count = run.samples(6, 100);
    let jobs: Vec<JobMap> = placements(&problem, 1).take(count as usize).collect();
    let ratio = |jobs: &JobMap| -> Result<f64, HeadlineStop> {
        let aware = run.route_as("sar", &problem, &job_request(jobs))?.routes;
        Ok(most_paths(&problem, &fat_tree, jobs) as f64 / most_paths(&problem, &aware, jobs).max(1) as f64)
    };
    let mut ratios = jobs.par_iter().map(ratio).collect::<Result<Vec<_>, _>>()?;
    ratios.sort_by(f64::total_cmp);
    let sample = run.sample_words(6, 100, "placements");
    let why = "the paper's placement is not known; ftree here moves paths off busy channels";
    // 1,272 paths with fat-tree routing, 376 with SAR.
    let paper = 1_272.0 / 376.0;
    let middle = ratios.get(ratios.len() / 2).copied().unwrap_or(0.0);
    let most = ratios.last().copied().unwrap_or(0.0);
    Ok(vec![
        HeadlineRow::must("median of the ratios", paper, middle, AtLeast(1.2))
            .because(why)
            .over(sample.clone()),
        HeadlineRow::may("largest ratio", paper, most, AtLeast(paper)).because(why).over(sample),
    ])
}

/// Microseconds of an exchange among the hosts of a job, beside rings of the other jobs.
fn exchange_us(
    run: &HeadlineRun<'_>,
    routed: &RoutedFabric,
    placed: &JobsOnLeaves,
) -> Result<f64, HeadlineStop> {
    /// The longest exchange that is waited for.
    const MOST_NS: u64 = 50_000_000;
    let ring = |job: &Vec<_>| -> Vec<Flow> {
        let next = job.iter().cycle().skip(1);
        job.iter().zip(next).map(|(from, to)| Flow::new(*from, *to)).collect()
    };
    let pattern = TrafficPattern::Mixed(Box::new(MixedPattern {
        pattern: TrafficPattern::Shift { packets: 16, shifts: None },
        among: placed.job.clone(),
        beside: placed.others.iter().flat_map(ring).collect(),
        switch_load: Share::default(),
        switch_level: None,
    }));
    let mut traffic = routed.begin(pattern, TrafficSettings::default())?;
    while !traffic.has_finished_exchange() && traffic.now_ns() < MOST_NS {
        let until = traffic.now_ns() + 20_000;
        advance(run, &mut traffic, until)?;
    }
    match traffic.exchange_progress() {
        Some((_, last_ns)) if traffic.has_finished_exchange() => Ok(last_ns as f64 / 1000.0),
        _ => Err(HeadlineStop::Failed("the exchange of the job does not end".to_owned())),
    }
}

fn job_exchange(run: &HeadlineRun<'_>) -> HeadlineRows {
    let (fabric, faults) = (run.fabric("taurus")?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let count = run.samples(2, 20);
    let sample = run.sample_words(2, 20, "placements, mean");
    let oblivious = [run.route("ftree", &problem)?.routes, run.route("dfsssp", &problem)?.routes];
    let mut times = [0.0; 3];
    for placed in jobs_on_leaves(&problem, 1).take(count as usize) {
        let aware = run.route_as("sar", &problem, &job_request(&placed.map()))?.routes;
        let all = oblivious.iter().cloned().chain([aware]);
        for (time, routes) in times.iter_mut().zip(all) {
            let routed = RoutedFabric::of(fabric.clone(), routes);
            *time += exchange_us(run, &routed, &placed)? / count as f64;
        }
    }
    let [ftree, dfsssp, sar] = times;
    let change = |a: f64, b: f64| (a / b - 1.0) * 100.0;
    let why = "neither the hosts nor the other jobs of the paper are known";
    let rates = [("sar", 1.0 / sar), ("ftree", 1.0 / ftree), ("dfsssp", 1.0 / dfsssp)];
    let rows = [
        HeadlineRow::may("time with DFSSSP over fat-tree routing in %", 7.1, change(dfsssp, ftree), SameSign),
        HeadlineRow::may("time with SAR over DFSSSP in %", -17.6, change(sar, dfsssp), SameSign),
        HeadlineRow::may("time with SAR over fat-tree routing in %", -11.7, change(sar, ftree), SameSign),
        HeadlineRow::may(
            "order, the fastest first",
            "sar > ftree > dfsssp",
            order_words(&rates, 0.0),
            SameOrder,
        ),
    ];
    Ok(rows.into_iter().map(|row| row.because(why).over(sample.clone())).collect())
}

fn migrated_stream(run: &HeadlineRun<'_>) -> HeadlineRows {
    let found = migration(run)?;
    Ok(vec![
        HeadlineRow::must("packets lost", 0u64, found.lost, Equal),
        HeadlineRow::must("packets out of order", 0u64, found.overtaken, Equal),
        HeadlineRow::must(
            "share of the packets on the second cable while the stream uses the high LID",
            "all",
            found.moved_share,
            AtLeast(0.99),
        ),
        HeadlineRow::may("Gbyte/s in the mean", 3.1, found.mean_gbytes, Within(30.0)),
        HeadlineRow::must(
            "least rate of 20 us, divided by the mean",
            "a dip",
            found.least_share,
            AtLeast(0.8),
        ),
    ])
}

fn sar_seconds(run: &HeadlineRun<'_>) -> HeadlineRows {
    let (fabric, faults) = (run.fabric("taurus")?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let jobs = JobHistory::new(&fabric, Workload::TYPICAL, 1).nth(1000).unwrap_or_default();
    let begun = Instant::now();
    run.route_as("sar", &problem, &job_request(&jobs))?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(vec![HeadlineRow::may("seconds on 2,090 hosts", 5.0, seconds, AtMost(5.0)).mark_as_time()])
}
