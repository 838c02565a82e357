//! Verdicts over counters of traffic that is known: who is called a contributor sends to a hot-spot, and no victim does.

use super::test_bed::{EXPERIMENTS, Experiment, TestBed, limited};
use fabdeck_fabric::counters::{
    CongestionRole, Evidence, HotSpots, Thresholds, classify_adapters, find_hot_spots, rates_of_samples,
};
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{LinkSpeed, PortId, Tables};
use fabdeck_simulator::traffic::{Flow, PortCount, TrafficRun, TrafficSettings};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A second of a fabric, as a millisecond of traffic.
const RATIO: u64 = 1000;

/// Counters of data have this many bytes of a packet with 2,048 bytes of payload.
pub const COUNTED_PER_PAYLOAD: f64 = 2072.0 / 2048.0;

/// The test bed of an experiment with one lane at each port.
pub fn stage_of_one_lane(experiment: &Experiment) -> TestBed {
    TestBed::with_lanes(experiment.per_leaf, experiment.trunk, experiment.one_lost, Some(1))
}

/// A run from whose beginning on packets keep their paths.
pub fn counted_run(stage: &TestBed, flows: Vec<Flow>) -> TrafficRun {
    stage.run(flows, TrafficSettings { keeps_paths: true, ..limited() }, &Tables::default())
}

/// What two looks, a second apart, make of these flows.
fn judged(stage: &TestBed, flows: Vec<Flow>, with_tables: bool) -> (HotSpots, TrafficRun) {
    let mut run = counted_run(stage, flows);
    run.advance(300_000);
    run.begin_measuring();
    let before = stage.samples(&run, RATIO);
    run.advance(1_300_000);
    let rates = rates_of_samples(&stage.fabric, &before, &stage.samples(&run, RATIO), 1.0);
    let mut verdict = find_hot_spots(&stage.fabric, &rates, &Thresholds::default());
    if with_tables {
        classify_adapters(&stage.fabric, &stage.tables(), &rates, &mut verdict);
    }
    (verdict, run)
}

/// The numbers of the hosts that wait: contributors, either, victims.
fn hosts(stage: &TestBed, verdict: &HotSpots) -> [Vec<u8>; 3] {
    let of = |wanted: fn(&CongestionRole) -> bool| {
        let held = verdict.congested_adapters.iter().filter(|held| wanted(&held.role));
        let mut hosts: Vec<u8> = held.map(|held| stage.number(held.at.port)).collect();
        hosts.sort_unstable();
        hosts
    };
    [
        of(|role| matches!(role, CongestionRole::Contributor(_))),
        of(|role| *role == CongestionRole::Undecided),
        of(|role| matches!(role, CongestionRole::Victim { .. })),
    ]
}

#[test]
fn routes_tell_the_contributors_of_the_papers_experiments() {
    for experiment in &EXPERIMENTS {
        let stage = stage_of_one_lane(experiment);
        let pairs = experiment.contributors.iter().chain([&experiment.victim]);
        let flows: Vec<Flow> = pairs.map(|(from, to)| stage.flow(*from, *to)).collect();
        let (verdict, _) = judged(&stage, flows.clone(), false);
        let hot: Vec<PortId> = verdict.hot_spots.iter().map(|hot| hot.adapter).collect();
        assert_eq!(hot, [stage.host(experiment.contributors[0].1)], "{}", experiment.name);
        let all: Vec<u8> = flows.iter().map(|flow| stage.number(flow.from)).collect();
        let [_, either, _] = hosts(&stage, &verdict);
        assert_eq!(either.len(), all.len(), "{}: counters alone tell of nobody", experiment.name);
        let found = hosts(&stage, &judged(&stage, flows, true).0);
        // Who stands at one leaf with the victim may be one too; so may who stands beside the one that it sends to.
        let expected: [&[u8]; 3] = match experiment.name {
            "I" => [&[3, 6], &[1, 2], &[]],
            "II" => [&[3, 6], &[1, 2], &[]],
            "III" => [&[5, 10], &[1, 2], &[]],
            _ => [&[5, 10], &[1, 2], &[]],
        };
        assert_eq!(found, expected, "{}", experiment.name);
    }
}

/// A second of the fabric is a millisecond of traffic. What went into a switch and did not come out of it lies in its
/// buffers, which hold no more because time passes more slowly.
#[test]
fn packets_in_buffers_count_once_whatever_the_ratio() {
    let experiment = &EXPERIMENTS[0];
    let stage = stage_of_one_lane(experiment);
    let flows = experiment.contributors.iter().map(|(from, to)| stage.flow(*from, *to)).collect();
    let mut run = counted_run(&stage, flows);
    let before = stage.samples(&run, RATIO);
    run.advance(1_000_000);
    let after = stage.samples(&run, RATIO);
    let data = |samples: &[CounterSample], port: PortId, counter: Counter| {
        samples[port.index()].values.get(&counter).unwrap() * 4
    };
    let grew = |port, counter: Counter| data(&after, port, counter.clone()) - data(&before, port, counter);
    let buffer = u64::from(TrafficSettings::default().buffer);
    let mut most = 0;
    for (switch, _) in stage.fabric.switches() {
        let ports: Vec<PortId> = stage.fabric.ports_of(switch).map(|(port, _)| port).collect();
        let [entered, left] = [Counter::PortRcvDataExtended, Counter::PortXmitDataExtended]
            .map(|counter| ports.iter().map(|port| grew(*port, counter.clone())).sum::<u64>());
        // A packet begins to leave before the counter of the port that it came by has it.
        let allowed = buffer * ports.len() as u64;
        assert!(entered.abs_diff(left) <= allowed, "{switch:?}: {entered} in, {left} out");
        most = most.max(entered.saturating_sub(left));
    }
    assert!(most > 0, "packets lie in buffers");
}

#[test]
fn no_flow_is_misjudged_whatever_flows_there_are() {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut of_kind = [0; 4];
    for case in 0..120 {
        let trunk = [LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Sdr][case % 3];
        let stage = TestBed::with_lanes(4, trunk, case % 2 == 1, Some(1));
        let mut host = || (dice.next_u32() % 12) as u8 + 1;
        let pairs: Vec<(u8, u8)> = (0..3 + case % 12).map(|_| (host(), host())).collect();
        let flows = pairs.iter().filter(|(from, to)| from != to).map(|(from, to)| stage.flow(*from, *to));
        let flows: Vec<Flow> = flows.collect();
        let (verdict, run) = judged(&stage, flows.clone(), true);
        for held in &verdict.congested_adapters {
            let kind = match held.role {
                CongestionRole::Contributor(Evidence::NowhereElse { .. }) => 1,
                CongestionRole::Contributor(_) => 0,
                CongestionRole::Victim { .. } => 2,
                _ => 3,
            };
            let right = is_true(&verdict, held.at.port, held.role, &run);
            of_kind[kind] += 1;
            assert!(right, "case {case}: {:?} of {} with {pairs:?}", held.role, stage.number(held.at.port));
        }
    }
    assert!(of_kind.iter().all(|count| *count > 5), "each kind is there: {of_kind:?}");
}

/// What an adapter sent to others since measuring began, in bytes per second as counters have them.
pub fn sent_to(run: &TrafficRun, from: PortId, to: impl Fn(PortId) -> bool) -> f64 {
    let flows = run.flow_counts();
    let own = flows.iter().filter(|flow| flow.from == from && to(flow.to));
    own.map(|flow| flow.mbps as f64 * 1e6 / 8.0 * COUNTED_PER_PAYLOAD).sum()
}

/// Whether an adapter is what the words mean: a contributor sends more than 5 % of its data to hot-spots, and to the one
/// that is named if one is; a victim sends no more.
pub fn is_true(verdict: &HotSpots, adapter: PortId, role: CongestionRole, run: &TrafficRun) -> bool {
    let is_hot = |port| verdict.hot_spots.iter().any(|spot| spot.adapter == port);
    let share = |to: &dyn Fn(PortId) -> bool| {
        sent_to(run, adapter, to) / sent_to(run, adapter, |_| true).max(f64::MIN_POSITIVE)
    };
    match role {
        CongestionRole::Contributor(Evidence::NowhereElse { .. }) => share(&is_hot) > LITTLE,
        CongestionRole::Contributor(
            Evidence::OthersFallShort { hot_spot, .. } | Evidence::AllChannels { hot_spot, .. },
        ) => share(&|to| to == hot_spot) > LITTLE,
        CongestionRole::Victim { .. } => share(&is_hot) <= LITTLE,
        _ => true,
    }
}

/// A victim sends no larger share than this to hot-spots.
const LITTLE: f64 = 0.05;

impl TestBed {
    /// The number of a host.
    pub fn number(&self, host: PortId) -> u8 {
        (1..=12).find(|number| self.host(*number) == host).unwrap()
    }

    /// The forwarding tables of the switches.
    pub fn tables(&self) -> Tables {
        let mut tables = Tables::default();
        for (switch, _) in self.fabric.switches() {
            tables.node_mut(switch).lft = Some(self.routes.lft(switch.0));
        }
        tables
    }

    /// The counters of all ports of a fabric for which the run's time passes more slowly: packets in buffers count once.
    pub fn samples(&self, run: &TrafficRun, ratio: u64) -> Vec<CounterSample> {
        let sample = |now: PortCount| {
            let port = self.fabric.port(now.port);
            let settled = now.settled();
            let count = PortCount {
                xmit_data: settled.xmit_data * ratio + now.xmit_data - settled.xmit_data,
                rcv_data: settled.rcv_data * ratio + now.rcv_data - settled.rcv_data,
                xmit_wait: now.xmit_wait * ratio,
                ..now
            };
            CounterSample {
                node: Some(self.fabric.node(port.node).guid()),
                port: Some(port.number),
                values: count.values(),
                ..CounterSample::default()
            }
        };
        run.port_counts(&self.fabric).into_iter().map(sample).collect()
    }
}
