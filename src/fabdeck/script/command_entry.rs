//! The entry of a command in the command table: its description, its arguments, the global options that it takes, the
//! schemas of its JSON, and the function that runs it.

use std::fmt;

use clap::{ArgMatches, Args};

use super::context::Context;
use super::json_schema::JsonSchema;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;

/// The precondition of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Requirement {
    Nothing,
    /// A fabric: `--source`, or `source =` in the config.
    Fabric,
}

impl Requirement {
    pub fn title(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Fabric => "a source (`--source`, or `source =` in the config)",
        }
    }
}

/// Whether a command takes a global option that not every command takes.
#[derive(Clone, Copy, Debug)]
pub enum OptionUse {
    Unused,
    Used,
    /// Depends on the arguments of the command.
    UsedWith(fn(&ArgMatches) -> bool),
    /// Refused, with a message of the command's own.
    Refused(&'static str),
}

/// What a command does with `--filter`.
#[derive(Clone, Copy, Debug)]
pub enum FilterUse {
    /// It filters the rows that the command prints.
    Rows,
    /// The command prints no rows. The refusal calls the command by this name.
    Refused(&'static str),
}

/// Arguments of a command, and the function that runs it with them.
trait CommandRun: Sync {
    fn add_arguments(&self, command: clap::Command) -> clap::Command;
    fn run(&self, context: &mut Context<'_, '_>, matches: &ArgMatches) -> Result<Exit, Failure>;
}

/// The function of a command. `A` are its arguments; `()` if it has none.
pub(crate) struct CommandFunction<A>(pub fn(&mut Context<'_, '_>, &A) -> Result<Exit, Failure>);

impl<A: Args> CommandRun for CommandFunction<A> {
    fn add_arguments(&self, command: clap::Command) -> clap::Command {
        A::augment_args(command)
    }

    fn run(&self, context: &mut Context<'_, '_>, matches: &ArgMatches) -> Result<Exit, Failure> {
        let args = A::from_arg_matches(matches).map_err(|error| Failure::usage(error.to_string()))?;
        (self.0)(context, &args)
    }
}

/// A command of the command line.
#[derive(Clone, Copy)]
pub struct CommandEntry {
    /// The words of the command on the command line.
    pub name: &'static str,
    /// The description in one line, without a full stop.
    pub summary: &'static str,
    /// Further details of the description.
    pub details: &'static str,
    pub needs: Requirement,
    pub danger: Danger,
    /// Command lines that work as written, except for the names of files.
    pub examples: &'static [&'static str],
    pub filter: FilterUse,
    /// `--at`, the moment of a capture.
    pub at: OptionUse,
    /// `--assume`, the engine whose tables are assumed.
    pub assume: OptionUse,
    /// `--traps`, for commands that watch counters.
    pub traps: OptionUse,
    /// Whether the command itself takes over changes whose guard has ended. Before every other command that happens
    /// first.
    pub resumes_changes: bool,
    /// Schemas of what the command prints with `--json`.
    pub schemas: &'static [JsonSchema],
    /// `None` for a command that only groups others.
    function: Option<&'static dyn CommandRun>,
}

impl fmt::Debug for CommandEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl CommandEntry {
    /// A command that groups others, until `runs` gives it a function.
    pub const fn new(name: &'static str, summary: &'static str, details: &'static str) -> Self {
        Self {
            name,
            summary,
            details,
            needs: Requirement::Nothing,
            danger: Danger::None,
            examples: &[],
            filter: FilterUse::Refused(name),
            at: OptionUse::Unused,
            assume: OptionUse::Unused,
            traps: OptionUse::Unused,
            resumes_changes: false,
            schemas: &[],
            function: None,
        }
    }

    pub(crate) const fn runs<A: Args>(mut self, function: &'static CommandFunction<A>) -> Self {
        self.function = Some(function);
        self
    }

    pub const fn needs_fabric(mut self) -> Self {
        self.needs = Requirement::Fabric;
        self
    }

    pub const fn danger(mut self, danger: Danger) -> Self {
        self.danger = danger;
        self
    }

    pub const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }

    pub const fn filter(mut self, filter: FilterUse) -> Self {
        self.filter = filter;
        self
    }

    pub const fn at(mut self, at: OptionUse) -> Self {
        self.at = at;
        self
    }

    pub const fn assume(mut self, assume: OptionUse) -> Self {
        self.assume = assume;
        self
    }

    pub const fn traps(mut self, traps: OptionUse) -> Self {
        self.traps = traps;
        self
    }

    pub const fn resumes_changes(mut self) -> Self {
        self.resumes_changes = true;
        self
    }

    pub const fn json(mut self, schemas: &'static [JsonSchema]) -> Self {
        self.schemas = schemas;
        self
    }

    pub fn is_group(&self) -> bool {
        self.function.is_none()
    }

    /// Adds the arguments of the command to its part of the command line.
    pub fn add_arguments(&self, command: clap::Command) -> clap::Command {
        match self.function {
            Some(function) => function.add_arguments(command),
            None => command.subcommand_required(true).arg_required_else_help(true),
        }
    }

    pub(crate) fn run(&self, context: &mut Context<'_, '_>, matches: &ArgMatches) -> Result<Exit, Failure> {
        match self.function {
            Some(function) => function.run(context, matches),
            // The parser accepts no group without one of its commands, so this cannot happen.
            None => Err(Failure::usage(format!("'{}' needs one of its commands", self.name))),
        }
    }
}
