//! Users without rights, and with some.

use fabdeck_change::Grantee;

use super::*;

#[test]
fn a_user_that_asks_and_locks_what_it_can_delays_no_rollback() {
    let hostile = Event::Start { host: 0, user: OTHER, program: Program::Hostile { id: ID, for_s: 60 } };
    let world = play_scenario(None, Decision::Leave, vec![(0, hostile)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "hostile: asks"));
}

#[test]
fn another_user_gets_what_the_owner_grants_and_is_named() {
    let colleague = Event::Start { host: 0, user: OTHER, program: Program::Colleague { id: ID } };
    let world = play_scenario(None, Decision::Leave, vec![(10_000, colleague)], Vec::new());
    world.lock().rights.confirm = vec![Grantee::Uid(OTHER)];
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(has_message(&world, "rollback: Ok(Refused") && has_message(&world, "confirm: Ok(Status"));
    let journal = state_file(&world, "changes/000001/journal");
    let confirmed = journal.lines().find(|line| line.contains("\"confirmed\"")).unwrap();
    assert!(confirmed.contains(&OTHER.to_string()) && !confirmed.contains("root"), "{confirmed}");
}

#[test]
fn another_user_begins_nothing_in_the_folder_of_the_owner() {
    let other = Event::Start { host: 0, user: OTHER, program: apply("bbbb0002", 1, Decision::Confirm) };
    let world = play_scenario(None, Decision::Confirm, vec![(0, other)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(!has_message(&world, "for bbbb0002"));
}
