//! The drawing of the screen Map: the map, or a list.

use super::draw_map;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::Feature;

pub const FEATURE: Feature = Feature {
    draw: |canvas, areas, state| {
        if let Some(missing) = state.known.missing_note().filter(|_| areas.head.height > 0) {
            canvas.draw_name(areas.head, 0, 0, missing, Role::Warning);
        }
        match state.screens.map.shows_map() {
            true => draw_map::draw(canvas, areas.rest, state),
            false => list::draw(canvas, areas.rest, state),
        }
        details::draw(canvas, areas.details, state);
    },
    ..Feature::NEW
};
