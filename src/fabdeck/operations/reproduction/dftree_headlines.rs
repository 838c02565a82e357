//! dFtree (Guay, Reinemo, Lysne, Skeie): victims beside hot-spots, with and without a slow lane.

use super::dftree_test_bed::{DftreeTestBed, TestBedShape, host_limits};
use super::headline::HeadlineRelation::{AtLeast, Equal, Printed, SameOrder, SameSign, Within};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork, order_words};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::routed_fabric::{RoutedFabric, gbps_a_host};
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::{LinkSpeed, ServiceLevel};
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{Flow, TrafficPattern, TrafficSettings};

const INPUTS: &str = "the test bed of figure 3, hosts that send 12.9 Gb/s at most; the contributors on one lane with the \
                      victim, and on a lane of their own";

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "dftree-5",
        place: "dFtree paper, experiment I, figures 5 and 6",
        shows: "Gb/s of the victim 2-3 beside {1-5, 3-5, 6-5}",
        inputs: INPUTS,
        work: HeadlineWork::Rows(|run| experiment(run, &EXPERIMENTS[0])),
    },
    Headline {
        id: "dftree-7",
        place: "dFtree paper, experiment II, figures 7 and 8",
        shows: "Gb/s of the victim 2-4 after a cable has failed",
        inputs: INPUTS,
        work: HeadlineWork::Rows(|run| experiment(run, &EXPERIMENTS[1])),
    },
    Headline {
        id: "dftree-9",
        place: "dFtree paper, experiment III, figures 9 and 10",
        shows: "Gb/s of the victim 2-7 in a tree with 2:1 trunks",
        inputs: INPUTS,
        work: HeadlineWork::Rows(|run| experiment(run, &EXPERIMENTS[2])),
    },
    Headline {
        id: "dftree-11",
        place: "dFtree paper, experiment IV, figures 11 and 12",
        shows: "Gb/s of the victim 2-11 in a tree with 2:1 trunks",
        inputs: INPUTS,
        work: HeadlineWork::Rows(|run| experiment(run, &EXPERIMENTS[3])),
    },
    Headline {
        id: "dftree-II",
        place: "dFtree paper, tables II and III",
        shows: "gain of b_eff's rings and ping-pong beside a hot-spot by dFtree",
        inputs: "the test bed of figure 3, rings of the hosts that no hot-spot flow uses, in their order and drawn",
        work: HeadlineWork::Rows(rings),
    },
    Headline {
        id: "dftree-13",
        place: "dFtree paper, figure 13",
        shows: "gain of 648 hosts with 1, 3 and 9 hot-spots that get 5 % of the packets",
        inputs: "`switch648`, engine `ftree`, packets to hot-spots on a lane of their own",
        work: HeadlineWork::Rows(hot_spots),
    },
    Headline {
        id: "dftree-I",
        place: "dFtree paper, section III-C, algorithms 1 and 2",
        shows: "thresholds of a hot-spot and of a victim",
        inputs: "the defaults of `hotspots`",
        work: HeadlineWork::Rows(thresholds),
    },
];

/// An experiment (V-A, V-B) with the paper's Gb/s of the victim: alone, beside the contributors, and with dFtree.
struct LaneExperiment {
    victim: (u8, u8),
    contributors: [(u8, u8); 3],
    paper: [f64; 3],
    shape: TestBedShape,
}

const SMALL: TestBedShape = TestBedShape { per_leaf: 2, trunk: LinkSpeed::Ddr, one_lost: false };
const LARGE: TestBedShape = TestBedShape { per_leaf: 4, trunk: LinkSpeed::Qdr, one_lost: false };
const SMALL_HOT_SPOT: [(u8, u8); 3] = [(1, 5), (3, 5), (6, 5)];
const LARGE_HOT_SPOT: [(u8, u8); 3] = [(1, 9), (5, 9), (10, 9)];

static EXPERIMENTS: [LaneExperiment; 4] = [
    LaneExperiment { victim: (2, 3), contributors: SMALL_HOT_SPOT, paper: [12.9, 3.0, 7.5], shape: SMALL },
    LaneExperiment {
        victim: (2, 4),
        contributors: SMALL_HOT_SPOT,
        paper: [12.9, 3.0, 7.5],
        shape: TestBedShape { one_lost: true, ..SMALL },
    },
    LaneExperiment { victim: (2, 7), contributors: LARGE_HOT_SPOT, paper: [12.9, 3.4, 12.9], shape: LARGE },
    LaneExperiment { victim: (2, 11), contributors: LARGE_HOT_SPOT, paper: [12.9, 2.2, 12.9], shape: LARGE },
];

/// Gb/s of each flow, once the rates have settled.
fn rates(
    run: &HeadlineRun<'_>,
    bed: &DftreeTestBed,
    flows: Vec<Flow>,
    settings: TrafficSettings,
) -> Result<Vec<f64>, HeadlineStop> {
    let traffic = bed.routed.measure(run, (TrafficPattern::Flows(flows), settings), (300_000, 1_000_000))?;
    match traffic.find_deadlock() {
        Some(_) => Err(HeadlineStop::Failed("the flows end in a deadlock".to_owned())),
        None => Ok(traffic.flow_counts().iter().map(|flow| flow.mbps as f64 / 1000.0).collect()),
    }
}

/// The contributors, on level 1 and so on a lane of their own, or on that of all flows.
fn contributors(bed: &DftreeTestBed, all: &[(u8, u8)], separated: bool) -> Result<Vec<Flow>, HeadlineStop> {
    let level = ServiceLevel::new(1).filter(|_| separated);
    all.iter().map(|ends| Ok(Flow { level, ..bed.flow(*ends)? })).collect()
}

fn experiment(run: &HeadlineRun<'_>, experiment: &LaneExperiment) -> HeadlineRows {
    let bed = DftreeTestBed::new(experiment.shape)?;
    let victim = bed.flow(experiment.victim)?;
    let alone = rates(run, &bed, vec![victim], host_limits())?[0];
    let beside = |separated: bool| {
        let mut flows = vec![victim];
        flows.extend(contributors(&bed, &experiment.contributors, separated)?);
        rates(run, &bed, flows, host_limits())
    };
    let (congested, free) = (beside(false)?, beside(true)?);
    let [paper_alone, paper_congested, paper_free] = experiment.paper;
    let paper_gain = (paper_free / paper_congested - 1.0) * 100.0;
    let gain = (free[0] / congested[0] - 1.0) * 100.0;
    let cable = "nothing but the cable is between the victim and its whole rate here; the paper's gets half";
    let free_row = match paper_free < paper_alone {
        true => {
            HeadlineRow::must("victim, contributors on a slow lane", paper_free, free[0], AtLeast(paper_free))
                .because(cable)
        }
        false => HeadlineRow::must("victim, contributors on a slow lane", paper_free, free[0], Within(25.0)),
    };
    let mut rows = vec![
        HeadlineRow::must("victim alone", paper_alone, alone, Within(2.0)),
        HeadlineRow::must("victim beside the contributors", paper_congested, congested[0], Within(25.0)),
        free_row,
        HeadlineRow::must("gain of the victim in %", paper_gain, gain, AtLeast(100.0)),
    ];
    for (at, (from, to)) in experiment.contributors.iter().enumerate() {
        let label = format!("contributor {from}-{to}, one lane");
        rows.push(HeadlineRow::may(label, "-", congested[at + 1], Printed));
    }
    if experiment.shape.per_leaf == 2 && !experiment.shape.one_lost {
        // The flow from the hot-spot's own leaf gets half: 6.8 Gb/s in the paper, the others 3.
        let flows = contributors(&bed, &experiment.contributors, false)?;
        let parking_lot = rates(run, &bed, flows, host_limits())?;
        rows.push(HeadlineRow::must("contributor 6-5 without the victim", 6.8, parking_lot[2], Within(25.0)));
    }
    Ok(rows)
}

/// A ring of hosts in this order, both ways.
fn ring(bed: &DftreeTestBed, order: &[u8]) -> Result<Vec<Flow>, HeadlineStop> {
    let mut flows = Vec::new();
    for (at, from) in order.iter().enumerate() {
        let to = order[(at + 1) % order.len()];
        flows.push(bed.flow((*from, to))?);
        if order.len() > 2 {
            flows.push(bed.flow((to, *from))?);
        }
    }
    Ok(flows)
}

/// The mean Mbyte/s of a host's sending in a ring beside the hot-spot flows.
fn ring_rate(
    run: &HeadlineRun<'_>,
    bed: &DftreeTestBed,
    order: &[u8],
    (hot_spot, separated): (&[(u8, u8)], bool),
) -> Result<f64, HeadlineStop> {
    let mut flows = ring(bed, order)?;
    let count = flows.len();
    flows.extend(contributors(bed, hot_spot, separated)?);
    let rates = rates(run, bed, flows, host_limits())?;
    Ok(rates[..count].iter().sum::<f64>() * 1000.0 / 8.0 / order.len() as f64)
}

/// The mean rate of ping-pong with long messages: one pair at a time, and one direction at a time.
fn ping_pong_rate(
    run: &HeadlineRun<'_>,
    bed: &DftreeTestBed,
    hosts: &[u8],
    (hot_spot, separated): (&[(u8, u8)], bool),
) -> Result<f64, HeadlineStop> {
    let pairs = || hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)));
    let (mut sum, mut count) = (0.0, 0u32);
    for pair in pairs().filter(|(from, to)| from != to) {
        let mut flows = vec![bed.flow(pair)?];
        flows.extend(contributors(bed, hot_spot, separated)?);
        sum += rates(run, bed, flows, host_limits())?[0];
        count += 1;
    }
    Ok(sum / f64::from(count.max(1)))
}

fn rings(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    let seeds = run.samples(3, 10);
    for (table, shape, hot_spot, [drawn_paper, natural_paper, ping_pong_paper]) in [
        ("II", TestBedShape { one_lost: true, ..SMALL }, SMALL_HOT_SPOT, [49.34, 37.45, 63.74]),
        ("III", LARGE, LARGE_HOT_SPOT, [52.60, 23.71, 7.61]),
    ] {
        let bed = DftreeTestBed::new(shape)?;
        let is_free = |host: &u8| hot_spot.iter().all(|(from, to)| from != host && to != host);
        let free: Vec<u8> = (1..=3 * shape.per_leaf).filter(is_free).collect();
        let gain = |order: &[u8]| {
            let one = ring_rate(run, &bed, order, (&hot_spot, false))?;
            let two = ring_rate(run, &bed, order, (&hot_spot, true))?;
            Ok::<f64, HeadlineStop>((two / one - 1.0) * 100.0)
        };
        let few = "the paper does not say which hosts the rings have; table II here with the failed cable of experiment II";
        let natural = gain(&free)?;
        rows.push(
            HeadlineRow::may(
                format!("table {table}, natural ring, gain in %"),
                natural_paper,
                natural,
                SameSign,
            )
            .because(few),
        );
        let mut gains = Vec::new();
        for seed in 0..seeds {
            gains.push(gain(&shuffled(&free, seed))?);
        }
        let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        let label = format!("table {table}, random ring, gain in %");
        let row = match free.len() > 2 {
            true => HeadlineRow::must(label, drawn_paper, mean, SameSign),
            false => HeadlineRow::may(label, drawn_paper, mean, SameSign),
        };
        rows.push(row.because(few).over(run.sample_words(3, 10, "orders")));
        let one = ping_pong_rate(run, &bed, &free, (&hot_spot, false))?;
        let two = ping_pong_rate(run, &bed, &free, (&hot_spot, true))?;
        let label = format!("table {table}, mean ping-pong bandwidth, gain in %");
        rows.push(
            HeadlineRow::must(label, ping_pong_paper, (two / one - 1.0) * 100.0, SameSign).because(few),
        );
    }
    Ok(rows)
}

/// The hosts in an order drawn from the seed.
fn shuffled(hosts: &[u8], seed: u64) -> Vec<u8> {
    let mut order = hosts.to_vec();
    let mut rng = fabdeck_simulator::SimulatorRng::new(seed + 1);
    for last in (1..order.len()).rev() {
        order.swap(last, rng.draw_below(last as u64 + 1) as usize);
    }
    order
}

fn hot_spots(run: &HeadlineRun<'_>) -> HeadlineRows {
    let routed = RoutedFabric::new(run, "switch648", "ftree")?;
    let times = (run.samples(500_000, 2_000_000), run.samples(500_000, 4_000_000));
    let sample = format!("{} us measured", times.1 / 1000);
    let (mut rows, mut gains) = (Vec::new(), Vec::new());
    for (spots, paper) in [(1, 480.25), (3, 345.32), (9, 169.17)] {
        let rate = |level: Option<ServiceLevel>| {
            let pattern = TrafficPattern::HotSpots { spots, share: Share::percent(5), level };
            let traffic = routed.measure(run, (pattern, TrafficSettings::default()), times)?;
            Ok::<f64, HeadlineStop>(gbps_a_host(&traffic))
        };
        let gain = (rate(ServiceLevel::new(1))? / rate(None)? - 1.0) * 100.0;
        let label = format!("{spots} hot-spots, gain in %");
        rows.push(
            HeadlineRow::must(label, paper, gain, SameSign)
                .because("the gain depends on how long the hot-spot's tree has filled, which the paper does not say")
                .over(sample.clone()),
        );
        gains.push(gain);
    }
    let names = ["1 spot", "3 spots", "9 spots"];
    let order: Vec<(&str, f64)> = names.into_iter().zip(gains).collect();
    rows.push(
        HeadlineRow::may(
            "order of the gains",
            "1 spot > 3 spots > 9 spots",
            order_words(&order, 0.0),
            SameOrder,
        )
        .over(sample),
    );
    Ok(rows)
}

fn thresholds(_: &HeadlineRun<'_>) -> HeadlineRows {
    let Thresholds { congestion, fair_share, .. } = Thresholds::default();
    Ok(vec![
        HeadlineRow::must(
            "ticks of XmitWait a second from which a port is congested",
            100_000u64,
            congestion,
            Equal,
        ),
        HeadlineRow::must(
            "share of its link in % below which an adapter is a victim",
            50u64,
            fair_share * 100.0,
            Equal,
        ),
    ])
}
