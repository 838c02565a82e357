//! Failures of commands.

use std::io;

use super::exit::Exit;
use super::query::QueryError;
use fabdeck_fabric::ElementError;
use fabdeck_mad::access::SourceError;
use fabdeck_routing::EngineRefusal;

/// An exit code with its message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub exit: Exit,
    /// `None` prints nothing, because the reader closed the pipe.
    pub message: Option<String>,
    /// Further messages of the same failure, as of a file with several mistakes.
    pub further: Vec<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: Some(message.into()), further: Vec::new() }
    }

    /// A failure with several messages, each printed on a line of its own.
    pub fn of_all(exit: Exit, messages: impl IntoIterator<Item = String>) -> Self {
        let mut messages = messages.into_iter();
        let message = messages.next();
        Self { exit, message, further: messages.collect() }
    }

    /// An end about which nothing is printed.
    pub fn silent(exit: Exit) -> Self {
        Self { exit, message: None, further: Vec::new() }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The end by a signal, about which nothing is printed: the user sent it.
    pub fn interrupted() -> Self {
        Self::silent(Exit::Interrupted)
    }

    /// Failure of a write. A closed pipe is no failure, because its reader needs no further output.
    pub fn writing(what: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(Exit::Done);
        }
        Self::new(
            Exit::Failed,
            format!(
                "FD-7001: {what} cannot be written: {error}; check its folder, its permissions and the free space on the disk"
            ),
        )
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::writing("the output", &error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let exit = match &error {
            SourceError::Name { .. } => Exit::Usage,
            SourceError::Input { .. } => Exit::BadInput,
            SourceError::Unreachable { .. } => Exit::Unreachable,
            SourceError::Cancelled => Exit::Interrupted,
        };
        Self::new(exit, error.to_string())
    }
}

impl Failure {
    /// Failure of a list that an option names. An unreadable list is bad input, like a damaged one; the source itself
    /// is not missing.
    pub fn from_list_error(error: SourceError) -> Self {
        match error {
            unreachable @ SourceError::Unreachable { .. } => {
                Self::new(Exit::BadInput, unreachable.to_string())
            }
            other => other.into(),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<ElementError> for Failure {
    fn from(error: ElementError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<EngineRefusal> for Failure {
    fn from(refusal: EngineRefusal) -> Self {
        let exit = match &refusal {
            EngineRefusal::Cancelled => Exit::Interrupted,
            EngineRefusal::Request { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, refusal.to_string())
    }
}
