//! Makes the lists of all screens again.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::features::map::health::FabricHealth;
use crate::console::model::state::SessionState;

/// Makes the lists of all screens again from the current model.
pub fn refresh_screens(state: &mut SessionState) {
    let numbers = |look: &Arc<Snapshot>| {
        (Arc::as_ptr(look) as usize, super::details::ElementDetail::fabric_lines(look))
    };
    let held = state.known.numbers_of;
    if let Some((of, numbers)) =
        state.snapshot().filter(|look| Some(Arc::as_ptr(look) as usize) != held).map(numbers)
    {
        (state.known.numbers_of, state.known.numbers) = (Some(of), numbers);
    }
    if let Some(health) = FabricHealth::update_from(&state.known) {
        state.known.health = health;
    }
    state.screens.refresh(&state.known);
}
