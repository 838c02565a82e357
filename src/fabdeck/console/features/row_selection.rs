//! The visible rows of a list, and their order. A list that is too long to filter between two frames is
//! filtered by a background task. The old rows stay until the new ones are known.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::screens::ScreenId;
use crate::catalogue::filter::parse_typed_guid;
use crate::catalogue::query::{Columns, Query, Selection};
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::rowset::Rowset;
use fabdeck_fabric::{NodeId, PortId};
use fabdeck_routing::RouteProgress;

/// Filters the list of the screen.
pub fn set_filter(state: &mut SessionState, text: String) {
    state.opening.take_if(|opening| opening.is_prepared);
    let names = bearer_names(state, &text);
    state.current_mut().0.table_mut().set_filter(text, names);
    select_rows(state, false);
}

/// The names in a list for the node with the GUID in a filter, or with the GUID of one of its ports. A list
/// of switches alone shows a host by the switches that it is attached to. Names of several nodes are left
/// out: rows with GUIDs match anyway.
fn bearer_names(state: &SessionState, filter: &str) -> Vec<String> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    let fabric = look.fabric();
    let bearer = |guid| {
        let of_port = || fabric.port_by_guid(guid).map(|port| fabric.port(port).node);
        fabric.node_by_guid(guid).or_else(of_port)
    };
    let nodes: Vec<NodeId> = filter.split(',').filter_map(parse_typed_guid).filter_map(bearer).collect();
    let listed = |node: NodeId| -> Vec<NodeId> {
        if fabric.node(node).is_switch() || !state.current().has_only_switches() {
            return vec![node];
        }
        let peers = fabric.ports_of(node).filter_map(|(_, port)| port.peer);
        peers.map(|peer| fabric.port(peer).node).collect()
    };
    let single = |node: &NodeId| look.names.nodes_named(look.name(*node)).len() < 2;
    let jobs = nodes.iter().flat_map(|node| jobs_on(state, *node));
    let own = nodes.iter().copied().flat_map(listed).filter(single).map(|node| look.name(node).to_owned());
    own.chain(jobs).collect()
}

/// The jobs on a node, where the list shows jobs.
fn jobs_on(state: &SessionState, node: NodeId) -> Vec<String> {
    let (ScreenId::Jobs, Some(look), Some(comparison)) =
        (state.screen, state.snapshot(), &state.known.jobs.comparison)
    else {
        return Vec::new();
    };
    let on = |ports: &BTreeSet<PortId>| ports.iter().any(|port| look.fabric().port(*port).node == node);
    comparison.jobs.iter().filter(|(_, ports)| on(ports)).map(|(name, _)| name.clone()).collect()
}

/// Applies filter and order to the list of the screen. The cursor stays on its row, or goes to the first one.
pub fn select_rows(state: &mut SessionState, to_first: bool) {
    if let Some(task) = selection_task(state) {
        state.tasks.end(task);
        state.wanted.push(Effect::Cancel(task));
    }
    let many = state.many;
    let long = state.current().stored_rows().filter(|rows| rows.count() >= many).cloned();
    if let (Some(rows), Some(look)) = (long, state.known.look.clone()) {
        let query = state.current().table().query();
        // An error in the query is reported at once.
        if query.check(&*rows.listing(&look)).is_ok() {
            let screen = state.screen;
            let selecting = SelectRequest { screen, rows, query, to_first };
            let (_, effect) = state.begin(selection_title(state), SelectionTask { look, selecting });
            state.wanted.push(effect);
            return;
        }
    }
    let (screen, known) = state.current_mut();
    let mut table = std::mem::take(screen.table_mut());
    if let Some(listing) = screen.listing(known) {
        table.refresh(&*listing);
    }
    if to_first {
        table.move_to(0);
    }
    *screen.table_mut() = table;
    screen.update_filter(known);
}

/// The title of the task that filters the rows of the screen, as another screen may wait for its own rows.
fn selection_title(state: &SessionState) -> String {
    format!("filtering the rows of {}", state.screen.title().title)
}

/// The task that filters the rows of the screen.
pub fn selection_task(state: &SessionState) -> Option<TaskId> {
    let title = selection_title(state);
    state.tasks.running_tasks().iter().find(|task| task.title == title).map(|task| task.id)
}

/// Receives the rows of a selection; rows for a list that has changed are dropped.
fn receive_selection(state: &mut SessionState, selecting: &SelectRequest, selection: Selection) {
    let screen = state.screens.get_mut(selecting.screen);
    let same = screen.stored_rows().is_some_and(|rows| Arc::ptr_eq(rows, &selecting.rows));
    let table = screen.table_mut();
    if same {
        table.set_selection(selection, None);
        if selecting.to_first {
            table.move_to(0);
        }
    }
}

/// The list and query of a selection, and whether the cursor then moves to the first row.
#[derive(Clone, Debug)]
pub struct SelectRequest {
    screen: ScreenId,
    rows: Arc<Rowset>,
    query: Query,
    to_first: bool,
}

/// Filters and sorts the rows of a long list.
#[derive(Debug)]
pub struct SelectionTask {
    look: Arc<Snapshot>,
    selecting: SelectRequest,
}

impl BackgroundTask for SelectionTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let SelectRequest { rows, query, .. } = &self.selecting;
        // The query was checked before the task began.
        let selection = query.select(&*rows.listing(&self.look), Columns::Shown).unwrap_or_default();
        Some(Box::new(SelectionOutcome { selecting: self.selecting.clone(), selection }))
    }
}

#[derive(Debug)]
pub struct SelectionOutcome {
    selecting: SelectRequest,
    selection: Selection,
}

impl TaskOutcome for SelectionOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        receive_selection(state, &self.selecting, self.selection);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        let (SelectRequest { screen, query, .. }, selection) = (&self.selecting, &self.selection);
        format!("selected {screen:?} {query:?} {selection:?}")
    }
}
