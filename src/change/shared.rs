//! Who may use what lies in the state folder: whoever the mode of the folder itself lets in. The mask of whoever happens to
//! come first decides nothing.
//!
//! ```text
//! folder  1777   all users            changes/  1777   lock, audit  0666   guard.sock  0666
//!         2770   a group              changes/  2770   lock, audit  0660   guard.sock  0660
//!         0755   one user, all look   changes/  0755   lock, audit  0644   guard.sock  0644
//! ```
//!
//! Journals are written by whoever began the change, and read by whoever may look into the folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use super::owned::open_regular;

/// The mode and the group of a state folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    mode: u32,
    group: u32,
}

impl Shared {
    pub fn of(folder: &Path) -> io::Result<Self> {
        let held = fs::metadata(folder)?;
        Ok(Self { mode: held.mode() & 0o7777, group: held.gid() })
    }

    /// A file that all of them append to. One that is there is opened without making it: the kernel refuses the other to
    /// all but its owner where a folder is everybody's.
    pub fn file(self, path: &Path) -> io::Result<File> {
        let mut open = OpenOptions::new();
        open.append(true);
        match open_regular(path, &open) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match open.clone().create_new(true).open(path) {
            // Somebody else made it in between.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_regular(path, &open),
            Err(error) => Err(error),
            Ok(file) => self.open_up(path).map(|()| file),
        }
    }

    /// What was made just now is for all who may write in the folder.
    pub fn open_up(self, path: &Path) -> io::Result<()> {
        let write = |bit: u32, both: u32| if self.mode & bit == 0 { 0 } else { both };
        self.set(path, self.readable() | write(0o020, 0o060) | write(0o002, 0o006))
    }

    /// What was made just now may be read by all who may look into the folder.
    pub fn show(self, path: &Path) -> io::Result<()> {
        self.set(path, self.readable())
    }

    pub fn show_folder(self, path: &Path) -> io::Result<()> {
        self.set(path, 0o700 | self.mode & 0o055)
    }

    /// A folder that is used as this one is.
    pub fn folder(self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.set(path, 0o700 | self.mode),
        }
    }

    fn readable(self) -> u32 {
        0o600 | self.mode & 0o044
    }

    fn set(self, path: &Path, mode: u32) -> io::Result<()> {
        if fs::metadata(path)?.gid() != self.group {
            // Only its members may give a file to a group; the others are let in as others, or not at all.
            let _ = chown(path, None, Some(self.group));
        }
        fs::set_permissions(path, Permissions::from_mode(mode))
    }
}
