//! The cost of marks under the tables in force, updated with each mark. The paths are indexed once; a mark
//! examines only the ports whose paths cross the element.

use std::sync::Arc;

use super::Look;
use super::check::unread_tables;
use super::whatif::{Cost, in_force};
use fabdeck_fabric::observe::Adaptive;
use fabdeck_fabric::{Faults, Resolved, Tables};
use fabdeck_routing::analysis::{Marked, Paths};
use fabdeck_routing::{Problem, Pulse, Refusal};

/// The marks over the tables of one snapshot.
#[derive(Clone, Debug)]
pub struct Preview {
    paths: Arc<Paths>,
    marked: Marked,
    unread_tables: u64,
    adaptive: Option<Adaptive>,
}

impl Preview {
    /// Indexes the tables, without any mark.
    pub fn new(look: &Look, tables: &Tables, pulse: &dyn Pulse) -> Result<Self, Refusal> {
        let whole = Faults::new();
        let problem = Problem::new(look.fabric(), &whole);
        let routes = Arc::new(in_force(look, tables, &whole));
        let paths = Arc::new(Paths::new(&problem, routes, pulse)?);
        Ok(Self {
            marked: Marked::new(Arc::clone(&paths)),
            paths,
            unread_tables: unread_tables(&problem, tables),
            adaptive: look.observation.adaptive,
        })
    }

    /// The paths in force, over which the cost is counted.
    pub fn paths(&self) -> &Arc<Paths> {
        &self.paths
    }

    pub fn faults(&self) -> &Faults {
        self.marked.faults()
    }

    /// Adds a mark and returns the number of ports that were examined; `None` when the mark was there
    /// already.
    pub fn mark(&mut self, look: &Look, what: Resolved) -> Option<usize> {
        self.marked.mark(look.fabric(), what)
    }

    pub fn unmark(&mut self, look: &Look, what: Resolved) -> Option<usize> {
        self.marked.unmark(look.fabric(), what)
    }

    /// Replaces the current marks with `faults`.
    pub fn become_marked(&mut self, look: &Look, faults: &Faults) {
        self.marked.become_marked(look.fabric(), faults);
    }

    /// The cost of the marks, and that of `random` random links; by default as many links as the marks take
    /// down.
    pub fn cost(&self, random: Option<usize>) -> Cost {
        let lost = self.marked.lost();
        let expected = self.paths.expected(random.unwrap_or(lost.links.max(1)));
        Cost {
            lost,
            expected,
            pairs: self.paths.pairs(),
            several_lids: self.paths.several_lids(),
            without_path_before: self.paths.without_path(),
            unread_tables: self.unread_tables,
            adaptive_routing: self.adaptive.map(Adaptive::switches),
            adaptive_unknown: self.adaptive.map_or(0, Adaptive::unknown),
        }
    }
}
