//! Writes the events of a session to a file as they happen, so that the session can be replayed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::console::event_loop::event::{SessionEvent, SessionHeader};

pub struct SessionRecorder {
    path: PathBuf,
    /// `None` after a write failed.
    file: Option<File>,
}

impl SessionRecorder {
    /// Creates a file; it must not exist yet.
    pub fn create(path: &Path) -> Result<Self, String> {
        match File::create_new(path) {
            Ok(file) => Ok(Self { path: path.to_owned(), file: Some(file) }),
            Err(error) => Err(format!(
                "FD-9004: the events of the session cannot be written to {}: {error}; give --record-events a file \
                 that does not exist yet",
                path.display()
            )),
        }
    }

    /// Writes the first line, before all events. Returns a message if that fails.
    pub fn begin(&mut self, beginning: &SessionHeader) -> Option<String> {
        self.append_line(beginning)
    }

    /// Appends an event. Returns a message at the first failure.
    pub fn add(&mut self, event: &SessionEvent) -> Option<String> {
        self.file.as_ref()?;
        self.append_line(&event.to_recorded())
    }

    /// Writes a line with one system call, so that a killed process leaves whole lines.
    fn append_line(&mut self, what: &impl Serialize) -> Option<String> {
        let file = self.file.as_mut()?;
        let written = serde_json::to_string(what).map_err(io::Error::from);
        let error = written.and_then(|text| file.write_all(format!("{text}\n").as_bytes())).err()?;
        self.file = None;
        Some(format!("FD-9003: {} lacks events of the session: {error}", self.path.display()))
    }
}
