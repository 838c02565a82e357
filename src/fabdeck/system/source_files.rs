//! Finds files of known formats in a folder, by their content.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::catalogue::json_type::json_type;

/// Number of bytes that identify a format, and number of files of a folder that are examined.
const HEAD_BYTES: u64 = 8 * 1024;
const MAX_FILES: usize = 1000;

json_type! {
    /// A file that can be a source.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct SourceFile {
        pub path: String,
        /// Id of the format.
        pub format: &'static str,
        pub title: &'static str,
    }
}

/// Lists the files in the order of their names; subfolders are ignored.
pub fn list(folder: &Path) -> Vec<SourceFile> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    let mut paths: Vec<PathBuf> = files.collect();
    paths.sort();
    paths.truncate(MAX_FILES);
    paths.iter().filter_map(|path| identify(path)).collect()
}

fn identify(path: &Path) -> Option<SourceFile> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let format = fabdeck_files::detect(&head)?;
    let path = path.strip_prefix(".").unwrap_or(path).display().to_string();
    Some(SourceFile { path, format: format.id, title: format.title })
}
