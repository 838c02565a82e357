//! `record`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Zoned;

use super::args::RecordArgs;
use super::context::Context;
use super::progress::Meter;
use super::target::{is_stdout, refuse_taken};
use super::{Exit, Failure};
use crate::access::{Progress, Source, SourceError, Wanted, Watch};
use crate::capture::{Kept, RecordError, Recorder, Sink, create};
use crate::files::capture::Header;
use crate::observe::Sweep;
use crate::session::{Look, counted};

/// Between two sweeps, where nobody says.
const INTERVAL: Duration = Duration::from_secs(1);

pub fn run(context: &mut Context<'_, '_>, args: &RecordArgs) -> Result<Exit, Failure> {
    context.refuse_filter("record")?;
    if is_stdout(&args.output) {
        return Err(Failure::usage(
            "FD-7963: a capture is written to a file, which may be cut and ended; name one",
        ));
    }
    refuse_taken(&args.output)?;
    let name = context.named_source()?.to_owned();
    let mut source = context.open(&name)?;
    let wanted = Wanted { tables: true, multicast: true, lanes: true, counters: false };
    let look = context.look_through(source.as_mut(), wanted)?;
    let Some(reading) = &look.observation.reading else {
        return Err(Failure::usage(format!(
            "FD-7964: {name} is not live, so there is nothing to record; `convert` writes what is known of it"
        )));
    };
    let simulated = reading.virtual_time;
    if simulated && args.time.is_none() {
        return Err(Failure::usage(
            "FD-7961: in this simulator time passes as fast as it is asked for; say how much with --for, as in --for 10m",
        ));
    }
    let interval = args.interval.unwrap_or(INTERVAL);
    let mut run = Run {
        interval,
        until: args.time,
        clock: Clock { simulated, start: millis(), first: None },
        look,
        sweeps: 0,
    };
    let header = Header {
        format: "fabdeck.capture/1".into(),
        fabdeck: env!("CARGO_PKG_VERSION").into(),
        source: name,
        interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
        utc_offset_s: Zoned::now().offset().seconds(),
    };
    let file = args.output.display().to_string();
    let sink = create(&args.output).map_err(|error| Failure::writing(&file, &error))?;
    let mut recorder = Recorder::new(sink, header);
    let ended = run.record(context, source.as_mut(), &mut recorder);
    let kept = match ended {
        // What was seen is worth its end, whatever became of the source.
        Ok(()) | Err(Stopped::Source(_)) => recorder.end(run.clock.last(run.interval, run.sweeps)),
        Err(Stopped::Write(error)) => return Err(unwritten(&file, &error)),
    };
    let kept = kept.map_err(|error| unwritten(&file, &error))?;
    report(context, &run.look, &file, kept)?;
    match ended {
        Err(Stopped::Source(error)) => Err(error.into()),
        _ => Ok(context.conclude(&run.look)),
    }
}

/// Why a recording came to no end of its own.
enum Stopped {
    Source(SourceError),
    Write(RecordError),
}

/// Which time a sweep has: that of the machine, or in a simulator that of the first sweep and what was simulated since.
struct Clock {
    simulated: bool,
    start: i64,
    first: Option<Duration>,
}

impl Clock {
    fn time(&mut self, sweep: &Sweep) -> i64 {
        let first = *self.first.get_or_insert(sweep.began);
        let passed = sweep.began.saturating_sub(first).as_millis();
        match self.simulated {
            true => self.start.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX)),
            false => millis(),
        }
    }

    fn last(&self, interval: Duration, sweeps: u32) -> i64 {
        match self.simulated {
            true => {
                self.start.saturating_add(i64::try_from((interval * sweeps).as_millis()).unwrap_or(i64::MAX))
            }
            false => millis(),
        }
    }
}

fn millis() -> i64 {
    Zoned::now().timestamp().as_millisecond()
}

struct Run {
    interval: Duration,
    until: Option<Duration>,
    clock: Clock,
    look: Look,
    sweeps: u32,
}

impl Run {
    /// Sweeps until the time is over, or somebody wants it to end.
    fn record<S: Sink>(
        &mut self,
        context: &mut Context<'_, '_>,
        source: &mut dyn Source,
        recorder: &mut Recorder<S>,
    ) -> Result<(), Stopped> {
        let stop = context.outside.stop();
        let wish = stop.heed();
        let mut next = Duration::ZERO;
        let told = self
            .look
            .observation
            .reading
            .as_ref()
            .map_or((0, 0), |told| (told.phases.len(), told.silent.len()));
        loop {
            let meter = Meter::new(context.output.err, context.progress);
            let mut watch = Recording { meter, wish, kept: recorder.kept() };
            let swept = source.sweep(&mut self.look.observation, next, &mut watch);
            watch.meter.clear();
            let sweep = match swept {
                Ok(sweep) => sweep,
                Err(SourceError::Cancelled) => return Ok(()),
                Err(error) => return Err(Stopped::Source(error)),
            };
            // A night of sweeps tells of every phase and every silence again; what is missing in a sweep says the same.
            if let Some(reading) = &mut self.look.observation.reading {
                reading.phases.truncate(told.0);
                reading.silent.truncate(told.1);
            }
            let time = self.clock.time(&sweep);
            recorder.sweep(time, &self.look.observation, &sweep).map_err(Stopped::Write)?;
            self.sweeps += 1;
            next = sweep.began + self.interval;
            let first = self.clock.first.unwrap_or_default();
            if self.until.is_some_and(|until| next > first + until) || wish.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
    }
}

/// Waits for the next sweep, says how much there is, and ends when it is asked to.
struct Recording<'w> {
    meter: Meter<'w>,
    wish: &'w AtomicBool,
    kept: Kept,
}

impl Watch for Recording<'_> {
    fn progress(&mut self, _: Progress) {
        let Kept { sweeps, bytes, .. } = self.kept;
        self.meter.say(|| format!("recorded {sweeps} sweeps, {} kB", bytes / 1000));
    }

    fn cancelled(&self) -> bool {
        self.wish.load(Ordering::SeqCst)
    }
}

fn unwritten(file: &str, error: &RecordError) -> Failure {
    let kept = counted(error.kept.sweeps as usize, "sweep", "sweeps");
    Failure::new(
        Exit::Failed,
        format!(
            "FD-7962: {file} cannot be written on: {}; {kept} before that are in it ({} bytes) and can be read; check \
             the room on the disk",
            error.error, error.kept.bytes
        ),
    )
}

fn report(context: &mut Context<'_, '_>, look: &Look, file: &str, kept: Kept) -> Result<(), Failure> {
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("record", look)?;
        object.field("file", &file)?;
        object.field("sweeps", &kept.sweeps)?;
        if times {
            object.field("bytes", &kept.bytes)?;
            object.field("from_ms", &kept.from)?;
            object.field("to_ms", &kept.to)?;
        }
        return Ok(object.end()?);
    }
    let sweeps = counted(kept.sweeps as usize, "sweep", "sweeps");
    context.output.say(&format!("{sweeps} in {file}, {} bytes; --source {file} shows it", kept.bytes));
    Ok(())
}
