//! Cabling as planned against cabling as found: plans bound to a fabric, the comparison, what a repair does to routes, and
//! the work list for technicians.

pub mod boards;
pub mod cable_end;
pub mod cabling_check;
pub(crate) mod cabling_request;
pub mod comparison;
pub mod engine_effect;
pub mod exchanged_cables;
pub mod export;
pub mod finding;
mod finding_text;
pub mod finding_words;
pub mod moved_ports;
pub mod plan_binding;
mod plan_port;
pub mod present_cables;
pub mod work_list;
pub mod work_page;
