//! What happens in a session, written into a file as it happens, for whoever wants to have the session again.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::session::interactive::{Beginning, Event};

pub struct Record {
    path: PathBuf,
    /// `None` once it could not be written any more.
    file: Option<File>,
}

impl Record {
    /// A file that is not there yet.
    pub fn create(path: &Path) -> Result<Self, String> {
        match File::create_new(path) {
            Ok(file) => Ok(Self { path: path.to_owned(), file: Some(file) }),
            Err(error) => Err(format!(
                "FD-9004: what happens cannot be written to {}: {error}; --record-events takes a file that is not \
                 there yet",
                path.display()
            )),
        }
    }

    /// Before all events. Says when it cannot be written.
    pub fn begin(&mut self, beginning: &Beginning) -> Option<String> {
        self.line(beginning)
    }

    /// Says when it cannot be written, the first time.
    pub fn add(&mut self, event: &Event) -> Option<String> {
        self.file.as_ref()?;
        self.line(&event.written())
    }

    /// In one piece: a process that is killed leaves whole lines.
    fn line(&mut self, what: &impl Serialize) -> Option<String> {
        let file = self.file.as_mut()?;
        let written = serde_json::to_string(what).map_err(io::Error::from);
        let error = written.and_then(|text| file.write_all(format!("{text}\n").as_bytes())).err()?;
        self.file = None;
        Some(format!("FD-9003: {} does not hold all that happened: {error}", self.path.display()))
    }
}
