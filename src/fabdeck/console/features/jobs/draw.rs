//! Jobs: their source and their sums, the channels between switches as a strip, and the histogram of one job.
//!
//! ```text
//! in force ▁▁▃▅█▂▁▁      a cell is one channel, or the hottest of its neighbours
//! sar      ▂▂▃▃▃▂▂▂
//! ```

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use super::draw_panes::draw_panes;
use super::jobs_panes::JobsPanes;
use super::running_jobs::jobs_head;
use super::screen::{JobView, channel_steps, has_strips};
use crate::catalogue::severity::Severity;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::drawing::{details, heat, list};
use crate::console::features::feature::BodyAreas;
use crate::console::model::state::SessionState;

/// Column of the strips, behind their labels.
const STRIP_COLUMN: u16 = 10;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    if let Some(panes) = JobsPanes::new(&state.areas()) {
        return draw_panes(canvas, &panes, state);
    }
    draw_head(canvas, areas.head, state);
    draw_body(canvas, areas.rest, state);
    details::draw(canvas, areas.details, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let mut y = 0;
    for (severity, words) in jobs_head(state) {
        let role = if severity == Severity::Info { Role::Text } else { Role::Warning };
        canvas.draw_text(area, 1, y, &words, role);
        y += 1;
    }
    let Some(comparison) = &state.known.jobs.comparison else { return };
    let room = usize::from(area.width.saturating_sub(STRIP_COLUMN + 1));
    for (label, steps) in ["in force", "sar"].into_iter().zip(channel_steps(comparison, room)) {
        let Some(steps) = steps.filter(|_| y < area.height) else { continue };
        canvas.draw_text(area, 1, y, label, Role::Label);
        heat::draw_strip(
            canvas,
            Rect { height: y + 1, ..area },
            (STRIP_COLUMN, y),
            steps.into_iter(),
            |_| None,
        );
        y += 1;
    }
    if has_strips(comparison) && y < area.height {
        let words = "a cell: one channel, as high as its paths; sar: routes made for these jobs";
        canvas.draw_text(area, 1, y, words, Role::Dim);
    }
}

fn draw_body(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let screen = &state.screens.jobs;
    match screen.histograms().filter(|_| screen.view == JobView::Histogram) {
        Some((job, histograms)) => {
            let title = format!("Job {job}: channels by how many of its paths they carry");
            canvas.draw_text(area, 1, 0, &title, Role::Heading);
            let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
            draw_histogram(canvas, below, histograms);
        }
        None => list::draw(canvas, area, state),
    }
}

/// Draws how many channels carry how many paths, for each set of routes in its own half.
pub(super) fn draw_histogram(
    canvas: &mut Canvas<'_>,
    area: Rect,
    histograms: [Option<BTreeMap<u64, usize>>; 2],
) {
    let most = histograms.iter().flatten().filter_map(|own| own.keys().last()).max().copied().unwrap_or(0);
    let rows = u64::from(area.height.saturating_sub(1)).max(1);
    let step = most.div_ceil(rows).max(1);
    let count = |own: &BTreeMap<u64, usize>, row: u64| -> usize {
        own.range(row * step + 1..=(row + 1) * step).map(|(_, channels)| channels).sum()
    };
    let bars = most.div_ceil(step);
    let all = histograms.iter().flatten().flat_map(|own| (0..bars).map(|row| count(own, row)));
    let longest = all.max().unwrap_or(0).max(1);
    let label = width(&format!("{most}-{most}")).max(width("paths") - 1);
    let half = area.width.saturating_sub(label + 2) / 2;
    canvas.draw_right_aligned(
        Rect { width: (label + 1).min(area.width), ..area },
        0,
        0,
        "paths",
        Role::Label,
    );
    for (side, (own, name)) in (0u16..).zip(histograms.iter().zip(["in force", "sar"])) {
        let Some(own) = own else { continue };
        let x = label + 3 + side * half;
        // Traffic as it is has the colour of load, and what is only proposed that of a preview.
        let bar_role = if side == 0 { Quantity::Load.step_role(3) } else { Role::Preview };
        canvas.draw_text(area, x, 0, name, bar_role);
        for row in 0..bars {
            let y = 1 + row as u16;
            let channels = count(own, row);
            let room = usize::from(half.saturating_sub(9));
            let long = (channels * room).div_ceil(longest).min(room);
            let number = if channels == 0 { canvas.signs.untold.to_owned() } else { channels.to_string() };
            canvas.draw_right_aligned(
                Rect { width: (x + 5).min(area.width), ..area },
                0,
                y,
                &number,
                Role::Text,
            );
            canvas.draw_text(area, x + 6, y, &canvas.signs.gauge[0].repeat(long), bar_role);
        }
    }
    for row in 0..bars {
        let (from, to) = (row * step + 1, (row + 1) * step);
        let words = if step == 1 { to.to_string() } else { format!("{from}-{to}") };
        canvas.draw_right_aligned(
            Rect { width: (label + 1).min(area.width), ..area },
            0,
            1 + row as u16,
            &words,
            Role::Label,
        );
    }
}
