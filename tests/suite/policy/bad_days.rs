//! Random bad days: links that flap, die, or count errors; switches that restart; partial sweeps; changes of others. Whatever
//! happens, no action of a policy loses a pair, its limits hold, and in the end everything is as it was.

use std::collections::BTreeSet;

use fabdeck::operations::event_store::stored_batch::LinkEnds;
use fabdeck::operations::policy::link_decisions::IsolationStage;
use fabdeck::operations::policy::policy_file::Policy;
use fabdeck::operations::policy::policy_runner::PolicyRunner;
use fabdeck_simulator::SimulatorRng;

use super::policy_world::{MINUTE_MS, PolicyWorld};

const DAY_MINUTES: i64 = 1440;
/// Minutes between two sweeps.
const SWEEP: i64 = 5;
const FABRICS: [(&str, &str); 4] = [
    ("kary,k=3,n=2", "updn"),
    ("kary,k=4,n=2", "minhop"),
    ("kary,k=2,n=3", "updn"),
    ("xgft,m=3x3,w=1x4", "ftree"),
];

/// What goes wrong with a cable, from one minute to another.
struct BadCable {
    link: LinkEnds,
    from: i64,
    to: i64,
    kind: u64,
}

struct BadDay {
    world: PolicyWorld,
    runner: PolicyRunner,
    policy: Policy,
    rng: SimulatorRng,
    cables: Vec<BadCable>,
    /// A switch that restarts: its links, and when.
    restart: (Vec<LinkEnds>, i64, i64),
    taken_out: Vec<i64>,
    /// Sweeps for which a link that may help was out of use while pairs were lost.
    waited: usize,
    counts: DayCounts,
}

/// What happened on days, so that a test sees that they were bad.
#[derive(Clone, Copy, Default, Debug)]
struct DayCounts {
    out: usize,
    /// Changes that put back a part of the paths.
    parts: usize,
    returned: usize,
    rolled_back: usize,
    refused: usize,
}

impl BadDay {
    fn new(seed: u64) -> Self {
        let mut rng = SimulatorRng::new(seed);
        let (name, engine) = FABRICS[rng.draw_below(FABRICS.len() as u64) as usize];
        let world = PolicyWorld::new(name, engine);
        let at_once = 1 + rng.draw_below(3);
        let text = format!(
            "mode = \"apply\"\nlinks_at_once = {at_once}\nlinks_an_hour = {}\ngood_for = \"{}m\"\nbusiest_channel = 2.5\n\
             bad_together = \"{}%\"\nretry_after = \"30m\"\nconfirm_after = \"10m\"\nflap_window = \"30m\"",
            1 + rng.draw_below(4),
            30 + rng.draw_below(200),
            [1, 10, 20][rng.draw_below(3) as usize],
        );
        let policy = Policy::parse(&text).unwrap();
        let (trunks, hosts) = (world.links(true), world.links(false));
        let cable = |rng: &mut SimulatorRng| {
            let links = if rng.draw_below(5) == 0 { &hosts } else { &trunks };
            let from = rng.draw_below(DAY_MINUTES as u64) as i64;
            let link = links[rng.draw_below(links.len() as u64) as usize];
            BadCable { link, from, to: from + 30 + rng.draw_below(400) as i64, kind: rng.draw_below(4) }
        };
        let cables = (0..2 + rng.draw_below(6)).map(|_| cable(&mut rng)).collect();
        let switch = trunks[rng.draw_below(trunks.len() as u64) as usize][0].0;
        let of_switch =
            trunks.iter().filter(|ends| ends.iter().any(|end| end.0 == switch)).copied().collect();
        let at = rng.draw_below(DAY_MINUTES as u64) as i64;
        let restart = (of_switch, at, at + 1 + rng.draw_below(15) as i64);
        let runner = PolicyRunner::new(policy.clone());
        Self {
            world,
            runner,
            policy,
            rng,
            cables,
            restart,
            taken_out: Vec::new(),
            waited: 0,
            counts: DayCounts::default(),
        }
    }

    /// What goes wrong before a sweep.
    fn let_fail(&mut self, minute: i64) {
        let mut down = BTreeSet::new();
        for cable in &self.cables {
            if !(cable.from..cable.to).contains(&minute) {
                continue;
            }
            match cable.kind {
                // It flaps; some sweeps find it down.
                0 if self.rng.draw_below(3) == 0 => self.world.flap(cable.link),
                1 if self.rng.draw_below(4) == 0 => _ = down.insert(cable.link),
                2 => self.world.add_errors(cable.link, 1500),
                // It is down for all of the time, after it flapped for a while.
                3 if minute < cable.from + 15 => self.world.flap(cable.link),
                3 => _ = down.insert(cable.link),
                _ => {}
            }
        }
        let (links, from, to) = &self.restart;
        if (*from..*to).contains(&minute) {
            down.extend(links.iter().copied());
        }
        if down != self.world.down {
            let up: Vec<LinkEnds> = self.world.down.difference(&down).copied().collect();
            self.world.set_down(up, false);
            self.world.set_down(down, true);
        }
        self.world.is_partial = self.rng.draw_below(30) == 0;
        let foreign = self.rng.draw_below(100);
        self.world.has_foreign_change =
            if self.world.has_foreign_change { foreign > 20 } else { foreign == 0 };
    }

    fn step(&mut self, why: &str) {
        let before = self.world.lost_pairs();
        let state = self.runner.state().clone();
        let outcome = self.world.step(&mut self.runner, SWEEP * MINUTE_MS);
        if is_replay() {
            outcome.notices.iter().for_each(|notice| println!("{why}: {}: {}", notice.kind, notice.text));
        }
        // Nothing that the policy, or the guard of a change of it, did has lost a pair.
        let after = self.world.lost_pairs();
        assert!(after <= before, "{why}: {after} pairs lost, {before} before: {:?}", outcome.notices);
        let now = self.runner.state();
        assert!(now.isolated.len() <= self.policy.limits.links_at_once, "{why}: {:?}", now.isolated);
        for link in now.isolated.iter().filter(|link| state.find(link.ends).is_none()) {
            assert!(!self.world.is_partial && !self.world.has_foreign_change, "{why}: {link:?}");
            self.taken_out.push(link.began_ms);
        }
        let hour = self.world.time_ms - 60 * MINUTE_MS;
        let recent = self.taken_out.iter().filter(|at| **at > hour).count();
        assert!(recent <= self.policy.limits.links_an_hour, "{why}: {recent} links in an hour");
        for notice in &outcome.notices {
            match notice.kind {
                "policy-confirmed" if notice.text.contains("partly back") => self.counts.parts += 1,
                "policy-confirmed" => self.counts.out += 1,
                "policy-returned" => self.counts.returned += 1,
                "policy-rolled-back" => self.counts.rolled_back += 1,
                "policy-refused" => self.counts.refused += 1,
                "policy-failed" | "policy-released" => panic!("{why}: {notice:?}"),
                _ => {}
            }
        }
        self.check_paths(why);
    }

    /// While pairs have no path, one link after the other is taken back, or would not help.
    fn check_paths(&mut self, why: &str) {
        let is_out = |stage: &IsolationStage| matches!(stage, IsolationStage::Out { .. });
        let idle: Vec<_> = self.runner.state().isolated.iter().filter(|link| is_out(&link.stage)).collect();
        let is_free = |ends: &LinkEnds| !self.runner.state().held.contains_key(ends);
        let pending = self.runner.state().isolated.iter().any(|link| link.pending().is_some());
        // A switch without cables cannot be written.
        let is_restarting = self.restart.0.iter().all(|link| self.world.down.contains(link));
        let is_free_to_act =
            !is_restarting && !self.world.is_partial && !self.world.has_foreign_change && !pending;
        let helps = idle.iter().any(|link| is_free(&link.ends) && !self.world.down.contains(&link.ends));
        match self.world.lost_pairs() > 0 && is_free_to_act && helps {
            true => self.waited += 1,
            false => self.waited = 0,
        }
        assert!(
            self.waited <= self.policy.limits.links_at_once,
            "{why}: links are out of use while pairs are lost"
        );
    }
}

fn live_through(seed: u64) -> DayCounts {
    let mut day = BadDay::new(seed);
    let tables = day.world.tables().clone();
    for minute in (0..DAY_MINUTES).step_by(SWEEP as usize) {
        day.let_fail(minute);
        day.step(&format!("seed {seed}, minute {minute}"));
    }
    // All cables are good again.
    let down: Vec<LinkEnds> = day.world.down.iter().copied().collect();
    day.world.set_down(down, false);
    (day.world.is_partial, day.world.has_foreign_change) = (false, false);
    for minute in (0..DAY_MINUTES).step_by(SWEEP as usize) {
        day.step(&format!("seed {seed}, quiet minute {minute}"));
        if day.runner.state().isolated.is_empty() && minute > 60 {
            break;
        }
    }
    assert!(day.runner.state().isolated.is_empty(), "seed {seed}: {:?}", day.runner.state().isolated);
    assert!(*day.world.tables() == tables, "seed {seed}: the tables are not those before the day");
    assert_eq!(day.world.lost_pairs(), 0, "seed {seed}");
    day.counts
}

/// `FABDECK_BAD_DAY=87` lives through this day alone, and prints what the policy did.
fn is_replay() -> bool {
    replayed_day().is_some()
}

fn replayed_day() -> Option<u64> {
    std::env::var("FABDECK_BAD_DAY").ok()?.parse().ok()
}

fn live_through_days(seeds: std::ops::Range<u64>) {
    use rayon::prelude::*;
    let lived = |seed| std::panic::catch_unwind(|| live_through(seed)).map_err(|_| seed);
    let days: Vec<Result<DayCounts, u64>> = seeds.into_par_iter().map(lived).collect();
    let failed: Vec<u64> = days.iter().filter_map(|day| day.err()).collect();
    assert!(failed.is_empty(), "{} of {} days went wrong: {failed:?}", failed.len(), days.len());
    let counts: Vec<DayCounts> = days.into_iter().flatten().collect();
    let sum = |value: fn(&DayCounts) -> usize| counts.iter().map(value).sum::<usize>();
    let (out, returned) = (sum(|day| day.out), sum(|day| day.returned));
    let days = counts.len();
    assert!(out >= days / 2 && returned >= out, "{out} taken out, {returned} taken back on {days} days");
    assert!(sum(|day| day.refused) > days && sum(|day| day.rolled_back) > 0, "{counts:?}");
}

#[test]
fn no_bad_day_costs_a_path_and_all_links_are_taken_back() {
    match replayed_day() {
        Some(seed) => drop(live_through(seed)),
        None => live_through_days(0..40),
    }
}

/// On these days one step back with all paths would not be safe, a switch is cut off while a link goes bad, a link is
/// needed while another one is out of use, or sweeps are partial when a change is to be confirmed.
#[test]
fn links_are_taken_back_in_parts_where_one_step_is_not_safe() {
    let parts = |seed| live_through(seed).parts;
    assert!([87, 126, 319].into_iter().map(parts).sum::<usize>() > 0);
    for seed in [201, 630, 669, 971, 1035] {
        live_through(seed);
    }
}

#[test]
fn no_bad_day_of_a_thousand_costs_a_path() {
    if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        live_through_days(40..1040);
    }
}
