//! Archives: several files in one.

use std::io;

use super::time_limit::{TimedInput, read_up_to};
use super::{Depth, FileError, Unpacker, damaged_archive, printable_text};
use fabdeck_fabric::observe::digits_in_groups;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArchiveKind {
    Tar,
    Zip,
}

impl ArchiveKind {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            _ if bytes.get(257..262) == Some(b"ustar") => Some(Self::Tar),
            _ => None,
        }
    }
}

/// The signature of an entry in the directory of a zip archive.
const ENTRY_OF_ZIP: &[u8] = b"PK\x01\x02";
/// Archives within an archive add signatures too, if they are stored uncompressed.
const ENTRIES_WITHIN: usize = 16;

impl Unpacker<'_> {
    pub(super) fn unpack_archive(
        &mut self,
        kind: ArchiveKind,
        name: &str,
        bytes: &[u8],
        depth: Depth,
    ) -> Result<(), Box<FileError>> {
        match kind {
            ArchiveKind::Tar => self.unpack_tar(name, bytes, depth),
            ArchiveKind::Zip => self.unpack_zip(name, bytes, depth),
        }
    }

    fn unpack_tar(&mut self, name: &str, bytes: &[u8], depth: Depth) -> Result<(), Box<FileError>> {
        let broken = |why: io::Error| {
            damaged_archive(
                name,
                format!("the rest of the tar archive cannot be read: {}", printable_text(&why.to_string())),
            )
        };
        let pace = self.pace;
        let mut archive = tar::Archive::new(TimedInput::new(bytes, pace));
        for entry in archive.entries().map_err(broken)? {
            let entry = entry.map_err(broken)?;
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            self.count_entry(name)?;
            let kind = entry.header().entry_type();
            if kind.is_dir() || is_hidden(&path) || kind.is_pax_global_extensions() {
                continue;
            }
            if !kind.is_file() && !kind.is_contiguous() && !kind.is_gnu_sparse() {
                self.leave_out(&path, "a link or a device");
                continue;
            }
            let left = self.budget.remaining_bytes();
            let held = read_up_to(entry, left, pace).map_err(broken)?;
            if held.len() as u64 > left {
                return Err(self.budget.too_large(name));
            }
            self.open_entry(name, &path, &held, depth)?;
        }
        Ok(())
    }

    fn unpack_zip(&mut self, name: &str, bytes: &[u8], depth: Depth) -> Result<(), Box<FileError>> {
        let broken = |why: zip::result::ZipError| {
            damaged_archive(
                name,
                format!("the zip archive cannot be read: {}", printable_text(&why.to_string())),
            )
        };
        // The zip crate reads the whole directory before the first entry, which needs more memory than the directory
        // has bytes.
        let most = self.budget.limits.entries.saturating_mul(ENTRIES_WITHIN);
        if bytes.windows(ENTRY_OF_ZIP.len()).filter(|part| *part == ENTRY_OF_ZIP).nth(most).is_some() {
            return Err(self.too_many_entries(name));
        }
        let pace = self.pace;
        let mut archive = zip::ZipArchive::new(TimedInput::new(bytes, pace)).map_err(broken)?;
        for at in 0..archive.len() {
            self.count_entry(name)?;
            let entry = archive.by_index_raw(at).map_err(broken)?;
            let path = entry.name().to_owned();
            let (is_dir, is_link, encrypted) = (entry.is_dir(), entry.is_symlink(), entry.encrypted());
            drop(entry);
            if is_dir || is_hidden(&path) {
                continue;
            }
            if is_link || encrypted {
                self.leave_out(&path, if is_link { "a link" } else { "encrypted" });
                continue;
            }
            let left = self.budget.remaining_bytes();
            let unpacked = archive
                .by_index(at)
                .map_err(|why| why.to_string())
                .and_then(|entry| read_up_to(entry, left, pace).map_err(|why| why.to_string()));
            if pace.is_exceeded() {
                return Err(self.budget.too_long(name));
            }
            match unpacked {
                Ok(held) if held.len() as u64 > left => return Err(self.budget.too_large(name)),
                Ok(held) => self.open_entry(name, &path, &held, depth)?,
                // The directory of the archive knows where the next entry begins, so unpacking continues.
                Err(why) => {
                    let inner = format!("{name}!{}", printable_text(&path));
                    let error = damaged_archive(
                        &inner,
                        format!("the entry cannot be unpacked: {}", printable_text(&why)),
                    );
                    self.emit(inner, Err(error), depth);
                }
            }
        }
        Ok(())
    }

    fn count_entry(&mut self, name: &str) -> Result<(), Box<FileError>> {
        self.budget.entries += 1;
        let most = self.budget.limits.entries;
        match self.budget.entries > most {
            true => Err(self.too_many_entries(name)),
            false => Ok(()),
        }
    }

    fn too_many_entries(&mut self, name: &str) -> Box<FileError> {
        let most = self.budget.limits.entries;
        self.budget
            .exceed_limit(name, format!("the archive has more than {} entries", digits_in_groups(most)))
    }
}

/// Hidden files are skipped in folders too; some systems add their own files to archives.
fn is_hidden(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != "." && *part != "..");
    path.starts_with("__MACOSX/") || parts.any(|part| part.starts_with('.'))
}
