//! Compares the confirmed changes of a source's fabric with that fabric, for commands, runbooks and the console.

use std::collections::BTreeMap;

use super::change_row::{ChangeRow, mark_undone};
use super::change_store;
use super::verification::hides_part;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::{Env, simulator_socket, switch_guids};
use crate::operations::plans::plan_verdict::current_node_name;
use fabdeck_change::{
    Attestation, AttestationVerdict, BeginRecord, ChangeHistory, ChangePhase, ChangeState, ComparedFabric,
    Plan, compare_changes, merge_histories, registration_conflict,
};
use fabdeck_mad::access::{DeviceId, ReadObserver, ReadOptions, RegistrationLookup, Surveyor};

/// Result of the comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangeComparison {
    /// Whether a node of the fabric did not answer.
    pub partial: bool,
    /// Verdict of each confirmed change, by its id.
    pub by_change: BTreeMap<String, Attestation>,
    /// A pending change of another machine, as the subnet manager has it registered.
    pub pending_elsewhere: Option<String>,
}

impl ChangeComparison {
    /// Adds the verdicts to the rows of changes.
    pub fn annotate(&self, rows: &mut [ChangeRow]) {
        for row in &mut *rows {
            row.comparison = self.by_change.get(&row.id).cloned();
        }
        mark_undone(rows);
    }

    /// Exit code of a command that compares changes.
    pub fn exit(&self) -> Exit {
        let found =
            |verdict: AttestationVerdict| self.by_change.values().any(|change| change.verdict == verdict);
        match () {
            () if found(AttestationVerdict::NoLongerStands) => Exit::Stale,
            () if found(AttestationVerdict::NotKnown) => Exit::Unreachable,
            () => Exit::Done,
        }
    }
}

/// A change, with its plan if the plan can be read.
pub type ChangeWithPlan = (ChangeState, Option<Plan>);

/// Compares the confirmed changes in the state folders with the fabric of a source.
pub fn compare(
    means: Env<'_>,
    source: &str,
    watch: &mut dyn ReadObserver,
) -> Result<ChangeComparison, Failure> {
    // A simulator of this process starts with the command, so no folder has a change of it.
    if means.outside.is_own_simulator(source) {
        return Ok(ChangeComparison::default());
    }
    let (mut surveyor, look) = read_snapshot(means, source, watch)?;
    let here = BeginRecord {
        simulator: simulator_socket(source)?,
        switches: switch_guids(&look),
        ..BeginRecord::default()
    };
    let changes = read_changes(means, &here);
    let comparison = compare_with(surveyor.as_mut(), &look, changes, watch)?;
    Ok(ChangeComparison {
        pending_elsewhere: pending_elsewhere(means, &surveyor.read_registration()),
        ..comparison
    })
}

/// A pending change that another machine has registered. Changes of this machine's folders are in the list of changes
/// anyway.
pub fn pending_elsewhere(means: Env<'_>, found: &RegistrationLookup) -> Option<String> {
    let is_own = matches!(found, RegistrationLookup::One(one) if change_store::find_change(means, &one.change).is_ok());
    registration_conflict(found, "").filter(|_| !is_own)
}

/// Compares the changes of a simulator in this process with it; the history is in the order of the changes.
pub fn compare_in_process(
    means: Env<'_>,
    source: &str,
    history: Vec<ChangeState>,
    watch: &mut dyn ReadObserver,
) -> Result<ChangeComparison, Failure> {
    let (mut surveyor, look) = read_snapshot(means, source, watch)?;
    let changes = history.into_iter().map(|told| (told, None)).collect();
    compare_with(surveyor.as_mut(), &look, changes, watch)
}

fn read_snapshot(
    means: Env<'_>,
    source: &str,
    watch: &mut dyn ReadObserver,
) -> Result<(Box<dyn Surveyor>, Snapshot), Failure> {
    let mut surveyor = means.outside.surveyor(source, &means.given.reach)?;
    let observed = surveyor.read_fabric(ReadOptions::default(), watch)?;
    let look = means.snapshot_of(source, observed)?;
    Ok((surveyor, look))
}

/// All readable changes of the fabric in the order of their writes. The list of changes reports the unreadable ones.
fn read_changes(means: Env<'_>, here: &BeginRecord) -> Vec<ChangeWithPlan> {
    let open = change_store::open_all(means).into_iter().filter(|home| !home.is_unreadable());
    let mut plans = BTreeMap::new();
    let folders = open.filter_map(|home| home.list().ok()).map(|all| {
        let ours = all.into_iter().flatten().filter(|kept| kept.read.state.begun.is_of_fabric_of(here));
        let folder: ChangeHistory = ours
            .map(|kept| {
                let is_confirmed = kept.read.state.phase == ChangePhase::Confirmed;
                let plan = is_confirmed.then(|| kept.plan_begun().ok()).flatten();
                plans.insert(kept.read.state.begun.id.clone(), plan);
                kept.read.state
            })
            .collect();
        folder
    });
    let folders = folders.collect();
    let history = merge_histories(folders);
    history
        .into_iter()
        .map(|told| {
            let plan = plans.remove(&told.begun.id).flatten();
            (told, plan)
        })
        .collect()
}

fn compare_with(
    surveyor: &mut dyn Surveyor,
    look: &Snapshot,
    changes: Vec<ChangeWithPlan>,
    watch: &mut dyn ReadObserver,
) -> Result<ChangeComparison, Failure> {
    let (history, plans): (ChangeHistory, Vec<Option<Plan>>) = changes.into_iter().unzip();
    let known = |key: &str| {
        let plan = plans.iter().rev().flatten().find(|plan| plan.names.contains_key(key));
        plan.map(|plan| plan.node_name(key))
    };
    let name = |device: DeviceId| {
        let key = device.plan_key();
        current_node_name(look, &key).or_else(|| known(&key)).unwrap_or_else(|| device.to_string())
    };
    let partial = hides_part(&look.observation);
    let compared = ComparedFabric { surveyor, look: &look.observation, is_partial: partial, name: &name };
    let manager = look.manager().map(|guid| guid.to_string());
    let attested = compare_changes(compared, &history, watch)?.into_iter().map(|(at, mut attestation)| {
        let before = plans[at].as_ref().and_then(|plan| plan.fingerprint.subnet_manager.clone());
        attestation.manager_before = before.filter(|before| Some(before) != manager.as_ref());
        (history[at].begun.id.clone(), attestation)
    });
    Ok(ChangeComparison { partial, by_change: attested.collect(), pending_elsewhere: None })
}
