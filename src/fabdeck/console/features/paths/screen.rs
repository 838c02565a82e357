//! The screen Paths: the hops between two ports, under the tables in force or under a proposal; or the
//! destinations over a cable.

use super::pair_facts::{PairFacts, ProposedPath, proposed_paths};
use super::pair_words::failed_element;
use super::path_panes::{HEAD_ROWS, LINE_ROWS, SHORT_LINE_ROWS, SUMMARY_ROWS, has_room, path_panes};
use crate::catalogue::field::Listing;
use crate::catalogue::views::link_users::{LinkUser, link_user_rows, link_users};
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::{Areas, Size};
use crate::console::model::line_words::rephrase_for_console;
use crate::console::model::panes::PanePlan;
use crate::console::model::prompt::Purpose;
use crate::console::model::table::Table;
use crate::operations::trace::path_trace::{LidChoice, Trace, parse_endpoint};
use fabdeck_fabric::{ElementId, LinkId};
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES};

/// Least height of the middle with the path as a line, and with rows below the hops.
const MIN_SUMMARY_HEIGHT: u16 = 18;

#[derive(Debug, Default)]
pub struct PathsScreen {
    pub from: Option<String>,
    pub to: Option<String>,
    /// The engine whose proposal is shown; `None` for the tables in force.
    pub under: Option<&'static Engine>,
    pub trace: Option<Trace>,
    /// Which LID of the destination is shown: how many after the one that the sender picks.
    pub lid_step: u16,
    /// Reason why there is no trace.
    pub problem: Option<String>,
    /// The cable whose destinations are shown instead of a path.
    pub users: Option<LinkId>,
    user_rows: Vec<LinkUser>,
    table: Table,
    /// What the pair has besides its path, and its paths under the proposals.
    pair: Option<PairFacts>,
    pub(super) proposed: Vec<ProposedPath>,
    /// Rows of the path as a line; a low screen has none.
    line_rows: u16,
    /// Whether the line that asks for the beginning is followed by the one that asks for the end.
    pub asks_both: bool,
}

impl PathsScreen {
    pub fn set_end(&mut self, purpose: Purpose, text: String, known: &Model) {
        match purpose {
            Purpose::From => self.from = Some(text),
            _ => self.to = Some(text),
        }
        self.users = None;
        self.lid_step = 0;
        self.table = Table::default();
        self.trace_path(known);
    }

    /// An end of the path as it was typed.
    pub fn end(&self, purpose: Purpose) -> Option<&str> {
        if purpose == Purpose::From { self.from.as_deref() } else { self.to.as_deref() }
    }

    /// Whether an end that was typed is no port of the fabric.
    pub fn is_end_unknown(&self, purpose: Purpose, known: &Model) -> bool {
        let typed = known.look.as_deref().zip(self.end(purpose));
        typed.is_some_and(|(look, text)| parse_endpoint(look, text).is_err())
    }

    /// Follows the path to the next LID of the destination, or to the one before.
    pub fn step_lid(&mut self, known: &Model, forward: bool) -> Result<(), &'static str> {
        let count = match (&self.trace, &known.look) {
            (Some(trace), Some(look)) if self.users.is_none() => {
                trace.to.address(look).map_or(1, |(_, count)| count)
            }
            _ => return Err("a path needs two ends; Enter asks for them"),
        };
        if count < 2 {
            return Err("the destination has one LID");
        }
        let by = if forward { 1 } else { count - 1 };
        self.lid_step = (self.lid_step + by) % count;
        self.trace_path(known);
        Ok(())
    }

    /// Which of the LIDs of the destination the path leads to; `None` where it has one.
    pub fn lid_words(&self, known: &Model) -> Option<String> {
        let (trace, look) = (self.trace.as_ref()?, known.look.as_deref()?);
        let (base, count) = trace.to.address(look).filter(|(_, count)| *count > 1)?;
        let at = trace.lid.value() - base.value() + 1;
        let picked = if self.lid_step == 0 { " (picked)" } else { "" };
        Some(format!("LID {at} of {count}{picked}; ) next"))
    }

    /// Follows the path under the proposal of an engine, or under the current tables.
    pub fn follow_under(&mut self, under: Option<&'static Engine>, known: &Model) {
        self.under = under;
        self.trace_path(known);
    }

    pub fn show_users(&mut self, link: LinkId, known: &Model) {
        self.users = Some(link);
        self.table = Table::default();
        self.list_users(known);
    }

    fn list_users(&mut self, known: &Model) {
        let (Some(link), Some(look)) = (self.users.filter(|_| known.tables), &known.look) else {
            self.users = None;
            return;
        };
        // While paths are being indexed again, the list is empty but stays open.
        self.user_rows =
            known.paths.as_ref().map_or_else(Vec::new, |paths| link_user_rows(look, paths, link));
        self.table.refresh(&link_users(look, &self.user_rows));
    }

    /// The first marked element on the path.
    pub fn first_failed_element(&self, known: &Model) -> Option<String> {
        failed_element(self.trace.as_ref()?, known)
    }

    /// What the pair has besides its path.
    pub(super) fn facts(&self) -> Option<&PairFacts> {
        self.pair.as_ref()
    }

    /// Whether no path was asked for.
    pub(super) fn is_without_ends(&self) -> bool {
        self.users.is_none() && self.from.is_none() && self.to.is_none()
    }

    /// Takes the size of the screen into account.
    pub(super) fn set_areas(&mut self, areas: &Areas) {
        self.line_rows = match areas.middle.height {
            _ if has_room(areas) => LINE_ROWS + 1,
            height if height >= MIN_SUMMARY_HEIGHT => SHORT_LINE_ROWS,
            _ => 0,
        };
    }

    /// Rows below the hops that stand for the panes of a larger screen.
    pub(super) fn summary_rows(&self, size: Size) -> u16 {
        let areas = Areas::new(size, false);
        let has_pair = self.users.is_none() && self.trace.is_some();
        match has_pair && !has_room(&areas) && areas.middle.height >= MIN_SUMMARY_HEIGHT {
            true => SUMMARY_ROWS,
            false => 0,
        }
    }

    fn trace_path(&mut self, known: &Model) {
        (self.trace, self.problem) = (None, None);
        match self.compute_trace(known) {
            Ok(trace) => self.trace = trace,
            Err(problem) => self.problem = Some(problem),
        }
        if let (Some(trace), Some(look)) = (&self.trace, &known.look) {
            self.table.refresh(&*trace.listing(look));
        }
        let before = self.pair.take();
        let Some(trace) = &self.trace else { return self.proposed.clear() };
        self.pair = PairFacts::refreshed(before, known, trace, self.under);
        self.proposed = proposed_paths(&self.proposed, known, trace);
    }

    fn compute_trace(&self, known: &Model) -> Result<Option<Trace>, String> {
        let (Some(look), Some(from)) = (&known.look, &self.from) else { return Ok(None) };
        let end =
            |text: &str| parse_endpoint(look, text).map_err(|error| rephrase_for_console(&error.to_string()));
        // An unknown name is reported for the start already, before there is an end.
        let from = end(from)?;
        let Some(to) = &self.to else { return Ok(None) };
        let (to, choice) = (end(to)?, LidChoice::AfterPicked(self.lid_step));
        let trace = match self.under.and_then(|engine| known.proposal(engine)) {
            Some(proposal) => Trace::follow_routes(look, &proposal.routes, from, to, choice),
            None => match known.no_tables_reason() {
                Some(why) => return Err(why.to_owned()),
                None => Trace::follow(look, &look.observation.tables, from, to, choice),
            },
        };
        trace.map(Some).map_err(|error| error.to_string())
    }

    /// The title of the tables that the path follows. Where switches route adaptively, it is one of several paths.
    pub fn tables_title(&self, known: &Model) -> String {
        let adaptive = known.look.as_ref().is_some_and(|look| look.observation.adaptive.is_some());
        match (self.under, adaptive) {
            (Some(engine), _) => format!("what {} proposes", engine.id),
            (None, false) => "the tables in force".to_owned(),
            (None, true) => "the tables in force, by static ports".to_owned(),
        }
    }
}

impl Screen for PathsScreen {
    fn crumbs(&self, known: &Model) -> Vec<String> {
        match self.users.and_then(|link| known.element(ElementId::Link(link))) {
            Some(link) => vec!["users".to_owned(), link],
            None => vec![self.tables_title(known)],
        }
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        let look = known.look.as_deref()?;
        match self.users {
            Some(_) => Some(Box::new(link_users(look, &self.user_rows))),
            None => Some(self.trace.as_ref()?.listing(look)),
        }
    }

    /// Rows for both ends and the verdict, and for the path as a line.
    fn rows_above(&self, _: &Model) -> u16 {
        let has_line = self.users.is_none() && self.trace.is_some();
        HEAD_ROWS + if has_line { self.line_rows } else { 0 }
    }

    fn rows_below(&self, _: &Model, size: Size) -> u16 {
        self.summary_rows(size)
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        match &self.trace {
            Some(trace) if self.users.is_none() => path_panes(areas, trace.hops.len()),
            _ => areas.list_and_details().into(),
        }
    }

    fn element(&self, row: usize, known: &Model) -> Option<ElementId> {
        let fabric = known.look.as_deref()?.fabric();
        if self.users.is_some() {
            let port = fabric.port_by_lid(self.user_rows.get(row)?.over.lid)?;
            return Some(ElementId::Node(fabric.port(port).node));
        }
        let hop = self.trace.as_ref()?.hops.get(row)?;
        let port = hop.egress.and_then(|number| fabric.port_of(hop.node, number));
        let link = port.and_then(|port| fabric.port(port).link);
        Some(link.map_or(ElementId::Node(hop.node), ElementId::Link))
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        if self.users.is_some() {
            return EnterResult::Nothing("t follows a path that begins here; Esc shows the path again");
        }
        match (&self.from, &self.to) {
            // A path begun with t lacks its end alone.
            (Some(_), None) => EnterResult::Ask(Purpose::To),
            // Each end that is there stays where nothing is typed.
            (None, _) | (Some(_), Some(_)) => EnterResult::Ask(Purpose::From),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.users.is_none()
    }

    fn has_views(&self, known: &Model) -> bool {
        self.users.is_none()
            && ENGINES.iter().chain(NAMED_ENGINES).any(|engine| known.proposal(engine).is_some())
    }

    fn step_out(&mut self, known: &Model) -> bool {
        let shown = self.users.take().is_some();
        if shown {
            self.table = Table::default();
            self.trace_path(known);
        }
        shown
    }

    /// Switches between the tables in force and the proposals.
    fn next_view(&mut self, known: &Model, forward: bool) -> Result<(), &'static str> {
        let proposed =
            ENGINES.iter().chain(NAMED_ENGINES).filter(|engine| known.proposal(engine).is_some()).map(Some);
        let views: Vec<Option<&'static Engine>> = std::iter::once(None).chain(proposed).collect();
        if views.len() < 2 || self.users.is_some() {
            return Err("there are no other routes to follow: p on What-if runs the engines");
        }
        let same =
            |view: &Option<&Engine>| view.map(|engine| engine.id) == self.under.map(|engine| engine.id);
        let at = views.iter().position(same).unwrap_or(0);
        let by = if forward { 1 } else { views.len() - 1 };
        self.follow_under(views[(at + by) % views.len()], known);
        Ok(())
    }

    fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        self.users = match self.users.map(|link| again(ElementId::Link(link))) {
            Some(Some(ElementId::Link(link))) => Some(link),
            _ => None,
        };
        self.table.selected = self.table.selected.iter().filter_map(|what| again(*what)).collect();
    }

    fn refresh(&mut self, known: &Model) {
        self.under = self.under.filter(|engine| known.proposal(engine).is_some());
        match self.users {
            Some(_) => self.list_users(known),
            None => self.trace_path(known),
        }
    }

    fn command(&self, known: &Model) -> Option<String> {
        let quoted = crate::catalogue::shell_words::quote_for_shell;
        if let Some(link) = self.users {
            return Some(format!("show users {}", quoted(&known.element(ElementId::Link(link))?)));
        }
        let lid = self.trace.as_ref().filter(|_| self.lid_step > 0);
        let lid = lid.map_or_else(String::new, |trace| format!(" --lid {}", trace.lid));
        Some(format!("trace {} {}{lid}", quoted(self.from.as_ref()?), quoted(self.to.as_ref()?)))
    }

    fn no_command_reason(&self) -> &'static str {
        ": a path needs two ends; Enter asks for them"
    }

    fn empty_text(&self, _: &Model) -> String {
        "Enter asks where a path begins, then where it ends; t on any screen begins one there".to_owned()
    }
}
