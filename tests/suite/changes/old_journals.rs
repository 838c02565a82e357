//! A state folder that a fabdeck of before state folders had one owner (commit 62b9d81) left behind, with a pending change:
//! the next program resumes, confirms or rolls back what is in it, and begins nothing new there.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::other_users::{open_to_others, second_user_of};
use super::processes::{DEMO, ServedLab};

/// The keys of its `begun`, in their order; those that are not always there are left out.
const BEGUN: &[&str] = &[
    "record",
    "id",
    "number",
    "time",
    "user",
    "pid",
    "source",
    "via",
    "window_s",
    "plan",
    "engine",
    "accepted",
    "switches",
    "simulator",
    "lost_before",
    "writes",
];

/// A line of its journals: checksum, chain, JSON.
fn line(link: &mut Vec<u8>, json: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(link).update(json.as_bytes());
    *link = hasher.finalize().as_bytes()[..8].to_vec();
    let chain: String = link.iter().map(|byte| format!("{byte:02x}")).collect();
    let rest = format!("{chain} {json}");
    format!("{:08x} {rest}\n", crc32fast::hash(rest.as_bytes()))
}

/// The journal of a change that is applied and waits for its confirmation until a moment, as it was written then.
fn old_journal(now: &str, deadline: Timestamp) -> String {
    let (_, json) = now.lines().next().unwrap().split_at(26);
    let begun: Map<String, Value> = serde_json::from_str(json).unwrap();
    // The object as text, for the order of its keys is part of the form.
    let fields: Vec<String> =
        BEGUN.iter().filter_map(|key| Some(format!("\"{key}\":{}", begun.get(*key)?))).collect();
    let count = begun["writes"].as_array().unwrap().len();
    let applied = deadline - SignedDuration::from_mins(10);
    let records = [
        format!("{{{}}}", fields.join(",")),
        format!("{{\"record\":\"written\",\"count\":{count}}}"),
        format!("{{\"record\":\"applied\",\"time\":\"{applied}\",\"deadline\":\"{deadline}\"}}"),
    ];
    let mut link = vec![0; 8];
    records.iter().map(|record| line(&mut link, record)).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A change that was applied, its guard gone, its folder as it was then: the id, and the tables before.
fn folder_of_old_version(mode: u32, deadline: Timestamp) -> (ServedLab, String, String) {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guards();
    let (state, folder) = (lab.home.path().join("state"), lab.folder());
    let journal = folder.join("journal");
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.contains("\"host\"") && text.contains("\"registered\"") || text.contains("\"boot\""));
    fs::write(&journal, old_journal(&text, deadline)).unwrap();
    // What that version knew is all there is.
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match name.as_str() {
            "journal" | "plan.json" | "guard.lock" | "guard.log" => {
                set_mode(&path, if mode & 0o007 == 0 { 0o640 } else { 0o644 });
            }
            _ => fs::remove_file(&path).unwrap(),
        }
    }
    set_mode(&folder, 0o700 | mode & 0o055);
    for (name, shared) in [("changes", mode), ("lock", 0o666), ("audit", 0o666), ("audit.lock", 0o666)] {
        let path = state.join(name);
        if path.exists() {
            set_mode(&path, if mode & 0o007 == 0 { shared & 0o7770 } else { shared });
        }
    }
    set_mode(&state, mode);
    (lab, id, before)
}

fn wait_briefly() -> Timestamp {
    Timestamp::now() + SignedDuration::from_mins(5)
}

#[test]
fn nothing_new_is_begun_and_what_is_pending_is_listed() {
    for mode in [0o1777, 0o2770] {
        let (lab, id, _) = folder_of_old_version(mode, wait_briefly());
        let said = lab.run_to_end(&["changes"], 0);
        assert!(said.contains(&id[..4]) && lab.state() == "applied", "{mode:o}: {said}");
        lab.run_to_end(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
        let accepted = "transition,cycle,unreachable,lanes";
        let refused = lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", accepted], 4);
        assert!(refused.contains("FD-5638") && refused.contains("chown -R"), "{mode:o}: {refused}");
        assert!(!lab.home.path().join("state/changes/000002").exists(), "{mode:o}");
        lab.run_to_end(&["rollback", &id], 0);
    }
}

#[test]
fn what_is_pending_can_be_confirmed() {
    for mode in [0o1777, 0o2770] {
        let (lab, id, before) = folder_of_old_version(mode, wait_briefly());
        lab.run_to_end(&["confirm", &id], 0);
        assert_eq!(lab.state(), "confirmed", "{mode:o}");
        assert_ne!(lab.tables(), before, "{mode:o}");
    }
}

#[test]
fn what_is_pending_can_be_rolled_back() {
    for mode in [0o1777, 0o2770] {
        let (lab, id, before) = folder_of_old_version(mode, wait_briefly());
        lab.run_to_end(&["rollback", &id], 0);
        assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before), "{mode:o}");
    }
}

#[test]
fn a_change_not_confirmed_in_time_is_rolled_back_once_it_is_resumed() {
    for mode in [0o1777, 0o2770] {
        let late = Timestamp::now() - SignedDuration::from_secs(1);
        let (lab, _, before) = folder_of_old_version(mode, late);
        lab.run_to_end(&["guard", "--resume"], 0);
        lab.wait_for_state("rolled-back", Duration::from_secs(20));
        assert_eq!(lab.tables(), before, "{mode:o}");
    }
}

/// A user who may read the folder and may not take the change over learns that it is overdue, and who can.
#[test]
fn an_overdue_change_that_this_user_cannot_take_over_is_no_success() {
    let late = Timestamp::now() - SignedDuration::from_secs(8);
    let (lab, id, before) = folder_of_old_version(0o1777, late);
    let (code, text) = second_user_of(&lab, &[], &["guard", "--resume"]);
    assert!(code == 6 && text.contains("FD-7998") && text.contains(&id), "{code}: {text}");
    assert!(text.contains("is OVERDUE and has no guard; only its owner"), "{text}");
    assert!(!text.contains("no change is pending"), "{text}");
    lab.run_to_end(&["guard", "--resume"], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// Before its deadline it is refused: this user cannot do what was asked.
#[test]
fn a_change_that_this_user_cannot_take_over_is_refused() {
    let (lab, id, _) = folder_of_old_version(0o1777, wait_briefly());
    let (code, text) = second_user_of(&lab, &[], &["guard", "--resume"]);
    assert!(code == 4 && text.contains("FD-7998") && !text.contains("OVERDUE"), "{code}: {text}");
    assert!(!text.contains("no change is pending"), "{text}");
    lab.run_to_end(&["rollback", &id], 0);
}
