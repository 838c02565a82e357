//! Files of known formats in a folder, told by content.

use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a file tells its format, and how many files of a folder are looked into.
const HEAD: u64 = 8 * 1024;
const FILES: usize = 1000;

/// A file that `--source` can name.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Found {
    pub path: String,
    /// The format's word.
    pub format: &'static str,
    pub title: &'static str,
}

/// In the order of their names, folders below left out.
pub fn list(folder: &Path) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    let mut paths: Vec<PathBuf> = files.collect();
    paths.sort();
    paths.truncate(FILES);
    paths.iter().filter_map(|path| found(path)).collect()
}

fn found(path: &Path) -> Option<Found> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let format = fabdeck_files::detect(&head)?;
    let path = path.strip_prefix(".").unwrap_or(path).display().to_string();
    Some(Found { path, format: format.id, title: format.title })
}
