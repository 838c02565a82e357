//! `jobs watch`: figure 5.6 of the dissertation. The watch reads lists of jobs repeatedly. If the jobs on several
//! switches differ and routes made for them gain enough, it proposes those routes, and applies them if asked to.
//!
//! The watch reads the fabric only to judge a list. The last snapshot says whether that is needed: hosts change their
//! switches less often than jobs change their hosts. An unknown host leads to a new snapshot.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ENGINE;
use super::applying::{Applier, Then};
use super::asked::{TURN, WatchArgs};
use super::event::{Event, Missing, print_of};
use super::lists::Lists;
use crate::script::changing::Via;
use crate::script::context::Context;
use crate::script::levels::InForce;
use crate::script::reading::lines;
use crate::script::route::{Routed, routed, text_of};
use crate::script::{Exit, Failure, Stop, levels, phased, target, whatif};
use crate::session::{Asked, Half, JobFigures, Look, job_figures, jobs_seen, note_judged_lids};
use fabdeck_fabric::observe::Place;
use fabdeck_fabric::{Faults, Tables};
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::{Hosts, MultiSwitch, Placed};
use fabdeck_mad::access::Wanted;
use fabdeck_routing::{LanesBy, Request};

pub fn run(context: &mut Context<'_, '_>, args: &WatchArgs) -> Result<Exit, Failure> {
    context.refuse_filter("jobs watch")?;
    let from = args.from.or(&context.config.jobs);
    from.check()?;
    context.named_source()?;
    if from.file.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "FD-7814: stdin can be read once, and a list is read again and again; give a file, or --slurm",
        ));
    }
    if let Some(folder) = args.output.as_deref().filter(|folder| !folder.is_dir()) {
        std::fs::create_dir(folder).map_err(|error| {
            let folder = folder.display();
            Failure::usage(format!(
                "FD-7812: {folder} is no folder and cannot be made one ({error}); plans are written into it"
            ))
        })?;
    }
    let stop = context.outside.stop();
    stop.heed();
    context.stop = Some(stop.clone());
    let applier = Applier::new(context, &args.applying)?;
    let mut watch = Watch {
        args,
        applier,
        since: Instant::now(),
        lists: Lists::of(&from),
        place: from.place(),
        heard: None,
        seen: None,
        noted: None,
        known: None,
        proposed: None,
    };
    let mut lists = 0;
    while !stop.is_asked() {
        let began = watch.since.elapsed();
        let event = watch.turn(context, &stop);
        if stop.is_asked() {
            break;
        }
        watch.tell(context, &stop, event?)?;
        lists += 1;
        if args.count.is_some_and(|count| lists >= count) {
            break;
        }
        // The interval includes the time that reading a list takes.
        while !stop.is_asked() && watch.since.elapsed() < began + args.interval {
            std::thread::sleep(TURN.min(args.interval));
        }
    }
    Ok(Exit::Done)
}

/// The last snapshot of the fabric, without tables.
struct Seen {
    look: Look,
    /// Hosts of jobs that the snapshot does not have.
    missing: BTreeSet<String>,
}

impl Seen {
    /// Keeps a snapshot; `None` if it is partial.
    fn new(mut look: Look, placed: &Placed) -> Option<Self> {
        if look.observation.partial() {
            return None;
        }
        look.observation.tables = Tables::default();
        Some(Self { look, missing: missing(placed) })
    }

    /// Places the jobs of a list; `None` if the list has a host that was not searched for in this snapshot.
    fn placed(&self, list: &JobList) -> Option<Placed> {
        let placed = Hosts::new(self.look.fabric(), &self.look.names).place(list);
        missing(&placed).is_subset(&self.missing).then_some(placed)
    }
}

fn missing(placed: &Placed) -> BTreeSet<String> {
    placed.unknown.iter().chain(placed.ambiguous.keys()).cloned().collect()
}

struct Watch<'a> {
    args: &'a WatchArgs,
    applier: Option<Applier>,
    since: Instant,
    lists: Lists,
    /// Source of the lists, for notes.
    place: Place,
    /// Time of the last list.
    heard: Option<Duration>,
    seen: Option<Seen>,
    /// Hosts missing from the fabric in the last notes; `None` before the first snapshot.
    noted: Option<BTreeSet<String>>,
    /// The last judgement.
    known: Option<Judged>,
    /// Time of the last proposal.
    proposed: Option<Duration>,
}

/// A judgement with its time and outcome.
struct Judged {
    several: MultiSwitch,
    at: Duration,
    outcome: Option<Outcome>,
}

/// What new routes would gain. The same outcome again is no news.
#[derive(Clone, PartialEq)]
struct Outcome {
    now: JobFigures,
    proposed: JobFigures,
    writes: usize,
}

/// Event of a list, its missing hosts, and the plan that may be applied.
struct Told {
    event: Event,
    missing: Option<Missing>,
    plan: Option<String>,
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        Self { event, missing: None, plan: None }
    }
}

impl Watch<'_> {
    /// Prints the event, and applies its plan.
    fn tell(&mut self, context: &mut Context<'_, '_>, stop: &Stop, told: Told) -> Result<(), Failure> {
        print_of(context, &told.event, told.missing)?;
        let (Some(applier), Some(plan)) = (&self.applier, told.plan) else { return Ok(()) };
        if applier.apply(context, stop, plan)? == Then::Again {
            // The same jobs may get a proposal again, once the interval between proposals is over.
            self.known = None;
        }
        Ok(())
    }

    /// Reads a list and returns the event that it leads to.
    fn turn(&mut self, context: &mut Context<'_, '_>, stop: &Stop) -> Result<Told, Failure> {
        let since = self.since;
        let list = match self.lists.next(stop, || since.elapsed()) {
            Ok(list) => list,
            Err(why) => {
                let age = self.heard.map(|at| (self.since.elapsed() - at).as_secs());
                let age_seconds = age.filter(|_| !context.globals.no_times);
                return Ok(Event::Unheard { why, age_seconds }.into());
            }
        };
        let now = self.since.elapsed();
        self.heard = Some(now);
        if let Some(told) = self.without_a_look(context, &list, now) {
            return Ok(told);
        }
        let (look, in_force) = match looked(context) {
            // A fabric that answered before is expected to answer again.
            Err(failure) if failure.exit != Exit::Bug && self.noted.is_some() => {
                return Ok(Event::Unseen { why: failure.message.unwrap_or_default() }.into());
            }
            looked => looked?,
        };
        let placed = Hosts::new(look.fabric(), &look.names).place(&list);
        if context.globals.verbose {
            lines(&look).iter().for_each(|line| context.output.say(line));
        }
        if self.noted.is_none() {
            context.output.say_notes(&look.observation.notes);
        }
        self.note(context, &placed);
        self.judge(context, (look, &in_force), &placed, now)
    }

    /// Prints notes about missing hosts, if they differ from those of the list before.
    fn note(&mut self, context: &mut Context<'_, '_>, placed: &Placed) {
        let missing = missing(placed);
        if self.noted.as_ref() != Some(&missing) {
            context.output.say_notes(&placed.notes(&self.place));
            self.noted = Some(missing);
        }
    }

    /// Judges a list by the last snapshot, if that suffices.
    fn without_a_look(
        &mut self,
        context: &mut Context<'_, '_>,
        list: &JobList,
        now: Duration,
    ) -> Option<Told> {
        let seen = self.seen.as_ref()?;
        let placed = seen.placed(list)?;
        let event = self.stays(&MultiSwitch::of(seen.look.fabric(), &placed.jobs), now)?;
        self.note(context, &placed);
        Some(Told { missing: Some(Missing::of(&placed)), ..event.into() })
    }

    /// Event for jobs that need no judgement. The fabric can change over time, so the same jobs are judged again
    /// after a while.
    fn stays(&self, several: &MultiSwitch, now: Duration) -> Option<Event> {
        let (multi_switch, every) = (several.len(), self.args.at_most_every);
        match &self.known {
            Some(known) if known.several == *several => {
                return (now < known.at + every).then_some(Event::Unchanged { multi_switch });
            }
            _ => {}
        }
        let early = self.proposed.is_some_and(|at| now < at + every);
        early.then_some(Event::Held { multi_switch })
    }

    /// Judges a list with a new snapshot of the fabric.
    fn judge(
        &mut self,
        context: &mut Context<'_, '_>,
        (mut look, in_force): (Look, &InForce),
        placed: &Placed,
        now: Duration,
    ) -> Result<Told, Failure> {
        let several = MultiSwitch::of(look.fabric(), &placed.jobs);
        let mut told = match self.stays(&several, now) {
            Some(event) => event.into(),
            None => {
                let before = self.known.take().filter(|known| known.several == several);
                let before = before.and_then(|known| known.outcome);
                let (told, outcome) = match several.is_empty() {
                    true => (idle(&look, placed), None),
                    false => self.judged(context, &mut look, (placed, in_force), before.as_ref())?,
                };
                // A list whose routes failed, or whose plan could not be written, is judged again next time.
                if !matches!(told.event, Event::Refused { .. } | Event::Unwritten { .. }) {
                    self.known = Some(Judged { several, at: now, outcome });
                }
                told
            }
        };
        if matches!(told.event, Event::Proposed { .. }) {
            self.proposed = Some(now);
        }
        told.missing = Some(Missing::of(placed));
        self.seen = Seen::new(look, placed);
        Ok(told)
    }

    /// Computes routes for the jobs, and compares them with the tables in force and with the previous outcome.
    fn judged(
        &self,
        context: &mut Context<'_, '_>,
        look: &mut Look,
        (placed, in_force): (&Placed, &InForce),
        before: Option<&Outcome>,
    ) -> Result<(Told, Option<Outcome>), Failure> {
        let lanes_by = match self.args.applying.via {
            Via::Direct => LanesBy::Pair,
            Via::Opensm => LanesBy::Destination,
        };
        let (jobs, manager) = (Arc::new(placed.jobs.clone()), look.manager());
        let mut request = Request { jobs, manager, lanes_by, ..Request::default() }
            .with_lanes(None, context.config.supposed_lanes);
        if self.args.applying.phases {
            // Hosts learn a single service level for base LIDs.
            request.lanes = 1;
        }
        let asked = Asked { request: &request, switches: false, sent: in_force.sent() };
        let (engine, none) = (whatif::engine_named(ENGINE)?, Faults::new());
        let routed = match self.args.applying.phases {
            false => routed(context, look, &none, engine, asked),
            true => phased::agents(context, look, &none).and_then(|agents| {
                phased::routed(context, (look, &none), engine, (Half::Base, &agents), (asked, in_force))
            }),
        };
        match routed {
            Err(failure) => Ok((Event::Refused { why: failure.message.unwrap_or_default() }.into(), None)),
            Ok(routed) => self.weigh(look, placed, routed, before),
        }
    }

    /// Decides whether the routes are worth it, and writes the plan if so.
    fn weigh(
        &self,
        look: &Look,
        placed: &Placed,
        routed: Routed,
        before: Option<&Outcome>,
    ) -> Result<(Told, Option<Outcome>), Failure> {
        let now = figures(look, placed);
        let proposed = job_figures(look, &routed.proposal.routes, &placed.jobs);
        let writes = routed.plan.writes.len();
        let outcome = Outcome { now: now.clone(), proposed: proposed.clone(), writes };
        let gain = now.gain(&proposed);
        if before == Some(&outcome) {
            let event = Event::Unchanged { multi_switch: now.multi_switch };
            return Ok((event.into(), Some(outcome)));
        }
        // Even with a required gain of 0, routes that gain nothing over the last proposal are not proposed.
        let again = before.is_some() && gain <= 0.0 && proposed.lost >= now.lost;
        if again || !now.is_worth(&proposed, gain, self.args.gain) {
            return Ok((Event::Kept { gain, now, proposed }.into(), Some(outcome)));
        }
        let wanted = self.args.output.is_some() || self.applier.is_some();
        let text = wanted.then(|| text_of(&routed.plan)).transpose()?;
        let file = match (&self.args.output, &text) {
            (Some(folder), Some(text)) => written(folder, text).map(Some),
            _ => Ok(None),
        };
        let plan = match file {
            Ok(file) => file.map(|file| file.display().to_string()),
            Err(failure) => {
                return Ok((Event::Unwritten { why: failure.message.unwrap_or_default() }.into(), None));
            }
        };
        let mut findings = routed.plan.findings;
        let transition = &routed.plan.transition;
        findings.extend(transition.safe.is_none().then(|| transition.word()));
        let event = Event::Proposed { gain, now, proposed, writes, findings, plan };
        Ok((Told { event, missing: None, plan: text }, Some(outcome)))
    }
}

/// Reads the fabric with its tables.
fn looked(context: &mut Context<'_, '_>) -> Result<(Look, InForce), Failure> {
    let wanted = Wanted { tables: true, ..Wanted::default() };
    let (mut look, in_force) = levels::look(context, wanted, (None, false))?;
    if !look.observation.tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7913: the source has no forwarding tables, so what a plan would change cannot be said; put a \
             dump of them beside the topology (dump_lfts, opensm-lfts.dump)",
        ));
    }
    note_judged_lids(&mut look);
    Ok((look, in_force))
}

/// Outcome if no job spans several switches: there is nothing to gain.
fn idle(look: &Look, placed: &Placed) -> Told {
    let now = figures(look, placed);
    Event::Kept { gain: 0.0, proposed: now.clone(), now }.into()
}

/// Writes a plan under the first free name.
fn written(folder: &Path, text: &str) -> Result<PathBuf, Failure> {
    let file = free(folder)?;
    target::write_new(&file, text.as_bytes())?;
    Ok(file)
}

/// Figures of the jobs under the tables in force.
fn figures(look: &Look, placed: &Placed) -> JobFigures {
    let (_, totals) = jobs_seen(look, placed);
    JobFigures {
        multi_switch: totals.multi_switch,
        max: totals.max.unwrap_or_default(),
        mean_max: totals.mean_max.unwrap_or_default(),
        dark_fiber: totals.dark_fiber.unwrap_or_default(),
        mean_links: totals.mean_links.unwrap_or_default(),
        lost: totals.lost.unwrap_or_default(),
    }
}

/// The first free name.
fn free(folder: &Path) -> Result<PathBuf, Failure> {
    let names = (1..=99_999).map(|number| folder.join(format!("{ENGINE}-{number:05}.plan")));
    let mut names = names.filter(|file| !file.exists());
    names.next().ok_or_else(|| {
        let what = format!("FD-7813: {} is full of plans; move them away", folder.display());
        Failure::new(Exit::Failed, what)
    })
}
