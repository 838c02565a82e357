//! Failures of a policy itself: rollbacks that would lose more, stops that cannot be written, and time without a watch.

use fabdeck::operations::policy::link_decisions::IsolationStage;
use fabdeck::operations::policy::policy_file::Policy;
use fabdeck::operations::policy::policy_runner::PolicyRunner;
use fabdeck::operations::policy::policy_store::PolicyStore;
use fabdeck_change::ChangePhase;

use super::link_conditions::LinkCase;
use super::policy_world::{MINUTE_MS, PolicyWorld};

/// A link that dies while its change is observed carries no path, so the change is confirmed.
#[test]
fn a_link_that_dies_after_it_was_taken_out_stays_out() {
    let mut scene = LinkCase::new("");
    let link = scene.trunk(0);
    scene.wear_out(link);
    scene.world.set_down([link], true);
    scene.pass(12);
    assert_eq!((scene.world.changes[0].phase, scene.world.lost_pairs()), (ChangePhase::Confirmed, 0));
}

/// A failed switch leaves ports without counters: pairs that lose their path count all the same.
#[test]
fn lost_pairs_count_after_a_partial_sweep() {
    for is_confirmed in [false, true] {
        let mut scene = LinkCase::new("");
        let (link, tables) = (scene.trunk(0), scene.world.tables().clone());
        scene.wear_out(link);
        scene.pass(if is_confirmed { 11 } else { 1 });
        let mut others = scene.world.links(true).into_iter();
        let other = others.find(|other| *other != link && other[0].0 == link[0].0).unwrap();
        scene.world.set_down([other], true);
        scene.world.has_silent_port = true;
        // Part of the fabric does not answer either: nothing is done, in true words.
        scene.world.is_partial = true;
        scene.pass(1);
        assert_ne!(*scene.world.tables(), tables);
        assert!(
            scene.notices.iter().all(|notice| !notice.text.contains("it is good again")),
            "{:#?}",
            scene.notices
        );
        scene.world.is_partial = false;
        scene.pass(1);
        assert_eq!(*scene.world.tables(), tables, "{is_confirmed}: {:#?}", scene.notices);
    }
}

#[test]
fn a_stop_that_cannot_be_written_holds_and_the_link_stays_known() {
    for (is_left_whole, is_off) in [(false, true), (true, false)] {
        let mut scene = LinkCase::new("links_at_once = 3\n");
        let (link, other) = (scene.trunk(0), scene.trunk(4));
        scene.wear_out(link);
        scene.world.changes[0].phase = ChangePhase::Incomplete;
        (scene.world.has_full_disk, scene.world.is_left_whole) = (true, is_left_whole);
        scene.pass(1);
        let failed = IsolationStage::Failed { change: "change001".into() };
        assert_eq!(scene.runner.state().find(link).unwrap().stage, failed);
        scene.pass(12);
        scene.wear_out(other);
        scene.pass(1);
        assert_eq!(scene.world.changes.len(), 1, "{:#?}", scene.notices);
        assert_eq!(scene.kinds().contains(&"policy-switched"), is_off, "{:#?}", scene.notices);
        assert_eq!(scene.refusals().contains(&"failed-change"), !is_off, "{:#?}", scene.notices);
        // A person rolls it back, and the policy forgets it.
        scene.world.changes[0].phase = ChangePhase::RolledBack;
        scene.pass(1);
        assert_eq!(scene.runner.state().find(link).is_none(), !is_off);
    }
}

#[test]
fn a_refused_rollback_is_not_reported_as_one() {
    let mut scene = LinkCase::new("");
    let link = scene.trunk(0);
    scene.wear_out(link);
    scene.world.refuses_rollback = true;
    let mut others = scene.world.links(true).into_iter();
    let other = others.find(|other| *other != link && other[0].0 == link[0].0).unwrap();
    scene.world.set_down([other], true);
    scene.pass(1);
    assert!(!scene.kinds().contains(&"policy-rolling-back"), "{:#?}", scene.notices);
    assert!(scene.world.lines.iter().any(|line| line.contains("FD-5654")), "{:?}", scene.world.lines);
}

/// Out of use, and the watch ends. The next one counts from its first sweep, and one in shadow reports the link.
#[test]
fn time_without_a_watch_is_no_good_time_and_a_shadow_knows_the_links() {
    let folder = tempfile::tempdir().unwrap();
    let runner = |text: &str| {
        let mut runner = PolicyRunner::new(Policy::parse(text).unwrap());
        runner.resume(Some(PolicyStore::in_folder(folder.path()))).unwrap();
        runner
    };
    let applies = "mode = \"apply\"\ngood_for = \"1h\"\n";
    let mut world = PolicyWorld::new("kary,k=3,n=2", "updn");
    let link = world.links(true)[0];
    let mut policy = runner(applies);
    world.step(&mut policy, MINUTE_MS);
    (0..3).for_each(|_| world.flap(link));
    (0..13).for_each(|_| drop(world.step(&mut policy, MINUTE_MS)));
    assert_eq!(world.changes[0].phase, ChangePhase::Confirmed);
    world.time_ms += 1_000 * MINUTE_MS;
    let mut policy = runner(applies);
    (0..50).for_each(|_| drop(world.step(&mut policy, MINUTE_MS)));
    assert_eq!(world.changes.len(), 1, "it was taken back without being watched");
    world.writes = false;
    let mut shadow = runner("good_for = \"1h\"\n");
    let mut notices = Vec::new();
    (0..90).for_each(|_| notices.extend(world.step(&mut shadow, MINUTE_MS).notices));
    let subjects: Vec<&str> = notices.iter().map(|notice| notice.subject.as_str()).collect();
    assert_eq!((subjects, world.changes.len()), (vec!["shadow"], 1), "{notices:#?}");
    world.writes = true;
    let mut policy = runner(applies);
    (0..62).for_each(|_| drop(world.step(&mut policy, MINUTE_MS)));
    assert_eq!(world.changes.len(), 2, "a policy that applies takes it back");
}
