//! `fabdeck` without a command and without a terminal: the fabric in numbers.

use super::context::Context;
use super::show::write_summary;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use fabdeck_mad::access::ReadOptions;

/// Source of the console if none is named.
pub const DEFAULT_SOURCE: &str = "sim:demo";

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("fabdeck")?;
    let source = context.env().open_source(context.options.source.as_deref().unwrap_or(DEFAULT_SOURCE))?;
    let snapshot = context.operation().read_snapshot_from(source, ReadOptions::default())?;
    write_summary(context, &snapshot)?;
    Ok(context.conclude(&snapshot))
}
