//! Random loads whose flows begin one after the other, read after each: how many adapters that wait are decided, and that
//! none is decided wrongly.

use std::collections::BTreeSet;
use std::ops::AddAssign;

use super::test_bed::{EXPERIMENTS, Experiment, HOST_LIMIT, TestBed};
use super::verdicts::{counted_run, is_true, sent_to, stage_of_one_lane};
use fabdeck_fabric::LinkSpeed;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestionRole, Destinations, Evidence, FlowHistory, HotSpotFlow, HotSpots, LikelyRole,
    Thresholds, find_hot_spots, rates_of_samples,
};
use fabdeck_simulator::traffic::{Flow, TrafficRun};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

/// The time between two readings, and how much slower than the fabric's it passes: a second.
const INTERVAL_NS: u64 = 10_000_000;
const RATIO: u64 = 100;

/// Adapters that wait without a fair share, by what is said of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decisions {
    pub sure: usize,
    pub likely: usize,
    pub undecided: usize,
    /// Ranges of what an adapter sends to a hot-spot.
    pub ranges: usize,
    /// Verdicts and ranges that the traffic contradicts.
    pub wrong: Vec<String>,
}

impl Decisions {
    pub fn percent(&self, decided: usize) -> usize {
        100 * decided / (self.sure + self.likely + self.undecided).max(1)
    }
}

impl AddAssign for Decisions {
    fn add_assign(&mut self, other: Self) {
        self.sure += other.sure;
        self.likely += other.likely;
        self.undecided += other.undecided;
        self.ranges += other.ranges;
        self.wrong.extend(other.wrong);
    }
}

/// A load: flows with the time at which each begins, in hundredths of an interval.
pub struct Load {
    pub stage: TestBed,
    pub flows: Vec<Flow>,
    pub begins: Vec<u64>,
    pub name: String,
    /// Whether hosts have agents that list their open flows, those that have not begun included.
    pub agents: bool,
}

impl Load {
    /// Three to fourteen flows between any hosts of the test bed. With `gradual` each begins in an interval of its own,
    /// or all at once; with `single` each host sends to one other only.
    pub fn random(case: u64, gradual: bool, single: bool) -> Self {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(case);
        let trunk = [LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Sdr][case as usize % 3];
        let stage = TestBed::with_lanes(4, trunk, case % 2 == 1, Some(1));
        let mut host = || (dice.next_u32() % 12) as u8 + 1;
        let pairs: Vec<(u8, u8)> = (0..3 + case % 12).map(|_| (host(), host())).collect();
        let mut pairs: Vec<(u8, u8)> = pairs.into_iter().filter(|(from, to)| from != to).collect();
        if single {
            let mut seen = BTreeSet::new();
            pairs.retain(|(from, _)| seen.insert(*from));
        }
        let flows: Vec<Flow> = pairs.into_iter().map(|(from, to)| stage.flow(from, to)).collect();
        let begins = (0..flows.len() as u64).map(|at| match gradual {
            true => 200 * (at + 1) + u64::from(dice.next_u32() % 100),
            false => 0,
        });
        Self { begins: begins.collect(), name: format!("load {case}"), stage, flows, agents: false }
    }

    /// The experiments of the dFtree paper; the victim sends before the contributors begin, or all begin at once.
    pub fn experiments(gradual: bool) -> Vec<Self> {
        let load = |experiment: &Experiment| {
            let stage = stage_of_one_lane(experiment);
            let pairs = [experiment.victim].into_iter().chain(experiment.contributors);
            let flows: Vec<Flow> = pairs.map(|(from, to)| stage.flow(from, to)).collect();
            let begins = if gradual { vec![110, 330, 570, 740] } else { vec![0; 4] };
            Self { stage, flows, begins, name: format!("experiment {}", experiment.name), agents: false }
        };
        EXPERIMENTS.iter().map(load).collect()
    }

    /// Reads after each interval, and checks what the last two say.
    pub fn check(&self) -> Decisions {
        let tables = self.stage.tables();
        let fabric = &self.stage.fabric;
        let listed = self.listed();
        let stopped = |(flow, begins): (&Flow, &u64)| Flow {
            mbps: if *begins > 0 { Some(0) } else { flow.mbps },
            ..*flow
        };
        let flows = self.flows.iter().zip(&self.begins).map(stopped).collect();
        let mut run = counted_run(&self.stage, flows);
        // Without a beginning of flows, the first reading is of traffic that is under way.
        let mut now = if self.begins.iter().all(|begins| *begins == 0) { 300_000 } else { 0 };
        run.advance(now);
        let mut history = FlowHistory::default();
        let mut before = self.stage.samples(&run, RATIO);
        let intervals = self.begins.iter().max().map_or(0, |last| last / 100) + 3;
        let mut decisions = Decisions::default();
        for interval in 0..intervals {
            let end = now + INTERVAL_NS;
            run.begin_measuring();
            let mine = self.begins.iter().enumerate().filter(|(_, begins)| **begins > 0);
            for (flow, begins) in mine.filter(|(_, begins)| **begins / 100 == interval) {
                run.advance(now + INTERVAL_NS / 100 * (begins % 100));
                run.set_flow_rate(flow, HOST_LIMIT);
            }
            run.advance(end);
            let after = self.stage.samples(&run, RATIO);
            let mut rates = rates_of_samples(fabric, &before, &after, (INTERVAL_NS * RATIO) as f64 / 1e9);
            rates.listed.clone_from(&listed);
            let mut verdict = find_hot_spots(fabric, &rates, &Thresholds::default());
            history = history.classify(fabric, &tables, &rates, &mut verdict);
            // Adapters are counted in the last interval, and wrong verdicts in all.
            decisions = Decisions { wrong: decisions.wrong, ..Decisions::default() };
            for held in &verdict.congested_adapters {
                self.check_role(held, &verdict, (interval, &run), &mut decisions);
                if interval + 2 >= intervals {
                    self.check_range(held, &run, &mut decisions);
                }
            }
            (now, before) = (end, after);
        }
        decisions
    }

    /// What the agents list.
    fn listed(&self) -> Destinations {
        let mut listed = Destinations::default();
        for flow in self.flows.iter().filter(|_| self.agents) {
            listed.add(flow.from, flow.to);
        }
        listed
    }

    /// A contributor sends to the hot-spot, and a victim sends little to any.
    fn check_role(
        &self,
        held: &CongestedAdapter,
        verdict: &HotSpots,
        (at, run): (u64, &TrafficRun),
        decisions: &mut Decisions,
    ) {
        let port = held.at.port;
        // A likely role is true in the same sense as a proved one.
        let meant = match (held.role, held.likely) {
            (CongestionRole::Undecided, Some(LikelyRole::Contributor(flow))) => {
                let HotSpotFlow { hot_spot, least, .. } = flow;
                CongestionRole::Contributor(Evidence::AllChannels { hot_spot, least, sent: 0.0 })
            }
            (CongestionRole::Undecided, Some(LikelyRole::Victim { most })) => {
                CongestionRole::Victim { most, sent: 0.0 }
            }
            (role, _) => role,
        };
        let right = is_true(verdict, port, meant, run);
        let message = || {
            let number = |port| self.stage.number(port);
            let pairs: Vec<_> = self
                .flows
                .iter()
                .zip(&self.begins)
                .map(|(flow, at)| (number(flow.from), number(flow.to), *at))
                .collect();
            let spots: Vec<u8> = verdict.hot_spots.iter().map(|hot| number(hot.adapter)).collect();
            format!(
                "{}, interval {at}: {held:?} of {} with {pairs:?}, hot {spots:?}",
                self.name,
                number(held.at.port)
            )
        };
        if !right {
            decisions.wrong.push(message());
        }
        match (held.role, held.likely) {
            // Without a hot-spot there is nothing to contribute to.
            _ if verdict.hot_spots.is_empty() => {}
            (CongestionRole::Contributor(_) | CongestionRole::Victim { .. }, _) => decisions.sure += 1,
            (CongestionRole::Undecided, Some(_)) => decisions.likely += 1,
            (CongestionRole::Undecided | CongestionRole::Unknown, _) => decisions.undecided += 1,
            (CongestionRole::FairShare, _) => {}
        }
    }

    /// The truth lies in the range, within a megabit per second: rates of flows are rounded to it.
    fn check_range(&self, held: &CongestedAdapter, run: &TrafficRun, decisions: &mut Decisions) {
        let Some(range) = held.flow else { return };
        decisions.ranges += 1;
        let truth = sent_to(run, held.at.port, |to| to == range.hot_spot);
        let allowed = 0.2e6;
        if range.least > truth + allowed || truth > range.most + allowed {
            let (from, to) = (self.stage.number(held.at.port), self.stage.number(range.hot_spot));
            decisions.wrong.push(format!("{}: {from} sends {truth} to {to}: {range:?}", self.name));
        }
    }
}

/// What is decided over these loads together.
pub fn decide(loads: &[Load]) -> Decisions {
    let each: Vec<Decisions> = loads.par_iter().map(Load::check).collect();
    let mut sum = Decisions::default();
    each.into_iter().for_each(|one| sum += one);
    sum
}

fn print_shares(name: &str, found: &Decisions) {
    let decided = found.sure + found.likely;
    let all = decided + found.undecided;
    println!(
        "{name}: {} of {all} decided ({} %), {} of them sure; {} ranges checked; wrong: {:#?}",
        decided,
        found.percent(decided),
        found.sure,
        found.ranges,
        found.wrong
    );
}

/// Random loads of one kind; 300 with `FABDECK_LONG=1`.
fn study(gradual: bool, single: bool, agents: bool) -> Decisions {
    let count = if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 300 } else { 24 };
    let loads: Vec<Load> =
        (0..count).map(|case| Load { agents, ..Load::random(case, gradual, single) }).collect();
    let found = decide(&loads);
    print_shares(
        &format!("{count} random loads, gradual {gradual}, single {single}, agents {agents}"),
        &found,
    );
    found
}

#[test]
fn all_adapters_of_the_papers_experiments_are_decided_when_flows_begin_one_after_the_other() {
    for (gradual, sure, likely) in [(false, 8, 0), (true, 8, 8)] {
        let found = decide(&Load::experiments(gradual));
        print_shares(&format!("experiments, gradual {gradual}"), &found);
        assert_eq!((found.sure, found.likely, found.wrong.len()), (sure, likely, 0), "{found:?}");
    }
}

#[test]
fn hosts_that_begin_one_after_the_other_and_send_to_one_host_are_decided() {
    let found = study(true, true, false);
    assert!(found.wrong.is_empty() && found.percent(found.sure + found.likely) >= 80, "{found:?}");
}

#[test]
fn no_verdict_and_no_range_is_wrong_when_hosts_send_to_several_others_or_begin_at_once() {
    for (gradual, single) in [(true, false), (false, true), (false, false)] {
        let found = study(gradual, single, false);
        assert!(found.wrong.is_empty() && found.sure > 0 && found.ranges > 0, "{found:?}");
    }
}

#[test]
fn hosts_whose_agents_list_their_flows_are_decided_whatever_they_send() {
    for (gradual, single) in [(true, false), (false, true), (false, false)] {
        let found = study(gradual, single, true);
        assert!(found.wrong.is_empty() && found.percent(found.sure + found.likely) >= 80, "{found:?}");
    }
}
