//! The context of every command: flags, configuration, access to the system, and both output streams.

use super::args::GlobalArgs;
use super::config::ConfigFile;
use super::engine_names::engine_named;
use super::json::{Object, ObjectHead};
use super::output::Output;
use super::progress::{ProgressMeter, StopOnlyProgress, run_with_progress};
use super::read_statistics::lines;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::preview::assume::assume;
use crate::script::changes::env::ChangeOptions;
use crate::system::access::{SourceOptions, SystemAccess};
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Lid, NameMap};
use fabdeck_live::WriteRight;
use fabdeck_mad::access::{LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadOptions, Source};
use fabdeck_routing::RouteProgress;

pub struct Context<'a, 'o> {
    pub globals: &'a GlobalArgs,
    pub config: ConfigFile,
    pub outside: &'a dyn SystemAccess,
    pub output: Output<'o>,
    /// Whether stderr shows the progress of long readings.
    pub progress: bool,
    /// Whether the user can answer a question on the terminal.
    pub asks: bool,
    /// Ends a reading or an engine under way; set by commands with a cleanup.
    pub stop: Option<StopFlag>,
    /// Whether a node did not answer a reading that this command uses.
    pub partial: bool,
}

impl Context<'_, '_> {
    /// The source from `--source` or the configuration.
    pub fn source(&self) -> Option<&str> {
        self.globals.source.as_deref().or(self.config.source.as_deref())
    }

    /// The source from `--source` or the configuration; a scripted command never picks one by itself.
    pub fn named_source(&self) -> Result<&str, Failure> {
        self.source().ok_or_else(|| {
            Failure::usage(
                "FD-7201: no source is named; give one with --source (sim:demo, sim:kary,k=4,n=3, site.topo, a folder \
                 of dumps) or as 'source = \"...\"' in the configuration; `fabdeck sources` lists some",
            )
        })
    }

    /// Reads the named source once.
    pub fn read_snapshot(&mut self, wanted: ReadOptions) -> Result<Snapshot, Failure> {
        let source = self.open_source(self.named_source()?)?;
        self.read_snapshot_from(source, wanted)
    }

    /// Applies `--assume` to a snapshot that may lack tables.
    pub fn assume(&self, snapshot: &mut Snapshot) -> Result<(), Failure> {
        match &self.globals.assume {
            Some(id) => Ok(assume(snapshot, engine_named(id)?)?),
            None => Ok(()),
        }
    }

    /// Options of live sources, from the flags or the configuration.
    pub fn source_options(&self) -> SourceOptions {
        let globals = self.globals;
        let mkey_file = globals.mkey_file.as_ref().or(self.config.mkey_file.as_ref()).cloned();
        let drift_period = self.config.drift_period;
        SourceOptions {
            timeout: globals.timeout,
            retries: globals.retries,
            mkey_file,
            drift_period,
            traps: globals.traps,
            at: globals.at.clone(),
        }
    }

    /// Options of work on changes.
    pub fn change_options(&self) -> ChangeOptions {
        let (globals, config) = (self.globals, &self.config);
        ChangeOptions {
            reach: self.source_options(),
            right: WriteRight {
                asked: globals.allow_write,
                opted_in: config.fabrics.clone(),
                ..WriteRight::default()
            },
            node_name_map: globals.node_name_map.as_ref().or(config.node_name_map.as_ref()).cloned(),
            host_rules: config.host_rules.clone(),
            state_dir: globals.state_dir.as_ref().or(config.state_dir.as_ref()).cloned(),
            socket_dir: config.socket_dir.clone(),
            system_log: config.system_log.clone(),
            rights: config.rights.clone(),
            rights_refused: config.rights_refused.clone(),
            config: globals.config.clone(),
            mkey_file: globals.mkey_file.clone(),
        }
    }

    /// Opens a source with the options of live sources.
    pub fn open_source(&self, source: &str) -> Result<Box<dyn Source>, Failure> {
        Ok(self.outside.open(source, &self.source_options())?)
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
        let mut meter = ProgressMeter::new(self.output.err, self.progress).with_stop(self.stop.as_ref());
        let observation = source.observe(wanted, &mut meter);
        meter.clear();
        let observation = observation?;
        self.output.print_warnings(&observation.notes);
        self.snapshot_of(source.describe(), observation)
    }

    /// Adds the table entries of these LIDs to a snapshot without tables.
    pub fn read_tables_toward(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        lids: &[Lid],
    ) -> Result<(), Failure> {
        let mut meter = ProgressMeter::new(self.output.err, self.progress).with_stop(self.stop.as_ref());
        let read = source.read_routes_to(&mut snapshot.observation, lids, &mut meter);
        meter.clear();
        Ok(read?)
    }

    /// Runs an engine, with a line of progress if stderr shows progress.
    pub fn run_with_progress<T: Send>(
        &mut self,
        engine: &str,
        work: impl FnOnce(&dyn RouteProgress) -> T + Send,
    ) -> T {
        match self.progress && !self.output.json {
            true => run_with_progress(self.output.err, (engine, self.stop.as_ref()), work),
            false => work(&StopOnlyProgress(self.stop.as_ref())),
        }
    }

    /// Adds lane tables to a snapshot without them, if that takes at most `most` requests.
    pub fn read_lanes(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        most: Option<u64>,
    ) -> Result<LaneReadOutcome, Failure> {
        let mut meter = ProgressMeter::new(self.output.err, self.progress).with_stop(self.stop.as_ref());
        let read = source.read_lanes(&mut snapshot.observation, most, &mut meter);
        meter.clear();
        Ok(read?)
    }

    /// Queries the subnet manager for the service levels of paths.
    pub fn read_levels(
        &mut self,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        wanted: LevelReadOptions,
    ) -> Result<LevelReadOutcome, Failure> {
        let mut meter = ProgressMeter::new(self.output.err, self.progress).with_stop(self.stop.as_ref());
        let read = source.read_levels(&mut snapshot.observation, wanted, &mut meter);
        meter.clear();
        Ok(read?)
    }

    /// Returns a refusal that a damaged file may have caused, after printing the notes about what was left out.
    pub fn refuse_with_notes(&mut self, snapshot: &Snapshot, refusal: Failure) -> Failure {
        self.output.print_notes(&snapshot.observation.notes);
        refusal
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

    /// A snapshot of an observation, with the operator's names.
    pub fn snapshot_of(&self, source: &str, mut observation: Observation) -> Result<Snapshot, Failure> {
        let (own, notes) = self.read_operator_names()?;
        observation.notes.extend(notes);
        Ok(Snapshot::new(source, observation, &own))
    }

    /// The operator's names.
    pub fn operator_names(&mut self) -> Result<NameMap, Failure> {
        let (names, notes) = self.read_operator_names()?;
        self.output.print_notes(&notes);
        Ok(names)
    }

    fn read_operator_names(&self) -> Result<(NameMap, Notes), Failure> {
        let file = self.globals.node_name_map.as_deref().or(self.config.node_name_map.as_deref());
        let (mut own, notes) = match file {
            None => (NameMap::default(), Notes::new()),
            Some(file) => self.outside.names(file)?,
        };
        own.hosts.clone_from(&self.config.host_rules);
        Ok((own, notes))
    }

    /// Begins the JSON object of a command that read a source.
    pub fn object(&mut self, schema: &str, snapshot: &Snapshot) -> Result<Object<'_>, Failure> {
        let time = snapshot.observation.time.as_deref().filter(|_| !self.globals.no_times);
        let head = ObjectHead {
            schema,
            source: Some(&snapshot.source),
            time,
            assumed: snapshot.assumed,
            partial: snapshot.observation.is_partial(),
            notes: &snapshot.observation.notes,
        };
        Ok(Object::begin(self.output.out, &head)?)
    }

    /// Begins the JSON object of a command that read no source.
    pub fn object_without_snapshot(&mut self, schema: &str) -> Result<Object<'_>, Failure> {
        self.partial_object(schema, false)
    }

    /// Begins the JSON object of a command without a source whose answer may be partial.
    pub fn partial_object(&mut self, schema: &str, partial: bool) -> Result<Object<'_>, Failure> {
        let head =
            ObjectHead { schema, source: None, time: None, assumed: None, partial, notes: &Notes::new() };
        Ok(Object::begin(self.output.out, &head)?)
    }

    /// Prints the notes of a snapshot and returns the exit code that it leads to.
    pub fn conclude(&mut self, snapshot: &Snapshot) -> Exit {
        if self.globals.verbose {
            lines(snapshot).iter().for_each(|line| self.output.print_message(line));
        }
        self.output.print_notes(&snapshot.observation.notes);
        if snapshot.observation.is_partial() {
            self.partial = true;
            if !self.output.json {
                self.output
                    .print_message("the answer is partial: part of the source did not answer or was cut off");
            }
            if self.globals.strict {
                return Exit::Findings;
            }
        }
        Exit::Done
    }

    /// Refuses `--filter` on a command without rows, which would otherwise ignore it silently.
    pub fn refuse_filter(&self, command: &str) -> Result<(), Failure> {
        if self.globals.filter.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "FD-7202: '{command}' prints no rows, so --filter has no effect; leave it out"
        )))
    }
}
