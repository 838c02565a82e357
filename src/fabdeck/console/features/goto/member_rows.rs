//! The rows of partitions by P_Key, and of multicast groups by GID and name: each opens its members on the Map.

use super::entry_rows::add_matching;
use super::goto_state::{GotoGroup, GotoRow, GotoTarget};
use crate::catalogue::summary::count_words;
use crate::console::model::line_words::quote_word;
use crate::console::model::state::SessionState;
use crate::operations::rowset::Rowset;
use fabdeck_fabric::PartitionKey;

/// Most groups that a key looks through.
const MAX_GROUPS: usize = 2000;

/// The row that opens a list of members with a filter.
fn list_row(
    state: &SessionState,
    group: GotoGroup,
    text: String,
    view: &str,
    filter: &str,
) -> Option<GotoRow> {
    let open = state.keymap.find_action("open")?;
    let argument = format!("map view={view} {}", quote_word(&format!("filter={filter}")));
    Some(GotoRow::new(group, text, GotoTarget::Action { id: open.id, argument }))
}

pub fn partition_rows_of(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    let members = state.screens.map.partition_rows();
    let Rowset::Partitions(members) = &**members else { return rows };
    let numbers = members.iter().map_while(|member| member.key()).map(PartitionKey::number);
    // Rows are sorted by partition.
    let mut counts: Vec<(u16, usize)> = Vec::new();
    for number in numbers {
        match counts.last_mut() {
            Some((last, count)) if *last == number => *count += 1,
            _ => counts.push((number, 1)),
        }
    }
    for (number, count) in counts {
        let key = PartitionKey::from_parts(number, true);
        let text = format!("partition {key}");
        let row = list_row(state, GotoGroup::Partitions, text, "partitions", &format!("pkey={key}"));
        let Some(mut row) = row else { continue };
        row.about = count_words(count, "member", "members");
        add_matching(&mut rows, state, words, row, &format!("p_key pkey {:#06x}", key.bits()));
    }
    rows
}

pub fn group_rows_of(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    let Some(look) = state.snapshot() else { return rows };
    for group in look.observation.groups.groups.iter().take(MAX_GROUPS) {
        let mgid = group.mgid.to_string();
        let name = group.name();
        let text = format!("group {}", name.as_deref().unwrap_or(&mgid));
        let row = list_row(state, GotoGroup::Groups, text, "groups", &format!("mgid={mgid}"));
        let Some(mut row) = row else { continue };
        row.about = format!("{mgid}, P_Key {}", group.key);
        add_matching(
            &mut rows,
            state,
            words,
            row,
            &format!("{mgid} {:#06x} mgid mlid multicast", group.mlid),
        );
    }
    rows
}
