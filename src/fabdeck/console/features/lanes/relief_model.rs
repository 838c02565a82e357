//! The flows that the slow lane would take from hot-spots, and those that it has taken, for all screens that offer a move.

use std::sync::Arc;

use super::lane_effect::others_wait;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;
use crate::operations::lanes::lane_relief::{LaneRelief, NumberedMigration, lane_reliefs};
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_change::ChangePhase;
use fabdeck_fabric::PortId;

/// The flows to the hot-spots of the last reading, and what they were counted from.
#[derive(Clone, Debug, Default)]
pub struct ReliefModel {
    of: Option<(Arc<Snapshot>, Arc<WatchVerdict>)>,
    changes: Vec<NumberedMigration>,
    spots: Vec<LaneRelief>,
}

impl ReliefModel {
    /// Number of flows that would move to the slow lane, to all hot-spots together.
    pub fn proposed(&self) -> usize {
        self.spots.iter().map(|spot| spot.proposed).sum()
    }

    /// The flows to one hot-spot.
    pub fn spot(&self, adapter: PortId) -> Option<&LaneRelief> {
        self.spots.iter().find(|spot| spot.adapter == adapter)
    }
}

/// Counts again after a reading, and after a change of what is in force.
pub fn follow(known: &mut Model) {
    let Some(of) = known.look.clone().zip(known.watch.reading.clone()) else {
        known.lanes.relief = ReliefModel::default();
        return;
    };
    let changes = if known.playback.is_some() { Vec::new() } else { migrations_in_force(known) };
    let held = &known.lanes.relief;
    let same = held
        .of
        .as_ref()
        .is_some_and(|(look, reading)| Arc::ptr_eq(look, &of.0) && Arc::ptr_eq(reading, &of.1));
    if same && held.changes == changes {
        return;
    }
    let spots = lane_reliefs(&of.0, &of.1, &changes);
    known.lanes.relief = ReliefModel { of: Some(of), changes, spots };
}

/// The moves of the changes that stay or wait for their confirmation, the oldest first.
fn migrations_in_force(known: &Model) -> Vec<NumberedMigration> {
    let stays = |phase| matches!(phase, ChangePhase::Applied | ChangePhase::Confirmed);
    let rows = known.changes.rows_here().filter(|row| stays(row.state));
    let moves: Vec<_> = rows.map(|row| (row.number, &row.migrations)).collect();
    let moves = moves.into_iter().rev();
    moves.flat_map(|(number, all)| all.iter().map(move |one| (number, one.clone()))).collect()
}

/// The slow lane of a hot-spot that is in force, and what it did; `None` where no flow is on it.
pub fn relief_in_force(known: &Model, adapter: PortId) -> Option<String> {
    let spot = known.lanes.relief.spot(adapter).filter(|spot| spot.in_force > 0)?;
    let flows = count_words(spot.in_force, "flow", "flows");
    let since = spot.change.map_or_else(String::new, |number| format!(" (change {number})"));
    let mut text = format!("in force{since}: {flows} on the slow lane");
    if spot.proposed > 0 {
        text.push_str(&format!("; {} more would move", spot.proposed));
    } else if let Some([before, now]) = others_wait(known) {
        text.push_str(&format!("; others wait {before:.0} then {now:.0} %"));
    }
    Some(text)
}
