//! The journal: what is to be done and how far it came, durable before the first write goes out.
//!
//! `record` and `chain` are values without a disk. Files below `system` import them directly, not through this room.

pub(crate) mod chain;
mod disk;
mod journal_file;
pub(crate) mod journal_step;
pub(crate) mod record;

pub use chain::{ChainError, ChainHash, ChainPosition, ChainedLines, chain_line};
pub use disk::{Disk, FileDisk, MemoryDisk};
pub use journal_file::{Journal, JournalContent, JournalError};
pub use journal_step::JournalStep;
pub use record::{
    BeginRecord, ChangePhase, ChangeState, EndRecord, HostNotification, JournalRecord, RetryLimit,
    RollbackRemainder, have_most_in_common,
};
