//! Disks that fail while a change is taken back: the fabric goes back all the same, whoever takes it back and why.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use fabdeck_change::{Ask, Order, Phase, Plan, Step, Told};
use fabdeck_fabric::Tables;
use fabdeck_mad::access::{Actuator, Surveyor, Unwatched};
use fabdeck_simulator::SimulatedPort;

use super::{Course, Killed, Stage, actuator, nobody, seen, staged};

const FABRIC: &str = "kary,k=3,n=2";

/// Which operations fail, and how.
type Failing = (std::ops::Range<usize>, bool);

/// A way to a rollback on a disk that fails from its first record on: what became of it, what is left of the journal, and
/// how many operations there were.
type Way = fn(&mut Stage<'_>, &Failing) -> Told;

/// Its guard was killed while it wrote, and another one takes it over.
fn taken_over(stage: &mut Stage<'_>, failing: &Failing) -> Told {
    stage.witness.course().killed_at = Some(11);
    let (_sender, orders) = nobody();
    let run = catch_unwind(AssertUnwindSafe(|| stage.apply(60, &orders)));
    assert!(run.unwrap_err().is::<Killed>());
    assert!(!stage.witness.course().sets.is_empty());
    let left = stage.witness.left(2);
    let course = Course { failing: failing.0.clone(), half: failing.1, ..Course::default() };
    stage.take_over_on(course, &left, &orders).unwrap()
}

/// Somebody asks for it in the window.
fn asked_for(stage: &mut Stage<'_>, failing: &Failing) -> Told {
    let (sender, orders) = channel();
    let (witness, failing) = (stage.witness.clone(), failing.clone());
    let mut hands = stage.watched();
    let mut said = Vec::new();
    let told = stage.apply_with(&mut hands, 5, &orders, &fabdeck_change::SystemClocks, &mut |line| {
        said.push(line.to_owned());
        if line.starts_with("applied") {
            fails_from_here(&witness.0, &failing);
            let ask = Ask::RollBack { user: "bob".into(), anyway: true };
            sender.send(Order { ask, reply: channel().0 }).unwrap();
        }
    });
    stage.said = said;
    told
}

/// It is halted: somebody else writes below what is still to be written.
fn halted(stage: &mut Stage<'_>, failing: &Failing) -> Told {
    let (_sender, orders) = nobody();
    let (witness, failing) = (stage.witness.clone(), failing.clone());
    let (simulator, last) = (stage.simulator, last(stage.plan));
    let mut hands = stage.watched();
    let mut said = Vec::new();
    let told = stage.apply_with(&mut hands, 5, &orders, &fabdeck_change::SystemClocks, &mut |line| {
        said.push(line.to_owned());
        if line.starts_with("writing") {
            fails_from_here(&witness.0, &failing);
            write(simulator, &last, &foreign(&last));
        }
    });
    stage.said = said;
    told
}

fn fails_from_here(course: &std::sync::Mutex<Course>, (range, half): &Failing) {
    let mut course = course.lock().unwrap();
    let done = course.operations;
    course.failing = range.start + done..range.end.saturating_add(done);
    course.half = *half;
}

fn last(plan: &Plan) -> Step {
    plan.writes.last().unwrap().step().unwrap()
}

/// Neither what was there nor what the plan writes.
fn foreign(step: &Step) -> Vec<u8> {
    let mut bytes = step.old.clone();
    let at = (1..bytes.len()).find(|at| bytes[*at] != 255).unwrap();
    bytes[at] = (1..4).find(|port| ![step.old[at], step.new[at]].contains(port)).unwrap();
    bytes
}

fn write(simulator: &SimulatedPort, step: &Step, bytes: &[u8]) {
    let mut other = actuator(simulator);
    other.look(Default::default(), &mut Unwatched).unwrap();
    other.write(&step.slot, bytes).unwrap();
}

/// One run; gives the operations on the disk since it failed.
fn tried(name: &str, way: Way, failing: &Failing) -> usize {
    let (simulator, plan) = staged(FABRIC, "updn");
    let before = seen(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let told = way(&mut stage, failing);
    let what = format!("{name} {failing:?}: {:?} {:?}", told.phase, stage.said);
    is_back(&simulator, &before, &plan, name, &what);
    let whole = told.phase == if name == "halted" { Phase::Incomplete } else { Phase::RolledBack };
    let clear = stage.said.iter().any(|line| line.contains("FD-5602") || line.contains("FD-5605"));
    assert!(whole || told.phase == Phase::RollingBack && clear, "{what}");
    let operations = stage.witness.course().operations;
    assert_eq!(stage.witness.course().early, 0, "{what}");
    // On a disk that works again whoever comes next ends it, and nothing of the fabric moves.
    let left = stage.witness.left(2);
    let (sender, orders) = channel();
    // A journal that could not say that it went back still waits to be confirmed: somebody asks again.
    sender
        .send(Order { ask: Ask::RollBack { user: "bob".into(), anyway: true }, reply: channel().0 })
        .unwrap();
    let told = stage.take_over(&left, &orders).unwrap();
    assert!(!told.phase.is_pending() && told.phase != Phase::Confirmed, "{what}, then {:?}", told.phase);
    is_back(&simulator, &before, &plan, name, &what);
    operations
}

fn is_back(simulator: &SimulatedPort, before: &Tables, plan: &Plan, name: &str, what: &str) {
    if name == "halted" {
        // All but what somebody else wrote.
        let step = last(plan);
        let mut reader = actuator(simulator);
        reader.look(Default::default(), &mut Unwatched).unwrap();
        assert_eq!(reader.read(&[step.slot]).remove(0).unwrap(), foreign(&step), "{what}");
        write(simulator, &step, &step.old);
        assert!(seen(simulator).tables == *before, "{what}");
        return write(simulator, &step, &foreign(&step));
    }
    assert!(seen(simulator).tables == *before, "{what}");
}

#[test]
fn a_disk_that_fails_while_a_change_goes_back_does_not_hold_it_up() {
    let ways: [(&str, Way); 3] = [("taken over", taken_over), ("asked for", asked_for), ("halted", halted)];
    let mut runs = 0;
    for (name, way) in ways {
        let all = tried(name, way, &(0..0, false));
        assert!(all >= 4, "{name}: {all}");
        for first in 1..=all {
            for failing in [
                (first..first + 1, false),
                (first..first + 1, true),
                (first..usize::MAX, false),
                (first..usize::MAX, true),
            ] {
                tried(name, way, &failing);
                runs += 1;
            }
        }
    }
    println!("said: {runs} rollbacks on a disk that fails");
}
