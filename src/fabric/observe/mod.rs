//! What a source stated, unprocessed: values, times, requests without an answer, and a note on every unusual reading.

mod counters;
mod jobs;
mod joined_samples;
mod notes;
mod observation;
mod printable;
mod reading;
mod sweep;
mod ticks;

pub(crate) use counters::NO_COUNT;
pub use counters::{Column, Counter, CounterKind, CounterSample, CounterValues, Figure};
pub use jobs::{Hearsay, HostsOfJobs, JobsHeard};
pub use joined_samples::join_samples;
pub use notes::{Note, Notes, Place};
pub use observation::{Adaptive, CounterGrowth, Observation, PathLevels, PolicyLevels, SubnetManager};
pub use printable::{digits_in_groups, escape_json, escape_unprintable, is_printable};
pub use reading::{Phase, Reading, Silence, route_text};
pub use sweep::{
    ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, End, ManagerTold, News, Rate, Sweep,
};
pub use ticks::{TickKind, Ticks};
