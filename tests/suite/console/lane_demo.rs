//! The demo's lane migration from end to end: its traffic, the agents of its hosts, and a console that applies, confirms
//! and moves back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::test_session::{ChangerBox, Sweeper, TestSession};
use super::watches::{EVERY, shown, swept};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck::operations::changes::console_changes::ConsoleChanges;
use fabdeck::operations::environment::OperationOptions;
use fabdeck::operations::lanes::slow_lanes::LaneStatus;
use fabdeck::operations::watch::hot_ports::HotRole;
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_change::ChangePhase;
use fabdeck_mad::access::{NoObserver, ReadOptions};

/// A console on the demo with its traffic; its simulator lives in this process, and a sweep lets its time pass.
fn demo() -> (TestSession, TempDir) {
    let state = tempfile::tempdir().unwrap();
    let machine = LocalSystemAccess::default().with_persistent_simulators().with_state(state.path());
    let mut source = machine.open("sim:demo", &SourceOptions::default()).unwrap();
    let wanted = ReadOptions { tables: true, counters: true, ..ReadOptions::default() };
    let look =
        Snapshot::new("sim:demo", source.observe(wanted, &mut NoObserver).unwrap(), &Default::default());
    let given = OperationOptions { no_times: true, ..OperationOptions::default() };
    let bug = Arc::new(|| panic!("a guard had a bug"));
    let clerk = ConsoleChanges::new(Arc::new(machine), "sim:demo", &given, bug);
    clerk.set_snapshot(&Arc::new(look.clone()));
    let mut known = look.clone();
    let sweep = move |not_before: Duration| {
        read_sweep(source.as_mut(), &mut known, not_before, &mut NoObserver)
            .map_err(|error| error.to_string())
    };
    let changing = (ChangerBox(Box::new(clerk)), WriteAccess::Simulated);
    let size = Size { width: 160, height: 50 };
    (TestSession::open_watching_changing(look, (Sweeper(Box::new(sweep)), EVERY), changing, size), state)
}

/// Ticks a second that all hosts wait, and which of them are held up.
fn waiting(driver: &TestSession) -> (f64, Vec<String>) {
    let reading = driver.state.known.watch.reading.as_ref().unwrap();
    let look = driver.state.known.look.as_ref().unwrap();
    let held = reading.watched.verdict.congested_adapters.iter();
    let names = held.clone().map(|held| look.port_name(held.at.port)).collect();
    (held.map(|held| held.at.congestion).sum(), names)
}

/// Lets time pass until a change is in that state; guards run beside the session.
fn wait_for_phase(driver: &mut TestSession, number: u64, phase: ChangePhase) {
    let since = Instant::now();
    let stands = |driver: &TestSession| {
        let changes = driver.state.known.changes.rows().to_vec();
        changes.into_iter().find(|row| row.number == number).map(|row| row.state)
    };
    while stands(driver) != Some(phase) {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}: {}", stands(driver), shown(driver));
        std::thread::sleep(Duration::from_millis(20));
        driver.advance_ms(100);
    }
}

/// Flows by how they stand, as Lanes shows them.
fn flows(driver: &TestSession, standing: LaneStatus) -> usize {
    let lanes = driver.state.known.lanes.state.as_ref().unwrap();
    lanes.spots.iter().flat_map(|spot| &spot.flows).filter(|flow| flow.standing == standing).count()
}

const WRITERS: [&str; 6] = ["login1", "node02", "node04", "node06", "node12", "node18"];

/// Writers wait before and after, for the storage host takes in no more than it did; whoever sends to others over the
/// same cables waits with them until the writers have a lane of their own, and waits again when they are back.
#[test]
fn waiting_falls_when_flows_move_and_comes_back_with_them() {
    let (mut driver, _state) = demo();
    swept(&mut driver, 9);
    driver.press("7");
    swept(&mut driver, 1);
    let (before, held) = waiting(&driver);
    assert!(held.len() >= 8 && held.iter().any(|name| name.starts_with("node01 ")), "{held:?}");
    // Likely victims wait as well, and stay where they are.
    assert_eq!(flows(&driver, LaneStatus::Proposed), WRITERS.len(), "{}", shown(&driver));
    assert!(!shown(&driver).contains("before the move"), "{}", shown(&driver));

    assert_roles_are_the_same(&mut driver);

    driver.press("a tab enter");
    wait_for_phase(&mut driver, 1, ChangePhase::Applied);
    swept(&mut driver, 4);
    let (after, held) = waiting(&driver);
    let names: BTreeSet<&str> = held.iter().filter_map(|name| name.split(' ').next()).collect();
    assert_eq!(names, WRITERS.into(), "{}", shown(&driver));
    assert!(after < before * 0.8, "{before} {after}");
    assert_eq!(flows(&driver, LaneStatus::InForce), WRITERS.len(), "{}", shown(&driver));
    let words = "; now: 6 hosts, ";
    assert!(shown(&driver).contains("waiting before the move: 8 hosts, "), "{}", shown(&driver));
    assert!(shown(&driver).contains(words), "{}", shown(&driver));
    assert_effect(&driver);

    driver.press("y");
    // The clock that dates the write runs, and the time of the session jumps: the next readings are later than both.
    let since = Instant::now();
    while !shown(&driver).contains("its flows") && since.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(500));
        swept(&mut driver, 1);
    }
    let asked = shown(&driver);
    for words in
        ["its flows  wait to storage01", "its flows  wait of 2 likely victims: node0", "every path stays"]
    {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    driver.press("shift-tab enter");
    wait_for_phase(&mut driver, 1, ChangePhase::Confirmed);
    // What is in force is not offered again.
    driver.press("1");
    let health = shown(&driver);
    assert!(health.contains("in force (change 1): 6 flows on the slow lane; others wait "), "{health}");
    assert!(!health.contains("see which flows would move"), "{health}");
    driver.press("4");
    assert!(shown(&driver).contains("in force (change 1): 6 flows"), "{}", shown(&driver));
    driver.press("7");
    swept(&mut driver, 1);
    // One action takes all of them back, and asks before it writes.
    driver.press("B tab enter");
    wait_for_phase(&mut driver, 2, ChangePhase::Applied);
    swept(&mut driver, 4);
    let (back, held) = waiting(&driver);
    assert!(back > before * 0.9 && held.len() >= 8, "{before} {after} {back}: {held:?}");
    assert_eq!(flows(&driver, LaneStatus::InForce), 0, "{}", shown(&driver));
}

/// Lanes, Hot-spots and Health say the same of each host that waits, and count the same flows.
fn assert_roles_are_the_same(driver: &mut TestSession) {
    let reading = driver.state.known.watch.reading.clone().unwrap();
    let look = driver.state.known.look.clone().unwrap();
    let held = &reading.watched.verdict.congested_adapters;
    let roles: Vec<(String, &str)> = held
        .iter()
        .map(|held| {
            let name = look.port_name(held.at.port);
            (name.split(' ').next().unwrap().to_owned(), HotRole::of_adapter(held, false).word())
        })
        .collect();
    assert!(roles.iter().any(|(_, word)| *word == "likely victim"), "{roles:?}");
    let has = |screen: &str, heading: &str| {
        let below = screen.split_once(heading).unwrap_or_else(|| panic!("{heading}: {screen}")).1.to_owned();
        for (name, word) in &roles {
            let row = below.lines().find(|line| line.contains(&format!(" {name} ")));
            let row = row.unwrap_or_else(|| panic!("{name}: {below}"));
            assert!(row.contains(word), "{name} is {word}: {row}");
        }
    };
    has(&shown(driver), "Hosts that wait now");
    driver.press("4");
    let screen = shown(driver);
    has(&screen, "Ports that wait");
    assert!(screen.contains("6 flows to the slow lane; nothing is written"), "{screen}");
    driver.press("7");
    assert!(shown(driver).contains("6 flows would move to the slow lane"), "{}", shown(driver));
}

/// Waits before the move and now are shown by name: the hot-spot takes in no more than before, and others wait less.
fn assert_effect(driver: &TestSession) {
    let screen = shown(driver);
    let line = |words: &str| {
        let found = screen.lines().find(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {screen}")).to_owned()
    };
    let waits = |line: &str| -> Vec<u32> {
        let parts = line.split(" %").filter_map(|part| part.rsplit(' ').next()?.parse().ok());
        parts.collect()
    };
    let spot = waits(&line("wait to storage01"));
    assert!(spot[0] > 20 && spot[1] > 20, "{screen}");
    let held = line(" likely victim");
    let [before, now, ..] = waits(&held)[..] else { panic!("{held}") };
    assert!(before > 20 && now < before / 2, "{held}");
}

/// The way back of a confirmed move is planned from Lanes, and brings back the flows that it moved.
#[test]
fn a_confirmed_move_is_undone_from_lanes() {
    let (mut driver, _state) = demo();
    swept(&mut driver, 6);
    driver.press("7");
    swept(&mut driver, 1);
    let moved = flows(&driver, LaneStatus::Proposed);
    driver.press("a tab enter");
    wait_for_phase(&mut driver, 1, ChangePhase::Applied);
    driver.press("y shift-tab enter");
    wait_for_phase(&mut driver, 1, ChangePhase::Confirmed);
    swept(&mut driver, 2);
    assert_eq!(flows(&driver, LaneStatus::InForce), moved, "{}", shown(&driver));
    driver.press("u");
    assert!(shown(&driver).contains("Apply undo of change 1 to sim:demo?"), "{}", shown(&driver));
    driver.press("tab enter");
    wait_for_phase(&mut driver, 2, ChangePhase::Applied);
    swept(&mut driver, 2);
    assert_eq!(flows(&driver, LaneStatus::InForce), 0, "{}", shown(&driver));
    driver.press("y shift-tab enter");
    wait_for_phase(&mut driver, 2, ChangePhase::Confirmed);
    // The last confirmed move is the one back: its undo moves the flows to the slow lane again.
    swept(&mut driver, 2);
    driver.press("u");
    assert!(shown(&driver).contains("Apply undo of change 2 to sim:demo?"), "{}", shown(&driver));
}
