//! Disks that fail during a rollback: the fabric is rolled back all the same, for every cause of a rollback.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use fabdeck_change::{ChangePhase, ChangeState, GuardRequest, Plan, QueuedRequest, WriteStep};
use fabdeck_fabric::Tables;
use fabdeck_mad::access::{Actuator, NoObserver, Surveyor};
use fabdeck_simulator::SharedSimulator;

use super::{
    Course, KilledProcess, Stage, actuator, make_simulator_and_plan, observe_simulator, order_channel,
};

const FABRIC: &str = "kary,k=3,n=2";

/// Which operations fail, and how.
type DiskFailure = (std::ops::Range<usize>, bool);

/// A way to a rollback on a disk that fails from its first record on: what became of it, what is left of the journal, and
/// how many operations there were.
type RollbackPath = fn(&mut Stage<'_>, &DiskFailure) -> ChangeState;

/// Its guard was killed while it wrote, and another one takes it over.
fn roll_back_after_takeover(stage: &mut Stage<'_>, failing: &DiskFailure) -> ChangeState {
    stage.witness.course().killed_at = Some(11);
    let (_sender, orders) = order_channel();
    let run = catch_unwind(AssertUnwindSafe(|| stage.apply(60, &orders)));
    assert!(run.unwrap_err().is::<KilledProcess>());
    assert!(!stage.witness.course().sets.is_empty());
    let left = stage.witness.journal_prefix(2);
    let course = Course { failing: failing.0.clone(), half: failing.1, ..Course::default() };
    stage.take_over_on(course, &left, &orders).unwrap()
}

/// It is requested in the window.
fn roll_back_on_request(stage: &mut Stage<'_>, failing: &DiskFailure) -> ChangeState {
    let (sender, orders) = channel();
    let (witness, failing) = (stage.witness.clone(), failing.clone());
    let mut hands = stage.watched();
    let mut said = Vec::new();
    let told = stage.apply_with(&mut hands, 5, &orders, &fabdeck_change::SystemClocks, &mut |line| {
        said.push(line.to_owned());
        if line.starts_with("applied") {
            fails_from_here(&witness.0, &failing);
            let ask = GuardRequest::RollBack { user: "bob".into(), anyway: true };
            sender.send(QueuedRequest { ask, reply: channel().0 }).unwrap();
        }
    });
    stage.said = said;
    told
}

/// It is halted: another tool writes where a write is still due.
fn halt_on_foreign_write(stage: &mut Stage<'_>, failing: &DiskFailure) -> ChangeState {
    let (_sender, orders) = order_channel();
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

fn fails_from_here(course: &std::sync::Mutex<Course>, (range, half): &DiskFailure) {
    let mut course = course.lock().unwrap();
    let done = course.operations;
    course.failing = range.start + done..range.end.saturating_add(done);
    course.half = *half;
}

fn last(plan: &Plan) -> WriteStep {
    plan.writes.last().unwrap().to_step().unwrap()
}

/// Neither what was there nor what the plan writes.
fn foreign(step: &WriteStep) -> Vec<u8> {
    let mut bytes = step.old.clone();
    let at = (1..bytes.len()).find(|at| bytes[*at] != 255).unwrap();
    bytes[at] = (1..4).find(|port| ![step.old[at], step.new[at]].contains(port)).unwrap();
    bytes
}

fn write(simulator: &SharedSimulator, step: &WriteStep, bytes: &[u8]) {
    let mut other = actuator(simulator);
    other.read_fabric(Default::default(), &mut NoObserver).unwrap();
    other.write(&step.slot, bytes).unwrap();
}

/// One run; gives the operations on the disk since it failed.
fn try_rollback(name: &str, way: RollbackPath, failing: &DiskFailure) -> usize {
    let (simulator, plan) = make_simulator_and_plan(FABRIC, "updn");
    let before = observe_simulator(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let told = way(&mut stage, failing);
    let what = format!("{name} {failing:?}: {:?} {:?}", told.phase, stage.said);
    is_back(&simulator, &before, &plan, name, &what);
    // Where the record before the first write fails nothing is written, and what another tool wrote is no remainder.
    let has_written = !stage.witness.course().sets.is_empty();
    let leaves_some = name == "halted" && has_written;
    let whole = told.phase == if leaves_some { ChangePhase::Incomplete } else { ChangePhase::RolledBack };
    let clear = stage.said.iter().any(|line| line.contains("FD-5602") || line.contains("FD-5605"));
    assert!(whole || told.phase == ChangePhase::RollingBack && clear, "{what}");
    let operations = stage.witness.course().operations;
    assert_eq!(stage.witness.course().early, 0, "{what}");
    // On a disk that works again the next guard ends it, and nothing of the fabric changes.
    let left = stage.witness.journal_prefix(2);
    let (sender, orders) = channel();
    // A journal that could not record the rollback still waits for confirmation: it is requested again.
    sender
        .send(QueuedRequest {
            ask: GuardRequest::RollBack { user: "bob".into(), anyway: true },
            reply: channel().0,
        })
        .unwrap();
    let told = stage.take_over(&left, &orders).unwrap();
    assert!(
        !told.phase.is_pending() && told.phase != ChangePhase::Confirmed,
        "{what}, then {:?}",
        told.phase
    );
    is_back(&simulator, &before, &plan, name, &what);
    operations
}

fn is_back(simulator: &SharedSimulator, before: &Tables, plan: &Plan, name: &str, what: &str) {
    if name == "halted" {
        // All but what another tool wrote.
        let step = last(plan);
        let mut reader = actuator(simulator);
        reader.read_fabric(Default::default(), &mut NoObserver).unwrap();
        assert_eq!(reader.read(&[step.slot]).remove(0).unwrap(), foreign(&step), "{what}");
        write(simulator, &step, &step.old);
        assert!(observe_simulator(simulator).tables == *before, "{what}");
        return write(simulator, &step, &foreign(&step));
    }
    assert!(observe_simulator(simulator).tables == *before, "{what}");
}

#[test]
fn a_disk_that_fails_while_a_change_goes_back_does_not_hold_it_up() {
    let ways: [(&str, RollbackPath); 3] = [
        ("taken over", roll_back_after_takeover),
        ("requested", roll_back_on_request),
        ("halted", halt_on_foreign_write),
    ];
    let mut runs = 0;
    for (name, way) in ways {
        let all = try_rollback(name, way, &(0..0, false));
        assert!(all >= 4, "{name}: {all}");
        for first in 1..=all {
            for failing in [
                (first..first + 1, false),
                (first..first + 1, true),
                (first..usize::MAX, false),
                (first..usize::MAX, true),
            ] {
                try_rollback(name, way, &failing);
                runs += 1;
            }
        }
    }
    println!("said: {runs} rollbacks on a disk that fails");
}
