//! `jobs watch`: figure 5.6 of the dissertation. Lists of jobs are read again and again; where the jobs on several switches
//! are others, and routes made for them are worth it, these are proposed. Nothing is applied.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Zoned;
use serde::Serialize;

use super::asked::{TURN, WatchArgs};
use super::placed;
use crate::access::Wanted;
use crate::fabric::Faults;
use crate::files::jobs::JobList;
use crate::jobs::{MultiSwitch, Poller, Turn};
use crate::routing::Request;
use crate::script::context::Context;
use crate::script::reading::lines;
use crate::script::route::{Routed, routed, text_of};
use crate::script::{Exit, Failure, Stop, levels, target, whatif};
use crate::session::{Asked, JobFigures, Look, job_figures, jobs_seen};

const ENGINE: &str = "sar";

/// What a list led to.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    /// There is no list; the last one stays.
    Unheard {
        why: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        age_seconds: Option<u64>,
    },
    /// The jobs on several switches are on the same hosts as before.
    Unchanged {
        multi_switch: usize,
    },
    /// They are others, but it is too early for another proposal.
    Held {
        multi_switch: usize,
    },
    /// Others, and new routes are not worth it.
    Kept {
        gain: f64,
        now: JobFigures,
        proposed: JobFigures,
    },
    Refused {
        why: String,
    },
    Proposed {
        gain: f64,
        now: JobFigures,
        proposed: JobFigures,
        writes: usize,
        findings: Vec<String>,
        plan: Option<String>,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let means = |f: &mut fmt::Formatter<'_>, now: &JobFigures, proposed: &JobFigures| {
            write!(f, "mean over jobs {:.1} to {:.1}, ", now.mean_max, proposed.mean_max)?;
            write!(f, "maximum {} to {}, ", now.max, proposed.max)?;
            write!(f, "dark fiber {:.1} to {:.1} %", now.dark_fiber, proposed.dark_fiber)
        };
        match self {
            Self::Unheard { why, age_seconds: Some(age) } => {
                write!(f, "no list; that of {age} s ago stays: {why}")
            }
            Self::Unheard { why, age_seconds: None } => write!(f, "no list: {why}"),
            Self::Unchanged { multi_switch } => {
                write!(f, "unchanged: {multi_switch} jobs on several switches")
            }
            Self::Held { multi_switch } => {
                write!(f, "changed: {multi_switch} jobs on several switches; too early for another proposal")
            }
            Self::Kept { gain, now, proposed } => {
                write!(f, "changed; new routes would gain {gain:.1} %, which is too little: ")?;
                means(f, now, proposed)
            }
            Self::Refused { why } => write!(f, "changed; {ENGINE} gives no routes: {why}"),
            Self::Proposed { gain, now, proposed, writes, findings, plan } => {
                write!(f, "proposal: routes that gain {gain:.1} %: ")?;
                means(f, now, proposed)?;
                write!(f, "; {writes} writes")?;
                findings.iter().try_for_each(|finding| write!(f, "; finding: {finding}"))?;
                plan.iter().try_for_each(|plan| write!(f, "; plan: {plan}"))
            }
        }
    }
}

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
    let mut watch = Watch {
        args,
        since: Instant::now(),
        poller: Poller::new(args.from.squeue()),
        heard: None,
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
        print(context, &event?)?;
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

struct Watch<'a> {
    args: &'a WatchArgs,
    since: Instant,
    poller: Poller,
    /// The last list, and when it was read.
    heard: Option<(JobList, Duration)>,
    /// The jobs on several switches that the last judgement was of.
    known: Option<MultiSwitch>,
    /// When the last proposal was made.
    proposed: Option<Duration>,
}

impl Watch<'_> {
    /// One list, and what it leads to.
    fn turn(&mut self, context: &mut Context<'_, '_>, stop: &Stop) -> Result<Event, Failure> {
        let list = match self.list(context, stop) {
            Ok(list) => list,
            Err(why) => {
                let age = |(_, at): &(JobList, Duration)| (self.since.elapsed() - *at).as_secs();
                let age_seconds = self.heard.as_ref().map(age).filter(|_| !context.globals.no_times);
                return Ok(Event::Unheard { why, age_seconds });
            }
        };
        let now = self.since.elapsed();
        self.heard = Some((list.clone(), now));
        let wanted = Wanted { tables: true, ..Wanted::default() };
        let (mut look, in_force) = levels::look(context, wanted, (None, false))?;
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
        if self.known.is_none() {
            context.output.say_notes(&look.observation.notes);
        }
        let several = MultiSwitch::of(look.fabric(), &placed.jobs);
        if self.known.as_ref() == Some(&several) {
            return Ok(Event::Unchanged { multi_switch: several.len() });
        }
        if self.proposed.is_some_and(|at| now < at + self.args.at_most_every) {
            return Ok(Event::Held { multi_switch: several.len() });
        }
        let request = Request { jobs: Arc::new(placed.jobs.clone()), ..Request::default() };
        let asked = Asked { request: &request, switches: false, sent: in_force.sent() };
        let engine = whatif::engine_named(ENGINE)?;
        let event = match routed(context, &look, &Faults::new(), engine, asked) {
            Err(failure) => Event::Refused { why: failure.message.unwrap_or_default() },
            Ok(routed) => self.weigh(&look, &placed, routed)?,
        };
        if matches!(event, Event::Proposed { .. }) {
            self.proposed = Some(now);
        }
        self.known = Some(several);
        Ok(event)
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
    fn weigh(&self, look: &Look, placed: &crate::jobs::Placed, routed: Routed) -> Result<Event, Failure> {
        let now = figures(look, placed);
        let proposed = job_figures(look, &routed.proposal.routes, &placed.jobs);
        let gain = gain(&now, &proposed);
        if gain < self.args.gain {
            return Ok(Event::Kept { gain, now, proposed });
        }
        let plan = match &self.args.output {
            None => None,
            Some(folder) => {
                let file = free(folder)?;
                target::write_new(&file, text_of(&routed.plan)?.as_bytes())?;
                Some(file.display().to_string())
            }
        };
        let (writes, findings) = (routed.plan.writes.len(), routed.plan.findings);
        Ok(Event::Proposed { gain, now, proposed, writes, findings, plan })
    }
}

/// What the tables in force make of the jobs.
fn figures(look: &Look, placed: &crate::jobs::Placed) -> JobFigures {
    let (_, totals) = jobs_seen(look, placed);
    JobFigures {
        multi_switch: totals.multi_switch,
        max: totals.max.unwrap_or_default(),
        mean_max: totals.mean_max.unwrap_or_default(),
        dark_fiber: totals.dark_fiber.unwrap_or_default(),
        mean_links: totals.mean_links.unwrap_or_default(),
    }
}

/// By how many percent the mean over jobs of their largest index falls. Where the largest of all jobs together rises, that
/// rise counts: what helps each must not hurt all.
fn gain(now: &JobFigures, proposed: &JobFigures) -> f64 {
    let fall = |now: f64, proposed: f64| if now > 0.0 { 100.0 * (now - proposed) / now } else { 0.0 };
    match proposed.max > now.max {
        true => fall(now.max as f64, proposed.max as f64),
        false => fall(now.mean_max, proposed.mean_max),
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

#[derive(Serialize)]
struct Line<'e> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    event: &'e Event,
}

/// A line each, at once: whoever watches wants to see it now.
fn print(context: &mut Context<'_, '_>, event: &Event) -> Result<(), Failure> {
    let now = Zoned::now();
    let times = !context.globals.no_times;
    let output = &mut context.output;
    if output.json {
        let time = times.then(|| now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        let line = Line { schema: "fabdeck.jobs-watch/1", time, event };
        serde_json::to_writer(&mut *output.out, &line).map_err(std::io::Error::from)?;
        writeln!(output.out)?;
    } else if times {
        writeln!(output.out, "{} {event}", now.strftime("%H:%M:%S"))?;
    } else {
        writeln!(output.out, "{event}")?;
    }
    Ok(output.out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helps_each_and_hurts_all_is_no_gain() {
        let figures =
            |max, mean_max| JobFigures { multi_switch: 2, max, mean_max, dark_fiber: 0.0, mean_links: 0.0 };
        assert_eq!(gain(&figures(10, 8.0), &figures(10, 6.0)), 25.0);
        assert_eq!(gain(&figures(10, 8.0), &figures(12, 4.0)), -20.0);
        assert_eq!(gain(&figures(0, 0.0), &figures(0, 0.0)), 0.0);
    }
}
