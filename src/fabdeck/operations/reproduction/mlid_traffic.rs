//! Figures 12 to 15 of the MLID paper: accepted traffic and latency over a sweep of loads, of which the text has five
//! observations and no number.

use super::headline::HeadlineRelation::{AtLeast, AtMost, SameOrder};
use super::headline::{HeadlineRow, HeadlineRows, order_words};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::routed_fabric::RoutedFabric;
use fabdeck_fabric::NodeKind;
use fabdeck_simulator::traffic::{LevelSelection, TrafficPattern, TrafficSettings};

/// Bytes of a packet on the wire.
const PACKET: f64 = 32.0;

/// Loads in twentieths of a link. At the first of them the link of the hot host of FT(8,3) is not full yet.
const LOADS: [u32; 11] = [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20];
const QUICK_LOADS: [u32; 4] = [1, 6, 12, 20];

/// The fabrics by growing number of ports of a switch, with what the text says of uniform traffic.
const FABRICS: [(&str, &str, &str); 4] = [
    ("FT(4,4)", "mport,m=4,n=4", ">= 1"),
    ("FT(8,3)", "mport,m=8,n=3", ">= 1"),
    ("FT(16,3)", "mport,m=16,n=3,lmc=5", "> 1"),
    ("FT(32,2)", "mport,m=32,n=2", "> 1"),
];

const CLOSE: &str = "the figures have no numbers; of FT(4,4) on two lanes ten seeds give 0.992 with a standard error of 0.003";

/// What a sweep of loads shows.
#[derive(Clone, Copy)]
struct LoadSweep {
    /// The most accepted bytes a nanosecond and host.
    accepted: f64,
    /// Mean latency in nanoseconds at the lowest load, and at the full one.
    latency: [f64; 2],
}

fn sweep_loads(
    run: &HeadlineRun<'_>,
    routed: &RoutedFabric,
    pattern: &TrafficPattern,
) -> Result<LoadSweep, HeadlineStop> {
    let loads: &[u32] = if run.quick { &QUICK_LOADS } else { &LOADS };
    let measured_ns = run.samples(60_000, 100_000);
    let mut sweep = LoadSweep { accepted: 0.0, latency: [0.0; 2] };
    for (at, load) in loads.iter().enumerate() {
        let settings = TrafficSettings {
            payload: 6,
            buffer: 32,
            output_buffer: 1,
            load: f64::from(*load) / 20.0,
            ..TrafficSettings::default()
        };
        let traffic = routed.measure(run, (pattern.clone(), settings), (20_000, measured_ns))?;
        let ends = traffic.end_counts();
        let taken: u64 = ends.iter().map(|end| end.taken).sum();
        let accepted = taken as f64 * PACKET / measured_ns as f64 / ends.len().max(1) as f64;
        sweep.accepted = sweep.accepted.max(accepted);
        let mean = traffic.latency().mean as f64;
        if at == 0 {
            sweep.latency[0] = mean;
        }
        sweep.latency[1] = mean;
    }
    Ok(sweep)
}

/// The sweeps of one fabric under one pattern: by lanes (1, 2 and 4), of MLID and of SLID.
type PatternSweeps = [[LoadSweep; 2]; 3];
const LANES: [u8; 3] = [1, 2, 4];

fn sweep_lanes(
    run: &HeadlineRun<'_>,
    routed: &mut [RoutedFabric; 2],
    pattern: &TrafficPattern,
) -> Result<PatternSweeps, HeadlineStop> {
    let mut sweeps = [[LoadSweep { accepted: 0.0, latency: [0.0; 2] }; 2]; 3];
    for (lanes, both) in LANES.into_iter().zip(&mut sweeps) {
        for (routed, sweep) in routed.iter_mut().zip(both) {
            routed.service = LevelSelection::InTurns { count: lanes };
            *sweep = sweep_loads(run, routed, pattern)?;
        }
    }
    Ok(sweeps)
}

/// The rows of all fabrics, the last of them over fabrics.
pub fn load_sweep_rows(run: &HeadlineRun<'_>) -> HeadlineRows {
    let fabrics = if run.quick { &FABRICS[..2] } else { &FABRICS };
    let sample = if run.quick { "4 loads" } else { "11 loads" };
    let (mut rows, mut gains) = (Vec::new(), Vec::new());
    for (title, name, claim) in fabrics {
        run.show(format!("mlid-12: {title}"));
        let name = format!("{name},speed=SDR,width=1x");
        let mut routed = [RoutedFabric::new(run, &name, "mlid")?, RoutedFabric::new(run, &name, "dmodk")?];
        let uniform = sweep_lanes(run, &mut routed, &TrafficPattern::Uniform)?;
        let centric = sweep_lanes(run, &mut routed, &TrafficPattern::centric())?;
        let hosts = routed[0].fabric.count(NodeKind::ChannelAdapter);
        gains.push((*title, hosts, uniform[0][0].accepted / uniform[0][1].accepted));
        rows.extend(uniform_rows(title, claim, &uniform));
        rows.extend(centric_rows(title, &centric));
    }
    let paper: Vec<_> = gains.iter().map(|(title, hosts, _)| (*title, *hosts as f64)).collect();
    let ours: Vec<_> = gains.iter().map(|(title, _, gain)| (*title, *gain)).collect();
    let (paper, ours) = (order_words(&paper, 0.0), order_words(&ours, 0.0));
    let row = HeadlineRow::may("uniform, 1 lane: the gain grows with the hosts", paper, ours, SameOrder);
    rows.push(
        row.because("FT(16,3) has 32 LIDs a port here, not the paper's 64, which are more than a subnet has"),
    );
    Ok(rows.into_iter().map(|row| row.over(sample)).collect())
}

/// Observations 1 and 2: MLID accepts more uniform traffic; its latency is lower at low load, and higher where it takes
/// more at high load.
fn uniform_rows(title: &str, claim: &str, sweeps: &PatternSweeps) -> Vec<HeadlineRow> {
    let mut rows = Vec::new();
    for (lanes, [mlid, slid]) in LANES.into_iter().zip(sweeps) {
        let label = format!("{title}, uniform, {lanes} lanes: accepted traffic, MLID / SLID");
        let ratio = mlid.accepted / slid.accepted;
        rows.push(match lanes {
            1 => HeadlineRow::must(label, claim, ratio, AtLeast(1.0)),
            _ if ratio < 1.0 => HeadlineRow::may(label, claim, ratio, AtLeast(1.0)).because(CLOSE),
            _ => HeadlineRow::may(label, claim, ratio, AtLeast(1.0)),
        });
    }
    let [mlid, slid] = &sweeps[0];
    for (place, words, claim, relation) in [
        (0, "at a twentieth of the load", "<= 1 in general", AtMost(1.0)),
        (1, "at full load", "> 1", AtLeast(1.0)),
    ] {
        let label = format!("{title}, uniform, 1 lane: latency {words}, MLID / SLID");
        rows.push(HeadlineRow::may(label, claim, mlid.latency[place] / slid.latency[place], relation));
    }
    rows
}

/// Observations 3 and 4: with a hot host MLID accepts much more on one lane, on large switches even more than SLID on two;
/// on small switches its latency is lower.
fn centric_rows(title: &str, sweeps: &PatternSweeps) -> Vec<HeadlineRow> {
    const LIMIT: &str = "at full load the link of the hot host decides, and what queues behind its packets in one send \
                         queue waits whatever the routes";
    let is_small = matches!(title, "FT(4,4)" | "FT(8,3)");
    let mut rows = Vec::new();
    for (lanes, [mlid, slid]) in LANES.into_iter().zip(sweeps) {
        let label = format!("{title}, centric, {lanes} lanes: accepted traffic, MLID / SLID");
        let ratio = mlid.accepted / slid.accepted;
        rows.push(match lanes {
            1 if is_small => HeadlineRow::must(label, "> 1", ratio, AtLeast(1.2)),
            _ if ratio < 1.0 => HeadlineRow::may(label, "> 1", ratio, AtLeast(1.0)).because(LIMIT),
            _ => HeadlineRow::may(label, "> 1", ratio, AtLeast(1.0)),
        });
    }
    let [one, two, _] = sweeps;
    rows.push(match is_small {
        true => {
            let label = format!("{title}, centric, 1 lane: latency at a twentieth of the load, MLID / SLID");
            HeadlineRow::may(label, "< 1", one[0].latency[0] / one[1].latency[0], AtMost(1.0))
        }
        false => {
            let label = format!("{title}, centric: accepted traffic, MLID on 1 lane / SLID on 2");
            HeadlineRow::may(label, "> 1", one[0].accepted / two[1].accepted, AtLeast(1.0)).because(LIMIT)
        }
    });
    rows
}
