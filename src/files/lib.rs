//! Files that describe fabrics. Every reader takes bytes with a name and returns a value with notes, or an error with
//! file, line and reason; the content decides the format, never the name. `capture` records and replays observations,
//! `jobs` asks the batch system.

pub mod capture;
pub mod jobs;

pub mod content;
pub mod csv;
pub mod text;
pub mod written;

// Topology as text.
pub mod ibnetdiscover;
pub mod ibsim;
pub mod port_report;
mod topology_text;

// Shared by several.
mod lane_code;
mod limit;

// What is around the text of a file.
pub mod packed;
pub mod transcript;

// What OpenSM leaves behind.
pub mod fdbs;
pub mod guid2lid;
pub mod guids;
pub mod lfts;
pub mod name_map;
pub mod partitions;
pub mod psl;
pub mod sl2vl;
pub mod slvl;
pub mod subnet_lst;

pub mod bind;
mod opensm;
mod regular;

// What a batch system says.
pub mod job_lists;

// What an operator asks for.
pub mod flows;
pub mod story;

// What an incident leaves behind.
mod counters_text;
pub mod ibdiagnet;
pub mod ibqueryerrors;
pub mod perfquery;

// What fabdeck itself records.
pub mod capture_format;

// Written for others.
pub mod prometheus;
pub mod qos_policy;
pub mod slurm;

mod error;
mod format;

pub use error::FileError;
pub use format::{FORMATS, Format, detect};
pub use regular::open_regular;
