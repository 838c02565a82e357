//! The audit trail: what was done, one line each, appended, synced and chained. No line is ever changed.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::change_store::ChangeStore;
use super::file_lock::FileLock;
use super::journal::{ChainError, ChainedLines, Disk, FileDisk, chain_line};
use super::system::OpenMode;
use super::trail_lines::read_trail_end;
use super::trail_mark::TrailMark;
use fabdeck_fabric::observe::escape_json;

/// Largest trail whose entries are all read.
const MAX_TRAIL_BYTES: u64 = 1 << 30;
/// Timeout for the lock of the trail.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// An action or a refusal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AuditEntry {
    pub time: String,
    pub user: String,
    pub pid: u32,
    /// `begun`, `applied`, `confirmed`, `rolled back` and so on.
    pub what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("{file}: FD-5641: the audit trail cannot be written: {error}")]
    Disk { file: String, error: io::Error },
    #[error("{file}: {error}: the audit trail is damaged; set it aside before anything more is done")]
    Damaged { file: String, error: ChainError },
    #[error(
        "{file}: FD-5642: lines of the audit trail are missing: it had {bytes} bytes when change {id} was begun, and these do not \
         begin it any more. A trail that was set aside has to lie beside it, under a name that begins with 'audit'"
    )]
    Cut { file: String, id: String, bytes: u64 },
    #[error(
        "{file}: FD-5642: lines of the audit trail are missing: the system log says that it had {bytes} bytes, and these do not \
         begin it any more. A trail that was set aside has to lie beside it, under a name that begins with 'audit'"
    )]
    CutByLog { file: String, bytes: u64 },
}

impl ChangeStore {
    /// Appends an entry to the audit trail, durably once this returns.
    pub fn audit(&self, entry: &AuditEntry) -> Result<(), AuditError> {
        self.audit_all(std::slice::from_ref(entry), LOCK_TIMEOUT)
    }

    /// Appends all entries or none, with a timeout for the lock of the trail.
    pub(super) fn audit_all(&self, entries: &[AuditEntry], patience: Duration) -> Result<(), AuditError> {
        let file = self.folder().join("audit").display().to_string();
        let bad = |error: io::Error| AuditError::Disk { file: file.clone(), error };
        let lock = self.folder().join("audit.lock");
        let _lock = FileLock::acquire(self.system(), &lock, patience).map_err(bad)?;
        let trail = self.file("audit").map_err(bad)?;
        trail.sync().map_err(bad)?;
        let end = read_trail_end(&*trail)
            .map_err(bad)?
            .map_err(|error| AuditError::Damaged { file: file.clone(), error })?;
        let (mut text, mut link) = (String::new(), end.position.link);
        if end.unended {
            text.push('\n');
        }
        for entry in entries {
            let json = serde_json::to_string(entry).map_err(|error| bad(error.into()))?;
            // As in a journal: people read the trail on a terminal.
            let (line, next) = chain_line(link, &escape_json(&json));
            text.push_str(&line);
            link = next;
        }
        let mut disk = FileDisk::resume(trail, end.position.bytes).map_err(bad)?;
        disk.append(text.as_bytes()).and_then(|()| disk.sync()).map_err(bad)?;
        let bytes = end.position.bytes + text.len() as u64;
        self.log_trail_mark(&TrailMark { bytes, link: link.to_string() });
        Ok(())
    }

    /// All entries of the trail.
    pub fn audit_trail(&self) -> Result<Vec<AuditEntry>, AuditError> {
        let path = self.folder().join("audit");
        let file = path.display().to_string();
        let read = self.system().open(&path, OpenMode::Read).and_then(|file| file.read(MAX_TRAIL_BYTES));
        let bytes = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| AuditError::Disk { file: file.clone(), error })?,
        };
        let chained =
            ChainedLines::read(&bytes).map_err(|error| AuditError::Damaged { file: file.clone(), error })?;
        let entries = chained.lines.iter().map(|(_, json)| serde_json::from_str(json));
        entries.collect::<Result<_, _>>().map_err(|error| AuditError::Disk { file, error: error.into() })
    }
}
