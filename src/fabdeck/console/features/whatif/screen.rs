//! The screen What-if has two lists, engines and marks, and a page for one engine.

use super::engines::EngineRows;
use super::marks::MarkRows;
use crate::catalogue::field::Listing;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::fabric_model::{Model, ProposalState};
use crate::console::model::table::Table;
use fabdeck_fabric::ElementId;
use fabdeck_routing::{ENGINES, Engine};

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
    marks: MarkRows,
    marks_table: Table,
    engines: EngineRows,
    engines_table: Table,
}

impl WhatifScreen {
    /// The engine of the page, or else the one at the cursor.
    pub fn engine(&self) -> Option<&'static Engine> {
        self.page.or_else(|| ENGINES.get(self.engines_table.row()?))
    }
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
            WhatifPane::Engines => Box::new(ListingRef(&self.engines)),
            WhatifPane::Marks => Box::new(ListingRef(&self.marks)),
        })
    }

    /// Rows for the marks, the lost pairs, the expected loss of random links, and a blank.
    fn rows_above(&self, _: &Model) -> u16 {
        if self.page.is_some() { 0 } else { 5 }
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        match self.pane {
            WhatifPane::Engines => None,
            WhatifPane::Marks => self.marks.marks.get(row).map(|(what, ..)| *what),
        }
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        match self.pane {
            WhatifPane::Marks => EnterResult::Nothing("f removes the mark"),
            WhatifPane::Engines => {
                let engine = self.engines_table.row().and_then(|row| ENGINES.get(row));
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

    fn step_out(&mut self, _: &Model) -> bool {
        self.page.take().is_some()
    }

    fn has_views(&self, _: &Model) -> bool {
        true
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
        self.marks = MarkRows::new(known);
        self.marks_table.refresh(&self.marks);
        self.engines = EngineRows::new(known);
        self.engines_table.refresh(&self.engines);
        let done =
            |engine: &&Engine| matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }));
        self.page = self.page.filter(|engine| done(engine));
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some("whatif".to_owned())
    }

    fn empty_text(&self, _: &Model) -> String {
        "nothing is marked: f on any screen marks what the cursor is on".to_owned()
    }
}

/// A reference to a listing that another struct owns.
struct ListingRef<'s, L>(&'s L);

impl<L: Listing> Listing for ListingRef<'_, L> {
    fn column_count(&self) -> usize {
        self.0.column_count()
    }

    fn column(&self, at: usize) -> &crate::catalogue::field::Column {
        self.0.column(at)
    }

    fn row_count(&self) -> usize {
        self.0.row_count()
    }

    fn cell(&self, row: usize, column: usize) -> crate::catalogue::value::Value<'_> {
        self.0.cell(row, column)
    }

    fn empty_text(&self) -> &str {
        self.0.empty_text()
    }
}
