//! A report to hand on: one self-contained page with the problems of a fabric, its health over time, its map and its
//! events. It is made of typed facts, which the command line reads itself and the console has already.

pub mod fabric_report;
pub(crate) mod hardware_report;
pub(crate) mod html;
pub mod page;
mod page_charts;
mod page_map;
mod page_matrix;
pub(crate) mod page_problems;
pub(crate) mod page_style;
mod page_tables;
mod recorded_readings;
pub(crate) mod report_readings;
pub(crate) mod report_request;
