//! Files that describe fabrics. Each reader takes bytes with a name and returns a value with notes, or an error with
//! file, line and reason. The content decides the format, never the name. `capture` records and replays observations,
//! `jobs` asks the batch system.

pub mod capture;
pub mod jobs;

pub mod content;
pub mod csv;
pub mod text;
pub mod writer_output;

// Topology as text.
pub mod ibnetdiscover;
pub mod ibsim;
pub mod port_report;
mod topology_text;

// Shared by several formats.
mod lane_code;
mod limit;

// Layers around the text of a file.
pub mod packed;
pub mod transcript;

// Files of OpenSM.
pub mod dimension_ports;
pub mod fdbs;
pub mod guid2lid;
pub mod guids;
pub mod lfts;
pub mod name_map;
pub mod partitions;
pub mod path_bits;
pub mod psl;
pub mod sl2vl;
pub mod slvl;
pub mod subnet_lst;

pub mod adaptive_binding;
pub mod fabric_binding;
pub mod label_binding;
mod opensm;
mod regular_file;
pub mod wire_binding;

// Output of batch systems.
pub mod job_lists;

// Input written by operators.
pub mod cabling;
pub mod flows;
pub mod label_sheet;
pub mod story_file;
pub mod torus_conf;

// Files of diagnostic tools.
pub mod cables;
mod counters_text;
pub mod far;
pub mod ibdiagnet;
pub mod ibqueryerrors;
pub mod ibswinfo;
pub mod mlxlink;
mod module_text;
pub mod net_dump;
pub mod net_dump_ext;
pub mod nodes_info;
pub mod perfquery;
pub mod pkey;
pub mod pm;
mod port_blocks;

// fabdeck's own recordings and results.
pub mod capture_format;
pub mod study_segment;

// Formats written for other programs.
pub mod exporter_names;
pub mod open_metrics;
pub mod parquet_table;
pub mod prometheus;
pub mod qos_policy;
pub mod slurm;

mod file_error;
mod format;

pub use file_error::FileError;
pub use format::{FORMATS, Format, detect};
pub use regular_file::{open_regular, read_text_within};
