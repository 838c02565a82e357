//! Changes from the console: what is asked before anything is done, and how what was done is shown until it is decided.

use std::time::Duration;

use super::fake_changes::{FakeChanges, dialogue, offer, row, status};
use super::fixture::{appearance, frame, golden, text};
use super::session_replay::replay;
use super::test_session::TestSession;
use fabdeck::catalogue::{danger::Danger, severity::Severity};
use fabdeck::console::drawing::{color_depth::ColorDepth, theme::Role};
use fabdeck::console::event_loop::{actions::ACTIONS, event::SessionInput, update::next_wake_ms};
use fabdeck::console::features::changes::dialogue::DialogueFocus;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::key::{Key, KeyName};
use fabdeck::console::model::{action::Action, layout::Size};
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::{ChangePhase, GuardRequest, RollbackRemainder};

const PROPOSED: &str = "3 :preview space updn enter / updn enter";

fn at_work(fake: &FakeChanges) -> TestSession {
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press(PROPOSED);
    driver
}

fn messages(driver: &TestSession) -> Vec<(Severity, String)> {
    driver.state.messages.iter().map(|message| (message.severity, message.text.clone())).collect()
}

fn has_message(driver: &TestSession, severity: Severity, words: &str) -> bool {
    messages(driver).iter().any(|(how, text)| *how == severity && text.contains(words))
}

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Sixteen)))
}

fn header(driver: &TestSession) -> String {
    shown(driver).lines().next().unwrap_or_default().to_owned()
}

fn footer(driver: &TestSession) -> String {
    shown(driver).lines().last().unwrap_or_default().to_owned()
}

fn later(
    driver: &mut TestSession,
    fake: &FakeChanges,
    row: fabdeck::operations::changes::change_row::ChangeRow,
    now: &str,
) {
    fake.set_first_change(row, now);
    driver.advance_ms(10_000);
}

#[test]
fn what_an_engine_proposes_is_applied_and_kept() {
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = at_work(&fake);
    assert!(header(&driver).contains("writable"), "{}", header(&driver));
    assert!(footer(&driver).contains("a apply"), "{}", footer(&driver));
    driver.press("a");
    assert_eq!(fake.0.borrow().planned, ["proposed updn"]);
    let asked = shown(&driver);
    for words in [
        "Apply updn to sim:demo?",
        "480 blocks of 9 switches",
        "1,204 of 1,980 pairs",
        "while written at most 124",
        "after 10 min",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    driver.press("tab enter");
    assert!(dialogue(&driver).is_none());
    assert_eq!(driver.state.screen, ScreenId::Changes, "the decision is made there");
    assert_eq!(fake.0.borrow().begun[0].window, Duration::from_secs(600));
    assert!(header(&driver).contains("change 1: applying 25%"), "{}", header(&driver));
    driver.press("C");
    let line = driver.copied.last().unwrap().clone();
    assert!(line.contains(" -o updn.plan; fabdeck --source sim:demo apply updn.plan"), "{line}");
    assert!(line.ends_with("--confirm-within 600s"), "{line}");
    // What is not applied yet cannot be confirmed; it can go back.
    assert!(
        !footer(&driver).contains("y confirm") && footer(&driver).contains("u rollback"),
        "{}",
        footer(&driver)
    );
    driver.press("y");
    assert!(
        has_message(&driver, Severity::Warning, "change 1 is applying: it does not wait for a decision"),
        "{:?}",
        messages(&driver)
    );
    // It is applied: the tables in force are looked at, and two keys decide.
    let looks = driver.events.len();
    fake.set_first_change(row(1, ChangePhase::Applied), "2026-11-22T14:00:19Z");
    driver.advance_ms(1000);
    assert!(header(&driver).contains("change 1: 9:41 left"), "{}", header(&driver));
    assert!(has_message(
        &driver,
        Severity::Warning,
        "change 1 is applied and is rolled back at 14:10:00 UTC by itself: y confirms"
    ));
    assert!(
        shown(&driver).contains("change 1 is applied and is rolled back"),
        "the look that follows leaves it there"
    );
    let looked = driver.events[looks..].iter().filter(|event| event.contains("finished")).count();
    assert!(looked >= 2, "a look follows: {:?}", &driver.events[looks..]);
    driver.press("y");
    assert!(shown(&driver).contains("Confirm change 1?"), "{}", shown(&driver));
    fake.0.borrow_mut().answer = Some(Ok(status(1, ChangePhase::Confirmed, None)));
    fake.set_first_change(row(1, ChangePhase::Confirmed), "2026-11-22T14:00:20Z");
    driver.press("shift-tab enter");
    assert_eq!(fake.0.borrow().asked, [("1-abcd".to_owned(), GuardRequest::Confirm { user: String::new() })]);
    assert!(has_message(&driver, Severity::Info, "change 1 is confirmed and stays"));
    assert!(!header(&driver).contains("change 1"), "{}", header(&driver));
    driver.press("C");
    assert_eq!(driver.copied.last().unwrap(), "fabdeck confirm 1-abcd");
}

/// Each by itself; until then the button that applies does nothing and says so.
#[test]
fn findings_are_taken_in_one_by_one() {
    let fake = FakeChanges::new(Ok(offer(2)), Vec::new());
    let mut driver = at_work(&fake);
    // The focus begins on the first risk, where Enter does nothing.
    driver.press("a enter");
    assert!(fake.0.borrow().begun.is_empty() && dialogue(&driver).is_some());
    assert!(has_message(&driver, Severity::Info, "Space acknowledges this risk"));
    driver.press("space tab tab");
    assert_eq!(dialogue(&driver).unwrap().focus(), DialogueFocus::Stay);
    driver.press("tab enter");
    assert!(fake.0.borrow().begun.is_empty(), "tab passes over the button that applies: one risk is left");
    assert_eq!(dialogue(&driver).unwrap().unacknowledged_count(), 1);
    driver.press("tab space");
    assert_eq!(
        (dialogue(&driver).unwrap().focus(), dialogue(&driver).unwrap().unacknowledged_count()),
        (DialogueFocus::Finding(1), 0)
    );
    driver.press("- - + tab tab enter");
    let begun = fake.0.borrow().begun.clone();
    assert_eq!(begun[0].accepted, ["transition", "unreachable"]);
    assert_eq!(begun[0].window, Duration::from_secs(300));
    driver.press("C");
    let line = driver.copied.last().unwrap();
    assert!(line.ends_with("--accept transition,unreachable --confirm-within 300s"), "{line}");
    // No window is shorter than what it takes to read what became of it, and none longer than a day.
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    for (keys, seconds) in [("- - - - - - - -", 30), ("+ + + + + + + + + + + + + +", 86_400)] {
        let mut driver = at_work(&fake);
        driver.press("a").press(keys).press("tab enter");
        assert_eq!(fake.0.borrow().begun.last().unwrap().window, Duration::from_secs(seconds));
        fake.0.borrow_mut().changes.rows.clear();
    }
}

/// Every question there is, by the keys that lead to it.
fn questions() -> Vec<(&'static str, FakeChanges, TestSession)> {
    let applied = || vec![row(7, ChangePhase::Applied)];
    let lost = Some(Err("FD-5654: going back would lose 3 pairs".to_owned()));
    let asked = [
        ("apply", FakeChanges::new(Ok(offer(0)), Vec::new()), WriteAccess::Simulated, "a"),
        ("apply with findings", FakeChanges::new(Ok(offer(3)), Vec::new()), WriteAccess::Simulated, "a"),
        ("confirm", FakeChanges::new(Ok(offer(0)), applied()), WriteAccess::Simulated, "y"),
        ("roll back", FakeChanges::new(Ok(offer(0)), applied()), WriteAccess::Simulated, "u"),
        (
            "roll back though paths are lost",
            FakeChanges::new(Ok(offer(0)), applied()),
            WriteAccess::Simulated,
            "u tab enter",
        ),
        ("leave", FakeChanges::new(Ok(offer(0)), applied()), WriteAccess::Own, "1 q"),
    ];
    let opened = |(name, fake, writing, keys): (&'static str, FakeChanges, WriteAccess, &str)| {
        fake.0.borrow_mut().answer.clone_from(&lost);
        let mut driver = fake.session(writing);
        driver.press(PROPOSED).press(keys);
        assert!(dialogue(&driver).is_some(), "{name}: {:?}", messages(&driver));
        fake.0.borrow_mut().asked.clear();
        (name, fake, driver)
    };
    asked.into_iter().map(opened).collect()
}

fn nothing_done(name: &str, fake: &FakeChanges, driver: &TestSession) {
    let script = fake.0.borrow();
    assert!(script.begun.is_empty() && script.asked.is_empty() && !driver.state.leaving, "{name} acted");
}

#[test]
fn the_focus_never_begins_on_the_button_that_acts_and_esc_never_acts() {
    for (name, fake, mut driver) in questions() {
        let has_risks = name.contains("findings");
        let first = if has_risks { DialogueFocus::Finding(0) } else { DialogueFocus::Stay };
        assert_eq!(dialogue(&driver).unwrap().focus(), first, "{name}");
        driver.press("enter");
        assert_eq!(dialogue(&driver).is_some(), has_risks, "{name}: Enter leaves all as it is");
        nothing_done(name, &fake, &driver);
    }
    for keys in
        ["tab esc", "tab q", "shift-tab esc", "right left enter", "space enter", "?", "y", "a", "tab ?"]
    {
        for (name, fake, mut driver) in questions() {
            driver.press(keys);
            nothing_done(name, &fake, &driver);
        }
    }
    // And the button that acts does.
    for (name, fake, mut driver) in questions().into_iter().filter(|(name, ..)| !name.contains("findings")) {
        driver.press("tab enter");
        let script = fake.0.borrow();
        let acted = script.begun.len() + script.asked.len() + usize::from(driver.state.leaving);
        assert_eq!(acted, 1, "{name}");
    }
}

#[test]
fn a_rollback_that_loses_paths_is_confirmed_first() {
    let (_, fake, mut driver) = questions().into_iter().find(|(name, ..)| name.contains("lost")).unwrap();
    assert!(shown(&driver).contains("going back would lose 3 pairs"), "{}", shown(&driver));
    fake.0.borrow_mut().answer = Some(Ok(status(7, ChangePhase::RollingBack, None)));
    fake.set_first_change(row(7, ChangePhase::RolledBack), "2026-11-22T14:00:05Z");
    driver.press("tab enter");
    assert_eq!(
        fake.0.borrow().asked,
        [("7-abcd".to_owned(), GuardRequest::RollBack { user: String::new(), anyway: true })]
    );
    assert!(has_message(&driver, Severity::Info, "change 7 was rolled back"), "{:?}", messages(&driver));
    driver.press("C");
    assert_eq!(driver.copied.last().unwrap(), "fabdeck rollback 7-abcd --force");
}

#[test]
fn more_time_is_had_without_a_question() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    fake.0.borrow_mut().answer = Some(Ok(status(7, ChangePhase::Applied, Some("2026-11-22T14:20:00Z"))));
    driver.press("e");
    let ask = |seconds| GuardRequest::Extend { user: String::new(), seconds };
    assert_eq!(fake.0.borrow().asked, [("7-abcd".to_owned(), ask(600))]);
    assert!(
        has_message(&driver, Severity::Info, "change 7 waits until 14:20:00 UTC"),
        "{:?}",
        messages(&driver)
    );
    driver.press(":extend space 90s enter");
    assert_eq!(fake.0.borrow().asked[1].1, ask(90));
    driver.press(":extend space long enter");
    assert!(has_message(&driver, Severity::Error, "extend takes a time"));
    // On Paths the key is that of the end of a path.
    driver.press("5 e");
    assert_eq!(fake.0.borrow().asked.len(), 2);
    assert!(driver.state.prompt.is_some());
}

#[test]
fn without_write_access_the_reason_is_shown() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    for (writing, why, keys) in [
        (
            WriteAccess::Never("a file cannot be written to".to_owned()),
            "a file cannot be written to",
            ["a", "y", "u", "e", ":disable space link:spine-1[1] enter"].as_slice(),
        ),
        (
            WriteAccess::NotAsked,
            "this session is read-only: start fabdeck with --allow-write",
            ["a", ":disable space link:spine-1[1] enter"].as_slice(),
        ),
    ] {
        let mut driver = fake.session(writing.clone());
        driver.press(PROPOSED);
        for key in keys {
            let count = driver.state.messages.total_count();
            driver.press(key);
            let last = driver.state.messages.last().unwrap().text.clone();
            assert!(driver.state.messages.total_count() > count && last.contains(why), "{key}: {last}");
            assert!(driver.state.layer.is_none(), "{key}");
        }
        assert!(header(&driver).contains("read-only"), "{}", header(&driver));
        assert!(!footer(&driver).contains("a apply"), "{}", footer(&driver));
        // What cannot be written to has no changes; of what could somebody else's is seen.
        assert_eq!(header(&driver).contains("change 7: 10:00 left"), writing == WriteAccess::NotAsked);
    }
    assert!(fake.0.borrow().planned.is_empty() && fake.0.borrow().asked.is_empty());
}

/// Whoever comes back after the line dropped has to be able to end what was begun, with leave to write or without.
#[test]
fn a_session_that_only_reads_ends_what_another_began() {
    for (keys, ask) in [("y shift-tab enter", "Confirm"), ("u tab enter", "RollBack"), ("e", "Extend")] {
        let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
        let mut driver = fake.session(WriteAccess::NotAsked);
        driver.press("9").press(keys);
        let asked = format!("{:?}", fake.0.borrow().asked);
        assert!(asked.contains(ask), "{keys}: {asked} {:?}", messages(&driver));
    }
}

#[test]
fn what_could_not_be_rolled_back_can_be_asked_for_again_and_not_be_kept() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Incomplete)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9 y");
    assert!(has_message(&driver, Severity::Warning, "rolled back again"), "{:?}", messages(&driver));
    driver.press("u");
    // The list comes again and again while somebody reads.
    for second in [10, 20] {
        later(&mut driver, &fake, row(7, ChangePhase::Incomplete), &format!("2026-11-22T14:00:{second}Z"));
        assert!(dialogue(&driver).is_some(), "{:?}", messages(&driver));
    }
    driver.press("tab enter");
    let asked = |anyway| [("7-abcd".to_owned(), GuardRequest::RollBack { user: String::new(), anyway })];
    assert_eq!(fake.0.borrow().asked, asked(false), "{:?}", messages(&driver));
    // Somebody else has brought it to its end.
    driver.press("9 u");
    later(&mut driver, &fake, row(7, ChangePhase::RolledBack), "2026-11-22T14:00:30Z");
    assert!(dialogue(&driver).is_none());
    // The guard left all of it as that loses paths: who asks for it again knows, and has it done.
    let mut left = row(7, ChangePhase::Incomplete);
    let why = "going back loses 3 pairs, staying 0; a person has to decide";
    left.left = vec![RollbackRemainder { what: "everything".to_owned(), why: why.to_owned() }];
    let fake = FakeChanges::new(Ok(offer(0)), vec![left.clone()]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9 u");
    later(&mut driver, &fake, left, "2026-11-22T14:00:10Z");
    let screen = shown(&driver);
    assert!(screen.contains("though paths are lost") && screen.contains("loses 3 pairs"), "{screen}");
    driver.press("tab enter");
    assert_eq!(fake.0.borrow().asked, asked(true), "{:?}", messages(&driver));
}

/// Drift and trouble are said when they come, once.
#[test]
fn what_others_do_to_a_change_that_waits_is_said_once() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    let drifted = "block 0 of leaf1 is not as it was written any more";
    fake.0.borrow_mut().changes.rows[0].drift = Some(drifted.to_owned());
    fake.0.borrow_mut().changes.rows[0].trouble = Some("the fabric is out of reach".to_owned());
    for _ in 0..5 {
        driver.advance_ms(1100);
    }
    let all = messages(&driver);
    for text in [drifted, "the fabric is out of reach"] {
        let count = all.iter().filter(|line| format!("{line:?}").contains(text)).count();
        assert_eq!(count, 1, "{text}: {all:?}");
    }
}

#[test]
fn one_change_at_a_time_and_words_say_what_is_missing() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = at_work(&fake);
    driver.press("a");
    assert!(has_message(&driver, Severity::Warning, "change 7 is pending"), "{:?}", messages(&driver));
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("y");
    assert!(has_message(&driver, Severity::Warning, "no change is pending"));
    driver.press("a");
    assert!(has_message(&driver, Severity::Info, "apply works on What-if, for"));
    driver.press("6 a");
    assert!(
        has_message(&driver, Severity::Warning, "has no routes for these marks"),
        "{:?}",
        messages(&driver)
    );
    driver.press("9 a");
    assert_eq!(driver.state.prompt.as_ref().map(|prompt| prompt.purpose.title()), Some("apply the plan in"));
    driver.press("my.plan enter esc 2 :apply space other.plan enter esc");
    assert_eq!(fake.0.borrow().planned, ["file my.plan", "file other.plan"]);
    driver.press("3 :disable enter esc :enable space link:spine-1[1] enter esc");
    assert_eq!(fake.0.borrow().planned[2..], ["Disable", "Enable"]);
    fake.0.borrow_mut().offer = Err("FD-7986: the plan is stale: leaf-1 is gone".to_owned());
    driver.press(":apply space my.plan enter");
    assert!(has_message(&driver, Severity::Error, "my.plan cannot be applied: FD-7986"));
    let nothing = fabdeck::operations::changes::changer::ChangeOffer { applied: true, ..offer(0) };
    fake.0.borrow_mut().offer = Ok(nothing);
    driver.press(":apply space my.plan enter");
    let words = "nothing to do: the fabric already has everything that my.plan writes";
    assert!(has_message(&driver, Severity::Info, words));
    assert!(driver.state.layer.is_none());
}

#[test]
fn what_becomes_of_changes_is_reported() {
    let fake =
        FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied), row(6, ChangePhase::RolledBack)]);
    fake.0.borrow_mut().changes.ended_since = vec!["6-abcd".to_owned()];
    fake.0.borrow_mut().changes.unread = vec!["FD-5601: changes/3/journal: line 2 is damaged".to_owned()];
    let mut driver = fake.session(WriteAccess::Simulated);
    let away = "change 6 was rolled back at 02:13:00 UTC while you were away: it was not confirmed in time";
    assert!(has_message(&driver, Severity::Warning, away), "{:?}", messages(&driver));
    assert!(has_message(&driver, Severity::Warning, "FD-5601"));
    assert!(has_message(&driver, Severity::Warning, "change 7 of alice is applied, not confirmed"));
    let told = driver.state.messages.total_count();
    driver.advance_ms(1000).advance_ms(1000);
    assert_eq!(driver.state.messages.total_count(), told, "once: {:?}", messages(&driver));
    later(&mut driver, &fake, row(7, ChangePhase::RollingBack), "2026-11-22T14:10:01Z");
    assert!(has_message(
        &driver,
        Severity::Warning,
        "change 7 is being rolled back: it was not confirmed in time"
    ));
    assert!(header(&driver).contains("change 7: rolling back"), "{}", header(&driver));
    later(&mut driver, &fake, row(7, ChangePhase::Incomplete), "2026-11-22T14:10:03Z");
    assert!(has_message(
        &driver,
        Severity::Error,
        "a person is needed: leaf-1 block 0: somebody else wrote it since; "
    ));
    assert!(has_message(&driver, Severity::Error, "and 1 more (9 shows them)"));
    // Other words may have come since: it stands in the header until somebody looks.
    assert!(header(&driver).contains("change 7 incomplete: 9"), "{}", header(&driver));
    driver.press("9 2");
    assert!(!header(&driver).contains("change 7"), "{}", header(&driver));
    // A question that is open closes when no decision is left.
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("y");
    assert!(dialogue(&driver).is_some());
    later(&mut driver, &fake, row(7, ChangePhase::RolledBack), "2026-11-22T14:10:03Z");
    assert!(dialogue(&driver).is_none());
    assert!(has_message(&driver, Severity::Error, "change 7 was rolled back: it was not confirmed in time"));
}

/// Each second while something is pending, seldom else, and never where nobody makes changes.
#[test]
fn how_changes_stand_is_asked_as_often_as_need_be() {
    let quiet = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = quiet.session(WriteAccess::Simulated);
    assert_eq!(quiet.0.borrow().polls, 1, "after the first look");
    let now_ms = driver.state.now_ms;
    assert_eq!(next_wake_ms(&driver.state), Some(now_ms + 10_000));
    driver.advance_ms(9_000);
    assert_eq!(quiet.0.borrow().polls, 1);
    driver.advance_ms(1_000);
    assert_eq!(quiet.0.borrow().polls, 2);
    let busy = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = busy.session(WriteAccess::Simulated);
    driver.advance_ms(1000);
    assert_eq!(busy.0.borrow().polls, 2);
    // When the second that is shown is over, and not only when it is time to ask again.
    busy.0.borrow_mut().changes.now = "2026-11-22T14:00:01.300Z".to_owned();
    driver.advance_ms(1000);
    assert_eq!(next_wake_ms(&driver.state), Some(driver.state.now_ms + 701));
    driver.advance_ms(701);
    assert_eq!(busy.0.borrow().polls, 3);
    assert_eq!(next_wake_ms(&driver.state), Some(driver.state.now_ms + 299), "and then it is");
    let elsewhere = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    elsewhere.0.borrow_mut().changes.here.clear();
    let driver = elsewhere.session(WriteAccess::Simulated);
    assert!(!header(&driver).contains("change 7"), "another fabric's stands in the list alone");
    assert!(!has_message(&driver, Severity::Warning, "change 7"), "{:?}", messages(&driver));
    let file = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let driver = file.session(WriteAccess::default());
    assert_eq!((file.0.borrow().polls, next_wake_ms(&driver.state)), (0, None));
}

#[test]
fn the_window_runs_down_in_the_header_and_is_never_left_out() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("3 / kind=switch-switch enter f down f down f");
    for width in [80, 100, 120] {
        driver.send_input(SessionInput::Resized(Size { width, height: 24 }));
        let header = header(&driver);
        assert!(header.contains("change 7: 10:00 left") && header.contains("writable"), "{header}");
    }
    // By its own clock too, where the answer takes long.
    driver.state.now_ms += 999;
    driver.press("down");
    assert!(header(&driver).contains("9:59 left"), "{}", header(&driver));
    driver.state.now_ms += 545_000;
    driver.press("down");
    assert!(header(&driver).contains("change 7: 0:54 left"), "{}", header(&driver));
    let (_, urgency) = driver.state.known.changes.header_word().unwrap();
    assert_eq!(urgency, Severity::Error);
}

/// A second that goes by is a digit or two of the header.
#[test]
fn a_second_costs_next_to_nothing() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    let now = |now: &str| fake.0.borrow_mut().changes.now = now.to_owned();
    now("2026-11-22T14:00:30Z");
    let mut driver = fake.session(WriteAccess::Simulated);
    let colours = appearance("dark", ColorDepth::Sixteen);
    // A list and a page say it a second time, and details beside the list a third.
    for (keys, most) in [("3", 2), ("9", 6), ("9 enter", 4), ("2 y", 4)] {
        driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
        driver.press(keys);
        let before = frame(&driver.state, &colours);
        now("2026-11-22T14:00:31Z");
        driver.advance_ms(1000);
        let changed = before.diff(&frame(&driver.state, &colours)).len();
        assert!((1..=most).contains(&changed), "{keys}: {changed} cells");
        now("2026-11-22T14:00:30Z");
        driver.advance_ms(1000);
        driver.press("esc");
    }
    let quiet = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = quiet.session(WriteAccess::Simulated);
    let before = frame(&driver.state, &colours);
    driver.advance_ms(10_000);
    assert_eq!((quiet.0.borrow().polls, before.diff(&frame(&driver.state, &colours)).len()), (2, 0));
}

/// What writes to a fabric says so in the table, and none of it is ready where nothing may be written.
#[test]
fn what_writes_is_marked_and_waits_for_leave() {
    let writes: Vec<&Action> =
        ACTIONS.iter().filter(|action| action.danger == Danger::WritesFabric).collect();
    let ids: Vec<&str> = writes.iter().map(|action| action.id).collect();
    assert_eq!(ids, ["apply", "confirm", "rollback", "extend", "move-back", "disable", "enable"]);
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(7, ChangePhase::Applied)]);
    for writing in [WriteAccess::default(), WriteAccess::NotAsked] {
        let never = writing != WriteAccess::NotAsked;
        let driver = fake.session(writing);
        let begins = |action: &&&Action| never || matches!(action.id, "apply" | "disable" | "enable");
        assert!(writes.iter().filter(begins).all(|action| (action.ready)(&driver.state).is_err()));
    }
}

/// Esc cancels what is held against the fabric, wherever one is; what comes of it later is let go.
#[test]
fn esc_cancels_an_offer_that_takes_long() {
    use super::test_session::first_task;
    use fabdeck::console::event_loop::event::SessionEvent;
    use fabdeck::console::event_loop::update::update;
    use fabdeck::console::features::changes::change_requests::OfferOutcome;
    use fabdeck::console::features::changes::change_requests::OfferTask;
    use fabdeck::console::model::effect::Effect;
    let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
    let mut driver = at_work(&fake);
    let state = &mut driver.state;
    let press = |state: &mut _, key| {
        update(state, SessionEvent { at_ms: 0, what: SessionInput::Key(Key::plain(key)) })
    };
    let effects = press(state, KeyName::Char('a'));
    let (task, _) = first_task::<OfferTask>(&effects);
    assert!(
        text(&frame(state, &appearance("mono", ColorDepth::Sixteen)))
            .contains("comparing updn with the fabric; Esc cancels")
    );
    let effects = press(state, KeyName::Esc);
    assert!(matches!(effects.first(), Some(Effect::Cancel(gone)) if *gone == task), "{effects:?}");
    assert_eq!(state.screen, ScreenId::Whatif, "nothing else was left");
    let outcome = Box::new(OfferOutcome(Ok(Box::new(offer(0)))));
    update(state, SessionEvent { at_ms: 0, what: SessionInput::Finished { task, outcome } });
    assert!(state.layer.is_none());
}

#[test]
fn changes_are_listed_filtered_and_shown_whole() {
    let rows = vec![
        row(8, ChangePhase::Applied),
        row(7, ChangePhase::Incomplete),
        row(6, ChangePhase::Confirmed),
        row(5, ChangePhase::Refused),
    ];
    let fake = FakeChanges::new(Ok(offer(0)), rows);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9 down enter");
    let page = shown(&driver);
    for words in [
        "Change 7",
        "alice",
        "direct",
        "deadlock possible while written",
        "leaf-2 block 1: does not answer",
        "a person",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    driver.press("esc down down u");
    assert!(!footer(&driver).contains("u rollback"), "{}", footer(&driver));
    assert!(has_message(&driver, Severity::Warning, "change 5 is refused: no decision is left"));
    driver.press("up up");
    driver.press("c");
    assert_eq!(driver.copied.last().unwrap(), "fabdeck changes");
    // The cursor stays on its change when another one comes.
    fake.set_first_change(row(9, ChangePhase::Confirmed), "2026-11-22T14:00:01Z");
    driver.advance_ms(1000);
    assert_eq!(driver.state.screens.changes.change().map(|change| change.number), Some(7));
    driver.press("/ state~confirmed enter");
    let numbers = |driver: &TestSession| {
        let table = fabdeck::console::features::screen::Screen::table(&driver.state.screens.changes);
        table.selection.rows.len()
    };
    assert_eq!(numbers(&driver), 3, "{}", shown(&driver));
    // Of a simulator in this process no other process knows a change.
    let own = FakeChanges::new(Ok(offer(0)), vec![row(1, ChangePhase::Applied)]);
    let mut driver = own.session(WriteAccess::Own);
    driver.press("9 c");
    assert!(
        driver.copied.is_empty() && has_message(&driver, Severity::Warning, "ends with it"),
        "{:?}",
        messages(&driver)
    );
}

/// What was done to a fabric cannot be had again, so it stands in what is written of a session.
#[test]
fn a_session_with_changes_is_replayed() {
    let fake = FakeChanges::new(Ok(offer(1)), Vec::new());
    let mut driver = at_work(&fake);
    driver.press("a tab tab space tab tab enter");
    fake.set_first_change(row(1, ChangePhase::Applied), "2026-11-22T14:00:10Z");
    driver.advance_ms(1000);
    fake.0.borrow_mut().answer = Some(Ok(status(1, ChangePhase::Applied, Some("2026-11-22T14:20:00Z"))));
    driver.press("e y");
    assert!(dialogue(&driver).is_some() && fake.0.borrow().begun.len() == 1, "{:?}", messages(&driver));
    let look = driver.state.snapshot().unwrap().clone();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    let colours = appearance("dark", ColorDepth::True);
    assert_eq!(text(&frame(&again, &colours)), text(&frame(&driver.state, &colours)));
    assert!(text(&frame(&again, &colours)).contains("Confirm change 1?"));
}

#[test]
fn changes_of_another_fabric_are_not_listed() {
    let fake =
        FakeChanges::new(Ok(offer(0)), vec![row(8, ChangePhase::Confirmed), row(7, ChangePhase::Applied)]);
    fake.0.borrow_mut().changes.here.remove("7-abcd");
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9");
    assert_eq!(driver.state.screens.changes.change().map(|change| change.number), Some(8));
    fake.0.borrow_mut().changes.here.clear();
    driver.advance_ms(10_000);
    let page = shown(&driver);
    assert!(driver.state.screens.changes.change().is_none(), "{page}");
    assert!(page.contains("2 changes of other fabrics"), "{page}");
}

/// Every question and the list of changes, where they are small and where they are not, down to one sign.
#[test]
fn frames_of_changes() {
    let all = || {
        let phases = [
            ChangePhase::Applied,
            ChangePhase::Incomplete,
            ChangePhase::RolledBack,
            ChangePhase::Confirmed,
            ChangePhase::Refused,
        ];
        phases.iter().zip((1..=5).rev()).map(|(phase, number)| row(number, *phase)).collect::<Vec<_>>()
    };
    let list = |rows| FakeChanges::new(Ok(offer(0)), rows).session(WriteAccess::Simulated);
    let mut frames: Vec<(String, TestSession)> =
        questions().into_iter().map(|(name, _, driver)| (name.to_owned(), driver)).collect();
    let mut scrolled = at_work(&FakeChanges::new(Ok(offer(12)), Vec::new()));
    scrolled.press("a tab tab space tab tab tab tab tab tab");
    frames.push(("apply scrolled".to_owned(), scrolled));
    let mut shown = list(all());
    shown.press("9");
    frames.push(("list".to_owned(), shown));
    let mut empty = list(Vec::new());
    empty.press("9");
    frames.push(("list empty".to_owned(), empty));
    frames.push(("change whole".to_owned(), list(all())));
    frames.last_mut().unwrap().1.press("9 j enter");
    frames.push(("applying".to_owned(), list(vec![row(1, ChangePhase::Applying)])));
    frames.last_mut().unwrap().1.press("3 down");
    let colours = [appearance("sixteen", ColorDepth::Sixteen), appearance("mono", ColorDepth::Sixteen)];
    for (name, driver) in &mut frames {
        let mut said = String::new();
        for (width, height) in [(80, 24), (120, 40)] {
            driver.send_input(SessionInput::Resized(Size { width, height }));
            for look in &colours {
                let buffer = frame(&driver.state, look);
                said.push_str(&format!("== {width}x{height} {}\n", look.theme.name));
                if look.theme.name == "sixteen" {
                    said.push_str(&text(&buffer));
                }
                let styles = super::fixture::styles(&buffer, look.theme.style(Role::Text));
                said.push_str(&format!("-- styles\n{styles}"));
            }
        }
        golden(&format!("changing {name}"), &said);
        for (width, height) in [(1, 1), (3, 2), (10, 3), (20, 5), (40, 8)] {
            driver.send_input(SessionInput::Resized(Size { width, height }));
            frame(&driver.state, &colours[0]);
            driver.press("tab shift-tab down pgdn up");
        }
    }
}
