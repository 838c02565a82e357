//! Counter samples as a port or a file gave them: raw values, no rates.

use std::collections::BTreeMap;

use crate::fabric::{Guid, PortNum};

/// One counter of PerfMgt. The name is the attribute's field as the tools print it (`PortXmitWait`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Counter(pub String);

/// Everything one port (or one adapter, `port` None for `ALL`) said about its counters at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CounterSample {
    /// The node, where the file names it by GUID.
    pub node: Option<Guid>,
    /// The port's LID, where the file names it by LID.
    pub lid: Option<u16>,
    pub port: Option<PortNum>,
    /// `None`: the file has the counter and says N/A or a sentinel.
    pub values: BTreeMap<Counter, Option<u64>>,
}
