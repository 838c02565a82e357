//! An operation under way: its environment, and how it reports progress and notes and is stopped. The front end that
//! starts it implements the trait.

use super::environment::Env;
use super::progress::{ProgressLine, ReadingProgress, StopOnlyProgress, run_engine};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::system::phase::Phase;
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Element, Lid};
use fabdeck_mad::access::{
    LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadOptions, Source, WireReadOptions,
};
use fabdeck_routing::RouteProgress;

/// Reports what the user learns while an operation is under way.
pub trait Reporter {
    fn report_line(&mut self, line: &str);
    /// Reports the warnings that a reader needs before the answer.
    fn report_warnings(&mut self, notes: &Notes);
    fn report_notes(&mut self, notes: &Notes);
    /// Reports the statistics of a reading, if the user wants them.
    fn report_statistics(&mut self, snapshot: &Snapshot);
    /// Reports the statistics of a reading, its notes, and whether it is partial.
    fn report_reading(&mut self, snapshot: &Snapshot);
    /// Begins a line of progress.
    fn begin_progress(&mut self) -> Box<dyn ProgressLine + '_>;
    /// Whether the progress of engines is shown.
    fn shows_engines(&self) -> bool;
}

/// What an operation needs from the front end that starts it.
pub struct Operation<'c> {
    pub env: Env<'c>,
    /// Ends a reading or an engine under way; set by operations with a cleanup.
    pub stop: &'c mut Option<StopFlag>,
    /// Whether a node did not answer a reading that the answer uses.
    pub partial: &'c mut bool,
    pub reporter: &'c mut dyn Reporter,
}

/// A snapshot, and its source for further readings.
pub struct OpenSnapshot {
    pub source: Box<dyn Source>,
    pub snapshot: Snapshot,
}

impl Operation<'_> {
    /// Lets a signal end this operation: from now on readings, engines and other long work check the stop flag.
    pub fn listen_to_stop(&mut self) -> StopFlag {
        let stop = self.env.outside.stop();
        stop.listen();
        *self.stop = Some(stop.clone());
        stop
    }

    /// Begins a reading that shows its progress and ends when the stop flag is set.
    pub fn begin_reading(&mut self) -> ReadingProgress<'_> {
        ReadingProgress::new(self.reporter.begin_progress(), self.stop.as_ref())
    }

    /// Reads the named source once.
    pub fn read_snapshot(&mut self, wanted: ReadOptions) -> Result<Snapshot, Failure> {
        Ok(self.open_snapshot(wanted)?.snapshot)
    }

    /// Reads the named source, which stays open for further readings.
    pub fn open_snapshot(&mut self, wanted: ReadOptions) -> Result<OpenSnapshot, Failure> {
        let mut source = self.env.open_named_source()?;
        let snapshot = self.read_snapshot_through(source.as_mut(), wanted)?;
        Ok(OpenSnapshot { source, snapshot })
    }

    pub fn read_snapshot_from(
        &mut self,
        mut source: Box<dyn Source>,
        wanted: ReadOptions,
    ) -> Result<Snapshot, Failure> {
        self.read_snapshot_through(source.as_mut(), wanted)
    }

    /// Reads a snapshot from a source that is used again afterwards.
    pub fn read_snapshot_through(
        &mut self,
        source: &mut dyn Source,
        wanted: ReadOptions,
    ) -> Result<Snapshot, Failure> {
        let observation =
            Phase::time("read the fabric", || source.observe(wanted, &mut self.begin_reading()))?;
        self.reporter.report_warnings(&observation.notes);
        self.env.snapshot_of(source.describe(), observation)
    }

    /// Adds the table entries of these LIDs to a snapshot without tables.
    pub fn read_tables_toward(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        lids: &[Lid],
    ) -> Result<(), Failure> {
        Ok(source.read_routes_to(&mut snapshot.observation, lids, &mut self.begin_reading())?)
    }

    /// Adds lane tables to a snapshot without them, if that takes at most `most` requests.
    pub fn read_lanes(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        most: Option<u64>,
    ) -> Result<LaneReadOutcome, Failure> {
        Ok(source.read_lanes(&mut snapshot.observation, most, &mut self.begin_reading())?)
    }

    /// Adds the health of links and devices to a snapshot.
    pub fn read_wire(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        wanted: WireReadOptions,
    ) -> Result<(), Failure> {
        if wanted == WireReadOptions::default() {
            return Ok(());
        }
        Ok(source.read_wire(&mut snapshot.observation, wanted, &mut self.begin_reading())?)
    }

    /// Queries the subnet manager for the service levels of paths.
    pub fn read_levels(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        wanted: LevelReadOptions,
    ) -> Result<LevelReadOutcome, Failure> {
        let Snapshot { observation, partitions, .. } = snapshot;
        Ok(source.read_levels(observation, partitions.as_ref(), wanted, &mut self.begin_reading())?)
    }

    /// Runs an engine, with a line of progress if the front end shows it.
    pub fn run_with_progress<T: Send>(
        &mut self,
        engine: &str,
        work: impl FnOnce(&dyn RouteProgress) -> T + Send,
    ) -> T {
        match self.reporter.shows_engines() {
            true => run_engine(self.reporter.begin_progress(), engine, self.stop.as_ref(), work),
            false => work(&StopOnlyProgress(self.stop.as_ref())),
        }
    }

    /// Reports a reading that the answer uses.
    pub fn conclude(&mut self, snapshot: &Snapshot) {
        self.reporter.report_reading(snapshot);
        *self.partial |= snapshot.observation.is_partial();
    }

    /// Counts a reading that the answer uses, without its notes.
    pub fn count_reading(&mut self, snapshot: &Snapshot) {
        self.reporter.report_statistics(snapshot);
        *self.partial |= snapshot.observation.is_partial();
    }

    /// Says which labels among the names of elements are guesses.
    pub fn report_guessed_labels<'t>(
        &mut self,
        snapshot: &Snapshot,
        elements: impl IntoIterator<Item = &'t str>,
    ) {
        for text in elements {
            let found = Element::find_noted(snapshot.fabric(), &snapshot.names, text);
            if let Some(guess) = found.ok().and_then(|found| found.guess) {
                self.reporter.report_line(&guess);
            }
        }
    }

    /// Changes the error about an unknown element if part of the fabric did not answer, because the element may be in
    /// that part. The notes name the missing part, and the exit code is that of a source without an answer.
    pub fn explain_missing<T>(
        &mut self,
        snapshot: &Snapshot,
        found: Result<T, impl Into<Failure>>,
    ) -> Result<T, Failure> {
        found.map_err(|error| {
            let failure = error.into();
            if snapshot.observation.reading.is_none() || !snapshot.observation.is_partial() {
                return failure;
            }
            self.conclude(snapshot);
            let message = failure.message.unwrap_or_default();
            Failure::new(
                Exit::Unreachable,
                format!("{message}; the element may be in the part of the fabric that did not answer (see the notes, and -v)"),
            )
        })
    }
}
