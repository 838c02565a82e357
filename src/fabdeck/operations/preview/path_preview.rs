//! The cost of marks under the tables in force, updated with each mark. The paths are indexed once; a mark
//! examines only the ports whose paths cross the element.

use std::sync::Arc;

use super::victims::HitHosts;
use super::whatif::{Cost, CostBound, routes_in_force};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::count_unread_tables;
use crate::system::phase::Phase;
use fabdeck_fabric::observe::AdaptiveRouting;
use fabdeck_fabric::{ElementId, Faults, Routes, Tables};
use fabdeck_routing::analysis::{MarkedPaths, PathIndex};
use fabdeck_routing::{EngineRefusal, NoProgress, Problem, RouteProgress};

/// The marks over the tables of one snapshot.
#[derive(Clone, Debug)]
pub struct Preview {
    paths: Arc<PathIndex>,
    marked: MarkedPaths,
    unread_tables: u64,
    adaptive: Option<AdaptiveRouting>,
}

impl Preview {
    /// Indexes the tables, without any mark.
    pub fn new(look: &Snapshot, tables: &Tables, pulse: &dyn RouteProgress) -> Result<Self, EngineRefusal> {
        let index = |problem: &Problem<'_>, routes| {
            PathIndex::partitioned(problem, routes, look.partitions.as_ref(), pulse)
        };
        Self::of_index(look, tables, index)
    }

    fn of_index(
        look: &Snapshot,
        tables: &Tables,
        index: impl FnOnce(&Problem<'_>, Arc<Routes>) -> Result<PathIndex, EngineRefusal>,
    ) -> Result<Self, EngineRefusal> {
        let whole = Faults::new();
        let problem = Problem::new(look.fabric(), &whole);
        let routes = Arc::new(routes_in_force(look, tables, &whole));
        let paths = Arc::new(Phase::time("index of paths", || index(&problem, routes))?);
        Ok(Self {
            marked: MarkedPaths::new(Arc::clone(&paths)),
            paths,
            unread_tables: count_unread_tables(&problem, tables),
            adaptive: look.observation.adaptive,
        })
    }

    /// Indexes the tables for one set of marks, and no others.
    pub fn with_marks(look: &Snapshot, tables: &Tables, faults: &Faults) -> Result<Self, EngineRefusal> {
        let index = |problem: &Problem<'_>, routes| {
            PathIndex::of_marks(problem, routes, look.partitions.as_ref(), faults, &NoProgress)
        };
        let mut preview = Self::of_index(look, tables, index)?;
        preview.set_marks(look, faults);
        Ok(preview)
    }

    /// A preview over the same paths without any mark.
    pub fn without_marks(&self) -> Self {
        Self { marked: MarkedPaths::new(Arc::clone(&self.paths)), paths: Arc::clone(&self.paths), ..*self }
    }

    /// The paths in force, over which the cost is counted.
    pub fn paths(&self) -> &Arc<PathIndex> {
        &self.paths
    }

    pub fn faults(&self) -> &Faults {
        self.marked.faults()
    }

    /// Adds a mark and returns the number of ports that were examined; `None` when the mark was there
    /// already.
    pub fn mark(&mut self, look: &Snapshot, what: ElementId) -> Option<usize> {
        self.marked.mark(look.fabric(), what)
    }

    pub fn unmark(&mut self, look: &Snapshot, what: ElementId) -> Option<usize> {
        self.marked.unmark(look.fabric(), what)
    }

    /// Replaces the current marks with `faults`.
    pub fn set_marks(&mut self, look: &Snapshot, faults: &Faults) {
        self.marked.set_marks(look.fabric(), faults);
    }

    /// The hosts that the marks hit.
    pub fn hit_hosts(&self, look: &Snapshot) -> HitHosts {
        let bound = CostBound::of_tables(self.adaptive.is_some(), self.unread_tables > 0);
        HitHosts::under_tables(look, &self.marked, bound)
    }

    /// The cost of the marks, and that of `random` random links; by default as many links as the marks take
    /// down.
    pub fn cost(&self, random: Option<usize>) -> Cost {
        let lost = self.marked.path_losses();
        let expected = self.paths.expected(random.unwrap_or(lost.links.max(1)));
        Cost {
            lost,
            expected,
            pairs: self.paths.pairs(),
            kept_apart: self.paths.kept_apart_pairs(),
            several_lids: self.paths.has_several_lids(),
            without_path_before: self.paths.without_path(),
            unread_tables: self.unread_tables,
            adaptive_routing: self.adaptive.map(AdaptiveRouting::switch_count),
            adaptive_unknown: self.adaptive.map_or(0, AdaptiveRouting::unknown_count),
        }
    }
}
