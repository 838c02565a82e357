//! Files that decide who may connect: they are read only if no other user could have written them, and keys only if no
//! other user can read them.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fabdeck_change::user_names::user_label;
use rustix::fs::OFlags;
use thiserror::Error;

/// A longer file is none of these.
const MAX_BYTES: u64 = 1 << 20;

/// Why a file of the web configuration is not used.
#[derive(Debug, Error)]
pub enum WebFileError {
    #[error("FD-7360: {}: it cannot be read: {error}; check the path and the permission to read it", file.display())]
    Unreadable { file: PathBuf, error: io::Error },
    #[error("FD-7361: {}{}: {what}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
    Mistake { file: PathBuf, line: Option<usize>, what: String },
    #[error("FD-7362: {}: {why}; run {fix} {}", file.display(), file.display())]
    Exposed { file: PathBuf, why: String, fix: &'static str },
    #[error("FD-7363: {}: {what}", file.display())]
    Certificate { file: PathBuf, what: String },
}

impl WebFileError {
    pub fn certificate(file: &Path, what: impl Into<String>) -> Self {
        Self::Certificate { file: file.to_owned(), what: what.into() }
    }
}

/// What other users must not be able to do with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileSecrecy {
    /// Write it.
    Genuine,
    /// Read or write it. The group of the file may read it, as a service with a user of its own does.
    Secret,
}

/// What a file was when it was read.
#[derive(PartialEq, Eq, Debug)]
pub struct FileStamp {
    pub file: PathBuf,
    state: Option<(u64, u64, u64, i64, i64, u32)>,
}

impl FileStamp {
    pub fn of(file: &Path) -> Self {
        let state = std::fs::metadata(file)
            .ok()
            .map(|held| (held.dev(), held.ino(), held.size(), held.mtime(), held.mtime_nsec(), held.mode()));
        Self { file: file.to_owned(), state }
    }

    pub fn is_current(&self) -> bool {
        *self == Self::of(&self.file)
    }
}

/// Reads a file, also through a symbolic link, as the tools that renew certificates make them. The stamp is taken before.
pub fn read_guarded(
    file: &Path,
    secrecy: FileSecrecy,
    stamps: &mut Vec<FileStamp>,
) -> Result<Vec<u8>, WebFileError> {
    stamps.push(FileStamp::of(file));
    let unreadable = |error| WebFileError::Unreadable { file: file.to_owned(), error };
    // A pipe without a writer would keep the service waiting.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut open = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(unreadable)?;
    let held = open.metadata().map_err(unreadable)?;
    if !held.is_file() {
        return Err(unreadable(io::Error::other("it is no regular file")));
    }
    if let Some((why, fix)) = objection(&held, secrecy) {
        return Err(WebFileError::Exposed { file: file.to_owned(), why, fix });
    }
    let mut bytes = Vec::new();
    open.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(unreadable(io::Error::other("it has more than the limit of 1 MiB"))),
        false => Ok(bytes),
    }
}

/// Why a file is not used, and the command that helps.
fn objection(held: &Metadata, secrecy: FileSecrecy) -> Option<(String, &'static str)> {
    let own = rustix::process::geteuid().as_raw();
    let mode = held.mode() & 0o7777;
    if held.uid() != 0 && held.uid() != own {
        return Some((format!("it belongs to {}", user_label(held.uid())), "as root: chown root"));
    }
    if mode & 0o022 != 0 {
        return Some((format!("other users can write it (mode {mode:03o})"), "chmod go-w"));
    }
    let is_open = secrecy == FileSecrecy::Secret && mode & 0o004 != 0;
    is_open.then(|| (format!("other users can read the key (mode {mode:03o})"), "chmod o="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_users_are_refused() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        for (mode, genuine, secret) in [
            (0o600, true, true),
            (0o640, true, true),
            (0o644, true, false),
            (0o660, false, false),
            (0o602, false, false),
        ] {
            set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let read = |secrecy| read_guarded(&file, secrecy, &mut Vec::new()).is_ok();
            assert_eq!(
                (read(FileSecrecy::Genuine), read(FileSecrecy::Secret)),
                (genuine, secret),
                "{mode:o}"
            );
        }
        if rustix::process::geteuid().is_root() {
            set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
            let refused = read_guarded(&file, FileSecrecy::Genuine, &mut Vec::new()).unwrap_err();
            assert!(refused.to_string().contains("FD-7362"), "{refused}");
        }
        let refused = read_guarded(folder.path(), FileSecrecy::Genuine, &mut Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("no regular file"), "{refused}");
    }
}
