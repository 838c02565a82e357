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
use crate::console::model::panes::{PanePlan, PaneTree};

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

/// The panes by their names.
pub const JOBS: &str = "jobs";
const HOSTS: &str = "hosts";
const USES: &str = "uses";
const PATHS: &str = "paths";
const WAITS: &str = "waits";

/// How a list with this many jobs is split; `None` on a screen without room for its panes.
pub fn jobs_panes(areas: &Areas, jobs: usize) -> Option<PanePlan> {
    let all = areas.middle;
    if !areas.boxed || all.height < MIN_HEIGHT {
        return None;
    }
    let rows = u16::try_from(jobs).unwrap_or(u16::MAX).saturating_add(LIST_FRAME);
    let list = rows.clamp(MIN_LIST_ROWS, all.height / 3);
    let left = u16::try_from(u32::from(all.width) * LEFT_SHARE / 100).unwrap_or(all.width);
    let pane = PaneTree::Pane;
    let upper = PaneTree::columns("uses", left, [pane(HOSTS), pane(USES)]);
    let lower = PaneTree::columns("waits", left, [pane(PATHS), pane(WAITS)]);
    let below = PaneTree::rows("paths", (all.height - list) / 2, [upper, lower]);
    Some(PaneTree::rows("jobs", list, [pane(JOBS), below]).into())
}

impl JobsPanes {
    /// The panes where the screen has them.
    pub fn new(areas: &Areas) -> Option<Self> {
        let [jobs, hosts, uses, paths, waits] =
            [JOBS, HOSTS, USES, PATHS, WAITS].map(|pane| areas.panes.area(pane));
        let is_split = [jobs, hosts, uses, paths, waits].iter().any(|pane| !pane.is_empty());
        is_split.then(|| Self { jobs, table: jobs.inside(areas.boxed), hosts, uses, paths, waits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    fn placed(width: u16, height: u16, jobs: usize) -> Option<JobsPanes> {
        let areas = Areas::new(Size { width, height }, false);
        let plan = jobs_panes(&areas, jobs)?;
        JobsPanes::new(&areas.with_panes(&plan, &|_| None, None))
    }

    #[test]
    fn panes_fill_the_middle_where_they_have_room() {
        let panes = |width, height| placed(width, height, 3);
        for (width, height) in [(100, 34), (120, 40), (200, 60), (300, 100)] {
            let panes = panes(width, height).unwrap();
            let rows = panes.jobs.height + panes.hosts.height + panes.paths.height;
            assert_eq!(rows, height - 3, "{width}x{height}");
            for (left, right) in [(panes.hosts, panes.uses), (panes.paths, panes.waits)] {
                assert_eq!(left.width + right.width, width, "{width}x{height}");
                assert_eq!(left.height, right.height, "{width}x{height}");
            }
        }
        let rows = [0, 3, 5, 500].map(|jobs| placed(120, 40, jobs).unwrap().jobs.height);
        assert_eq!(rows, [7, 7, 9, 12], "the list grows with its jobs, up to a third of the height");
        assert_eq!((panes(99, 40), panes(120, 30)), (None, None));
    }
}
