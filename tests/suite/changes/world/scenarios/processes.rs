//! Guards that are killed, stopped or asked to end.

use jiff::Timestamp;

use super::*;

#[test]
fn a_guard_that_hangs_is_ended_and_its_change_goes_back_in_time() {
    let hangs = Event::Stop { name: "guard aaaa0001", for_ms: HOUR_MS };
    let world = play_scenario(None, Decision::Leave, vec![(10_000, hangs)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "hung or did not roll the change back in time, and was killed"));
}

#[test]
fn a_guard_that_is_stopped_while_it_writes_is_ended_at_once() {
    let hangs = Event::Stop { name: "guard aaaa0001", for_ms: HOUR_MS };
    let world = play_scenario(None, Decision::Confirm, Vec::new(), vec![("has set it", hangs)]);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "hung or did not roll"));
    // Long before the window would be over.
    assert!(seconds_of(&world, "hung or did not roll")[0] < 10.0);
}

/// No second process is left, so the command of systemd's timer ends the guard.
#[test]
fn a_guard_that_is_stopped_while_it_writes_without_a_second_process_is_ended_by_resume() {
    let hangs = Event::Stop { name: "guard aaaa0001", for_ms: HOUR_MS };
    let triggers = vec![("has set it", Event::Kill { name: "second aaaa0001" }), ("is killed", hangs)];
    let world = play_scenario(None, Decision::Confirm, Vec::new(), triggers);
    start_timers(&mut world.lock());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    let at = seconds_of(&world, "ended a stopped guard");
    assert!(at.len() == 1 && at[0] < 45.0, "{at:?}");
}

#[test]
fn a_guard_that_is_killed_while_it_writes_has_its_change_taken_back_at_once() {
    let killed = |name| Event::Kill { name };
    let triggers = vec![("has set it", killed("apply aaaa0001")), ("is killed", killed("guard aaaa0001"))];
    let world = play_scenario(None, Decision::Confirm, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(seconds_of(&world, "the guard was gone")[0] < 10.0);
}

/// The window is as long as was asked for from the call that records it, whenever the record is written.
#[test]
fn a_guard_that_is_stopped_within_the_record_of_its_window_breaks_nothing() {
    let triggers = vec![
        ("has set it", NOTHING),
        ("reads tables", NOTHING),
        (JOURNAL_GROWS, Event::Stop { name: "guard aaaa0001", for_ms: 1_500 }),
    ];
    let world = play_scenario(None, Decision::Leave, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "it was not confirmed in time"));
}

/// Nothing answers at the takeover, so it is not known whether the guard before had begun the way back.
#[test]
fn a_guard_that_took_over_confirms_once_the_fabric_answers() {
    let at = vec![
        (8_000, Event::Silence { for_ms: 10_000 }),
        (8_500, Event::Kill { name: "guard aaaa0001" }),
        (12_000, decide(Decision::Confirm)),
        (22_000, decide(Decision::Confirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(has_message(&world, "FD-5647"));
}

#[test]
fn a_guard_that_is_asked_to_end_leaves_a_line_and_a_successor() {
    let ends = Event::End { name: "guard aaaa0001" };
    let at = vec![(10_000, ends), (20_000, decide(Decision::Confirm))];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    assert!(state_file(&world, "audit").contains("by a signal; the change waits for the next guard"));
    // The successor does not wait for a request.
    let guards = seconds_of(&world, "starts guard aaaa0001");
    assert!(guards.len() == 2 && guards[1] < 12.0, "{guards:?}");
}

/// The request waits at a stopped guard, which is killed: the journal shows that it was not begun.
#[test]
fn a_request_that_a_killed_guard_has_not_begun_is_sent_again() {
    let at = vec![
        (8_000, Event::Stop { name: "guard aaaa0001", for_ms: 20_000 }),
        (9_000, decide(Decision::Confirm)),
        (10_000, Event::Kill { name: "guard aaaa0001" }),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
}

/// The rollback does not wait for a subnet manager.
#[test]
fn a_guard_that_takes_over_after_the_deadline_registers_nothing() {
    let killed = |name| (5_000, Event::Kill { name });
    let at = vec![killed("second aaaa0001"), killed("guard aaaa0001"), (40_000, start(Program::Resume))];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert_eq!(state_file(&world, "audit").matches("\"what\":\"registered\"").count(), 1);
}

#[test]
fn a_flood_of_callers_delays_no_rollback_and_fills_no_trail() {
    let flood = start(Program::Flood { id: ID, for_ms: 400 });
    let world = play_scenario(None, Decision::Leave, vec![(29_950, flood)], Vec::new());
    // Time for callers between two Sets.
    world.lock().fabric.set_ms = 1;
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "flood: was answered"));
    let refused = state_file(&world, "audit").matches("\"what\":\"refused\"").count();
    assert!((1..=3).contains(&refused), "{refused} lines for half a second");
}

/// The guard sleeps beyond the deadline, and finds a request for a longer window when it goes on: the window is over.
#[test]
fn a_window_that_is_over_is_not_extended() {
    let at = vec![
        (5_000, Event::Kill { name: "second aaaa0001" }),
        (5_000, Event::Stop { name: "guard aaaa0001", for_ms: 40_000 }),
        (34_000, decide(Decision::ExtendAndConfirm)),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!state_file(&world, "audit").contains("\"what\":\"extended\""));
}

/// Guards that follow one another while the fabric is silent retry for one hour together.
#[test]
fn the_hour_of_retries_is_one_hour_for_all_guards() {
    let killed = |minutes: u64| (minutes * 60_000, Event::Kill { name: "guard aaaa0001" });
    let at = vec![(10_000, Event::Silence { for_ms: 3 * HOUR_MS }), killed(20), killed(45)];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Incomplete));
    let begun = audit_time(&world, "out of reach");
    let tried = audit_time(&world, "given up").duration_since(begun).as_secs();
    assert!((3_600..3_720).contains(&tried), "{tried} s");
    // The last guard reports when the first one began to retry.
    let trail = state_file(&world, "audit");
    let reported =
        trail.split("has not been possible since ").nth(1).and_then(|rest| rest.split(": ").next());
    let reported: Timestamp = reported.unwrap().parse().unwrap();
    let late = reported.duration_since(begun).abs().as_secs();
    assert!(late < 60, "{late} s");
}

/// SIGTERM while the fabric is silent: the guard leaves a line and another guard, and does not wait to be killed.
#[test]
fn a_guard_that_is_asked_to_end_while_it_retries_leaves_a_line_and_a_successor() {
    let ends = Event::End { name: "guard aaaa0001" };
    let at = vec![(10_000, Event::Silence { for_ms: 120_000 }), (60_000, ends)];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("by a signal; the rollback waits for the next guard"));
    let guards = seconds_of(&world, "starts guard aaaa0001");
    assert!(guards.len() == 2 && guards[1] < 70.0, "{guards:?}");
}
