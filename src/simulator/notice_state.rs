//! What the stand-in for the subnet manager remembers of subscriptions to traps and of changes to report.

use std::collections::{BTreeMap, BTreeSet};

use super::device::PortRef;
use fabdeck_mad::InformInfo;

/// Subscriptions, by the LID and queue pair that reports go to, and by trap number.
pub type Subscribers = BTreeMap<(u16, u32, u16), InformInfo>;

/// Subscribers, and what changed since the last reports.
#[derive(Debug, Default)]
pub struct NoticeState {
    pub(super) subscribers: Subscribers,
    /// Switches that have a trap to send.
    pub(super) changed: BTreeSet<u32>,
    /// Set when ports may have come or gone.
    pub(super) moved: bool,
    /// The ports that were in service when the manager last checked.
    pub(super) in_service: BTreeSet<PortRef>,
}

impl NoticeState {
    /// Records that a link at a node went down or came up.
    pub(super) fn record_change(&mut self, node: u32) {
        self.moved = true;
        if !self.subscribers.is_empty() {
            self.changed.insert(node);
        }
    }
}
