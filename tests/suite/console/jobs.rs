//! The screen Jobs: what it shows, when a list is asked for, what sar would gain, and the command lines that do the same.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::command_lines::{carried_out, first_column};
use super::fixture::{SIZES, appearance, frame, golden, look, open_session, text};
use super::pty::Session;
use super::session_replay::replay;
use super::test_session::begun_task;
use super::test_session::{JobLister, TestSession};
use super::watches::shown;
use fabdeck::catalogue::exit::Exit;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::jobs::jobs_model::{JobSettings, JobsModel};
use fabdeck::console::features::jobs::running_jobs::{JobListOutcome, JobListTask};
use fabdeck::console::features::jobs::screen::JobView;
use fabdeck::console::features::screen::Screen as _;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::features::snapshot_change::{SnapshotOutcome, SnapshotTask};
use fabdeck::console::features::whatif::engine_runs::ProposalTask;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::LoadState;
use fabdeck::operations::jobs::job_request::JobListSource;
use fabdeck_files::job_lists;
use fabdeck_files::text::Input;

/// Two jobs on several switches, one on a single switch, and a host that nobody has.
const LIST: &str = "4711 node[01-04,07-12]\n4712 node[05-06,13-20],gone\n4713 node[21-22]\n";

/// What the list says, or why there is none, and who was asked.
#[derive(Default)]
struct Script {
    list: Option<&'static str>,
    asked: Vec<JobListSource>,
}

type SharedScript = Rc<RefCell<Script>>;

fn lister(told: &SharedScript) -> JobLister {
    let told = told.clone();
    JobLister(Box::new(move |from| {
        let mut told = told.borrow_mut();
        told.asked.push(from.clone());
        let list = told.list.ok_or_else(|| "FD-4603: squeue failed: nobody answers".to_owned())?;
        Ok(job_lists::read(Input::new("list", list.as_bytes())).unwrap())
    }))
}

fn listed(list: Option<&'static str>) -> (TestSession, SharedScript) {
    let told = Rc::new(RefCell::new(Script { list, ..Script::default() }));
    let mut driver = open_session("sim:demo");
    driver.lister = lister(&told);
    (driver, told)
}

fn named(driver: &mut TestSession, from: &str) {
    driver.press(":jobs space").send_input(SessionInput::Paste(from.to_owned())).press("enter");
}

fn screens() -> Vec<(&'static str, TestSession)> {
    let made = |keys: &str| {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        driver
    };
    let of_list = |keys: &str| {
        let (mut driver, _) = listed(Some(LIST));
        named(&mut driver, "slurm");
        driver.press(keys);
        driver
    };
    let (mut silent, _) = listed(None);
    named(&mut silent, "slurm");
    let mut nobody = TestSession::open(
        fabdeck::catalogue::snapshot::Snapshot::new(
            "site",
            look("sim:demo").observation,
            &Default::default(),
        ),
        Size::default(),
    );
    nobody.press("8");
    vec![
        ("made", made("8 down")),
        ("histogram", made("8 p V")),
        ("listed", of_list("")),
        ("sar", of_list("p")),
        ("details", of_list("p enter")),
        ("engines", of_list("p 6")),
        ("silent", silent),
        ("nobody", nobody),
    ]
}

#[test]
fn every_way_that_jobs_stand() {
    for (name, mut driver) in screens() {
        let mut all = String::new();
        for (width, height) in SIZES {
            driver.send_input(SessionInput::Resized(Size { width, height }));
            let buffer = frame(&driver.state, &appearance("dark", ColorDepth::True));
            all.push_str(&format!("== {width}x{height}\n{}", text(&buffer)));
        }
        let ascii = Appearance { signs: Symbols::ASCII, ..appearance("mono", ColorDepth::Mono) };
        driver.send_input(SessionInput::Resized(Size { width: 100, height: 30 }));
        assert!(text(&frame(&driver.state, &ascii)).is_ascii(), "{name}");
        // No colour tells of anything that no sign does.
        let sixteen = frame(&driver.state, &appearance("sixteen", ColorDepth::Sixteen));
        assert_eq!(
            text(&sixteen),
            text(&frame(&driver.state, &appearance("mono", ColorDepth::Mono))),
            "{name}"
        );
        golden(&format!("jobs {name}"), &all);
    }
}

/// Whoever knows the jobs is asked where somebody looks, in intervals; what was heard stays when nothing newer comes.
#[test]
fn jobs_are_read_while_their_screen_is_open() {
    let (mut driver, told) = listed(Some(LIST));
    let asked = |told: &SharedScript| told.borrow().asked.len();
    driver.press("8 2");
    assert_eq!(asked(&told), 0, "no source is named");
    named(&mut driver, "slurm");
    assert_eq!(told.borrow().asked, [JobListSource::Slurm(None)]);
    assert!(shown(&driver).contains("jobs of Slurm, just now: 3 on"), "{}", shown(&driver));
    assert!(shown(&driver).contains("1 host unknown"), "{}", shown(&driver));
    driver.press("down up V V").advance_ms(20_000);
    assert_eq!(asked(&told), 1, "it is not time yet");
    assert!(shown(&driver).contains("20 s ago"), "{}", shown(&driver));
    told.borrow_mut().list = None;
    driver.advance_ms(11_000);
    assert_eq!(asked(&told), 2);
    let seen = shown(&driver);
    assert!(seen.contains("FD-4603") && seen.contains("30 s ago: 3 on") && seen.contains("4711"), "{seen}");
    driver.press("2").advance_ms(60_000);
    assert_eq!(asked(&told), 2, "nobody looks any more");
    told.borrow_mut().list = Some("4714 node[01-30]\n");
    driver.press("8");
    let seen = shown(&driver);
    assert!(!seen.contains("FD-4603") && seen.contains("4714") && !seen.contains("4711"), "{seen}");
}

/// Another name takes over once it has a list; one without a list leaves what was there, and there is a way back.
#[test]
fn a_name_without_a_list_leaves_what_was_there() {
    let (mut driver, told) = listed(None);
    driver.press("8");
    assert!(shown(&driver).contains("SIMULATED"), "{}", shown(&driver));
    named(&mut driver, "slurm");
    let seen = shown(&driver);
    assert!(seen.contains("SIMULATED") && seen.contains("FD-4603"), "{seen}");
    told.borrow_mut().list = Some(LIST);
    named(&mut driver, "slurm");
    assert!(
        !shown(&driver).contains("SIMULATED") && shown(&driver).contains("jobs of Slurm, just now: 3 on")
    );
    told.borrow_mut().list = None;
    named(&mut driver, "wrong");
    let seen = shown(&driver);
    assert!(seen.contains("jobs of Slurm, just now: 3 on") && seen.contains("FD-4603"), "{seen}");
    assert_eq!(told.borrow().asked.len(), 3);
    driver.press(":jobs space");
    assert!(shown(&driver).contains("SIMULATED jobs again"), "{}", shown(&driver));
    driver.press("u s u a l enter");
    assert!(shown(&driver).contains("SIMULATED jobs (seed"), "{}", shown(&driver));
    driver.advance_ms(60_000);
    assert_eq!(told.borrow().asked.len(), 3, "nobody is asked any more");
}

/// Who is configured has a squeue of its own, which a word keeps.
#[test]
fn slurm_is_the_squeue_that_the_session_began_with() {
    let (mut driver, told) = listed(Some(LIST));
    let own = JobListSource::Slurm(Some("/opt/squeue".into()));
    let settings = JobSettings { from: Some(own.clone()), ..JobSettings::default() };
    driver.state.known.jobs = JobsModel::with_settings(settings);
    driver.press("8");
    named(&mut driver, "slurm");
    assert_eq!(told.borrow().asked, [own.clone(), own]);
}

/// Esc goes out step by step, as on the other lists: what lies over the screen, the filter, the other view, and then as the
/// screen Links does.
#[test]
fn esc_goes_out_of_jobs_step_by_step() {
    let mut driver = open_session("sim:demo");
    driver.press("8 V enter");
    assert!(driver.state.layer.is_some(), "{}", shown(&driver));
    driver.press("esc");
    assert!(driver.state.layer.is_none() && driver.state.screen == ScreenId::Jobs);
    driver.press("/ m a x > 2 enter esc");
    assert!(driver.state.screens.jobs.table().filter.is_empty() && driver.state.screen == ScreenId::Jobs);
    assert_eq!(driver.state.screens.jobs.view, JobView::Histogram);
    driver.press("esc");
    assert_eq!((driver.state.screens.jobs.view, driver.state.screen), (JobView::Jobs, ScreenId::Jobs));
    driver.press("esc");
    let mut sibling = open_session("sim:demo");
    sibling.press("3 esc");
    assert_eq!(driver.state.screen, sibling.state.screen);
}

/// A list that takes long is given up by Esc, on the screen that shows the one before.
#[test]
fn esc_gives_up_a_list_that_was_asked_for() {
    let mut driver = open_session("sim:demo");
    driver.press("8");
    let now = |driver: &mut TestSession, what| update(&mut driver.state, SessionEvent { at_ms: 0, what });
    let keys = Key::parse_sequence(":jobs space s l u r m enter");
    let begun: Vec<Effect> =
        keys.into_iter().flat_map(|key| now(&mut driver, SessionInput::Key(key))).collect();
    let asked = begun_task::<JobListTask>(&begun);
    let slurm = |job: &JobListTask| matches!(job.0, JobListSource::Slurm(None));
    let task = asked.filter(|(_, job)| job.downcast().is_some_and(slurm)).map(|(task, _)| task);
    let seen = shown(&driver);
    assert!(task.is_some() && seen.contains("jobs: reading") && seen.contains("SIMULATED"), "{seen}");
    let ended = now(&mut driver, SessionInput::Key(Key::parse_sequence("esc")[0]));
    assert!(
        ended.iter().any(|effect| matches!(effect, Effect::Cancel(it) if Some(*it) == task)),
        "{ended:?}"
    );
    let list = job_lists::read(Input::new("list", LIST.as_bytes())).unwrap();
    let late = Box::new(JobListOutcome(Ok(Box::new(list))));
    driver.send_input(SessionInput::Finished { task: task.unwrap(), outcome: late });
    let seen = shown(&driver);
    assert!(driver.state.screen == ScreenId::Jobs && seen.contains("SIMULATED"), "{seen}");
}

/// Where there is little room the path of a list gives way, and the figures stand whole; a bare word says who is in force.
#[test]
fn a_long_path_leaves_the_figures_in_sight() {
    const PATH: &str = "/site/lists/of/a/deep/folder/which-jobs-run-in-the-north-hall.txt";
    let (mut driver, _) = listed(Some(LIST));
    named(&mut driver, PATH);
    let line = |driver: &TestSession| shown(driver).lines().nth(3).unwrap().to_owned();
    assert!(line(&driver).starts_with(" ..."), "{}", line(&driver));
    assert!(line(&driver).ends_with("2 on several switches; 1 host unknown"), "{}", line(&driver));
    driver.send_input(SessionInput::Resized(Size { width: 260, height: 24 }));
    assert!(line(&driver).contains(&format!("jobs of {PATH}, just now: 3 on 22 hosts")), "{}", line(&driver));
    named(&mut driver, "short.txt");
    driver.press(":jobs space");
    assert!(shown(&driver).contains("in force: a list"), "{}", shown(&driver));
    driver.press("esc");
    named(&mut driver, "slurm");
    driver.press(":jobs space");
    assert!(shown(&driver).contains("in force: ask Slurm"), "{}", shown(&driver));
}

/// What changes under sar's answer lets it go, and that stands where its figures stood until it is asked again.
#[test]
fn an_answer_that_went_is_said_where_it_stood() {
    let (mut driver, _) = listed(Some(LIST));
    named(&mut driver, "slurm");
    driver.press("p");
    assert!(shown(&driver).contains(" -> ") && !shown(&driver).contains("went"), "{}", shown(&driver));
    driver.press("3 f 8");
    let seen = shown(&driver);
    assert!(seen.contains("the marks changed since sar ran") && !seen.contains(" -> "), "{seen}");
    driver.press("p down");
    let seen = shown(&driver);
    assert!(seen.contains(" -> ") && !seen.contains("since sar ran"), "{seen}");
    let other = other_look(&mut driver);
    driver.send_input(other);
    let seen = shown(&driver);
    assert!(seen.contains("the fabric or its tables changed since sar ran"), "{seen}");
}

/// Another look at the source, which finds links down.
fn other_look(driver: &mut TestSession) -> SessionInput {
    let key = Key::parse_sequence("r").remove(0);
    let begun = update(&mut driver.state, SessionEvent { at_ms: 0, what: SessionInput::Key(key) });
    let task = begun_task::<SnapshotTask>(&begun).map(|(task, _)| task);
    let other = Arc::new(look("sim:demo,silent=20%,seed=7"));
    SessionInput::Finished { task: task.unwrap(), outcome: Box::new(SnapshotOutcome(Ok(other))) }
}

/// On What-if an answer of another list says so, and the key that asks asks it anew.
#[test]
fn engines_of_another_list_are_distinguished() {
    let (mut driver, told) = listed(Some(LIST));
    named(&mut driver, "first");
    driver.press("p 6");
    assert!(shown(&driver).contains("clean ") && !shown(&driver).contains("(old)"));
    told.borrow_mut().list = Some("4714 node[01-30]\n");
    named(&mut driver, "second");
    driver.press("6");
    assert!(shown(&driver).contains("clean (old)"), "{}", shown(&driver));
    driver.press("8 p 6");
    assert!(
        shown(&driver).contains("clean ") && !shown(&driver).contains("other jobs"),
        "{}",
        shown(&driver)
    );
}

/// Help begins with what belongs to the screen; a key of another screen says of which.
#[test]
fn help_of_jobs_begins_with_its_own_keys() {
    let mut driver = open_session("sim:demo");
    driver.press("8 w");
    assert!(shown(&driver).contains("w works on the screen What-if only"), "{}", shown(&driver));
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 70 }));
    driver.press("?");
    let seen = shown(&driver);
    let place = |words: &str| seen.find(words).unwrap_or_else(|| panic!("{words}: {seen}"));
    let own = place("On the screen Jobs");
    let everywhere = place("On every screen");
    assert!(own < place("on Jobs, with sar") && place("on Jobs, with sar") < everywhere, "{seen}");
    assert!(
        own < place("Name the source of the running jobs") && place("Name the source") < everywhere,
        "{seen}"
    );
    let footer = |keys: &str| {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        shown(&driver).lines().last().unwrap().to_owned()
    };
    assert!(footer("8").contains("p preview") && !footer("8").contains("f mark"), "{}", footer("8"));
}

/// A session with jobs is had again from its events, whoever knew them.
#[test]
fn a_session_with_jobs_is_had_again() {
    let (mut driver, _) = listed(Some(LIST));
    named(&mut driver, "slurm");
    driver.press("p V");
    let look = driver.state.known.look.clone().unwrap();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    assert_eq!(text(&frame(&again, &appearance("dark", ColorDepth::True))), shown(&driver));
}

/// The line of the list prints its rows; that of the proposal comes to its figures, and its plan is the one that `w` writes.
#[test]
fn lines_come_to_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs");
    std::fs::write(&file, LIST).unwrap();
    let (mut driver, _) = listed(Some(LIST));
    named(&mut driver, &file.display().to_string());
    driver.press("p s S c C");
    let [rows, whatif] = &driver.copied[..] else { panic!("{:?}", driver.copied) };
    let (exit, json) = carried_out(rows);
    let printed: Vec<&str> =
        json["rows"].as_array().unwrap().iter().map(|row| row["job"].as_str().unwrap()).collect();
    assert_eq!((exit, printed), (Exit::Done, first_column(&driver).iter().map(String::as_str).collect()));
    assert_eq!(first_column(&driver), ["4712", "4711"]);
    let (_, json) = carried_out(whatif);
    let comparison = driver.state.known.jobs.comparison.clone().unwrap();
    let figures = |told: &Value| (told["max"].as_u64().unwrap(), told["multi_switch"].as_u64().unwrap());
    let own = |over: &Option<fabdeck::operations::jobs::job_comparison::JobsUnderRoutes>| {
        let metrics = over.as_ref().unwrap().metrics;
        (metrics.max, metrics.jobs as u64)
    };
    assert_eq!(figures(&json["jobs"]), own(&comparison.in_force), "{whatif}");
    assert_eq!(figures(&json["engines"][0]["jobs"]), own(&comparison.proposed), "{whatif}");
    driver.press("6 / sar enter w same.plan enter C");
    let line = driver.copied.last().unwrap();
    let plan = folder.path().join("same.plan");
    let (before, _) = line.rsplit_once(' ').unwrap();
    carried_out(&format!("{before} {}", plan.display()));
    let by_line: Value = serde_json::from_str(&std::fs::read_to_string(&plan).unwrap()).unwrap();
    assert_eq!(by_line, serde_json::from_str::<Value>(&driver.written[0].1).unwrap(), "{line}");
}

/// What was asked with other jobs is said to be, and p asks anew; made-up jobs have no line.
#[test]
fn answers_for_other_jobs_are_distinguished() {
    let (mut driver, told) = listed(Some(LIST));
    named(&mut driver, "slurm");
    driver.press("p c");
    assert!(driver.copied[0].contains("jobs --slurm"), "{:?}", driver.copied);
    assert!(!shown(&driver).contains("other jobs"), "{}", shown(&driver));
    told.borrow_mut().list = Some("4714 node[01-30]\n");
    driver.advance_ms(31_000);
    assert!(
        shown(&driver).contains("other jobs than those that run now: p runs it again"),
        "{}",
        shown(&driver)
    );
    driver.press("p");
    assert!(!shown(&driver).contains("other jobs") && shown(&driver).contains(" -> "), "{}", shown(&driver));
    let mut made = open_session("sim:demo");
    made.press("8 c");
    assert!(shown(&made).contains("SIMULATED"), "{}", shown(&made));
    assert!(made.copied[0].ends_with("jobs --filter 'switches>1,hosts>1'"), "{:?}", made.copied);
}

/// A line names no list but that of its answers.
#[test]
fn a_line_does_not_name_a_list_that_engines_were_not_asked_with() {
    let (mut driver, told) = listed(Some(LIST));
    named(&mut driver, "first");
    driver.press("p 6 c");
    told.borrow_mut().list = Some("4714 node[01-30]\n");
    named(&mut driver, "second");
    driver.press("6 c 8 p 6 c");
    let [first, between, second] = &driver.copied[..] else { panic!("{:?}", driver.copied) };
    assert!(first.contains("--jobs first") && second.contains("--jobs second"), "{first}\n{second}");
    assert!(!between.contains("--jobs"), "{between}");
}

/// The proposal is work that Esc stops, and what was there stays.
#[test]
fn esc_stops_sar() {
    let mut driver = open_session("sim:demo");
    driver.press("8");
    let now = |driver: &mut TestSession, key: &str| {
        let key = Key::parse_sequence(key).pop().unwrap();
        update(&mut driver.state, SessionEvent { at_ms: 0, what: SessionInput::Key(key) })
    };
    let begun = now(&mut driver, "p");
    let asked = begun_task::<ProposalTask>(&begun);
    let sar = |job: &ProposalTask| job.engine.id == "sar";
    let task = asked.filter(|(_, job)| job.downcast().is_some_and(sar)).map(|(task, _)| task);
    assert!(task.is_some() && shown(&driver).contains("sar routes"), "{begun:?}");
    let ended = now(&mut driver, "esc");
    assert!(
        ended.iter().any(|effect| matches!(effect, Effect::Cancel(it) if Some(*it) == task)),
        "{ended:?}"
    );
    assert!(shown(&driver).contains("p runs sar"), "{}", shown(&driver));
    assert_eq!(driver.state.loading, LoadState::Done);
    let late = Box::new(JobListOutcome(Err("late".to_owned())));
    driver.send_input(SessionInput::Finished { task: task.unwrap(), outcome: late });
}

/// A squeue that hangs keeps no key waiting.
#[test]
fn a_slurm_that_hangs_blocks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (squeue, config) = (folder.path().join("squeue"), folder.path().join("config.toml"));
    std::fs::write(&squeue, "#!/bin/sh\nexec sleep 20\n").unwrap();
    std::fs::set_permissions(&squeue, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::write(&config, format!("[jobs]\nslurm = true\nsqueue = \"{}\"\n", squeue.display())).unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--source", "sim:demo", "--config", &config], 80, 24);
    session.until("Map");
    session.press("8");
    session.until("is being read");
    session.press("3");
    session.until("3 Links");
    session.press("q");
    session.press("q");
}

/// With an LMC above 0 the figures are of one LID of several, and the screen says which, as FN-708 does elsewhere.
#[test]
fn the_screen_says_which_lid_its_figures_are_of() {
    for (source, several) in [("sim:kary,k=4,n=2,lmc=2", true), ("sim:kary,k=4,n=2", false)] {
        let mut driver = open_session(source);
        driver.press("8");
        let screen = text(&frame(&driver.state, &appearance("mono", ColorDepth::Sixteen)));
        let words = "each sender uses one of up to 4 LIDs of a port, by its path bits\n";
        assert_eq!(screen.contains(words), several, "{source}: {screen}");
        assert!(screen.contains("SIMULATED jobs"), "{screen}");
    }
}
