//! `sources --identity`: the configuration entry that names a fabric which may be written to.

use std::fmt::Write;

use crate::session::Snapshot;
use fabdeck_fabric::observe::is_printable;
use fabdeck_mad::access::{DEFAULT_PREFIX, ReadOptions};

use super::context::Context;
use super::{Exit, Failure};

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("sources")?;
    let look = context.read_snapshot(ReadOptions::default())?;
    if look.fabric().switch_count() == 0 {
        return Err(Failure::new(
            Exit::Failed,
            "FD-7508: a fabric is known by its switches, and this one has none".to_owned(),
        ));
    }
    if look.observation.reading.is_none() {
        return Err(Failure::usage(
            "FD-7509: nothing is written to files, so there is nothing to opt in; give a live fabric: --source umad",
        ));
    }
    let entry = entry(&look);
    if context.output.json {
        let switches: Vec<String> =
            look.fabric().switches().map(|(_, node)| node.guid().to_string()).collect();
        let mut object = context.object("identity", &look)?;
        object.field("switches", &switches)?;
        object.field("subnet_prefix", &prefix(&look))?;
        object.field("subnet_managers", &manager(&look).into_iter().collect::<Vec<_>>())?;
        object.field("entry", &entry)?;
        object.end()?;
    } else {
        write!(context.output.out, "{entry}")?;
    }
    Ok(context.conclude(&look))
}

/// The default prefix identifies nothing, because every fabric has it.
fn prefix(look: &Snapshot) -> Option<String> {
    let prefix = look.observation.reading.as_ref()?.subnet_prefix?;
    (prefix != DEFAULT_PREFIX).then(|| format!("0x{prefix:016x}"))
}

fn manager(look: &Snapshot) -> Option<String> {
    look.observation.subnet_manager.as_ref().map(|manager| manager.guid.to_string())
}

/// The lines for the configuration.
fn entry(look: &Snapshot) -> String {
    let mut head = String::new();
    if look.observation.is_partial() {
        head += "# PARTIAL: not everything answered, and what did not is missing below. Look again before this is used.\n";
    }
    let mut entry = head + "[[fabric]]\nname = \"my-fabric\"  # as you call it\n";
    // Writing to a string cannot fail.
    if let Some(prefix) = prefix(look) {
        let _ = writeln!(entry, "subnet-prefix = \"{prefix}\"");
    }
    if let Some(manager) = manager(look) {
        let _ = writeln!(entry, "# Add the standbys; a fabric under another manager is then refused.");
        let _ = writeln!(entry, "subnet-managers = [\"{manager}\"]");
    } else {
        entry += "# No subnet manager answered; with one, subnet-managers = [\"GUID of its port\"] ties the entry to it.\n";
    }
    entry += "# Nine in ten of these have to be there before anything is written.\nswitches = [\n";
    for (id, node) in look.fabric().switches() {
        let name: String = look.name(id).chars().map(|c| if is_printable(c) { c } else { ' ' }).collect();
        let _ = writeln!(entry, "  \"{}\",  # {name}", node.guid());
    }
    entry + "]\n"
}
