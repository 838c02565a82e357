//! The model of the fabric that all screens share: the snapshot, the marks, and the values derived from both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::tasks::TaskId;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::changes::changes_model::ChangesModel;
use crate::console::features::health::health_model::HealthModel;
use crate::console::features::jobs::jobs_model::JobsModel;
use crate::console::features::lanes::lanes_model::LanesModel;
use crate::console::features::map::health::FabricHealth;
use crate::console::features::timeline::annotation_model::AnnotationModel;
use crate::console::features::timeline::playback::Playback;
use crate::console::features::watch::watch_state::WatchState;
use crate::console::model::line_speed::LineSpeed;
pub use crate::operations::fabric_map::ranks::{Rack, Ranks, SwitchRank};
use crate::operations::preview::choice_loss::ChoiceLoss;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::proposals::Proposals;
use crate::operations::preview::victims::HitHosts;
use crate::operations::preview::whatif::{Cost, EngineRow, Proposal};
use crate::operations::watch::history_clock::HistoryClock;
use fabdeck_fabric::{ElementId, Faults, NodeId, PortId, PortNum, PortState};
use fabdeck_mad::access::FAILED_BEFORE;
use fabdeck_routing::analysis::{CutOffPairs, GroupDamage, PathIndex};
use fabdeck_routing::{Engine, EngineRefusal};

/// The state of an engine's answer for the current marks.
#[derive(Clone, Debug)]
pub enum ProposalState {
    /// The engine waits for another one.
    Waiting,
    /// This task computes the answer.
    Under(TaskId),
    Done {
        outcome: Result<Arc<Proposal>, EngineRefusal>,
        row: Box<EngineRow>,
    },
}

/// What an engine had found before the fabric or its tables changed.
#[derive(Clone, Debug)]
pub struct OutdatedRow {
    pub row: EngineRow,
    pub verdict: String,
}

/// Why results are gone that the operator did not drop.
pub const SNAPSHOT_CHANGED: &str = "the fabric or its tables changed";

/// The text for tables that are still being read.
pub const TABLES_BEING_READ: &str = "not known yet: the tables are being read";

/// The reason why tables are missing, although the source may have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingTables {
    BeingRead,
    BrokenOff,
}

#[derive(Debug, Default)]
pub struct Model {
    pub look: Option<Arc<Snapshot>>,
    /// The summary of the snapshot, stored because it takes a walk over the fabric.
    pub numbers: Vec<(&'static str, String)>,
    /// The snapshot of the summary, by its address.
    pub numbers_of: Option<usize>,
    /// Switch ranks from the top of the tree to the bottom. In a fabric that is no tree, the ranks are
    /// switches without hosts and switches with hosts.
    pub tiers: Vec<SwitchRank>,
    pub racks: Vec<Rack>,
    pub hosts: Vec<NodeId>,
    /// Number of times that the nodes were ordered.
    pub arranged: u64,
    /// The problems of nodes, and their summaries for ranks and racks.
    pub health: FabricHealth,
    /// The ranked problems of the fabric.
    pub problems: HealthModel,
    /// The index of the paths in force; `None` without tables, and until it is made.
    pub paths: Option<Arc<PathIndex>>,
    /// Reason why the paths could not be indexed.
    pub unindexed: Option<String>,
    /// The index with the marks; only background tasks take the lock.
    pub preview: Option<Arc<Mutex<Preview>>>,
    /// The proposals of engines for marks; only background tasks take the lock.
    pub proposals: Arc<Mutex<Proposals>>,
    /// Whether the snapshot has forwarding tables.
    pub tables: bool,
    /// The reason why missing tables may exist after all.
    pub unread: Option<MissingTables>,
    pub marks: Faults,
    /// The marks before each change of them, the last one at the end.
    pub marks_before: Vec<Faults>,
    /// The cost of the marks; `None` until it is counted.
    pub cost: Option<Cost>,
    /// The hosts that the marks hit; `None` until they are counted.
    pub hit: Option<HitHosts>,
    /// The paths that choices of adaptive routing lose under the marks; `None` until they are counted, and where no switch
    /// has a choice.
    pub choices: Option<ChoiceLoss>,
    /// The pairs that the marks cut off, where there are no tables to count the cost with.
    pub cut_off: Option<CutOffPairs>,
    /// The multicast groups that the marks break; `None` where the source has no groups.
    pub groups: Option<GroupDamage>,
    /// The repeated readings of counters.
    pub watch: WatchState,
    /// The position in a recording, where there is one.
    pub playback: Option<Playback>,
    /// The cursor in time of the charts of a live watch, by the clock of the session; `None` at the present. In a
    /// recording the moment shown is the cursor.
    pub chart_cursor: Option<u64>,
    /// What a clock showed when the session began; `None` where times are relative.
    pub clock: Option<HistoryClock>,
    /// Whether the line to the terminal is slow.
    pub line: LineSpeed,
    /// What the operator left in time.
    pub annotations: AnnotationModel,
    /// Times of the bookmarks of a pause, for the next pause.
    pub bookmarks: BTreeSet<i64>,
    /// The states of changes.
    pub changes: ChangesModel,
    /// The state of dFtree's lanes.
    pub lanes: LanesModel,
    /// The running jobs, and their channel loads.
    pub jobs: JobsModel,
    /// The answers of engines, by engine id.
    pub proposed: BTreeMap<&'static str, ProposalState>,
    /// The rows of engines that ran before the fabric or its tables changed, in the order that they had. They stay on the
    /// screen until the engines run again.
    pub outdated: Vec<OutdatedRow>,
}

impl Model {
    pub fn arrange(&mut self, ranks: Ranks) {
        (self.tiers, self.racks, self.hosts) = (ranks.tiers, ranks.racks, ranks.hosts);
        self.arranged += 1;
    }

    /// Converts the order of nodes to another snapshot, until its own order is computed; missing nodes are
    /// left out.
    pub fn carry_order_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        let node = |id: &NodeId| match again(ElementId::Node(*id)) {
            Some(ElementId::Node(id)) => Some(id),
            _ => None,
        };
        let tiers = self.tiers.iter_mut().map(|tier| &mut tier.switches);
        for nodes in tiers.chain(self.racks.iter_mut().map(|rack| &mut rack.hosts)).chain([&mut self.hosts]) {
            *nodes = nodes.iter().filter_map(node).collect();
        }
    }

    /// The text of an element, in the notation of commands.
    pub fn element(&self, what: ElementId) -> Option<String> {
        let look = self.look.as_ref()?;
        Some(fabdeck_fabric::Element::from_id(look.fabric(), &look.names, what).to_string())
    }

    /// Whether an element is marked, or fails because of a mark.
    pub fn is_failed(&self, what: ElementId) -> bool {
        let Some(look) = &self.look else { return false };
        let fabric = look.fabric();
        match what {
            ElementId::Node(id) => self.marks.is_node_failed(id),
            ElementId::Port(id) => {
                self.marks.is_port_failed(fabric, id)
                    || fabric.port(id).link.is_some_and(|link| self.marks.is_link_failed(fabric, link))
            }
            ElementId::Link(id) => self.marks.is_link_failed(fabric, id),
        }
    }

    /// The note about failures before this reading, which no row of the fabric shows.
    pub fn missing_note(&self) -> Option<&str> {
        let notes = &self.look.as_ref()?.observation.notes;
        notes.iter().find(|note| note.code == FAILED_BEFORE).map(|note| note.text.as_str())
    }

    /// The problem of a port or its cable, in a word; empty where there is none.
    pub fn port_trouble(&self, id: PortId) -> &'static str {
        let Some(look) = &self.look else { return "" };
        let port = look.fabric().port(id);
        match port.link {
            _ if self.is_failed(ElementId::Port(id)) => "marked",
            Some(link) if look.is_down(link) => "down",
            Some(link) if self.health.has_errors(link) => "errors",
            Some(link) if look.is_degraded(link) == Some(true) => "degraded",
            Some(link) if self.health.is_miscabled(link) => "miscabled",
            // A port that is up has a peer, even if the peer did not answer.
            None if port.facts.state.is_some_and(|state| state > PortState::Down)
                && port.number != PortNum::MANAGEMENT =>
            {
                "no answer"
            }
            _ => "",
        }
    }

    /// Whether the errors of a cable, or of the cable of a port, are above the threshold.
    pub fn has_errors(&self, what: ElementId) -> bool {
        let link = match what {
            ElementId::Link(link) => Some(link),
            ElementId::Port(port) => self.look.as_ref().and_then(|look| look.fabric().port(port).link),
            ElementId::Node(_) => None,
        };
        link.is_some_and(|link| self.health.has_errors(link))
    }

    /// The mark that makes an element fail: its own, or that of a port or node that it needs.
    pub fn mark_of(&self, what: ElementId) -> Option<ElementId> {
        let fabric = self.look.as_ref()?.fabric();
        let of_port = |id| [ElementId::Port(id), ElementId::Node(fabric.port(id).node)];
        let needed: Vec<ElementId> = match what {
            ElementId::Node(_) => vec![what],
            ElementId::Port(id) => of_port(id).into(),
            ElementId::Link(id) => {
                let link = fabric.link(id);
                [what].into_iter().chain(of_port(link.a)).chain(of_port(link.b)).collect()
            }
        };
        needed.into_iter().find(|needed| self.marks.iter().any(|mark| mark == *needed))
    }

    /// The reason why no path can be followed, where none can.
    pub fn no_tables_reason(&self) -> Option<&'static str> {
        match (self.tables, self.unread) {
            (true, _) => None,
            (false, Some(MissingTables::BeingRead)) => Some(TABLES_BEING_READ),
            (false, Some(MissingTables::BrokenOff)) => {
                Some("not known: the tables were not read completely; r reads them again")
            }
            (false, None) => Some("the source has no forwarding tables to follow"),
        }
    }

    /// The row that an engine had before the fabric or its tables changed, where it has no newer one.
    pub fn outdated_row(&self, engine: &Engine) -> Option<&OutdatedRow> {
        let is_asked = self.proposed.contains_key(engine.id);
        self.outdated.iter().find(|outdated| !is_asked && outdated.row.engine == engine.id)
    }

    /// Why an engine has no routes that could be written.
    pub fn no_proposal_words(&self, engine: &Engine) -> String {
        match self.outdated_row(engine) {
            Some(_) => format!("{SNAPSHOT_CHANGED} since {} was run; p runs the engines again", engine.id),
            None => format!("{} has no routes for these marks; p runs it", engine.id),
        }
    }

    pub fn proposal(&self, engine: &Engine) -> Option<&Arc<Proposal>> {
        match self.proposed.get(engine.id)? {
            ProposalState::Done { outcome, .. } => outcome.as_ref().ok(),
            ProposalState::Waiting | ProposalState::Under(_) => None,
        }
    }
}
