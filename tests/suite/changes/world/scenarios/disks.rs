//! Disks that fail, lose what was not synced, or flip a bit.

use super::*;

#[test]
fn the_first_change_of_a_machine_survives_a_power_cut() {
    let cut = Event::PowerCut { host: 0, down_ms: 20_000 };
    let world = play_scenario(None, Decision::Leave, Vec::new(), vec![("has set it", cut)]);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
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
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
}

#[test]
fn a_change_that_went_back_without_its_journal_cannot_be_confirmed_by_the_next_guard() {
    let killed = |name| Event::Kill { name };
    // The way back is done, and its guard is gone before the disk takes that down.
    let at = vec![
        (5_000, Event::FailDisk { host: 0, for_ms: 8_000 }),
        (6_000, decide(Decision::Confirm)),
        (9_000, killed("guard aaaa0001")),
        (14_000, decide(Decision::Confirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("had begun the rollback"));
}

#[test]
fn a_flipped_bit_in_the_last_newline_takes_no_confirmed_change_back() {
    let at = vec![(20_000, Event::FlipNewline { id: ID }), (60_000, start(Program::Resume))];
    let world = play_scenario(None, Decision::Confirm, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
}

#[test]
fn a_confirmation_that_failed_is_believed_by_no_later_guard() {
    // The record is whole and not durable, and its guard is killed while it takes the change back.
    let triggers = vec![
        ("asks /run/fabdeck/aaaa0001.sock for confirm", NOTHING),
        (JOURNAL_GROWS, Event::FailSync { host: 0 }),
        ("for aaaa0001", Event::Kill { name: "guard aaaa0001" }),
    ];
    let world = play_scenario(None, Decision::Confirm, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!has_message(&world, "is Confirmed"));
}

/// The record of the confirmation is whole, was refused because the disk failed at its sync, and cannot be cut off. The fabric
/// is silent, so that the rollback takes longer than the disk fails.
fn refuse_whole_confirmation(disk_fails_ms: u64, at: Vec<(u64, Event)>) -> Arc<World> {
    let triggers = vec![
        ("asks /run/fabdeck/aaaa0001.sock for confirm", NOTHING),
        ("syncs /var/lib/fabdeck/changes/000001/journal", Event::FailDisk { host: 0, for_ms: disk_fails_ms }),
        (JOURNAL_GROWS, Event::Silence { for_ms: 40_000 }),
    ];
    play_scenario(None, Decision::Confirm, at, triggers)
}

#[test]
fn a_refused_confirmation_in_the_journal_is_not_believed_while_the_guard_answers() {
    let world = refuse_whole_confirmation(30_000, vec![(10_000, decide(Decision::Confirm))]);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!has_message(&world, "is Confirmed"));
}

#[test]
fn a_refused_confirmation_is_cut_off_as_soon_as_the_disk_works() {
    let killed = |name| Event::Kill { name };
    let at = vec![
        (20_000, killed("guard aaaa0001")),
        (20_000, killed("second aaaa0001")),
        (21_000, decide(Decision::Confirm)),
    ];
    let world = refuse_whole_confirmation(5_000, at);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!has_message(&world, "is Confirmed"));
}

/// All is back, and the last record fails: the same guard writes it once the disk works again.
#[test]
fn a_disk_that_fails_at_the_last_record_is_waited_for() {
    let fails = Event::FailDisk { host: 0, for_ms: 8_000 };
    let world =
        play_scenario(None, Decision::Leave, Vec::new(), vec![("it was not confirmed in time", fails)]);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert_eq!(count_messages(&world, "starts as guard aaaa0001"), 1);
    assert!(!has_message(&world, "the guard was gone"));
}

/// A full disk takes no record and lets its files be cut: the guard goes back without its journal and records it late.
#[test]
fn a_full_disk_is_waited_for_by_the_same_guard() {
    let fills = Event::FillDisk { host: 0, for_ms: 60_000 };
    let at = vec![(8_000, fills), (10_000, decide(Decision::RollBack))];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert_eq!(count_messages(&world, "starts as guard aaaa0001"), 1);
    let back = seconds_of(&world, "for aaaa0001").pop().unwrap();
    assert!((10.0..15.0).contains(&back), "{back}");
}
