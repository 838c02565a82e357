//! Where a file is written to. A file appears whole or not at all, and `-` is stdout.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use super::output::Output;

/// Whether a path means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes the bytes to a file, or to stdout.
pub fn write(output: &mut Output<'_>, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(output.out.write_all(bytes)?);
    }
    put(path, bytes).map_err(|error| Failure::writing(&path.display().to_string(), &error))
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // A device or a named pipe is written to, not replaced.
        Ok(known) if !known.is_file() => {
            let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
            file.write_all(bytes)
        }
        // A link stays a link, and the file keeps its rights.
        Ok(known) => replace(&path.canonicalize()?, bytes, Some(known.permissions())),
        Err(_) => replace(path, bytes, None),
    }
}

fn replace(path: &Path, bytes: &[u8], rights: Option<std::fs::Permissions>) -> io::Result<()> {
    let beside = beside(path)?;
    let written = write_new(&beside, bytes, rights).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // What failed is said; a remainder that cannot be removed either adds nothing to it.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8], rights: Option<std::fs::Permissions>) -> io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    rights.map_or(Ok(()), |rights| file.set_permissions(rights))
}

/// A name in the same folder, so that the rename stays on one file system.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        put(&file, b"one").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        put(&link, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert!(link.is_symlink());
        assert!(put(&folder.path().join("absent/c"), b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        put(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
