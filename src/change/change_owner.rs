//! Opens the files of a change, which belong to the user who began it. In a folder that all users can write, another
//! user could plant a link or a pipe. So every opener, root included, accepts only a regular file of the owner.

use std::io;
use std::path::Path;

use super::system::{FileKind, OpenFile, OpenMode, System};

/// The user and the group who own a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
}

/// Which process may keep a change, as seen from this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeAccess {
    /// This process, because the change is this user's.
    Here,
    /// A process that runs as the owner. Root starts it, and opens no file for writing itself.
    As(Owner),
    /// Neither this user nor a process that this user can start.
    Nobody,
}

impl ChangeAccess {
    pub(super) fn of(user: u32, owner: Owner) -> Self {
        match user {
            _ if user == owner.user => Self::Here,
            0 => Self::As(owner),
            _ => Self::Nobody,
        }
    }
}

/// The owner of the folder of a change.
pub(super) fn read_owner(system: &dyn System, folder: &Path) -> io::Result<Owner> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let held = system.symlink_metadata(folder)?;
    match held.kind {
        FileKind::Folder => Ok(Owner { user: held.user, group: held.group }),
        _ => Err(wrong_owner(folder, "no folder")),
    }
}

/// Opens a file in the folder of a change.
pub(super) fn open_file(system: &dyn System, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
    let owner = read_owner(system, path.parent().unwrap_or(Path::new(".")))?.user;
    let file = system.open(path, mode)?;
    match file.status()?.user == owner {
        true => Ok(file),
        false => Err(wrong_owner(path, "not owned by the user whose change it is")),
    }
}

fn wrong_owner(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} is {what}, and is left alone", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_may_guard_a_change_in_this_process() {
        let owner = |user| Owner { user, group: 7 };
        for (user, of, keeper) in [
            (0, 0, ChangeAccess::Here),
            (1000, 1000, ChangeAccess::Here),
            (0, 1000, ChangeAccess::As(owner(1000))),
            (1000, 0, ChangeAccess::Nobody),
            (1000, 1001, ChangeAccess::Nobody),
        ] {
            assert_eq!(ChangeAccess::of(user, owner(of)), keeper, "{user} {of}");
        }
    }
}
