//! The screen Health: problems as cards, and lists of jobs that are hit, of ports that wait, and of events.

use std::sync::Arc;

use super::detail::problem_detail;
use super::health_layout::{
    EVENTS, HealthContent, HealthLayout, JOB_ROWS, JOBS, PROBLEMS, WAITS, health_panes,
};
use crate::catalogue::field::Listing;
use crate::catalogue::query::Selection;
use crate::console::features::map::line_layout::LineLayout;
use crate::console::features::screen::{EnterResult, Screen, ScreenTarget};
use crate::console::features::screens::ScreenId;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::PanePlan;
use crate::console::model::table::Table;
use crate::operations::fabric_map::structure::MapStructure;
use crate::operations::health::problem::{FabricProblem, ProblemKind};
use crate::operations::health::ranked_problems::RankedProblems;
use fabdeck_fabric::ElementId;

/// The panes that take keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HealthPane {
    #[default]
    Problems,
    Jobs,
    Waits,
    Events,
}

impl HealthPane {
    const ALL: [Self; 4] = [Self::Problems, Self::Jobs, Self::Waits, Self::Events];
}

#[derive(Clone, Debug, Default)]
pub struct HealthScreen {
    pub pane: HealthPane,
    /// The list of each pane, in the order of the panes.
    tables: [Table; 4],
    ranked: Option<Arc<RankedProblems>>,
    /// The problem that the cursor is on without a key: while it stays there, it follows the worst one.
    led: Option<String>,
    /// Whether the fabric has changed since the ranking, so that its ids are those of another snapshot.
    pub is_outdated: bool,
    /// Whether the lists have room on this screen.
    has_lists: bool,
    /// Whether a change is pending, which has the first card.
    pub(super) has_change: bool,
    /// Whether the map is drawn as lines, so that it has a pane on a wide screen.
    has_map: bool,
}

impl HealthScreen {
    /// Takes the size of the screen into account: a list that is out of sight takes no keys.
    pub(super) fn set_areas(&mut self, areas: &Areas, structure: Option<&MapStructure>) {
        self.has_map = structure.is_some_and(LineLayout::draws);
        self.has_lists = health_panes(areas, self.content()).tree.has(JOBS);
        if !self.has_lists {
            self.pane = HealthPane::Problems;
        }
    }

    fn content(&self) -> HealthContent {
        HealthContent { has_change: self.has_change, has_map: self.has_map }
    }

    /// The list of a pane.
    pub fn table_of(&self, pane: HealthPane) -> &Table {
        &self.tables[pane as usize]
    }

    /// The problem at the cursor of the cards, with its place in the list.
    pub fn problem(&self) -> Option<(usize, &FabricProblem)> {
        let at = self.table_of(HealthPane::Problems).row()?;
        Some((at, self.ranked.as_ref()?.problems.get(at)?))
    }

    /// Moves the cursor to a problem, where it still exists.
    pub(in crate::console) fn move_to_problem(&mut self, id: &str) -> bool {
        let ranked = self.ranked.as_deref();
        let place = ranked.and_then(|ranked| ranked.problems.iter().position(|problem| problem.id == id));
        self.move_to_row(HealthPane::Problems, place)
    }

    /// Moves the cursor to the row of a job, where the list of jobs is in sight and has it.
    pub(in crate::console) fn move_to_job(&mut self, job: &str) -> bool {
        self.move_to_row(HealthPane::Jobs, self.job_place(job))
    }

    /// Whether the list of jobs is in sight and has a job.
    pub(in crate::console) fn has_job(&self, job: &str) -> bool {
        self.job_place(job).is_some()
    }

    fn job_place(&self, job: &str) -> Option<usize> {
        let jobs = self.ranked.as_deref().and_then(|ranked| ranked.jobs.as_ref()).filter(|_| self.has_lists);
        jobs.and_then(|jobs| jobs.hit_rows().iter().position(|hit| hit.job == job))
    }

    fn move_to_row(&mut self, pane: HealthPane, place: Option<usize>) -> bool {
        let Some(place) = place else { return false };
        (self.pane, self.led) = (pane, None);
        self.tables[pane as usize].move_to(place);
        true
    }

    fn set_rows(&mut self, pane: HealthPane, count: usize) {
        let selection = Selection { rows: (0..count).collect(), columns: Vec::new(), of: count };
        self.tables[pane as usize].set_selection(selection, None);
    }
}

/// The filter of Links that leaves the cables of a problem.
fn cable_filter(kind: ProblemKind) -> Option<&'static str> {
    match kind {
        ProblemKind::WireHealth => Some("wire=bad"),
        ProblemKind::PlaneDown => Some("planes_down>0"),
        ProblemKind::DegradedLink => Some("degraded=yes"),
        _ => None,
    }
}

impl Screen for HealthScreen {
    fn table(&self) -> &Table {
        self.table_of(self.pane)
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.tables[self.pane as usize]
    }

    /// Cards are not rows of a table: nothing filters or sorts them.
    fn listing<'s>(&'s self, _: &'s Model) -> Option<Box<dyn Listing + 's>> {
        None
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        health_panes(areas, self.content())
    }

    fn focused_pane(&self) -> &'static str {
        match self.pane {
            HealthPane::Problems => PROBLEMS,
            HealthPane::Jobs => JOBS,
            HealthPane::Waits => WAITS,
            HealthPane::Events => EVENTS,
        }
    }

    fn focus_pane(&mut self, pane: &str) -> bool {
        let names = [PROBLEMS, JOBS, WAITS, EVENTS];
        let wanted = HealthPane::ALL.into_iter().zip(names).find(|(_, name)| *name == pane);
        if let Some((wanted, _)) = wanted {
            self.pane = wanted;
        }
        wanted.is_some()
    }

    fn page_rows(&self, areas: &Areas) -> Option<usize> {
        let layout = HealthLayout::new(areas).with_change(self.has_change);
        let rows = |pane: crate::console::model::layout::Rect| usize::from(pane.inside(layout.boxed).height);
        Some(match self.pane {
            HealthPane::Problems => layout.cards_in_sight(),
            HealthPane::Jobs => (rows(layout.jobs) / usize::from(JOB_ROWS)).max(1),
            HealthPane::Waits => rows(layout.waits).max(1),
            HealthPane::Events => rows(layout.events).max(1),
        })
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        let ranked = self.ranked.as_ref().filter(|_| !self.is_outdated)?;
        match self.pane {
            HealthPane::Problems => ranked.problems.get(row)?.elements.first().copied(),
            HealthPane::Waits => Some(ElementId::Port(ranked.waits.as_ref()?.rows.get(row)?.port)),
            HealthPane::Jobs | HealthPane::Events => None,
        }
    }

    fn row_page(&self, _: usize, known: &Model) -> Option<DetailPage> {
        problem_detail(self, known)
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        // What is opened stays, whatever comes before it.
        self.led = None;
        let (Some(row), Some(ranked)) = (self.table().row(), self.ranked.as_ref()) else {
            return EnterResult::Nothing("there is nothing to open");
        };
        match self.pane {
            // A problem of one cable is its page, and one of several is their list; all others have their details.
            HealthPane::Problems => match (ranked.problems.get(row), self.element(row, known)) {
                (Some(problem), Some(ElementId::Link(link))) if problem.elements.len() == 1 => {
                    EnterResult::Open(ScreenTarget::Cable(link))
                }
                (Some(problem), Some(ElementId::Link(_))) => match cable_filter(problem.kind) {
                    Some(filter) => EnterResult::Open(ScreenTarget::Cables(filter)),
                    None => EnterResult::Show,
                },
                _ => EnterResult::Show,
            },
            HealthPane::Jobs => match ranked.jobs.as_ref().and_then(|jobs| jobs.hit_rows().get(row)) {
                Some(hit) => EnterResult::Open(ScreenTarget::Job(hit.job.clone())),
                None => EnterResult::Nothing("there is no job to open"),
            },
            HealthPane::Waits => match self.element(row, known) {
                Some(port) => EnterResult::Open(ScreenTarget::Element(ScreenId::Hotspots, port)),
                None => EnterResult::Nothing("there is no port to open"),
            },
            HealthPane::Events => EnterResult::Open(ScreenTarget::Events),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.table().row().is_some()
    }

    fn has_views(&self, _: &Model) -> bool {
        self.has_lists
    }

    fn view_names(&self) -> Vec<&'static str> {
        vec![PROBLEMS, JOBS, WAITS, EVENTS]
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(self.focused_pane())
    }

    fn row_key(&self, row: usize, _: &Model) -> Option<String> {
        let ranked = self.ranked.as_ref()?;
        match self.pane {
            HealthPane::Problems => Some(ranked.problems.get(row)?.id.clone()),
            HealthPane::Jobs => Some(ranked.jobs.as_ref()?.rows.get(row)?.job.clone()),
            HealthPane::Waits | HealthPane::Events => None,
        }
    }

    fn row_id(&self, pane: &str, place: usize, known: &Model) -> Option<String> {
        let ranked = self.ranked.as_ref();
        Some(match pane {
            PROBLEMS => ranked?.problems.get(place)?.id.clone(),
            JOBS => ranked?.jobs.as_ref()?.hit_rows().get(place)?.job.clone(),
            WAITS => ranked?.waits.as_ref()?.rows.get(place)?.name.clone(),
            EVENTS => {
                let event = known.problems.event_groups().get(place)?.latest;
                format!("{} {}", event.at_ms, event.text)
            }
            _ => return None,
        })
    }

    fn next_view(&mut self, _: &Model, forward: bool) -> Result<(), &'static str> {
        if !self.has_lists {
            return Err("a larger screen has further panes: 100 columns and 32 rows");
        }
        let count = HealthPane::ALL.len();
        let by = if forward { 1 } else { count - 1 };
        self.pane = HealthPane::ALL[(self.pane as usize + by) % count];
        Ok(())
    }

    fn step_out(&mut self, _: &Model) -> bool {
        std::mem::take(&mut self.pane) != HealthPane::Problems
    }

    /// The cursor stays on the problem that it was moved to, whatever its place in the new order; otherwise it is on the
    /// worst one.
    fn refresh(&mut self, known: &Model) {
        let here = self.problem().map(|(_, problem)| problem.id.clone());
        let same = match (&self.ranked, &known.problems.ranked) {
            (Some(held), Some(now)) => Arc::ptr_eq(held, now),
            _ => false,
        };
        self.is_outdated &= same;
        self.has_change = known.changes.first_pending_row().is_some();
        self.ranked = known.problems.ranked.clone();
        let ranked = self.ranked.clone();
        let ranked = ranked.as_deref();
        self.set_rows(HealthPane::Problems, ranked.map_or(0, |ranked| ranked.problems.len()));
        let same = |problem: &FabricProblem| Some(&problem.id) == here.as_ref();
        let place = ranked.and_then(|ranked| ranked.problems.iter().position(same));
        let moved = here.is_some() && self.led != here;
        self.tables[HealthPane::Problems as usize].move_to(place.filter(|_| moved).unwrap_or(0));
        if !moved {
            self.led = self.problem().map(|(_, problem)| problem.id.clone());
        }
        let jobs = ranked.and_then(|ranked| ranked.jobs.as_ref());
        self.set_rows(HealthPane::Jobs, jobs.map_or(0, |jobs| jobs.hit_rows().len()));
        let waits = ranked.and_then(|ranked| ranked.waits.as_ref());
        self.set_rows(HealthPane::Waits, waits.map_or(0, |waits| waits.rows.len()));
        self.set_rows(HealthPane::Events, known.problems.event_groups().len());
    }

    /// Ids of elements belong to the snapshot before; a new ranking follows.
    fn carry_over(&mut self, _: &dyn Fn(ElementId) -> Option<ElementId>) {
        self.is_outdated = true;
        self.tables.iter_mut().for_each(|table| table.selected.clear());
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some("health".to_owned())
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn empty_text(&self, _: &Model) -> String {
        String::new()
    }
}
