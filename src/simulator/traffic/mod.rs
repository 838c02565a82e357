//! Traffic: packets over virtual lanes with credits, through input-buffered cut-through switches, under SL2VL and
//! arbitration tables. Head-of-line blocking, unfair shares and deadlock follow from these rules; no table states
//! them. Deterministic by seed, with its own clock.

mod arbiter;
mod audit;
mod channel_graph;
mod counters;
mod deadlock;
mod error;
mod flow;
mod lanes;
mod levels;
mod lid_selection;
mod link_changes;
mod measurement;
mod network;
mod output_choice;
mod packets;
mod pattern;
mod pattern_name;
mod queue;
mod readdressing;
mod revision;
mod sending;
mod settings;
mod setup;
mod steady_state;
mod table_changes;
mod timing_wheel;
mod traffic_senders;
mod traffic_tally;

pub use counters::{PortChannels, PortCount};
pub use deadlock::{BlockedBuffer, Deadlock};
pub use error::TrafficError;
pub use flow::{Flow, FlowCount, FlowOrder};
pub use lanes::LevelSelection;
pub use network::TrafficRun;
pub use pattern::{MixedPattern, TrafficPattern};
pub use pattern_name::{PATTERN_NAMES, PatternName, PatternOptions};
pub use revision::TRAFFIC_REVISION;
pub use settings::TrafficSettings;
pub use setup::{NetworkSetup, TrafficLoad};
pub use traffic_tally::{EndCount, Latency};
