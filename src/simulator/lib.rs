//! A simulated fabric that answers management datagrams byte for byte, in simulated time and deterministic by seed. It
//! answers subnet packets by directed route, and by LID through its own tables. It has performance counters, M_Key
//! protection, path records, and a stand-in for the subnet manager. Lines may lose, delay, repeat and reorder packets.
//! `traffic` moves packets over virtual lanes, and ports count them.

mod adaptive_tables;
mod administration;
mod administration_status;
mod arbitration;
mod attribute_refusal;
mod background_traffic;
mod client_port;
mod delivery;
mod demo_story;
mod device;
mod device_builder;
mod error_growth;
mod event_loop;
mod group_records;
mod hierarchy;
mod host_agents;
mod hosts;
mod label_profile;
mod line_faults;
mod linear_table;
mod log;
mod manager_stand_in;
mod notice_state;
mod notices;
mod partition_profile;
mod partitions;
mod pending_report;
mod performance;
mod plane_profile;
mod port_speeds;
mod reports;
mod services;
mod simulated_fabric;
mod simulated_groups;
mod story_changes;
mod story_step;
mod subnet;
pub mod traffic;
mod wire_agent;
mod wire_profile;
mod wire_values;

pub use background_traffic::{BackgroundTraffic, RatioShortfall, TimeRatio};
pub use client_port::SharedSimulator;
pub use demo_story::DemoStory;
pub use device::AdaptiveProfile;
pub use event_loop::{AttachError, ClientId, Simulator};
pub use label_profile::LabelProfile;
pub use line_faults::{LineFaults, Share, SimulatorRng};
pub use log::EventLog;
pub use partition_profile::PartitionProfile;
pub use plane_profile::plane_of;
pub use port_speeds::{PortInfoForm, PortStatesForm};
pub use simulated_fabric::{CarriedTraffic, SimulatedFabric};
pub use simulated_groups::TransferFault;
pub use story_step::{StoryChange, StoryStep};
pub use wire_profile::WireProfile;
