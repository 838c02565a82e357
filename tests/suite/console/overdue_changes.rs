//! Changes beyond their deadline, as the console shows them.

use super::fake_changes::{FakeChanges, offer, row};
use super::fixture::{appearance, frame, text};
use super::test_session::TestSession;
use fabdeck::catalogue::severity::Severity;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::ChangePhase;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Sixteen)))
}

fn header(driver: &TestSession) -> String {
    shown(driver).lines().next().unwrap_or_default().to_owned()
}

/// A change that no process takes back in time comes before those that wait, in the header and on the screen of changes.
#[test]
fn an_overdue_change_is_first_in_the_header_and_others_are_counted() {
    let late = ChangeRow { overdue: true, ..row(6, ChangePhase::Applied) };
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied), late]);
    let mut driver = fake.session(WriteAccess::Simulated);
    for width in [80, 120] {
        driver.send_input(SessionInput::Resized(Size { width, height: 24 }));
        assert!(header(&driver).contains("change 6: OVERDUE; 1 more"), "{}", header(&driver));
    }
    let (_, urgency) = driver.state.known.changes.header_word().unwrap();
    assert_eq!(urgency, Severity::Error);
    driver.press("9");
    let screen = shown(&driver);
    let line = screen.lines().skip(1).find(|line| line.contains("OVERDUE"));
    assert!(line.is_some_and(|line| line.contains('6')), "{screen}");
}
