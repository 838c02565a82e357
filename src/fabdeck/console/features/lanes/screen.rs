//! The screen Lanes: flows that are on the slow lane or would move, and the status of the tables on their
//! paths.

use super::detail::lane_detail;
use super::lane_lines::lanes_head;
use super::lane_panes::{lane_panes, rows_below};
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::{Areas, Size};
use crate::console::model::panes::PanePlan;
use crate::console::model::table::Table;
use crate::operations::lanes::rows::{
    FLOWS, FlowRow, LANE_TABLES, LaneContext, flow_at, flow_rows, table_rows,
};
use crate::operations::lanes::slow_lanes::{LaneFlow, LaneSpot, LaneStatus, LaneTable};
use fabdeck_change::FollowMode;
use fabdeck_fabric::{ElementId, Lid, PortId};

/// The list that is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneView {
    #[default]
    Flows,
    Tables,
}

#[derive(Clone, Debug, Default)]
pub struct LanesScreen {
    pub view: LaneView,
    flows: Table,
    tables: Table,
    pub(super) state: Option<LaneContext>,
    rows: Vec<FlowRow>,
    table_rows: Vec<usize>,
}

impl LanesScreen {
    /// The hot-spot of a row, and its flow if it has any.
    pub(super) fn flow_at(&self, row: usize) -> Option<(&LaneSpot, Option<&LaneFlow>)> {
        Some(flow_at(&self.state.as_ref()?.0, self.rows.get(row)?))
    }

    pub(super) fn table_at(&self, row: usize) -> Option<&LaneTable> {
        self.state.as_ref()?.0.tables.get(*self.table_rows.get(row)?)
    }

    /// The port of the flow's host, or else of the hot-spot.
    pub(super) fn port_of_flow(&self, row: usize, look: &Snapshot) -> Option<PortId> {
        let (spot, flow) = self.flow_at(row)?;
        let lid = |lid: u16| look.fabric().port_by_lid(Lid::new(lid.into())?);
        flow.map_or(Some(spot.adapter), |flow| lid(flow.flow.host.lid))
    }
}

pub(super) fn status_words(standing: LaneStatus) -> &'static str {
    match standing {
        LaneStatus::Proposed => "would move to the slow lane; a compares that with the fabric and asks",
        LaneStatus::InForce => "on the slow lane",
        LaneStatus::Cooling => {
            "on the slow lane; its adapter is no longer a hot-spot: it would move back (a)"
        }
        LaneStatus::Partly => "some of its flows are on the slow lane, others would move there (a)",
        LaneStatus::Untold => {
            "on the slow lane; not known whether its adapter is still a hot-spot, so it stays"
        }
    }
}

pub(super) fn follows_words(follows: FollowMode) -> &'static str {
    match follows {
        FollowMode::Agent => "its agent is subscribed: open connections move as far as its hook moves them",
        FollowMode::Queries => {
            "it has no agent: open connections stay as they are, and new ones get the other level only from OpenSM's \
             policy (apply --via opensm)"
        }
        FollowMode::Unknown => "whether it has an agent is not known: open connections may stay as they are",
    }
}

impl Screen for LanesScreen {
    fn crumbs(&self, _: &Model) -> Vec<String> {
        vec![if self.view == LaneView::Flows { "flows" } else { "tables" }.to_owned()]
    }

    fn table(&self) -> &Table {
        if self.view == LaneView::Flows { &self.flows } else { &self.tables }
    }

    fn table_mut(&mut self) -> &mut Table {
        if self.view == LaneView::Flows { &mut self.flows } else { &mut self.tables }
    }

    fn listing<'s>(&'s self, _: &'s Model) -> Option<Box<dyn Listing + 's>> {
        // For an empty list, the screen has a more specific text.
        match self.view {
            LaneView::Flows if self.rows.is_empty() => None,
            LaneView::Tables if self.table_rows.is_empty() => None,
            LaneView::Flows => Some(Box::new(FLOWS.rows(self.state.as_ref()?, &self.rows))),
            LaneView::Tables => Some(Box::new(LANE_TABLES.rows(self.state.as_ref()?, &self.table_rows))),
        }
    }

    fn rows_above(&self, known: &Model) -> u16 {
        lanes_head(known).len() as u16
    }

    fn rows_below(&self, _: &Model, size: Size) -> u16 {
        rows_below(&Areas::new(size, false))
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        lane_panes(areas)
    }

    fn element(&self, row: usize, known: &Model) -> Option<ElementId> {
        let (_, look) = self.state.as_ref()?;
        let port = match self.view {
            LaneView::Flows => self.port_of_flow(row, look)?,
            LaneView::Tables => self.table_at(row)?.port,
        };
        ElementId::Port(port).translate(look.fabric(), known.look.as_ref()?.fabric())
    }

    fn row_page(&self, row: usize, known: &Model) -> Option<DetailPage> {
        lane_detail(self, row, known)
    }

    fn row_key(&self, row: usize, known: &Model) -> Option<String> {
        match self.view {
            // Titles leave the adapters of hosts out, so two of one host have the same.
            LaneView::Flows => {
                let (spot, flow) = self.flow_at(row)?;
                let from = flow.map_or("", |flow| flow.flow.host.name.as_str());
                Some(format!("{from} to {}", spot.port.name))
            }
            LaneView::Tables => {
                let title = lane_detail(self, row, known)?.title;
                Some(format!("{title} {}", self.table_at(row)?.table))
            }
        }
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        match self.table().row() {
            Some(_) => EnterResult::Show,
            None => EnterResult::Nothing("no flow is on a slow lane or would move there"),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.table().row().is_some()
    }

    fn has_views(&self, _: &Model) -> bool {
        true
    }

    fn view_names(&self) -> Vec<&'static str> {
        vec!["flows", "tables"]
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(if self.view == LaneView::Flows { "flows" } else { "tables" })
    }

    fn next_view(&mut self, _: &Model, _: bool) -> Result<(), &'static str> {
        self.view = if self.view == LaneView::Flows { LaneView::Tables } else { LaneView::Flows };
        Ok(())
    }

    fn refresh(&mut self, known: &Model) {
        let lanes = &known.lanes;
        self.state = lanes.state.clone().zip(lanes.snapshot().cloned()).or(self.state.take());
        let Some(context) = &self.state else { return };
        self.rows = flow_rows(&context.0);
        self.flows.refresh(&FLOWS.rows(context, &self.rows));
        self.table_rows = table_rows(&context.0);
        self.tables.refresh(&LANE_TABLES.rows(context, &self.table_rows));
    }

    fn command(&self, known: &Model) -> Option<String> {
        Some(match known.watch.reading {
            Some(_) => "lanes propose".to_owned(),
            None => "lanes".to_owned(),
        })
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn empty_text(&self, known: &Model) -> String {
        let lanes = &known.lanes;
        match (&lanes.trouble, known.tables, self.state.is_some(), self.view) {
            (Some(_), ..) => "the state of lanes could not be read; it is read again", (None, false, ..) => "without forwarding tables the paths of flows are not known", (None, true, false, _) => "the tables of lanes are being read", (None, true, true,
        LaneView::Tables) => {
                "no flow is on a slow lane or would move there, so no table needs entries for one"
            }
            (None, true, true,
        LaneView::Flows) => {
                "an adapter that receives more slowly than packets come delays flows to other hosts: as soon as there is one \
                 (Hot-spots), the flows to it are listed here, to move to a lane of their own"
            }
}.to_owned()
    }
}
