//! What the session knows of the fabric, for all screens: the look, the marks over it, and what was worked out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::ailing::Ailing;
use super::changing::ChangesSeen;
use super::running_jobs::JobsSeen;
use super::slow_lanes::LanesSeen;
use super::tasks::TaskId;
use super::timeline::Playback;
use super::watch::Watch;
use crate::session::{Cost, EngineRow, Look, Preview, Proposal, Proposals};
use fabdeck_fabric::{Faults, NodeId, PortId, PortNum, PortState, Resolved};
use fabdeck_live::FAILED_BEFORE;
use fabdeck_routing::analysis::{GroupsCut, Paths};
use fabdeck_routing::{Engine, Refusal};

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

/// What is said of tables that are on their way.
pub const BEING_READ: &str = "not known yet: the tables are being read";

/// Tables that are not there, which is not to say that the source has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unread {
    BeingRead,
    BrokenOff,
}

/// Switches of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tier {
    pub name: String,
    pub switches: Vec<NodeId>,
    /// Hosts attached to them.
    pub hosts: u64,
}

/// Hosts that hang on the same switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rack {
    /// Those switches.
    pub name: String,
    pub hosts: Vec<NodeId>,
}

/// Nodes in the order of the tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranks {
    pub tiers: Vec<Tier>,
    pub racks: Vec<Rack>,
    /// All of them, by name.
    pub hosts: Vec<NodeId>,
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
    pub racks: Vec<Rack>,
    pub hosts: Vec<NodeId>,
    /// How many times nodes were put in order.
    pub arranged: u64,
    /// What is wrong with nodes, and how much of it is inside of ranks and racks.
    pub ailing: Ailing,
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
    /// While this stands, tables that are not there may yet come.
    pub unread: Option<Unread>,
    pub marks: Faults,
    /// The marks before each thing that was done to them, the last behind.
    pub marks_before: Vec<Faults>,
    /// What the marks cost; `None` while it is being counted.
    pub cost: Option<Cost>,
    /// Multicast groups that the marks tear; `None` where nobody told any.
    pub groups: Option<GroupsCut>,
    /// Counters, read again and again.
    pub watch: Watch,
    /// Where in a recording one is, where there is one.
    pub playback: Option<Playback>,
    /// When the moments are that have bookmarks of a pause, for the next one.
    pub bookmarks: BTreeSet<i64>,
    /// How changes stand.
    pub changes: ChangesSeen,
    /// How dFtree's lanes stand.
    pub lanes: LanesSeen,
    /// Which jobs run, and what they make of channels.
    pub jobs: JobsSeen,
    /// By the id of the engine.
    pub proposed: BTreeMap<&'static str, Proposed>,
}

impl Known {
    pub fn arrange(&mut self, ranks: Ranks) {
        (self.tiers, self.racks, self.hosts) = (ranks.tiers, ranks.racks, ranks.hosts);
        self.arranged += 1;
    }

    /// The order of an earlier look, as far as its nodes are there: until the new one is known.
    pub fn carry_order_over(&mut self, again: &dyn Fn(Resolved) -> Option<Resolved>) {
        let node = |id: &NodeId| match again(Resolved::Node(*id)) {
            Some(Resolved::Node(id)) => Some(id),
            _ => None,
        };
        let tiers = self.tiers.iter_mut().map(|tier| &mut tier.switches);
        for nodes in tiers.chain(self.racks.iter_mut().map(|rack| &mut rack.hosts)).chain([&mut self.hosts]) {
            *nodes = nodes.iter().filter_map(node).collect();
        }
    }

    /// The text of an element, as commands take it.
    pub fn element(&self, what: Resolved) -> Option<String> {
        let look = self.look.as_ref()?;
        Some(fabdeck_fabric::Element::of(look.fabric(), &look.names, what).to_string())
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

    /// What failed before this fabric was there, so that no row of it tells: a note says what.
    pub fn missing(&self) -> Option<&str> {
        let notes = &self.look.as_ref()?.observation.notes;
        notes.iter().find(|note| note.code == FAILED_BEFORE).map(|note| note.text.as_str())
    }

    /// What is wrong with a port or its cable, in a word; nothing when all is well.
    pub fn port_trouble(&self, id: PortId) -> &'static str {
        let Some(look) = &self.look else { return "" };
        let port = look.fabric().port(id);
        match port.link {
            _ if self.failed(Resolved::Port(id)) => "marked",
            Some(link) if look.is_down(link) => "down",
            Some(link) if self.ailing.has_errors(link) => "errors",
            Some(link) if look.degraded(link) == Some(true) => "degraded",
            // A port that is up has something behind it, whether that answered or not.
            None if port.facts.state.is_some_and(|state| state > PortState::Down)
                && port.number != PortNum::MANAGEMENT =>
            {
                "no answer"
            }
            _ => "",
        }
    }

    /// Whether errors of a port's cable, or of a cable, are beyond the threshold.
    pub fn has_errors(&self, what: Resolved) -> bool {
        let link = match what {
            Resolved::Link(link) => Some(link),
            Resolved::Port(port) => self.look.as_ref().and_then(|look| look.fabric().port(port).link),
            Resolved::Node(_) => None,
        };
        link.is_some_and(|link| self.ailing.has_errors(link))
    }

    /// The mark with which it is lost: its own, or that of a port or a node that it needs.
    pub fn mark_of(&self, what: Resolved) -> Option<Resolved> {
        let fabric = self.look.as_ref()?.fabric();
        let of_port = |id| [Resolved::Port(id), Resolved::Node(fabric.port(id).node)];
        let needed: Vec<Resolved> = match what {
            Resolved::Node(_) => vec![what],
            Resolved::Port(id) => of_port(id).into(),
            Resolved::Link(id) => {
                let link = fabric.link(id);
                [what].into_iter().chain(of_port(link.a)).chain(of_port(link.b)).collect()
            }
        };
        needed.into_iter().find(|needed| self.marks.iter().any(|mark| mark == *needed))
    }

    /// Why no table can be followed, where none can.
    pub fn no_tables(&self) -> Option<&'static str> {
        match (self.tables, self.unread) {
            (true, _) => None,
            (false, Some(Unread::BeingRead)) => Some(BEING_READ),
            (false, Some(Unread::BrokenOff)) => {
                Some("not known: the tables were not read to the end; r looks again")
            }
            (false, None) => Some("the source has no forwarding tables to follow"),
        }
    }

    pub fn proposal(&self, engine: &Engine) -> Option<&Arc<Proposal>> {
        match self.proposed.get(engine.id)? {
            Proposed::Done { outcome, .. } => outcome.as_ref().ok(),
            Proposed::Waiting | Proposed::Under(_) => None,
        }
    }
}
