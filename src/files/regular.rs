//! Files that are opened as what they are: neither a link to another one, nor a pipe that waits for its other end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file, and neither a link to one nor a pipe, which would wait for its other end.
pub fn open_regular(path: &Path, how: &OpenOptions) -> io::Result<File> {
    let regular = |held: Metadata| match held.is_file() {
        true => Ok(()),
        false => Err(wrong(path, "no regular file")),
    };
    match fs::symlink_metadata(path) {
        // How it is opened says whether it is made.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        held => held.and_then(regular)?,
    }
    // It may be another by now.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = how.clone().custom_flags(flags).open(path)?;
    file.metadata().and_then(regular)?;
    Ok(file)
}

fn wrong(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} is {what}, and is left alone", path.display()))
}
