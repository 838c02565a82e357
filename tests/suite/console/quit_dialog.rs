//! Leaving while a change waits for its answer.

use super::fake_changes::dialogue;
use super::fake_changes::{FakeChanges, offer, row};
use fabdeck::console::features::changes::dialogue::DialogueQuestion;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::ChangePhase;

#[test]
fn quitting_asks_where_the_change_would_end() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("1 q");
    assert!(driver.state.leaving, "the guard keeps it");
    let parting = driver.state.known.changes.leave_warning().unwrap();
    assert!(parting.contains("10:00 left; 'fabdeck confirm 7-abcd' confirms it"), "{parting}");
    let mut driver = fake.session(WriteAccess::Own);
    driver.press("1 q");
    assert!(
        !driver.state.leaving
            && matches!(dialogue(&driver).unwrap().question, DialogueQuestion::Leave { number: 7 })
    );
    driver.press("tab enter");
    assert!(driver.state.leaving);
}

/// Ctrl-C asks as `q` does, and a second one at once leaves whatever is pending.
#[test]
fn ctrl_c_asks_where_the_change_would_end_and_twice_leaves() {
    let own = || FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]).session(WriteAccess::Own);
    let mut driver = own();
    // A line that is being typed goes first: the question has to get the keys.
    driver.press(": ctrl-c");
    assert!(
        !driver.state.leaving
            && matches!(dialogue(&driver).unwrap().question, DialogueQuestion::Leave { number: 7 })
    );
    driver.advance_ms(1500);
    driver.press("ctrl-c");
    assert!(!driver.state.leaving, "the second one comes late, and is a first one");
    driver.advance_ms(500);
    driver.press("ctrl-c");
    assert!(driver.state.leaving);
    let mut esc = own();
    esc.press("ctrl-c esc");
    assert!(!esc.state.leaving && dialogue(&esc).is_none());
    let mut kept =
        FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]).session(WriteAccess::Simulated);
    kept.press("ctrl-c");
    assert!(kept.state.leaving, "a guard keeps that one");
}
