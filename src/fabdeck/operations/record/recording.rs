//! Records a live fabric into a file, a series of files, or a stream.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use jiff::Zoned;

use super::job_thread::{JobThread, RecordedJobList, start_job_thread};
use super::recording_output::{FileWriteError, RecordingOutput, RollingFiles};
use super::stdin_notes::{StdinNote, start_reading};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::environment::Env;
use crate::operations::health::acknowledgements::AcknowledgementWatch;
use crate::operations::operation::Operation;
use crate::operations::progress::ProgressLine;
use crate::operations::watch::sweep_clock::SweepClock;
use crate::system::output_file::{is_stdout, refuse_existing};
use fabdeck_fabric::observe::{Sweep, digits_in_groups};
use fabdeck_files::capture::{FileSeries, OperatorEntry, RecordError, RecordedPart, RotationLimits, create};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_mad::access::{ReadObserver, ReadOptions, ReadProgress, Source, SourceError};

/// Default interval between two sweeps.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// What to record, and where.
pub struct RecordRequest<'r> {
    pub output: &'r Path,
    /// The stream to write to, if the output means stdout.
    pub stdout: Option<&'r mut dyn Write>,
    pub interval: Option<Duration>,
    /// Duration; `None`: until the stop flag is set.
    pub time: Option<Duration>,
    pub rotation: RotationLimits,
    pub keep: Option<u32>,
    /// Whether lines of stdin become notes.
    pub notes: bool,
    pub jobs: Option<RecordedJobList>,
    /// Whether P_Key tables and multicast groups are read too, once at the beginning.
    pub partitions: bool,
    /// Whether the caller's answer is text, so that remarks on the way may explain it.
    pub explains: bool,
}

/// A finished recording.
pub struct Recording {
    pub snapshot: Snapshot,
    pub files: Vec<String>,
    pub recorded: RecordedPart,
    /// Why the source ended the recording early.
    pub ended: Result<(), SourceError>,
}

/// Refuses options that exclude each other. `stdout_taken`: the answer is written to stdout too.
pub fn refuse_conflicts(
    env: Env<'_>,
    request: &RecordRequest<'_>,
    stdout_taken: bool,
) -> Result<(), Failure> {
    let rolls = request.rotation != RotationLimits::default();
    let is_stream = is_stdout(request.output);
    let keys = env.given.reach.mkey_file.as_deref();
    let what = match () {
        () if is_stream && rolls => {
            "FD-7963: stdout is one stream; --rotate-size and --rotate-every need files"
        }
        () if is_stream && stdout_taken => "FD-7501: --json and '-o -' both write to stdout; leave one out",
        () if request.keep.is_some() && !rolls => {
            "FD-7966: --keep needs --rotate-size or --rotate-every: without them there is one file"
        }
        () if request.notes && keys.is_some_and(is_stdout) => {
            "FD-7965: --notes and '--mkey-file -' both read stdin; write the keys to a file"
        }
        () if !rolls => return refuse_existing(request.output),
        () => return Ok(()),
    };
    Err(Failure::usage(what))
}

/// Records until the duration is over or the stop flag is set.
pub fn record(operation: &mut Operation<'_>, mut request: RecordRequest<'_>) -> Result<Recording, Failure> {
    let name = operation.env.named_source()?.to_owned();
    let mut source = operation.env.open_source(&name)?;
    let wanted = ReadOptions {
        tables: true,
        multicast: true,
        lanes: true,
        partitions: request.partitions,
        groups: request.partitions,
        ..ReadOptions::default()
    };
    let snapshot = operation.read_snapshot_through(source.as_mut(), wanted)?;
    let Some(reading) = &snapshot.observation.reading else {
        return Err(Failure::usage(format!(
            "FD-7964: {name} is not live, so there is nothing to record; name a live fabric (umad, sim:NAME). `convert` \
             writes the state of files in another format, and `capture cut` a part of one capture"
        )));
    };
    let simulated = reading.virtual_time;
    if simulated {
        refuse_unbounded(&request)?;
        report_simulated_time(operation, &request);
    }
    let interval = request.interval.unwrap_or(DEFAULT_INTERVAL);
    let acknowledgements = AcknowledgementWatch::begin(operation.env.outside, &snapshot);
    let mut run = RecordingRun {
        acknowledgements,
        interval,
        until: request.time,
        clock: SweepClock::new(simulated),
        snapshot,
        sweeps: 0,
        notes: request.notes.then(start_reading),
        job_thread: None,
    };
    let header = CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: env!("CARGO_PKG_VERSION").into(),
        source: name,
        interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
        utc_offset_s: Zoned::now().offset().seconds(),
    };
    let jobs = request.jobs.take();
    run.job_thread = jobs.map(|list| start_job_thread(operation.env.outside, &list)).transpose()?;
    if let Some(job_thread) = run.job_thread.as_mut().filter(|_| simulated) {
        let stop = operation.env.outside.stop();
        stop.listen();
        job_thread.wait(|| stop.is_requested());
    }
    let mut recording = open_output(request, header)?;
    let ended = match run.record(operation, source.as_mut(), &mut recording) {
        Err(RecordingStop::Write(error)) => return Err(unwritten_failure(&error)),
        // The recording gets a proper end whatever happened to the source.
        Err(RecordingStop::Source(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    source.end_watch(&mut run.snapshot.observation);
    let last = run.clock.last(run.interval, run.sweeps);
    let (recorded, files) = recording.end(last).map_err(|error| unwritten_failure(&error))?;
    Ok(Recording { snapshot: run.snapshot, files, recorded, ended })
}

/// Refuses a recording without an end, and notes, in a simulator with simulated time.
fn refuse_unbounded(request: &RecordRequest<'_>) -> Result<(), Failure> {
    let what = match () {
        () if request.time.is_none() => "give a duration with --for, as in --for 10m",
        () if request.notes => "leave out --notes, because notes have the time of the clock",
        () => return Ok(()),
    };
    Err(Failure::usage(format!("FD-7961: this simulator runs in simulated time; {what}")))
}

/// Explains why a recording of an hour ends at once and has times in the future.
fn report_simulated_time(operation: &mut Operation<'_>, request: &RecordRequest<'_>) {
    if request.explains {
        operation.reporter.report_line(
            "the time of this simulator is simulated: it passes as fast as sweeps can be read, and the recording has \
             simulated times, not those of the clock",
        );
    }
}

fn open_output<'o>(
    request: RecordRequest<'o>,
    header: CaptureHeader,
) -> Result<RecordingOutput<'o>, Failure> {
    let RecordRequest { output, stdout, rotation, keep, .. } = request;
    if let Some(stdout) = stdout {
        return Ok(RecordingOutput::stream(stdout, header));
    }
    if rotation == RotationLimits::default() {
        let failed = |error| Failure::writing(&output.display().to_string(), &error);
        return Ok(RecordingOutput::file(create(output).map_err(failed)?, output, header));
    }
    let Some(series) = FileSeries::new(output) else {
        let file = output.display();
        return Err(Failure::usage(format!(
            "FD-7966: '{file}' has no file name that numbers could be added to; give another one with -o"
        )));
    };
    let rolling = RollingFiles { series, rotation, keep: keep.map(|keep| keep as usize) };
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

struct RecordingRun {
    interval: Duration,
    until: Option<Duration>,
    clock: SweepClock,
    snapshot: Snapshot,
    sweeps: u32,
    notes: Option<Receiver<StdinNote>>,
    acknowledgements: AcknowledgementWatch,
    job_thread: Option<JobThread>,
}

impl RecordingRun {
    /// Sweeps until the duration is over or the stop flag is set.
    fn record(
        &mut self,
        operation: &mut Operation<'_>,
        source: &mut dyn Source,
        recording: &mut RecordingOutput<'_>,
    ) -> Result<(), RecordingStop> {
        let stop = operation.env.outside.stop();
        let stopped = stop.listen();
        let mut next = Duration::ZERO;
        let before = self
            .snapshot
            .observation
            .reading
            .as_ref()
            .map_or((0, 0), |reading| (reading.phases.len(), reading.silent.len()));
        loop {
            let line = operation.reporter.begin_progress();
            let mut watch = RecordingWatch { line, stopped, recorded: recording.totals() };
            let swept = source.sweep(&mut self.snapshot.observation, next, &mut watch);
            drop(watch);
            let sweep = match swept {
                Ok(sweep) => sweep,
                Err(SourceError::Cancelled) => return self.write_notes(operation, recording),
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
                self.write_notes(operation, recording)?;
            }
            self.record_jobs(operation, time);
            self.write(operation, recording, time, &sweep)?;
            self.write_acknowledgements(recording, time)?;
            self.sweeps += 1;
            next = sweep.began + self.interval;
            let first = self.clock.first_began().unwrap_or_default();
            if self.until.is_some_and(|until| next > first + until) || stopped.load(Ordering::SeqCst) {
                return self.write_notes(operation, recording);
            }
        }
    }

    fn write(
        &self,
        operation: &mut Operation<'_>,
        recording: &mut RecordingOutput<'_>,
        time: i64,
        sweep: &Sweep,
    ) -> Result<(), RecordingStop> {
        if let Some(file) = recording.rotate(time).map_err(RecordingStop::Write)? {
            operation.reporter.report_line(&format!("recording to {file}"));
        }
        let written = recording.recorder().record_sweep(time, &self.snapshot.observation, sweep);
        written.map_err(|error| RecordingStop::Write(write_failure(recording, error)))?;
        match recording.remove_oldest() {
            Ok(gone) => gone.iter().for_each(|path| {
                operation.reporter.report_line(&format!("{} is deleted (--keep)", path.display()));
            }),
            // The recording continues; the message gives the reason for a full disk.
            Err(error) => operation.reporter.report_line(&format!(
                "FD-7968: an old file cannot be deleted: {error}; the recording continues"
            )),
        }
        Ok(())
    }

    /// Adds the current list of jobs to the snapshot.
    fn record_jobs(&mut self, operation: &mut Operation<'_>, time: i64) {
        let Some(job_thread) = &mut self.job_thread else { return };
        let (jobs, messages) = job_thread.take_latest(self.clock.is_simulated().then_some(time));
        self.snapshot.observation.jobs = jobs;
        messages.iter().for_each(|words| operation.reporter.report_line(words));
    }

    /// Adds the acknowledgements that this user changed in the meantime; after the first sweep of a file all that are in
    /// force, because each file is a capture of its own.
    fn write_acknowledgements(
        &mut self,
        recording: &mut RecordingOutput<'_>,
        time: i64,
    ) -> Result<(), RecordingStop> {
        let changes = self.acknowledgements.take_changes();
        let records = match recording.has_one_sweep() {
            true => self.acknowledgements.in_force(),
            false => changes,
        };
        for record in records {
            let entry = OperatorEntry::Acknowledgement(record);
            let written = recording.recorder().record_entry(time, &entry);
            written.map_err(|error| RecordingStop::Write(write_failure(recording, error)))?;
        }
        Ok(())
    }

    /// Adds the notes that arrived on stdin.
    fn write_notes(
        &self,
        operation: &mut Operation<'_>,
        recording: &mut RecordingOutput<'_>,
    ) -> Result<(), RecordingStop> {
        for note in self.notes.iter().flat_map(Receiver::try_iter) {
            match note {
                StdinNote::Note(time, text) => {
                    let written = recording.recorder().record_note(time, &text);
                    written.map_err(|error| RecordingStop::Write(write_failure(recording, error)))?;
                }
                StdinNote::TooLong => operation.reporter.report_line(
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
    line: Box<dyn ProgressLine + 'w>,
    stopped: &'w AtomicBool,
    recorded: RecordedPart,
}

impl ReadObserver for RecordingWatch<'_> {
    fn report_progress(&mut self, _: ReadProgress) {
        let RecordedPart { sweeps, bytes, .. } = self.recorded;
        self.line.show_line(&|| {
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
        return Failure::silent(Exit::Done);
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
