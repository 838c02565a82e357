//! Counters of two readings: rates, hot-spots with their contributors and victims, links with errors. Pure functions of
//! two readings and the time between them.

mod apart;
mod growth;
mod hot_spots;
mod oversubscribed;
mod placed;
mod rates;
mod thresholds;
mod trouble;
mod waiting_time;

pub use apart::{Evidence, tell_apart};
pub use growth::{Growth, growth};
pub use hot_spots::{Contributor, HotSpot, HotSpots, Role, Waiting, hot_spots};
pub use oversubscribed::Oversubscribed;
pub use placed::{node_of, port_of};
pub use rates::{PortRates, Rates, growth_between, rates, rates_of_growth, rates_of_sweeps};
pub use thresholds::Thresholds;
pub use trouble::{ANCHOR, Trouble, Why, troubles};
pub use waiting_time::tick_of;
