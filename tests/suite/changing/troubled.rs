//! What lies beside or in a journal is not what it should be: said, in `changes` too, and what can be taken back is.

use std::fs;

use fabdeck_change::{Begun, Errand, Home, Journal, MemoryDisk, Phase, Record, Told};

use super::processes::{DEMO, Lab};
use super::{Stage, nobody, seen, staged};

/// A guard that was asked to keep what it should not.
fn kept(change: impl FnOnce(&mut Begun), errand: Errand) -> (Told, Vec<String>, usize) {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let before = seen(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let mut begun = stage.begun(0);
    change(&mut begun);
    let told = Told::of(&[Record::Begun(Box::new(begun))]).unwrap();
    let (_sender, orders) = nobody();
    let told = stage.keep(errand, Journal::on("journal", Box::new(MemoryDisk)), told, &orders);
    assert!(seen(&simulator).tables == before);
    let sets = stage.witness.course().sets.len();
    (told, stage.said, sets)
}

#[test]
fn a_plan_that_is_not_the_one_that_was_begun_is_not_applied() {
    let (told, said, sets) = kept(|begun| begun.plan = "another".into(), Errand::Apply);
    assert_eq!((told.phase, sets), (Phase::Refused, 0));
    assert!(told.why.unwrap().contains("FD-5627"), "{said:?}");
}

#[test]
fn writes_that_this_version_does_not_know_are_neither_written_nor_taken_back() {
    for errand in [Errand::Apply, Errand::TakeOver] {
        let (told, said, sets) = kept(|begun| begun.writes[0].new.push('0'), errand);
        assert_eq!((told.phase, sets), (Phase::Applying, 0));
        assert!(said.len() == 1 && said[0].contains("FD-5628"), "{said:?}");
    }
}

/// The plan is gone or another one, the guard too: the next guard says so, and takes back what the journal holds.
#[test]
fn a_plan_that_was_exchanged_is_told_and_the_journal_takes_the_change_back() {
    for gone in [false, true] {
        let lab = Lab::new(DEMO);
        let before = lab.tables();
        lab.ends(&["route", "--engine", "sssp", "-o", "b.plan"], 2);
        let id = lab.apply();
        lab.kill_guard();
        let plan = lab.folder().join("plan.json");
        if gone {
            fs::remove_file(plan).unwrap();
        } else {
            fs::copy(lab.home.path().join("b.plan"), plan).unwrap();
        }
        let said = lab.ends(&["changes"], 0);
        assert!(said.contains("FD-5627"), "{said}");
        lab.ends(&["rollback", &id], 0);
        assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
        assert!(lab.trail().contains("\"what\":\"trouble\""), "{}", lab.trail());
    }
}

#[test]
fn changes_that_no_guard_can_keep_are_told() {
    let lab = Lab::new(DEMO);
    let home = Home::open(&lab.home.path().join("state")).unwrap();
    let (_, plan) = staged("kary,k=3,n=2", "updn");
    let mut begun = Begun { id: "a".into(), writes: plan.writes, ..Begun::default() };
    begun.writes[0].old.push('0');
    let (kept, keeping) = home.begin(begun, "{}").unwrap();
    let said = lab.ends(&["changes"], 0);
    assert!(said.contains("FD-5628"), "{said}");
    drop(keeping);
    let journal = kept.folder.join("journal");
    let text = fs::read_to_string(&journal).unwrap().replace("\"id\":\"a\"", "\"id\":\"b\"");
    fs::write(&journal, text).unwrap();
    let said = lab.ends(&["changes"], 7);
    assert!(said.contains("FD-5633") && said.contains("offset 0"), "{said}");
}
