//! Counters of two readings: rates, hot-spots with their contributors and victims, links with errors. Pure functions of
//! two readings and the time between them.

mod channel_rates;
mod congestion;
mod contributors;
mod destinations;
mod flow_history;
mod flow_model;
mod growth;
mod hot_spots;
mod linear_bounds;
mod link_problems;
mod oversubscription;
mod rates;
mod sample_place;
mod sensor_faults;
mod thresholds;
mod waiting_time;
mod wire_thresholds;
mod wire_verdict;

pub use congestion::{
    CongestedAdapter, CongestedPort, CongestionRole, Evidence, HotSpot, HotSpotFlow, HotSpots, LikelyRole,
    OversubscribedUplink,
};
pub use contributors::classify_adapters;
pub use destinations::Destinations;
pub use flow_history::FlowHistory;
pub use growth::{Growth, counter_growth};
pub use hot_spots::find_hot_spots;
pub use link_problems::{ERROR_WINDOW, LinkProblem, LinkProblemKind, link_problems};
pub use rates::{
    PortRates, Rates, growth_between, link_error_growth, rates_of_growth, rates_of_samples, rates_of_sweeps,
};
pub use sample_place::{find_sample, sample_node, sample_port};
pub use sensor_faults::{SensorFault, SensorFaultKind, count_failed_fans, find_sensor_faults};
pub use thresholds::Thresholds;
pub use waiting_time::port_tick_seconds;
pub use wire_thresholds::{BitErrorLimits, WireThresholds};
pub use wire_verdict::{
    ErrorShare, PortErrorRates, WireEvidence, WireJudgement, WireVerdict, judge_port, share_text,
};
