//! Why a command did not get to its end.

use std::io;

use super::Exit;
use super::open::WriteError;
use crate::session::{QueryError, TraceError};
use fabdeck_fabric::ElementError;
use fabdeck_mad::access::SourceError;
use fabdeck_routing::Refusal;

/// An exit code, and what is said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub exit: Exit,
    /// `None`: nothing is to be said (the reader of a pipe went away).
    pub message: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: Some(message.into()) }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Writing failed. A closed pipe is no failure: who reads has seen enough.
    pub fn writing(what: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, message: None };
        }
        Self::new(
            Exit::Failed,
            format!(
                "FD-7001: {what} cannot be written: {error}; check its folder, its rights and the room on the disk"
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
    /// A list that an option names and that cannot be read is bad input, as one that is damaged; no source is missing.
    pub fn of_list(error: SourceError) -> Self {
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

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        let exit = match &error {
            // Written rightly; it is the source that does not say enough.
            TraceError::NoLid(_) | TraceError::NoPort(_) => Exit::Failed,
            _ => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let exit = match &refusal {
            Refusal::Cancelled => Exit::Interrupted,
            Refusal::Request { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, refusal.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}
