//! sFtree (Bogdanski, Reinemo, Sem-Jacobsen, Gran): switches that reach each other on fat-trees without deadlock.

use std::time::Instant;

use super::headline::HeadlineRelation::{AtMost, Between, Equal, Printed, SameOrder};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork, order_words};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::routed_fabric::{RoutedFabric, advance, gbps_a_host, host_ports};
use super::switch_loop::FourSwitchLoop;
use fabdeck_fabric::{Faults, NodeId, PortId, PortNum, ServiceLevel};
use fabdeck_routing::{Problem, Request};
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{Flow, MixedPattern, TrafficPattern, TrafficRun, TrafficSettings};

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "sftree-2",
        place: "sFtree paper, figure 2",
        shows: "four flows on a tree of three stages deadlock, three do not, and under sFtree all four flow",
        inputs: "`kary,k=2,n=3`, two flows of hosts and two of switches in the manner of the lost drawing",
        work: HeadlineWork::Rows(four_flows),
    },
    Headline {
        id: "sftree-3",
        place: "sFtree paper, figure 3",
        shows: "where switches at the top meet: X1-X2 below A1, X1-Y1 at the root of the subtree",
        inputs: "`kary,k=2,n=3`, engine `sftree`",
        work: HeadlineWork::Rows(meeting_points),
    },
    Headline {
        id: "sftree-I",
        place: "sFtree paper, figure 4, tables I and II",
        shows: "what 25 Mbyte/s between switches take from rings of 8 hosts, in %: table I, with all on one lane",
        inputs: "`kary,k=2,n=3`, engine `sftree`, natural ring and drawn rings",
        work: HeadlineWork::Rows(rings_beside_switches),
    },
    Headline {
        id: "sftree-6",
        place: "sFtree paper, figure 6",
        shows: "bandwidth falls to 0 when the last stream closes the credit loop, and settles under sFtree",
        inputs: "the four flows of `sftree-2`, begun one after the other",
        work: HeadlineWork::Rows(streams_one_by_one),
    },
    Headline {
        id: "sftree-7a",
        place: "sFtree paper, figure 7a",
        shows: "hosts at full load lose 1 % when all switches send fully, on one lane",
        inputs: "`switch648,speed=DDR`, engine `sftree`, uniform traffic of hosts and of switches that send 2 Gb/s",
        work: HeadlineWork::Rows(|run| beside_switches(run, false)),
    },
    Headline {
        id: "sftree-7b",
        place: "sFtree paper, figure 7b",
        shows: "hosts fall to 64 % beside switches on a lane of their own",
        inputs: "the same, the packets of switches on a lane of their own, even arbitration",
        work: HeadlineWork::Rows(|run| beside_switches(run, true)),
    },
    Headline {
        id: "sftree-III",
        place: "sFtree paper, table III",
        shows: "rate of a host under uniform traffic, in % of its link",
        inputs: "`switch648` and `racks648` with speed DDR, uniform traffic of hosts alone; the paper's switches send too",
        work: HeadlineWork::Rows(throughput),
    },
    Headline {
        id: "sftree-IV",
        place: "sFtree paper, table IV",
        shows: "seconds of sFtree divided by those of ftree, and of LASH divided by those of ftree",
        inputs: "`switch648`, `racks648`, `switch3456`, `juropa`, `ranger`",
        work: HeadlineWork::Rows(|run| Ok(seconds(run)?.0)),
    },
    Headline {
        id: "sftree-7.2.3",
        place: "sFtree paper, section 7.2.3",
        shows: "lanes that LASH needs",
        inputs: "`switch648`, `switch3456`, `juropa`, engine `lash`",
        work: HeadlineWork::Rows(lash_lanes),
    },
    Headline {
        id: "sftree-7.3",
        place: "sFtree paper, section 7.3",
        shows: "seconds that paths of switches add to ftree",
        inputs: "`switch3456`, `juropa`, `ranger`, engines `ftree` and `sftree`",
        work: HeadlineWork::Rows(|run| Ok(seconds(run)?.1)),
    },
];

fn end_words(deadlock: bool) -> &'static str {
    if deadlock { "deadlock" } else { "flows" }
}

fn four_flows(run: &HeadlineRun<'_>) -> HeadlineRows {
    let four = FourSwitchLoop::new(run)?;
    let by_hand = four.routes_by_hand();
    let ends = |routes: fabdeck_fabric::Routes, flows: Vec<Flow>| {
        let routed = RoutedFabric::of(four.fabric.clone(), routes);
        let mut traffic = routed.begin(TrafficPattern::Flows(flows), FourSwitchLoop::settings())?;
        advance(run, &mut traffic, 1_000_000)?;
        Ok::<_, HeadlineStop>(end_words(traffic.find_deadlock().is_some()))
    };
    let all = ends(by_hand.clone(), four.flows()?)?;
    let mut rows = vec![HeadlineRow::must("four flows, shortest paths by hand", "deadlock", all, Equal)];
    for without in 0..4 {
        let mut flows = four.flows()?;
        flows.remove(without);
        let label = format!("the same without flow {}", without + 1);
        rows.push(HeadlineRow::must(label, "flows", ends(by_hand.clone(), flows)?, Equal));
    }
    let routes = run.route("sftree", &Problem::new(&four.fabric, &Faults::default()))?.routes;
    rows.push(HeadlineRow::must("four flows, sFtree", "flows", ends(routes, four.flows()?)?, Equal));
    Ok(rows)
}

fn meeting_points(run: &HeadlineRun<'_>) -> HeadlineRows {
    let routed = RoutedFabric::new(run, "kary,k=2,n=3", "sftree")?;
    let mut rows = Vec::new();
    // X1 and X2 are spine0 and spine2, Y1 is spine1, A1 is mid0; the root of the subtree is leaf0.
    for (label, from, to, paper) in [
        ("X1 to X2", "spine0", "spine2", "spine0 mid0 spine2"),
        ("X1 to Y1", "spine0", "spine1", "spine0 mid0 leaf0 mid1 spine1"),
        ("A1 to B1", "mid0", "mid1", "mid0 leaf0 mid1"),
    ] {
        let lid = routed.lid_of_switch(routed.switch(to)?)?;
        let path = super::routed_fabric::walk(&routed.fabric, &routed.routes, routed.switch(from)?, lid);
        let names: Vec<String> = path.into_iter().map(|(name, _)| name).collect();
        rows.push(HeadlineRow::must(label, paper, names.join(" "), Equal));
    }
    Ok(rows)
}

/// Rings of the eight hosts, with and without streams of 25 Mbyte/s both ways between two switches: of the paper's six only
/// two could send, and which these were is not said.
fn rings_beside_switches(run: &HeadlineRun<'_>) -> HeadlineRows {
    let routed = RoutedFabric::new(run, "kary,k=2,n=3,speed=DDR", "sftree")?;
    let mut rows = Vec::new();
    for (pair, words) in [(["leaf0", "leaf3"], "two leaves"), (["spine0", "spine1"], "two spines")] {
        let [one, other] = pair.map(|name| port_of_switch(&routed, name));
        rows.extend(rings_beside(run, &routed, [one?, other?], words)?);
    }
    Ok(rows)
}

fn port_of_switch(routed: &RoutedFabric, name: &str) -> Result<PortId, HeadlineStop> {
    let own = routed.fabric.port_of(NodeId(routed.switch(name)?), PortNum::MANAGEMENT);
    own.ok_or_else(|| HeadlineStop::Failed(format!("{name} has no port 0")))
}

fn rings_beside(
    run: &HeadlineRun<'_>,
    routed: &RoutedFabric,
    [one, other]: [PortId; 2],
    words: &str,
) -> HeadlineRows {
    /// 25 Mbyte/s.
    const STREAM_MBPS: u32 = 200;
    // Hosts send no faster than the paper's did in its fastest ping-pong: 1,588 Mbyte/s.
    let settings = TrafficSettings { host_limit_mbps: Some(12_700), ..TrafficSettings::default() };
    let hosts = host_ports(&routed.fabric);
    let streams = [(one, other), (other, one)]
        .map(|(from, to)| Flow { mbps: Some(STREAM_MBPS), ..Flow::new(from, to) });
    let rate = |order: &[usize], with: bool| {
        let next = |at: usize| (hosts[order[at]], hosts[order[(at + 1) % order.len()]]);
        let pairs = (0..order.len()).map(next);
        let mut flows: Vec<Flow> =
            pairs.flat_map(|(from, to)| [Flow::new(from, to), Flow::new(to, from)]).collect();
        let count = flows.len();
        flows.extend(streams.iter().copied().filter(|_| with));
        let pattern = TrafficPattern::Flows(flows);
        let traffic = routed.measure(run, (pattern, settings), (200_000, 1_000_000))?;
        Ok::<u64, HeadlineStop>(traffic.flow_counts()[..count].iter().map(|flow| flow.mbps).sum())
    };
    let change = |order: &[usize]| {
        let (without, with) = (rate(order, false)?, rate(order, true)?);
        Ok::<f64, HeadlineStop>((with as f64 / without.max(1) as f64 - 1.0) * 100.0)
    };
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    let natural = change(&order)?;
    let (mut rng, mut drawn) = (fabdeck_simulator::SimulatorRng::new(1), Vec::new());
    for _ in 0..run.samples(3, 12) {
        for last in (1..order.len()).rev() {
            order.swap(last, rng.draw_below(last as u64 + 1) as usize);
        }
        drawn.push(change(&order)?);
    }
    let mean = drawn.iter().sum::<f64>() / drawn.len().max(1) as f64;
    // Table I, where all is on one lane.
    let row = |ring: &str, paper: f64, ours: f64| {
        let label = format!("{ring}, streams between {words}: change in %");
        HeadlineRow::may(label, paper, ours, Between(-4.0, 2.0))
    };
    let sample = run.sample_words(3, 12, "orders, mean");
    Ok(vec![row("natural ring", 0.468, natural), row("drawn rings", -0.007, mean).over(sample)])
}

/// The four flows begin 100 us apart; the rates are those of the last 200 us.
fn streams_one_by_one(run: &HeadlineRun<'_>) -> HeadlineRows {
    const STEP_NS: u64 = 100_000;
    let four = FourSwitchLoop::new(run)?;
    let mut rows = Vec::new();
    let by_hand = four.routes_by_hand();
    let sftree = run.route("sftree", &Problem::new(&four.fabric, &Faults::default()))?.routes;
    for (label, routes, is_loop) in [("shortest paths", by_hand, true), ("sFtree", sftree, false)] {
        let routed = RoutedFabric::of(four.fabric.clone(), routes);
        let flows = four.flows()?.into_iter().enumerate();
        let flows = flows.map(|(at, flow)| Flow { mbps: (at > 0).then_some(0), ..flow }).collect();
        let mut traffic = routed.begin(TrafficPattern::Flows(flows), FourSwitchLoop::settings())?;
        for flows in 1..=4usize {
            traffic.begin_measuring();
            let until = traffic.now_ns() + if flows == 4 { 10 } else { 1 } * STEP_NS;
            advance(run, &mut traffic, until)?;
            if flows == 4 {
                traffic.begin_measuring();
                advance(run, &mut traffic, until + 2 * STEP_NS)?;
            }
            let gbps = traffic.total_mbps() as f64 / 1e3;
            let label = format!("{label}, {flows} streams: Gb/s in all");
            rows.push(match (flows, is_loop) {
                (4, true) => HeadlineRow::must(label, 0u64, gbps, Equal),
                (4, false) => HeadlineRow::must(
                    label,
                    "settles above 0",
                    gbps,
                    super::headline::HeadlineRelation::AtLeast(1.0),
                ),
                _ => HeadlineRow::may(label, "-", gbps, Printed),
            });
            if flows < 4 {
                traffic.set_flow_rate(flows, FourSwitchLoop::STREAM_MBPS);
            }
        }
    }
    Ok(rows)
}

/// What hosts at full load receive while switches send a share of what they can.
fn beside_switches(run: &HeadlineRun<'_>, own_lane: bool) -> HeadlineRows {
    let routed = RoutedFabric::new(run, "switch648,speed=DDR", "sftree")?;
    let times = (200_000, 1_000_000);
    let sample = format!("{} us measured", times.1 / 1000);
    let traffic = |load: Share, settings: TrafficSettings| {
        let pattern = TrafficPattern::Mixed(Box::new(MixedPattern {
            pattern: TrafficPattern::Uniform,
            among: Vec::new(),
            beside: Vec::new(),
            switch_load: load,
            switch_level: ServiceLevel::new(1).filter(|_| own_lane),
        }));
        routed.measure(run, (pattern, settings), times)
    };
    let alone = gbps_a_host(&traffic(Share::percent(0), TrafficSettings::default())?);
    let left = |traffic: &TrafficRun| gbps_a_host(traffic) / alone * 100.0;
    let loads: &[u32] = if run.quick { &[50, 100] } else { &[25, 50, 75, 100] };
    let mut rows = vec![HeadlineRow::may("hosts alone: Gb/s a host", "-", alone, Printed)];
    for percent in loads {
        let run = traffic(Share::percent(*percent), TrafficSettings::default())?;
        let label = format!("switches at {percent} % of their load: % that is left to hosts");
        rows.push(match (*percent, own_lane) {
            (100, false) => HeadlineRow::may(label, 99u64, left(&run), Between(95.0, 101.0)).because(
                "packets for a switch queue in the lane of the hosts: with switches that receive faster, the last row, they do not",
            ),
            (100, true) => {
                let row = HeadlineRow::may(label, 64u64, left(&run), Between(50.0, 80.0));
                row.because(switch_lane_words(&run))
            }
            _ => HeadlineRow::may(label, "-", left(&run), Printed).because("the drawing is lost"),
        });
    }
    if !own_lane {
        // Switches that send as much as before, and take as fast as a link of 16 Gb/s carries.
        let quick = TrafficSettings { switch_limit_mbps: 16_000, ..TrafficSettings::default() };
        let eighth =
            Share::parse("12.5%").ok_or_else(|| HeadlineStop::Failed("12.5% is no share".to_owned()))?;
        let label = "switches send 2 Gb/s and receive up to 16: % that is left to hosts";
        let left = left(&traffic(eighth, quick)?);
        rows.push(HeadlineRow::may(label, 99u64, left, Between(95.0, 101.0)));
    }
    Ok(rows.into_iter().map(|row| row.over(sample.clone())).collect())
}

/// What the lane of the switches carries, which decides what even arbitration can give it.
fn switch_lane_words(traffic: &TrafficRun) -> String {
    let hops = traffic.lane_hops();
    let share = hops.get(1).map_or(0.0, |own| *own as f64 / hops.iter().sum::<u64>().max(1) as f64 * 100.0);
    format!(
        "the lane of the switches has {share:.1} % of the packets here, counted on each cable, and leaves the rest of its half \
         to the other one; the paper gives each lane half of every link"
    )
}

/// An engine with the paper's shares of a link, in percent, on two stages and on three.
const TABLE_III: [(&str, [f64; 2]); 5] = [
    ("sftree", [91.94, 92.93]),
    ("dfsssp", [85.49, 84.20]),
    ("minhop", [66.98, 54.01]),
    ("updn", [66.98, 54.01]),
    ("lash", [5.257, 0.8103]),
];

fn throughput(run: &HeadlineRun<'_>) -> HeadlineRows {
    /// What a DDR link carries as payload, in Gb/s.
    const LINK: f64 = 16.0 * 2048.0 / 2074.0;
    let times = (200_000, 1_000_000);
    let sample = format!("{} us measured", times.1 / 1000);
    let mut rows = Vec::new();
    for (at, name) in ["switch648,speed=DDR", "racks648,speed=DDR"].into_iter().enumerate() {
        let (fabric, faults) = (run.fabric(name)?, Faults::default());
        let (mut shares, mut busiest) = (Vec::new(), Vec::new());
        for (engine, paper) in TABLE_III {
            run.show(format!("sftree-III: {engine} on {name}"));
            let label = format!("{name}, {engine}: % of a link");
            let problem = Problem::new(&fabric, &faults);
            let routes = match run.try_route(engine, &problem, &Request::default())? {
                Ok(answer) => answer.routes,
                Err(why) => {
                    rows.push(HeadlineRow::missing(label, paper[at], why));
                    continue;
                }
            };
            let index = run.certify(&problem, &routes)?.edge_forwarding_index.max;
            busiest.push(format!("{engine} {index}"));
            let routed = RoutedFabric::of(fabric.clone(), routes);
            let traffic =
                routed.measure(run, (TrafficPattern::Uniform, TrafficSettings::default()), times)?;
            let stands = traffic.find_deadlock().is_some();
            let share = if stands { 0.0 } else { gbps_a_host(&traffic) / LINK * 100.0 };
            shares.push((engine, share));
            let why = match stands {
                true => "a deadlock: packets wait for each other, and nothing flows",
                false => {
                    "switches here have one queue a lane, which alone costs a third and more of a link: compare the order"
                }
            };
            rows.push(HeadlineRow::may(label, paper[at], share, Printed).because(why).over(sample.clone()));
        }
        let share = |engine: &str| shares.iter().find(|(id, _)| *id == engine).map(|(_, share)| *share);
        if let (Some(sftree), Some(dfsssp), Some(lash)) = (share("sftree"), share("dfsssp"), share("lash")) {
            let paper = if at == 0 { 5.257 / 91.94 } else { 0.8103 / 92.93 };
            let label = format!("{name}: LASH divided by sFtree");
            rows.push(HeadlineRow::must(label, paper, lash / sftree, AtMost(0.2)).over(sample.clone()));
            let order = order_words(&[("sftree", sftree), ("dfsssp", dfsssp), ("lash", lash)], 0.0);
            let row = HeadlineRow::may(format!("{name}: order"), "sftree > dfsssp > lash", order, SameOrder);
            let why = format!("paths over the busiest channel here: {}", busiest.join(", "));
            rows.push(row.because(why).over(sample.clone()));
        }
    }
    Ok(rows)
}

/// The paper's seconds without and with paths of switches, and of LASH.
const TABLE_IV: [(&str, [Option<f64>; 3]); 5] = [
    ("switch648", [Some(0.047), Some(0.047), Some(0.04)]),
    ("racks648", [Some(0.104), Some(0.112), Some(0.27)]),
    ("switch3456", [Some(2.29), Some(2.796), Some(400.99)]),
    ("juropa", [Some(6.43), Some(8.858), None]),
    ("ranger", [Some(21.73), Some(27.8), None]),
];

/// The fastest of three runs of an engine, in seconds.
fn fastest(run: &HeadlineRun<'_>, engine: &str, problem: &Problem<'_>) -> Result<f64, HeadlineStop> {
    let mut fastest = f64::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        run.route(engine, problem)?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// Rows of table IV, and of section 7.3.
fn seconds(run: &HeadlineRun<'_>) -> Result<(Vec<HeadlineRow>, Vec<HeadlineRow>), HeadlineStop> {
    let (mut ratios, mut overheads) = (Vec::new(), Vec::new());
    for (name, [plain, with, lash]) in TABLE_IV {
        run.show(format!("sftree-IV: {name}"));
        let (fabric, faults) = (run.fabric(name)?, Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let ours = [fastest(run, "ftree", &problem)?, fastest(run, "sftree", &problem)?];
        let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
        if let Some(paper) = ratio(with, plain) {
            let label = format!("{name}: sFtree / ftree");
            let why = "where paths had to be moved, sftree here makes up to six sets of tables and takes the one whose \
                       busiest channel has the fewest paths";
            let row = HeadlineRow::may(label, paper, ours[1] / ours[0], AtMost(1.6)).because(why);
            ratios.push(row.mark_as_time());
        }
        let label = format!("{name}: LASH / ftree");
        match ratio(lash, plain) {
            Some(paper) if !run.quick || name != "switch3456" => {
                let lash = fastest(run, "lash", &problem)?;
                ratios.push(HeadlineRow::may(label, paper, lash / ours[0], Printed).mark_as_time());
            }
            Some(paper) => ratios.push(HeadlineRow::missing(label, paper, "left out with --quick")),
            None => {}
        }
        if matches!(name, "switch3456" | "juropa" | "ranger") {
            let paper = with.zip(plain).map_or(0.0, |(with, plain)| with - plain);
            let label = format!("{name}: seconds more");
            overheads.push(HeadlineRow::may(label, paper, ours[1] - ours[0], AtMost(paper)).mark_as_time());
        }
    }
    Ok((ratios, overheads))
}

fn lash_lanes(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (name, paper) in [("switch648", 1u64), ("switch3456", 6), ("juropa", 8)] {
        if run.quick && name == "juropa" {
            rows.push(HeadlineRow::missing(name, paper, "left out with --quick"));
            continue;
        }
        run.show(format!("sftree-7.2.3: {name}"));
        let (fabric, faults) = (run.fabric(name)?, Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let request = Request { lanes: 15, ..Request::default() };
        rows.push(match run.try_route("lash", &problem, &request)? {
            Ok(answer) => HeadlineRow::may(name, paper, answer.routes.lane_count(), AtMost(paper as f64))
                .because("lanes depend on the order in which pairs are placed"),
            Err(why) => HeadlineRow::missing(name, paper, why),
        });
    }
    Ok(rows)
}
