//! The ledger: what each cable did over the years, in counts by day, week and year.

pub mod cable_history;
pub mod history_words;
pub mod link_ledger;
pub mod period;
