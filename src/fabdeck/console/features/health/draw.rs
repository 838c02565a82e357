//! Health: charts of the fabric above, problems as cards, lists below or beside them.

use super::health_layout::HealthLayout;
use super::{draw_cards, draw_change_card, draw_charts, draw_lists, draw_wide};
use crate::console::drawing::canvas::Canvas;
use crate::console::features::feature::BodyAreas;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, _: &BodyAreas, state: &SessionState) {
    let layout = HealthLayout::new(&state.areas()).with_change(state.screens.health.has_change);
    draw_charts::draw(canvas, &layout, state);
    draw_change_card::draw(canvas, &layout, state);
    draw_cards::draw(canvas, &layout, state);
    draw_lists::draw(canvas, &layout, state);
    draw_wide::draw(canvas, &layout, state);
}
