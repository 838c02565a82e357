//! The certificate of the tables in force, in words, and the loads of channels.

pub mod certificate_text;
pub mod choices;
pub mod judgement;
pub mod known_partitions;
pub(crate) mod loads;
pub(crate) mod tables_check;
