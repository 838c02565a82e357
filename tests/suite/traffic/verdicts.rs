//! Verdicts over counters of traffic that is known: who is called a contributor sends to a hot-spot, and no victim does.

use super::test_bed::{EXPERIMENTS, TestBed, limited};
use fabdeck_fabric::counters::{
    CongestionRole, Evidence, HotSpots, Thresholds, classify_adapters, find_hot_spots, rates_of_samples,
};
use fabdeck_fabric::observe::CounterSample;
use fabdeck_fabric::{LinkSpeed, PortId, Tables};
use fabdeck_simulator::traffic::{Flow, PortCount, TrafficRun};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What two looks, a millisecond apart, make of these flows.
fn judged(stage: &TestBed, flows: Vec<Flow>, told: bool) -> HotSpots {
    let mut run = stage.run(flows, limited(), &Tables::default());
    run.advance(300_000);
    let before = stage.samples(&run);
    run.advance(1_300_000);
    let rates = rates_of_samples(&stage.fabric, &before, &stage.samples(&run), 1e-3);
    let mut verdict = find_hot_spots(&stage.fabric, &rates, &Thresholds::default());
    if told {
        classify_adapters(&stage.fabric, &stage.tables(), &rates, &mut verdict);
    }
    verdict
}

/// The numbers of the hosts that are held up: contributors, either, victims.
fn hosts(stage: &TestBed, verdict: &HotSpots) -> [Vec<u8>; 3] {
    let of = |wanted: fn(&CongestionRole) -> bool| {
        let held = verdict.congested_adapters.iter().filter(|held| wanted(&held.role));
        let mut hosts: Vec<u8> = held.map(|held| stage.number(held.at.port)).collect();
        hosts.sort_unstable();
        hosts
    };
    [
        of(|role| matches!(role, CongestionRole::Contributor(_))),
        of(|role| *role == CongestionRole::ContributorOrVictim),
        of(|role| matches!(role, CongestionRole::Victim { .. })),
    ]
}

#[test]
fn routes_tell_the_contributors_of_the_papers_experiments() {
    for experiment in &EXPERIMENTS {
        let stage = experiment.stage();
        let pairs = experiment.contributors.iter().chain([&experiment.victim]);
        let flows: Vec<Flow> = pairs.map(|(from, to)| stage.flow(*from, *to)).collect();
        let verdict = judged(&stage, flows.clone(), false);
        let hot: Vec<PortId> = verdict.hot_spots.iter().map(|hot| hot.adapter).collect();
        assert_eq!(hot, [stage.host(experiment.contributors[0].1)], "{}", experiment.name);
        let all: Vec<u8> = flows.iter().map(|flow| stage.number(flow.from)).collect();
        let [_, either, _] = hosts(&stage, &verdict);
        assert_eq!(either.len(), all.len(), "{}: counters alone tell of nobody", experiment.name);
        let told = hosts(&stage, &judged(&stage, flows, true));
        // Who stands at one leaf with the victim may be one too; so may who stands beside the one that it sends to.
        let expected: [&[u8]; 3] = match experiment.name {
            "I" => [&[3, 6], &[1, 2], &[]],
            "II" => [&[3, 6], &[1, 2], &[]],
            "III" => [&[5, 10], &[1, 2], &[]],
            _ => [&[5, 10], &[1, 2], &[]],
        };
        assert_eq!(told, expected, "{}", experiment.name);
    }
}

#[test]
fn no_flow_is_misjudged_whatever_flows_there_are() {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut of_kind = [0; 4];
    for case in 0..120 {
        let trunk = [LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Sdr][case % 3];
        let stage = TestBed::new(4, trunk, case % 2 == 1);
        let mut host = || (dice.next_u32() % 12) as u8 + 1;
        let pairs: Vec<(u8, u8)> = (0..3 + case % 12).map(|_| (host(), host())).collect();
        let flows = pairs.iter().filter(|(from, to)| from != to).map(|(from, to)| stage.flow(*from, *to));
        let flows: Vec<Flow> = flows.collect();
        let verdict = judged(&stage, flows.clone(), true);
        let hot = |port| verdict.hot_spots.iter().any(|spot| spot.adapter == port);
        for held in &verdict.congested_adapters {
            let own = flows.iter().filter(|flow| flow.from == held.at.port);
            let to_hot: Vec<_> = own.map(|flow| flow.to).filter(|to| hot(*to)).collect();
            let (kind, right) = match held.role {
                CongestionRole::Contributor(
                    Evidence::OthersFallShort { hot_spot, .. } | Evidence::AllChannels { hot_spot, .. },
                ) => (0, to_hot.contains(&hot_spot)),
                CongestionRole::Contributor(Evidence::NowhereElse { .. }) => (1, !to_hot.is_empty()),
                CongestionRole::Victim { .. } => (2, to_hot.is_empty()),
                _ => (3, true),
            };
            of_kind[kind] += 1;
            assert!(right, "case {case}: {:?} of {} with {pairs:?}", held.role, stage.number(held.at.port));
        }
    }
    assert!(of_kind.iter().all(|count| *count > 5), "each kind is there: {of_kind:?}");
}

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

    /// The counters of all ports.
    pub fn samples(&self, run: &TrafficRun) -> Vec<CounterSample> {
        let sample = |count: PortCount| {
            let port = self.fabric.port(count.port);
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
