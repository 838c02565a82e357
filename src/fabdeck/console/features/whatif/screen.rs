//! The screen What-if has two lists, engines and marks, and a page for one engine.

use std::sync::Arc;

use super::engines::EngineList;
use super::marks::{MARKS, MarkRow, mark_rows};
use super::preview_paths::PreviewPaths;
use super::whatif_layout::{PAIRS, ROUTES, WhatifPanes, whatif_panes};
use crate::catalogue::field::Listing;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::fabric_model::{Model, OutdatedRow, ProposalState};
use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, PanePlan, PaneTree};
use crate::console::model::table::Table;
use crate::operations::preview::victims::{HostNames, Victims};
use fabdeck_fabric::ElementId;
use fabdeck_routing::Engine;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhatifPane {
    #[default]
    Engines,
    Marks,
}

#[derive(Debug, Default)]
pub struct WhatifScreen {
    pub pane: WhatifPane,
    /// The engine whose page is open.
    pub page: Option<&'static Engine>,
    /// The first visible row of the page.
    pub top: usize,
    marks: Vec<MarkRow>,
    marks_table: Table,
    engines: EngineList,
    engines_table: Table,
    /// The hosts and jobs that the marks hit.
    victims: Option<Victims>,
    /// The jobs with pairs that have no path under the marks, those with most of them first; `None` where that is not
    /// counted.
    job_losses: Option<Vec<(String, u64)>>,
    /// The first visible row of the pane with the victims.
    pub victims_top: usize,
    /// The paths of the proposal at the cursor.
    pub preview: PreviewPaths,
}

impl WhatifScreen {
    pub fn victims(&self) -> Option<&Victims> {
        self.victims.as_ref()
    }

    pub fn job_losses(&self) -> Option<&[(String, u64)]> {
        self.job_losses.as_deref()
    }

    /// Shows the list of engines.
    pub fn show_engines(&mut self) {
        (self.pane, self.page) = (WhatifPane::Engines, None);
    }

    /// Updates the list of engines. When all of them are done, the cursor begins on the best one, unless it was moved.
    fn refresh_engines(&mut self, known: &Model) {
        let here = self.engines_table.row().and_then(|row| self.engines.engine(row));
        let was_ranked = self.engines.is_ranked();
        self.engines = EngineList::new(known);
        self.engines_table.refresh(&self.engines.listing());
        match (was_ranked, self.engines.is_ranked()) {
            (true, false) if known.outdated.is_empty() => self.engines_table.move_to(0),
            _ if !known.outdated.is_empty() => {
                if let Some(row) = here.and_then(|engine| self.engines.row_of(engine)) {
                    self.engines_table.move_to_row(row);
                }
            }
            (false, true) if self.engines_table.cursor > 0 => {
                if let Some(row) = here.and_then(|engine| self.engines.row_of(engine)) {
                    self.engines_table.move_to_row(row);
                }
            }
            _ => {}
        }
    }

    pub fn outdated_rows(&self, known: &Model) -> Vec<OutdatedRow> {
        self.engines.outdated_rows(known)
    }

    /// The engine of a row of the list.
    pub fn engine_at(&self, row: usize) -> Option<&'static Engine> {
        self.engines.engine(row)
    }

    /// The engine of the page, or else the one at the cursor.
    pub fn engine(&self) -> Option<&'static Engine> {
        self.page.or_else(|| self.engines.engine(self.engines_table.row()?))
    }
}

/// The hosts and jobs that the marks hit, where they are counted.
fn victims(known: &Model) -> Option<Victims> {
    let look = known.look.as_ref()?;
    // Jobs of another snapshot have other ids.
    let compared = || {
        let comparison = known.jobs.comparison.as_ref()?;
        known.jobs.snapshot().is_some_and(|of| Arc::ptr_eq(of, look)).then_some(&*comparison.jobs)
    };
    let jobs = known.problems.placed_jobs(look).or_else(compared);
    Some(known.hit.as_ref()?.victims(look, jobs, HostNames::Short))
}

/// The pairs without a path within each job, where they are counted under these marks.
fn job_losses(known: &Model) -> Option<Vec<(String, u64)>> {
    let (look, of) = (known.look.as_ref()?, known.jobs.of.as_ref()?);
    let comparison = known.jobs.comparison.as_ref().filter(|_| of.marks == known.marks)?;
    let loads = &comparison.in_force.as_ref().filter(|_| Arc::ptr_eq(&of.look, look))?.loads;
    let lost = comparison.jobs.iter().zip(&loads.jobs).map(|((job, _), paths)| (job.clone(), paths.lost));
    let mut lost: Vec<(String, u64)> = lost.filter(|(_, pairs)| *pairs > 0).collect();
    lost.sort_by_key(|(_, pairs)| std::cmp::Reverse(*pairs));
    Some(lost)
}

impl Screen for WhatifScreen {
    fn crumbs(&self, _: &Model) -> Vec<String> {
        let pane = match self.pane {
            WhatifPane::Engines => "engines",
            WhatifPane::Marks => "marks",
        };
        let page = self.page.map(|engine| engine.id.to_owned());
        std::iter::once(pane.to_owned()).chain(page).collect()
    }

    fn table(&self) -> &Table {
        match self.pane {
            WhatifPane::Engines => &self.engines_table,
            WhatifPane::Marks => &self.marks_table,
        }
    }

    fn table_mut(&mut self) -> &mut Table {
        match self.pane {
            WhatifPane::Engines => &mut self.engines_table,
            WhatifPane::Marks => &mut self.marks_table,
        }
    }

    fn listing<'s>(&'s self, _: &'s Model) -> Option<Box<dyn Listing + 's>> {
        Some(match self.pane {
            WhatifPane::Engines => Box::new(self.engines.listing()),
            WhatifPane::Marks => Box::new(MARKS.of(&self.marks)),
        })
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        match self.page {
            Some(_) => PaneTree::Pane(BODY).into(),
            None => whatif_panes(areas),
        }
    }

    fn focused_pane(&self) -> &'static str {
        if self.page.is_some() { BODY } else { ROUTES }
    }

    /// The bar of pairs has nothing to move through.
    fn can_focus(&self, pane: &str) -> bool {
        pane != PAIRS
    }

    fn page_rows(&self, areas: &Areas) -> Option<usize> {
        Some(usize::from(WhatifPanes::new(areas).table.height.saturating_sub(1)).max(1))
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        match self.pane {
            WhatifPane::Engines => None,
            WhatifPane::Marks => self.marks.get(row).map(|mark| mark.what),
        }
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        match self.pane {
            WhatifPane::Marks => EnterResult::Nothing("f removes the mark"),
            WhatifPane::Engines => {
                let engine = self.engines_table.row().and_then(|row| self.engines.engine(row));
                match engine.filter(|engine| {
                    matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }))
                }) {
                    Some(engine) => {
                        (self.page, self.top) = (Some(engine), 0);
                        EnterResult::Done
                    }
                    None => EnterResult::Nothing("this engine was not run yet: p runs all of them"),
                }
            }
        }
    }

    fn can_enter(&self, known: &Model) -> bool {
        let done =
            |engine: &Engine| matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }));
        self.page.is_none() && self.pane == WhatifPane::Engines && self.engine().is_some_and(done)
    }

    fn covers_list(&self) -> bool {
        self.page.is_some()
    }

    fn step_out(&mut self, _: &Model) -> bool {
        self.page.take().is_some()
    }

    fn has_views(&self, _: &Model) -> bool {
        true
    }

    fn view_names(&self) -> Vec<&'static str> {
        vec!["engines", "marks"]
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(match self.pane {
            WhatifPane::Engines => "engines",
            WhatifPane::Marks => "marks",
        })
    }

    fn row_key(&self, row: usize, _: &Model) -> Option<String> {
        let engine = self.engines.engine(row).filter(|_| self.pane == WhatifPane::Engines)?;
        Some(engine.id.to_owned())
    }

    fn next_view(&mut self, _: &Model, _: bool) -> Result<(), &'static str> {
        self.page = None;
        self.pane = match self.pane {
            WhatifPane::Engines => WhatifPane::Marks,
            WhatifPane::Marks => WhatifPane::Engines,
        };
        Ok(())
    }

    fn refresh(&mut self, known: &Model) {
        self.marks = mark_rows(known);
        self.marks_table.refresh(&MARKS.of(&self.marks));
        self.victims = victims(known);
        self.job_losses = job_losses(known);
        self.refresh_engines(known);
        let done =
            |engine: &&Engine| matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }));
        self.page = self.page.filter(|engine| done(engine));
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some("whatif".to_owned())
    }

    fn empty_text(&self, _: &Model) -> String {
        MARKS.when_empty.to_owned()
    }
}
