//! Access of the console to changes: plans that it offers, and changes with their states. Each job may run in a
//! thread of its own; a port is opened for one job and belongs to it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::attested::Comparison;
use super::laned::Laned;
use super::listed::{Known, Listed, Listing};
use super::means::{Given, Means};
use super::own::{Hands, OwnChanges};
use super::prepared::{Prepared, Road, begin, prepare, said_yes, simulator, switches};
use super::told::user;
use super::{accept, asking, attested, home, refused, seen};
use crate::script::open::Outside;
use crate::script::{Failure, plan};
use crate::session::interactive::{
    Acceptance, Attestations, ChangeOffer, Changer, Changes, LanesAsked, Planned,
};
use crate::session::{
    ChangeRow, LaneState, Look, Made, Sent, Service, migration_lines, phase_lines, plan_text, service_plan,
};
use fabdeck_change::{Ask, Begun, Migration, Plan, Status, have_most_in_common};
use fabdeck_fabric::Element;
use fabdeck_live::is_live;
use fabdeck_mad::access::{Registered, Unwatched, Watch};

/// Time to wait for a silent guard when the console lists changes.
const GLANCE: Duration = Duration::from_millis(300);

/// Changes of the source of a console. Clones share their state.
#[derive(Clone)]
pub struct Clerk(Arc<Office>);

struct Office {
    outside: Arc<dyn Outside + Send + Sync>,
    given: Given,
    source: String,
    /// Whether plans get no creation time and no author.
    no_times: bool,
    bug: Arc<dyn Fn() + Send + Sync>,
    /// GUIDs of the switches in the current snapshot.
    here: Mutex<BTreeSet<String>>,
    /// The last offer.
    offered: Mutex<Option<Arc<Ready>>>,
    known: Mutex<Known>,
    own: OwnChanges,
    /// Ids of the changes that this session showed as pending.
    watched: Mutex<BTreeSet<String>>,
    /// Pending change of another machine at the last query of its registration, and the time of that query.
    pending_elsewhere: Mutex<Option<(String, Instant)>>,
}

impl std::fmt::Debug for Clerk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clerk").field("source", &self.0.source).finish_non_exhaustive()
    }
}

/// A checked plan that only waits for the operator's confirmation.
struct Ready {
    plan: Arc<(Plan, String)>,
    /// First record of the journal, still without user and time.
    begun: Begun,
    found: Vec<(&'static str, String)>,
    own: bool,
    simulated: bool,
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words(failure: Failure) -> String {
    failure.message.unwrap_or_default()
}

impl Clerk {
    /// Creates the access; `bug` is called when a guard thread of this process panics.
    pub fn new(
        outside: Arc<dyn Outside + Send + Sync>,
        (source, given, no_times): (&str, &Given, bool),
        bug: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self(Arc::new(Office {
            outside,
            given: given.clone(),
            source: source.to_owned(),
            no_times,
            bug,
            here: Mutex::default(),
            offered: Mutex::default(),
            known: Mutex::default(),
            own: OwnChanges::default(),
            watched: Mutex::default(),
            pending_elsewhere: Mutex::default(),
        }))
    }

    /// Sets the current snapshot. A recording is ignored, because it is not the live fabric.
    pub fn looked(&self, look: &Look) {
        if is_live(&self.0.source) {
            *lock(&self.0.here) = switches(look);
        }
    }

    /// Checks a plan against the fabric and reports the progress.
    pub fn offer_watched(&self, planned: &Planned, watch: &mut dyn Watch) -> Result<ChangeOffer, String> {
        self.0.offer(planned, watch).map_err(|failure| self.0.refused(failure))
    }

    /// Compares confirmed changes with the fabric.
    pub fn compare_watched(&self, watch: &mut dyn Watch) -> Result<Attestations, String> {
        let comparison = self.0.compare(watch).map_err(words)?;
        *lock(&self.0.pending_elsewhere) =
            comparison.pending_elsewhere.clone().map(|what| (what, Instant::now()));
        Ok(comparison.by_change)
    }
}

impl Changer for Clerk {
    fn offer(&mut self, planned: &Planned) -> Result<ChangeOffer, String> {
        self.offer_watched(planned, &mut Unwatched)
    }

    fn compare(&mut self) -> Result<Attestations, String> {
        self.compare_watched(&mut Unwatched)
    }

    fn begin(&mut self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String> {
        self.0.begin(offer, acceptance).map_err(|failure| self.0.refused(failure))
    }

    fn lanes(&mut self, asked: &LanesAsked) -> Result<LaneState, String> {
        self.0.laned(asked, &mut Unwatched).map(|laned| laned.state()).map_err(words)
    }

    fn changes(&mut self) -> Result<Changes, String> {
        self.0.changes().map_err(words)
    }

    fn ask(&mut self, id: &str, ask: &Ask) -> Result<Status, String> {
        self.0.ask(id, ask).map_err(words)
    }
}

impl Office {
    /// Message of a refusal; the refusal is also written to the audit trail.
    fn refused(&self, failure: Failure) -> String {
        words(refused::to_source(self.means(), &self.source, "apply, in the console", failure, &mut |_| {}))
    }

    fn means(&self) -> Means<'_> {
        Means { outside: self.outside.as_ref(), given: &self.given }
    }

    fn offer(&self, planned: &Planned, watch: &mut dyn Watch) -> Result<ChangeOffer, Failure> {
        let (title, read) = self.read(planned, watch)?;
        let mut offer = said(title, &self.source, &read.0);
        let road = Road::default();
        let Some(mut ready) = prepare(self.means(), &self.source, read, &road, watch)? else {
            return Ok(ChangeOffer { applied: true, ..offer });
        };
        ready.refuse(self.means(), &road, &mut |remark| offer.remarks.push(remark.to_owned()))?;
        let begun = ready.begun(self.means(), &road)?;
        let Prepared { plan, text, look, judged, found, own, simulated, .. } = ready;
        // Applying would be refused later, so the console does not ask the question.
        match own {
            true => self.own.refuse_second()?,
            false => {
                home::of_source(self.means(), simulated)?.refuse_second(&begun).map_err(home::refused)?
            }
        }
        offer.remarks.extend(self.outside.guard_may_end_with().filter(|_| !own));
        let plan = Arc::new((plan, text));
        let ready = Ready { plan: plan.clone(), begun, found, own, simulated };
        let findings = ready.found.iter().map(|(name, words)| ((*name).to_owned(), words.clone())).collect();
        *lock(&self.offered) = Some(Arc::new(ready));
        let transition = judged.transition.lines().into_iter();
        let line = |(name, words): (&'static str, String)| (name.to_owned(), words);
        Ok(ChangeOffer {
            source: look.source,
            transition: transition.map(line).collect(),
            findings,
            own,
            plan: Some(plan),
            ..offer
        })
    }

    /// The planned change as a plan, with the text that its file would have.
    fn read(&self, planned: &Planned, watch: &mut dyn Watch) -> Result<(String, (Plan, String)), Failure> {
        let refused = |words: String| Failure::new(crate::script::Exit::Failed, words);
        let text = |text: String| match Plan::read(&text) {
            Ok(plan) => Ok((plan, text)),
            Err(error) => Err(refused(error.to_string())),
        };
        Ok(match planned {
            Planned::Proposed(plan) => {
                (plan.engine.to_owned(), text(plan.text(self.made()).map_err(refused)?)?)
            }
            Planned::File(file) => (file.display().to_string(), plan::read_with_text(file)?),
            Planned::Lanes(asked) => {
                let plan = self.laned(asked, watch)?.plan(self.made())?;
                let said = plan_text(&plan).map_err(|error| refused(error.to_string()))?;
                let title = if asked.back { "dFtree's moves back" } else { "dFtree's moves" };
                (title.to_owned(), text(said)?)
            }
            Planned::Service { look, element, service } => {
                let does = if *service == Service::Disable { "disable" } else { "enable" };
                let title = format!("{does} {}", Element::of(look.fabric(), &look.names, *element));
                let made = service_plan(look, *element, *service, Sent::Unsaid, self.made());
                let made = made.map_err(|error| refused(error.to_string()))?;
                (title, text(plan_text(&made).map_err(|error| refused(error.to_string()))?)?)
            }
        })
    }

    /// Migrations of earlier changes that still leave flows on the slow lane.
    fn in_force(&self) -> Result<Vec<Migration>, Failure> {
        match self.outside.is_own_simulator(&self.source) {
            true => Ok(self.own.moved()),
            false => home::in_force(self.means(), &self.source, lock(&self.here).clone()),
        }
    }

    /// Reads the lane tables and computes the migrations from the session's verdict.
    fn laned(&self, asked: &LanesAsked, watch: &mut dyn Watch) -> Result<Laned, Failure> {
        let left = self.in_force()?;
        Laned::read(self.means(), &self.source, asked, &left, watch)
    }

    fn made(&self) -> Made {
        let times = !self.no_times;
        Made { created: times.then(|| Timestamp::now().to_string()), author: times.then(user) }
    }

    fn begin(&self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, Failure> {
        let Some(plan) = offer.plan.as_ref().filter(|_| !offer.applied) else {
            let words = "nothing to do: all that the plan writes stands there already";
            return Err(Failure::new(crate::script::Exit::Refused, words));
        };
        // Only the last offer is kept; an older plan is checked against the fabric again.
        let last = lock(&self.offered).clone();
        let ready = match last.filter(|last| Arc::ptr_eq(&last.plan, plan)) {
            Some(ready) => ready,
            None => self
                .again(plan)?
                .ok_or_else(|| Failure::new(crate::script::Exit::Refused, "it is applied already"))?,
        };
        accept::refuse(&ready.found, &acceptance.accepted)?;
        let begun = said_yes(ready.begun.clone(), acceptance);
        let id = match ready.own {
            true => {
                let (outside, given) = (self.outside.clone(), self.given.clone());
                self.own.begin(begun, Hands { outside, given, plan: plan.clone(), bug: self.bug.clone() })?
            }
            false => {
                let (_, kept) = begin(self.means(), ready.simulated, (begun, &plan.1), &mut |_| {})?;
                kept.read.told.begun.id
            }
        };
        lock(&self.watched).insert(id.clone());
        Ok(id)
    }

    fn ask(&self, id: &str, ask: &Ask) -> Result<Status, Failure> {
        // The user of this process is the one who asks, whatever name the order contains.
        let ask = ask.clone().signed(&user());
        let status = match self.own.ask(id, &ask) {
            Some(answered) => answered?,
            None => asking::order(self.means(), id, &ask, &mut |_| {})?,
        };
        if !status.phase.is_pending() {
            lock(&self.watched).remove(id);
            seen::saw(self.outside.as_ref(), id, status.phase);
        }
        Ok(status)
    }

    fn compare(&self, watch: &mut dyn Watch) -> Result<Comparison, Failure> {
        match self.outside.is_own_simulator(&self.source) {
            true => attested::compare_own(self.means(), &self.source, self.own.history(), watch),
            false => attested::compare(self.means(), &self.source, watch),
        }
    }

    fn changes(&self) -> Result<Changes, Failure> {
        let Listing { rows: listed, mut unread, closed } = lock(&self.known).list(self.means(), GLANCE)?;
        // A simulator's changes are never in a folder of another user, so closed folders do not matter to it.
        unread
            .extend(closed.into_iter().filter(|_| simulator(&self.source).is_ok_and(|path| path.is_none())));
        unread.extend(self.pending_elsewhere());
        // The console lists changes regularly, so it may be the first to notice a guard that died.
        if lock(&self.known).has_abandoned() {
            home::resume(self.means(), &mut |line| unread.push(line.to_owned()));
        }
        let simulator = simulator(&self.source).ok().flatten();
        let switches = lock(&self.here).clone();
        let is_here = |listed: &Listed| {
            listed.simulator == simulator && have_most_in_common(&listed.switches, &switches)
        };
        let mut here: BTreeSet<String> =
            listed.iter().filter(|listed| is_here(listed)).map(|listed| listed.row.id.clone()).collect();
        let mut rows: Vec<ChangeRow> = self.own.rows();
        rows.reverse();
        here.extend(rows.iter().map(|row| row.id.clone()));
        let ended_since = self.ended_since((&listed, &rows), &here);
        rows.extend(listed.into_iter().map(|listed| listed.row));
        Ok(Changes { rows, here, ended_since, unread, now: Timestamp::now().to_string() })
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
        let now = match surveyor.map(|mut surveyor| surveyor.registered()) {
            // A subnet manager that does not answer does not prove the end of the change.
            Err(_) | Ok(Registered::NotKept(_)) => Some(before),
            Ok(found) => attested::pending_elsewhere(self.means(), &found),
        };
        *lock(&self.pending_elsewhere) = now.clone().map(|what| (what, Instant::now()));
        now
    }

    /// Messages about changes that ended since this user last saw them pending, here or in another session. Remembers
    /// the current list.
    fn ended_since(&self, (listed, own): (&[Listed], &[ChangeRow]), here: &BTreeSet<String>) -> Vec<String> {
        let before = seen::pending(self.outside.as_ref());
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
        seen::keep(self.outside.as_ref(), &pending, &known);
        ended
    }

    /// Checks an offered plan against the fabric again.
    fn again(&self, plan: &Arc<(Plan, String)>) -> Result<Option<Arc<Ready>>, Failure> {
        let read = (plan.0.clone(), plan.1.clone());
        let road = Road::default();
        let Some(mut ready) = prepare(self.means(), &self.source, read, &road, &mut Unwatched)? else {
            return Ok(None);
        };
        ready.refuse(self.means(), &road, &mut |_| {})?;
        let begun = ready.begun(self.means(), &road)?;
        let Prepared { found, own, simulated, .. } = ready;
        Ok(Some(Arc::new(Ready { plan: plan.clone(), begun, found, own, simulated })))
    }
}

/// Offer with what a plan says by itself, before it is checked against a fabric.
fn said(title: String, source: &str, plan: &Plan) -> ChangeOffer {
    let (switches, adapters) = plan.written();
    ChangeOffer {
        title,
        source: source.to_owned(),
        parts: plan.writes.len(),
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
        own: false,
        remarks: Vec::new(),
        applied: false,
        plan: None,
    }
}
