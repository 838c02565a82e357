//! What switches state about adaptive routing: AR_INFO, and the tables beside it that a verdict over choices needs.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::section::{CsvTables, Row, Section, SectionColumns, read_number};
use crate::FileError;
use fabdeck_fabric::observe::{AdaptiveRouting, Notes};
use fabdeck_fabric::{AdaptiveSettings, AdaptiveStatement, Guid};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &["AR_INFO", "EXTENDED_NODE_INFO"];

/// Tables without which a file knows nothing of adaptive routing. A row in one of them shows that some switch has it.
pub(super) const SIGNS: &[&str] =
    &["PLFT_INFO", "AR_GROUP", "AR_LFT", "RN_COUNTERS", "HBF_CONFIG", "WHBF_CONFIG"];

/// Columns of AR_INFO that say what a switch can do, and not what it does.
const CAPABILITIES: &[&str] = &[
    "NodeGUID",
    "is_arn_sup",
    "is_frn_sup",
    "is_fr_sup",
    "rn_xmit_enabled",
    "is_ar_trails_supported",
    "is_ar_trials_supported",
    "group_table_copy_sup",
    "direction_num_sup",
    "is4_mode",
    "glb_groups",
    "by_sl_cap",
    "by_transp_cap",
    "dyn_cap_calc_sup",
    "group_cap",
    "group_table_cap",
    "string_width_cap",
    "ar_version_cap",
    "rn_version_cap",
    "sub_grps_supported",
    "by_transport_disable",
    "ageing_time_value",
    "is_hbf_supported",
    "is_whbf_supported",
    "whbf_granularity",
    "is_symmetric_hash_supported",
    "is_dceth_hash_supported",
    "is_bth_dqp_hash_supported",
    "is_pfrn_supported",
];

/// The columns of AR_INFO that are read.
struct SettingColumns {
    adaptive: Option<usize>,
    by_level: Option<usize>,
    levels: Option<usize>,
    fast_recovery: Option<usize>,
    hash: Option<usize>,
    hash_levels: Option<usize>,
    weighted: Option<usize>,
    failure_notices: Option<usize>,
    sub_groups: Option<usize>,
    group_top: Option<usize>,
    /// Names of columns that are neither read nor known.
    unknown: Vec<String>,
}

impl SettingColumns {
    fn find(columns: &SectionColumns) -> Self {
        let of = |names: &[&str]| columns.find(names);
        let mut found = Self {
            adaptive: of(&["e", "ar_enabled", "enabled", "AREnabled"]),
            by_level: of(&["by_sl_en"]),
            levels: of(&["enable_by_sl_mask"]),
            fast_recovery: of(&["fr_enabled"]),
            hash: of(&["by_sl_hbf_en"]),
            hash_levels: of(&["enable_by_sl_mask_hbf"]),
            weighted: of(&["whbf_en"]),
            failure_notices: of(&["pfrn_enabled"]),
            sub_groups: of(&["sub_grps_active"]),
            group_top: of(&["group_top"]),
            unknown: Vec::new(),
        };
        let known: Vec<Option<usize>> = found.places().to_vec();
        let other = columns.names.iter().enumerate().filter(|(at, name)| {
            let capability =
                CAPABILITIES.iter().filter_map(|known| columns.find(&[known])).any(|known| known == *at);
            !name.is_empty() && !capability && !known.contains(&Some(*at))
        });
        found.unknown = other.map(|(_, name)| name.chars().take(40).collect()).collect();
        found
    }

    fn places(&self) -> [Option<usize>; 10] {
        [
            self.adaptive,
            self.by_level,
            self.levels,
            self.fast_recovery,
            self.hash,
            self.hash_levels,
            self.weighted,
            self.failure_notices,
            self.sub_groups,
            self.group_top,
        ]
    }

    /// What a row states; `None` where the switch did not answer.
    fn read(&self, row: &Row<'_>, notes: &mut Notes) -> Option<AdaptiveSettings> {
        let mut number = |column, what: &str| read_number(row, column, what, notes);
        let mut flag = |column| number(column, "flag of adaptive routing").map(|value| value != 0);
        let adaptive = flag(self.adaptive);
        let on = [self.fast_recovery, self.hash, self.weighted].map(&mut flag);
        let stated = adaptive.is_some() || on.contains(&Some(true));
        let [fast_recovery, hash_forwarding, weighted_hash] = on.map(Option::unwrap_or_default);
        let limited = flag(self.by_level).unwrap_or(false);
        let failure_notices = flag(self.failure_notices).unwrap_or(false);
        let mut mask = |column| {
            let mask = number(column, "mask of service levels");
            mask.and_then(|mask| u16::try_from(mask).ok()).unwrap_or(u16::MAX)
        };
        let (levels, hash_levels) = (mask(self.levels), mask(self.hash_levels));
        let sub_groups = number(self.sub_groups, "number of sub-groups").unwrap_or(0).min(15) as u8;
        let group_top = number(self.group_top, "highest group").unwrap_or(0);
        stated.then(|| AdaptiveSettings {
            absent: false,
            adaptive: adaptive.unwrap_or(false),
            levels: if limited { levels } else { u16::MAX },
            fast_recovery,
            hash_forwarding,
            weighted_hash,
            hash_levels: if hash_forwarding { hash_levels } else { 0 },
            failure_notices,
            sub_groups: sub_groups + 1,
            group_top: u16::try_from(group_top).unwrap_or(u16::MAX),
            private_tables: None,
            lane_input: None,
        })
    }
}

/// What the file states about adaptive routing.
#[derive(Default)]
pub(super) struct AdaptiveTablesRead {
    pub(super) summary: Option<AdaptiveRouting>,
    pub(super) switches: BTreeMap<Guid, AdaptiveStatement>,
}

/// Whether switches route adaptively. Packets then have many paths that linear tables do not show, and verdicts on the
/// tables must say so.
pub(super) fn read(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<AdaptiveTablesRead, Box<FileError>> {
    let mut read = AdaptiveTablesRead::default();
    let mut has_column = false;
    if let Some(section) = tables.get_table("AR_INFO") {
        let mut rows = 0;
        (has_column, rows) =
            read_settings(section, &mut read.switches, notes).map(|found| (found.0, rows + found.1))?;
        if !has_column {
            // Without the column it is not known where it is on.
            read.switches.clear();
        }
        read.summary = note_summary(section, has_column, rows, &read.switches, notes);
    }
    add_capabilities(tables, &mut read.switches, notes)?;
    if has_column || matches!(read.summary, Some(AdaptiveRouting::On(_))) {
        return Ok(read);
    }
    for section in tables.iter().filter(|section| SIGNS.iter().any(|name| section.name.starts_with(name))) {
        if section.row_count() > 0 {
            read.summary = Some(AdaptiveRouting::Seen);
            let name = section.name.clone();
            notes.add("FN-432", section.place(), || format!("the file shows adaptive routing ({name})"));
        }
    }
    Ok(read)
}

/// Whether AR_INFO says where adaptive routing is on, and its number of rows.
fn read_settings(
    section: &Section<'_>,
    switches: &mut BTreeMap<Guid, AdaptiveStatement>,
    notes: &mut Notes,
) -> Result<(bool, u64), Box<FileError>> {
    let (mut has_column, mut rows, mut unknown) = (false, 0, Vec::new());
    let pick = |columns: &SectionColumns| {
        let picked = SettingColumns::find(columns);
        unknown.clone_from(&picked.unknown);
        picked
    };
    section.read_nodes(notes, pick, |node, picked, row, notes| {
        has_column |= picked.adaptive.is_some();
        rows += 1;
        let stated = picked.read(row, notes).map(AdaptiveStatement::Stated);
        // ibdiagnet writes N/A for a switch that did not answer.
        switches.insert(node, stated.unwrap_or(AdaptiveStatement::NoAnswer));
    })?;
    if !unknown.is_empty() && rows > 0 {
        notes.add("FN-440", section.place(), || {
            format!(
                "columns of AR_INFO that are not read: {}; they may change where packets go",
                unknown.join(", ")
            )
        });
    }
    Ok((has_column, rows))
}

/// Notes on how many switches adaptive routing is on.
fn note_summary(
    section: &Section<'_>,
    has_column: bool,
    rows: u64,
    switches: &BTreeMap<Guid, AdaptiveStatement>,
    notes: &mut Notes,
) -> Option<AdaptiveRouting> {
    let count =
        |wanted: fn(&AdaptiveStatement) -> bool| switches.values().filter(|said| wanted(said)).count() as u64;
    let enabled = count(|said| matches!(said, AdaptiveStatement::Stated(settings) if settings.has_choice()));
    let unknown = count(|said| *said == AdaptiveStatement::NoAnswer);
    let place = section.place();
    if rows == 0 {
        None
    } else if enabled > 0 {
        let text = || format!("adaptive routing is enabled on {enabled} of {rows} switches (AR_INFO)");
        notes.add("FN-432", place, text);
        Some(AdaptiveRouting::On(enabled))
    } else if !has_column {
        let text =
            || "the file shows adaptive routing (AR_INFO), but not on which switches it is on".to_owned();
        notes.add("FN-432", place, text);
        Some(AdaptiveRouting::Seen)
    } else if unknown > 0 {
        let text = || {
            format!("{unknown} of {rows} switches did not report whether adaptive routing is on (AR_INFO)")
        };
        notes.add("FN-432", place, text);
        Some(AdaptiveRouting::Unknown(unknown))
    } else {
        let text = || format!("adaptive routing is off on all {rows} switches listed (AR_INFO)");
        notes.add("FN-437", place, text);
        None
    }
}

/// Adds what selects lanes (EXTENDED_NODE_INFO), and what switches do not have by the mask of their capabilities
/// (GENERAL_INFO_SMP): private tables, and another input than the service level.
fn add_capabilities(
    tables: &CsvTables<'_>,
    switches: &mut BTreeMap<Guid, AdaptiveStatement>,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    /// Bits of the first word of the mask.
    const PRIVATE_TABLES: u64 = 1;
    const EXTENDED_NODE_INFO: u64 = 1 << 13;
    if switches.is_empty() {
        return Ok(());
    }
    let mut masks: FxHashMap<Guid, u64> = FxHashMap::default();
    if let Some(section) = tables.get_table("GENERAL_INFO_SMP") {
        let pick = |columns: &SectionColumns| columns.find(&["CapabilityMask_0"]);
        section.read_nodes(notes, pick, |node, column, row, notes| {
            masks.extend(read_number(row, *column, "mask of capabilities", notes).map(|mask| (node, mask)));
        })?;
    }
    let mut inputs: FxHashMap<Guid, u8> = FxHashMap::default();
    if let Some(section) = tables.get_table("EXTENDED_NODE_INFO") {
        let pick = |columns: &SectionColumns| columns.find(&["sl2vl_act"]);
        section.read_nodes(notes, pick, |node, column, row, notes| {
            let input =
                read_number(row, *column, "sl2vl_act", notes).and_then(|input| u8::try_from(input).ok());
            inputs.extend(input.map(|input| (node, input)));
        })?;
    }
    for (node, said) in switches {
        let AdaptiveStatement::Stated(settings) = said else { continue };
        // A switch without any choice is taken to use its linear table, unless a file shows otherwise.
        let is_off = !settings.has_choice();
        let lacks = |bit: u64| is_off || masks.get(node).is_some_and(|mask| mask & bit == 0);
        settings.private_tables = lacks(PRIVATE_TABLES).then_some(0);
        settings.lane_input = inputs.get(node).copied().or(lacks(EXTENDED_NODE_INFO).then_some(0));
    }
    Ok(())
}
