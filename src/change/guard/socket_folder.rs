//! The folder of the guards' sockets. Other users can enter it, and only its owner can write in it. The name of a
//! socket is the id of its change, so `confirm ID` finds it without reading the state folder.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::system::{FileKind, System};
use crate::user_names;

/// The mode bits with which other users write.
const WRITE_BY_OTHERS: u32 = 0o022;
/// Largest number of entries that are read from a folder.
const MAX_SOCKETS: usize = 4096;

/// The path of a change's socket.
pub fn socket_path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.sock"))
}

/// Creates the folder for a guard's socket. A folder in which other users could replace the socket is an error.
pub fn make_folder(system: &dyn System, folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        system.make_folders(parent)?;
    }
    match system.make_folder(folder, 0o755) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let held = system.symlink_metadata(folder)?;
    if held.kind != FileKind::Folder || held.user != system.user() || held.mode & WRITE_BY_OTHERS != 0 {
        let what = format!(
            "{} must be a folder that the guard's user owns and no other user can write in",
            folder.display()
        );
        return Err(io::Error::other(what));
    }
    Ok(())
}

/// The ids and sockets of the changes in a folder of sockets. Only sockets of the folder's owner count, who must be root
/// or own the state folder: below `/tmp` any user can make a missing folder, and guards of their own in it.
pub fn list_sockets(folder: &Path, state_folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    const ROOT: u32 = 0;
    let held = fs::symlink_metadata(folder)?;
    let owner = held.uid();
    let is_owners = owner == ROOT || fs::metadata(state_folder).is_ok_and(|held| held.uid() == owner);
    if !is_owners || !held.is_dir() || held.mode() & WRITE_BY_OTHERS != 0 {
        let user = user_names::user_label(owner);
        let what = format!(
            "it belongs to {user} (mode {:o}), and must be a folder of root or of the state folder's owner in which no other \
             user can write",
            held.mode() & 0o7777
        );
        return Err(io::Error::other(what));
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)?.take(MAX_SOCKETS) {
        let path = entry?.path();
        let name =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".sock"));
        let (Some(id), Ok(held)) = (name, fs::symlink_metadata(&path)) else { continue };
        if held.uid() == owner {
            found.push((id.to_owned(), path.clone()));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::LocalSystem;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn sockets_are_listed_by_the_ids_of_their_changes() {
        let home = tempfile::tempdir().unwrap();
        let sockets = home.path().join("sockets");
        make_folder(&LocalSystem, &sockets).unwrap();
        for id in ["b2", "a1"] {
            fs::write(socket_path(&sockets, id), "").unwrap();
        }
        fs::write(sockets.join("notes.txt"), "").unwrap();
        let found = list_sockets(&sockets, home.path()).unwrap();
        assert_eq!(found, ["a1", "b2"].map(|id| (id.to_owned(), socket_path(&sockets, id))));
        fs::set_permissions(&sockets, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(list_sockets(&sockets, home.path()).unwrap_err().to_string().contains("mode 777"));
    }
}
