//! The text of a study, and what messages call it.

use std::path::PathBuf;

use crate::catalogue::failure::Failure;

/// A study as it was given.
pub struct StudyText {
    pub name: String,
    pub text: String,
    /// The folder that files are relative to.
    pub beside: PathBuf,
}

impl StudyText {
    /// The failure of what a key of a table names, with its line.
    pub fn failure_at(&self, line: usize, (key, table): (&str, &str), failure: Failure) -> Failure {
        let message = failure.message.map(|what| format!("{}:{line}: '{key}' of {table}: {what}", self.name));
        Failure { message, ..failure }
    }
}
