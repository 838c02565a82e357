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
