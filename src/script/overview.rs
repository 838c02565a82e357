//! `fabdeck` without a command: the console's place, until it comes.

use super::context::Context;
use super::show::write_summary;
use super::{Exit, Failure};
use crate::access::Wanted;

/// What the console opens when no source is named.
const DEFAULT: &str = "sim:demo";

const COMING: &str = "
The console is still to come. Until then, commands answer:
  fabdeck --source SRC show links       browse (fabric, switches, hosts, links, ports, tables, counters, lanes)
  fabdeck --source SRC trace FROM TO    follow the forwarding tables
  fabdeck sources                       what can be looked at
  fabdeck help                          everything else
";

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("fabdeck")?;
    let source = context.open(context.source().unwrap_or(DEFAULT))?;
    let look = context.look_at(source, Wanted::default())?;
    write_summary(context, &look)?;
    if !context.output.json {
        context.output.out.write_all(COMING.as_bytes())?;
    }
    Ok(context.conclude(&look))
}
