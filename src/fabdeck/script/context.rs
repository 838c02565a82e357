//! The context of every command: flags, configuration, access to the system, and both output streams.

use super::answer::{Answer, write_object};
use super::args::GlobalArgs;
use super::config::ConfigFile;
use super::json::ObjectHead;
use super::output::Output;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::{Env, OperationOptions};
use crate::operations::operation::Operation;
use crate::system::access::{SourceOptions, SystemAccess};
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::Notes;
use fabdeck_live::WriteRight;
use fabdeck_routing::find_engine;

pub struct Context<'a, 'o> {
    pub globals: &'a GlobalArgs,
    /// The whole command line, for completions and man pages.
    pub command_line: &'a clap::Command,
    pub config: ConfigFile,
    pub outside: &'a dyn SystemAccess,
    /// Options of operations, from the flags and the configuration.
    pub options: &'a OperationOptions,
    pub output: Output<'o>,
    /// Whether the user can answer a question on the terminal.
    pub asks: bool,
    /// Ends a reading or an engine under way; set by commands with a cleanup.
    pub stop: Option<StopFlag>,
    /// Whether a node did not answer a reading that this command uses.
    pub partial: bool,
}

impl<'a> Context<'a, '_> {
    /// What operations need besides their request.
    pub fn env(&self) -> Env<'a> {
        Env { outside: self.outside, given: self.options }
    }

    /// What an operation needs from this command.
    pub fn operation(&mut self) -> Operation<'_> {
        Operation {
            env: Env { outside: self.outside, given: self.options },
            stop: &mut self.stop,
            partial: &mut self.partial,
            reporter: &mut self.output,
        }
    }

    /// Returns a refusal that a damaged file may have caused, after printing the notes about what was left out.
    pub fn refuse_with_notes(&mut self, snapshot: &Snapshot, refusal: Failure) -> Failure {
        self.output.print_notes(&snapshot.observation.notes);
        refusal
    }

    /// Writes the JSON of a command that read a source.
    pub fn write_answer(
        &mut self,
        schema: &str,
        snapshot: &Snapshot,
        answer: impl Answer,
    ) -> Result<(), Failure> {
        let time = snapshot.observation.time.as_deref().filter(|_| !self.options.no_times);
        let head = ObjectHead {
            schema,
            source: Some(&snapshot.source),
            time,
            assumed: snapshot.assumed,
            partial: snapshot.observation.is_partial(),
            notes: &snapshot.observation.notes,
        };
        Ok(write_object(self.output.out, &head, answer)?)
    }

    /// Writes the JSON of a command that read no source.
    pub fn write_plain_answer(&mut self, schema: &str, answer: impl Answer) -> Result<(), Failure> {
        self.write_partial_answer(schema, false, answer)
    }

    /// Writes the JSON of a command without a source whose answer may be partial.
    pub fn write_partial_answer(
        &mut self,
        schema: &str,
        partial: bool,
        answer: impl Answer,
    ) -> Result<(), Failure> {
        let head =
            ObjectHead { schema, source: None, time: None, assumed: None, partial, notes: &Notes::new() };
        Ok(write_object(self.output.out, &head, answer)?)
    }

    /// Prints the notes of a snapshot and returns the exit code that it leads to.
    pub fn conclude(&mut self, snapshot: &Snapshot) -> Exit {
        self.operation().conclude(snapshot);
        match snapshot.observation.is_partial() && self.globals.strict {
            true => Exit::Findings,
            false => Exit::Done,
        }
    }
}

/// Resolves the options of operations: a flag, otherwise the configuration. An unknown engine of `--assume` is refused
/// before the options are used.
pub fn resolve_options(globals: &GlobalArgs, config: &ConfigFile) -> OperationOptions {
    OperationOptions {
        source: globals.source.as_ref().or(config.source.as_ref()).cloned(),
        reach: SourceOptions {
            library: config.mad_library,
            timeout: globals.timeout,
            retries: globals.retries,
            mkey_file: globals.mkey_file.as_ref().or(config.mkey_file.as_ref()).cloned(),
            drift_period: config.watch.drift_period,
            traps: globals.traps,
            at: globals.at.clone(),
        },
        right: WriteRight {
            asked: globals.allow_write,
            opted_in: config.fabrics.clone(),
            ..WriteRight::default()
        },
        node_name_map: globals.node_name_map.as_ref().or(config.node_name_map.as_ref()).cloned(),
        labels: globals.labels.as_ref().or(config.labels.as_ref()).cloned(),
        cabling: globals.cabling.as_ref().or(config.cabling.as_ref()).cloned(),
        host_rules: config.jobs.host_rules.clone(),
        assume: globals.assume.as_deref().and_then(find_engine),
        thresholds: config.hotspots.clone(),
        wire_thresholds: config.wire,
        supposed_lanes: config.supposed_lanes,
        no_times: globals.no_times,
        state_dir: globals.state_dir.as_ref().or(config.state_dir.as_ref()).cloned(),
        socket_dir: config.socket_dir.clone(),
        system_log: config.system_log.clone(),
        rights: config.rights.clone(),
        rights_refused: config.rights_refused.clone(),
        config: globals.config.clone(),
        mkey_file: globals.mkey_file.clone(),
    }
}
