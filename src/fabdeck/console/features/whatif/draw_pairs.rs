//! What-if, the upper pane: what fails, and what becomes of the pairs.

use ratatui::layout::Rect;

use super::marks::mark_names;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::theme::Role;
use crate::console::features::awaited::awaited_words;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::victims::HitHosts;
use crate::operations::preview::whatif::{Cost, cut_off_words};
use fabdeck_fabric::observe::digits_in_groups;

pub fn draw_pairs(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let known = &state.known;
    let mut x = 0;
    if known.marks.is_empty() {
        x = canvas.draw_text(area, x, 0, "Nothing is marked. ", Role::Strong);
        canvas.draw_text(area, x, 0, "f marks what you name, :random 3 marks cables", Role::Dim);
    } else {
        let sign = format!("{} ", canvas.signs.marked);
        x = canvas.draw_text(area, x, 0, &sign, Role::Marked);
        let names = shorten_name(&mark_names(known), area.width * 2 / 5, canvas.signs.more);
        x = canvas.draw_text(area, x, 0, &names, Role::Marked);
        let verb = if known.marks.len() == 1 { " fails.  " } else { " fail.  " };
        x = canvas.draw_text(area, x, 0, verb, Role::Strong);
        if let Some(cost) = &known.cost {
            let pairs = digits_in_groups(cost.pairs);
            let text = match area.height {
                0..3 => {
                    let parts = PairParts::new(cost);
                    let [waiting, cut_off] = [parts.waiting, parts.cut_off].map(digits_in_groups);
                    let all = format!("Of {pairs} pairs{}", cost.bound().suffix());
                    let text = |waits: &str| format!("{all} {waiting} {waits}, {cut_off} cut off");
                    let long = text("wait for new routes");
                    if x + width(&long) <= area.width { long } else { text("wait") }
                }
                _ => format!("Of {pairs} pairs of end ports{}{}:", end_nodes(state), cost.bound().suffix()),
            };
            canvas.draw_text(area, x, 0, &text, Role::Dim);
        }
    }
    match &known.cost {
        Some(cost) => {
            draw_bar(canvas, area, cost);
            draw_legend(canvas, area, cost);
        }
        None => {
            let text = unknown_words(state);
            canvas.draw_text(area, 0, 1, &text, Role::Text);
        }
    }
}

/// ` (36 hosts + 9 aggregation nodes)`, where pairs are not of hosts alone.
fn end_nodes(state: &SessionState) -> String {
    let words = state.known.hit.as_ref().and_then(HitHosts::end_nodes_words);
    words.map_or_else(String::new, |words| format!(" ({words})"))
}

/// The same for the border of the pane, where a low screen has no room beside the counts.
pub fn low_screen_note(state: &SessionState, height: u16) -> Option<String> {
    let words = state.known.hit.as_ref()?.end_nodes_words().filter(|_| height < 3)?;
    Some(format!("pairs of {words}   "))
}

/// Why the pairs are not counted.
fn unknown_words(state: &SessionState) -> String {
    let known = &state.known;
    match (&state.loading, &known.unindexed) {
        (LoadState::Under(_), _) if let Some(awaited) = awaited_words(state) => {
            format!("pairs are counted as soon as {awaited}")
        }
        _ if known.look.is_some() && !known.tables => {
            let cut_off = known.cut_off.map(|cut| format!("; {}", cut_off_words(cut)));
            format!("pairs without a path not known: {NO_TABLES}{}", cut_off.unwrap_or_default())
        }
        (_, Some(why)) => format!("pairs without a path not known: {why}"),
        _ => match awaited_words(state) {
            Some(awaited) => format!("pairs are counted as soon as {awaited}"),
            None => "pairs are being counted".to_owned(),
        },
    }
}

/// The pairs as three parts: not touched, without a path until a reroute, cut off.
struct PairParts {
    untouched: u64,
    waiting: u64,
    cut_off: u64,
}

impl PairParts {
    fn new(cost: &Cost) -> Self {
        let lost = cost.lost_pairs();
        let cut_off = cost.lost.critical.min(lost);
        Self { untouched: cost.pairs.saturating_sub(lost), waiting: lost - cut_off, cut_off }
    }
}

/// The parts differ in height as well as in colour. A part that is not empty has a cell at least.
fn draw_bar(canvas: &mut Canvas<'_>, area: Rect, cost: &Cost) {
    let parts = PairParts::new(cost);
    let levels = canvas.signs.levels;
    let cells = |pairs: u64| -> u16 {
        let share = pairs as f64 / cost.pairs.max(1) as f64;
        ((share * f64::from(area.width)).round() as u16).max(u16::from(pairs > 0))
    };
    let cut_off = cells(parts.cut_off).min(area.width);
    let waiting = cells(parts.waiting).min(area.width - cut_off);
    let untouched = area.width - cut_off - waiting;
    let mut x = 0;
    for (count, level, role) in [
        (untouched, levels[6], Role::Load2),
        (waiting, levels[3], Role::Warning),
        (cut_off, levels[1], Role::Danger),
    ] {
        x = canvas.draw_text(area, x, 1, &level.repeat(count.into()), role);
    }
}

fn draw_legend(canvas: &mut Canvas<'_>, area: Rect, cost: &Cost) {
    let PairParts { untouched, waiting, cut_off } = PairParts::new(cost);
    let percent = |pairs: u64| format!(" {:.1} %", pairs as f64 * 100.0 / cost.pairs.max(1) as f64);
    let x = canvas.draw_text(area, 0, 2, &digits_in_groups(untouched), Role::Load);
    let x = canvas.draw_text(area, x, 2, " not touched", Role::Load);
    let x = canvas.draw_text(area, x, 2, &percent(untouched), Role::Dim);
    let runs = [
        (digits_in_groups(waiting), if waiting > 0 { Role::Warning } else { Role::Faint }),
        (" wait for new routes    ".to_owned(), Role::Dim),
        (
            format!("{} cut off", digits_in_groups(cut_off)),
            if cut_off > 0 { Role::Danger } else { Role::Good },
        ),
        (percent(cut_off), Role::Dim),
    ];
    let room: u16 = runs.iter().map(|(text, _)| width(text)).sum();
    let mut x = area.width.saturating_sub(room).max(x + 2);
    for (text, role) in &runs {
        x = canvas.draw_text(area, x, 2, text, *role);
    }
}

/// What as many random cables would cost, for comparison.
pub fn comparison_words(cost: &Cost) -> String {
    let expected = &cost.expected;
    let range = match expected.best == expected.worst {
        true => digits_in_groups(expected.best),
        false => format!("{} to {}", digits_in_groups(expected.best), digits_in_groups(expected.worst)),
    };
    format!(
        "{} {} {} {}; one alone {range}",
        count_words(expected.faults, "random cable", "random cables"),
        if expected.faults == 1 { "costs" } else { "cost" },
        digits_in_groups(format_args!("{:.0}", expected.mean)),
        cost.expected_counts(),
    )
}
