//! Changes, with the course of a change, what became of it and what can be done with it; and without any change.

use super::fake_changes::{FakeChanges, offer, row};
use super::fixture::{appearance, frame, golden, text};
use super::test_session::TestSession;
use super::watches::shown;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::{ChangePhase, JournalStep};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn step(time: &str, record: &str, text: &str) -> JournalStep {
    JournalStep { time: format!("2026-11-22T{time}Z"), record: record.to_owned(), text: text.to_owned() }
}

fn with_steps(row: ChangeRow) -> ChangeRow {
    let mut steps = vec![
        step("13:59:58", "begun", "begun by alice, 480 writes planned"),
        step("13:59:58", "writing", "the writes begin"),
        step("13:59:59", "applied", "all writes are in force and read back"),
    ];
    if row.state == ChangePhase::Confirmed {
        steps.push(step("14:03:10", "confirmed", "bob confirmed it"));
    }
    ChangeRow { steps, ..row }
}

fn resized(driver: &mut TestSession, (width, height): (u16, u16)) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

#[test]
fn a_change_has_its_course_its_effect_and_its_keys() {
    let rows =
        [row(3, ChangePhase::Applied), row(2, ChangePhase::Confirmed), row(1, ChangePhase::RolledBack)];
    let fake = FakeChanges::new(Ok(offer(0)), rows.map(with_steps).into());
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9");
    let all: String =
        SIZES.iter().map(|size| format!("== {size:?}\n{}", resized(&mut driver, *size))).collect();
    golden("change panes", &all);
    for (size, screen) in SIZES.iter().zip(all.split("== ").skip(1)) {
        for words in [
            "begun by alice, 480 writes planned",
            "all writes are in force and read back",
            "is rolled back by itself, in 10:00, unless",
            "confirms it, so that it stays",
            "gives it ten minutes more",
        ] {
            assert!(screen.contains(words), "{size:?} {words}: {screen}");
        }
    }
    resized(&mut driver, (120, 40));
    let confirmed = shown(driver.press("down"));
    for words in ["bob confirmed it", "undoes it: offers the tables of before", "What became of it"] {
        assert!(confirmed.contains(words), "{words}: {confirmed}");
    }
    assert!(!confirmed.contains("gives it ten minutes more"), "{confirmed}");
    let rolled_back = shown(driver.press("down"));
    assert!(rolled_back.contains("nothing of it is left to undo"), "{rolled_back}");
}

#[test]
fn without_a_change_the_screen_says_how_one_comes_to_be() {
    let mut driver = FakeChanges::new(Ok(offer(0)), Vec::new()).session(WriteAccess::Simulated);
    driver.press("9");
    for size in SIZES {
        let screen = resized(&mut driver, size);
        for words in ["How a change comes to be", "runs the engines", "confirms it, so that it stays"] {
            assert!(screen.contains(words), "{size:?} {words}: {screen}");
        }
    }
}
