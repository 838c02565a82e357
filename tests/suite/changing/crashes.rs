//! kill -9 before and behind everything that a change does: each ends untouched or as something to take back, and taking
//! it back leaves every byte as it was.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fabdeck::change::{JournalError, Phase, Plan};
use fabdeck::simulator::SimulatedPort;
use rayon::prelude::*;

use super::{Killed, Stage, fabric, long, nobody, seen, spread, staged_on};

/// Every node has a block of its own, so that a plan has more than 200 writes.
fn stage() -> (SimulatedPort, Plan) {
    staged_on(&spread(&fabric("torus,dims=4x4,hosts=16")), "updn")
}

/// What became of a run that was killed at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Became {
    /// The moment never came.
    Ended,
    Untouched,
    TakenBack,
    Kept,
}

/// A run that is killed at a moment, and what whoever comes next makes of it. `confirmed`: somebody confirms at once.
fn killed_at(moment: usize, share: usize, window_s: u64) -> Became {
    let (simulator, plan) = stage();
    let before = seen(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    stage.witness.course().killed_at = Some(moment);
    let (_sender, orders) = nobody();
    let run = catch_unwind(AssertUnwindSafe(|| stage.apply(window_s, &orders)));
    let Err(payload) = run else { return Became::Ended };
    assert!(payload.is::<Killed>(), "a panic of its own at moment {moment}");
    assert_eq!(stage.witness.course().early, 0, "moment {moment}");
    let left = stage.witness.left(share);
    let sets = stage.witness.course().sets.len();
    match stage.take_over(&left, &orders) {
        Err(JournalError::Empty { .. }) => {
            assert_eq!(sets, 0, "moment {moment}: a Set without a journal");
            assert_eq!(seen(&simulator).tables, before);
            Became::Untouched
        }
        Err(error) => panic!("moment {moment}: {error}"),
        Ok(told) if told.phase == Phase::RolledBack => {
            assert_eq!(seen(&simulator).tables, before, "moment {moment}");
            Became::TakenBack
        }
        Ok(told) => {
            assert_eq!(told.phase, Phase::Confirmed, "moment {moment}");
            Became::Kept
        }
    }
}

/// Every moment of an apply, or every n-th, and of the rollback behind it, for its window is over at once.
#[test]
fn every_crash_ends_untouched_or_taken_back() {
    let (simulator, plan) = stage();
    assert!(plan.writes.len() >= 200, "{}", plan.writes.len());
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = nobody();
    assert_eq!(stage.apply(0, &orders).unwrap().phase, Phase::RolledBack);
    let moments = stage.witness.course().moments;
    assert!(moments >= 800, "{moments}");
    let stride = if long() { 1 } else { 47 };
    // The first and the last ones are those with the journal.
    let tried: Vec<usize> = (1..=moments)
        .filter(|moment| *moment < 12 || moments - moment < 12 || moment % stride == 0)
        .collect();
    let became: Vec<Became> = tried.par_iter().map(|moment| killed_at(*moment, moment % 3, 0)).collect();
    let count = |wanted| became.iter().filter(|became| **became == wanted).count();
    println!(
        "said: {} of {moments} moments: {} untouched, {} taken back",
        tried.len(),
        count(Became::Untouched),
        count(Became::TakenBack)
    );
    assert_eq!(count(Became::Ended) + count(Became::Kept), 0);
    assert!(count(Became::Untouched) >= 2 && count(Became::TakenBack) >= 25);
}
