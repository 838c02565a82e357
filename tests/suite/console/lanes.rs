//! The screen Lanes: what it shows of moves and of tables, when that is read, and what may be applied from it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::fake_changes::offer;
use super::fixture::{SIZES, appearance, frame, golden, look, text};
use super::test_session::{ChangerBox, TestSession};
use super::watches::{CounterStory, EVERY, incast, lab, quiet, shown, swept};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::changer::{
    Acceptance, ChangeOffer, ChangeOverview, Changer, PlanSource, WriteAccess,
};
use fabdeck::operations::lanes::lane_request::LaneRequest;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::lanes::slow_lanes::{LaneState, lane_state};
use fabdeck_change::{ChangeStatus, GuardRequest};
use fabdeck_fabric::{Lane, Lid, NameMap, ServiceLevel, Sl2Vl, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};
use fabdeck_routing::lanes::{FlowMoves, MovedFlows, propose_moves};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

/// What stands in the fabric besides the verdict, and what was asked of whoever makes changes.
#[derive(Default)]
struct Script {
    moved: Vec<MovedFlows>,
    /// Hosts with an agent.
    agents: BTreeSet<Lid>,
    /// No table of the first switch has a slow lane.
    bare: bool,
    fails: bool,
    asked: usize,
    offered: usize,
}

#[derive(Clone, Default)]
struct Lanes(Rc<RefCell<Script>>);

impl Lanes {
    fn session(&self, story: CounterStory, writing: WriteAccess) -> TestSession {
        let (look, sweeper) = lab(story, Rc::default());
        let changing = ChangerBox(Box::new(self.clone()));
        TestSession::open_watching_changing(
            look,
            (sweeper, EVERY),
            (changing, writing),
            Size { width: 100, height: 24 },
        )
    }
}

/// The demo with its tables of lanes; bare, one switch puts all levels on lane 0.
fn laned(bare: bool) -> Snapshot {
    let world = SimulatedFabric::new(look("sim:demo").fabric(), &Tables::default()).unwrap();
    let simulator = SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1));
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim:demo", port, ExchangePolicy::default(), Keys::default());
    let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
    let mut observed = source.observe(wanted, &mut NoObserver).unwrap();
    let first = observed.fabric.switches().map(|(id, _)| id).next().unwrap();
    if bare {
        let mut one = Sl2Vl::default();
        (0..16).filter_map(ServiceLevel::new).for_each(|level| one.set(level, Lane::default()));
        observed.tables.node_mut(first).sl2vl.values_mut().for_each(|row| *row = one);
    }
    Snapshot::new("sim:demo", observed, &NameMap::default())
}

impl Changer for Lanes {
    fn read_lanes(&mut self, asked: &LaneRequest) -> Result<LaneState, String> {
        let mut script = self.0.borrow_mut();
        script.asked += 1;
        if script.fails {
            return Err("FD-5003: the adapter is gone".to_owned());
        }
        let look = laned(script.bare);
        let moves = match &asked.reading {
            Some(reading) => {
                propose_moves(look.fabric(), &reading.watched.verdict, &reading.watched.told, &script.moved)
            }
            None => FlowMoves::keep_all(look.fabric(), &script.moved),
        };
        let agents: Vec<(Lid, Option<bool>)> = look
            .fabric()
            .ports()
            .filter_map(|(_, port)| port.facts.lid)
            .map(|lid| (lid, Some(script.agents.contains(&lid))))
            .collect();
        Ok(lane_state(&look, &moves, &agents, LevelsInForce::One))
    }

    fn prepare_offer(&mut self, planned: &PlanSource) -> Result<ChangeOffer, String> {
        assert!(matches!(planned, PlanSource::Lanes(_)));
        self.0.borrow_mut().offered += 1;
        let migrations = vec!["2 flows to node01 mlx5_0[1] (LID 11) to the slow lane, level 1".to_owned()];
        Ok(ChangeOffer { migrations, ..offer(0) })
    }

    fn begin_change(&mut self, _: &ChangeOffer, _: &Acceptance) -> Result<String, String> {
        Err("not here".to_owned())
    }

    fn list_changes(&mut self) -> Result<ChangeOverview, String> {
        Ok(ChangeOverview::default())
    }

    fn ask_guard(&mut self, _: &str, _: &GuardRequest) -> Result<ChangeStatus, String> {
        Err("not here".to_owned())
    }
}

fn lid_of(name: &str) -> Lid {
    let look = look("sim:demo");
    let [node] = look.names.find(look.fabric(), name, None)[..] else { panic!("{name}") };
    let (_, port) = look.fabric().ports_of(node).find(|(_, port)| port.facts.lid.is_some()).unwrap();
    port.facts.lid.unwrap()
}

/// Flows of node10 to node01 are on the slow lane.
fn moved() -> MovedFlows {
    let level = |level| ServiceLevel::new(level).unwrap();
    let hosts = [lid_of("node10 mlx5_0")].into();
    MovedFlows { hot_spot: lid_of("node01 mlx5_0"), fast: level(0), slow: level(1), hosts, gone: None }
}

fn at_lanes(script: Script, story: CounterStory, sweeps: usize, keys: &str) -> TestSession {
    let lanes = Lanes(Rc::new(RefCell::new(script)));
    let mut driver = lanes.session(story, WriteAccess::Simulated);
    swept(&mut driver, sweeps);
    driver.press("7");
    swept(&mut driver, 1);
    driver.press(keys);
    driver
}

fn screens() -> Vec<(&'static str, TestSession)> {
    let agents = || [lid_of("node10 mlx5_0")].into();
    let mut files = TestSession::open(look("sim:demo"), Size::default());
    files.press("7");
    vec![
        ("proposed", at_lanes(Script { agents: agents(), ..Script::default() }, incast, 8, "down")),
        ("proposed details", at_lanes(Script { agents: agents(), ..Script::default() }, incast, 8, "d")),
        ("tables", at_lanes(Script { bare: true, ..Script::default() }, incast, 8, "V")),
        ("in force", at_lanes(Script { moved: vec![moved()], ..Script::default() }, incast, 8, "")),
        ("cooling", at_lanes(Script { moved: vec![moved()], ..Script::default() }, incast, 20, "")),
        ("nothing", at_lanes(Script::default(), quiet, 3, "")),
        ("cannot be read", at_lanes(Script { fails: true, ..Script::default() }, quiet, 3, "")),
        ("question", at_lanes(Script::default(), incast, 8, "a")),
        ("files", files),
    ]
}

#[test]
fn every_way_that_lanes_stand() {
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
        golden(&format!("lanes {name}"), &all);
    }
}

/// Tables of lanes are read where somebody looks at them, after a new verdict, and not at every sweep.
#[test]
fn lanes_are_read_while_their_screen_is_open() {
    let lanes = Lanes::default();
    let mut driver = lanes.session(incast, WriteAccess::Simulated);
    swept(&mut driver, 4);
    let asked = |lanes: &Lanes| lanes.0.borrow().asked;
    assert_eq!(asked(&lanes), 0, "nobody looks");
    driver.press("7");
    assert_eq!(asked(&lanes), 1);
    driver.press("down up V");
    driver.advance_ms(1000);
    assert_eq!(asked(&lanes), 1, "nothing else is known");
    swept(&mut driver, 2);
    assert!((2..=3).contains(&asked(&lanes)), "{}", asked(&lanes));
    let before = asked(&lanes);
    driver.press("2");
    swept(&mut driver, 4);
    assert_eq!(asked(&lanes), before, "nobody looks any more");
}

/// What cannot be read is said, tried again with the next verdict, and what was seen before stays.
#[test]
fn a_failure_is_reported_and_retried() {
    let lanes = Lanes::default();
    let mut driver = lanes.session(incast, WriteAccess::Simulated);
    swept(&mut driver, 8);
    driver.press("7");
    assert!(shown(&driver).contains("would move to the slow lane"), "{}", shown(&driver));
    lanes.0.borrow_mut().fails = true;
    swept(&mut driver, 2);
    assert!(shown(&driver).contains("FD-5003"), "{}", shown(&driver));
    lanes.0.borrow_mut().fails = false;
    swept(&mut driver, 2);
    let seen = shown(&driver);
    assert!(!seen.contains("FD-5003") && seen.contains("would move to the slow lane"), "{seen}");
}

/// Only what would move can be applied, and only where something can be written.
#[test]
fn what_moves_is_offered() {
    let lanes = Lanes::default();
    let mut driver = lanes.session(incast, WriteAccess::Simulated);
    swept(&mut driver, 8);
    driver.press("7 a");
    assert_eq!(lanes.0.borrow().offered, 1);
    assert!(shown(&driver).contains("2 flows to node01"), "{}", shown(&driver));
    for (story, writing) in [
        (quiet as CounterStory, WriteAccess::Simulated),
        (incast, WriteAccess::NotAsked),
        (incast, WriteAccess::Never("a file".to_owned())),
    ] {
        let lanes = Lanes::default();
        let mut driver = lanes.session(story, writing.clone());
        swept(&mut driver, 8);
        driver.press("7 a");
        let words = driver.state.messages.last().map(|said| said.text.clone()).unwrap_or_default();
        assert!(words.starts_with("apply: "), "{writing:?}: {words}");
        assert_eq!(lanes.0.borrow().offered, 0, "{writing:?}");
    }
}

/// The steps of a move have a sign at the one that is next; hosts that wait are beside them, each once.
#[test]
fn the_move_is_shown_in_steps() {
    let mut proposed = at_lanes(Script::default(), incast, 8, "");
    proposed.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    let screen = shown(&proposed);
    for words in ["The move, in steps", "✓ 1", "› 2 a", "· 4 y", "Hosts that wait now", "node10"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let mut moved = at_lanes(Script { moved: vec![moved()], ..Script::default() }, incast, 20, "");
    moved.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    assert!(shown(&moved).contains("› 5 B"), "{}", shown(&moved));
    moved.send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    assert!(shown(&moved).contains("› 5 B"), "{}", shown(&moved));
}
