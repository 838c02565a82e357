//! ibdiagnet2.db_csv: one file of many tables, each between `START_X` and `END_X` with a row of column names. Columns
//! are found by name, because they differ between versions. OpenSM's opensm-smdb.dump has the same form.
//!
//! These files contain management keys (M_Key, SM_Key). No column of a key is ever read, and no cell of a row that
//! does not fit its columns is ever shown.

mod counters;
mod fabric_draft;
mod ports;
mod section;
mod speeds;

use super::FileError;
use super::content::TopologyFile;
use super::text::Input;
use super::topology_text::note_duplicates;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{AdaptiveRouting, Notes, SubnetManager};

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
    let adaptive = find_adaptive_routing(&tables, &mut notes)?;
    tables.check_index(&mut notes)?;
    let merged = std::mem::take(&mut draft.merged);
    let fabric = draft.finish();
    note_duplicates(&mut notes, input.name, &fabric);
    Ok(TopologyFile {
        fabric,
        time: tables.time.clone(),
        subnet_manager,
        counters,
        growth,
        adaptive,
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

/// Whether switches route adaptively. Packets then have many paths that linear tables do not show, and verdicts on the
/// tables must say so.
fn find_adaptive_routing(
    tables: &CsvTables<'_>,
    notes: &mut Notes,
) -> Result<Option<AdaptiveRouting>, Box<FileError>> {
    const TABLES: &[&str] = &["PLFT_INFO", "AR_GROUP", "AR_LFT", "RN_COUNTERS", "HBF_CONFIG", "WHBF_CONFIG"];
    let (mut switches, mut enabled, mut unknown, mut has_column) = (0u64, 0u64, 0u64, false);
    let mut seen = None;
    if let Some(section) = tables.get_table("AR_INFO") {
        // Fast recovery and hash-based forwarding choose other ports than the table's, too.
        let pick = |columns: &SectionColumns| {
            let more = ["fr_enabled", "by_sl_hbf_en", "whbf_en"].map(|name| columns.find(&[name]));
            (columns.find(&["e", "ar_enabled", "enabled", "AREnabled"]), more)
        };
        section.read_rows(notes, None, pick, |(column, more), row, _| {
            has_column |= column.is_some();
            switches += 1;
            let on = |column| matches!(row.cell(column), "1" | "0x1");
            let enabled_here = on(*column) || more.iter().any(|column| on(*column));
            enabled += u64::from(enabled_here);
            // ibdiagnet writes N/A for a switch that did not answer.
            unknown += u64::from(!enabled_here && !matches!(row.cell(*column), "0" | "0x0"));
        })?;
        let place = section.place();
        if enabled > 0 {
            let text =
                || format!("adaptive routing is enabled on {enabled} of {switches} switches (AR_INFO)");
            notes.add("FN-432", place, text);
        } else if has_column && unknown > 0 {
            let text = || {
                format!(
                    "{unknown} of {switches} switches did not report whether adaptive routing is on (AR_INFO)"
                )
            };
            notes.add("FN-432", place, text);
        } else if has_column {
            let text = || format!("adaptive routing is off on all {switches} switches listed (AR_INFO)");
            notes.add("FN-437", place, text);
        } else if switches > 0 {
            seen = Some(AdaptiveRouting::Seen);
            let text =
                || "the file shows adaptive routing (AR_INFO), but not on which switches it is on".to_owned();
            notes.add("FN-432", place, text);
        }
    }
    match (enabled, unknown) {
        (0, 0) if has_column => return Ok(None),
        (0, 1..) if has_column => return Ok(Some(AdaptiveRouting::Unknown(unknown))),
        (1.., _) => return Ok(Some(AdaptiveRouting::On(enabled))),
        _ => {}
    }
    for section in tables.iter().filter(|section| TABLES.iter().any(|name| section.name.starts_with(name))) {
        let mut rows = 0u64;
        section.read_rows(notes, None, |_| (), |(), _, _| rows += 1)?;
        if rows > 0 {
            seen = Some(AdaptiveRouting::Seen);
            let name = section.name.clone();
            notes.add("FN-432", section.place(), || format!("the file shows adaptive routing ({name})"));
        }
    }
    Ok(seen)
}
