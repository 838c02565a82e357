//! ibdiagnet2.db_csv: one file of many tables, each between `START_X` and `END_X` with a row of column names. Columns
//! are found by name, because they differ between versions. OpenSM's opensm-smdb.dump has the same form.
//!
//! These files contain management keys (M_Key, SM_Key). No column of a key is ever read, and no cell of a row that
//! does not fit its columns is ever shown.

mod adaptive_tables;
mod counters;
mod device_tables;
mod fabric_draft;
mod findings;
mod label_tables;
mod node_tables;
mod other_tables;
mod partition_tables;
mod port_tables;
mod ports;
mod run_info;
mod section;
mod speeds;

use super::FileError;
use super::content::TopologyFile;
use super::text::Input;
use super::topology_text::note_duplicates;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{Notes, SubnetManager, WireHealth};

pub(crate) use device_tables::fault_text;
use fabric_draft::FabricDraft;
use section::{CsvTables, Marker, Section, SectionColumns};

pub const ID: &str = "ibdiagnet";

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| matches!(Marker::of(line), Some(Marker::Start(_))))
}

pub fn read(input: Input<'_>) -> Result<TopologyFile, Box<FileError>> {
    let mut notes = Notes::new();
    let tables = CsvTables::scan(input, &mut notes)?;
    let Some(nodes) = tables.get_table("NODES") else {
        let hint = "ibdiagnet writes the nodes between START_NODES and END_NODES";
        return Err(FileError::new("FD-2401", input.line_place(1), "no table of nodes", hint));
    };
    let mut draft = FabricDraft::default();
    draft.read_nodes(nodes, &mut notes)?;
    draft.check_size()?;
    if let Some(switches) = tables.get_table("SWITCHES") {
        draft.read_switches(switches, &mut notes)?;
    }
    if let Some(ports) = tables.get_required("PORTS", &mut notes) {
        draft.read_ports(ports, &mut notes)?;
        draft.check_size()?;
    }
    draft.add_unlisted_nodes(&mut notes);
    if let Some(links) = tables.get_required("LINKS", &mut notes) {
        draft.read_links(links, &mut notes)?;
        draft.check_size()?;
    }
    let subnet_manager = match tables.get_table("SM_INFO").or_else(|| tables.get_table("SMS")) {
        Some(section) => read_subnet_manager(section, &mut notes)?,
        None => None,
    };
    let counters = match tables.get_table("PM_INFO") {
        Some(section) => counters::read(section, &mut notes)?,
        None => Vec::new(),
    };
    let growth = match tables.get_table("PM_DELTA") {
        Some(section) => Some(counters::read_growth(section, &tables, &mut notes)?),
        None => None,
    };
    let adaptive = adaptive_tables::read(&tables, &mut notes)?;
    let wire = WireHealth {
        ports: port_tables::read(&tables, &counters, growth.as_ref(), &mut notes)?,
        devices: device_tables::read(&tables, &mut notes)?,
        stated: node_tables::read(&tables, &mut notes)?,
    };
    let labels = label_tables::read(&tables, &mut notes)?;
    let partitions = partition_tables::read(&tables, &mut notes)?;
    findings::note_findings(&tables, &mut notes)?;
    findings::note_unread_tables(&tables, &mut notes);
    tables.check_index(&mut notes)?;
    let time = match &tables.time {
        Some(time) => Some(time.clone()),
        None => run_info::read_time(&tables, &mut notes)?,
    };
    let merged = std::mem::take(&mut draft.merged);
    let fabric = draft.finish();
    note_duplicates(&mut notes, input.name, &fabric);
    let ticks = counters::read_ticks(&tables, &fabric, &mut notes)?;
    Ok(TopologyFile {
        fabric,
        time,
        subnet_manager,
        counters,
        growth,
        ticks,
        wire,
        labels,
        partitions,
        file_tables: other_tables::read(&tables)?,
        adaptive: adaptive.summary,
        adaptive_switches: adaptive.switches,
        merged,
        notes,
    })
}

/// The master among the subnet managers, otherwise the first.
fn read_subnet_manager(
    section: &Section<'_>,
    notes: &mut Notes,
) -> Result<Option<SubnetManager>, Box<FileError>> {
    let mut first: Option<SubnetManager> = None;
    let mut master: Option<SubnetManager> = None;
    let pick = |columns: &SectionColumns| {
        (columns.find(&["PortGUID", "GUID", "NodeGUID"]), columns.find(&["SmState", "State"]))
    };
    section.read_rows(notes, None, pick, |(guid, state), row, notes| {
        let Ok(guid) = Guid::from_hex(row.cell(*guid)) else {
            row.note_unreadable("GUID", notes);
            return;
        };
        let state = match row.cell(*state) {
            "0" => Some("NOTACTIVE".to_owned()),
            "1" => Some("DISCOVERING".to_owned()),
            "2" => Some("STANDBY".to_owned()),
            "3" => Some("MASTER".to_owned()),
            word if word.eq_ignore_ascii_case("master") => Some("MASTER".to_owned()),
            _ => None,
        };
        let manager = SubnetManager { guid, state, priority: None };
        if manager.state.as_deref() != Some("MASTER") {
            first.get_or_insert(manager);
        } else if let Some(known) = &master {
            notes.add("FN-434", row.place(), || {
                format!("{guid} is a second master subnet manager beside {}; the first is shown", known.guid)
            });
        } else {
            master = Some(manager);
        }
    })?;
    Ok(master.or(first))
}
