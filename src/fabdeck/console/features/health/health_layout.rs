//! The panes of Health at each size of the screen.
//!
//! ```text
//! ╭ Traffic ────╮╭ Wait ───────╮╭ Errors ─────╮   charts
//! ╭ Change 1 ─────────────────────────────────╮   a change that waits to be decided, where there is one
//! ╭ Problems ─────────────────────────────────╮   cards of four rows
//! ╭ Jobs hit ───╮╭ Worst waits ╮╭ Latest ─────╮   lists, on screens with room for them
//! ```
//!
//! A wide screen has the map at the right of the problems, where it can be drawn as lines, and cables and the watch beside
//! the events.

use crate::console::model::layout::{Areas, Rect};
use crate::console::model::panes::{PanePlan, PaneTree};

/// The panes by their names.
pub const CHARTS: &str = "charts";
pub const PROBLEMS: &str = "problems";
pub const JOBS: &str = "jobs";
pub const WAITS: &str = "waits";
pub const EVENTS: &str = "events";
const MAP: &str = "map";
const CABLES: &str = "cables";
const WATCH: &str = "watch";

/// Rows of a card, and in the next constant with the empty row below it.
pub const CARD_ROWS: u16 = 4;
const CARD_STEP: u16 = CARD_ROWS + 1;
/// Rows of a pending change on a narrow screen: what it is, and the keys.
const SHORT_CHANGE_ROWS: u16 = 2;
/// Rows of a job in its list, with the empty one below it.
pub const JOB_ROWS: u16 = 3;

/// A screen that is smaller has a row for each problem, and no charts.
const MIN_WIDTH: u16 = 60;
const MIN_HEIGHT: u16 = 12;
/// From this size on there is a column of panes at the right.
const WIDE_WIDTH: u16 = 180;
const WIDE_HEIGHT: u16 = 46;
/// Rows of three cards in their pane.
const THREE_CARDS: u16 = 3 * CARD_STEP - 1;
const LIST_ROWS: u16 = 11;
const MIN_LIST_ROWS: u16 = 5;
/// Rows of the charts on a wide screen.
const WIDE_CHART_ROWS: u16 = 13;
/// Least rows of charts, and of a card below them.
const CARDS_LEAST: [u16; 2] = [4, CARD_ROWS + 2];

/// The panes. Those that have no room are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HealthLayout {
    pub charts: [Rect; 3],
    /// The pending change above the problems; empty where there is none.
    pub change: Rect,
    pub problems: Rect,
    pub jobs: Rect,
    pub waits: Rect,
    pub events: Rect,
    /// Empty where the map is not drawn as lines.
    pub map: Rect,
    pub cables: Rect,
    pub watch: Rect,
    pub boxed: bool,
    /// Whether problems have a row each.
    pub is_compact: bool,
    /// Whether cards stand close, for a narrow screen has a change above them.
    pub is_dense: bool,
}

/// What of Health depends on the fabric: whether a change is pending, and whether its map is drawn as lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HealthContent {
    pub has_change: bool,
    pub has_map: bool,
}

/// How Health is split into panes. With a pending change, the problems have one more row, which is that of the lists below
/// them: two cards have room beside its card then.
pub fn health_panes(areas: &Areas, content: HealthContent) -> PanePlan {
    let (all, boxed) = (areas.middle, areas.boxed);
    let [charts, problems, jobs, waits, events, cables, watch] =
        [CHARTS, PROBLEMS, JOBS, WAITS, EVENTS, CABLES, WATCH].map(PaneTree::Pane);
    if all.width < MIN_WIDTH || all.height < MIN_HEIGHT {
        return problems.into();
    }
    if !boxed {
        return PaneTree::rows("charts", 5, [charts, problems]).with_least(CARDS_LEAST).into();
    }
    let more = |problems: u16, lists: u16| {
        u16::from(content.has_change && lists > MIN_LIST_ROWS && problems >= 2 * (CARD_ROWS + 2))
    };
    if all.width >= WIDE_WIDTH && all.height >= WIDE_HEIGHT {
        let left = all.height - WIDE_CHART_ROWS - LIST_ROWS;
        let cards = (THREE_CARDS + 2).max(left / 2);
        let cards = cards + more(cards, left - cards);
        let half = all.width * 3 / 5 / 2;
        let lists = PaneTree::columns("jobs", half, [waits, jobs]);
        let left_column = PaneTree::rows("problems", cards, [problems, lists]);
        let (three_fifths, third) = (all.width * 3 / 5, all.width / 3);
        let (right, below) = match content.has_map {
            true => {
                let lists = PaneTree::columns("watch", third, [events, watch]).with_least([20, 20]);
                let below = PaneTree::columns("latest", all.width - 2 * third, [cables, lists]);
                (PaneTree::Pane(MAP), below.with_least([40, 41]))
            }
            false => (cables, PaneTree::columns("watch", three_fifths, [events, watch])),
        };
        let right = PaneTree::columns("cables", three_fifths, [left_column, right]);
        let below = PaneTree::rows("events", left, [right, below]).with_least([CARD_ROWS + 8, 4]);
        return PaneTree::rows("charts", WIDE_CHART_ROWS, [charts, below]).with_least([4, 20]).into();
    }
    let cards = THREE_CARDS + 2;
    let chart_rows = if all.height >= cards + 10 { 10 } else { 6 };
    let rows = all.height.saturating_sub(chart_rows + cards).min(LIST_ROWS);
    if rows < MIN_LIST_ROWS {
        return PaneTree::rows("charts", chart_rows, [charts, problems]).with_least(CARDS_LEAST).into();
    }
    let third = all.width / 3;
    let lists = PaneTree::columns("waits", third, [waits, events]);
    let lists = PaneTree::columns("jobs", third, [jobs, lists]).with_least([20, 40]);
    let cards = all.height - chart_rows.min(all.height) - rows;
    let below = PaneTree::rows("problems", cards + more(cards, rows), [problems, lists]);
    let below = below.with_least([CARD_ROWS + 2, MIN_LIST_ROWS]);
    PaneTree::rows("charts", chart_rows, [charts, below]).with_least([4, CARD_ROWS + 7]).into()
}

impl HealthLayout {
    pub fn new(areas: &Areas) -> Self {
        let (all, boxed) = (areas.middle, areas.boxed);
        let [charts, problems, jobs, waits, events, map, cables, watch] =
            [CHARTS, PROBLEMS, JOBS, WAITS, EVENTS, MAP, CABLES, WATCH].map(|pane| areas.panes.area(pane));
        Self {
            charts: split_columns(charts, if boxed { 0 } else { 2 }),
            change: Rect::default(),
            problems,
            jobs,
            waits,
            events,
            map,
            cables,
            watch,
            boxed,
            is_compact: all.width < MIN_WIDTH || all.height < MIN_HEIGHT,
            is_dense: false,
        }
    }

    /// The layout with a card for the pending change, where there is one and the card of a problem fits below it.
    pub fn with_change(self, has_change: bool) -> Self {
        let borders = if self.boxed { 2 } else { 1 };
        let rows = borders + if self.boxed { CARD_ROWS } else { SHORT_CHANGE_ROWS };
        if !has_change || self.is_compact || self.problems.height < rows + CARD_ROWS + borders {
            return self;
        }
        let (change, problems) = self.problems.split_rows(rows);
        Self { change, problems, is_dense: !self.boxed, ..self }
    }

    /// Number of cards in sight.
    pub fn cards_in_sight(&self) -> usize {
        let height = self.problems.inside(self.boxed).height;
        let cards = (height + self.card_step() - self.card_height()) / self.card_step();
        usize::from(cards).max(1)
    }

    /// The first row of a card in the inside of its pane, by its place among those in sight.
    pub fn card_row(&self, place: usize) -> u16 {
        u16::try_from(place).unwrap_or(u16::MAX).saturating_mul(self.card_step())
    }

    /// Rows of a card.
    fn card_height(&self) -> u16 {
        if self.is_compact { 1 } else { CARD_ROWS }
    }

    /// Rows from a card to the next one.
    fn card_step(&self) -> u16 {
        match (self.is_compact, self.is_dense) {
            (true, _) => 1,
            (false, true) => CARD_ROWS,
            (false, false) => CARD_STEP,
        }
    }
}

/// Three columns of about the same width, with a gap between them.
fn split_columns(area: Rect, gap: u16) -> [Rect; 3] {
    let width = area.width.saturating_sub(2 * gap) / 3;
    let (first, rest) = area.split_columns(width);
    let (_, rest) = rest.split_columns(gap);
    let (second, rest) = rest.split_columns(width);
    let (_, third) = rest.split_columns(gap);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    fn placed(width: u16, height: u16, status: bool, has_change: bool, has_map: bool) -> Areas {
        let areas = Areas::new(Size { width, height }, status);
        let plan = health_panes(&areas, HealthContent { has_change, has_map });
        areas.with_panes(&plan, &|_| None, None)
    }

    #[test]
    fn panes_stay_on_the_screen_and_three_cards_have_room() {
        for (width, height) in
            (0..210).step_by(7).flat_map(|width| (0..64).map(move |height| (width, height)))
        {
            for (status, has_map) in [(false, false), (true, false), (false, true), (true, true)] {
                let areas = placed(width, height, status, false, has_map);
                let layout = HealthLayout::new(&areas);
                let HealthLayout { problems, jobs, waits, events, map, cables, watch, .. } = layout;
                let panes = [problems, jobs, waits, events, map, cables, watch];
                let cells = |panes: &[Rect]| -> u32 {
                    panes.iter().map(|pane| u32::from(pane.width) * u32::from(pane.height)).sum()
                };
                let gaps = if layout.boxed || layout.is_compact { 0 } else { 4 * 5 };
                let middle = u32::from(areas.middle.width) * u32::from(areas.middle.height);
                assert_eq!(cells(&panes) + cells(&layout.charts) + gaps, middle, "{width}x{height}");
                if width >= 80 && height >= 24 {
                    assert!(layout.cards_in_sight() >= 3 || layout.boxed, "{width}x{height}");
                }
            }
        }
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            for status in [false, true] {
                let layout = HealthLayout::new(&placed(width, height, status, false, true));
                assert_eq!(layout.cards_in_sight(), 3, "{width}x{height}");
                let with_change =
                    HealthLayout::new(&placed(width, height, status, true, true)).with_change(true);
                // A narrow screen keeps its three cards, unless a message has one of their rows.
                let (rows, cards) = match (width, status) {
                    (80, false) => (SHORT_CHANGE_ROWS, 3),
                    (80, true) => (SHORT_CHANGE_ROWS, 2),
                    _ => (CARD_ROWS, 2),
                };
                assert_eq!(with_change.change.inside(layout.boxed).height, rows, "{width}x{height}");
                assert_eq!(with_change.cards_in_sight(), cards, "{width}x{height}");
                let rows = |layout: &HealthLayout| {
                    layout.change.height + layout.problems.height + layout.jobs.height
                };
                assert_eq!(rows(&with_change), rows(&layout), "{width}x{height}");
            }
        }
    }
}
