//! What the screen Paths shows of a pair besides the hops of its path. It is derived once for a path on a snapshot.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::fabric_model::Model;
use crate::operations::preview::whatif::Proposal;
use crate::operations::trace::pair_paths::{PairPaths, PairTables};
use crate::operations::trace::path_trace::{LidChoice, Trace};
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES};

/// The path of a pair under the routes that an engine proposes.
#[derive(Clone, Debug)]
pub struct ProposedPath {
    pub engine: &'static Engine,
    /// `None` where the routes know no LID of the destination.
    pub trace: Option<Trace>,
    proposal: Arc<Proposal>,
}

/// The facts of a pair, and what they were derived from.
#[derive(Clone, Debug)]
pub struct PairFacts {
    pub paths: PairPaths,
    look: Arc<Snapshot>,
    shown: Trace,
    under: Option<&'static str>,
}

impl PairFacts {
    /// Derives the facts of a path, unless `before` has them.
    pub fn refreshed(
        before: Option<Self>,
        known: &Model,
        shown: &Trace,
        under: Option<&'static Engine>,
    ) -> Option<Self> {
        let look = known.look.as_ref()?;
        let id = under.map(|engine| engine.id);
        let is_same = |facts: &Self| {
            Arc::ptr_eq(&facts.look, look) && facts.shown == *shown && facts.under == id && id.is_none()
        };
        if let Some(facts) = before.filter(is_same) {
            return Some(facts);
        }
        let proposal = under.and_then(|engine| known.proposal(engine));
        let tables = match proposal {
            Some(proposal) => PairTables::Proposed(&proposal.routes),
            None => PairTables::InForce(&look.observation.tables),
        };
        let paths = PairPaths::new(look, tables, shown);
        Some(Self { paths, look: look.clone(), shown: shown.clone(), under: id })
    }
}

/// The paths of a pair under all proposals; those of `before` stay where they are of the same proposal and pair.
pub fn proposed_paths(before: &[ProposedPath], known: &Model, shown: &Trace) -> Vec<ProposedPath> {
    let Some(look) = known.look.as_deref() else { return Vec::new() };
    let path = |engine: &'static Engine| {
        let proposal = known.proposal(engine)?;
        let is_same = |path: &&ProposedPath| {
            let ends = path.trace.as_ref().map(|trace| (trace.from, trace.to));
            Arc::ptr_eq(&path.proposal, proposal) && ends == Some((shown.from, shown.to))
        };
        if let Some(same) = before.iter().find(is_same) {
            return Some(same.clone());
        }
        let routes = PairTables::Proposed(&proposal.routes);
        let trace = routes.follow(look, shown.from, shown.to, LidChoice::Picked);
        Some(ProposedPath { engine, trace, proposal: proposal.clone() })
    };
    ENGINES.iter().chain(NAMED_ENGINES).filter_map(path).collect()
}
