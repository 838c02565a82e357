//! The journal of a run: a run that was killed leaves its last step for the next run of the same runbook. Changes
//! have journals of their own.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::changes::change_exit::user;
use crate::runbook::execute::{RunMark, StepFailure};
use fabdeck_files::open_regular;

/// A line of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum JournalLine {
    Begun {
        book: String,
        time: String,
        user: String,
        pid: u32,
    },
    Step {
        on_failure: bool,
        number: usize,
        kind: String,
    },
    /// The change with this id is about to begin.
    Change(String),
    TakingBack,
    Ended(String),
}

json_type! {
    /// A run whose journal has no end.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct InterruptedRun {
        pub time: String,
        pub user: String,
        pub pid: u32,
        pub on_failure: bool,
        /// Number of the current step; 0 means before the first.
        pub step: usize,
        pub kind: String,
        pub change: Option<String>,
    }
}

impl InterruptedRun {
    pub fn words(&self) -> String {
        let Self { time, user, pid, .. } = self;
        let place = match (self.step, self.on_failure) {
            (0, _) => "before its first step".to_owned(),
            (step, false) => format!("in step {step} ({})", self.kind),
            (step, true) => format!("on failure, in step {step} ({})", self.kind),
        };
        format!("the last run of this runbook ({user}, {time}, process {pid}) was interrupted {place}")
    }

    /// Parses a journal; `None` if it is empty or has an end.
    fn of(text: &str) -> Option<Self> {
        let mut found = Self::default();
        let mut begun = false;
        // A line that was cut off is the last one.
        for line in text.lines().map_while(|line| serde_json::from_str(line).ok()) {
            match line {
                JournalLine::Begun { time, user, pid, .. } => {
                    begun = true;
                    found = Self { time, user, pid, ..Self::default() };
                }
                JournalLine::Step { on_failure, number, kind } => {
                    (found.on_failure, found.step, found.kind) = (on_failure, number, kind);
                }
                JournalLine::Change(id) => found.change = Some(id),
                JournalLine::TakingBack => {}
                JournalLine::Ended(_) => return None,
            }
        }
        begun.then_some(found)
    }
}

/// The journal of the current run, which holds its lock.
pub struct RunJournal {
    file: File,
    path: PathBuf,
}

impl RunJournal {
    /// Opens the journal of a runbook for this user. Refuses while another run of the same runbook holds it.
    pub fn open(folder: &Path, book: &Path) -> Result<(Self, Option<InterruptedRun>), Failure> {
        let runs = folder.join("runs");
        let bad = |path: &Path, error: std::io::Error| {
            let what = format!(
                "FD-9239: {}: the journal of the run cannot be written: {error}; check its folder",
                path.display()
            );
            Failure::new(Exit::Refused, what)
        };
        let user = rustix::process::getuid().as_raw();
        // Users who share a state folder have separate folders for their runs.
        let own = runs.join(user.to_string());
        create_folder(folder, &runs)
            .and_then(|()| create_private_folder(&own))
            .map_err(|error| bad(&own, error))?;
        let full = std::fs::canonicalize(book).unwrap_or_else(|_| book.to_owned());
        let name = blake3::hash(full.as_os_str().as_encoded_bytes()).to_hex();
        let path = own.join(&name[..16]);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        let mut file = open_regular(&path, &options).map_err(|error| bad(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(bad(&path, error)),
            Err(TryLockError::WouldBlock) => {
                let what = "FD-9240: another run of this runbook is in progress; wait for its end";
                return Err(Failure::new(Exit::Refused, what));
            }
        }
        let mut text = String::new();
        // Text that is not UTF-8 was not written by a run and is ignored.
        let _ = file.read_to_string(&mut text);
        let before = InterruptedRun::of(&text);
        Ok((Self { file, path }, before))
    }

    /// Starts the journal of this run; the earlier content is deleted.
    pub fn begin(&mut self, book: &str) -> Result<(), Failure> {
        let cut = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        let begun = JournalLine::Begun {
            book: book.to_owned(),
            time: Timestamp::now().to_string(),
            user: user(),
            pid: std::process::id(),
        };
        match cut.and_then(|_| self.append_line(&begun)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.failure(&error)),
        }
    }

    pub fn record_mark(&mut self, mark: RunMark<'_>) -> Result<(), StepFailure> {
        let line = match mark {
            RunMark::Step { on_failure, number, kind } => {
                JournalLine::Step { on_failure, number, kind: kind.to_owned() }
            }
            RunMark::TakingBack => JournalLine::TakingBack,
            RunMark::Ended(how) => JournalLine::Ended(how.to_owned()),
        };
        self.append_line(&line).map_err(|error| {
            let words = self.failure(&error).message.unwrap_or_default();
            StepFailure { exit: Exit::Failed.code(), words, change: None }
        })
    }

    /// Records the id of a change that is about to begin.
    pub fn record_change(&mut self, id: &str) -> Result<(), Failure> {
        self.append_line(&JournalLine::Change(id.to_owned())).map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        let what = format!(
            "FD-9239: {}: the journal of the run cannot be written: {error}; check its folder",
            self.path.display()
        );
        Failure::new(Exit::Failed, what)
    }

    fn append_line(&mut self, line: &JournalLine) -> std::io::Result<()> {
        let text = serde_json::to_string(line)?;
        self.file.write_all(format!("{text}\n").as_bytes())?;
        self.file.sync_data()
    }
}

/// Creates a folder with the permissions of its parent.
fn create_folder(folder: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => std::fs::set_permissions(path, std::fs::metadata(folder)?.permissions()),
    }
}

fn create_private_folder(path: &Path) -> std::io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_without_an_end_names_the_last_step() {
        let begun = r#"{"begun":{"book":"b","time":"t","user":"ada","pid":7}}"#;
        let step = r#"{"step":{"on_failure":false,"number":3,"kind":"apply"}}"#;
        let text = format!("{begun}\n{step}\n{}\n{{\"ste", r#"{"change":"12345678"}"#);
        let found = InterruptedRun::of(&text).unwrap();
        assert_eq!(
            (found.step, found.kind.as_str(), found.change.as_deref()),
            (3, "apply", Some("12345678"))
        );
        assert!(found.words().contains("interrupted in step 3 (apply)"), "{}", found.words());
        assert_eq!(InterruptedRun::of(&format!("{begun}\n{step}\n{}", r#"{"ended":"done"}"#)), None);
        assert_eq!(InterruptedRun::of(""), None);
        assert!(InterruptedRun::of(begun).unwrap().words().contains("before its first step"));
    }
}
