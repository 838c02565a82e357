//! Access of the console to changes: plans that it offers, and changes with their states. Each job may run in a
//! thread of its own; a port is opened for one job and belongs to it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::asked_change::{AskedChange, ChangeQuestion, QuestionFrontEnd, QuestionOutcome, ask_about};
use super::attestations::Attestations;
use super::change_comparison::ChangeComparison;
use super::change_exit::user;
use super::change_facts::ChangeFacts;
use super::change_list::{ChangeList, ChangeListCache, ListedChange};
use super::change_row::ChangeRow;
use super::changer::{Acceptance, ChangeOffer, ChangeOverview, Changer, PlanSource};
use super::in_process::{GuardThreadInput, InProcessChanges};
use super::preparation::{DriverOptions, PreparedChange};
use super::undo::PlannedUndo;
use super::undo_loss::UndoneChange;
use super::{change_comparison, change_store, guard_requests, refusal_audit, seen_changes, undo};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::nothing_to_do;
use crate::operations::environment::{Env, OperationOptions, simulator_socket, switch_guids};
use crate::operations::jobs::job_request::JobInput;
use crate::operations::lanes::lane_moves::LaneMoves;
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::lanes::migrations::migration_lines;
use crate::operations::lanes::slow_lanes::LaneState;
use crate::operations::plans::link_service::{LinkService, service_plan};
use crate::operations::plans::phases::phase_lines;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::plan_request::{PlanRequest, WriteMode};
use crate::operations::plans::proposal_plan::plan_text;
use crate::operations::plans::write_mode_offer::WriteModeOffer;
use crate::system::access::SystemAccess;
use fabdeck_change::{ChangeStatus, GuardRequest, Migration, Plan};
use fabdeck_fabric::Element;
use fabdeck_live::is_live;
use fabdeck_mad::access::{AttributePart, NoObserver, ReadObserver, RegistrationLookup};

/// Time to wait for a silent guard when the console lists changes.
const LIST_TIMEOUT: Duration = Duration::from_millis(300);

/// Changes of the source of a console. Clones share their state.
#[derive(Clone)]
pub struct ConsoleChanges(Arc<ConsoleChangesInner>);

struct ConsoleChangesInner {
    outside: Arc<dyn SystemAccess + Send + Sync>,
    given: OperationOptions,
    source: String,
    bug: Arc<dyn Fn() + Send + Sync>,
    /// GUIDs of the switches in the current snapshot.
    here: Mutex<BTreeSet<String>>,
    /// The last offer.
    offered: Mutex<Option<Arc<AskedChange>>>,
    known: Mutex<ChangeListCache>,
    own: InProcessChanges,
    /// Ids of the changes that this session showed as pending.
    watched: Mutex<BTreeSet<String>>,
    /// Pending change of another machine at the last query of its registration, and the time of that query.
    pending_elsewhere: Mutex<Option<(String, Instant)>>,
}

impl std::fmt::Debug for ConsoleChanges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleChanges").field("source", &self.0.source).finish_non_exhaustive()
    }
}

/// A plan with the text that its file would have, its title, and remarks about it.
struct PlannedChange {
    title: String,
    read: (Plan, String),
    remarks: Vec<String>,
    /// The change that it undoes.
    undone: Option<UndoneChange>,
}

/// Describes a change to the operator of the console, who answers later.
struct OfferFrontEnd<'c> {
    changes: &'c ConsoleChangesInner,
    offer: ChangeOffer,
    /// The running jobs, where they are known.
    jobs: Option<&'c JobInput>,
    undone: Option<UndoneChange>,
}

impl QuestionFrontEnd for OfferFrontEnd<'_> {
    fn report_line(&mut self, line: &str) {
        self.offer.remarks.push(line.to_owned());
    }

    fn ask(&mut self, change: &PreparedChange) -> Result<(), Failure> {
        let PreparedChange { look, judged, found, own, simulated, .. } = change;
        // Applying would be refused later, so the console does not ask the question.
        match own {
            true => self.changes.own.refuse_second()?,
            false => drop(change_store::open_for_source(self.changes.env(), *simulated)?),
        }
        let placed = self.jobs.map(|jobs| jobs.place(look));
        let offer = &mut self.offer;
        let jobs = placed.as_ref().map(|placed| &placed.jobs);
        offer.facts = ChangeFacts::of(change, jobs);
        offer.facts.undo =
            self.undone.as_ref().and_then(|undone| undone.count_loss(look, &change.plan, jobs));
        offer.remarks.extend(change.unregistered_warning());
        offer.remarks.extend(self.changes.outside.guard_lifetime_warning().filter(|_| !own));
        offer.source.clone_from(&look.source);
        offer.own = *own;
        offer.findings = found.iter().map(|(name, words)| ((*name).to_owned(), words.clone())).collect();
        let transition = judged.transition.lines().into_iter();
        offer.transition = transition.map(|(name, words)| (name.to_owned(), words)).collect();
        Ok(())
    }
}

/// Asks nothing: the operator has accepted the offer already.
struct AnsweredFrontEnd;

impl QuestionFrontEnd for AnsweredFrontEnd {
    fn report_line(&mut self, _: &str) {}

    fn ask(&mut self, _: &PreparedChange) -> Result<(), Failure> {
        Ok(())
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failure_message(failure: Failure) -> String {
    failure.message.unwrap_or_default()
}

impl ConsoleChanges {
    /// Creates the access; `bug` is called when a guard thread of this process panics.
    pub fn new(
        outside: Arc<dyn SystemAccess + Send + Sync>,
        source: &str,
        given: &OperationOptions,
        bug: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self(Arc::new(ConsoleChangesInner {
            outside,
            given: given.clone(),
            source: source.to_owned(),
            bug,
            here: Mutex::default(),
            offered: Mutex::default(),
            known: Mutex::default(),
            own: InProcessChanges::default(),
            watched: Mutex::default(),
            pending_elsewhere: Mutex::default(),
        }))
    }

    /// Sets the current snapshot. A recording is ignored, because it is not the live fabric.
    pub fn set_snapshot(&self, look: &Snapshot) {
        if is_live(&self.0.source) {
            *lock(&self.0.here) = switch_guids(look);
        }
    }

    /// Checks a plan against the fabric and reports the progress.
    pub fn offer_watched(
        &self,
        planned: &PlanSource,
        jobs: Option<&JobInput>,
        watch: &mut dyn ReadObserver,
    ) -> Result<ChangeOffer, String> {
        self.0.offer(planned, jobs, watch).map_err(|failure| self.0.audit_refusal(failure))
    }

    /// Compares confirmed changes with the fabric.
    pub fn compare_watched(&self, watch: &mut dyn ReadObserver) -> Result<Attestations, String> {
        let comparison = self.0.compare(watch).map_err(failure_message)?;
        *lock(&self.0.pending_elsewhere) =
            comparison.pending_elsewhere.clone().map(|what| (what, Instant::now()));
        Ok(comparison.by_change)
    }
}

impl Changer for ConsoleChanges {
    fn prepare_offer(&mut self, planned: &PlanSource) -> Result<ChangeOffer, String> {
        self.offer_watched(planned, None, &mut NoObserver)
    }

    fn prepare_offer_for(
        &mut self,
        planned: &PlanSource,
        jobs: Option<&JobInput>,
    ) -> Result<ChangeOffer, String> {
        self.offer_watched(planned, jobs, &mut NoObserver)
    }

    fn compare_changes(&mut self) -> Result<Attestations, String> {
        self.compare_watched(&mut NoObserver)
    }

    fn begin_change(&mut self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String> {
        self.0.begin(offer, acceptance).map_err(|failure| self.0.audit_refusal(failure))
    }

    fn read_lanes(&mut self, asked: &LaneRequest) -> Result<LaneState, String> {
        self.0.read_lane_moves(asked, &mut NoObserver).map(|moves| moves.state()).map_err(failure_message)
    }

    fn list_changes(&mut self) -> Result<ChangeOverview, String> {
        self.0.changes().map_err(failure_message)
    }

    fn ask_guard(&mut self, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, String> {
        self.0.ask_guard(id, ask).map_err(failure_message)
    }
}

impl ConsoleChangesInner {
    /// Message of a refusal; the refusal is also written to the audit trail.
    fn audit_refusal(&self, failure: Failure) -> String {
        failure_message(refusal_audit::audit_source_refusal(
            self.env(),
            &self.source,
            "apply, in the console",
            failure,
            &mut |_| {},
        ))
    }

    fn env(&self) -> Env<'_> {
        Env { outside: self.outside.as_ref(), given: &self.given }
    }

    fn offer(
        &self,
        planned: &PlanSource,
        jobs: Option<&JobInput>,
        watch: &mut dyn ReadObserver,
    ) -> Result<ChangeOffer, Failure> {
        let PlannedChange { title, read, remarks, undone } = self.read_plan(planned, watch)?;
        let mut offer = ChangeOffer { remarks, ..describe_plan(title, &self.source, &read.0) };
        offer.undoes_moves = undone.as_ref().is_some_and(|undone| undone.moves_flows);
        if let PlanSource::Proposed(request) = planned {
            offer.mode = WriteModeOffer::of_request(request, &read.0);
        }
        let mut front = OfferFrontEnd { changes: self, offer, jobs, undone };
        let outcome = self.ask(read, watch, &mut front)?;
        let mut offer = front.offer;
        match outcome {
            QuestionOutcome::NothingToDo(nothing) => {
                offer.remarks.extend(nothing.warning());
                offer.applied = true;
            }
            QuestionOutcome::Asked(asked) => {
                offer.plan = Some(asked.plan.clone());
                *lock(&self.offered) = Some(Arc::from(asked));
            }
        }
        Ok(offer)
    }

    /// Compares a plan with the fabric, refuses what no option accepts, and asks.
    fn ask(
        &self,
        read: (Plan, String),
        watch: &mut dyn ReadObserver,
        front: &mut dyn QuestionFrontEnd,
    ) -> Result<QuestionOutcome, Failure> {
        let driver = DriverOptions::default();
        let question = ChangeQuestion { source: &self.source, driver: &driver, accepted: None };
        ask_about(self.env(), question, read, watch, front).map(|(outcome, _)| outcome)
    }

    /// The planned change as a plan, with the text that its file would have and remarks about it.
    fn read_plan(
        &self,
        planned: &PlanSource,
        watch: &mut dyn ReadObserver,
    ) -> Result<PlannedChange, Failure> {
        let refused = |words: String| Failure::new(crate::catalogue::exit::Exit::Failed, words);
        let text = |text: String| match Plan::read(&text) {
            Ok(plan) => Ok((plan, text)),
            Err(error) => Err(refused(error.to_string())),
        };
        let (title, read) = match planned {
            PlanSource::Undo { id, number } => {
                let PlannedUndo { plan, remarks, undone, .. } = self.plan_undo(id, watch)?;
                let said = plan_text(&plan).map_err(|error| refused(error.to_string()))?;
                let title = format!("undo of change {number}");
                let undone = Some(undone);
                return Ok(PlannedChange { title, read: text(said)?, remarks, undone });
            }
            PlanSource::Proposed(request) => {
                (request.engine.to_owned(), text(self.proposed_text(request, watch)?)?)
            }
            PlanSource::File(file) => (file.display().to_string(), plan_file::read_with_text(file)?),
            PlanSource::Lanes(asked) => {
                let plan = self.read_lane_moves(asked, watch)?.plan(PlanOrigin::now(&self.given));
                let plan = plan.map_err(|error| refused(error.to_string()))?;
                let said = plan_text(&plan).map_err(|error| refused(error.to_string()))?;
                let title = if asked.back { "dFtree's moves back" } else { "dFtree's moves" };
                (title.to_owned(), text(said)?)
            }
            PlanSource::Service { look, element, service } => {
                let does = if *service == LinkService::Disable { "disable" } else { "enable" };
                let title = format!("{does} {}", Element::from_id(look.fabric(), &look.names, *element));
                let made = service_plan(
                    look,
                    *element,
                    *service,
                    LevelsInForce::Unsaid,
                    PlanOrigin::now(&self.given),
                );
                let made = made.map_err(|error| refused(error.to_string()))?;
                (title, text(plan_text(&made).map_err(|error| refused(error.to_string()))?)?)
            }
        };
        Ok(PlannedChange { title, read, remarks: Vec::new(), undone: None })
    }

    /// The text of the plan of an engine, at once or in five phases.
    fn proposed_text(&self, request: &PlanRequest, watch: &mut dyn ReadObserver) -> Result<String, Failure> {
        let refused = |words: String| Failure::new(crate::catalogue::exit::Exit::Failed, words);
        match request.mode {
            WriteMode::AtOnce => request.make_text(PlanOrigin::now(&self.given)).map_err(refused),
            WriteMode::FivePhases => {
                let plan = request.make_phased(self.env(), &self.source, watch)?;
                plan_text(&plan).map_err(|error| refused(error.to_string()))
            }
        }
    }

    /// Plans the way back of a confirmed change.
    fn plan_undo(&self, id: &str, watch: &mut dyn ReadObserver) -> Result<PlannedUndo, Failure> {
        let state = match self.own.history().into_iter().find(|state| state.begun.id == id) {
            Some(state) => state,
            None => undo::find_state(self.env(), id)?,
        };
        undo::plan_undo(self.env(), &self.source, &state, &|_| self.all_migrations_in_force(), watch)
    }

    /// Migrations of earlier changes that still leave flows on the slow lane.
    fn all_migrations_in_force(&self) -> Result<Vec<Migration>, Failure> {
        if self.outside.is_own_simulator(&self.source) {
            return Ok(self.own.migrations());
        }
        // The list of changes shows the unreadable ones.
        change_store::all_migrations_in_force(self.env(), &self.source, lock(&self.here).clone())
            .map(|(migrations, _)| migrations)
    }

    /// Reads the lane tables and computes the moves from the session's verdict.
    fn read_lane_moves(
        &self,
        asked: &LaneRequest,
        watch: &mut dyn ReadObserver,
    ) -> Result<LaneMoves, Failure> {
        let left = self.all_migrations_in_force()?;
        asked.read_moves(self.env(), &self.source, &left, watch)
    }

    fn begin(&self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, Failure> {
        let Some(plan) = offer.plan.as_ref().filter(|_| !offer.applied) else {
            return Err(Failure::new(
                crate::catalogue::exit::Exit::Refused,
                nothing_to_do("the plan", offer.parts),
            ));
        };
        // Only the last offer is kept; an older plan is checked against the fabric again.
        let last = lock(&self.offered).clone();
        let asked = match last.filter(|last| Arc::ptr_eq(&last.plan, plan)) {
            Some(asked) => asked,
            None => match self.ask((**plan).clone(), &mut NoObserver, &mut AnsweredFrontEnd)? {
                QuestionOutcome::Asked(asked) => Arc::from(asked),
                QuestionOutcome::NothingToDo(_) => {
                    return Err(Failure::new(
                        crate::catalogue::exit::Exit::Refused,
                        nothing_to_do("the plan", offer.parts),
                    ));
                }
            },
        };
        let accepted = asked.accept(acceptance)?;
        let id = match accepted.is_in_process() {
            true => accepted.begin_in_process(&self.own, |plan| GuardThreadInput {
                outside: self.outside.clone(),
                given: self.given.clone(),
                plan,
                bug: self.bug.clone(),
            })?,
            false => accepted.begin(self.env(), &mut |_| {})?.1.read.state.begun.id,
        };
        lock(&self.watched).insert(id.clone());
        Ok(id)
    }

    fn ask_guard(&self, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, Failure> {
        // The user of this process is the one who asks, whatever name the order contains.
        let ask = ask.clone().with_user(&user());
        let status = match self.own.ask(id, &ask) {
            Some(answered) => answered?,
            None => guard_requests::send_order(self.env(), id, &ask, &mut |_| {})?,
        };
        if !status.phase.is_pending() {
            lock(&self.watched).remove(id);
            seen_changes::record_phase(self.outside.as_ref(), id, status.phase);
        }
        Ok(status)
    }

    fn compare(&self, watch: &mut dyn ReadObserver) -> Result<ChangeComparison, Failure> {
        match self.outside.is_own_simulator(&self.source) {
            true => {
                change_comparison::compare_in_process(self.env(), &self.source, self.own.history(), watch)
            }
            false => change_comparison::compare(self.env(), &self.source, watch),
        }
    }

    fn changes(&self) -> Result<ChangeOverview, Failure> {
        let ChangeList { rows: listed, mut unread, closed, .. } =
            lock(&self.known).list(self.env(), LIST_TIMEOUT)?;
        // A simulator's changes are never in a folder of another user, so closed folders do not matter to it.
        unread.extend(
            closed.into_iter().filter(|_| simulator_socket(&self.source).is_ok_and(|path| path.is_none())),
        );
        unread.extend(self.pending_elsewhere());
        // The console lists changes regularly, so it may be the first to notice a guard that died.
        if lock(&self.known).has_abandoned() {
            change_store::resume_abandoned(self.env(), &mut |line| unread.push(line.to_owned()));
        }
        let simulator = simulator_socket(&self.source).ok().flatten();
        let switches = lock(&self.here).clone();
        let is_here = |listed: &ListedChange| listed.is_of_fabric(simulator.as_deref(), &switches);
        let mut here: BTreeSet<String> =
            listed.iter().filter(|listed| is_here(listed)).map(|listed| listed.row.id.clone()).collect();
        let mut rows: Vec<ChangeRow> = self.own.rows();
        rows.reverse();
        here.extend(rows.iter().map(|row| row.id.clone()));
        let ended_since = self.ended_since(&listed, &rows, &here);
        rows.extend(listed.into_iter().map(|listed| listed.row));
        Ok(ChangeOverview { rows, here, ended_since, unread, now: Timestamp::now().to_string() })
    }

    /// Pending change of another machine while it is registered. The subnet manager is asked again at intervals as
    /// long as there is one.
    fn pending_elsewhere(&self) -> Option<String> {
        const ASKED_AGAIN: Duration = Duration::from_secs(5);
        let (before, asked) = lock(&self.pending_elsewhere).clone()?;
        if asked.elapsed() < ASKED_AGAIN {
            return Some(before);
        }
        let surveyor = self.outside.surveyor(&self.source, &self.given.reach);
        let now = match surveyor.map(|mut surveyor| surveyor.read_registration()) {
            // A subnet manager that does not answer does not prove the end of the change.
            Err(_) | Ok(RegistrationLookup::NotKept(_)) => Some(before),
            Ok(found) => change_comparison::pending_elsewhere(self.env(), &found),
        };
        *lock(&self.pending_elsewhere) = now.clone().map(|what| (what, Instant::now()));
        now
    }

    /// Messages about changes that ended since this user last saw them pending, here or in another session. Remembers
    /// the current list.
    fn ended_since(
        &self,
        listed: &[ListedChange],
        own: &[ChangeRow],
        here: &BTreeSet<String>,
    ) -> Vec<String> {
        let before = seen_changes::read_pending(self.outside.as_ref());
        let mut watched = lock(&self.watched);
        let (mut pending, mut known, mut ended) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for row in own.iter().chain(listed.iter().map(|listed| &listed.row)) {
            let (kept, id) = (!own.iter().any(|own| own.id == row.id), &row.id);
            // Sessions on the other fabric report its changes.
            if !here.contains(id) {
                continue;
            }
            if row.state.is_pending() {
                watched.insert(id.clone());
                pending.extend(Some(id.clone()).filter(|_| kept));
            } else {
                let was_watched = watched.remove(id);
                known.extend(Some(id.clone()).filter(|_| before.contains(id)));
                ended.extend(Some(id.clone()).filter(|_| was_watched || before.contains(id)));
            }
        }
        drop(watched);
        seen_changes::store(self.outside.as_ref(), &pending, &known);
        ended
    }
}

/// Offer with what a plan says by itself, before it is checked against a fabric.
fn describe_plan(title: String, source: &str, plan: &Plan) -> ChangeOffer {
    let (switches, adapters) = plan.count_targets();
    ChangeOffer {
        title,
        source: source.to_owned(),
        parts: plan.writes.len(),
        blocks: plan.writes.iter().filter(|write| matches!(write.part, AttributePart::Block(_))).count(),
        switches,
        adapters,
        moved_pairs: plan.impact["moved_pairs"].as_u64().unwrap_or(0),
        migrations: migration_lines(plan)
            .into_iter()
            .chain(phase_lines(plan))
            .map(|(_, words)| words)
            .collect(),
        transition: Vec::new(),
        findings: Vec::new(),
        facts: ChangeFacts::default(),
        mode: WriteModeOffer::of_plan(plan),
        undoes_moves: false,
        own: false,
        remarks: Vec::new(),
        applied: false,
        plan: None,
    }
}
