//! The question before a write: its parts on a small and on a wide screen, its keys, and what stays in sight behind it.

use ratatui::style::Color;

use super::fake_changes::{FakeChanges, dialogue, offer, row};
use super::fixture::{appearance, frame, golden, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::{Role, Theme};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::changes::change_requests::ChangesTask;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::changer::{ChangeOffer, WriteAccess};
use fabdeck::operations::plans::write_mode_offer::{OtherMode, WriteModeOffer};
use fabdeck_change::{ChangePhase, SilentHostAction};

const PROPOSED: &str = "6 :preview space updn enter / updn enter";

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

/// A session that is asked whether to apply this offer, at a size.
fn asked(offer: ChangeOffer, width: u16, height: u16) -> (FakeChanges, TestSession) {
    let fake = FakeChanges::new(Ok(offer), Vec::new());
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver.press(PROPOSED).press("a");
    assert!(dialogue(&driver).is_some());
    (fake, driver)
}

#[test]
fn the_parts_of_the_question_come_in_their_order() {
    for (width, height) in [(80, 24), (120, 40)] {
        let (_, driver) = asked(offer(1), width, height);
        let screen = shown(&driver);
        let parts = [
            "Apply updn to sim:demo?",
            "480 blocks of 9 switches",
            "Who notices",
            "no host (spine-2, 1 aggregation node)",
            "83 moves 9 of 90 pairs",
            "before",
            "0",
            "while written",
            "124",
            "after",
            "88",
            "spine-2 fails: before 504 pairs without a path, after 0",
            "[ ] A deadlock while it is written cannot be ruled out",
            "Way back",
            "by itself after 10 min, unless you confirm with y",
            "Cancel ]",
            "acknowledge the risk first: space",
        ];
        let mut rest = screen.as_str();
        for part in parts {
            let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part}:\n{screen}"));
            rest = after;
        }
        assert!(screen.contains("writes to: the simulator"), "{screen}");
        golden(&format!("apply question {width}x{height}"), &screen);
    }
}

/// Reasons and blank rows give way, so that nothing has to be scrolled to.
#[test]
fn the_question_fits_on_a_small_screen() {
    for risks in 0..=3 {
        let (_, driver) = asked(offer(risks), 80, 24);
        let screen = shown(&driver);
        for words in [
            "480 blocks",
            "Who notices",
            "83 moves 9",
            "no path",
            "what if",
            "Way back",
            "roll back",
            "at once with u",
        ] {
            assert!(screen.contains(words), "{words} with {risks} risks:\n{screen}");
        }
        assert!(screen.contains("writes to: the simulator"), "nothing is out of sight:\n{screen}");
        assert_eq!(screen.matches("[ ] ").count(), risks, "{screen}");
    }
    let (_, driver) = asked(offer(0), 80, 24);
    assert!(shown(&driver).contains("no risk was found"), "{}", shown(&driver));
}

#[test]
fn facts_that_are_not_known_are_no_zeros() {
    for (width, height) in [(80, 24), (120, 40)] {
        let facts = Default::default();
        let (_, driver) = asked(ChangeOffer { facts, ..offer(0) }, width, height);
        let screen = shown(&driver);
        assert!(screen.contains("○ jobs       not known"), "{screen}");
        assert!(screen.contains("○ no path    not known"), "{screen}");
    }
}

#[test]
fn nothing_is_written_before_each_risk_is_acknowledged() {
    let keys =
        ["y", "enter", "tab tab tab tab enter", "shift-tab enter", "tab space shift-tab shift-tab enter"];
    for keys in keys {
        let (fake, mut driver) = asked(offer(3), 120, 40);
        driver.press(keys);
        assert!(fake.0.borrow().begun.is_empty(), "{keys}");
    }
    let (fake, mut driver) = asked(offer(3), 120, 40);
    for left in [3, 2, 1] {
        assert_eq!(dialogue(&driver).unwrap().unacknowledged_count(), left);
        assert!(shown(&driver).contains(&format!("{} of 3 acknowledged", 3 - left)), "{}", shown(&driver));
        driver.press("space tab");
    }
    assert!(!shown(&driver).contains("first:"), "{}", shown(&driver));
    driver.press("tab enter");
    assert_eq!(fake.0.borrow().begun.len(), 1);
}

/// The whole screen stays in sight behind a box, and is grey.
#[test]
fn what_is_behind_turns_grey() {
    let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
    let [behind, ground] = [theme.style(Role::Behind).fg, theme.style(Role::Dialog).bg];
    assert!(behind == Some(Color::Rgb(0x3a, 0x43, 0x4e)) && ground.is_some());
    let (_, mut driver) = asked(offer(1), 120, 40);
    // The row of a filter is there only without a dialog, and moves the body.
    driver.state.current_mut().0.table_mut().filter.clear();
    let look = appearance("dark", ColorDepth::True);
    let asked = frame(&driver.state, &look);
    driver.state.layer = None;
    let before = frame(&driver.state, &look);
    let blank = theme.blank().bg.unwrap_or(Color::Reset);
    let (mut grey, mut own) = (0, 0);
    // The last row has the keys of the dialog.
    for (x, y) in (0..39).flat_map(|y| (0..120).map(move |x| (x, y))) {
        let cell = &asked[(x, y)];
        if (10..110).contains(&x) && cell.bg != blank {
            own += 1;
            continue;
        }
        assert_eq!(Some(cell.fg), behind, "{x} {y}");
        assert_eq!((cell.bg, cell.symbol()), (blank, before[(x, y)].symbol()), "{x} {y}");
        grey += 1;
    }
    assert!(grey > 1300 && own > 1500, "{grey} {own}");
    assert_ne!(before[(30, 0)].fg, behind.unwrap());
    // On a small screen the dialog takes the body, and the header stays as it is.
    let (_, driver) = self::asked(offer(1), 80, 24);
    assert_ne!(Some(frame(&driver.state, &look)[(8, 0)].fg), behind);
}

#[test]
fn proofs_open_with_d_and_the_command_is_copied() {
    let (fake, mut driver) = asked(offer(2), 80, 24);
    driver.press("d");
    let screen = shown(&driver);
    for words in
        ["switch:spine-2", "before 0, while written at most 124, after 88", "(unreachable)", "q esc back"]
    {
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
    for keys in ["space esc", "d q", "d enter"] {
        driver.press(keys);
        assert!(shown(&driver).contains("Who notices"), "{keys} leads back to the question");
        assert_eq!(dialogue(&driver).unwrap().unacknowledged_count(), 2, "{keys}");
    }
    driver.press("tab space c");
    let line = driver.copied.last().unwrap();
    assert!(line.ends_with("apply updn.plan --accept unreachable --confirm-within 600s"), "{line}");
    driver.press("esc");
    assert!(dialogue(&driver).is_none() && fake.0.borrow().begun.is_empty());
}

/// An offer whose plan could be written in five phases too.
fn phased_offer(findings: usize, safe_without: Option<bool>) -> ChangeOffer {
    let mode =
        WriteModeOffer { other: OtherMode::Possible, ports: 36, safe_without, ..WriteModeOffer::default() };
    ChangeOffer { mode, ..offer(findings) }
}

#[test]
fn five_phases_are_offered_with_their_cost_and_chosen_with_5() {
    for (width, height) in [(80, 24), (120, 40)] {
        let (fake, mut driver) = asked(phased_offer(1, None), width, height);
        let screen = shown(&driver);
        assert!(
            screen.contains("how          at once;") || screen.contains("how           at once;"),
            "{screen}"
        );
        assert!(screen.contains("36 ports leave their base LIDs"), "{screen}");
        driver.press("+ 5");
        assert_eq!(fake.0.borrow().planned, ["proposed updn", "phased updn"]);
        let screen = shown(&driver);
        for words in [
            "in five phases: up to 5 s to leave, 5 s to come back",
            "of a host: hosts are called back, nothing is written",
            "no packet meets tables that change",
            "by itself after 15 min",
        ] {
            assert!(screen.contains(words), "{words}:\n{screen}");
        }
        golden(&format!("apply in phases {width}x{height}"), &screen);
        // Going on without silent hosts is no answer where that is not shown to be safe.
        driver.press("s");
        assert!(shown(&driver).contains("hosts are asked again for 15 min"), "{}", shown(&driver));
        driver.press("c");
        let line = driver.copied.last().unwrap();
        assert!(
            line.contains("route --engine updn") && line.contains("--lanes 1 --phases -o updn.plan"),
            "{line}"
        );
        assert!(line.ends_with("apply updn.plan --unanswered wait --confirm-within 900s"), "{line}");
        driver.press("s");
        assert!(shown(&driver).contains("hosts are called back"), "{}", shown(&driver));
        driver.press("s space tab tab enter");
        let begun = fake.0.borrow().begun.clone();
        assert_eq!(begun.len(), 1);
        assert_eq!(begun[0].unanswered, SilentHostAction::Wait);
    }
    let (_, mut driver) = asked(phased_offer(0, Some(true)), 120, 40);
    driver.press("5 s s");
    assert!(shown(&driver).contains("it goes on without that host, which is safe too"), "{}", shown(&driver));
    driver.press("5");
    assert!(shown(&driver).contains("at once;"), "{}", shown(&driver));
}

/// The question stays as it is where the other way cannot be planned, and says why.
#[test]
fn a_refusal_of_five_phases_stands_in_the_question() {
    let (fake, mut driver) = asked(offer(1), 120, 40);
    let why = "not in five phases: hosts have one LID a port (LMC 0)";
    assert!(shown(&driver).contains(why), "{}", shown(&driver));
    driver.press("5 s");
    assert_eq!(fake.0.borrow().planned.len(), 1, "it is not tried");
    let (fake, mut driver) = asked(phased_offer(1, None), 120, 40);
    let error = "FD-7976: 2 ports of hosts have no agent (node0, node1), and a host without an agent stays";
    fake.0.borrow_mut().offer = Err(error.to_owned());
    driver.press("space 5");
    let screen = shown(&driver);
    assert!(screen.contains("not in five phases: 2 ports of hosts have no agent (node0, node1)"), "{screen}");
    assert!(screen.contains("1 of 1 acknowledged"), "{screen}");
    assert!(driver.state.messages.last().unwrap().text.contains(error));
    // A question that was left does not come back.
    fake.0.borrow_mut().offer = Ok(phased_offer(1, None));
    let keys = driver.press("5 esc");
    assert!(dialogue(keys).is_none());
}

/// The row of a task offers a key only where that key cancels it.
#[test]
fn esc_is_offered_for_tasks_that_it_cancels() {
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = fake.session(WriteAccess::Simulated);
    drop(driver.state.begin("reading a list", ChangesTask));
    let screen = shown(&driver);
    assert!(screen.contains("reading a list") && !screen.contains("Esc cancels"), "{screen}");
    let (task, _) = driver.state.begin("reading the fabric", ChangesTask);
    driver.state.tasks.set_cancellable(task);
    let reading = driver.state.tasks.running_tasks().iter().find(|running| running.id != task).unwrap().id;
    driver.state.tasks.end(reading);
    assert!(shown(&driver).contains("reading the fabric; Esc cancels"), "{}", shown(&driver));
}

#[test]
fn quit_leaves_at_once_and_q_goes_back_first() {
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    for keys in ["3 :quit enter", "2 ctrl-q", "3 ? ctrl-q", "1 q"] {
        let mut driver = fake.session(WriteAccess::Simulated);
        driver.press(keys);
        assert!(driver.state.leaving, "{keys}");
    }
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("3 q");
    assert!(!driver.state.leaving && driver.state.screen == ScreenId::Health);
    // Where a change would end with the session, every way out asks.
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    for keys in ["3 :quit enter", "2 ctrl-q"] {
        let mut driver = fake.session(WriteAccess::Own);
        driver.press(keys);
        assert!(
            !driver.state.leaving && shown(&driver).contains("Leave while change 7 is pending?"),
            "{keys}"
        );
    }
}

/// What cannot run now is offered with its reason; what can, with its title.
#[test]
fn the_palette_lists_what_cannot_run_now_with_its_reason() {
    let mut driver = FakeChanges::new(Ok(offer(0)), Vec::new()).session(WriteAccess::Simulated);
    let row = |driver: &TestSession, word: &str| {
        let prompt = driver.state.prompt.as_ref().unwrap();
        prompt.offers.iter().find(|offer| offer.text == word).cloned().unwrap()
    };
    driver.press(":conf");
    let confirm = row(&driver, "confirm");
    assert!(confirm.blocked && confirm.about == "not now: no change is pending", "{confirm:?}");
    assert!(shown(&driver).contains("no change is pending"), "{}", shown(&driver));
    driver.press("esc :appl");
    assert!(!row(&driver, "apply").blocked);
    driver.press("esc :move-b");
    let back = row(&driver, "move-back");
    assert!(back.blocked && back.about.contains("state of lanes is not known"), "{back:?}");
}
