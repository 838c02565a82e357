//! The audit trail: it has every refusal, and loses no line when processes are killed.

use std::collections::BTreeMap;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::long;
use super::processes::{DEMO, ServedLab, command, user};
use fabdeck_change::{AuditEntry, BeginRecord, ChangeStore};

fn refusals(lab: &ServedLab) -> Vec<AuditEntry> {
    let trail = ChangeStore::open(&lab.home.path().join("state")).unwrap().audit_trail().unwrap();
    trail.into_iter().filter(|entry| entry.what == "refused").collect()
}

#[test]
fn refusals_stand_in_the_trail() {
    let lab = ServedLab::new(DEMO);
    // Nothing was ever written there, so nothing is made for a refusal.
    lab.run_to_end(&["apply", "a.plan", "--yes"], 4);
    lab.run_to_end(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "c.plan"], 0);
    assert!(!lab.home.path().join("state").exists());
    let id = lab.apply();
    lab.run_to_end(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
    lab.run_to_end(&["apply", "b.plan", "--yes"], 4);
    lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 4);
    lab.run_to_end(&["extend", &id, "24h"], 4);
    lab.run_to_end(&["confirm", "00000000"], 64);
    lab.run_to_end(&["confirm", &id], 0);
    lab.run_to_end(&["rollback", &id], 4);
    lab.run_to_end(&["apply", "c.plan", "--yes"], 3);
    let told = refusals(&lab);
    let told: Vec<(Option<&str>, &str)> =
        told.iter().map(|entry| (entry.change.as_deref(), entry.detail.as_str())).collect();
    let wanted = [
        (None, "apply b.plan: FD-7983"),
        (None, "apply b.plan: FD-5632"),
        (Some(id.as_str()), "extend: FD-5653"),
        (Some("00000000"), "confirm: FD-5634"),
        (Some(id.as_str()), "rollback: FD-7985"),
        (None, "apply c.plan: FD-7986"),
    ];
    assert_eq!(told.len(), wanted.len(), "{told:?}");
    for ((change, detail), (about, words)) in told.iter().zip(wanted) {
        assert!(*change == about && detail.starts_with(words), "{change:?} {detail} instead of {words}");
    }
    assert!(refusals(&lab).iter().all(|entry| entry.user == user()));
}

/// The chain alone does not show that its last lines are gone: the newest journal knows how many there were.
#[test]
fn a_trail_whose_end_was_cut_off_is_reported() {
    let lab = ServedLab::with_two_changes();
    lab.run_to_end(&["changes"], 0);
    let trail = lab.home.path().join("state/audit");
    let whole = std::fs::read_to_string(&trail).unwrap();
    let first = whole.split_inclusive('\n').next().unwrap();
    std::fs::write(&trail, first).unwrap();
    let said = lab.run_to_end(&["changes"], 7);
    assert!(said.contains("FD-5642"), "{said}");
    // Set aside it is still there.
    std::fs::write(lab.home.path().join("state/audit.before"), &whole).unwrap();
    lab.run_to_end(&["changes"], 0);
}

/// A link is not followed where the trail itself is sound; where it is not, the link is no trail.
#[test]
fn what_is_no_file_beside_the_trail_is_named_and_stepped_over() {
    let lab = ServedLab::with_two_changes();
    let state = lab.home.path().join("state");
    // A name that is looked at before that of the trail itself, whatever order the folder has.
    for name in ["audit.1", "audit.before"] {
        std::os::unix::fs::symlink("../elsewhere", state.join(name)).unwrap();
    }
    std::fs::create_dir(state.join("audit.d")).unwrap();
    for there in [false, true] {
        if there {
            std::fs::copy(state.join("audit"), lab.home.path().join("elsewhere")).unwrap();
        }
        let said = lab.run_to_end(&["changes"], 0);
        assert!(said.contains("audit.1: FD-5646") && said.contains("audit.before: FD-5646"), "{said}");
        assert!(!said.contains("audit.d"), "{said}");
    }
    let whole = std::fs::read_to_string(state.join("audit")).unwrap();
    std::fs::write(state.join("audit"), whole.split_inclusive('\n').next().unwrap()).unwrap();
    let said = lab.run_to_end(&["changes"], 7);
    assert!(said.contains("FD-5642") && said.contains("FD-5646"), "{said}");
}

/// A user who may write to the state folder can cut trail and journals alike; the system log's lines stay.
#[test]
fn a_trail_that_was_cut_with_its_journals_is_found_by_the_system_log() {
    let lab = ServedLab::new(DEMO);
    let log = lab.home.path().join("log.sock");
    let heard = UnixDatagram::bind(&log).unwrap();
    heard.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    std::fs::write(lab.home.path().join("site.toml"), format!("system-log = \"{}\"\n", log.display()))
        .unwrap();
    let with = |args: &[&str], exit| lab.run_to_end(&[&["--config", "site.toml"], args].concat(), exit);
    with(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    with(&["confirm", &id], 0);
    let trail = lab.home.path().join("state/audit");
    let since = Instant::now();
    // The last line of a change.
    while !std::fs::read_to_string(&trail).unwrap().contains("unregistered") {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut lines = String::new();
    // A line for each line of the trail.
    for _ in 0..std::fs::read_to_string(&trail).unwrap().lines().count() {
        let mut line = [0; 1024];
        let length = heard.recv(&mut line).unwrap();
        lines += &format!("Nov 26 08:00:00 vm {}\n", str::from_utf8(&line[..length]).unwrap());
    }
    assert!(lines.contains("<85>fabdeck[") && lines.contains("/state/audit has "), "{lines}");
    std::fs::write(lab.home.path().join("heard"), &lines).unwrap();
    let said = lab.run(&["--config", "site.toml", "changes", "--system-log", "heard"]);
    assert_eq!(said.status.code(), Some(0), "{lines}{}", String::from_utf8_lossy(&said.stderr));
    let whole = std::fs::read_to_string(&trail).unwrap();
    let (begin, _) = whole.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&trail, format!("{begin}\n")).unwrap();
    // The journal was begun before that line, and knows nothing of it.
    with(&["changes"], 0);
    let said = with(&["changes", "--system-log", "heard"], 7);
    assert!(said.contains("FD-5642") && said.contains("the system log says"), "{said}");
    std::fs::write(lab.home.path().join("other"), "Nov 26 08:00:00 vm sshd[1]: hello\n").unwrap();
    assert!(with(&["changes", "--system-log", "other"], 7).contains("FD-7316"));
    assert!(with(&["changes", "--system-log", "absent"], 7).contains("FD-7315"));
    // A log that is gone holds nothing up.
    drop(heard);
    std::fs::remove_file(&log).unwrap();
    std::fs::write(&trail, whole).unwrap();
    with(&["rollback", &id], 4);
}

#[test]
fn a_trail_that_is_damaged_does_not_hide_why_it_was_refused() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    std::fs::write(lab.home.path().join("state/audit"), "no line of it\n").unwrap();
    let refused = lab.run_to_end(&["rollback", &id], 4);
    assert!(refused.contains("FD-7985") && refused.contains("the audit trail is damaged"), "{refused}");
}

/// Many processes append, each a line; most of them are killed on the way. Each that got an answer has its line in the trail.
#[test]
fn no_line_is_lost_when_writers_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    ChangeStore::open(&folder.path().join("state")).unwrap();
    let rounds = if long() { 300 } else { 25 };
    let (mut answered, mut killed) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let started: Vec<(String, Child)> =
            (0..6).map(|at| appending(folder.path(), round * 6 + at)).collect();
        for (at, (id, mut child)) in started.into_iter().enumerate() {
            if at % 3 > 0 {
                // Moments that walk over all that the process does.
                std::thread::sleep(Duration::from_micros((round * 397 + at as u64 * 151) % 3000));
                child.kill().unwrap();
            }
            match child.wait().unwrap().code() {
                Some(64) => answered.push(id),
                None => killed.push(id),
                other => panic!("{id}: {other:?}"),
            }
        }
    }
    // The next writer cuts off what a killed one left behind, and the chain is intact.
    let (id, mut last) = appending(folder.path(), 999_999);
    assert_eq!(last.wait().unwrap().code(), Some(64));
    answered.push(id);
    let mut lines = BTreeMap::<String, usize>::new();
    for entry in ChangeStore::open(&folder.path().join("state")).unwrap().audit_trail().unwrap() {
        *lines.entry(entry.change.unwrap()).or_default() += 1;
    }
    let lost: Vec<&String> = answered.iter().filter(|id| lines.get(*id) != Some(&1)).collect();
    assert_eq!(lost, Vec::<&String>::new());
    let of_killed = killed.iter().filter(|id| lines.contains_key(*id)).count();
    assert_eq!(lines.len(), answered.len() + of_killed);
    println!(
        "said: {} answered, {} killed, {of_killed} of them behind their line",
        answered.len(),
        killed.len()
    );
    assert!(!killed.is_empty() && answered.len() as u64 >= rounds * 2);
}

/// A confirmation of a change that does not exist is refused, and is in the trail under this id.
fn appending(home: &Path, number: u64) -> (String, Child) {
    let id = format!("{number:08}");
    let mut command = command(home);
    command.args(["--state-dir", "./state", "confirm", &id]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (id, child)
}

/// `cut` and `jq` show the trail and the journal on a terminal, where such a character acts.
#[test]
fn no_control_character_stands_in_the_trail_or_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    let text = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}b \u{fc}".to_owned();
    let entry = AuditEntry { user: text.clone(), detail: text.clone(), ..AuditEntry::default() };
    home.audit(&entry).unwrap();
    let begun = BeginRecord { id: "a".into(), user: text.clone(), ..BeginRecord::default() };
    let (kept, _keeping) = home.begin(begun, "{}").unwrap();
    for file in [folder.path().join("audit"), kept.folder.join("journal")] {
        let held = std::fs::read_to_string(&file).unwrap();
        let is_plain = |sign: char| sign == '\n' || fabdeck_fabric::observe::is_printable(sign);
        assert!(held.chars().all(is_plain) && held.contains("\u{fc}"), "{held:?}");
    }
    assert_eq!(home.audit_trail().unwrap(), [entry]);
    assert_eq!(home.find("a").unwrap().read.state.begun.user, text);
}
