//! Locks that prove nothing: held by other users, or not visible to other hosts.

use fabdeck_change::GuardMode;

use super::*;

#[test]
fn locks_that_another_user_holds_stop_no_rollback() {
    let holder = Event::Start { host: 0, user: OTHER, program: Program::HoldLocks { for_s: 120 } };
    let at = vec![
        (4_000, Event::Loosen { host: 0 }),
        (5_000, holder),
        (6_000, Event::Kill { name: "guard aaaa0001" }),
        (6_000, Event::Kill { name: "second aaaa0001" }),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    // Guard and second process are both killed, which leaves the timer.
    start_timers(&mut world.lock());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    for name in ["changes/000001/guard.lock", "audit.lock"] {
        assert!(has_message(&world, &format!("holds the lock of {name}")), "{name}");
    }
}

/// Seed 52984: the second process tried to kill the other user's process, which it may not, until the run was over.
#[test]
fn the_second_process_takes_over_while_another_user_holds_the_lock() {
    let holder = Event::Start { host: 0, user: OTHER, program: Program::HoldLocks { for_s: 120 } };
    let at = vec![
        (4_000, Event::Loosen { host: 0 }),
        (5_000, holder),
        (6_000, Event::Kill { name: "guard aaaa0001" }),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    for message in [
        "holds the lock of changes/000001/guard.lock",
        "the guard was gone; another one rolls the change back",
    ] {
        assert!(has_message(&world, message), "{message}");
    }
}

/// Seed 12085: the machine of the guard does not see which process of the other machine holds the lock, and took it for a
/// guard.
#[test]
fn a_lock_that_a_user_holds_on_another_machine_is_no_guard() {
    let holder = Event::Start { host: 1, user: OTHER, program: Program::HoldLocks { for_s: 300 } };
    let at = vec![
        (4_000, Event::Loosen { host: 0 }),
        (5_000, Event::PowerCut { host: 0, down_ms: 20_000 }),
        (6_000, holder),
    ];
    let world = play_scenario(Some(LockScope::Machines), Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "holds the lock of changes/000001/guard.lock"));
}

#[test]
fn a_lock_that_another_user_holds_lets_a_change_begin() {
    let holder = Event::Start { host: 0, user: OTHER, program: Program::HoldLocks { for_s: 300 } };
    let world = world(7, None, 0, Chaos::none());
    let mut state = world.lock();
    for name in ["lock", "audit.lock"] {
        state.disks[0].put(&Path::new(STATE).join(name), b"", (OWNER, 0o644));
    }
    state.disks[0].loosen(Path::new(STATE));
    state.schedule_after(0, holder);
    state.schedule_after(1_000, start(apply(ID, 0, Decision::Confirm)));
    drop(state);
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(has_message(&world, "holds the lock of lock"));
}

#[test]
fn a_lock_of_the_owners_that_is_not_released_is_waited_for_in_bounded_time_and_named() {
    let stopped = Event::Stop { name: "apply aaaa0001", for_ms: 60_000 };
    let second = start(apply("bbbb0002", 1, Decision::Confirm));
    let triggers =
        vec![("locks /var/lib/fabdeck/lock", NOTHING), ("lists /var/lib/fabdeck/changes", stopped)];
    let world = play_scenario(None, Decision::Leave, vec![(1_000, second)], triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "is locked by process 100 (apply aaaa0001"));
    assert!(has_message(&world, "and was not released within 10 s"));
}

#[test]
fn a_second_guard_finds_the_first_at_its_socket() {
    // No process sees the lock of another one.
    let second = || start(Program::Guard { id: ID.to_owned(), errand: GuardMode::TakeOver });
    let at = vec![(10_000, second()), (20_000, start(Program::Resume))];
    let world = play_scenario(Some(LockScope::Nobody), Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "the change has a guard"));
    assert_eq!(count_messages(&world, "starts guard aaaa0001"), 1);
}
