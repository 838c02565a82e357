//! The file under a journal: what is appended may be lost until it was synced.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fabdeck_files::open_regular;

/// One file that only grows. Tests bring disks that fail.
pub trait Disk: Send {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// What was appended outlives the machine once this returns.
    fn sync(&mut self) -> io::Result<()>;

    /// How long the file is by now, where another process may append to it too.
    fn length(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// Cuts it off behind its first `length` bytes; what was there behind them is gone for good once this returns.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// A file of the system.
#[derive(Debug)]
pub struct FileDisk(File);

impl FileDisk {
    /// A new file in a folder that is there, whose entry outlives the machine too.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self(file))
    }

    /// A file that is there, cut off behind its first `length` bytes, which are whole.
    pub fn reopen(path: &Path, length: u64) -> io::Result<Self> {
        Self::over(open_regular(path, OpenOptions::new().append(true))?, length)
    }

    /// The same with one that is open to be appended to.
    pub(super) fn over(file: File, length: u64) -> io::Result<Self> {
        if file.metadata()?.len() != length {
            file.set_len(length)?;
            file.sync_all()?;
        }
        Ok(Self(file))
    }
}

impl Disk for FileDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn length(&self) -> io::Result<Option<u64>> {
        self.0.metadata().map(|held| Some(held.len()))
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.sync_all()
    }
}

/// Forgets everything, for what ends with the process anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryDisk;

impl Disk for MemoryDisk {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}
