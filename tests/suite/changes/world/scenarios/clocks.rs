//! Clocks that are set.

use super::*;

#[test]
fn clocks_that_are_set_make_no_window_longer_or_shorter() {
    for hours in [-10, 2, 10] {
        let set = Event::SetClock { host: 0, by_ms: hours * HOUR_MS as i64 };
        let killed = Event::Kill { name: "guard aaaa0001" };
        for take_over in [false, true] {
            let mut at = vec![(8_000, set.clone())];
            at.extend(take_over.then(|| (7_000, killed.clone())));
            let world = play_scenario(None, Decision::Leave, at, Vec::new());
            assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack), "{hours} {take_over}");
        }
    }
}

#[test]
fn a_machine_that_starts_with_an_earlier_clock_takes_its_change_back() {
    let cut = Event::PowerCut { host: 0, down_ms: 10_000 };
    let earlier = Event::SetClock { host: 0, by_ms: -10 * HOUR_MS as i64 };
    let world = play_scenario(None, Decision::Leave, vec![(10_000, cut), (12_000, earlier)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    let trail = state_file(&world, "audit");
    assert!(trail.contains("earlier than the last record of the journal"), "{trail}");
    assert!(!trail.contains("it was not confirmed in time"), "{trail}");
}

#[test]
fn a_clock_that_is_set_is_reported() {
    let set = Event::SetClock { host: 0, by_ms: 2 * HOUR_MS as i64 };
    let world = play_scenario(None, Decision::Leave, vec![(10_000, set)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("the wall clock was set forward by 7200 s"));
}

/// No guard runs when the clock is set: the next one finds it by the record of the window.
#[test]
fn a_clock_that_is_set_between_two_guards_is_reported() {
    let at = vec![
        (9_000, Event::Kill { name: "guard aaaa0001" }),
        (10_000, Event::SetClock { host: 0, by_ms: 2 * HOUR_MS as i64 }),
    ];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    let trail = state_file(&world, "audit");
    assert!(
        trail.contains("it was not confirmed in time; the wall clock was set forward by 7200 s"),
        "{trail}"
    );
}

#[test]
fn a_clock_that_is_set_gives_no_fabric_up_that_is_out_of_reach() {
    let (silent, set) =
        (Event::Silence { for_ms: 120_000 }, Event::SetClock { host: 0, by_ms: 2 * HOUR_MS as i64 });
    let world = play_scenario(None, Decision::Leave, vec![(25_000, silent), (60_000, set)], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("within reach again"));
}

/// The guard after a restart records when the window ends by the clock that cannot be set; guards after it count by that.
#[test]
fn a_takeover_after_a_restart_records_the_end_of_the_window() {
    let at = vec![(5_000, Event::PowerCut { host: 0, down_ms: 2_000 }), (22_000, decide(Decision::Confirm))];
    let world = play_scenario(None, Decision::Leave, at, Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    let journal = state_file(&world, "changes/000001/journal");
    let applied: Vec<&str> = journal.lines().filter(|line| line.contains("\"record\":\"applied\"")).collect();
    assert!(applied.len() == 2 && applied[1].contains("\"boot\":\"login0 2\""), "{journal}");
}
