//! Health: the problems as cards in the order of the command, charts of the fabric, lists of who is hit.

use std::path::Path;

use ratatui::style::Style;
use serde_json::Value;

use super::fixture::{appearance, frame, golden, look, styles, text};
use super::replays::played;
use super::session_replay::replay_watched;
use super::test_session::{ReplayBox, Sweeper, TestSession, UserSystem, begun_task};
use super::watches::{EVERY, SENT, WAIT, incast, lab, long_incast, quiet, shown, swept, watching};
use crate::commands::binary::{fabdeck as program, home};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::health::acknowledging::{AcknowledgeOutcome, AcknowledgeTask};
use fabdeck::console::features::health::screen::HealthPane;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::overlay::Overlay;
use fabdeck::console::model::state::SessionState;
use fabdeck::operations::health::acknowledgements::KeptAcknowledgement;
use fabdeck::operations::health::problem::{FabricProblem, HitRole, ProblemKind};
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::counters::LinkProblemKind;
use fabdeck_fabric::observe::Counter;
use fabdeck_fabric::{ElementId, NameMap};
use fabdeck_files::capture::examine;
use fabdeck_files::capture_format::AcknowledgementRecord;
use fabdeck_mad::access::{NoObserver, ReadOptions};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// The demo as the program reads it, on Health.
pub fn demo(source: &str) -> TestSession {
    let mut opened = LocalSystemAccess::default().open(source, &SourceOptions::default()).unwrap();
    let wanted = ReadOptions { tables: true, counters: true, ..ReadOptions::default() };
    let observed = opened.observe(wanted, &mut NoObserver).unwrap();
    let look = fabdeck::catalogue::snapshot::Snapshot::new(source, observed, &NameMap::default());
    let mut known = look.clone();
    let sweeper = Sweeper(Box::new(move |not_before| {
        let swept = read_sweep(opened.as_mut(), &mut known, not_before, &mut NoObserver);
        swept.map_err(|error| error.to_string())
    }));
    on_health(TestSession::open_watching(look, sweeper, EVERY, Size { width: 120, height: 40 }))
}

fn on_health(mut driver: TestSession) -> TestSession {
    driver.press("1");
    driver
}

fn resized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    shown(driver)
}

fn problems(driver: &TestSession) -> &[FabricProblem] {
    &driver.state.known.problems.ranked.as_ref().unwrap().problems
}

fn at_all_sizes(driver: &mut TestSession) -> String {
    let colours = appearance("dark", ColorDepth::True);
    let mut all = String::new();
    for (width, height) in SIZES {
        driver.send_input(SessionInput::Resized(Size { width, height }));
        let buffer = frame(&driver.state, &colours);
        let plain: Style = colours.theme.blank();
        all.push_str(&format!("== {width}x{height}\n{}-- styles\n{}", text(&buffer), styles(&buffer, plain)));
    }
    all
}

#[test]
fn a_session_opens_on_health() {
    let (state, _) = SessionState::open("sim:demo", Keymap::default(), Size::default());
    assert_eq!(state.screen, ScreenId::Health);
}

#[test]
fn cards_are_those_of_the_command_in_its_order() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 2);
    let home = home();
    let ended = program(&home)
        .args(["--source", "sim:demo", "health", "--json", "--interval", "5s"])
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let of_command: Vec<(&str, &str, u64)> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| {
            let hosts = problem["hosts"]["count"].as_u64().unwrap();
            (problem["id"].as_str().unwrap(), problem["title"].as_str().unwrap(), hosts)
        })
        .collect();
    let of_screen: Vec<(&str, &str, u64)> = problems(&driver)
        .iter()
        .map(|problem| (problem.id.as_str(), problem.title.as_str(), problem.hits.hosts.len() as u64))
        .collect();
    assert_eq!(of_screen, of_command);
    assert!(of_screen.len() >= 2, "{of_screen:?}");
    let screen = shown(&driver);
    let places: Vec<usize> =
        of_screen.iter().take(3).map(|(_, title, _)| screen.find(&title[..20]).unwrap()).collect();
    assert!(places.is_sorted(), "{screen}");
}

#[test]
fn the_demo_at_three_sizes() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 20);
    golden("health demo", &at_all_sizes(&mut driver));
}

#[test]
fn an_incident_at_three_sizes() {
    let mut driver = on_health(watching(incast));
    swept(&mut driver, 14);
    golden("health incast", &at_all_sizes(&mut driver));
}

/// A capture has no clock of its own: its charts end with the moment that is shown.
#[test]
fn a_capture_shows_what_was_wrong_then() {
    let file = Path::new(env!("FABDECK_ROOT")).join("captures/incast/incast.fdcap");
    let mut driver = on_health(played(&file, None));
    driver.state.source = "incast.fdcap".to_owned();
    golden("health capture", &at_all_sizes(&mut driver));
}

#[test]
fn the_cursor_stays_on_its_problem_and_enter_opens_its_page() {
    let mut driver = on_health(watching(long_incast));
    swept(&mut driver, 8);
    assert!(problems(&driver).len() >= 2, "{:?}", problems(&driver));
    let here = driver.state.screens.health.problem().unwrap().0;
    assert_eq!(here, 0, "a cursor that was never moved is on the worst problem");
    driver.press("down");
    let chosen = problems(&driver)[1].clone();
    swept(&mut driver, 1);
    let (_, here) = driver.state.screens.health.problem().unwrap();
    assert_eq!(here.id, chosen.id, "another reading moves no cursor");
    driver.press("d");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))));
    let page = shown(&driver);
    assert!(
        page.contains(&chosen.title[..30]) && page.contains("next") && page.contains("fabdeck --source"),
        "{page}"
    );
    driver.press("esc");
    assert_eq!((driver.state.screen, driver.state.layer.is_none()), (ScreenId::Health, true));
    assert_eq!(driver.state.screens.health.problem().unwrap().1.id, chosen.id);
    // A problem of one cable is the page of that cable.
    driver.press("enter");
    let page = driver.state.screens.links.page.as_ref().map(|page| ElementId::Link(page.link));
    assert_eq!(page, chosen.elements.first().copied());
    driver.press("esc");
    assert_eq!(driver.state.screen, ScreenId::Health);
}

#[test]
fn p_previews_the_fix_of_a_cable_without_writing() {
    let mut driver = on_health(watching(long_incast));
    swept(&mut driver, 8);
    let cable = |problem: &FabricProblem| matches!(problem.elements[..], [ElementId::Link(_)]);
    let at = problems(&driver).iter().position(cable).expect("a problem of one cable");
    let link = problems(&driver)[at].elements[0];
    driver.press(&"down ".repeat(at)).press("p");
    assert_eq!(driver.state.screen, ScreenId::Whatif);
    assert!(driver.state.known.is_failed(link) && !driver.state.known.proposed.is_empty());
    assert!(driver.written.is_empty());
    driver.press("esc");
    assert_eq!(driver.state.screen, ScreenId::Health, "back to the problem");
    driver.press("p");
    assert!(driver.state.known.is_failed(link), "a second preview takes no mark away");
    // A hot-spot is eased by the slow lane, which marks nothing.
    let mut hot = on_health(watching(long_incast));
    swept(&mut hot, 8);
    hot.press("g p");
    assert_eq!((hot.state.screen, hot.state.known.marks.is_empty()), (ScreenId::Lanes, true));
}

/// The session on the card of a problem that one cable has, with its cable.
fn on_a_cable_card() -> (TestSession, ElementId) {
    let mut driver = on_health(watching(long_incast));
    swept(&mut driver, 8);
    let cable = |problem: &FabricProblem| matches!(problem.elements[..], [ElementId::Link(_)]);
    let at = problems(&driver).iter().position(cable).expect("a problem of one cable");
    let link = problems(&driver)[at].elements[0];
    driver.press(&"down ".repeat(at));
    (driver, link)
}

fn marked(driver: &TestSession) -> Vec<ElementId> {
    driver.state.known.marks.iter().collect()
}

#[test]
fn a_preview_of_a_fix_replaces_earlier_marks_and_says_what_is_marked() {
    let (mut driver, link) = on_a_cable_card();
    driver.press(":mark space switch:spine-2 enter");
    let before = marked(&driver);
    assert_eq!(before.len(), 1);
    driver.press("p");
    assert_eq!(marked(&driver), [link]);
    let said = |words: &str| driver.state.messages.iter().any(|message| message.line().contains(words));
    assert!(said(", and nothing else; 1 earlier mark is removed, z brings it back"), "what is marked now");
    driver.press("z");
    assert_eq!(marked(&driver), before);
}

/// One step back at a time, and the preview is still there.
#[test]
fn q_goes_from_an_engine_to_what_if_and_then_to_health() {
    let (mut driver, link) = on_a_cable_card();
    for _ in 0..2 {
        driver.press("p");
        let engines = driver.state.known.proposed.len();
        driver.press("enter");
        assert!(driver.state.screens.whatif.page.is_some());
        driver.press("q");
        assert!(driver.state.screen == ScreenId::Whatif && driver.state.screens.whatif.page.is_none());
        driver.press("q");
        assert_eq!((driver.state.screen, marked(&driver)), (ScreenId::Health, vec![link]));
        assert_eq!(driver.state.known.proposed.len(), engines, "nothing is lost on the way");
    }
}

/// A zoom of another pane would hide the engines.
#[test]
fn a_preview_ends_the_zoom_and_gives_the_keys_to_the_engines() {
    let (mut driver, _) = on_a_cable_card();
    resized(&mut driver, 120, 40);
    driver.press("6");
    while driver.state.focused_pane() != "victims" {
        driver.press("tab");
    }
    driver.press("Z");
    assert!(driver.state.areas().panes.is_zoomed());
    driver.press("1 p");
    assert!(!driver.state.areas().panes.is_zoomed());
    assert_eq!((driver.state.screen, driver.state.focused_pane()), (ScreenId::Whatif, "routes"));
}

#[test]
fn x_acknowledges_in_the_state_folder_and_takes_that_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = on_health(watching(incast));
    driver.system = UserSystem(Some(Box::new(LocalSystemAccess::default().with_state(folder.path()))));
    swept(&mut driver, 8);
    let worst = problems(&driver)[0].id.clone();
    driver.press(":acknowledge space seen enter");
    let last = problems(&driver).last().unwrap();
    assert_eq!(last.id, worst, "an acknowledged problem comes last: {:?}", driver.state.messages);
    assert_eq!(last.acknowledged.as_ref().unwrap().note.as_deref(), Some("seen"));
    let file = std::fs::read_to_string(folder.path().join("acknowledged")).unwrap();
    assert!(file.contains(&worst) && file.lines().count() == 1, "{file}");
    let screen = shown(&driver);
    assert!(screen.contains("1 acknowledged"), "{screen}");
    driver.press("G x enter");
    assert_eq!(problems(&driver)[0].id, worst);
    assert_eq!(std::fs::read_to_string(folder.path().join("acknowledged")).unwrap(), "");
    let mut alone = on_health(watching(incast));
    swept(&mut alone, 8);
    alone.press("x enter");
    let said = &alone.state.messages.last().unwrap().text;
    assert!(said.contains("no state folder"), "{said}");
}

/// A session on Health that keeps acknowledgements in a folder.
fn keeping(folder: &Path, story: super::watches::CounterStory) -> TestSession {
    let mut driver = on_health(watching(story));
    driver.system = UserSystem(Some(Box::new(LocalSystemAccess::default().with_state(folder))));
    swept(&mut driver, 8);
    driver
}

/// x asks for a note, so that what is typed next is no key; esc acknowledges nothing.
#[test]
fn x_asks_for_a_note_before_it_acknowledges() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = keeping(folder.path(), incast);
    let (worst, before) = (problems(&driver)[0].id.clone(), driver.state.screen);
    driver.press("x");
    assert!(shown(&driver).contains("acknowledge, with a note or none:"), "{}", shown(&driver));
    assert!(problems(&driver).iter().all(|problem| problem.acknowledged.is_none()));
    driver.press("q x esc");
    assert_eq!((driver.state.screen, driver.state.leaving), (before, false));
    assert!(
        problems(&driver).iter().all(|problem| problem.acknowledged.is_none()),
        "esc acknowledges nothing"
    );
    // The line stays about its problem, wherever the cursor goes meanwhile.
    driver.press("x");
    driver.send_input(SessionInput::Paste("cable 7 ordered".to_owned())).press("enter");
    let note = |driver: &TestSession| {
        let last = problems(driver).last().unwrap();
        assert_eq!(last.id, worst);
        last.acknowledged.as_ref().and_then(|by| by.note.clone())
    };
    assert_eq!(note(&driver).as_deref(), Some("cable 7 ordered"));
    let screen = shown(&driver);
    assert!(screen.contains("▌ · "), "an acknowledged card is neither well nor open: {screen}");
    // On an acknowledged problem x asks whether that is taken back; a text is another note.
    driver.press("G x");
    assert!(shown(&driver).contains("or none to take that back:"), "{}", shown(&driver));
    driver.press("esc");
    assert_eq!(note(&driver).as_deref(), Some("cable 7 ordered"));
    driver.press(":acknowledge space arrived enter");
    assert_eq!(note(&driver).as_deref(), Some("arrived"), "{:?}", driver.state.messages);
    assert!(driver.state.messages.last().unwrap().text.contains("has a new note"));
    driver.press("G x enter");
    assert!(problems(&driver).iter().all(|problem| problem.acknowledged.is_none()));
}

/// An event of a session whose tasks do not run.
fn feed(state: &mut SessionState, what: SessionInput) -> Vec<Effect> {
    let event = SessionEvent { at_ms: state.now_ms, what };
    update(state, event)
}

/// What is acknowledged while another acknowledgement is written is written next.
#[test]
fn acknowledgements_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = keeping(folder.path(), incast);
    let ids: Vec<String> = problems(&driver).iter().map(|problem| problem.id.clone()).collect();
    assert!(ids.len() >= 2, "{ids:?}");
    let press = |driver: &mut TestSession, keys: &str| -> Vec<Effect> {
        let keys = fabdeck::console::model::key::Key::parse_sequence(keys);
        keys.into_iter().flat_map(|key| feed(&mut driver.state, SessionInput::Key(key))).collect()
    };
    let effects = press(&mut driver, "g x enter");
    let (first, _) = begun_task::<AcknowledgeTask>(&effects).expect("the first one is written");
    let effects = press(&mut driver, "down x enter");
    assert!(begun_task::<AcknowledgeTask>(&effects).is_none(), "the second one waits");
    // The session that runs its tasks goes on from here.
    let record = |id: &str| AcknowledgementRecord {
        problem: id.to_owned(),
        by: "anna".to_owned(),
        made: 1,
        note: None,
        extent: None,
        removed: false,
    };
    let kept = KeptAcknowledgement { record: record(&ids[0]), in_capture: false, refused: None };
    let outcome = Box::new(AcknowledgeOutcome::new(false, Ok(kept)));
    let effects = feed(&mut driver.state, SessionInput::Finished { task: first, outcome });
    let (second, _) = begun_task::<AcknowledgeTask>(&effects).expect("the second one follows");
    // A taking-back that fails says that the acknowledgement stays.
    let outcome = Box::new(AcknowledgeOutcome::new(true, Err("FD-1: no space".to_owned())));
    feed(&mut driver.state, SessionInput::Finished { task: second, outcome });
    assert_eq!(driver.state.messages.last().unwrap().text, "the acknowledgement stays: FD-1: no space");
    assert_eq!(press(&mut driver, "k").len(), 0, "nothing is left to write");
}

/// Errors at a cable; from the sixtieth second on its link goes down again and again.
fn errors_then_flaps(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let downs = second.saturating_sub(60);
    vec![
        ("rack2-leaf", 7, Counter::SymbolErrorCounterExt, second * 4),
        ("rack2-leaf", 7, Counter::LinkDownedCounterExt, downs),
    ]
}

#[test]
fn an_acknowledged_problem_that_gets_worse_counts_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = keeping(folder.path(), errors_then_flaps);
    let is_cable = |problem: &&FabricProblem| problem.id.starts_with("link-errors:");
    let cable = |driver: &TestSession| problems(driver).iter().find(is_cable).unwrap().clone();
    let at = problems(&driver).iter().position(|problem| is_cable(&problem)).unwrap();
    driver.press(&"down ".repeat(at)).press(":acknowledge space ordered enter");
    swept(&mut driver, 2);
    let before = cable(&driver);
    assert!(before.acknowledged.is_some() && before.worse_since.is_none(), "{before:?}");
    swept(&mut driver, 12);
    let after = cable(&driver);
    assert!(after.acknowledged.is_none(), "{after:?}");
    assert_eq!(after.worse_since.as_ref().unwrap().note.as_deref(), Some("ordered"));
    let screen = resized(&mut driver, 120, 40);
    assert!(screen.contains("worse since it was acknowledged by "), "{screen}");
    // Acknowledged anew, it is covered as it is now.
    let at = problems(&driver).iter().position(|problem| is_cable(&problem)).unwrap();
    driver.press("g").press(&"down ".repeat(at)).press("x enter");
    assert!(cable(&driver).acknowledged.is_some(), "{:?}", driver.state.messages);
}

/// Who replays a capture acknowledges in it, and other sessions find that.
#[test]
fn x_acknowledges_in_the_capture_that_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("night.fdcap");
    let incident = concat!(env!("FABDECK_ROOT"), "/captures/incast/incast.fdcap");
    std::fs::copy(incident, &file).unwrap();
    let session = || {
        let mut driver = on_health(played(&file, None));
        driver.system = UserSystem(Some(Box::new(LocalSystemAccess::default().with_state(folder.path()))));
        driver
    };
    let mut driver = session();
    let worst = problems(&driver)[0].id.clone();
    driver.press(":acknowledge space seen enter");
    assert_eq!(examine(&file).unwrap().acknowledged, 1, "{:?}", driver.state.messages);
    let last = problems(&driver).last().unwrap();
    assert_eq!((&last.id, last.acknowledged.as_ref().unwrap().note.as_deref()), (&worst, Some("seen")));
    assert!(!folder.path().join("acknowledged").exists(), "the state folder has nothing of it");
    driver.press("0");
    assert!(shown(&driver).contains("acknowledged hot-spot:"), "{}", shown(&driver));
    // A note right behind it is written after it, and not over it.
    driver.press("1 G x enter").send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("0 m");
    let info = examine(&file).unwrap();
    assert_eq!((info.acknowledged, info.bookmarked), (0, 1));
    let mut again = session();
    assert_eq!(problems(&again)[0].id, worst);
    again.press("x enter");
    assert!(problems(&again).last().unwrap().acknowledged.is_some());
    assert!(problems(&session()).last().unwrap().acknowledged.is_some(), "another session finds it");
}

#[test]
fn charts_have_a_scale_a_window_and_now() {
    let mut driver = on_health(watching(incast));
    swept(&mut driver, 10);
    let screen = resized(&mut driver, 120, 40);
    for wanted in ["100%┤", "  50┤", "   0┤", "-5 min", "now", "Gb/s", "/s log"] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    driver.press("-");
    assert!(shown(&driver).contains("-1 min") && !shown(&driver).contains("-5 min"), "{}", shown(&driver));
    driver.press("+ + + + + +");
    assert!(shown(&driver).contains("-24 h"), "{}", shown(&driver));
    let said = &driver.state.messages.last().unwrap().text;
    assert_eq!(said, "24 h is the longest window");
}

/// The cells of the first chart row by row, without borders.
fn plot_rows(screen: &str, columns: std::ops::Range<usize>) -> Vec<String> {
    let rows = screen.lines().skip(3).take(7);
    rows.map(|row| row.chars().skip(columns.start).take(columns.len()).collect()).collect()
}

#[test]
fn events_are_marked_on_the_axis() {
    let mut driver = on_health(watching(incast));
    swept(&mut driver, 10);
    let screen = resized(&mut driver, 120, 40);
    let axis = screen.lines().find(|row| row.contains("╰-5 min")).unwrap();
    assert!(axis.contains('▲'), "{screen}");
    let mut calm = on_health(watching(quiet));
    swept(&mut calm, 10);
    let screen = resized(&mut calm, 120, 40);
    let axis = screen.lines().find(|row| row.contains("╰-5 min")).unwrap();
    assert!(!axis.contains('▲'), "{screen}");
}

#[test]
fn what_was_not_read_is_a_gap_and_zero_is_a_line() {
    let mut driver = on_health(watching(quiet));
    swept(&mut driver, 13);
    driver.press("W").advance_ms(60_000);
    driver.press("W");
    swept(&mut driver, 6);
    driver.press("- +");
    let screen = resized(&mut driver, 120, 40);
    // The last row of the plot of errors.
    let row = plot_rows(&screen, 86..118).pop().unwrap();
    let runs: Vec<&str> = row.split(' ').filter(|run| !run.is_empty()).collect();
    assert_eq!(runs.len(), 2, "two stretches of nothing, and a gap between them: {row:?}\n{screen}");
    assert!(runs.iter().all(|run| run.chars().all(|sign| "⣀⡀⢀".contains(sign))), "{row:?}");
}

#[test]
fn a_fabric_without_problems_is_calm_and_says_what_was_checked() {
    let mut driver = demo("sim:kary,k=4,n=2,traffic=none");
    swept(&mut driver, 3);
    let screen = shown(&driver);
    for wanted in
        ["● No problem in 32 cables and 64 ports", "● counters: ", "● tables: every pair", "● jobs: "]
    {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert!(!screen.contains('◆') && !screen.contains("▲"), "{screen}");
    let unread = on_health(TestSession::open(look("sim:kary,k=4,n=2"), Size { width: 120, height: 40 }));
    let screen = shown(&unread);
    assert!(screen.contains("○ No problem in 32 cables") && screen.contains("○ counters: "), "{screen}");
}

#[test]
fn jobs_that_are_not_known_are_not_none() {
    let (mut look, sweeper) = lab(incast, Default::default());
    look.source = "umad:mlx5_0".to_owned();
    let mut driver =
        on_health(TestSession::open_watching(look, sweeper, EVERY, Size { width: 120, height: 40 }));
    swept(&mut driver, 8);
    let screen = shown(&driver);
    assert!(
        screen.contains("No job is known. :jobs slurm asks") && screen.contains("jobs not known"),
        "{screen}"
    );
    assert!(!screen.contains("no job") && !screen.contains("No job is hit"), "{screen}");
}

/// A device that does not report the length of a tick has ticks, and no share of time.
#[test]
fn waits_that_are_not_known_are_not_zero() {
    let (mut look, sweeper) = lab(incast, Default::default());
    look.observation.ticks = Default::default();
    let mut driver =
        on_health(TestSession::open_watching(look, sweeper, EVERY, Size { width: 120, height: 40 }));
    swept(&mut driver, 8);
    let screen = shown(&driver);
    let head = screen.lines().find(|row| row.contains(" Wait ")).unwrap();
    assert!(head.contains("○ not known"), "{screen}");
    assert!(screen.contains("No port reports the length of"), "{screen}");
    assert!(!screen.contains("worst 0 %") && !screen.contains("waits  0 %"), "{screen}");
}

#[test]
fn tab_goes_through_the_panes_and_enter_opens_their_rows() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("tab");
    assert_eq!(driver.state.screens.health.pane, HealthPane::Jobs);
    assert!(shown(&driver).contains("▸ Jobs hit"), "{}", shown(&driver));
    driver.press("enter");
    assert_eq!(driver.state.screen, ScreenId::Jobs);
    driver.press("esc");
    assert_eq!((driver.state.screen, driver.state.screens.health.pane), (ScreenId::Health, HealthPane::Jobs));
    driver.press("tab down enter");
    assert_eq!(driver.state.screen, ScreenId::Hotspots);
    let waits = driver.state.known.problems.ranked.as_ref().unwrap().waits.as_ref().unwrap();
    let wanted = ElementId::Port(waits.rows[1].port);
    assert_eq!(driver.state.current().current(&driver.state.known), Some(wanted));
    driver.press("esc tab enter");
    assert!(matches!(driver.state.layer, Some(Overlay::Log(_))));
    // The charts take the keys that move their border; after them come the problems again.
    driver.press("esc tab");
    assert_eq!(driver.state.focused_pane(), "charts");
    driver.press("tab");
    assert_eq!(driver.state.screens.health.pane, HealthPane::Problems);
}

#[test]
fn a_small_screen_has_cards_and_no_lists() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("tab");
    let screen = resized(&mut driver, 80, 24);
    assert!(
        screen.contains("▸ Problems") && !screen.contains("Worst waits") && !screen.contains("Jobs hit"),
        "{screen}"
    );
    assert_eq!(driver.state.screens.health.pane, HealthPane::Problems, "a list out of sight takes no keys");
    for label in ["cause", "hits", "next"] {
        assert_eq!(screen.matches(label).count().min(2), 2, "{label}: {screen}");
    }
    let tiny = resized(&mut driver, 50, 10);
    assert!(tiny.contains("◆ 1 ") && !tiny.contains("cause") && !tiny.contains("Traffic"), "{tiny}");
    for (width, height) in [(1, 1), (10, 3), (59, 40), (100, 13), (100, 20), (200, 12)] {
        resized(&mut driver, width, height);
    }
}

/// All bytes of a number are lit where waiting is as long as the time.
#[test]
fn a_chart_reaches_its_top_where_a_port_waits_all_the_time() {
    let mut driver = on_health(watching(|second| {
        vec![("node10 mlx5_0", 1, WAIT, 3_125_000_000 * second), ("node10 mlx5_0", 1, SENT, 1000 * second)]
    }));
    swept(&mut driver, 30);
    driver.press("-");
    let screen = resized(&mut driver, 120, 40);
    let top = &plot_rows(&screen, 46..78)[0];
    assert!(top.contains('⣿'), "{screen}");
    assert!(screen.contains("worst 100 %"), "{screen}");
}

/// The page of a problem has the keys that act on it, and shows them.
#[test]
fn the_page_of_a_problem_has_its_keys() {
    let mut driver = demo("sim:demo");
    driver.press("d");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))));
    let rows = shown(&driver);
    let keys = rows.lines().last().expect("the keys");
    assert!(
        keys.contains("q close") && keys.contains("p preview") && keys.contains("x acknowledge"),
        "{keys}"
    );
    driver.press("p");
    assert!(driver.state.layer.is_none() && driver.state.screen != ScreenId::Health, "{}", shown(&driver));
    driver.press("1 d a");
    assert!(
        shown(&driver).contains("a is apply on the screen below; esc closes this page"),
        "{}",
        shown(&driver)
    );
}

#[test]
fn a_session_on_health_is_replayed() {
    let story = incast;
    let (look, _) = lab(story, Default::default());
    let mut driver = on_health(watching(story));
    swept(&mut driver, 4);
    driver.press("down enter esc tab down +");
    let events: Vec<&str> = driver.events.iter().map(String::as_str).collect();
    let (_, sweeper) = lab(story, Default::default());
    let state = replay_watched(&std::sync::Arc::new(look), (sweeper, ReplayBox::default()), events).unwrap();
    let again = text(&frame(&state, &appearance("dark", ColorDepth::True)));
    assert_eq!(again, shown(&driver));
}

/// Errors of one port are those of its card.
#[test]
fn a_card_of_a_cable_has_its_own_graph() {
    let mut driver =
        on_health(watching(|second| vec![("rack2-leaf", 3, Counter::SymbolErrorCounterExt, 1000 * second)]));
    swept(&mut driver, 20);
    let screen = resized(&mut driver, 120, 40);
    let row = screen.lines().find(|row| row.contains("errors, log")).unwrap();
    assert!(row.contains("1k /s"), "{screen}");
}

/// The figures of a hot-spot are those of the port that leads to it, named from the side of the host.
#[test]
fn the_page_of_a_hot_spot_says_which_port_counted() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 4);
    driver.press("enter");
    let page = shown(&driver);
    let order = ["counted at", "rack6-leaf[5]", "sent to it", "sent by it", "element", "storage01"];
    let counted = page.lines().find(|line| line.contains("counted at")).unwrap_or_else(|| panic!("{page}"));
    assert!(counted.contains("rack6-leaf[5]") && !counted.contains("storage01"), "{page}");
    let mut from = page.find("counted at").unwrap_or(0);
    for word in order {
        from += page[from..].find(word).unwrap_or_else(|| panic!("'{word}' does not follow: {page}"));
    }
}

/// The story of the demo: contributors are proved from the counters of one interval, and victims are named by what the
/// intervals before show.
#[test]
fn the_demo_names_its_victims_and_contributors() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 3);
    let of = |driver: &TestSession, role: HitRole| -> Vec<String> {
        let hosts = &problems(driver)[0].hits.hosts;
        let own = hosts.iter().filter(|hit| hit.role == role);
        let mut names: Vec<String> =
            own.map(|hit| hit.host.split(' ').next().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(
        of(&driver, HitRole::Contributor),
        ["login1", "node02", "node04"],
        "{:?}",
        problems(&driver)[0]
    );
    swept(&mut driver, 8);
    assert_eq!(of(&driver, HitRole::LikelyVictim), ["node01", "node03"], "{:?}", problems(&driver)[0]);
    assert_eq!(of(&driver, HitRole::Undecided), [] as [&str; 0], "{:?}", problems(&driver)[0]);
    let frame = shown(&driver);
    assert!(frame.contains("2 likely victims") && frame.contains("node01"), "{frame}");
}

/// A link that stays up without errors, and discards what it should send, is a problem of its own.
#[test]
fn discards_alone_are_named_as_such() {
    let discarding = |second| vec![("rack2-leaf", 3, Counter::PortXmitDiscardsExt, 50 * second)];
    let mut driver = on_health(watching(discarding));
    swept(&mut driver, 4);
    let found = problems(&driver).iter().find(|problem| problem.kind == ProblemKind::LinkErrors).unwrap();
    assert!(found.title.starts_with("rack2-leaf[3] has ") && found.title.contains(" discards "), "{found:?}");
    assert!(found.cause.text.contains("waits too long"), "{found:?}");
}

/// What a link that is down discards says nothing of its cable.
#[test]
fn discards_are_no_evidence_for_a_cable() {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 18);
    let worn = problems(&driver).iter().find(|problem| problem.kind == ProblemKind::LinkErrors).unwrap();
    assert!(worn.title.contains("rack2-leaf[7]") && worn.title.contains("1x"), "{worn:?}");
    assert!(worn.cause.text.contains("only rack2-leaf[7] counts errors"), "{worn:?}");
    let discards = driver.state.known.watch.reading.as_ref().unwrap().watched.troubles.iter();
    let discards = discards.filter(|trouble| matches!(trouble.why, LinkProblemKind::Discards { .. })).count();
    assert!(discards > 0, "the link that was down discarded packets");
}
