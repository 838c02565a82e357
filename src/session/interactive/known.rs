//! What the session knows of the fabric, for all screens: the look, the marks over it, and what was worked out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::tasks::TaskId;
use crate::analysis::Paths;
use crate::fabric::{Faults, NodeId, Resolved};
use crate::routing::{Engine, Refusal};
use crate::session::{Cost, EngineRow, Look, Preview, Proposal, Proposals};

/// An engine's answer for the marks as they are now.
#[derive(Clone, Debug)]
pub enum Proposed {
    /// Asked for, behind another engine.
    Waiting,
    /// Being computed by this task.
    Under(TaskId),
    Done {
        outcome: Result<Arc<Proposal>, Refusal>,
        row: Box<EngineRow>,
    },
}

/// Switches of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tier {
    pub name: String,
    pub switches: Vec<NodeId>,
    /// Hosts attached to them.
    pub hosts: u64,
}

#[derive(Debug, Default)]
pub struct Known {
    pub look: Option<Arc<Look>>,
    /// The numbers of that look, which take a walk over the fabric.
    pub numbers: Vec<(&'static str, String)>,
    /// Which look that is.
    pub numbers_of: Option<usize>,
    /// From the top of the tree to its bottom; of a fabric that is no tree, switches without hosts and with.
    pub tiers: Vec<Tier>,
    /// The paths in force, indexed. `None` without tables, and while it is being made.
    pub paths: Option<Arc<Paths>>,
    /// Why they could not be indexed.
    pub unindexed: Option<String>,
    /// The same with the marks over them; only work behind the screen takes the lock.
    pub preview: Option<Arc<Mutex<Preview>>>,
    /// What engines made of marks; only work behind the screen takes the lock.
    pub proposals: Arc<Mutex<Proposals>>,
    /// Whether the look has forwarding tables at all.
    pub tables: bool,
    pub marks: Faults,
    /// What the marks cost; `None` while it is being counted.
    pub cost: Option<Cost>,
    /// By the id of the engine.
    pub proposed: BTreeMap<&'static str, Proposed>,
}

impl Known {
    /// The text of an element, as commands take it.
    pub fn element(&self, what: Resolved) -> Option<String> {
        let look = self.look.as_ref()?;
        Some(crate::fabric::Element::of(look.fabric(), &look.names, what).to_string())
    }

    /// Whether it is marked, or lost with something that is.
    pub fn failed(&self, what: Resolved) -> bool {
        let Some(look) = &self.look else { return false };
        let fabric = look.fabric();
        match what {
            Resolved::Node(id) => self.marks.node_failed(id),
            Resolved::Port(id) => {
                self.marks.port_failed(fabric, id)
                    || fabric.port(id).link.is_some_and(|link| self.marks.link_failed(fabric, link))
            }
            Resolved::Link(id) => self.marks.link_failed(fabric, id),
        }
    }

    pub fn proposal(&self, engine: &Engine) -> Option<&Arc<Proposal>> {
        match self.proposed.get(engine.id)? {
            Proposed::Done { outcome, .. } => outcome.as_ref().ok(),
            Proposed::Waiting | Proposed::Under(_) => None,
        }
    }
}
