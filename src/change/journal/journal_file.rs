//! Writes a journal, and reads one back.

use std::io;
use std::path::Path;

use super::chain::{ChainError, ChainHash, ChainedLines, chain_line};
use super::disk::{Disk, FileDisk};
use super::record::{BeginRecord, ChangeState, JournalRecord, RecordWriter, WrittenRecord, epoch_of_line};
use crate::change_owner;
use crate::system::{OpenMode, System};
use fabdeck_fabric::observe::{digits_in_groups, escape_json};

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "{file}: FD-5602: the journal cannot be {what}: {error}; check that its disk has space and works"
    )]
    Disk { file: String, what: &'static str, error: io::Error },
    #[error(
        "{file}: {error}. Copy the folder of the journal and compare its old and new bytes with the fabric (cut -d' ' -f3- journal | jq). \
         Then move the folder out of 'changes'"
    )]
    Damaged { file: String, error: ChainError },
    #[error(
        "{file}: offset {offset}: FD-5603: the record cannot be read: {what}; a newer fabdeck may have written it"
    )]
    Record { file: String, offset: u64, what: String },
    #[error("{file}: FD-5604: the journal has no first record, so its change wrote nothing to the fabric")]
    Empty { file: String },
    #[error(
        "{file}: FD-5606: another guard has written to the journal: this one is not the newest, and writes nothing more"
    )]
    Superseded { file: String },
    #[error(
        "{file}: FD-5610: the journal has {bytes} bytes and is not read: {limit}. If this is no change of yours, move its folder out of \
         'changes'"
    )]
    TooLarge { file: String, bytes: u64, limit: String },
    #[error("{file}: FD-5605: the journal failed before, and nothing more is written to it")]
    Failed { file: String },
}

/// Largest journal that is read. The bytes of the largest plan, 1 GiB, fit in it.
const MAX_JOURNAL_BYTES: u64 = 2 << 30;
/// Number of bytes that are read at once to find the end of the first record.
const FIRST_CHUNK_BYTES: u64 = 64 * 1024;

/// An open journal. After a failed write it takes no more records: a line after an incomplete one would be damage.
pub struct Journal {
    name: String,
    disk: Box<dyn Disk>,
    link: ChainHash,
    /// Length of the valid lines in bytes.
    length: u64,
    /// Whether the last record lacks its newline, so that the next one begins with it.
    unended: bool,
    /// Whether everything that was appended is synced.
    durable: bool,
    failed: bool,
    /// The state before the record that failed: chain, length and `unended`.
    whole: (ChainHash, u64, bool),
    /// Whether another process has appended to the file.
    superseded: bool,
    /// This process, which each record names. A journal in memory has one process and names none.
    writer: Option<RecordWriter>,
}

/// A journal as read from its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalContent {
    pub state: ChangeState,
    link: ChainHash,
    length: u64,
    unended: bool,
    /// Number of bytes at the end that a crash left behind.
    pub torn: u64,
    /// The highest epoch of a process that wrote to it; 0 in journals of older versions.
    epoch: u64,
}

impl JournalContent {
    /// Length of the file when it was read.
    pub fn size(&self) -> u64 {
        self.length + self.torn
    }
}

impl Journal {
    /// Begins a journal on an empty disk.
    pub fn on_empty_disk(name: impl Into<String>, disk: Box<dyn Disk>) -> Self {
        let (link, length) = (ChainHash::default(), 0);
        let name = name.into();
        Self {
            name,
            disk,
            link,
            length,
            unended: false,
            durable: true,
            failed: false,
            whole: (link, 0, false),
            superseded: false,
            writer: None,
        }
    }

    pub fn create(system: &dyn System, path: &Path) -> Result<Self, JournalError> {
        let name = path.display().to_string();
        match FileDisk::create(system, path) {
            Ok(disk) => Ok(Self::on_empty_disk(name, Box::new(disk)).written_by(system, 1)),
            Err(error) => Err(JournalError::Disk { file: name, what: "made", error }),
        }
    }

    /// Continues a file that was read. Torn bytes at its end are cut off.
    pub fn resume(system: &dyn System, path: &Path, read: &JournalContent) -> Result<Self, JournalError> {
        let name = path.display().to_string();
        let file = change_owner::open_file(system, path, OpenMode::Append);
        match file.and_then(|file| FileDisk::resume(file, read.length)) {
            Ok(disk) => {
                let journal = Self::on_empty_disk(name, Box::new(disk)).append_after(read);
                Ok(journal.written_by(system, read.epoch + 1))
            }
            Err(error) => Err(JournalError::Disk { file: name, what: "opened", error }),
        }
    }

    /// Continues a journal on a disk that holds what was read.
    pub fn resume_on(disk: Box<dyn Disk>, read: &JournalContent) -> Self {
        Self::on_empty_disk("journal", disk).append_after(read)
    }

    fn written_by(self, system: &dyn System, epoch: u64) -> Self {
        let (host, boot) = (system.host_name(), system.boot_time().boot);
        Self { writer: Some(RecordWriter { host, boot, epoch }), ..self }
    }

    /// The epoch of this process; 0 for a journal in memory.
    pub fn epoch(&self) -> u64 {
        self.writer.as_ref().map_or(0, |writer| writer.epoch)
    }

    fn append_after(self, read: &JournalContent) -> Self {
        Self { link: read.link, length: read.length, unended: read.unended, ..self }
    }

    pub fn load(system: &dyn System, path: &Path) -> Result<JournalContent, JournalError> {
        let limit = || format!("a journal has at most {} bytes", digits_in_groups(MAX_JOURNAL_BYTES));
        Self::load_within(system, path, &mut { MAX_JOURNAL_BYTES }, &limit)
    }

    /// Reads a journal of at most `budget` bytes, which it takes from the budget. `limit` says where the budget is from.
    pub(crate) fn load_within(
        system: &dyn System,
        path: &Path,
        budget: &mut u64,
        limit: &dyn Fn() -> String,
    ) -> Result<JournalContent, JournalError> {
        let file = path.display().to_string();
        let opened = change_owner::open_file(system, path, OpenMode::Read);
        let read = opened.and_then(|file| match file.status()?.length {
            bytes if bytes > *budget => Ok(Err(bytes)),
            _ => file.read(*budget).map(Ok),
        });
        match read {
            Ok(Ok(bytes)) => {
                *budget -= bytes.len() as u64;
                Self::read(&file, &bytes)
            }
            Ok(Err(bytes)) => Err(JournalError::TooLarge { file, bytes, limit: limit() }),
            Err(error) => Err(JournalError::Disk { file, what: "read", error }),
        }
    }

    /// The first record of a journal, even where later lines are damaged or the file is too large. No record has a
    /// zero byte, so a large file of zeros is not read to its end.
    pub fn load_first(system: &dyn System, path: &Path) -> Option<BeginRecord> {
        let file = change_owner::open_file(system, path, OpenMode::Read).ok()?;
        let (mut bytes, mut more) = (Vec::new(), FIRST_CHUNK_BYTES);
        let end = loop {
            let chunk = file.read_from(bytes.len() as u64, more).ok()?;
            let end = chunk.iter().position(|byte| *byte == b'\n').map(|end| bytes.len() + end + 1);
            let is_last = chunk.is_empty() || chunk.contains(&0);
            bytes.extend(chunk);
            if end.is_some() || is_last || bytes.len() as u64 > MAX_JOURNAL_BYTES {
                break end.unwrap_or(bytes.len());
            }
            more = bytes.len() as u64;
        };
        let first = ChainedLines::read(&bytes[..end]).ok()?;
        match serde_json::from_str(first.lines.first()?.1).ok()? {
            JournalRecord::Begun(begun) => Some(*begun),
            _ => None,
        }
    }

    pub fn read(file: &str, bytes: &[u8]) -> Result<JournalContent, JournalError> {
        let file = file.to_owned();
        let chained = ChainedLines::read(bytes);
        let chained = chained.map_err(|error| JournalError::Damaged { file: file.clone(), error })?;
        let (mut records, mut epoch) = (Vec::with_capacity(chained.lines.len()), 0);
        for (offset, json) in chained.lines {
            let record: Result<JournalRecord, _> = serde_json::from_str(json);
            let wrong = |error: serde_json::Error| JournalError::Record {
                file: file.clone(),
                offset,
                what: error.to_string(),
            };
            records.push(record.map_err(wrong)?);
            epoch = epoch.max(epoch_of_line(json));
        }
        let told = ChangeState::from_records(&records).ok_or(JournalError::Empty { file })?;
        let ChainedLines { link, length, unended, torn, .. } = chained;
        Ok(JournalContent { state: told, link, length, unended, torn, epoch })
    }

    /// Appends a record without syncing it: a crash may lose it.
    pub fn append_record(&mut self, record: &JournalRecord) -> Result<(), JournalError> {
        if self.is_superseded() {
            return Err(JournalError::Superseded { file: self.name.clone() });
        }
        if self.failed {
            return Err(JournalError::Failed { file: self.name.clone() });
        }
        let broken =
            |error: io::Error| JournalError::Disk { file: self.name.clone(), what: "written", error };
        let written = WrittenRecord { record, by: self.writer.as_ref() };
        let json = serde_json::to_string(&written).map_err(|error| broken(error.into()))?;
        // People read journals on terminals, where a control character from a name would act.
        let (mut text, link) = chain_line(self.link, &escape_json(&json));
        if self.unended {
            text.insert(0, '\n');
        }
        self.whole = (self.link, self.length, self.unended);
        self.durable = false;
        if let Err(error) = self.disk.append(text.as_bytes()) {
            let error = broken(error);
            self.cut_failed_record();
            return Err(error);
        }
        self.link = link;
        self.length += text.len() as u64;
        self.unended = false;
        Ok(())
    }

    /// Appends a record and syncs it: it survives a crash of the machine once this returns.
    pub fn append_durably(&mut self, record: &JournalRecord) -> Result<(), JournalError> {
        self.append_record(record)?;
        if let Err(error) = self.disk.sync() {
            self.cut_failed_record();
            return Err(JournalError::Disk { file: self.name.clone(), what: "made durable", error });
        }
        self.durable = true;
        Ok(())
    }

    /// Makes sure that no reader believes a record whose write was reported as failed. The record is cut off; if that
    /// fails, an empty line damages the file, which readers refuse. Two newlines: the first may end the record.
    fn cut_failed_record(&mut self) {
        self.failed = true;
        if self.disk.cut(self.whole.1).is_err() {
            let mut newline = || self.disk.append(b"\n");
            let _ = newline().and_then(|()| newline()).and_then(|()| self.disk.sync());
        }
    }

    /// Tries a failed disk again: cuts off the incomplete record and takes records again.
    pub fn recover(&mut self) -> Result<(), JournalError> {
        if !self.failed {
            return Ok(());
        }
        let (link, length, unended) = self.whole;
        self.disk.cut(length).map_err(|error| JournalError::Disk {
            file: self.name.clone(),
            what: "written",
            error,
        })?;
        (self.link, self.length, self.unended) = (link, length, unended);
        (self.failed, self.durable) = (false, true);
        Ok(())
    }

    /// Whether another guard has written to the file: on some file systems locks do not exclude guards of two machines.
    /// If the length cannot be read, the next append fails with the reason.
    pub fn is_superseded(&mut self) -> bool {
        let length = self.disk.length().ok().flatten();
        self.superseded |= !self.failed && length.is_some_and(|length| length != self.length);
        self.superseded
    }

    /// Whether the length of the file cannot be read, so that it does not show whether another guard has written to it.
    pub fn is_unreadable(&mut self) -> bool {
        self.disk.length().is_err()
    }

    /// Takes no more records: another guard keeps the change.
    pub fn mark_superseded(&mut self) {
        self.superseded = true;
    }

    /// Whether the journal still takes records.
    pub fn is_writable(&self) -> bool {
        !self.failed
    }

    /// Whether all records are synced.
    pub fn is_durable(&self) -> bool {
        self.durable
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("name", &self.name)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::system::LocalSystem;

    /// A disk that is full at the newline of a line, and then cannot cut the line off.
    struct ShortDisk(Arc<Mutex<Vec<u8>>>);

    impl Disk for ShortDisk {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            let short = bytes.len() > 2;
            let written = if short { &bytes[..bytes.len() - 1] } else { bytes };
            self.0.lock().unwrap().extend_from_slice(written);
            if short { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn cut(&mut self, _: u64) -> io::Result<()> {
            Err(io::Error::other("input/output error"))
        }
    }

    /// The record is complete except for its newline, and its writer got an error: no reader may believe it.
    #[test]
    fn a_record_that_failed_at_its_newline_is_damage() {
        let bytes = Arc::default();
        let mut journal = Journal::on_empty_disk("journal", Box::new(ShortDisk(Arc::clone(&bytes))));
        let confirmed = JournalRecord::Confirmed { time: "2026-01-01T00:00:00Z".into(), user: "ada".into() };
        journal.append_durably(&confirmed).unwrap_err();
        let error = Journal::read("journal", &bytes.lock().unwrap()).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
        assert!(!journal.is_writable());
    }

    #[test]
    fn a_journal_may_have_as_many_bytes_as_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal");
        let mut journal = Journal::create(&LocalSystem, &file).unwrap();
        assert!(journal.is_writable());
        journal.append_durably(&JournalRecord::Begun(Box::default())).unwrap();
        let bytes = std::fs::metadata(&file).unwrap().len();
        let load = |mut budget: u64| {
            let read = Journal::load_within(&LocalSystem, &file, &mut budget, &|| "a limit".to_owned());
            read.map(|read| (read.length, budget))
        };
        assert_eq!(load(bytes).unwrap(), (bytes, 0));
        assert_eq!(load(bytes + 7).unwrap(), (bytes, 7));
        assert!(matches!(load(bytes - 1), Err(JournalError::TooLarge { .. })));
    }
}
