//! The tables of a fabric, each with its fields and rows.

pub(crate) mod adaptive;
pub(crate) mod aggregation;
pub(crate) mod counters;
pub mod entries;
pub(crate) mod file_tables;
pub(crate) mod groups;
pub(crate) mod hosts;
pub(crate) mod labels;
pub(crate) mod lanes;
pub(crate) mod link_users;
pub(crate) mod links;
pub(crate) mod modules;
pub(crate) mod partitions;
pub(crate) mod planes;
pub(crate) mod ports;
pub(crate) mod routers;
pub(crate) mod sensors;
pub(crate) mod switches;
pub(crate) mod tables;
