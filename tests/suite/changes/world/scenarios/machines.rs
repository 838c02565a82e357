//! Two machines that change one fabric.

use super::*;
use fabdeck_change::GuardMode;

/// A change that the other machine begins.
fn run_on_other_machine(plan: usize) -> Event {
    Event::Start { host: 1, user: OWNER, program: apply("bbbb0002", plan, Decision::Confirm) }
}

#[test]
fn two_machines_do_not_write_beside_each_other() {
    for shared in [None, Some(LockScope::Machines), Some(LockScope::Machine)] {
        let world =
            play_scenario(shared, Decision::Confirm, vec![(200, run_on_other_machine(1))], Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed), "{shared:?}");
        assert!(!has_message(&world, "for bbbb0002"), "{shared:?}");
    }
}

#[test]
fn the_same_plan_is_refused_while_the_other_machine_has_it_pending() {
    let world = play_scenario(None, Decision::Leave, vec![(10_000, run_on_other_machine(0))], Vec::new());
    assert_eq!(ended(&world, "bbbb0002"), Some(ChangePhase::Refused));
    assert!(state_file(&world, "audit").contains("rolled back"));
}

#[test]
fn a_plan_upon_tables_that_are_not_confirmed_is_refused() {
    for shared in [None, Some(LockScope::Machines), Some(LockScope::Machine)] {
        let world =
            play_scenario(shared, Decision::Leave, vec![(10_000, run_on_other_machine(2))], Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack), "{shared:?}");
        assert!(!has_message(&world, "for bbbb0002"), "{shared:?}");
    }
}

#[test]
fn a_change_of_a_machine_that_is_down_is_still_pending() {
    let cut = Event::PowerCut { host: 0, down_ms: 60_000 };
    let world = play_scenario(
        None,
        Decision::Leave,
        vec![(10_000, cut), (20_000, run_on_other_machine(2))],
        Vec::new(),
    );
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert_eq!(world.lock().monitor.changes["bbbb0002"].phase, Some(ChangePhase::Refused));
}

#[test]
fn a_change_that_is_over_holds_no_other_machine_up() {
    let world = play_scenario(None, Decision::RollBack, vec![(20_000, run_on_other_machine(0))], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert_eq!(world.lock().monitor.changes["bbbb0002"].phase, Some(ChangePhase::Confirmed));
}

#[test]
fn a_guard_that_is_no_longer_the_newest_writes_nothing_more() {
    // The locks of one machine are not those of the other, where an operator states that the first machine is gone.
    let taken_over = || {
        let program = Program::Guard { id: ID.to_owned(), errand: GuardMode::TakeOver };
        Event::Start { host: 1, user: OWNER, program }
    };
    // The guard before finds out when it is asked, or when it renews its registration.
    for (ms, says) in [(12_000, "FD-5606"), (9_900, "a newer guard has this change")] {
        let at = vec![(ms, taken_over()), (ms + 1_000, decide(Decision::Confirm))];
        let world = play_scenario(Some(LockScope::Machine), Decision::Leave, at, Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack), "{says}");
        assert!(has_message(&world, says), "{says}");
        assert!(!has_message(&world, "is Confirmed"), "{says}");
    }
}

/// Through another port, a registration would stay beside the new one.
#[test]
fn a_guard_that_takes_over_ends_the_registration_of_the_guard_before() {
    let killed = |name| (3_000, Event::Kill { name });
    let at = vec![
        killed("second aaaa0001"),
        killed("guard aaaa0001"),
        (5_000, start(Program::Resume)),
        (20_000, decide(Decision::Confirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    let ends = seconds_of(&world, "ends the registration");
    assert!(ends.len() == 2 && ends[0] < 15.0 && ends[1] >= 20.0, "{ends:?}");
}

/// The first machine cannot read the shared folder when its guard goes on; the change was taken over and confirmed. The
/// subnet manager shows that the guard is not the newest: its registration is gone.
#[test]
fn a_guard_that_cannot_read_its_journal_finds_at_the_manager_that_it_is_superseded() {
    let program = Program::Guard { id: ID.to_owned(), errand: GuardMode::TakeOver };
    let confirm = Program::Decide { id: ID, decision: Decision::Confirm };
    let there = |program| Event::Start { host: 1, user: OWNER, program };
    let at = vec![
        (8_000, Event::Kill { name: "second aaaa0001" }),
        (8_000, Event::Stop { name: "guard aaaa0001", for_ms: 60_000 }),
        (12_000, there(program)),
        (20_000, there(confirm)),
        (40_000, Event::LoseFolder { host: 0, for_ms: 100_000 }),
    ];
    let world = play_scenario(Some(LockScope::Machine), Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(has_message(&world, "FD-5606"));
}
