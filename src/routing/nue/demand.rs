//! What is sent to LIDs, where that is not the same of all.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Of some LIDs, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    of: FxHashMap<u32, (u32, Arc<[u32]>)>,
}

impl Demand {
    /// Adds a LID with the paths that each switch sends to it; of the LIDs behind a switch the lowest turn goes first.
    pub(crate) fn add(&mut self, lid: u32, turn: u32, senders: Arc<[u32]>) {
        self.of.insert(lid, (turn, senders));
    }

    /// Those of which nothing is said go last.
    pub fn turn(&self, lid: u32) -> u32 {
        self.of.get(&lid).map_or(u32::MAX, |(turn, _)| *turn)
    }

    pub fn senders(&self, lid: u32) -> Option<Arc<[u32]>> {
        self.of.get(&lid).map(|(_, senders)| senders.clone())
    }
}
