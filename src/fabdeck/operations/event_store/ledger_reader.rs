//! Reads the ledger of a fabric, for commands and for the cards of problems.

use std::sync::Arc;

use jiff::Timestamp;

use super::fabric_store::FabricStore;
use super::store_error::StoreError;
use super::stored_state::StoredState;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::ledger::link_ledger::LinkLedger;
use crate::system::store_disk::{FolderDisk, StoreDisk};
use fabdeck_live::is_live;

/// A ledger, and the time until which it counts.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredLedger {
    pub ledger: LinkLedger,
    /// The present. That of a simulated fabric is the time of its last event.
    pub now_ms: i64,
}

/// Reads the ledger of a store. `report` gets what is damaged.
pub(crate) fn read_ledger(
    store: &FabricStore,
    report: &mut dyn FnMut(String),
) -> Result<StoredLedger, StoreError> {
    let state = StoredState::load(&FolderDisk::new(&store.folder), &store.place(), report)?;
    let now_ms = match store.identity.simulator {
        Some(_) => state.time_ms,
        None => state.time_ms.max(Timestamp::now().as_millisecond()),
    };
    Ok(StoredLedger { ledger: state.ledger, now_ms })
}

/// The ledger that was read last, until its files change.
#[derive(Debug, Default)]
pub struct LedgerCache {
    store: Option<FabricStore>,
    /// Names and lengths of the files.
    files: Vec<(String, u64)>,
    ledger: Option<Arc<StoredLedger>>,
}

impl LedgerCache {
    /// The ledger of the fabric of a live source, where there is one that can be read.
    pub(crate) fn find(&mut self, env: Env<'_>, look: &Snapshot) -> Option<Arc<StoredLedger>> {
        if !is_live(env.given.source.as_deref()?) {
            return None;
        }
        let store = FabricStore::find(env, look)?;
        let disk = FolderDisk::new(&store.folder);
        let names = disk.list().ok()?;
        let files = names.into_iter().filter_map(|name| Some((disk.length(&name).ok()?, name)));
        let files: Vec<(String, u64)> = files.map(|(length, name)| (name, length)).collect();
        if self.store.as_ref() != Some(&store) || self.files != files {
            self.ledger = read_ledger(&store, &mut drop).ok().map(Arc::new);
            (self.store, self.files) = (Some(store), files);
        }
        self.ledger.clone()
    }
}
