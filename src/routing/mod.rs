//! Routing engines: from a fabric to forwarding tables.

mod minhop;

pub use minhop::minhop;
