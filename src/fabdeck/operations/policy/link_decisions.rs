//! What a policy decides about links after a sweep. Pure: the same observed, state and time give the same decisions.
//!
//! | a link is | and | then |
//! |---|---|---|
//! | in use | it is bad, and no condition refuses | it is taken out |
//! | out of use, not confirmed | pairs were lost, or the certificate has findings | the change is rolled back |
//! | | the time of observation is over | the change is confirmed |
//! | out of use | it was good for a while, or pairs have no path | it is taken back, by a change of the same kind |
//! | | a step with all its paths is not safe | paths to some LIDs are taken back, later those to the others |
//! | | paths cross it, or its cable is gone | it is no longer of the policy |
//!
//! One thing at a time: while a change of the policy waits, nothing else is begun.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::policy_file::{IsolationLimits, Policy};
use crate::catalogue::summary::count_words;
use crate::operations::event_store::stored_batch::LinkEnds;
use fabdeck_change::ChangePhase;

const HOUR_MS: i64 = 3_600_000;
/// Time after which a cable that is absent is gone.
const GONE_MS: i64 = 30 * 24 * HOUR_MS;

/// A change of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyChange {
    pub id: String,
    /// Pairs without a path before the change.
    pub lost_before: u64,
    /// Whether it takes a link back because pairs have no path: some may still have none then.
    #[serde(default)]
    pub is_needed: bool,
    /// When it was in force; `None` for a change that an earlier process of the watch began: it is left to its guard,
    /// because what happened meanwhile is not known.
    #[serde(skip)]
    pub applied_ms: Option<i64>,
}

/// Where a link is between being taken out and taken back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum IsolationStage {
    /// It would be out of use: nothing was done.
    Shadow,
    /// The change that takes it out waits.
    Leaving { change: PolicyChange },
    /// It is out of use.
    Out { change: String },
    /// The change that takes it back, or a part of its paths, waits.
    Returning {
        out: String,
        #[serde(default)]
        is_partial: bool,
        change: PolicyChange,
    },
    /// Its change was left incomplete by its guard: a person has to decide, and until then no other link is taken out.
    Failed { change: String },
}

/// A link that the policy took out of use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IsolatedLink {
    pub ends: LinkEnds,
    pub name: String,
    /// Why it was taken out.
    pub why: String,
    pub began_ms: i64,
    /// When it was bad or absent last.
    pub bad_ms: i64,
    /// Since when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent_ms: Option<i64>,
    /// Whether a change of the policy led paths to some LIDs over it again; the others are to follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partly_back: bool,
    #[serde(flatten)]
    pub stage: IsolationStage,
}

impl IsolatedLink {
    /// The change of it that waits.
    pub fn pending(&self) -> Option<&PolicyChange> {
        match &self.stage {
            IsolationStage::Leaving { change } | IsolationStage::Returning { change, .. } => Some(change),
            IsolationStage::Shadow | IsolationStage::Out { .. } | IsolationStage::Failed { .. } => None,
        }
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self.stage, IsolationStage::Leaving { .. })
    }

    /// The change of it that was left incomplete.
    pub fn failed(&self) -> Option<&str> {
        match &self.stage {
            IsolationStage::Failed { change } => Some(change),
            _ => None,
        }
    }
}

/// What a policy did and has to remember.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyState {
    pub isolated: Vec<IsolatedLink>,
    /// When links were taken out, within the last hour.
    pub begun_ms: Vec<i64>,
    /// Links that are left alone until a time.
    pub held: BTreeMap<LinkEnds, i64>,
    /// The confirmed changes by the policy since no link was out of use, the oldest first: put back one after the other,
    /// they give the tables before.
    pub history: Vec<String>,
}

/// A bad link as a sweep shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLinkObservation {
    pub ends: LinkEnds,
    pub name: String,
    /// Why it is bad.
    pub why: String,
    pub since_ms: i64,
    /// Whether it is in the fabric now.
    pub is_present: bool,
    /// The host at its end; `None` between switches.
    pub host: Option<String>,
}

/// What a sweep shows of a link that the policy took out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IsolatedObservation {
    pub is_present: bool,
    /// Whether paths cross it; `None` where that is not known.
    pub carries_paths: Option<bool>,
    /// When it went down last.
    pub last_down_ms: Option<i64>,
}

/// What a sweep shows of the whole fabric.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PolicyObservation {
    pub time_ms: i64,
    pub links: usize,
    /// Bad links, those since the longest time first.
    pub bad: Vec<BadLinkObservation>,
    /// Links that went down or became bad lately.
    pub troubled: usize,
    pub isolated: BTreeMap<LinkEnds, IsolatedObservation>,
    /// The phases of the policy's changes, as far as they are known.
    pub changes: BTreeMap<String, ChangePhase>,
    /// Incomplete changes that are in force as a whole: their guards did not roll them back, because more pairs would have
    /// no path then.
    pub left_whole: BTreeSet<String>,
    /// Why the sweep does not show everything as it is now.
    pub incomplete: Option<SightFault>,
    /// The change of others that waits, or why that is not known.
    pub pending: Option<String>,
    /// Why the certificate leaves open what adaptive routing does.
    pub uncertified: Option<String>,
    /// Pairs without a path under the tables in force, though cables connect them; `None` without tables.
    pub lost_pairs: Option<u64>,
    /// Findings of the certificate of the tables in force.
    pub findings: Vec<String>,
}

/// Why a sweep is no basis for a decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SightFault {
    Partial(String),
    Stale(String),
}

/// Why a link is not taken out or back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyRefusal {
    PartialSweep(String),
    StaleSweep(String),
    ManyTogether {
        troubled: usize,
        links: usize,
    },
    PendingChange(String),
    /// A change of the policy was left incomplete.
    FailedChange(String),
    AdaptiveRouting(String),
    LinksAtOnce(usize),
    LinksAnHour(usize),
    /// No path is left, or the certificate of the routes without the link has findings.
    Redundancy(String),
    /// Nodes would have no route.
    CutOff(String),
    BusiestChannel {
        before: u64,
        after: u64,
    },
    /// There are no such routes, or no plan can be made.
    Routes(String),
    /// The change was refused or not begun.
    Change(String),
    /// Another program changed all that took the link out.
    NothingInForce,
}

impl PolicyRefusal {
    /// The name of the condition.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PartialSweep(_) => "partial-sweep",
            Self::StaleSweep(_) => "stale-sweep",
            Self::ManyTogether { .. } => "many-together",
            Self::PendingChange(_) => "pending-change",
            Self::FailedChange(_) => "failed-change",
            Self::AdaptiveRouting(_) => "adaptive-routing",
            Self::LinksAtOnce(_) => "links-at-once",
            Self::LinksAnHour(_) => "links-an-hour",
            Self::Redundancy(_) => "redundancy",
            Self::CutOff(_) => "cut-off",
            Self::BusiestChannel { .. } => "busiest-channel",
            Self::Routes(_) => "routes",
            Self::Change(_) => "change",
            Self::NothingInForce => "nothing-in-force",
        }
    }

    /// Whether the condition is of the link and its routes, so that the link is tried again only after a while.
    pub fn holds_link(&self) -> bool {
        matches!(
            self,
            Self::Redundancy(_)
                | Self::CutOff(_)
                | Self::BusiestChannel { .. }
                | Self::Routes(_)
                | Self::Change(_)
        )
    }
}

impl fmt::Display for PolicyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartialSweep(why) => write!(f, "the sweep is partial: {why}"),
            Self::StaleSweep(why) => write!(f, "the sweep is stale: {why}"),
            Self::ManyTogether { troubled, links } => write!(
                f,
                "{} of {links} went bad or down together, which is rather a failed switch or power supply than a cable",
                count_words(*troubled, "link", "links")
            ),
            Self::PendingChange(why) => write!(f, "{why}"),
            Self::FailedChange(id) => {
                write!(
                    f,
                    "change {id} of the policy was left incomplete, and a person has to decide about it"
                )
            }
            Self::AdaptiveRouting(why) => write!(f, "adaptive routing is not certified: {why}"),
            Self::LinksAtOnce(limit) => {
                write!(
                    f,
                    "{} out of use already, which is the limit",
                    count_words(*limit, "link is", "links are")
                )
            }
            Self::LinksAnHour(limit) => {
                let links = count_words(*limit, "link was", "links were");
                write!(f, "{links} taken out within an hour, which is the limit")
            }
            Self::Redundancy(why) | Self::CutOff(why) | Self::Routes(why) | Self::Change(why) => {
                write!(f, "{why}")
            }
            Self::NothingInForce => write!(f, "nothing that took it out of use is in force any more"),
            Self::BusiestChannel { before, after } => {
                write!(f, "the busiest channel would carry {after} paths, and carries {before}")
            }
        }
    }
}

/// What to do about links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkDecision {
    Isolate(BadLinkObservation),
    /// `is_needed`: pairs have no path, so it is taken back before it was good for long.
    TakeBack {
        link: LinkEnds,
        is_needed: bool,
    },
    Confirm(LinkEnds),
    RollBack {
        link: LinkEnds,
        why: String,
    },
    /// Its change ended: confirmed, or not in force any more.
    Settle {
        link: LinkEnds,
        is_confirmed: bool,
    },
    /// How its change ended is not known, or it left parts in the fabric: the policy stops.
    Stop {
        link: LinkEnds,
        why: String,
    },
    /// Its change was not rolled back, because more pairs would have no path then: it stays in force, and a person decides.
    Fail {
        link: LinkEnds,
        why: String,
    },
    /// The link is no longer of the policy.
    Release {
        link: LinkEnds,
        why: String,
    },
    /// A bad link stays in use.
    Refuse {
        link: BadLinkObservation,
        why: PolicyRefusal,
    },
    /// A link that is good again stays out of use.
    RefuseReturn {
        link: LinkEnds,
        is_needed: bool,
        why: PolicyRefusal,
    },
}

/// Decides about all links. The state is as it was after the last decisions were carried out.
pub fn decide_links(observed: &PolicyObservation, policy: &Policy, state: &PolicyState) -> Vec<LinkDecision> {
    if let Some(link) = state.isolated.iter().find(|link| link.pending().is_some()) {
        return decide_pending(observed, &policy.limits, link).into_iter().collect();
    }
    let mut decisions: Vec<LinkDecision> =
        state.isolated.iter().filter_map(|link| decide_release(observed, link)).collect();
    if !decisions.is_empty() {
        return decisions;
    }
    let failed = state.isolated.iter().find_map(IsolatedLink::failed);
    let failed = failed.map(|id| PolicyRefusal::FailedChange(id.to_owned()));
    let refusal = refuse_all(observed, &policy.limits).or(failed);
    if let Some(decision) = decide_return(observed, &policy.limits, state, refusal.as_ref()) {
        return vec![decision];
    }
    for link in observed.bad.iter().filter(|link| link.host.is_none() && link.is_present) {
        let is_out = state.isolated.iter().any(|isolated| isolated.ends == link.ends);
        let is_held = state.held.get(&link.ends).is_some_and(|until| observed.time_ms < *until);
        if is_out || is_held {
            continue;
        }
        let why = refusal.clone().or_else(|| refuse_by_limits(observed.time_ms, &policy.limits, state));
        match why {
            Some(why) => decisions.push(LinkDecision::Refuse { link: link.clone(), why }),
            None => {
                decisions.push(LinkDecision::Isolate(link.clone()));
                break;
            }
        }
    }
    decisions
}

/// The conditions that concern every link.
pub fn refuse_all(observed: &PolicyObservation, limits: &IsolationLimits) -> Option<PolicyRefusal> {
    match &observed.incomplete {
        Some(SightFault::Partial(why)) => return Some(PolicyRefusal::PartialSweep(why.clone())),
        Some(SightFault::Stale(why)) => return Some(PolicyRefusal::StaleSweep(why.clone())),
        None => {}
    }
    let most = ((observed.links as f64 * limits.bad_together) as usize).max(1);
    if observed.troubled > most {
        return Some(PolicyRefusal::ManyTogether { troubled: observed.troubled, links: observed.links });
    }
    if let Some(pending) = &observed.pending {
        return Some(PolicyRefusal::PendingChange(pending.clone()));
    }
    observed.uncertified.clone().map(PolicyRefusal::AdaptiveRouting)
}

fn refuse_by_limits(now_ms: i64, limits: &IsolationLimits, state: &PolicyState) -> Option<PolicyRefusal> {
    if state.isolated.len() >= limits.links_at_once {
        return Some(PolicyRefusal::LinksAtOnce(limits.links_at_once));
    }
    let recent = state.begun_ms.iter().filter(|begun| now_ms - **begun < HOUR_MS).count();
    (recent >= limits.links_an_hour).then_some(PolicyRefusal::LinksAnHour(limits.links_an_hour))
}

/// What becomes of a change that waits.
fn decide_pending(
    observed: &PolicyObservation,
    limits: &IsolationLimits,
    link: &IsolatedLink,
) -> Option<LinkDecision> {
    let change = link.pending()?;
    let ends = link.ends;
    match observed.changes.get(&change.id)? {
        ChangePhase::Applying | ChangePhase::RollingBack => None,
        ChangePhase::Confirmed => Some(LinkDecision::Settle { link: ends, is_confirmed: true }),
        ChangePhase::RolledBack | ChangePhase::Refused => {
            Some(LinkDecision::Settle { link: ends, is_confirmed: false })
        }
        ChangePhase::Incomplete if observed.left_whole.contains(&change.id) => Some(LinkDecision::Fail {
            link: ends,
            why: "a rollback would leave more pairs without a path".to_owned(),
        }),
        ChangePhase::Incomplete => {
            Some(LinkDecision::Stop { link: ends, why: "its rollback left parts in the fabric".to_owned() })
        }
        ChangePhase::Applied => {
            // Of a change of an earlier process nothing is known: its guard rolls it back.
            let applied_ms = change.applied_ms?;
            let is_over = observed.time_ms - applied_ms >= limits.confirm_after_ms;
            let lost = observed.lost_pairs.filter(|lost| *lost > change.lost_before);
            // To go back would lead paths over the link, which is down at the moment.
            if link.is_leaving() && !observed.isolated.get(&ends).is_some_and(|seen| seen.is_present) {
                let is_fine = is_over && lost.is_none() && observed.incomplete.is_none();
                return is_fine.then_some(LinkDecision::Confirm(ends));
            }
            if let Some(lost) = lost {
                let why = format!("{lost} pairs have no path, and {} had none before it", change.lost_before);
                return Some(LinkDecision::RollBack { link: ends, why });
            }
            // Without a link that was needed more pairs would have no path, so it is confirmed after a partial sweep as well:
            // before that the fabric is read again, and has to answer as a whole.
            if observed.incomplete.is_some() && !(change.is_needed && is_over) {
                return None;
            }
            if let Some(finding) = observed.findings.first().filter(|_| !change.is_needed) {
                return Some(LinkDecision::RollBack { link: ends, why: finding.clone() });
            }
            is_over.then_some(LinkDecision::Confirm(ends))
        }
    }
}

/// A link that is out of use and not of the policy any more.
fn decide_release(observed: &PolicyObservation, link: &IsolatedLink) -> Option<LinkDecision> {
    if observed.incomplete.is_some() {
        return None;
    }
    let seen = observed.isolated.get(&link.ends)?;
    if let Some(absent_ms) = link.absent_ms {
        let is_gone = observed.time_ms - absent_ms >= GONE_MS;
        return is_gone.then(|| release(link, "its cable is gone, so no path can lead over it"));
    }
    if let Some(id) = link.failed()
        && matches!(observed.changes.get(id), Some(ChangePhase::RolledBack | ChangePhase::Confirmed))
    {
        return Some(release(link, "a person settled its change"));
    }
    let is_out = matches!(link.stage, IsolationStage::Out { .. }) && !link.is_partly_back;
    (is_out && seen.carries_paths == Some(true)).then(|| {
        release(
            link,
            "paths lead over it again: another program routed the fabric, or pairs have no other path",
        )
    })
}

fn release(link: &IsolatedLink, why: &str) -> LinkDecision {
    LinkDecision::Release { link: link.ends, why: why.to_owned() }
}

/// The link to take back: one that was good for long enough, or any that is out of use while pairs have no path though
/// cables connect them.
fn decide_return(
    observed: &PolicyObservation,
    limits: &IsolationLimits,
    state: &PolicyState,
    refusal: Option<&PolicyRefusal>,
) -> Option<LinkDecision> {
    let is_free = |link: &&IsolatedLink| {
        let is_present = observed.isolated.get(&link.ends).is_some_and(|seen| seen.is_present);
        is_present
            && link.failed().is_none()
            && state.held.get(&link.ends).is_none_or(|until| observed.time_ms >= *until)
    };
    let mut free = state.isolated.iter().filter(is_free);
    let is_needed = observed.lost_pairs.is_some_and(|lost| lost > 0);
    let is_out = |link: &&IsolatedLink| matches!(link.stage, IsolationStage::Out { .. });
    let needed = free.clone().find(is_out).filter(|_| is_needed);
    let link = needed.or_else(|| free.find(|link| observed.time_ms - link.bad_ms >= limits.good_for_ms))?;
    // Links that fail together are a reason to take one back that is needed, and a failed switch makes sweeps partial: the
    // plan is made of a reading of its own, which has to be complete.
    let is_refused = |why: &&PolicyRefusal| {
        let of_sweep = matches!(
            why,
            PolicyRefusal::ManyTogether { .. }
                | PolicyRefusal::PartialSweep(_)
                | PolicyRefusal::StaleSweep(_)
        );
        !(is_needed && of_sweep)
    };
    Some(match refusal.filter(is_refused) {
        Some(why) => LinkDecision::RefuseReturn { link: link.ends, is_needed, why: why.clone() },
        None => LinkDecision::TakeBack { link: link.ends, is_needed },
    })
}

impl PolicyState {
    /// Takes up what a sweep shows: when links were bad last, and what need not be remembered any more.
    pub fn update(&mut self, observed: &PolicyObservation) {
        for link in &mut self.isolated {
            let Some(seen) = observed.isolated.get(&link.ends) else { continue };
            let is_bad = observed.bad.iter().any(|bad| bad.ends == link.ends);
            link.absent_ms = match seen.is_present {
                true => None,
                false => link.absent_ms.or(Some(observed.time_ms)),
            };
            if is_bad || !seen.is_present {
                link.bad_ms = observed.time_ms;
            }
            link.bad_ms = seen.last_down_ms.map_or(link.bad_ms, |down| link.bad_ms.max(down));
        }
        self.begun_ms.retain(|begun| observed.time_ms - begun < HOUR_MS);
        self.held.retain(|_, until| observed.time_ms < *until);
    }

    pub fn find(&self, ends: LinkEnds) -> Option<&IsolatedLink> {
        self.isolated.iter().find(|link| link.ends == ends)
    }

    /// Notes that a link is taken out.
    pub fn take_out(&mut self, link: &BadLinkObservation, stage: IsolationStage, now_ms: i64) {
        self.begun_ms.push(now_ms);
        self.isolated.push(IsolatedLink {
            ends: link.ends,
            name: link.name.clone(),
            why: link.why.clone(),
            began_ms: now_ms,
            bad_ms: now_ms,
            absent_ms: None,
            is_partly_back: false,
            stage,
        });
    }

    pub fn set_stage(&mut self, ends: LinkEnds, stage: IsolationStage) {
        if let Some(link) = self.isolated.iter_mut().find(|link| link.ends == ends) {
            link.stage = stage;
        }
    }

    /// Notes that the change of a link was left incomplete.
    pub fn fail(&mut self, ends: LinkEnds) {
        if let Some(change) = self.find(ends).and_then(IsolatedLink::pending).map(|change| change.id.clone())
        {
            self.set_stage(ends, IsolationStage::Failed { change });
        }
    }

    /// Notes that links may have been bad while no watch saw them.
    pub fn note_unwatched(&mut self, now_ms: i64) {
        self.isolated.iter_mut().for_each(|link| link.bad_ms = link.bad_ms.max(now_ms));
    }

    pub fn release(&mut self, ends: LinkEnds) {
        self.isolated.retain(|link| link.ends != ends);
        if self.isolated.is_empty() {
            self.history.clear();
        }
    }

    /// Leaves a link alone for a while.
    pub fn hold(&mut self, ends: LinkEnds, until_ms: i64) {
        self.held.insert(ends, until_ms);
    }

    /// Takes up that the change of a link ended.
    pub fn settle(&mut self, ends: LinkEnds, is_confirmed: bool, retry_at_ms: i64) {
        let Some(link) = self.find(ends).cloned() else { return };
        self.history.extend(link.pending().filter(|_| is_confirmed).map(|change| change.id.clone()));
        match (link.stage, is_confirmed) {
            (IsolationStage::Leaving { change }, true) => {
                self.set_stage(ends, IsolationStage::Out { change: change.id });
            }
            (IsolationStage::Leaving { .. }, false) => {
                self.release(ends);
                self.hold(ends, retry_at_ms);
            }
            (IsolationStage::Returning { out, is_partial, change }, true) => {
                match is_partial {
                    true => self.set_stage(ends, IsolationStage::Out { change: out }),
                    false => self.release(ends),
                }
                // Where pairs had no path, entries of theirs may lead over other links that are out of use too.
                let is_crossed = |link: &&mut IsolatedLink| link.ends == ends || change.is_needed;
                self.isolated.iter_mut().filter(is_crossed).for_each(|link| link.is_partly_back = true);
            }
            (IsolationStage::Returning { out, .. }, false) => {
                self.set_stage(ends, IsolationStage::Out { change: out });
                self.hold(ends, retry_at_ms);
            }
            (IsolationStage::Shadow | IsolationStage::Out { .. } | IsolationStage::Failed { .. }, _) => {}
        }
    }
}
