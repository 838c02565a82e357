//! The views of a fabric, each with its fields and rows.

mod changes;
mod counters;
mod entries;
mod hops;
mod hosts;
mod hot_ports;
mod job_channels;
mod job_gains;
mod jobs;
mod lanes;
mod link_users;
mod links;
mod ports;
mod slow_lanes;
mod switches;
mod tables;

pub use changes::ChangeRows;
pub use counters::{COUNTER_FIELDS, CounterRows, errors_by_port, fresh_counters, unplaced_counters};
pub use entries::{ENTRY_FIELDS, entries};
pub use hops::HOP_FIELDS;
pub use hosts::{HOST_FIELDS, HostPort, host_rows, hosts};
pub use hot_ports::{HISTORIES, HOT_FIELDS, HotPort, HotRole, SPARK, Spark, UNKNOWN_LEVEL, level_digits};
pub use job_channels::{JOB_CHANNEL_COLUMNS, JobChannel, JobChannelRows, job_channels};
pub use job_gains::{JobGainRows, ProposedJob, is_printed_by_jobs, percent_change};
pub use jobs::{JOB_COLUMNS, JobRows};
pub use lanes::{LANE_FIELDS, lanes};
pub use link_users::{LinkUser, USER_FIELDS, link_user_rows, link_users};
pub use links::{Cable, LINK_FIELDS, link_rows, links};
pub use ports::{PORT_FIELDS, ports};
pub use slow_lanes::{FlowRows, TableRows, follows_word, levels_word, table_status_word};
pub use switches::{SWITCH_FIELDS, switches};
pub use tables::{TABLE_FIELDS, tables};
