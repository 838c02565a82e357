//! `jobs watch`: figure 5.6 of the dissertation. Lists of jobs are read again and again; where the jobs on several switches
//! are others, and routes made for them are worth it, these are proposed, and applied where that is wished.
//!
//! The fabric is looked at where a list is judged. Whether one has to be is told over the last look: who is on which switch
//! changes less often than who runs there, and a host that was not there then is asked for anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::applying::{Applier, Then};
use super::asked::{TURN, WatchArgs};
use super::event::{Event, print};
use super::{ENGINE, placed};
use crate::access::Wanted;
use crate::fabric::{Faults, Tables};
use crate::files::jobs::JobList;
use crate::jobs::{Hosts, MultiSwitch, Placed, Poller, Turn};
use crate::routing::{LanesBy, Request};
use crate::script::changing::Via;
use crate::script::context::Context;
use crate::script::levels::InForce;
use crate::script::reading::lines;
use crate::script::route::{Routed, routed, text_of};
use crate::script::{Exit, Failure, Stop, levels, phased, target, whatif};
use crate::session::{Asked, Half, JobFigures, Look, job_figures, jobs_seen};

pub fn run(context: &mut Context<'_, '_>, args: &WatchArgs) -> Result<Exit, Failure> {
    context.refuse_filter("jobs watch")?;
    args.from.check()?;
    context.named_source()?;
    if args.from.file.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "FD-7814: stdin can be read once, and a list is read again and again; give a file, or --slurm",
        ));
    }
    if let Some(folder) = args.output.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!(
            "FD-7812: {} is no folder; make it, plans are written into it",
            folder.display()
        )));
    }
    let stop = context.outside.stop();
    stop.heed();
    context.stop = Some(stop.clone());
    let applier = Applier::new(context, &args.applying)?;
    let mut watch = Watch {
        args,
        applier,
        since: Instant::now(),
        poller: Poller::new(args.from.squeue()),
        heard: None,
        seen: None,
        noted: false,
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
        // A clock, not a pause: what a list takes is part of the interval.
        while !stop.is_asked() && watch.since.elapsed() < began + args.interval {
            std::thread::sleep(TURN.min(args.interval));
        }
    }
    Ok(Exit::Done)
}

/// Who was where at the last look.
struct Seen {
    look: Look,
    /// Hosts of jobs that were not there.
    missing: BTreeSet<String>,
}

impl Seen {
    /// Nothing rests on a look that missed something.
    fn new(mut look: Look, placed: &Placed) -> Option<Self> {
        if look.observation.partial() {
            return None;
        }
        look.observation.tables = Tables::default();
        Some(Self { look, missing: missing(placed) })
    }

    /// The jobs of a list on several switches, where no host is among them that was not looked for.
    fn several(&self, list: &JobList) -> Option<MultiSwitch> {
        let placed = Hosts::new(self.look.fabric(), &self.look.names).place(list);
        let known = missing(&placed).is_subset(&self.missing);
        known.then(|| MultiSwitch::of(self.look.fabric(), &placed.jobs))
    }
}

fn missing(placed: &Placed) -> BTreeSet<String> {
    placed.unknown.iter().chain(placed.ambiguous.keys()).cloned().collect()
}

struct Watch<'a> {
    args: &'a WatchArgs,
    applier: Option<Applier>,
    since: Instant,
    poller: Poller,
    /// The last list, and when it was read.
    heard: Option<(JobList, Duration)>,
    seen: Option<Seen>,
    /// What is not on the fabric was said.
    noted: bool,
    /// The jobs on several switches that the last judgement was of.
    known: Option<MultiSwitch>,
    /// When the last proposal was made.
    proposed: Option<Duration>,
}

/// What a list led to, and the plan that may be applied.
type Told = (Event, Option<String>);

impl Watch<'_> {
    /// The event, and what becomes of a plan.
    fn tell(
        &mut self,
        context: &mut Context<'_, '_>,
        stop: &Stop,
        (event, plan): Told,
    ) -> Result<(), Failure> {
        print(context, &event)?;
        let (Some(applier), Some(plan)) = (&self.applier, plan) else { return Ok(()) };
        if applier.apply(context, stop, plan)? == Then::Again {
            // The same jobs are worth it still, once it is time for another proposal.
            self.known = None;
        }
        Ok(())
    }

    /// One list, and what it leads to.
    fn turn(&mut self, context: &mut Context<'_, '_>, stop: &Stop) -> Result<Told, Failure> {
        let list = match self.list(context, stop) {
            Ok(list) => list,
            Err(why) => {
                let age = |(_, at): &(JobList, Duration)| (self.since.elapsed() - *at).as_secs();
                let age_seconds = self.heard.as_ref().map(age).filter(|_| !context.globals.no_times);
                return Ok((Event::Unheard { why, age_seconds }, None));
            }
        };
        let now = self.since.elapsed();
        self.heard = Some((list.clone(), now));
        if let Some(event) = self.seen.as_ref().and_then(|seen| self.stays(&seen.several(&list)?, now)) {
            return Ok((event, None));
        }
        let wanted = Wanted { tables: true, ..Wanted::default() };
        let (mut look, in_force) = match levels::look(context, wanted, (None, false)) {
            // What answered once answers again.
            Err(failure) if failure.exit == Exit::Unreachable && self.noted => {
                return Ok((Event::Unseen { why: failure.message.unwrap_or_default() }, None));
            }
            looked => looked?,
        };
        if !look.observation.tables.has_forwarding() {
            return Err(Failure::usage(
                "FD-7913: the source has no forwarding tables, so what a plan would change cannot be said; put a \
                 dump of them beside the topology (dump_lfts, opensm-lfts.dump)",
            ));
        }
        let placed = placed(&mut look, &list, &self.args.from.place());
        if context.globals.verbose {
            lines(&look).iter().for_each(|line| context.output.say(line));
        }
        // What is not on the fabric is said with the list that it is in, not with every one.
        if !self.noted {
            context.output.say_notes(&look.observation.notes);
            self.noted = true;
        }
        let several = MultiSwitch::of(look.fabric(), &placed.jobs);
        let told = match self.stays(&several, now) {
            Some(event) => (event, None),
            None => {
                self.known = Some(several);
                self.judged(context, &mut look, &placed, &in_force)?
            }
        };
        if matches!(told.0, Event::Proposed { .. }) {
            self.proposed = Some(now);
        }
        self.seen = Seen::new(look, &placed);
        Ok(told)
    }

    /// What needs no judgement.
    fn stays(&self, several: &MultiSwitch, now: Duration) -> Option<Event> {
        let multi_switch = several.len();
        if self.known.as_ref() == Some(several) {
            return Some(Event::Unchanged { multi_switch });
        }
        let early = self.proposed.is_some_and(|at| now < at + self.args.at_most_every);
        early.then_some(Event::Held { multi_switch })
    }

    /// Routes for the jobs, held against the tables in force.
    fn judged(
        &self,
        context: &mut Context<'_, '_>,
        look: &mut Look,
        placed: &Placed,
        in_force: &InForce,
    ) -> Result<Told, Failure> {
        let lanes_by = match self.args.applying.via {
            Via::Direct => LanesBy::Pair,
            Via::Opensm => LanesBy::Destination,
        };
        let (jobs, manager) = (Arc::new(placed.jobs.clone()), look.manager());
        let request = Request { jobs, manager, lanes_by, ..Request::default() };
        let asked = Asked { request: &request, switches: false, sent: in_force.sent() };
        let (engine, none) = (whatif::engine_named(ENGINE)?, Faults::new());
        let routed = match self.args.applying.phases {
            false => routed(context, look, &none, engine, asked),
            true => phased::agents(context, look, &none).and_then(|agents| {
                phased::routed(context, (look, &none), engine, (Half::Base, &agents), (asked, in_force))
            }),
        };
        match routed {
            Err(failure) => Ok((Event::Refused { why: failure.message.unwrap_or_default() }, None)),
            Ok(routed) => self.weigh(look, placed, routed),
        }
    }

    /// A list, or why there is none.
    fn list(&mut self, context: &Context<'_, '_>, stop: &Stop) -> Result<JobList, String> {
        if let Some(file) = &self.args.from.file {
            return context.outside.jobs(file).map_err(|error| error.to_string());
        }
        self.poller.ask(self.since.elapsed()).map_err(|trouble| trouble.to_string())?;
        loop {
            let now = self.since.elapsed();
            match self.poller.turn(now) {
                Turn::Failed(trouble) => return Err(trouble.to_string()),
                Turn::Waits if stop.is_asked() => return Err("asked to end".to_owned()),
                Turn::Waits => std::thread::sleep(TURN),
                Turn::Heard => {
                    let last = self.poller.last(now).map(|(list, _)| list.clone());
                    return last.ok_or_else(|| "nothing was heard".to_owned());
                }
            }
        }
    }

    /// Whether routes are worth it; if so, they are written down.
    fn weigh(&self, look: &Look, placed: &Placed, routed: Routed) -> Result<Told, Failure> {
        let now = figures(look, placed);
        let proposed = job_figures(look, &routed.proposal.routes, &placed.jobs);
        let gain = now.gain(&proposed);
        if !now.is_worth(&proposed, gain, self.args.gain) {
            return Ok((Event::Kept { gain, now, proposed }, None));
        }
        let wanted = self.args.output.is_some() || self.applier.is_some();
        let text = wanted.then(|| text_of(&routed.plan)).transpose()?;
        let plan = match (&self.args.output, &text) {
            (Some(folder), Some(text)) => {
                let file = free(folder)?;
                target::write_new(&file, text.as_bytes())?;
                Some(file.display().to_string())
            }
            _ => None,
        };
        let (writes, findings) = (routed.plan.writes.len(), routed.plan.findings);
        Ok((Event::Proposed { gain, now, proposed, writes, findings, plan }, text))
    }
}

/// What the tables in force make of the jobs.
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

/// The first name that is free.
fn free(folder: &Path) -> Result<PathBuf, Failure> {
    let names = (1..=99_999).map(|number| folder.join(format!("{ENGINE}-{number:05}.plan")));
    let mut names = names.filter(|file| !file.exists());
    names.next().ok_or_else(|| {
        let what = format!("FD-7813: {} is full of plans; move them away", folder.display());
        Failure::new(Exit::Failed, what)
    })
}
