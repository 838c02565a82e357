//! What work on changes needs, for commands and for the console.

use std::path::PathBuf;

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::system::access::{SourceOptions, SystemAccess};
use fabdeck_change::Rights;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{HostRules, NameMap};
use fabdeck_live::WriteRight;

/// Options from flags and the configuration.
#[derive(Clone, Debug, Default)]
pub struct ChangeOptions {
    pub reach: SourceOptions,
    pub right: WriteRight,
    pub node_name_map: Option<PathBuf>,
    /// Rules from names of adapters to hosts.
    pub host_rules: HostRules,
    /// State folder, if one is configured.
    pub state_dir: Option<PathBuf>,
    /// Folder of the guards' sockets, if the configuration names one.
    pub socket_dir: Option<PathBuf>,
    /// Socket of the system log, which records the length of the audit trail.
    pub system_log: Option<PathBuf>,
    /// What other users may ask the guards of this user.
    pub rights: Rights,
    /// Why the rights in the configuration are not used.
    pub rights_refused: Option<String>,
    /// `--config` and `--mkey-file` as given, to pass them on to a guard.
    pub config: Option<PathBuf>,
    pub mkey_file: Option<PathBuf>,
}

/// The options, and access to the system.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    pub outside: &'a dyn SystemAccess,
    pub given: &'a ChangeOptions,
}

impl Env<'_> {
    /// A snapshot of an observation, with the operator's names.
    pub fn snapshot_of(self, source: &str, mut observation: Observation) -> Result<Snapshot, Failure> {
        let (mut own, notes) = match &self.given.node_name_map {
            None => (NameMap::default(), Notes::new()),
            Some(file) => self.outside.names(file)?,
        };
        own.hosts.clone_from(&self.given.host_rules);
        observation.notes.extend(notes);
        Ok(Snapshot::new(source, observation, &own))
    }
}
