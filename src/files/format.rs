//! The formats, each described once: detection, reading, the list in the docs and the fuzz targets follow from it.

use super::content::Content;
use super::error::FileError;
use super::text::Input;

/// One format that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The word in `convert --to`, in messages and the name of the fuzz target.
    pub id: &'static str,
    pub title: &'static str,
    /// Whether the beginning of a file (up to 8 KiB, mark of byte order removed) speaks this format.
    pub looks_like: fn(&str) -> bool,
    pub read: fn(Input<'_>) -> Result<Content, Box<FileError>>,
}

/// Asked in this order: the more telling a format's beginning, the earlier it stands.
pub const FORMATS: &[Format] = &[];

/// The format of a file by its content.
pub fn detect(bytes: &[u8]) -> Option<&'static Format> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(8 * 1024)]);
    FORMATS.iter().find(|format| (format.looks_like)(&head))
}
