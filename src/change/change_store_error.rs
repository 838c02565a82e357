//! Why the state folder cannot be used, or no change can begin.

use std::io;

use super::journal::{BeginRecord, ChangePhase, JournalError};

#[derive(Debug, thiserror::Error)]
pub enum ChangeStoreError {
    #[error(
        "FD-5631: {folder}: journals of changes cannot be stored there: {error}; without a journal nothing is \
         written to a fabric. Make the folder (as root: install -d -m 700 {folder}), or name another with \
         --state-dir"
    )]
    Folder { folder: String, error: io::Error },
    #[error(
        "FD-5632: change {id} is pending on this fabric: {user} began it {time} (process {pid}, {phase}); confirm it or roll it back first, \
         'fabdeck changes' lists it"
    )]
    Pending { id: String, user: String, time: String, pid: u32, phase: &'static str },
    #[error(
        "FD-5633: {folder}: an earlier change there cannot be read, so it is not known whether it is pending: \
         {error}"
    )]
    Unread {
        folder: String,
        error: JournalError,
        /// The first record, where it can be read.
        begun: Option<Box<BeginRecord>>,
    },
    #[error("FD-5635: {folder}: the change cannot be stored: {error}")]
    Kept { folder: String, error: io::Error },
    #[error(
        "FD-5636: {folder}: the changes in it cannot be listed: {error}; check that it is a folder that this user may read"
    )]
    Unseen { folder: String, error: io::Error },
    /// The folder takes no new change: another user owns it, or others can write it.
    #[error("{0}")]
    FolderProblem(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("FD-5634: there is no change {0}; 'fabdeck changes' lists all changes")]
    Unknown(String),
}

impl ChangeStoreError {
    /// The error that another change has to end first.
    pub fn pending(begun: &BeginRecord, phase: ChangePhase) -> Self {
        let BeginRecord { id, user, time, pid, .. } = begun.clone();
        Self::Pending { id, user, time, pid, phase: phase.title() }
    }
}
