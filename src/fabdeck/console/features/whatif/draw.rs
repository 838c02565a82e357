//! What-if: the numbers above the list, and the page of one engine.

use ratatui::layout::Rect;

use super::engine_page::engine_lines;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::model::fabric_model::TABLES_BEING_READ;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::check::certificate_text::wrap_pairs;
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::whatif::cut_off_words;
use fabdeck_fabric::observe::digits_in_groups;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    if state.screens.whatif.page.is_some() {
        draw_page(canvas, areas.whole, state);
    } else {
        draw_head(canvas, areas.head, state);
        list::draw(canvas, areas.rest, state);
    }
    details::draw(canvas, areas.details, state);
}

/// Draws the marks, what they cost, and what the proposals are compared with.
fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let known = &state.known;
    let marks = match known.marks.len() {
        0 => "nothing yet: f marks what the cursor is on, :random 3 draws links".to_owned(),
        count => {
            let names: Vec<String> =
                known.marks.iter().take(3).filter_map(|mark| known.element(mark)).collect();
            let more = if count > 3 { format!(" and {} more", count - 3) } else { String::new() };
            format!("{}{more}", names.join(", "))
        }
    };
    let mut pairs = vec![("marked", marks)];
    match &known.cost {
        Some(cost) => {
            pairs.push(("lost", cost.lost_words()));
            pairs.push(("for good", cost.cut_off_words()));
            let expected = &cost.expected;
            let links = count_words(expected.faults, "random link", "random links");
            pairs.push((
                "compare",
                format!(
                    "{links} would cost {} {}; one alone {} to {}",
                    digits_in_groups(format_args!("{:.1}", expected.mean)),
                    cost.expected_counts(),
                    digits_in_groups(expected.best),
                    digits_in_groups(expected.worst)
                ),
            ));
        }
        None if matches!(state.loading, LoadState::Under(_)) => {
            pairs.push(("lost", TABLES_BEING_READ.to_owned()))
        }
        None if known.look.is_some() && !known.tables => {
            pairs.push(("lost", format!("not known: {NO_TABLES}")));
            pairs.extend(known.cut_off.map(|cut| ("for good", cut_off_words(cut))));
        }
        None => pairs.push(match &known.unindexed {
            Some(why) => ("lost", format!("not known: {why}")),
            None => ("lost", "being counted".to_owned()),
        }),
    }
    for (y, (label, text)) in (0..4).zip(&pairs) {
        canvas.draw_text(area, 0, y, label, Role::Label);
        let is_lost = known.cost.as_ref().is_some_and(|cost| cost.lost_pairs() > 0)
            || (*label == "for good" && known.cut_off.is_some());
        let danger = matches!(*label, "lost" | "for good") && is_lost;
        let role = match (*label, danger) {
            ("for good", _) if text.starts_with("none") => Role::Good,
            (_, true) => Role::Danger,
            _ => Role::Text,
        };
        match *label {
            "marked" => canvas.draw_name(area, 10, y, text, role),
            _ => canvas.draw_text(area, 10, y, text, role),
        };
    }
}

/// Draws the page of an engine: its certificate, and the writes that lead to its tables.
fn draw_page(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let whatif = &state.screens.whatif;
    let Some(engine) = whatif.page else { return };
    let x = canvas.draw_text(area, 0, 0, &format!("{}: {}", engine.id, engine.title), Role::Header);
    let below = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    let lines = engine_lines(&state.known, engine);
    let rows = wrap_pairs(&lines, area.width.into()).1.len();
    canvas.draw_extent(area, x, whatif.top, below.height.into(), rows);
    canvas.draw_pairs(below, &lines, whatif.top);
}
