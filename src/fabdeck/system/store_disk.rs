//! The files of a store: they are appended to, replaced as a whole, and deleted. What an operation wrote survives a crash of
//! the machine once the operation returns.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use fabdeck_change::{LocalSystem, OpenFile, OpenMode, System};

/// The files of one store, by their names. Tests use disks that fail.
pub trait StoreDisk: Send + Debug {
    /// The names of all files, in their order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// The bytes of a file from an offset on.
    fn read(&self, name: &str, from: u64) -> io::Result<Vec<u8>>;

    fn length(&self, name: &str) -> io::Result<u64>;

    /// Appends to a file, which is made if it is missing. A failure may leave a part of the bytes.
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file to its first bytes.
    fn cut(&mut self, name: &str, length: u64) -> io::Result<()>;

    /// Writes a file as a whole: a reader and a crash find the old bytes or the new ones.
    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    fn remove(&mut self, name: &str) -> io::Result<()>;
}

/// The files of a folder, readable for their owner alone.
#[derive(Debug)]
pub struct FolderDisk {
    folder: PathBuf,
    /// The file that was appended to last.
    open: Option<(String, Box<dyn OpenFile>)>,
}

impl FolderDisk {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn open_for_appending(&mut self, name: &str) -> io::Result<&dyn OpenFile> {
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            let path = self.path(name);
            let is_new = LocalSystem.symlink_metadata(&path).is_err();
            let file = LocalSystem.open(&path, OpenMode::AppendOrMake)?;
            if is_new {
                LocalSystem.sync_folder(&self.folder)?;
            }
            self.open = Some((name.to_owned(), file));
        }
        let open = self.open.as_ref().map(|(_, file)| &**file);
        open.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl StoreDisk for FolderDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let paths = LocalSystem.list_folder(&self.folder)?;
        let mut names: Vec<String> =
            paths.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        names.sort();
        Ok(names)
    }

    fn read(&self, name: &str, from: u64) -> io::Result<Vec<u8>> {
        LocalSystem.open(&self.path(name), OpenMode::Read)?.read_from(from, u64::MAX)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        LocalSystem.symlink_metadata(&self.path(name)).map(|status| status.length)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.open_for_appending(name)?;
        file.append(bytes)?;
        file.sync()
    }

    fn cut(&mut self, name: &str, length: u64) -> io::Result<()> {
        let file = self.open_for_appending(name)?;
        file.set_length(length)?;
        file.sync()
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.path(&format!("{name}.part"));
        let written = LocalSystem.open(&new, OpenMode::Empty).and_then(|file| {
            file.append(bytes)?;
            file.sync()
        });
        if let Err(error) = written {
            // The space that it takes is needed elsewhere.
            let _ = LocalSystem.remove(&new);
            return Err(error);
        }
        LocalSystem.rename(&new, &self.path(name))?;
        LocalSystem.sync_folder(&self.folder)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.open.take_if(|(open, _)| open == name);
        LocalSystem.remove(&self.path(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_appended_to_cut_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = FolderDisk::new(folder.path());
        disk.append("a", b"one").unwrap();
        disk.append("b", b"two").unwrap();
        disk.append("a", b"three").unwrap();
        disk.cut("a", 4).unwrap();
        disk.replace("b", b"four").unwrap();
        disk.replace("c", b"").unwrap();
        let read = |disk: &FolderDisk, name: &str| disk.read(name, 1).unwrap();
        assert_eq!((read(&disk, "a"), read(&disk, "b")), (b"net".to_vec(), b"our".to_vec()));
        disk.append("a", b"!").unwrap();
        assert_eq!(read(&disk, "a"), b"net!");
        disk.remove("a").unwrap();
        disk.append("a", b"new").unwrap();
        assert_eq!(
            (disk.list().unwrap(), read(&disk, "a")),
            (vec!["a".into(), "b".into(), "c".into()], b"ew".to_vec())
        );
    }
}
