//! Compares confirmed changes with the fabric: whether it still holds what they wrote, and if not, who may have written
//! since.

mod compare;
mod entries;
mod history;
mod verdict;
mod words;

pub use compare::{Compared, attest};
pub use history::{History, in_order_of_writing};
pub use verdict::{Attestation, DeviceReport, DeviceState, OtherChange, Verdict};
