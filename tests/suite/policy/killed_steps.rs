//! The watch is killed between any two steps of a policy: whatever it had done, the next one goes on, and all goes back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fabdeck::operations::policy::policy_file::Policy;
use fabdeck::operations::policy::policy_runner::PolicyRunner;
use fabdeck::operations::policy::policy_store::PolicyStore;
use fabdeck_change::ChangePhase;

use super::policy_world::{Killed, MINUTE_MS, PolicyWorld};

const POLICY: &str = "mode = \"apply\"\ngood_for = \"10m\"\nflap_window = \"5m\"\nretry_after = \"5m\"\n";

fn runner(folder: &std::path::Path) -> PolicyRunner {
    let mut runner = PolicyRunner::new(Policy::parse(POLICY).unwrap());
    runner.resume(Some(PolicyStore::in_folder(folder))).unwrap();
    runner
}

/// Lives through 75 minutes with a link that flaps at the beginning, killed once after this number of actions. Returns
/// whether it was killed.
fn live_through(actions: u32) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut world = PolicyWorld::new("kary,k=3,n=2", "updn");
    let (link, tables) = (world.links(true)[4], world.tables().clone());
    let mut policy = runner(folder.path());
    world.actions_left = Some(actions);
    let mut was_killed = false;
    for minute in 0..75 {
        if minute == 2 {
            (0..3).for_each(|_| world.flap(link));
        }
        let stepped = catch_unwind(AssertUnwindSafe(|| world.step(&mut policy, MINUTE_MS)));
        if let Err(panic) = stepped {
            assert!(panic.is::<Killed>(), "action {actions}, minute {minute}");
            was_killed = true;
            world.actions_left = None;
            policy = runner(folder.path());
        }
        assert_eq!(world.lost_pairs(), 0, "action {actions}, minute {minute}");
        let pending = world.changes.iter().filter(|change| change.phase.is_pending()).count();
        assert!(pending <= 1, "action {actions}, minute {minute}");
    }
    assert!(policy.state().isolated.is_empty(), "action {actions}: {:?}", policy.state());
    assert!(*world.tables() == tables, "action {actions}: the tables are not those before");
    assert!(world.changes.iter().all(|change| !change.phase.is_pending()));
    if !was_killed {
        let phases: Vec<ChangePhase> = world.changes.iter().map(|change| change.phase).collect();
        assert_eq!(phases, [ChangePhase::Confirmed, ChangePhase::Confirmed]);
    }
    was_killed
}

#[test]
fn a_watch_that_is_killed_between_two_steps_leaves_nothing_behind() {
    let usual = std::panic::take_hook();
    // A kill prints nothing.
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.payload().is::<Killed>() {
            usual(panic);
        }
    }));
    let kills = (0..).take_while(|actions| live_through(*actions)).count();
    assert!(kills >= 30, "only {kills} steps");
}
