//! What lies in the folder of a change belongs to whoever began it. In a folder of all users they could put a link or a pipe
//! in its place: whoever opens it (root too, where its guard is gone) takes nothing but a regular file of theirs.

use std::io;
use std::path::Path;

use super::system::{FileKind, OpenFile, OpenMode, System};

/// The user and the group of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
}

/// Who may keep a change, as this process sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeper {
    /// This process: it is this user's.
    Here,
    /// A process that runs as the user whose change it is: root starts it, and opens nothing itself to write in it.
    As(Owner),
    /// Neither this user nor a process of theirs.
    Nobody,
}

impl Keeper {
    pub(super) fn of(user: u32, owner: Owner) -> Self {
        match user {
            _ if user == owner.user => Self::Here,
            0 => Self::As(owner),
            _ => Self::Nobody,
        }
    }
}

/// Whose the folder of a change is.
pub(super) fn owner(system: &dyn System, folder: &Path) -> io::Result<Owner> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let held = system.symlink_metadata(folder)?;
    match held.kind {
        FileKind::Folder => Ok(Owner { user: held.user, group: held.group }),
        _ => Err(wrong(folder, "no folder")),
    }
}

/// Opens what lies in the folder of a change.
pub(super) fn open(system: &dyn System, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
    let owner = owner(system, path.parent().unwrap_or(Path::new(".")))?.user;
    let file = system.open(path, mode)?;
    match file.status()?.user == owner {
        true => Ok(file),
        false => Err(wrong(path, "not of the user whose change it is")),
    }
}

fn wrong(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} is {what}, and is left alone", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_their_own_user_keeps_a_change_in_this_process() {
        let owner = |user| Owner { user, group: 7 };
        for (user, of, keeper) in [
            (0, 0, Keeper::Here),
            (1000, 1000, Keeper::Here),
            (0, 1000, Keeper::As(owner(1000))),
            (1000, 0, Keeper::Nobody),
            (1000, 1001, Keeper::Nobody),
        ] {
            assert_eq!(Keeper::of(user, owner(of)), keeper, "{user} {of}");
        }
    }
}
