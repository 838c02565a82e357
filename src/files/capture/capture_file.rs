//! Captures on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recorder::Sink;
use crate::capture_format::{ByteSource, CaptureReader, ID};
use crate::{Format, detect};
use fabdeck_mad::access::SourceError;

/// Most bytes from standard input, which is held in memory.
const MAX_STDIN_BYTES: u64 = 2 << 30;

/// A file that is read on demand, or the content of a pipe; readers share it.
#[derive(Clone, Debug)]
pub struct FileBytes(Backing);

#[derive(Clone, Debug)]
enum Backing {
    File { file: Arc<File>, size: u64 },
    Memory(Arc<Vec<u8>>),
}

impl FileBytes {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self(Backing::File { file: Arc::new(file), size }))
    }

    fn stdin() -> io::Result<Self> {
        let mut bytes = Vec::new();
        io::stdin().lock().take(MAX_STDIN_BYTES + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > MAX_STDIN_BYTES {
            true => Err(io::Error::other("more than 2 GiB: write it to a file")),
            false => Ok(Self(Backing::Memory(Arc::new(bytes)))),
        }
    }
}

impl ByteSource for FileBytes {
    fn size(&self) -> u64 {
        match &self.0 {
            Backing::File { size, .. } => *size,
            Backing::Memory(bytes) => bytes.len() as u64,
        }
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let (file, size) = match &self.0 {
            Backing::File { file, size } => (file, size),
            Backing::Memory(bytes) => return bytes.read(offset, length),
        };
        // Checked before memory is allocated for bytes that the file does not have.
        if offset.checked_add(length as u64).is_none_or(|end| end > *size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// Whether a file begins as captures do; false for an unreadable file.
pub fn is_capture(path: &Path) -> bool {
    detect_format(path).is_some_and(|format| format.id == ID)
}

/// The format of a file by its beginning.
fn detect_format(path: &Path) -> Option<&'static Format> {
    const HEAD: u64 = 8192;
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path).is_ok_and(|held| held.is_file()) {
        return None;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.ok().and_then(|_| detect(&head))
}

/// The readable files of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FolderContent {
    pub captures: Vec<PathBuf>,
    /// Number of files in other formats, which form one fabric together.
    pub others: usize,
}

impl FolderContent {
    /// Classifies the files of a folder by their beginnings. Skips hidden files, unknown formats, and all files beyond
    /// a number that no folder of one fabric has.
    pub fn scan(path: &Path) -> Self {
        const MOST: usize = 1024;
        let mut held = Self::default();
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let hidden =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let mut files: Vec<PathBuf> = entries.filter(|path| !hidden(path)).collect();
        files.sort();
        for file in files.into_iter().take(MOST) {
            match detect_format(&file) {
                Some(format) if format.id == ID => held.captures.push(file),
                Some(_) => held.others += 1,
                None => {}
            }
        }
        held
    }
}

/// The capture that a path names: the file itself, or the only readable file of a folder.
pub fn find_capture(path: &Path) -> Option<PathBuf> {
    if is_capture(path) {
        return Some(path.to_owned());
    }
    let FolderContent { mut captures, others } = FolderContent::scan(path);
    captures.pop().filter(|_| captures.is_empty() && others == 0)
}

/// Names of captures in a folder, or otherwise in its subfolders, for the hint that one of them is meant.
pub fn list_captures(folder: &Path) -> Option<String> {
    const SHOWN: usize = 3;
    const MOST: usize = 64;
    let mut captures = FolderContent::scan(folder).captures;
    if captures.is_empty() {
        let mut below: Vec<PathBuf> = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|at| at.is_dir())
            .collect();
        below.sort();
        captures = below.iter().take(MOST).flat_map(|folder| FolderContent::scan(folder).captures).collect();
    }
    let names: Vec<String> = captures.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    let more = captures.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// Opens a capture; `-` is standard input, which is read to its end.
pub fn open(path: &Path) -> Result<CaptureReader<FileBytes>, SourceError> {
    if path.is_dir() {
        let hint = list_captures(path);
        return Err(SourceError::Name {
            code: "FD-5068",
            what: format!("{} is a folder, and this command reads one capture", path.display()),
            hint: hint
                .map_or("give a capture file".to_owned(), |held| format!("give one of its captures: {held}")),
        });
    }
    let stdin = path == Path::new("-");
    let name = if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let opened = if stdin { FileBytes::stdin() } else { FileBytes::open(path) };
    let bytes = opened.map_err(|error| SourceError::Unreachable {
        code: "FD-5061",
        what: format!("{name}: {error}"),
        hint: "check the path and the permission to read it".into(),
    })?;
    Ok(CaptureReader::open(&name, bytes)?)
}

/// Opens a file to record into, which must be new or empty.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(path)
}

impl Sink for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        match self.metadata()?.is_file() {
            true => self.set_len(length),
            false => Ok(()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.metadata()?.is_file() {
            true => self.sync_data(),
            false => Ok(()),
        }
    }
}
