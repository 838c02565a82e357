//! The cost of reading a live fabric, and the requests without an answer.

use std::time::Duration;

use crate::{Guid, PortNum};

/// The traffic of one phase of a reading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadingPhase {
    /// `topology`, `tables`, `multicast`, `lanes`, `arbitration`, `counters`, `ticks`, `manager`; of sweeps
    /// `states`, `moved`, `traps`.
    pub name: &'static str,
    /// Datagrams sent, retries included.
    pub sent: u64,
    /// Requests that were answered.
    pub answered: u64,
    /// Retries.
    pub repeated: u64,
    /// Requests without an answer after all retries.
    pub unanswered: u64,
    /// Answers with an error status.
    pub refused: u64,
    /// Datagrams that answer no open request: late, duplicate, or for another program.
    pub strangers: u64,
    /// The largest number of requests in flight at once.
    pub in_flight: usize,
    /// The duration of the phase.
    pub took: Duration,
}

impl ReadingPhase {
    /// Adds a further part of the same phase, which began when this one had ended.
    pub fn add_part(&mut self, part: &Self) {
        self.sent += part.sent;
        self.answered += part.answered;
        self.repeated += part.repeated;
        self.unanswered += part.unanswered;
        self.refused += part.refused;
        self.strangers += part.strangers;
        self.in_flight = self.in_flight.max(part.in_flight);
        self.took += part.took;
    }
}

/// A request without an answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MissingAnswer {
    /// The egress ports of the request's directed route; for a request by LID the route that is known.
    pub route: Vec<u8>,
    /// The attribute asked for: `NodeInfo`, `PortInfo 7`, `LFT block 3`.
    pub asked: String,
    /// The silent node; `None` behind a port whose peer never answered.
    pub node: Option<Guid>,
    /// The last port on the route that is known to work.
    pub peer: Option<(Guid, PortNum)>,
    /// The error status, where an answer came.
    pub refusal: Option<String>,
}

/// How a live fabric was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadingReport {
    /// The phases in their order.
    pub phases: Vec<ReadingPhase>,
    /// The requests without an answer.
    pub silent: Vec<MissingAnswer>,
    /// The subnet prefix of the port that the requests went through.
    pub subnet_prefix: Option<u64>,
    /// The port that the requests went through.
    pub from: String,
    /// Datagrams sent through that port that could have changed the fabric.
    pub writes: u64,
    /// Sets of InformInfo, which subscribe to traps and end that; `--traps` asks for them.
    pub sets: u64,
    /// Trap reports that were answered.
    pub reports_answered: u64,
    /// Whether the times are those of a simulator, in which waiting takes no real time.
    pub virtual_time: bool,
}

impl ReadingReport {
    /// The phase with a name.
    pub fn phase(&self, name: &str) -> Option<&ReadingPhase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// A directed route as the tools write it: `0,1,13`.
pub fn route_text(route: &[u8]) -> String {
    let hops = route.iter().map(|port| format!(",{port}"));
    std::iter::once("0".to_owned()).chain(hops).collect()
}
