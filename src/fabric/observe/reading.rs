//! What reading a live fabric took, and who did not answer.

use std::time::Duration;

use crate::{Guid, PortNum};

/// One phase of a reading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Phase {
    /// `topology`, `tables`, `multicast`, `lanes`, `arbitration`, `counters`, `ticks`, `manager`; of sweeps `states`,
    /// `moved`, `traps`.
    pub name: &'static str,
    /// Datagrams sent, repetitions included.
    pub sent: u64,
    pub answered: u64,
    /// Datagrams sent again because nothing came.
    pub repeated: u64,
    /// Requests that nobody answered, however often they were sent.
    pub unanswered: u64,
    /// Answers that said no.
    pub refused: u64,
    /// Datagrams that belonged to no request of ours: late, twice, or somebody else's.
    pub strangers: u64,
    /// The most that were on their way at once.
    pub in_flight: usize,
    pub took: Duration,
}

/// A question without an answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Silence {
    /// The ports that the question went out through, one after the other; of a question by LID the way that is known.
    pub route: Vec<u8>,
    /// What was asked: `NodeInfo`, `PortInfo 7`, `LFT block 3`.
    pub asked: String,
    /// Who is silent: unknown behind a port whose peer never said who it is.
    pub node: Option<Guid>,
    /// The port before it: the last one that is known to live.
    pub peer: Option<(Guid, PortNum)>,
    /// What an answer that said no gave as its reason.
    pub refusal: Option<String>,
}

/// A look at a live fabric as a piece of work.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    pub phases: Vec<Phase>,
    pub silent: Vec<Silence>,
    /// The subnet prefix of the port that was looked from.
    pub subnet_prefix: Option<u64>,
    /// The port that was looked from.
    pub from: String,
    /// Datagrams sent through that port that could have changed something.
    pub writes: u64,
    /// InformInfo that subscribed to traps or ended that: Sets to subnet administration, which is asked for with `--traps`.
    pub sets: u64,
    /// Reports of traps that were answered.
    pub reports_answered: u64,
    /// The times are those of a simulator in which waiting takes no time.
    pub virtual_time: bool,
}

impl Reading {
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// A directed route as tools write it: `0,1,13`.
pub fn route_text(route: &[u8]) -> String {
    let hops = route.iter().map(|port| format!(",{port}"));
    std::iter::once("0".to_owned()).chain(hops).collect()
}
