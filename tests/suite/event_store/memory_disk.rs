//! A disk in memory whose process can be killed at any operation, and that can be full.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use fabdeck::system::store_disk::StoreDisk;

#[derive(Debug, Default)]
pub struct MemoryFiles {
    pub files: BTreeMap<String, Vec<u8>>,
    /// Operations that still work; the process is killed in the one after them.
    pub fuse: Option<usize>,
    /// The part of an append that is written when the process is killed, in percent.
    pub torn: usize,
    pub is_dead: bool,
    /// Most bytes of all files.
    pub room: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<MemoryFiles>>);

impl MemoryStore {
    pub fn lock(&self) -> MutexGuard<'_, MemoryFiles> {
        self.0.lock().unwrap()
    }

    pub fn bytes(&self) -> usize {
        self.lock().files.values().map(Vec::len).sum()
    }
}

impl MemoryFiles {
    /// Counts an operation; returns whether the process is killed in it.
    fn step(&mut self) -> io::Result<bool> {
        if self.is_dead {
            return Err(io::Error::other("the process is gone"));
        }
        self.is_dead = self.fuse == Some(0);
        self.fuse = self.fuse.map(|fuse| fuse.saturating_sub(1));
        Ok(self.is_dead)
    }

    fn free(&self) -> usize {
        let used: usize = self.files.values().map(Vec::len).sum();
        self.room.map_or(usize::MAX, |room| room.saturating_sub(used))
    }
}

fn killed<T>() -> io::Result<T> {
    Err(io::Error::other("killed"))
}

impl StoreDisk for MemoryStore {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.lock().files.keys().cloned().collect())
    }

    fn read(&self, name: &str, from: u64) -> io::Result<Vec<u8>> {
        let files = self.lock();
        let bytes = files.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(bytes[(from as usize).min(bytes.len())..].to_vec())
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        self.read(name, 0).map(|bytes| bytes.len() as u64)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.lock();
        let is_killed = files.step()?;
        let mut fits = bytes.len().min(files.free());
        if is_killed {
            fits = fits.min(bytes.len() * files.torn / 100);
        }
        files.files.entry(name.to_owned()).or_default().extend_from_slice(&bytes[..fits]);
        match () {
            () if is_killed => killed(),
            () if fits < bytes.len() => Err(io::ErrorKind::StorageFull.into()),
            () => Ok(()),
        }
    }

    fn cut(&mut self, name: &str, length: u64) -> io::Result<()> {
        let mut files = self.lock();
        if files.step()? {
            return killed();
        }
        files.files.entry(name.to_owned()).or_default().truncate(length as usize);
        Ok(())
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.lock();
        let is_killed = files.step()?;
        if files.free() < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if !is_killed || files.torn >= 50 {
            files.files.insert(name.to_owned(), bytes.to_vec());
        }
        if is_killed { killed() } else { Ok(()) }
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        let mut files = self.lock();
        if files.step()? {
            return killed();
        }
        files.files.remove(name);
        Ok(())
    }
}
