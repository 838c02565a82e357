//! The file under a journal: a crash may lose what was appended and not yet synced.

use std::io;
use std::path::Path;

use crate::system::{OpenFile, OpenMode, System};

/// A file that is only appended to. Tests use disks that fail.
pub trait Disk: Send {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Flushes to disk: what was appended survives a crash of the machine once this returns.
    fn sync(&mut self) -> io::Result<()>;

    /// The present length of the file, where another process may append to it too.
    fn length(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// Truncates the file to its first `length` bytes, durably once this returns.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// A file of the operating system.
#[derive(Debug)]
pub struct FileDisk(Box<dyn OpenFile>);

impl FileDisk {
    /// Creates a file in an existing folder. The entry of the folder is synced too.
    pub fn create(system: &dyn System, path: &Path) -> io::Result<Self> {
        let file = system.open(path, OpenMode::Make)?;
        if let Some(folder) = path.parent() {
            system.sync_folder(folder)?;
        }
        Ok(Self(file))
    }

    /// Takes a file that is open for appending, and truncates it to its first `length` bytes, which are valid.
    pub(crate) fn resume(file: Box<dyn OpenFile>, length: u64) -> io::Result<Self> {
        if file.status()?.length != length {
            file.set_length(length)?;
            file.sync()?;
        }
        Ok(Self(file))
    }
}

impl Disk for FileDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn length(&self) -> io::Result<Option<u64>> {
        self.0.status().map(|held| Some(held.length))
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_length(length)?;
        self.0.sync()
    }
}

/// Stores nothing, for changes that end with their process.
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
