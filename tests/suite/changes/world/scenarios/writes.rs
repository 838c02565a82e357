//! Who wrote what into the fabric: the change, a switch that stores something else, another tool.

use super::super::fabric::ANOTHER_TOOL;
use super::*;

#[test]
fn a_guard_that_is_killed_before_its_first_set_leaves_equal_bytes_of_others() {
    // Another tool writes the same bytes while the change has no guard.
    let triggers = vec![("registered: for login0", Event::Kill { name: "guard aaaa0001" })];
    let both = Event::Kill { name: "second aaaa0001" };
    let at = vec![(1, both), (2, Event::WriteEqual { plan: 0 })];
    let world = play_scenario(None, Decision::Leave, at, triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!has_message(&world, "sets block"));
}

#[test]
fn what_a_switch_made_of_a_write_goes_back() {
    let world =
        play_scenario(None, Decision::Confirm, Vec::new(), vec![("is about to set", Event::AlterNext)]);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    let state = world.lock();
    assert!(state.fabric.held.values().all(|(_, writer)| writer.is_empty() || writer == ID));
}

#[test]
fn what_a_switch_made_of_a_write_goes_back_under_the_next_guard_too() {
    let triggers = vec![
        ("is about to set", Event::AlterNext),
        (JOURNAL_GROWS, NOTHING),
        ("syncs /var/lib/fabdeck/changes/000001/journal", Event::Kill { name: "guard aaaa0001" }),
    ];
    let world = play_scenario(None, Decision::Confirm, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
}

#[test]
fn what_another_tool_wrote_behind_a_good_answer_is_named_and_left() {
    let foreign = Event::WriteOther { plan: 0 };
    let world = play_scenario(
        None,
        Decision::Confirm,
        Vec::new(),
        vec![("has set it", NOTHING), (JOURNAL_GROWS, foreign)],
    );
    assert_eq!(ended(&world, ID), Some(ChangePhase::Incomplete));
    assert!(state_file(&world, "audit").contains("FD-5630"));
    assert!(world.lock().fabric.held.values().any(|(_, writer)| writer == ANOTHER_TOOL));
}

#[test]
fn what_another_tool_wrote_in_the_window_is_left() {
    let foreign = Event::WriteOther { plan: 0 };
    let world = play_scenario(None, Decision::Leave, vec![(15_000, foreign)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Incomplete));
    assert!(world.lock().fabric.held.values().any(|(_, writer)| writer == ANOTHER_TOOL));
    // The guard reports it within ten seconds, while the change can still be confirmed.
    let reported = audit_time(&world, "drift").duration_since(audit_time(&world, "applied")).as_secs();
    assert!((14..26).contains(&reported), "{reported} s");
}

#[test]
fn a_confirmed_change_is_compared_with_the_fabric() {
    let compare = || start(Program::Compare);
    let at = vec![(10_000, compare()), (11_000, Event::WriteOld { plan: 0 }), (12_000, compare())];
    let world = play_scenario(None, Decision::Confirm, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert_eq!(
        (count_messages(&world, "aaaa0001 stands"), count_messages(&world, "aaaa0001 no longer stands")),
        (1, 1)
    );
}

#[test]
fn what_another_tool_wrote_since_the_plan_was_checked_is_not_written_over() {
    let foreign = Event::WriteOther { plan: 0 };
    let world = play_scenario(None, Decision::Confirm, Vec::new(), vec![("registers the change", foreign)]);
    assert_ne!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(state_file(&world, "audit").contains("FD-5621"));
    assert!(world.lock().fabric.held.values().any(|(_, writer)| writer == ANOTHER_TOOL));
}

/// The next guard cannot tell a part that another tool restored from a rollback that left no record. It waits for the
/// deadline, names the drift, and lets nothing be confirmed of which a part is missing.
#[test]
fn an_old_part_at_a_takeover_takes_no_change_back_before_its_deadline() {
    let at = vec![
        (8_000, Event::WriteOld { plan: 0 }),
        (9_000, Event::Kill { name: "guard aaaa0001" }),
        (9_000, Event::Kill { name: "second aaaa0001" }),
        (10_000, start(Program::Resume)),
        (12_000, decide(Decision::Confirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "FD-5647"));
    let trail = state_file(&world, "audit");
    assert!(trail.contains("\"what\":\"drift\""), "{trail}");
    assert!(trail.contains("it was not confirmed in time"), "{trail}");
    let back = seconds_of(&world, "for aaaa0001").pop().unwrap();
    assert!(back > 29.0, "{back}");
}

/// The part is as the change wrote it again, so the change is whole and can be confirmed.
#[test]
fn an_old_part_that_is_written_again_lets_the_change_be_confirmed() {
    let at = vec![
        (8_000, Event::WriteOld { plan: 0 }),
        (9_000, Event::Kill { name: "guard aaaa0001" }),
        (9_000, Event::Kill { name: "second aaaa0001" }),
        (10_000, start(Program::Resume)),
        (12_000, Event::WriteEqual { plan: 0 }),
        (14_000, decide(Decision::Confirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
}
