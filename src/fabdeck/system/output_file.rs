//! Writes output files. A file appears complete or not at all, and `-` is stdout.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;

/// Whether a path means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes bytes to a file, or to `out` if the path means stdout.
pub fn write(out: &mut dyn Write, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(out.write_all(bytes)?);
    }
    write_in_place(path, bytes).map_err(|error| Failure::writing(&path.display().to_string(), &error))
}

/// Writes a new file and never replaces existing content by mistake. An empty file, as `mktemp` creates it, may be
/// replaced. A device or a named pipe is written to.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    refuse_existing(path)?;
    write_in_place(path, bytes).map_err(|error| Failure::writing(&path.display().to_string(), &error))
}

/// Refuses the name of a folder, or of a file with content.
pub fn refuse_existing(path: &Path) -> Result<(), Failure> {
    let taken = std::fs::metadata(path).is_ok_and(|held| held.is_dir() || (held.is_file() && held.len() > 0));
    if is_stdout(path) || !taken {
        return Ok(());
    }
    let what = format!("FD-7922: {} exists already and was not changed; name another file", path.display());
    Err(Failure::new(Exit::Failed, what))
}

/// Refuses the name of a folder or of a file with content, unless `--force` permits to overwrite it.
pub fn refuse_unless_forced(path: &Path, force: bool) -> Result<(), Failure> {
    let forced = |failure: Failure| Failure {
        message: failure.message.map(|what| format!("{what}, or overwrite it with --force")),
        ..failure
    };
    if force { Ok(()) } else { refuse_existing(path).map_err(forced) }
}

/// Writes a file piece by piece; it appears complete or not at all. An existing file is kept without `force`.
pub fn write_with<R>(
    path: &Path,
    force: bool,
    write: impl FnOnce(File) -> Result<R, Failure>,
) -> Result<R, Failure> {
    refuse_unless_forced(path, force)?;
    let failed = |error: io::Error| Failure::writing(&path.display().to_string(), &error);
    let metadata = std::fs::metadata(path);
    if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        return write(File::options().write(true).open(path).map_err(failed)?);
    }
    let real = if metadata.is_ok() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
    let (temporary, file) = create_temporary(&real).map_err(failed)?;
    let rights = metadata.map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions()));
    let written = rights.map_err(failed).and_then(|()| write(file)).and_then(|made| {
        std::fs::rename(&temporary, &real).map_err(failed)?;
        Ok(made)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // A device or a named pipe is written to, not replaced.
        Ok(metadata) if !metadata.is_file() => {
            let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
            file.write_all(bytes)
        }
        // A symbolic link stays, and the file keeps its permissions.
        Ok(metadata) => replace_with(&path.canonicalize()?, bytes, Some(metadata.permissions())),
        Err(_) => replace(path, bytes),
    }
}

/// Writes a file completely or not at all, in place of an earlier one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, bytes, None)
}

/// The same, for a file that all users may read whatever the umask is.
pub fn replace_readable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    replace_with(path, bytes, Some(std::fs::Permissions::from_mode(0o644)))
}

fn replace_with(path: &Path, bytes: &[u8], rights: Option<std::fs::Permissions>) -> io::Result<()> {
    let (temporary, file) = create_temporary(path)?;
    let written = write_content(file, bytes, rights).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is reported; a temporary file that cannot be deleted adds nothing to it.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn write_content(mut file: File, bytes: &[u8], rights: Option<std::fs::Permissions>) -> io::Result<()> {
    file.write_all(bytes)?;
    rights.map_or(Ok(()), |rights| file.set_permissions(rights))
}

/// Creates a temporary file in the same folder, so that the rename stays on one file system. Other users can guess
/// its name, so an existing file or link of that name is never written to.
pub fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    /// Number of names that are tried, because killed runs may have left files.
    const MAX_ATTEMPTS: u32 = 100;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for attempt in 0..MAX_ATTEMPTS {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{attempt}.part", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match File::options().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (temporary, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        write_in_place(&file, b"one").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_in_place(&link, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert!(link.is_symlink());
        assert!(write_in_place(&folder.path().join("absent/c"), b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        std::fs::write(folder.path().join("empty"), b"").unwrap();
        for (name, free) in [("a", false), ("empty", true), ("absent", true)] {
            assert_eq!(refuse_existing(&folder.path().join(name)).is_ok(), free, "{name}");
        }
        let made = |name: &str, force, fails: bool| {
            write_with(&folder.path().join(name), force, |mut file| {
                file.write_all(b"three")?;
                if fails { Err(Failure::usage("no")) } else { Ok(()) }
            })
        };
        assert!(made("a", false, false).is_err() && made("a", true, true).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert!(made("b", true, false).is_ok() && made("new", false, false).is_ok() && link.is_symlink());
        assert_eq!(
            (std::fs::read(&file).unwrap(), folder.path().join("new").exists()),
            (b"three".into(), true)
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
        write_in_place(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }

    #[test]
    fn a_file_under_the_temporary_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("other"));
        std::fs::write(&other, b"kept").unwrap();
        let taken = folder.path().join(format!(".a.{}.0.part", std::process::id()));
        std::os::unix::fs::symlink(&other, &taken).unwrap();
        write_in_place(&file, b"one").unwrap();
        write_with(&file, true, |mut file| Ok(file.write_all(b"two")?)).unwrap();
        assert!(write_with(&file, true, |_| Err::<(), _>(Failure::usage("no"))).is_err());
        let read = |path: &Path| std::fs::read(path).unwrap();
        assert_eq!((read(&file), read(&other)), (b"two".into(), b"kept".into()));
        assert!(taken.is_symlink() && !file.is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
