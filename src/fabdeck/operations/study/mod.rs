//! Studies: topologies, failures, engines, lanes and measures in one file, and a table with a row for each cell. Any number
//! of processes on any number of machines share a folder and come to the same bytes.

pub mod built_in_studies;
pub mod cell_plan;
pub(crate) mod cell_runner;
pub mod linear_fit;
pub(crate) mod measure_kind;
pub mod open_study;
pub mod planned_cells;
pub mod plot;
mod result_record;
pub mod slurm_script;
pub mod study_engine;
pub mod study_file;
mod study_folder;
pub mod study_row;
pub mod study_run;
pub mod study_status;
mod study_text;
pub(crate) mod study_values;
pub mod table_export;
pub(crate) mod toml_table;
pub(crate) mod topology;
mod traffic_measure;
