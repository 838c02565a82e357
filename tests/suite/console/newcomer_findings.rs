//! Findings of a first-time user: what these screens said misled, or hid the next step.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fake_changes::{FakeChanges, attestation, offer, row};
use super::fixture::{appearance, changed_demo, frame, look, open_session};
use super::test_session::TestSession;
use super::watches::{incast, shown, swept, watching};
use fabdeck::console::drawing::color_depth::{ColorDepth, contrast};
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::goto::goto_state::GotoTarget;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::features::snapshot_change::replace_snapshot;
use fabdeck::console::features::whatif::engines::{EngineVerdict, safe_choice};
use fabdeck::console::model::fabric_model::ProposalState;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::change_row::{ChangeRow, mark_undone};
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck::operations::health::problem::ProblemKind;
use fabdeck::operations::health::ranked_problems::{RankingRequest, RecentWrite};
use fabdeck_change::{AttestationVerdict, ChangePhase};

fn sized(source: &str, width: u16, height: u16) -> TestSession {
    let mut driver = open_session(source);
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver
}

fn enter_line(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(line.to_owned())).press("enter");
}

/// Results do not vanish when the tables change: they stay as old ones with the reason and the key, until they are known
/// again.
#[test]
fn results_of_engines_stay_as_old_ones_when_the_tables_change() {
    let mut driver = sized("sim:demo", 80, 24);
    enter_line(&mut driver, "mark switch:spine-2");
    driver.press("6 p");
    let before = shown(&driver);
    assert!(before.contains("clean, proposed") && before.contains(" of 10 "), "{before}");
    driver.press("down");
    let at = driver.state.screens.whatif.engine().unwrap().id;
    replace_snapshot(&mut driver.state, Arc::new(changed_demo()));
    let screen = shown(&driver);
    assert!(screen.contains("clean (old)") && !screen.contains("proposed"), "{screen}");
    assert!(screen.contains("the fabric or its tables changed: p runs the engines again"), "{screen}");
    assert_eq!(driver.state.screens.whatif.engine().unwrap().id, at, "the cursor stays on its engine");
    enter_line(&mut driver, "write-plan old.plan");
    let said = format!("{:?}", driver.state.messages);
    assert!(said.contains(&format!("since {at} was run; p runs the engines again")), "{said}");
    driver.press("p");
    let again = shown(&driver);
    assert!(!again.contains("(old)") && again.contains("clean"), "{again}");
    // Marks that change ask another question: the old answers are none.
    replace_snapshot(&mut driver.state, Arc::new(look("sim:demo")));
    assert!(shown(&driver).contains("(old)"));
    driver.press("F");
    assert!(!shown(&driver).contains("(old)"), "{}", shown(&driver));
}

/// A host that all others reach may be a sender that does not reach another one, and pairs are not of hosts alone.
#[test]
fn what_if_says_who_is_reached_and_what_pairs_are_of() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut driver = sized("sim:demo", width, height);
        enter_line(&mut driver, "mark switch:spine-2");
        driver.press("6");
        let screen = shown(&driver);
        assert!(screen.contains("REACHABLE    20 hosts, by all;"), "{screen}");
        assert!(screen.contains("36 hosts + 9 aggregation nodes"), "{screen}");
        assert!(!screen.contains("pairs…"), "{screen}");
    }
    // In a tree without aggregation nodes, pairs need no explanation.
    let mut driver = sized("sim:kary,k=4,n=2", 120, 40);
    enter_line(&mut driver, "mark link:leaf0[5]");
    driver.press("6");
    assert!(!shown(&driver).contains("aggregation"), "{}", shown(&driver));
}

/// In a pane with fewer rows than names, names come before blank rows.
#[test]
fn names_of_hosts_fill_their_pane() {
    let mut driver = sized("sim:demo", 200, 60);
    enter_line(&mut driver, "mark switch:spine-2");
    driver.press("6");
    let screen = shown(&driver);
    assert!(screen.contains("node02"), "{screen}");
    let lines: Vec<&str> = screen.lines().collect();
    let at = lines.iter().position(|line| line.contains("MISS IT, OF 43")).unwrap();
    let more = lines[at..].iter().take(6).any(|line| line.contains(" more "));
    let blank = |line: &&str| line.rsplit('│').nth(1).is_some_and(|pane| pane.trim().is_empty());
    let blanks = lines[at..].iter().copied().take_while(|line| !line.contains('╰')).filter(blank).count();
    assert!(!more || blanks == 0, "{blanks} blank rows beside hidden names:\n{screen}");
}

/// The palette's `What if spine-2 fails` leads to the answer, and prints no key that would only be typed.
#[test]
fn what_if_in_the_palette_opens_what_if() {
    let mut driver = sized("sim:demo", 80, 24);
    driver.press(":").send_input(SessionInput::Paste("spine-2".to_owned()));
    let is_asked = |target: &GotoTarget| matches!(target, GotoTarget::Action { id: "mark", .. });
    let rows = &driver.state.goto.rows;
    let at = rows.iter().position(|row| is_asked(&row.target)).unwrap();
    assert_eq!(rows[at].key, "");
    while driver.state.goto.picked_row().is_none_or(|row| !is_asked(&row.target)) {
        driver.press("down");
    }
    driver.press("enter");
    assert_eq!(driver.state.screen, ScreenId::Whatif);
    assert!(shown(&driver).contains("spine-2 fails."), "{}", shown(&driver));
}

/// A page covers its list: the filter is not shown there, and `q` goes back to the list that it narrows.
#[test]
fn the_filter_of_a_list_waits_behind_the_page_of_a_cable() {
    let mut driver = sized("sim:demo", 80, 24);
    driver.press("3 / spine enter enter");
    assert!(driver.state.current().covers_list());
    let screen = shown(&driver);
    assert!(!screen.lines().any(|line| line.starts_with("/spine")), "{screen}");
    driver.press("q");
    assert!(!driver.state.current().covers_list());
    assert_eq!(driver.state.shown_filter(), Some("spine"));
    assert!(shown(&driver).contains("/spine"), "{}", shown(&driver));
    driver.press("q");
    assert_eq!(driver.state.shown_filter(), None);
}

/// A write makes no hot-spot: only what was known before it stays, and what lasts comes with a later interval.
#[test]
fn the_interval_of_a_write_has_no_new_hot_spot() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    let known = &driver.state.known;
    let ranked = known.problems.ranked.as_ref().unwrap();
    let hot = ranked.problems.iter().find(|problem| problem.kind == ProblemKind::HotSpot).unwrap();
    let request = |write| RankingRequest {
        look: known.look.clone().unwrap(),
        at: None,
        reading: known.watch.reading.clone(),
        news: Vec::new(),
        certificate: None,
        paths: known.paths.clone(),
        jobs: None,
        recorded: Arc::default(),
        acknowledgements: 0,
        write,
    };
    let ids = |write| -> Vec<String> {
        let problems = request(write).run(None, None).problems.into_iter();
        problems.filter(|problem| problem.kind == ProblemKind::HotSpot).map(|problem| problem.id).collect()
    };
    let write = |known: &[String]| {
        Some(RecentWrite { at_ms: 1, known: known.iter().cloned().collect::<BTreeSet<_>>() })
    };
    assert!(ids(None).contains(&hot.id));
    assert!(ids(write(&[])).is_empty(), "{:?}", ids(write(&[])));
    let own = std::slice::from_ref(&hot.id);
    assert_eq!(ids(write(own)), own);
    assert!(!request(None).is_same(&request(write(&[]))));
}

/// A change that another one undid is undone, and not merely written over.
#[test]
fn a_change_that_was_undone_says_so() {
    let superseded = attestation(AttestationVerdict::Superseded);
    let first = ChangeRow { comparison: Some(superseded), ..row(1, ChangePhase::Confirmed) };
    let undo = |state| ChangeRow { engine: "undo of change 1 (updn)".to_owned(), ..row(2, state) };
    let words = |state| {
        let mut rows = vec![undo(state), first.clone()];
        mark_undone(&mut rows);
        rows[1].stands_words()
    };
    assert_eq!(words(ChangePhase::Confirmed), Some("undone"));
    assert_eq!(words(ChangePhase::RolledBack), Some("superseded"));
}

/// The key for a confirmed change is named after what it does there, and is found by that word.
#[test]
fn undo_is_the_word_of_the_key_on_a_confirmed_change() {
    let rows = vec![row(2, ChangePhase::Confirmed), row(1, ChangePhase::RolledBack)];
    let mut driver = FakeChanges::new(Ok(offer(0)), rows).session(WriteAccess::Simulated);
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    driver.press("9");
    let screen = shown(&driver);
    assert!(screen.lines().last().unwrap().contains("u undo"), "{screen}");
    driver.press("? / undo enter");
    let help = shown(&driver);
    assert!(help.contains("undo a confirmed one"), "{help}");
}

/// On a wide screen the help has two columns, and the keys of the screen in sight come first.
#[test]
fn help_has_two_columns_and_begins_with_the_keys_of_the_screen() {
    let mut driver = sized("sim:demo", 200, 60);
    driver.press("0 ?");
    let screen = shown(&driver);
    let row = |words: &str| screen.lines().position(|line| line.contains(words)).unwrap();
    let own = row("On the screen Timeline");
    for words in ["One moment back", "To the next moment with an event", "Back to live", "To a time"] {
        assert!(row(words) > own && row(words) < own + 50, "{words}: {screen}");
    }
    let line = screen.lines().nth(own + 1).unwrap();
    assert!(line.chars().skip(100).any(|sign| sign.is_alphabetic()), "{screen}");
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    assert!(shown(&driver).contains("On the screen Timeline"));
}

/// What does not work now comes last in the help, and each reason once; a search still finds it with its title.
#[test]
fn help_says_each_reason_once() {
    let mut driver = sized("sim:demo", 200, 200);
    driver.press("9 ?");
    let screen = shown(&driver);
    assert!(!screen.contains("(not now:"), "{screen}");
    let own = screen.lines().filter(|line| line.contains("a apply, y confirm, u rollback, e extend"));
    assert_eq!(own.count(), 1, "{screen}");
    driver.press("/ a p p l y");
    assert!(shown(&driver).contains("(not now:"), "{}", shown(&driver));
}

/// Of the engines that are done, the one that is safe to do next is named: the one that the list proposes, certified and
/// safe while traffic flows.
#[test]
fn what_if_names_the_engine_that_is_safe_to_do_next() {
    let mut driver = sized("sim:demo", 120, 40);
    enter_line(&mut driver, "mark spine-2");
    driver.press("6");
    assert!(!shown(&driver).contains("safe to do next"), "{}", shown(&driver));
    driver.press("p");
    let (engine, _) = safe_choice(&driver.state.known).unwrap();
    let screen = shown(&driver);
    assert!(screen.contains(&format!("safe to do next: {}", engine.id)), "{screen}");
    let proposed: Vec<&str> = screen.lines().filter(|line| line.contains("clean, proposed")).collect();
    assert!(proposed.len() == 1 && proposed[0].contains(engine.id), "{screen}");
    let Some(ProposalState::Done { row, .. }) = driver.state.known.proposed.get(engine.id) else { panic!() };
    assert_eq!(row.transition_safe, Some(true));
    assert_eq!(EngineVerdict::of(&driver.state.known, engine), EngineVerdict::Clean);
    assert!(row.moved_pairs > Some(0));
    // Before the engines run, a wide screen has the marked fabric and the busiest cables.
    let mut wide = sized("sim:demo", 200, 60);
    wide.press("6");
    let screen = shown(&wide);
    for words in ["until then this is the fabric with its marks", "until then the busiest cables in force"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

/// A screen that follows a pair says so, and a picture has a name of its own.
#[test]
fn the_footer_says_where_enter_leads() {
    let mut driver = sized("sim:demo", 120, 40);
    assert!(shown(driver.press("5")).contains("enter ends"), "{}", shown(&driver));
}

/// Of sixteen colours, what lies on the ground of the cursor can be read.
#[test]
fn signs_on_the_cursor_are_legible_in_sixteen_colours() {
    let mut driver = watching(incast);
    swept(&mut driver, 6);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("1 tab tab tab");
    for name in ["dark", "sixteen", "colour-blind"] {
        let look = appearance(name, ColorDepth::Sixteen);
        let ground = look.theme.style(Role::Cursor).bg.unwrap();
        let buffer = frame(&driver.state, &look);
        for cell in buffer.content.iter().filter(|cell| cell.bg == ground && cell.symbol() != " ") {
            let found = contrast(cell.fg, ground).unwrap();
            assert!(found >= 4.5, "{name}: {:?} on {ground:?} is {found:.1}", cell.fg);
        }
    }
}
