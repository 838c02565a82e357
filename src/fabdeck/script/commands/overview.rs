//! `fabdeck` without a command and without a terminal: the fabric in numbers.

use super::show::write_summary;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use fabdeck_mad::access::ReadOptions;

/// Runs where no command is named. It takes the options of the console, and is not listed as a command.
pub const OVERVIEW: CommandEntry = CommandEntry::new("fabdeck", "The fabric in numbers", "")
    .runs(&CommandFunction(run))
    .at(OptionUse::Used)
    .traps(OptionUse::Used);

/// Source of the console if none is named.
pub const DEFAULT_SOURCE: &str = "sim:demo";

fn run(context: &mut Context<'_, '_>, (): &()) -> Result<Exit, Failure> {
    let source = context.env().open_source(context.options.source.as_deref().unwrap_or(DEFAULT_SOURCE))?;
    let snapshot = context.operation().read_snapshot_from(source, ReadOptions::default())?;
    write_summary(context, &snapshot)?;
    Ok(context.conclude(&snapshot))
}
