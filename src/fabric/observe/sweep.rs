//! What changes while a fabric is watched: all counters read once more, and what is not as it was.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CounterSample, SubnetManager};
use crate::{Arbitration, Fabric, Guid, Lid, LinkSpeed, LinkWidth, PortNum, Sl2Vl};

/// A port by what stays when a fabric changes: the GUID of its node, and its number.
pub type End = (Guid, PortNum);

/// What a cable runs at.
pub type Rate = (Option<LinkWidth>, Option<LinkSpeed>);

/// An entry of a forwarding table that somebody changed; `None` leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedEntry {
    pub lid: Lid,
    pub before: Option<PortNum>,
    pub now: Option<PortNum>,
}

/// The lanes from one port to another that somebody changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedLanes {
    pub from: PortNum,
    pub to: PortNum,
    pub before: Sl2Vl,
    pub now: Sl2Vl,
}

/// The arbitration tables of a port that somebody changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedArbitration {
    pub port: PortNum,
    pub before: Arbitration,
    pub now: Arbitration,
}

/// A group of which other ports are members, by the LID that addresses it; without any there is no such group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedGroup {
    pub group: u16,
    pub before: Vec<PortNum>,
    pub now: Vec<PortNum>,
}

/// What a port was told of the subnet manager.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ManagerTold {
    /// Where it is; without one there has been none.
    pub lid: Option<Lid>,
    /// What it says of itself, where it answers.
    pub manager: Option<SubnetManager>,
}

/// What a sweep found to be different from the one before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    LinkDown {
        a: End,
        b: End,
    },
    LinkUp {
        a: End,
        b: End,
    },
    /// A port has another one at its end than before.
    Recabled {
        at: End,
        before: End,
        now: End,
    },
    /// A cable runs at another width or speed.
    RateChanged {
        a: End,
        b: End,
        before: Rate,
        now: Rate,
    },
    /// A link went down and came back between two sweeps, or mended itself without: how often, as the end says that
    /// counted more.
    LinkFlapped {
        a: End,
        b: End,
        downed: u64,
        recovered: u64,
    },
    NodeAppeared {
        node: Guid,
    },
    /// It has a cable, and does not answer, or no way leads to it any more.
    NodeSilent {
        node: Guid,
    },
    NodeAnswers {
        node: Guid,
    },
    /// The subnet manager reported a trap, as whoever watches asked it to. What it is about is as the trap says; what became
    /// of it, the other news tell.
    Trap {
        number: u16,
        /// Who issued it: a LID, and what kind of thing it says that it is (1 an adapter, 2 a switch, 3 a router, 4 a manager).
        issuer: Option<Lid>,
        producer: u32,
        /// The LID that it names, and the port there.
        lid: Option<Lid>,
        port: Option<PortNum>,
        /// The GUID of the port that it names.
        guid: Option<Guid>,
        /// The node that this LID or GUID is of, where that is known.
        node: Option<Guid>,
    },
    /// Somebody else is in charge, or the same one says something else of itself.
    ManagerChanged {
        before: ManagerTold,
        now: ManagerTold,
    },
    /// Entries of a forwarding table are not what they were when they were read last. One for each switch of a sweep.
    TableDrift {
        switch: Guid,
        /// The blocks with differences.
        blocks: Vec<u16>,
        /// How many entries differ, and the first of them.
        entries: usize,
        first: Vec<ChangedEntry>,
        /// Where the subnet manager sits that the port which is looked from was told of.
        manager: Option<Lid>,
    },
    /// The same of groups.
    GroupDrift {
        switch: Guid,
        entries: usize,
        first: Vec<ChangedGroup>,
        manager: Option<Lid>,
    },
    /// The same of lanes, of adapters too.
    LanesDrift {
        node: Guid,
        /// How many pairs of ports, and the first of them.
        entries: usize,
        first: Vec<ChangedLanes>,
        manager: Option<Lid>,
    },
    /// The same of arbitration.
    ArbitrationDrift {
        node: Guid,
        /// How many ports, and the first of them.
        entries: usize,
        first: Vec<ChangedArbitration>,
        manager: Option<Lid>,
    },
    /// Other jobs run than before, as far as whoever knows them was heard.
    JobsChanged {
        began: u64,
        ended: u64,
        running: u64,
    },
    /// Nobody says any more which jobs run.
    JobsSilent {
        why: String,
    },
}

impl ManagerTold {
    fn with_guids(self, guid: &impl Fn(Guid) -> Guid) -> Self {
        let manager = self.manager.map(|manager| SubnetManager { guid: guid(manager.guid), ..manager });
        Self { manager, ..self }
    }
}

impl News {
    /// The same of nodes with other GUIDs.
    pub fn with_guids(self, guid: &impl Fn(Guid) -> Guid) -> Self {
        let end = |(node, port): End| (guid(node), port);
        match self {
            Self::LinkDown { a, b } => Self::LinkDown { a: end(a), b: end(b) },
            Self::LinkUp { a, b } => Self::LinkUp { a: end(a), b: end(b) },
            Self::Recabled { at, before, now } => {
                Self::Recabled { at: end(at), before: end(before), now: end(now) }
            }
            Self::RateChanged { a, b, before, now } => {
                Self::RateChanged { a: end(a), b: end(b), before, now }
            }
            Self::NodeAppeared { node } => Self::NodeAppeared { node: guid(node) },
            Self::NodeSilent { node } => Self::NodeSilent { node: guid(node) },
            Self::NodeAnswers { node } => Self::NodeAnswers { node: guid(node) },
            Self::Trap { number, issuer, producer, lid, port, guid: named, node } => {
                let (named, node) = (named.map(guid), node.map(guid));
                Self::Trap { number, issuer, producer, lid, port, guid: named, node }
            }
            Self::LinkFlapped { a, b, downed, recovered } => {
                Self::LinkFlapped { a: end(a), b: end(b), downed, recovered }
            }
            Self::ManagerChanged { before, now } => {
                Self::ManagerChanged { before: before.with_guids(guid), now: now.with_guids(guid) }
            }
            Self::TableDrift { switch, blocks, entries, first, manager } => {
                Self::TableDrift { switch: guid(switch), blocks, entries, first, manager }
            }
            Self::GroupDrift { switch, entries, first, manager } => {
                Self::GroupDrift { switch: guid(switch), entries, first, manager }
            }
            Self::LanesDrift { node, entries, first, manager } => {
                Self::LanesDrift { node: guid(node), entries, first, manager }
            }
            Self::ArbitrationDrift { node, entries, first, manager } => {
                Self::ArbitrationDrift { node: guid(node), entries, first, manager }
            }
            jobs @ (Self::JobsChanged { .. } | Self::JobsSilent { .. }) => jobs,
        }
    }

    /// Whether it is something that somebody should look at; what came back or is new is not.
    pub fn is_trouble(&self) -> bool {
        match self {
            Self::LinkDown { .. }
            | Self::Recabled { .. }
            | Self::RateChanged { .. }
            | Self::NodeSilent { .. }
            | Self::LinkFlapped { .. }
            | Self::TableDrift { .. }
            | Self::GroupDrift { .. }
            | Self::LanesDrift { .. }
            | Self::ArbitrationDrift { .. } => true,
            Self::ManagerChanged { before, .. } => before.manager.is_some(),
            // Somebody is out of service; a link has many errors; a key is wrong. That a link or a host changed is told
            // with what became of it.
            Self::Trap { number, .. } => matches!(number, 65 | 129..=131 | 256..=259),
            Self::LinkUp { .. }
            | Self::NodeAppeared { .. }
            | Self::NodeAnswers { .. }
            | Self::JobsChanged { .. }
            | Self::JobsSilent { .. } => false,
        }
    }
}

/// One sweep. Times are those of the clock of the port that it went through.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sweep {
    /// One for each port that answered, in the order of the ports.
    pub samples: Vec<CounterSample>,
    /// When each of the samples came.
    pub at: Vec<Duration>,
    pub began: Duration,
    pub took: Duration,
    /// Ports that were asked, those included that did not answer.
    pub ports: u64,
    /// Datagrams that it took, repetitions included.
    pub sent: u64,
    /// The fabric as it is now, where anything about it is different. Nodes and ports that were known stay in it: one
    /// that went away has no cable any more. So ids stay what they were until something new appears, which moves those
    /// behind it (a fabric lies in canonical order, and much rests on that); what is kept from one sweep to the next is
    /// kept by GUID and port number, as samples are.
    pub fabric: Option<Arc<Fabric>>,
    /// The tables of the look are not as they were: entries are otherwise, or those of a node that is new were read.
    pub retabled: bool,
    /// What the subnet manager reported since the sweep before, in the order in which it came, then what is different: links
    /// first, then nodes, the subnet manager, tables; each in the order of the fabric.
    pub news: Vec<News>,
}
