//! Closes inherited files in the guards that this process starts, because guards outlive it.

#![allow(unsafe_code, reason = "a file of the caller is known by the number of its descriptor alone")]

use std::os::fd::{BorrowedFd, RawFd};
use std::{fs, io};

use rustix::io::{FdFlags, fcntl_setfd};

/// The highest descriptor of standard input, output and error.
const LAST_STANDARD: RawFd = 2;

/// Closes all files but the standard ones in programs that this process starts later. Otherwise a guard would hold a
/// lock of the caller's shell, or keep open a pipe that the shell reads, for as long as the guard runs.
pub fn close_files_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        let Some(number) = number.filter(|number| *number > LAST_STANDARD) else { continue };
        // SAFETY: the descriptor is used for this one call, which sets a flag and fails for a number that was closed.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(file, FdFlags::CLOEXEC);
    }
    Ok(())
}
