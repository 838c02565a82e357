//! Pins: the details of a screen stay on a row while the cursor goes on.

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::pane_sizes::PinnedDetail;
use crate::console::model::panes::DETAILS;
use crate::console::model::state::SessionState;
use crate::operations::watch::port_values::port_identity;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::PortIdentity;

/// Whether the details of the open screen are pinned.
pub fn is_pinned(state: &SessionState) -> bool {
    state.panes.pins.contains_key(&state.screen)
}

/// The row whose own details are shown: the pinned one, or the one at the cursor.
pub fn detail_row(state: &SessionState) -> Option<usize> {
    match state.panes.pins.get(&state.screen) {
        Some(PinnedDetail::Row { row, .. }) => *row,
        Some(PinnedDetail::Element(_)) => None,
        None => state.current().table().row(),
    }
}

/// The element whose details are shown: the pinned one, or the one at the cursor.
pub fn detail_element(state: &SessionState) -> Option<ElementId> {
    match state.panes.pins.get(&state.screen) {
        Some(PinnedDetail::Element(what)) => Some(*what),
        Some(PinnedDetail::Row { .. }) => None,
        None => state.current().current(&state.known),
    }
}

/// Checks that the screen shows details.
pub fn has_details(state: &SessionState) -> Result<(), String> {
    match state.known.look.is_some() && !state.areas().panes.area(DETAILS).is_empty() {
        true => Ok(()),
        false => {
            Err("no details are in sight: lists have them at 110 columns, unless one is zoomed".to_owned())
        }
    }
}

/// Pins the details to the row at the cursor, or lets them follow the cursor again.
pub fn toggle_pin(state: &mut SessionState, _: &str) -> Vec<Effect> {
    if state.panes.pins.remove(&state.screen).is_some() {
        state.log_message(Severity::Info, "the details follow the cursor again");
        return Vec::new();
    }
    let screen = state.current();
    let row = screen.table().row();
    let own = row.and_then(|row| {
        let key = screen.row_key(row, &state.known)?;
        Some(PinnedDetail::Row { key, row: Some(row) })
    });
    match own.or_else(|| screen.current(&state.known).map(PinnedDetail::Element)) {
        Some(pin) => {
            state.panes.pins.insert(state.screen, pin);
        }
        None => state.log_message(Severity::Info, "there is no row under the cursor to pin"),
    }
    Vec::new()
}

/// Finds the pinned row of the open screen again after its list has changed.
pub fn follow_pin(state: &mut SessionState) {
    let Some(PinnedDetail::Row { key, row }) = state.panes.pins.get(&state.screen) else { return };
    let (screen, known) = (state.current(), &state.known);
    let is_same = |row: &usize| screen.row_key(*row, known).as_ref() == Some(key);
    if row.as_ref().is_some_and(is_same) {
        return;
    }
    let found = (0..screen.table().selection.of).find(is_same);
    if let Some(PinnedDetail::Row { row, .. }) = state.panes.pins.get_mut(&state.screen) {
        *row = found;
    }
}

/// Converts the pinned elements to those of another snapshot.
pub fn carry_pins_over(state: &mut SessionState, again: &dyn Fn(ElementId) -> Option<ElementId>) {
    let mut gone: Vec<ScreenId> = Vec::new();
    for (screen, pin) in &mut state.panes.pins {
        let PinnedDetail::Element(what) = pin else { continue };
        match again(*what) {
            Some(same) => *what = same,
            None => gone.push(*screen),
        }
    }
    for screen in gone {
        state.panes.pins.remove(&screen);
        let text = format!("what was pinned on {} is no longer in the fabric", screen.title().title);
        state.log_message(Severity::Warning, text);
    }
}

/// The ports of pinned elements; their history is kept in a fabric of any size.
pub fn pinned_ports(state: &SessionState, look: &Snapshot) -> Vec<PortIdentity> {
    let fabric = look.fabric();
    let mut ports = state.screens.links.pinned_ports(look);
    for pin in state.panes.pins.values() {
        match pin {
            PinnedDetail::Element(ElementId::Port(port)) => ports.push(port_identity(fabric, *port)),
            PinnedDetail::Element(ElementId::Link(link)) => {
                let link = fabric.link(*link);
                ports.extend([link.a, link.b].map(|port| port_identity(fabric, port)));
            }
            PinnedDetail::Element(ElementId::Node(_)) | PinnedDetail::Row { .. } => {}
        }
    }
    ports
}
