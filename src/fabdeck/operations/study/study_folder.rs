//! The folder of a study: its file, the fabrics that it does not make by name, and the segments with results.
//!
//! ```text
//! DIR/study.toml          the study, as it was given
//! DIR/topology-1.net      the second topology, where that is a file or a source: read once, and shared by all processes
//! DIR/segments/HOST-PID-1.segment
//! ```
//!
//! Processes on several machines share the folder without locks: each creates a segment under a name that no other has,
//! and writes nowhere else.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::study_engine::EngineFile;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::system::output_file;
use fabdeck_files::study_segment::{self, HEADER, SegmentContent, read_records, read_segment};

/// A segment is synced after this number of records, and after this time.
const SYNC_RECORDS: u32 = 64;
const SYNC_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct StudyFolder {
    pub path: PathBuf,
}

/// What the segments of a folder have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentSummary {
    pub segments: u64,
    /// Lines whose CRC is wrong.
    pub damaged: u64,
    /// Files that are no segments, or segments of another version.
    pub foreign: u64,
}

impl StudyFolder {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    fn study_file(&self) -> PathBuf {
        self.path.join("study.toml")
    }

    fn segment_folder(&self) -> PathBuf {
        self.path.join("segments")
    }

    pub fn topology_file(&self, at: usize) -> PathBuf {
        self.path.join(format!("topology-{at}.net"))
    }

    /// A file that an engine reads.
    pub fn engine_file(&self, engine: &str, file: EngineFile) -> PathBuf {
        self.path.join(format!("{engine}-{}.txt", file.key()))
    }

    /// Writes a file that several processes may write at once: the first one's stays.
    pub fn store_once(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let write = || {
            let (temporary, mut file) = output_file::create_temporary(path)?;
            let written = file.write_all(bytes).and_then(|()| fs::hard_link(&temporary, path));
            let _ = fs::remove_file(&temporary);
            match written {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                written => written,
            }
        };
        write().map_err(|error| self.write_failure(path, &error))
    }

    /// The study that the folder is of.
    pub fn study_text(&self) -> Result<String, Failure> {
        let file = self.study_file();
        fs::read_to_string(&file).map_err(|error| {
            let what = format!(
                "FD-9420: {}: {error}; name the folder of a study, as `study run` makes it with -o",
                file.display()
            );
            Failure::new(Exit::BadInput, what)
        })
    }

    /// Makes the folder, or finds that it is of this study. `update` replaces the file of another one; its results stay.
    pub fn prepare(&self, text: &str, update: bool) -> Result<(), Failure> {
        fs::create_dir_all(self.segment_folder()).map_err(|error| self.write_failure(&self.path, &error))?;
        let file = self.study_file();
        match fs::read_to_string(&file) {
            Ok(held) if held == text => return Ok(()),
            Ok(_) if !update => {
                let what = format!(
                    "FD-9421: {} is of another study than this file; name another folder, or replace its study with \
                     --update (results of cells that both have stay)",
                    self.path.display()
                );
                return Err(Failure::new(Exit::Refused, what));
            }
            _ => {}
        }
        output_file::replace(&file, text.as_bytes()).map_err(|error| self.write_failure(&file, &error))
    }

    /// The failure of a write into the folder. What was written before stays, so that another run continues.
    pub fn write_failure(&self, file: &Path, error: &io::Error) -> Failure {
        let what = format!(
            "FD-9422: {} cannot be written: {error}; make room on its disk, then run the same command again: it continues",
            file.display()
        );
        Failure::new(Exit::Unreachable, what)
    }
}

/// Reads segments again and again, each time what is new.
#[derive(Debug)]
pub struct SegmentReader {
    folder: PathBuf,
    /// For each file the length that was read; `None`: it is no segment.
    read: BTreeMap<PathBuf, Option<u64>>,
    damaged: u64,
    /// How often a segment was opened.
    opened: u64,
}

impl SegmentReader {
    pub fn new(folder: &StudyFolder) -> Self {
        Self { folder: folder.segment_folder(), read: BTreeMap::new(), damaged: 0, opened: 0 }
    }

    /// Hands over the JSON of all records that were not read before.
    pub fn refresh(&mut self, add_json: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read_failure(&self.folder, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| read_failure(&self.folder, &error))?;
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "segment") {
                self.read_new(&entry, add_json).map_err(|error| read_failure(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Opens a segment where it has grown, and no other: a folder may have thousands.
    fn read_new(&mut self, entry: &DirEntry, add_json: &mut dyn FnMut(&str)) -> io::Result<()> {
        let path = &entry.path();
        let from = match self.read.get(path) {
            Some(None) => return Ok(()),
            Some(Some(length)) => *length,
            None => 0,
        };
        if entry.metadata()?.len() == from {
            return Ok(());
        }
        let mut file = File::open(path)?;
        self.opened += 1;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.read_to_end(&mut bytes)?;
        let content = match from {
            0 => read_segment(&bytes).ok(),
            _ => Some(read_records(&bytes)),
        };
        let Some(SegmentContent { records, damaged, length }) = content else {
            self.read.insert(path.to_owned(), None);
            return Ok(());
        };
        records.iter().for_each(|json| add_json(json));
        self.damaged += damaged;
        self.read.insert(path.to_owned(), Some(from + length));
        Ok(())
    }

    pub fn summary(&self) -> SegmentSummary {
        let foreign = self.read.values().filter(|length| length.is_none()).count() as u64;
        SegmentSummary { segments: self.read.len() as u64 - foreign, damaged: self.damaged, foreign }
    }
}

fn read_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Unreachable, format!("FD-9423: {} cannot be read: {error}", path.display()))
}

/// The segment of this process, made at its first record.
#[derive(Debug)]
pub struct SegmentWriter {
    folder: StudyFolder,
    file: Option<(PathBuf, File)>,
    unsynced: u32,
    synced_at: Instant,
}

impl SegmentWriter {
    pub fn new(folder: &StudyFolder) -> Self {
        Self { folder: folder.clone(), file: None, unsynced: 0, synced_at: Instant::now() }
    }

    /// Appends a record with one write, so that a killed process leaves it whole or torn at its end.
    pub fn append(&mut self, json: &str) -> Result<(), Failure> {
        let folder = self.folder.clone();
        let (path, file) = match &mut self.file {
            Some(open) => open,
            none => none.insert(create_segment(&folder)?),
        };
        let failed = |error: io::Error| folder.write_failure(path, &error);
        file.write_all(&study_segment::encode_record(json)).map_err(failed)?;
        self.unsynced += 1;
        self.sync_when_due()
    }

    /// Syncs what was appended if the records are many, or the last sync was long ago.
    pub fn sync_when_due(&mut self) -> Result<(), Failure> {
        let due = self.unsynced >= SYNC_RECORDS || self.synced_at.elapsed() >= SYNC_TIME;
        if due { self.sync() } else { Ok(()) }
    }

    pub fn sync(&mut self) -> Result<(), Failure> {
        if let Some((path, file)) = &self.file
            && self.unsynced > 0
        {
            file.sync_data().map_err(|error| self.folder.write_failure(path, &error))?;
        }
        (self.unsynced, self.synced_at) = (0, Instant::now());
        Ok(())
    }
}

fn create_segment(folder: &StudyFolder) -> Result<(PathBuf, File), Failure> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host: String = host.chars().filter(|sign| sign.is_ascii_alphanumeric() || *sign == '-').collect();
    let id = std::process::id();
    for number in 1.. {
        let path = folder.segment_folder().join(format!("{host}-{id}-{number}.segment"));
        let failed = |error: io::Error| folder.write_failure(&path, &error);
        match File::options().append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let mut file = opened.map_err(failed)?;
                file.write_all(HEADER.as_bytes()).map_err(failed)?;
                // The name of a file is in its folder.
                File::open(folder.segment_folder()).and_then(|names| names.sync_all()).map_err(failed)?;
                return Ok((path, file));
            }
        }
    }
    Err(folder.write_failure(&folder.path, &io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, StudyFolder) {
        let made = tempfile::tempdir().unwrap();
        let folder = StudyFolder::new(made.path());
        folder.prepare("name = \"x\"", false).unwrap();
        (made, folder)
    }

    #[test]
    fn a_segment_is_opened_only_when_it_has_grown() {
        let (_made, folder) = folder();
        let mut writers: Vec<SegmentWriter> = (0..20).map(|_| SegmentWriter::new(&folder)).collect();
        writers.iter_mut().for_each(|writer| writer.append("{}").unwrap());
        let (mut reader, mut records) = (SegmentReader::new(&folder), 0);
        let mut refresh = |reader: &mut SegmentReader| {
            reader.refresh(&mut |_| records += 1).unwrap();
            (records, reader.opened)
        };
        assert_eq!(refresh(&mut reader), (20, 20));
        assert_eq!(refresh(&mut reader), (20, 20), "nothing has grown");
        writers[7].append("{}").unwrap();
        assert_eq!(refresh(&mut reader), (21, 21));
    }

    #[test]
    fn a_record_is_synced_after_its_time_without_another_one() {
        let (_made, folder) = folder();
        let mut writer = SegmentWriter::new(&folder);
        writer.append("{}").unwrap();
        writer.sync_when_due().unwrap();
        assert_eq!(writer.unsynced, 1, "its time has not come");
        writer.synced_at = writer.synced_at.checked_sub(SYNC_TIME).unwrap();
        writer.sync_when_due().unwrap();
        assert_eq!(writer.unsynced, 0);
    }
}
