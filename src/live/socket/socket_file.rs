//! The socket file: it is created for the operator only, never over another file, and removed at the end.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fabdeck_mad::access::SourceError;

/// Longest path of a socket in bytes.
const PATH_MAX: usize = 107;
/// Timeout for connecting, which takes long only if the listener hangs with a full queue.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often `accept` returns to let the listener check for its end.
const ACCEPT_TIMEOUT: Duration = Duration::from_millis(100);

/// Why a fabric cannot be served at a path.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("FD-4320: another process listens on '{}' already; choose another path, or end that server", .0.display())]
    InUse(PathBuf),
    #[error("FD-4321: '{}' exists and is not a socket; choose another path", .0.display())]
    NoSocket(PathBuf),
    #[error("FD-4322: no socket can be made at '{}': {why}; choose a folder of this machine that you may write to", path.display())]
    NotMade { path: PathBuf, why: io::Error },
    #[error(
        "FD-4323: '{}' is too long for a socket, whose path has at most {PATH_MAX} bytes, some of them for a folder in \
         which it is made; choose a shorter one", .0.display()
    )]
    TooLong(PathBuf),
    #[error(
        "FD-4324: '{}' is a socket that cannot be asked whether it is in use: {why}; choose another path", path.display()
    )]
    Foreign { path: PathBuf, why: io::Error },
}

impl From<ServeError> for SourceError {
    fn from(error: ServeError) -> Self {
        let code = match error {
            ServeError::InUse(_) => "FD-4320",
            ServeError::NoSocket(_) => "FD-4321",
            ServeError::NotMade { .. } => "FD-4322",
            ServeError::TooLong(_) => "FD-4323",
            ServeError::Foreign { .. } => "FD-4324",
        };
        let text = error.to_string();
        let text = text.strip_prefix(code).and_then(|text| text.strip_prefix(": ")).unwrap_or(&text);
        let (what, hint) = text.rsplit_once("; ").unwrap_or((text, "choose another path"));
        let (what, hint) = (what.to_owned(), hint.to_owned());
        match error {
            ServeError::NotMade { .. } => Self::Unreachable { code, what, hint },
            _ => Self::Name { code, what, hint },
        }
    }
}

/// The file of a listener. Dropping it removes the file, unless another file is there by then.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    id: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if file_identity(&self.path).is_ok_and(|id| id == self.id) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    let about = fs::symlink_metadata(path)?;
    Ok((about.dev(), about.ino()))
}

/// Listens at a path. The socket is created in a folder that only its owner can enter, gets its mode there, and is then
/// linked to its path. So no other user can connect at any moment, whatever the umask is. A link never replaces a file,
/// so one of two servers that start at once fails.
pub fn bind_socket(path: &Path) -> Result<(UnixListener, SocketFile), ServeError> {
    let not_made = |why| ServeError::NotMade { path: path.to_owned(), why };
    let place = std::path::absolute(path).map_err(not_made)?;
    let nursery = PrivateFolder::beside(path).map_err(not_made)?;
    let born = nursery.0.join("s");
    if path.as_os_str().len().max(born.as_os_str().len()) > PATH_MAX {
        return Err(ServeError::TooLong(path.to_owned()));
    }
    let listener = UnixListener::bind(&born).map_err(not_made)?;
    fs::set_permissions(&born, Permissions::from_mode(0o600)).map_err(not_made)?;
    let id = file_identity(&born).map_err(not_made)?;
    match fs::hard_link(&born, &place) {
        Err(why) if why.kind() == ErrorKind::AlreadyExists => {
            clear_stale(path, &place, &nursery)?;
            fs::hard_link(&born, &place).map_err(|why| match why.kind() {
                ErrorKind::AlreadyExists => ServeError::InUse(path.to_owned()),
                _ => not_made(why),
            })?;
        }
        linked => linked.map_err(not_made)?,
    }
    let file = SocketFile { path: place, id };
    let listener = with_accept_timeout(listener).map_err(not_made)?;
    Ok((listener, file))
}

/// A folder for the owner only, removed when dropped.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn beside(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(path);
        let mut tried = 0u32;
        loop {
            let path = folder.join(format!(".fd{}", std::process::id().wrapping_add(tried)));
            match DirBuilder::new().mode(0o700).create(&path) {
                // A killed process left the folder behind, or another thread of this process uses it.
                Err(why) if why.kind() == ErrorKind::AlreadyExists && tried < 100 => tried += 1,
                made => return made.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        for name in ["s", "old"] {
            let _ = fs::remove_file(self.0.join(name));
        }
        let _ = fs::remove_dir(&self.0);
    }
}

/// Removes a socket without a listener. The socket is moved aside and tested once more, so that a server which started
/// in between gets its file back.
fn clear_stale(path: &Path, place: &Path, nursery: &PrivateFolder) -> Result<(), ServeError> {
    check_stale(path, place)?;
    let aside = nursery.0.join("old");
    if let Err(why) = fs::rename(place, &aside) {
        // Another process has removed the socket already.
        let gone = why.kind() == ErrorKind::NotFound;
        return if gone { Ok(()) } else { Err(ServeError::NotMade { path: path.to_owned(), why }) };
    }
    let asked = check_stale(path, &aside);
    if asked.is_err() {
        let _ = fs::hard_link(&aside, place);
    }
    asked
}

/// Refuses where something other than a socket lies at `at`, or where a server listens at it.
fn check_stale(path: &Path, at: &Path) -> Result<(), ServeError> {
    let about = match fs::symlink_metadata(at) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
        about => about.map_err(|why| ServeError::NotMade { path: path.to_owned(), why })?,
    };
    if !about.file_type().is_socket() {
        return Err(ServeError::NoSocket(path.to_owned()));
    }
    match connect_with_timeout(at) {
        Ok(_) => Err(ServeError::InUse(path.to_owned())),
        Err(why) if why.kind() == ErrorKind::ConnectionRefused => Ok(()),
        Err(why) if why.kind() == ErrorKind::TimedOut => Err(ServeError::InUse(path.to_owned())),
        Err(why) => Err(ServeError::Foreign { path: path.to_owned(), why }),
    }
}

/// Connects within a timeout. The queue of a listener that hangs fills, and then `connect` blocks.
pub fn connect_with_timeout(path: &Path) -> io::Result<UnixStream> {
    let (sender, connected) = mpsc::channel();
    let path = path.to_owned();
    thread::Builder::new().spawn(move || sender.send(UnixStream::connect(path)))?;
    connected.recv_timeout(CONNECT_TIMEOUT).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Gives `accept` a timeout. The option applies to all sockets, but the library offers it only for streams.
fn with_accept_timeout(listener: UnixListener) -> io::Result<UnixListener> {
    let socket = UnixStream::from(OwnedFd::from(listener));
    socket.set_read_timeout(Some(ACCEPT_TIMEOUT))?;
    Ok(UnixListener::from(OwnedFd::from(socket)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(refused: Result<(UnixListener, SocketFile), ServeError>) -> String {
        let SourceError::Name { code, .. } = SourceError::from(refused.unwrap_err()) else { panic!() };
        code.to_owned()
    }

    #[test]
    fn the_socket_is_its_owners_alone_and_goes_with_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let (listener, file) = bind_socket(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the nursery is gone");
        let waiting = listener.accept().unwrap_err();
        assert_eq!(waiting.kind(), ErrorKind::WouldBlock);
        UnixStream::connect(&path).unwrap();
        listener.accept().unwrap();
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_live_server_keeps_its_path_and_a_dead_one_loses_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let live = UnixListener::bind(&path).unwrap();
        assert_eq!(code(bind_socket(&path)), "FD-4320");
        drop(live);
        assert!(path.exists());
        bind_socket(&path).unwrap();
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "letter").unwrap();
        assert_eq!(code(bind_socket(&path)), "FD-4321");
        let link = folder.path().join("l");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert_eq!(code(bind_socket(&link)), "FD-4321");
        assert_eq!(code(bind_socket(folder.path())), "FD-4321");
        assert_eq!(fs::read_to_string(&path).unwrap(), "letter");
        let datagrams = folder.path().join("d");
        let _other = std::os::unix::net::UnixDatagram::bind(&datagrams).unwrap();
        assert_eq!(code(bind_socket(&datagrams)), "FD-4324");
        assert!(datagrams.exists() && fs::symlink_metadata(&link).is_ok());
    }

    #[test]
    fn folders_that_are_not_there_and_paths_that_are_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let absent = bind_socket(&folder.path().join("absent/s")).unwrap_err();
        assert!(absent.to_string().starts_with("FD-4322: no socket can be made at"), "{absent}");
        let long = bind_socket(&folder.path().join("s".repeat(120))).unwrap_err();
        assert!(long.to_string().contains("too long for a socket"), "{long}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_another_put_there_stays_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let (_listener, file) = bind_socket(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "other").unwrap();
        drop(file);
        assert!(path.exists());
    }
}
