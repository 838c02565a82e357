//! What the writes of a plan do to the paths within each running job.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::catalogue::snapshot::Snapshot;
use fabdeck_change::Plan;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Fabric, Faults, JobMap, NodeId, PortId, Tables};

/// The paths within a job, before a change and after it. A pair is a port of the job and the base LID of another one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobEffect {
    pub job: String,
    pub pairs: u64,
    /// Number of pairs without a path before the change; the next field, after it.
    pub before: u64,
    pub after: u64,
    /// Number of pairs that have a path before and after, and not the same one.
    pub moved: u64,
    /// Number of pairs that lose their path with the tables before the change, and keep it with those after it, if the
    /// elements fail that the plan takes as failed.
    #[serde(default)]
    pub spared: u64,
}

impl JobEffect {
    /// Whether the job notices the change at all.
    fn is_hit(&self) -> bool {
        self.moved > 0 || self.before != self.after || self.spared > 0
    }

    /// `83 gets 23 of 90 pairs back`.
    pub fn words(&self) -> String {
        let Self { job, pairs, before, after, moved, .. } = self;
        let share = |count: u64| format!("{} of {} pairs", digits_in_groups(count), digits_in_groups(*pairs));
        match (before, after) {
            (before, after) if after > before => format!("{job} loses {}", share(after - before)),
            (before, after) if after < before => format!("{job} gets {} back", share(before - after)),
            _ => format!("{job} moves {}", share(*moved)),
        }
    }
}

/// The jobs that a plan hits on the fabric as it is: those that lose most pairs first, then those that get most back, then
/// those that keep most if the failed elements of the plan fail, then those that move most.
pub fn job_effects(look: &Snapshot, plan: &Plan, jobs: &JobMap) -> Vec<JobEffect> {
    let fabric = look.fabric();
    let faults = plan.faults(fabric);
    let before = &look.observation.tables;
    let after = plan.tables_after(fabric, before);
    let none = Faults::default();
    let follow = |faults| [before, &after].map(|tables| PathFollower { fabric, faults, tables });
    let ([old, new], supposed) = (follow(&none), (!faults.is_empty()).then(|| follow(&faults)));
    let effect = |(job, ports): (&String, &BTreeSet<PortId>)| {
        let effect = effect_on(&old, &new, job, ports);
        let spared = supposed.as_ref().map_or(0, |[old, new]| {
            let failed = effect_on(old, new, job, ports);
            failed.before.saturating_sub(failed.after)
        });
        JobEffect { spared: spared.saturating_sub(effect.before.saturating_sub(effect.after)), ..effect }
    };
    let mut hit: Vec<JobEffect> = jobs.iter().map(effect).filter(JobEffect::is_hit).collect();
    hit.sort_by_key(|job| {
        let [lost, back] = [job.after.saturating_sub(job.before), job.before.saturating_sub(job.after)];
        (Reverse((lost, back, job.spared, job.moved)), job.job.clone())
    });
    hit
}

/// The pairs of each job that have a path with the first tables and none with the second, if these elements fail.
pub(crate) fn lost_pairs_of_jobs(
    look: &Snapshot,
    tables: [&Tables; 2],
    faults: &Faults,
    jobs: &JobMap,
) -> Vec<(String, u64)> {
    let fabric = look.fabric();
    let [old, new] = tables.map(|tables| PathFollower { fabric, faults, tables });
    let lost = |(job, ports): (&String, &BTreeSet<PortId>)| {
        let effect = effect_on(&old, &new, job, ports);
        (effect.job, effect.after.saturating_sub(effect.before))
    };
    jobs.iter().map(lost).collect()
}

/// Follows the paths of a job to each of its ports. Ports at one switch share the rest of their path, so the work grows
/// with the switches of a job and not with its senders.
fn effect_on(
    old: &PathFollower<'_>,
    new: &PathFollower<'_>,
    job: &str,
    ports: &BTreeSet<PortId>,
) -> JobEffect {
    let mut effect = JobEffect { job: job.to_owned(), ..JobEffect::default() };
    let mut senders: BTreeMap<Option<NodeId>, BTreeSet<PortId>> = BTreeMap::new();
    for port in ports {
        senders.entry(old.first_switch(*port)).or_default().insert(*port);
    }
    let (mut then, mut now) = (Vec::new(), Vec::new());
    for to in ports {
        for (switch, from) in &senders {
            let count = from.len() as u64 - u64::from(from.contains(to));
            if count == 0 {
                continue;
            }
            effect.pairs += count;
            let [had, has] = match switch {
                Some(switch) => [old.follow(*switch, *to, &mut then), new.follow(*switch, *to, &mut now)],
                None => [false, false],
            };
            effect.before += if had { 0 } else { count };
            effect.after += if has { 0 } else { count };
            effect.moved += if had && has && then != now { count } else { 0 };
        }
    }
    effect
}

/// Follows tables hop by hop, over links that have not failed.
struct PathFollower<'f> {
    fabric: &'f Fabric,
    faults: &'f Faults,
    tables: &'f Tables,
}

impl PathFollower<'_> {
    fn peer(&self, port: PortId) -> Option<PortId> {
        let link = self.fabric.port(port).link?;
        self.fabric.peer(port).filter(|_| !self.faults.is_link_failed(self.fabric, link))
    }

    /// The switch at which the packets of an adapter enter the fabric.
    fn first_switch(&self, adapter: PortId) -> Option<NodeId> {
        let switch = self.fabric.port(self.peer(adapter)?).node;
        self.fabric.node(switch).is_switch().then_some(switch)
    }

    /// Follows the path from a switch to the base LID of a port; stores its egress ports. Returns false where there is
    /// no path.
    fn follow(&self, from: NodeId, to: PortId, hops: &mut Vec<PortId>) -> bool {
        hops.clear();
        let Some((lid, _)) = self.fabric.address_of(to) else { return false };
        let mut at = from;
        // A path visits no switch twice, and a longer one is a loop.
        for _ in 0..=self.fabric.switch_count() {
            let egress = self.tables.lft(at).and_then(|table| table.get(lid));
            let Some(port) = egress.and_then(|number| self.fabric.port_of(at, number)) else { return false };
            hops.push(port);
            match self.peer(port) {
                Some(peer) if peer == to => return true,
                Some(peer) => at = self.fabric.port(peer).node,
                None => return false,
            }
            if !self.fabric.node(at).is_switch() {
                return false;
            }
        }
        false
    }
}
