//! Writes a new file for a plan or a recording. The file appears complete or not at all, and never replaces another.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::output_file::create_temporary;

/// Writes a new file. `is_wanted` is called once the content is written, before the file gets its name. `advice` says
/// how to choose another name.
pub fn write(text: &[u8], to: &Path, advice: &str, is_wanted: impl Fn() -> bool) -> Result<(), String> {
    let exists = || format!("the file exists already; {advice}");
    if to.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let (beside, file) = create_temporary(to).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => "this path names no file".to_owned(),
        _ => error.to_string(),
    })?;
    let written = fill(file, text).and_then(|()| match is_wanted() {
        true => link_final_name(&beside, to),
        false => Err(io::ErrorKind::Interrupted.into()),
    });
    // The first error is reported; a temporary file that cannot be deleted adds nothing to it.
    let _ = fs::remove_file(&beside);
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => error.to_string(),
    })
}

/// Most numbers that are tried for a free name.
const MAX_NUMBER: usize = 999;

/// Writes a new file with a free name: `page.html`, otherwise `page-2.html` and so on. Returns its full path.
pub fn write_numbered(text: &[u8], to: &Path, is_wanted: impl Fn() -> bool) -> Result<PathBuf, String> {
    let name = |number: usize| match (number, to.file_stem(), to.extension()) {
        (1, ..) | (_, None, _) => to.to_owned(),
        (_, Some(stem), ending) => {
            let mut name = stem.to_owned();
            name.push(format!("-{number}"));
            if let Some(ending) = ending {
                name.push(".");
                name.push(ending);
            }
            to.with_file_name(name)
        }
    };
    let is_free = |to: &PathBuf| to.symlink_metadata().is_err();
    let free = (1..=MAX_NUMBER).map(name).find(is_free).unwrap_or_else(|| to.to_owned());
    write(text, &free, "remove old ones, or choose another name", is_wanted)?;
    std::path::absolute(&free).map_err(|error| error.to_string())
}

fn fill(mut file: fs::File, text: &[u8]) -> io::Result<()> {
    let (begin, rest) = text.split_at(text.len() / 2);
    file.write_all(begin)?;
    inject_delay();
    file.write_all(rest)?;
    file.sync_all()
}

/// Links the temporary file to its name. Unlike a rename, a link never replaces a file that appeared in the meantime.
fn link_final_name(beside: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(beside, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.exists() => {
            // Not every file system has hard links.
            fs::rename(beside, to)
        }
        linked => linked,
    }
}

/// Injected faults: a slow disk, and one that never answers.
fn inject_delay() {
    for (place, seconds) in [("slow-write", 1), ("stuck-write", 3600)] {
        if super::fault_injection::is_injected(place) {
            std::thread::sleep(std::time::Duration::from_secs(seconds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.plan");
        assert!(write(b"text", &file, "another name", || false).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a cancelled write leaves no file");
        write(b"text", &file, "another name", || true).unwrap();
        let again = write(b"other", &file, "another name", || true).unwrap_err();
        assert!(again.contains("another name"), "{again}");
        let late = folder.path().join("between.plan");
        let between =
            write(b"mine", &late, "another name", || fs::write(&late, "theirs").is_ok()).unwrap_err();
        assert!(between.contains("another name"), "{between}");
        assert_eq!(fs::read_to_string(&late).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(write(b"text", Path::new("/"), "another name", || true).is_err());
        assert!(write(b"text", &folder.path().join("no/a.plan"), "another name", || true).is_err());
    }

    #[test]
    fn a_taken_name_gets_a_number_before_its_ending() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        let names: Vec<PathBuf> = (0..3).map(|_| write_numbered(b"text", &file, || true).unwrap()).collect();
        let of = |name: &str| folder.path().join(name);
        assert_eq!(names, [of("page.html"), of("page-2.html"), of("page-3.html")]);
        assert!(names.iter().all(|name| name.is_absolute() && name.exists()));
    }

    /// An attacker who guesses the name of the temporary file cannot redirect the plan.
    #[test]
    fn a_file_with_the_temporary_name_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a.plan"), folder.path().join("other"));
        fs::write(&other, "unchanged").unwrap();
        for turn in ["", "0."] {
            let taken = folder.path().join(format!(".a.plan.{}.{turn}part", std::process::id()));
            std::os::unix::fs::symlink(&other, &taken).unwrap();
        }
        write(b"text", &file, "another name", || true).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "unchanged");
        assert!(!file.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
