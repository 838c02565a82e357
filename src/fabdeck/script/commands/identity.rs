//! `sources --identity`: the configuration entry that names a fabric which may be written to.

use std::fmt::Write;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::script::answer::json_answer;
use crate::script::context::Context;
use fabdeck_fabric::observe::is_printable;
use fabdeck_mad::access::{DEFAULT_PREFIX, ReadOptions};

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let snapshot = context.operation().read_snapshot(ReadOptions::default())?;
    if snapshot.fabric().switch_count() == 0 {
        return Err(Failure::new(
            Exit::Failed,
            "FD-7508: the source has no switch, and switches identify a fabric; read a fabric with switches"
                .to_owned(),
        ));
    }
    if snapshot.observation.reading.is_none() {
        return Err(Failure::usage(
            "FD-7509: changes are not written to files, so no entry is needed; give a live fabric: --source umad",
        ));
    }
    let entry = entry(&snapshot);
    if context.output.json {
        let answer = IdentityAnswer {
            switches: snapshot.fabric().switches().map(|(_, node)| node.guid().to_string()).collect(),
            subnet_prefix: prefix(&snapshot),
            subnet_managers: manager(&snapshot).into_iter().collect(),
            entry,
        };
        context.write_answer("identity", &snapshot, answer)?;
    } else {
        write!(context.output.out, "{entry}")?;
    }
    Ok(context.conclude(&snapshot))
}

/// The subnet prefix. The default prefix is left out, because it identifies no fabric.
fn prefix(snapshot: &Snapshot) -> Option<String> {
    let prefix = snapshot.observation.reading.as_ref()?.subnet_prefix?;
    (prefix != DEFAULT_PREFIX).then(|| format!("0x{prefix:016x}"))
}

fn manager(snapshot: &Snapshot) -> Option<String> {
    snapshot.observation.subnet_manager.as_ref().map(|manager| manager.guid.to_string())
}

/// The lines for the configuration.
fn entry(snapshot: &Snapshot) -> String {
    let mut head = String::new();
    if snapshot.observation.is_partial() {
        head += "# PARTIAL: nodes that did not answer are missing below. Read the fabric again before you use this entry.\n";
    }
    let mut entry = head + "[[fabric]]\nname = \"my-fabric\"  # your name for the fabric\n";
    // Writing to a string cannot fail.
    if let Some(prefix) = prefix(snapshot) {
        let _ = writeln!(entry, "subnet-prefix = \"{prefix}\"");
    }
    if let Some(manager) = manager(snapshot) {
        let _ = writeln!(entry, "# Add the standby managers; a fabric under any other manager is refused.");
        let _ = writeln!(entry, "subnet-managers = [\"{manager}\"]");
    } else {
        entry += "# No subnet manager answered; with one, subnet-managers = [\"GUID of its port\"] ties the entry to that manager.\n";
    }
    entry += "# Nine in ten of these switches have to be present before anything is written.\nswitches = [\n";
    for (id, node) in snapshot.fabric().switches() {
        let name: String = snapshot.name(id).chars().map(|c| if is_printable(c) { c } else { ' ' }).collect();
        let _ = writeln!(entry, "  \"{}\",  # {name}", node.guid());
    }
    entry + "]\n"
}

json_answer! {
    pub struct IdentityAnswer {
        switches: Vec<String>,
        subnet_prefix: Option<String>,
        subnet_managers: Vec<String>,
        entry: String,
    }
}
