//! Refuses global options that a command does not take and would otherwise ignore silently.

use clap::ArgMatches;

use super::args::GlobalArgs;
use super::command_entry::{CommandEntry, FilterUse, OptionUse};
use crate::catalogue::failure::Failure;
use crate::operations::preview::engine_names;

const NO_EVENTS: &str =
    "FD-7206: --record-events is for the console: fabdeck on a terminal, without a command";
const NO_VIEW: &str = "FD-7209: --open is for the console: fabdeck on a terminal, without a command";
const NO_PARTITIONS: &str = "FD-7210: --with-partitions is for the console: fabdeck on a terminal, without a command; \
    show partitions and show groups read them, and record --partitions records them";
const NO_TABLES: &str = "FD-7203: --assume is for check, trace, whatif, route, simulate --pattern, jobs, show jobs, show tables, show users and the field efi of show links: \
    other commands do not follow forwarding tables";
const NO_CAPTURE: &str =
    "FD-7207: --at selects a moment of a capture, which this command does not read; leave it out";
const NO_WATCH: &str =
    "FD-7208: --traps is for commands that watch counters: the console, hotspots and record";

pub fn refuse_options(
    entry: &CommandEntry,
    matches: &ArgMatches,
    globals: &GlobalArgs,
) -> Result<(), Failure> {
    if globals.record_events.is_some() {
        return Err(Failure::usage(NO_EVENTS));
    }
    if globals.open.is_some() {
        return Err(Failure::usage(NO_VIEW));
    }
    if globals.with_partitions {
        return Err(Failure::usage(NO_PARTITIONS));
    }
    refuse_unknown_engine(globals)?;
    if globals.assume.is_some() {
        refuse_unused(entry.assume, matches, NO_TABLES)?;
    }
    if globals.at.is_some() {
        refuse_unused(entry.at, matches, NO_CAPTURE)?;
    }
    if globals.traps {
        refuse_unused(entry.traps, matches, NO_WATCH)?;
    }
    match entry.filter {
        FilterUse::Refused(name) if !globals.filter.is_empty() => Err(Failure::usage(format!(
            "FD-7202: '{name}' prints no rows, so --filter has no effect; leave it out"
        ))),
        _ => Ok(()),
    }
}

pub fn refuse_unknown_engine(globals: &GlobalArgs) -> Result<(), Failure> {
    globals.assume.as_deref().map_or(Ok(()), |id| engine_names::engine_named(id).map(drop))
}

fn refuse_unused(option: OptionUse, matches: &ArgMatches, refusal: &str) -> Result<(), Failure> {
    match option {
        OptionUse::Used => Ok(()),
        OptionUse::UsedWith(is_used) if is_used(matches) => Ok(()),
        OptionUse::Refused(own) => Err(Failure::usage(own)),
        OptionUse::Unused | OptionUse::UsedWith(_) => Err(Failure::usage(refusal)),
    }
}

/// Refusal of `--assume` where the forwarding tables are not followed.
pub fn unused_assumption_failure() -> Failure {
    Failure::usage(NO_TABLES)
}
