//! What operations need besides their request: access to the system, and the options of flags and configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::preview::assume::assume;
use crate::system::access::{SourceOptions, SystemAccess};
use crate::system::phase::Phase;
use fabdeck_change::{BeginRecord, ChangeStore, ChangedPathBits, Rights, path_bits_in_force};
use fabdeck_fabric::counters::{Thresholds, WireThresholds};
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{HostRules, NameMap};
use fabdeck_files::cabling::CablingPlan;
use fabdeck_live::{WriteRight, is_live, socket_of};
use fabdeck_mad::access::Source;
use fabdeck_routing::Engine;

/// State folder of the machine. Changes of live fabrics have one owner, and other users ask the guards.
pub const MACHINE_FOLDER: &str = "/var/lib/fabdeck";

/// Options from flags and the configuration, each resolved once.
#[derive(Clone, Debug, Default)]
pub struct OperationOptions {
    pub source: Option<String>,
    pub reach: SourceOptions,
    pub right: WriteRight,
    pub node_name_map: Option<PathBuf>,
    /// The sheet of labels and places.
    pub labels: Option<PathBuf>,
    /// The plan of the cabling that findings are made with.
    pub cabling: Option<PathBuf>,
    /// Rules from names of adapters to hosts.
    pub host_rules: HostRules,
    /// The engine whose tables are assumed if the source has none.
    pub assume: Option<&'static Engine>,
    /// Thresholds of the verdicts on counters.
    pub thresholds: Thresholds,
    /// Limits of the wire verdict.
    pub wire_thresholds: WireThresholds,
    /// Number of data lanes that is assumed of adapters without a known number.
    pub supposed_lanes: Option<u8>,
    /// Whether answers and plans are to have no times.
    pub no_times: bool,
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
    pub given: &'a OperationOptions,
}

impl<'a> Env<'a> {
    /// The source from `--source` or the configuration; an operation never picks one by itself.
    pub fn named_source(self) -> Result<&'a str, Failure> {
        self.given.source.as_deref().ok_or_else(|| {
            Failure::usage(
                "FD-7201: no source is named; give one with --source (sim:demo, sim:kary,k=4,n=3, site.topo, a folder \
                 of dumps) or as 'source = \"...\"' in the configuration; `fabdeck sources` lists some",
            )
        })
    }

    /// Opens a source with the options of live sources.
    pub fn open_source(self, source: &str) -> Result<Box<dyn Source>, Failure> {
        Ok(self.outside.open(source, &self.given.reach)?)
    }

    pub fn open_named_source(self) -> Result<Box<dyn Source>, Failure> {
        self.open_source(self.named_source()?)
    }

    /// Applies `--assume` to a snapshot that may lack tables.
    pub fn assume(self, snapshot: &mut Snapshot) -> Result<(), Failure> {
        match self.given.assume {
            Some(engine) => Ok(Phase::time("assumed tables", || assume(snapshot, engine))?),
            None => Ok(()),
        }
    }

    /// The state folders in which changes are looked for.
    pub fn state_folders(self) -> Vec<PathBuf> {
        let usual =
            || [Some(MACHINE_FOLDER.into()), self.outside.user_state()].into_iter().flatten().collect();
        self.given.state_dir.clone().map_or_else(usual, |folder| vec![folder])
    }

    /// What hosts of a live fabric add to base LIDs since its last change; the one with the id `except` does not count.
    /// A recording or a file has no changes, and those of a simulator in this process end with it.
    pub fn changed_path_bits(
        self,
        source: &str,
        look: &Snapshot,
        except: Option<&str>,
    ) -> Option<ChangedPathBits> {
        if !look.fabric().has_several_lids() || !is_live(source) || self.outside.is_own_simulator(source) {
            return None;
        }
        let here = BeginRecord {
            simulator: simulator_socket(source).ok()?,
            switches: switch_guids(look),
            ..BeginRecord::default()
        };
        let homes: Vec<ChangeStore> =
            self.state_folders().iter().map(|folder| ChangeStore::open_existing(folder)).collect();
        path_bits_in_force(&homes, &here, look.fabric(), except)
    }

    /// The operator's names.
    pub fn operator_names(self) -> Result<(NameMap, Notes), Failure> {
        let (mut own, mut notes) = match &self.given.node_name_map {
            None => (NameMap::default(), Notes::new()),
            Some(file) => self.outside.names(file)?,
        };
        if let Some(file) = &self.given.labels {
            let (labels, of_sheet) = self.outside.labels(file)?;
            own.labels = labels;
            notes.extend(of_sheet);
        }
        own.hosts.clone_from(&self.given.host_rules);
        Ok((own, notes))
    }

    /// The plan of the cabling, where one is given.
    pub fn cabling_plan(self) -> Result<Option<Arc<CablingPlan>>, Failure> {
        let file = self.given.cabling.as_deref();
        Ok(file.map(|file| self.outside.cabling_plan(file)).transpose()?.map(Arc::new))
    }

    /// A snapshot of an observation, with the operator's names.
    pub fn snapshot_of(self, source: &str, mut observation: Observation) -> Result<Snapshot, Failure> {
        let (own, notes) = self.operator_names()?;
        observation.notes.extend(notes);
        let mut snapshot = Phase::time("names", || Snapshot::new(source, observation, &own));
        snapshot.wire_thresholds = self.given.wire_thresholds;
        snapshot.cabling_plan = self.cabling_plan()?;
        snapshot.changed_path_bits = self.changed_path_bits(source, &snapshot, None);
        Ok(snapshot)
    }

    /// How the fabric of a change is reached, with the right to write to it. That right was given when the change
    /// began; undoing the change needs no new one, whatever this process's configuration says.
    pub fn guard_access(self, begun: &BeginRecord) -> (SourceOptions, WriteRight) {
        let mkey_file = self.given.mkey_file.clone().or_else(|| begun.mkey_file.as_ref().map(PathBuf::from));
        let reach = SourceOptions { at: None, mkey_file, traps: false, ..self.given.reach.clone() };
        let switches = begun.switches.iter().filter_map(|guid| guid.parse().ok()).collect();
        (reach, WriteRight { asked: true, opted_in: self.given.right.opted_in.clone(), begun: switches })
    }
}

/// A path that means the same file in other working folders.
pub fn absolute_path(path: PathBuf) -> String {
    std::fs::canonicalize(&path).unwrap_or(path).display().to_string()
}

/// Path of the simulator's socket in a source, as journals store it.
pub fn simulator_socket(source: &str) -> Result<Option<String>, Failure> {
    let Some(words) = source.strip_prefix("sim:") else { return Ok(None) };
    Ok(socket_of(words)?.map(|(path, _)| absolute_path(path)))
}

/// GUIDs of the switches, which identify a fabric.
pub fn switch_guids(look: &Snapshot) -> BTreeSet<String> {
    look.fabric().switches().map(|(_, node)| node.guid().to_string()).collect()
}
