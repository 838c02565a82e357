//! Makes the files of a plan: the LFT of every switch with every LID, and a policy if paths have lanes. OpenSM checks
//! neither, so both are read back before they are used.

use crate::plan::Plan;
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, NodeId, PortNum, Tables};
use fabdeck_files::text::Input;
use fabdeck_files::{lfts, qos_policy};

use super::refusal::OpensmRefusal;

/// The tables of all switches after a plan, in the format of OpenSM's file engine.
pub fn tables_file(look: &Observation, outcome: &Tables) -> Result<Vec<u8>, OpensmRefusal> {
    check_complete(look, outcome)?;
    let mut bytes = Vec::new();
    lfts::write(&look.fabric, outcome, &mut bytes)
        .map_err(|error| OpensmRefusal::NotAsPlanned(error.to_string()))?;
    let again = load_tables(&look.fabric, &bytes).map_err(OpensmRefusal::NotAsPlanned)?;
    match first_difference(&look.fabric, outcome, &again) {
        None => Ok(bytes),
        Some(what) => Err(OpensmRefusal::NotAsPlanned(what)),
    }
}

/// Refuses incomplete tables. A switch that is not in the file would lose all entries; one without a route to its own
/// LID would become unmanageable.
fn check_complete(look: &Observation, outcome: &Tables) -> Result<(), OpensmRefusal> {
    let fabric = &look.fabric;
    for (id, node) in fabric.switches() {
        let lacks = |what: &str| Err(OpensmRefusal::Incomplete(format!("{what} of switch {}", node.guid())));
        if look.tables.lft(id).is_none() {
            return lacks("that is not known");
        }
        if look.tables.nodes.get(&id).is_some_and(|held| !held.unread.is_empty()) {
            return lacks("some blocks were not read");
        }
        let own = fabric.port_of(id, PortNum::MANAGEMENT).and_then(|port| fabric.port(port).facts.lid);
        let Some(own) = own else { return lacks("there is no LID") };
        if outcome.lft(id).and_then(|lft| lft.get(own)) != Some(PortNum::MANAGEMENT) {
            return lacks("its own LID does not lead to port 0");
        }
    }
    Ok(())
}

/// Reads a file of tables for this fabric.
pub fn load_tables(fabric: &Fabric, bytes: &[u8]) -> Result<Tables, String> {
    let file = lfts::read(Input::new("tables", bytes)).map_err(|error| error.to_string())?;
    let mut tables = Tables::default();
    file.apply_to(fabric, &mut tables, &mut Notes::new());
    Ok(tables)
}

/// Number of entries that differ, and the first of them, as a sentence.
pub fn first_difference(fabric: &Fabric, here: &Tables, there: &Tables) -> Option<String> {
    let (mut count, mut first) = (0_usize, None);
    for (id, node) in fabric.switches() {
        let (here, there) = (table_row(here, id), table_row(there, id));
        for lid in 0..here.len().max(there.len()) {
            let ends = [here, there].map(|row| row.get(lid).copied().unwrap_or(fabdeck_fabric::NO_PATH));
            if ends[0] != ends[1] {
                count += 1;
                let port = |port: u8| match port {
                    fabdeck_fabric::NO_PATH => "nowhere".to_owned(),
                    port => format!("port {port}"),
                };
                first.get_or_insert_with(|| {
                    format!("LID {lid} of switch {} {} and {}", node.guid(), port(ends[0]), port(ends[1]))
                });
            }
        }
    }
    first.map(|first| format!("{count} entries differ, the first is {first}"))
}

fn table_row(tables: &Tables, id: NodeId) -> &[u8] {
    tables.lft(id).map_or(&[], |lft| lft.bytes())
}

/// The content of OpenSM's policy file after a plan. `None`: the present file may stay.
pub fn policy_file(
    plan: &Plan,
    look: &Observation,
    outcome: &Tables,
    there: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, PolicyError> {
    let levels = there.map(|bytes| qos_policy::read(Input::new("policy", bytes)));
    let laned = plan.lanes.count > 1;
    match &levels {
        Some(Err(error)) if laned => return Err(PolicyError::Own(error.to_string())),
        // Either the site's own policy, or one that gives only level 0.
        None | Some(Err(_)) if !laned => return Ok(None),
        Some(Ok(levels)) if !laned && levels.is_empty() => return Ok(None),
        _ => {}
    }
    let routes = plan.routes(&look.fabric, outcome);
    let text =
        qos_policy::write(&look.fabric, &routes).map_err(|error| PolicyError::Lanes(error.to_string()))?;
    Ok(Some(text.into_bytes()))
}

/// Why no policy can be made.
#[derive(Debug)]
pub enum PolicyError {
    Own(String),
    Lanes(String),
}
