//! A file that prevents watches from applying plans. It exists from before a change begins until the change is
//! confirmed. A killed watch or a rollback leaves the file there until an operator deletes it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_exit::user;
use fabdeck_files::open_regular;

const FILE_NAME: &str = "jobs-watch.mark";
/// Number of bytes of the file that messages contain.
const MAX_REASON_BYTES: u64 = 1000;

/// Path of the mark. All watches of a state folder share it, so a failure of one stops all.
pub struct WatchMark(PathBuf);

impl WatchMark {
    pub fn of(folder: &Path) -> Self {
        Self(folder.join(FILE_NAME))
    }

    fn write_failure(&self, error: &std::io::Error) -> Failure {
        let what = format!(
            "FD-7817: {} cannot be written, and nothing is applied without this file: {error}; check its folder",
            self.0.display()
        );
        Failure::new(Exit::Failed, what)
    }

    /// Reason why nothing may be applied, if the mark exists. An unreadable mark counts as well.
    pub fn reason(&self) -> Option<String> {
        let mut content = String::new();
        let read = open_regular(&self.0, OpenOptions::new().read(true));
        let why = match read.and_then(|file| file.take(MAX_REASON_BYTES).read_to_string(&mut content)) {
            Ok(_) => content.lines().map(str::trim).collect::<Vec<_>>().join("; "),
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => error.to_string(),
        };
        Some(format!(
            "FD-7816: a watch applied a change that was not confirmed ({why}); nothing more is applied; check the change \
             (fabdeck changes), then remove {}",
            self.0.display()
        ))
    }

    /// Creates the mark for a change that is about to begin, durably. Refuses if another watch has just created it.
    pub fn set(&self, change: &str) -> Result<(), Failure> {
        let open = open_regular(&self.0, OpenOptions::new().write(true).create_new(true));
        let mut file = match open {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Failure::new(Exit::Refused, self.reason().unwrap_or_else(|| error.to_string())));
            }
            opened => opened.map_err(|error| self.write_failure(&error))?,
        };
        let line =
            format!("change {change} of {}, process {}, {}\n", user(), std::process::id(), Timestamp::now());
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|error| self.write_failure(&error))
    }

    /// Appends the outcome of the change. This creates the mark again if an operator deleted it meanwhile, before
    /// this outcome was known.
    pub fn write_reason(&self, why: &str) -> Result<(), Failure> {
        let mut open = open_regular(&self.0, OpenOptions::new().append(true).create(true))
            .map_err(|error| self.write_failure(&error))?;
        open.write_all(format!("{why}\n").as_bytes()).map_err(|error| self.write_failure(&error))
    }

    /// Deletes the mark, because the change is confirmed or never existed.
    pub fn remove(&self) -> Result<(), Failure> {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.write_failure(&error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stays_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mark = WatchMark::of(folder.path());
        assert_eq!(mark.reason(), None);
        mark.set("abcd").unwrap();
        let other = WatchMark::of(folder.path());
        assert!(other.set("efgh").unwrap_err().message.unwrap().contains("FD-7816"));
        mark.write_reason("it went back").unwrap();
        let why = other.reason().unwrap();
        assert!(why.contains("change abcd of ") && why.contains("; it went back)"), "{why}");
        mark.remove().unwrap();
        assert_eq!((other.reason(), mark.remove().is_ok()), (None, true));
        mark.write_reason("it went back").unwrap();
        assert!(
            other.reason().unwrap().contains("(it went back)"),
            "a mark that an operator removed is created again"
        );
        mark.remove().unwrap();
        // A folder in place of the mark keeps the watch from applying too.
        std::fs::create_dir(folder.path().join(FILE_NAME)).unwrap();
        assert!(mark.reason().is_some());
    }
}
