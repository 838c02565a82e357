//! The drawing and the actions of the screen Map.

use super::drawn_map::update_drawn_map;
use super::screen::{BUNDLE, GROUP, PATH};
use super::torus::TorusShape;
use super::{draw_element, draw_lines, draw_map, draw_matrix, draw_pair, draw_path, draw_ring, draw_slice};
use crate::catalogue::severity::Severity;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::{BodyAreas, Feature};
use crate::console::features::panes::pins::{detail_element, is_pinned};
use crate::console::features::preconditions::has_fabric;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new(
                "quantity",
                &["v"],
                "Colour the drawn map by the next quantity: wait, load, errors, paths",
                |state, _| {
                    let map = &mut state.screens.map.drawn;
                    map.quantity = map.quantity.next();
                    let word = map.quantity.word();
                    state.log_message(Severity::Info, format!("the map shows {word}"));
                    Vec::new()
                },
            )
            .on_screen(ScreenId::Map)
            .with_precondition(has_fabric)
            .prominent(),
            new("slice-next", &[")"], "The slice after this one, of a torus", |state, _| {
                turn_slice(state, true)
            })
            .on_screen(ScreenId::Map)
            .with_precondition(has_slices),
            new("slice-back", &["("], "The slice before this one, of a torus", |state, _| {
                turn_slice(state, false)
            })
            .on_screen(ScreenId::Map)
            .with_precondition(has_slices),
        ],
    }],
    follow: update_drawn_map,
    draw,
    ..Feature::NEW
};

/// Checks that the map shows slices of a torus.
fn has_slices(state: &SessionState) -> Result<(), String> {
    let slices = state.screens.map.drawn.torus().map_or(0, TorusShape::slice_count);
    match state.screens.map.shows_slice() && slices > 1 {
        true => Ok(()),
        false => Err("the map shows no slices: it does of a torus of three dimensions or more".to_owned()),
    }
}

fn turn_slice(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    let map = &mut state.screens.map.drawn;
    if let Some(structure) = map.structure.clone()
        && let Some(shape) = &structure.torus
    {
        map.slice.turn(shape, forward);
    }
    Vec::new()
}

fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    if let Some(missing) = state.known.missing_note().filter(|_| areas.head.height > 0) {
        canvas.draw_name(areas.head, 0, 0, missing, Role::Warning);
    }
    let map = &state.screens.map;
    let lines = map.shows_map() && map.drawn.layout.is_some();
    match (map.shows_map(), lines) {
        (_, true) => draw_lines::draw(canvas, areas.rest, state),
        (true, false) if map.shows_slice() => {
            if let Some(shape) = map.drawn.torus() {
                draw_slice::draw(canvas, areas.rest, state, shape);
            }
        }
        (true, false) if map.drawn.shows_ring() => draw_ring::draw(canvas, areas.rest, state),
        (true, false) if map.drawn.matrix.shown => draw_matrix::draw(canvas, areas.rest, state),
        (true, false) => draw_map::draw(canvas, areas.rest, state),
        (false, _) => list::draw(canvas, areas.rest, state),
    }
    let panes = state.areas().panes;
    let [bundle, group, path] = [BUNDLE, GROUP, PATH].map(|pane| buffer_area(panes.area(pane)));
    if !bundle.is_empty() {
        draw_ring::draw_bundle(canvas, bundle, state);
        return draw_ring::draw_group_inside(canvas, group, state);
    }
    if let Some(lit) = map.drawn.lit.as_ref().filter(|_| !path.is_empty()) {
        draw_path::draw_pane_of(canvas, path, state, lit);
    }
    let element = detail_element(state).filter(|what| lines && !matches!(what, ElementId::Port(_)));
    if let Some(what) = element {
        return draw_element::draw(canvas, areas.details, state, what);
    }
    if map.shows_map() && map.drawn.matrix.shown && !is_pinned(state) {
        return draw_pair::draw(canvas, areas.details, state);
    }
    details::draw(canvas, areas.details, state);
}
