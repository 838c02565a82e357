//! What lies beside or in a journal is not what it should be: said, in `changes` too, and what can be taken back is.

use std::fs;

use fabdeck_change::{
    BeginRecord, ChangePhase, ChangeState, ChangeStore, GuardMode, Journal, JournalRecord, MemoryDisk,
};

use super::processes::{DEMO, ServedLab};
use super::{Stage, make_simulator_and_plan, observe_simulator, order_channel};

/// A guard that was asked to keep what it should not.
fn run_refused_guard(
    change: impl FnOnce(&mut BeginRecord),
    errand: GuardMode,
) -> (ChangeState, Vec<String>, usize) {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let before = observe_simulator(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let mut begun = stage.begin_record(0);
    change(&mut begun);
    let told = ChangeState::from_records(&[JournalRecord::Begun(Box::new(begun))]).unwrap();
    let (_sender, orders) = order_channel();
    let told =
        stage.run_guard(errand, Journal::on_empty_disk("journal", Box::new(MemoryDisk)), told, &orders);
    assert!(observe_simulator(&simulator).tables == before);
    let sets = stage.witness.course().sets.len();
    (told, stage.said, sets)
}

#[test]
fn a_plan_that_is_not_the_one_that_was_begun_is_not_applied() {
    let (told, said, sets) = run_refused_guard(|begun| begun.plan = "another".into(), GuardMode::Apply);
    assert_eq!((told.phase, sets), (ChangePhase::Refused, 0));
    assert!(told.why.unwrap().contains("FD-5627"), "{said:?}");
}

#[test]
fn writes_that_this_version_does_not_know_are_neither_written_nor_taken_back() {
    for errand in [GuardMode::Apply, GuardMode::TakeOver] {
        let (told, said, sets) = run_refused_guard(|begun| begun.writes[0].new.push('0'), errand);
        assert_eq!((told.phase, sets), (ChangePhase::Applying, 0));
        assert!(said.len() == 1 && said[0].contains("FD-5628"), "{said:?}");
    }
}

/// A journal that cannot be read refuses a new change only where it may be pending on the same switches.
#[test]
fn unreadable_changes_of_other_fabrics_are_named_and_stepped_over() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    let begun = |id: &str, switch: &str| BeginRecord {
        id: id.into(),
        switches: [switch.to_owned()].into(),
        ..BeginRecord::default()
    };
    let damage = |journal: &std::path::Path, what: &str| {
        let text = fs::read_to_string(journal).unwrap();
        fs::write(journal, format!("{text}{what}\n")).unwrap();
    };
    let (kept, keeping) = home.begin(begun("a", "0x1"), "{}").unwrap();
    drop(keeping);
    let journal = kept.folder.join("journal");
    damage(&journal, "rubbish");
    // The first record tells the switches.
    let refused = home.refuse_second(&begun("b", "0x1")).unwrap_err().to_string();
    assert!(refused.contains("FD-5633") && refused.contains("FD-5601"), "{refused}");
    let stepped_over = home.refuse_second(&begun("b", "0x2")).unwrap();
    assert!(stepped_over.len() == 1 && stepped_over[0].contains("FD-5633"), "{stepped_over:?}");
    // Without it no guard can roll it back.
    fs::write(&journal, "rubbish\n").unwrap();
    assert_eq!(home.refuse_second(&begun("b", "0x1")).unwrap().len(), 1);
    // Unless one listens.
    let socket = std::os::unix::net::UnixListener::bind(kept.folder.join("guard.sock")).unwrap();
    home.refuse_second(&begun("b", "0x1")).unwrap_err();
    drop(socket);
}

#[test]
fn a_rubbish_journal_stops_neither_apply_nor_lanes() {
    let lab = ServedLab::new(DEMO);
    let rubbish = lab.home.path().join("state/changes/000001");
    let home = ChangeStore::open(&lab.home.path().join("state")).unwrap();
    let (kept, keeping) = home.begin(BeginRecord::default(), "{}").unwrap();
    drop(keeping);
    assert_eq!(kept.folder, rubbish);
    fs::write(rubbish.join("journal"), b"\xff\x00rubbish\n").unwrap();
    let said = lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
    assert!(said.contains("FD-5633") && said.contains("state/changes/000001"), "{said}");
    lab.run_to_end(&["confirm", "2"], 0);
    let said = lab.run_to_end(&["lanes"], 0);
    assert!(said.contains("FD-5633") && said.contains("not counted"), "{said}");
}

/// The plan is gone or another one, the guard too: the next guard says so, and takes back what the journal holds.
#[test]
fn an_exchanged_plan_is_reported_and_the_journal_rolls_the_change_back() {
    for gone in [false, true] {
        let lab = ServedLab::new(DEMO);
        let before = lab.tables();
        lab.run_to_end(&["route", "--engine", "sssp", "-o", "b.plan"], 2);
        let id = lab.apply();
        lab.kill_guard();
        let plan = lab.folder().join("plan.json");
        if gone {
            fs::remove_file(plan).unwrap();
        } else {
            fs::copy(lab.home.path().join("b.plan"), plan).unwrap();
        }
        let said = lab.run_to_end(&["changes"], 0);
        assert!(said.contains("FD-5627"), "{said}");
        lab.run_to_end(&["rollback", &id], 0);
        assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
        assert!(lab.trail().contains("\"what\":\"trouble\""), "{}", lab.trail());
    }
}

#[test]
fn changes_that_no_guard_can_run_are_reported() {
    let lab = ServedLab::new(DEMO);
    let home = ChangeStore::open(&lab.home.path().join("state")).unwrap();
    let (_, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let mut begun = BeginRecord { id: "a".into(), writes: plan.writes, ..BeginRecord::default() };
    begun.writes[0].old.push('0');
    let (kept, keeping) = home.begin(begun, "{}").unwrap();
    let said = lab.run_to_end(&["changes"], 0);
    assert!(said.contains("FD-5628"), "{said}");
    drop(keeping);
    let journal = kept.folder.join("journal");
    let text = fs::read_to_string(&journal).unwrap().replace("\"id\":\"a\"", "\"id\":\"b\"");
    fs::write(&journal, text).unwrap();
    let said = lab.run_to_end(&["changes"], 7);
    assert!(said.contains("FD-5633") && said.contains("offset 0"), "{said}");
}
