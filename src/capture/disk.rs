//! The file that a capture lies in.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::recorder::Sink;
use crate::access::SourceError;
use crate::files::capture::{Bytes, ID, Reader};
use crate::files::detect;

/// A file, read where it is asked for.
#[derive(Debug)]
pub struct FileBytes {
    file: File,
    size: u64,
}

impl Bytes for FileBytes {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        // Nothing is made room for that the file does not have.
        if offset.checked_add(length as u64).is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// Whether a file begins as captures do. What cannot be read is none.
pub fn is_capture(path: &Path) -> bool {
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| match file.metadata()?.is_file() {
        true => file.take(HEAD).read_to_end(&mut head),
        false => Ok(0),
    });
    read.is_ok() && detect(&head).is_some_and(|format| format.id == ID)
}

pub fn open(path: &Path) -> Result<Reader<FileBytes>, SourceError> {
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| {
        let size = file.metadata()?.len();
        Ok(FileBytes { file, size })
    });
    let bytes = opened.map_err(|error| SourceError::Unreachable {
        code: "FD-5061",
        what: format!("{name}: {error}"),
        hint: "check the path, and the right to read it".into(),
    })?;
    Ok(Reader::open(&name, bytes)?)
}

/// A file to record into, which is to be new or empty.
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
