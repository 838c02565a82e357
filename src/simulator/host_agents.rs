//! The agents inside the simulator: which hosts have one, and the notices that each has received.

use std::collections::{BTreeMap, BTreeSet};

use super::device::PortRef;
use fabdeck_mad::NoticeFilter;

/// The agents inside the simulator, by their ports.
#[derive(Debug, Default)]
pub struct HostAgents {
    pub(super) notice_filters: BTreeMap<PortRef, NoticeFilter>,
    /// Agents that answer "followed" and move nothing.
    pub(super) corrupt: BTreeSet<PortRef>,
}
