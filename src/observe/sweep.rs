//! What changes while a fabric is watched: all counters read once more, and what is not as it was.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::CounterSample;
use crate::fabric::{Fabric, Guid, Lid, LinkSpeed, LinkWidth, PortNum};

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
}

impl News {
    /// Whether it is something that somebody should look at; what came back or is new is not.
    pub fn is_trouble(&self) -> bool {
        match self {
            Self::LinkDown { .. }
            | Self::Recabled { .. }
            | Self::RateChanged { .. }
            | Self::NodeSilent { .. }
            | Self::TableDrift { .. } => true,
            Self::LinkUp { .. } | Self::NodeAppeared { .. } | Self::NodeAnswers { .. } => false,
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
    /// What is different, links first, then nodes, then tables; each in the order of the fabric.
    pub news: Vec<News>,
}
