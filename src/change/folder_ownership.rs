//! The ownership of a state folder. A folder takes new changes only if this process's user owns it and other users
//! cannot write it. Folders of older versions (1777, 2770, several owners) let any user hold the locks, the trail and
//! the numbers of all.

use std::io;
use std::path::Path;

use super::system::{FileKind, System};
use super::user_names;

/// The mode bits with which others read or write; below, write only.
const ACCESS_BY_OTHERS: u32 = 0o077;
const WRITE_BY_OTHERS: u32 = 0o022;
/// In such a folder others rename nothing that is not theirs.
const STICKY: u32 = 0o1000;

/// Why a folder takes no new change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FolderProblem {
    /// It belongs to another user only.
    OfAnother { owner: u32 },
    /// Other users can write it, or own something in it.
    Shared { owner: u32, what: String },
    /// Other users can rename it, and put another folder in its place.
    Replaceable { above: String, what: String },
}

/// Creates a folder that only its owner can enter. An existing folder stays as it is.
pub(super) fn make_private(system: &dyn System, folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        system.make_folders(parent)?;
    }
    match system.make_folder(folder, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Whether a state folder is fit for new changes. `changes` is its subfolder with the changes.
pub(super) fn check_fitness(
    system: &dyn System,
    folder: &Path,
    changes: &Path,
) -> io::Result<Result<(), FolderProblem>> {
    let held = system.metadata(folder)?;
    let owner = held.user;
    let shared = |what: String| Ok(Err(FolderProblem::Shared { owner, what }));
    if held.mode & WRITE_BY_OTHERS != 0 {
        return shared(format!("other users can write there (mode {:o})", held.mode));
    }
    if owner != system.user() {
        return Ok(Err(FolderProblem::OfAnother { owner }));
    }
    if let Some(problem) = find_replaceable_ancestor(system, folder, owner)? {
        return Ok(Err(problem));
    }
    let entries = match system.list_folder(changes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(())),
        entries => entries?,
    };
    let held = system.symlink_metadata(changes)?;
    if held.user != owner || held.mode & WRITE_BY_OTHERS != 0 {
        return shared(format!("other users can write in {}", changes.display()));
    }
    for entry in entries {
        let user = system.symlink_metadata(&entry)?.user;
        if user != owner {
            return shared(format!("{} is owned by {}", entry.display(), user_names::user_label(user)));
        }
    }
    Ok(Ok(()))
}

/// A folder above in which another user can rename what lies in it: its owner, or anyone who may write there.
fn find_replaceable_ancestor(
    system: &dyn System,
    folder: &Path,
    owner: u32,
) -> io::Result<Option<FolderProblem>> {
    const ROOT: u32 = 0;
    let resolved = system.resolve_links(folder)?;
    for above in resolved.ancestors().skip(1) {
        let held = match system.metadata(above) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            held => held?,
        };
        // Many systems give each user a group of the same number, and let it write.
        let is_own_group = held.group == owner || held.group == ROOT;
        let by_others = if is_own_group { WRITE_BY_OTHERS & 0o7 } else { WRITE_BY_OTHERS };
        let what = if ![ROOT, owner].contains(&held.user) {
            format!("{} owns that folder", user_names::user_label(held.user))
        } else if held.mode & by_others != 0 && held.mode & STICKY == 0 {
            format!("other users can write there (mode {:o})", held.mode)
        } else {
            continue;
        };
        return Ok(Some(FolderProblem::Replaceable { above: above.display().to_string(), what }));
    }
    Ok(None)
}

/// Whether other users can put files beside this one.
pub(super) fn is_in_shared_folder(system: &dyn System, path: &Path) -> io::Result<bool> {
    Ok(system.metadata(path.parent().unwrap_or(Path::new(".")))?.mode & WRITE_BY_OTHERS != 0)
}

/// Takes all rights of others from a path. Links, sockets and pipes stay as they are.
pub(super) fn restrict(system: &dyn System, path: &Path) -> io::Result<()> {
    let held = system.symlink_metadata(path)?;
    if held.kind == FileKind::Other || held.mode & ACCESS_BY_OTHERS == 0 {
        return Ok(());
    }
    system.set_mode(path, held.mode & 0o700)
}

impl FolderProblem {
    /// What is wrong and what to do, for an error.
    pub fn words(&self, folder: &Path) -> String {
        // The commands may run in another working directory.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let folder = folder.display();
        match self {
            Self::OfAnother { owner } => {
                let owner = user_names::user_label(*owner);
                format!(
                    "FD-5637: {folder}: {owner} owns the state folder, and only the owner begins changes there: sudo \
                     -u {owner} fabdeck ...; or name a folder of your own with --state-dir"
                )
            }
            Self::Replaceable { above, what } => format!(
                "FD-5639: {folder}: other users can replace this folder: it lies in {above}, and {what}. No new change can begin in \
                 it. What is pending in it can still be confirmed or rolled back. Then use --state-dir with a folder whose parent \
                 folders all belong to root or you"
            ),
            Self::Shared { owner, what } => format!(
                "FD-5638: {folder}: {what}, so that others can stop the guard of a change; the folder takes no new change. What \
                 is pending in it can still be confirmed or rolled back. Then, as root: chown -R {owner} {folder} && chmod -R \
                 go= {folder}"
            ),
        }
    }
}
