//! Opens regular files only: no symbolic links, and no pipes, whose opening can wait for their other end. Reads text up to a
//! limit.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file; refuses a symbolic link, and a pipe, which would wait for its other end.
pub fn open_regular(path: &Path, how: &OpenOptions) -> io::Result<File> {
    let regular = |held: Metadata| match held.is_file() {
        true => Ok(()),
        false => Err(not_regular(path, "no regular file")),
    };
    match fs::symlink_metadata(path) {
        // The options of the caller decide whether a missing file is created.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        held => held.and_then(regular)?,
    }
    // The file may have been replaced since, so the flags and a second check refuse that too.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = how.clone().custom_flags(flags).open(path)?;
    file.metadata().and_then(regular)?;
    Ok(file)
}

fn not_regular(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} is {what}, and is left alone", path.display()))
}

/// The text of a file that has no more than `most` bytes. A device without an end would fill the memory.
pub fn read_text_within(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    match text.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than the limit of {} MiB", most >> 20))),
        false => Ok(text),
    }
}
