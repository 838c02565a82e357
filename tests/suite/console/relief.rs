//! The demo's lane migration from end to end: its traffic, the agents of its hosts, and a console that applies, confirms
//! and moves back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fabdeck::script::{Clerk, Given, Machine, Outside, Reach};
use fabdeck::session::interactive::{Changing, Driver, Size, Sweeper, Writing, sweep_again};
use fabdeck::session::{LaneStanding, Look};
use fabdeck_change::Phase;
use fabdeck_mad::access::{Unwatched, Wanted};
use tempfile::TempDir;

use super::watching::{EVERY, shown, swept};

/// A console on the demo with its traffic; its simulator lives in this process, and a sweep lets its time pass.
fn demo() -> (Driver, TempDir) {
    let state = tempfile::tempdir().unwrap();
    let machine = Machine::default().with_simulators_kept().with_state(state.path());
    let mut source = machine.open("sim:demo", &Reach::default()).unwrap();
    let wanted = Wanted { tables: true, counters: true, ..Wanted::default() };
    let look = Look::new("sim:demo", source.observe(wanted, &mut Unwatched).unwrap(), &Default::default());
    let given = ("sim:demo", &Given::default(), true);
    let clerk = Clerk::new(Arc::new(machine), given, Arc::new(|| panic!("a guard had a bug")));
    clerk.looked(&Arc::new(look.clone()));
    let mut known = look.clone();
    let sweep = move |not_before: Duration| {
        sweep_again(source.as_mut(), &mut known, not_before, &mut Unwatched)
            .map_err(|error| error.to_string())
    };
    let changing = (Changing(Box::new(clerk)), Writing::Simulated);
    let size = Size { width: 160, height: 50 };
    (Driver::deciding(look, (Sweeper(Box::new(sweep)), EVERY), changing, size), state)
}

/// Ticks a second that all hosts wait, and which of them are held up.
fn waiting(driver: &Driver) -> (f64, Vec<String>) {
    let reading = driver.state.known.watch.reading.as_ref().unwrap();
    let look = driver.state.known.look.as_ref().unwrap();
    let held = reading.watched.verdict.held_up.iter();
    let names = held.clone().map(|held| look.port_name(held.at.port)).collect();
    (held.map(|held| held.at.congestion).sum(), names)
}

/// Lets time pass until a change is in that state; guards run beside the session.
fn becomes(driver: &mut Driver, number: u64, phase: Phase) {
    let since = Instant::now();
    let stands = |driver: &Driver| {
        let changes = driver.state.known.changes.rows().to_vec();
        changes.into_iter().find(|row| row.number == number).map(|row| row.state)
    };
    while stands(driver) != Some(phase) {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}: {}", stands(driver), shown(driver));
        std::thread::sleep(Duration::from_millis(20));
        driver.pass(100);
    }
}

/// Flows by how they stand, as Lanes shows them.
fn flows(driver: &Driver, standing: LaneStanding) -> usize {
    let lanes = driver.state.known.lanes.state.as_ref().unwrap();
    lanes.spots.iter().flat_map(|spot| &spot.flows).filter(|flow| flow.standing == standing).count()
}

const WRITERS: [&str; 6] = ["login1", "node02", "node04", "node06", "node12", "node18"];

/// Writers wait before and after, for the storage host takes in no more than it did; whoever sends to others over the
/// same cables waits with them until the writers have a lane of their own, and waits again when they are back.
#[test]
fn waiting_falls_when_flows_move_and_comes_back_with_them() {
    let (mut driver, _state) = demo();
    swept(&mut driver, 6);
    driver.press("6");
    swept(&mut driver, 1);
    let (before, held) = waiting(&driver);
    assert!(held.len() >= 14 && held.iter().any(|name| name.starts_with("node01 ")), "{held:?}");
    assert!(flows(&driver, LaneStanding::Proposed) >= 14, "{}", shown(&driver));
    assert!(!shown(&driver).contains("before the move"), "{}", shown(&driver));

    driver.press("a tab enter");
    becomes(&mut driver, 1, Phase::Applied);
    swept(&mut driver, 4);
    let (after, held) = waiting(&driver);
    let names: BTreeSet<&str> = held.iter().filter_map(|name| name.split(' ').next()).collect();
    assert_eq!(names, WRITERS.into(), "{}", shown(&driver));
    assert!(after < before / 2.0, "{before} {after}");
    assert!(flows(&driver, LaneStanding::InForce) >= 14, "{}", shown(&driver));
    let words = "; now: 6 hosts, ";
    assert!(shown(&driver).contains("held up before the move: 14 hosts, "), "{}", shown(&driver));
    assert!(shown(&driver).contains(words), "{}", shown(&driver));

    driver.press("y tab enter");
    becomes(&mut driver, 1, Phase::Confirmed);
    // One action takes all of them back, and asks before it writes.
    driver.press("B tab enter");
    becomes(&mut driver, 2, Phase::Applied);
    swept(&mut driver, 4);
    let (back, held) = waiting(&driver);
    assert!(back > before * 0.9 && held.len() >= 14, "{before} {after} {back}: {held:?}");
    assert_eq!(flows(&driver, LaneStanding::InForce), 0, "{}", shown(&driver));
}
