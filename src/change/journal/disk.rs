//! The file under a journal: what is appended may be lost until it was synced.

use std::io;
use std::path::Path;

use crate::system::{OpenFile, OpenMode, System};

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
pub struct FileDisk(Box<dyn OpenFile>);

impl FileDisk {
    /// A new file in a folder that is there, whose entry outlives the machine too.
    pub fn create(system: &dyn System, path: &Path) -> io::Result<Self> {
        let file = system.open(path, OpenMode::Make)?;
        if let Some(folder) = path.parent() {
            system.sync_folder(folder)?;
        }
        Ok(Self(file))
    }

    /// A file that is open to be appended to, cut off behind its first `length` bytes, which are whole.
    pub(crate) fn over(file: Box<dyn OpenFile>, length: u64) -> io::Result<Self> {
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
