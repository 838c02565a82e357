//! What a change does to a fabric, counted before anything is written: who is cut off, which jobs notice, and how many
//! pairs have no path before the first write, while it is written, and after the last write.

use serde::{Deserialize, Serialize};

use super::failure_words::failure_words;
use super::job_effects::{JobEffect, job_effects};
use super::preparation::PreparedChange;
use super::undo_loss::UndoLoss;
use super::weak_links::WeakLinkUse;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::jobs::job_request::JobInput;
use fabdeck_change::{CutOffReport, Plan, TransientLoss, TransitionReport, UnfailedLoss};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{JobMap, PortId, PortNum};
use fabdeck_mad::access::AttributePart;

/// Most jobs and most names of one kind that a text lists; the counts are complete.
const MAX_NAMED: usize = 6;

/// The jobs whose paths a change touches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobEffects {
    /// Number of jobs that are known.
    pub known: usize,
    /// The jobs that notice the change, those that lose most paths first.
    pub hit: Vec<JobEffect>,
}

/// What a change does to a fabric.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ChangeFacts {
    /// The elements that the plan takes as failed.
    pub failed: Vec<String>,
    /// Links that work now and that the change disables.
    pub taken_down: Vec<String>,
    /// Nodes that answer now and have no route after the change.
    pub cut_off: CutOffReport,
    /// `None`: the running jobs are not known.
    pub jobs: Option<JobEffects>,
    /// The states between the first write and the last, and whether they can have a credit loop.
    pub transition: TransitionReport,
    /// Bad cables that the new tables lead over; the console knows which cables are bad.
    #[serde(default)]
    pub weak_links: Vec<WeakLinkUse>,
    /// For the undo of a change with marks: what it gives up.
    #[serde(default)]
    pub undo: Option<UndoLoss>,
}

impl ChangeFacts {
    /// Counts what a checked plan does; `jobs` are placed on the snapshot of the change.
    pub(crate) fn of(change: &PreparedChange, jobs: Option<&JobMap>) -> Self {
        let PreparedChange { plan, look, judged, .. } = change;
        Self {
            failed: plan.failed.iter().map(|failed| failed.element.clone()).collect(),
            taken_down: links_taken_down(look, plan),
            cut_off: judged.cut_off.clone(),
            jobs: jobs
                .map(|jobs| JobEffects { known: jobs.iter().len(), hit: job_effects(look, plan, jobs) }),
            transition: judged.transition.clone(),
            weak_links: Vec::new(),
            undo: None,
        }
    }

    /// Counts the same with the jobs that the source of the change has itself.
    pub(crate) fn with_source_jobs(change: &PreparedChange) -> Self {
        let placed = change.simulated.then(|| JobInput::Simulated.place(&change.look));
        Self::of(change, placed.as_ref().map(|placed| &placed.jobs))
    }

    /// The pairs without a path before, during and after the writes; `None` where they were not counted. If the plan takes
    /// elements as failed, these are supposed to be down.
    pub fn pairs(&self) -> Option<&TransientLoss> {
        self.transition.on_the_way.as_ref()
    }

    /// The same counts on the fabric as it is.
    pub fn actual_pairs(&self) -> Option<UnfailedLoss> {
        self.pairs()?.actual(!self.failed.is_empty())
    }

    /// What the change is worth if the elements fail that the plan takes as failed, with the jobs that keep pairs; `None`
    /// for a plan without such elements.
    pub fn supposed_words(&self) -> Option<String> {
        self.with_spared_jobs(supposed_words(self.pairs()?, &self.failed)?)
    }

    /// The same in fewer words.
    pub fn short_supposed_words(&self) -> Option<String> {
        self.with_spared_jobs(short_supposed_words(self.pairs()?, &self.failed)?)
    }

    fn with_spared_jobs(&self, words: String) -> Option<String> {
        let spared = self.jobs.iter().flat_map(|jobs| &jobs.hit).filter(|job| job.spared > 0);
        let jobs: Vec<String> = spared
            .take(MAX_NAMED)
            .map(|job| format!("{} of job {}", digits_in_groups(job.spared), job.job))
            .collect();
        Some(match jobs.is_empty() {
            true => words,
            false => format!("{words}; so it spares {}", jobs.join(", ")),
        })
    }

    /// Who is cut off: the hosts, and in brackets what else is.
    pub fn cut_off_words(&self) -> String {
        let CutOffReport { switches, hosts, aggregation_nodes, pairs } = &self.cut_off;
        let is_named = !(switches.is_empty() && hosts.is_empty() && aggregation_nodes.is_empty());
        let mut words = match hosts.len() {
            0 => "no host".to_owned(),
            count => format!("{}: {}", count_words(count, "host", "hosts"), first_names(hosts)),
        };
        let mut rest = Vec::new();
        if !switches.is_empty() {
            rest.push(first_names(switches));
        }
        if !aggregation_nodes.is_empty() {
            rest.push(count_words(aggregation_nodes.len(), "aggregation node", "aggregation nodes"));
        }
        // Of what is named, the rows of pairs say how many these are, now and if it fails.
        if *pairs > 0 && !is_named {
            let unit = if *pairs == 1 { "pair" } else { "pairs" };
            rest.push(format!("{} {unit}", digits_in_groups(*pairs)));
        }
        if !rest.is_empty() {
            words.push_str(&format!(" ({})", rest.join(", ")));
        }
        words
    }

    /// The jobs that notice, by name; `None` where the jobs are not known.
    pub fn job_words(&self) -> Option<String> {
        let jobs = self.jobs.as_ref()?;
        if jobs.hit.is_empty() {
            return Some(format!("none of {} notices", count_words(jobs.known, "job", "jobs")));
        }
        let mut words: Vec<String> = jobs.hit.iter().take(MAX_NAMED).map(JobEffect::words).collect();
        if let more @ 1.. = jobs.hit.len().saturating_sub(MAX_NAMED) {
            words.push(format!("and {more} more of {}", count_words(jobs.known, "job", "jobs")));
        }
        Some(words.join("; "))
    }

    /// The facts as lines of a label and a text, for a terminal.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if !self.taken_down.is_empty() {
            lines.push(("takes down", first_names(&self.taken_down)));
        }
        lines.extend(self.cut_off.words().map(|words| ("cuts off", words)));
        let unknown = || "not known".to_owned();
        lines.push(("jobs", self.job_words().unwrap_or_else(unknown)));
        lines.push(("no path", self.actual_pairs().as_ref().map_or_else(unknown, pair_words)));
        lines.extend(self.supposed_words().map(|words| ("what if", words)));
        lines.extend(self.undo.as_ref().map(|loss| ("gives up", loss.words())));
        lines
    }
}

/// What becomes of the pairs if the failed elements of a plan fail: `spine-2 fails: before 504 pairs without a path, after
/// 0; its own 88 pairs have none either way`. `None` where the plan has no failed elements. A pair is a sender and a receiver:
/// two ports are two pairs.
pub fn supposed_words(pairs: &TransientLoss, failed: &[String]) -> Option<String> {
    let words = short_supposed_words(pairs, failed)?;
    Some(format!("{words}{}", own_pair_words(pairs, failed)))
}

/// The same without the pairs that the failure itself ends.
pub fn short_supposed_words(pairs: &TransientLoss, failed: &[String]) -> Option<String> {
    if failed.is_empty() {
        return None;
    }
    Some(format!("{}: before {}", failure_words(failed), loss_words(pairs.before, pairs.after)))
}

/// The pairs that the failure itself ends: no tables bring them back.
fn own_pair_words(pairs: &TransientLoss, failed: &[String]) -> String {
    let own = pairs.unfailed.as_ref().map_or(0, |actual| actual.pairs.saturating_sub(pairs.pairs));
    let (whose, has) =
        (if failed.len() == 1 { "its" } else { "their" }, if own == 1 { "has" } else { "have" });
    let count = count_words(usize::try_from(own).unwrap_or(usize::MAX), "pair", "pairs");
    if own == 0 { String::new() } else { format!("; {whose} own {count} {has} none either way") }
}

/// The same of the way back, from the state after the writes to that before them: `spine-2 fails: now 0 pairs without a path,
/// after 504`.
pub fn supposed_way_back_words(pairs: &TransientLoss, failed: &[String]) -> Option<String> {
    if failed.is_empty() {
        return None;
    }
    Some(format!("{}: now {}", failure_words(failed), loss_words(pairs.after, pairs.before)))
}

/// `504 pairs without a path, after 0`.
fn loss_words(first: u64, after: u64) -> String {
    let unit = if first == 1 { "pair" } else { "pairs" };
    format!("{} {unit} without a path, after {}", digits_in_groups(first), digits_in_groups(after))
}

/// The pairs without a path, counted three times: `before 504, while written at most 504, after 0, of 1,892 pairs`.
pub fn pair_words(pairs: &UnfailedLoss) -> String {
    let [before, worst, after, all] =
        [pairs.before, pairs.worst_broken, pairs.after, pairs.pairs].map(digits_in_groups);
    format!("before {before}, while written at most {worst}, after {after}, of {all} pairs")
}

/// The first names, and how many there are in all where that is more.
pub fn first_names(names: &[String]) -> String {
    let first = names.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    match names.len() > MAX_NAMED {
        true => format!("{first} ... ({} in all)", digits_in_groups(names.len())),
        false => first,
    }
}

/// The links that a plan disables and that have a peer now, by the port that is disabled.
fn links_taken_down(look: &Snapshot, plan: &Plan) -> Vec<String> {
    let fabric = look.fabric();
    let disabled = |write: &fabdeck_change::PlanWrite| -> Option<PortId> {
        let step = write.to_step().ok()?;
        let AttributePart::Port(number) = step.slot.part else { return None };
        let port = fabric.port_of(step.slot.at.node(fabric)?, PortNum::new(number.into())?)?;
        (step.new == [0] && fabric.peer(port).is_some()).then_some(port)
    };
    plan.writes.iter().filter_map(disabled).map(|port| look.unique_port_name(port).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ChangeFacts {
        let pairs = TransientLoss {
            pairs: 1892,
            before: 504,
            worst_broken: 1504,
            ordered: "any".into(),
            ..TransientLoss::default()
        };
        ChangeFacts {
            transition: TransitionReport { on_the_way: Some(pairs), ..TransitionReport::default() },
            ..ChangeFacts::default()
        }
    }

    #[test]
    fn pairs_are_counted_before_during_and_after() {
        let lines = facts().lines();
        let words = "before 504, while written at most 1,504, after 0, of 1,892 pairs";
        assert!(lines.contains(&("no path", words.to_owned())), "{lines:?}");
        // Nothing that was not counted is a zero.
        let lines = ChangeFacts::default().lines();
        assert_eq!(lines, [("jobs", "not known".to_owned()), ("no path", "not known".to_owned())]);
    }

    #[test]
    fn those_cut_off_are_named_and_counted() {
        let mut facts = facts();
        assert_eq!(facts.cut_off_words(), "no host");
        facts.cut_off.switches = vec!["spine-2".into()];
        facts.cut_off.aggregation_nodes = vec!["spine-2 agg".into()];
        facts.cut_off.pairs = 88;
        assert_eq!(facts.cut_off_words(), "no host (spine-2, 1 aggregation node)");
        facts.cut_off.hosts = (1..=8).map(|host| format!("node{host}")).collect();
        let words = facts.cut_off_words();
        assert!(
            words.starts_with("8 hosts: node1 node2 node3 node4 node5 node6 ... (8 in all) ("),
            "{words}"
        );
    }

    #[test]
    fn jobs_that_notice_are_named_and_no_known_job_is_not_none() {
        let mut facts = facts();
        assert_eq!(facts.job_words(), None);
        facts.jobs = Some(JobEffects { known: 3, hit: Vec::new() });
        assert_eq!(facts.job_words().unwrap(), "none of 3 jobs notices");
        let hit = |job: &str, before, after| JobEffect {
            job: job.into(),
            pairs: 90,
            before,
            after,
            moved: 4,
            spared: 0,
        };
        facts.jobs = Some(JobEffects { known: 3, hit: vec![hit("74", 0, 2), hit("83", 23, 0)] });
        assert_eq!(facts.job_words().unwrap(), "74 loses 2 of 90 pairs; 83 gets 23 of 90 pairs back");
    }
}
