//! Compares the confirmed changes of a source's fabric with that fabric, for commands, runbooks and the console.

use std::collections::BTreeMap;

use super::home;
use super::means::Means;
use super::prepared::{simulator, switches};
use super::verified::hides;
use crate::script::{Exit, Failure};
use crate::session::{ChangeRow, Look, named_now};
use fabdeck_change::{
    Attestation, Begun, Compared, History, Phase, Plan, Told, Verdict, attest, in_order_of_writing,
    stands_against,
};
use fabdeck_mad::access::{Device, Registered, Surveyor, Wanted, Watch};

/// Result of the comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Whether a node of the fabric did not answer.
    pub partial: bool,
    /// Verdict of each confirmed change, by its id.
    pub by_change: BTreeMap<String, Attestation>,
    /// A pending change of another machine, as the subnet manager has it registered.
    pub pending_elsewhere: Option<String>,
}

impl Comparison {
    /// Adds the verdicts to the rows of changes.
    pub fn note_in(&self, rows: &mut [ChangeRow]) {
        for row in rows {
            row.comparison = self.by_change.get(&row.id).cloned();
        }
    }

    /// Exit code of a command that compares changes.
    pub fn exit(&self) -> Exit {
        let found = |verdict: Verdict| self.by_change.values().any(|change| change.verdict == verdict);
        match () {
            () if found(Verdict::NoLongerStands) => Exit::Stale,
            () if found(Verdict::NotKnown) => Exit::Unreachable,
            () => Exit::Done,
        }
    }
}

/// A change, with its plan if the plan can be read.
pub type Planned = (Told, Option<Plan>);

/// Compares the confirmed changes in the state folders with the fabric of a source.
pub fn compare(means: Means<'_>, source: &str, watch: &mut dyn Watch) -> Result<Comparison, Failure> {
    // A simulator of this process starts with the command, so no folder has a change of it.
    if means.outside.is_own_simulator(source) {
        return Ok(Comparison::default());
    }
    let (mut surveyor, look) = look(means, source, watch)?;
    let here = Begun { simulator: simulator(source)?, switches: switches(&look), ..Begun::default() };
    let changes = changes_of(means, &here);
    let comparison = compare_with(surveyor.as_mut(), &look, changes, watch)?;
    Ok(Comparison { pending_elsewhere: pending_elsewhere(means, &surveyor.registered()), ..comparison })
}

/// A pending change that another machine has registered. Changes of this machine's folders are in the list of changes
/// anyway.
pub fn pending_elsewhere(means: Means<'_>, found: &Registered) -> Option<String> {
    let is_own = matches!(found, Registered::One(one) if home::find(means, &one.change).is_ok());
    stands_against(found, "").filter(|_| !is_own)
}

/// Compares the changes of a simulator in this process with it; the history is in the order of the changes.
pub fn compare_own(
    means: Means<'_>,
    source: &str,
    history: Vec<Told>,
    watch: &mut dyn Watch,
) -> Result<Comparison, Failure> {
    let (mut surveyor, look) = look(means, source, watch)?;
    let changes = history.into_iter().map(|told| (told, None)).collect();
    compare_with(surveyor.as_mut(), &look, changes, watch)
}

fn look(means: Means<'_>, source: &str, watch: &mut dyn Watch) -> Result<(Box<dyn Surveyor>, Look), Failure> {
    let mut surveyor = means.outside.surveyor(source, &means.given.reach)?;
    let observed = surveyor.look(Wanted::default(), watch)?;
    let look = means.look_of(source, observed)?;
    Ok((surveyor, look))
}

/// All readable changes of the fabric in the order of their writes. The list of changes reports the unreadable ones.
fn changes_of(means: Means<'_>, here: &Begun) -> Vec<Planned> {
    let open = home::all(means).into_iter().filter(|home| !home.is_closed());
    let mut plans = BTreeMap::new();
    let folders = open.filter_map(|home| home.all().ok()).map(|all| {
        let ours = all.into_iter().flatten().filter(|kept| kept.read.told.begun.is_of_fabric_of(here));
        let folder: History = ours
            .map(|kept| {
                let is_confirmed = kept.read.told.phase == Phase::Confirmed;
                let plan = is_confirmed.then(|| kept.plan_begun().ok()).flatten();
                plans.insert(kept.read.told.begun.id.clone(), plan);
                kept.read.told
            })
            .collect();
        folder
    });
    let folders = folders.collect();
    let history = in_order_of_writing(folders);
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
    look: &Look,
    changes: Vec<Planned>,
    watch: &mut dyn Watch,
) -> Result<Comparison, Failure> {
    let (history, plans): (History, Vec<Option<Plan>>) = changes.into_iter().unzip();
    let known = |key: &str| {
        let plan = plans.iter().rev().flatten().find(|plan| plan.names.contains_key(key));
        plan.map(|plan| plan.named(key))
    };
    let name = |device: Device| {
        let key = device.key();
        named_now(look, &key).or_else(|| known(&key)).unwrap_or_else(|| device.to_string())
    };
    let partial = hides(&look.observation);
    let compared = Compared { surveyor, look: &look.observation, is_partial: partial, name: &name };
    let manager = look.manager().map(|guid| guid.to_string());
    let attested = attest(compared, &history, watch)?.into_iter().map(|(at, mut attestation)| {
        let before = plans[at].as_ref().and_then(|plan| plan.fingerprint.subnet_manager.clone());
        attestation.manager_before = before.filter(|before| Some(before) != manager.as_ref());
        (history[at].begun.id.clone(), attestation)
    });
    Ok(Comparison { partial, by_change: attested.collect(), pending_elsewhere: None })
}
