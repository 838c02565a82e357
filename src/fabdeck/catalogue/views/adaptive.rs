//! Adaptive routing, with a row for each switch.

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::{
    AdaptiveSettings, AdaptiveSwitch, AdaptiveTableState, AdaptiveTables, NodeId, levels_in,
};

type RowField = Field<NodeId>;

pub const ADAPTIVE: View<NodeId> = View::new(ADAPTIVE_FIELDS, "the fabric has no switch");

static ADAPTIVE_FIELDS: &[RowField] = &[
    RowField::new("switch", "SWITCH", FieldKind::Text, "the switch", |l, &id| l.unique_name(id).into_owned().into())
        .node_name(),
    RowField::new(
        "state",
        "STATE",
        FieldKind::Text,
        "on, off, absent (the switch does not have it), did not answer, or not known (no source states it)",
        |l, &id| adaptive(l, id).map_or("not known", AdaptiveSwitch::state_word).into(),
    )
    .toned(&[("did not answer", Tone::Warning), ("not known", Tone::Warning)]),
    RowField::new(
        "levels",
        "SLS",
        FieldKind::Text,
        "service levels that are routed adaptively",
        |l, &id| settings(l, id).filter(|held| held.adaptive).map(|held| level_text(held.levels)).into(),
    )
    .shed(3),
    RowField::new("groups", "GROUPS", FieldKind::Number, "groups of ports, up to the highest one in use", |l, &id| {
        choosing(l, id).map(|held| u64::from(held.group_top) + 1).into()
    })
    .shed(4),
    RowField::new("shield", "SHIELD", FieldKind::Flag, "whether fast recovery (SHIELD) is on", |l, &id| {
        settings(l, id).map(|held| held.fast_recovery).into()
    }),
    RowField::new("hbf", "HBF", FieldKind::Text, "service levels that are forwarded by a hash, or no", |l, &id| {
        settings(l, id).map(hash_text).into()
    })
    .shed(2),
    RowField::new(
        "pfrn",
        "PFRN",
        FieldKind::Flag,
        "whether notifications of remote failures (pFRN) are on",
        |l, &id| settings(l, id).map(|held| held.failure_notices).into(),
    )
    .shed(1),
    RowField::new(
        "plfts",
        "PLFTS",
        FieldKind::Number,
        "private forwarding tables in force; 0 where packets use one table",
        |l, &id| settings(l, id).and_then(|held| held.private_tables).into(),
    )
    .shed(5),
    RowField::new(
        "tables",
        "TABLES",
        FieldKind::Text,
        "its adaptive tables: read, not read, absent, not understood, or did not answer; none where it needs none",
        |l, &id| adaptive(l, id).and_then(AdaptiveSwitch::table_word).into(),
    )
    .toned(&[
        ("did not answer", Tone::Warning),
        ("not understood", Tone::Danger),
        ("not read", Tone::Warning),
        ("absent", Tone::Warning),
    ]),
    RowField::new(
        "contradiction",
        "CONTRADICTION",
        FieldKind::Text,
        "why its tables are not understood",
        |l, &id| match adaptive(l, id).map(|held| &held.tables) {
            Some(AdaptiveTableState::NotUnderstood(mismatch)) => mismatch.to_string().into(),
            _ => Value::Missing,
        },
    )
    .on_request(),
    RowField::new("sub_groups", "SUB-GROUPS", FieldKind::Number, "active sub-groups of a group", |l, &id| {
        choosing(l, id).map(|held| held.sub_groups).into()
    })
    .on_request(),
    RowField::new(
        "lane_input",
        "LANE INPUT",
        FieldKind::Number,
        "the field sl2vl_act; 0: lanes are selected by service level",
        |l, &id| settings(l, id).and_then(|held| held.lane_input).into(),
    )
    .on_request(),
    RowField::new("adaptive_lids", "ADAPTIVE LIDS", FieldKind::Number, "LIDs with a group", |l, &id| {
        let read = adaptive(l, id).and_then(AdaptiveSwitch::tables_in_force);
        read.map(|(held, tables)| lids_with_group(held, tables)).into()
    })
    .on_request(),
    RowField::new("guid", "GUID", FieldKind::Guid, "node GUID", |l, &id| l.fabric().node(id).guid().into())
        .on_request(),
];

pub fn adaptive_switches(look: &Snapshot) -> Rows<'_, NodeId> {
    let rows: Vec<_> = look.fabric().switches().map(|(id, _)| id).collect();
    ADAPTIVE.rows(look, rows)
}

/// The word for a switch that no question went to, or of which no file states it.
pub const NOT_ASKED: &str = "not asked";

/// Whether adaptive routing is on at a switch, in a word.
pub fn adaptive_word(look: &Snapshot, id: NodeId) -> &'static str {
    adaptive(look, id).map_or(NOT_ASKED, AdaptiveSwitch::state_word)
}

fn adaptive(look: &Snapshot, id: NodeId) -> Option<&AdaptiveSwitch> {
    look.observation.tables.nodes.get(&id)?.adaptive.as_ref()
}

fn settings(look: &Snapshot, id: NodeId) -> Option<&AdaptiveSettings> {
    adaptive(look, id)?.settings()
}

fn choosing(look: &Snapshot, id: NodeId) -> Option<&AdaptiveSettings> {
    settings(look, id).filter(|held| held.has_choice())
}

/// Levels as ranges: `0-3,7`.
fn level_text(levels: u16) -> String {
    if levels == u16::MAX {
        return "all".to_owned();
    }
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for level in levels_in(levels).map(|level| level.value()) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == level => *last = level,
            _ => ranges.push((level, level)),
        }
    }
    let text = |(first, last): (u8, u8)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    match ranges.is_empty() {
        true => "none".to_owned(),
        false => ranges.into_iter().map(text).collect::<Vec<_>>().join(","),
    }
}

fn hash_text(held: &AdaptiveSettings) -> String {
    match (held.hash_forwarding, held.weighted_hash) {
        (_, true) => "weighted".to_owned(),
        (true, false) => level_text(held.hash_levels),
        (false, false) => "no".to_owned(),
    }
}

fn lids_with_group(held: &AdaptiveSettings, tables: &AdaptiveTables) -> u64 {
    let level = levels_in(held.levels).next().unwrap_or_default();
    let table = tables.tables.first();
    let all = table.into_iter().flat_map(|table| (1..table.len() as u32).map(move |lid| (table, lid)));
    let entries = all.filter_map(|(table, lid)| Some(table.entry(fabdeck_fabric::Lid::new(lid)?)));
    entries
        .filter(|entry| {
            held.uses_group(entry.state, level)
                && (entry.group > 0 || entry.state != fabdeck_fabric::EntryState::Static)
        })
        .count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ranges() {
        for (levels, text) in
            [(0, "none"), (1, "0"), (0xFF, "0-7"), (0b1010_0111, "0-2,5,7"), (0x8000, "15"), (0xFFFF, "all")]
        {
            assert_eq!(level_text(levels), text);
        }
    }
}
