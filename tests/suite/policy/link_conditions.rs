//! The conditions under which a policy takes a link out: each refuses by its name, and without it the link is taken out.

use fabdeck::operations::event_store::stored_batch::LinkEnds;
use fabdeck::operations::policy::link_decisions::IsolationStage;
use fabdeck::operations::policy::policy_file::Policy;
use fabdeck::operations::policy::policy_notice::PolicyNotice;
use fabdeck::operations::policy::policy_runner::PolicyRunner;
use fabdeck::operations::policy::policy_switch::PolicyStop;
use fabdeck_change::ChangePhase;

use super::policy_world::{MINUTE_MS, PolicyWorld};

const USUAL: &str = "mode = \"apply\"\ngood_for = \"1h\"\n";

/// A fabric of three spines, its policy, and what was reported.
pub struct LinkCase {
    pub world: PolicyWorld,
    pub runner: PolicyRunner,
    pub notices: Vec<PolicyNotice>,
}

impl LinkCase {
    pub fn of(fabric: &str, text: &str) -> Self {
        let world = PolicyWorld::new(fabric, "updn");
        let policy = Policy::parse(&format!("{USUAL}{text}")).unwrap();
        let mut scene = Self { world, runner: PolicyRunner::new(policy), notices: Vec::new() };
        scene.pass(1);
        scene
    }

    pub fn new(text: &str) -> Self {
        Self::of("kary,k=3,n=2", text)
    }

    pub fn trunk(&self, at: usize) -> LinkEnds {
        self.world.links(true)[at]
    }

    /// Minutes pass, with a sweep in each.
    pub fn pass(&mut self, minutes: u32) {
        for _ in 0..minutes {
            let outcome = self.world.step(&mut self.runner, MINUTE_MS);
            self.notices.extend(outcome.notices);
        }
    }

    /// A link goes down three times, which is too often.
    pub fn wear_out(&mut self, ends: LinkEnds) {
        for _ in 0..3 {
            self.world.flap(ends);
        }
        self.pass(1);
    }

    /// The names of the conditions that refused.
    pub fn refusals(&self) -> Vec<&str> {
        let refused = self.notices.iter().filter(|notice| notice.kind == "policy-refused");
        refused.map(|notice| notice.subject.as_str()).collect()
    }

    pub fn kinds(&self) -> Vec<&str> {
        self.notices.iter().map(|notice| notice.kind).collect()
    }

    fn is_taken_out(&self, ends: LinkEnds) -> bool {
        self.runner.state().find(ends).is_some()
    }
}

#[test]
fn a_bad_link_is_taken_out_observed_confirmed_and_taken_back() {
    let mut scene = LinkCase::new("");
    let (link, tables) = (scene.trunk(4), scene.world.tables().clone());
    scene.wear_out(link);
    assert_eq!(scene.kinds(), ["policy-proposed", "policy-applied"], "{:#?}", scene.notices);
    assert!(scene.notices[0].text.contains("it went down 3 times in 60 min"), "{}", scene.notices[0].text);
    assert_ne!(*scene.world.tables(), tables);
    scene.pass(9);
    assert_eq!(scene.world.changes[0].phase, ChangePhase::Applied);
    scene.pass(1);
    assert_eq!(scene.world.changes[0].phase, ChangePhase::Confirmed);
    // The window of flaps is an hour, and so is the time for which it has to be good.
    scene.pass(108);
    assert!(matches!(scene.runner.state().find(link).unwrap().stage, IsolationStage::Out { .. }));
    scene.pass(2);
    assert_eq!(*scene.world.tables(), tables, "it was taken back");
    assert_eq!(scene.world.changes[1].phase, ChangePhase::Applied);
    scene.pass(11);
    let kinds =
        ["policy-proposed", "policy-applied", "policy-confirmed", "policy-applied", "policy-returned"];
    assert_eq!(scene.kinds(), kinds);
    assert!(scene.runner.state().isolated.is_empty() && scene.runner.state().history.is_empty());
}

#[test]
fn links_of_hosts_are_never_taken_out() {
    let mut scene = LinkCase::new("");
    let link = scene.world.links(false)[0];
    scene.wear_out(link);
    scene.world.add_errors(link, 1_000_000);
    scene.pass(5);
    assert!(scene.notices.is_empty() && scene.world.changes.is_empty(), "{:?}", scene.notices);
}

#[test]
fn errors_at_a_rate_make_a_link_bad() {
    let mut scene = LinkCase::new("errors_an_hour = 1000\n");
    let link = scene.trunk(2);
    for _ in 0..5 {
        scene.world.add_errors(link, 190);
        scene.pass(10);
    }
    assert!(!scene.is_taken_out(link));
    scene.world.add_errors(link, 50);
    scene.pass(1);
    assert!(
        scene.is_taken_out(link) && scene.notices[0].text.contains("1,000 errors in an hour"),
        "{:?}",
        scene.notices
    );
}

#[test]
fn nothing_is_taken_out_after_a_partial_sweep() {
    let mut scene = LinkCase::new("");
    let link = scene.trunk(0);
    scene.world.is_partial = true;
    scene.wear_out(link);
    scene.pass(3);
    assert_eq!((scene.refusals(), scene.is_taken_out(link)), (vec!["partial-sweep"], false), "once");
    scene.world.is_partial = false;
    scene.pass(1);
    assert!(scene.is_taken_out(link));
}

#[test]
fn nothing_is_taken_out_while_another_change_waits() {
    let mut scene = LinkCase::new("");
    let link = scene.trunk(0);
    scene.world.has_foreign_change = true;
    scene.wear_out(link);
    assert_eq!((scene.refusals(), scene.is_taken_out(link)), (vec!["pending-change"], false));
    scene.world.has_foreign_change = false;
    scene.pass(1);
    assert!(scene.is_taken_out(link));
}

#[test]
fn nothing_is_taken_out_while_many_links_are_in_trouble() {
    let mut scene = LinkCase::new("");
    let (link, other) = (scene.trunk(0), scene.trunk(5));
    scene.world.flap(other);
    scene.wear_out(link);
    assert_eq!((scene.refusals(), scene.is_taken_out(link)), (vec!["many-together"], false));
    // The other one was no more in trouble ten minutes later.
    scene.pass(12);
    assert!(scene.is_taken_out(link), "{:?}", scene.notices);
    // A larger share is permitted by the policy.
    let mut scene = LinkCase::new("bad_together = \"20%\"\n");
    scene.world.flap(other);
    scene.wear_out(link);
    assert!(scene.is_taken_out(link));
}

#[test]
fn no_more_links_are_out_at_once_or_within_an_hour_than_the_policy_has() {
    let mut scene = LinkCase::new("links_an_hour = 2\nlinks_at_once = 1\nretry_after = \"1m\"\n");
    let links = [0, 4, 8].map(|at| scene.trunk(at));
    scene.wear_out(links[0]);
    scene.pass(15);
    scene.wear_out(links[1]);
    assert_eq!((scene.refusals(), scene.is_taken_out(links[1])), (vec!["links-at-once"], false));
    let mut scene = LinkCase::new("links_an_hour = 2\nlinks_at_once = 3\nbusiest_channel = 9\n");
    for link in links {
        scene.wear_out(link);
        scene.pass(15);
    }
    assert_eq!(scene.refusals(), ["links-an-hour"], "{:#?}", scene.notices);
    assert!(scene.is_taken_out(links[1]) && !scene.is_taken_out(links[2]));
    // Within the hour after the first one was taken out there is room again.
    scene.pass(20);
    assert!(scene.is_taken_out(links[2]), "{:#?}", scene.notices);
}

#[test]
fn a_link_without_another_way_stays_in_use() {
    // Each pair of switches has one cable, and the tree has one root.
    let mut scene = LinkCase::of("xgft,m=2x2,w=1x1", "");
    let link = scene.trunk(0);
    scene.wear_out(link);
    assert_eq!(
        (scene.refusals(), scene.is_taken_out(link)),
        (vec!["redundancy"], false),
        "{:?}",
        scene.notices
    );
    assert!(scene.notices[0].text.contains("have no path without it"), "{}", scene.notices[0].text);
    // It is tried again after an hour, and that is no news.
    scene.pass(59);
    scene.wear_out(link);
    scene.pass(5);
    assert_eq!(scene.refusals(), ["redundancy"]);
}

#[test]
fn routes_with_a_credit_loop_are_refused() {
    // The shortest way around a link of a torus turns where Up*/Down* does not.
    let mut world = PolicyWorld::new("torus,dims=4x4", "updn");
    let policy =
        Policy::parse(&format!("{USUAL}busiest_channel = 100\nflap_window = \"5m\"\ntogether = \"5m\"\n"))
            .unwrap();
    let mut runner = PolicyRunner::new(policy);
    world.step(&mut runner, MINUTE_MS);
    let mut refused = Vec::new();
    for link in world.links(true).into_iter().step_by(3) {
        (0..3).for_each(|_| world.flap(link));
        refused.extend(world.step(&mut runner, MINUTE_MS).notices);
        for _ in 0..7 {
            world.step(&mut runner, MINUTE_MS);
        }
    }
    let why: Vec<&str> = refused.iter().map(|notice| notice.text.as_str()).collect();
    assert!(why.iter().any(|text| text.contains("redundancy") && text.contains("credit loop")), "{why:#?}");
}

#[test]
fn the_busiest_channel_has_a_bound() {
    let mut scene = LinkCase::new("busiest_channel = 1.9\n");
    let link = scene.trunk(0);
    scene.wear_out(link);
    assert_eq!(
        (scene.refusals(), scene.is_taken_out(link)),
        (vec!["busiest-channel"], false),
        "{:?}",
        scene.notices
    );
}

#[test]
fn a_change_that_loses_pairs_goes_back() {
    let mut scene = LinkCase::new("retry_after = \"1m\"\n");
    let (link, tables) = (scene.trunk(0), scene.world.tables().clone());
    scene.wear_out(link);
    assert_ne!(*scene.world.tables(), tables);
    // A cable that carries paths fails while the change is observed.
    let other =
        scene.world.links(true).into_iter().find(|other| *other != link && other[0].0 == link[0].0).unwrap();
    scene.world.set_down([other], true);
    scene.pass(1);
    assert!(scene.kinds().contains(&"policy-rolling-back"), "{:#?}", scene.notices);
    assert_eq!(
        (scene.world.changes[0].phase, *scene.world.tables() == tables),
        (ChangePhase::RolledBack, true)
    );
    scene.pass(1);
    assert!(scene.kinds().contains(&"policy-rolled-back") && !scene.is_taken_out(link));
}

#[test]
fn a_link_is_taken_back_at_once_when_pairs_lose_their_path() {
    let mut scene = LinkCase::new("");
    let (link, tables) = (scene.trunk(0), scene.world.tables().clone());
    scene.wear_out(link);
    scene.pass(11);
    assert_eq!(scene.world.changes[0].phase, ChangePhase::Confirmed);
    let others: Vec<LinkEnds> = scene
        .world
        .links(true)
        .into_iter()
        .filter(|other| *other != link && other[0].0 == link[0].0)
        .collect();
    scene.world.set_down([others[0]], true);
    let lost = scene.world.lost_pairs();
    assert!(lost > 0);
    scene.pass(1);
    assert!(scene.world.lost_pairs() < lost, "{:#?}", scene.notices);
    assert_eq!(*scene.world.tables(), tables);
}

#[test]
fn a_change_that_differs_is_not_confirmed() {
    let mut scene = LinkCase::new("");
    let (link, tables) = (scene.trunk(0), scene.world.tables().clone());
    scene.wear_out(link);
    // Another program writes the tables of before, which also lead over the link.
    scene.world.set_tables(tables);
    scene.pass(10);
    assert!(scene.kinds().contains(&"policy-rolling-back"), "{:#?}", scene.notices);
    assert_ne!(scene.world.changes[0].phase, ChangePhase::Confirmed);
}

#[test]
fn a_link_that_another_program_routes_over_is_no_longer_of_the_policy() {
    let mut scene = LinkCase::new("");
    let (link, tables) = (scene.trunk(0), scene.world.tables().clone());
    scene.wear_out(link);
    scene.pass(12);
    scene.world.set_tables(tables);
    scene.pass(1);
    assert_eq!(scene.kinds().last(), Some(&"policy-released"), "{:#?}", scene.notices);
    assert!(!scene.is_taken_out(link));
}

/// Nothing is done while policies are off: not even a change that waits is confirmed, so its guard rolls it back.
#[test]
fn off_stops_at_once() {
    let mut scene = LinkCase::new("");
    let (links, tables) = ([scene.trunk(0), scene.trunk(4)], scene.world.tables().clone());
    scene.wear_out(links[0]);
    scene.world.stop = Some(PolicyStop { time: "t".into(), user: "ada".into(), why: "work".into() });
    scene.pass(1);
    let last = scene.notices.last().unwrap();
    assert!(
        last.kind == "policy-switched"
            && last.text.contains("off, by ada: work")
            && last.text.contains("guard")
    );
    scene.pass(13);
    assert_eq!(scene.world.changes[0].phase, ChangePhase::Applied);
    scene.wear_out(links[1]);
    assert_eq!((scene.world.changes[0].phase, scene.world.changes.len()), (ChangePhase::RolledBack, 1));
    assert_eq!(*scene.world.tables(), tables);
    scene.world.stop = None;
    scene.pass(1);
    assert!(scene.notices.iter().any(|notice| notice.text == "policies are on"));
}

/// In shadow mode the same is decided, and nothing is done.
#[test]
fn a_shadow_proposes_and_writes_nothing() {
    let mut scene = LinkCase::new("");
    scene.world.writes = false;
    let (links, tables) = ([scene.trunk(0), scene.trunk(4)], scene.world.tables().clone());
    scene.wear_out(links[0]);
    scene.pass(15);
    scene.wear_out(links[1]);
    assert_eq!(scene.kinds(), ["policy-proposed", "policy-refused"]);
    assert!(scene.notices[0].text.contains("(shadow)") && scene.refusals() == ["links-at-once"]);
    scene.pass(130);
    assert!(scene.kinds().contains(&"policy-returned"), "{:?}", scene.notices);
    assert!(scene.world.changes.is_empty() && *scene.world.tables() == tables);
}
