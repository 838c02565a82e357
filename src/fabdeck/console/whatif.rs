//! What-if: the numbers above the list, and the page of one engine.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{BEING_READ, Loading, State, engine_lines};
use crate::session::{NO_TABLES, counted, digits_in_groups, paired};

/// Draws the marks, what they cost, and what the proposals are compared with.
pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
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
            pairs.push(("for good", cost.for_good_words()));
            let expected = &cost.expected;
            let links = counted(expected.faults, "random link", "random links");
            pairs.push((
                "compare",
                format!(
                    "{links} would take {} {}; one alone {} to {}",
                    digits_in_groups(format_args!("{:.1}", expected.mean)),
                    cost.expected_counts(),
                    digits_in_groups(expected.best),
                    digits_in_groups(expected.worst)
                ),
            ));
        }
        None if matches!(state.loading, Loading::Under(_)) => pairs.push(("lost", BEING_READ.to_owned())),
        None if known.look.is_some() && !known.tables => {
            pairs.push(("lost", format!("not known: {NO_TABLES}")));
        }
        None => pairs.push(match &known.unindexed {
            Some(why) => ("lost", format!("not known: {why}")),
            None => ("lost", "being counted".to_owned()),
        }),
    }
    for (y, (label, text)) in (0..4).zip(&pairs) {
        canvas.text(area, 0, y, label, Role::Label);
        let danger = matches!(*label, "lost" | "for good")
            && known.cost.as_ref().is_some_and(|cost| cost.lost_pairs() > 0);
        let role = match (*label, danger) {
            ("for good", _) if text.starts_with("none") => Role::Good,
            (_, true) => Role::Danger,
            _ => Role::Text,
        };
        match *label {
            "marked" => canvas.name(area, 10, y, text, role),
            _ => canvas.text(area, 10, y, text, role),
        };
    }
}

/// Draws the page of an engine: its certificate, and the writes that lead to its tables.
pub fn page(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let whatif = &state.screens.whatif;
    let Some(engine) = whatif.page else { return };
    let x = canvas.text(area, 0, 0, &format!("{}: {}", engine.id, engine.title), Role::Header);
    let below = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    let lines = engine_lines(&state.known, engine);
    let rows = paired(&lines, area.width.into()).1.len();
    canvas.extent(area, x, whatif.top, below.height.into(), rows);
    canvas.pairs(below, &lines, whatif.top);
}
