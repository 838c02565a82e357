//! What attackers and earlier seeds found, each as a script of its own. The invariants are checked after every step here too.

use std::sync::Arc;

use fabdeck_change::Phase;

use super::chaos::Chaos;
use super::programs::{Decision, Program};
use super::scheduler::{Event, World};
use super::{HOUR_MS, OTHER, OWNER, run, world};

const ID: &str = "aaaa0001";

fn apply(id: &'static str, plan: usize, decision: Decision) -> Program {
    Program::Apply { id, plan, window_s: 30, decision }
}

/// A world with one change at the beginning, and what happens at its times or at the first line of the trace that has a text.
fn played(
    shared: Option<bool>,
    decision: Decision,
    at: Vec<(u64, Event)>,
    triggers: Vec<(&'static str, Event)>,
) -> Arc<World> {
    let world = world(7, shared, 0, Chaos::none());
    let mut state = world.lock();
    state.after(0, Event::Start { host: 0, user: OWNER, program: apply(ID, 0, decision) });
    at.into_iter().for_each(|(ms, event)| state.after(ms, event));
    state.triggers = triggers;
    drop(state);
    world
}

/// How a change ended, where no invariant was broken.
fn ended(world: &Arc<World>, id: &str) -> Option<Phase> {
    if let Err(what) = run(world) {
        panic!("{what}");
    }
    let state = world.lock();
    assert!(
        state.triggers.is_empty(),
        "the moment never came: {:?}\n{}",
        state.triggers,
        state.trace.join("\n")
    );
    state.monitor.changes.get(id).and_then(|watched| watched.phase)
}

fn has_said(world: &Arc<World>, text: &str) -> bool {
    world.lock().trace.iter().any(|line| line.contains(text))
}

#[test]
fn a_guard_that_hangs_is_ended_and_its_change_goes_back_in_time() {
    let hangs = Event::Stop { name: "guard aaaa0001", for_ms: HOUR_MS };
    let world = played(None, Decision::Leave, vec![(10_000, hangs)], Vec::new());
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
    assert!(has_said(&world, "did not take the change back in time and was ended"));
}

#[test]
fn a_guard_that_is_killed_before_its_first_set_leaves_equal_bytes_of_others() {
    // Another tool writes the same bytes while the change has no guard.
    let triggers = vec![("registered: for login0", Event::Kill { name: "guard aaaa0001" })];
    let both = Event::Kill { name: "second aaaa0001" };
    let at = vec![(1, both), (2, Event::WriteEqual { plan: 0 })];
    let world = played(None, Decision::Leave, at, triggers);
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
    assert!(!has_said(&world, "sets block"));
}

#[test]
fn the_first_change_of_a_machine_survives_a_power_cut() {
    let cut = Event::PowerCut { host: 0, down_ms: 20_000 };
    let world = played(None, Decision::Leave, Vec::new(), vec![("has set it", cut)]);
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
}

#[test]
fn a_change_that_went_back_without_its_journal_cannot_be_confirmed() {
    let fails = Event::FailDisk { host: 0, for_ms: 8_000 };
    let decide =
        |decision| Event::Start { host: 0, user: OWNER, program: Program::Decide { id: ID, decision } };
    let at = vec![
        (5_000, fails),
        (6_000, decide(Decision::ExtendAndConfirm)),
        (14_000, decide(Decision::Confirm)),
    ];
    let world = played(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
}

#[test]
fn clocks_that_are_set_make_no_window_longer_or_shorter() {
    for hours in [-10, 2, 10] {
        let set = Event::SetClock { host: 0, by_ms: hours * HOUR_MS as i64 };
        let killed = Event::Kill { name: "guard aaaa0001" };
        for take_over in [false, true] {
            let mut at = vec![(8_000, set.clone())];
            at.extend(take_over.then(|| (7_000, killed.clone())));
            let world = played(None, Decision::Leave, at, Vec::new());
            assert_eq!(ended(&world, ID), Some(Phase::RolledBack), "{hours} {take_over}");
        }
    }
}

#[test]
fn a_machine_that_starts_with_an_earlier_clock_takes_its_change_back() {
    let cut = Event::PowerCut { host: 0, down_ms: 10_000 };
    let earlier = Event::SetClock { host: 0, by_ms: -10 * HOUR_MS as i64 };
    let world = played(None, Decision::Leave, vec![(10_000, cut), (12_000, earlier)], Vec::new());
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
}

#[test]
fn two_machines_do_not_write_beside_each_other() {
    for shared in [None, Some(true), Some(false)] {
        let other = Event::Start { host: 1, user: OWNER, program: apply("bbbb0002", 1, Decision::Confirm) };
        let world = played(shared, Decision::Confirm, vec![(200, other)], Vec::new());
        assert_eq!(ended(&world, ID), Some(Phase::Confirmed), "{shared:?}");
        assert!(!has_said(&world, "for bbbb0002"), "{shared:?}");
    }
}

#[test]
fn a_user_who_asks_and_locks_what_it_can_delays_no_rollback() {
    let hostile = Event::Start { host: 0, user: OTHER, program: Program::Hostile { id: ID, for_s: 60 } };
    let world = played(None, Decision::Leave, vec![(0, hostile)], Vec::new());
    assert_eq!(ended(&world, ID), Some(Phase::RolledBack));
    assert!(has_said(&world, "hostile: asks"));
}
