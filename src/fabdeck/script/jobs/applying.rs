//! `jobs watch --apply`: a proposal becomes a change like any other. The watch then reads the fabric again and
//! confirms the change. If it cannot read the fabric, it does not confirm, and the guard rolls the change back.

use std::time::{Duration, Instant};

use super::asked::{ApplyChoice, TURN};
use super::event::{Event, print};
use super::mark::Mark;
use crate::script::changing::{
    Given, Means, Road, Terms, Via, apply_step, confirm_step, drifted, hides, look_at_change, open_findings,
    refuse_without_right, road, roll_back_step, state_folder,
};
use crate::script::context::Context;
use crate::script::{Ending, Exit, Failure, Stop, levels, plan};
use crate::session::check_behind;
use crate::session::interactive::Acceptance;
use fabdeck_change::{Phase, Plan, Status};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::Wanted;

/// Pause between two attempts to read the status of a change.
const PAUSE: Duration = Duration::from_secs(2);
/// Time after the window of a change from which on its end counts as unknown.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time to wait for a rollback before the guard is asked again.
const BACK: Duration = Duration::from_secs(25);

/// Applies the proposals of a watch.
pub struct Applier {
    road: Road,
    acceptance: Acceptance,
    source: String,
    given: Given,
    mark: Mark,
}

/// Whether the watch may propose routes for the same jobs again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Done,
    /// The reason why it was not applied is temporary.
    Again,
}

impl Applier {
    /// Creates the applier; refuses at once if no proposal could ever be applied.
    pub fn new(context: &mut Context<'_, '_>, choice: &ApplyChoice) -> Result<Option<Self>, Failure> {
        if !choice.apply {
            return Ok(None);
        }
        let (source, given) = (context.named_source()?.to_owned(), context.given());
        let means = Means { outside: context.outside, given: &given };
        refuse_without_right(means, &source)?;
        let mark = Mark::of(&state_folder(means, &source)?);
        if let Some(why) = mark.standing() {
            context.output.say(&why);
        }
        let opensm = choice.via == Via::Opensm;
        let road = road(opensm, choice.opensm_conf.clone(), choice.opensm_console, choice.beside_manager);
        let (accepted, window) = (Vec::new(), choice.confirm_within);
        let acceptance = Acceptance { accepted, window, unanswered: choice.unanswered.unanswered() };
        Ok(Some(Self { road, acceptance, source, given, mark }))
    }

    fn means<'m>(&'m self, context: &Context<'m, '_>) -> Means<'m> {
        Means { outside: context.outside, given: &self.given }
    }

    /// Applies a plan and waits until the change is decided, for which the watch does its part.
    pub fn apply(&self, context: &mut Context<'_, '_>, stop: &Stop, text: String) -> Result<Then, Failure> {
        if let Some(why) = self.mark.standing() {
            print(context, &Event::NotApplied { why })?;
            return Ok(Then::Again);
        }
        let read = |error| Failure::new(Exit::Bug, format!("FD-7923: {error}"));
        let plan = Plan::read(&text).map_err(read)?;
        let mut begun = None;
        let status = self.applied(context, stop, (plan.clone(), text), &mut begun);
        let id = match (status, begun) {
            (Ok(Some(status)), _) if status.phase != Phase::Refused => {
                if status.phase == Phase::Applied {
                    let deadline = status.deadline.clone().filter(|_| !context.globals.no_times);
                    let (change, writes) = (status.id.clone(), status.writes);
                    print(context, &Event::Applied { change, writes, deadline })?;
                }
                status.id
            }
            // The change began, although this process lost track of it.
            (Err(_), Some(id)) if self.is_begun(context, &id) => id,
            (status, begun) => {
                if begun.is_some() {
                    self.mark.take_away()?;
                }
                let why = match status {
                    Ok(None) => "all that the plan writes stands there already".to_owned(),
                    Ok(Some(status)) => status.why.unwrap_or_default(),
                    Err(failure) => failure.message.unwrap_or_default(),
                };
                if !stop.is_asked() {
                    print(context, &Event::NotApplied { why })?;
                }
                return Ok(Then::Again);
            }
        };
        self.decide(context, stop, &id, &plan)?;
        Ok(Then::Done)
    }

    /// Whether the change began. An unknown state counts as begun, because only a change that certainly does not
    /// exist leaves no mark.
    fn is_begun(&self, context: &Context<'_, '_>, id: &str) -> bool {
        match look_at_change(self.means(context), id) {
            Ok(status) => status.phase != Phase::Refused,
            Err(failure) => failure.exit != Exit::Usage,
        }
    }

    fn applied(
        &self,
        context: &mut Context<'_, '_>,
        stop: &Stop,
        read: (Plan, String),
        begun: &mut Option<String>,
    ) -> Result<Option<Status>, Failure> {
        let terms = Terms {
            source: &self.source,
            road: &self.road,
            acceptance: &self.acceptance,
            by: "by a watch over jobs",
        };
        let means = Means { outside: context.outside, given: &self.given };
        let output = &mut context.output;
        apply_step(means, &terms, read, &mut Ending(stop), &mut |line| output.say(line), &mut |id| {
            self.mark.set(id)?;
            *begun = Some(id.to_owned());
            Ok(())
        })
    }

    /// Confirms a change that is as planned, rolls back one that is not, and leaves the rest to the guard.
    fn decide(
        &self,
        context: &mut Context<'_, '_>,
        stop: &Stop,
        id: &str,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let since = Instant::now();
        let mut why = "its window was over".to_owned();
        loop {
            let status = look_at_change(self.means(context), id);
            if let Ok(status) = &status
                && !status.phase.is_pending()
            {
                return self.ended(context, status, &why);
            }
            if stop.is_asked() {
                context.output.say(&format!("change {id} is left to its guard, which takes it back"));
                return Ok(());
            }
            if since.elapsed() > self.acceptance.window + PATIENCE {
                let marked = self.mark.tell(&why);
                print(context, &Event::Failed { change: id.to_owned(), state: None, why })?;
                return marked;
            }
            if status.is_ok_and(|status| status.phase == Phase::Applied) {
                match self.wrong(context, plan) {
                    Ok(None) => match self.confirm(context, id) {
                        Ok(()) => continue,
                        Err(failure) => why = failure.message.unwrap_or_default(),
                    },
                    Ok(Some(wrong)) => {
                        context.output.say(&wrong);
                        why = wrong;
                        self.take_back(context, id);
                    }
                    // A change that could not be read is not confirmed.
                    Err(unseen) => why = unseen,
                }
            }
            pause(stop);
        }
    }

    fn confirm(&self, context: &mut Context<'_, '_>, id: &str) -> Result<(), Failure> {
        let means = Means { outside: context.outside, given: &self.given };
        let output = &mut context.output;
        confirm_step(means, id, &mut |line| output.say(line)).map(drop)
    }

    /// Rolls a change back; if that fails, the guard does it at the deadline.
    fn take_back(&self, context: &mut Context<'_, '_>, id: &str) {
        let means = Means { outside: context.outside, given: &self.given };
        let output = &mut context.output;
        let ended = roll_back_step(means, id, BACK, &mut |line| output.say(line));
        if let Err(Failure { message: Some(message), .. }) = ended {
            context.output.say(&message);
        }
    }

    fn ended(&self, context: &mut Context<'_, '_>, status: &Status, why: &str) -> Result<(), Failure> {
        let change = status.id.clone();
        if status.phase == Phase::Confirmed {
            self.mark.take_away()?;
            return print(context, &Event::Confirmed { change });
        }
        let why = match &status.why {
            Some(guard) if guard != why => format!("{guard}; {why}"),
            _ => why.to_owned(),
        };
        let marked = self.mark.tell(&format!("it is {}: {why}", status.phase.title()));
        let event = match status.phase {
            Phase::RolledBack => Event::RolledBack { change, why },
            phase => Event::Failed { change, state: Some(phase.title().to_owned()), why },
        };
        print(context, &event)?;
        marked
    }

    /// What differs from the plan in a reading independent of the guard's; an error if that is unknown.
    fn wrong(&self, context: &mut Context<'_, '_>, plan: &Plan) -> Result<Option<String>, String> {
        let told = |failure: Failure| failure.message.unwrap_or_default();
        let wanted = Wanted { tables: true, lanes: plan::knows_lanes(plan), ..Wanted::default() };
        let (look, in_force) = levels::look(context, wanted, (None, false)).map_err(told)?;
        if hides(&look.observation) {
            return Err("part of the fabric did not answer, so nobody can tell".to_owned());
        }
        if let Some(drift) = drifted(&look, plan) {
            return Ok(Some(format!("FD-7818: the fabric is not what was applied: {drift}")));
        }
        let report = check_behind((&look, Some(plan)), &Faults::new(), in_force.sent())
            .map_err(|refusal| told(refusal.into()))?;
        let open = open_findings(&report, &[]);
        Ok((!open.is_empty()).then(|| format!("FD-7818: {}", open.join("; "))))
    }
}

fn pause(stop: &Stop) {
    let since = Instant::now();
    while since.elapsed() < PAUSE && !stop.is_asked() {
        std::thread::sleep(TURN);
    }
}
