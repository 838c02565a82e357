//! Sweeps: all counters of a fabric read again, and what changed since the sweep before.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::counters::CounterSample;
use super::flow_lists::FlowLists;
use super::observation::SubnetManager;
use crate::{Arbitration, Fabric, Guid, Lid, LinkSpeed, LinkWidth, PortNum, Sl2Vl};

/// A port by what stays when a fabric changes: the GUID of its node and its number.
pub type PortIdentity = (Guid, PortNum);

/// Width and speed of a link.
pub type LinkRate = (Option<LinkWidth>, Option<LinkSpeed>);

/// A changed entry of a forwarding table; `None` is no path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedEntry {
    /// The destination.
    pub lid: Lid,
    /// The egress port before.
    pub before: Option<PortNum>,
    /// The egress port now.
    pub now: Option<PortNum>,
}

/// A changed SL2VL table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedLanes {
    /// The ingress port.
    pub from: PortNum,
    /// The egress port.
    pub to: PortNum,
    /// The table before.
    pub before: Sl2Vl,
    /// The table now.
    pub now: Sl2Vl,
}

/// Changed VL arbitration tables of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedArbitration {
    /// The port.
    pub port: PortNum,
    /// The tables before.
    pub before: Arbitration,
    /// The tables now.
    pub now: Arbitration,
}

/// A multicast group with changed ports. A group without ports is not in the table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedGroup {
    /// The multicast LID.
    pub group: u16,
    /// The ports before.
    pub before: Vec<PortNum>,
    /// The ports now.
    pub now: Vec<PortNum>,
}

/// The subnet manager as PortInfo and SMInfo state it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KnownManager {
    /// Its LID; `None` when no subnet manager has configured the port.
    pub lid: Option<Lid>,
    /// What it states of itself, where it answers.
    pub manager: Option<SubnetManager>,
}

/// A difference between a sweep and the one before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FabricEvent {
    /// A link went down.
    LinkDown {
        /// One end.
        a: PortIdentity,
        /// The other end.
        b: PortIdentity,
    },
    /// A link came up.
    LinkUp {
        /// One end.
        a: PortIdentity,
        /// The other end.
        b: PortIdentity,
    },
    /// A port is connected to another port than before.
    Recabled {
        /// The port.
        at: PortIdentity,
        /// The port at its other end before.
        before: PortIdentity,
        /// The port at its other end now.
        now: PortIdentity,
    },
    /// A link has another width or speed.
    RateChanged {
        /// One end.
        a: PortIdentity,
        /// The other end.
        b: PortIdentity,
        /// Width and speed before.
        before: LinkRate,
        /// Width and speed now.
        now: LinkRate,
    },
    /// A link went down and up between two sweeps, or recovered without going down. The counts are those of the end
    /// that counted more.
    LinkFlapped {
        /// One end.
        a: PortIdentity,
        /// The other end.
        b: PortIdentity,
        /// How often it went down.
        downed: u64,
        /// How often it recovered.
        recovered: u64,
    },
    /// A node is new.
    NodeAppeared {
        /// The node.
        node: Guid,
    },
    /// A node with a cable does not answer, or no path leads to it any more.
    NodeSilent {
        /// The node.
        node: Guid,
    },
    /// A silent node answers again.
    NodeAnswers {
        /// The node.
        node: Guid,
    },
    /// The subnet manager reported a trap. The fields are those of the trap; other news state what became of it.
    Trap {
        /// The trap number.
        number: u16,
        /// The LID of the port that issued it.
        issuer: Option<Lid>,
        /// The type of the issuer: 1 an adapter, 2 a switch, 3 a router, 4 a subnet manager.
        producer: u32,
        /// The LID that the trap names.
        lid: Option<Lid>,
        /// The port that the trap names.
        port: Option<PortNum>,
        /// The port GUID that the trap names.
        guid: Option<Guid>,
        /// The node of this LID or GUID, where it is known.
        node: Option<Guid>,
    },
    /// Another subnet manager is master, or the same one states something else of itself.
    ManagerChanged {
        /// The subnet manager before.
        before: KnownManager,
        /// The subnet manager now.
        now: KnownManager,
    },
    /// Entries of a forwarding table changed since they were last read. One for each switch and sweep.
    TableDrift {
        /// The switch.
        switch: Guid,
        /// The blocks with differences.
        blocks: Vec<u16>,
        /// The number of entries that differ.
        entries: usize,
        /// The first of them.
        first: Vec<ChangedEntry>,
        /// The LID of the subnet manager that configured the port of the sweep.
        manager: Option<Lid>,
    },
    /// Entries of a multicast forwarding table changed.
    GroupDrift {
        /// The switch.
        switch: Guid,
        /// The number of groups that differ.
        entries: usize,
        /// The first of them.
        first: Vec<ChangedGroup>,
        /// The LID of the subnet manager that configured the port of the sweep.
        manager: Option<Lid>,
    },
    /// SL2VL tables of a switch or adapter changed.
    LanesDrift {
        /// The node.
        node: Guid,
        /// The number of port pairs that differ.
        entries: usize,
        /// The first of them.
        first: Vec<ChangedLanes>,
        /// The LID of the subnet manager that configured the port of the sweep.
        manager: Option<Lid>,
    },
    /// VL arbitration tables changed.
    ArbitrationDrift {
        /// The node.
        node: Guid,
        /// The number of ports that differ.
        entries: usize,
        /// The first of them.
        first: Vec<ChangedArbitration>,
        /// The LID of the subnet manager that configured the port of the sweep.
        manager: Option<Lid>,
    },
    /// Other jobs run than before, as far as the batch system answers.
    JobsChanged {
        /// The number of jobs that began.
        began: u64,
        /// The number of jobs that ended.
        ended: u64,
        /// The number of jobs that run.
        running: u64,
    },
    /// The batch system does not answer any more.
    JobsSilent {
        /// The reason.
        why: String,
    },
}

impl KnownManager {
    fn with_guids(self, guid: &impl Fn(Guid) -> Guid) -> Self {
        let manager = self.manager.map(|manager| SubnetManager { guid: guid(manager.guid), ..manager });
        Self { manager, ..self }
    }
}

impl FabricEvent {
    /// The same news with every GUID replaced.
    pub fn with_guids(self, guid: &impl Fn(Guid) -> Guid) -> Self {
        let end = |(node, port): PortIdentity| (guid(node), port);
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

    /// Whether the news may need attention. Parts that came back or are new do not.
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
            // A node is out of service, a link has many errors, a key is wrong. Other news report what became of a link or
            // host that changed.
            Self::Trap { number, .. } => matches!(number, 65 | 129..=131 | 256..=259),
            Self::LinkUp { .. }
            | Self::NodeAppeared { .. }
            | Self::NodeAnswers { .. }
            | Self::JobsChanged { .. }
            | Self::JobsSilent { .. } => false,
        }
    }
}

/// One reading of the counters of all ports. Times are those of the clock of the port that the requests went
/// through.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sweep {
    /// A sample for each port that answered, in the order of the ports.
    pub samples: Vec<CounterSample>,
    /// When each of the samples arrived.
    pub at: Vec<Duration>,
    /// When the sweep began.
    pub began: Duration,
    /// The duration of the sweep.
    pub took: Duration,
    /// The number of ports asked, silent ones included.
    pub ports: u64,
    /// Datagrams sent, retries included.
    pub sent: u64,
    /// The fabric now, where it differs from the last one. Known nodes and ports stay in it, without a cable once
    /// they are gone, so ids stay the same until something new appears. Data kept from sweep to sweep is kept by
    /// GUID and port number.
    pub fabric: Option<Arc<Fabric>>,
    /// Whether the tables of the snapshot changed: entries differ, or those of a new node were read.
    pub retabled: bool,
    /// The news of the sweep: the traps in the order in which they came, then links, nodes, the subnet manager and
    /// tables, each in the order of the fabric.
    pub news: Vec<FabricEvent>,
    /// The open flows of hosts that wait, where their agents list them.
    pub flows: FlowLists,
}
