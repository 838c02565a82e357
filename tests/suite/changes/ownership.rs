//! State folders: who owns one, what that protects, and what becomes of folders of older versions.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use super::processes::{DEMO, ServedLab};
use fabdeck_change::{
    AuditEntry, BeginRecord, ChangeStore, ChangeStoreError, Journal, JournalError, LocalSystem,
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn begun(id: &str) -> BeginRecord {
    BeginRecord { id: id.into(), switches: BTreeSet::from(["0x1".into()]), ..BeginRecord::default() }
}

/// Whatever the mask and the mode of the folder are: others read nothing, so that they can lock nothing.
#[test]
fn what_lies_in_a_state_folder_is_for_its_owner_alone() {
    for (folder_mode, mask) in [(None, 0o022), (None, 0o077), (Some(0o755), 0o022), (Some(0o750), 0o022)] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("state");
        if let Some(mode) = folder_mode {
            fs::create_dir(&folder).unwrap();
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        }
        let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
        let home = ChangeStore::open(&folder).unwrap();
        let (kept, _keeping) = home.begin(begun("a"), "{}").unwrap();
        home.audit(&AuditEntry::default()).unwrap();
        kept.set_socket(Path::new("/run/fabdeck/a.sock")).unwrap();
        rustix::process::umask(before);
        let change = "changes/000001";
        for name in ["", "changes", change] {
            assert_eq!(mode(&folder.join(name)), 0o700, "{name} {folder_mode:?}");
        }
        for name in ["lock", "audit", "audit.lock"] {
            assert_eq!(mode(&folder.join(name)), 0o600, "{name} {folder_mode:?}");
        }
        for name in ["journal", "plan.json", "guard.lock", "socket"] {
            assert_eq!(mode(&folder.join(change).join(name)), 0o600, "{name} {folder_mode:?}");
        }
    }
}

/// The guard makes the folders above its sockets: with the caller's mask any user could replace them.
#[test]
fn what_a_guard_makes_is_for_its_owner_alone_whatever_the_mask_is() {
    let lab = ServedLab::with(DEMO, &["--config", "lab.toml"], |home| {
        let sockets = home.join("made/run");
        fs::write(home.join("lab.toml"), format!("socket-dir = \"{}\"\n", sockets.display())).unwrap();
    });
    let apply = lab.command(&["apply", "a.plan", "--yes", "--accept", "transition"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(apply.get_program()).args(apply.get_args());
    shell.current_dir(lab.home.path()).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", lab.home.path());
    let ended = shell.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(mode(&lab.home.path().join("made")), 0o700);
    lab.run_to_end(&["rollback", "1"], 0);
}

/// What `docs/safety.md` said to make once: anybody could hold the locks there. The commands of the error mend it.
#[test]
fn a_folder_of_several_users_takes_no_new_change_until_it_is_mended() {
    for mode in [0o1777, 0o2770, 0o770] {
        let lab = ServedLab::new(DEMO);
        let state = lab.home.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, Permissions::from_mode(mode)).unwrap();
        let refused = lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 4);
        assert!(refused.contains("FD-5638") && refused.contains("chown -R"), "{refused}");
        assert!(!state.join("changes").exists(), "nothing is made in it");
        mend(&lab, &refused);
        let id = lab.apply();
        lab.run_to_end(&["confirm", &id], 0);
    }
}

#[test]
fn a_folder_with_a_change_of_another_user_takes_no_new_change() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    let other = lab.home.path().join("state/changes/000002");
    fs::create_dir(&other).unwrap();
    chown(&other, Some(65534), Some(65534))
        .expect("this test gives a folder to another user: run it as root");
    lab.run_to_end(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
    let refused = lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 4);
    assert!(refused.contains("FD-5638") && refused.contains("000002"), "{refused}");
    // What is there already is listed all the same.
    assert_eq!(lab.state(), "confirmed");
    mend(&lab, &refused);
    lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 0);
}

/// Who may rename a folder above can put another one in its place, with journals of their own.
#[test]
fn a_folder_that_others_can_replace_takes_no_new_change() {
    let parent = tempfile::tempdir().unwrap();
    let state = parent.path().join("site/state");
    ChangeStore::open(&state).unwrap();
    let site = parent.path().join("site");
    let open_with = |mode: u32, user: u32| {
        fs::set_permissions(&site, Permissions::from_mode(mode)).unwrap();
        chown(&site, Some(user), None).expect("this test gives a folder to another user: run it as root");
        ChangeStore::open(&state).map(drop).map_err(|error| error.to_string())
    };
    for (mode, user) in [(0o755, 0), (0o1777, 0), (0o775, 0)] {
        assert_eq!(open_with(mode, user), Ok(()), "{mode:o} {user}");
    }
    for (mode, user, what) in
        [(0o777, 0, "mode 777"), (0o755, 65534, "owns that folder"), (0o1777, 65534, "owns that folder")]
    {
        let refused = open_with(mode, user).unwrap_err();
        assert!(refused.contains("FD-5639") && refused.contains(what), "{mode:o} {user}: {refused}");
        assert!(refused.contains("/site,"), "{refused}");
    }
}

/// Runs the commands that an error gives, as a person would who copies them.
fn mend(lab: &ServedLab, refused: &str) {
    let words: Vec<&str> = refused.split_whitespace().collect();
    let line = words.join(" ");
    let commands = line.split_once("as root: ").expect(refused).1;
    assert!(
        Command::new("sh").args(["-c", commands]).current_dir(lab.home.path()).status().unwrap().success(),
        "{commands}"
    );
}

/// A folder in the place of a number made every later change fail once.
#[test]
fn a_folder_that_no_change_was_begun_in_takes_no_number() {
    let parent = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(&parent.path().join("state")).unwrap();
    for name in ["999999999999", "000001"] {
        fs::create_dir(home.folder().join("changes").join(name)).unwrap();
    }
    let (kept, _keeping) = home.begin(begun("a"), "{}").unwrap();
    assert!(kept.folder.ends_with("000002"), "{}", kept.folder.display());
}

/// In a folder of older versions users may put what they like in the place of their own files.
#[test]
fn links_and_pipes_in_the_place_of_files_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    let victim = parent.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let home = ChangeStore::open(&parent.path().join("state")).unwrap();
    let begun =
        BeginRecord { id: "a".into(), switches: BTreeSet::from(["0x1".into()]), ..BeginRecord::default() };
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
        let error = kept.lock_guard().unwrap_err();
        assert!(
            matches!(error, ChangeStoreError::Kept { .. }) && error.to_string().contains("guard.lock"),
            "{error}"
        );
        assert!(!kept.is_abandoned());
        assert!(kept.find_problem().unwrap().contains("FD-5635"));
        put("plan.json", pipe);
        assert!(kept.plan_begun().unwrap_err().contains("no regular file"));
        put("ended", pipe);
        kept.mark_ended();
    }
    for pipe in [false, true] {
        put("journal", pipe);
        let error = Journal::load(&LocalSystem, &kept.folder.join("journal")).unwrap_err();
        assert!(matches!(error, JournalError::Disk { .. }), "{error}");
        assert!(matches!(home.find("a"), Err(ChangeStoreError::Unread { .. })));
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(mode(&victim) & 0o777, 0o644);
}

/// Who only looks needs no lock, and makes nothing.
#[test]
fn changes_are_listed_where_nothing_can_be_written() {
    let lab = ServedLab::new(DEMO);
    let state = lab.home.path().join("state");
    let home = ChangeStore::open(&state).unwrap();
    let (_kept, _keeping) =
        home.begin(BeginRecord { id: "a".into(), ..BeginRecord::default() }, "{}").unwrap();
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
    let said = lab.run_to_end(&["changes"], 7);
    assert!(said.contains("FD-5636"), "{said}");
}
