//! Disks that fail and journals that are damaged: nothing is written that is not durable first, and nothing damaged is
//! believed.

use fabdeck_change::{Home, Journal, JournalError, LocalSystem, Phase, Record};

use super::processes::{DEMO, Lab};
use super::{Recorder, Stage, Witness, nobody, seen, staged};

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

/// Whoever is told that a confirmation is not durable takes the change back: nobody reads later that it is confirmed.
#[test]
fn a_confirmation_that_is_not_durable_is_not_read_as_one() {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let begun = Record::Begun(Box::new(Stage::new(&simulator, &plan).begun(600)));
    let time = String::from("2026-01-01T00:00:00Z");
    let applied = Record::Applied { time: time.clone(), deadline: time.clone(), ends: None };
    let confirmed = Record::Confirmed { time, user: "ada".into() };
    // The append fails or the sync; then the cut works, or fails too.
    for (first, half) in [(5, false), (5, true), (6, false)] {
        for more in [1, 2] {
            let witness = Witness::default();
            let mut journal = Journal::on("journal", Box::new(Recorder(witness.clone())));
            journal.keep(&begun).unwrap();
            journal.keep(&applied).unwrap();
            let before = witness.course().bytes.clone();
            witness.course().half = half;
            witness.course().failing = first..first + more;
            let error = journal.keep(&confirmed).unwrap_err();
            assert!(matches!(error, JournalError::Disk { .. }), "{error}");
            assert!(matches!(journal.keep(&confirmed), Err(JournalError::Failed { .. })));
            let left = witness.course().bytes.clone();
            match Journal::read("journal", &left) {
                Ok(read) => {
                    assert_eq!((more, read.told.phase), (1, Phase::Applied), "{first} {half}");
                    assert!(left == before && read.torn == 0, "{first} {half}");
                }
                Err(error) => assert!(more == 2 && error.to_string().contains("FD-5601"), "{error}"),
            }
        }
    }
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
            // Without its last newline it says the same, without its last line less, and what it says is true.
            Ok(read) if cut == bytes.len() - 1 => assert!(read.told == whole.told && read.torn == 0),
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
                Ok(read) => {
                    assert!(at == bytes.len() - 1 && read.torn == 1, "{at} {bit}");
                    assert_eq!(read.told, whole.told, "{bit}");
                }
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

/// The end of a file without its newline, and with one bit of the newline flipped.
fn newline_damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let (newline, rest) = whole.split_last().unwrap();
    assert_eq!(*newline, b'\n');
    let flipped = (0..8).map(|bit| [rest, &[newline ^ 1 << bit]].concat());
    std::iter::once(rest.to_vec()).chain(flipped).collect()
}

/// A confirmed change stays confirmed where the newline of its last record is lost: every bit of it, and the whole.
#[test]
fn a_confirmation_without_its_newline_is_never_rolled_back() {
    let lab = Lab::new(DEMO);
    let id = lab.apply();
    lab.ends(&["confirm", &id], 0);
    let tables = lab.tables();
    let journal = lab.folder().join("journal");
    let whole = std::fs::read(&journal).unwrap();
    for damaged in newline_damages(&whole) {
        let _ = std::fs::remove_file(lab.folder().join("ended"));
        std::fs::write(&journal, &damaged).unwrap();
        lab.ends(&["guard", "--resume"], 0);
        assert_eq!(lab.state(), "confirmed", "{:?}", damaged.last());
        assert!(lab.ends(&["rollback", &id], 4).contains("FD-7985"));
        assert!(lab.tables() == tables, "{:?}", damaged.last());
    }
}

/// A guard goes on behind a record without its newline: the journal holds afterwards, and has every record.
#[test]
fn a_guard_goes_on_behind_a_record_without_its_newline() {
    let lab = Lab::new(DEMO);
    let id = lab.apply();
    lab.kill_guard();
    let journal = lab.folder().join("journal");
    let whole = std::fs::read(&journal).unwrap();
    for damaged in newline_damages(&whole) {
        std::fs::write(&journal, &damaged).unwrap();
        lab.ends(&["extend", &id, "20m"], 0);
        lab.kill_guards();
        let left = std::fs::read(&journal).unwrap();
        assert!(
            left.starts_with(&whole) && left.len() > whole.len(),
            "{:?} {}",
            damaged.last(),
            left.len() as i64 - whole.len() as i64
        );
        assert_eq!(Journal::load(&LocalSystem, &journal).unwrap().told.phase, Phase::Applied);
        let trail = lab.home.path().join("state/audit");
        let entries = Home::there(&lab.home.path().join("state")).trail().unwrap().len();
        let mut lines = std::fs::read(&trail).unwrap();
        lines.pop();
        std::fs::write(&trail, lines).unwrap();
        assert_eq!(Home::there(&lab.home.path().join("state")).trail().unwrap().len(), entries);
    }
    lab.ends(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
}
