//! Disks that fail and journals that are damaged: nothing is written that is not durable first, and nothing damaged is
//! believed.

use fabdeck_change::{ChangePhase, ChangeStore, Journal, JournalError, JournalRecord, LocalSystem};

use super::processes::{DEMO, ServedLab};
use super::{Stage, WatchedDisk, WatchedPort, make_simulator_and_plan, observe_simulator, order_channel};

/// Every operation on the journal fails once, or from there on; a failing write may leave half a line.
#[test]
fn a_disk_that_fails_ends_the_change_and_takes_it_back() {
    let name = "kary,k=3,n=2";
    let (simulator, plan) = make_simulator_and_plan(name, "updn");
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    assert_eq!(stage.apply(0, &orders).unwrap().phase, ChangePhase::RolledBack);
    let all = stage.witness.course().operations;
    assert!(all >= 7, "{all}");
    for first in 1..=all {
        for (last, half) in [(first + 1, false), (first + 1, true), (usize::MAX, false), (usize::MAX, true)] {
            let (simulator, plan) = make_simulator_and_plan(name, "updn");
            let before = observe_simulator(&simulator).tables;
            let mut stage = Stage::new(&simulator, &plan);
            stage.witness.course().failing = first..last;
            stage.witness.course().half = half;
            let told = stage.apply(0, &orders);
            let early = stage.witness.course().early;
            let sets = stage.witness.course().sets.len();
            assert_eq!(early, 0, "operation {first}");
            assert_eq!(observe_simulator(&simulator).tables, before, "operation {first} {half}");
            match told {
                Err(error) => {
                    assert_eq!(sets, 0, "operation {first}");
                    assert!(error.to_string().contains("FD-5602"), "{error}");
                }
                Ok(told) => assert!(
                    told.phase == ChangePhase::RolledBack
                        || stage.said.iter().any(|line| line.contains("FD-5602") || line.contains("FD-5605")),
                    "operation {first}: {:?} {:?}",
                    told.phase,
                    stage.said
                ),
            }
            // The next guard finds a valid journal, and nothing left to roll back.
            let left = stage.witness.journal_prefix(2);
            match stage.take_over(&left, &orders) {
                Ok(told) => assert!(!told.phase.is_pending(), "operation {first}"),
                Err(error) => {
                    assert!(matches!(error, JournalError::Empty { .. }), "operation {first}: {error}")
                }
            }
            assert_eq!(observe_simulator(&simulator).tables, before, "operation {first}");
        }
    }
    println!("said: {all} operations, each failing in 4 ways");
}

/// A confirmation that is not durable rolls the change back: no later reader finds it confirmed.
#[test]
fn a_confirmation_that_is_not_durable_is_not_read_as_one() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let begun = JournalRecord::Begun(Box::new(Stage::new(&simulator, &plan).begin_record(600)));
    let time = String::from("2026-01-01T00:00:00Z");
    let applied = JournalRecord::Applied { time: time.clone(), deadline: time.clone(), ends: None };
    let confirmed = JournalRecord::Confirmed { time, user: "ada".into() };
    // The append fails or the sync; then the cut works, or fails too.
    for (first, half) in [(5, false), (5, true), (6, false)] {
        for more in [1, 2] {
            let witness = WatchedDisk::default();
            let mut journal = Journal::on_empty_disk("journal", Box::new(WatchedPort(witness.clone())));
            journal.append_durably(&begun).unwrap();
            journal.append_durably(&applied).unwrap();
            let before = witness.course().bytes.clone();
            witness.course().half = half;
            witness.course().failing = first..first + more;
            let error = journal.append_durably(&confirmed).unwrap_err();
            assert!(matches!(error, JournalError::Disk { .. }), "{error}");
            assert!(matches!(journal.append_durably(&confirmed), Err(JournalError::Failed { .. })));
            let left = witness.course().bytes.clone();
            match Journal::read("journal", &left) {
                Ok(read) => {
                    assert_eq!((more, read.state.phase), (1, ChangePhase::Applied), "{first} {half}");
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
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    stage.apply(0, &orders).unwrap();
    let bytes = stage.witness.course().bytes.clone();
    let whole = Journal::read("journal", &bytes).unwrap();
    let from = bytes.len().saturating_sub(4096);
    let (mut shorter, mut refused) = (0, 0);
    for cut in from..bytes.len() {
        match Journal::read("journal", &bytes[..cut]) {
            // Without its last newline it says the same, without its last line less, and what it says is true.
            Ok(read) if cut == bytes.len() - 1 => assert!(read.state == whole.state && read.torn == 0),
            Ok(read) => {
                assert!(read.state.phase <= whole.state.phase && read != whole, "{cut}");
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
                    assert_eq!(read.state, whole.state, "{bit}");
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
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    let tables = lab.tables();
    let journal = lab.folder().join("journal");
    let whole = std::fs::read(&journal).unwrap();
    for damaged in newline_damages(&whole) {
        let _ = std::fs::remove_file(lab.folder().join("ended"));
        std::fs::write(&journal, &damaged).unwrap();
        lab.run_to_end(&["guard", "--resume"], 0);
        assert_eq!(lab.state(), "confirmed", "{:?}", damaged.last());
        assert!(lab.run_to_end(&["rollback", &id], 4).contains("FD-7985"));
        assert!(lab.tables() == tables, "{:?}", damaged.last());
    }
}

/// A guard goes on behind a record without its newline: the journal holds afterwards, and has every record.
#[test]
fn a_guard_goes_on_behind_a_record_without_its_newline() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.kill_guard();
    let journal = lab.folder().join("journal");
    let whole = std::fs::read(&journal).unwrap();
    for damaged in newline_damages(&whole) {
        std::fs::write(&journal, &damaged).unwrap();
        lab.run_to_end(&["extend", &id, "20m"], 0);
        lab.kill_guards();
        let left = std::fs::read(&journal).unwrap();
        assert!(
            left.starts_with(&whole) && left.len() > whole.len(),
            "{:?} {}",
            damaged.last(),
            left.len() as i64 - whole.len() as i64
        );
        assert_eq!(Journal::load(&LocalSystem, &journal).unwrap().state.phase, ChangePhase::Applied);
        let trail = lab.home.path().join("state/audit");
        let entries = ChangeStore::open_existing(&lab.home.path().join("state")).audit_trail().unwrap().len();
        let mut lines = std::fs::read(&trail).unwrap();
        lines.pop();
        std::fs::write(&trail, lines).unwrap();
        assert_eq!(
            ChangeStore::open_existing(&lab.home.path().join("state")).audit_trail().unwrap().len(),
            entries
        );
    }
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
}
