//! What actions do to a session, without a look at how it is drawn.

use std::sync::Arc;

use super::fixture::{look, open_session};
use super::test_session::{begun_task, first_task, run_alone};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::details::ElementDetail;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::features::snapshot_change::{
    PathIndexOutcome, PathIndexTask, SnapshotOutcome, SnapshotTask,
};
use fabdeck::console::features::whatif::engine_runs::ProposalTask;
use fabdeck::console::features::whatif::marking::MarkCostTask;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::fabric_model::{ProposalState, TABLES_BEING_READ};
use fabdeck::console::model::key::Key;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::overlay::Overlay;
use fabdeck::console::model::state::SessionState;
use fabdeck::console::model::tasks::TaskId;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, NodeId};

fn opened() -> (SessionState, TaskId) {
    let size = Size { width: 80, height: 24 };
    let (mut state, effects) = SessionState::open("sim:demo", Keymap::default(), size);
    let (task, _) = first_task::<SnapshotTask>(&effects);
    // To the Map, and from the drawn map to the tree.
    press(&mut state, "2 V");
    (state, task)
}

fn feed(state: &mut SessionState, what: SessionInput) -> Vec<Effect> {
    update(state, SessionEvent { at_ms: 0, what })
}

fn press(state: &mut SessionState, keys: &str) -> Vec<Effect> {
    Key::parse_sequence(keys).into_iter().flat_map(|key| feed(state, SessionInput::Key(key))).collect()
}

/// What a live source shows before it has read any table.
fn sighted(of: &Snapshot) -> Arc<Snapshot> {
    let observation = Observation { fabric: of.fabric().clone(), ..Observation::default() };
    Arc::new(Snapshot::new("sim:demo", observation, &of.observation.names))
}

fn engines_begun(effects: &[Effect]) -> Vec<&'static str> {
    let engine = |effect: &Effect| match effect {
        Effect::Begin { job, .. } => job.downcast::<ProposalTask>().map(|job| job.engine.id),
        _ => None,
    };
    effects.iter().filter_map(engine).collect()
}

#[test]
fn a_fabric_is_browsed_before_its_tables_are_read_and_engines_wait_for_them() {
    let whole = Arc::new(look("sim:demo"));
    let (mut state, task) = opened();
    feed(&mut state, SessionInput::Sighted { task, look: sighted(&whole) });
    press(&mut state, "V f");
    assert_eq!(state.known.marks.len(), 1);
    let begun = press(&mut state, ": p r e v i e w space u p d n , n u e enter");
    assert_eq!(engines_begun(&begun), [""; 0], "nothing to compare with yet");
    assert!(matches!(state.known.proposed["updn"], ProposalState::Waiting));
    let effects =
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(whole))) });
    assert_eq!(engines_begun(&effects), ["updn"], "one after the other");
    assert_eq!(state.known.marks.len(), 1, "the same fabric keeps its marks");
    assert!(matches!(state.known.proposed["nue"], ProposalState::Waiting));
}

/// Tables that are on their way are not tables that the source has none of.
#[test]
fn a_path_waits_for_tables_that_are_being_read() {
    let whole = Arc::new(look("sim:demo"));
    let bare = sighted(&whole);
    let node = bare.fabric().nodes().find(|(_, node)| node.is_switch()).expect("a switch").0;
    let table = |state: &SessionState| {
        let lines = ElementDetail(ElementId::Node(node)).lines(&state.known);
        lines.into_iter().find(|(label, _)| *label == "table").expect("a line on its table").1
    };
    let (mut state, task) = opened();
    feed(&mut state, SessionInput::Sighted { task, look: bare.clone() });
    press(&mut state, ":trace space node01 space node24 enter");
    let problem = |state: &SessionState| state.screens.paths.problem.clone();
    assert_eq!(problem(&state).as_deref(), Some(TABLES_BEING_READ));
    assert_eq!(table(&state), "being read");
    let ends = |outcome| {
        let (mut state, task) = opened();
        feed(&mut state, SessionInput::Sighted { task, look: bare.clone() });
        press(&mut state, "V t node24 enter");
        assert_eq!(problem(&state).as_deref(), Some(TABLES_BEING_READ));
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(outcome)) });
        (problem(&state).unwrap_or_default(), table(&state))
    };
    let (message, line) = ends(Ok(bare.clone()));
    assert_eq!(
        (message.as_str(), line.as_str()),
        ("the source has no forwarding tables to follow", "not read")
    );
    let (message, line) = ends(Err("the adapter is gone".to_owned()));
    assert!(message.contains("not read completely") && line == "not read", "{message}: {line}");
    let (message, line) = ends(Ok(whole));
    assert!(message.is_empty() && line.ends_with("LIDs"), "{message}: {line}");
}

/// Ids are of one look; marks follow their elements into the next.
#[test]
fn marks_follow_their_elements_into_another_look() {
    let (before, after) = (look("sim:demo"), look("sim:demo,silent=20%,seed=7"));
    let again = |id: NodeId| after.fabric().node_by_guid(before.fabric().node(id).guid());
    let nodes = || before.fabric().nodes().map(|(id, _)| id);
    let moved = nodes().find(|id| again(*id).is_some_and(|there| there != *id)).expect("an id that changes");
    let gone = nodes().find(|id| again(*id).is_none()).expect("a node that is gone");
    let (name, gone_name) = (before.name(moved).to_owned(), before.name(gone).to_owned());
    let (mut state, task) = opened();
    feed(
        &mut state,
        SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(Arc::new(before.clone())))) },
    );
    state.known.marks.mark(ElementId::Node(moved));
    state.known.marks.mark(ElementId::Node(gone));
    let effects = press(&mut state, "r");
    let (task, _) = first_task::<SnapshotTask>(&effects);
    let outcome = Box::new(SnapshotOutcome(Ok(Arc::new(after.clone()))));
    feed(&mut state, SessionInput::Finished { task, outcome });
    let marked: Vec<&str> = state
        .known
        .marks
        .iter()
        .filter_map(|mark| if let ElementId::Node(id) = mark { Some(after.name(id)) } else { None })
        .collect();
    assert_eq!(marked, [name.as_str()]);
    let said = |text: &str| state.messages.iter().any(|message| message.text.contains(text));
    assert!(said(&gone_name) && said("is no longer in the fabric"), "{:?}", state.messages);
}

#[test]
fn lines_say_what_they_cannot_read() {
    for (line, said) in [
        (":preview space foo enter", "there is no engine 'foo'"),
        (":random space 9999 enter", "of 9999 requested: there are no more"),
        (":random space x enter", "random takes a number"),
        (":marrk enter", "there is no action 'marrk'"),
        ("t", "put the cursor on a switch"),
        ("3 V", "only one view"),
        ("5 V", "no other routes"),
        ("2 V V U", "put the cursor on a cable"),
        (":users space spine-1 enter", "switch:spine-1 is no cable: name one by a port"),
        (":users space spine-99 enter", "spine-99"),
        ("2 f :preview space updn enter j :write-plan space - enter", "- is stdout, which is this screen"),
        ("2 f :preview space updn enter j w ctrl-u - enter", "- is stdout, which is this screen"),
        ("5 c", "a path needs two ends"),
    ] {
        let mut driver = open_session("sim:demo");
        driver.press(line);
        let last = driver.state.messages.last().unwrap_or_else(|| panic!("{line} said nothing"));
        assert!(last.text.contains(said), "{line}: {}", last.text);
        assert!(driver.written.is_empty() && driver.copied.is_empty(), "{line}");
    }
}

#[test]
fn names_are_completed() {
    let mut driver = open_session("sim:demo");
    driver.press("5 enter node24");
    assert_eq!(driver.state.prompt.as_ref().unwrap().offers.len(), 1);
    driver.press("tab enter");
    assert_eq!(driver.state.screens.paths.from.as_deref(), Some("node24 mlx5_0"));
    let mut driver = open_session("sim:demo");
    driver.press(":mark space spine-2 tab enter");
    assert_eq!(driver.state.marks_as_arguments(), " --fail switch:spine-2");
    driver.press(":preview space mi tab enter");
    assert_eq!(driver.state.engines().keys().copied().collect::<Vec<_>>(), ["minhop"]);
}

#[test]
fn details_open_at_any_width_and_close_again() {
    let mut driver = open_session("sim:demo");
    driver.press("V d");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))));
    driver.press("j k d");
    assert!(driver.state.layer.is_none());
}

/// Nobody marked the cables of a switch that is marked, so it is the switch that is named; of a port, the port.
#[test]
fn a_path_names_the_mark_that_it_meets() {
    let mut driver = open_session("sim:demo");
    driver.press("5 enter node01 enter node24 enter down");
    let trace = driver.state.screens.paths.trace.clone().expect("a path");
    let look = driver.state.snapshot().expect("a look").clone();
    let hop = trace.hops[1];
    let port = look.fabric().port_of(hop.node, hop.egress.expect("a port")).expect("a port");
    let spine = ElementId::Node(trace.hops[2].node);
    for mark in [spine, ElementId::Port(port)] {
        let name = driver.state.known.element(mark).expect("a name");
        driver.press(&format!("F :mark space {name} enter 4"));
        assert_eq!(driver.state.screens.paths.first_failed_element(&driver.state.known), Some(name));
    }
}

#[test]
fn a_path_over_something_marked_says_so() {
    let mut driver = open_session("sim:demo");
    driver.press("5 enter node01 enter node24 enter");
    assert_eq!(driver.state.screens.paths.first_failed_element(&driver.state.known), None);
    // The second hop leaves the first switch over a cable between switches.
    driver.press("down f");
    let struck = driver.state.screens.paths.first_failed_element(&driver.state.known);
    assert!(struck.as_deref().is_some_and(|element| element.starts_with("link:")), "{struck:?}");
    assert_eq!(driver.state.screen, ScreenId::Paths);
    assert!(driver.state.known.marks.iter().all(|mark| matches!(mark, ElementId::Link(_))));
}

/// A filter that cannot be read shows all rows there are, of the list as it is now.
#[test]
fn a_filter_that_cannot_be_read_leads_nowhere_else() {
    for keys in ["/ \" enter g enter", "V f j f 6 V / \" enter f", "3 / efi> enter f", "V / hosts>x G enter"]
    {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        let state = &driver.state;
        let rows = state.current().listing(&state.known).map_or(0, |listing| listing.row_count());
        assert!(state.current().table().selection.rows.iter().all(|row| *row < rows), "{keys}");
        super::fixture::frame(
            state,
            &super::fixture::appearance("dark", fabdeck::console::drawing::color_depth::ColorDepth::True),
        );
    }
}

/// Whoever looks again and sees the same keeps what was worked out.
#[test]
fn a_look_at_the_same_keeps_what_engines_said() {
    let mut driver = open_session("sim:demo");
    driver.press("V f : p r e v i e w space u p d n enter");
    let paths = driver.state.known.paths.clone().unwrap();
    driver.press("r");
    assert!(matches!(driver.state.known.proposed["updn"], ProposalState::Done { .. }));
    assert!(Arc::ptr_eq(&paths, driver.state.known.paths.as_ref().unwrap()));
    assert!(driver.state.known.cost.is_some());
}

/// What was indexed for an earlier look is not taken for that of the next.
#[test]
fn work_on_an_earlier_look_is_let_go() {
    let (whole, less) = (Arc::new(look("sim:demo")), Arc::new(look("sim:demo,silent=20%,seed=7")));
    let (mut state, task) = opened();
    let begun =
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(whole))) });
    let index = begun_task::<PathIndexTask>(&begun);
    let (index, job) = index.expect("paths are indexed");
    let again = press(&mut state, "r");
    let (task, _) = first_task::<SnapshotTask>(&again);
    let effects =
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(less))) });
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Cancel(task) if *task == index)),
        "{effects:?}"
    );
    let outcome = run_alone(&*job);
    feed(&mut state, SessionInput::Finished { task: index, outcome });
    assert!(state.known.paths.is_none(), "those of the look before");
}

/// A question leads to a screen, and Esc back to where it was asked.
#[test]
fn esc_goes_back_to_where_a_question_was_asked() {
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter j U esc");
    assert_eq!(driver.state.screen, ScreenId::Links);
    assert_eq!(driver.state.current().table().filter, "kind=switch-switch");
    driver.press("esc");
    assert_eq!((driver.state.screen, driver.state.current().table().filter.as_str()), (ScreenId::Links, ""));
}

#[test]
fn the_tree_finds_hosts_and_stands_on_them() {
    let mut driver = open_session("sim:demo");
    driver.press("/ node17 enter");
    let state = &driver.state;
    assert_eq!(state.current().table().selection.rows.len(), 1);
    let Some(ElementId::Node(id)) = state.current().current(&state.known) else { panic!("a host") };
    assert_eq!(state.snapshot().unwrap().name(id), "node17 mlx5_0");
}

/// The name that is offered goes with the first sign of another.
#[test]
fn a_suggestion_gives_way() {
    let mut driver = open_session("sim:kary,k=3,n=2");
    driver.press(":preview space updn enter j w m i n e enter");
    assert_eq!(driver.written.last().unwrap().0.to_str(), Some("mine"));
}

/// Where the paths in force cannot be indexed, screens say so, and engines route all the same.
#[test]
fn without_an_index_nothing_waits_for_it() {
    let whole = Arc::new(look("sim:demo"));
    let (mut state, task) = opened();
    let begun =
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(whole))) });
    let (index, _) = begun_task::<PathIndexTask>(&begun).expect("paths are indexed");
    let outcome = Box::new(PathIndexOutcome(Err(fabdeck_routing::EngineRefusal::Cancelled)));
    feed(&mut state, SessionInput::Finished { task: index, outcome });
    let effects = press(&mut state, "2 f 3 :preview space updn enter j");
    let (task, job) = begun_task::<ProposalTask>(&effects).expect("an engine routes");
    let appearance =
        super::fixture::appearance("dark", fabdeck::console::drawing::color_depth::ColorDepth::True);
    let text = |state: &SessionState| super::fixture::text(&super::fixture::frame(state, &appearance));
    assert!(text(&state).contains("not known: FD-8004"), "{}", text(&state));
    let outcome = run_alone(&*job);
    feed(&mut state, SessionInput::Finished { task, outcome });
    press(&mut state, "enter");
    assert!(text(&state).contains("ordered pairs"), "{}", text(&state));
    press(&mut state, "esc 3 U");
    let said = &state.messages.last().unwrap().text;
    assert!(said.contains("the paths cannot be indexed: FD-8004"), "{said}");
}

/// More is said than is kept: the log says that it is not all.
#[test]
fn a_log_says_what_it_does_not_hold() {
    let mut driver = open_session("sim:demo");
    driver.press("M");
    let appearance =
        super::fixture::appearance("dark", fabdeck::console::drawing::color_depth::ColorDepth::True);
    let text = |state: &SessionState| super::fixture::text(&super::fixture::frame(state, &appearance));
    assert!(!text(&driver.state).contains("older"), "{}", text(&driver.state));
    driver.press("esc");
    let before = driver.state.messages.total_count();
    for _ in 0..600 {
        driver.press("6 d");
    }
    assert_eq!(driver.state.messages.total_count(), before + 600);
    driver.press("M home");
    let older = before + 600 - 500;
    let wanted = format!("{older} older messages are in the log file only");
    assert!(text(&driver.state).contains(&wanted), "{}", text(&driver.state));
    driver.press("end");
    assert!(!text(&driver.state).contains("older messages"), "the newest are at the end");
}

/// Esc ends what engines do; what the marks cost is counted to its end, for nobody would ask for it again.
#[test]
fn cancelling_engines_leaves_the_count_alone() {
    let whole = Arc::new(look("sim:demo"));
    let (mut state, task) = opened();
    let begun =
        feed(&mut state, SessionInput::Finished { task, outcome: Box::new(SnapshotOutcome(Ok(whole))) });
    let index = begun_task::<PathIndexTask>(&begun);
    let (task, job) = index.unwrap();
    let outcome = run_alone(&*job);
    feed(&mut state, SessionInput::Finished { task, outcome });
    let effects = press(&mut state, "3 f 6 p");
    let at_esc = press(&mut state, "esc");
    let cancelled = at_esc.iter().filter(|effect| matches!(effect, Effect::Cancel(_))).count();
    assert_eq!((cancelled, state.has_engine_under_way()), (1, false));
    let count = begun_task::<MarkCostTask>(&effects);
    let (task, job) = count.unwrap();
    let outcome = run_alone(&*job);
    feed(&mut state, SessionInput::Finished { task, outcome });
    assert!(state.known.cost.is_some_and(|cost| cost.lost.pairs > 0));
}
