//! The positions of switches on the map, and the neighbour in the direction of an arrow.
//!
//! ```text
//! spines (3)
//!   ■ ■ ■          left and right stay in the rank; down goes to the cable's end that stands nearest
//! leaves (4)
//!   ■ ■ ■ ■
//! ```

use std::collections::BTreeMap;

use crate::console::features::screen::CursorDirection;
use crate::console::model::fabric_model::{Model, SwitchRank};
use crate::console::model::table::Table;
use fabdeck_fabric::NodeId;

/// Number of switches in a line of a map of this width; a larger rank continues in the next line.
pub fn switches_per_line(width: u16) -> usize {
    usize::from(width.saturating_sub(2) / 2).max(1)
}

/// The index in the list of the switch that an arrow leads to.
pub fn neighbour(known: &Model, table: &Table, direction: CursorDirection, width: u16) -> Option<usize> {
    let (rank, at) = place(&known.tiers, table.row()?)?;
    let before: usize = known.tiers[..rank].iter().map(|tier| tier.switches.len()).sum();
    let here = known.tiers[rank].switches.len();
    let listed = |row: usize| table.selection.rows.iter().position(|other| *other == row);
    let beside = |at: usize| listed(before + at);
    let line = switches_per_line(width);
    match direction {
        CursorDirection::Left => (0..at).rev().find_map(beside),
        CursorDirection::Right => (at + 1..here).find_map(beside),
        CursorDirection::Up if at >= line => beside(at - line),
        CursorDirection::Down if at / line < (here - 1) / line => beside((at + line).min(here - 1)),
        CursorDirection::Up => {
            let above = rank.checked_sub(1)?;
            let start = before - known.tiers[above].switches.len();
            listed(start + nearest(known, known.tiers[rank].switches[at], above, (at, line), direction)?)
        }
        CursorDirection::Down => {
            let start = before + here;
            listed(start + nearest(known, known.tiers[rank].switches[at], rank + 1, (at, line), direction)?)
        }
    }
}

/// The rank of a row of the list, and the index within the rank.
fn place(tiers: &[SwitchRank], mut row: usize) -> Option<(usize, usize)> {
    for (rank, tier) in tiers.iter().enumerate() {
        if row < tier.switches.len() {
            return Some((rank, row));
        }
        row -= tier.switches.len();
    }
    None
}

/// The nearest switch of a rank among those that a cable leads to, or among all where there is no cable.
fn nearest(
    known: &Model,
    from: NodeId,
    rank: usize,
    (at, line): (usize, usize),
    direction: CursorDirection,
) -> Option<usize> {
    let fabric = known.look.as_ref()?.fabric();
    let tier = known.tiers.get(rank)?;
    let places: BTreeMap<NodeId, usize> =
        tier.switches.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let peers = fabric.ports_of(from).filter_map(|(_, port)| Some(fabric.port(port.peer?).node));
    let linked: Vec<usize> = peers.filter_map(|peer| places.get(&peer).copied()).collect();
    let all = if linked.is_empty() { (0..tier.switches.len()).collect() } else { linked };
    let far = |place: &usize| {
        let (column, row) = (place % line, place / line);
        // From below, the last line of the rank is the nearest.
        let rows = if direction == CursorDirection::Up { usize::MAX - row } else { row };
        (column.abs_diff(at % line), rows, *place)
    };
    all.into_iter().min_by_key(far)
}
