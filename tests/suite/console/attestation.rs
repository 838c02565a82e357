//! A console compares what was confirmed with the fabric, again and again, and says when it no longer stands.

use super::fake_changes::{FakeChanges, attestation, changes_of_rows, offer, row};
use super::fixture::{appearance, frame, text};
use super::session_replay::replay;
use super::test_session::TestSession;
use super::test_session::begun_task;
use fabdeck::catalogue::severity::Severity;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::{next_wake_ms, update};
use fabdeck::console::features::changes::change_requests::{ChangesOutcome, ChangesTask};
use fabdeck::console::features::changes::comparison::{AttestationOutcome, AttestationTask};
use fabdeck::console::model::background_task::TaskOutcome;
use fabdeck::operations::changes::attestations::Attestations;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::{AttestationVerdict, ChangePhase};

/// From one comparison to the next.
const INTERVAL_MS: u64 = 300_000;

fn screen(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Sixteen)))
}

fn header(driver: &TestSession) -> String {
    screen(driver).lines().next().unwrap_or_default().to_owned()
}

/// How often something was said so.
fn count_messages(driver: &TestSession, severity: Severity, words: &str) -> usize {
    let all = driver.state.messages.iter();
    all.filter(|message| message.severity == severity && message.text.contains(words)).count()
}

fn comes_to(fake: &FakeChanges, verdict: AttestationVerdict) {
    let came = [("7-abcd".to_owned(), attestation(verdict))];
    fake.0.borrow_mut().compared = Ok(came.into_iter().collect());
}

fn comparisons(fake: &FakeChanges) -> usize {
    fake.0.borrow().comparisons
}

#[test]
fn drift_is_reported_once_and_stays_in_the_header_until_it_was_read() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Confirmed)]);
    comes_to(&fake, AttestationVerdict::Stands);
    let mut driver = fake.session(WriteAccess::Simulated);
    assert_eq!(comparisons(&fake), 1, "as soon as it is known that something was confirmed");
    assert_eq!(count_messages(&driver, Severity::Error, "change 7"), 0);
    comes_to(&fake, AttestationVerdict::NoLongerStands);
    driver.advance_ms(INTERVAL_MS - 20_000);
    assert_eq!(comparisons(&fake), 1, "a comparison looks at the whole fabric, so it is seldom made");
    for _ in 0..4 {
        driver.advance_ms(INTERVAL_MS / 2);
    }
    assert_eq!(comparisons(&fake), 3);
    let words = "change 7 no longer stands: 3 of 480 entries differ";
    assert_eq!(count_messages(&driver, Severity::Error, words), 1, "said once, and not at each comparison");
    assert_eq!(count_messages(&driver, Severity::Error, "the subnet manager in charge is node01"), 1);
    assert!(header(&driver).contains("change 7 no longer stands: 9"), "{}", header(&driver));
    driver.press("9");
    assert!(screen(&driver).contains("IN FORCE"), "{}", screen(&driver));
    driver.press("2");
    assert!(!header(&driver).contains("no longer stands"), "{}", header(&driver));
    // What is asked anew of changes leaves in the list what the comparison found.
    driver.advance_ms(10_000);
    driver.press("9 enter");
    assert!(screen(&driver).contains("compared"), "{}", screen(&driver));
    comes_to(&fake, AttestationVerdict::Stands);
    driver.advance_ms(INTERVAL_MS);
    assert_eq!(count_messages(&driver, Severity::Info, "again"), 1);
    comes_to(&fake, AttestationVerdict::NotKnown);
    driver.advance_ms(INTERVAL_MS);
    assert_eq!(count_messages(&driver, Severity::Warning, "whether change 7 is in force is not known"), 1);
    let look = driver.state.snapshot().unwrap().clone();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    let colours = appearance("dark", ColorDepth::True);
    assert_eq!(text(&frame(&again, &colours)), text(&frame(&driver.state, &colours)));
}

#[test]
fn what_is_confirmed_now_is_compared_at_once_and_nothing_else_is() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.advance_ms(2 * INTERVAL_MS);
    assert_eq!(comparisons(&fake), 0, "its guard watches what is pending");
    let fake =
        FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied), row(6, ChangePhase::Confirmed)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.advance_ms(10_000);
    assert_eq!(comparisons(&fake), 1);
    comes_to(&fake, AttestationVerdict::NoLongerStands);
    fake.set_first_change(row(7, ChangePhase::Confirmed), "2026-11-22T14:00:10Z");
    driver.advance_ms(1000);
    assert_eq!(
        (comparisons(&fake), count_messages(&driver, Severity::Error, "change 7 no longer stands")),
        (2, 1)
    );
    // Another fabric's is left to whoever looks at that, and a recording has no tables of now.
    let elsewhere = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Confirmed)]);
    elsewhere.0.borrow_mut().changes.here.clear();
    let mut driver = elsewhere.session(WriteAccess::Simulated);
    driver.advance_ms(2 * INTERVAL_MS);
    let file = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Confirmed)]);
    let driver = file.session(WriteAccess::default());
    assert_eq!((comparisons(&elsewhere), comparisons(&file), next_wake_ms(&driver.state)), (0, 0, None));
}

#[test]
fn a_comparison_that_fails_is_said_once_and_made_again() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Confirmed)]);
    fake.0.borrow_mut().compared = Err("FD-4202: no adapter".to_owned());
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.advance_ms(INTERVAL_MS);
    driver.advance_ms(INTERVAL_MS);
    assert_eq!(comparisons(&fake), 3);
    assert_eq!(count_messages(&driver, Severity::Warning, "could not be compared"), 1);
    comes_to(&fake, AttestationVerdict::NoLongerStands);
    driver.advance_ms(INTERVAL_MS);
    assert_eq!(count_messages(&driver, Severity::Error, "change 7 no longer stands"), 1);
}

/// The comparison that is under way may have read the fabric before the change was confirmed.
#[test]
fn what_is_confirmed_while_a_comparison_is_under_way_is_compared_behind_it() {
    let fake =
        FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied), row(6, ChangePhase::Confirmed)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    let state = &mut driver.state;
    let at_ms = state.now_ms + INTERVAL_MS + 20_000;
    let effects = update(state, SessionEvent { at_ms, what: SessionInput::Tick });
    let changes = begun_task::<ChangesTask>(&effects).unwrap().0;
    let comparison = begun_task::<AttestationTask>(&effects).unwrap().0;
    let rows = vec![row(7, ChangePhase::Confirmed), row(6, ChangePhase::Confirmed)];
    let finished = |task, outcome: Box<dyn TaskOutcome>| SessionEvent {
        at_ms,
        what: SessionInput::Finished { task, outcome },
    };
    update(
        state,
        finished(changes, Box::new(ChangesOutcome(Ok(changes_of_rows(rows, "2026-11-22T14:05:00Z"))))),
    );
    update(state, finished(comparison, Box::new(AttestationOutcome(Ok(Attestations::new())))));
    let effects = update(state, SessionEvent { at_ms, what: SessionInput::Tick });
    assert!(begun_task::<AttestationTask>(&effects).is_some(), "{effects:?}");
}
