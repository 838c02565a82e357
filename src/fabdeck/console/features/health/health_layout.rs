//! The panes of Health at each size of the screen.
//!
//! ```text
//! ╭ Traffic ────╮╭ Wait ───────╮╭ Errors ─────╮   charts
//! ╭ Change 1 ─────────────────────────────────╮   a change that waits to be decided, where there is one
//! ╭ Problems ─────────────────────────────────╮   cards of four rows
//! ╭ Jobs hit ───╮╭ Worst waits ╮╭ Latest ─────╮   lists, on screens with room for them
//! ```

use crate::console::model::layout::{Areas, Rect};

/// Rows of a card, and in the next constant with the empty row below it.
pub const CARD_ROWS: u16 = 4;
const CARD_STEP: u16 = CARD_ROWS + 1;
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
    pub cables: Rect,
    pub watch: Rect,
    pub boxed: bool,
    /// Whether problems have a row each.
    pub is_compact: bool,
}

impl HealthLayout {
    pub fn new(areas: &Areas) -> Self {
        let (all, boxed) = (areas.middle, areas.boxed);
        let none = Self { boxed, ..Self::default() };
        if all.width < MIN_WIDTH || all.height < MIN_HEIGHT {
            return Self { problems: all, is_compact: true, ..none };
        }
        if !boxed {
            let (charts, problems) = all.split_rows(5);
            return Self { charts: split_columns(charts, 2), problems, ..none };
        }
        if all.width >= WIDE_WIDTH && all.height >= WIDE_HEIGHT {
            return Self::wide(all);
        }
        let cards = THREE_CARDS + 2;
        let charts = if all.height >= cards + 10 { 10 } else { 6 };
        let lists = all.height.saturating_sub(charts + cards).min(LIST_ROWS);
        let lists = if lists < MIN_LIST_ROWS { 0 } else { lists };
        let (charts, rest) = all.split_rows(charts);
        let (problems, lists) = rest.split_rows(rest.height - lists);
        let [jobs, waits, events] = split_columns(lists, 0);
        Self { charts: split_columns(charts, 0), problems, jobs, waits, events, ..none }
    }

    fn wide(all: Rect) -> Self {
        let (charts, rest) = all.split_rows(13);
        let (rest, below) = rest.split_rows(rest.height - LIST_ROWS);
        let (left, cables) = rest.split_columns(rest.width * 3 / 5);
        let (problems, lists) = left.split_rows((THREE_CARDS + 2).max(left.height / 2));
        let (waits, jobs) = lists.split_columns(lists.width / 2);
        let (events, watch) = below.split_columns(below.width * 3 / 5);
        Self {
            charts: split_columns(charts, 0),
            change: Rect::default(),
            problems,
            jobs,
            waits,
            events,
            cables,
            watch,
            boxed: true,
            is_compact: false,
        }
    }

    /// The layout with a card for the pending change, where there is one and the card of a problem fits below it.
    pub fn with_change(self, has_change: bool) -> Self {
        let borders = if self.boxed { 2 } else { 1 };
        let rows = CARD_ROWS + borders;
        if !has_change || self.is_compact || self.problems.height < rows + CARD_ROWS + borders {
            return self;
        }
        let mut layout = self.with_shorter_lists();
        (layout.change, layout.problems) = layout.problems.split_rows(rows);
        layout
    }

    /// The layout with one more row for the problems, which is that of the lists below them. Two cards have room then.
    fn with_shorter_lists(mut self) -> Self {
        let below = self.problems.y + self.problems.height;
        if self.jobs.y != below || self.jobs.height <= MIN_LIST_ROWS {
            return self;
        }
        self.problems.height += 1;
        for pane in [&mut self.jobs, &mut self.waits, &mut self.events] {
            if pane.y == below {
                (pane.y, pane.height) = (pane.y + 1, pane.height - 1);
            }
        }
        self
    }

    /// Number of cards in sight.
    pub fn cards_in_sight(&self) -> usize {
        let height = self.problems.inside(self.boxed).height;
        let cards = if self.is_compact { height } else { (height + 1) / CARD_STEP };
        usize::from(cards).max(1)
    }

    /// The first row of a card in the inside of its pane, by its place among those in sight.
    pub fn card_row(&self, place: usize) -> u16 {
        let step = if self.is_compact { 1 } else { CARD_STEP };
        u16::try_from(place).unwrap_or(u16::MAX).saturating_mul(step)
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

    #[test]
    fn panes_stay_on_the_screen_and_three_cards_have_room() {
        for (width, height) in
            (0..210).step_by(7).flat_map(|width| (0..64).map(move |height| (width, height)))
        {
            for status in [false, true] {
                let areas = Areas::new(Size { width, height }, status);
                let layout = HealthLayout::new(&areas);
                let panes =
                    [layout.problems, layout.jobs, layout.waits, layout.events, layout.cables, layout.watch];
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
                let layout = HealthLayout::new(&Areas::new(Size { width, height }, status));
                assert_eq!(layout.cards_in_sight(), 3, "{width}x{height}");
                let with_change = layout.with_change(true);
                assert_eq!(with_change.change.inside(layout.boxed).height, CARD_ROWS, "{width}x{height}");
                assert_eq!(with_change.cards_in_sight(), 2, "{width}x{height}");
                let rows = |layout: &HealthLayout| {
                    layout.change.height + layout.problems.height + layout.jobs.height
                };
                assert_eq!(rows(&with_change), rows(&layout), "{width}x{height}");
            }
        }
    }
}
