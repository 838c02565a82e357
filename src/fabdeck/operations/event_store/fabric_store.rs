//! The folders of stores, one for each fabric: which fabric a store is of, and which watch writes to it.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use fabdeck_change::{LocalSystem, OpenFile, OpenMode, System, have_most_in_common};
use serde::{Deserialize, Serialize};

use super::store_error::StoreError;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::{Env, simulator_socket, switch_guids};
use crate::system::store_disk::{FolderDisk, StoreDisk};

const SCHEMA: &str = "fabdeck.watched-fabric/1";
const FABRIC_FILE: &str = "fabric";
const LOCK_FILE: &str = "lock";
/// The folder of all stores in a state folder.
const STORES: &str = "watch";
/// A larger file was not written by fabdeck.
const MAX_FABRIC_BYTES: u64 = 16 << 20;

/// What identifies a fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WatchedFabricIdentity {
    schema: String,
    /// The source that was watched last.
    pub source: String,
    /// The simulator, for a fabric that is simulated.
    pub simulator: Option<String>,
    /// GUIDs of the switches, or of all nodes where there is no switch.
    pub nodes: BTreeSet<String>,
}

impl WatchedFabricIdentity {
    /// The identity of the fabric of a source.
    pub fn of(env: Env<'_>, look: &Snapshot) -> Result<Self, Failure> {
        let source = env.named_source()?;
        let own = || env.outside.is_own_simulator(source).then(|| source.to_owned());
        let simulator = simulator_socket(source)?.or_else(own);
        let mut nodes = switch_guids(look);
        if nodes.is_empty() {
            nodes = look.fabric().nodes().map(|(_, node)| node.guid().to_string()).collect();
        }
        Ok(Self { schema: SCHEMA.to_owned(), source: source.to_owned(), simulator, nodes })
    }

    fn is_same_fabric(&self, other: &Self) -> bool {
        self.simulator == other.simulator && have_most_in_common(&self.nodes, &other.nodes)
    }
}

/// The store of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FabricStore {
    pub folder: PathBuf,
    pub identity: WatchedFabricIdentity,
}

impl FabricStore {
    /// The stores of a state folder, in the order of their names.
    fn list_in(state: &Path) -> io::Result<Vec<Self>> {
        let mut folders = match LocalSystem.list_folder(&state.join(STORES)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed?,
        };
        folders.sort();
        let mut stores = Vec::new();
        for folder in folders {
            let read = LocalSystem
                .open(&folder.join(FABRIC_FILE), OpenMode::Read)
                .and_then(|file| file.read(MAX_FABRIC_BYTES));
            let bytes = match read {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                read => read?,
            };
            if let Ok(identity) = serde_json::from_slice::<WatchedFabricIdentity>(&bytes) {
                stores.push(Self { folder, identity });
            }
        }
        Ok(stores)
    }

    /// The stores of all state folders, and why others cannot be read.
    pub fn list_all(env: Env<'_>) -> (Vec<Self>, Vec<String>) {
        let (mut stores, mut unread) = (Vec::new(), Vec::new());
        for state in env.state_folders() {
            match Self::list_in(&state) {
                Ok(found) => stores.extend(found),
                Err(error) => unread.push(format!("{}: {error}", state.join(STORES).display())),
            }
        }
        (stores, unread)
    }

    /// The store of the fabric of a snapshot, where there is one that can be read.
    pub fn find(env: Env<'_>, look: &Snapshot) -> Option<Self> {
        let identity = WatchedFabricIdentity::of(env, look).ok()?;
        let (stores, _) = Self::list_all(env);
        stores.into_iter().find(|store| store.identity.is_same_fabric(&identity))
    }

    /// Finds or makes the store of a fabric in a state folder.
    pub fn open(state: &Path, identity: WatchedFabricIdentity) -> Result<Self, StoreError> {
        let place = state.join(STORES);
        let failed = |error| StoreError::Disk { place: place.display().to_string(), what: "made", error };
        LocalSystem.make_folders(state).map_err(failed)?;
        make_folder(&place).map_err(failed)?;
        let stores = Self::list_in(state).map_err(failed)?;
        let found = stores.into_iter().find(|store| store.identity.is_same_fabric(&identity));
        let folder = match found {
            Some(store) => store.folder,
            None => {
                let lowest = identity.nodes.first().cloned().unwrap_or_default();
                let free = |number: u32| match number {
                    0 => place.join(&lowest),
                    number => place.join(format!("{lowest}-{number}")),
                };
                // Of another simulator, or of a fabric with other switches.
                let taken = |folder: &PathBuf| folder.join(FABRIC_FILE).exists();
                (0..).map(free).find(|folder| !taken(folder)).unwrap_or_else(|| place.join(&lowest))
            }
        };
        make_folder(&folder).map_err(failed)?;
        Ok(Self { folder, identity })
    }

    pub fn place(&self) -> String {
        self.folder.display().to_string()
    }

    /// The name by which commands choose it.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Takes the lock of the store and writes down which fabric it is of. One watch at a time has the lock.
    pub fn lock(&self) -> Result<(FolderDisk, StoreLock), StoreError> {
        let failed = |error| StoreError::Disk { place: self.place(), what: "locked", error };
        let path = self.folder.join(LOCK_FILE);
        let file = LocalSystem.open(&path, OpenMode::AppendOrMake).map_err(failed)?;
        match file.try_lock(false) {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => {
                let holder = file.lock_holder().map_err(failed)?.to_string();
                return Err(StoreError::Taken { place: self.place(), holder });
            }
        }
        let mut disk = FolderDisk::new(&self.folder);
        let json = serde_json::to_vec(&self.identity).map_err(|error| failed(error.into()))?;
        if disk.read(FABRIC_FILE, 0).ok().is_none_or(|held| held != json) {
            disk.replace(FABRIC_FILE, &json).map_err(failed)?;
        }
        Ok((disk, StoreLock(file)))
    }
}

/// The lock of a store, which ends with this value and with the process.
#[derive(Debug)]
pub struct StoreLock(
    #[expect(dead_code, reason = "the lock is held as long as the file is open")] Box<dyn OpenFile>,
);

fn make_folder(folder: &Path) -> io::Result<()> {
    match LocalSystem.make_folder(folder, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
