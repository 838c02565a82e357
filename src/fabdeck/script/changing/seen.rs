//! File with the changes that a user last saw pending, so that a session can report what ended since. It is only a
//! convenience: if it cannot be read or written, nothing is reported.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::script::open::Outside;
use crate::script::target::begin_beside;
use fabdeck_change::Phase;

const FILE: &str = "seen";
/// Changes in folders that are no longer listed are never removed, so the number of ids is limited.
const MOST: usize = 200;
/// A longer file was not written by fabdeck.
const BYTES_MOST: u64 = 64 * 1024;

/// Ids of changes that were pending when this user last saw them.
pub fn pending(outside: &dyn Outside) -> BTreeSet<String> {
    file(outside).map(|file| read(&file).into_iter().collect()).unwrap_or_default()
}

/// Records that the user saw the phase of a change.
pub fn saw(outside: &dyn Outside, id: &str, phase: Phase) {
    let id = [id.to_owned()].into();
    match phase.is_pending() {
        true => keep(outside, &id, &BTreeSet::new()),
        false => keep(outside, &BTreeSet::new(), &id),
    }
}

/// Adds pending changes and removes those whose end is known.
pub fn keep(outside: &dyn Outside, pending: &BTreeSet<String>, known: &BTreeSet<String>) {
    let Some(file) = file(outside) else { return };
    if read(&file) == after(read(&file), pending, known) {
        return;
    }
    // Another process with the lock writes the same kind of data; the next call adds what is left out here.
    let made = file.parent().map(fs::create_dir_all);
    let lock = OpenOptions::new().create(true).append(true).open(file.with_extension("lock"));
    if let (Some(Ok(())), Ok(lock)) = (made, lock)
        && lock.try_lock().is_ok()
    {
        let _ = write(&file, &after(read(&file), pending, known));
    }
}

/// New ids are appended, so the oldest are dropped first.
fn after(mut ids: Vec<String>, pending: &BTreeSet<String>, known: &BTreeSet<String>) -> Vec<String> {
    ids.retain(|id| !known.contains(id));
    let more: Vec<String> = pending.iter().filter(|id| !ids.contains(id)).cloned().collect();
    ids.extend(more);
    ids.drain(..ids.len().saturating_sub(MOST));
    ids
}

fn file(outside: &dyn Outside) -> Option<PathBuf> {
    Some(outside.user_state()?.join(FILE))
}

/// Reads one id a line; other lines are ignored.
fn read(file: &Path) -> Vec<String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(BYTES_MOST).read_to_string(&mut text));
    let is_id = |id: &&str| (1..=16).contains(&id.len()) && id.bytes().all(|sign| sign.is_ascii_hexdigit());
    read.map(|_| text.lines().filter(is_id).map(str::to_owned).collect()).unwrap_or_default()
}

/// Writes the file completely or not at all.
fn write(file: &Path, ids: &[String]) -> std::io::Result<()> {
    let (beside, mut to) = begin_beside(file)?;
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let written = to.write_all(text.as_bytes()).and_then(|()| fs::rename(&beside, file));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Machine;

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn what_is_pending_is_kept_until_its_end_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::default().with_state(folder.path().join("new/state"));
        assert_eq!(pending(&machine), ids(&[]));
        saw(&machine, "0123abcd", Phase::Applying);
        saw(&machine, "89abcdef", Phase::Applied);
        assert_eq!(pending(&machine), ids(&["0123abcd", "89abcdef"]));
        saw(&machine, "0123abcd", Phase::RolledBack);
        assert_eq!(pending(&machine), ids(&["89abcdef"]));
        let names = fs::read_dir(folder.path().join("new/state")).unwrap().count();
        assert_eq!(names, 2, "the file and its lock, and nothing beside them");
    }

    #[test]
    fn what_cannot_be_read_or_written_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::default().with_state(folder.path());
        fs::write(folder.path().join(FILE), b"\xff\xfe no text\n").unwrap();
        assert_eq!(pending(&machine), ids(&[]));
        fs::write(folder.path().join(FILE), "../../etc\n0123abcd\n\nnot an id\n").unwrap();
        assert_eq!(pending(&machine), ids(&["0123abcd"]));
        let many: BTreeSet<String> = (0..500).map(|number| format!("{number:08x}")).collect();
        keep(&machine, &many, &BTreeSet::new());
        assert_eq!(pending(&machine).len(), MOST);
        // A file is in the place of the folder.
        let nowhere = Machine::default().with_state(folder.path().join(FILE).join("below"));
        saw(&nowhere, "0123abcd", Phase::Applied);
        assert_eq!(pending(&nowhere), ids(&[]));
    }
}
