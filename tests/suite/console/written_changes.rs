//! A change after its writes: the first card of Health, its marks on the charts, what became of it in the dialog of
//! confirm, and the way back of a confirmed one.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::fake_changes::{DEADLINE, FakeChanges, NOW, changes_of_rows, dialogue, offer, row};
use super::fixture::{appearance, frame, golden, styles, text};
use super::pty::{PATIENCE, Session};
use super::test_session::{ChangerBox, TestSession};
use super::watches::{CounterStory, EVERY, incast, lab, shown};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::changes::dialogue::DialogueFocus;
use fabdeck::console::features::changes::write_marks::WriteEvent;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::{ChangeOffer, WriteAccess};
use fabdeck::operations::changes::undo_loss::UndoLoss;
use fabdeck::operations::watch::fabric_history::{FabricHistory, IntervalSums};
use fabdeck_change::ChangePhase;

/// The machine's clock this many milliseconds after the session began.
fn clock(ms: u64) -> String {
    let begin: Timestamp = NOW.parse().unwrap();
    begin.checked_add(SignedDuration::from_millis(ms as i64)).unwrap().to_string()
}

/// A watched session, and who makes changes in it.
struct Watched {
    fake: FakeChanges,
    driver: TestSession,
}

impl Watched {
    fn new() -> Self {
        Self::of(incast)
    }

    fn of(story: CounterStory) -> Self {
        let fake = FakeChanges::new(Ok(offer(0)), Vec::new());
        let (look, sweeper) = lab(story, Default::default());
        let changing = (ChangerBox(Box::new(fake.clone())), WriteAccess::Simulated);
        let size = Size { width: 120, height: 40 };
        let driver = TestSession::open_watching_changing(look, (sweeper, EVERY), changing, size);
        let mut watched = Self { fake, driver };
        watched.driver.press("1");
        watched
    }

    /// Lets sweeps of five seconds pass, with the changes in these states.
    fn sweep(&mut self, sweeps: usize, rows: &[ChangeRow]) {
        for _ in 0..sweeps {
            let now = clock(self.driver.state.now_ms + 5000);
            self.fake.0.borrow_mut().changes = changes_of_rows(rows.to_vec(), &now);
            self.driver.advance_ms(5000);
        }
    }

    fn at_sizes(&mut self, sizes: &[(u16, u16)]) -> String {
        let colours = appearance("dark", ColorDepth::True);
        let mut all = String::new();
        for (width, height) in sizes {
            self.driver.send_input(SessionInput::Resized(Size { width: *width, height: *height }));
            let buffer = frame(&self.driver.state, &colours);
            let styles = styles(&buffer, colours.theme.blank());
            all.push_str(&format!("== {width}x{height}\n{}-- styles\n{styles}", text(&buffer)));
        }
        all
    }
}

/// A change that was begun at a second of the session.
fn begun_at(number: u64, state: ChangePhase, second: u64) -> ChangeRow {
    ChangeRow { time: clock(second * 1000), ended: None, ..row(number, state) }
}

fn ended_at(row: ChangeRow, state: ChangePhase, second: u64) -> ChangeRow {
    ChangeRow { state, deadline: None, ended: Some(clock(second * 1000)), ..row }
}

#[test]
fn a_change_that_waits_is_the_first_card_of_health() {
    let mut watched = Watched::new();
    watched.sweep(6, &[]);
    assert!(!shown(&watched.driver).contains("Change 1"), "{}", shown(&watched.driver));
    let applied = begun_at(1, ChangePhase::Applied, 31);
    watched.sweep(6, std::slice::from_ref(&applied));
    let screen = shown(&watched.driver);
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(place("Change 1: applied, not confirmed") < place("▸ Problems"), "{screen}");
    for words in [
        "updn: 480 writes, begun by alice at 14:00:31 UTC",
        "no path before 0, while written at most 124, after 88, of 1,980 pairs; if spine-2 fails",
        "rolled back by itself at 14:10:00 UTC, unless it is confirmed",
        "y confirm   u roll back   e 10 min more",
        "9:00 left",
    ] {
        place(words);
    }
    assert!(watched.driver.state.screens.health.problem().is_some(), "the cursor stays on the problems");
    golden("health pending change", &watched.at_sizes(&[(80, 24), (120, 40), (200, 60)]));
    // A change whose figures are not known has no zeros.
    let unknown = ChangeRow { pairs: None, ..applied.clone() };
    watched.sweep(1, &[unknown]);
    assert!(shown(&watched.driver).contains("no path ○ not known"), "{}", shown(&watched.driver));
    let late = ChangeRow { overdue: true, ..applied.clone() };
    watched.sweep(1, &[late]);
    let screen = shown(&watched.driver);
    assert!(screen.contains("Change 1: OVERDUE"), "{screen}");
    assert!(
        screen.contains(&format!("it should have been rolled back at {} UTC", &DEADLINE[11..19])),
        "{screen}"
    );
    // Two of them cannot be decided by a key without a cursor.
    watched.sweep(1, &[applied.clone(), begun_at(2, ChangePhase::Applied, 40)]);
    let screen = shown(&watched.driver);
    assert!(screen.contains("and 1 more") && screen.contains("several changes are pending"), "{screen}");
    watched.sweep(1, &[ended_at(applied, ChangePhase::Confirmed, 100)]);
    assert!(!shown(&watched.driver).contains("Change 1"), "{}", shown(&watched.driver));
}

/// Their times are those of the journal: also a change that another session made has its marks.
#[test]
fn charts_have_the_marks_of_changes() {
    let mut watched = Watched::new();
    let first = ended_at(begun_at(1, ChangePhase::Applied, 10), ChangePhase::Confirmed, 30);
    let second = ended_at(begun_at(2, ChangePhase::Applied, 40), ChangePhase::RolledBack, 50);
    let refused = ended_at(begun_at(3, ChangePhase::Applied, 55), ChangePhase::Refused, 55);
    let rows = [refused, second, first];
    watched.sweep(12, &rows);
    let marks: Vec<_> =
        watched.driver.state.known.changes.write_marks.iter().map(|mark| (mark.at_ms, mark.event)).collect();
    let expected = [
        (40_000, WriteEvent::Begun),
        (50_000, WriteEvent::RolledBack),
        (10_000, WriteEvent::Begun),
        (30_000, WriteEvent::Confirmed),
    ];
    assert_eq!(marks, expected);
    // The axes of all three charts have them, on narrow screens too, and those of a cable.
    watched.driver.press("-");
    for (width, height) in [(80, 24), (120, 40)] {
        watched.driver.send_input(SessionInput::Resized(Size { width, height }));
        let screen = shown(&watched.driver);
        let axis = screen.lines().find(|line| line.contains("now")).unwrap();
        assert_eq!(axis.matches('◇').count(), 6, "{screen}");
        assert_eq!(axis.matches('✓').count(), 3, "{screen}");
        assert!(axis.matches('▲').count() >= 3, "{screen}");
    }
    watched.driver.press("3 enter");
    let screen = shown(&watched.driver);
    let axis = screen.lines().find(|line| line.contains("─now")).unwrap();
    assert_eq!((axis.matches('◇').count(), axis.matches('✓').count()), (6, 3), "{screen}");
}

/// The dialog of confirm, half a minute after the writes of a change.
fn asked_to_confirm() -> Watched {
    let mut watched = Watched::new();
    watched.sweep(6, &[]);
    watched.sweep(6, &[begun_at(1, ChangePhase::Applied, 31)]);
    watched.driver.press("y");
    watched
}

#[test]
fn confirm_shows_what_became_of_the_change() {
    let mut watched = asked_to_confirm();
    let screen = shown(&watched.driver);
    // The pairs are those of the demo, whose tables no test changed.
    for words in [
        "Confirm change 1?",
        "What became of it",
        "before 0, now 0, of 1,980 pairs",
        "spine-2 fails: before 504 pairs without a path, after 0",
        "[▸Cancel ]  [ Extend ]  [ Roll back ]  [ Confirm ]",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    golden("confirm change", &watched.at_sizes(&[(80, 24), (120, 40)]));
    // All of it fits: nothing scrolls, whatever the number of its lines.
    for (width, height) in [(80, 24), (120, 40), (200, 60), (80, 18), (60, 14)] {
        watched.driver.send_input(SessionInput::Resized(Size { width, height }));
        let screen = shown(&watched.driver);
        assert!(screen.contains("worst wait") && screen.contains("Extend ]"), "{width}x{height}: {screen}");
        if height >= 24 {
            assert!(screen.contains("-5 min") && screen.contains('◇'), "{width}x{height}: {screen}");
        }
    }
}

#[test]
fn figures_that_are_not_known_are_none() {
    // Counters were not watched before the writes.
    let mut watched = Watched::new();
    let early = ChangeRow { time: "2026-11-22T13:59:00Z".to_owned(), ..row(1, ChangePhase::Applied) };
    watched.sweep(3, std::slice::from_ref(&early));
    watched.driver.press("y");
    let screen = shown(&watched.driver);
    assert!(screen.contains("○ worst wait before not known (nothing was watched then), now"), "{screen}");
    // No reading began after the writes.
    let mut watched = Watched::new();
    watched.sweep(6, &[]);
    watched.sweep(2, &[begun_at(1, ChangePhase::Applied, 36)]);
    watched.driver.press("y");
    let screen = shown(&watched.driver);
    assert!(screen.contains("now being read"), "{screen}");
    // While nothing is read, nothing will be.
    watched.driver.press("esc W y");
    let screen = shown(&watched.driver);
    assert!(screen.contains("now not known (no reading since)"), "{screen}");
    watched.driver.press("esc W y");
    // Nor were the pairs counted.
    let uncounted = ChangeRow { pairs: None, ..begun_at(1, ChangePhase::Applied, 36) };
    watched.sweep(3, &[uncounted]);
    let screen = shown(&watched.driver);
    assert!(screen.contains("○ no path    before not known, now"), "{screen}");
}

#[test]
fn each_button_of_confirm_does_what_it_says() {
    for (keys, asked) in
        [("shift-tab enter", "Confirm"), ("tab tab enter", "RollBack"), ("tab enter", "Extend")]
    {
        let mut watched = asked_to_confirm();
        assert_eq!(dialogue(&watched.driver).unwrap().focus(), DialogueFocus::Stay);
        let screen = shown(&watched.driver);
        let row = screen.lines().find(|row| row.contains("Cancel ]")).expect(&screen);
        let at = |word: &str| row.find(word).expect(row);
        assert!(at("Cancel ]") < at("Roll back ]") && at("Roll back ]") < at("Confirm ]"), "{row}");
        assert!(row.contains("Cancel is chosen: enter presses it"), "{row}");
        watched.driver.press(keys);
        let requests: Vec<String> =
            watched.fake.0.borrow().asked.iter().map(|(_, request)| format!("{request:?}")).collect();
        assert!(requests.len() == 1 && requests[0].starts_with(asked), "{keys}: {requests:?}");
        // More time is no decision: the question stays, with the focus on the button that changes nothing.
        let stays = dialogue(&watched.driver).map(|dialogue| dialogue.focus());
        assert_eq!(stays, (asked == "Extend").then_some(DialogueFocus::Stay), "{keys}");
    }
    let mut watched = asked_to_confirm();
    watched.driver.press("enter");
    assert!(dialogue(&watched.driver).is_none() && watched.fake.0.borrow().asked.is_empty());
    let said = &watched.driver.state.messages.last().unwrap().text;
    assert!(said.starts_with("cancelled: the change still waits to be confirmed"), "{said}");
}

/// On Changes, the key that rolls a pending change back plans the way back of a confirmed one.
#[test]
fn a_confirmed_change_is_undone_through_the_question_of_apply() {
    let confirmed = ended_at(begun_at(1, ChangePhase::Applied, 0), ChangePhase::Confirmed, 5);
    let title = "undo of change 1".to_owned();
    let mut undo = ChangeOffer { title, ..offer(0) };
    let (failed, jobs) = (vec!["switch:spine-2".to_owned()], vec![("83".to_owned(), 23)]);
    undo.facts.failed.clear();
    undo.facts.undo = Some(UndoLoss { failed, pairs: Some([0, 504]), jobs });
    let fake = FakeChanges::new(Ok(undo), vec![confirmed.clone()]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9 u");
    let cost = "spine-2 fails: now 0 pairs without a path, after 504; so it costs";
    assert!(shown(&driver).contains(cost), "{}", shown(&driver));
    assert_eq!(fake.0.borrow().planned, ["undo 1"]);
    assert!(shown(&driver).contains("Apply undo of change 1 to sim:demo?"), "{}", shown(&driver));
    driver.press("tab enter C");
    let line = driver.copied.last().unwrap();
    let first =
        "fabdeck --source sim:demo undo 1-abcd -o undo.plan; fabdeck --source sim:demo apply undo.plan";
    assert!(line.starts_with(first), "{line}");
    // By its number; only what may be written is offered.
    let fake = FakeChanges::new(Ok(offer(0)), vec![confirmed.clone()]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("9 :rollback space 1 enter");
    assert_eq!(fake.0.borrow().planned, ["undo 1"]);
    let mut driver = fake.session(WriteAccess::NotAsked);
    driver.press("9 u");
    assert_eq!(fake.0.borrow().planned.len(), 1);
    let said = driver.state.messages.last().map(|said| said.text.clone()).unwrap_or_default();
    assert!(said.contains("this session is read-only"), "{said}");
    // While another change is pending, it is that one which is decided about.
    let pending = begun_at(2, ChangePhase::Applied, 10);
    let fake = FakeChanges::new(Ok(offer(0)), vec![pending, confirmed]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.press("1 u");
    assert!(shown(&driver).contains("Roll change 2 back?"), "{}", shown(&driver));
    assert!(fake.0.borrow().planned.is_empty());
}

/// The program itself on the demo: preview, apply, the card, what became of it, keep, and the way back.
#[test]
fn a_change_from_its_preview_to_its_undo() {
    let mut session = Session::open(&["--source", "sim:demo"], 120, 40);
    session.open_map();
    session.press(":mark spine-2\r");
    session.until("is marked as failed");
    session.press("6:preview sftree\r");
    session.until("clean");
    session.press("/sftree\r");
    session.until("▶  sftree");
    session.press("a");
    accept_and_apply(&mut session);
    session.until("is rolled back at");
    session.press("1");
    session.until("Change 1: applied, not confirmed");
    session.until("y confirm   u roll back   e 10 min more");
    session.press("y");
    session.until("What became of it");
    session.until("now 44, of");
    session.press("\x1b[Z\r");
    session.until("change 1 is confirmed and stays");
    session.press("9u");
    session.until("Apply undo of change 1");
    accept_and_apply(&mut session);
    session.until("change 2 is applied");
    session.press("y");
    session.until("Confirm change 2?");
    session.press("\x1b[Z\r");
    session.until("change 2 is confirmed and stays");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
}

/// Acknowledges all risks of the question from the first one on, and presses its second button.
fn accept_and_apply(session: &mut Session) {
    // The buttons are below the risks: once they are there, each risk is.
    session.until("Cancel ]");
    let open = |session: &Session| session.text().matches("[ ]").count();
    let risks = open(session);
    for left in (0..risks).rev() {
        session.press(" \t");
        let begun = Instant::now();
        while open(session) > left {
            assert!(begun.elapsed() < PATIENCE, "{}", session.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    session.press("\t");
    session.until("[▸Apply ]");
    session.press("\r");
}

#[test]
fn values_before_a_write_are_of_intervals_that_ended_by_then() {
    let mut history = FabricHistory::default();
    for (second, wait) in [(10, 90.0), (70, 40.0), (80, 60.0), (90, 20.0)] {
        let mut interval = IntervalSums::default();
        interval.sums.worst_wait = Some(wait);
        history.push(second * 1000, 5.0, &interval);
    }
    let before = |ms| history.last_before(ms, 60_000).and_then(|sums| sums.worst_wait);
    assert_eq!([82_000, 79_000, 69_000, 200_000].map(before), [Some(60.0), Some(40.0), None, None]);
    // What went well before the writes is no merit of theirs.
    assert_eq!(before(91_000), Some(20.0), "the last reading, not the worst one");
    let since = |ms| history.latest_since(ms).and_then(|sums| sums.worst_wait);
    assert_eq!([85_000, 85_001].map(since), [Some(20.0), None]);
}

/// After a write the fabric is read again: errors count from the same sweep, problems keep their age, and the first
/// verdict comes before a whole interval has passed.
#[test]
fn reading_the_fabric_again_ends_no_history() {
    let mut watched = Watched::new();
    watched.sweep(8, &[]);
    let baseline =
        |watched: &Watched| watched.driver.state.known.watch.baseline.first().map(|sweep| sweep.began);
    let age = |watched: &Watched| {
        let problems = &watched.driver.state.known.problems;
        let ranked = problems.ranked.as_ref().unwrap();
        let hot = ranked.problems.iter().find(|problem| problem.title.contains("accepts")).unwrap();
        problems.age_ms(&hot.id)
    };
    let (first, young) = (baseline(&watched), age(&watched));
    assert!(first.is_some());
    watched.driver.press("r");
    assert!(watched.driver.state.known.watch.is_reading_anew());
    watched.driver.advance_ms(2000);
    watched.driver.advance_ms(2000);
    assert!(!watched.driver.state.known.watch.is_reading_anew(), "two sweeps within four seconds");
    watched.sweep(2, &[]);
    assert_eq!(baseline(&watched), first);
    assert_eq!(age(&watched).is_some(), young.is_some());
    assert!(age(&watched) >= young, "{:?} {young:?}", age(&watched));
}

#[test]
fn confirm_names_the_traffic_and_the_problems_before_and_now() {
    let watched = asked_to_confirm();
    let screen = shown(&watched.driver);
    for words in ["traffic    before ", " Gb/s, now ", "none began and none ended since"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

/// A problem that begins with a change names it, also where the fabric was read again in between.
#[test]
fn a_problem_that_begins_with_a_change_names_it() {
    let mut watched = Watched::of(|second| incast(second.saturating_sub(34)));
    watched.sweep(6, &[]);
    assert!(!shown(&watched.driver).contains("accepts"), "{}", shown(&watched.driver));
    let applied = begun_at(3, ChangePhase::Applied, 31);
    watched.sweep(1, std::slice::from_ref(&applied));
    watched.driver.press("r");
    watched.sweep(4, std::slice::from_ref(&applied));
    let screen = shown(&watched.driver);
    let row =
        screen.lines().find(|line| line.contains("node01 accepts")).unwrap_or_else(|| panic!("{screen}"));
    assert!(row.contains("since change 3"), "{row}");
    // One that was there before does not.
    let before =
        screen.lines().find(|line| line.contains("rack3-leaf[10] to")).unwrap_or_else(|| panic!("{screen}"));
    assert!(before.contains("since the first reading"), "{screen}");
    watched.driver.press("down d");
    let page = shown(&watched.driver);
    assert!(page.contains("change 3 was applied, ") && page.contains(" s ago"), "{page}");
}
