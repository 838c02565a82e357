//! The line that goes to anything: what it finds, in which order, what it says of actions, and where Enter leads.

use std::path::Path;

use super::fake_changes::{FakeChanges, offer, row};
use super::fixture::{appearance, frame, golden, open_session, shared, styles, text};
use super::replays::{playback, played};
use super::session_replay::replay;
use super::test_session::{TestSession, begun_task, run_alone};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::goto::cost_tasks::FailureCostTask;
use fabdeck::console::features::goto::goto_state::{GotoGroup, GotoRow, GotoTarget};
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::background_task::BackgroundTask;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::SessionState;
use fabdeck::console::model::tasks::TaskId;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck_change::ChangePhase;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::digits_in_groups;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn last_message(driver: &TestSession) -> &str {
    driver.state.messages.last().map_or("", |message| message.text.as_str())
}

/// The line, typed into a session with a wide screen.
fn typed(line: &str) -> TestSession {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    type_line(&mut driver, line);
    driver
}

fn type_line(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(line.to_owned()));
}

/// Types a line and takes its first row.
fn gone(line: &str) -> TestSession {
    let mut driver = typed(line);
    driver.press("enter");
    assert!(driver.state.prompt.is_none(), "{line}: {}", shown(&driver));
    driver
}

fn rows(driver: &TestSession) -> &[GotoRow] {
    &driver.state.goto.rows
}

fn groups(driver: &TestSession) -> Vec<GotoGroup> {
    let mut groups: Vec<GotoGroup> = rows(driver).iter().map(|row| row.group).collect();
    groups.dedup();
    groups
}

/// The element at the cursor of the screen, in the notation of commands.
fn cursor(driver: &TestSession) -> String {
    let what = driver.state.current().current(&driver.state.known);
    what.and_then(|what| driver.state.known.element(what)).unwrap_or_default()
}

#[test]
fn cables_of_a_switch_name_hosts_without_their_adapter() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press(":").send_input(SessionInput::Paste("rack1-leaf".to_owned()));
    let all = shown(&driver);
    assert!(all.contains("rack1-leaf[1] ─ login1 ") && !all.contains("mlx5_0[1]"), "{all}");
}

#[test]
fn frames_of_go_to_anything() {
    let colours = appearance("dark", ColorDepth::True);
    for (width, height) in [(80, 24), (120, 40)] {
        let mut driver = open_session("sim:demo");
        driver.send_input(SessionInput::Resized(Size { width, height }));
        driver.press("V V V :node07 enter");
        let mut said = String::new();
        for line in ["spine-2", "", ">mark"] {
            type_line(&mut driver, line);
            let buffer = frame(&driver.state, &colours);
            said.push_str(&format!(
                "== '{line}'\n{}-- styles\n{}",
                text(&buffer),
                styles(&buffer, colours.theme.blank())
            ));
            driver.press("esc");
        }
        golden(&format!("go to anything {width}x{height}"), &said);
    }
}

/// Below the dialog stands the screen; beside the list stands what the cursor is on.
#[test]
fn a_wide_screen_shows_a_preview_and_the_screen_behind() {
    let driver = typed("spine-2");
    let screen = shown(&driver);
    for words in ["Go to anything", "of 135 names, 10", "switches", "cables of it", "LID", "Map", "problems"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let mut narrow = open_session("sim:demo");
    type_line(&mut narrow, "spine-2");
    let screen = shown(&narrow);
    assert!(screen.contains("Go to anything") && !screen.contains("GUID"), "{screen}");
    for (width, height) in [(1, 1), (40, 12), (99, 40), (100, 15), (500, 200), (300, 3)] {
        narrow.send_input(SessionInput::Resized(Size { width, height }));
        shown(&narrow);
    }
}

#[test]
fn a_whole_word_comes_before_a_start_and_a_start_before_letters() {
    let driver = typed("spine-2");
    assert_eq!(rows(&driver)[0].text, "spine-2");
    assert_eq!(rows(&driver)[1].group, GotoGroup::Cables, "then its cables");
    assert_eq!(driver.state.goto.picked, Some(0), "Enter takes the first");
    let worst = rows(&driver).iter().find(|row| row.group == GotoGroup::Cables).unwrap();
    assert!(
        worst.text.contains("rack3-leaf[10]") && worst.about.contains("degraded"),
        "trouble first: {worst:?}"
    );
    let scores: Vec<u16> = rows(&driver).iter().map(|row| row.score).collect();
    assert!(scores[0] > scores[1] && rows(&driver).iter().all(|row| row.score <= GotoRow::MAX_SCORE));
    // A start is found before letters in order, and nothing is chosen by letters alone.
    let driver = typed("rack1");
    assert!(rows(&driver)[0].text.starts_with("rack1-leaf"), "{:?}", rows(&driver)[0]);
    let driver = typed("rk1lf");
    assert_eq!((rows(&driver)[0].text.as_str(), driver.state.goto.picked), ("rack1-leaf", None));
    // Of equal matches the one in trouble comes first, and then the one that was opened lately.
    assert_eq!(rows(&typed("spine-"))[0].text, "spine-2");
    let mut driver = typed("node1");
    assert_eq!(rows(&driver)[0].text, "node10");
    driver.press("esc");
    type_line(&mut driver, "node13");
    driver.press("enter");
    type_line(&mut driver, "node1");
    assert_eq!(rows(&driver)[0].text, "node13");
}

#[test]
fn signs_narrow_the_list_to_one_kind() {
    for (line, wanted) in [
        ("!", GotoGroup::Problems),
        ("!spine", GotoGroup::Problems),
        (">", GotoGroup::Actions),
        (">mark", GotoGroup::Actions),
        ("#", GotoGroup::Jobs),
        ("@ leaf", GotoGroup::Times),
    ] {
        let driver = match wanted {
            GotoGroup::Times => recorded(line),
            _ => typed(line),
        };
        assert_eq!(groups(&driver), [wanted], "{line}: {}", shown(&driver));
    }
    let all = typed("spine");
    assert!(groups(&all).len() > 2, "{:?}", groups(&all));
    let mut driver = typed("#nothing like this");
    driver.press("enter");
    assert!(
        last_message(&driver).contains("nothing matches '#nothing like this'"),
        "{}",
        last_message(&driver)
    );
}

/// What cannot run now says why; taken anyway, it says so in the line of messages.
#[test]
fn an_action_that_cannot_run_says_why() {
    let mut driver = typed("confirm");
    let confirm = rows(&driver).iter().find(|row| row.text.starts_with("confirm")).unwrap().clone();
    assert!(confirm.blocked && confirm.about.contains("nothing can be written here"), "{confirm:?}");
    assert!(shown(&driver).contains("nothing can be written here"), "{}", shown(&driver));
    driver.press("enter");
    assert!(
        last_message(&driver).contains("confirm: nothing can be written here"),
        "{}",
        last_message(&driver)
    );
    let driver = typed("mark");
    let mark = rows(&driver).iter().find(|row| row.text.starts_with("mark")).unwrap();
    assert!(!mark.blocked && mark.key == "f" && mark.about.contains("Mark as failed"), "{mark:?}");
}

#[test]
fn elements_are_found_on_their_screens() {
    let driver = gone("spine-2");
    assert_eq!((driver.state.screen, cursor(&driver).as_str()), (ScreenId::Map, "switch:spine-2"));
    let driver = gone("node07");
    assert_eq!((driver.state.screen, cursor(&driver).as_str()), (ScreenId::Map, "host:node07 mlx5_0"));
    assert_eq!(driver.state.screens.map.view, MapView::Hosts);
    // A port in the list of ports of its switch.
    let driver = gone("rack1-leaf[8]");
    assert_eq!((driver.state.screen, cursor(&driver).as_str()), (ScreenId::Map, "port:rack1-leaf[8]"));
    // Its cable is the next row.
    let mut driver = typed("rack1-leaf[8]");
    driver.press("down enter");
    let cable = driver.state.current().current(&driver.state.known);
    assert!(driver.state.screen == ScreenId::Links && matches!(cable, Some(ElementId::Link(_))), "{cable:?}");
    // A filter that hides the row gives way.
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter 2 V V / nothing enter");
    type_line(&mut driver, "node07");
    driver.press("enter");
    assert_eq!(cursor(&driver), "host:node07 mlx5_0");
    assert!(driver.state.current().table().filter.is_empty());
    driver.press("esc");
    assert_eq!(driver.state.screen, ScreenId::Health, "Esc goes out as from any screen");
}

#[test]
fn guids_and_lids_are_exact() {
    let driver = open_session("sim:demo");
    let look = driver.state.snapshot().unwrap();
    let (id, node) = look.fabric().nodes().find(|(_, node)| node.is_switch()).unwrap();
    let lid = look.fabric().ports_of(id).find_map(|(_, port)| port.facts.lid).unwrap().value();
    let name = format!("switch:{}", look.name(id));
    for line in [node.guid().to_string(), lid.to_string(), format!("lid {lid}")] {
        let driver = typed(&line);
        assert_eq!(rows(&driver)[0].target, GotoTarget::Element(name.clone()), "{line}");
        assert!(rows(&driver)[0].about.contains("LID") || rows(&driver)[0].about.contains("GUID"));
        assert_eq!(cursor(&gone(&line)), name, "{line}");
    }
    let driver = typed("0x123456789abcdef0");
    assert!(!groups(&driver).contains(&GotoGroup::Switches));
}

#[test]
fn a_problem_and_a_job_lead_to_their_rows() {
    let mut driver = typed("!spine-2");
    let target = rows(&driver)[0].target.clone();
    driver.press("enter");
    let problem = driver.state.screens.health.problem().map(|(_, problem)| problem.id.clone()).unwrap();
    assert_eq!((driver.state.screen, target), (ScreenId::Health, GotoTarget::Problem(problem)));
    let mut driver = typed("#");
    let names: Vec<String> = rows(&driver).iter().map(|row| row.text.clone()).collect();
    driver.press("down down enter");
    assert!(names.len() > 1 && driver.state.prompt.is_none(), "{names:?}");
    assert!(matches!(driver.state.screen, ScreenId::Jobs | ScreenId::Health), "{}", shown(&driver));
    assert!(shown(&driver).contains(names[1].trim_start_matches("job ")), "{}", shown(&driver));
}

#[test]
fn a_change_leads_to_its_row() {
    let changes = vec![row(8, ChangePhase::Confirmed), row(7, ChangePhase::RolledBack)];
    let mut driver = FakeChanges::new(Ok(offer(0)), changes).session(WriteAccess::Simulated);
    type_line(&mut driver, "change 7");
    assert_eq!(rows(&driver)[0].target, GotoTarget::Change("7-abcd".to_owned()), "{}", shown(&driver));
    driver.press("enter");
    assert_eq!(driver.state.screen, ScreenId::Changes);
    assert_eq!(driver.state.screens.changes.change().unwrap().number, 7);
}

fn recorded(line: &str) -> TestSession {
    let file = Path::new(env!("FABDECK_ROOT")).join("captures/failed-link/failed-link.fdcap");
    let mut driver = played(&file, None);
    type_line(&mut driver, line);
    driver
}

#[test]
fn a_time_leads_to_its_moment() {
    let mut driver = recorded("@");
    let last = rows(&driver).len() - 1;
    let GotoTarget::Moment { place, .. } = rows(&driver)[last].target.clone() else {
        panic!("{:?}", rows(&driver)[last]);
    };
    driver.press("up enter");
    assert_eq!((driver.state.screen, playback(&driver).place()), (ScreenId::Timeline, place));
    // A time is a line for the action that goes there.
    let mut driver = recorded("@-5s");
    assert!(rows(&driver)[0].text.contains("go to -5s"), "{:?}", rows(&driver)[0]);
    let before = playback(&driver).place();
    driver.press("enter");
    assert!(playback(&driver).place() < before, "{}", last_message(&driver));
    // Live, the row says why it cannot be.
    let driver = typed("@-5s");
    assert!(rows(&driver)[0].blocked, "{:?}", rows(&driver)[0]);
}

#[test]
fn actions_run_or_ask_for_their_argument() {
    let mut driver = gone("screen-links");
    assert_eq!(driver.state.screen, ScreenId::Links);
    type_line(&mut driver, "random");
    driver.press("enter");
    assert_eq!(driver.state.prompt.as_ref().unwrap().text, "random ", "it asks in the same line");
    driver.press("2 enter");
    assert_eq!(driver.state.known.marks.len(), 2);
    // A beginning that no other action has is enough; letters in order are not.
    let driver = gone("screen-lin");
    assert_eq!(driver.state.screen, ScreenId::Links);
    let mut driver = typed("marrk");
    driver.press("enter");
    assert!(last_message(&driver).contains("there is no action 'marrk'"), "{}", last_message(&driver));
    // The actions on a thing name it.
    let mut driver = typed("spine-2");
    let at = rows(&driver).iter().position(|row| row.text == "What if spine-2 fails").unwrap();
    driver.press(&"down ".repeat(at));
    driver.press("enter");
    assert_eq!(driver.state.marks_as_arguments(), " --fail switch:spine-2");
    // None of them writes to the fabric.
    for line in ["spine-2", "rack1-leaf[8]"] {
        let driver = typed(line);
        let of_name = rows(&driver).iter().filter_map(|row| match &row.target {
            GotoTarget::Action { id, argument } if !argument.is_empty() => Some(*id),
            _ => None,
        });
        let ids: Vec<&str> = of_name.collect();
        assert!(ids.contains(&"mark") && !ids.contains(&"disable"), "{line}: {ids:?}");
    }
}

#[test]
fn what_was_opened_before_comes_first_on_an_empty_line() {
    let mut driver = gone("spine-2");
    for line in ["node07", ":", "screen-links", "preview updn"] {
        type_line(&mut driver, line);
        driver.press("enter esc");
    }
    type_line(&mut driver, "");
    let before: Vec<&str> = rows(&driver)
        .iter()
        .take_while(|row| row.group == GotoGroup::Before)
        .map(|row| row.text.as_str())
        .collect();
    assert_eq!(before, ["preview updn", "screen-links", "node07", "spine-2"]);
    assert!(shown(&driver).contains("4 of before"), "{}", shown(&driver));
    assert_eq!(driver.state.goto.picked, None, "Enter on an empty line does nothing");
    driver.press("down down down enter");
    assert_eq!(cursor(&driver), "host:node07 mlx5_0");
    driver.press(": ctrl-p ctrl-p");
    assert_eq!(driver.state.prompt.as_ref().unwrap().text, "screen-links", "two lines before");
}

/// The rest of a group is shown by its last row.
#[test]
fn a_group_is_opened_by_its_last_row() {
    let mut driver = typed("0");
    let more = rows(&driver).iter().position(|row| row.target == GotoTarget::More(GotoGroup::Hosts)).unwrap();
    assert!(rows(&driver)[more].text.ends_with("more"), "{:?}", rows(&driver)[more]);
    let before = rows(&driver).len();
    driver.press(&"down ".repeat(more));
    driver.press("enter");
    assert!(rows(&driver).len() > before && driver.state.prompt.is_some(), "{}", shown(&driver));
}

/// A key looks through a bounded number of names; a task finds the others, and what is shown then is all of them.
#[test]
fn a_key_looks_through_a_bounded_number_of_names() {
    const FEW: usize = 20;
    let seen = super::fixture::look("sim:kary,k=4,n=3");
    let names = seen.fabric().nodes().len();
    assert!(names > 3 * FEW);
    let mut driver = shared(seen.clone());
    driver.state.goto.names_per_key = FEW;
    let mut whole = shared(seen);
    for line in ["t", "te", "host", "5", "s-1", "nothing"] {
        for driver in [&mut driver, &mut whole] {
            type_line(driver, line);
        }
        let looked = driver.state.goto.looked_through;
        assert!(looked <= 2 * FEW, "{line}: {looked} of {names} names");
        let all = |driver: &TestSession| rows(driver).to_vec();
        assert_eq!(all(&driver), all(&whole), "{line}");
        assert!(!driver.state.goto.counts.is_least, "{line}: the task has looked through all");
        driver.press("esc");
        whole.press("esc");
    }
    assert!(driver.state.goto.index.is_some() && driver.state.goto.pending.search.is_none());
}

#[test]
fn a_recorded_session_comes_to_the_same_rows() {
    let mut driver = open_session("sim:demo");
    driver.press(":spine-2 enter :node07 enter 3 :rack down down");
    let look = driver.state.snapshot().unwrap().clone();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    assert_eq!(again.goto.rows, driver.state.goto.rows);
    assert_eq!(
        (again.goto.picked, &again.goto.recent),
        (driver.state.goto.picked, &driver.state.goto.recent)
    );
}

/// The row of the dialog that has these words.
fn line_with(driver: &TestSession, words: &str) -> String {
    shown(driver).lines().find(|line| line.contains(words)).unwrap_or_default().to_owned()
}

/// What the failure of a row costs is what What-if counts for its mark.
#[test]
fn the_preview_says_what_a_failure_costs() {
    for name in ["switch:spine-2", "host:node07 mlx5_0"] {
        let mut driver = typed(name.split(':').nth(1).unwrap().split(' ').next().unwrap());
        assert_eq!(rows(&driver)[0].target, GotoTarget::Element(name.to_owned()), "{}", shown(&driver));
        let said = (line_with(&driver, "if it fails"), line_with(&driver, "cut off"));
        driver.press("esc").press(&format!(":mark space {} enter", name.replace(' ', " space ")));
        let cost = driver.state.known.cost.clone().unwrap();
        assert!(cost.lost_pairs() > 0, "{cost:?}");
        let lost = format!("{} of", digits_in_groups(cost.lost_pairs()));
        assert!(said.0.contains(&lost), "{name}: {said:?} {lost}");
        match name {
            "switch:spine-2" => assert!(said.1.contains("no host") || said.1.contains("none"), "{said:?}"),
            _ => assert!(said.1.contains("1 host: node07"), "{said:?}"),
        }
        // It fails alone, whatever is marked.
        driver.press("esc :mark space link:rack1-leaf[8] enter");
        type_line(&mut driver, name.split(':').nth(1).unwrap().split(' ').next().unwrap());
        assert!(line_with(&driver, "if it fails").contains(&lost), "{lost}: {}", shown(&driver));
    }
}

/// Until the cost is counted it is not known, and a task for a row that the cursor has left is cancelled.
#[test]
fn a_cost_is_counted_in_the_background_and_for_the_cursor_only() {
    let mut driver = typed("node07");
    driver.press("esc :");
    let feed = |state: &mut SessionState, what: SessionInput| {
        let at_ms = state.now_ms;
        update(state, SessionEvent { at_ms, what })
    };
    let arrives = |state: &mut SessionState, task: TaskId, job: &dyn BackgroundTask| {
        feed(state, SessionInput::Finished { task, outcome: run_alone(job) });
    };
    let state = &mut driver.state;
    let effects = feed(state, SessionInput::Paste("spine-2".to_owned()));
    let (task, job) = begun_task::<FailureCostTask>(&effects).expect("it is counted in a task");
    assert!(line_with(&driver, "if it fails").contains("○ not known"), "{}", shown(&driver));
    let state = &mut driver.state;
    let effects = feed(state, SessionInput::Key("down".parse().unwrap()));
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Cancel(gone) if *gone == task)),
        "{effects:?}"
    );
    let (second, job_of_second) = begun_task::<FailureCostTask>(&effects).expect("the next row has its own");
    assert_ne!(task, second);
    // What comes late for the row that was left is not shown.
    arrives(state, task, &*job);
    assert!(line_with(&driver, "if it fails").contains("○ not known"), "{}", shown(&driver));
    arrives(&mut driver.state, second, &*job_of_second);
    assert!(line_with(&driver, "if it fails").contains("pairs lost"), "{}", shown(&driver));
    let effects = feed(&mut driver.state, SessionInput::Key("up".parse().unwrap()));
    let (third, _) = begun_task::<FailureCostTask>(&effects).unwrap();
    let effects = feed(&mut driver.state, SessionInput::Key("esc".parse().unwrap()));
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Cancel(gone) if *gone == third)),
        "{effects:?}"
    );
    // On a narrow screen there is no preview, and nothing is counted.
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 24 })).press(":");
    let effects = feed(&mut driver.state, SessionInput::Paste("spine-2".to_owned()));
    assert!(begun_task::<FailureCostTask>(&effects).is_none());
}

/// A watched host shows what it sends now, and over time.
#[test]
fn the_preview_shows_the_traffic_now() {
    let mut driver = super::health::demo("sim:demo");
    type_line(&mut driver, "node07");
    assert!(line_with(&driver, "traffic").is_empty(), "nothing was read twice: {}", shown(&driver));
    driver.press("esc");
    super::watches::swept(&mut driver, 8);
    type_line(&mut driver, "node07");
    let traffic = line_with(&driver, "traffic ");
    assert!(traffic.contains("Gb/s out,") && traffic.contains("Gb/s in"), "{}", shown(&driver));
    assert!(shown(&driver).contains("the busier direction, Gb/s"), "{}", shown(&driver));
}

/// The cables of a node are its own, whatever longer names begin with its name and whatever signs it has.
#[test]
fn the_other_place_of_a_node_has_its_own_cables() {
    let mut named = super::fixture::look("sim:kary,k=4,n=2");
    let switches: Vec<_> = named.fabric().switches().map(|(id, node)| (id, node.guid())).collect();
    let names = ["leaf1", "leaf10", "leaf11", "a=b,c<d~e"].map(str::to_owned);
    let by_guid = switches.iter().map(|(_, guid)| *guid).zip(names.clone()).collect();
    let own = fabdeck_fabric::NameMap { by_guid, ..Default::default() };
    named = fabdeck::catalogue::snapshot::Snapshot::new("sim:kary,k=4,n=2", named.observation.clone(), &own);
    for (name, (node, _)) in [(&names[0], switches[0]), (&names[3], switches[3])] {
        let ports = named.fabric().ports_of(node).filter(|(_, port)| port.link.is_some()).count();
        let mut driver = TestSession::open(named.clone(), Size { width: 120, height: 40 });
        type_line(&mut driver, name);
        driver.press("ctrl-o");
        let table = driver.state.current().table();
        assert_eq!((driver.state.screen, table.problem.as_deref()), (ScreenId::Links, None), "{name}");
        assert_eq!(table.selection.rows.len(), ports, "{name}: {}", shown(&driver));
    }
}

/// ctrl-o opens a row elsewhere than Enter does.
#[test]
fn the_other_place_of_a_row() {
    let mut driver = typed("spine-2");
    driver.press("ctrl-o");
    assert_eq!((driver.state.screen, driver.state.prompt.is_none()), (ScreenId::Links, true));
    let table = driver.state.current().table();
    assert!(table.filter.starts_with("0x"), "a name is found inside longer names: {}", table.filter);
    assert_eq!(table.selection.rows.len(), 13);
    let mut driver = typed("spine-2");
    let cable = rows(&driver).iter().position(|row| row.group == GotoGroup::Cables).unwrap();
    driver.press(&"down ".repeat(cable)).press("ctrl-o");
    assert_eq!(driver.state.screen, ScreenId::Map, "{}", shown(&driver));
    assert!(cursor(&driver).contains("spine-2") || cursor(&driver).contains("leaf"), "{}", cursor(&driver));
    let mut driver = typed("!spine-2");
    driver.press("ctrl-o");
    assert_eq!(driver.state.screen, ScreenId::Links, "the problem is about a cable");
    assert!(matches!(driver.state.current().current(&driver.state.known), Some(ElementId::Link(_))));
    // It is opened before all others the next time.
    type_line(&mut driver, "");
    assert_eq!(rows(&driver)[0].group, GotoGroup::Before);
    // An action has one place, and the line stays.
    let mut driver = typed(">screen-links");
    driver.press("ctrl-o");
    assert!(
        driver.state.prompt.is_some() && last_message(&driver).contains("one place"),
        "{}",
        last_message(&driver)
    );
}
