//! `record`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use jiff::Zoned;

use super::args::RecordArgs;
use super::context::Context;
use super::job_thread::{JobThread, start_job_thread};
use super::output_file::{is_stdout, refuse_existing};
use super::progress::ProgressMeter;
use super::recording_output::{FileWriteError, RecordingOutput, RollingFiles};
use super::stdin_notes::{StdinNote, start_reading};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::observe::{Sweep, digits_in_groups};
use fabdeck_files::capture::{FileSeries, RecordError, RecordedPart, RotationLimits, create};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_mad::access::{ReadObserver, ReadOptions, ReadProgress, Source, SourceError};

/// Default interval between two sweeps.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

pub fn run(context: &mut Context<'_, '_>, args: &RecordArgs) -> Result<Exit, Failure> {
    context.refuse_filter("record")?;
    refuse_conflicts(context, args)?;
    let name = context.named_source()?.to_owned();
    let mut source = context.open_source(&name)?;
    let wanted = ReadOptions { tables: true, multicast: true, lanes: true, ..ReadOptions::default() };
    let snapshot = context.read_snapshot_through(source.as_mut(), wanted)?;
    let Some(reading) = &snapshot.observation.reading else {
        return Err(Failure::usage(format!(
            "FD-7964: {name} is not live, so there is nothing to record; use `convert` to write its state"
        )));
    };
    let simulated = reading.virtual_time;
    if simulated {
        refuse_unbounded(args)?;
        report_simulated_time(context);
    }
    let interval = args.interval.unwrap_or(DEFAULT_INTERVAL);
    let mut run = RecordingRun {
        interval,
        until: args.time,
        clock: RecordingClock { simulated, start: start_time(simulated), first: None },
        snapshot,
        sweeps: 0,
        notes: args.notes.then(start_reading),
        job_thread: None,
    };
    let header = CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: env!("CARGO_PKG_VERSION").into(),
        source: name,
        interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
        utc_offset_s: Zoned::now().offset().seconds(),
    };
    run.job_thread = start_job_thread(context, &args.running_jobs)?;
    if let Some(job_thread) = run.job_thread.as_mut().filter(|_| simulated) {
        let stop = context.outside.stop();
        stop.listen();
        job_thread.wait(|| stop.is_requested());
    }
    let mut recording = open_output(context, args, header)?;
    let ended = run.record(context, source.as_mut(), &mut recording);
    let ended = match ended {
        Err(RecordingStop::Write(error)) => return Err(unwritten_failure(&error)),
        // The recording gets a proper end whatever happened to the source.
        other => other,
    };
    source.end_watch(&mut run.snapshot.observation);
    let last = run.clock.last(run.interval, run.sweeps);
    let (recorded, files) = recording.end(last).map_err(|error| unwritten_failure(&error))?;
    report(context, &run.snapshot, &files, recorded)?;
    match ended {
        Err(RecordingStop::Source(error)) => Err(error.into()),
        _ => Ok(context.conclude(&run.snapshot)),
    }
}

/// Refuses a recording without an end, and notes, in a simulator with simulated time.
fn refuse_unbounded(args: &RecordArgs) -> Result<(), Failure> {
    let what = match () {
        () if args.time.is_none() => "give a duration with --for, as in --for 10m",
        () if args.notes => "leave out --notes, because notes have the time of the clock",
        () => return Ok(()),
    };
    Err(Failure::usage(format!("FD-7961: this simulator runs in simulated time; {what}")))
}

/// Explains why a recording of an hour ends at once and has times in the future.
fn report_simulated_time(context: &mut Context<'_, '_>) {
    if !context.output.json {
        context.output.print_message(
            "the time of this simulator is simulated: it passes as fast as sweeps can be read, and the recording has \
             simulated times, not those of the clock",
        );
    }
}

/// Refuses options that exclude each other.
fn refuse_conflicts(context: &Context<'_, '_>, args: &RecordArgs) -> Result<(), Failure> {
    let rolls = args.rotate_size.is_some() || args.rotate_every.is_some();
    let keys = context.source_options().mkey_file;
    let what = match () {
        () if is_stdout(&args.output) && rolls => {
            "FD-7963: stdout is one stream; --rotate-size and --rotate-every need files"
        }
        () if is_stdout(&args.output) && context.output.json => {
            "FD-7501: --json and '-o -' both write to stdout; leave one out"
        }
        () if args.keep.is_some() && !rolls => {
            "FD-7966: --keep needs --rotate-size or --rotate-every: without them there is one file"
        }
        () if args.notes && keys.is_some_and(|file| is_stdout(&file)) => {
            "FD-7965: --notes and '--mkey-file -' both read stdin; write the keys to a file"
        }
        () if !rolls => return refuse_existing(&args.output),
        () => return Ok(()),
    };
    Err(Failure::usage(what))
}

fn open_output<'o>(
    context: &mut Context<'_, 'o>,
    args: &RecordArgs,
    header: CaptureHeader,
) -> Result<RecordingOutput<'o>, Failure> {
    let rotation = RotationLimits { size: args.rotate_size, every: args.rotate_every };
    if is_stdout(&args.output) {
        return Ok(RecordingOutput::stream(context.output.take_stdout(), header));
    }
    if rotation == RotationLimits::default() {
        let failed = |error| Failure::writing(&args.output.display().to_string(), &error);
        return Ok(RecordingOutput::file(create(&args.output).map_err(failed)?, &args.output, header));
    }
    let Some(series) = FileSeries::new(&args.output) else {
        let file = args.output.display();
        return Err(Failure::usage(format!(
            "FD-7966: '{file}' has no file name that numbers could be added to; give another one with -o"
        )));
    };
    let rolling = RollingFiles { series, rotation, keep: args.keep.map(|keep| keep as usize) };
    let recording =
        RecordingOutput::rolling(rolling, header).map_err(|(file, error)| Failure::writing(&file, &error))?;
    recording.map_err(|rival| {
        let rival = rival.display();
        Failure::new(
            Exit::Refused,
            format!(
                "FD-7971: another recording writes {rival}, and both would count and delete the files of that name; give \
                 another name with -o"
            ),
        ) })
}

/// Why a recording ended early.
enum RecordingStop {
    Source(SourceError),
    Write(FileWriteError),
}

/// Time of a sweep: that of the machine, or in a simulator the first sweep's plus the simulated time.
struct RecordingClock {
    simulated: bool,
    start: i64,
    first: Option<Duration>,
}

impl RecordingClock {
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

/// Start time of a recording. A simulated one starts at SOURCE_DATE_EPOCH if that is set, so that it can be reproduced
/// byte for byte.
fn start_time(simulated: bool) -> i64 {
    let seconds = std::env::var("SOURCE_DATE_EPOCH").ok().filter(|_| simulated);
    let seconds = seconds.and_then(|seconds| seconds.parse::<i64>().ok());
    seconds.and_then(|seconds| seconds.checked_mul(1000)).unwrap_or_else(millis)
}

struct RecordingRun {
    interval: Duration,
    until: Option<Duration>,
    clock: RecordingClock,
    snapshot: Snapshot,
    sweeps: u32,
    notes: Option<Receiver<StdinNote>>,
    job_thread: Option<JobThread>,
}

impl RecordingRun {
    /// Sweeps until the duration is over or the stop flag is set.
    fn record(
        &mut self,
        context: &mut Context<'_, '_>,
        source: &mut dyn Source,
        recording: &mut RecordingOutput<'_>,
    ) -> Result<(), RecordingStop> {
        let stop = context.outside.stop();
        let stopped = stop.listen();
        let mut next = Duration::ZERO;
        let before = self
            .snapshot
            .observation
            .reading
            .as_ref()
            .map_or((0, 0), |reading| (reading.phases.len(), reading.silent.len()));
        loop {
            let meter = ProgressMeter::new(context.output.err, context.progress);
            let mut watch = RecordingWatch { meter, stopped, recorded: recording.totals() };
            let swept = source.sweep(&mut self.snapshot.observation, next, &mut watch);
            watch.meter.clear();
            let sweep = match swept {
                Ok(sweep) => sweep,
                Err(SourceError::Cancelled) => return self.write_notes(context, recording),
                Err(error) => return Err(RecordingStop::Source(error)),
            };
            // Every sweep adds its phases and unanswered requests, which a long recording must not collect; the sweep
            // itself states what is missing.
            if let Some(reading) = &mut self.snapshot.observation.reading {
                reading.phases.truncate(before.0);
                reading.silent.truncate(before.1);
            }
            let time = self.clock.time(&sweep);
            if self.sweeps > 0 {
                self.write_notes(context, recording)?;
            }
            self.record_jobs(context, time);
            self.write(context, recording, time, &sweep)?;
            self.sweeps += 1;
            next = sweep.began + self.interval;
            let first = self.clock.first.unwrap_or_default();
            if self.until.is_some_and(|until| next > first + until) || stopped.load(Ordering::SeqCst) {
                return self.write_notes(context, recording);
            }
        }
    }

    fn write(
        &self,
        context: &mut Context<'_, '_>,
        recording: &mut RecordingOutput<'_>,
        time: i64,
        sweep: &Sweep,
    ) -> Result<(), RecordingStop> {
        if let Some(file) = recording.rotate(time).map_err(RecordingStop::Write)? {
            context.output.print_message(&format!("recording to {file}"));
        }
        let written = recording.recorder().record_sweep(time, &self.snapshot.observation, sweep);
        written.map_err(|error| RecordingStop::Write(write_failure(recording, error)))?;
        match recording.remove_oldest() {
            Ok(gone) => gone.iter().for_each(|path| {
                context.output.print_message(&format!("{} is deleted (--keep)", path.display()));
            }),
            // The recording continues; the message gives the reason for a full disk.
            Err(error) => context.output.print_message(&format!(
                "FD-7968: an old file cannot be deleted: {error}; the recording continues"
            )),
        }
        Ok(())
    }

    /// Adds the current list of jobs to the snapshot.
    fn record_jobs(&mut self, context: &mut Context<'_, '_>, time: i64) {
        let Some(job_thread) = &mut self.job_thread else { return };
        let (jobs, messages) = job_thread.take_latest(self.clock.simulated.then_some(time));
        self.snapshot.observation.jobs = jobs;
        messages.iter().for_each(|words| context.output.print_message(words));
    }

    /// Adds the notes that arrived on stdin.
    fn write_notes(
        &self,
        context: &mut Context<'_, '_>,
        recording: &mut RecordingOutput<'_>,
    ) -> Result<(), RecordingStop> {
        for note in self.notes.iter().flat_map(Receiver::try_iter) {
            match note {
                StdinNote::Note(time, text) => {
                    let written = recording.recorder().record_note(time, &text);
                    written.map_err(|error| RecordingStop::Write(write_failure(recording, error)))?;
                }
                StdinNote::TooLong => context.output.print_message(
                    "FD-7967: a note has more than 64 KiB and was left out; the recording continues",
                ),
            }
        }
        Ok(())
    }
}

fn write_failure(recording: &RecordingOutput<'_>, error: RecordError) -> FileWriteError {
    FileWriteError { file: recording.files().last().cloned().unwrap_or_default(), error }
}

/// Waits for the next sweep, shows the size of the recording, and ends on the stop flag.
struct RecordingWatch<'w> {
    meter: ProgressMeter<'w>,
    stopped: &'w AtomicBool,
    recorded: RecordedPart,
}

impl ReadObserver for RecordingWatch<'_> {
    fn report_progress(&mut self, _: ReadProgress) {
        let RecordedPart { sweeps, bytes, .. } = self.recorded;
        self.meter.show_line(|| {
            format!(
                "recorded {}, {} kB",
                count_words(sweeps as usize, "sweep", "sweeps"),
                digits_in_groups(bytes / 1000)
            )
        });
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

fn unwritten_failure(FileWriteError { file, error }: &FileWriteError) -> Failure {
    if error.error.kind() == std::io::ErrorKind::BrokenPipe {
        // The reader of the pipe needs no further output.
        return Failure { exit: Exit::Done, message: None };
    }
    let sweeps = count_words(error.kept.sweeps as usize, "sweep", "sweeps");
    Failure::new(
        Exit::Failed,
        format!(
            "FD-7962: {file} cannot be extended: {}; the recording before that can be read ({sweeps}, {} bytes); check \
             the free space on the disk",
            error.error,
            digits_in_groups(error.kept.bytes)
        ),
    )
}

fn report(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    files: &[String],
    recorded: RecordedPart,
) -> Result<(), Failure> {
    let file = files.last().map_or("", String::as_str);
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("record", snapshot)?;
        object.field("file", &file)?;
        object.field("files", &files)?;
        object.field("sweeps", &recorded.sweeps)?;
        if times {
            object.field("bytes", &recorded.bytes)?;
            object.field("from_ms", &recorded.from)?;
            object.field("to_ms", &recorded.to)?;
        }
        return Ok(object.end()?);
    }
    let (sweeps, bytes) =
        (count_words(recorded.sweeps as usize, "sweep", "sweeps"), digits_in_groups(recorded.bytes));
    context.output.print_message(&match files {
        [_] if file == "-" => format!("{sweeps} written to stdout, {bytes} bytes"),
        [_] => format!("{sweeps} in {file}, {bytes} bytes; --source {file} shows it"),
        files => {
            let count = files.len();
            format!(
                "{sweeps} in {count} files, the last of them {file}, {bytes} bytes; --source FILE shows one"
            )
        }
    });
    Ok(())
}
