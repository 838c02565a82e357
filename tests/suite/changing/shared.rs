//! State folders of several users: who may use the folder may use what lies in it, whatever the mask of the first one was.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use fabdeck::change::{Begun, Entry, Home, HomeError, Journal, JournalError};

use super::processes::{DEMO, Lab};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_lies_in_a_state_folder_is_for_whoever_may_use_the_folder() {
    for (folder_mode, open, read, shown) in [
        (0o1777, 0o666, 0o644, 0o755),
        (0o2770, 0o660, 0o640, 0o750),
        (0o770, 0o660, 0o640, 0o750),
        (0o755, 0o644, 0o644, 0o755),
        (0o700, 0o600, 0o600, 0o700),
    ] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("state");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(folder_mode)).unwrap();
        // Somebody comes first who shows nothing to anybody.
        let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let home = Home::open(&folder).unwrap();
        let begun = Begun { id: "a".into(), switches: BTreeSet::from(["0x1".into()]), ..Begun::default() };
        let (kept, _keeping) = home.begin(begun, "{}").unwrap();
        home.audit(&Entry::default()).unwrap();
        fs::write(kept.socket(), "").unwrap();
        home.open_up(&kept.socket()).unwrap();
        rustix::process::umask(mask);
        let is = |name: &str| mode(&folder.join(name));
        let found = ["lock", "audit", "audit.lock", "changes/000001/guard.sock"].map(is);
        assert_eq!(found, [open; 4], "{folder_mode:o}: {found:?}");
        let found = ["journal", "plan.json", "guard.lock"];
        let found = found.map(|name| is(&format!("changes/000001/{name}")));
        assert_eq!(found, [read; 3], "{folder_mode:o}: {found:?}");
        let found = [is("changes"), is("changes/000001")];
        assert_eq!(found, [folder_mode, shown], "{folder_mode:o}: {found:?}");
    }
}

/// A guard answers whoever may write in the folder; the file where it is asked says so.
#[test]
fn the_door_of_a_guard_is_open_to_whoever_may_write_in_the_folder() {
    let lab = Lab::new(DEMO);
    let state = lab.home.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, Permissions::from_mode(0o1777)).unwrap();
    let id = lab.apply();
    assert_eq!(mode(&lab.folder().join("guard.sock")), 0o666);
    lab.ends(&["confirm", &id], 0);
}

/// In a folder of all users anybody may put what they like in the place of their own files.
#[test]
fn links_and_pipes_in_the_place_of_files_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    let victim = parent.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let home = Home::open(&parent.path().join("state")).unwrap();
    let begun = Begun { id: "a".into(), switches: BTreeSet::from(["0x1".into()]), ..Begun::default() };
    let (kept, keeping) = home.begin(begun, "{}").unwrap();
    drop(keeping);
    let put = |name: &str, pipe: bool| {
        let path = kept.folder.join(name);
        let _ = fs::remove_file(&path);
        match pipe {
            true => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
            false => symlink(&victim, &path).unwrap(),
        }
    };
    for pipe in [false, true] {
        put("guard.lock", pipe);
        let error = kept.keep().unwrap_err();
        assert!(
            matches!(error, HomeError::Kept { .. }) && error.to_string().contains("guard.lock"),
            "{error}"
        );
        assert!(!kept.is_abandoned());
        assert!(kept.trouble().unwrap().contains("FD-5635"));
        put("plan.json", pipe);
        assert!(kept.plan_begun().unwrap_err().contains("no regular file"));
        put("ended", pipe);
        kept.end();
    }
    for pipe in [false, true] {
        put("journal", pipe);
        let error = Journal::load(&kept.folder.join("journal")).unwrap_err();
        assert!(matches!(error, JournalError::Disk { .. }), "{error}");
        assert!(matches!(home.find("a"), Err(HomeError::Unread { .. })));
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(mode(&victim) & 0o777, 0o644);
}

/// Who only looks needs no lock, and makes nothing.
#[test]
fn changes_are_listed_where_nothing_can_be_written() {
    let lab = Lab::new(DEMO);
    let state = lab.home.path().join("state");
    let home = Home::open(&state).unwrap();
    let (_kept, _keeping) = home.begin(Begun { id: "a".into(), ..Begun::default() }, "{}").unwrap();
    for folder in [false, true] {
        fs::remove_file(state.join("lock")).unwrap_or_default();
        if folder {
            fs::create_dir(state.join("lock")).unwrap();
        }
        assert_eq!(lab.row()["id"], "a");
        assert_eq!(state.join("lock").exists(), folder);
    }
    // What cannot be looked into is no folder without changes.
    fs::rename(state.join("changes"), state.join("gone")).unwrap();
    fs::write(state.join("changes"), "").unwrap();
    let said = lab.ends(&["changes"], 7);
    assert!(said.contains("FD-5636"), "{said}");
}
