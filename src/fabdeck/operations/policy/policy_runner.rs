//! Carries out what a policy decides after each sweep of a watch.

use std::collections::BTreeMap;

use super::isolation_plan::{
    IsolationPlan, IsolationRequest, ReturnPlan, ReturnRequest, certificate_in_force, connected_losses,
    jobs_over, link_between, plan_isolation, plan_return,
};
use super::link_decisions::{
    BadLinkObservation, IsolatedLink, IsolationStage, LinkDecision, PolicyChange, PolicyObservation,
    PolicyRefusal, PolicyState, decide_links, refuse_all,
};
use super::node_runner::NodeRunner;
use super::policy_actions::{ChangeStart, IsolationRecord, PolicyActions};
use super::policy_file::{Policy, PolicyMode};
use super::policy_notice::PolicyNotice;
use super::policy_observation::{LinkFollower, PolicyReading};
use super::policy_store::PolicyStore;
use super::policy_switch::PolicyStop;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::event_store::stored_batch::LinkEnds;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::plans::plan_origin::PlanOrigin;
use fabdeck_change::{ChangePhase, Plan};
use fabdeck_fabric::{JobMap, LinkId};

/// What a policy did after a sweep.
#[derive(Debug, Default)]
pub struct PolicyOutcome {
    pub notices: Vec<PolicyNotice>,
    /// What was done about cables, for the ledger.
    pub actions: Vec<(LinkEnds, String)>,
    /// Whether tables were written, so that the watch has to read them again.
    pub wrote: bool,
}

/// A policy at work.
#[derive(Debug)]
pub struct PolicyRunner {
    policy: Policy,
    store: Option<PolicyStore>,
    state: PolicyState,
    follower: LinkFollower,
    nodes: Option<NodeRunner>,
    /// The plan of the change that waits, with the findings that it may have.
    plan: Option<(Plan, Vec<String>)>,
    /// The last refusal of each link, so that each is reported once.
    refused: BTreeMap<LinkEnds, &'static str>,
    is_stopped: bool,
    /// Why it stopped where that could not be written to the state folders.
    halted: Option<PolicyStop>,
    /// Whether time passed without a watch since links were seen.
    is_unwatched: bool,
    is_resumed: bool,
}

impl PolicyRunner {
    pub fn new(policy: Policy) -> Self {
        Self {
            nodes: policy.nodes.clone().map(NodeRunner::new),
            policy,
            store: None,
            state: PolicyState::default(),
            follower: LinkFollower::default(),
            plan: None,
            refused: BTreeMap::new(),
            is_stopped: false,
            halted: None,
            is_unwatched: false,
            is_resumed: false,
        }
    }

    /// Takes up what an earlier watch left, once the store of the fabric is known.
    pub fn resume(&mut self, store: Option<PolicyStore>) -> Result<(), Failure> {
        if self.is_resumed {
            return Ok(());
        }
        let is_shadow = self.policy.mode == PolicyMode::Shadow;
        if is_shadow && store.is_none() {
            return Ok(());
        }
        let Some(store) = store else {
            let what = "FD-7385: nothing is stored, so a policy that applies would forget what it did; leave out --store no";
            return Err(Failure::usage(what));
        };
        self.state = store.load().map_err(|error| {
            let place = store.place();
            let what = format!(
                "FD-7386: {place} cannot be read, and has the links that the policy took out of use: {error}; put them back with \
                 'fabdeck undo', then remove the file"
            );
            Failure::new(Exit::BadInput, what)
        })?;
        // A policy that only proposes leaves the file as it is.
        self.store = Some(store).filter(|_| !is_shadow);
        (self.is_resumed, self.is_unwatched) = (true, true);
        Ok(())
    }

    pub fn state(&self) -> &PolicyState {
        &self.state
    }

    /// Looks at a sweep, decides, and does it.
    pub fn step(
        &mut self,
        actions: &mut dyn PolicyActions,
        reading: &PolicyReading<'_>,
        jobs: Option<&JobMap>,
    ) -> PolicyOutcome {
        let mut outcome = PolicyOutcome::default();
        self.follower.observe(reading);
        let mut observed = self.follower.observation(reading, &self.policy, &self.state);
        self.read_phases(actions, &mut observed);
        let before = self.state.clone();
        self.state.update(&observed);
        if self.is_unwatched && !actions.writes() {
            let is_news = |link: &&IsolatedLink| {
                !matches!(link.stage, IsolationStage::Shadow) && !self.refused.contains_key(&link.ends)
            };
            let out = self.state.isolated.iter().filter(is_news);
            outcome.notices.extend(out.clone().map(PolicyNotice::out_in_shadow));
            let known: Vec<LinkEnds> = out.map(|link| link.ends).collect();
            self.refused.extend(known.into_iter().map(|ends| (ends, "shadow")));
        }
        if self.is_unwatched {
            // Errors of the time without a watch are not known, so a link is not good before it was watched.
            self.state.note_unwatched(observed.time_ms);
            self.is_unwatched = observed.incomplete.is_some();
        }
        let is_off = self.is_off(actions, &mut outcome);
        if !is_off {
            for decision in decide_links(&observed, &self.policy, &self.state) {
                self.carry_out(actions, reading.look, &observed, decision, jobs, &mut outcome);
            }
        }
        if let Some(nodes) = &mut self.nodes {
            let pending = self.state.isolated.iter().find_map(|link| link.pending());
            let pending = pending.map(|own| format!("change {} of the policy waits", own.id));
            let refusal =
                refuse_all(&observed, &self.policy.limits).or(pending.map(PolicyRefusal::PendingChange));
            outcome.notices.extend(nodes.step(reading.look, &observed, refusal, is_off));
        }
        self.refused.retain(|ends, _| {
            observed.bad.iter().any(|bad| bad.ends == *ends)
                || self.state.isolated.iter().any(|link| link.ends == *ends)
        });
        if has_moved(&before, &self.state)
            && let Err(failure) = self.save()
        {
            actions.report_line(&failure.message.unwrap_or_default());
        }
        outcome
    }

    /// Reads how the changes of links go on.
    fn read_phases(&self, actions: &mut dyn PolicyActions, observed: &mut PolicyObservation) {
        for link in &self.state.isolated {
            let pending = link.pending().map(|change| change.id.as_str());
            let Some(id) = pending.or(link.failed()) else { continue };
            let Some(phase) = actions.phase(id) else { continue };
            if phase == ChangePhase::Incomplete && pending.is_some() && actions.is_left_whole(id) {
                observed.left_whole.insert(id.to_owned());
            }
            observed.changes.insert(id.to_owned(), phase);
        }
    }

    /// Whether policies are off; reports when that begins and ends.
    fn is_off(&mut self, actions: &mut dyn PolicyActions, outcome: &mut PolicyOutcome) -> bool {
        let stop = actions.find_stop();
        // Once it could be turned off, `policy on` decides.
        self.halted = self.halted.take().filter(|_| stop.is_none());
        let stop = stop.or_else(|| self.halted.clone());
        let is_off = stop.is_some();
        if is_off != self.is_stopped {
            self.is_stopped = is_off;
            let pending = self.state.isolated.iter().find(|link| link.pending().is_some());
            outcome
                .notices
                .push(PolicyNotice::switched(stop.as_ref(), pending.map(|link| link.name.as_str())));
        }
        is_off
    }

    fn save(&self) -> Result<(), Failure> {
        let Some(store) = &self.store else { return Ok(()) };
        store.save(&self.state).map_err(|error| {
            let what =
                format!("FD-7387: {} cannot be written: {error}; make room on its disk", store.place());
            Failure::new(Exit::Failed, what)
        })
    }

    fn carry_out(
        &mut self,
        actions: &mut dyn PolicyActions,
        look: &Snapshot,
        observed: &PolicyObservation,
        decision: LinkDecision,
        jobs: Option<&JobMap>,
        outcome: &mut PolicyOutcome,
    ) {
        let retry_at = observed.time_ms + self.policy.limits.retry_after_ms;
        match decision {
            LinkDecision::Isolate(link) => self.isolate(actions, look, observed, &link, jobs, outcome),
            LinkDecision::TakeBack { link, is_needed } => {
                self.take_back(actions, observed, link, is_needed, outcome);
            }
            LinkDecision::Confirm(link) => {
                let is_present = observed.isolated.get(&link).is_some_and(|seen| seen.is_present);
                self.confirm(actions, link, is_present, outcome);
            }
            LinkDecision::RollBack { link, why } => {
                if observed.incomplete.is_none() || self.loses_pairs(actions, link) {
                    self.roll_back(actions, link, &why, outcome);
                }
            }
            LinkDecision::Settle { link, is_confirmed } => {
                outcome
                    .notices
                    .extend(self.state.find(link).map(|link| PolicyNotice::settled(link, is_confirmed)));
                self.plan = None;
                self.state.settle(link, is_confirmed, retry_at);
                outcome.wrote = true;
            }
            LinkDecision::Stop { link, why } => {
                outcome.notices.extend(self.state.find(link).map(|link| PolicyNotice::failed(link, &why)));
                if let Err(failure) = actions.turn_off(&why) {
                    actions.report_line(&failure.message.unwrap_or_default());
                    self.halted = Some(PolicyStop { time: String::new(), user: String::new(), why });
                }
                self.state.fail(link);
            }
            LinkDecision::Fail { link, why } => {
                outcome
                    .notices
                    .extend(self.state.find(link).map(|link| PolicyNotice::left_whole(link, &why)));
                self.plan = None;
                self.state.fail(link);
            }
            LinkDecision::Release { link, why } => {
                outcome.notices.extend(self.state.find(link).map(|link| PolicyNotice::released(link, &why)));
                self.state.release(link);
                self.state.hold(link, retry_at);
            }
            LinkDecision::Refuse { link, why } => self.refuse(&link, &why, retry_at, outcome),
            LinkDecision::RefuseReturn { link, is_needed, why } => {
                self.refuse_return((link, is_needed), &why, retry_at, outcome);
            }
        }
    }

    fn refuse(
        &mut self,
        link: &BadLinkObservation,
        why: &PolicyRefusal,
        retry_at: i64,
        outcome: &mut PolicyOutcome,
    ) {
        if why.holds_link() {
            self.state.hold(link.ends, retry_at);
        }
        if self.refused.insert(link.ends, why.name()) != Some(why.name()) {
            outcome.notices.push(PolicyNotice::refused(&link.name, &link.why, why));
        }
    }

    fn refuse_return(
        &mut self,
        (ends, is_needed): (LinkEnds, bool),
        why: &PolicyRefusal,
        retry_at: i64,
        outcome: &mut PolicyOutcome,
    ) {
        if why.holds_link() {
            self.state.hold(ends, retry_at);
        }
        let Some(link) = self.state.find(ends) else { return };
        let what = if is_needed { "pairs have no path while it is out of use" } else { "it is good again" };
        if self.refused.insert(ends, why.name()) != Some(why.name()) {
            outcome.notices.push(PolicyNotice::refused(&link.name, what, why));
        }
    }

    fn others(&self, ends: LinkEnds) -> Vec<LinkEnds> {
        self.state.isolated.iter().map(|link| link.ends).filter(|other| *other != ends).collect()
    }

    /// Takes a link out, or reports that it would be.
    fn isolate(
        &mut self,
        actions: &mut dyn PolicyActions,
        look: &Snapshot,
        observed: &PolicyObservation,
        link: &BadLinkObservation,
        jobs: Option<&JobMap>,
        outcome: &mut PolicyOutcome,
    ) {
        let retry_at = observed.time_ms + self.policy.limits.retry_after_ms;
        if !actions.writes() {
            match self.plan_out(look, link, LevelsInForce::Unsaid, actions.origin()) {
                Err(why) => self.refuse(link, &why, retry_at, outcome),
                Ok((id, plan)) => {
                    let hit = jobs.map(|jobs| jobs_over(look, jobs, id));
                    outcome.notices.push(PolicyNotice::proposed(look, link, &plan, hit.as_deref(), true));
                    self.state.take_out(link, IsolationStage::Shadow, observed.time_ms);
                }
            }
            return;
        }
        let made = actions.origin();
        let planned = actions.read_fabric().map_err(PolicyRefusal::PartialSweep).and_then(|now| {
            let look = &now.look;
            let (id, plan) = self.plan_out(look, link, now.sent(), made)?;
            let hit = jobs.map(|jobs| jobs_over(look, jobs, id));
            outcome.notices.push(PolicyNotice::proposed(look, link, &plan, hit.as_deref(), false));
            Ok(plan.plan)
        });
        match planned {
            Err(why) => self.refuse(link, &why, retry_at, outcome),
            Ok(plan) => {
                let stage = |change| IsolationStage::Leaving { change };
                self.state.take_out(link, IsolationStage::Shadow, observed.time_ms);
                let started = self.begin(actions, (plan, Vec::new()), observed, link.ends, &stage);
                if let ChangeStart::NotBegun { why } = &started {
                    self.state.release(link.ends);
                    self.state.begun_ms.pop();
                    self.refuse(link, &PolicyRefusal::Change(why.clone()), retry_at, outcome);
                }
                self.note_started(&started, link.ends, outcome);
            }
        }
    }

    fn plan_out(
        &self,
        look: &Snapshot,
        link: &BadLinkObservation,
        sent: LevelsInForce<'_>,
        made: PlanOrigin,
    ) -> Result<(LinkId, IsolationPlan), PolicyRefusal> {
        let gone = || PolicyRefusal::Routes("it is not in the fabric now".to_owned());
        let id = link_between(look, link.ends).ok_or_else(gone)?;
        let others = self.others(link.ends);
        let request = IsolationRequest {
            link: id,
            others: &others,
            busiest_channel: self.policy.limits.busiest_channel,
        };
        Ok((id, plan_isolation(look, request, sent, made)?))
    }

    /// Begins a change. The state names it before it exists.
    fn begin(
        &mut self,
        actions: &mut dyn PolicyActions,
        (plan, accepted): (Plan, Vec<String>),
        observed: &PolicyObservation,
        ends: LinkEnds,
        stage: &dyn Fn(PolicyChange) -> IsolationStage,
    ) -> ChangeStart {
        // The switch may have been turned while the fabric was read.
        if actions.find_stop().is_some() {
            return ChangeStart::NotBegun { why: "policies are off".to_owned() };
        }
        let (lost_before, is_needed) = (observed.lost_pairs.unwrap_or(0), !accepted.is_empty());
        let change =
            |id: &str, applied_ms| PolicyChange { id: id.to_owned(), lost_before, is_needed, applied_ms };
        let mut record = |id: &str| {
            self.state.set_stage(ends, stage(change(id, None)));
            self.save()
        };
        let started = actions.apply(&plan, &accepted, &mut record);
        match &started {
            ChangeStart::Applied { id } => {
                self.state.set_stage(ends, stage(change(id, Some(observed.time_ms))));
                self.plan = Some((plan, accepted));
            }
            // How it goes on is not known: it is left to its guard.
            ChangeStart::Begun { .. } | ChangeStart::NotBegun { .. } => self.plan = None,
        }
        started
    }

    fn note_started(&self, started: &ChangeStart, ends: LinkEnds, outcome: &mut PolicyOutcome) {
        let (id, is_applied) = match started {
            ChangeStart::Applied { id } => (id, true),
            ChangeStart::Begun { id } => (id, false),
            ChangeStart::NotBegun { .. } => return,
        };
        outcome.wrote = true;
        if let Some(link) = self.state.find(ends) {
            outcome.notices.push(PolicyNotice::begun(
                link,
                id,
                is_applied,
                self.policy.limits.confirm_after_ms,
            ));
        }
    }

    /// Takes a link back, or reports that it would be.
    fn take_back(
        &mut self,
        actions: &mut dyn PolicyActions,
        observed: &PolicyObservation,
        ends: LinkEnds,
        is_needed: bool,
        outcome: &mut PolicyOutcome,
    ) {
        let retry_at = observed.time_ms + self.policy.limits.retry_after_ms;
        let Some(link) = self.state.find(ends).cloned() else { return };
        if !actions.writes() && !matches!(link.stage, IsolationStage::Shadow) {
            if self.refused.insert(ends, "shadow") != Some("shadow") {
                outcome.notices.push(PolicyNotice::out_in_shadow(&link));
            }
            return;
        }
        let IsolationStage::Out { change: out } = &link.stage else {
            outcome.notices.push(PolicyNotice::returned(&link));
            self.state.release(ends);
            return;
        };
        let planned = self.plan_back(actions, ends, out, is_needed);
        match planned {
            Err(PolicyRefusal::NothingInForce) => {
                outcome
                    .notices
                    .push(PolicyNotice::released(&link, &PolicyRefusal::NothingInForce.to_string()));
                self.state.release(ends);
            }
            Err(why) => self.refuse_return((ends, is_needed), &why, retry_at, outcome),
            Ok((number, ReturnPlan { plan, is_partial })) => {
                // Fewer pairs lack a path with it, which is why it is taken back; some may still lack one.
                let accepted = if is_needed { vec!["unreachable".to_owned()] } else { Vec::new() };
                let stage = |change| IsolationStage::Returning { out: out.clone(), is_partial, change };
                let started = self.begin(actions, (plan, accepted), observed, ends, &stage);
                if let ChangeStart::NotBegun { why } = &started {
                    self.state.set_stage(ends, IsolationStage::Out { change: out.clone() });
                    let why = PolicyRefusal::Change(why.clone());
                    self.refuse_return((ends, is_needed), &why, retry_at, outcome);
                } else {
                    let what = if is_partial { "partly taken back" } else { "taken back" };
                    outcome.actions.push((ends, format!("{what} after change {number}, by policy")));
                }
                self.note_started(&started, ends, outcome);
            }
        }
    }

    fn plan_back(
        &self,
        actions: &mut dyn PolicyActions,
        ends: LinkEnds,
        out: &str,
        is_needed: bool,
    ) -> Result<(u64, ReturnPlan), PolicyRefusal> {
        let begun = actions.find_isolation(out).map_err(PolicyRefusal::Change)?;
        let done = self.state.history.iter().map(|id| actions.find_isolation(id));
        let changes: Vec<IsolationRecord> = done.collect::<Result<_, _>>().map_err(PolicyRefusal::Change)?;
        let now = actions.read_fabric().map_err(PolicyRefusal::PartialSweep)?;
        let gone = || PolicyRefusal::Routes("it is not in the fabric now".to_owned());
        let others = self.others(ends);
        let request = ReturnRequest {
            link: link_between(&now.look, ends).ok_or_else(gone)?,
            number: begun.number,
            changes: &changes,
            others: &others,
            is_needed,
        };
        Ok((begun.number, plan_return(&now.look, request, now.sent(), actions.origin())?))
    }

    /// Confirms the change of a link, if the fabric is as planned.
    fn confirm(
        &mut self,
        actions: &mut dyn PolicyActions,
        ends: LinkEnds,
        is_present: bool,
        outcome: &mut PolicyOutcome,
    ) {
        let Some(id) = self.pending_id(ends) else { return };
        let Some((plan, accepted)) = self.plan.clone() else { return };
        match actions.find_deviation(&plan, &accepted) {
            // A change that could not be read is not confirmed: its guard rolls it back.
            Err(unread) => actions.report_line(&unread),
            // A rollback would lead paths over a cable that is down: the guard decides at the deadline.
            Ok(Some(deviation))
                if !is_present && self.state.find(ends).is_some_and(IsolatedLink::is_leaving) =>
            {
                actions.report_line(&deviation);
            }
            Ok(Some(deviation)) => self.roll_back(actions, ends, &deviation, outcome),
            // The switch may have been turned while the fabric was read.
            Ok(None) if actions.find_stop().is_some() => {}
            Ok(None) => match actions.confirm(&id) {
                Err(why) => actions.report_line(&why),
                Ok(()) => {
                    outcome
                        .notices
                        .extend(self.state.find(ends).map(|link| PolicyNotice::settled(link, true)));
                    self.plan = None;
                    self.state.settle(ends, true, 0);
                }
            },
        }
    }

    /// Whether pairs have lost their paths since the change of a link, by a complete reading of the fabric.
    fn loses_pairs(&self, actions: &mut dyn PolicyActions, ends: LinkEnds) -> bool {
        let Some(before) = self.state.find(ends).and_then(|link| Some(link.pending()?.lost_before)) else {
            return false;
        };
        match actions.read_fabric() {
            Ok(now) => certificate_in_force(&now.look).is_ok_and(|report| connected_losses(&report) > before),
            Err(_) => false,
        }
    }

    fn roll_back(
        &mut self,
        actions: &mut dyn PolicyActions,
        ends: LinkEnds,
        why: &str,
        outcome: &mut PolicyOutcome,
    ) {
        let Some(id) = self.pending_id(ends) else { return };
        if let Err(refused) = actions.roll_back(&id) {
            actions.report_line(&refused);
            return;
        }
        outcome.notices.extend(self.state.find(ends).map(|link| PolicyNotice::rolling_back(link, why)));
        outcome.wrote = true;
    }

    fn pending_id(&self, ends: LinkEnds) -> Option<String> {
        Some(self.state.find(ends)?.pending()?.id.clone())
    }
}

/// Whether more changed than when links were bad last, which is stored once a minute at most.
fn has_moved(before: &PolicyState, after: &PolicyState) -> bool {
    const SLACK_MS: i64 = 60_000;
    let rounded = |state: &PolicyState| {
        let mut state = state.clone();
        state.isolated.iter_mut().for_each(|link| link.bad_ms -= link.bad_ms.rem_euclid(SLACK_MS));
        state
    };
    rounded(before) != rounded(after)
}
