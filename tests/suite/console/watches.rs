//! Counters under watch: a fabric of the simulator whose ports count what a story says, swept through the real path at
//! times that the test lets pass.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::colour_independence::assert_readable_without_colours;
use super::fixture::{SIZES, appearance, frame, golden, look, styles, text};
use super::session_replay::{ReplayError, replay_watched};
use super::test_session::{ReplayBox, Sweeper, TestSession};
use super::test_session::{begun_task, first_task};
use fabdeck::catalogue::severity::Severity;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::{next_wake_ms, update};
use fabdeck::console::features::screen::Screen;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::features::snapshot_change::{SnapshotOutcome, SnapshotTask};
use fabdeck::console::features::watch::sweep_cycle::{SweepOutcome, SweepTask};
use fabdeck::console::features::watch::watch_state::WatchSettings;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::fabric_model::ProposalState;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Element, Fabric, Lid, NameMap, Names, NodeId, PortNum, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

pub const WAIT: Counter = Counter::PortXmitWaitExt;
pub const SENT: Counter = Counter::PortXmitDataExtended;
pub const ERRORS: Counter = Counter::SymbolErrorCounterExt;

/// Words a second of a cable of the demo, which is 4x HDR.
const FULL: u64 = 6_060_000_000;

/// What the port of a node has counted after so many seconds.
pub type CounterStory = fn(u64) -> Vec<(&'static str, u8, Counter, u64)>;

pub fn quiet(_: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    Vec::new()
}

/// From the first second on everybody sends to node01; after a minute nobody does any more.
pub fn incast(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let at = second.min(60);
    vec![
        ("rack1-leaf", 2, WAIT, 900_000 * at),
        ("rack1-leaf", 2, SENT, FULL * 95 / 100 * at),
        ("spine-1", 2, WAIT, 400_000 * at),
        ("spine-1", 2, SENT, FULL * 95 / 100 * at),
        ("rack2-leaf", 8, SENT, FULL * 95 / 100 * at),
        ("node10 mlx5_0", 1, WAIT, 300_000 * at),
        ("node10 mlx5_0", 1, SENT, FULL * 30 / 100 * at),
        ("node11 mlx5_0", 1, WAIT, 200_000 * at),
        ("node11 mlx5_0", 1, SENT, FULL * 70 / 100 * at),
        ("node12 mlx5_0", 1, WAIT, 40_000 * at),
        ("node12 mlx5_0", 1, SENT, FULL * 10 / 100 * at),
        ("rack2-leaf", 3, ERRORS, at.min(20)),
    ]
}

/// The same, with hosts that wait for a good part of the time.
pub fn long_incast(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let mut story = incast(second);
    story.iter_mut().filter(|(.., of, _)| *of == WAIT).for_each(|(.., value)| *value *= 1000);
    story
}

/// An uplink that is too narrow, and an adapter that suffers.
fn narrow(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    vec![
        ("rack3-leaf", 7, WAIT, 700_000 * second),
        ("rack3-leaf", 7, SENT, FULL * second),
        ("node20 mlx5_0", 1, WAIT, 150_000 * second),
        ("node20 mlx5_0", 1, SENT, FULL / 5 * second),
    ]
}

pub const EVERY: WatchSettings = WatchSettings {
    interval_ms: 5000,
    past_bytes: 0,
    thresholds: fabdeck_fabric::counters::Thresholds {
        congestion: 100_000.0,
        fair_share: 0.5,
        errors_per_hour: 10.0,
        flaps_per_hour: 1.0,
        brief_wait: 0.01,
    },
};

/// The demo, and its sweeps. While the cell says so, no port answers.
pub fn lab(story: CounterStory, broken: Rc<Cell<bool>>) -> (Snapshot, Sweeper) {
    lab_where(move |world, look, second| {
        if broken.get() {
            return Err("FD-5003: the adapter is gone".to_owned());
        }
        let mut ports = std::collections::BTreeMap::<_, CounterValues>::new();
        for (name, number, counter, count) in story(second) {
            ports.entry((node(look, name), PortNum(number))).or_default().insert(counter, Some(count));
        }
        for ((node, number), values) in ports {
            world.set_counters(node, number, values);
        }
        Ok(())
    })
}

pub fn node(look: &Snapshot, name: &str) -> NodeId {
    let [node] = look.names.find(look.fabric(), name, None)[..] else { panic!("{name}") };
    node
}

/// The demo, in which this happens before each sweep.
fn lab_where(
    meddle: impl FnMut(&mut SimulatedFabric, &Snapshot, u64) -> Result<(), String> + 'static,
) -> (Snapshot, Sweeper) {
    lab_from("demo", |_| (), meddle)
}

/// The same of a fabric by its name, and what happens before the first look.
pub fn lab_from(
    spec: &str,
    prepare: impl FnOnce(&mut SimulatedFabric),
    mut meddle: impl FnMut(&mut SimulatedFabric, &Snapshot, u64) -> Result<(), String> + 'static,
) -> (Snapshot, Sweeper) {
    let fabric = generate(&spec.parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let mut world = SimulatedFabric::new(&fabric, &Tables::default()).unwrap();
    prepare(&mut world);
    let simulator = SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1));
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim:demo", port, ExchangePolicy::default(), Keys::default());
    let observed = source
        .observe(ReadOptions { tables: true, counters: true, ..ReadOptions::default() }, &mut NoObserver)
        .unwrap();
    let look = Snapshot::new("sim:demo", observed, &NameMap::default());
    let mut known = look.clone();
    let sweep = move |not_before: Duration| {
        simulator.with_simulator(|simulator| meddle(simulator.fabric_mut(), &known, not_before.as_secs()))?;
        read_sweep(&mut source, &mut known, not_before, &mut NoObserver).map_err(|error| error.to_string())
    };
    (look, Sweeper(Box::new(sweep)))
}

pub fn watching(story: CounterStory) -> TestSession {
    breakable(story, Rc::default())
}

fn breakable(story: CounterStory, broken: Rc<Cell<bool>>) -> TestSession {
    let (look, sweeper) = lab(story, broken);
    TestSession::open_watching(look, sweeper, EVERY, Size { width: 80, height: 24 })
}

/// So many sweeps.
pub fn swept(driver: &mut TestSession, count: usize) {
    for _ in 0..count {
        driver.advance_ms(5000);
    }
}

pub fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

pub fn messages(driver: &TestSession) -> Vec<(Severity, &str)> {
    driver.state.messages.iter().map(|said| (said.severity, said.text.as_str())).collect()
}

pub fn counted(driver: &TestSession, words: &str) -> usize {
    messages(driver).iter().filter(|(_, text)| text.contains(words)).count()
}

/// Each with what was pressed to see it.
fn screens() -> Vec<(&'static str, TestSession)> {
    let of = |story: CounterStory, sweeps: usize, keys: &str| {
        let mut driver = watching(story);
        swept(&mut driver, sweeps);
        driver.press(keys);
        driver
    };
    let mut files = TestSession::open_watching(one_reading(), Sweeper::default(), EVERY, Size::default());
    files.press("4");
    let mut off = TestSession::open(look("sim:demo"), Size::default());
    off.press("4");
    vec![
        ("verdicts", of(incast, 8, "4 down")),
        ("most waiting", of(incast, 8, "4 V")),
        ("most data", of(incast, 8, "4 V V down")),
        ("most errors", of(incast, 8, "5 :previous-view enter")),
        ("filtered", of(incast, 8, "4 V / role=contributor enter")),
        ("too narrow", of(narrow, 3, "4")),
        ("details of a port", of(incast, 8, "4 d")),
        ("quiet", of(quiet, 4, "4")),
        ("first sweep", of(quiet, 0, "4")),
        ("one sweep", of(quiet, 1, "4")),
        ("paused", of(quiet, 1, "4 W")),
        ("paused later", of(incast, 8, "4 W")),
        ("links by load", of(incast, 8, "2 :sort space load enter")),
        ("map by load", of(incast, 8, "V V V right")),
        ("one reading", files),
        ("counters are not watched", off),
    ]
}

/// What files say: nothing that could be swept.
fn one_reading() -> Snapshot {
    let mut look = look("sim:demo");
    look.observation.reading = None;
    look.source = "demo.topo".to_owned();
    look
}

#[test]
fn every_screen_under_watch() {
    for (name, mut driver) in screens() {
        let colours = appearance("dark", ColorDepth::True);
        let ascii = Appearance { signs: Symbols::ASCII, ..appearance("mono", ColorDepth::Mono) };
        let mut all = String::new();
        for (at, (width, height)) in SIZES.into_iter().enumerate() {
            driver.send_input(SessionInput::Resized(Size { width, height }));
            let buffer = frame(&driver.state, &colours);
            all.push_str(&format!("== {width}x{height}\n{}", text(&buffer)));
            if at < 2 {
                all.push_str(&format!("-- styles\n{}", styles(&buffer, colours.theme.blank())));
            }
        }
        driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
        let plain = text(&frame(&driver.state, &ascii));
        assert!(plain.is_ascii(), "{name}: {plain}");
        all.push_str(&format!("== ASCII\n{plain}"));
        golden(&format!("watch {name}"), &all);
        let mono = appearance("mono", ColorDepth::Mono);
        let (colour, mono) = (frame(&driver.state, &colours), frame(&driver.state, &mono));
        assert_eq!(text(&colour), text(&mono), "{name}: the same signs with colours and without");
        assert_readable_without_colours(name, &colour, &mono);
    }
}

/// Steps of heat have a sign each, in Unicode and in ASCII.
#[test]
fn no_step_of_heat_is_shown_by_colour_alone() {
    for signs in [Symbols::UNICODE, Symbols::ASCII] {
        let all: std::collections::BTreeSet<&str> = signs.levels.into_iter().chain([signs.untold]).collect();
        assert_eq!(all.len(), 9);
    }
}

#[test]
fn what_changes_is_said_once() {
    let mut driver = watching(incast);
    swept(&mut driver, 8);
    for (words, times) in [
        ("hot-spot: node01 mlx5_0[1], which rack1-leaf[2] leads to: PortXmitWait 900,00", 1),
        ("link rack2-leaf[3]", 1),
        ("hot-spot ended", 0),
    ] {
        assert_eq!(counted(&driver, words), times, "{words}: {:?}", messages(&driver));
    }
    swept(&mut driver, 8);
    assert_eq!(counted(&driver, "hot-spot: node01"), 1, "{:?}", messages(&driver));
    assert_eq!(counted(&driver, "hot-spot ended: node01 mlx5_0[1]"), 1, "{:?}", messages(&driver));
    // Nobody waits any more, and the link had its errors within this hour.
    driver.press("4");
    let seen = shown(&driver);
    assert!(seen.contains("link errors") && !seen.contains("contr"), "{seen}");
}

#[test]
fn ports_that_do_not_tell_whether_they_wait_can_be_listed() {
    fn stuck(_: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        vec![("node12 mlx5_0", 1, WAIT, u64::MAX)]
    }
    let mut driver = watching(stuck);
    swept(&mut driver, 3);
    driver.press("4");
    assert!(shown(&driver).contains("1 unknown; 3 sweeps"), "{}", shown(&driver));
    assert!(!shown(&driver).contains("node12"), "nothing is above a threshold: {}", shown(&driver));
    driver.press("V / role=unknown enter");
    let seen = shown(&driver);
    assert!(seen.contains("node12") && seen.contains("1 of 1, 162 in all"), "{seen}");
}

#[test]
fn cleared_counters_are_reported() {
    fn cleared(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        vec![("rack1-leaf", 2, SENT, if second < 10 { 1_000_000 + second } else { second })]
    }
    let mut driver = watching(cleared);
    swept(&mut driver, 6);
    assert_eq!(counted(&driver, "the counters of rack1-leaf[2] were cleared"), 1, "{:?}", messages(&driver));
}

/// A sweep is nobody's work: no progress, and Esc does not end it.
#[test]
fn a_sweep_that_fails_is_reported_once_and_so_is_its_end() {
    let broken = Rc::new(Cell::new(false));
    let mut driver = breakable(incast, broken.clone());
    swept(&mut driver, 3);
    broken.set(true);
    swept(&mut driver, 5);
    assert_eq!(
        counted(&driver, "counters could not be read and are read again; r reads the fabric again: FD-5003"),
        1
    );
    assert_eq!(driver.state.known.watch.sweeps, 3);
    assert!(shown(&driver).contains("live 5 s failing"), "{}", shown(&driver));
    broken.set(false);
    swept(&mut driver, 2);
    assert_eq!(counted(&driver, "counters are read again"), 1, "{:?}", messages(&driver));
    assert_eq!(driver.state.known.watch.sweeps, 5);
    assert!(driver.state.tasks.running_tasks().is_empty());
    broken.set(true);
    swept(&mut driver, 1);
    assert_eq!(counted(&driver, "counters could not be read"), 2, "again is another time");
}

#[test]
fn a_pause_reads_nothing_and_what_happened_meanwhile_is_no_interval() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    assert!(shown(&driver).contains("live 5 s"), "{}", shown(&driver));
    driver.press("W");
    assert!(shown(&driver).contains("paused"), "{}", shown(&driver));
    swept(&mut driver, 20);
    assert_eq!(driver.state.known.watch.sweeps, 4);
    assert_eq!(next_wake_ms(&driver.state), None);
    let reading = driver.state.known.watch.reading.clone().unwrap();
    driver.press("W").advance_ms(0);
    let watch = &driver.state.known.watch;
    assert_eq!(watch.sweeps, 5, "it goes on at once");
    assert!(std::sync::Arc::ptr_eq(&reading, watch.reading.as_ref().unwrap()), "no verdict over the pause");
    swept(&mut driver, 1);
    assert!(!std::sync::Arc::ptr_eq(&reading, driver.state.known.watch.reading.as_ref().unwrap()));
}

#[test]
fn the_next_sweep_waits_for_its_time() {
    let mut driver = watching(quiet);
    driver.advance_ms(0);
    for (ms, sweeps) in [(0, 1), (4999, 1), (1, 2), (10, 2), (20_000, 3), (0, 3)] {
        driver.advance_ms(ms);
        assert_eq!(driver.state.known.watch.sweeps, sweeps, "{ms}");
    }
}

/// Work of the session that nobody has done yet.
fn wanted(driver: &mut TestSession, at_ms: u64, what: SessionInput) -> Vec<Effect> {
    let mut effects = update(&mut driver.state, SessionEvent { at_ms, what });
    effects.retain(|effect| !matches!(effect, Effect::Log(_)));
    effects
}

/// It is told once, Esc does not end it, and the fabric rests for as long as it took.
#[test]
fn a_slow_sweep_is_reported_and_followed_by_a_pause() {
    let mut driver = watching(quiet);
    swept(&mut driver, 1);
    let begun = driver.state.now_ms + 5000;
    let effects = wanted(&mut driver, begun, SessionInput::Tick);
    let (task, job) = first_task::<SweepTask>(&effects);
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert!(job.downcast::<SweepTask>().unwrap().not_before >= Duration::from_secs(5));
    assert!(driver.state.tasks.running_tasks().is_empty(), "nobody waits for it");
    assert_eq!(next_wake_ms(&driver.state), Some(begun + 50_000));
    assert!(wanted(&mut driver, begun + 100, SessionInput::Key("esc".parse().unwrap())).is_empty());
    for later in [49_999, 50_000, 55_000] {
        assert!(wanted(&mut driver, begun + later, SessionInput::Tick).is_empty(), "one at a time");
    }
    assert_eq!(counted(&driver, "reading counters has taken 50 s so far"), 1, "{:?}", messages(&driver));
    assert_eq!(next_wake_ms(&driver.state), None);
    let sweep = Box::new(SweepOutcome(Err("FD-5003: no answer".to_owned())));
    wanted(&mut driver, begun + 60_000, SessionInput::Finished { task, outcome: sweep });
    assert_eq!(next_wake_ms(&driver.state), Some(begun + 120_000), "at most half of the time");
    // While somebody looks anew nothing is swept; what a pause ends is cancelled, and comes too late.
    let effects = wanted(&mut driver, begun + 120_000, SessionInput::Tick);
    let [Effect::Begin { task, .. }] = effects[..] else { panic!("{effects:?}") };
    let effects = wanted(&mut driver, begun + 120_001, SessionInput::Key("W".parse().unwrap()));
    assert!(matches!(effects[..], [Effect::Cancel(ended)] if ended == task), "{effects:?}");
    let late = Box::new(SweepOutcome(Err("late".to_owned())));
    wanted(&mut driver, begun + 120_002, SessionInput::Finished { task, outcome: late });
    assert_eq!(counted(&driver, "late"), 0);
    wanted(&mut driver, begun + 120_003, SessionInput::Key("W".parse().unwrap()));
    wanted(&mut driver, begun + 120_004, SessionInput::Key("r".parse().unwrap()));
    assert!(wanted(&mut driver, begun + 200_000, SessionInput::Tick).is_empty(), "the fabric is being read");
}

/// The cursor is on a port, not on a row.
#[test]
fn the_cursor_stays_on_its_port() {
    fn turning(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        let late = second.saturating_sub(10);
        vec![
            ("rack1-leaf", 2, WAIT, 500_000 * second),
            ("rack2-leaf", 2, WAIT, 400_000 * second.min(10) + 4_000_000 * late),
            ("rack3-leaf", 2, WAIT, 300_000 * second.min(10) + 9_000_000 * late),
        ]
    }
    for keys in ["4", "4 V"] {
        let mut driver = watching(turning);
        swept(&mut driver, 3);
        driver.press(keys).press("down");
        let on = |driver: &TestSession| {
            let known = &driver.state.known;
            (
                known.element(driver.state.current().current(known).unwrap()),
                driver.state.current().table().cursor,
            )
        };
        let (before, at) = on(&driver);
        assert_eq!((before.as_deref(), at), (Some("port:rack2-leaf[2]"), 1), "{keys}");
        driver.press("up");
        let first = on(&driver).0;
        swept(&mut driver, 2);
        assert_eq!(on(&driver), (first, 2), "{keys}: another is the worst now");
    }
}

/// What is copied is what runs: the same verdict on the command line.
#[test]
fn the_line_that_is_copied_is_the_command() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    driver.press("4 c");
    assert_eq!(driver.copied, ["fabdeck --source sim:demo hotspots --interval 5s"]);
    let mut files = TestSession::open_watching(one_reading(), Sweeper::default(), EVERY, Size::default());
    files.press("4 c W");
    assert_eq!(files.copied, ["fabdeck --source demo.topo show counters"]);
    assert_eq!(counted(&files, "only one reading of counters"), 1);
}

#[test]
fn a_session_that_watched_is_replayed() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    driver.press("4 V down f");
    swept(&mut driver, 2);
    driver.press("W").press("W r");
    swept(&mut driver, 3);
    let (look, sweeper) = lab(incast, Rc::default());
    let recorded = driver.events.iter().map(String::as_str);
    let again =
        replay_watched(&std::sync::Arc::new(look), (sweeper, ReplayBox::default()), recorded).unwrap();
    let colours = appearance("dark", ColorDepth::True);
    assert_eq!(frame(&again, &colours), frame(&driver.state, &colours));
    assert_eq!(again.screen, ScreenId::Hotspots);
    // Sweeps alone tell a fabric that counts otherwise: nothing was pressed yet.
    let (look, sweeper) = lab(narrow, Rc::default());
    // The first two keys are those that lead to the tree.
    let mut keys = driver.events.iter().enumerate().filter(|(_, line)| line.contains("\"key\""));
    let unpressed = driver.events[..keys.nth(2).unwrap().0].iter().map(String::as_str);
    let other = replay_watched(&std::sync::Arc::new(look), (sweeper, ReplayBox::default()), unpressed);
    assert!(matches!(other, Err(ReplayError::Differs { .. })), "{other:?}");
}

/// A long list is gone through behind the screen too, under the filter that stands.
#[test]
fn a_filter_holds_over_sweeps() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    driver.press("4 V / waiting>100000 enter");
    let rows = |driver: &TestSession| driver.state.current().table().selection.rows.len();
    assert_eq!(rows(&driver), 4);
    swept(&mut driver, 15);
    assert_eq!(rows(&driver), 0, "{}", shown(&driver));
    assert_eq!(driver.state.screens.hotspots.table().filter, "waiting>100000");
}

/// A cable that goes down between two sweeps is gone from every screen, and back when it is up again; what is marked stays
/// marked, and the series goes on.
#[test]
fn a_fabric_that_moves_is_followed() {
    let (look, sweeper) = lab_where(|world, look, second| {
        world.set_link(node(look, "rack1-leaf"), PortNum(8), !(10..20).contains(&second));
        Ok(())
    });
    let cables = |driver: &TestSession| driver.state.snapshot().unwrap().fabric().links().len();
    let all = look.fabric().links().len();
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 100, height: 30 });
    swept(&mut driver, 1);
    driver.press("V f");
    let marked = driver.state.known.marks.iter().count();
    assert_eq!((cables(&driver), marked), (all, 1));
    swept(&mut driver, 2);
    assert_eq!(cables(&driver), all - 1, "{:?}", messages(&driver));
    assert!(counted(&driver, "link down: rack1-leaf[8] to spine-1[2]") == 1, "{:?}", messages(&driver));
    assert_eq!(driver.state.known.marks.iter().count(), marked);
    let before = driver.state.known.watch.history.port_levels(fabdeck_fabric::PortId(0), 100).count();
    // Ports without a cable have their turn within eight sweeps.
    swept(&mut driver, 8);
    assert_eq!(cables(&driver), all);
    assert!(counted(&driver, "link up: rack1-leaf[8] to spine-1[2]") == 1, "{:?}", messages(&driver));
    let after = driver.state.known.watch.history.port_levels(fabdeck_fabric::PortId(0), 100).count();
    assert!(before >= 2 && after == before + 8, "{before} {after}");
}

/// Tables that somebody else writes are told once, and what is shown of paths is that of the tables as they are.
#[test]
fn tables_that_drift_are_reported_and_shown() {
    let (look, sweeper) = lab_where(|world, look, second| {
        let to = look.fabric().port_by_lid(Lid::new(16).unwrap()).unwrap();
        assert_eq!(look.port_name(to), "node06 mlx5_0[1]");
        if second == 10 {
            world.set_entry(node(look, "rack1-leaf"), Lid::new(16).unwrap(), PortNum(9));
        }
        Ok(())
    });
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 100, height: 30 });
    let exit = |driver: &TestSession| {
        let look = driver.state.snapshot().unwrap();
        look.observation.tables.lft(node(look, "rack1-leaf")).unwrap().get(Lid::new(16).unwrap())
    };
    assert_eq!(exit(&driver), Some(PortNum(7)));
    // All tables are read again within the drift period.
    swept(&mut driver, 61);
    assert_eq!(exit(&driver), Some(PortNum(9)), "{:?}", messages(&driver));
    let told =
        messages(&driver).iter().filter(|(_, text)| text.starts_with("tables: rack1-leaf forwards")).count();
    assert_eq!(told, 1, "{:?}", messages(&driver));
    assert!(counted(&driver, "LID 16 to port 9, before to port 7") == 1, "{:?}", messages(&driver));
    assert!(counted(&driver, "r reads all at once") == 1, "{:?}", messages(&driver));
}

/// A cable that counts errors and goes down too.
fn worn(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let down = u64::from(second >= 15);
    vec![
        ("rack2-leaf", 3, ERRORS, second.min(20)),
        ("rack2-leaf", 3, Counter::LinkDownedCounterExt, 3 * down),
    ]
}

#[test]
fn what_a_cable_counts_is_reported_by_kind_and_listed_among_the_links() {
    let mut driver = watching(worn);
    swept(&mut driver, 6);
    assert_eq!(counted(&driver, "errors in 10 s, counted at rack2-leaf[3]"), 1, "{:?}", messages(&driver));
    let flaps = counted(&driver, "flapped 3 times in 15 s, counted at rack2-leaf[3]");
    assert_eq!(flaps, 1, "{:?}", messages(&driver));
    driver.press("3 / errors>0 enter");
    assert!(shown(&driver).contains("1 of 1, 81 in all"), "{}", shown(&driver));
}

/// What was wrong hours ago is not what is wrong now.
#[test]
fn errors_are_counted_over_the_last_hour() {
    let (look, sweeper) = lab(worn, Rc::default());
    let settings = WatchSettings { interval_ms: 600_000, ..EVERY };
    let mut driver = TestSession::open_watching(look, sweeper, settings, Size { width: 80, height: 24 });
    let in_trouble = |driver: &TestSession| driver.state.known.watch.reading.as_ref().unwrap().in_trouble;
    driver.advance_ms(600_000).advance_ms(600_000);
    assert_eq!(in_trouble(&driver), 1);
    for _ in 0..6 {
        driver.advance_ms(600_000);
    }
    assert_eq!(in_trouble(&driver), 0);
}

#[test]
fn a_look_that_fails_leaves_the_watch_as_it_was() {
    let mut driver = watching(quiet);
    swept(&mut driver, 2);
    let at_ms = driver.state.now_ms;
    let [key] = fabdeck::console::model::key::Key::parse_sequence("r")[..] else { panic!() };
    let effects = update(&mut driver.state, SessionEvent { at_ms, what: SessionInput::Key(key) });
    let begun = begun_task::<SnapshotTask>(&effects).map(|(task, _)| task);
    let outcome = Box::new(SnapshotOutcome(Err("FD-5003: the adapter is gone".to_owned())));
    driver.send_input(SessionInput::Finished { task: begun.unwrap(), outcome });
    assert_eq!(counted(&driver, "the adapter is gone"), 1);
    let before = driver.state.known.watch.sweeps;
    swept(&mut driver, 2);
    assert_eq!(driver.state.known.watch.sweeps, before + 2);
}

/// An engine that takes longer than a sweep is not begun again at each; what moved meanwhile comes after it.
#[test]
fn a_fabric_that_moves_waits_for_engines() {
    let (look, sweeper) = lab_where(|world, look, second| {
        world.set_link(node(look, "rack1-leaf"), PortNum(8), second < 10);
        Ok(())
    });
    let cables = |driver: &TestSession| driver.state.snapshot().unwrap().fabric().links().len();
    let all = look.fabric().links().len();
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 100, height: 30 });
    swept(&mut driver, 1);
    driver.state.known.proposed.insert("minhop", ProposalState::Waiting);
    swept(&mut driver, 4);
    assert_eq!(cables(&driver), all);
    assert_eq!(counted(&driver, "link down: rack1-leaf[8]"), 1, "{:?}", messages(&driver));
    assert_eq!(
        counted(&driver, "engines continue with the fabric before the change"),
        1,
        "{:?}",
        messages(&driver)
    );
    driver.state.known.proposed.clear();
    swept(&mut driver, 1);
    assert_eq!(cables(&driver), all - 1);
}

/// A host that falls silent is shown so among the hosts and in its details until it answers again.
#[test]
fn a_node_that_falls_silent_is_shown_as_silent() {
    let (look, sweeper) = lab_where(|world, look, second| {
        world.set_silent(node(look, "node06"), (10..20).contains(&second));
        Ok(())
    });
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 120, height: 30 });
    driver.press("V V / node06 enter");
    let mut seen = Vec::new();
    for _ in 0..6 {
        swept(&mut driver, 1);
        let row = shown(&driver).lines().any(|line| line.contains("node06") && line.contains("Active  no"));
        driver.press("d");
        seen.push((row, shown(&driver).contains("no answer: it stopped answering")));
        driver.press("esc");
    }
    assert_eq!(seen, [false, false, true, true, false, false].map(|silent| (silent, silent)));
}

/// The agents of all ports fall silent in the sweep in which a cable goes down: that is told all the same.
#[test]
fn what_moved_is_reported_although_nothing_is_counted() {
    let (look, Sweeper(mut sweep)) = lab_where(|world, look, second| {
        world.set_link(node(look, "rack1-leaf"), PortNum(8), second < 10);
        Ok(())
    });
    let all = look.fabric().links().len();
    let sweeper = Sweeper(Box::new(move |not_before| {
        let mut swept = sweep(not_before)?;
        let mut mute = (*swept.sweep).clone();
        if not_before >= Duration::from_secs(10) {
            (mute.samples, mute.at) = (Vec::new(), Vec::new());
        }
        swept.sweep = mute.into();
        Ok(swept)
    }));
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 100, height: 30 });
    swept(&mut driver, 4);
    assert_eq!(counted(&driver, "link down: rack1-leaf[8]"), 1, "{:?}", messages(&driver));
    assert_eq!(driver.state.snapshot().unwrap().fabric().links().len(), all - 1);
    assert_eq!(counted(&driver, "FD-6320"), 1);
}

/// A host that comes up moves the numbers of those behind it: names, marks and verdicts stay with whom they are of.
#[test]
fn a_new_node_takes_no_others_place() {
    let named =
        |fabric: &Fabric, name: &str| Names::new(fabric, &NameMap::default()).find(fabric, name, None)[0];
    let up = move |world: &mut SimulatedFabric, up: bool| {
        let host = named(world.snapshot(), "node06");
        world.set_link(host, PortNum(1), up);
    };
    let (look, sweeper) = lab_from(
        "demo",
        move |world| up(world, false),
        move |world, _, second| {
            up(world, second >= 15);
            // The numbers of the world are its own: those of the look shift.
            let (host, waits) = (named(world.snapshot(), "node30"), [(WAIT, Some(900_000 * second))]);
            world.set_counters(host, PortNum(1), CounterValues::from_iter(waits));
            Ok(())
        },
    );
    let nodes = look.fabric().nodes().len();
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 100, height: 30 });
    driver.press("3 / node30 enter f 4");
    swept(&mut driver, 3);
    let marked = |driver: &TestSession| {
        let look = driver.state.snapshot().unwrap();
        let name = |what| Element::from_id(look.fabric(), &look.names, what).to_string();
        driver.state.known.marks.iter().map(name).collect::<Vec<_>>()
    };
    let held = |driver: &TestSession| {
        let (look, reading) =
            (driver.state.snapshot().unwrap(), driver.state.known.watch.reading.as_ref().unwrap());
        let held = reading.watched.verdict.congested_adapters.iter();
        held.map(|held| look.port_name(held.at.port)).collect::<Vec<_>>()
    };
    let waited = |driver: &TestSession| {
        let look = driver.state.snapshot().unwrap();
        let port = look.fabric().port_of(node(look, "node30"), PortNum(1)).unwrap();
        driver.state.known.watch.history.port_levels(port, 100).collect::<Vec<_>>()
    };
    let before = (held(&driver), marked(&driver));
    assert_eq!((before.0[0].as_str(), before.1.len()), ("node30 mlx5_0[1]", 1));
    let history = waited(&driver);
    swept(&mut driver, 3);
    assert!(waited(&driver).starts_with(&history) && !history.is_empty(), "{:?}", waited(&driver));
    assert_eq!(driver.state.snapshot().unwrap().fabric().nodes().len(), nodes + 1, "{:?}", messages(&driver));
    assert_eq!(counted(&driver, "new: node06"), 1, "{:?}", messages(&driver));
    assert_eq!((held(&driver), marked(&driver)), before);
}
