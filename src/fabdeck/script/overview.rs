//! `fabdeck` without a command and without a terminal: the fabric in numbers.

use super::context::Context;
use super::show::write_summary;
use super::{Exit, Failure};
use fabdeck_mad::access::Wanted;

/// Source of the console if none is named.
pub const DEFAULT: &str = "sim:demo";

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("fabdeck")?;
    let source = context.open(context.source().unwrap_or(DEFAULT))?;
    let look = context.look_at(source, Wanted::default())?;
    write_summary(context, &look)?;
    Ok(context.conclude(&look))
}
