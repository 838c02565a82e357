//! What a console asks of a change that waits for hosts.

use super::fake_changes::{FakeChanges, offer, row, status};
use super::fixture::{appearance, frame, text};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::{ChangePhase, GuardRequest};

/// Hosts that a change waits for: the key that confirms asks whether it is to go on without them.
#[test]
fn a_change_that_waits_for_hosts_is_let_go_on() {
    let waits = ChangeRow { waits: true, silent: vec!["node7".to_owned()], ..row(1, ChangePhase::Applying) };
    let fake = FakeChanges::new(Ok(offer(0)), vec![waits]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("y");
    let asked = text(&frame(&driver.state, &appearance("mono", ColorDepth::Sixteen)));
    for words in ["Go on with change 1 without hosts that do not answer?", "node7", "u ends the change"] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    fake.0.borrow_mut().answer = Some(Ok(status(1, ChangePhase::Applying, None)));
    driver.press("tab enter");
    assert_eq!(fake.0.borrow().asked, [("1-abcd".to_owned(), GuardRequest::GoOn { user: String::new() })]);
    driver.press("C");
    assert_eq!(driver.copied.last().unwrap(), "fabdeck confirm 1-abcd --go-on");
    // There is nothing yet that could be given longer.
    driver.press("e");
    assert_eq!(fake.0.borrow().asked.len(), 1);
}
