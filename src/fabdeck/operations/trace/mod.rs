//! The path between two ports, hop by hop.

pub(crate) mod hop_choices;
pub(crate) mod hops;
pub mod pair_paths;
pub mod path_trace;
pub(crate) mod trace_ends;
