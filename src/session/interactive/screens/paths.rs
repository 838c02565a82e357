//! Paths: two ports, and the hops between them under the tables in force or under a proposal.

use super::screen::{Entered, Screen};
use crate::fabric::Resolved;
use crate::routing::{ENGINES, Engine};
use crate::session::interactive::known::Known;
use crate::session::interactive::prompt::Purpose;
use crate::session::interactive::table::Table;
use crate::session::{LidChoice, Listing, Trace, endpoint};

#[derive(Debug, Default)]
pub struct PathsScreen {
    pub from: Option<String>,
    pub to: Option<String>,
    /// The proposal that is followed; the tables in force when there is none.
    pub under: Option<&'static Engine>,
    pub trace: Option<Trace>,
    /// Why there is no trace.
    pub problem: Option<String>,
    table: Table,
}

impl PathsScreen {
    pub fn set(&mut self, purpose: Purpose, text: String, known: &Known) {
        match purpose {
            Purpose::From => self.from = Some(text),
            _ => self.to = Some(text),
        }
        self.follow(known);
    }

    fn follow(&mut self, known: &Known) {
        (self.trace, self.problem) = (None, None);
        match self.traced(known) {
            Ok(trace) => self.trace = trace,
            Err(problem) => self.problem = Some(problem),
        }
        if let (Some(trace), Some(look)) = (&self.trace, &known.look) {
            self.table.refresh(&*trace.listing(look));
        }
    }

    fn traced(&self, known: &Known) -> Result<Option<Trace>, String> {
        let (Some(look), Some(from), Some(to)) = (&known.look, &self.from, &self.to) else { return Ok(None) };
        let end = |text: &str| endpoint(look, text).map_err(|error| error.to_string());
        let (from, to) = (end(from)?, end(to)?);
        let trace = match self.under.and_then(|engine| known.proposal(engine)) {
            Some(proposal) => Trace::follow_routes(look, &proposal.routes, from, to),
            None if !known.tables => return Err("the source has no forwarding tables to follow".to_owned()),
            None => Trace::follow(look, &look.observation.tables, from, to, LidChoice::Base),
        };
        trace.map(Some).map_err(|error| error.to_string())
    }

    /// What is followed, in words.
    pub fn under_title(&self) -> String {
        self.under
            .map_or_else(|| "the tables in force".to_owned(), |engine| format!("what {} proposes", engine.id))
    }
}

impl Screen for PathsScreen {
    fn crumbs(&self, _: &Known) -> Vec<String> {
        vec![self.under_title()]
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, known: &'s Known) -> Option<Box<dyn Listing + 's>> {
        Some(self.trace.as_ref()?.listing(known.look.as_deref()?))
    }

    /// From, to, and the verdict.
    fn rows_above(&self, _: &Known) -> u16 {
        4
    }

    fn what(&self, row: usize, known: &Known) -> Option<Resolved> {
        let hop = self.trace.as_ref()?.hops.get(row)?;
        let fabric = known.look.as_deref()?.fabric();
        let port = hop.egress.and_then(|number| fabric.port_of(hop.node, number));
        let link = port.and_then(|port| fabric.port(port).link);
        Some(link.map_or(Resolved::Node(hop.node), Resolved::Link))
    }

    fn enter(&mut self, _: &Known) -> Entered {
        match self.from {
            None => Entered::Ask(Purpose::From),
            Some(_) => Entered::Ask(Purpose::To),
        }
    }

    fn out(&mut self, _: &Known) -> bool {
        false
    }

    /// The tables in force, then each proposal there is.
    fn next_view(&mut self, known: &Known, forward: bool) {
        let proposed = ENGINES.iter().filter(|engine| known.proposal(engine).is_some()).map(Some);
        let views: Vec<Option<&'static Engine>> = std::iter::once(None).chain(proposed).collect();
        let same =
            |view: &Option<&Engine>| view.map(|engine| engine.id) == self.under.map(|engine| engine.id);
        let at = views.iter().position(same).unwrap_or(0);
        let by = if forward { 1 } else { views.len() - 1 };
        self.under = views[(at + by) % views.len()];
        self.follow(known);
    }

    fn refresh(&mut self, known: &Known) {
        self.under = self.under.filter(|engine| known.proposal(engine).is_some());
        self.follow(known);
    }

    fn command(&self, _: &Known) -> Option<String> {
        let quoted = crate::session::interactive::quoted;
        // What is proposed lies in no file that the command line could follow.
        self.under.is_none().then_some(())?;
        Some(format!("trace {} {}", quoted(self.from.as_ref()?), quoted(self.to.as_ref()?)))
    }

    fn when_empty(&self, _: &Known) -> String {
        "Enter asks where a path begins, then where it ends; t on any screen begins one there".to_owned()
    }
}
