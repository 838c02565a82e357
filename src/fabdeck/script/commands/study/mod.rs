//! `study`: routings compared over failures, seeds and traffic.

pub(crate) mod group;
pub(crate) mod listing;
pub(crate) mod plot;
pub(crate) mod run;
pub(crate) mod slurm;
pub(crate) mod table;
mod terminal_plot;
