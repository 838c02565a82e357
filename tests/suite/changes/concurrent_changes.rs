//! Two at once on one machine: one proceeds, the other names it in its refusal.

use std::sync::Barrier;

use super::long;

use fabdeck_change::{BeginRecord, ChangeStore, ChangeStoreError, Journal, JournalRecord, LocalSystem};

fn begun(id: &str, switch: &str, simulator: Option<&str>) -> BeginRecord {
    BeginRecord {
        id: id.into(),
        user: format!("user of {id}"),
        time: "2026-11-22T00:00:00Z".into(),
        pid: 7,
        switches: [switch.to_owned()].into(),
        simulator: simulator.map(str::to_owned),
        ..BeginRecord::default()
    }
}

#[test]
fn of_two_that_begin_at_once_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    for round in 0..if long() { 1000 } else { 150 } {
        let barrier = Barrier::new(2);
        let switch = format!("0x{round:016x}");
        let race = |id: &str| {
            let begun = begun(id, &switch, None);
            barrier.wait();
            home.begin(begun, "{}").map(drop)
        };
        let (a, b) = std::thread::scope(|scope| {
            let a = scope.spawn(|| race("a"));
            let b = scope.spawn(|| race("b"));
            (a.join().unwrap(), b.join().unwrap())
        });
        let (other, error) = match (a, b) {
            (Ok(()), Err(error)) => ("a", error),
            (Err(error), Ok(())) => ("b", error),
            both => panic!("round {round}: {both:?}"),
        };
        let ChangeStoreError::Pending { id, user, pid, .. } = error else { panic!("round {round}: {error}") };
        assert_eq!((id.as_str(), user, pid), (other, format!("user of {other}"), 7));
        let kept = home.list().unwrap().pop().unwrap().unwrap();
        assert_eq!(kept.read.state.begun.number, round + 1);
        // It is over, so that the next ones race for themselves.
        let (mut journal, _) = kept.journal().unwrap();
        journal.append_durably(&JournalRecord::Refused { time: String::new(), why: "over".into() }).unwrap();
        kept.mark_ended();
    }
}

#[test]
fn other_fabrics_and_other_simulators_do_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    home.begin(begun("a", "0x1", None), "{}").unwrap();
    assert!(home.begin(begun("b", "0x1", None), "{}").is_err());
    home.begin(begun("c", "0x2", None), "{}").unwrap();
    home.begin(begun("d", "0x1", Some("/tmp/lab")), "{}").unwrap();
    home.begin(begun("e", "0x1", Some("/tmp/other")), "{}").unwrap();
    assert!(home.begin(begun("f", "0x1", Some("/tmp/lab")), "{}").is_err());
    assert_eq!(home.list_pending().unwrap().len(), 4);
}

/// While it is not known whether a change is pending, none is begun.
#[test]
fn a_damaged_journal_without_a_first_record_holds_no_change_up() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    let (kept, keeping) = home.begin(begun("a", "0x1", None), "{}").unwrap();
    assert!(kept.lock_guard().unwrap().is_none(), "it is kept");
    assert!(!kept.is_abandoned());
    drop(keeping);
    assert!(kept.is_abandoned(), "the process that began it is not the one that holds the lock");
    assert!(kept.lock_guard().unwrap().is_some(), "a lock of a process that is gone is none");
    let path = kept.folder.join("journal");
    let text = std::fs::read_to_string(&path).unwrap().replace("user of a", "user of b");
    std::fs::write(&path, text).unwrap();
    assert!(matches!(Journal::load(&LocalSystem, &path), Err(fabdeck_change::JournalError::Damaged { .. })));
    assert!(matches!(home.list().unwrap().pop(), Some(Err(ChangeStoreError::Unread { .. }))));
    home.begin(begun("b", "0x9", None), "{}").unwrap();
}

/// Folders of other things, however they are called, have no numbers of changes.
#[test]
fn only_numbers_of_changes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    for name in ["18446744073709551615", "9223372036854775807", "+00007", "12345", "1e6", "000004"] {
        let change = folder.path().join("changes").join(name);
        std::fs::create_dir(&change).unwrap();
        std::fs::write(change.join("plan.json"), "{}").unwrap();
    }
    let (kept, _keeping) = home.begin(begun("a", "0x1", None), "{}").unwrap();
    assert!(kept.folder.ends_with("000005"), "{}", kept.folder.display());
}
