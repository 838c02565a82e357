//! Packed files: gzip, xz, bzip2 and zstd, tar and zip, and each of them within another. They are unpacked in memory,
//! one file at a time, and never written to disk: a path in an archive is only a label.

mod archive;
mod compression;
mod time_limit;

use std::borrow::Cow;

use super::FileError;
use fabdeck_fabric::observe::{NotePlace, Notes};

pub use compression::Compression;
pub use time_limit::TimeLimit;

/// Damaged or encrypted bytes, or an unsupported method of compression.
const DAMAGED: &str = "FD-2004";
/// More bytes, files or layers than any dump has.
const OVER_LIMITS: &str = "FD-2005";
/// Several files where one is wanted.
const NOT_ONE_FILE: &str = "FD-2006";
/// An entry of an archive that is no regular file.
const ENTRY_LEFT_OUT: &str = "FN-555";

/// Limits of unpacking; a [`TimeLimit`] limits the time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes that come out of one file, over all layers.
    pub bytes: u64,
    /// Most entries of archives, folders and links included.
    pub entries: usize,
    /// Most unpacked bytes for each packed byte.
    pub ratio: u64,
    /// Unpacked bytes below which the ratio is not checked.
    pub ratio_from: u64,
    /// Most layers around a file: `tar.gz` has two.
    pub layers: u8,
    /// Most archives around a file: one may be inside another.
    pub archives: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 2 << 30, entries: 4096, ratio: 1000, ratio_from: 64 << 20, layers: 4, archives: 2 }
    }
}

/// A file that was unpacked.
#[derive(Debug)]
pub struct UnpackedFile<'a> {
    /// The outer name; within an archive followed by `!` and the path.
    pub name: String,
    pub bytes: Result<Cow<'a, [u8]>, Box<FileError>>,
    /// Whether the file comes from an archive.
    pub archived: bool,
}

/// Whether a file is packed in a supported way.
pub fn is_packed(bytes: &[u8]) -> bool {
    Compression::of(bytes).is_some() || archive::ArchiveKind::of(bytes).is_some()
}

/// Passes each file that the bytes hold to `each`; bytes that are not packed are one file. Adds notes on entries that
/// were left out.
pub fn unpack<'a>(
    name: &str,
    bytes: Cow<'a, [u8]>,
    limits: Limits,
    pace: &TimeLimit<'_>,
    notes: &mut Notes,
    each: &mut dyn FnMut(UnpackedFile<'_>),
) {
    let budget = UnpackBudget { limits, packed: bytes.len() as u64, unpacked: 0, entries: 0, spent: None };
    let mut unpacking = Unpacker { outer: name.to_owned(), budget, pace, notes, each };
    unpacking.open(name.to_owned(), bytes, Depth::default());
}

/// Unpacks the only file that the bytes hold; several are an error.
pub fn unpack_one(
    name: &str,
    bytes: Vec<u8>,
    pace: &TimeLimit<'_>,
) -> Result<(String, Vec<u8>), Box<FileError>> {
    if !is_packed(&bytes) {
        return Ok((name.to_owned(), bytes));
    }
    let mut found = Vec::new();
    let mut count = 0;
    unpack(name, bytes.into(), Limits::default(), pace, &mut Notes::new(), &mut |file| {
        count += 1;
        if found.is_empty() {
            found.push((file.name, file.bytes.map(Cow::into_owned)));
        }
    });
    match (found.pop(), count) {
        (Some((name, bytes)), 1) => bytes.map(|bytes| (name, bytes)),
        _ => {
            let what = format!("an archive with {count} files, and this command reads one");
            let hint = "take the file out of the archive and give its path";
            Err(FileError::new(NOT_ONE_FILE, NotePlace::file(name), what, hint))
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Depth {
    layers: u8,
    archives: u8,
}

/// The use of the limits, over all layers of one outer file.
struct UnpackBudget {
    limits: Limits,
    packed: u64,
    unpacked: u64,
    entries: usize,
    /// The first limit that was reached; unpacking ends there.
    spent: Option<Box<FileError>>,
}

impl UnpackBudget {
    /// Number of bytes that may still come out.
    fn remaining_bytes(&self) -> u64 {
        let by_ratio = self.packed.saturating_mul(self.limits.ratio).max(self.limits.ratio_from);
        self.limits.bytes.min(by_ratio).saturating_sub(self.unpacked)
    }

    fn exceed_limit(&mut self, name: &str, what: String) -> Box<FileError> {
        let hint = "no dump of one subnet is so large; unpack it yourself and give the files in it";
        let error = FileError::new(OVER_LIMITS, NotePlace::file(name), what, hint);
        self.spent.get_or_insert_with(|| error.clone());
        error
    }

    fn too_large(&mut self, name: &str) -> Box<FileError> {
        let what = match self.unpacked + self.remaining_bytes() < self.limits.bytes {
            true => format!("the file unpacks to more than {} times its size", self.limits.ratio),
            false => format!("the file unpacks to more than {} MiB", self.limits.bytes >> 20),
        };
        self.exceed_limit(name, what)
    }

    fn too_long(&mut self, name: &str) -> Box<FileError> {
        self.exceed_limit(name, "unpacking the file takes too long".to_owned())
    }
}

struct Unpacker<'u> {
    outer: String,
    budget: UnpackBudget,
    pace: &'u TimeLimit<'u>,
    notes: &'u mut Notes,
    each: &'u mut dyn FnMut(UnpackedFile<'_>),
}

impl Unpacker<'_> {
    fn open(&mut self, name: String, mut bytes: Cow<'_, [u8]>, mut depth: Depth) {
        while let Some(stream) = Compression::of(&bytes) {
            depth.layers += 1;
            match self.unpack_stream(stream, &name, &bytes, depth) {
                Ok(unpacked) => bytes = Cow::Owned(unpacked),
                Err(error) => return self.emit(name, Err(error), depth),
            }
        }
        let Some(kind) = archive::ArchiveKind::of(&bytes) else { return self.emit(name, Ok(bytes), depth) };
        depth.layers += 1;
        depth.archives += 1;
        if let Err(error) = self.check_depth(&name, depth) {
            return self.emit(name, Err(error), depth);
        }
        let outcome = self.unpack_archive(kind, &name, &bytes, depth);
        // A decoder that was stopped reports a damaged archive.
        let outcome = match outcome {
            Err(_) if self.pace.is_exceeded() => Err(self.budget.too_long(&name)),
            outcome => outcome,
        };
        if let Err(error) = outcome {
            self.emit(name, Err(error), depth);
        }
    }

    fn emit(&mut self, name: String, bytes: Result<Cow<'_, [u8]>, Box<FileError>>, depth: Depth) {
        (self.each)(UnpackedFile { name, bytes, archived: depth.archives > 0 });
    }

    fn check_depth(&mut self, name: &str, depth: Depth) -> Result<(), Box<FileError>> {
        let limits = self.budget.limits;
        if depth.layers <= limits.layers && depth.archives <= limits.archives {
            return Ok(());
        }
        let what = "archives are nested deeper than one in another";
        let hint = "unpack the outer archive and give the files in it";
        Err(FileError::new(OVER_LIMITS, NotePlace::file(name), what, hint))
    }

    fn unpack_stream(
        &mut self,
        stream: Compression,
        name: &str,
        bytes: &[u8],
        depth: Depth,
    ) -> Result<Vec<u8>, Box<FileError>> {
        self.check_depth(name, depth)?;
        let left = self.budget.remaining_bytes();
        let unpacked =
            stream.unpack(bytes, left, self.pace).map_err(|why| match self.pace.is_exceeded() {
                true => self.budget.too_long(name),
                false => {
                    let what = format!(
                        "the {} cannot be unpacked: {}",
                        stream.name(),
                        printable_text(&why.to_string())
                    );
                    damaged_archive(name, what)
                }
            })?;
        if unpacked.len() as u64 > left {
            return Err(self.budget.too_large(name));
        }
        self.budget.unpacked += unpacked.len() as u64;
        Ok(unpacked)
    }

    /// Opens the content of one entry of an archive.
    fn open_entry(
        &mut self,
        archive: &str,
        path: &str,
        bytes: &[u8],
        depth: Depth,
    ) -> Result<(), Box<FileError>> {
        self.budget.unpacked += bytes.len() as u64;
        self.open(format!("{archive}!{}", printable_text(path)), Cow::Borrowed(bytes), depth);
        self.budget.spent.clone().map_or(Ok(()), Err)
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        self.notes.add(ENTRY_LEFT_OUT, NotePlace::file(self.outer.clone()), || {
            format!("left out of the archive: '{}', {why}", printable_text(path))
        });
    }
}

fn damaged_archive(name: &str, what: String) -> Box<FileError> {
    FileError::new(DAMAGED, NotePlace::file(name), what, "fetch the file again, or unpack it yourself")
}

/// Makes a path or message from a file safe to show.
fn printable_text(text: &str) -> String {
    let shown: String =
        text.chars().take(120).map(|c| if super::opensm::is_printable(c) { c } else { '?' }).collect();
    shown.trim_start_matches("./").to_owned()
}

#[cfg(test)]
mod tests;
