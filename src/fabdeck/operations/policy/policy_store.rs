//! What a policy remembers over restarts of the watch: the links that it took out, beside the store of the fabric. The file
//! is replaced as a whole before a change exists and after it ended, so a kill leaves a state that the journal completes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::link_decisions::{IsolatedLink, PolicyState};
use crate::operations::event_store::stored_batch::LinkEnds;
use crate::system::state_lines::{read_lines, replace_lines};

const FILE_NAME: &str = "policy";

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
enum PolicyRecord {
    Link { link: IsolatedLink },
    Begun { time_ms: i64 },
    Held { ends: LinkEnds, until_ms: i64 },
    Done { change: String },
}

/// The file of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyStore(PathBuf);

impl PolicyStore {
    /// `folder`: the store of the fabric.
    pub fn in_folder(folder: &Path) -> Self {
        Self(folder.join(FILE_NAME))
    }

    pub fn place(&self) -> String {
        self.0.display().to_string()
    }

    pub fn load(&self) -> io::Result<PolicyState> {
        let mut state = PolicyState::default();
        for record in read_lines::<PolicyRecord>(&self.0)? {
            match record {
                PolicyRecord::Link { link } => state.isolated.push(link),
                PolicyRecord::Begun { time_ms } => state.begun_ms.push(time_ms),
                PolicyRecord::Held { ends, until_ms } => state.hold(ends, until_ms),
                PolicyRecord::Done { change } => state.history.push(change),
            }
        }
        Ok(state)
    }

    /// Stores a state durably.
    pub fn save(&self, state: &PolicyState) -> io::Result<()> {
        let links = state.isolated.iter().map(|link| PolicyRecord::Link { link: link.clone() });
        let begun = state.begun_ms.iter().map(|time_ms| PolicyRecord::Begun { time_ms: *time_ms });
        let held =
            state.held.iter().map(|(ends, until_ms)| PolicyRecord::Held { ends: *ends, until_ms: *until_ms });
        let done = state.history.iter().map(|change| PolicyRecord::Done { change: change.clone() });
        let records: Vec<PolicyRecord> = links.chain(begun).chain(held).chain(done).collect();
        replace_lines(&self.0, || records)?;
        File::open(&self.0)?.sync_all()?;
        self.0.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}
