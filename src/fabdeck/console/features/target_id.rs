//! What a target of the mouse stands for, in words that stay when rows are sorted anew.

use crate::console::model::mouse::{ClickTarget, MouseInput, ShownTarget};
use crate::console::model::state::SessionState;
use fabdeck_fabric::{Element, ElementId, LinkId, NodeId};

/// What a target at a cell stands for now; `None` for one that names what it does.
pub fn target_id(state: &SessionState, (x, y): (u16, u16), target: &ClickTarget) -> Option<String> {
    match target {
        ClickTarget::Row(place) => {
            let pane = state.areas().panes.pane_at(x, y).unwrap_or_default();
            state.current().row_id(pane, *place, &state.known)
        }
        ClickTarget::Switch(node) => element_text(state, ElementId::Node(NodeId(*node))),
        ClickTarget::Cable(link) => element_text(state, ElementId::Link(LinkId(*link))),
        ClickTarget::Cell(row, column) => {
            let table = &state.screens.map.drawn.matrix.table;
            let (from, to) = (table.rows.get(*row)?, table.columns.get(*column)?);
            Some(format!("{} {}", from.name, to.name))
        }
        ClickTarget::Screen(_)
        | ClickTarget::Slice(_)
        | ClickTarget::Time(_)
        | ClickTarget::Key(_)
        | ClickTarget::Heading(_)
        | ClickTarget::Button { .. }
        | ClickTarget::Risk { .. }
        | ClickTarget::Found { .. } => None,
    }
}

/// Whether a target of a pane is still what the frame showed.
pub fn is_current(state: &SessionState, mouse: &MouseInput, shown: &ShownTarget) -> bool {
    shown.screen == state.screen.title().word
        && shown.id == target_id(state, (mouse.x, mouse.y), &shown.target)
}

fn element_text(state: &SessionState, what: ElementId) -> Option<String> {
    let look = state.snapshot()?;
    let fabric = look.fabric();
    let is_there = match what {
        ElementId::Node(node) => fabric.nodes().len() > node.0 as usize,
        ElementId::Link(link) => fabric.links().len() > link.0 as usize,
        ElementId::Port(_) => false,
    };
    is_there.then(|| Element::from_id(fabric, &look.names, what).to_string())
}
