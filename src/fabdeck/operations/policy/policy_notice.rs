//! What a policy reports: each is an event of the watch.

use super::isolation_plan::IsolationPlan;
use super::link_decisions::{BadLinkObservation, IsolatedLink, IsolationStage, PolicyRefusal};
use super::policy_switch::PolicyStop;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::event_store::cable_places::port_of;
use crate::operations::event_store::watch_event::EventSeverity;

/// Most jobs that a text names.
const MAX_JOBS: usize = 5;

/// An event of a policy, before it has its number and time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyNotice {
    pub kind: &'static str,
    pub severity: EventSeverity,
    pub text: String,
    /// The change that it is about, or the condition that refused.
    pub subject: String,
    pub elements: Vec<String>,
}

impl PolicyNotice {
    pub fn new(kind: &'static str, severity: EventSeverity, text: String) -> Self {
        Self { kind, severity, text, subject: String::new(), elements: Vec::new() }
    }

    pub fn about(self, subject: &str) -> Self {
        Self { subject: subject.to_owned(), ..self }
    }

    /// A link is to be taken out; `hit` are the running jobs with paths over it, where they are known.
    pub fn proposed(
        look: &Snapshot,
        link: &BadLinkObservation,
        plan: &IsolationPlan,
        hit: Option<&[String]>,
        is_shadow: bool,
    ) -> Self {
        let jobs = match hit {
            None => "running jobs are not known".to_owned(),
            Some([]) => "no running job has a path over it".to_owned(),
            Some(jobs) => {
                let named = jobs.iter().take(MAX_JOBS).cloned().collect::<Vec<_>>().join(", ");
                let more = if jobs.len() > MAX_JOBS { ", ..." } else { "" };
                format!("paths of {} change ({named}{more})", count_words(jobs.len(), "job", "jobs"))
            }
        };
        let [before, after] = plan.busiest;
        let writes = count_words(plan.plan.writes.len(), "write", "writes");
        let verb = if is_shadow { "would be taken out of use (shadow)" } else { "is taken out of use" };
        let text = format!(
            "{} {verb}: {}; {writes}, the busiest channel carries {before} paths before and {after} after; {jobs}",
            link.name, link.why
        );
        let ports = link.ends.iter().filter_map(|end| port_of(look, *end));
        let elements = ports.map(|port| format!("port:{}", look.unique_port_name(port))).collect();
        Self { elements, ..Self::new("policy-proposed", EventSeverity::Warning, text) }
    }

    /// A condition refuses to take a link out or back.
    pub fn refused(name: &str, what: &str, why: &PolicyRefusal) -> Self {
        let text = format!("{name} stays as it is, although {what}: {} ({why})", why.name());
        Self::new("policy-refused", EventSeverity::Warning, text).about(why.name())
    }

    /// The change of a link began.
    pub fn begun(link: &IsolatedLink, id: &str, is_applied: bool, confirm_after_ms: i64) -> Self {
        let what = match &link.stage {
            IsolationStage::Returning { is_partial: true, .. } => "partly back in use",
            IsolationStage::Returning { .. } => "back in use",
            _ => "out of use",
        };
        let text = match is_applied {
            true => format!(
                "{} is {what} by change {id}, which is confirmed in {} s unless pairs are lost",
                link.name,
                confirm_after_ms / 1000
            ),
            false => format!("{}: change {id} began, and its guard decides about it", link.name),
        };
        Self::new("policy-applied", EventSeverity::Warning, text).about(id)
    }

    /// The change of a link ended.
    pub fn settled(link: &IsolatedLink, is_confirmed: bool) -> Self {
        let id = link.pending().map(|change| change.id.as_str()).unwrap_or_default();
        let (kind, what) = match (is_confirmed, &link.stage) {
            (true, IsolationStage::Returning { is_partial: true, .. }) => {
                ("policy-confirmed", "it is partly back in use, and the other paths follow")
            }
            (true, IsolationStage::Returning { .. }) => ("policy-returned", "it is back in use"),
            (true, _) => ("policy-confirmed", "it is out of use"),
            (false, IsolationStage::Returning { .. }) => ("policy-rolled-back", "it stays out of use"),
            (false, _) => ("policy-rolled-back", "it stays in use"),
        };
        let done = if is_confirmed { "confirmed" } else { "not in force any more" };
        let severity = if is_confirmed { EventSeverity::Info } else { EventSeverity::Warning };
        Self::new(kind, severity, format!("{}: {what}, because change {id} is {done}", link.name)).about(id)
    }

    /// The change of a link goes back.
    pub fn rolling_back(link: &IsolatedLink, why: &str) -> Self {
        let id = link.pending().map(|change| change.id.as_str()).unwrap_or_default();
        let text = format!("{}: change {id} is rolled back: {why}", link.name);
        Self::new("policy-rolling-back", EventSeverity::Warning, text).about(id)
    }

    pub fn failed(link: &IsolatedLink, why: &str) -> Self {
        let id = link.pending().map(|change| change.id.as_str()).unwrap_or_default();
        let text = format!(
            "policies are off, because {why}: {} and change {id}; look at 'fabdeck changes', then 'fabdeck policy on'",
            link.name
        );
        Self::new("policy-failed", EventSeverity::Critical, text).about(id)
    }

    /// The change of a link stays in force without a confirmation.
    pub fn left_whole(link: &IsolatedLink, why: &str) -> Self {
        let id = link.pending().map(|change| change.id.as_str()).unwrap_or_default();
        let text = format!(
            "{}: change {id} stays in force, because {why}; make a new plan, or 'fabdeck rollback --force'",
            link.name
        );
        Self::new("policy-failed", EventSeverity::Critical, text).about(id)
    }

    pub fn released(link: &IsolatedLink, why: &str) -> Self {
        let text = format!("{} is no longer of the policy: {why}", link.name);
        Self::new("policy-released", EventSeverity::Warning, text)
    }

    /// A link that would be out of use would be back.
    pub fn returned(link: &IsolatedLink) -> Self {
        let text = format!("{} would be taken back (shadow): it is good again", link.name);
        Self::new("policy-returned", EventSeverity::Info, text)
    }

    /// A change of a policy that is out of use while the policy only proposes.
    pub fn out_in_shadow(link: &IsolatedLink) -> Self {
        let change = match &link.stage {
            IsolationStage::Out { change } | IsolationStage::Failed { change } => change.as_str(),
            _ => link.pending().map(|change| change.id.as_str()).unwrap_or_default(),
        };
        let text = format!(
            "{} is out of use by change {change} of a policy that applied, and this one only proposes: it is not taken back;              'fabdeck undo {change}' does that",
            link.name
        );
        Self::new("policy-refused", EventSeverity::Warning, text).about("shadow")
    }

    /// Policies were turned off or on.
    pub fn switched(stop: Option<&PolicyStop>, pending: Option<&str>) -> Self {
        let left = pending.map(|name| {
            format!("; the change of {name} waits, and its guard rolls it back unless it is confirmed")
        });
        let left = left.unwrap_or_default();
        let text = match stop {
            Some(PolicyStop { user, why, .. }) if user.is_empty() => format!("policies are off: {why}{left}"),
            Some(PolicyStop { user, why, .. }) => format!("policies are off, by {user}: {why}{left}"),
            None => "policies are on".to_owned(),
        };
        Self::new("policy-switched", EventSeverity::Warning, text)
    }
}
