//! The panes of Jobs on a screen with room for them.
//!
//! ```text
//! ╭─ ▸ Jobs ─────────────────────────────╮
//! ╰──────────────────────────────────────╯
//! ╭─ Job: wait of its hosts ╮╭─ It uses ─╮
//! ╰─────────────────────────╯╰───────────╯
//! ╭─ Job: paths on a cable ─╮╭─ Waits ───╮
//! ╰─────────────────────────╯╰───────────╯
//! ```

use crate::console::model::layout::{Areas, Rect};
use crate::console::model::state::SessionState;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobsPanes {
    /// The list with its border, and its inside.
    pub jobs: Rect,
    pub table: Rect,
    /// The waits of the hosts of the job at the cursor, and the cables that it uses.
    pub hosts: Rect,
    pub uses: Rect,
    /// How many cables carry how many of its paths.
    pub paths: Rect,
    /// The worst wait of several jobs over time.
    pub waits: Rect,
}

/// Least height of the middle with these panes.
const MIN_HEIGHT: u16 = 30;
/// Least rows of the list with its border and its headings; with many jobs it has a third of the height.
const MIN_LIST_ROWS: u16 = 7;
/// Rows of the list that are no jobs, and an empty one.
const LIST_FRAME: u16 = 4;
/// Share of the left column, in percent.
const LEFT_SHARE: u32 = 58;

impl JobsPanes {
    /// The panes of a list with this many jobs.
    pub fn new(areas: &Areas, jobs: usize) -> Option<Self> {
        let all = areas.middle;
        if !areas.boxed || all.height < MIN_HEIGHT {
            return None;
        }
        let rows = u16::try_from(jobs).unwrap_or(u16::MAX).saturating_add(LIST_FRAME);
        let (jobs, rest) = all.split_rows(rows.clamp(MIN_LIST_ROWS, all.height / 3));
        let (upper, lower) = rest.split_rows(rest.height / 2);
        let left = u16::try_from(u32::from(all.width) * LEFT_SHARE / 100).unwrap_or(all.width);
        let (hosts, uses) = upper.split_columns(left);
        let (paths, waits) = lower.split_columns(left);
        Some(Self { jobs, table: jobs.inside(true), hosts, uses, paths, waits })
    }

    /// The panes of the screen, where there are jobs to show in them.
    pub fn of(state: &SessionState) -> Option<Self> {
        state.screens.jobs.panes(&state.areas())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_where_they_have_room() {
        let panes = |width, height| JobsPanes::new(&Areas::new(Size { width, height }, false), 3);
        for (width, height) in [(100, 34), (120, 40), (200, 60), (300, 100)] {
            let panes = panes(width, height).unwrap();
            let rows = panes.jobs.height + panes.hosts.height + panes.paths.height;
            assert_eq!(rows, height - 3, "{width}x{height}");
            for (left, right) in [(panes.hosts, panes.uses), (panes.paths, panes.waits)] {
                assert_eq!(left.width + right.width, width, "{width}x{height}");
                assert_eq!(left.height, right.height, "{width}x{height}");
            }
        }
        let of_jobs = |jobs| JobsPanes::new(&Areas::new(Size { width: 120, height: 40 }, false), jobs);
        let rows = [0, 3, 5, 500].map(|jobs| of_jobs(jobs).unwrap().jobs.height);
        assert_eq!(rows, [7, 7, 9, 12], "the list grows with its jobs, up to a third of the height");
        assert_eq!((panes(99, 40), panes(120, 30)), (None, None));
    }
}
