//! Files of other users in a folder of an older version, where any user can write: of any size. Sparse files are planted at
//! once and have a size that no disk has.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::time::{Duration, Instant};

use super::other_users::{NOBODY, open_to_others, run_as_second_user};
use super::processes::{DEMO, ServedLab};
use fabdeck_change::{AuditEntry, ChangeStore};

/// No command of these tests takes longer, on a machine that does much else besides.
const BOUND: Duration = Duration::from_secs(15);

/// A pending change in a folder that all users can write.
fn lab_of_old_version() -> (ServedLab, String) {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let id = lab.apply();
    let state = lab.home.path().join("state");
    for (name, mode) in [("", 0o1777), ("changes", 0o1777), ("audit", 0o666)] {
        fs::set_permissions(state.join(name), Permissions::from_mode(mode)).unwrap();
    }
    (lab, id)
}

/// Commands of the second user in the state folder.
fn plant(lab: &ServedLab, script: &str) {
    let mut shell = run_as_second_user("sh");
    let ended = shell.current_dir(lab.home.path().join("state")).args(["-c", script]).output().unwrap();
    assert!(ended.status.success(), "{script}: {ended:?}");
}

/// Runs a command and returns its output; a command that reads what was planted takes longer than the bound.
fn run_in_time(lab: &ServedLab, args: &[&str], code: i32) -> String {
    let since = Instant::now();
    let said = lab.run_to_end(args, code);
    assert!(since.elapsed() < BOUND, "{args:?}: {:?}: {said}", since.elapsed());
    said
}

#[test]
fn a_journal_of_another_user_that_fills_a_disk_is_named_and_not_read() {
    let (lab, id) = lab_of_old_version();
    let before = lab.tables();
    plant(
        &lab,
        "mkdir changes/000000 changes/999998; truncate -s 40G changes/000000/journal changes/999998/journal",
    );
    let said = run_in_time(&lab, &["changes"], 7);
    assert!(said.contains(&id[..4]), "{said}");
    for name in ["000000", "999998"] {
        assert!(said.contains(&format!("changes/{name}/journal: FD-5610")), "{said}");
    }
    run_in_time(&lab, &["confirm", &id], 0);
    assert_eq!(lab.tables(), before);
}

/// Each of them is small enough to be read, and all together are not.
#[test]
fn many_journals_of_another_user_take_their_own_share_alone() {
    let (lab, id) = lab_of_old_version();
    let folders = "for at in 0 1 2 3 4 5 6 7 8 9; do mkdir changes/00000$at.x; truncate -s 200M \
                   changes/00000$at.x/journal; done";
    plant(&lab, folders);
    let other = lab.home.path().join("state/changes/000000");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("journal"), "").unwrap();
    [&other, &other.join("journal")].iter().for_each(|path| chown(path, Some(1), Some(1)).unwrap());
    let said = run_in_time(&lab, &["changes"], 7);
    assert!(said.contains(&id[..4]) && said.contains("read up to 256 MiB together"), "{said}");
    assert_eq!(said.matches("FD-5610").count(), 9, "{said}");
    run_in_time(&lab, &["rollback", &id], 0);
}

/// The trail is read neither before the first part is restored nor after the last.
#[test]
fn a_trail_that_another_user_made_long_delays_no_rollback() {
    let (lab, id) = lab_of_old_version();
    plant(&lab, "truncate -s 40G audit; truncate -s 40G audit.before");
    let since = Instant::now();
    lab.run_to_end(&["rollback", &id], 0);
    assert!(since.elapsed() < BOUND, "{:?}", since.elapsed());
    assert!(lab.logs().contains("FD-5601") && lab.logs().contains("set it aside"), "{}", lab.logs());
    let said = run_in_time(&lab, &["changes"], 0);
    assert!(said.contains("rolled back"), "{said}");
}

/// The guard is gone, and what takes over writes a line before it restores anything.
#[test]
fn the_second_process_takes_over_beside_a_long_trail() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"], 0);
    let applied = Instant::now();
    let audit = OpenOptions::new().write(true).open(lab.home.path().join("state/audit")).unwrap();
    audit.set_len(40 << 30).unwrap();
    lab.kill_guard();
    let journal = || fs::read_to_string(lab.folder().join("journal")).unwrap();
    while !journal().contains("\"record\":\"returned\"") {
        assert!(applied.elapsed() < Duration::from_secs(36), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_plan_beside_the_journal_that_fills_a_disk_is_not_read() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.kill_guards();
    OpenOptions::new().write(true).open(lab.folder().join("plan.json")).unwrap().set_len(40 << 30).unwrap();
    let said = run_in_time(&lab, &["changes"], 0);
    assert!(said.contains("FD-5627") && said.contains("a plan has at most"), "{said}");
    run_in_time(&lab, &["rollback", &id], 0);
}

fn entry(detail: String) -> AuditEntry {
    AuditEntry { what: "refused".into(), detail, ..AuditEntry::default() }
}

fn flip_byte(trail: &Path, at: usize) {
    let mut bytes = fs::read(trail).unwrap();
    bytes[at] ^= 1;
    fs::write(trail, bytes).unwrap();
}

/// Damage far before the end is not even looked at; damage at the end refuses the line.
#[test]
fn a_line_of_a_long_trail_needs_its_end_alone() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    let trail = folder.path().join("audit");
    (0..30).for_each(|_| home.audit(&entry("x".repeat(50_000))).unwrap());
    flip_byte(&trail, 1000);
    home.audit(&entry("behind".into())).unwrap();
    flip_byte(&trail, 1000);
    assert_eq!(home.audit_trail().unwrap().len(), 31);
    let length = fs::metadata(&trail).unwrap().len() as usize;
    flip_byte(&trail, length - 200);
    let refused = home.audit(&entry(String::new())).unwrap_err().to_string();
    assert!(refused.contains("FD-5601") && refused.contains("damaged"), "{refused}");
}

#[test]
fn files_beside_a_trail_of_another_user_hold_no_check_up() {
    let lab = ServedLab::with_two_changes();
    let state = lab.home.path().join("state");
    // The lines that the newest change knows of are searched in all of them.
    fs::write(state.join("audit"), "").unwrap();
    for at in 0..20 {
        let path = state.join(format!("audit.{at}"));
        fs::File::create(&path).unwrap().set_len(40 << 30).unwrap();
        chown(&path, Some(NOBODY), None).unwrap();
    }
    let said = run_in_time(&lab, &["changes"], 7);
    assert!(said.contains("FD-5642"), "{said}");
}
