//! Disks that fail and journals that are damaged: nothing is written that is not durable first, and nothing damaged is
//! believed.

use fabdeck::change::{Journal, JournalError, Phase};

use super::{Stage, nobody, seen, staged};

/// Every operation on the journal fails once, or from there on; a failing write may leave half a line.
#[test]
fn a_disk_that_fails_ends_the_change_and_takes_it_back() {
    let name = "kary,k=3,n=2";
    let (simulator, plan) = staged(name, "updn");
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = nobody();
    assert_eq!(stage.apply(0, &orders).unwrap().phase, Phase::RolledBack);
    let all = stage.witness.course().operations;
    assert!(all >= 7, "{all}");
    for first in 1..=all {
        for (last, half) in [(first + 1, false), (first + 1, true), (usize::MAX, false), (usize::MAX, true)] {
            let (simulator, plan) = staged(name, "updn");
            let before = seen(&simulator).tables;
            let mut stage = Stage::new(&simulator, &plan);
            stage.witness.course().failing = first..last;
            stage.witness.course().half = half;
            let told = stage.apply(0, &orders);
            let early = stage.witness.course().early;
            let sets = stage.witness.course().sets.len();
            assert_eq!(early, 0, "operation {first}");
            assert_eq!(seen(&simulator).tables, before, "operation {first} {half}");
            match told {
                Err(error) => {
                    assert_eq!(sets, 0, "operation {first}");
                    assert!(error.to_string().contains("FD-5602"), "{error}");
                }
                Ok(told) => assert!(
                    told.phase == Phase::RolledBack
                        || stage.said.iter().any(|line| line.contains("FD-5602") || line.contains("FD-5605")),
                    "operation {first}: {:?} {:?}",
                    told.phase,
                    stage.said
                ),
            }
            // Whoever comes next finds a journal that holds, and nothing left to take back.
            let left = stage.witness.left(2);
            match stage.take_over(&left, &orders) {
                Ok(told) => assert!(!told.phase.is_pending(), "operation {first}"),
                Err(error) => {
                    assert!(matches!(error, JournalError::Empty { .. }), "operation {first}: {error}")
                }
            }
            assert_eq!(seen(&simulator).tables, before, "operation {first}");
        }
    }
    println!("said: {all} operations, each failing in 4 ways");
}

/// The last 4 KB of a journal, cut anywhere and with each of its bits flipped.
#[test]
fn a_damaged_journal_is_a_shorter_one_or_refused_with_its_place() {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = nobody();
    stage.apply(0, &orders).unwrap();
    let bytes = stage.witness.course().bytes.clone();
    let whole = Journal::read("journal", &bytes).unwrap();
    let from = bytes.len().saturating_sub(4096);
    let (mut shorter, mut refused) = (0, 0);
    for cut in from..bytes.len() {
        match Journal::read("journal", &bytes[..cut]) {
            // Without its last line it says less, and what it says is true.
            Ok(read) => {
                assert!(read.told.phase <= whole.told.phase && read != whole, "{cut}");
                shorter += 1;
            }
            Err(error) => assert!(matches!(error, JournalError::Empty { .. }), "{cut}: {error}"),
        }
    }
    for at in from..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            match Journal::read("journal", &damaged) {
                Ok(read) => assert!(at == bytes.len() - 1 && read.torn > 0, "{at} {bit}"),
                Err(error) => {
                    assert!(error.to_string().contains("offset"), "{error}");
                    refused += 1;
                }
            }
        }
    }
    println!("said: {shorter} shorter ones read, {refused} flipped bits refused");
    assert!(shorter > 100 && refused > 8000, "{shorter} {refused}");
}
