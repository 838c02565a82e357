//! What work on changes takes, whoever does it: a command, or a console.

use std::path::PathBuf;

use crate::script::Failure;
use crate::script::open::{Outside, Reach};
use crate::session::Look;
use fabdeck_change::Rights;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{HostRules, NameMap};
use fabdeck_live::Right;

/// What flags and configuration say of it.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub reach: Reach,
    pub right: Right,
    pub node_name_map: Option<PathBuf>,
    /// How adapters tell their hosts.
    pub host_rules: HostRules,
    /// Where changes are kept, where anybody said so.
    pub state_dir: Option<PathBuf>,
    /// Where guards listen, where the configuration says so.
    pub socket_dir: Option<PathBuf>,
    /// The socket of the system log that hears how long the audit trail is.
    pub system_log: Option<PathBuf>,
    /// What other users may ask of guards of this user.
    pub rights: Rights,
    /// `--config` and `--mkey-file` as they were given, for a guard to be given them too.
    pub config: Option<PathBuf>,
    pub mkey_file: Option<PathBuf>,
}

/// That, and the world.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub outside: &'a dyn Outside,
    pub given: &'a Given,
}

impl Means<'_> {
    /// A look at something observed already, under the operator's names.
    pub fn look_of(self, source: &str, mut observation: Observation) -> Result<Look, Failure> {
        let (mut own, notes) = match &self.given.node_name_map {
            None => (NameMap::default(), Notes::new()),
            Some(file) => self.outside.names(file)?,
        };
        own.hosts.clone_from(&self.given.host_rules);
        observation.notes.extend(notes);
        Ok(Look::new(source, observation, &own))
    }
}
