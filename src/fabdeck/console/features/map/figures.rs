//! The figures that colour the drawn map, with their colours.

use crate::console::drawing::theme::{Quantity, Role};
use crate::console::model::fabric_model::Model;
pub use crate::operations::fabric_map::figures::{FigureTable, MapFigures, MapQuantity, percent_step};
use fabdeck_fabric::{ElementId, PortId};

impl MapQuantity {
    /// The quantity whose colours are used. Paths are a load that tables give.
    pub fn colours(self) -> Quantity {
        match self {
            Self::Wait => Quantity::Wait,
            Self::Load | Self::Paths => Quantity::Load,
            Self::Errors => Quantity::Errors,
        }
    }
}

/// The figures of what a port sends; `None` where its counters were not read.
pub fn port_figures(known: &Model, port: PortId) -> Option<MapFigures> {
    let row = known.watch.reading.as_ref()?.port_row_of(ElementId::Port(port))?;
    Some(MapFigures::of_port(row))
}

/// The role of a step; the lowest one is that of a cable without anything.
pub fn step_role(quantity: MapQuantity, step: u8) -> Role {
    if step == 0 { Role::Border } else { quantity.colours().step_role(step) }
}

/// The role of the figure of an element: next to nothing is faint.
pub fn figure_role(figures: MapFigures, quantity: MapQuantity) -> Role {
    if figures.step(quantity) == Some(0) { Role::Faint } else { quantity.colours().figure_role() }
}
