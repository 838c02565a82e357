//! The changes of a story, each with its time.

use std::time::Duration;

use super::device::PortRef;
use fabdeck_fabric::{LinkWidth, NodeId};

/// A change and its time, counted from the beginning of the story.
#[derive(Clone, Debug)]
pub struct StoryStep {
    pub at: Duration,
    pub change: StoryChange,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoryChange {
    /// Sets the rate of a flow, given by its index, in Mb/s.
    FlowRate { flow: usize, mbps: u32 },
    /// Makes a port count this many symbol errors a minute.
    SymbolErrors { at: PortRef, per_minute: u32 },
    /// Takes a link down or up.
    Link { at: PortRef, up: bool },
    /// Sets the width of a link.
    Width { at: PortRef, width: LinkWidth },
    /// Makes a node silent, or lets it answer again.
    Silence { node: NodeId, silent: bool },
    /// Ends the subnet manager, or starts it again.
    Manager { runs: bool },
    /// Reroutes over the links that are up, with this engine on one lane, and clears PortStateChange. If the engine
    /// refuses, the tables stay as they are.
    Route { engine: &'static str },
}
