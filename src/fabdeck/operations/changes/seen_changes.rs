//! File with the changes that a user last saw pending, so that a session can report what ended since. It is only a
//! convenience: if it cannot be read or written, nothing is reported.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::system::access::SystemAccess;
use crate::system::output_file;
use fabdeck_change::ChangePhase;
use fabdeck_files::open_regular;

const FILE_NAME: &str = "seen";
/// Changes in folders that are no longer listed are never removed, so the number of ids is limited.
const MAX_IDS: usize = 200;
/// A longer file was not written by fabdeck.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Ids of changes that were pending when this user last saw them.
pub fn read_pending(outside: &dyn SystemAccess) -> BTreeSet<String> {
    file_path(outside).map(|file| read(&file).into_iter().collect()).unwrap_or_default()
}

/// Records that the user saw the phase of a change.
pub fn record_phase(outside: &dyn SystemAccess, id: &str, phase: ChangePhase) {
    let id = [id.to_owned()].into();
    match phase.is_pending() {
        true => store(outside, &id, &BTreeSet::new()),
        false => store(outside, &BTreeSet::new(), &id),
    }
}

/// Adds pending changes and removes those whose end is known.
pub fn store(outside: &dyn SystemAccess, pending: &BTreeSet<String>, known: &BTreeSet<String>) {
    let Some(file) = file_path(outside) else { return };
    if read(&file) == merge(read(&file), pending, known) {
        return;
    }
    // Another process with the lock writes the same kind of data; the next call adds what is left out here.
    let made = file.parent().map(fs::create_dir_all);
    let options = OpenOptions::new().create(true).append(true).mode(0o600).clone();
    let lock = open_own(&file.with_extension("lock"), &options);
    if let (Some(Ok(())), Ok(lock)) = (made, lock)
        && lock.try_lock().is_ok()
    {
        let text: String = merge(read(&file), pending, known).iter().map(|id| format!("{id}\n")).collect();
        let _ = output_file::replace(&file, text.as_bytes());
    }
}

/// New ids are appended, so the oldest are dropped first.
fn merge(mut ids: Vec<String>, pending: &BTreeSet<String>, known: &BTreeSet<String>) -> Vec<String> {
    ids.retain(|id| !known.contains(id));
    let more: Vec<String> = pending.iter().filter(|id| !ids.contains(id)).cloned().collect();
    ids.extend(more);
    ids.drain(..ids.len().saturating_sub(MAX_IDS));
    ids
}

fn file_path(outside: &dyn SystemAccess) -> Option<PathBuf> {
    Some(outside.user_state()?.join(FILE_NAME))
}

/// Opens a regular file of this user. A link would lead elsewhere, and a pipe would wait for its other end.
fn open_own(file: &Path, options: &OpenOptions) -> io::Result<File> {
    let opened = open_regular(file, options)?;
    match opened.metadata()?.uid() == rustix::process::geteuid().as_raw() {
        true => Ok(opened),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Reads one id a line; other lines are ignored.
fn read(file: &Path) -> Vec<String> {
    let mut text = String::new();
    let opened = open_own(file, OpenOptions::new().read(true));
    let read = opened.and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
    let is_id = |id: &&str| (1..=16).contains(&id.len()) && id.bytes().all(|sign| sign.is_ascii_hexdigit());
    read.map(|_| text.lines().filter(is_id).map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::local_access::LocalSystemAccess;

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_pending_change_is_stored_until_its_end_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let machine = LocalSystemAccess::default().with_state(folder.path().join("new/state"));
        assert_eq!(read_pending(&machine), ids(&[]));
        record_phase(&machine, "0123abcd", ChangePhase::Applying);
        record_phase(&machine, "89abcdef", ChangePhase::Applied);
        assert_eq!(read_pending(&machine), ids(&["0123abcd", "89abcdef"]));
        record_phase(&machine, "0123abcd", ChangePhase::RolledBack);
        assert_eq!(read_pending(&machine), ids(&["89abcdef"]));
        let names = fs::read_dir(folder.path().join("new/state")).unwrap().count();
        assert_eq!(names, 2, "the file and its lock, and nothing beside them");
    }

    #[test]
    fn an_unreadable_file_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let machine = LocalSystemAccess::default().with_state(folder.path());
        fs::write(folder.path().join(FILE_NAME), b"\xff\xfe no text\n").unwrap();
        assert_eq!(read_pending(&machine), ids(&[]));
        fs::write(folder.path().join(FILE_NAME), "../../etc\n0123abcd\n\nnot an id\n").unwrap();
        assert_eq!(read_pending(&machine), ids(&["0123abcd"]));
        let many: BTreeSet<String> = (0..500).map(|number| format!("{number:08x}")).collect();
        store(&machine, &many, &BTreeSet::new());
        assert_eq!(read_pending(&machine).len(), MAX_IDS);
        // A file is in the place of the folder.
        let nowhere = LocalSystemAccess::default().with_state(folder.path().join(FILE_NAME).join("below"));
        record_phase(&nowhere, "0123abcd", ChangePhase::Applied);
        assert_eq!(read_pending(&nowhere), ids(&[]));
    }
}
